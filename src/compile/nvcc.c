/* nvcc: runs the toolkit's compiler and reads its PTX (unit.h). */
#define _XOPEN_SOURCE 700
#include "base/memory.h"
#include "compile/device_code.h"
#include "compile/compiler_messages.h"
#include "compile/process.h"
#include "compile/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_nvcc(char *path, size_t bytes) {
    return process_find("nvcc", (const char *const[]){getenv("CUDA_HOME"), getenv("CUDA_PATH")}, 2, path,
                        bytes);
}

static bool find(char *identity, size_t bytes) {
    char path[PATH_MAX];
    return find_nvcc(path, sizeof path) && process_identify(path, identity, bytes);
}

/* Taking the address of a template instantiates it. */
static bool write_instance(const Unit *unit, const char *source, char *path, size_t bytes, Error *error) {
    Text text = {0};
    text_print(&text, "#include \"%s\"\nstatic void *redviz_instance = (void *)&%s;\n", source,
               unit->options->instance);
    bool good = unit_write(unit, "instance.cu", text_string(&text), path, bytes, error);
    text_done(&text);
    return good;
}

/* The source's place in the unit's folder, so that ../../../ stays within it. */
static const char deep_folder[] = "d/d/d/";
enum { DEPTH = 3 };

enum { MOST_FOLDERS = 8 };

typedef struct Mending {                  /* repairs of a file that does not compile as it is */
    bool has_old_names, has_limits;       /* put before the source */
    char folders[MOST_FOLDERS][PATH_MAX]; /* folders of found headers, which may include others there */
    int folder_count;
} Mending;

/* `include`: a folder for files included in quotes, besides that of `source`; NULL: none, and no repairs. */
static bool compile_source(const Unit *unit, const char *source, const char *include, const Mending *mending,
                           Text *ptx, Error *error) {
    char nvcc[PATH_MAX], input[PATH_MAX], output[PATH_MAX + 16], deep[PATH_MAX + 16], architecture[32];
    const char **arguments =
        memory_new((size_t)(unit->flag_count + 28 + 2 * MOST_FOLDERS) * sizeof *arguments);
    int count = 0, status;
    Text said = {0};
    find_nvcc(nvcc, sizeof nvcc);
    snprintf(input, sizeof input, "%s", source);
    snprintf(output, sizeof output, "%s/out.ptx", unit->folder);
    snprintf(deep, sizeof deep, "%s/%s", unit->folder, deep_folder);
    snprintf(architecture, sizeof architecture, "-arch=compute_%d",
             unit_architecture(unit, unit_needs_clusters(unit) ? COMPILE_CLUSTERS : COMPILE_ARCHITECTURE));
    const char *const fixed[] = {nvcc,
                                 "-ptx",
                                 "-x",
                                 "cu",
                                 "-lineinfo",
                                 "-std=c++17",
                                 "-w",
                                 "--expt-relaxed-constexpr",
                                 "--extended-lambda",
                                 "-o",
                                 output,
                                 input};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    if (!unit_has_architecture(unit)) arguments[count++] = architecture;
    if (include) arguments[count++] = "-I", arguments[count++] = deep;
    if (include) arguments[count++] = "-I", arguments[count++] = include;
    if (include) arguments[count++] = "-I", arguments[count++] = unit->folder;
    for (int i = 0; include && i < mending->folder_count; i++)
        arguments[count++] = "-I", arguments[count++] = mending->folders[i];
    if (unit->options->include) arguments[count++] = "-I", arguments[count++] = unit->options->include;
    for (int i = 0; i < unit->flag_count; i++) arguments[count++] = unit->flags[i];
    bool good =
        (!unit->options->instance || write_instance(unit, source, input, sizeof input, error)) &&
        process_run(arguments, unit->folder, COMPILE_SECONDS, unit->options->cancel, &said, &status, error);
    if (good && status) good = messages_to_error(text_string(&said), "nvcc", error);
    good = good && unit_take_output(output, ptx, error);
    text_done(&said);
    free(arguments);
    return good;
}

/* True if device_code_keep() changed or removed this line. */
static bool is_host_line(const char *text, const char *kept, int line) {
    for (; line > 1; line--) {
        text += strcspn(text, "\n");
        kept += strcspn(kept, "\n");
        text += *text == '\n';
        kept += *kept == '\n';
    }
    size_t length = strcspn(text, "\n");
    return line == 1 && (strcspn(kept, "\n") != length || memcmp(text, kept, length) != 0);
}

/* The folder of FILE.cu, under a name that is safe in a shell. */
static bool find_folder(const Unit *unit, char folder[PATH_MAX + 16], Error *error) {
    const char *whole = unit->files[0].path;
    char real[PATH_MAX];
    snprintf(real, sizeof real, "%.*s", (int)(strrchr(whole, '/') + 1 - whole), whole);
    snprintf(folder, PATH_MAX, "%s", real);
    if (process_is_safe_in_quotes(real)) return true;
    snprintf(folder, PATH_MAX + 16, "%s/beside", unit->folder);
    return symlink(real, folder) == 0 || error_set(error, "%s: %s", folder, strerror(errno));
}

/* The names of shuffles and votes before CUDA 9, which took all lanes of a warp. */
static const char old_names[] = "#define __shfl(...) __shfl_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __shfl_up(...) __shfl_up_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __shfl_xor(...) __shfl_xor_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __any(...) __any_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __all(...) __all_sync(0xffffffffu, __VA_ARGS__)\n"
                                "#define __ballot(...) __ballot_sync(0xffffffffu, __VA_ARGS__)\n";

/* Constants that other headers used to provide. */
static const char limits[] = "#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n";

/* Compiles `text` in place of the file, in the unit's folder, which may have added headers. */
static bool compile_text(const Unit *unit, const char *text, const Mending *mending, Text *ptx,
                         Error *error) {
    char folder[PATH_MAX + 16], path[PATH_MAX];
    const char *whole = unit->files[0].path;
    if (!find_folder(unit, folder, error)) return false;
    Text source = {0};
    text_print(&source, "%s%s#line 1 \"%s\"\n%s", mending->has_old_names ? old_names : "",
               mending->has_limits ? limits : "", whole, text);
    char name[sizeof deep_folder + sizeof "device.cu"];
    snprintf(name, sizeof name, "%sdevice.cu", deep_folder);
    bool good = unit_write(unit, name, text_string(&source), path, sizeof path, error) &&
                compile_source(unit, path, folder, mending, ptx, error);
    text_done(&source);
    return good;
}

/* If a shell would execute part of the name, the name goes into a generated file, which only the preprocessor
 * reads. */
static bool name_source(const Unit *unit, char source[PATH_MAX], Error *error) {
    const char *path = unit->files[0].path;
    Text text = {0};
    snprintf(source, PATH_MAX, "%s", path);
    if (process_is_safe_in_quotes(path)) return true;
    text_print(&text, "#include \"%s\"\n", path);
    bool good = unit_write(unit, "unit.cu", text_string(&text), source, PATH_MAX, error);
    text_done(&text);
    return good;
}

/* Where in the unit's folder the source finds a header that it includes by this name. */
static bool place_header(const char *name, char in_folder[PATH_MAX]) {
    int up = 0;
    for (; !strncmp(name, "../", 3) || !strncmp(name, "./", 2); name += name[1] == '.' ? 3 : 2)
        up += name[1] == '.';
    if (up > DEPTH || strstr(name, "..") || *name == '/') return false;
    int length = snprintf(in_folder, PATH_MAX, "%.*s%s", 2 * (DEPTH - up), deep_folder, name);
    return length < PATH_MAX;
}

/* Writes the headers, or their device code only, to where the source finds them first. */
static bool write_headers(const Unit *unit, bool device_only) {
    bool good = true;
    for (int i = 1; i < unit->file_count && good; i++) {
        const UnitFile *file = &unit->files[i];
        char in_folder[PATH_MAX], path[PATH_MAX], *kept = memory_copy_text(file->text);
        Text text = {0};
        if (device_only) device_code_keep(kept);
        text_print(&text, "#pragma once\n#line 1 \"%s\"\n%s", file->path, kept);
        if (place_header(file->name, in_folder))
            good = unit_write(unit, in_folder, text_string(&text), path, sizeof path, NULL);
        text_done(&text);
        free(kept);
    }
    return good;
}

/* The error is in host code of a header. */
static bool is_in_header(const Unit *unit, const Error *error) {
    for (int i = 1; error->line && i < unit->file_count; i++) {
        if (strcmp(error->file, unit->files[i].path) != 0) continue;
        char *kept = memory_copy_text(unit->files[i].text);
        device_code_keep(kept);
        bool found = is_host_line(unit->files[i].text, kept, error->line);
        free(kept);
        return found;
    }
    return false;
}

/* Adds the folder in which `name` is found as `whole`. */
static void add_folder(Mending *mending, const char *name, const char *whole) {
    char folder[PATH_MAX];
    size_t length = strlen(whole), part = strlen(name);
    if (length <= part + 1 || strcmp(whole + length - part, name) != 0 || whole[length - part - 1] != '/')
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(length - part - 1), whole);
    for (int i = 0; i < mending->folder_count; i++)
        if (!strcmp(mending->folders[i], folder)) return;
    if (mending->folder_count < MOST_FOLDERS && process_is_safe_in_quotes(folder))
        memcpy(mending->folders[mending->folder_count++], folder, sizeof folder);
}

/* "solve.h: No such file or directory": searches for it above the file. If it is not found, an empty file
 * takes its place, since the kernels may not need it. A path that begins with ../ leads to a place above the
 * source, which lies deep enough. */
static const char no_such_file[] = ": No such file or directory";

static bool make_missing_header(const Unit *unit, const Error *error, Mending *mending) {
    char name[256], path[PATH_MAX], whole[PATH_MAX], in_folder[PATH_MAX];
    const char *end = strstr(error->message, no_such_file);
    size_t length = end ? (size_t)(end - error->message) : 0;
    if (!length || length >= sizeof name || *error->message == '/') return false;
    memcpy(name, error->message, length);
    name[length] = 0;
    if (!place_header(name, in_folder)) return false;
    Text text = {0};
    if (unit_find_header(unit, name, whole) && !strpbrk(whole, "\"\\\n")) {
        text_print(&text, "#include \"%s\"\n", whole);
        add_folder(mending, name, whole);
    } else {
        text_add(&text, "#pragma once\n");
    }
    bool good = unit_write(unit, in_folder, text_string(&text), path, sizeof path, NULL);
    text_done(&text);
    return good;
}

static bool is_old_name(const Error *error) {
    return strstr(error->message, "identifier \"__shfl") || strstr(error->message, "identifier \"__any") ||
           strstr(error->message, "identifier \"__all") || strstr(error->message, "identifier \"__ballot");
}

static bool is_limit(const Error *error) {
    static const char *const names[] = {"FLT_MAX\"",  "FLT_MIN\"",   "FLT_EPSILON\"", "DBL_MAX\"",
                                        "DBL_MIN\"",  "INT_MAX\"",   "INT_MIN\"",     "UINT_MAX\"",
                                        "INFINITY\"", "uint32_t\"",  "uint64_t\"",    "uint8_t\"",
                                        "int64_t\"",  "LLONG_MAX\"", "CHAR_BIT\""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(error->message, names[i])) return strstr(error->message, "identifier \"") != NULL;
    return false;
}

static bool is_missing_header(const Error *error) {
    return strstr(error->message, no_such_file) != NULL;
}

/* Compiles without host code and with repairs for old names and missing headers, until it succeeds or no
 * repair is left. `error`: first that of the unchanged file, finally the remaining one. */
static bool compile_mended(const Unit *unit, const char *kept, Error *error, Text *ptx) {
    enum { ATTEMPTS = 16 };
    const UnitFile *file = &unit->files[0];
    bool is_kept = false, has_headers = false;
    Mending *mending = memory_new(sizeof *mending);
    bool good = false, goes_on = true;
    for (int i = 0; i < ATTEMPTS && !good && goes_on; i++) {
        bool is_missing = make_missing_header(unit, error, mending),
             is_old = !mending->has_old_names && is_old_name(error),
             lacks_limits = !mending->has_limits && is_limit(error);
        bool is_mended = is_missing || is_old || lacks_limits;
        bool in_host =
            error->line && !strcmp(error->file, file->path) && is_host_line(file->text, kept, error->line);
        bool in_header = !is_mended && !has_headers && is_in_header(unit, error);
        goes_on = (is_mended || in_header || (!is_kept && (i > 0 || in_host))) &&
                  (!in_header || write_headers(unit, true));
        has_headers |= in_header;
        mending->has_old_names |= is_old;
        mending->has_limits |= lacks_limits;
        is_kept |= !is_mended && !in_header;
        if (goes_on) *error = (Error){0};
        good = goes_on && compile_text(unit, is_kept ? kept : file->text, mending, ptx, error);
    }
    free(mending);
    return good;
}

/* nvcc also compiles host code. If it rejects that (old programs call what CUDA no longer has), it gets only
 * the device code; a missing header is replaced by an empty one. If that fails too, nvcc's own message
 * stands, unless it was a missing header that was repaired: the later error is then more useful. */
static bool run(const Unit *unit, Text *ptx, Error *error) {
    Error first = {0};
    const UnitFile *file = &unit->files[0];
    char source[PATH_MAX];
    if (unit->options->text)
        return (!unit->options->changed_path || write_headers(unit, false)) &&
               compile_text(unit, file->text, &(Mending){0}, ptx, error);
    bool good = name_source(unit, source, &first) && compile_source(unit, source, NULL, NULL, ptx, &first);
    if (!good) {
        char *kept = memory_copy_text(file->text);
        device_code_keep(kept);
        Error last = first;
        good = compile_mended(unit, kept, &last, ptx);
        if (is_missing_header(&first)) first = last;
        free(kept);
    }
    if (!good && error) *error = first;
    return good;
}

const Compiler compiler_nvcc = {"nvcc", true, find, run};
