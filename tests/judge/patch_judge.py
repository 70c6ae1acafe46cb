#!/usr/bin/env python3
"""patch_judge.py LINEMATE [--records N] [--seed S] [--keep FOLDER] - random records through linemate patch.

Random members, comments and guards, a random profile, one to three
configurations.  Every diff must apply, compile with gcc and clang in every
configuration, keep every token, and let no configuration grow.  The same seed
gives the same records on every machine.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from lab import COMPILERS, Failure, apply, balanced, edits, fewer_programs, fresh_tree, run, snapshot, tokens  # noqa: E402

HEADER = "include/probe.h"
GUARDS = ("CONFIG_A", "CONFIG_B", "CONFIG_C")
WORDS = ("fast path", "see below", "protected by the lock", "bytes", "may be NULL", "set once", "'quoted'", "50 % of it",
         "a \"string\"", "{ braces; }", "#if not a directive", "two -> one", "never 0")

PRELUDE = """\
struct pair { void *a, *b; };
struct small { char c; short s; };
struct nested { int lock; struct pair list; unsigned long count; };
struct aligned { unsigned long usage; char rest[24]; } __attribute__((__aligned__(64)));
struct cacheline_padding { char x[0]; } __attribute__((__aligned__(64)));
#define CACHELINE_PADDING(name) struct cacheline_padding name
#define ____cacheline_aligned_in_smp __attribute__((__aligned__(64)))
#define __percpu
#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]
typedef struct { long counter; } atomic_long_t;
"""


class Maker:
    """One random record, as text, and what may be said of its members in a profile."""

    options, most_depth = GUARDS, 2

    def __init__(self, rng):
        self.rng, self.nr = rng, 0
        self.members = []               # (name, size, guarded)
        self.guards = rng.randint(0, 4)
        self.lines = []
        self.depth = 0

    def name(self):
        self.nr += 1
        return f"m{self.nr}"

    def words(self):
        return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(1, 3)))

    def member(self, name, size):
        self.members.append((name, size, self.depth > 0))
        return name

    def declaration(self):
        """A declaration, perhaps of several members; without indentation."""
        pick = self.rng.random()
        name = self.name()
        if pick < 0.30:
            kind, size = self.rng.choice((("long", 8), ("unsigned int", 4), ("short", 2), ("char", 1), ("void *", 8),
                                          ("atomic_long_t", 8), ("unsigned long long", 8)))
            return f"{kind}{'' if kind.endswith('*') else ' '}{self.member(name, size)};"
        if pick < 0.42:
            kind, size = self.rng.choice((("struct pair", 16), ("struct small", 4), ("struct nested", 32)))
            return f"{kind} {self.member(name, size)};"
        if pick < 0.54:
            nr = self.rng.randint(1, 40)
            kind, size = self.rng.choice((("char", 1), ("long", 8), ("int", 4)))
            return f"{kind}\t{self.member(name, size * nr)}[{nr}];"
        if pick < 0.62:
            other = self.name()
            self.member(name, 8)
            self.member(other, 8)
            return f"long {name}, *{other};"
        if pick < 0.70:
            run_ = []
            for _ in range(self.rng.randint(1, 4)):
                run_.append(f"unsigned int {self.name()} : {self.rng.randint(1, 20)};")
            return "\n".join(run_)
        if pick < 0.75:
            return f"int (*{self.member(name, 8)})(void *, int);"
        if pick < 0.80:
            inner = self.name()
            self.member(name, 16)
            return f"union {{\n\tlong {name}[2];\n\tchar {inner};\t/* small */\n}};"
        if pick < 0.84:
            return f"struct {{\n\tint a;\n\tlong b;\n}} {self.member(name, 16)};"
        if pick < 0.88:
            return f"struct pair __percpu *{self.member(name, 8)};"
        if pick < 0.91:
            return f"DECLARE_BITMAP({self.member(name, 16)}, 100);"
        if pick < 0.94:
            return f"struct aligned {self.member(name, 64)};"
        if pick < 0.96:
            return f"long {self.member(name, 8)} __attribute__((__aligned__(16)));"
        if pick < 0.98:
            return f"long {self.member(name, 8)} ____cacheline_aligned_in_smp;"
        return f"CACHELINE_PADDING({name});"

    def say(self, text):
        self.lines += ["\t" + line if not line.startswith("#") else line for line in text.split("\n")]

    def unit(self):
        pick = self.rng.random()
        if pick < 0.15:
            self.say(f"/* {self.words()} */")
        elif pick < 0.22:
            self.say(f"/*\n * {self.words()}\n * {self.words()}\n */")
        elif pick < 0.27:
            self.say(f"// {self.words()}")
        text = self.declaration()
        pick = self.rng.random()
        if pick < 0.2:
            text += f"\t/* {self.words()} */"
        elif pick < 0.25:
            text += f"\t/* {self.words()}\n\t * {self.words()} */"
        elif pick < 0.3:
            text += f"\t// {self.words()}"
        self.say(text)
        if self.rng.random() < 0.25:
            self.lines.append("")

    def condition(self):
        guard = self.rng.choice(self.options)
        return self.rng.choice((f"#ifdef {guard}", f"#ifndef {guard}", f"#if defined({guard})",
                                f"#if !defined({guard})", f"#if defined({guard}) && defined(CONFIG_A)"))

    def guarded(self):
        self.guards -= 1
        self.depth += 1
        self.lines.append(self.condition())
        self.some(self.rng.randint(1, 3))
        if self.rng.random() < 0.3:
            self.lines.append("#else" + self.rng.choice(("", "\t/* not so */")))
            self.some(self.rng.randint(1, 2))
        self.lines.append("#endif" + self.rng.choice(("", " /* of it */")))
        self.depth -= 1

    def some(self, nr):
        for _ in range(nr):
            if self.guards > 0 and self.depth < self.most_depth and self.rng.random() < 0.25:
                self.guarded()
            else:
                self.unit()

    def text(self):
        self.some(self.rng.randint(3, 14))
        if self.rng.random() < 0.15:
            self.say(f"long {self.name()}[];")
        attribute = self.rng.choice(("", "", "", " __attribute__((__aligned__(64)))"))
        text = PRELUDE + "\n/* random */\nstruct probe {\n" + "\n".join(self.lines) + f"\n}}{attribute};\n"
        return text.replace("\n", "\r\n") if self.rng.random() < 0.08 else text

    def profile(self):
        rows = ["#linemate-access 1"]
        hot = self.rng.sample(self.members, min(len(self.members), self.rng.randint(2, 6)))
        self.all_guarded = all(guarded for _, _, guarded in hot)
        for name, size, _ in hot:
            writes = self.rng.random() < 0.5
            inside = self.rng.randrange(0, size, 8) if size > 8 else 0
            for cpu in range(4):
                if self.rng.random() < 0.15:
                    continue
                nr = self.rng.randint(100, 100_000)
                rows.append(f"site_{name}\t{name}\t{inside}\t{min(size, 8)}\t{cpu}\t"
                            f"{0 if writes else nr}\t{nr if writes else 0}")
        return "\n".join(rows) + "\n"


def configurations(rng):
    chosen = {"base": ""}
    for nr in range(rng.randint(0, 2)):
        on = [g for g in GUARDS if rng.random() < 0.5] or [GUARDS[nr]]
        chosen[f"c{nr}"] = ",".join(f"+{g}" for g in on)
    return chosen


def strip_cr(text):
    return text.replace("\r\n", "\n")


# What --comment adds, in one of its line ends, all white space folded.
REASON = re.compile(r"/\*( \*)? (Read|Written|Read and written) often: keep( \*)? away .* (written|read)\.( \*)? ?\*/")


def check_tokens(old, new, commented):
    (a, _), (b, _) = tokens(strip_cr(old)), tokens(strip_cr(new))
    if a - b:
        raise Failure(f"tokens are lost: {dict(a - b)}")
    added = b - a
    reasons = [t for t in added if REASON.fullmatch(t)] if commented else []
    for reason in reasons:
        del added[reason]
    barriers = added.get("CACHELINE_PADDING", 0) + added.get("____cacheline_aligned_in_smp", 0)
    rest = {t: n for t, n in added.items()
            if t not in ("CACHELINE_PADDING", "____cacheline_aligned_in_smp", "(", ")", ";")
            and not re.fullmatch(r"_+\w+", t)}
    if rest or sum(added.values()) > 5 * barriers:
        raise Failure(f"tokens are added: {dict(added)}")
    if not balanced(new):
        raise Failure("the guards are torn")
    if ("\r\n" in old) != ("\r\n" in new) or "\r\n" in old and new.replace("\r\n", "").count("\n"):
        raise Failure("line ends are mixed")


def members_of(header, options, tmp):
    """What the preprocessor leaves of the record, as tokens."""
    done = run(["gcc", "-E", "-P", "-x", "c", *(f"-D{o}" for o in options), header], tmp)
    if done.returncode:
        raise Failure(f"gcc -E: {done.stderr}")
    return tokens(done.stdout[done.stdout.index("struct probe {"):])[0]


def check_guards(tree, old_tree, tmp):
    """In each of all configurations, asked for or not, the record has the members that it had."""
    if "CONFIG_" not in (old_tree / HEADER).read_text():
        return
    for mask in range(1 << len(GUARDS)):
        options = [g for i, g in enumerate(GUARDS) if mask >> i & 1]
        old, new = members_of(old_tree / HEADER, options, tmp), members_of(tree / HEADER, options, tmp)
        added = new - old
        # A barrier is an empty record with a made-up name, or an attribute.
        if old - new or any(not re.fullmatch(r"_+\w+|[();64]+|struct|cacheline_padding", t) for t in added):
            raise Failure(f"with {options} members differ: {dict(old - new)} lost, {dict(added)} added")


def check_compiles(tree, old_tree, configs, tmp):
    """Both headers in one unit: the new record is no larger, and has the same members."""
    source = tmp / "both.c"
    for name, spec in configs.items():
        (tmp / "edits.h").write_text(edits(spec))
        source.write_text(
            f'#define probe old_probe\n#include "{old_tree / HEADER}"\n#undef probe\n'
            "#define pair pair2\n#define small small2\n#define nested nested2\n#define aligned aligned2\n"
            "#define cacheline_padding cacheline_padding2\n#define atomic_long_t atomic_long_t2\n"
            "#undef CACHELINE_PADDING\n#undef ____cacheline_aligned_in_smp\n#undef __percpu\n#undef DECLARE_BITMAP\n"
            f'#include "{tree / HEADER}"\n'
            '_Static_assert(sizeof(struct probe) <= sizeof(struct old_probe), "grows");\n'
            '_Static_assert(_Alignof(struct probe) == _Alignof(struct old_probe), "other alignment");\n')
        for compiler in COMPILERS:
            done = run([compiler, "-w", "-include", tmp / "edits.h", "-fsyntax-only", source], tmp)
            if done.returncode:
                raise Failure(f"{name} ({spec}): {compiler}: {done.stderr}")


def one(linemate, seed, keep, gcc_alone):
    rng = random.Random(seed)
    maker = Maker(rng)
    text, configs = maker.text(), configurations(rng)
    if not maker.members:
        return "no-members", None
    profile = maker.profile()
    # Not from rng: what a seed gives must stay.
    commented = seed % 2 == 0
    more = rng.choice(([], ["--base-align", "64"], ["--moves", "all"], ["--moves", "1", "--base-align", "64"]))
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        old_tree, tree = tmp / "old", tmp / "new"
        for folder in (old_tree, tree):
            fresh_tree(folder, {HEADER: text.encode()})
        (tmp / "p.access").write_text(profile)
        argv = [linemate, "patch", "--struct", "probe", "--header", HEADER, "--profile", tmp / "p.access"]
        for name, spec in configs.items():
            argv += ["--config", f"{name}:{spec}"] if name != "base" else []
        argv += more + ["--comment"] * commented
        try:
            before = snapshot(old_tree)
            # Both compilers are asked below in any case: half of the time linemate itself has one.
            done = run(argv, old_tree, text=False, env=gcc_alone if seed % 4 < 2 else None)
            if snapshot(old_tree) != before:
                raise Failure("something was written")
            words = done.stderr.decode(errors="replace")
            if done.returncode == 4:
                return "refused", None
            if done.returncode == 3 and maker.all_guarded:
                return "absent", None       # the profile names members that no configuration has
            if done.returncode:
                raise Failure(f"exit code {done.returncode}:\n{words}")
            if not done.stdout:
                return "kept", None
            apply(tree, done.stdout, tmp)
            check_tokens(text, (tree / HEADER).read_bytes().decode(), commented)
            check_guards(tree, old_tree, tmp)
            check_compiles(tree, old_tree, configs, tmp)
            return "moved", None
        except Failure as failure:
            if keep:
                folder = keep / str(seed)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "probe.h").write_bytes(text.encode())
                (folder / "p.access").write_text(profile)
                (folder / "argv").write_text(" ".join(str(a) for a in argv[1:]) + "\n")
                (folder / "why").write_text(str(failure))
            return "wrong", f"record {seed}: {failure}\n  {' '.join(str(a) for a in argv[1:])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("linemate", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    opts = parser.parse_args()
    linemate = opts.linemate.resolve()
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        env = fewer_programs(folder, "gcc", "as")
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
