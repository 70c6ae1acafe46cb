#!/usr/bin/env python3
"""sites2access.py RECORD < SITES.tsv > FILE.access

Turns a table of counted accesses (function, member, offset in the member,
offset in the record, size, cpu, reads, writes; tab separated, '#' comments)
into linemate's access file.  Every access was counted: evidence "exact".
"""
import collections
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows, total = collections.Counter(), 0
    writes = collections.Counter()
    for number, line in enumerate(sys.stdin, 1):
        if line.startswith("#") or not line.strip():
            continue
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 8:
            sys.exit(f"line {number}: {len(parts)} columns, not 8")
        site, member, inside, _, size, cpu, nr_reads, nr_writes = parts
        key = (site, member, int(inside), int(size), int(cpu))
        rows[key] += int(nr_reads)
        writes[key] += int(nr_writes)
        total += int(nr_reads) + int(nr_writes)
    print("#linemate-access 1")
    print(f"#record\t{sys.argv[1]}")
    print(f"#samples\t{total}")
    print("#site\tmember\toffset\tsize\tcpu\treads\twrites\tobject\tevidence")
    for key in sorted(rows, key=lambda k: (k[0].encode(), k[1].encode(), *k[2:])):
        print("\t".join(map(str, (*key, rows[key], writes[key], 0, "exact"))))


if __name__ == "__main__":
    main()
