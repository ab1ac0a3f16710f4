"""A headless Firefox, driven over a WebSocket in the protocol WebDriver BiDi. The standard library is enough.

It has the methods of the Chromium of browser.py, except window().
"""

import base64
import itertools
import json
import os
import re
import socket
import struct
import subprocess
import time

from browser import Browser

KEYS = {"Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
CONTINUED, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


class WebSocket:
    """Messages to and from a server on this machine (RFC 6455)."""

    def __init__(self, port, path, seconds):
        self.socket, self.buffer = socket.create_connection(("127.0.0.1", port), seconds), b""
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
                             % (path, port, base64.b64encode(os.urandom(16)).decode())).encode())
        while b"\r\n\r\n" not in self.buffer:
            self._read()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 101"):
            raise OSError(head.decode(errors="replace"))

    def close(self):
        self.socket.close()

    def _read(self):
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise EOFError
        self.buffer += piece

    def _take(self, count):
        while len(self.buffer) < count:
            self._read()
        piece, self.buffer = self.buffer[:count], self.buffer[count:]
        return piece

    def send(self, content, kind=TEXT):
        length, mask = len(content), os.urandom(4)
        if length < 126:
            head = struct.pack(">BB", 128 | kind, 128 | length)
        elif length < 1 << 16:
            head = struct.pack(">BBH", 128 | kind, 128 | 126, length)
        else:
            head = struct.pack(">BBQ", 128 | kind, 128 | 127, length)
        self.socket.sendall(head + mask + bytes(a ^ b for a, b in zip(content, itertools.cycle(mask))))

    def receive(self, seconds):
        """The next message; TimeoutError, or EOFError once the server has gone."""
        self.socket.settimeout(max(0.01, seconds))
        message = b""
        while True:
            first, length = self._take(2)
            if length >= 126:
                length = int.from_bytes(self._take(2 if length == 126 else 8), "big")
            content, kind = self._take(length), first & 15
            if kind == CLOSE:
                raise EOFError
            if kind == PING:
                self.send(content, PONG)
            elif kind in (CONTINUED, TEXT):
                message += content
                if first & 128:
                    return message


def plain(value):
    """A value of the protocol as one of Python."""
    return [plain(one) for one in value["value"]] if value["type"] == "array" else value.get("value")


class Firefox(Browser):
    NAME, PROGRAMS = "Firefox", ("firefox-esr", "firefox")

    @classmethod
    def find(cls):
        """The path of the program, or None. A snap (Ubuntu's `firefox`) cannot use a profile in /tmp, so it does not count."""
        path = super().find()
        if path:
            with open(path, "rb") as file:
                head = file.read(4096)
            if "/snap" in os.path.realpath(path) or (head.startswith(b"#!") and b"snap" in head):
                return None
        return path

    def __init__(self, limit_seconds=60):
        super().__init__(limit_seconds)
        arguments = ["--headless", "--remote-debugging-port=0", "--remote-allow-system-access", "--no-remote", "--profile", self.profile]
        self.process = subprocess.Popen([self.find(), *arguments, "about:blank"], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env=dict(os.environ, HOME=self.profile))
        self.socket = WebSocket(self._port(), "/session", limit_seconds)
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])
        self.page = self.call("browsingContext.getTree")["contexts"][0]["context"]
        # The window around the page: its scripts can change preferences.
        self.frame = self.call("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"][0]["context"]

    def _port(self):
        """The port on which it listens, once it has said so."""
        end = time.monotonic() + self.limit_seconds
        while True:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                found = re.search(r"WebDriver BiDi listening on ws://[^\n]*:(\d+)\n", log.read())
            if found:
                return int(found[1])
            if self.process.poll() is not None or time.monotonic() > end:
                self.fail("it does not start")
            time.sleep(0.05)

    def close(self):
        self.call("browser.close")
        self.socket.close()
        self.end()

    def _take(self, message):
        method, of = message.get("method"), message.get("params", {})
        if method == "network.beforeRequestSent":
            self.requests.append(of["request"]["url"])
        elif method == "log.entryAdded":
            self.complaints.append("%s: %s" % (of["level"], (of["text"] or "")[:1000]))

    def call(self, method, **arguments):
        self.number += 1
        deadline = time.monotonic() + self.limit_seconds
        try:
            self.socket.send(json.dumps({"id": self.number, "method": method, "params": arguments}).encode())
            while True:
                message = json.loads(self.socket.receive(deadline - time.monotonic()))
                if message.get("id") == self.number:
                    break
                self._take(message)
        except TimeoutError:
            self.fail(method + ": it does not answer")
        except (EOFError, ConnectionError):
            self.fail(method + ": it has ended")
        if message["type"] == "error":
            self.fail("%s: %s" % (method, message["message"]))
        return message["result"]

    def _run_in(self, context, expression):
        answer = self.call("script.evaluate", expression=expression, target={"context": context}, awaitPromise=True)
        if answer["type"] == "exception":
            self.fail("%s: %s" % (expression[:500], answer["exceptionDetails"]["text"]))
        return plain(answer["result"])

    def run(self, expression):
        """The value of a JavaScript expression in the page."""
        return self._run_in(self.page, expression)

    def look(self, columns, rows, scheme="dark", phone=False):
        """Sets the size of the window in CSS pixels, the preferred colour scheme, and whether it is pointed at by a finger."""
        # Pointers: 1: coarse, 2: fine, 4: can hover. Schemes: 0: dark, 1: light.
        for name, value in (("ui.primaryPointerCapabilities", 1 if phone else 6), ("ui.allPointerCapabilities", 1 if phone else 6),
                            ("layout.css.prefers-color-scheme.content-override", int(scheme != "dark"))):
            self._run_in(self.frame, "Services.prefs.setIntPref('%s', %d)" % (name, value))
        self.call("browsingContext.setViewport", context=self.page, viewport={"width": columns, "height": rows},
                  devicePixelRatio=2 if phone else 1)

    def navigate(self, url):
        self.call("browsingContext.navigate", context=self.page, url=url, wait="complete")

    def _act(self, kind, *actions, **more):
        self.call("input.performActions", context=self.page, actions=[{"type": kind, "id": kind, "actions": actions, **more}])

    def press(self, key, text=None):
        """Presses a key, named as in KeyboardEvent.key."""
        value = KEYS.get(key, text or key)
        self._act("key", {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value})

    def _point(self, x, y, pointer):
        self._act("pointer", {"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                  {"type": "pointerUp", "button": 0}, parameters={"pointerType": pointer})
        self.call("input.releaseActions", context=self.page)

    def click(self, x, y):
        self._point(x, y, "mouse")

    def tap(self, selector):
        """Taps the middle of an element."""
        self._point(*self.place(selector), "touch")

    def picture(self):
        return self.call("browsingContext.captureScreenshot", context=self.page)["data"]
