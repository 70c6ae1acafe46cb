#!/usr/bin/env python3
"""attribution.py JUDGE PROFILE [-v] - each program, compiled by gcc and clang at -O0 to
-O3 (even levels with DWARF 4, odd ones with DWARF 5), traced by valgrind's
lackey; every instruction that touches a known object is to be attributed by its
address alone.

Fails below 95 % right over all, at anything wrong at -O0 or -O1, and from 0.5 %
wrong at -O2 and -O3.  Then the whole trace is a profile without data addresses,
of each record at a time, and what is said to be its members must be: nothing
wrong at -O0 or -O1, under 0.5 % at -O2 and -O3; of what callers only make
likely one sample in a hundred may be wrong.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-g", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-fcf-protection=none",
         "-Wno-unused-command-line-argument"]


def trace(binary, path):
    with open(path, "wb") as out:
        run = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no",
                              "--log-fd=2", binary], stdout=subprocess.DEVNULL, stderr=out, timeout=120)
    return run.returncode


def judge(program, binary, log, tell):
    command = [program, binary, log] + (["tell"] if tell else [])
    lines = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
    for line in lines[:-1]:
        print("    " + line)
    return [int(n) for n in lines[-1].split()]


def main():
    program, whole, tell = sys.argv[1], sys.argv[2], "-v" in sys.argv[3:]
    sources = sorted(f for f in os.listdir(HERE + "/programs") if f.endswith(".c"))
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    sums, bad, by_callers = {}, [], [0, 0]
    with tempfile.TemporaryDirectory() as tmp:
        for compiler in compilers:
            for level in range(4):
                total, profile = [0] * 4, [0] * 5
                for source in sources:
                    binary = f"{tmp}/{source[:-2]}-{compiler}-O{level}"
                    flags = [*FLAGS, f"-gdwarf-{4 + level % 2}", f"-O{level}", "-o", binary]
                    subprocess.run([compiler, *flags, f"{HERE}/programs/{source}"], check=True)
                    trace(binary, binary + ".trace")
                    counts = judge(program, binary, binary + ".trace", tell)
                    if not counts[0]:
                        bad.append(f"{source}, {compiler} -O{level}: nothing was traced")
                    if tell:
                        print(f"  {source} {compiler} -O{level}: {counts}")
                    total = [a + b for a, b in zip(total, counts)]
                    profile = [a + b for a, b in zip(profile, judge(whole, binary, binary + ".trace", tell))]
                sums[compiler, level] = total
                print("%-5s -O%d: %5d cases, %6.2f %% right, %5.2f %% wrong, %5.2f %% open" % (
                    compiler, level, total[0], *(100 * n / total[0] for n in total[1:])))
                print("           as a profile: %d named, %d wrong, by callers %d, likely %d (%d wrong)" % tuple(profile))
                by_callers = [a + b for a, b in zip(by_callers, profile[2:])]
                if profile[1] and (level < 2 or profile[1] >= 0.005 * profile[0]):
                    bad.append(f"{compiler} -O{level}: {profile[1]} of {profile[0]} samples wrong")
                if total[2] and (level < 2 or total[2] >= 0.005 * total[0]):
                    bad.append(f"{compiler} -O{level}: {total[2]} of {total[0]} wrong")
    cases, right = (sum(s[i] for s in sums.values()) for i in (0, 1))
    print("together: %d cases, %.2f %% right" % (cases, 100 * right / cases))
    if not all(by_callers):
        bad.append("no sample was named by its callers")
    if right < 0.95 * cases:
        bad.append("less than 95 % right")
    for line in bad:
        print("FAILED: " + line)
    sys.exit(bool(bad))


main()
