#!/usr/bin/env python3
"""progress.py LINEMATE - long work shows where it is, on a terminal and nowhere else.

script(1) gives the program a terminal.  Each stage must show itself, and the
line must be gone before anything else is written.
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data" / "flagship"
STAGES = ("parsing", "reading the profile, KiB", "solving the packing problem", "searching, moves", "checking",
          "reading debug info", "indexing debug info", "attributing samples")
# A program with debug info of the record, whose code a sample can be in.
PROGRAM = """#include <linux/memcontrol.h>
struct mem_cgroup group;
int main(void) { return group.oom_group; }
"""
bad = 0


def expect(what, holds, seen=""):
    global bad
    if not holds:
        bad += 1
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


def terminal(argv, cwd):
    """What a terminal gets of the program's stderr; stdout goes to a file."""
    command = shlex.join(map(str, argv)) + " >out"
    done = subprocess.run(["script", "-q", "-e", "-c", command, "/dev/null"], cwd=cwd, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout.decode().replace("\r\n", "\n")


def left_over(text):
    """The text as the terminal shows it in the end: a line that was cleared is gone."""
    return re.sub(r"(?:^|(?<=\n)|(?<=\x1b\[K))[^\n\x1b]*\r\x1b\[K", "", text)


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    flags = (DATA / "flags").read_text().split()
    with tempfile.TemporaryDirectory() as tmp:
        tree = pathlib.Path(tmp)
        shutil.copytree(DATA / "include", tree / "include")
        (tree / "main.c").write_text(PROGRAM)
        subprocess.run(["gcc", *flags, "-g", "main.c", "-o", "program"], cwd=tree, check=True)
        # The accesses once more, in a file large enough to be read in several blocks: comments count for nothing.
        with open(tree / "sites.access", "w") as out:
            out.write((DATA / "sites.access").read_text())
            out.write("# one line of nothing, to fill the file\n" * 100_000)
        argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", "include/linux/memcontrol.h", "--root", ".",
                "--profile", "sites.access", "--binary", "program", "--config", "v1:+CONFIG_MEMCG_V1",
                "--color", "never", "--", *flags]
        code, shown = terminal(argv, tree)
        expect("exit code on a terminal", code == 0, code)
        for stage in STAGES[:-2]:
            steps = re.findall(rf"\r\x1b\[K{re.escape(stage)}: (\d+) of (\d+)", shown)
            expect(f"shows '{stage}'", steps and all(int(a) < int(b) for a, b in steps), len(steps))
        plain = subprocess.run(argv, cwd=tree, capture_output=True, text=True)
        expect("shows nothing in a file", "\x1b" not in plain.stderr and "\r" not in plain.stderr)
        expect("nothing of it stays on the terminal", left_over(shown) == plain.stderr,
               left_over(shown)[:300] if left_over(shown) != plain.stderr else "")
        for quiet in ("-q", "--json"):
            code, shown = terminal([*argv[:2], quiet, *argv[2:]], tree)
            expect(f"{quiet} shows nothing", code == 0 and shown == "", shown[:200])
        main_at = re.search(r"^0*([0-9a-f]+) T main$", subprocess.run(["nm", "program"], cwd=tree, capture_output=True,
                                                                     text=True).stdout, re.M)[1]
        (tree / "lackey.txt").write_text(f"==1== Lackey, an example Valgrind tool\nI  {main_at},4\n L 1008,8\n" * 3)
        code, shown = terminal([linemate, "profile", "--struct", "mem_cgroup", "--binary", "program", "--profile",
                                "lackey.txt", "--object", "0x1000"], tree)
        for stage in STAGES[-2:]:
            expect(f"shows '{stage}'", code == 0 and f"\r\x1b[K{stage}: " in shown, shown[:200])
    print("FAILED" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
