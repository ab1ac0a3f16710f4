/* Parts: several results in one output: {sum, sum of squares} of each block, all minima and behind them all
 * maxima, a value and its place. Each part is a view, elements that are a fixed distance apart, and must look
 * like something by itself. Private to expect*.c. */
#ifndef EXPECT_EXPECT_PARTS_H
#define EXPECT_EXPECT_PARTS_H

#include "expect/expect_search.h"

typedef enum ExpectParts {
    EXPECT_NO_PARTS,
    EXPECT_SOME_PARTS, /* one part looks like something, another one like nothing that is known */
    EXPECT_ALL_PARTS
} ExpectParts;

/* Looks for parts of trial->out, whose changes are trial->changed. ALL: `result` has the elements of all parts, and `what`
 * says "sum(in) and sumsq(in), as pairs". `is_found`: the whole looks like something already, trial->function. Where that has
 * all that changed, only splits count that say more: of structures of floats and integers, and of inputs' components. */
ExpectParts expect_find_parts(const ExpectTrial *trial, bool is_found, ExpectResult *result, Text *what);
/* Is each of these integers the place of the extreme that stands at the same index of value->out? It becomes its argmax, or
 * argmin. */
bool expect_try_places(ExpectTrial *places, const ExpectTrial *value);
/* Is each of its elements one that an input has where value->a has the extreme, as indices that are carried along with values
 * are? It becomes indices[argmax(values)]. */
bool expect_try_carried(ExpectTrial *carried, const ExpectTrial *value);
/* Counts `part` in; its element `index` of the whole is what it reports. */
void expect_merge(ExpectResult *all, const ExpectResult *part, uint64_t index);

#endif
