#!/usr/bin/env python3
"""Random records for the layout judge, on stdout.

    gen_records.py [--count N] [--seed N]

Each is a header of its own that defines `judged`, behind a line "//@ NUMBER";
the last line is "//@ end".  The same seed gives the same bytes.
"""
import argparse
import random

# spelling, size, alignment
INTEGERS = [("_Bool", 1, 1), ("char", 1, 1), ("signed char", 1, 1), ("unsigned char", 1, 1), ("short", 2, 2),
            ("unsigned short", 2, 2), ("int", 4, 4), ("unsigned int", 4, 4), ("long", 8, 8),
            ("unsigned long", 8, 8), ("long long", 8, 8), ("unsigned long long", 8, 8), ("__int128", 16, 16),
            ("enum color", 4, 4)]
OTHERS = [("float", 4, 4), ("double", 8, 8), ("long double", 16, 16), ("pointer", 8, 8), ("over8", 4, 8),
          ("over32", 1, 32), ("under1", 4, 1), ("under2", 8, 2)]

PRELUDE = """\
#ifndef JUDGE_PRELUDE
#define JUDGE_PRELUDE
enum color { RED, GREEN, BLUE };
typedef void *pointer;
typedef int over8 __attribute__((aligned(8)));
typedef char over32 __attribute__((aligned(32)));
typedef int under1 __attribute__((aligned(1)));
typedef long under2 __attribute__((aligned(2)));
#endif
"""


class Generator:
    def __init__(self, rng, number):
        self.rng = rng
        self.number = number
        self.names = 0
        self.pack = 0           # #pragma pack in force, bytes

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def name(self):
        self.names += 1
        return f"m{self.names}"

    def scalar(self, element=False):
        """A type; one that can be an array's element has no more alignment than bytes."""
        kinds = INTEGERS if self.chance(70) else OTHERS
        return self.rng.choice([k for k in kinds if not element or k[2] <= k[1]])

    def aligned(self, least=1, most=64):
        """aligned() in one of its spellings."""
        n = self.rng.choice([a for a in (1, 2, 4, 8, 16, 32, 64) if least <= a <= most])
        return self.rng.choice([f"__attribute__((aligned({n})))", f"__attribute__((__aligned__({n})))"])

    def attributes(self):
        """Behind a plain declarator."""
        found = []
        if self.chance(8):
            found.append(self.aligned())
        if self.chance(6):
            found.append("__attribute__((packed))")
        self.rng.shuffle(found)
        return "".join(" " + a for a in found)

    def plain(self):
        shape = self.rng.randrange(10)
        kind, _, align = self.scalar(element=shape >= 6)
        front = ""
        if self.chance(3):
            # _Alignas may not go below the type's own alignment.
            front = f"_Alignas({self.rng.choice([a for a in (8, 16, 32) if a >= align])}) "
        if shape < 6:
            body = f"{kind} {self.name()}"
        elif shape == 6:
            body = f"{kind} {self.name()}[{self.rng.randrange(6)}]"
        elif shape == 7:
            body = f"{kind} {self.name()}[{self.rng.randrange(1, 4)}][{self.rng.randrange(1, 4)}]"
        elif shape == 8:
            return f"int (*{self.name()})({kind});"
        else:
            # Attributes of one of several declarators are that one's.
            return f"{kind} {self.name()}{self.attributes()}, *{self.name()}, {self.name()}[2];"
        return f"{front}{body}{self.attributes()};"

    def bit_field(self):
        """One bit-field.  Left out, because gcc and clang disagree on them:
        aligned() below the type's alignment (clang then skips the straddling
        rule) or above #pragma pack (clang ignores it, gcc caps it), and
        bit-fields of an overaligned typedef (gcc starts a unit for each)."""
        kind, size, align = self.rng.choice(INTEGERS)
        if self.chance(12):
            return f"{kind} : {0 if self.chance(40) else self.rng.randint(1, 1 if kind == '_Bool' else 8 * size)};"
        if kind == "_Bool":
            width = 1
        elif self.chance(15):
            width = 8 * size
        else:
            width = self.rng.randint(1, 8 * size)
        tail = ""
        most = self.pack or 64
        if self.chance(8) and align <= most:
            tail += " " + self.aligned(align, most)
        if self.chance(10):
            tail += " __attribute__((packed))"
        return f"{kind} {self.name()} : {width}{tail};"

    def bit_run(self):
        return "\n\t".join(self.bit_field() for _ in range(self.rng.randint(1, 6)))

    def inner(self, depth):
        """Members of a nested record, on one line; the first is named and has bytes."""
        kind = self.rng.choice(INTEGERS)[0]
        found = [f"{kind} {self.name()};"]
        for _ in range(self.rng.randrange(4)):
            pick = self.rng.randrange(10)
            if pick < 5:
                found.append(self.plain())
            elif pick < 8 or depth > 2:
                found.append(self.bit_run().replace("\n\t", " "))
            else:
                found.append(self.nested(depth + 1))
        return " ".join(found)

    def nested(self, depth=0):
        """A struct or union by value, with or without a name."""
        which = self.rng.choice(["struct", "union"])
        attr = ""
        if self.chance(15):
            attr += " __attribute__((packed))"
        if self.chance(12):
            attr += " " + self.aligned()
        body = self.inner(depth)
        pick = self.rng.randrange(3)
        if pick == 0:
            return f"{which} {{ {body} }}{attr};"
        if pick == 1:
            return f"{which} {{ {body} }}{attr} {self.name()};"
        return f"{which} {{ {body} }}{attr} {self.name()}[{self.rng.randint(1, 3)}]{self.attributes()};"

    def empty(self):
        kind = self.scalar(element=True)[0]
        return self.rng.choice([f"{kind} {self.name()}[0]{self.attributes()};", f"struct {{ }} {self.name()};",
                                f"struct {{ }} {self.name()} {self.aligned()};",
                                f"struct {{ {kind} {self.name()}[0]; }} {self.name()};"])

    def helper_use(self):
        return f"struct helper{self.number} {self.name()}{self.attributes()};"

    def member(self):
        pick = self.rng.randrange(100)
        if pick < 50:
            text = self.plain()
        elif pick < 75:
            text = self.bit_run()
        elif pick < 88:
            text = self.nested()
        elif pick < 94:
            text = self.empty()
        else:
            text = self.helper_use()
        if self.chance(10):
            text += "\t/* about it */"
        if self.chance(5):
            text = "/* above it */\n\t" + text
        if self.chance(5):
            text = "\n\t" + text
        return "\t" + text + "\n"

    def helper(self):
        """A named record of the header, used by value."""
        attr = self.rng.choice(["", "", "", " __attribute__((packed))", " __attribute__((aligned(16)))"])
        return (f"#ifndef HELPER{self.number}\n#define HELPER{self.number}\n"
                f"struct helper{self.number} {{ {self.inner(1)} }}{attr};\n#endif\n")

    def record(self):
        helper = self.helper()
        if self.chance(15):
            self.pack = self.rng.choice([1, 2, 4, 8, 16])
        # A flexible array needs a named member before it.
        members = [f"\t{self.rng.choice(INTEGERS)[0]} {self.name()};\n"]
        members += [self.member() for _ in range(self.rng.randint(0, 10))]
        self.rng.shuffle(members)
        if self.chance(12):
            members.append(f"\t{self.scalar(element=True)[0]} {self.name()}[]{self.attributes()};\n")
        attr = ""
        if self.chance(15):
            attr += " __attribute__((packed))"
        if self.chance(12):
            attr += " " + self.aligned()
        if self.chance(15):
            body = "typedef struct {\n" + "".join(members) + f"}}{attr} judged;\n"
        elif self.chance(20):
            body = f"struct{attr} judged {{\n" + "".join(members) + "};\n"
        else:
            body = "struct judged {\n" + "".join(members) + f"}}{attr};\n"
        if self.pack:
            body = f"#pragma pack(push, {self.pack})\n{body}#pragma pack(pop)\n"
        return PRELUDE + helper + body


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for number in range(options.count):
        # A seed for each, so that record 4711 is the same whatever comes before.
        rng = random.Random(f"{options.seed}/{number}")
        print(f"//@ {number}\n{Generator(rng, number).record()}", end="")
    print("//@ end")


if __name__ == "__main__":
    main()
