"""lab.py - what the judges share: run linemate, apply its patch, ask compilers and pahole.

Nothing here knows how linemate works: git applies, gcc and clang compile,
pahole reads the debug info, and the tokenizer below is its own.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess

LINE = 64
COMPILERS = ("gcc", "clang")

# A member in pahole's dress: TYPE NAME; /* OFFSET[: BIT] SIZE */
MEMBER = re.compile(r"^(?P<indent>\t+)(?P<decl>[^\t].*?);\s*/\*\s*(?P<offset>\d+)(:\s*(?P<bit>\d+))?\s+(?P<size>\d+)\s")
SIZE = re.compile(r"/\* size: (\d+),")


def run(argv, cwd, seconds=120, **more):
    return subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, timeout=seconds,
                          text=more.pop("text", True), **more)


class Failure(Exception):
    """A judge's sentence."""


def edits(spec):
    """+A,-B as the lines that turn macros on and off."""
    lines = []
    for part in filter(None, spec.split(",")):
        sign, name = (part[:2], part[2:]) if part[:2] in ("-D", "-U") else (part[0], part[1:])
        lines.append(f"#undef {name.split('=')[0]}")
        if sign in ("+", "-D"):
            name, _, value = name.partition("=")
            lines.append(f"#define {name} {value or 1}")
    return "\n".join(lines) + "\n"


def name_of(decl):
    """The name that a declaration in pahole's dress declares; '' for an unnamed one."""
    decl = re.sub(r"\s*__attribute__.*$", "", decl.strip())
    pointer = re.search(r"\(\*+\s*(\w+)(\[\d*\])*\)\s*\(", decl)
    if pointer:
        return pointer[1]
    if decl.startswith("}"):
        decl = decl[1:].strip()
        return re.match(r"\w*", decl)[0]
    found = re.search(r"(\w+)\s*(\[\d*\]\s*)*(:\s*\d+)?$", decl)
    return found[1] if found else ""


def parse_dress(text):
    """({member: (byte, bit or None, bytes)} of the first level, size), from pahole or linemate show."""
    members, size = {}, None
    for line in text.splitlines():
        found = MEMBER.match(line)
        if found and (len(found["indent"]) == 1):
            name = name_of(found["decl"])
            if name:
                members[name] = (int(found["offset"]), found["bit"] and int(found["bit"]), int(found["size"]))
        elif SIZE.search(line):
            size = int(SIZE.search(line)[1])
    return members, size


def bits(layout):
    """{member: its first bit, counted from the record's start}: what any two tools must agree on."""
    return {name: 8 * offset + (bit or 0) for name, (offset, bit, _) in layout.items()}


def shown(text):
    """{configuration: (members, size)} from linemate show; 'base' if there is only one."""
    parts = re.split(r"^/\* configuration (\S+) \*/\n", text, flags=re.M)
    if len(parts) == 1:
        return {"base": parse_dress(text)}
    return {name: parse_dress(part) for name, part in zip(parts[1::2], parts[2::2])}


def compiled_layout(compiler, tree, header, record, flags, spec, tmp):
    """The same, from what the compiler wrote into its debug info."""
    source, edit, obj = tmp / "lab.c", tmp / "lab-edits.h", tmp / f"lab-{compiler}.o"
    edit.write_text(edits(spec))
    source.write_text(f'#include "{tree / header}"\n{record} lab_object;\n')
    done = run([compiler, *flags, "-include", edit, "-g", "-gdwarf-4", "-w", "-c", source, "-o", obj], tree)
    if done.returncode:
        raise Failure(f"{compiler} does not compile it:\n{done.stderr}")
    done = run(["pahole", "-C", record.split()[-1], obj], tmp)
    members, size = parse_dress(done.stdout)
    if size is None:
        raise Failure(f"pahole does not show {record}:\n{done.stdout}{done.stderr}")
    return members, size


def lines_of(member, line=LINE):
    """The numbers of the cache lines under a member."""
    offset, _, size = member
    return set(range(offset // line, (offset + max(size, 1) - 1) // line + 1))


TOKEN = re.compile(
    r"""(?P<directive>^[ \t]*\#(?:[^\n\\]|\\\r?\n|\\.)*)
      | (?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<word>\w+)
      | (?P<space>\s+)
      | (?P<sign>.)""",
    re.X | re.S | re.M)


def tokens(text):
    """(Counter of all tokens with comments, Counter of preprocessor lines)."""
    found, directives = collections.Counter(), collections.Counter()
    for token in TOKEN.finditer(text):
        if token.lastgroup == "directive":
            directives[" ".join(re.sub(r"/\*.*?\*/|//.*", "", token[0]).split())] += 1
        elif token.lastgroup == "comment":
            found[" ".join(token[0].split())] += 1
        elif token.lastgroup != "space":
            found[token[0]] += 1
    return found, directives


def balanced(text):
    depth = 0
    for line in text.splitlines():
        word = re.match(r"\s*#\s*(if|ifdef|ifndef|endif)\b", line)
        if word:
            depth += -1 if word[1] == "endif" else 1
        if depth < 0:
            return False
    return depth == 0


def fresh_tree(folder, files):
    """A git work tree with these {path: bytes}."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    run(["git", "init", "-q"], folder)


def fewer_programs(folder, *names):
    """An environment whose PATH has these programs and no others; folder is to hold them."""
    for name in names:
        (pathlib.Path(folder) / name).symlink_to(shutil.which(name))
    return {**os.environ, "PATH": str(folder)}


def apply(tree, diff, tmp):
    (tmp / "it.patch").write_bytes(diff)
    done = run(["git", "apply", tmp / "it.patch"], tree)
    if done.returncode:
        raise Failure(f"git apply refuses it:\n{done.stderr}\n{diff.decode(errors='replace')}")


def snapshot(folder):
    """What a folder holds, to see that nothing was written."""
    return sorted((str(p.relative_to(folder)), p.lstat().st_size, p.lstat().st_mtime_ns)
                  for p in pathlib.Path(folder).rglob("*"))
