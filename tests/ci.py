#!/usr/bin/env python3
"""ci.py LINEMATE - docs/ci.md keeps its word.

A tree replays a real story: a commit makes struct vmpressure smaller where an
option is off, in a header of its own; in the untouched struct mem_cgroup two
members slide onto one line.  The steps of the workflow, and the hooks, are
taken out of the document and run: they pass before, and fail after.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = (HERE.parent / "docs" / "ci.md").read_text()
DATA = HERE / "data" / "flagship"
PRESSURE = "include/linux/vmpressure.h"
PROMISE = "include/linux/mem_cgroup.promise"
CONFIGS = ("v1:+CONFIG_MEMCG_V1", "nolru:-CONFIG_LRU_GEN_WALKS_MMU", "nowb:-CONFIG_CGROUP_WRITEBACK")
HEAD = """#ifndef _LINUX_VMPRESSURE_H
#define _LINUX_VMPRESSURE_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct vmpressure {
	unsigned long scanned;
	unsigned long reclaimed;
"""
MIDDLE = """	unsigned long tree_scanned;
	unsigned long tree_reclaimed;
	struct list_head events;
	unsigned long level;
"""
TAIL = """	spinlock_t sr_lock;
};

#endif
"""
bad = 0


def expect(what, holds, seen=""):
    global bad
    bad += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.S | re.M)


def step(workflow, name):
    """The shell text of the step of that name: what stands deeper than its `run: |`."""
    found = re.search(rf"^( *)- name: {re.escape(name)}\n\1  run: \|\n((?:\1    .*\n)+)", workflow, re.M)
    return "".join(line[len(found[1]) + 4:] + "\n" for line in found[2].splitlines())


class Tree:
    def __init__(self, folder, linemate):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "linemate").symlink_to(linemate)
        self.root = folder / "tree"
        shutil.copytree(DATA / "include", self.root / "include")
        self.env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull,
                    "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}
        for who in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{who}_NAME": "Nobody", f"GIT_{who}_EMAIL": "nobody@example.org"}
        (self.root / PRESSURE).write_text(HEAD + MIDDLE + TAIL)
        self.git("init", "-q")

    def run(self, argv, **more):
        return subprocess.run(argv, cwd=self.root, env=self.env, capture_output=True, text=True, **more)

    def git(self, *argv):
        return self.run(["git", *argv])

    def shell(self, text):
        """As GitHub runs a step."""
        return self.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text])


def write_promise(tree):
    argv = ["linemate", "patch", "--struct", "mem_cgroup", "--header", "include/linux/memcontrol.h",
            "--profile", str(DATA / "sites.access"), "--promise", PROMISE, "--no-barriers"]
    for config in CONFIGS:
        argv += ["--config", config]
    return tree.run([*argv, "--", *(DATA / "flags").read_text().split()])


def culprit(tree):
    (tree.root / PRESSURE).write_text(f"{HEAD}#ifdef CONFIG_MEMCG_V1\n{MIDDLE}#endif\n{TAIL}")


def check_pass(done, what):
    expect(f"{what}: passes before", done.returncode == 0, done.stderr.strip())


def check_fail(done, what):
    words = done.stdout + done.stderr
    expect(f"{what}: fails after", done.returncode not in (0, 2, 3), done.returncode)
    expect(f"{what}: names the pair", "memory_events_local" in words and "vmstats_percpu" in words)


def sarif_of(tree):
    path = tree.root / "linemate.sarif"
    results = json.loads(path.read_text())["runs"][0]["results"]
    path.unlink()
    return results


def main():
    workflow = next(b for b in blocks("yaml") if "jobs:" in b)
    check = step(workflow, "Check the promises")
    with tempfile.TemporaryDirectory() as tmp:
        tree = Tree(pathlib.Path(tmp).resolve(), pathlib.Path(sys.argv[1]).resolve())
        done = write_promise(tree)
        expect("a promise of the present state", done.returncode == 0 and not done.stdout, done.stderr.split("\n")[0])
        print((tree.root / PROMISE).read_text())
        tree.git("add", "-A")
        expect("the first commit", tree.git("commit", "-qm", "Begin").returncode == 0)

        start = time.monotonic()
        check_pass(tree.shell(check), "workflow")
        expect("in two seconds", time.monotonic() - start < 2 * (5 if "asan" in sys.argv[1] else 1))
        expect("nothing found", sarif_of(tree) == [])

        hook = tree.root / ".git" / "hooks" / "pre-commit"
        hook.write_text(blocks("sh")[0])
        hook.chmod(0o755)
        (tree.root / PRESSURE).write_text(f"{HEAD}\n{MIDDLE}\n{TAIL}")
        check_pass(tree.git("commit", "-qam", "Only blank lines"), "hook")
        culprit(tree)
        check_fail(tree.git("commit", "-qam", "Make vmpressure smaller"), "hook")

        entry = re.search(r"entry: sh -c \"(.*)\"", DOCUMENT)[1]
        check_fail(tree.shell(entry), "pre-commit")
        hook.unlink()
        tree.git("commit", "-qam", "Make vmpressure smaller")
        check_fail(tree.shell(check), "workflow")
        found = sarif_of(tree)
        uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in found}
        expect("findings stand in the header", uris == {"include/linux/memcontrol.h"}, uris)
        expect("and the promise is told", all(r["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == PROMISE
                                              for r in found))
    return bad != 0


sys.exit(main())
