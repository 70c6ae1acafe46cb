#!/usr/bin/env python3
"""attribution.py MACHINE JUDGE PROFILE LEVELS [-v] - each program, compiled by gcc
and clang at these levels of -O, such as 0123 (even ones with DWARF 4, odd ones with
DWARF 5), run and traced: x86-64 by valgrind's lackey, arm64 by qemu with a plugin
of ours.  Every instruction that touches a known object is to be attributed by its
address alone, and every one that touches memory is to be known to read and write
what it does.

On arm64, programs with atomics are compiled for the loops of ARMv8.0, for the
instructions of ARMv8.1, and for calls into libgcc that choose between them.

Fails below 95 % right over all, at anything wrong at -O0 or -O1, from 0.5 %
wrong at -O2 and -O3, and at any operand that is misread.  Then the whole trace
is a profile without data addresses, of each record at a time, and what is said
to be its members must be: nothing wrong at -O0 or -O1, under 0.5 % at -O2 and
-O3; of what callers only make likely one sample in a hundred may be wrong.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-g", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-pie",
         "-Wno-unused-command-line-argument"]


class X86:
    """The machine that the tests are built on, with valgrind."""
    compilers = {"gcc": ["gcc"], "clang": ["clang"]}
    flags = ["-fcf-protection=none"]
    needs = []
    atomics = [[]]

    def __init__(self, tmp):
        pass

    def trace(self, binary, path):
        with open(path, "wb") as out:
            subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--log-fd=2", binary],
                           stdout=subprocess.DEVNULL, stderr=out, timeout=120)


class Arm64:
    """Cross-compiled, and emulated."""
    gcc = "gcc" if platform.machine() == "aarch64" else "aarch64-linux-gnu-gcc"
    compilers = {"gcc": [gcc], "clang": ["clang", "--target=aarch64-linux-gnu"]}
    flags = []
    needs = [gcc, "qemu-aarch64"]
    atomics = [["-mno-outline-atomics"], ["-march=armv8.1-a"], ["-moutline-atomics"]]

    def __init__(self, tmp):
        usage = subprocess.run(["qemu-aarch64", "-help"], capture_output=True, text=True).stdout
        if "-plugin" not in usage:
            print("this qemu-aarch64 was built without plugins: nothing is traced, and arm64 not judged")
            sys.exit(0)
        self.plugin = tmp + "/qemu_trace.so"
        version = subprocess.run(["qemu-aarch64", "--version"], capture_output=True, text=True, check=True).stdout
        major = int(re.search(r"version (\d+)", version).group(1))
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", f"-DAPI={1 if major < 9 else 2}",
                        "-o", self.plugin, HERE + "/qemu_trace.c"], check=True)

    def trace(self, binary, path):
        run = subprocess.run(["qemu-aarch64", "-plugin", f"{self.plugin},out={path}", binary],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
        if not os.path.exists(path):
            sys.exit(f"FAILED: qemu-aarch64 does not trace with a plugin: {run.stderr.strip()}")


def judge(program, binary, log, tell):
    command = [program, binary, log] + (["tell"] if tell else [])
    lines = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
    for line in lines[:-1]:
        print("    " + line)
    return [int(n) for n in lines[-1].split()]


def variants(machine, source):
    with open(f"{HERE}/programs/{source}") as text:
        return machine.atomics if "__atomic_" in text.read() else machine.atomics[:1]


def judge_level(machine, programs, compiler, level, tmp, tell):
    """All programs at one level: cases, right, wrong, open; the counts as profiles; and what else went wrong."""
    program, whole = programs
    total, profile, bad = [0] * 4, [0] * 5, []
    for source in sorted(f for f in os.listdir(HERE + "/programs") if f.endswith(".c")):
        for i, extra in enumerate(variants(machine, source)):
            binary = f"{tmp}/{source[:-2]}-{compiler}-O{level}-{i}"
            flags = [*FLAGS, *machine.flags, *extra, f"-gdwarf-{4 + level % 2}", f"-O{level}", "-o", binary]
            subprocess.run([*machine.compilers[compiler], *flags, f"{HERE}/programs/{source}", "-lgcc"], check=True)
            machine.trace(binary, binary + ".trace")
            counts = judge(program, binary, binary + ".trace", tell)
            if not counts[0]:
                bad.append(f"{source}, {compiler} -O{level}: nothing was traced")
            if counts.pop():
                bad.append(f"{source}, {compiler} -O{level}: operands were misread; -v tells which")
            if tell:
                print(f"  {source} {compiler} -O{level} {' '.join(extra)}: {counts}")
            total = [a + b for a, b in zip(total, counts)]
            profile = [a + b for a, b in zip(profile, judge(whole, binary, binary + ".trace", tell))]
    return total, profile, bad


def main():
    programs, levels, tell = sys.argv[2:4], [int(level) for level in sys.argv[4]], "-v" in sys.argv[5:]
    machine = {"x86-64": X86, "arm64": Arm64}[sys.argv[1]]
    sums, bad, by_callers = {}, [], [0, 0]
    gone = [tool for tool in machine.needs if not shutil.which(tool)]
    if gone:
        sys.exit(f"FAILED: {', '.join(gone)} not found; scripts/packages.sh names the packages that tests need")
    with tempfile.TemporaryDirectory() as tmp:
        machine = machine(tmp)
        for compiler in (c for c, command in machine.compilers.items() if shutil.which(command[0])):
            for level in levels:
                total, profile, more = judge_level(machine, programs, compiler, level, tmp, tell)
                bad += more
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
