#!/usr/bin/env python3
"""page_counter.py LINEMATE - one move gives a line back in every counter, and linemate finds it.

Figures are those of Linux 6.12 before and after its own repair: page_counter
256 -> 192 bytes, mem_cgroup 1728 -> 1600 without and 2432 -> 2176 with MEMCG_V1.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent / "data" / "page_counter"
HEADER = "include/linux/page_counter.h"
READ = ("min", "low", "high", "max", "parent")
bad = 0


def expect(what, holds, seen=""):
    global bad
    bad += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


def run(argv, cwd, **more):
    return subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, **more)


def sizes(tree, records, flags):
    """Bytes of each record, and the offsets in page_counter, from gcc."""
    names = ("usage", "failcnt", "watermark", *READ)
    lines = [f'printf("%zu ", sizeof(struct {r}));' for r in records]
    lines += [f'printf("%zu ", __builtin_offsetof(struct page_counter, {n}));' for n in names]
    program = ("#include <linux/memcontrol.h>\nextern int printf(const char *, ...);\nint main(void) { "
               + " ".join(lines) + " return 0; }\n")
    out = tree / "a.out"
    done = run(["gcc", *flags, "-xc", "-", "-o", out], tree, input=program)
    if done.returncode:
        sys.exit(done.stderr)
    figures = [int(x) for x in run([out], tree).stdout.split()]
    out.unlink()
    return figures[:len(records)], dict(zip(names, figures[len(records):]))


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    flags = (DATA / "flags").read_text().split()
    records = ("page_counter", "mem_cgroup", "hugetlb_cgroup")
    with tempfile.TemporaryDirectory() as tmp:
        tree = pathlib.Path(tmp).resolve()
        shutil.copytree(DATA / "include", tree / "include")
        argv = [linemate, "patch", "--struct", "page_counter", "--header", HEADER, "--source",
                "include/linux/memcontrol.h", "--root", ".", "--profile", DATA / "page_counter.access",
                "--config", "v1:-DCONFIG_MEMCG_V1"]
        words = run([*argv, "--", *flags], tree)
        told = json.loads(run([*argv, "--json", "--promise", "page_counter.promise", "--", *flags], tree).stdout)
        v1 = [*flags, "-DCONFIG_MEMCG_V1"]
        expect("before", (sizes(tree, records, flags)[0], sizes(tree, records, v1)[0]) ==
               ([256, 1728, 1216], [256, 2432, 1216]))
        expect("a patch, and for its size", told["verdict"] == "moved" and told["for_size"] is True)
        expect("it says what it gives back", "It gives 64 bytes back (1 line of 64)" in words.stderr)
        expect("one move", len(told["moves"]) == 1, [m["unit"] for m in told["moves"]])
        expect("no more transfers", told["transfers_after"] <= told["transfers_before"] * (1 + 1e-9),
               (told["transfers_before"], told["transfers_after"]))
        holders = {h["configuration"]: {r["record"]: (r["size_before"], r["size_after"]) for r in h["records"]}
                   for h in told["holders"]}
        expect("what it gives those who hold it", holders ==
               {"base": {"struct mem_cgroup": (1728, 1600), "struct hugetlb_cgroup": (1216, 960)},
                "v1": {"struct mem_cgroup": (2432, 2176), "struct hugetlb_cgroup": (1216, 960)}}, holders)
        expect("in words, too", "struct mem_cgroup 1728 -> 1600 bytes" in words.stderr and
               "memcg_iterator" not in words.stderr)

        check = [linemate, "check", "page_counter.promise"]
        expect("the promise fails before", run(check, tree).returncode == 1)
        done = run(["patch", "-p1"], tree, input=words.stdout)
        expect("the patch applies", done.returncode == 0, done.stdout.strip())
        expect("the promise holds after", run(check, tree).returncode == 0)
        (got, at), (got_v1, _) = sizes(tree, records, flags), sizes(tree, records, v1)
        expect("after, as gcc says", (got, got_v1) == ([192, 1600, 960], [192, 2176, 960]), (got, got_v1))
        expect("usage shares no line with what is read",
               all(at[name] // 64 != at["usage"] // 64 for name in READ), at)
        again = run([*argv, "--", *flags], tree)
        expect("once is enough", again.returncode == 0 and not again.stdout, again.stderr.split("\n")[0])
    return bad != 0


sys.exit(main())
