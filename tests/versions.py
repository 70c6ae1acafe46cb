#!/usr/bin/env python3
"""versions.py LINEMATE - trees that make it hard to see a revision as it was.

Each case is a small git tree in which `linemate diff` or `linemate log` would
be wrong if it read a file of the work tree instead of the revision's, followed
a link out of its copy, or left out a commit.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from story import ENV, Tree, expect, flagship  # noqa: E402

QUEUE = """#include "lock.h"
struct queue {
	struct lock lock;
	void *limit;
	long pushed;
};
"""


def write(tree, files):
    for path, text in files.items():
        (tree.path / path).parent.mkdir(parents=True, exist_ok=True)
        (tree.path / path).write_text(text)


def lock(nr):
    return f"struct lock {{ int word[{nr}]; }};\n"


class Case:
    def __init__(self, linemate, tmp, name, files):
        self.linemate, self.name = linemate, name
        self.tree = Tree(tmp / name)
        write(self.tree, files)
        self.tree.commit("Begin", "begin")

    def run(self, verb, *argv, header="src/queue.h", flags=("-Isrc",), env=None):
        return subprocess.run([str(a) for a in (self.linemate, verb, "--struct", "queue", "--header", header, *argv, "--", *flags)],
                              cwd=self.tree.path, capture_output=True, text=True, env=env or ENV)

    def sizes(self, *argv, **more):
        """Sizes of the record before and after, by diff."""
        done = self.run("diff", "--json", *argv, **more)
        if done.returncode > 1:
            return done.stderr
        base = json.loads(done.stdout)["configurations"][0]
        return base["before"]["size"], base["after"]["size"]

    def results(self, *argv):
        """[(subject, result)] by log, oldest first."""
        done = self.run("log", "--json", *argv)
        if done.returncode:
            return done.stderr
        return [(c["subject"], c["result"]) for c in reversed(json.loads(done.stdout)["commits"])]

    def expect(self, what, got, want):
        expect(f"{self.name}: {what}", got == want, f"{got}, not {want}")

    def expect_untouched(self):
        self.expect("the work tree is as it was", self.tree.git("status", "--porcelain"), "")


def work_tree(linemate, tmp):
    """Without a revision: what is not committed yet, staged or not; with one, what was committed since."""
    case = Case(linemate, tmp, "work-tree", {"src/queue.h": QUEUE, "src/lock.h": lock(2)})
    case.expect("nothing is changed", case.sizes(), (24, 24))
    write(case.tree, {"src/lock.h": lock(4)})
    case.expect("not staged", case.sizes(), (24, 32))
    case.tree.git("add", "-A")
    case.expect("staged", case.sizes("HEAD"), (24, 32))
    case.tree.commit("Grow")
    write(case.tree, {"src/lock.h": lock(8)})
    case.expect("a revision and the work tree", case.sizes("begin"), (24, 48))
    case.expect("two revisions, whatever the work tree has", case.sizes("begin..HEAD"), (24, 32))
    case.expect("two words", case.sizes("begin", "HEAD"), (24, 32))
    case.expect("backwards", case.sizes("HEAD..begin"), (32, 24))


def untracked(linemate, tmp):
    """What git does not track is there at every revision."""
    case = Case(linemate, tmp, "untracked", {"src/queue.h": QUEUE.replace("lock.h", "made.h"), ".gitignore": "made.h\n"})
    write(case.tree, {"src/made.h": lock(2)})
    case.tree.edit("src/queue.h", ("long pushed", "long pushed[3]"))
    case.tree.commit("Grow")
    case.expect("a generated header", case.sizes("begin..HEAD"), (24, 40))


def gone_and_new(linemate, tmp):
    """Files that only one version has, in directories that only one has; a file where a directory was."""
    case = Case(linemate, tmp, "gone-and-new", {"src/queue.h": QUEUE.replace("lock.h", "deep/er/lock.h"),
                                                "src/deep/er/lock.h": lock(2), "src/lock": "a file\n"})
    case.tree.git("rm", "-q", "-r", "src/deep", "src/lock")
    write(case.tree, {"src/queue.h": QUEUE.replace("lock.h", "lock/lock.h"), "src/lock/lock.h": lock(4)})
    case.tree.commit("Move the lock", "moved")
    case.expect("forth", case.sizes("begin..moved"), (24, 32))
    case.expect("back", case.sizes("moved..begin"), (32, 24))
    case.tree.git("checkout", "-q", "begin")
    case.expect("with the other one checked out", case.sizes("begin..moved"), (24, 32))
    case.expect("a missing file is no file", case.sizes("begin", flags=("-Isrc", "-include", "src/lock/lock.h")).count("\n"), 1)
    case.expect_untouched()


def links(linemate, tmp):
    """A tracked link that becomes a directory must not lead writes out of the copy."""
    outside = tmp / "outside"
    outside.mkdir()
    (outside / "lock.h").write_text(lock(2))
    case = Case(linemate, tmp, "links", {"src/queue.h": QUEUE.replace("lock.h", "way/lock.h")})
    (case.tree.path / "src/way").symlink_to(outside)
    case.tree.commit("A link out of the tree", "link")
    (case.tree.path / "src/way").unlink()
    write(case.tree, {"src/way/lock.h": lock(8)})
    case.tree.commit("A directory instead", "directory")
    case.expect("forth", case.sizes("link..directory"), (24, 48))
    case.expect("log", case.results("link..directory"), [("A directory instead", "changed")])
    case.tree.git("checkout", "-q", "link")
    case.expect("the link is checked out", case.sizes("link..directory"), (24, 48))
    case.expect("back", case.sizes("directory..link"), (48, 24))
    case.expect("nothing was written through the link", (outside / "lock.h").read_text(), lock(2))
    case.expect("nothing was added through the link", os.listdir(outside), ["lock.h"])


def many(tree, nr):
    """So many files that the copy has links to whole directories."""
    for i in range(nr):
        write(tree, {f"a/{i}": ""})


def around(linemate, tmp):
    """"../" in a directory that is a link in the copy leads back into the work tree."""
    case = Case(linemate, tmp, "around", {"src/queue.h": QUEUE.replace("lock.h", "far/way.h"),
                                          "src/far/way.h": "#include \"../near/lock.h\"\n", "src/near/lock.h": lock(2)})
    many(case.tree, 2500)
    case.tree.commit("Many files")
    write(case.tree, {"src/near/lock.h": lock(4)})
    case.tree.commit("Grow", "grown")
    case.expect("through a link", case.sizes("begin..grown"), (24, 32))
    case.tree.git("checkout", "-q", "begin")
    case.expect("with the other one checked out", case.sizes("begin..grown"), (24, 32))


def shadows(linemate, tmp):
    """A new file that is found first, of the same name as one that is included."""
    case = Case(linemate, tmp, "shadows", {"src/queue.h": QUEUE.replace('"lock.h"', "<lock.h>"), "second/lock.h": lock(2)})
    write(case.tree, {"first/lock.h": lock(4)})
    case.tree.commit("A file that is found first")
    case.tree.git("rm", "-q", "first/lock.h")
    case.tree.commit("It goes")
    flags = ("-Ifirst", "-Isecond")
    case.expect("diff", case.sizes("begin..HEAD~1", flags=flags), (24, 32))
    done = case.run("log", "--json", "begin..HEAD", flags=flags)
    case.expect("log", [c["result"] for c in json.loads(done.stdout)["commits"]], ["changed", "changed"])


def merges(linemate, tmp):
    """A branch is told by its own commits, a merge only by what it adds to both."""
    case = Case(linemate, tmp, "merges", {"src/queue.h": QUEUE, "src/lock.h": lock(2), "other.c": ""})
    case.tree.git("checkout", "-q", "-b", "side")
    write(case.tree, {"src/lock.h": lock(4)})
    case.tree.commit("Grow on the side")
    case.tree.git("checkout", "-q", "main")
    write(case.tree, {"other.c": "int x;\n"})
    case.tree.commit("Code")
    case.tree.git("merge", "-q", "--no-ff", "-m", "Merge plainly", "side")
    case.tree.git("checkout", "-q", "-b", "late", "begin")
    write(case.tree, {"other.h": ""})
    case.tree.commit("Late")
    case.tree.git("checkout", "-q", "main")
    case.tree.git("merge", "-q", "--no-ff", "--no-commit", "late")
    write(case.tree, {"src/lock.h": lock(8)})
    case.tree.commit("Merge and grow")
    case.expect("all", dict(case.results("begin..main")),
                {"Grow on the side": "changed", "Code": "untouched", "Merge plainly": "merge", "Late": "untouched",
                 "Merge and grow": "changed"})
    case.expect("first parents", case.results("--first-parent", "begin..main"),
                [("Code", "untouched"), ("Merge plainly", "changed"), ("Merge and grow", "changed")])
    case.expect("from behind the fork", dict(case.results("main~1..main")), {"Late": "untouched", "Merge and grow": "changed"})


def back_and_forth(linemate, tmp):
    """A pair that meets and parts more than once: no bisection would see it."""
    case = Case(linemate, tmp, "back-and-forth", {"src/queue.h": QUEUE, "src/lock.h": lock(14)})
    for i, nr in enumerate((16, 12, 16, 16, 14, 20)):
        write(case.tree, {"src/lock.h": lock(nr) + f"/* {i} */\n"})
        case.tree.commit(f"{i}")
    done = case.run("log", "--json", "--pair", "lock.word[0],limit", "begin..HEAD")
    rows = [(c["subject"], bool(c["came_together_in"]), bool(c["parted_in"])) for c in reversed(json.loads(done.stdout)["commits"])]
    case.expect("the pair", [r for r in rows if r[1] or r[2]],
                [("0", False, True), ("1", True, False), ("2", False, True), ("4", True, False), ("5", False, True)])
    case.expect("text only", case.results("begin..HEAD")[3], ("3", "same"))


def missing(linemate, tmp):
    """The record, or its header, is in one version only."""
    case = Case(linemate, tmp, "missing", {"src/queue.h": "struct other { int x; };\n", "src/lock.h": lock(2)})
    write(case.tree, {"src/queue.h": QUEUE})
    case.tree.commit("The record", "record")
    done = case.run("diff", "begin..record")
    case.expect("no record: exit", done.returncode, 3)
    expect("no record: sentence", done.stderr.startswith("The record is not in begin: begin:src/queue.h: "), done.stderr)
    done = case.run("log", "begin..record")
    expect("no record: log says so", done.returncode == 3 and "The record is not in" in done.stderr, done.stderr)
    write(case.tree, {"src/late.h": QUEUE})
    case.tree.commit("A header", "header")
    done = case.run("diff", "record..header", header="src/late.h")
    case.expect("no header: exit", done.returncode, 3)
    expect("no header: sentence", "record:src/late.h: this version has no such header" in done.stderr, done.stderr)
    done = case.run("diff", "record..header", "--source", "src/late.h")
    expect("no source: sentence", done.returncode == 3 and "no such source" in done.stderr, done.stderr)


def temporary(linemate, tmp):
    """The temporary directory may lie in the tree."""
    case = Case(linemate, tmp, "temporary", {"src/queue.h": QUEUE, "src/lock.h": lock(2), ".gitignore": "/src/tmp\n"})
    write(case.tree, {"src/lock.h": lock(4)})
    case.tree.commit("Grow")
    (case.tree.path / "src/tmp").mkdir()
    env = {**ENV, "TMPDIR": "src/tmp"}
    case.expect("inside, by a relative path", case.sizes("begin..HEAD", env=env), (24, 32))
    case.expect("it is left empty", os.listdir(case.tree.path / "src/tmp"), [])


def hostile(linemate, tmp):
    """A tree object may name a file "..": nothing is written there."""
    case = Case(linemate, tmp, "hostile", {"src/queue.h": QUEUE, "src/lock.h": lock(2)})
    git = ["git", "-C", case.tree.path]
    blob = case.tree.git("rev-parse", "HEAD:src/lock.h")
    inner = subprocess.run([*git, "mktree"], input=f"100644 blob {blob}\tpwned.h\n", capture_output=True, text=True, env=ENV)
    src = case.tree.git("rev-parse", "HEAD:src")
    rows = f"040000 tree {inner.stdout.strip()}\t..\n040000 tree {src}\tsrc\n"
    outer = subprocess.run([*git, "mktree"], input=rows, capture_output=True, text=True, env=ENV)
    if outer.returncode:
        print("ok   hostile: git itself makes no such tree")
        return
    commit = case.tree.git("commit-tree", "-p", "HEAD", "-m", "Hostile", outer.stdout.strip())
    done = case.run("diff", f"HEAD..{commit}")
    case.expect("exit", done.returncode, 3)
    expect("hostile: one sentence", done.stderr.count("\n") == 1, done.stderr)
    done = case.run("log", f"HEAD..{commit}")
    case.expect("log: exit", done.returncode, 3)


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp).resolve()
        for case in (work_tree, untracked, gone_and_new, links, around, shadows, merges, back_and_forth, missing, temporary,
                     hostile):
            case(linemate, tmp)
    print("FAILED" if flagship.bad else "passed")
    return 1 if flagship.bad else 0


if __name__ == "__main__":
    sys.exit(main())
