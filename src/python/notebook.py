"""The magics %redviz and %%redviz of notebooks: the page of --html for a kernel, for the CUDA C++ of a cell, or for a Python
program; with --report, --check and others that print, what they print.

    %load_ext redviz

    %redviz --kernel strided

    %%redviz --args 'in=float[n]:iota, out=float[1]' --n 256
    __global__ void total(const float *in, float *out, int n) { ... }

    %%redviz --at 'softmax#1' -- python3
    import triton ...

The options are those of the program. A program and its arguments after "--" get the cell as their last argument, a file .py.
"""

import html
import os
import shlex
import subprocess
import tempfile

from . import command, environment

FRAME = '<iframe srcdoc="%s" style="width: 100%%; height: %dpx; border: 0"></iframe>'
HEIGHT = 760
REFUSED = 2 # the status for options that cannot be


class Page:
    """What the notebook shows: what the program said, and the page that it wrote, None if none."""

    def __init__(self, said, page):
        self.said, self.page = said, page

    def _repr_html_(self):
        said = "<pre>%s</pre>" % html.escape(self.said) if self.said else ""
        return said + (FRAME % (html.escape(self.page), HEIGHT) if self.page else "")

    def __repr__(self):
        return self.said or "a page of redviz"


def arguments_of(line, cell, folder, has_page):
    """The options of the line, and the cell, if there is one, as a file in the folder."""
    options = shlex.split(line)
    at = options.index("--") if "--" in options else len(options)
    page = ["--html", os.path.join(folder, "page.html")] if has_page else []
    if cell is None:
        return [*page, *options]
    file = os.path.join(folder, "cell.cu" if at == len(options) else "cell.py")
    with open(file, "w", encoding="utf-8") as out:
        out.write(cell)
    if at == len(options):
        return [file, *page, *options]
    return [*page, *options[:at], *options[at:], file]


def run(arguments):
    return subprocess.run(command(arguments), env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")


def magic(line, cell=None):
    """Show how a kernel, or the CUDA C++ of this cell, executes: %redviz OPTIONS, %%redviz [OPTIONS]"""
    with tempfile.TemporaryDirectory(prefix="redviz-") as folder:
        done = run(arguments_of(line, cell, folder, True))
        if done.returncode == REFUSED and "--html" in done.stdout: # these options print text, and make no page
            done = run(arguments_of(line, cell, folder, False))
        file = os.path.join(folder, "page.html")
        page = None
        if os.path.exists(file):
            with open(file, encoding="utf-8") as text:
                page = text.read()
        said = done.stdout.replace(folder + os.sep, "")
    if not said and page is None:
        said = "redviz ended with status %d" % done.returncode
    return Page(said, page)
