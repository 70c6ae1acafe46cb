#!/usr/bin/env python3
"""check_layout.py FOLDER - does the flagship's header lay out as the real kernel did?

FOLDER holds include/, flags and layout-NAME.txt: pahole's view of the real
record in configuration NAME.  For each, a C file that asserts every member's
offset and size, and the record's size, is compiled with gcc and with clang.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# What each configuration turns on (+) or off (-), relative to base.
CONFIGS = {
    "base": "",
    "nolru": "-CONFIG_LRU_GEN_WALKS_MMU",
    "nowb": "-CONFIG_CGROUP_WRITEBACK",
    "v1": "+CONFIG_MEMCG_V1",
    "v1nolru": "+CONFIG_MEMCG_V1,-CONFIG_LRU_GEN_WALKS_MMU",
    "v1nowb": "+CONFIG_MEMCG_V1,-CONFIG_CGROUP_WRITEBACK",
    "zswap": "+CONFIG_ZSWAP",
}

MEMBER = re.compile(r"^\t+(?!\})(?P<decl>.+?);\s*/\*\s*(?P<offset>\d+)\s+(?P<size>\d+) \*/$")
SIZE = re.compile(r"/\* size: (\d+),")
NAME = re.compile(r"(?P<name>\w+)(?P<array>\[\d*\])?(\s*__attribute__.*)?$")


def read_layout(path):
    """[(member, offset, size, is a flexible array)], size of the record."""
    members, size = [], None
    for line in path.read_text().splitlines():
        found = MEMBER.match(line)
        if found:
            name = NAME.search(found["decl"].split(" __attribute__")[0].strip())
            members.append((name["name"], int(found["offset"]), int(found["size"]), name["array"] == "[]"))
        elif SIZE.search(line):
            size = int(SIZE.search(line)[1])
    if not members or size is None:
        sys.exit(f"{path}: is no pahole output")
    return members, size


def test_program(members, size):
    lines = ["#include <linux/memcontrol.h>"]
    for name, offset, bytes_, flexible in members:
        lines.append(f'_Static_assert(offsetof(struct mem_cgroup, {name}) == {offset}, "offset of {name}");')
        if not flexible:
            lines.append(f'_Static_assert(sizeof(((struct mem_cgroup *)0)->{name}) == {bytes_}, "size of {name}");')
    lines.append(f'_Static_assert(sizeof(struct mem_cgroup) == {size}, "size of the record");')
    return "\n".join(lines) + "\n"


def edits(spec):
    """The lines that turn options on and off."""
    lines = []
    for part in filter(None, spec.split(",")):
        lines.append(f"#undef {part[1:]}")
        if part[0] == "+":
            lines.append(f"#define {part[1:]} 1")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    flags = (folder / "flags").read_text().split()
    bad = checked = 0
    layouts = sorted(folder.glob("layout-*.txt"))
    if {p.stem[len("layout-"):] for p in layouts} != set(CONFIGS):
        sys.exit(f"{folder}: needs one layout-NAME.txt for each of {', '.join(CONFIGS)}")
    with tempfile.TemporaryDirectory() as tmp:
        for path in layouts:
            config = path.stem[len("layout-"):]
            members, size = read_layout(path)
            source, edit = pathlib.Path(tmp, "t.c"), pathlib.Path(tmp, "edits.h")
            source.write_text(test_program(members, size))
            edit.write_text(edits(CONFIGS[config]))
            for compiler in ("gcc", "clang"):
                done = subprocess.run(
                    [compiler, *flags, "-include", str(edit), "-Wall", "-Wextra", "-Werror", "-Wno-gnu",
                     "-fsyntax-only", str(source)],
                    cwd=folder, capture_output=True, text=True)
                checked += 1
                if done.returncode:
                    bad += 1
                    print(f"{config}, {compiler}:\n{done.stderr}")
        # Without any configuration it must compile, too.
        for compiler in ("gcc", "clang"):
            source.write_text("#include <linux/memcontrol.h>\n")
            done = subprocess.run([compiler, "-Iinclude", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", str(source)],
                                  cwd=folder, capture_output=True, text=True)
            checked += 1
            if done.returncode:
                bad += 1
                print(f"plain, {compiler}:\n{done.stderr}")
    print(f"{checked - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
