#!/usr/bin/env python3
"""readme.py LINEMATE FILE... - the console blocks of documents are true.

A block of ```console holds commands ("$ " and continuation lines that end in a
backslash) and what they print, stdout and stderr as the terminal would show
them.  A line "..." stands for any lines, "..." inside a line for any text.  The
commands of a document run one after the other in a copy of tests/data, with
the program's folder first in PATH; "cd" holds until the block ends, in docs/ until the
document does.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def same(want, got):
    """True if got is want, where "..." stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, want.split("..."))), got) is not None


def matches(want, got):
    """True if got is want, where "..." stands for any lines."""
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and same(want[0], got[0]) and matches(want[1:], got[1:])


def steps(block):
    """(command, expected lines) of a block."""
    found, lines = [], block.splitlines()
    while lines:
        line = lines.pop(0)
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + lines.pop(0)
            found.append((command, []))
        else:
            found[-1][1].append(line)
    return found


def check(block, linemate, tree, prelude):
    """(is it all true?, the "cd" commands so far)"""
    env = dict(os.environ, PATH=f"{linemate.parent}:{os.environ['PATH']}", LC_ALL="C", NO_COLOR="1", HOME=tree,
               GIT_CONFIG_NOSYSTEM="1")
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "A. Reader", f"GIT_{role}_EMAIL": "reader@example.org"}
    env.pop("SOURCE_DATE_EPOCH", None)
    good = True
    for command, want in steps(block):
        out = subprocess.run(["sh", "-c", f"{prelude}exec 2>&1\n{command}"], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True, timeout=300).stdout.splitlines()
        if not matches(want, out):
            print(f"$ {command}\nis said to print\n" + "\n".join(want) + "\nbut prints\n" + "\n".join(out))
            good = False
        if command.startswith("cd "):
            prelude += command + "\n"
    return good, prelude


def check_document(name, linemate):
    text, good, prelude = (ROOT / name).read_text(), True, ""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    if not blocks:
        print(f"{name} has no console block")
        return False
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run(["cp", "-r", "--parents", "tests/data", tree], cwd=ROOT, check=True)
        for block in blocks:
            fine, so_far = check(block, linemate, tree, prelude)
            good &= fine
            prelude = so_far if name.startswith("docs/") else ""
    return good


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    good = [check_document(name, linemate) for name in sys.argv[2:]]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
