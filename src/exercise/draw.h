/* Draw: sizes that an exercise does not publish. Neither a table of answers nor a limit at a published size
 * passes. */
#ifndef EXERCISE_DRAW_H
#define EXERCISE_DRAW_H

#include "exercise/exercise.h"

enum { DRAWN_SIZES = 3 };

/* One beside a multiple of a warp, a prime below the largest published size, and one above it that leaves 2
 * of a vector of four. The same seed gives the same. */
void draw_sizes(const Exercise *exercise, uint64_t seed, uint64_t sizes[DRAWN_SIZES]);
/* A new seed, from 1 to 999,999, which a person can type. */
uint64_t draw_seed(void);

#endif
