"""A headless Chromium, driven over a pipe in the DevTools protocol. The standard library is enough. Firefox is in firefox.py.

Whatever a page requests, and whatever it or the browser complains about, is kept in `requests` and `complaints`.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time


def target():
    """The target of make that runs this: test-html, test-web, after the folder of the program."""
    return "test-" + os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0])))


def find_axe():
    """The script of axe-core, the checker of accessibility (REDVIZ_AXE, or the PyPI package axe-playwright-python), or None."""
    packaged = (os.path.join(folder, "axe_playwright_python", "axe.min.js") for folder in sys.path)
    return os.environ.get("REDVIZ_AXE") or next((file for file in packaged if os.path.exists(file)), None)


class Browser:
    """What all browsers have. A class for one of them has NAME, PROGRAMS, run(), press(), click(), tap(), look() and so on."""

    @classmethod
    def find(cls):
        """The path of the program, or None."""
        return next(filter(None, map(shutil.which, cls.PROGRAMS)), None)

    def __init__(self, limit_seconds=60):
        self.limit_seconds = limit_seconds
        self.profile = tempfile.mkdtemp(prefix="redviz-%s-" % self.NAME.lower())
        self.log = open(os.path.join(self.profile, "log"), "wb")
        self.number, self.requests, self.complaints = 0, [], []

    def fail(self, text):
        raise SystemExit("%s: %s: %s" % (target(), self.NAME, text))

    def end(self):
        """Waits for the end of the program, and removes its files."""
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path, fragment=""):
        self.navigate("about:blank")
        self.requests, self.complaints = [], []
        self.navigate("file://" + os.path.abspath(path) + fragment)

    def place(self, selector):
        """Scrolls to an element; returns the place of its middle."""
        return self.run("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'}); const r = "
                        "e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()" % json.dumps(selector))

    def axe(self):
        """What axe-core finds wrong with the page."""
        with open(find_axe(), encoding="utf-8") as file:
            self.run(file.read() + "; 0")
        return self.run("axe.run().then((all) => all.violations.map((one) => one.id + ': ' + one.help + ' ' + "
                        "one.nodes[0].html.slice(0, 200)))")

    def screenshot(self, path):
        image = base64.b64decode(self.picture())
        with open(path, "wb") as file:
            file.write(image)
        return len(image)


class Chromium(Browser):
    NAME, PROGRAMS = "Chromium", ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

    def __init__(self, limit_seconds=60):
        if not self.find():
            raise SystemExit(target() + ": no Chromium: scripts/deps.sh html installs it")
        super().__init__(limit_seconds)
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()
        # The protocol's pipe is descriptors 3 and 4.
        command = 'exec 3<&%d 4>&%d; exec "$0" "$@"' % (to_browser, from_browser)
        arguments = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
                     "--disable-background-networking", "--user-data-dir=" + self.profile]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")  # Chromium has no sandbox for root
        self.process = subprocess.Popen(["bash", "-c", command, self.find(), *arguments, "about:blank"], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.session, self.loaded = b"", None, False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.to_browser)
        self.end()
        os.close(self.from_browser)

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.from_browser, 1 << 20) if ready else b""
            if not piece:
                self.fail("it does not answer" if not ready else "it has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _take(self, message):
        method, of = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(of["exceptionDetails"])[:1000])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append("console: " + json.dumps(of["args"])[:1000])
        elif method == "Log.entryAdded":
            self.complaints.append("log: " + json.dumps(of["entry"])[:1000])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **arguments):
        self.number += 1
        request = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + self.limit_seconds
        while True:
            message = self._read(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    self.fail("%s: %s" % (method, message["error"]["message"]))
                return message["result"]
            self._take(message)

    def look(self, columns, rows, scheme="dark", phone=False):
        """Sets the size of the window in CSS pixels, and the preferred colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=columns, height=rows, deviceScaleFactor=2 if phone else 1,
                  mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def navigate(self, url):
        self.loaded = False
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + self.limit_seconds
        while not self.loaded:
            self._take(self._read(deadline))

    def run(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            self.fail("%s: %s" % (expression, json.dumps(answer["exceptionDetails"])[:500]))
        return answer["result"].get("value")

    def press(self, key, text=None):
        """Presses a key, named as in KeyboardEvent.key."""
        codes = {"Backspace": 8, "Tab": 9, "Enter": 13}  # editing keys are identified by their codes
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key}
            if key in codes:
                event["windowsVirtualKeyCode"] = codes[key]
            if kind == "keyDown" and (text or len(key) == 1):
                event["text"] = text or key
            self.call("Input.dispatchKeyEvent", **event)

    @contextlib.contextmanager
    def window(self, title):
        """Drives another window, whose title begins so, within `with`."""
        first, self.session = self.session, None
        all_windows = self.call("Target.getTargets")["targetInfos"]
        ids = [one["targetId"] for one in all_windows if one["type"] == "page" and one["title"].startswith(title)]
        if len(ids) != 1:
            self.fail("%d windows are called %s: %s" % (len(ids), title, [one["title"] for one in all_windows]))
        self.session = self.call("Target.attachToTarget", targetId=ids[0], flatten=True)["sessionId"]
        for domain in ("Runtime", "Log"):
            self.call(domain + ".enable")
        yield
        self.session = first

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector):
        """Taps the middle of an element."""
        x, y = self.place(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self):
        return self.call("Page.captureScreenshot", format="png")["data"]
