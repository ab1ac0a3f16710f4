#!/usr/bin/env python3
"""Packs the program for a web page, with the files that it reads, into one page.

make_web.py WASM VERSION PAGE. The page's parts are in web/ and assets/html; each {{name}} in web/page.html is
replaced by the part.
"""

import base64
import gzip
import json
import lzma
import re
import struct
import subprocess
import sys


def pack(wasm):
    """The names and sizes of all files as a line of JSON, then their contents, compressed."""
    names = subprocess.run(["node", "web/assets.js"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    files = [("redviz.wasm", wasm)] + [("redviz/" + name, name) for name in names]
    contents = [open(path, "rb").read() for _, path in files]
    head = json.dumps([[name, len(content)] for (name, _), content in zip(files, contents)], separators=(",", ":"))
    every = head.encode() + b"\n" + b"".join(contents)
    settings = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0, "dict_size": 1 << 24}
    packed = lzma.compress(every, lzma.FORMAT_ALONE, filters=[settings])
    return packed[:5] + struct.pack("<Q", len(every)) + packed[13:]  # in its head, Python leaves the size open


def main():
    wasm, version, page = sys.argv[1:]
    places = {"page.css": "web", "wasi.js": "web", "lzma.js": "web", "worker.js": "web", "page.js": "web", "front.js": "web", "words.js": "web", "editor.js": "web", "frames.js": "assets/html"}
    packed = pack(wasm)

    def part(match):
        name = match.group(1)
        if name == "packed":
            return base64.b64encode(packed).decode()
        if name == "version":
            return version
        if name == "lists":
            return subprocess.run(["node", "web/run.js", wasm, "lists"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return open(places[name] + "/" + name, encoding="utf-8").read()

    text = re.sub(r"{{([a-z.]+)}}", part, open("web/page.html", encoding="utf-8").read())
    with open(page, "w", encoding="utf-8") as out:
        out.write(text)
    print("%s: %.2f MB, %.2f MB compressed" % (page, len(text) / 1e6, len(gzip.compress(text.encode(), 9)) / 1e6))


main()
