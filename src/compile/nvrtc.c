/* NVRTC: the toolkit's compiler as a library.
 *
 * It compiles only device code, from memory, with every header given by name; it may use the toolkit's
 * headers if they are installed. */
#define _POSIX_C_SOURCE 200809L
#include "base/library.h"
#include "base/memory.h"
#include "compile/compiler_messages.h"
#include "compile/unit.h"
#include "compile/wheels.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct NvrtcProgramTag *NvrtcProgram;

typedef struct Nvrtc {
#define NVRTC(name, parameters) int(*name) parameters;
#include "compile/nvrtc.def"
#undef NVRTC
} Nvrtc;

static bool load(Nvrtc *nvrtc, void *library) {
    static const char *const names[] = {
#define NVRTC(name, parameters) #name,
#include "compile/nvrtc.def"
#undef NVRTC
    };
    void **entries = (void **)(void *)nvrtc;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(entries[i] = dlsym(library, names[i]))) return false;
    return true;
}

/* The library of a wheel, nvidia-cuda-nvrtc or nvidia-cuda-nvrtc-cu12. */
static void *open_wheel(void) {
    static const char *const patterns[] = {"cu13/lib/libnvrtc.so.1[23]", "cuda_nvrtc/lib/libnvrtc.so.1[23]"};
    char path[PATH_MAX];
    void *library = NULL;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !library; i++)
        if (wheels_find(patterns[i], path, sizeof path)) library = library_open(path);
    return library;
}

/* Stays open: a library of this size is not opened for every compilation. */
static bool open_library(Nvrtc *nvrtc) {
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    const char *chosen = getenv("REDVIZ_NVRTC"), *home = getenv("CUDA_HOME");
    char path[PATH_MAX];
    void *library = NULL;
    if (chosen && *chosen) return (library = library_open(chosen)) && load(nvrtc, library);
    snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", home ? home : "");
    if (home) library = library_open(path);
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = library_open(names[i]);
    if (!library) library = open_wheel();
    return library && load(nvrtc, library);
}

static bool find(char *identity, size_t bytes) {
    Nvrtc nvrtc;
    int major, minor;
    if (!open_library(&nvrtc) || nvrtc.nvrtcVersion(&major, &minor)) return false;
    snprintf(identity, bytes, "NVRTC %d.%d", major, minor);
    return true;
}

typedef struct Headers { /* in memory */
    const char **names, **texts;
    int count, capacity;
    const char *folders[2]; /* the toolkit's */
} Headers;

static void add_header(Headers *headers, const char *name, const char *text) {
    int capacity = headers->capacity;
    array_reserve(headers->names, headers->count + 1, capacity);
    array_reserve(headers->texts, headers->count + 1, headers->capacity);
    headers->names[headers->count] = name;
    headers->texts[headers->count++] = text;
}

static bool is_in_toolkit(const Headers *headers, const char *name) {
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", headers->folders[i], name);
        if (headers->folders[i] && length < PATH_MAX && access(path, R_OK) == 0) return true;
    }
    return false;
}

/* The folders of a toolkit, else of the wheels nvidia-cuda-runtime and nvidia-cuda-cccl. */
static void find_toolkit(Headers *headers, char folders[2][PATH_MAX]) {
    const char *home = getenv("CUDA_HOME");
    char wheel[PATH_MAX - 8];
    if (!home || !*home) home = "/usr/local/cuda";
    snprintf(folders[0], PATH_MAX, "%s/include", home);
    if (access(folders[0], R_OK) && wheels_find("cu13/include", wheel, sizeof wheel))
        snprintf(folders[0], PATH_MAX, "%s", wheel);
    snprintf(folders[1], PATH_MAX, "%.*s/cccl", PATH_MAX - 8, folders[0]);
    for (int i = 0; i < 2; i++)
        if (access(folders[i], R_OK) == 0) headers->folders[i] = folders[i];
}

/* Of the names included in <>, the toolkit has some; the others belong to the standard library or to host
 * code. */
static bool list_headers(const Unit *unit, const char *standard, Headers *headers, Error *error) {
    const char *uncovered = unit_find_toolkit_header(unit);
    if (uncovered && !is_in_toolkit(headers, uncovered))
        return error_set_at(error, unit->options->path, 0, 0,
                            "<%s> comes with the CUDA toolkit, whose headers were not found: set CUDA_HOME",
                            uncovered);
    add_header(headers, "redviz_standard.h", standard);
    for (int i = 0; i < unit->system_count; i++)
        if (!is_in_toolkit(headers, unit->system[i])) add_header(headers, unit->system[i], "");
    for (int i = 1; i < unit->file_count; i++) add_header(headers, unit->files[i].name, unit->files[i].text);
    return true;
}

static bool take_text(const Nvrtc *nvrtc, NvrtcProgram program, bool is_log, Text *out) {
    size_t bytes = 0;
    if (is_log ? nvrtc->nvrtcGetProgramLogSize(program, &bytes) : nvrtc->nvrtcGetPTXSize(program, &bytes))
        return false;
    if (bytes > COMPILE_PTX_LIMIT) return false;
    char *text = memory_new(bytes + 1);
    bool good = !(is_log ? nvrtc->nvrtcGetProgramLog(program, text) : nvrtc->nvrtcGetPTX(program, text));
    if (good) text_add(out, text);
    free(text);
    return good;
}

static bool compile_program(const Nvrtc *nvrtc, const Unit *unit, NvrtcProgram program,
                            const Headers *headers, Text *ptx, Error *error) {
    char architecture[48], folders[2][PATH_MAX + 2];
    const char **options = memory_new((size_t)(unit->flag_count + 16) * sizeof *options);
    int count = 0;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%d",
             unit_architecture(unit, COMPILE_ARCHITECTURE));
    if (!unit_has_architecture(unit)) options[count++] = architecture;
    options[count++] = "-lineinfo";
    options[count++] = "--std=c++17";
    options[count++] = "-w";
    options[count++] = "-default-device"; /* for constexpr functions and constants of the file */
    options[count++] = "--pre-include=redviz_standard.h";
    for (int i = 0; i < 2; i++) {
        if (!headers->folders[i]) continue;
        snprintf(folders[i], sizeof folders[i], "-I%s", headers->folders[i]);
        options[count++] = folders[i];
    }
    for (int i = 0; i < unit->flag_count; i++) options[count++] = unit->flags[i];
    Text log = {0};
    bool good =
        (!unit->options->instance || !nvrtc->nvrtcAddNameExpression(program, unit->options->instance)) &&
        !nvrtc->nvrtcCompileProgram(program, count, options) && take_text(nvrtc, program, false, ptx);
    if (!good) {
        take_text(nvrtc, program, true, &log);
        messages_to_error(text_string(&log), "NVRTC", error);
    }
    text_done(&log);
    free(options);
    return good;
}

static bool run(const Unit *unit, Text *ptx, Error *error) {
    Nvrtc nvrtc;
    NvrtcProgram program = NULL;
    Headers headers = {0};
    char path[PATH_MAX + 16], folders[2][PATH_MAX], *standard = NULL;
    size_t length;
    snprintf(path, sizeof path, "%s/standard.h", unit->options->headers);
    find_toolkit(&headers, folders);
    bool good = open_library(&nvrtc) && text_read_file(path, 1 << 20, &standard, &length, error) &&
                list_headers(unit, standard, &headers, error);
    if (good && nvrtc.nvrtcCreateProgram(&program, unit->files[0].text, unit->files[0].path, headers.count,
                                         headers.texts, headers.names))
        good = error_set(error, "NVRTC: cannot create a program from %s", unit->options->path);
    good = good && compile_program(&nvrtc, unit, program, &headers, ptx, error);
    if (program) nvrtc.nvrtcDestroyProgram(&program);
    free(headers.names);
    free(headers.texts);
    free(standard);
    return good;
}

const Compiler compiler_nvrtc = {"nvrtc", false, find, run};
