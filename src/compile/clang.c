/* Clang: compiles CUDA C++ with redviz's own headers if there is no toolkit (unit.h). */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "compile/compiler_messages.h"
#include "compile/process.h"
#include "compile/unit.h"

#include <stdlib.h>
#include <string.h>

static bool find_clang(char *path, size_t bytes) {
    return process_find("clang", NULL, 0, path, bytes);
}

static bool find(char *identity, size_t bytes) {
    char path[PATH_MAX];
    return find_clang(path, sizeof path) && process_identify(path, identity, bytes);
}

/* Writes copies of the files without host code; they keep the line numbers of the originals. */
static bool write_file(const Unit *unit, int index, char *path, size_t bytes, Error *error) {
    const UnitFile *file = &unit->files[index];
    Text text = {0};
    text_print(&text, "#line 1 \"%s\"\n%s\n", file->path, file->text);
    if (!index && unit->options->instance) /* no message refers to its line */
        text_print(&text,
                   "#line 1 \"%s\"\nstatic __attribute__((used)) void *redviz_instance = (void *)&%s;\n",
                   file->path, unit->options->instance);
    bool good =
        unit_write(unit, index ? file->name : "redviz_unit.cu", text_string(&text), path, bytes, error);
    text_done(&text);
    return good;
}

/* Names included in <> are covered by clang.h, or empty. */
static bool write_files(const Unit *unit, char *input, size_t bytes, Error *error) {
    char path[PATH_MAX];
    for (int i = 0; i < unit->system_count; i++) {
        char name[512];
        snprintf(name, sizeof name, "system/%s", unit->system[i]);
        if (!unit_write(unit, name, "", path, sizeof path, error)) return false;
    }
    for (int i = 1; i < unit->file_count; i++)
        if (!write_file(unit, i, path, sizeof path, error)) return false;
    return write_file(unit, 0, input, bytes, error);
}

static bool run(const Unit *unit, Text *ptx, Error *error) {
    char clang[PATH_MAX], input[PATH_MAX], output[PATH_MAX + 16], headers[PATH_MAX + 16],
        system[PATH_MAX + 16], architecture[48];
    const char **arguments = memory_new((size_t)(unit->flag_count + 32) * sizeof *arguments);
    int count = 0, status;
    Text said = {0};
    const char *uncovered = unit_find_toolkit_header(unit);
    if (uncovered) {
        free(arguments);
        return error_set_at(error, unit->options->path, 0, 0,
                            "<%s> comes with the CUDA toolkit, and redviz has no replacement for clang: it "
                            "needs nvcc or NVRTC",
                            uncovered);
    }
    find_clang(clang, sizeof clang);
    snprintf(output, sizeof output, "%s/out.ptx", unit->folder);
    snprintf(headers, sizeof headers, "%s/clang.h", unit->options->headers);
    snprintf(system, sizeof system, "%s/system", unit->folder);
    snprintf(architecture, sizeof architecture, "--cuda-gpu-arch=sm_%d",
             unit_architecture(unit, COMPILE_ARCHITECTURE));
    /* clang takes its PTX version from a toolkit, which is missing: 7.0 is the first for sm_80 */
    const char *const fixed[] = {clang,
                                 "-x",
                                 "cuda",
                                 "--cuda-device-only",
                                 "--cuda-path=/nonexistent",
                                 "-nocudainc",
                                 "-nocudalib",
                                 "-nostdlibinc",
                                 "-Xclang",
                                 "-target-feature",
                                 "-Xclang",
                                 "+ptx70",
                                 "-std=c++17",
                                 "-O2",
                                 "-gline-tables-only",
                                 "-w",
                                 "-fno-color-diagnostics",
                                 "-fno-crash-diagnostics",
                                 "-S",
                                 "-o",
                                 output,
                                 "-include",
                                 headers,
                                 "-idirafter", /* the headers of the user's -I come first */
                                 system};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    if (!unit_has_architecture(unit)) arguments[count++] = architecture;
    for (int i = 0; i < unit->flag_count; i++) arguments[count++] = unit->flags[i];
    arguments[count++] = input;
    bool good =
        write_files(unit, input, sizeof input, error) &&
        process_run(arguments, unit->folder, COMPILE_SECONDS, unit->options->cancel, &said, &status, error);
    if (good && status) good = messages_to_error(text_string(&said), "clang", error);
    good = good && unit_take_output(output, ptx, error);
    text_done(&said);
    free(arguments);
    return good;
}

const Compiler compiler_clang = {"clang", true, find, run};
