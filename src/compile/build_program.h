/* Build program: compiles host and device code of FILE.cu into a program. It loads a CUDA runtime at run
 * time. */
#ifndef COMPILE_BUILD_PROGRAM_H
#define COMPILE_BUILD_PROGRAM_H

#include "base/error.h"
#include <stdatomic.h>

typedef struct BuildProgram {
    const char *const *files; /* ended by NULL */
    /* A file to compile instead of them, which may include them, and its main(); NULL: none. */
    const char *text, *main_text;
    const char *compiler; /* "nvcc" or "clang"; NULL: the first that is installed */
    const char *flags;    /* for the compiler, separated by blanks; NULL: none */
    const char *library;  /* the folder of redviz's libcudart.so.13 */
    const char *headers;  /* the folder of program.h (assets/include) */
    const atomic_bool *cancel;
} BuildProgram;

/* Makes `folder`/program; the caller removes the folder (build_program_remove). nvcc is that of a toolkit,
 * else of a wheel; clang needs neither. The PTX is for the newest architecture that is emulated (clang:
 * sm_80), or the one that `flags` name. False with `error`: no compiler, or its first message. */
bool build_program(const BuildProgram *options, char *folder, size_t bytes, Error *error);
void build_program_remove(const char *folder);

#endif
