#!/usr/bin/env python3
"""flagship.py LINEMATE REPLAY - a real regression must be found and repaired.

In struct mem_cgroup an event counter and a pointer that every statistics
update reads had become line mates.  linemate gets the header, the counted
accesses and seven configurations; outsiders judge what it says: git applies
the patch, gcc says where the members are, a replay of the recorded accesses
counts cache misses, and a layout written here once more is shaken.
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
from check_layout import CONFIGS, edits, read_layout  # noqa: E402

DATA = HERE / "data" / "flagship"
HEADER = "include/linux/memcontrol.h"
LINE = 64
POINTER, COUNTERS, HOT = "vmstats_percpu", ("memory_events", "memory_events_local"), 64
BEFORE, MOST_AFTER, MERGED = 271_971, 92_400, 94_158
bad = 0


def expect(what, holds, seen=""):
    global bad
    if not holds:
        bad += 1
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


def run(argv, cwd, **more):
    return subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, **more)


def patch(linemate, tree, configs=tuple(CONFIGS), *more):
    argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", HEADER, "--profile", DATA / "sites.access"]
    for name in configs:
        if name != "base":
            argv += ["--config", f"{name}:{CONFIGS[name]}"]
    return run([*argv, *more, "--", *(DATA / "flags").read_text().split()], tree)


def names_in(tree):
    """Members by name: those of the real record, and paddings that a patch may have added."""
    text = (tree / HEADER).read_text()
    pads = re.findall(r"^\s*CACHELINE_PADDING\((\w+)\)", text, re.M)
    return pads


def compiled(tree, config, tmp):
    """{member: (offset, size, alignment)} and the record's size, from gcc."""
    names = [m[0] for m in read_layout(DATA / f"layout-{config}.txt")[0]]
    flexible = names[-1]
    rows = []
    for name in names + names_in(tree):
        size = 0 if name == flexible else f"sizeof(((struct mem_cgroup *)0)->{name})"
        rows.append(f'{{ "{name}", __builtin_offsetof(struct mem_cgroup, {name}), {size}, '
                    f"__alignof__(((struct mem_cgroup *)0)->{name}) }},")
    source, program, edit = tmp / "t.c", tmp / "t", tmp / "e.h"
    edit.write_text(edits(CONFIGS[config]))
    source.write_text(
        "#include <linux/memcontrol.h>\nextern int printf(const char *, ...);\n"
        "static const struct { const char *n; unsigned long o, s, a; } t[] = {\n" + "\n".join(rows) + "\n};\n"
        "int main(void)\n{\n\tfor (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)\n"
        '\t\tprintf("%s %lu %lu %lu\\n", t[i].n, t[i].o, t[i].s, t[i].a);\n'
        '\tprintf("%lu\\n", (unsigned long)sizeof(struct mem_cgroup));\n\treturn 0;\n}\n')
    flags = (DATA / "flags").read_text().split()
    done = run(["gcc", *flags, "-include", edit, source, "-o", program], tree)
    if done.returncode:
        sys.exit(f"{config}: does not compile:\n{done.stderr}")
    *lines, size = run([program], tree).stdout.splitlines()
    members = {}
    for line in lines:
        name, *figures = line.split()
        members[name] = tuple(map(int, figures))
    return members, int(size)


def lines_of(member):
    offset, size, _ = member
    return set(range(offset // LINE, (offset + max(size, 1) - 1) // LINE + 1))


def lay_out(order, changed=None, by=0):
    """Offsets of [(name, size, alignment)], with one member's size changed: System V in five lines."""
    at, offsets = 0, {}
    for name, size, align in order:
        at = (at + align - 1) // align * align
        offsets[name] = at
        at += size + (by if name == changed else 0)
    return offsets


def shake(members):
    """(times shaken, times the pair met): each nested record or array grows and shrinks by turns."""
    scalars = {"oom_group", "vmstats", "socket_pressure", "kmemcg_id", POINTER, "events_percpu", "soft_limit",
               "oom_lock", "under_oom", "oom_kill_disable", "tcpmem_active", "tcpmem_pressure", "swappiness",
               "nodeinfo", "zswap_max", "zswap_writeback", "memsw"}
    order = sorted((o, s, a, n) for n, (o, s, a) in members.items() if n != "memsw")
    order = [(n, s, a) for o, s, a, n in order]
    still = lay_out(order)
    if any(still[n] != members[n][0] for n, _, _ in order):
        sys.exit("the layout written for this test disagrees with gcc")
    shaken = met = 0
    for name, size, align in order:
        if name in scalars or size == 0:
            continue
        for by in (-64, 64) if align == LINE else range(-32, 72, 8):
            if by == 0 or size + by < 0:
                continue
            at = lay_out(order, name, by)
            shaken += 1
            met += any((at[c] + HOT) // LINE == at[POINTER] // LINE for c in COUNTERS)
    return shaken, met


def replayed(replay, accesses, old, new):
    """Misses + upgrades of the recorded accesses, their offsets moved from old to new."""
    moves, seen = [], set()
    for name, (offset, size, _) in old.items():
        # What the recording saw behind the flexible array's start is its first element.
        size = size or 8
        if offset not in seen and new[name][0] != offset:
            moves.append(f"{offset}:{size}:{new[name][0]}")
        seen.add(offset)
    out = run([replay, accesses, LINE, *moves], accesses.parent).stdout
    total = re.search(r"^total\tmisses (\d+)\tupgrades (\d+)\taccesses (\d+)$", out, re.M)
    if not total or int(total[3]) != 7_834_530:
        sys.exit(f"replay gave no total of all accesses:\n{out}")
    return int(total[1]) + int(total[2])


def moved_units(text):
    """Members whose declaration lines a diff takes out."""
    return [line for line in text.splitlines() if re.match(r"^-\t.*;", line)]


def judge_layouts(replay, old_tree, new_tree, tmp):
    accesses = tmp / "accesses.bin"
    with open(accesses, "wb") as out:
        subprocess.run(["zstd", "-dc", DATA / "accesses.bin.zst"], stdout=out, check=True)
    shaken = met = met_before = 0
    for config in CONFIGS:
        old, old_size = compiled(old_tree, config, tmp)
        new, new_size = compiled(new_tree, config, tmp)
        expect(f"{config}: does not grow", new_size <= old_size, f"{old_size} -> {new_size}")
        for counter in COUNTERS:
            shared = lines_of(new[POINTER]) & lines_of(new[counter])
            expect(f"{config}: {POINTER} on no line of {counter}", not shared, sorted(shared) or "")
        met_before += shake(old)[1]
        more = shake(new)
        shaken, met = shaken + more[0], met + more[1]
        if config == "base":
            before, after = replayed(replay, accesses, old, old), replayed(replay, accesses, old, new)
            expect("replay before", before == BEFORE, before)
            expect(f"replay after is at most {MOST_AFTER}", after <= MOST_AFTER, after)
    expect("shaken, the pair met before", met_before > shaken / 2, f"{met_before} of {shaken}")
    expect("shaken, the pair meets in at most 0.1 %", met * 1000 <= shaken, f"{met} of {shaken}")


def merged_fix(tree):
    """What was merged instead: the pointer, aligned to a line, behind the first of the writeback members."""
    path = tree / HEADER
    text = path.read_text()
    pointer = "\tstruct memcg_vmstats_percpu __percpu *vmstats_percpu;\n"
    first = "\tstruct list_head cgwb_list;\n"
    aligned = pointer.replace(";", " ____cacheline_aligned_in_smp;")
    if text.count(pointer) != 1 or text.count(first) != 1:
        sys.exit("the flagship's header has changed: write merged_fix() anew")
    text = text.replace(pointer, "").replace(first, first + "#endif\n" + aligned + "#ifdef CONFIG_CGROUP_WRITEBACK\n")
    path.write_text(text)


def judge_merged_fix(replay, old_tree, tmp):
    """The figures that README.md gives for the fix that was merged."""
    tree, grown = tmp / "merged", []
    shutil.copytree(old_tree, tree)
    merged_fix(tree)
    for config in CONFIGS:
        old, old_size = compiled(old_tree, config, tmp)
        new, new_size = compiled(tree, config, tmp)
        if new_size > old_size:
            grown.append(config)
        if config == "base":
            after = replayed(replay, tmp / "accesses.bin", old, new)
            expect("replay of the merged fix", after == MERGED, after)
    expect("the merged fix grows three configurations", len(grown) == 3, grown)


def judge_words(done, as_json):
    words = done.stderr
    expect("says true sharing", "true sharing" in words)
    for counter in COUNTERS:
        expect(f"names {counter}[8]", f"{counter}[8]" in words)
    try:
        story = json.loads(as_json)
    except ValueError as error:
        expect("--json is JSON", False, error)
        return
    stability = story.get("stability", {})
    expect("its own figure for stability is at most 0.1 %",
           stability.get("perturbations", 0) >= 1000
           and stability["meet_after"] * 1000 <= stability["perturbations"], stability)
    expect("moves at most two units", 1 <= len(story.get("moves", [])) <= 2,
           [m.get("unit") for m in story.get("moves", [])])


OPTIONS = ("CONFIG_MEMCG_V1", "CONFIG_CGROUP_WRITEBACK", "CONFIG_ZSWAP", "CONFIG_LRU_GEN_WALKS_MMU")


def size_and_meeting(tree, spec, tmp):
    """(bytes of the record, whether the pointer shares a line with a counter's array), from gcc's assembler."""
    (tmp / "e.h").write_text(edits(spec))
    meets = " || ".join(
        f"(O({POINTER}) / {LINE} >= O({c}) / {LINE} && O({POINTER}) / {LINE} <= (O({c}) + S({c}) - 1) / {LINE})"
        for c in COUNTERS)
    (tmp / "a.c").write_text(
        "#include <linux/memcontrol.h>\n#define O(m) __builtin_offsetof(struct mem_cgroup, m)\n"
        "#define S(m) sizeof(((struct mem_cgroup *)0)->m)\n"
        f"char the_size[sizeof(struct mem_cgroup)], the_meeting[1 + ({meets})];\n")
    done = run(["gcc", *(DATA / "flags").read_text().split(), "-include", tmp / "e.h", "-fcommon", "-S", "-o", "-",
                tmp / "a.c"], tree)
    found = dict(re.findall(r"\.comm\s+(\w+),(\d+)", done.stdout))
    if done.returncode or len(found) != 2:
        sys.exit(f"{spec}: does not compile:\n{done.stderr}")
    return int(found["the_size"]), found["the_meeting"] == "2"


def judge_auto(linemate, old_tree, tmp):
    """Without being told, linemate finds the configurations, and a patch that is good in all of them."""
    tree = tmp / "auto"
    shutil.copytree(old_tree, tree)
    argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", HEADER, "--profile", DATA / "sites.access",
            "--configs", "auto", "--json", "--", *(DATA / "flags").read_text().split()]
    done = run(argv, old_tree)
    expect("--configs auto: exit code 0", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    story = json.loads(done.stdout)
    derived, configs = story["derived"], story["configurations"]
    expect("finds the options", sorted(o["name"] for o in derived["options"]) == sorted(OPTIONS), derived["options"])
    expect("BITS_PER_LONG is not switchable, and defined in types.h",
           [(f["name"], f["defined_in"]) for f in derived["not_switchable"]] ==
           [("BITS_PER_LONG", "include/linux/types.h")], derived["not_switchable"])
    expect("nothing is left out", not derived["left_out"] and not derived["not_covered"])
    seen = {frozenset(re.findall(r"CONFIG_\w+", c["options"])) for c in configs}
    expect("every two options in all four ways",
           all(len({(a in s, b in s) for s in seen}) == 4 for a in OPTIONS for b in OPTIONS if a < b), sorted(map(sorted, seen)))
    expect("grows in none", all(c["after"]["size"] <= c["before"]["size"] for c in configs))
    pair = [p for p in story["pairs"] if {p["a"]["leaf"], p["b"]["leaf"]} == {f"{COUNTERS[1]}[{HOT // 8}].counter", POINTER}]
    expect("the pair is apart in all, with slack",
           len(pair) == 1 and pair[0]["apart_after"] and pair[0]["slack_bytes"] > 0 and pair[0]["together_in"] == "",
           [(p["apart_after"], p["slack_bytes"]) for p in pair])
    applied = run(["git", "apply", "-"], tree, input=story["diff"])
    expect("git apply takes it", applied.returncode == 0, applied.stderr)
    base = {o["name"]: o["base"] is not None for o in derived["options"]}
    grown, met = [], []
    for mask in range(1 << len(OPTIONS)):
        spec = ",".join(f"{'-' if base[o] else '+'}{o}" for i, o in enumerate(OPTIONS) if mask >> i & 1)
        before, (after, meets) = size_and_meeting(old_tree, spec, tmp)[0], size_and_meeting(tree, spec, tmp)
        grown += [spec] if after > before else []
        met += [spec] if meets else []
    expect("in all sixteen combinations: grows in none", not grown, grown or "")
    expect("in all sixteen combinations: apart", not met, met or "")


def main():
    linemate, replay = map(pathlib.Path, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        old_tree, new_tree = tmp / "old", tmp / "new"
        for tree in (old_tree, new_tree):
            shutil.copytree(DATA / "include", tree / "include")
            run(["git", "init", "-q"], tree)
        done = patch(linemate.resolve(), old_tree)
        expect("exit code 0", done.returncode == 0, done.returncode)
        if done.returncode or not done.stdout:
            sys.exit(done.stderr + done.stdout)
        (tmp / "it.patch").write_text(done.stdout)
        dry = run(["patch", "-p1", "--dry-run", "-i", tmp / "it.patch"], new_tree)
        expect("patch -p1 takes it, without fuzz", dry.returncode == 0 and "fuzz" not in dry.stdout, dry.stdout.strip())
        applied = run(["git", "apply", tmp / "it.patch"], new_tree)
        expect("git apply takes it", applied.returncode == 0, applied.stderr)
        if applied.returncode:
            sys.exit(done.stdout)
        changed = moved_units(done.stdout)
        expect("takes at most two declarations out", 1 <= len(changed) <= 2, changed)
        judge_layouts(replay.resolve(), old_tree, new_tree, tmp)
        judge_merged_fix(replay.resolve(), old_tree, tmp)
        judge_auto(linemate.resolve(), old_tree, tmp)
        judge_words(done, patch(linemate.resolve(), old_tree, tuple(CONFIGS), "--json").stdout)
        again = patch(linemate.resolve(), old_tree)
        expect("the same command gives the same bytes",
               (again.stdout, again.stderr) == (done.stdout, done.stderr))
        other = patch(linemate.resolve(), old_tree, tuple(reversed(CONFIGS)))
        expect("configurations in another order give the same patch", other.stdout == done.stdout)
        text = (old_tree / HEADER).read_bytes()
        expect("the header was not written", text == (DATA / HEADER).read_bytes())
        print(done.stdout)
    print(f"{'FAILED' if bad else 'passed'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
