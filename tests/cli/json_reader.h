/* A strict JSON reader for tests: is a text valid, and what stands at a path. Independent of base/json.h,
 * which writes what is read here. */
#ifndef TESTS_JSON_READER_H
#define TESTS_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

bool json_valid(const char *text); /* one value and nothing after it but white space */

/* Where the value at "totals.shared_loads" or "launches.0.entry" begins; NULL where there is none. `text` is
 * valid. */
const char *json_at(const char *text, const char *path);
int json_array_count(const char *array);

/* Is all of `expected` in `actual`? Objects may have more fields there; arrays must be equally long, all
 * other values equal to the letter. Of fields named in `prose` (ends with NULL) only the type counts:
 * null, or a text. false: `path` says where the first difference is ("lines.3.text"). */
bool json_contains(const char *actual, const char *expected, const char *const *prose, char *path,
                   size_t path_bytes);

#endif
