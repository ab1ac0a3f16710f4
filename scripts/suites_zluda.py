"""Runs one PTX test of ZLUDA as its mod.rs says: one kernel, an input and the output that it must give.

    suites_zluda.py FOLDER                 the names of the tests (files FOLDER/NAME.ptx)
    suites_zluda.py FOLDER NAME RESULTS    runs one through libcuda; appends "RESULT<TAB>NAME<TAB>reason" to RESULTS

A file for which mod.rs has no input and output is only loaded.
"""

import ctypes
import math
import os
import re
import struct
import sys

FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
           "f16": "e", "f32": "f", "f64": "d"}
TYPES = "|".join(FORMATS)
LAUNCH_BLOCK = {"test_ptx_warp": 64}


def value_of(text):
    """The number that an expression of Rust stands for; ValueError if it is not of the kinds known here."""
    text = re.sub(r"(?:std::)?f(?:32|64)::consts::PI", str(math.pi), text)
    text = re.sub(r"(?:half::)?f(?:16|32|64)::NAN", "nan", text)
    text = re.sub(r"(?:half::)?f(?:16|32|64)::(NEG_)?INFINITY", lambda m: "-inf" if m[1] else "inf", text)
    text = re.sub(r"half::f16::from_f(?:32|64)\(([-0-9.]+)\)", r"\1", text)
    for name in [name for name in FORMATS if name[0] != "f"]:
        bits = int(name[1:])
        most = 2 ** (bits - (name[0] == "i")) - 1
        text = re.sub(name + r"::(?:max_value\(\)|MAX)", str(most), text)
        text = re.sub(name + r"::(?:min_value\(\)|MIN)", str(-most - 1 if name[0] == "i" else 0), text)
    text = re.sub(r"\b(0x[0-9a-fA-F_]+?|0b[01_]+|[0-9][0-9_.]*(?:e-?[0-9]+)?)_?(?:%s)\b" % TYPES, r"\1", text)
    if not re.fullmatch(r"(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_.e]*|nan|inf|[-+*/() ])+", text):
        raise ValueError("the expression '%s' of mod.rs is not understood" % text)
    text = re.sub(r"(?<=[0-9a-fA-F])__(?=[0-9a-fA-F])", "_", text)
    return eval(text, {"__builtins__": {}, "nan": math.nan, "inf": math.inf})


def float_of_bits(found):
    """A call of from_bits, as the number with these bits."""
    form, word = ("<e", "<H") if found[1] == "half::f16" else ("<f", "<I")
    number = struct.unpack(form, struct.pack(word, int(found[2], 0)))[0]
    return "%s::NAN" % found[1] if math.isnan(number) else "%s%s" % (repr(number), found[1][-3:])


def bytes_of(text):
    """The bytes of an array of Rust and the format of its elements."""
    text = re.sub(r"(half::f16|f32)::from_bits\((\w+)\)", float_of_bits, text)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    named = re.findall(r"(?:(?<=[0-9A-Fa-f_.])|\b)(%s)\b" % TYPES, text)
    form = FORMATS[named[0]] if named else "d" if "." in text else "i"
    values = [value_of(part) for part in parts]
    if form == "i" and any(value > 2**31 - 1 for value in values):
        form = "I"
    return b"".join(struct.pack("<" + form, value) for value in values), form


def cases_of(folder):
    """name: (block, input or None, output) as the macros of mod.rs say."""
    with open(os.path.join(folder, "mod.rs"), encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    cases = {}
    for macro, name, arrays in re.findall(r"^(test_ptx\w*)!\(\s*(\w+)\s*(,.*?)?\);", text, re.MULTILINE | re.DOTALL):
        found = re.findall(r"\[([^\[\]]*)\]", arrays)
        if len(found) == 2 or (macro == "test_ptx_warp" and len(found) == 1):
            cases[name] = (LAUNCH_BLOCK.get(macro, 1), found[0] if len(found) == 2 else None, found[-1])
    return cases


def run(folder, name):
    """Runs the test; returns its result and why."""
    driver = ctypes.CDLL("libcuda.so.1")
    word = ctypes.c_uint64

    def call(function, *arguments):
        status = getattr(driver, function)(*arguments)
        if status:
            said = ctypes.c_char_p()
            driver.cuGetErrorName(status, ctypes.byref(said))
            raise OSError("%s: %s" % (function, (said.value or b"?").decode()))

    context, module, kernel, given, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), word(), word()
    with open(os.path.join(folder, name + ".ptx"), "rb") as file:
        image = file.read() + b"\0"
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), image)
    case = cases_of(folder).get(name)
    if not case:
        return "passed", "loaded only"
    block, text, expected = case
    expected, form = bytes_of(expected)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
    call("cuMemAlloc_v2", ctypes.byref(result), len(expected))
    call("cuMemsetD8_v2", result, 0, ctypes.c_size_t(len(expected)))
    if text is not None:
        data = bytes_of(text)[0]
        call("cuMemAlloc_v2", ctypes.byref(given), ctypes.c_size_t(len(data)))
        call("cuMemcpyHtoD_v2", given, data, ctypes.c_size_t(len(data)))
    first = given if text is not None else result
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(first), ctypes.addressof(result))
    call("cuLaunchKernel", kernel, 1, 1, 1, block, 1, 1, 1024, None, arguments, None)
    out = ctypes.create_string_buffer(len(expected))
    call("cuMemcpyDtoH_v2", out, result, ctypes.c_size_t(len(expected)))
    shape = "<%d%s" % (len(expected) // struct.calcsize(form), form)
    wanted, got = struct.unpack(shape, expected), struct.unpack(shape, out.raw)
    return ("passed", "") if wanted == got else ("failed", "wrong value: %s, not %s" % (list(got), list(wanted)))


def main():
    folder = sys.argv[1]
    if len(sys.argv) == 2:
        print("\n".join(sorted(file[:-4] for file in os.listdir(folder) if file.endswith(".ptx"))))
        return 0
    name = sys.argv[2]
    try:
        result, reason = run(folder, name)
    except ValueError as error:
        result, reason = "skipped", str(error)
    except OSError as error:
        result, reason = "failed", str(error)
    with open(sys.argv[3], "a", encoding="utf-8") as file:
        file.write("%s\t%s\t%s\n" % (result, name, reason))
    return 0


sys.exit(main())
