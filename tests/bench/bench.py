#!/usr/bin/env python3
"""bench.py [--tsv] [--runs N] [--vmlinux FILE [--perf PERF]] BUILD - the speed that was promised, measured.

One row a goal: medians of N runs (7), where two things are compared turn and
turn about, so that a machine that slows down slows both.  CPU seconds stand
beside the seconds: where other programs run, they say what the machine hides.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import perf_data

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
FLAGSHIP = DATA / "flagship"
HEADER = "include/linux/memcontrol.h"
RECORD = ["--struct", "mem_cgroup", "--header", HEADER]
CONFIGS = [
    "nolru:-CONFIG_LRU_GEN_WALKS_MMU", "nowb:-CONFIG_CGROUP_WRITEBACK", "v1:+CONFIG_MEMCG_V1",
    "v1nolru:+CONFIG_MEMCG_V1,-CONFIG_LRU_GEN_WALKS_MMU", "v1nowb:+CONFIG_MEMCG_V1,-CONFIG_CGROUP_WRITEBACK",
    "zswap:+CONFIG_ZSWAP",
]
SCRIPT_BYTES = 300_000_000


class Bench:
    """Where the programs and scratch files are; the rows found so far."""

    def __init__(self, build, tmp, runs):
        self.linemate = build / "linemate"
        self.parts = build / "tests" / "bench" / "bench_parts"
        self.packing = build / "tests" / "bench" / "bench_packing"
        self.attribution = build / "tests" / "bench" / "bench_attribution"
        self.tmp, self.runs, self.rows = tmp, runs, []

    def add(self, what, value, unit, goal, at_least=False, detail=""):
        met = value >= goal if at_least else value <= goal
        self.rows.append((what, value, unit, ("at least" if at_least else "at most"), goal, met, detail))


def timed(argv, cwd, stdin=subprocess.DEVNULL):
    """(seconds, CPU seconds of it and all it started); ends if it fails."""
    with tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen([str(a) for a in argv], cwd=cwd, stdin=stdin, stdout=subprocess.DEVNULL,
                                   stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - start
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, argv))}: {errors.read().decode(errors='replace')}")
    return took, usage.ru_utime + usage.ru_stime


def output(argv, cwd=None):
    return subprocess.run([str(a) for a in argv], cwd=cwd, check=True, capture_output=True, text=True).stdout


def median(pairs):
    return tuple(statistics.median(column) for column in zip(*pairs))


def seconds(pair):
    return f"{pair[0]:.3f} s (CPU {pair[1]:.3f} s)"


def headers_package():
    found = sorted(pathlib.Path("/usr/src").glob("linux-headers-*-common"),
                   key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])
    return found[-1] if found else None


def bench_show(b, tree):
    options = [*RECORD, "--kernel-headers"]
    unit = b.tmp / "unit.c"
    where, *flags = output([b.parts, *options, "--unit", unit], tree).splitlines()
    show, clang = [], []
    for _ in range(b.runs):
        show.append(timed([b.linemate, "show", *options], tree))
        clang.append(timed(["clang-19", *flags, "-fsyntax-only", unit], where))
    show, clang = median(show), median(clang)
    b.add("show of Debian's mem_cgroup, against clang-19 -fsyntax-only", show[0] / clang[0], "times", 0.8,
          detail=f"{seconds(show)} against {seconds(clang)}, CPU {show[1] / clang[1]:.2f} times")


def bench_configs(b, tree):
    """Sixteen configurations: base and each combination of four options turned off."""
    names = ["MEMCG_KMEM", "ZSWAP", "CGROUP_WRITEBACK", "LRU_GEN"]
    options = [*RECORD, "--kernel-headers"]
    for mask in range(1, 1 << len(names)):
        spec = ",".join(f"-CONFIG_{n}" for i, n in enumerate(names) if mask >> i & 1)
        options += ["--config", f"c{mask}:{spec}"]
    show, parses = [], []
    for _ in range(b.runs):
        show.append(timed([b.linemate, "show", *options], tree))
        rows = [line.split("\t") for line in output([b.parts, *options, "--parses"], tree).splitlines()]
        parses.append(tuple(sum(float(row[column]) for row in rows) for column in (2, 3)))
    show, parses = median(show), median(parses)
    cores = os.cpu_count()
    b.add("show of Debian's mem_cgroup in 16 configurations, against its 16 parses alone", show[0] / (parses[0] / cores),
          "times", 1.3, detail=f"{seconds(show)} against {seconds(parses)} / {cores} cores, CPU {show[1] / parses[1]:.2f} times")
    auto = [*RECORD, "--kernel-headers", "--configs", "auto"]
    found = json.loads(output([b.linemate, "show", *auto, "--json"], tree))["derived"]
    took = median([timed([b.linemate, "show", *auto], tree) for _ in range(b.runs)])
    alone = tuple(figure / 16 * found["parsed"] for figure in parses)
    b.add("show --configs auto of it, against as many parses alone", took[0] / (alone[0] / cores), "times", 1.3,
          detail=f"{seconds(took)} against {seconds(alone)} / {cores} cores, CPU {took[1] / alone[1]:.2f} times; "
          f"{found['parsed']} parsed, {found['configurations']} kept, for {len(found['options'])} options")


def changed_header(b, tree, patch):
    """The header as the patch leaves it."""
    copy = b.tmp / "changed" / HEADER
    shutil.rmtree(b.tmp / "changed", ignore_errors=True)
    copy.parent.mkdir(parents=True)
    shutil.copyfile(tree / HEADER, copy)
    depth = len(re.search(r"^\+\+\+ (\S+)", patch, re.M).group(1).split("/")) - len(HEADER.split("/"))
    subprocess.run(["patch", "-s", f"-p{depth}", "-d", b.tmp / "changed"], input=patch, text=True, check=True)
    return copy


def bench_patch(b, name, tree, profile, more, flags):
    options = [*RECORD, *more]
    argv = [b.linemate, "patch", *options, "--profile", profile, *flags]
    changed = changed_header(b, tree, output(argv, tree))
    patch, parts, kinds = [], [], {}
    for _ in range(b.runs):
        patch.append(timed(argv, tree))
        total = [0, 0]
        for line in output([b.parts, *options, "--changed", changed, *flags], tree).splitlines():
            kind, _, wall, cpu = line.split("\t")
            total = [total[0] + float(wall), total[1] + float(cpu)]
            kinds.setdefault(kind, []).append(float(wall))
        parts.append(total)
    patch, parts = median(patch), median(parts)
    cores = os.cpu_count()
    each = ", ".join(f"{kind} {sum(times) / b.runs:.3f} s" for kind, times in kinds.items())
    b.add(f"patch of {name}, against its parses and compilations", patch[0] / (parts[0] / cores), "times", 1.3,
          detail=f"{seconds(patch)} against {seconds(parts)} / {cores} cores, CPU {patch[1] / parts[1]:.2f} times; "
          f"mean of all {each}")


def bench_packing(b):
    def solve(*args):
        line = output([b.packing, *args]).splitlines()[-1]
        return float(re.search(r"([\d.]+) s,", line).group(1)), float(re.search(r"gap ([\d.]+) %", line).group(1))

    runs = [solve("flagship") for _ in range(b.runs)]
    b.add("packing problem of the flagship", median(runs)[0], "s", 0.1, detail=f"proven gap {median(runs)[1]:.3f} %")
    for units in 30, 60:
        records = [median([solve(units, seed, 20) for _ in range(3)]) for seed in range(1, 6)]
        each = ", ".join(f"{took:.2f} s" for took, _ in records)
        b.add(f"packing problem of random records, {units} hot units: the slowest of 5", max(r[0] for r in records),
              "s", 10, detail=f"each: {each}")
        b.add(f"packing problem of random records, {units} hot units: the widest proven gap", max(r[1] for r in records),
              "%", 1)


def write_script(path):
    """perf script text of memory samples, as perf 6.1 prints it."""
    dice = random.Random(1)
    kinds = [
        ("cpu/mem-loads,ldlat=30/P:", "268100142 |OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A "),
        ("        cpu/mem-stores/P:", "268100184 |OP STORE|LVL L1 or L1 miss|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"),
        ("cpu/mem-loads,ldlat=30/P:", "66a800842 |OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB L1 or L2 hit|LCK Yes|BLK  N/A"),
    ]
    lines = []
    for i in range(30_000):
        event, source = kinds[dice.choice((0, 0, 1, 2))]
        inside = dice.randrange(0, 4096 * (1 if dice.randrange(4) else 1000), 8)
        ip = 0xffffffff81600000 + dice.randrange(0, 400) * 64
        lines.append(f"{'worker':>16} {dice.randrange(400, 420):5} [{dice.randrange(8):03}] {i / 1000 + 5:12.9f}:       4000 "
                     f"{event} {0xffff888100000000 + inside:16x}       {source} {dice.randrange(600):15} "
                     f"{dice.randrange(600):15} {ip:16x} function_{(ip >> 6) % 150}+0x{ip % 97:x} ([kernel.kallsyms]) "
                     f"{0x100000000 + inside:15x} 4K\n")
    block = "".join(lines).encode()
    with open(path, "wb") as f:
        for _ in range(SCRIPT_BYTES // len(block) + 1):
            f.write(block)
    return path.stat().st_size


def bench_profile(b):
    path = b.tmp / "script.txt"
    size = write_script(path)
    runs = [timed([b.linemate, "profile", "--struct", "r", "--object", "0xffff888100000000", "--profile", path], b.tmp)
            for _ in range(b.runs)]
    path.unlink()
    b.add("reading perf script text", size / median(runs)[0] / 1e6, "MB/s", 300, at_least=True,
          detail=f"{size / 1e6:.0f} MB in {seconds(median(runs))}, {size / median(runs)[1] / 1e6:.0f} MB a CPU second")


PERF_PROGRAM = """
struct conn { long opened; struct { long used, limit; } buffer; long hits; char name[24]; long misses; };
long look_up(struct conn *c) { return c->buffer.limit; }
void open_it(struct conn *c) { c->opened = 1; }
void count(struct conn *c) { c->hits++; }
void fill(struct conn *c) { c->buffer.used += 2; }
void miss(struct conn *c) { __atomic_fetch_add(&c->misses, 1, __ATOMIC_SEQ_CST); }
int main(void) { struct conn c = { 0 }; open_it(&c); count(&c); fill(&c); miss(&c); return (int)look_up(&c); }
"""
PERF_ACCESSES = {"look_up": (16, False), "open_it": (0, True), "count": (24, True), "fill": (8, True), "miss": (56, True)}
PERF_FIELDS = "comm,tid,cpu,time,period,event,addr,data_src,ip,sym,symoff,dso"


def bench_perf_data(b):
    """perf.data read and attributed, against perf printing it."""
    if not shutil.which("perf"):
        print("no perf in PATH: no rows for perf.data", file=sys.stderr)
        return
    program, data = b.tmp / "program", b.tmp / "perf.data"
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-x", "c", "-", "-o", program], input=PERF_PROGRAM, text=True,
                   check=True)
    at = {name: int(address, 16) for address, _, name in
          (line.split() for line in output(["nm", program]).splitlines() if len(line.split()) == 3)}
    accesses = [(at[name], *where) for name, where in PERF_ACCESSES.items()]
    faster = {}
    for nr in 100, 4000:
        perf_data.write(data, str(program), accesses, [0xa00000 + 64 * i for i in range(nr)], 1_000_000)
        ours, perf = [], []
        for _ in range(b.runs):
            ours.append(timed([b.linemate, "profile", "--struct", "conn", "--binary", program, "--profile", data], b.tmp))
            perf.append(timed(["perf", "script", "-F", PERF_FIELDS, "-i", data], b.tmp))
        faster[nr] = median(perf)[0] / median(ours)[0], f"{seconds(median(ours))} against {seconds(median(perf))}"
    b.add("perf.data of 1,000,000 samples of 100 objects, against perf script", faster[100][0], "times faster", 10,
          at_least=True, detail=f"{faster[100][1]}; of 4,000 objects: {faster[4000][0]:.1f} times, {faster[4000][1]}")
    data.unlink()


def bench_vmlinux(b, vmlinux):
    """Debug info of a kernel: its index, and what instructions of two files touch."""
    runs = [output([b.attribution, vmlinux, "mem_cgroup"]) for _ in range(b.runs)]
    index, code, peak = (statistics.median(float(re.search(p, text, re.M).group(1)) for text in runs)
                         for p in (r"^index: ([\d.]+) s", r", ([\d.]+) s$", r"^peak memory: (\d+) MB"))
    b.add("index of a vmlinux", index, "s", 5, detail=f"{vmlinux.stat().st_size / 1e6:.0f} MB")
    b.add("index of a vmlinux and attribution, peak memory", peak, "MB", 500)
    operands = re.search(r"^(\d+ memory operands in .*), [\d.]+ s$", runs[0], re.M).group(1)
    print(f"# {operands}: {code:.2f} s", file=sys.stderr)


def bench_annotate(b, vmlinux, perf):
    """
    Every instruction that touches memory in two files of a kernel, to fields, by linemate and by perf (6.8 or newer).
    Opening the kernel has a row of its own: of perf, what one instruction takes is taken off.
    """
    data, one = b.tmp / "kernel.data", b.tmp / "one.data"
    lines = output([b.attribution, vmlinux, "--instructions"]).splitlines()
    at = {name: int(address, 16) for address, _, name in
          (line.split() for line in output(["nm", vmlinux]).splitlines() if len(line.split()) == 3)}
    accesses = [(int(line.split()[0], 16), line.endswith("w")) for line in lines]
    for path, some in (data, accesses), (one, accesses[:1]):
        perf_data.write_kernel(path, at["_text"], at["_etext"] - at["_text"], some)
    annotate = [perf, "annotate", "--data-type", "--stdio", "-k", vmlinux, "-i"]
    ours, whole, theirs, start = [], [], [], []
    for _ in range(b.runs):
        ours.append(float(re.search(r", ([\d.]+) s$", output([b.attribution, vmlinux, "mem_cgroup"]), re.M).group(1)))
        whole.append(timed([b.linemate, "profile", "--struct", "mem_cgroup", "--binary", vmlinux, "--profile", data], b.tmp))
        theirs.append(timed([*annotate, data], b.tmp))
        start.append(timed([*annotate, one], b.tmp))
    alone = median(theirs)[0] - median(start)[0]
    b.add(f"{len(lines):,} instructions of a vmlinux to fields, against perf annotate --data-type",
          alone / statistics.median(ours), "times faster", 10, at_least=True,
          detail=f"{statistics.median(ours):.2f} s against {alone:.2f} s; whole processes, reading the kernel: "
          f"{seconds(median(whole))} against {seconds(median(theirs))}, {median(theirs)[0] / median(whole)[0]:.1f} times; "
          f"{output([perf, 'version']).strip()}")


def bench_layout(b):
    """What the flagship's patch is worth on this machine; linemate bench repeats and compares by itself."""
    told = json.loads(output([b.linemate, "bench", *RECORD, "--profile", "sites.access", "--json", "--rounds", 41, "--",
                              *(FLAGSHIP / "flags").read_text().split()], FLAGSHIP))
    last = told["results"][-1]
    after, ideal = last["after_to_before"], last["ideal_to_before"]["ratio"]
    b.add(f"accesses a second of the flagship's profile after its patch, {last['threads']} threads",
          after["ratio"]["median"], "times", 1, at_least=True,
          detail=f"{after['verdict']}, quartiles {after['ratio']['low']:.2f} to {after['ratio']['high']:.2f}; each hot member "
          f"on a line of its own: {ideal['median']:.2f} times; noise {100 * last['noise']:.0f} %")


def machine():
    model = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return (f"{os.cpu_count()} cores, {model.group(1) if model else os.uname().machine}, "
            f"load {' '.join(f'{l:.2f}' for l in os.getloadavg())}")


def figure(value, unit):
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.2f} {unit}" if unit.startswith("times") else f"{value:.3f} {unit}"


def print_rows(b, tsv):
    if tsv:
        print("what\tmeasured\tunit\tgoal\tmet\tdetail")
        for what, value, unit, relation, goal, met, detail in b.rows:
            print(f"{what}\t{value:.6g}\t{unit}\t{relation} {goal}\t{'yes' if met else 'no'}\t{detail}")
        return
    width = max(len(row[0]) for row in b.rows)
    print(f"{'what':{width}}  {'measured':>10}  {'goal':<17}  met")
    for what, value, unit, relation, goal, met, detail in b.rows:
        print(f"{what:{width}}  {figure(value, unit):>10}  {f'{relation} {goal} {unit}':<17}  {'yes' if met else 'NO'}")
        if detail:
            print(f"    {detail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--tsv", action="store_true", help="columns with tabs between them")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--vmlinux", type=pathlib.Path, help="a kernel with debug info: time its index too")
    parser.add_argument("--perf", type=pathlib.Path, help="a perf of 6.8 or newer: time its data types of that kernel")
    args = parser.parse_args()
    before = machine()
    with tempfile.TemporaryDirectory(prefix="linemate-bench.") as tmp:
        b = Bench(args.build.resolve(), pathlib.Path(tmp), args.runs)
        tree = headers_package()
        if tree:
            bench_show(b, tree)
            bench_configs(b, tree)
            bench_patch(b, "Debian's mem_cgroup", tree, DATA / "mem_cgroup-6.1.access", ["--kernel-headers"], [])
        else:
            print("/usr/src has no linux-headers-*-common folder: no rows for Debian's mem_cgroup", file=sys.stderr)
        configs = [word for spec in CONFIGS for word in ("--config", spec)]
        bench_patch(b, "the flagship in seven configurations", FLAGSHIP, FLAGSHIP / "sites.access", configs,
                    ["--", *(FLAGSHIP / "flags").read_text().split()])
        bench_packing(b)
        bench_profile(b)
        bench_perf_data(b)
        bench_layout(b)
        if args.vmlinux:
            bench_vmlinux(b, args.vmlinux)
        if args.vmlinux and args.perf:
            bench_annotate(b, args.vmlinux, args.perf)
    print(f"# {before}; load at the end {os.getloadavg()[0]:.2f}; medians of {args.runs} runs")
    print_rows(b, args.tsv)


if __name__ == "__main__":
    main()
