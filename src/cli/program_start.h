/* Program start: runs a program with redviz's CUDA library, as the options say. */
#ifndef CLI_PROGRAM_START_H
#define CLI_PROGRAM_START_H

#include "cli/options.h"
#include "compile/build_program.h"
#include "runtime/user_program.h"

/* `arguments`: the program and its arguments, ended by NULL. */
Program *program_start(const Options *options, const char *const *arguments, bool is_quiet, Error *error);
/* Builds the files of --run, or `build->text`, with the options for compilers (compile/build_program.h). */
bool program_build(const Options *options, BuildProgram *build, char *folder, size_t bytes, Error *error);

#endif
