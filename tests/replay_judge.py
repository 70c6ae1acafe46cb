#!/usr/bin/env python3
"""replay_judge.py LINEMATE REPLAY - linemate replay counts what an independent replay counts.

Real accesses to struct mem_cgroup, in order, through the caches of both: the
same misses and upgrades on every line, for the header as it is and as
linemate's own patch leaves it.  The formula that the patch was found by must
come within a tenth of the replay where contention is.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import flagship  # noqa: E402
from flagship import CONFIGS, DATA, HEADER, LINE, compiled, expect, patch, run  # noqa: E402


def judge(replay, accesses, old, new):
    """({line: (misses, upgrades)}, totals) by tests/replay.c, offsets moved from old to new."""
    moves, seen = [], set()
    for name, (offset, size, _) in old.items():
        size = size or 8
        if offset not in seen and new[name][0] != offset:
            moves.append(f"{offset}:{size}:{new[name][0]}")
        seen.add(offset)
    out = run([replay, accesses, LINE, *moves], accesses.parent).stdout
    lines = {int(n): (int(m), int(u)) for n, m, u in re.findall(r"^line (\d+)\tmisses (\d+)\tupgrades (\d+)", out, re.M)}
    total = re.search(r"^total\tmisses (\d+)\tupgrades (\d+)\taccesses (\d+)$", out, re.M)
    return lines, tuple(map(int, total.groups()))


def linemate_replay(linemate, tree, accesses, *more):
    argv = [linemate, "replay", "--struct", "mem_cgroup", "--header", HEADER, "--profile", accesses, "--json"]
    for name in CONFIGS:
        if name != "base":
            argv += ["--config", f"{name}:{CONFIGS[name]}"]
    done = run([*argv, *more, "--", *(DATA / "flags").read_text().split()], tree)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def compare(what, side, lines, total):
    mine = {row["line"]: (row["misses"], row["upgrades"]) for row in side["lines"]}
    different = {n: (mine.get(n), theirs) for n, theirs in lines.items() if mine.get(n) != theirs}
    expect(f"{what}: {len(lines)} contended lines to the count", lines and not different, different or "")
    expect(f"{what}: sums to the count", (side["misses"], side["upgrades"]) == total[:2], total)


def main():
    linemate, replay = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        old_tree, new_tree, accesses = tmp / "old", tmp / "new", tmp / "accesses.bin"
        for tree in (old_tree, new_tree):
            shutil.copytree(DATA / "include", tree / "include")
            run(["git", "init", "-q"], tree)
        with open(accesses, "wb") as out:
            subprocess.run(["zstd", "-dc", DATA / "accesses.bin.zst"], stdout=out, check=True)
        diff = patch(linemate, old_tree).stdout
        run(["git", "apply"], new_tree, input=diff)
        expect("the patch changes the header", (old_tree / HEADER).read_text() != (new_tree / HEADER).read_text())
        story = linemate_replay(linemate, old_tree, accesses, "--after", new_tree / HEADER)
        expect("all accesses in turns", (story["accesses"], story["order"]) == (7_834_530, "turns"))
        base = story["configurations"][0]
        old, new = compiled(old_tree, "base", tmp)[0], compiled(new_tree, "base", tmp)[0]
        compare("before", base["before"], *judge(replay, accesses, old, old))
        compare("after", base["after"], *judge(replay, accesses, old, new))
        for config in story["configurations"]:
            before, after = (config[s]["misses"] + config[s]["upgrades"] for s in ("before", "after"))
            expect(f"{config['name']}: less after", after < before / 2, f"{before:,.0f} -> {after:,.0f}")
            worst = max(config["before"]["lines"], key=lambda row: row["misses"])
            expect(f"{config['name']}: cost model within 10 % on the contended line {worst['line']}",
                   abs(worst["model"] - worst["misses"]) <= worst["misses"] / 10,
                   f"model {worst['model']:,.0f}, replayed {worst['misses']:,.0f}")
    print("FAILED" if flagship.bad else "passed")
    return 1 if flagship.bad else 0


if __name__ == "__main__":
    sys.exit(main())
