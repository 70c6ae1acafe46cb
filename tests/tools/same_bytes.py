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
    for verb in ("replay", "bench", "rank"):
        yield [verb, "--help"]
    for more in ([], ["--json"]):
        yield ["replay", *RECORD, *PROFILE, *more, *flags]
    yield ["show", *RECORD, *flags]
    for more in ([], PROFILE, ["--json", *PROFILE]):
        yield ["diff", *RECORD, *CONFIGS, *more, "--after", "after.h", *flags]
    yield ["diff", *RECORD, *CONFIGS, *PROFILE, "HEAD~1..HEAD", *flags]
    for more in ([], PROFILE, ["--json", *PROFILE], ["--pair", "vmstats,memory_events"]):
        yield ["log", *RECORD, *CONFIGS, *more, "HEAD~4..HEAD", *flags]
    yield ["show", *RECORD, "--configs", "auto", "--json", *flags]
    yield ["patch", *RECORD, *PROFILE, "--configs", "auto", *flags]
    yield ["patch", *RECORD, *PROFILE, *CONFIGS, "--asserts", "--promise", "a.promise", *flags]
    for more in ([], ["--json"], ["--sarif"]):
        yield ["check", "a.promise", *more]
    yield ["patch", *RECORD, *PROFILE, "--moves", "all", *flags]
    yield ["patch", "--struct", "no_such", "--header", "include/linux/memcontrol.h", *PROFILE, *flags]


def grow(tree):
    """A git tree with a few commits that each make vmpressure larger, and a header beside the header."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@example.org", f"GIT_{who}_DATE": "2026-01-01T00:00:00+0000"}
    nested = tree / "include/linux/vmpressure.h"
    text = (tree / "include/linux/memcontrol.h").read_text()
    (tree / "after.h").write_text(text.replace("bool oom_group;", "bool oom_group;\n\tlong more[3];"))
    subprocess.run(["git", "init", "-q", "."], cwd=tree, env=env, check=True)
    for i in range(5):
        nested.write_text(nested.read_text().replace("unsigned long scanned;", f"unsigned long scanned;\n\tlong more{i};"))
        subprocess.run(["git", "add", "-A"], cwd=tree, env=env, check=True)
        subprocess.run(["git", "commit", "-q", "-m", f"Commit {i}"], cwd=tree, env=env, check=True)


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
        grow(tree)
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
