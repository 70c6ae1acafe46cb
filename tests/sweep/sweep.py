#!/usr/bin/env python3
"""sweep.py LINEMATE [options] - real records, by the hundred, through show and patch.

The records: every `struct NAME {` of the kernel headers package, of C headers
under /usr/include, of given headers; or the fixed sample of sample.txt.  Each
gets a made-up profile of its own members (some written by CPUs 0-3, others
read by 4-7).  A record may be moved, kept, refused (4) or not compile (3, with
a reason).  Anything else is a bug: exit 70, a signal, a hang, a diff that git
does not apply, offsets that gcc does not confirm, a record that grows.

  --sample [N]      only the records of sample.txt (what ctest runs), of these every N-th
  --kernel N        N records of the kernel headers, evenly chosen; 0: all
  --user N          the same for /usr/include
  --own             the records of this project
  --keep FOLDER     diffs, profiles and messages, one folder a record, and results.tsv
  --only TEXT       records whose "header:name" holds TEXT
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
USR_SRC = pathlib.Path("/usr/src")
SECONDS = 40       # search and solver have 5 of them
KERNEL_DIRS = "linux net crypto drm media rdma scsi sound acpi kvm asm-generic target".split()
RECORD = re.compile(r"^struct[ \t]+(\w+)[ \t]*\{", re.M)

# What a header of the kernel may expect to be included before it.
PRELUDE = ("types kernel list mm fs sched acpi pci device skbuff netdevice etherdevice inet led usb tty hyperv nfs "
           "sunrpc/xdr usb/hcd i2c blkdev videodev2").split()
FINE = ("moved", "kept", "refused", "input")


class Bug(Exception):
    """What must not happen, in one sentence; kind groups them."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Tree:
    """Where records come from, and how they are compiled."""

    def __init__(self, root, linemate_flags, gcc_flags):
        self.root, self.linemate_flags, self.gcc_flags = root, linemate_flags, gcc_flags

    def argv_flags(self):
        before = [f for f in self.linemate_flags if f.startswith("--kernel")]
        return before, [f for f in self.linemate_flags if f not in before]

    def source(self, folder, header):
        """A file that includes what the header may expect, and the header."""
        if not self.linemate_flags[0].startswith("--kernel"):
            return None
        path = folder / "sweep-source.c"
        lines = [f"#include <linux/{name}.h>" for name in PRELUDE if (self.root / f"include/linux/{name}.h").exists()]
        path.write_text("\n".join([*lines, f"#include <{str(header).removeprefix('include/')}>"]) + "\n")
        return path


def kernel_tree():
    commons = sorted(USR_SRC.glob("linux-headers-*-common"))
    if not commons:
        return None
    common = commons[-1]
    flavour = USR_SRC / common.name.replace("-common", "-amd64")
    flags = ["-nostdinc", "-D__KERNEL__", "-DCC_USING_FENTRY", '-DKBUILD_MODNAME="sweep"', '-DKBUILD_BASENAME="sweep"',
             "-std=gnu11", "-fshort-wchar", "-fno-pic", "-mcmodel=kernel", "-w"]
    for part in ("arch/x86/include", "arch/x86/include/generated", "include", "arch/x86/include/uapi",
                 "arch/x86/include/generated/uapi", "include/uapi", "include/generated/uapi"):
        flags += [f"-I{tree / part}" for tree in (common, flavour) if (tree / part).is_dir()]
    for part in ("compiler-version.h", "kconfig.h", "compiler_types.h"):
        flags += ["-include", str(common / "include/linux" / part)]
    return Tree(common, ["--kernel-headers"], flags)


def records_of(root, header):
    """(header, name) of each record that starts a line, once."""
    text = (root / header).read_bytes().decode(errors="replace")
    names = RECORD.findall(text)
    return [(str(header), name) for name in dict.fromkeys(names)]


def some(records, nr):
    """nr of them, evenly chosen; the same ones each time."""
    if not nr or nr >= len(records):
        return records
    return [records[i * len(records) // nr] for i in range(nr)]


def all_below(root, folders):
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.h")):
            if path.is_file():
                found += records_of(root, path.relative_to(root))
    return found


def run(argv, cwd, seconds=SECONDS):
    """(exit code, stdout, stderr); -1 after a hang.  All its children end with it."""
    child = subprocess.Popen([str(a) for a in argv], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
        return child.returncode, out, err.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return -1, out, err.decode(errors="replace")


def command(linemate, verb, tree, header, name, *more, source=None):
    before, behind = tree.argv_flags()
    before = before + (["--source", source] if source else [])
    return [linemate, verb, "--struct", name, "--header", header, *before, *more, *(["--", *behind] if behind else [])]


def expect_end(verb, code, err):
    if code == -1:
        raise Bug("hang", f"{verb} takes more than {SECONDS} s")
    if code not in (0, 3, 4):
        raise Bug(f"exit {code}", f"{verb}: {err.strip()}")
    if code and not err.strip():
        raise Bug("silent", f"{verb}: exit {code} without a word")
    if code and len(err.strip().splitlines()) > 1:
        raise Bug("wordy", f"{verb}: {err.strip()}")


def is_bit_field(field):
    return "bit" in field or re.search(r":\s*\d+;?$", field["declaration"])


def made_up_profile(name, fields):
    """Some scalars are written by CPUs 0-3, other members read by 4-7; the same for the same name."""
    seed = zlib.crc32(name.encode())
    usable = [f for f in fields if f["size"] and not is_bit_field(f)]
    writable = [f for f in usable if f["size"] <= 8] or usable
    lines = ["#linemate-access 1"]
    picks = range(1 + len(usable) // 12) if writable else ()
    written = {writable[(seed >> (5 * i)) % len(writable)]["name"] for i in picks}
    for at, field in enumerate(usable):
        size = next(s for s in (8, 4, 2, 1) if s <= field["size"])
        if field["name"] in written:
            lines += [f"update\t{field['name']}\t0\t{size}\t{cpu}\t{2000 + seed % 7}\t{9000 + at}" for cpu in range(4)]
        elif (seed >> (at % 24)) % 3:
            lines += [f"look_up\t{field['name']}\t0\t{size}\t{cpu}\t{40000 + 10 * at}\t0" for cpu in range(4, 8)]
    return "\n".join(lines) + "\n"


def layout_of(out):
    base = json.loads(out)["configurations"][0]
    return base["size"], base["align"], base["fields"]


def gcc_confirms(tree, folder, header, name, size, fields, source_used):
    """gcc must put each member where linemate show says it is; it tells no offsets of bit-fields."""
    kind = f"struct {name}"
    lines = [f'#include "{folder / header}"', f'_Static_assert(sizeof({kind}) == {size}, "the size");']
    for field in fields:
        member = field["name"]
        if re.fullmatch(r"\w+", member) and not is_bit_field(field):
            lines.append(f'_Static_assert(__builtin_offsetof({kind}, {member}) == {field["offset"]}, "{member}");')
    if source_used:
        lines[0] = source_used.read_text()
    source = folder / "sweep-judge.c"
    source.write_text("\n".join(lines) + "\n")
    code, _, err = run(["gcc", "-fsyntax-only", f"-I{folder / 'include'}", *tree.gcc_flags, source], tree.root, 60)
    inner = set(re.findall(r"address of bit-field structure member .(\w+)", err))
    if inner:
        return gcc_confirms(tree, folder, header, name, size, [f for f in fields if f["name"] not in inner],
                            source_used)
    if code:
        raise Bug("gcc disagrees", "\n".join(line for line in err.splitlines() if "error:" in line)[:600])
    return None


def check_diff(linemate, tree, header, name, diff, old, folder, source):
    """The diff applies; the header is laid out as linemate and gcc say; nothing is lost, nothing grows."""
    target = folder / header
    target.parent.mkdir(parents=True, exist_ok=True)
    for beside in (tree.root / header).parent.iterdir():
        (target.parent / beside.name).symlink_to(beside)
    target.unlink()
    target.write_bytes((tree.root / header).read_bytes())
    (folder / "it.patch").write_bytes(diff)
    run(["git", "init", "-q"], folder)
    code, _, err = run(["git", "apply", "--whitespace=nowarn", "it.patch"], folder)
    if code:
        raise Bug("git apply", err.strip())
    source = tree.source(folder, target) if source else None    # by its whole path: the tree's own is another
    code, out, err = run(command(linemate, "show", tree, target, name, "--json", source=source), tree.root)
    if code:
        raise Bug("show of the new header", f"exit {code}: {err.strip()}")
    size, _, fields = layout_of(out)
    old_size, _, old_fields = old
    lost = {f["name"] for f in old_fields} - {f["name"] for f in fields}
    if lost:
        raise Bug("lost", f"members are lost: {sorted(lost)}")
    if size > old_size:
        raise Bug("grows", f"{old_size} -> {size} bytes")
    gcc_confirms(tree, folder, header, name, size, fields, source)


def sweep_one(linemate, tree, header, name, folder):
    """(outcome, words, diff)"""
    source = None
    code, out, err = run(command(linemate, "show", tree, header, name, "--json"), tree.root)
    expect_end("show", code, err)
    if code == 3 and "clang says" in err and (source := tree.source(folder, header)):
        code, out, err = run(command(linemate, "show", tree, header, name, "--json", source=source), tree.root)
        expect_end("show", code, err)
    if code:
        return ("input" if code == 3 else "refused"), err.strip(), b""
    old = layout_of(out)
    profile = folder / "made-up.access"
    profile.write_text(made_up_profile(name, old[2]))
    code, diff, err = run(command(linemate, "patch", tree, header, name, "--profile", profile, "--time", "5",
                                  source=source), tree.root)
    (folder / "report").write_text(err)
    expect_end("patch", code, err)
    if code or not diff:
        return ("kept", "input", "refused")[max(code - 2, 0)], err.strip(), diff
    check_diff(linemate, tree, header, name, diff, old, folder, source)
    return "moved", "", diff


def sweep_kept(args, tree, header, name):
    if args.keep:
        folder = pathlib.Path(args.keep).resolve() / f"{header.replace('/', '_')}.{name}"
        folder.mkdir(parents=True, exist_ok=True)
        outcome = sweep_safely(args.linemate, tree, header, name, folder)
        (folder / "diff").write_bytes(outcome[2])
        return outcome
    with tempfile.TemporaryDirectory() as tmp:
        return sweep_safely(args.linemate, tree, header, name, pathlib.Path(tmp))


def sweep_safely(linemate, tree, header, name, folder):
    try:
        return sweep_one(linemate, tree, header, name, folder)
    except Bug as bug:
        return bug.kind, str(bug), b""


def own_records():
    folders = ("base", "profiles", "optimizer", "output")
    headers = sorted(p.relative_to(ROOT) for f in folders for p in (ROOT / f).rglob("*.h"))
    return [r for header in headers for r in records_of(ROOT, header)]


def work(args):
    """[(tree, header, name)]"""
    todo, kernel = [], kernel_tree()
    if args.sample and kernel:
        for line in (HERE / "sample.txt").read_text().splitlines()[::args.sample]:
            header, name = line.split()
            if (kernel.root / header).exists():
                todo.append((kernel, header, name))
    if args.kernel is not None and kernel:
        found = all_below(kernel.root / "include", KERNEL_DIRS)
        todo += [(kernel, f"include/{header}", name) for header, name in some(found, args.kernel)]
    if args.user is not None:
        flags = ["-I/usr/include", "-D_GNU_SOURCE"]
        tree = Tree(pathlib.Path("/usr"), flags, flags + ["-w"])
        found = [r for r in all_below(tree.root, ["include"]) if "/c++/" not in r[0]]
        todo += [(tree, *r) for r in some(found, args.user)]
    if args.own:
        flags = [f"-I{ROOT}", "-D_GNU_SOURCE", "-std=gnu17"]
        todo += [(Tree(ROOT, flags, flags + ["-w"]), *r) for r in own_records()]
    return [t for t in todo if args.only in f"{t[1]}:{t[2]}"]


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("linemate", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--sample", type=int, nargs="?", const=1)
    parser.add_argument("--kernel", type=int)
    parser.add_argument("--user", type=int)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    args = options()
    todo = work(args)
    if not todo:
        print("no records here: the kernel headers package is not installed, or no name matches")
        return 1
    counts, bugs, rows = collections.Counter(), 0, []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (_, header, name), (outcome, words, _) in zip(todo, pool.map(lambda t: sweep_kept(args, *t), todo)):
            counts[outcome] += 1
            first = " ".join(words.split("\n")[0].split()) if outcome in FINE else " ".join(words.split())
            rows.append(f"{outcome}\t{header}\t{name}\t{first}")
            if outcome not in FINE:
                bugs += 1
                print(f"{header}: struct {name}: {outcome}: {words}", flush=True)
    if args.keep:
        (pathlib.Path(args.keep) / "results.tsv").write_text("\n".join(rows) + "\n")
    print(f"{len(todo)} records: " + ", ".join(f"{nr} {kind}" for kind, nr in sorted(counts.items())))
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
