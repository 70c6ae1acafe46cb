#!/usr/bin/env python3
"""every_reason.py ROOT - each refusal and each rule of optimizer/rules.h has a header in tests/refuse/ that expects it."""
import pathlib
import re
import sys


def words(text, table):
    body = re.search(r"#define %s\(X\)(.*?)\n\n" % table, text, re.S)
    return re.findall(r'X\(\w+, "([\w-]+)"', body[1])


def main():
    root = pathlib.Path(sys.argv[1])
    rules = (root / "optimizer" / "rules.h").read_text()
    expected = "\n".join(p.read_text(errors="replace") for p in (root / "tests" / "refuse").glob("*.h"))
    refusals, bindings = words(rules, "LM_REFUSALS"), words(rules, "LM_RULES")
    missing = [w for w in refusals if not re.search(rf"/\* expect: refused {w} (\| .*)?\*/", expected)]
    missing += [w for w in bindings if not re.search(rf"/\* expect: bound {w} ", expected)]
    for word in missing:
        print(f"tests/refuse/ has no header that expects {word}")
    print(f"{len(refusals)} refusals, {len(bindings)} rules, {len(missing)} without a test")
    return 1 if missing or not refusals or not bindings else 0


if __name__ == "__main__":
    sys.exit(main())
