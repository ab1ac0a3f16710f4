#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "compile/messages.h"
#include "compile/process.h"
#include "compile/unit.h"

#include <stdlib.h>
#include <string.h>

static bool find_nvcc(char *path, size_t bytes) {
    return process_find("nvcc", (const char *const[]){getenv("CUDA_HOME"), getenv("CUDA_PATH")}, 2, path,
                        bytes);
}

static bool find(char *identity, size_t bytes) {
    char path[PATH_MAX];
    return find_nvcc(path, sizeof path) && process_identify(path, identity, bytes);
}

/* An instance of a template is made by whoever takes its address. */
static bool write_instance(const Unit *unit, char *path, size_t bytes, Error *error) {
    Text text = {0};
    text_print(&text, "#include \"%s\"\nstatic void *redviz_instance = (void *)&%s;\n", unit->files[0].path,
               unit->options->instance);
    bool good = unit_write(unit, "instance.cu", text_string(&text), path, bytes, error);
    text_done(&text);
    return good;
}

static bool run(const Unit *unit, Text *ptx, Error *error) {
    char nvcc[PATH_MAX], input[PATH_MAX], output[PATH_MAX + 16], architecture[32];
    const char **arguments = memory_new((size_t)(unit->flag_count + 16) * sizeof *arguments);
    int count = 0, status;
    Text said = {0};
    find_nvcc(nvcc, sizeof nvcc);
    snprintf(input, sizeof input, "%s", unit->files[0].path);
    snprintf(output, sizeof output, "%s/out.ptx", unit->folder);
    snprintf(architecture, sizeof architecture, "-arch=compute_%d", COMPILE_ARCHITECTURE);
    const char *const fixed[] = {nvcc, "-ptx", "-lineinfo", "-std=c++17", "-w", "-o", output, input};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    if (!unit_has_architecture(unit)) arguments[count++] = architecture;
    for (int i = 0; i < unit->flag_count; i++) arguments[count++] = unit->flags[i];
    bool good = (!unit->options->instance || write_instance(unit, input, sizeof input, error)) &&
                process_run(arguments, COMPILE_SECONDS, unit->options->cancel, &said, &status, error);
    if (good && status) good = messages_to_error(text_string(&said), "nvcc", error);
    good = good && unit_take_output(output, ptx, error);
    text_done(&said);
    free(arguments);
    return good;
}

const Compiler compiler_nvcc = {"nvcc", find, run};
