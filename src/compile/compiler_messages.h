/* Compiler messages: a compiler's message as an error with its place in the source. */
#ifndef COMPILE_COMPILER_MESSAGES_H
#define COMPILE_COMPILER_MESSAGES_H

#include "base/error.h"

/* The first error in `output`, from a compiler named `compiler`: "FILE(12): error: ..." (nvcc, NVRTC) or
 * "FILE:12:3: error: ..." (clang, host compilers), with the source line and the number of further errors. If
 * there is none, the first line of `output`. Returns false. */
bool messages_to_error(const char *output, const char *compiler, Error *error);

#endif
