/* A strict JSON reader for tests: whether a text is valid, and the value at a path. Independent of
 * base/json.h, which writes the JSON that is read here. */
#ifndef TESTS_JSON_READER_H
#define TESTS_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

bool json_valid(const char *text); /* one value, followed only by white space */

/* Where the value at "totals.shared_loads" or "launches.0.entry" begins; NULL if it does not exist. `text` is
 * valid. */
const char *json_at(const char *text, const char *path);
int json_array_count(const char *array);

/* Whether `actual` contains all of `expected`: its objects may have more fields; arrays must have the same
 * length, and all other values must be equal. For fields named in `prose` (ends with NULL), only the type
 * counts: null, or a text. False: `path` is the place of the first difference ("lines.3.text"). */
bool json_contains(const char *actual, const char *expected, const char *const *prose, char *path,
                   size_t path_bytes);

#endif
