#!/usr/bin/env python3
"""module.py LINEMATE - a kernel module, built by the kernel's own build from the
installed headers, and samples as perf script prints those of modules.

Each memory instruction that names an offset of struct tm_conn (tm.h; nothing else
in the module has such offsets) is sampled; however perf calls the module, and
whatever it prints of addresses, linemate must find the member.  Code that runs
at loading is left out: where it lay, no profile tells.

Skipped (exit 77) where there are no headers of a kernel for x86-64.
"""
import collections
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bench"))
import perf_data as pd  # noqa: E402
LINEMATE = os.path.abspath(sys.argv[1])
BASE = 0xffffffffc0a34000
MEMBERS = {0x1100: "key", 0x1108: "next", 0x1110: "hits", 0x1118: "window", 0x111c: "state", 0x1120: "closed",
           0x1124: "owner", 0x1130: "parts[1]"}


def run(*command, ok=True, **more):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
    if ok and result.returncode:
        sys.exit("%s: exit %d\n%s%s" % (" ".join(command), result.returncode, result.stdout, result.stderr))
    return result


def build(tmp):
    """tm-mod.ko, in tmp."""
    trees = sorted(d for d in glob.glob("/usr/src/linux-headers-*")
                   if os.path.exists(d + "/include/generated/autoconf.h") and os.path.exists(d + "/Makefile"))
    trees = [d for d in trees if "\n#define CONFIG_X86_64 1" in open(d + "/include/generated/autoconf.h").read()]
    if not trees or not shutil.which("make"):
        print("no kernel headers for x86-64, or no make")
        sys.exit(77)
    for name in ("tm.h", "tm_main.c", "tm_poll.c"):
        shutil.copy(os.path.join(HERE, name), tmp)
    with open(tmp + "/Kbuild", "w") as out:
        out.write("obj-m := tm-mod.o\ntm-mod-y := tm_main.o tm_poll.o\nccflags-y := -g\n")
    # Names that this build leaves open are no matter of ours.
    run("make", "-C", trees[-1], "M=" + tmp, "KBUILD_MODPOST_WARN=1", "modules")
    return tmp + "/tm-mod.ko"


def text_offsets(ko):
    """Where each section with code starts from the module's base, as the kernel's loader lays them out."""
    offsets, end = {}, 0
    for line in run("readelf", "-SW", ko).stdout.splitlines():
        m = re.match(r" *\[ *\d+\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) +\S+ +(\S+) +\d+ +\d+ +(\d+)$", line)
        if m and "A" in m[3] and "X" in m[3] and not m[1].startswith(".init"):
            align = int(m[4]) or 1
            offsets[m[1]] = end = (end + align - 1) // align * align
            end += int(m[2], 16)
    return offsets


def accesses(ko):
    """(address, function, offset in it, member) of each instruction that touches a member."""
    starts, found, section, function = text_offsets(ko), [], None, None
    for line in run("objdump", "-d", "--no-show-raw-insn", ko).stdout.splitlines():
        head = re.match(r"Disassembly of section (\S+):", line)
        name = re.match(r"([0-9a-f]+) <(.*)>:", line)
        code = re.match(r" *([0-9a-f]+):\t(.*)", line)
        if head:
            section = head[1]
        elif name:
            function = (name[2], int(name[1], 16))
        elif code and section in starts and not code[2].startswith("lea"):
            place = re.search(r"(0x[0-9a-f]+)\(%r(?!ip|sp)", code[2])
            if place and int(place[1], 16) in MEMBERS:
                at = int(code[1], 16)
                found.append((BASE + starts[section] + at, function[0], at - function[1], MEMBERS[int(place[1], 16)]))
    return found


def members(linemate_output):
    """member -> samples, of the rows of an access file."""
    counts = collections.Counter()
    for line in linemate_output.splitlines():
        if not line.startswith("#"):
            row = line.split("\t")
            counts[row[1] + ("[1]" if row[1] == "parts" else "")] += max(int(row[5]), int(row[6]))
    return counts


def check(what, binary, lines, expected):
    if lines:
        with open("samples.txt", "w") as out:
            out.write("\n".join(lines) + "\n")
    profile = "samples.txt" if lines else "perf.data"
    got = members(run(LINEMATE, "profile", "--struct", "tm_conn", "--binary", binary, "--profile", profile).stdout)
    if got != expected:
        sys.exit("FAILED: %s: %s\nexpected %s" % (what, dict(got), dict(expected)))


def write_perf_data(path, ips):
    """perf.data of samples in the kernel, with the mappings that perf writes of it and of its modules."""
    def kernel(kind, body):
        return struct.pack("<IHH", kind, 1, 8 + len(body)) + body

    def mapping(start, size, name):
        return kernel(1, struct.pack("<iIQQQ", -1, 0, start, size, 0) + pd.padded(name) + pd.id_of(0, 0, 0))

    data = mapping(0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text")
    data += mapping(BASE - 0x8000, 0x5000, "/lib/modules/6.1.0/kernel/net/other.ko")
    data += mapping(BASE, 0x6000, path)
    for i, ip in enumerate(ips):
        # Reads and writes alike: the instruction says which (no operation in the data source).
        data += kernel(pd.SAMPLE, struct.pack("<QIIQQIIQQ", ip, 500, 501, 1000 + i, 0, i % 4, 0, 4000, 0))
    at = pd.HEADER + pd.ATTR + 16
    with open("perf.data", "wb") as out:
        out.write(pd.MAGIC + struct.pack("<QQ", pd.HEADER, pd.ATTR + 16) + struct.pack("<QQ", pd.HEADER, pd.ATTR + 16) +
                  struct.pack("<QQ", at, len(data)) + struct.pack("<QQ", 0, 0) + bytes(32) + pd.attr() + data)


def sample(i, ip, symbol, dso):
    return "  worker  77 [%03d] 12.%06d: 1 cycles:ppp: %x %s%s" % (i % 4, i, ip, symbol, dso and " (%s)" % dso)


def refused(words, *command):
    result = run(LINEMATE, *command, ok=False)
    if result.returncode == 0 or words not in result.stderr:
        sys.exit("FAILED: %s: exit %d, %s" % (" ".join(command), result.returncode, result.stderr))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        ko = build(tmp)
        os.chdir(tmp)
        found = accesses(ko)
        expected = collections.Counter(member for *_, member in found)
        if len(found) < 12 or set(expected) != set(MEMBERS.values()):
            sys.exit("FAILED: the module does not touch every member: %s" % dict(expected))
        path = "/lib/modules/6.1.0/extra/tm-mod.ko.xz"
        with_offsets = [sample(i, ip, "%s+0x%x" % (f, off), "[tm_mod]") for i, (ip, f, off, _) in enumerate(found)]
        check("name in brackets", ko, with_offsets, expected)
        check("path", ko, [line.replace("[tm_mod]", path) for line in with_offsets], expected)
        check("without offsets", ko, [re.sub(r"\+0x\S+", "", line) for line in with_offsets], expected)
        check("without a file", ko, [line.replace(" ([tm_mod])", "") for line in with_offsets], expected)
        mapped = ["  perf  1 [000] 1.000000: PERF_RECORD_MMAP -1/0: [0x%x(0x6000) @ 0]: x %s" % (BASE, path)]
        mapped += [sample(i, ip, "[unknown]", path) for i, (ip, *_) in enumerate(found)]
        check("mapping, no symbols", ko, mapped, expected)
        for name in (path, "[tm_mod]"):
            write_perf_data(name, [ip for ip, *_ in found])
            check("perf.data, " + name, ko, None, expected)
        # Samples of another module, which has functions of the same names.
        others = [sample(1000 + i, ip + 0x123000, "%s+0x%x" % (f, off), "[another]")
                  for i, (ip, f, off, _) in enumerate(found)]
        check("another module beside it", ko, with_offsets + others, expected)

        debug = tmp + "/tm-mod.ko.debug"
        run("objcopy", "--only-keep-debug", ko, debug)
        for binary in (ko, debug):
            run(LINEMATE, "show", "--struct", "tm_conn", "--header", "tm.h", "--binary", binary)
        refused("has debug info but no code", "profile", "--struct", "tm_conn", "--binary", debug, "--profile",
                "samples.txt")
        if shutil.which("eu-unstrip"):
            run("strip", "--strip-debug", "-o", "stripped.ko", ko)
            run("eu-unstrip", "-o", "joined", "stripped.ko", debug)
            check("joined by eu-unstrip", "joined", with_offsets, expected)
        run("xz", "-k", ko)
        refused("is packed by xz", "rank", "--binary", ko + ".xz", "--profile", "samples.txt")
        print("%d instructions, %d members" % (len(found), len(expected)))


main()
