#!/usr/bin/env python3
"""help.py LINEMATE - the help of every command has examples, and the command line takes each of them.

An example ends in --help instead of at its end, so that all of its options are
read and nothing is run.
"""
import pathlib
import re
import shlex
import subprocess
import sys

bad = 0


def fail(text):
    global bad
    bad += 1
    print(f"FAIL {text}")


def run(argv):
    return subprocess.run(argv, capture_output=True, text=True)


def examples_of(text):
    """The commands under "Examples:", continuation lines joined."""
    found = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    if not found:
        return []
    return re.findall(r"^  (\S.*)$", found[1].replace("\\\n    ", ""), re.M)


def try_out(linemate, verb, example):
    words = shlex.split(example)
    if words[:2] != ["linemate", verb]:
        fail(f"{verb}: the example is of another command: {example}")
        return
    at = words.index("--") if "--" in words else len(words)
    done = run([linemate, *words[1:at], "--help"])
    if done.returncode or done.stderr:
        fail(f"{verb}: {example}\n     {done.stderr.strip()}")


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    overview = run([linemate, "--help"]).stdout
    commands = re.search(r"^Commands:\n((?:.+\n)+)", overview, re.M)
    for line in commands[1].splitlines():
        if not re.match(r"  \w+ +\S", line):
            fail(f"a command's line is too long and was broken before: {line}")
    verbs = re.findall(r"^  (\w+) ", commands[1], re.M)
    if len(verbs) < 3 or "patch" not in verbs:
        sys.exit(f"too few commands: {verbs}")
    for verb in verbs:
        text = run([linemate, verb, "--help"]).stdout
        wide = [line for line in text.splitlines() if len(line) > 80]
        if wide:
            fail(f"{verb}: lines of more than 80 columns: {wide}")
        examples = examples_of(text)
        if not examples:
            fail(f"{verb}: no examples")
        for example in examples:
            try_out(linemate, verb, example)
        print(f"{verb}: {len(examples)} examples")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
