"""Starts the program beside this package, and registers the magic of notebooks."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The static ncurses searches only Debian's folders; those of other systems, then the descriptions in the wheel.
TERMINFO = ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo", "/usr/local/share/terminfo",
            "/usr/share/lib/terminfo", "/run/current-system/sw/share/terminfo", os.path.join(HERE, "share", "terminfo")]


def command(arguments):
    """The program and its arguments."""
    return [os.path.join(HERE, "bin", "redviz"), *arguments]


def environment():
    folders = [*os.environ.get("TERMINFO_DIRS", "").split(os.pathsep), *TERMINFO]
    return dict(os.environ, TERMINFO_DIRS=os.pathsep.join(folder for folder in folders if folder))


def main():
    os.execve(command([])[0], ["redviz", *sys.argv[1:]], environment())


def load_ipython_extension(shell):
    from . import notebook
    shell.register_magic_function(notebook.magic, "line_cell", "redviz")
