"""browser.py - a headless Chromium, driven over its debugging pipe with the standard library only.

Messages are JSON, each ended by a NUL: what the browser reads from its file
descriptor 3 and writes to its descriptor 4 (--remote-debugging-pipe).
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--mute-audio", "--force-color-profile=srgb", "--remote-debugging-pipe"]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def find():
    """The program; None where there is none, or only the snap that sees neither our files nor a pipe."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        # Ubuntu's is a link into the snap, or a script that starts it.
        if path and "/snap/" not in os.path.realpath(path) and b"/snap/" not in pathlib.Path(path).read_bytes()[:4096]:
            return path
    return None


class Browser:
    def __init__(self, program):
        self.home = tempfile.TemporaryDirectory()
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        os.set_inheritable(to_read, True)
        os.set_inheritable(back_write, True)
        # A shell moves the pipes to where the browser looks for them.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{back_write}', "sh", program, *FLAGS,
             f"--user-data-dir={self.home.name}", "about:blank"],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.home.name})
        os.close(to_read)
        os.close(back_write)
        self.buffer, self.number, self.events = b"", 0, []
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.back, 1 << 16)
            if not got:
                raise EOFError("the browser has ended")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        ask = {"id": self.number, "method": method, "params": params}
        if self.session:
            ask["sessionId"] = self.session
        os.write(self.to, json.dumps(ask).encode() + b"\0")
        while True:
            got = self.message(30)
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']['message']}")
                return got["result"]
            self.events.append(got)

    def wait(self, method, seconds=30):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.message(seconds))

    def open(self, path, width, height=900, dark=False):
        """The page, at that width and in that theme; what it has said so far is forgotten."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.events = []
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait("Page.loadEventFired")
        self.ask("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def ask(self, script):
        got = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{script[:80]}: {got['exceptionDetails']['exception'].get('description')}")
        return got["result"].get("value")

    def key(self, name, shift=False):
        for kind in ("rawKeyDown", "char", "keyUp"):
            text = "\r" if name == "Enter" else ""
            if kind != "char" or text:
                self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name],
                          modifiers=8 if shift else 0, text=text if kind == "char" else "")

    def mouse(self, x, y, click=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def complaints(self):
        """Errors, warnings and exceptions of the page, and requests that left it."""
        said = []
        for e in self.events:
            method, params = e.get("method"), e.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
            elif method == "Runtime.consoleAPICalled":
                said.append(str(params["args"]))
            elif method == "Log.entryAdded":
                said.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
                said.append("fetched " + params["request"]["url"])
        return said

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def picture(self, path, whole=True):
        """A screenshot of all of the page."""
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def pdf(self, path):
        got = self.call("Page.printToPDF", printBackground=True)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.home.cleanup()
