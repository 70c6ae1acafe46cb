#!/usr/bin/env python3
"""promise_judge.py LINEMATE [--records N] [--seed S] - random records, promised and asserted.

What a plan promises must hold once its patch is applied, and be broken before
where it parted a pair.  Assertions compile with gcc and clang in every
configuration.  Records are those of patch_judge.py.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from lab import COMPILERS, Failure, apply, edits, fresh_tree, run  # noqa: E402
from patch_judge import HEADER, Maker, configurations  # noqa: E402

PROMISE = "probe.promise"
PARTED = "# On one line they cost"


def compiles(tree, configs, tmp):
    for name, spec in configs.items():
        (tmp / "edits.h").write_text(edits(spec))
        for compiler in COMPILERS:
            done = run([compiler, "-w", "-include", tmp / "edits.h", "-fsyntax-only", "-xc", tree / HEADER], tmp)
            if done.returncode:
                raise Failure(f"{name}: {compiler}: {done.stderr}")


def check(linemate, tree, expected, what):
    done = run([linemate, "check", PROMISE], tree)
    if done.returncode not in expected:
        raise Failure(f"{what}: check exits with {done.returncode}:\n{done.stdout}{done.stderr}")
    if (done.returncode == 1) != bool(done.stdout):
        raise Failure(f"{what}: exit {done.returncode}, but it says {done.stdout!r}")


def one(linemate, seed):
    rng = random.Random(seed)
    maker = Maker(rng)
    text, configs = maker.text(), configurations(rng)
    if not maker.members:
        return "no-members", None
    profile = maker.profile()
    more = rng.choice(([], ["--base-align", "64"], ["--line", "128"], ["--base-align", "64", "--no-barriers"]))
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        tree = tmp / "tree"
        fresh_tree(tree, {HEADER: text.encode()})
        (tmp / "p.access").write_text(profile)
        argv = [linemate, "patch", "--struct", "probe", "--header", HEADER, "--profile", tmp / "p.access",
                "--promise", PROMISE, "--asserts", *more]
        for name, spec in configs.items():
            argv += ["--config", f"{name}:{spec}"] if name != "base" else []
        try:
            done = run(argv, tree, text=False)
            if done.returncode in (3, 4):
                if (tree / PROMISE).exists():
                    raise Failure("it fails, but has written promises")
                return "refused", None
            if done.returncode:
                raise Failure(f"exit code {done.returncode}:\n{done.stderr.decode(errors='replace')}")
            parted = done.stdout and PARTED in (tree / PROMISE).read_text()
            check(linemate, tree, (1,) if parted else (0, 1) if done.stdout else (0,), "before")
            if not done.stdout:
                return "kept", None
            apply(tree, done.stdout, tmp)
            check(linemate, tree, (0,), "after")
            compiles(tree, configs, tmp)
            return "asserted" if b"_Static_assert" in done.stdout else "moved", None
        except Failure as failure:
            return "wrong", f"record {seed}: {failure}\n  {' '.join(str(a) for a in argv[1:])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("linemate", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    opts = parser.parse_args()
    outcomes = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        jobs = [pool.submit(one, opts.linemate.resolve(), opts.seed * 3_000_000 + i) for i in range(opts.records)]
        for job in jobs:
            outcome, sentence = job.result()
            outcomes[outcome] += 1
            if sentence:
                print(sentence)
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items())))
    return 1 if outcomes["wrong"] or outcomes["asserted"] * 8 < opts.records else 0


if __name__ == "__main__":
    sys.exit(main())
