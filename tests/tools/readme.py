#!/usr/bin/env python3
"""readme.py LINEMATE FILE... - the console blocks of documents are true.

A block of ```console holds commands ("$ " and continuation lines that end in a
backslash) and what they print, stdout and stderr as the terminal would show
them.  A line "..." stands for any lines.  The commands of a block run in one
shell, in a copy of what git tracks, with the program's folder first in PATH.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def matches(want, got):
    """True if got is want, where "..." stands for any lines."""
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0] == got[0] and matches(want[1:], got[1:])


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


def check(block, linemate, tree):
    env = dict(os.environ, PATH=f"{linemate.parent}:{os.environ['PATH']}", LC_ALL="C", NO_COLOR="1")
    prelude, good = "", True
    for command, want in steps(block):
        out = subprocess.run(["sh", "-c", f"{prelude}exec 2>&1\n{command}"], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True, timeout=300).stdout.splitlines()
        if not matches(want, out):
            print(f"$ {command}\nis said to print\n" + "\n".join(want) + "\nbut prints\n" + "\n".join(out))
            good = False
        if command.startswith("cd "):
            prelude += command + "\n"
    return good


def main():
    linemate, good = pathlib.Path(sys.argv[1]).resolve(), True
    with tempfile.TemporaryDirectory() as tmp:
        for path in ("tests/data",):
            subprocess.run(["cp", "-r", "--parents", path, tmp], cwd=ROOT, check=True)
        for name in sys.argv[2:]:
            text = (ROOT / name).read_text()
            blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
            if not blocks:
                print(f"{name} has no console block")
                good = False
            for block in blocks:
                good &= check(block, linemate, tmp)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
