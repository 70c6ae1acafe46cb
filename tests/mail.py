#!/usr/bin/env python3
"""mail.py LINEMATE - the flagship's patch as a mail: git takes it, a reviewer finds what he asks for.

With LM_KERNEL_TREE set to a built kernel tree, its checkpatch.pl judges the
mail, too; without, only the checks written here do.
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
from check_layout import CONFIGS  # noqa: E402

DATA = HERE / "data" / "flagship"
HEADER = "include/linux/memcontrol.h"
COLUMNS = 75
SIGNED = "Signed-off-by: A. Person <person@example.org>"
FIXES = 'Fixes: 0123456789ab ("mm: vmpressure: make it smaller")'
bad = 0


def expect(what, holds, seen=""):
    global bad
    if not holds:
        bad += 1
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


class Tree:
    """A git tree with the flagship's header and a history of subjects."""

    def __init__(self, path, subjects=("mm: memcg: add it", "mm: memcontrol: say more", "mm: memcontrol: and more"),
                 author=("A. Person", "person@example.org"), text=None):
        self.path = path
        self.env = dict(os.environ, HOME=str(path.parent), XDG_CONFIG_HOME=str(path.parent), GIT_CONFIG_NOSYSTEM="1",
                        LC_ALL="C", GIT_COMMITTER_DATE="2026-08-01T12:00:00+0200",
                        GIT_AUTHOR_DATE="2026-08-01T12:00:00+0200")
        self.env.pop("SOURCE_DATE_EPOCH", None)
        shutil.copytree(DATA / "include", path / "include")
        self.git("init", "-q")
        header = path / HEADER
        final = text if text is not None else header.read_bytes()
        if author:
            self.git("config", "user.name", author[0])
            self.git("config", "user.email", author[1])
        for number, subject in enumerate(subjects, 1):
            header.write_bytes(final + b"\n" * (len(subjects) - number))
            self.git("add", "include")
            self.git("-c", "user.name=B", "-c", "user.email=b@example.org", "commit", "-q", "-m", subject)
        header.write_bytes(final)

    def run(self, argv, **env):
        return subprocess.run([str(a) for a in argv], cwd=self.path, env=dict(self.env, **env), capture_output=True)

    def git(self, *argv):
        done = self.run(["git", *argv])
        if done.returncode:
            sys.exit(f"git {' '.join(argv)}: {done.stderr.decode()}")
        return done.stdout.decode()

    def patch(self, linemate, *more, configs=tuple(CONFIGS), **env):
        argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", HEADER, "--profile", DATA / "sites.access"]
        for name in configs:
            if name != "base":
                argv += ["--config", f"{name}:{CONFIGS[name]}"]
        return self.run([*argv, *more, "--", *(DATA / "flags").read_text().split()], **env)

    def am(self, mail, *more):
        """Applies the mail on a branch of its own; the new commit, or None."""
        self.git("checkout", "-q", "-B", "taken")
        (self.path.parent / "mail").write_bytes(mail)
        done = self.run(["git", "-c", "user.name=C", "-c", "user.email=c@example.org", "am", "-q", *more, "../mail"])
        if done.returncode:
            print(done.stderr.decode())
            self.run(["git", "am", "--abort"])
            return None
        return "HEAD"


def message_of(mail):
    return mail.split("\n\n", 1)[1].split("\n---\n", 1)[0]


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers_in_json(value, found):
    """All numbers of a story as a person would print them: whole, with one decimal, and those inside texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "diff":
                numbers_in_json(inner, found)
    elif isinstance(value, list):
        for inner in value:
            numbers_in_json(inner, found)
    elif isinstance(value, str):
        found.update(NUMBER.findall(value))
        found.update(re.findall(r"\d+", value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        # Half a transfer is rounded up or down by the language: take both.
        found.update(f"{abs(value) + by:.0f}" for by in (-1e-6, 0, 1e-6))
        found.add(f"{abs(value):.1f}")


# What reviewers ask for, each as it must stand in the message.
EVIDENCE = {
    "the pair": r"memory_events_local\[8\]\.counter and vmstats_percpu",
    "the line it met on": r"line 17 \(base\)",
    "functions of the writer": r"57,600 writes by\s+__memcg_memory_event\(\)",
    "functions of the reader": r"1,809,253 reads, 1 writes by\s+__mod_memcg_lruvec_state\(\), count_memcg_events\(\)",
    "CPUs": r"CPU 0-3",
    "layout by configuration": r"\n  base +1536 +24 +\d+ \(\d+\) +\d+\n",
    "layout in another configuration": r"\n  v1nowb +1856 +29 ",
    "transfers before and after": r"\n  base +236,952 +118,734 +-50 %\n",
    "their sum": r"1,637,763 before,\s+817,408\s+after",
    "the curve": r"\n  0 moves +1,637,763 .*\n  1 move +817,408 +97.2 % +this patch\n",
    "the bound": r"costs less than 794,206 \(proven\)",
    "fields whose line changes": r"vmstats_percpu 17->11",
    "new line mates": r"were none before: none",
    "configurations": r"\n  v1nolru is base with \+CONFIG_MEMCG_V1,-CONFIG_LRU_GEN_WALKS_MMU\n",
    "the allocator's step": r"21 objects in a 32\s+KiB slab",
    "true sharing": r"true sharing, which no layout removes \(base\): 117,487 of 118,734",
    "slack": r"344 bytes of slack",
    "stability": r"1,292 such\s+changes",
    "samples": r"7,834,530 read, 7,834,530 used",
    "evidence class": r"evidence: exact",
    "compilers": r"gcc [\d.]+\s+and\s+clang [\d.]+",
    "RANDSTRUCT": r"RANDSTRUCT",
}


def judge_message(mail, story):
    head, message = mail.split("\n\n", 1)[0], message_of(mail)
    for item, pattern in EVIDENCE.items():
        expect(f"message tells {item}", re.search(pattern, message))
    long = [line for line in message.splitlines() if len(line) > COLUMNS]
    expect(f"message has no line over {COLUMNS} columns", not long, long or "")
    expect("headers and message are ASCII", (head + message).isascii())
    expect("no blank at a line's end", not re.search(r"[ \t]$", message, re.M))
    blanks = re.findall(r"^measure: .*$", message, re.M)
    expect("blanks for what only a machine can give", len(blanks) >= 4 and all(b.endswith(":") for b in blanks), blanks)
    expect("predicts no throughput", not re.search(r"ops/s|faster|speed-?up", message))
    known = set()
    numbers_in_json(story, known)
    body = message.replace(SIGNED, "").replace(FIXES, "")
    said = [n.replace(",", "") for n in NUMBER.findall(body)]
    missing = sorted({n for n in said if n not in known and n.rstrip(".") not in known})
    expect("every number of the message is in the JSON", len(said) > 100 and not missing, missing or len(said))


def judge_git(tree, linemate, mail, diff):
    subject = re.search(r"^Subject: \[PATCH\] (.*)$", mail, re.M)[1]
    expect("subject in the manner of the history", subject.startswith("mm: memcontrol: move vmstats_percpu away from "),
           subject)
    expect("author of the tree's configuration", 'From: "A. Person" <person@example.org>\n' in mail)
    expect("date of the last commit", "\nDate: Sat, 1 Aug 2026 10:00:00 +0000\n" in mail)
    expect("git am takes it", tree.am(mail.encode()))
    shown = tree.git("log", "-1", "--format=%an|%ae|%ad|%s|%(trailers:only)")
    expect("what git made of the headers", shown.startswith(
        f"A. Person|person@example.org|Sat Aug 1 10:00:00 2026 +0000|{subject}|"), shown.splitlines()[0])
    expect("git sees both trailers", SIGNED in shown.split("|", 4)[4] and FIXES in shown.split("|", 4)[4])
    expect("message arrives whole", tree.git("log", "-1", "--format=%b").strip() == message_of(mail).strip())
    taken = (tree.path / HEADER).read_bytes()
    expect("diffstat is git's", tree.git("show", "--stat", "--format=").strip() in mail)
    tree.git("checkout", "-q", "-f", "HEAD~1")
    (tree.path.parent / "diff").write_bytes(diff)
    expect("git apply of the plain diff gives the same header",
           tree.run(["git", "apply", "../diff"]).returncode == 0 and (tree.path / HEADER).read_bytes() == taken)
    tree.git("checkout", "-q", "-f", "HEAD")


def judge_dates(tree, linemate, mail):
    again = tree.patch(linemate, "--mail", "--trailer", SIGNED, "--trailer", FIXES)
    expect("the same command gives the same bytes", again.stdout.decode() == mail)
    other = tree.patch(linemate, "--mail", "--trailer", SIGNED, "--trailer", FIXES, SOURCE_DATE_EPOCH="86400").stdout.decode()
    expect("SOURCE_DATE_EPOCH sets the date and nothing else",
           re.sub(r"^Date: .*$", "", other, flags=re.M) == re.sub(r"^Date: .*$", "", mail, flags=re.M)
           and "\nDate: Fri, 2 Jan 1970 00:00:00 +0000\n" in other)
    wrong = tree.patch(linemate, "--mail", SOURCE_DATE_EPOCH="tomorrow")
    expect("a SOURCE_DATE_EPOCH that is none is wrong use", wrong.returncode == 2 and b"SOURCE_DATE_EPOCH" in wrong.stderr)


def judge_others(linemate, tmp):
    """No history, no author, other letters, other line ends."""
    one = ("base",)
    bare = Tree(tmp / "bare" / "t", subjects=("Import",), author=None)
    done = bare.patch(linemate, "--mail", configs=one)
    expect("without an author it is wrong use", done.returncode == 2 and b"--from" in done.stderr and not done.stdout,
           done.stderr.decode().strip())
    author = "Jürgen J. Persson <jp@example.org>"
    done = bare.patch(linemate, "--mail", "--from", author, "--trailer", f"Signed-off-by: {author}", configs=one)
    mail = done.stdout.decode()
    expect("without a manner the path gives the subject's", "\nSubject: [PATCH] memcontrol: " in mail)
    expect("git am takes other letters", bare.am(mail.encode()))
    expect("git reads the author", bare.git("log", "-1", "--format=%an <%ae>").strip() == author,
           bare.git("log", "-1", "--format=%an <%ae>").strip())
    text = (DATA / HEADER).read_bytes().replace(b"\n", b"\r\n")
    crlf = Tree(tmp / "crlf" / "t", text=text)
    mail = crlf.patch(linemate, "--mail", "--trailer", SIGNED, configs=one).stdout
    expect("git am --keep-cr takes a header with CRLF", crlf.am(mail, "--keep-cr"))
    odd = (DATA / HEADER).read_bytes().replace(b"/* kill all of it or nothing */", b"/* t\xfcr */")
    latin = Tree(tmp / "latin" / "t", text=odd)
    mail = latin.patch(linemate, "--mail", "--trailer", SIGNED).stdout
    expect("the diff keeps bytes that are no UTF-8", b"t\xfcr" in mail)
    expect("git am takes them", latin.am(mail))
    expect("and gives them back", b"t\xfcr" in (latin.path / HEADER).read_bytes())
    for wrong in (["--mail", "--json"], ["--trailer", SIGNED], ["--mail", "--trailer", "no trailer"],
                  ["--mail", "--trailer", "A: b\nC: d"], ["--mail", "--from", "nobody"]):
        done = bare.patch(linemate, *wrong, configs=one)
        expect(f"wrong use: {wrong}", done.returncode == 2 and done.stderr and not done.stdout)


def judge_comment(tree, linemate, tmp):
    tree.git("checkout", "-q", "-f", "-B", "commented", "taken~1")
    mail = tree.patch(linemate, "--mail", "--comment", "--trailer", SIGNED).stdout.decode()
    reason = "/* Read often: keep away from memory_events_local, which is written. */"
    expect("the reason stands above the moved member",
           f"\n+\t{reason}\n+\tstruct memcg_vmstats_percpu __percpu *vmstats_percpu;\n" in mail)
    expect("git am takes the mail with a comment", tree.am(mail.encode()))
    more = tree.patch(linemate)
    expect("and the commented header needs no other patch", more.returncode == 0 and not more.stdout, more.stdout.decode())
    judge_checkpatch(mail, tmp)
    one = tree.git("show", "taken~1:" + HEADER)
    (tree.path / HEADER).write_text(one)
    side = tree.patch(linemate, "--comment", configs=("base", "v1", "nowb")).stdout.decode()
    expect("where something else moves, a member of the pair tells the reason",
           "+\tstruct vmpressure vmpressure;" in side and f"+\t{reason}\n \tstruct memcg_vmstats_percpu" in side, side)


def judge_checkpatch(mail, tmp):
    kernel = os.environ.get("LM_KERNEL_TREE")
    if not kernel:
        return
    (tmp / "checked.patch").write_text(mail)
    done = subprocess.run([pathlib.Path(kernel) / "scripts" / "checkpatch.pl", tmp / "checked.patch"],
                          capture_output=True, text=True, cwd=kernel)
    expect("checkpatch.pl finds no error", "total: 0 errors" in done.stdout, done.stdout.strip().splitlines()[-4:])


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        tree = Tree(tmp / "tree" / "t")
        done = tree.patch(linemate, "--mail", "--trailer", SIGNED, "--trailer", FIXES)
        expect("exit code 0", done.returncode == 0, done.returncode)
        if done.returncode:
            sys.exit(done.stderr.decode())
        mail = done.stdout.decode()
        print(mail)
        judge_message(mail, json.loads(tree.patch(linemate, "--json").stdout))
        judge_dates(tree, linemate, mail)
        judge_git(tree, linemate, mail, tree.patch(linemate).stdout)
        judge_checkpatch(mail, tmp)
        judge_comment(tree, linemate, tmp)
        judge_others(linemate, tmp)
    print("FAILED" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
