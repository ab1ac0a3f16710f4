/* Versions: the values of .version and .target, and the detection of files that are not PTX. Private to
 * src/ptx. */
#ifndef PTX_VERSIONS_H
#define PTX_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Accepts later minor versions of the newest major one, which may come. False with a sentence in `why`. */
bool ptx_version_exists(int major, int minor, char *why, size_t bytes);
/* Accepts any target in PTX of a version later than all known ones. False with a sentence in `why`. */
bool ptx_target_exists(const char *name, int major, int minor, char *why, size_t bytes);
/* Whether code for `target` may use what needs `needed`: "sm_80", it or a later one; "sm_90a", only this one;
 * "sm_100f", of its family (.target in "PTX Module Directives"); "sm_90a|sm_100f", one of these. */
bool ptx_target_meets(const char *target, const char *needed);
bool ptx_target_option_exists(const char *name); /* after the target: "debug" */

/* The format of a file that is not PTX, and how to get PTX from it; NULL: it may be PTX. */
const char *ptx_foreign_format(const char *text, size_t length);

#endif
