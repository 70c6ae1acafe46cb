#!/usr/bin/env python3
"""expect.py LINEMATE HEADER - one header, a synthetic profile, and what must come of it.

The header says all of it in comments, one a line:

  /* struct: NAME */               the record (default: struct probe)
  /* access: SITE MEMBER OFFSET SIZE CPU READS WRITES */    a row of the profile
  /* config: NAME:+MACRO */        one more configuration
  /* args: ... */  /* flags: ... */  /* file: NAME */   options; compiler flags; the header's path in its tree
  /* expect: refused REASON [| TEXT] */         exit 4 with that reason of optimizer/rules.h; TEXT: what is
                                  said instead where the reason is found before rules are collected
  /* expect: exit CODE */          any other end
  /* expect: says TEXT */          words on stderr
  /* expect: moved */  /* expect: kept */       a patch; or none
  /* expect: bound RULE UNIT [OTHER] */         the report binds the unit with that rule
  /* expect: in-place MEMBER... */              offsets stay in every configuration
  /* expect: segments A B | C | D E */          nothing crosses a '|'
  /* expect: in-order A B C */                  these stay in this order
  /* expect: apart A B */                       on no common line, in every configuration
  /* expect: together A B */                    on one line

Always: a patch applies; gcc and clang lay the new header out as linemate show
says; no configuration grows; tokens are kept; no member that is written much
comes beside one that others only read, unless it was there before.
"""
import json
import pathlib
import re
import sys
import tempfile

from lab import COMPILERS, Failure, apply, bits, compiled_layout, fresh_tree, lines_of, run, shown, snapshot, tokens

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BARRIER = {"CACHELINE_PADDING", "(", ")", ";"}


class Story:
    def __init__(self, path):
        self.text = path.read_bytes()
        self.args, self.flags, self.rows, self.expects, self.configs = [], [], [], [], {"base": ""}
        self.record, self.file = "struct probe", "include/" + path.name
        for key, value in re.findall(r"^/\* (\w+): (.*?) \*/\r?$", self.text.decode(errors="replace"), re.M):
            if key == "struct":
                self.record = value
            elif key == "file":
                self.file = value
            elif key == "access":
                self.rows.append(value.split())
            elif key == "config":
                name, _, spec = value.partition(":")
                self.configs[name] = spec
            elif key == "args":
                self.args += value.split()
            elif key == "flags":
                self.flags += value.split()
            elif key == "expect":
                self.expects.append(value.split())
        if not self.expects:
            raise Failure("the header expects nothing")

    def profile(self):
        lines = ["#linemate-access 1"]
        for row in self.rows:
            if len(row) != 7:
                raise Failure(f"an access has 7 columns: {' '.join(row)}")
            lines.append("\t".join(row))
        return "\n".join(lines) + "\n"

    def argv(self, linemate, verb, header, profile, *more):
        argv = [linemate, verb, "--struct", self.record.split()[-1], "--header", header, "--profile", profile]
        for name, spec in self.configs.items():
            if name != "base":
                argv += ["--config", f"{name}:{spec}"]
        args = list(self.args)
        if verb == "show":      # knows no options that decide on moves
            for option in ("--pin", "--apart", "--keep-together", "--moves"):
                while option in args:
                    at = args.index(option)
                    del args[at:at + 2]
        return [*argv, *args, *more, "--", *self.flags]


def reason_text(word):
    """The clause that rules.h gives for a refusal."""
    rules = (ROOT / "optimizer" / "rules.h").read_text()
    found = re.search(r'X\(\w+, "%s", "(.*?)"\)' % re.escape(word), rules)
    if not found:
        raise Failure(f"rules.h knows no refusal {word}")
    return found[1]


def of_kind(story, kind):
    return [e[1:] for e in story.expects if e[0] == kind]


def check_words(story, done):
    words = " ".join(done.stderr.split())
    for reason, *instead in of_kind(story, "refused"):
        if done.returncode != 4:
            raise Failure(f"exit code {done.returncode}, not 4 (refused)")
        clause = reason_text(reason)
        if " ".join(instead[1:] or clause.split()) not in words:
            raise Failure(f"the refusal does not say: {' '.join(instead[1:]) or clause}")
        if done.stdout:
            raise Failure("a refusal printed something on stdout")
    for code, in of_kind(story, "exit"):
        if done.returncode != int(code):
            raise Failure(f"exit code {done.returncode}, not {code}")
    for text in of_kind(story, "says"):
        if " ".join(text) not in words:
            raise Failure(f"stderr does not say: {' '.join(text)}")


def check_report(story, report):
    rules = [(r["rule"], r["unit"], r["other"]) for r in report["rules"]]
    for rule, unit, *other in of_kind(story, "bound"):
        if not any(r[:2] == (rule, unit) and (not other or r[2] == other[0]) for r in rules):
            raise Failure(f"{unit} is not bound by {rule}; bound are {rules}")
    for verdict in ("moved", "kept"):
        if of_kind(story, verdict) and report["verdict"] != verdict:
            raise Failure(f"the verdict is {report['verdict']}, not {verdict}: {report['reason']}")


def order_of(layout):
    return sorted(layout, key=lambda name: (layout[name][0], layout[name][1] or 0))


def check_places(story, config, old, new):
    for names in of_kind(story, "in-place"):
        for name in names:
            if name in old and old[name] != new[name]:
                raise Failure(f"{config}: {name} left its place: {old[name]} -> {new[name]}")
    for names in of_kind(story, "apart"):
        if all(n in new for n in names) and set.intersection(*(lines_of(new[n]) for n in names)):
            raise Failure(f"{config}: {' and '.join(names)} share a line: {[new[n] for n in names]}")
    for names in of_kind(story, "together"):
        if all(n in new for n in names) and not set.intersection(*(lines_of(new[n]) for n in names)):
            raise Failure(f"{config}: {' and '.join(names)} are on no common line: {[new[n] for n in names]}")
    for names in of_kind(story, "in-order"):
        order = [n for n in order_of(new) if n in names]
        if order != [n for n in names if n in new]:
            raise Failure(f"{config}: order is {order}, not {names}")
    for words in of_kind(story, "segments"):
        segments = [set(part.split()) for part in " ".join(words).split("|")]
        order = [n for n in order_of(new) if any(n in s for s in segments)]
        for segment in segments:
            here = segment & set(order)
            if set(order[:len(here)]) != here:
                raise Failure(f"{config}: {order} crosses a border of {' '.join(words)}")
            order = order[len(here):]


def heat(story):
    """{member: ({cpu: reads}, {cpu: writes})}"""
    found = {}
    for _, member, _, _, cpu, reads, writes in story.rows:
        r, w = found.setdefault(member.split(".")[0].split("[")[0], ({}, {}))
        r[cpu] = r.get(cpu, 0) + int(reads)
        w[cpu] = w.get(cpu, 0) + int(writes)
    return found


def fights(story):
    """(a, b): b is read by CPUs while others write a, a lot, and b is hardly written."""
    hot = heat(story)
    total = sum(sum(r.values()) + sum(w.values()) for r, w in hot.values()) or 1
    for a, (_, written) in hot.items():
        for b, (read, written_b) in hot.items():
            if a == b or sum(written_b.values()) * 20 > sum(read.values()):
                continue
            foreign = sum(n for cpu, n in written.items() if any(c != cpu and r for c, r in read.items()))
            if foreign * 20 > total and sum(read.values()) * 20 > total:
                yield a, b


def check_heat(story, config, old, new):
    for a, b in fights(story):
        if a in new and b in new and lines_of(new[a]) & lines_of(new[b]) and not lines_of(old[a]) & lines_of(old[b]):
            raise Failure(f"{config}: {a}, written by others, came beside {b}, which is only read")


def check_tokens(story, old, new):
    (a, da), (b, db) = tokens(old), tokens(new)
    if a - b:
        raise Failure(f"tokens are lost: {dict(a - b)}")
    # A barrier is a macro with a made-up name: CACHELINE_PADDING(_pad1_);
    extra = {t: n for t, n in (b - a).items() if t not in BARRIER}
    if any(not re.fullmatch(r"_+\w+", t) for t in extra):
        raise Failure(f"tokens are added: {extra}")
    if set(da) != set(db):
        raise Failure(f"preprocessor lines differ: {set(da) ^ set(db)}")


def check_layouts(story, linemate, tree, old_tree, profile, tmp):
    show = run(story.argv(linemate, "show", story.file, profile), tree)
    if show.returncode:
        raise Failure(f"linemate show: exit code {show.returncode}\n{show.stderr}")
    predicted = shown(show.stdout)
    for config, spec in story.configs.items():
        old, old_size = compiled_layout("gcc", old_tree, story.file, story.record, story.flags, spec, tmp)
        for compiler in COMPILERS:
            new, new_size = compiled_layout(compiler, tree, story.file, story.record, story.flags, spec, tmp)
            if new_size > old_size:
                raise Failure(f"{config}: grows from {old_size} to {new_size}")
            if set(new) < set(old):
                raise Failure(f"{config}: members are lost: {set(old) - set(new)}")
            if config in predicted:
                members, size = predicted.pop(config) if compiler == COMPILERS[-1] else predicted[config]
                wrong = {n: at for n, at in bits(new).items() if bits(members).get(n) != at}
                if wrong or size != new_size:
                    raise Failure(f"{config}: {compiler} says {new_size} bytes and first bits {wrong}\n{show.stdout}")
        check_places(story, config, old, new)
        check_heat(story, config, old, new)
    if predicted:
        raise Failure(f"linemate show knows configurations that are none: {list(predicted)}")
    if not show.stdout:
        raise Failure("linemate show says nothing")


def judge(linemate, path, tmp):
    story = Story(path)
    old_tree, tree, profile = tmp / "old", tmp / "new", tmp / "probe.access"
    for folder in (old_tree, tree):
        fresh_tree(folder, {story.file: story.text})
    profile.write_text(story.profile())
    before = snapshot(old_tree)
    done = run(story.argv(linemate, "patch", story.file, profile), old_tree)
    if snapshot(old_tree) != before:
        raise Failure("something was written into the tree")
    check_words(story, done)
    if of_kind(story, "refused") or of_kind(story, "exit"):
        return
    if done.returncode:
        raise Failure(f"exit code {done.returncode}:\n{done.stderr}")
    report = run(story.argv(linemate, "patch", story.file, profile, "--json"), old_tree)
    if report.returncode or not report.stdout:
        raise Failure(f"--json: exit code {report.returncode}, {len(report.stdout)} bytes:\n{report.stderr}")
    check_report(story, json.loads(report.stdout))
    if done.stdout:
        apply(tree, done.stdout.encode(), tmp)
    check_tokens(story, story.text.decode(), (tree / story.file).read_bytes().decode())
    check_layouts(story, linemate, tree, old_tree, profile, tmp)
    print(done.stdout)


def main():
    linemate, path = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as tmp:
        try:
            judge(linemate, path, pathlib.Path(tmp))
        except Failure as failure:
            print(f"{path.name}: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
