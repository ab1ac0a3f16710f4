/* Header search: finds included headers in folders where compilers do not look by themselves. Private to
 * src/compile. */
#ifndef COMPILE_HEADER_SEARCH_H
#define COMPILE_HEADER_SEARCH_H

#include <limits.h>
#include <stdbool.h>

/* In a folder above `source`, or in one there that compilers are usually given (include/). `whole` gets its path. */
bool header_find(const char *source, const char *name, char whole[PATH_MAX]);
/* Anywhere in the project that the source belongs to, the folder with .git above it: first by the whole name, "layers/sum.cuh",
 * then by its last part. It looks at a bounded number of files. */
bool header_find_in_project(const char *source, const char *name, char whole[PATH_MAX]);

#endif
