#!/usr/bin/env python3
"""story.py LINEMATE - a slow server, from its profile to a faster one.

Builds a small multi-threaded server, takes a profile of it on the spot with
valgrind's lackey, lets linemate patch its header, builds it again and lets it
tell its own throughput, before and after in turns.  The patch must apply, the
server must answer as it did; the ratio is printed and judged by nobody: other
programs on the machine may take it away.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS, SECONDS, BATCH = 9, 0.3, 200_000
bad = 0


def expect(what, holds, seen=""):
    global bad
    bad += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if seen != '' else ''}", flush=True)


def run(argv, cwd, **more):
    done = subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def build(tree):
    # At a fixed address, so that a trace's addresses are those of the file.
    run(["gcc", "-g", "-O2", "-no-pie", "-pthread", "-o", "server", "server.c"], tree)


class Server:
    """The server of a tree, run under `prefix`; said is what it printed once it has ended."""

    def __init__(self, tree, prefix=()):
        self.path = tree / "socket"
        self.process = subprocess.Popen([*prefix, tree / "server", self.path], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()

    def connect(self, kind):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(self.path))
        client.sendall(kind)
        return client

    def end(self):
        self.connect(b"Q").close()
        said = self.process.communicate(timeout=60)[0]
        os.unlink(self.path)
        return said


def ask(client, what, nr):
    client.sendall(struct.pack("<2I", what, nr))
    back = b""
    while len(back) < 8:
        piece = client.recv(8 - len(back))
        if not piece:
            sys.exit("the server has closed a connection")
        back += piece
    return struct.unpack("<Q", back)[0]


def answers(server):
    """What it says to all keys, one by one and together, and to some events."""
    with server.connect(b"L") as client:
        values = [ask(client, key, 1) for key in range(700)] + [ask(client, 1, 5000)]
    with server.connect(b"E") as client:
        counted = [ask(client, 100, 300), ask(client, 7, 50)]
    return values, counted


def hammer(server, kind, what, until):
    with server.connect(kind) as client:
        while time.monotonic() < until:
            ask(client, what, BATCH)


def throughput(tree):
    """Lookups a second, as the server says, while events come in."""
    server = Server(tree)
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=hammer, args=(server, kind, what, until)) for kind, what in ((b"L", 1), (b"E", 64))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.05)
    said = server.end()
    told = re.search(r"^\d+ lookups, (\d+) a second$", said, re.M)
    return float(told[1]) if told else sys.exit(f"the server told no throughput: {said}")


def trace(tree):
    """Every access of a short run, by valgrind."""
    out = tree / "lackey.trace"
    server = Server(tree, ("valgrind", "--tool=lackey", "--trace-mem=yes", "--fair-sched=yes", f"--log-file={out}"))
    with server.connect(b"L") as lookups, server.connect(b"E") as events:
        for _ in range(4):
            ask(lookups, 1, 500)
            ask(events, 64, 500)
    server.end()
    return out


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        before, after = pathlib.Path(tmp, "before"), pathlib.Path(tmp, "after")
        for tree in (before, after):
            tree.mkdir()
            for name in ("service.h", "server.c"):
                shutil.copy(HERE / name, tree)
            run(["git", "init", "-q"], tree)
        build(before)
        profile = trace(before)
        expect("lackey traced every access", profile.stat().st_size > 1 << 20, f"{profile.stat().st_size:,} bytes")
        ranked = json.loads(run([linemate, "rank", "--binary", "server", "--profile", profile, "--json"], before).stdout)
        expect("rank puts its state first", ranked["records"][0]["record"] == "service",
               [(r["record"], round(r["removable"])) for r in ranked["records"]])
        done = run([linemate, "patch", "--struct", "service", "--header", "service.h", "--binary", "server",
                    "--profile", profile, "--base-align", "64"], before)
        print(done.stderr.split("\n\n")[0])
        print(done.stdout)
        run(["git", "apply"], after, input=done.stdout)
        expect("the patch changes the header", (before / "service.h").read_text() != (after / "service.h").read_text())
        build(after)
        said = []
        for tree in (before, after):
            server = Server(tree)
            said.append(answers(server))
            server.end()
        values, counted = said[0]
        expect("the server answers as before", said[0] == said[1])
        expect("and it answers", values[1] == 8 and values[600] == 0 and counted == [300, 350],
               (values[1], values[600], counted))
        pairs = [(throughput(before), throughput(after)) for _ in range(ROUNDS)]
        ratios = [b / a for a, b in pairs]
        expect("throughput was measured", all(a > 0 and b > 0 for a, b in pairs))
        print(f"million lookups a second, medians of {ROUNDS} runs in turn: "
              f"{statistics.median(a for a, _ in pairs) / 1e6:.1f} before, "
              f"{statistics.median(b for _, b in pairs) / 1e6:.1f} after; "
              f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print("FAILED" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
