/* Versions: the values of .version and .target, and the detection of files that are not PTX. Private to
 * src/ptx. */
#ifndef PTX_VERSIONS_H
#define PTX_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* A later minor version of the newest major one may come, and passes. False with a sentence in `why`. */
bool ptx_version_exists(int major, int minor, char *why, size_t bytes);
/* What PTX of a version later than all known ones names passes. False with a sentence in `why`. */
bool ptx_target_exists(const char *name, int major, int minor, char *why, size_t bytes);
bool ptx_target_option_exists(const char *name); /* behind the target: "debug" */

/* What a file is that is no PTX at all, and how to get PTX from it; NULL: it may be PTX. */
const char *ptx_foreign_format(const char *text, size_t length);

#endif
