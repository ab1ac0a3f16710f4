"""Runs the scripts of this folder by redviz: results, launches, and lines of kernels.

    run.py REDVIZ PYTHON [SCRIPT...]
"""

import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# script; kernels that it launches; of the launch with --at, a source line, if it has any; what --check ends with; a program that it needs
CASES = [
    ("numba_sum.py", ["block_sum"] + 3 * ["gpu_reduce_block_strided"], "block_sum#1",
     "partial[t] += partial[t + stride]", 0, None),
    # PyCUDA's own reduction has no __syncwarp() between its last steps
    ("pycuda_sum.py", ["block_sum", "reduce_kernel_stage1"], "block_sum#1",
     "partial[t] += partial[t + stride];", 1, "nvcc"),
    # CuPy compiles without line numbers
    ("cupy_sum.py", ["block_sum", "squares", "cub::", "cupy_sum"] + 4 * ["cupy_"], "block_sum#1", None, 0, "nvcc"),
    ("triton_rows.py", ["softmax", "layer_norm", "total"], "softmax#1",
     "e = tl.exp(x - tl.max(x, axis=0))", 0, "cc"),
]


def run(redviz, options, python, script):
    command = [redviz, *options, "--", python, os.path.join(HERE, script)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def faults_of(redviz, python, script, kernels, at, line, checked):
    status, text, errors = run(redviz, ["--report", "--at", at], python, script)
    if status != 0 or "PASSED" not in text:
        return ["--report: exit status %d\n%s%s" % (status, text, errors)]
    faults = []
    if "%d launches" % len(kernels) not in text:
        faults.append("not %d launches:\n%s" % (len(kernels), text))
    for kernel in kernels:
        if kernel not in text:
            faults.append("no launch of %s:\n%s" % (kernel, text))
    status, text, errors = run(redviz, ["--report=json", "--at", at], python, script)
    lines = [row for row in json.loads(text)["lines"] if row["text"].strip() == line]
    if line and not any(os.path.basename(row["file"]) == script for row in lines):
        faults.append("--report=json: no line '%s' of %s" % (line, script))
    status, text, errors = run(redviz, ["--check"], python, script)
    if status != checked:
        faults.append("--check: exit status %d, not %d\n%s%s" % (status, checked, text, errors))
    return faults


def main():
    redviz, python, *scripts = sys.argv[1:]
    failed = 0
    for script, kernels, at, line, checked, needed in CASES:
        if scripts and script not in scripts:
            continue
        if needed and not shutil.which(needed):
            print("SKIPPED  %s: needs %s" % (script, needed))
            continue
        faults = faults_of(redviz, python, script, kernels, at, line, checked)
        failed += bool(faults)
        print("%s  %s" % ("FAILED " if faults else "OK     ", script))
        for fault in faults:
            print("    " + fault.replace("\n", "\n    "))
    return 1 if failed else 0


sys.exit(main())
