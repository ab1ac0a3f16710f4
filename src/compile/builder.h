/* Builder: what the compilers of a program share. Private to src/compile. */
#ifndef COMPILE_BUILDER_H
#define COMPILE_BUILDER_H

#include "compile/build_program.h"

#include <limits.h>

enum { MOST_WORDS = 256 };

typedef struct ProgramBuild {
    const BuildProgram *options;
    const char *folder;       /* for the program and all other files */
    const char *const *files; /* ended by NULL */
    const char *flags[MOST_WORDS / 2];
    int flag_count;
    char compiler[PATH_MAX];
    bool is_wheel, is_clang;
} ProgramBuild;

/* Runs a compiler, ended by NULL; false with its first message, too. */
bool build_run(const ProgramBuild *build, const char *const *arguments, const char *compiler, Error *error);
bool build_with_clang(const ProgramBuild *build, Error *error);

#endif
