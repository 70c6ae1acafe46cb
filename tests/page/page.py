#!/usr/bin/env python3
"""page.py LINEMATE - the pages of `linemate report --html`, read as markup and opened in a browser.

The flagship's in seven configurations, mem_cgroup of the installed kernel
headers, a record with hostile names and one of a megabyte.  Without a browser
(Ubuntu's chromium is a snap, which sees no files of ours) the markup is judged
alone, and that is said.  LM_SHOTS=DIR keeps pictures of the pages for a person
to look at.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(HERE), str(TESTS)]
import browser  # noqa: E402
from check_layout import CONFIGS  # noqa: E402

FLAGSHIP = TESTS / "data" / "flagship"
SCRIPT = (HERE / "look.js").read_text()
VOID = {"meta", "link", "input", "br", "img", "hr"}
bad = 0


def expect(what, holds, seen=""):
    global bad
    bad += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {seen}' if not holds and seen != '' else ''}", flush=True)


# ---- the pages ----

def report(linemate, cwd, out, *argv):
    done = subprocess.run([str(linemate), "report", "--html", "-o", str(out), *map(str, argv)], cwd=cwd, capture_output=True)
    expect(f"{out.name}: written, without a word", done.returncode == 0 and not done.stderr, done)
    return out


def flagship(linemate, tmp):
    tree = tmp / "tree"
    shutil.copytree(FLAGSHIP / "include", tree / "include")
    configs = [w for name in CONFIGS if name != "base" for w in ("--config", f"{name}:{CONFIGS[name]}")]
    return report(linemate, tree, tmp / "flagship.html", "--struct", "mem_cgroup", "--header", "include/linux/memcontrol.h",
                  "--root", ".", "--profile", FLAGSHIP / "sites.access", *configs, "--", *(FLAGSHIP / "flags").read_text().split())


def debian(linemate, tmp):
    return report(linemate, tmp, tmp / "debian.html", "--kernel-headers", "--struct", "mem_cgroup", "--header",
                  "include/linux/memcontrol.h", "--profile", TESTS / "data" / "mem_cgroup-6.1.access")


def hostile(linemate, tmp):
    """Whatever can come from outside says </script>, quotes, escape codes, bytes that are not UTF-8."""
    folder = tmp / "a<i>&amp;"
    folder.mkdir()
    header = folder / "x<img src=x onerror=hacked=1>.h"
    header.write_bytes(b"/* </script><script>hacked=1</script> \xff \x1b[31m */\nstruct s {\n\tlong hot; /* </pre><b>\"' \xe9\x1b[2J */\n"
                       b"\tlong cold;\n\tlong more[9];\n} __attribute__((aligned(64)));\n")
    evil = [b"</script><script>hacked=1</script>", b"\"onfocus=hacked=1 x=\"", b"'><img src=x onerror=hacked=1>", b"\\x1b[2J\\x07",
            b"\xff\xfe\xc3", b"<!--", b"]]>", b"&lt;&#0;", "\u202egnirts".encode()]
    rows = [b"%s\thot\t0\t8\t%d\t0\t1000\t0\texact" % (name, cpu) for name in evil for cpu in range(3)]
    rows += [b"%s\tcold\t0\t8\t%d\t9000\t0\t0\texact" % (name, cpu) for name in evil for cpu in range(3)]
    profile = folder / "p<script>hacked=1<b>"
    profile.write_bytes(b"#linemate-access 1\n#event\t<svg onload=hacked=1>\n" + b"\n".join(rows) + b"\n")
    return report(linemate, folder, tmp / "hostile.html", "--struct", "s", "--header", header.name, "--profile", profile.name,
                  "--root", ".", "--config", "y:-DY=<b>")


def large(linemate, tmp):
    (tmp / "large.h").write_text("struct large {\n\tlong hot;\n\tlong read;\n\tchar all[1 << 20];\n\tlong tail;\n"
                                 "} __attribute__((aligned(64)));\n")
    rows = [f"w\thot\t0\t8\t{c}\t0\t1000\t0\texact\nr\tread\t0\t8\t{c}\t9000\t0\t0\texact" for c in range(4)]
    (tmp / "large.access").write_text("#linemate-access 1\n" + "\n".join(rows) + "\n")
    return report(linemate, tmp, tmp / "large.html", "--struct", "large", "--header", "large.h", "--profile", "large.access",
                  "--root", ".")


# ---- the markup ----

class Markup(html.parser.HTMLParser):
    """What is wrong with it: tags that do not match, ids twice, references to outside or nowhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.refs, self.heads, self.words = [], [], set(), [], [], []
        self.scripts = self.tables = self.scopes = 0
        self.feed(text)
        self.close()
        self.wrong += [f"not closed: {t}" for t in self.open]
        self.wrong += [f"leads nowhere: {r}" for r in self.refs if r not in self.ids]
        self.wrong += [f"h{b} behind h{a}" for a, b in zip(self.heads, self.heads[1:]) if b > a + 1]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.wrong += [f"handler: {a}" for a in attrs if a.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(int(tag[1]))
        self.scripts += tag == "script"
        self.tables += tag == "table"
        self.scopes += tag == "th" and "scope" in attrs
        if tag in ("img", "iframe", "object", "embed", "base", "form"):
            self.wrong.append(f"element: {tag}")
        if "id" in attrs and attrs["id"] in self.ids:
            self.wrong.append(f"twice: {attrs['id']}")
        self.ids.add(attrs.get("id"))
        self.refs += attrs.get("aria-labelledby", "").split()
        for place in ("href", "src", "action", "poster"):
            to = attrs.get(place, "#main")
            if to.startswith("#"):
                self.refs.append(to[1:])
            elif not to.startswith("data:"):
                self.wrong.append(f"outside: {to}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"closes nothing: {tag}")

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


def judge_markup(path):
    raw = path.read_bytes()
    text = raw.decode()
    m = Markup(text)
    name = path.name
    expect(f"{name}: under 1 MB", len(raw) < 1_000_000, len(raw))
    expect(f"{name}: sound, one script, nothing from outside", not m.wrong and m.scripts == 1, (m.wrong[:5], m.scripts))
    expect(f"{name}: its style fetches nothing", not re.search(r"@import|url\(", text.split("<style>")[1].split("</style>")[0]))
    expect(f"{name}: no control codes", not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text))
    expect(f"{name}: tables with heads", m.tables >= 4 and m.scopes > 2 * m.tables, (m.tables, m.scopes))
    return "".join(m.words)


def judge_words(path, words):
    said = judge_markup(path)
    for word in words:
        expect(f"{path.name}: says {word!r}", word in said)


# ---- the browser ----

def judge_picture(b, name, views, width):
    """In every configuration: the pair joined under its members, the moved field linked from where it was to where it goes."""
    for v in range(views):
        if views > 1:
            b.ask(f"document.querySelector('.chooser input[value=v{v}]').click()")
        expect(f"{name} {width}: v{v} is the one shown", b.ask("look.shown()") == [f"v{v}"], b.ask("look.shown()"))
        wrong = b.ask(f"look.pairs('v{v}')")
        expect(f"{name} {width}: v{v} joins the pair", wrong == [], wrong)
        wrong = b.ask(f"look.links('v{v}')")
        expect(f"{name} {width}: v{v} links what moves", wrong == [], wrong)
    expect(f"{name} {width}: no wider than the window", b.ask("document.documentElement.scrollWidth <= innerWidth"))


def judge_contrast(b, name, theme):
    b.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    b.ask("document.querySelector('.side .cell').click()")
    seen, low = b.ask("look.contrast()")
    expect(f"{name} {theme}: texts with a contrast of 4.5 at least", seen > 100 and low == [], (seen, low))


def focus_on_field(b):
    for _ in range(60):
        b.key("Tab")
        if b.ask("document.activeElement.classList.contains('cell')"):
            return True
    return False


def judge_keys(b, name, views):
    expect(f"{name}: Tab reaches a field", focus_on_field(b))
    expect(f"{name}: it is the moved one, of which all is said", b.ask("document.activeElement.classList.contains('moves')") and
           re.search(r"line \d+.*reads.*writes?", b.ask("document.activeElement.ariaLabel")) is not None)
    expect(f"{name}: its details are shown", b.ask("look.card()") and "Touched by" in b.ask("look.card()"), b.ask("look.card()"))
    first = b.ask("document.activeElement.dataset.f")
    b.key("Escape")
    expect(f"{name}: Escape closes them", not b.ask("look.card()") and b.ask("document.activeElement.dataset.f") == first)
    b.key("ArrowLeft")
    expect(f"{name}: an arrow walks to another field and shows it", b.ask("document.activeElement.dataset.f") != first and
           b.ask("look.card()"), b.ask("document.activeElement.outerHTML"))
    b.key("ArrowRight")
    expect(f"{name}: and back", b.ask("document.activeElement.dataset.f") == first)
    above = b.ask("look.line()")
    b.key("ArrowUp")
    expect(f"{name}: up is another line", b.ask("look.line()") == above - 1, (above, b.ask("look.line()")))
    b.key("ArrowDown")
    b.key("Enter")
    expect(f"{name}: Enter goes into the details", b.ask("document.activeElement.id") == "card")
    b.key("Tab")
    expect(f"{name}: where there is a button", b.ask("document.activeElement.textContent") == "Close")
    b.key("Escape")
    expect(f"{name}: Escape leads back", b.ask("document.activeElement.dataset.f") is not None and not b.ask("look.card()"))
    b.key("Tab")
    expect(f"{name}: one Tab leaves the lines", b.ask("document.activeElement.closest('[data-side=a]') !== null"))
    if views > 1:
        b.ask("document.querySelector('.chooser input').focus()")
        b.key("ArrowRight")
        expect(f"{name}: an arrow chooses the next configuration", b.ask("look.shown()") == ["v1"])
        expect(f"{name}: whose moved field is linked", b.ask("look.links('v1')") == [])


def judge_pointer(b, name):
    x, y = b.ask("look.middle('.side .cell.moves')")
    b.mouse(x, y)
    expect(f"{name}: pointing shows functions and CPUs", b.ask("look.soon()") and "CPU" in b.ask("look.card()"), b.ask("look.card()"))
    b.mouse(x, y, click=True)
    b.mouse(2, 2)
    expect(f"{name}: a tap keeps them", b.ask("look.soon()"))
    b.mouse(2, 2, click=True)
    expect(f"{name}: a tap elsewhere closes them", not b.ask("look.card()"))


def judge_print(b, name):
    b.call("Emulation.setEmulatedMedia", media="print")
    b.ask("dispatchEvent(new Event('beforeprint'))")
    expect(f"{name}: printed, the pair is joined and the move linked", b.ask("look.pairs('v0').concat(look.links('v0'))") == [],
           b.ask("look.pairs('v0').concat(look.links('v0'))"))
    expect(f"{name}: printed, nothing is wider than the paper", b.ask("look.wider(720)") == [], b.ask("look.wider(720)"))
    shoot(b, f"{name}-print")
    b.ask("dispatchEvent(new Event('afterprint'))")


def shoot(b, name):
    if os.environ.get("LM_SHOTS"):
        pathlib.Path(os.environ["LM_SHOTS"]).mkdir(parents=True, exist_ok=True)
        b.picture(pathlib.Path(os.environ["LM_SHOTS"]) / f"{name}.png")


def visit(b, path, width, dark=False):
    b.open(path, width, dark=dark)
    b.ask(SCRIPT)
    shoot(b, f"{path.stem}-{width}-{'dark' if dark else 'light'}")


def content(b, name):
    said = b.complaints()
    expect(f"{name}: the console is silent, nothing is fetched", said == [] and len(b.requests()) <= 2, (said, b.requests()))


def judge_in_browser(program, flag, deb, evil, big):
    b = browser.Browser(program)
    try:
        for path, views in ((flag, len(CONFIGS)), (deb, 1)):
            name = path.stem
            for width in (400, 1400):
                visit(b, path, width, dark=width == 400)
                judge_picture(b, name, views, width)
                content(b, f"{name} {width}")
            for dark in (False, True):
                visit(b, path, 1400 if dark else 400, dark)
                judge_contrast(b, name, "dark" if dark else "light")
            visit(b, path, 1400)
            judge_keys(b, name, views)
            visit(b, path, 1400)
            judge_pointer(b, name)
            judge_print(b, name)
            content(b, name)
        visit(b, evil, 1400)
        b.ask("look.touch_all()")
        expect("hostile names do nothing", b.ask("typeof hacked") == "undefined")
        expect("hostile names are there to be read", b.ask("document.body.textContent.includes('</script><script>hacked=1</script>')"))
        expect("hostile names make no elements", b.ask("document.querySelectorAll('img, main script, main b i').length") == 0)
        content(b, "hostile")
        visit(b, big, 1400)
        expect("a megabyte is folded", b.ask("document.querySelectorAll('.line').length < 700 && look.pairs('v0').length == 0"),
               b.ask("look.pairs('v0')"))
        content(b, "large")
    finally:
        b.close()


def main():
    linemate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        pages = [make(linemate, tmp) for make in (flagship, debian, hostile, large)]
        judge_words(pages[0], ["memory_events_local[8].counter", "__memcg_memory_event", "CPU 0-3", "vmstats_percpu goes from behind "
                               "kmemcg_id to behind oom_group", "no order costs less than", "True sharing", "dropped",
                               "+\tstruct memcg_vmstats_percpu __percpu *vmstats_percpu;"])
        judge_words(pages[1], ["objcg", "starts a line now (barrier)", "True sharing", "4,941,029"])
        judge_words(pages[2], ["</script><script>hacked=1</script>", "\\xff", "<svg onload=hacked=1>"])
        judge_words(pages[3], ["nothing to see"])
        program = browser.find()
        if program:
            judge_in_browser(program, *pages)
        else:
            print("no chromium but perhaps a snap, which sees no files of ours: the pages were not opened")
    print("FAILED" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
