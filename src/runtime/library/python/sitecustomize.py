"""What Python programs need to run on redviz: PTX with line numbers in place of machine code.

Python imports this file at its start, because `redviz -- python3 FILE.py` puts its folder in front of PYTHONPATH. It sets
what Triton, Numba and CuPy read from the environment, and changes three modules as they are imported:

    numba.cuda.decorators   @cuda.jit has lineinfo=True
    cuda.bindings._internal.nvjitlink
                            has no function, so that cuda.core links with the driver, whose linker keeps PTX
    pycuda.compiler         SourceModule compiles to PTX whose lines are those of the .py file

A sitecustomize.py that this one hides is imported after it.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.dirname(HERE)
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "redviz", "python")


def set_environment():
    # ptxas: its --version is part of the key of Triton's cache, so that no cached machine code is taken
    os.environ["TRITON_PTXAS_PATH"] = os.path.join(LIBRARY, "ptxas")
    os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = os.path.join(LIBRARY, "ptxas")
    os.environ["TRITON_LIBCUDA_PATH"] = LIBRARY
    # the key of Numba's cache does not tell PTX from machine code
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(CACHE, "numba")
    os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
    os.environ.setdefault("CUPY_COMPILE_WITH_PTX", "1")


def change_numba(module):
    jit = module.jit

    @functools.wraps(jit)
    def jit_with_lines(*args, **options):
        debug = options.get("debug")
        if debug is None:
            debug = module.config.CUDA_DEBUGINFO_DEFAULT
        if len(args) < 8 and not debug:
            options.setdefault("lineinfo", True)
        return jit(*args, **options)

    module.jit = jit_with_lines


def find_text(source):
    """The name and the line of a text in the Python file that compiles it; None: it is not written there."""
    frame = sys._getframe(2)
    while frame:
        name = frame.f_code.co_filename
        try:
            with open(name, encoding="utf-8") as file:
                before, found, _ = file.read().partition(source)
        except (OSError, UnicodeDecodeError):
            found = ""
        if found:
            return os.path.abspath(name), before.count("\n") + 1
        frame = frame.f_back
    return None


def keep_text(source):
    """Writes a text to a file that outlives the compilation."""
    import hashlib

    folder = os.path.join(CACHE, "pycuda")
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, hashlib.sha256(source.encode()).hexdigest()[:16] + ".cu")
    with open(name, "w", encoding="utf-8") as file:
        file.write(source)
    return name, 1


def find_nvcc():
    """The compiler of the wheel nvidia-cuda-nvcc, unless there is one in PATH."""
    import shutil

    for folder in sys.path if not shutil.which("nvcc") else []:
        nvcc = os.path.join(folder, "nvidia", "cu13", "bin")
        if os.path.exists(os.path.join(nvcc, "nvcc")):
            os.environ["PATH"] = os.environ.get("PATH", "") + os.pathsep + nvcc
            return


def change_pycuda(module):
    find_nvcc()
    compile_to = module.compile

    @functools.wraps(compile_to)
    def compile_to_ptx(source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, *rest, **named):
        source = str(source)
        name, line = find_text(source) or keep_text(source)
        options = list(module.DEFAULT_NVCC_FLAGS if options is None else options)
        if "-lineinfo" not in options:
            options.append("-lineinfo")
        head, tail = ("", "") if no_extern_c else ('extern "C" {\n', "\n}\n")
        source = '%s#line %d "%s"\n%s%s' % (head, line, name, source, tail)
        if len(rest) > 5:
            rest = rest[:5]
        named["target"] = "ptx"
        return compile_to(source, nvcc, options, keep, True, *rest, **named)

    module.compile = compile_to_ptx


def change_nvjitlink(module):
    """Numba and cuda.core ask for this function, and for nothing else if it is missing."""
    module._inspect_function_pointer = lambda name: 0


CHANGES = {
    "numba.cuda.decorators": change_numba,
    "cuda.bindings._internal.nvjitlink": change_nvjitlink,
    "pycuda.compiler": change_pycuda,
}


class Loader(importlib.abc.Loader):
    """The loader of a module, which changes it once it is loaded."""

    def __init__(self, loader, change):
        self.loader = loader
        self.change = change

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.change(module)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.is_busy = False

    def find_spec(self, name, path=None, target=None):
        if name not in CHANGES or self.is_busy:
            return None
        self.is_busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_busy = False
        if spec and spec.loader:
            spec.loader = Loader(spec.loader, CHANGES[name])
        return spec


def import_hidden():
    """The sitecustomize.py that Python would have imported."""
    rest = [folder for folder in sys.path if os.path.abspath(folder or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if os.environ.get("REDVIZ_PROGRAM"):
    import warnings

    set_environment()
    sys.meta_path.insert(0, Finder())
    warnings.filterwarnings("ignore", message=".*nvjitlink.*", category=RuntimeWarning)
import_hidden()
