/* Prints --index with --report: what an index expression costs, as text or as JSON. */
#ifndef CLI_INDEX_PRINT_H
#define CLI_INDEX_PRINT_H

#include "base/error.h"
#include "base/text.h"

/* Of a load of 4 bytes by warp 0, with s = 1 and n = 1024. The second expression may be NULL; both: the first
 * preset. `machine`: whose cycles; NULL: the default. False with `error`: an expression has an error, or the
 * recording. */
bool cli_index_print(const char *const text[2], const char *machine, bool json, Text *out, Error *error);

#endif
