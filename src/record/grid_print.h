/* Prints --bench=grid: the times and the multiprocessor of each block, in the format of assets/h200/grid. */
#ifndef RECORD_GRID_PRINT_H
#define RECORD_GRID_PRINT_H

#include "bench/bench.h"
#include <stdio.h>

/* Prints a line that begins with # for a kernel that cannot be recorded. `progress`: a terminal, or NULL.
 * False with `error`: there is no GPU, or it failed. */
bool grid_print(const BenchOptions *options, FILE *out, FILE *progress, Error *error);

#endif
