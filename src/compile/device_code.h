/* Device code: CUDA C++ text without host code, for compilers that accept none.
 *
 * Not a parser: it finds the definitions of a file by brackets and keywords. A function without __global__,
 * __device__ or constexpr (or a macro for them), its declarations, and objects of std types are replaced by
 * blanks. Line breaks and preprocessor lines stay, so that every message and line table refers to the
 * original file. */
#ifndef COMPILE_DEVICE_CODE_H
#define COMPILE_DEVICE_CODE_H

#include "base/text.h"

/* Blanks out the host code of `text`, in place. */
void device_code_keep(char *text);

/* Calls `visit` for every #include with a name in quotes (or in angle brackets) in `text`. */
void device_code_includes(const char *text, bool in_quotes,
                          void (*visit)(void *context, const char *name, size_t length), void *context);

/* Adds the heads of kernels that are templates, "reduce<typename T, unsigned B>", separated by ", ". */
void device_code_templates(const char *text, Text *out);

#endif
