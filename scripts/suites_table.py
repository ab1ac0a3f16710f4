"""Writes the scoreboard of suites.sh from the files that it left: suites_table.py RESULTS > README.md.

The kind of a case that does not pass is told by suites_notes.txt, else by its reason.
"""

import collections
import datetime
import os
import re
import sys

SUITES = ("numba-cuda", "cupy", "pycuda", "tinygrad", "zluda", "cuda-samples", "libcudacxx", "cub")
WORST = ("listed", "failed", "refused", "skipped", "passed")
# kind of what is not passed; what its reason or redviz's message says
KINDS = (
    ("how it is run", r"CalledProcessError.*gcc|No module named 'test\.|has no attribute 'row_stack'"),
    ("after a fault", r"illegal memory access"),
    ("time limit", r"time limit|was stopped after|exit status (124|137)"),
    ("textures and surfaces", r"[Tt]exture|[Ss]urface|cudaArray|Malloc(3D)?Array|\btex\.|\bsu(ld|st)\b"),
    ("memory pools", r"memory pool"),
    ("graphs", r"cuda(Device\w*)?Graph"),
    ("launches by kernels (CDP)", r"device-side|CDP\b|__cudaCDP|cudadevrt|cudaLaunchDevice|cudaGetParameterBuffer"),
    ("machine code", r"machine code|cubin|LTO|NO_BINARY_FOR_GPU"),
    ("several GPUs", r"several GPUs|more than one device"),
    ("form of PTX", r"INVALID_PTX|not emulated"),
    ("crash", r"crash|signal"),
    ("wrong value", r"wrong value|not equal|Mismatch|Not equal"),
)


def read_notes():
    """(suite, expression of the case, kind, why) of each line of suites_notes.txt."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suites_notes.txt")
    with open(path, encoding="utf-8") as file:
        rows = [line.strip().split(" | ") for line in file if line.strip() and not line.startswith("#")]
    return [(suite, re.compile(case), kind, why) for suite, case, kind, why in rows]


NOTES = read_notes()


def explain(suite, case, reason):
    """The kind of a case that does not pass, and why."""
    for noted, pattern, kind, why in NOTES:
        if noted == suite and pattern.search(case):
            return kind, why
    return next((kind for kind, pattern in KINDS if re.search(pattern, reason)), "other"), reason


def message_of(path):
    """What redviz says of the run of a file: the first call that it lacks (all programs of NVRTC make one of them, all
    of textures another), else its last message; that of a time limit stands in the report."""
    said = ""
    if os.path.exists(path + ".out"):
        with open(path + ".out", encoding="utf-8", errors="replace") as file:
            for lacked in re.findall(r"note: (\w+) is not emulated", file.read()):
                if lacked not in ("cuGetExportTable", "cudaCreateChannelDesc"):
                    return lacked + " is not emulated"
    for end, start in ((".err", "redviz: "), (".out", "program was stopped after")):
        if os.path.exists(path + end):
            with open(path + end, encoding="utf-8", errors="replace") as file:
                said = next((line.strip() for line in reversed(list(file)) if line.startswith(start)), said)
    return re.sub(r" \(--time-limit.*|;.*", "", said.removeprefix("redviz: "))


def cases_of(folder, name):
    """case: (result, reason) of one file; a test with subtests counts once, by the worst of them."""
    path = os.path.join(folder, name)
    message = message_of(path)
    rows = []
    if os.path.exists(path + ".tsv"):
        with open(path + ".tsv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
    cases = {}
    for result, case, reason in rows:
        if case not in cases or cases[case][0] == "listed" or WORST.index(result) < WORST.index(cases[case][0]):
            if result != "listed" or case not in cases:
                cases[case] = (result, reason)
    if not cases:
        cases = {name: ("failed", message or "no test ran")}
    for case, (result, reason) in cases.items():
        if result == "listed":
            stopped = message if "was stopped after" in message else "not reached: " + (message or "the time limit")
            cases[case] = ("failed", stopped)
        elif "INVALID_PTX" in reason:
            cases[case] = ("refused", reason)
        elif result == "failed" and len(cases) == 1 and message and "wrong value" not in reason:
            cases[case] = ("refused" if "not emulated" in message else "failed", message)
    return cases


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return "%s, %d cores" % (model[1] if model else os.uname().machine, os.cpu_count())


def reasons(cases):
    kinds = collections.Counter(kind for _, kind, _ in cases)
    return ", ".join("%d %s" % (count, kind) for kind, count in kinds.most_common()) or "0"


def main():
    results = sys.argv[1]
    rows, notes = [], []
    for suite in SUITES:
        folder = os.path.join(results, suite)
        files = sorted(name[: -len(".seconds")] for name in os.listdir(folder) if name.endswith(".seconds")) \
            if os.path.isdir(folder) else []
        if not files:
            continue
        with open(folder + ".revision", encoding="utf-8") as file:
            revision = file.read().strip()
        with open(folder + ".files", encoding="utf-8") as file:
            of = "%d of %d" % (len(files), len(file.readlines()))
        seconds, found = 0, collections.defaultdict(list)
        for name in files:
            with open(os.path.join(folder, name + ".seconds"), encoding="utf-8") as file:
                seconds += int(file.read())
            for case, (result, reason) in cases_of(folder, name).items():
                case = name + case if case.startswith("::") else case
                case = name + " " + case if case == "collection" else case
                found[result].append((case, *explain(suite, case, reason)))
        count = sum(len(found[result]) for result in ("passed", "refused", "failed"))
        rows.append("| %s | %s | %s | %d | %d | %s | %s | %d | %d |" % (
            suite, revision, of, count, len(found["passed"]), reasons(found["refused"]), reasons(found["failed"]),
            len(found["skipped"]), seconds))
        notes.append((suite, found))
    print("# Public test suites without a GPU\n")
    print("What `make suites SUITES=FOLDER` gave on %s (%s); scripts/suites.sh says what FOLDER holds. Nothing of the"
          % (datetime.date.today().isoformat(), machine()))
    print("suites is part of redviz. Cases are the tests of a suite; a test with subtests counts once. Those that the suite")
    print("itself skips, that its own build or ptxas refuses, or whose expectation suites.sh cannot read are not among them.")
    print("Seconds are the sum over files, two at a time.\n")
    print("| suite | revision | files | cases | passed | refused | failed | skipped | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    for suite, found in notes:
        rest = [(result, *case) for result in ("refused", "failed") for case in found[result]]
        if rest:
            print("\n## What remains of %s\n" % suite)
            for (result, kind, reason), cases in group(rest):
                names = ", ".join(case for case in cases[:3]) + (" and %d more" % (len(cases) - 3) if len(cases) > 3 else "")
                print("- %s, %s: %s: %s" % (result, kind, names, reason.replace("`", "'")))


def group(rest):
    """Cases with one result and one reason, together; numbers and addresses in a reason do not tell two apart."""
    groups = collections.OrderedDict()
    for result, case, kind, reason in rest:
        key = (result, kind, re.sub(r"0x[0-9a-f]+|\d+", "N", reason))
        groups.setdefault(key, ((result, kind, reason), []))[1].append(case)
    return groups.values()


main()
