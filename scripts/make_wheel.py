#!/usr/bin/env python3
"""Packs an installed tree as a wheel: make_wheel.py ROOT OUT  (make wheel calls it)

ROOT/bin, lib and share go into the package redviz, beside src/python; the manual page and the completions go where
those of the environment belong. The tag names the newest glibc symbol that is used. The same tree gives the same bytes.
"""

import base64
import glob
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile

VERSION, DATE = re.findall(r'#define REDVIZ_VERSION\w* +"(.*)"', open("src/base/version.h").read())
INFO = "redviz-%s.dist-info" % VERSION
ENVIRONMENT = ("share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")
# What NVRTC needs to compile kernels that include headers of CUDA.
CUDA = ["nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl"]
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"} # as readelf names them
LIBRARIES = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+$|ld-linux.*")
# Terminals, for machines without descriptions of them.
TERMINALS = ["alacritty", "ansi", "dumb", "linux", "rxvt", "rxvt-unicode-256color", "screen", "screen-256color", "tmux",
             "tmux-256color", "vt100", "vt220", "xterm", "xterm-256color", "xterm-color"]

METADATA = """Metadata-Version: 2.4
Name: redviz
Version: {version}
Summary: Shows step by step, in a terminal, how a CUDA reduction kernel really executes
License-Expression: MIT
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.8
Provides-Extra: cuda
{cuda}Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: redviz
Root-Is-Purelib: false
Tag: {tag}
"""


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def tag_of(programs):
    """The platform of the programs; they may need nothing but glibc."""
    newest = 0
    for program in programs:
        for library in re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "-dW", program)):
            if not LIBRARIES.match(library):
                sys.exit("make_wheel: %s needs %s" % (program, library))
        symbols = re.findall(r"GLIBC_2\.(\d+)", output("readelf", "-VW", program))
        newest = max([newest, *map(int, symbols)])
    machine = re.search(r"Machine:\s+(.+)", output("readelf", "-h", programs[0])).group(1)
    return "py3-none-manylinux_2_%d_%s" % (newest, MACHINES[machine])


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_of_tree(root):
    """Name in the wheel, content, whether it is executed."""
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, root)
            target = "redviz/" + inside
            if inside.startswith(ENVIRONMENT):
                target = "redviz-%s.data/data/%s" % (VERSION, inside)
            # a wheel holds no links: the program makes those of its CUDA library (src/cli/program_start.c)
            content = b"" if os.path.islink(path) else read(path)
            yield target, content, bool(content) and os.access(path, os.X_OK)


def files_of_package():
    for path in sorted(glob.glob("src/python/*.py")):
        yield "redviz/" + os.path.basename(path), read(path), False
    for name in TERMINALS:
        for folder in "/lib/terminfo", "/usr/share/terminfo", "/etc/terminfo":
            path = os.path.join(folder, name[0], name)
            if os.path.exists(path):
                yield "redviz/share/terminfo/%s/%s" % (name[0], name), read(path), False
                break


def files_of_info(tag):
    cuda = "".join('Requires-Dist: %s (>=13,<14) ; extra == "cuda"\n' % name for name in CUDA)
    readme = read("README.md").decode()
    yield "METADATA", METADATA.format(version=VERSION, cuda=cuda, readme=readme).encode(), False
    yield "WHEEL", WHEEL.format(tag=tag).encode(), False
    yield "entry_points.txt", b"[console_scripts]\nredviz = redviz:main\n", False
    for name in "LICENSE", "NOTICE":
        yield "licenses/" + name, read(name), False


def write(path, files):
    date = time.strptime(DATE, "%Y-%m-%d")[:3] + (0, 0, 0)
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, is_executed):
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_executed else 0o100644) << 16
            wheel.writestr(entry, content)
        for name, content, is_executed in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (name, digest, len(content))
            add(name, content, is_executed)
        add(INFO + "/RECORD", (record + INFO + "/RECORD,,\n").encode(), False)


def main():
    root, out = sys.argv[1:]
    programs = [os.path.join(root, "bin/redviz"), os.path.join(root, "lib/redviz/cuda/libredviz_cuda.so")]
    tag = tag_of(programs)
    files = [*files_of_tree(root), *files_of_package()]
    files += [(INFO + "/" + name, *rest) for name, *rest in files_of_info(tag)]
    os.makedirs(out, exist_ok=True)
    for old in glob.glob(os.path.join(out, "*.whl")):
        os.remove(old)
    path = os.path.join(out, "redviz-%s-%s.whl" % (VERSION, tag))
    write(path, files)
    print("%s: %.1f MB" % (path, os.path.getsize(path) / 1e6))


main()
