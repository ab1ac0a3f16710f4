/* Parts: several results in one output. Each must look like a function by itself.
 *
 * Examples: {sum, sum of squares} for each block; all minima followed by all maxima; a value and its place.
 * Each part is a view: elements at a fixed distance. Private to expect*.c. */
#ifndef EXPECT_EXPECT_PARTS_H
#define EXPECT_EXPECT_PARTS_H

#include "expect/expect_search.h"

typedef enum ExpectParts {
    EXPECT_NO_PARTS,
    EXPECT_SOME_PARTS, /* one part looks like a function, another like no known function */
    EXPECT_ALL_PARTS
} ExpectParts;

/* Looks for parts of trial->out, whose changes are trial->changed. ALL: `result` has the elements of all
 * parts, and `what` says "sum(in) and sumsq(in), as pairs". `is_found`: the whole already looks like
 * trial->function. If that covers all changes, only splits that say more count: structures of floats and
 * integers, and components of inputs. */
ExpectParts expect_find_parts(const ExpectTrial *trial, bool is_found, ExpectResult *result, Text *what);
/* True if each of these integers is the place of the extreme at the same index of value->out. `places`
 * becomes its argmax or argmin. */
bool expect_try_places(ExpectTrial *places, const ExpectTrial *value);
/* True if each element occurs in an input where value->a has the extreme, like an index carried along with
 * its value. `carried` becomes indices[argmax(values)]. */
bool expect_try_carried(ExpectTrial *carried, const ExpectTrial *value);
/* Adds `part` to `all`; the element it reports has index `index` in the whole. */
void expect_merge(ExpectResult *all, const ExpectResult *part, uint64_t index);

#endif
