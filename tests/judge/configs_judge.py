#!/usr/bin/env python3
"""configs_judge.py LINEMATE [--records N] [--seed S] [--keep FOLDER] - random guards through --configs auto.

Records of patch_judge.py with up to six options, guards three deep, records
nested three deep that have guards of their own in another header, and random
profiles.  In each configuration that linemate derives, the new record must
compile with gcc and clang, have the size that the report says, not grow, and
part what the report calls apart; in all 64 of them it must have the members
that it had.  The same seed gives the same records on every machine.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from patch_judge import HEADER, Maker, check_tokens  # noqa: E402
from lab import COMPILERS, Failure, apply, fewer_programs, fresh_tree, run, snapshot, tokens  # noqa: E402

INNER = "include/inner.h"
OPTIONS = tuple(f"CONFIG_{c}" for c in "ABCDEF")
TAGS = ("pair", "small", "nested", "aligned", "cacheline_padding", "atomic_long_t", "inner0", "inner1", "inner2", "probe")
MACROS = ("CACHELINE_PADDING", "____cacheline_aligned_in_smp", "__percpu", "DECLARE_BITMAP", "BITS", "INNER_H")
# linemate checks with the compilers that it finds; the judge asks both, once for all configurations.
ONE_COMPILER = "gcc"


class Inner(Maker):
    """A record to be nested: guards, scalars, and the inner record before it."""

    def __init__(self, rng, number, options):
        super().__init__(rng)
        self.number, self.options = number, options
        self.guards = rng.randint(0, 2)
        self.most_depth = 3 - number

    def name(self):
        self.nr += 1
        return f"i{self.number}_{self.nr}"

    def declaration(self):
        pick = self.rng.random()
        if self.number and pick < 0.3:
            return f"struct inner{self.number - 1} {self.name()};"
        kind = self.rng.choice(("long", "int", "char", "short", "void *", "char [12]", "long [4]"))
        kind, _, array = kind.partition(" [")
        return f"{kind} {self.name()}{f'[{array}' if array else ''};"

    def text(self):
        # Sizes must not depend on the option alone: a first member stays.
        self.say(f"int {self.name()};")
        self.some(self.rng.randint(1, 4))
        return f"struct inner{self.number} {{\n" + "\n".join(self.lines) + "\n};\n"


class Record(Maker):
    most_depth = 3

    def __init__(self, rng):
        super().__init__(rng)
        # patch_judge.py's conditions name the first of them besides.
        self.options = tuple(sorted({OPTIONS[0], *rng.sample(OPTIONS, rng.randint(1, 6))}))
        self.guards = rng.randint(1, 6)
        self.inner = [Inner(rng, number, self.options).text() for number in range(rng.randint(1, 3))]

    def declaration(self):
        if self.rng.random() < 0.15:
            name = self.name()
            self.members.append((f"{name}.i{len(self.inner) - 1}_1", 4, self.depth > 0))
            return f"struct inner{len(self.inner) - 1} {name};"
        return super().declaration()

    def condition(self):
        pick = self.rng.random()
        if pick < 0.08:
            return f"#if BITS {self.rng.choice(('<', '>='))} 64"
        if pick < 0.2:
            a, b = self.rng.choice(self.options), self.rng.choice(self.options)
            return f"#if defined({a}) {self.rng.choice(('&&', '||'))} !defined({b})"
        return super().condition()

    def texts(self):
        text = super().text().replace("/* random */\n", "#define BITS 64\n#include \"inner.h\"\n/* random */\n", 1)
        if "\r\n" in text:
            text = text.replace("/* random */\r\n", "#define BITS 64\r\n#include \"inner.h\"\r\n/* random */\r\n", 1)
        return text, "#ifndef INNER_H\n#define INNER_H\n" + "\n".join(self.inner) + "#endif\n"


def is_on(spec, option):
    return f"+{option}" in spec.split(",")


def include(tree, names, suffix):
    """The header once more, with these options on and every name of its own changed."""
    lines = [f"#undef {m}" for m in (*OPTIONS, *MACROS, *TAGS)]
    lines += [f"#define {o} 1" for o in names]
    lines += [f"#define {tag} {tag}_{suffix}" for tag in TAGS]
    return lines + [f'#include "{tree / HEADER}"']


def preprocessed(tree, options, tmp):
    """[(options on, tokens of the record)] of all combinations, from one run of gcc -E."""
    every = [on for nr in range(len(options) + 1) for on in itertools.combinations(options, nr)]
    lines = []
    for number, on in enumerate(every):
        lines += [*[f"#undef {m}" for m in (*OPTIONS, *MACROS)], *[f"#define {o} 1" for o in on],
                  f"mark_{number}", f'#include "{tree / HEADER}"']
    (tmp / "every.c").write_text("\n".join(lines) + "\n")
    done = run(["gcc", "-E", "-P", tmp / "every.c"], tmp)
    if done.returncode:
        raise Failure(f"gcc -E: {done.stderr}")
    parts = re.split(r"mark_\d+", done.stdout)[1:]
    return [(on, tokens(part[part.index("struct probe {"):])[0]) for on, part in zip(every, parts)]


def check_members(old_tree, tree, options, tmp):
    """In every combination, derived or not, the record has the members that it had."""
    for (on, old), (_, new) in zip(preprocessed(old_tree, options, tmp), preprocessed(tree, options, tmp)):
        added = new - old
        if old - new or any(not re.fullmatch(r"_+\w+|[();64]+|struct|cacheline_padding", t) for t in added):
            raise Failure(f"with {on} members differ: {dict(old - new)} lost, {dict(added)} added")


def check_configs(old_tree, tree, story, options, align, tmp):
    """One unit holds both records in every configuration that was derived."""
    lines = []
    every = dict((frozenset(on), found) for on, found in preprocessed(old_tree, options, tmp))
    for number, config in enumerate(story["configurations"]):
        on = [o for o in options if is_on(config["options"], o)]
        for tree_, word, figures in ((old_tree, "old", config["before"]), (tree, "new", config["after"])):
            suffix = f"{number}_{word}"
            lines += include(tree_, on, suffix)
            lines += [f'_Static_assert(sizeof(struct probe) == {figures["size"]}, "{config["name"]}: {word} size");']
        lines += [f'_Static_assert(sizeof(struct probe_{number}_new) <= sizeof(struct probe_{number}_old), '
                  f'"{config["name"]}: grows");']
        here = every[frozenset(on)]
        for pair in story["pairs"] if align else ():
            a, b = pair["a"]["leaf"], pair["b"]["leaf"]
            if not pair["apart_after"] or not (here[re.match(r"\w+", a)[0]] and here[re.match(r"\w+", b)[0]]):
                continue
            first = [f"(__builtin_offsetof(struct probe, {leaf}) / 64)" for leaf in (a, b)]
            last = [f"((__builtin_offsetof(struct probe, {leaf}) + sizeof(((struct probe *)0)->{leaf}) - 1) / 64)"
                    for leaf in (a, b)]
            lines += [f'_Static_assert({last[0]} < {first[1]} || {last[1]} < {first[0]}, '
                      f'"{config["name"]}: {a} and {b} are not apart");']
    (tmp / "all.c").write_text("\n".join(lines) + "\n")
    for compiler in COMPILERS:
        done = run([compiler, "-w", "-fsyntax-only", "-ferror-limit=3" if compiler == "clang" else "-fmax-errors=3",
                    tmp / "all.c"], tmp)
        if done.returncode:
            raise Failure(f"{compiler}: {done.stderr}")


def check_covered(story, options):
    """Every pair of the options found was seen in all four ways: in a configuration, or in one that looks the same."""
    derived = story["derived"]
    if derived["left_out"] or derived["not_covered"]:
        raise Failure(f"not covered: {derived['not_covered']}, {derived['left_out']}")
    found = {o["name"] for o in derived["options"]}
    if not found <= set(options):
        raise Failure(f"options that are none: {found}")
    if derived["same_text"] or derived["same_layout"]:
        return
    for a, b in itertools.combinations(sorted(found), 2):
        seen = {(is_on(c["options"], a), is_on(c["options"], b)) for c in story["configurations"]}
        if len(seen) != 4:
            raise Failure(f"{a} and {b}: only {seen}")


def condition_of(line):
    """The condition of an #if, #ifdef or #ifndef line, spelled in one way."""
    line = re.sub(r"/\*.*?\*/|//.*", "", line)
    word, rest = re.match(r"\s*#\s*(ifdef|ifndef|if)\s*(.*)", line).groups()
    rest = "".join(rest.split())
    return {"ifdef": f"defined({rest})", "ifndef": f"!defined({rest})", "if": rest}[word]


def needless(text):
    """Lines of guards with nothing in them, and of guards closed and opened again at once."""
    found, stack, closed, before = [], [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        word = re.match(r"\s*#\s*(\w+)", line)
        word = word[1] if word else ""
        if not line.strip():
            continue
        if word in ("if", "ifdef", "ifndef"):
            if before == "endif" and closed == condition_of(line):
                found.append(f"{number}: opened again")
            stack.append([condition_of(line), False])
        elif word in ("else", "elif"):
            stack[-1][1] = True
        elif word == "endif":
            condition, branches = stack.pop()
            closed = None if branches else condition
            if before in ("if", "ifdef", "ifndef"):
                found.append(f"{number}: empty")
        before = word
    return found


def keep_it(folder, seed, files, failure):
    folder = folder / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    (folder / "why").write_text(str(failure))


def one(linemate, seed, keep, env):
    rng = random.Random(seed)
    maker = Record(rng)
    text, inner = maker.texts()
    if not maker.members:
        return "no-members", None
    profile = maker.profile()
    align = "__aligned__(64)" in text.splitlines()[-1] or rng.random() < 0.5
    more = ["--base-align", "64"] if align else []
    more += rng.choice(([], [], ["--moves", "all"], ["--config", f"given:+{rng.choice(maker.options)}"]))
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        old_tree, tree = tmp / "old", tmp / "new"
        for folder in (old_tree, tree):
            fresh_tree(folder, {HEADER: text.encode(), INNER: inner.encode()})
        (tmp / "p.access").write_text(profile)
        argv = [linemate, "patch", "--json", "--struct", "probe", "--header", HEADER, "--profile", tmp / "p.access",
                "--configs", "auto", *more]
        try:
            before = snapshot(old_tree)
            done = run(argv, old_tree, text=False, env=env)
            if snapshot(old_tree) != before:
                raise Failure("something was written")
            if done.returncode == 4:
                return "refused", None
            if done.returncode == 3 and maker.all_guarded:
                return "absent", None       # the profile names members that no configuration has
            if done.returncode:
                raise Failure(f"exit code {done.returncode}:\n{done.stderr.decode(errors='replace')}")
            story = json.loads(done.stdout)
            check_covered(story, maker.options)
            if not story["diff"]:
                return "kept", None
            apply(tree, story["diff"].encode(), tmp)
            new = (tree / HEADER).read_bytes().decode()
            check_tokens(text, new, False)
            if len(needless(new)) > len(needless(text)):
                raise Failure(f"needless directives: {needless(new)}")
            check_members(old_tree, tree, maker.options, tmp)
            check_configs(old_tree, tree, story, maker.options, align, tmp)
            return "moved", None
        except Failure as failure:
            if keep:
                keep_it(keep, seed, {"probe.h": text, "inner.h": inner, "p.access": profile,
                                     "argv": " ".join(str(a) for a in argv[1:])}, failure)
            return "wrong", f"record {seed}: {failure}\n  {' '.join(str(a) for a in argv[1:])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("linemate", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    opts = parser.parse_args()
    linemate = opts.linemate.resolve()
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as bin_:
        env = fewer_programs(bin_, ONE_COMPILER, "as")
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            jobs = [pool.submit(one, linemate, opts.seed * 1_000_000 + i, opts.keep, env) for i in range(opts.records)]
            for job in jobs:
                outcome, sentence = job.result()
                outcomes[outcome] += 1
                if sentence:
                    print(sentence)
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items())))
    # Judging nothing is no success: a good part of the records must have been rearranged.
    return 1 if outcomes["wrong"] or outcomes["moved"] * 4 < opts.records else 0


if __name__ == "__main__":
    sys.exit(main())
