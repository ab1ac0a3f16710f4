/* Header search: finds included headers in folders where compilers do not look by themselves. Private to
 * src/compile. */
#ifndef COMPILE_HEADER_SEARCH_H
#define COMPILE_HEADER_SEARCH_H

#include <limits.h>
#include <stdbool.h>

/* Searches the folders above `source`, and those there that are usually passed to compilers (include/).
 * `whole` gets the path. */
bool header_find(const char *source, const char *name, char whole[PATH_MAX]);
/* Searches the whole project of the source, the folder above it with .git: first by the whole name,
 * "layers/sum.cuh", then by its last part. Visits a limited number of files. */
bool header_find_in_project(const char *source, const char *name, char whole[PATH_MAX]);

#endif
