/* Compiler messages: what a compiler said, as an error with its place in the source. */
#ifndef COMPILE_COMPILER_MESSAGES_H
#define COMPILE_COMPILER_MESSAGES_H

#include "base/error.h"

/* The first error in `output`, of a compiler named `compiler`: "FILE(12): error: ..." (nvcc, NVRTC) or
 * "FILE:12:3: error: ..." (clang, host compilers), with the source line and how many more errors there are.
 * Where there is none, its first line. Returns false. */
bool messages_to_error(const char *output, const char *compiler, Error *error);

#endif
