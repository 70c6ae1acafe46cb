#!/usr/bin/env python3
"""objects.py TELL_FLOW [-v] - object files, alone and joined by ld -r (the shape
of a kernel module), against the program that ld links of them: linemate must say
the same of every memory instruction in both, by function and offset.

gcc and clang, -O0 to -O3, four ways to address data, DWARF 4 and 5, debug
sections packed and not; arm64, too, where a compiler and a linker for it are.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "attribution", "programs")
FLAGS = ["-g", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
         "-Wno-unused-command-line-argument"]
VARIANTS = [["-fno-pie"], ["-fno-pie", "-ffunction-sections", "-fdata-sections", "-gz"], ["-fPIE"],
            ["-fno-pie", "-mcmodel=kernel", "-gdwarf-4"]]
VARIANTS_ARM = [["-fno-pie"], ["-fno-pie", "-ffunction-sections", "-gz"], ["-fPIE"], ["-fPIC", "-gdwarf-4"]]
# What no object file defines: a variable and functions without debug info.
OUTSIDE = (".globl outside, elsewhere, memset\n.bss\n.balign 16\noutside: .skip 16\n.text\nelsewhere:\nmemset: nop\n"
           ".section .note.GNU-stack\n")


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), result.returncode, result.stderr))
    return result.stdout


class Judge:
    def __init__(self, tell, tmp, verbose):
        self.tell, self.tmp, self.verbose = tell, tmp, verbose
        self.lines = self.known = self.files = 0
        self.bad = []

    def compare(self, what, obj, program, by_table):
        ours, truth = run(self.tell, obj).splitlines(), run(self.tell, program).splitlines()
        self.files += 1
        self.lines += len(truth)
        self.known += sum(": -" not in line and ": stack" not in line for line in truth)
        if by_table:
            truth = [line for line in truth if ": -" not in line]
            ours = [line for line in ours if line in truth]
        if sorted(ours) == sorted(truth):
            return
        extra, missing = sorted(set(ours) - set(truth)), sorted(set(truth) - set(ours))
        self.bad.append("%s: %d lines differ" % (what, len(extra) + len(missing)))
        for sign, lines in (("object ", extra), ("program", missing)):
            for line in lines[:None if self.verbose else 3]:
                self.bad.append("    %s %s" % (sign, line))

    def halves(self, what, compile_, link, by_table=False):
        """
        Two files, joined, against a program of them and of what they do not define.  by_table: the linker leaves
        loads of addresses from a table as they are, so the object file may know more than the program.
        """
        parts = []
        for name in ("first", "second"):
            parts.append(os.path.join(self.tmp, name + ".o"))
            run(*compile_, "-c", "-o", parts[-1], os.path.join(HERE, name + ".c"))
        outside = os.path.join(self.tmp, "outside.s")
        with open(outside, "w") as out:
            out.write(OUTSIDE)
        run(*compile_, "-g0", "-c", "-o", outside + ".o", outside)
        module, program = os.path.join(self.tmp, "module.ko"), os.path.join(self.tmp, "program")
        run(link, "-r", "-o", module, *parts)
        run(link, "-e", "poll", "-o", program, *parts, outside + ".o")
        self.compare(what + " joined", module, program, by_table)

    def programs(self, what, compile_, link):
        for source in sorted(os.listdir(PROGRAMS)):
            if not source.endswith(".c"):
                continue
            obj = os.path.join(self.tmp, source[:-2] + ".o")
            run(*compile_, "-c", "-o", obj, os.path.join(PROGRAMS, source))
            run(link, "-o", obj[:-2], obj)
            self.compare("%s %s" % (what, source), obj, obj[:-2], False)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        judge = Judge(sys.argv[1], tmp, "-v" in sys.argv[2:])
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for level, variant in enumerate(VARIANTS):
                for opt in (f"-O{level}", "-O2"):
                    compile_ = [compiler, *FLAGS, opt, *variant]
                    judge.halves(" ".join(compile_[:1] + compile_[-len(variant) - 1:]), compile_, "ld")
                judge.programs(f"{compiler} -O{level}", [compiler, *FLAGS, f"-O{level}", *variant], "ld")
        x86 = judge.lines
        cross = [(c, link) for c, link in ((["aarch64-linux-gnu-gcc"], "aarch64-linux-gnu-ld"),
                                           (["clang", "--target=aarch64-linux-gnu"], "aarch64-linux-gnu-ld"),
                                           (["clang", "--target=aarch64-linux-gnu"], "ld.lld"))
                 if shutil.which(c[0]) and shutil.which(link)]
        for compiler, link in cross:
            for level, variant in enumerate(VARIANTS_ARM):
                compile_ = [*compiler, *FLAGS, f"-O{level}", *variant]
                judge.halves(" ".join([*compiler, link, f"-O{level}", *variant]), compile_, link,
                             variant[0] != "-fno-pie")
        print("%d object files, %d operands (%d on arm64), %d of them with a type" % (
            judge.files, judge.lines, judge.lines - x86, judge.known))
        if judge.files < 8 or judge.known < 1000:
            judge.bad.append("too little was compared")
        for line in judge.bad:
            print("FAILED: " + line)
        sys.exit(bool(judge.bad))


main()
