#!/usr/bin/env python3
"""story.py LINEMATE - the flagship's regression replayed in a git tree of its own.

A record nested in struct mem_cgroup shrinks in a header of its own; nothing
else changes; a counter and a pointer become line mates.  `linemate diff` must
name pair, functions, line, configuration and the nested record, and must keep
quiet about commits that are not to blame; `linemate log` must find the culprit
among fifty commits.  gcc says where the members are.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import flagship  # noqa: E402
from check_layout import CONFIGS, edits, read_layout  # noqa: E402
from flagship import DATA, HEADER, LINE  # noqa: E402

NESTED = "include/linux/vmpressure.h"
PERCPU = "include/linux/memcg_percpu.h"
CODE = "mm/memcontrol.c"
POINTER, COUNTERS = "vmstats_percpu", "memory_events_local"
V1 = [name for name in CONFIGS if name.startswith("v1")]
ADDED = "last_reclaim"
FLAGS = (DATA / "flags").read_text().split()
RECORD = ["--struct", "mem_cgroup", "--header", HEADER]
PROFILE = ["--profile", DATA / "sites.access"]
ALL = [word for name, spec in CONFIGS.items() if spec for word in ("--config", f"{name}:{spec}")]
ENV = {**os.environ, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_AUTHOR_NAME": "Ann Author", "GIT_AUTHOR_EMAIL": "ann@example.org",
       "GIT_COMMITTER_NAME": "Ann Author", "GIT_COMMITTER_EMAIL": "ann@example.org"}


def expect(what, holds, seen=""):
    """What was seen is worth a line only where it is not what was expected."""
    flagship.expect(what, holds, "" if holds else seen)


class Tree:
    def __init__(self, path):
        self.path, self.day = path, 0
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *argv):
        date = f"2026-{1 + self.day // 28:02}-{1 + self.day % 28:02}T12:00:00+0000"
        done = subprocess.run(["git", *argv], cwd=self.path, capture_output=True, text=True,
                              env={**ENV, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})
        if done.returncode:
            sys.exit(f"git {' '.join(argv)}: {done.stderr}")
        return done.stdout.strip()

    def commit(self, subject, tag=None):
        self.day += 1
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        if tag:
            self.git("tag", tag)

    def edit(self, path, *changes):
        file = self.path / path
        text = file.read_text()
        for old, new in changes:
            if text.count(old) != 1:
                sys.exit(f"{path}: the flagship's text has changed: {old!r}")
            text = text.replace(old, new)
        file.write_text(text)

    def append(self, path, text):
        with open(self.path / path, "a") as file:
            file.write(text)

    def code(self, subject):
        self.append(CODE, f"/* {subject} */\n")
        self.commit(subject)


GUARDED = ("#ifdef CONFIG_MEMCG_V1\n\tunsigned long tree_scanned;\n\tunsigned long tree_reclaimed;\n#endif\n",
           "#ifdef CONFIG_MEMCG_V1\n\tstruct list_head events;\n\tstruct mutex events_lock;\n")
PLAIN = ("\tunsigned long tree_scanned;\n\tunsigned long tree_reclaimed;\n",
         "\tstruct list_head events;\n#ifdef CONFIG_MEMCG_V1\n\tstruct mutex events_lock;\n")
INLINE = "static inline struct mem_cgroup *mem_cgroup_from_css(struct cgroup_subsys_state *css)"
POINTER_TEXT = "\tstruct memcg_vmstats_percpu __percpu *vmstats_percpu;\n\n"
AT_FLAG = "\t/* kill all of it or nothing */\n\tbool oom_group;\n"


def plant(tree):
    """Fifty commits after the first; the tags name those that matter."""
    shutil.copytree(DATA / "include", tree.path / "include")
    (tree.path / "mm").mkdir()
    (tree.path / CODE).write_text("/* code */\n")
    (tree.path / PERCPU).write_text("struct memcg_vmstats_percpu {\n\tunsigned long state[8];\n};\n")
    tree.edit(HEADER, ("#include <linux/page_counter.h>\n",
                       "#include <linux/memcg_percpu.h>\n#include <linux/page_counter.h>\n"))
    tree.edit(NESTED, *zip(GUARDED, PLAIN))
    tree.commit("Begin", "begin")
    for i in range(10):
        tree.code(f"Code {i}")
    tree.edit(PERCPU, ("state[8]", "state[16]"))
    tree.commit("Count twice as much on each CPU", "percpu")
    for i in range(10, 16):
        tree.code(f"Code {i}")
    tree.edit(HEADER, (AT_FLAG, f"\tunsigned long {ADDED};\n\n{AT_FLAG}"))
    tree.commit("Remember the last reclaim", "member")
    tree.git("checkout", "-q", "-b", "side")
    tree.append(NESTED, "/* on a side branch */\n")
    tree.commit("Say something on a side branch")
    tree.git("checkout", "-q", "main")
    for i in range(16, 26):
        tree.code(f"Code {i}")
    tree.git("merge", "-q", "--no-ff", "-m", "Merge the side branch", "side")
    tree.edit(HEADER, ("static inline struct mem_cgroup *mem_cgroup_from_css(", "broken broken static inline struct mem_cgroup *mem_cgroup_from_css("))
    tree.commit("Break the header", "broken")
    tree.edit(HEADER, ("broken broken ", ""))
    tree.commit("Repair the header", "repaired")
    tree.edit(NESTED, *zip(PLAIN, GUARDED))
    tree.commit("vmpressure: leave out what only the old interface needs", "culprit")
    for i in range(26, 32):
        tree.code(f"Code {i}")
    tree.edit(HEADER, (f"{INLINE}\n", f"/* the record around its css */\n\n{INLINE}\n"))
    tree.commit("Say what the inline function does", "text")
    for i in range(32, 38):
        tree.code(f"Code {i}")
    tree.edit(HEADER, (POINTER_TEXT, ""), (AT_FLAG, f"{AT_FLAG}\n{POINTER_TEXT[:-1]}"))
    tree.commit("Move the pointer away from the counters", "fix")
    while int(tree.git("rev-list", "--count", "begin..HEAD")) < 50:
        tree.code("More code")


# ---- outsiders: gcc's offsets, and lines counted from them ----

def compiled(tree, rev, config, tmp, extra=()):
    """{member: (offset, size)} in a plain copy of the tree at rev, from gcc."""
    copy = tmp / f"at-{rev}"
    if not copy.exists():
        copy.mkdir()
        archive = subprocess.run(["git", "archive", rev], cwd=tree.path, capture_output=True, check=True)
        subprocess.run(["tar", "x", "-C", copy], input=archive.stdout, check=True)
    names = [m[0] for m in read_layout(DATA / f"layout-{config}.txt")[0] if m[0] != "memsw"] + list(extra)
    flexible = "nodeinfo"
    source, program, edit = tmp / "t.c", tmp / "t", tmp / "e.h"
    edit.write_text(edits(CONFIGS[config]))
    rows = [f'{{ "{n}", __builtin_offsetof(struct mem_cgroup, {n}), '
            + ("8" if n == flexible else f"sizeof(((struct mem_cgroup *)0)->{n})") + " }," for n in names]
    source.write_text(
        "#include <linux/memcontrol.h>\nextern int printf(const char *, ...);\n"
        "static const struct { const char *n; unsigned long o, s; } t[] = {\n" + "\n".join(rows) + "\n};\n"
        "int main(void)\n{\n\tfor (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)\n"
        '\t\tprintf("%s %lu %lu\\n", t[i].n, t[i].o, t[i].s);\n\treturn 0;\n}\n')
    done = subprocess.run(["gcc", *FLAGS, "-include", edit, source, "-o", program], cwd=copy, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{rev} {config}: {done.stderr}")
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {n: (int(o), int(s)) for n, o, s in (line.split() for line in out.splitlines())}


def mates(members):
    """Pairs of members that share a line."""
    lines = {n: set(range(o // LINE, (o + s - 1) // LINE + 1)) for n, (o, s) in members.items()}
    return {frozenset((a, b)) for a in lines for b in lines if a < b and lines[a] & lines[b]}


def pairs(rows):
    return {frozenset(row) for row in rows}


# ---- diff ----

class Runner:
    def __init__(self, linemate, tree):
        self.linemate, self.tree = linemate, tree

    def __call__(self, verb, *argv, flags=FLAGS):
        return subprocess.run([str(a) for a in (self.linemate, verb, *RECORD, *argv, "--", *flags)], cwd=self.tree.path,
                              capture_output=True, text=True, env=ENV)


def words_of(done):
    return re.sub(r"\s+", " ", done.stdout)


def judge_culprit(run):
    done = run("diff", *ALL, *PROFILE, "culprit^..culprit")
    words = words_of(done)
    expect("culprit: exit 1", done.returncode == 1, done.stderr)
    for word in (f"{COUNTERS}[8]", POINTER, "__memcg_memory_event", "__mod_memcg_lruvec_state", "CPU 0-3",
                 "nested vmpressure (struct vmpressure): 56 -> 24 bytes", "the text of struct mem_cgroup itself is the same",
                 "line 17 (base)"):
        expect(f"culprit: says {word}", word in words)
    story = json.loads(run("diff", *ALL, *PROFILE, "--json", "culprit^..culprit").stdout)
    worst = story["pairs_came"][0]
    expect("culprit: the pair comes first", {worst["a"]["leaf"], worst["b"]["leaf"]} == {f"{COUNTERS}[8].counter", POINTER},
           worst["a"]["leaf"])
    expect("culprit: only where the old interface is off", not set(worst["configurations"]) & set(V1)
           and story["added_in"] == [c for c in CONFIGS_IN_ORDER if c not in V1], story["added_in"])
    expect("culprit: the old interface's layouts are the same",
           all(c["changed"] == (c["name"] not in V1) for c in story["configurations"]))
    nested = [r for r in story["resized"] if r["nested"]]
    expect("culprit: one nested record changed", [(r["member"], r["size_before"], r["size_after"]) for r in nested]
           == [("vmpressure", 56, 24)], nested)
    for config in story["configurations"]:
        growth = (config["after"]["transfers"] + 1) / (config["before"]["transfers"] + 1)
        expect(f"culprit: {config['name']}: cost", growth > 1.5 if config["name"] not in V1 else growth == 1, f"{growth:.2f}")


CONFIGS_IN_ORDER = ["base", *[c for c in CONFIGS if c != "base"]]


def judge_innocent(run):
    for rev in ("percpu", "text", "main~1"):
        for more in ((), PROFILE):
            done = run("diff", *ALL, *more, f"{rev}^!")
            expect(f"{rev}: unchanged, exit 0", done.returncode == 0
                   and "the layout of struct mem_cgroup is unchanged" in done.stdout, done.stdout + done.stderr)
    done = run("diff", *ALL, *PROFILE, "fix^..fix")
    expect("fix: exit 0", done.returncode == 0, done.stderr)
    expect("fix: less contention", "less contention" in done.stdout and f"moved: {POINTER}" in done.stdout)
    done = run("diff", *ALL, *PROFILE, "culprit^..fix")
    expect("before the culprit against the fix: exit 0", done.returncode == 0, done.stdout)


def judge_member(run, tree, tmp):
    """Every shifted member, and the line mates that came and went, as gcc has them."""
    story = json.loads(run("diff", *ALL, "--json", "member^..member").stdout)
    text = words_of(run("diff", "-v", *ALL, "member^..member"))
    for config in story["configurations"]:
        name = config["name"]
        before = compiled(tree, "member^", name, tmp)
        after = compiled(tree, "member", name, tmp, [ADDED])
        shifted = {n: (before[n][0], after[n][0]) for n in before if before[n] != after[n]}
        told = {m["member"]: (m["offset_before"], m["offset_after"]) for m in config["members"] if m["fate"] == "shifted"}
        added = [m["member"] for m in config["members"] if m["fate"] == "added"]
        expect(f"member: {name}: shifted as gcc has them", told == shifted and len(shifted) > 8, set(told) ^ set(shifted))
        expect(f"member: {name}: one was added", added == [ADDED], added)
        came, went = mates(after) - mates(before), mates(before) - mates(after)
        expect(f"member: {name}: line mates that came", pairs(config["line_mates_came"]) == came,
               [sorted(p) for p in pairs(config["line_mates_came"]) ^ came])
        expect(f"member: {name}: line mates that went", pairs(config["line_mates_went"]) == went,
               [sorted(p) for p in pairs(config["line_mates_went"]) ^ went])
        expect(f"member: {name}: in words", all(f"{n} {a} -> {b}" in text for n, (a, b) in shifted.items()))


def judge_merged_fix(run, tmp):
    """The fix that was merged, as a file that stands for the header."""
    where = tmp / "merged"
    shutil.copytree(DATA, where)
    flagship.merged_fix(where)
    argv = [run.linemate, "diff", "--struct", "mem_cgroup", "--header", DATA / HEADER, "--after", where / HEADER,
            *PROFILE, *ALL]
    done = subprocess.run([str(a) for a in (*argv, "--", *FLAGS)], cwd=DATA, capture_output=True, text=True, env=ENV)
    expect("merged fix: exit 0, less contention", done.returncode == 0 and "less contention" in done.stdout, done.stderr)
    expect("merged fix: says what it costs", "64 bytes larger in nowb, v1, v1nolru" in words_of(done)
           or "64 bytes larger in v1, v1nolru, nowb" in words_of(done), words_of(done)[:600])
    done = subprocess.run([str(a) for a in (*argv, "--json", "--", *FLAGS)], cwd=DATA, capture_output=True, text=True, env=ENV)
    grown = {c["name"]: c["after"]["size"] - c["before"]["size"] for c in json.loads(done.stdout)["configurations"]}
    expect("merged fix: 64 bytes more with the old interface (unless without writeback) and without writeback",
           grown == {c: 64 if c in ("v1", "v1nolru", "nowb") else 0 for c in CONFIGS}, grown)


def judge_guesses(run):
    done = run("diff", "culprit^..culprit")
    expect("without a profile: exit 1, and it is a guess", done.returncode == 1 and "guess" in done.stdout, done.stdout)
    story = json.loads(run("diff", "--json", "culprit^..culprit").stdout)
    told = {(g["written"].split("[")[0].split(".")[0], g["read"].split("[")[0].split(".")[0]) for g in story["guesses"]}
    expect("without a profile: the pair is among the guesses", (COUNTERS, POINTER) in told, sorted(told))


# ---- errors ----

def judge_errors(run, tmp):
    outside = tmp / "outside"
    shutil.copytree(DATA, outside)
    cases = [
        ("no such revision", run("diff", "no-such"), "no-such", "revision"),
        ("does not compile", run("diff", "broken^..broken"), "broken:include/linux/memcontrol.h:", "clang says"),
        ("no such record", run("diff", "--struct", "nosuch", "HEAD"), "The record is not in HEAD", "nosuch"),
        ("log: no such revision", run("log", "no-such..HEAD"), "no-such", "revision"),
        ("log: the end does not compile", run("log", "broken^..broken"), "clang says"),
    ]
    done = subprocess.run([str(a) for a in (run.linemate, "diff", *RECORD, "HEAD", "--", *FLAGS)], cwd=outside,
                          capture_output=True, text=True, env={**ENV, "GIT_CEILING_DIRECTORIES": str(tmp)})
    cases.append(("no git tree", done, "git work tree"))
    for name, done, *words in cases:
        expect(f"{name}: exit 3, one sentence", done.returncode == 3 and done.stderr.count("\n") == 1
               and done.stderr.rstrip().endswith("."), done.stderr)
        for word in words:
            expect(f"{name}: says {word}", word in done.stderr)
        expect(f"{name}: no temporary path", "linemate." not in done.stderr, done.stderr)


def judge_rename(run, tree):
    tree.git("checkout", "-q", "-b", "renamed")
    (tree.path / HEADER).rename(tree.path / "include/linux/memcg.h")
    tree.commit("Give the header another name")
    done = subprocess.run([str(a) for a in (run.linemate, "diff", "--struct", "mem_cgroup", "--header", "include/linux/memcg.h",
                                            "HEAD~1..HEAD", "--", *FLAGS)], cwd=tree.path, capture_output=True, text=True, env=ENV)
    expect("a renamed header is followed, and that is said", done.returncode == 0 and HEADER in words_of(done)
           and "unchanged" in done.stdout, done.stdout + done.stderr)
    tree.git("checkout", "-q", "main")


# ---- log ----

def judge_log(run, tree):
    done = run("log", *ALL, *PROFILE, "begin..HEAD")
    story = json.loads(run("log", *ALL, *PROFILE, "--json", "begin..HEAD").stdout)
    ids = {tag: tree.git("rev-parse", tag) for tag in ("culprit", "member", "fix", "broken", "text", "percpu")}
    result = {c["id"]: c["result"] for c in story["commits"]}
    expect("log: fifty commits", len(result) == 50 and done.returncode == 0, len(result))
    expect("log: three changed the layout", {i for i, r in result.items() if r == "changed"}
           == {ids["culprit"], ids["member"], ids["fix"]}, [i for i, r in result.items() if r == "changed"])
    expect("log: text only is the same", result[ids["text"]] == "same" and result[ids["percpu"]] == "same")
    expect("log: what does not compile has no layout", [i for i, r in result.items() if r == "no-layout"] == [ids["broken"]])
    expect("log: few are parsed", sum(r == "untouched" for r in result.values()) > 38, result.values())
    added = [c["id"] for c in story["commits"] if c["change"] and c["change"]["verdict"] == "added"]
    expect("log: the culprit alone adds contention", added == [ids["culprit"]], added)
    paragraphs = {p.split()[0]: p for p in done.stdout.split("\ncommit ")[1:]}
    expect("log: a commit that only moves text says so", "no change" in paragraphs[ids["text"][:12]], paragraphs.keys())
    expect("log: the culprit in words", "contention was added" in paragraphs[ids["culprit"][:12]]
           and POINTER in paragraphs[ids["culprit"][:12]])
    done = run("log", *ALL, "--pair", f"{COUNTERS}[8],{POINTER}", "begin..HEAD")
    together = re.findall(r"commit (\w{12}) .*\n.*\n +brought .* together on line (\d+)", done.stdout)
    expect("log: the pair was brought together by the culprit", together == [(ids["culprit"][:12], "17")], done.stdout)
    done = run("log", *ALL, "--pair", "nosuch,vmstats", "begin..HEAD")
    expect("log: a pair that does not exist", done.returncode == 2 and "nosuch" in done.stderr, done.stderr)
    done = run("log", "--first-parent", "begin..HEAD")
    expect("log: first parents", f"of {tree.git('rev-list', '--first-parent', '--count', 'begin..HEAD')} commits"
           in words_of(done), done.stdout[:200])


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp).resolve()
        tree = Tree(tmp / "tree")
        plant(tree)
        run = Runner(linemate, tree)
        judge_culprit(run)
        judge_innocent(run)
        judge_member(run, tree, tmp)
        judge_merged_fix(run, tmp)
        judge_guesses(run)
        judge_errors(run, tmp)
        judge_log(run, tree)
        judge_rename(run, tree)
        expect("the work tree is as it was", tree.git("status", "--porcelain") == "", tree.git("status", "--porcelain"))
    print("FAILED" if flagship.bad else "passed")
    return 1 if flagship.bad else 0


if __name__ == "__main__":
    sys.exit(main())
