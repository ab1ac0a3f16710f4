#!/usr/bin/env python3
"""Installs the wheel into an empty environment and runs it: check_wheel.py WHEEL

Nothing is downloaded, and no compiler is used: a script takes the place of nvcc. Ends with "N passed, N failed"; status 1 if
a check fails.
"""

import base64
import csv
import hashlib
import io
import os
import pty
import subprocess
import sys
import tempfile
import zipfile

WHEEL = os.path.abspath(sys.argv[1])
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSION = os.path.basename(WHEEL).split("-")[1]

# nvcc for one kernel: fails if the source contains "wrong", as nvcc does.
NVCC = """#!/bin/sh
for word; do
    case $word in *.cu) grep -q wrong "$word" && { echo "$word(2): error: identifier \\"wrong\\" is undefined"; exit 2; } ;; esac
done
while [ $# -gt 0 ]; do [ "$1" = -o ] && cp PTX "$2"; shift; done
exit 0
"""

# A program as Python packages are: one launch by the driver.
PROGRAM = '''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda._handle == ctypes.CDLL("libcudart.so.12")._handle, "the library is loaded twice"
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""
def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    assert status == 0, "%s: %d" % (name, status)
context, module, kernel, out = (ctypes.c_void_p() for _ in range(4))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"store")
call("cuMemAlloc_v2", ctypes.byref(out), ctypes.c_size_t(128))
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(out))
call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, parameters, None)
values = (ctypes.c_int * 32)()
call("cuMemcpyDtoH_v2", values, out, ctypes.c_size_t(128))
assert list(values) == list(range(32))
print("PASSED")
'''

# Stands for IPython's shell.
NOTEBOOK = """
import sys, redviz
class Shell:
    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("line_cell", "redviz")
        self.magic = function
shell = Shell()
redviz.load_ipython_extension(shell)
if len(sys.argv) > 2:
    with open(sys.argv[2]) as cell:
        shown = shell.magic(sys.argv[1], cell.read())
else:
    shown = shell.magic(sys.argv[1])
print(repr(shown))
print(shown._repr_html_())
"""


class Check:
    def __init__(self, folder):
        self.folder = folder
        self.environment = os.path.join(folder, "environment")
        self.passed = self.failed = 0
        self.variables = {"PATH": os.path.join(self.environment, "bin") + ":/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8",
                          "TERM": "xterm-256color", "REDVIZ_CUDA": "/nowhere/libcuda.so.1", "PIP_CONFIG_FILE": "/dev/null"}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def run(self, *words, **variables):
        done = subprocess.run(words, env=dict(self.variables, **variables), cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        return done.returncode, done.stdout

    def that(self, name, is_so, said=""):
        print("  %s   %s" % ("passed" if is_so else "FAILED", name))
        self.passed, self.failed = self.passed + bool(is_so), self.failed + (not is_so)
        if not is_so:
            print("    " + said[:1500] + (" ... " + said[-1500:] if len(said) > 3000 else said[1500:]).replace("\n", "\n    "))

    def says(self, name, texts, *words, status=0, **variables):
        got, said = self.run(*words, **variables)
        self.that(name, got == status and all(text in said for text in texts), "status %d\n%s" % (got, said))


def record(check):
    with zipfile.ZipFile(WHEEL) as wheel:
        info = "redviz-%s.dist-info/" % VERSION
        rows = list(csv.reader(io.StringIO(wheel.read(info + "RECORD").decode())))
        names = [entry.filename for entry in wheel.infolist()]
        check.that("RECORD has every file once", sorted(row[0] for row in rows) == sorted(set(names)) and
                   len(names) == len(set(names)))
        wrong = []
        for name, digest, size in rows:
            content = wheel.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            if name != info + "RECORD" and (digest, size) != ("sha256=" + wanted, str(len(content))):
                wrong.append(name)
        check.that("RECORD has their digests", not wrong, "\n".join(wrong))
        tag = os.path.basename(WHEEL)[:-len(".whl")].split("-", 2)[2]
        check.that("the tag of its name", "Tag: %s\n" % tag in wheel.read(info + "WHEEL").decode())


def terminal(check):
    """The interface opens and ends."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(check.folder)
        os.execvpe("redviz", ["redviz", "--kernel", "interleaved"], check.variables)
    said, is_asked = b"", False
    while True:
        try:
            got = os.read(master, 65536)
        except OSError:
            break
        said += got
        if not got:
            break
        if not is_asked and b"interleaved" in said:
            is_asked = True
            os.write(master, b"q")
    status = os.waitpid(pid, 0)[1]
    check.that("the interface opens in a terminal", is_asked and status == 0, said.decode("utf-8", "replace"))


def shared(check):
    """Kernels and assets of the tree are in the wheel; where the tree is not, nothing is checked."""
    with zipfile.ZipFile(WHEEL) as wheel:
        inside = set(wheel.namelist())
    folders = [os.path.join(TREE, "kernels")]
    folders += [folder for folder, _, _ in os.walk(os.path.join(TREE, "assets")) if folder != os.path.join(TREE, "assets")]
    paths = [os.path.join(folder, name) for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)]
    names = [os.path.relpath(path, TREE) for path in paths if os.path.isfile(path) and not os.path.basename(path).startswith(".")]
    missing = sorted(name for name in names if "redviz/share/redviz/" + name not in inside)
    check.that("every kernel and asset is in it", not missing, "\n".join(missing))


def notebook(check, share):
    script, ptx = check.write("notebook.py", NOTEBOOK), os.path.join(share, "assets/ptx/sequential.ptx")
    python = check.path("environment/bin/python")
    check.write("toolkit/bin/nvcc", NVCC.replace("PTX", ptx), 0o755)
    wrong = check.write("wrong.cu", "__global__ void k(int *out) {\n    *out = wrong;\n}\n")
    toolkit = {"CUDA_HOME": check.path("toolkit")}
    check.says("a cell shows its page", ["a page of redviz\n<iframe srcdoc=\"&lt;!doctype html"], python, script,
               "--entry 'sequential<int,Sum>' --args 'in=int[n]:iota, out=int[grid], n' --n 256",
               os.path.join(share, "kernels/sequential.cu"), **toolkit)
    check.says("an error of a cell is shown", ["cell.cu:2", "<pre>"], python, script, "", wrong, **toolkit)
    check.says("a line shows a page", ["a page of redviz\n<iframe srcdoc"], python, script, "--kernel strided")
    check.says("a line that prints shows no page", ["EMULATED"], python, script, "--kernel strided --report")
    check.says("an error names what was typed", ["--frobnicate: unknown option"], python, script, "--frobnicate")
    cell = os.path.join(share, "kernels/sequential.cu")
    check.says("a cell's report", ["EMULATED"], python, script, "--entry 'sequential<int,Sum>' --args 'in=int[n]:iota, "
               "out=int[grid], n' --n 256 --report", cell, **toolkit)
    program = check.write("program.py", PROGRAM)
    check.says("a Python program shows its launch", ["<iframe srcdoc"], python, script, "--at 1 -- python3", program)


def main():
    with tempfile.TemporaryDirectory(prefix="redviz-wheel-") as folder:
        check = Check(os.path.realpath(folder))
        record(check)
        shared(check)
        subprocess.run([sys.executable, "-m", "venv", check.environment], check=True)
        pip = [check.path("environment/bin/python"), "-m", "pip", "--disable-pip-version-check"]
        check.says("pip installs it", [], *pip, "install", "--no-index", "--no-deps", WHEEL)
        package = check.run(pip[0], "-c", "import os, redviz; print(os.path.dirname(redviz.__file__))")[1].strip()
        share = os.path.join(package, "share/redviz")

        check.says("--version", ["redviz %s\n" % VERSION], "redviz", "--version")
        check.says("python -m redviz", ["redviz %s\n" % VERSION], pip[0], "-m", "redviz", "--version")
        check.says("a report", ["n = 8,192", "expected -74406: ok"], "redviz", "--kernel", "interleaved", "--n", "8192", "--report")
        check.says("a frame", ["interleaved"], "redviz", "--kernel", "interleaved", "--frame")
        lecture = sorted(name for name in os.listdir(os.path.join(share, "assets/lectures")) if name.endswith(".en.md"))[0]
        check.says("a lecture's claims", [], "redviz", "--lecture", lecture[:-len(".en.md")], "--check")
        check.says("a session is saved", [], "redviz", "--kernel", "interleaved", "--n", "64", "--save", "run.redviz", "--report")
        check.says("a session opens", ["interleaved"], "redviz", "run.redviz", "--report")
        check.says("a program runs", ["PASSED", "store"], "redviz", "--report", "--", "python3",
                   check.write("program.py", PROGRAM))
        check.says("bad usage", ["redviz: "], "redviz", "--nosuch", status=2)
        terminal(check)
        notebook(check, share)

        check.says("pip uninstalls it", [], *pip, "uninstall", "-y", "redviz")
        left = [path for path in (package, check.path("environment/bin/redviz"),
                                  check.path("environment/share/man/man1/redviz.1")) if os.path.exists(path)]
        left = [path for path in left if not os.path.isdir(path) or any(files for _, _, files in os.walk(path))]
        check.that("nothing is left", not left, "\n".join(left))
        print("%d passed, %d failed" % (check.passed, check.failed))
        return 1 if check.failed else 0


sys.exit(main())
