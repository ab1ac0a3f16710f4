#define _POSIX_C_SOURCE 200809L
#include "sass/nvdisasm.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "compile/process.h"
#include "sass/cuda_tools.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SECONDS = 60;

static bool write_all(int file, const char *bytes, size_t length) {
    while (length) {
        ssize_t done = write(file, bytes, length);
        if (done <= 0) return false;
        bytes += done;
        length -= (size_t)done;
    }
    return true;
}

/* Writes the cubin to a new temporary file; the caller unlinks it. */
static bool write_cubin(const void *cubin, size_t bytes, char path[PATH_MAX], Error *error) {
    const char *folder = process_temporary_folder();
    snprintf(path, PATH_MAX, "%s/redviz-XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0) return error_set(error, "no temporary file in %s", folder);
    bool good = write_all(file, cubin, bytes);
    close(file);
    if (good) return true;
    unlink(path);
    return error_set(error, "the temporary file %s cannot be written", path);
}

static bool run(const char *program, const char *cubin, Text *listing, Error *error) {
    const char *const arguments[] = {program, "-c", "-g", "-gi", "-gp", cubin, NULL};
    int status;
    if (!process_run(arguments, NULL, SECONDS, NULL, listing, &status, error)) return false;
    if (!status) return true;
    int length = (int)strcspn(text_string(listing), "\n");
    return error_set(error, "nvdisasm failed: %.*s", length < 300 ? length : 300, text_string(listing));
}

bool sass_disassemble(const void *cubin, size_t bytes, const char *entry, SassKernel *kernel, Error *error) {
    char program[PATH_MAX], path[PATH_MAX];
    Text listing = {0};
    if (!cuda_tool_find(TOOL_NVDISASM, program, sizeof program, error)) return false;
    interrupt_hold();
    bool is_written = write_cubin(cubin, bytes, path, error),
         good = is_written && run(program, path, &listing, error);
    if (is_written) unlink(path);
    interrupt_release();
    good = good && sass_parse(text_string(&listing), entry, kernel, error);
    text_done(&listing);
    return good;
}
