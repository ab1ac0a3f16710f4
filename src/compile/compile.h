/* Compile: CUDA C++ to PTX by nvcc, NVRTC or clang, the first that is installed. NVRTC is a library that is
 * opened at run time; clang gets headers of ours instead of the toolkit's.
 *
 * Only device code is compiled. nvcc reads the file as it is; for the other two, which accept no host code
 * without its headers, functions of the host are blanked out (device_code.h), so that line numbers stay.
 * Results are kept, by content, in the user's cache. */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include "base/error.h"
#include <stddef.h>

typedef struct CompileOptions {
    const char *path; /* FILE.cu */
    const char
        *text; /* what it contains, where there is no such file: it stands for one in this folder; NULL */
    const char
        *instance; /* an instance of a template to make, "reduce<float,256>"; NULL: those of the file */
    const char *compiler;        /* "nvcc", "nvrtc" or "clang"; NULL: the first that there is */
    const char *flags;           /* for the compiler, separated by blanks; NULL: none */
    bool no_cache;               /* neither looked for among earlier results nor kept there */
    const char *headers;         /* folder of our headers (assets/include) */
    const volatile bool *cancel; /* true ends it early, with an error; NULL: never */
} CompileOptions;

typedef struct Compiled {
    char *ptx; /* terminated; NULL: it failed */
    size_t length;
    const char *compiler; /* which it was */
    bool is_cached;       /* it was compiled earlier */
    bool has_templates_alone; /* it failed since no instance is named, and the file launches none */
    char **files;         /* FILE.cu and what it includes in quotes: where a change makes another PTX; also
                             known where compiling fails */
    int file_count, file_capacity;
} Compiled;

/* false with `error`: no compiler, or the compiler's first message, with its place in the source. Whatever it
 * returns, `out` is to be given to compiled_done(). */
bool compile(const CompileOptions *options, Compiled *out, Error *error);
void compiled_done(Compiled *compiled);

#endif
