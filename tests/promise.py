#!/usr/bin/env python3
"""promise.py LINEMATE - the plan of a real record as promises and assertions.

The header before the patch breaks them, the one after keeps them: check says
so, and for assertions gcc and clang.  SARIF has what its schema requires.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from check_layout import CONFIGS, edits  # noqa: E402

DATA = HERE / "data" / "flagship"
HEADER = "include/linux/memcontrol.h"
PROMISE = "notes/mem_cgroup.promise"
bad = 0


def expect(what, holds, seen=""):
    global bad
    bad += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


def run(argv, cwd, **more):
    return subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, **more)


def flags():
    return (DATA / "flags").read_text().split()


def make_tree(folder):
    shutil.copytree(DATA / "include", folder / "include")
    (folder / "notes").mkdir()
    # What the kernel has in build_bug.h: the assertions shall be in these words.
    cache = folder / "include/linux/cache.h"
    cache.write_text(cache.read_text().replace(
        "#define L1_CACHE_SHIFT", "#define static_assert _Static_assert\n\n#define L1_CACHE_SHIFT", 1))


def patch(linemate, tree, *more):
    argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", HEADER, "--profile", DATA / "sites.access",
            "--root", ".", *more]
    for name, spec in CONFIGS.items():
        if name != "base":
            argv += ["--config", f"{name}:{spec}"]
    return run([*argv, "--", *flags()], tree)


def required(node, keys, where):
    for key, kind in keys.items():
        if not isinstance(node.get(key), kind):
            raise ValueError(f"{where}: {key} is {node.get(key)!r}")


def validate(sarif):
    """What sarif-schema-2.1.0.json requires of the objects used here, and code scanning besides."""
    required(sarif, {"version": str, "runs": list, "$schema": str}, "log")
    if sarif["version"] != "2.1.0":
        raise ValueError(sarif["version"])
    for r in sarif["runs"]:
        required(r, {"tool": dict, "results": list}, "run")
        required(r["tool"], {"driver": dict}, "tool")
        driver = r["tool"]["driver"]
        required(driver, {"name": str, "version": str, "rules": list}, "driver")
        for rule in driver["rules"]:
            required(rule, {"id": str, "shortDescription": dict}, "rule")
            required(rule["shortDescription"], {"text": str}, "rule text")
        if len({rule["id"] for rule in driver["rules"]}) != len(driver["rules"]):
            raise ValueError("rules are not unique")
        for result in r["results"]:
            required(result, {"message": dict, "ruleId": str, "ruleIndex": int, "level": str, "locations": list,
                              "partialFingerprints": dict}, "result")
            required(result["message"], {"text": str}, "message")
            if result["level"] not in ("none", "note", "warning", "error"):
                raise ValueError(result["level"])
            if driver["rules"][result["ruleIndex"]]["id"] != result["ruleId"]:
                raise ValueError("ruleIndex does not fit ruleId")
            for place in result["locations"] + result.get("relatedLocations", []):
                required(place, {"physicalLocation": dict}, "location")
                physical = place["physicalLocation"]
                required(physical, {"artifactLocation": dict, "region": dict}, "physicalLocation")
                required(physical["artifactLocation"], {"uri": str}, "artifactLocation")
                required(physical["region"], {"startLine": int}, "region")
                if physical["region"]["startLine"] < 1 or physical["artifactLocation"]["uri"].startswith("/"):
                    raise ValueError(f"bad place {physical}")
            if not all(isinstance(v, str) for v in result["partialFingerprints"].values()):
                raise ValueError("fingerprints are text")
    return True


def judge_check(linemate, tree, elsewhere):
    check = [linemate, "check", PROMISE]
    before = run(check, tree)
    expect("before: broken", before.returncode == 1, before.returncode)
    expect("before: says the pair, the line, the place", before.stdout.startswith(f"{PROMISE}:18: apart ") and
           "memory_events_local[8].counter" in before.stdout and "both are on line 17" in before.stdout, before.stdout)
    expect("before: one line each", all(line.startswith(f"{PROMISE}:") for line in before.stdout.splitlines()))
    same = run([linemate, "check", tree / PROMISE], elsewhere)
    expect("from anywhere", same.returncode == 1 and
           same.stdout.replace(f"{tree}/", "") == before.stdout)
    told = json.loads(run([*check, "--json"], tree).stdout)["records"][0]
    expect("JSON: as many", len(told["broken"]) == len(before.stdout.splitlines()))
    first = told["broken"][0]
    expect("JSON: where the members are", {b["configuration"] for b in first["breaches"]} == set(CONFIGS) and
           first["breaches"][0]["a"]["offset"] == 1024 and first["breaches"][0]["b"]["offset"] == 1120, first)
    done = run([*check, "--sarif"], tree)
    expect("SARIF: valid", done.returncode == 1 and validate(json.loads(done.stdout)))
    results = json.loads(done.stdout)["runs"][0]["results"]
    line = (tree / HEADER).read_text().splitlines()[results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] - 1]
    expect("SARIF: at the member", "vmstats_percpu" in line, line.strip())
    expect("SARIF: the lines go to stderr", before.stdout in done.stderr)
    expect("quiet", run([*check, "-q"], tree).stderr == "")


def compile_all(tree, compiler):
    """Configurations in which the header does not compile alone."""
    failed = []
    for name, spec in CONFIGS.items():
        edit = tree / "edit.h"
        edit.write_text(edits(spec))
        if run([compiler, *flags(), "-include", edit, "-fsyntax-only", HEADER], tree).returncode:
            failed.append(name)
        edit.unlink()
    return failed


def judge_asserts(tree, old_record, text):
    expect("an assertion in the project's words", "static_assert(offsetof(struct mem_cgroup, vmstats_percpu) / L1_CACHE_BYTES <"
           in text)
    for compiler in ("gcc", "clang"):
        expect(f"{compiler}: after", compile_all(tree, compiler) == [])
    begin = text.index("struct mem_cgroup {")
    end = text.index("\n};", begin)
    (tree / HEADER).write_text(text[:begin] + old_record + text[end:])
    for compiler in ("gcc", "clang"):
        failed = compile_all(tree, compiler)
        expect(f"{compiler}: the old order fails", failed == list(CONFIGS), failed)
    (tree / HEADER).write_text(text)


def judge_derived(linemate, tree):
    """Configurations that linemate found by itself, and one of a .config file, are written down by names."""
    (tree / "notes/server.config").write_text("CONFIG_64BIT=y\nCONFIG_SMP=y\nCONFIG_MEMCG_V1=y\n")
    argv = [linemate, "patch", "--struct", "mem_cgroup", "--header", HEADER, "--profile", DATA / "sites.access",
            "--root", ".", "--configs", "auto", "--kconfig", "notes/server.config", "--promise", "auto.promise"]
    done = run([*argv, "--", *flags()], tree)
    expect("derived: a patch", done.returncode == 0 and done.stdout.startswith("diff"), done.stderr.split("\n")[0])
    check = [linemate, "check", "auto.promise"]
    before = run(check, tree)
    expect("derived: broken before", before.returncode == 1 and "broken in base" in before.stdout, before.stderr)
    done = run(["git", "apply", "-p1", "-"], tree, input=done.stdout)
    after = run(check, tree)
    expect("derived: kept after", done.returncode == 0 and after.returncode == 0, after.stdout + after.stderr)
    expect("derived: and in what is derived anew", run([*check, "--configs", "auto"], tree).returncode == 0)


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        tree, elsewhere = pathlib.Path(tmp).resolve() / "tree", pathlib.Path(tmp).resolve() / "else"
        tree.mkdir()
        elsewhere.mkdir()
        make_tree(tree)
        old = (tree / HEADER).read_text()
        done = patch(linemate, tree, "--promise", PROMISE, "--asserts")
        expect("a patch", done.returncode == 0 and done.stdout.startswith("diff"), done.stderr.split("\n")[0])
        expect("the report tells of the assertion", "1 assertion behind the record" in done.stderr)
        promises = (tree / PROMISE).read_text()
        expect("the pair and its evidence", "#   memory_events_local[8].counter: 0 reads, 57,600 writes by __memcg_memory_event"
               in promises and "\napart memory_events_local vmstats_percpu\n" in promises)
        expect("sizes of all configurations", sorted(word for line in promises.splitlines() if line.startswith("max-size")
                                                     for word in line.split("@")[1].split(",")) == sorted(CONFIGS))
        judge_check(linemate, tree, elsewhere)
        done = run(["git", "apply", "-p1", "-"], tree, input=done.stdout)
        expect("the patch applies", done.returncode == 0, done.stderr)
        after = run([linemate, "check", PROMISE], tree)
        expect("after: kept", after.returncode == 0 and after.stdout == "", after.stderr.strip())
        text = (tree / HEADER).read_text()
        begin = old.index("struct mem_cgroup {")
        judge_asserts(tree, old[begin:old.index("\n};", begin)], text)
        again = patch(linemate, tree, "--promise", "notes/again.promise")
        expect("a promise of what is good already", again.returncode == 0 and not again.stdout and
               run([linemate, "check", "notes/again.promise"], tree).returncode == 0)
        (tree / HEADER).write_text(old)
        judge_derived(linemate, tree)
    return bad != 0


sys.exit(main())
