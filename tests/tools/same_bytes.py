#!/usr/bin/env python3
"""same_bytes.py LINEMATE - every command twice, in other surroundings, gives the same bytes.

Other surroundings: another temporary folder, locale, time zone, width of the
terminal, and one processor instead of all.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "flagship"
RECORD = ["--struct", "mem_cgroup", "--header", "include/linux/memcontrol.h"]
CONFIGS = ["--config", "v1:+CONFIG_MEMCG_V1", "--config", "zswap:+CONFIG_ZSWAP"]
PROFILE = ["--profile", "sites.access"]


def commands():
    flags = ["--", *(DATA / "flags").read_text().split()]
    yield ["--help"]
    yield ["--version"]
    yield ["profile", *PROFILE]
    yield ["profile", *PROFILE, "--json"]
    for verb in ("show", "patch"):
        yield [verb, "--help"]
        for more in ([], ["--json"], ["-v"]):
            yield [verb, *RECORD, *PROFILE, *CONFIGS, *more, *flags]
    yield ["report", *RECORD, *PROFILE, *CONFIGS, *flags]
    yield ["report", *RECORD, *PROFILE, *CONFIGS, "--html", *flags]
    yield ["show", *RECORD, *flags]
    yield ["patch", *RECORD, *PROFILE, "--moves", "all", *flags]
    yield ["patch", "--struct", "no_such", "--header", "include/linux/memcontrol.h", *PROFILE, *flags]


def run(linemate, argv, tree, env, one_cpu):
    def pin():
        if one_cpu:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return subprocess.run([linemate, *argv], cwd=tree, env=env, capture_output=True, preexec_fn=pin)


def main():
    linemate, bad, nr = pathlib.Path(sys.argv[1]).resolve(), 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        tree, other = pathlib.Path(tmp, "tree"), pathlib.Path(tmp, "other")
        other.mkdir()
        shutil.copytree(DATA / "include", tree / "include")
        shutil.copy(DATA / "sites.access", tree)
        first = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "80"}
        second = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "80", "TMPDIR": str(other),
                  "LANG": "de_DE.UTF-8"}
        for argv in commands():
            a, b = run(linemate, argv, tree, first, False), run(linemate, argv, tree, second, True)
            nr += 1
            if (a.returncode, a.stdout, a.stderr) != (b.returncode, b.stdout, b.stderr):
                bad += 1
                print(f"differs: linemate {' '.join(argv)}")
                for x, y in zip((a.stdout + a.stderr).splitlines(), (b.stdout + b.stderr).splitlines()):
                    if x != y:
                        print(f"  {x.decode(errors='replace')}\n  {y.decode(errors='replace')}")
            if any(other.iterdir()):
                bad += 1
                print(f"leaves temporary files: linemate {' '.join(argv)}")
    print(f"{nr - bad} passed, {bad} failed")
    return 1 if bad or nr < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
