#!/usr/bin/env python3
"""broken.py LINEMATE CASE.json - what is broken gets one sentence, its exit code, and nothing written.

The case: argv; exit (one code, or some); says (texts on stderr); the files to
make: files {name: text}, hex {name: bytes}, sparse {name: size}, folders; and
stdin with stdin_letters more letters behind it.  tests/broken/good/ is there, too.
In under 2 seconds and 200 MB.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from lab import Failure, snapshot

SECONDS, MEGABYTES = 2.0, 200


def make(case, folder):
    for name, text in case.get("files", {}).items():
        (folder / name).write_text(text)
    for name, digits in case.get("hex", {}).items():
        (folder / name).write_bytes(bytes.fromhex(digits))
    for name, size in case.get("sparse", {}).items():
        with open(folder / name, "wb") as file:
            file.truncate(size)
    for name in case.get("folders", []):
        (folder / name).mkdir()


def feed(pipe, case):
    """A gigabyte in one line takes no gigabyte here, nor may it there."""
    letters, chunk = case.get("stdin_letters", 0), b"x" * (1 << 20)
    try:
        pipe.write(case.get("stdin", "").encode())
        while letters > 0:
            pipe.write(chunk[:letters])
            letters -= len(chunk)
        pipe.close()
    except BrokenPipeError:
        pass


def run(linemate, case, folder, env):
    """(exit code, stdout, stderr, seconds, megabytes)"""
    start = time.monotonic()
    with open(folder.parent / "stdout", "w+b") as out, open(folder.parent / "stderr", "w+b") as err:
        child = subprocess.Popen([linemate, *case["argv"]], cwd=folder, env=env, stdin=subprocess.PIPE,
                                 stdout=out, stderr=err)
        feeder = threading.Thread(target=feed, args=(child.stdin, case), daemon=True)
        feeder.start()
        try:
            child.wait(timeout=120)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise Failure("does not end")
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read(), err.read(), seconds,
                resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


def judge(linemate, case, tmp):
    folder, temp = tmp / "here", tmp / "temp"
    shutil.copytree(pathlib.Path(__file__).parent.parent / "broken" / "good", folder)
    temp.mkdir()
    make(case, folder)
    before = snapshot(folder)
    # Sanitizers cost time and memory of their own.
    factor = 5 if b"__asan_init" in linemate.read_bytes() else 1
    for _ in range(3):      # the best of three: other tests run beside this one
        code, out, err, seconds, megabytes = run(linemate, case, folder, {**os.environ, "TMPDIR": str(temp)})
        if seconds <= SECONDS * factor:
            break
    words = err.decode(errors="replace")
    print(words, end="")
    codes = case["exit"] if isinstance(case["exit"], list) else [case["exit"]]
    if code not in codes:
        raise Failure(f"exit code {code}, not {' or '.join(map(str, codes))}")
    if out:
        raise Failure(f"says something on stdout: {out[:200]}")
    for text in case["says"]:
        if text not in words:
            raise Failure(f"does not say {text!r}")
    if any(byte < 32 and byte not in (9, 10) or byte == 127 for byte in err):
        raise Failure("a control code reached the terminal")
    # Wrong use may name the way to help, too.
    if not 1 <= len(words.splitlines()) <= (3 if code == 2 else 1) or len(err) > 2000:
        raise Failure(f"{len(words.splitlines())} lines, {len(err)} bytes: not one sentence")
    if snapshot(folder) != before:
        raise Failure("something was written")
    if any(temp.iterdir()):
        raise Failure("temporary files are left")
    if seconds > SECONDS * factor:
        raise Failure(f"took {seconds:.1f} s")
    if megabytes > MEGABYTES * factor:
        raise Failure(f"took {megabytes:.0f} MB")


def main():
    linemate, path = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as tmp:
        try:
            judge(linemate, json.loads(path.read_text()), pathlib.Path(tmp))
        except Failure as failure:
            print(f"{path.stem}: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
