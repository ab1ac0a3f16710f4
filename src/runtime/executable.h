/* Executable: the PTX within a program or a shared library that nvcc made (ELF). */
#ifndef RUNTIME_EXECUTABLE_H
#define RUNTIME_EXECUTABLE_H

#include "base/error.h"
#include "base/text.h"
#include <stddef.h>

bool executable_is(const void *bytes, size_t count); /* begins as ELF does */
/* The PTX of the first of its fat binaries that has a kernel, or `wanted` in its text (NULL: any). False with
 * `error`: it has none, or machine code alone. */
bool executable_find_ptx(const void *bytes, size_t count, const char *wanted, Text *ptx, Error *error);

/* Whether a symbol has this name: it stands in a table of strings (System V ABI, String Table). */
bool executable_has_name(const void *bytes, size_t count, const char *name);

#endif
