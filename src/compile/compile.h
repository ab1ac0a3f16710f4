/* Compile: CUDA C++ to PTX by nvcc, NVRTC or clang, the first that is installed.
 *
 * NVRTC is a library opened at run time; clang gets redviz's headers instead of the toolkit's. Only device
 * code is compiled. nvcc reads the file as it is. The other two accept no host code without its headers: host
 * functions are blanked out (device_code.h), which keeps line numbers. Results are cached by content. */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include "base/error.h"
#include <stdatomic.h>
#include <stddef.h>

typedef struct CompileOptions {
    const char *path; /* FILE.cu */
    /* Its content, if there is no such file (then the path only names its folder) or another text takes its
     * place; NULL: read the file. */
    const char *text;
    /* An included file, absolute, and its text instead of what it contains; NULL: none. Needs `text`. */
    const char *changed_path, *changed_text;
    /* A template instance to make, "reduce<float,256>"; NULL: those of the file. */
    const char *instance;
    const char *compiler;      /* "nvcc", "nvrtc" or "clang"; NULL: the first that is installed */
    const char *flags;         /* for the compiler, separated by blanks; NULL: none */
    bool no_cache;             /* neither reads nor writes the cache */
    const char *headers;       /* folder of redviz's headers (assets/include) */
    const char *include;       /* folder searched last for files included in quotes; NULL: none */
    int architecture;          /* compute capability to compile for, 75; 0: the compiler's choice */
    const atomic_bool *cancel; /* true ends it early, with an error; NULL: never */
} CompileOptions;

typedef struct Compiled {
    char *ptx; /* terminated; NULL: failed */
    size_t length;
    char *text;               /* FILE.cu as it was read; NULL: it could not be */
    const char *compiler;     /* the compiler used */
    bool is_cached;           /* from the cache */
    bool has_templates_alone; /* failed because no instance is named, and the file launches none */
    /* FILE.cu and what it includes in quotes: a change in these changes the PTX. Also set if compiling
     * fails. */
    char **files;
    int file_count, file_capacity;
} Compiled;

/* False with `error`: no compiler, or the compiler's first message with its place in the source. Call
 * compiled_done() on `out` in either case. */
bool compile(const CompileOptions *options, Compiled *out, Error *error);
void compiled_done(Compiled *compiled);

#endif
