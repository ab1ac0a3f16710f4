"""A pytest plugin for suites.sh: writes each test as a line "RESULT<TAB>test<TAB>reason" to the file SUITES_RESULTS.

RESULT is listed (collected, at the start), passed, refused, failed or skipped. Lines are written at once, so that
what a time limit or a crash cuts off is known: it is listed and has no other line. After a memory fault a process
has no GPU any more, and a test of more than SUITES_TEST_LIMIT seconds does not end: the run stops, and leaves
SUITES_RESULTS.rest. The next run leaves out what has a result.
"""

import os
import re
import threading

import pytest

# What redviz says of a thing that it does not emulate, by its message or by the error that the program is given.
REFUSED = re.compile(r"not emulated|NOT_SUPPORTED|NotSupported|not supported|needs machine code", re.IGNORECASE)

FAULT = re.compile(r"illegal memory access|ILLEGAL_ADDRESS|misaligned address|MISALIGNED")


def write(result, test, reason=""):
    line = "\t".join((result, test, " ".join(reason.split())[:160]))
    with open(os.environ["SUITES_RESULTS"], "a", encoding="utf-8") as file:
        file.write(line + "\n")


@pytest.fixture(scope="class")
def initialize_from_pytest_config():
    """Numba's own conftest.py, which its wheel lacks, defines this fixture: it sets what failing tests print."""


def pytest_collection_modifyitems(items):
    """SUITES_PART is K.N: every Nth test from the Kth on, without those that have a result."""
    first, step = map(int, os.environ.get("SUITES_PART", "0.1").split("."))
    done = tests_done()
    items[:] = [item for item in items[first::step] if item.nodeid not in done]
    for item in items:
        write("listed", item.nodeid)


def tests_done():
    if not os.path.exists(os.environ["SUITES_RESULTS"]):
        return set()
    with open(os.environ["SUITES_RESULTS"], encoding="utf-8") as file:
        rows = [line.split("\t") for line in file]
    return {row[1] for row in rows if row[0] != "listed"}


def ask_for_rest():
    open(os.environ["SUITES_RESULTS"] + ".rest", "w", encoding="utf-8").close()


def pytest_runtest_teardown(item):
    if os.path.exists(os.environ["SUITES_RESULTS"] + ".rest"):
        item.session.shouldstop = "memory fault"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    limit = int(os.environ["SUITES_TEST_LIMIT"])

    def stop():
        write("failed", item.nodeid, "was stopped after %d s" % limit)
        ask_for_rest()
        os._exit(1)

    timer = threading.Timer(limit, stop)
    timer.daemon = True
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()


def pytest_collectreport(report):
    if report.failed:
        write("failed", report.nodeid or "collection", "cannot be imported: " + reason_of(report))


def reason_of(report):
    text = report.longreprtext
    errors = re.findall(r"^E\s+(\S.*)$", text, re.MULTILINE)
    said = [line for line in errors if REFUSED.search(line)] or errors
    return said[0] if said else (text.splitlines() or [""])[-1]


def pytest_runtest_logreport(report):
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(getattr(report, "wasxfail", ""))
        write("skipped", report.nodeid, reason)
    elif report.failed:
        reason = reason_of(report)
        if FAULT.search(report.longreprtext):
            ask_for_rest()
        write("refused" if REFUSED.search(reason) else "failed", report.nodeid, reason)
    elif report.when == "call":
        write("passed", report.nodeid)
