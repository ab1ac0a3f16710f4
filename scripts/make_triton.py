"""Compiles kernels/NAME.py with Triton: writes the PTX of all its INSTANCES as one module to standard output.

    python3 -B scripts/make_triton.py kernels/NAME.py ARCHITECTURE

Called by make_ptx.sh. Needs Triton, but no GPU. INSTANCES lists what to compile, as explicit instantiations
do in a .cu: (function, type, the types of its arguments, the values of its constants, and options such as
num_warps). Triton makes a module of each; here they become entries NAME_TYPE of one module.
"""

import importlib.util
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def compile_instance(function, arguments, architecture):
    options = {name: value for name, value in arguments.items() if name not in function.arg_names}
    types = {name: kind for name, kind in arguments.items() if isinstance(kind, str)}
    constants = {name: arguments[name] for name in function.arg_names if name not in types}
    signature = {name: types.get(name, "constexpr") for name in function.arg_names}
    source = ASTSource(fn=function, signature=signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options).asm["ptx"]


def split(ptx):
    """Header, declarations of shared memory, the entry, .file directives, strings that .loc refers to."""
    header = re.search(r"^\.version.*?^\.address_size \d+\n", ptx, re.S | re.M).group()
    shared = re.search(r"^\.extern \.shared .*\n", ptx, re.M)
    entry = re.search(r"^\.visible \.entry .*?^}\n", ptx, re.S | re.M).group()
    files = "".join(re.findall(r"^\s*\.file\s.*\n", ptx, re.M))
    strings = re.search(r"^\s*\.section\s+\.debug_str\s*\{.*?\}\n", ptx, re.S | re.M)
    return header, shared.group() if shared else "", entry, files, strings.group() if strings else ""


def as_instance(entry, name, kind):
    """Renames the entry, and makes its labels unique."""
    entry = re.sub(rf"\b{name}(?=\(|_param_)", f"{name}_{kind}", entry)
    return re.sub(r"\$L__(BB|tmp|func_begin|func_end)(\w+)", rf"$L__\1\2_{kind}", entry)


def main(path, architecture):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    modules, entries = [], []
    for function, kind, arguments in kernels.INSTANCES:
        header, shared, entry, files, strings = split(compile_instance(function, arguments, architecture))
        modules.append((header, shared, files, strings))
        entries.append(as_instance(entry, function.__name__, kind))
    header, shared, files, strings = modules[0]
    for module in modules[1:]:
        if (module[0], module[2], module[3]) != (header, files, strings):
            sys.exit(f"{path}: the instances differ in more than their entries")
        shared = shared or module[1]
    print(header, shared, *entries, files, strings, sep="\n", end="")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
