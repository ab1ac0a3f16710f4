/* --bench=grid: where and when each block of the catalogue's kernels ran, as the files of assets/h200/grid. */
#ifndef CLI_GRID_PRINT_H
#define CLI_GRID_PRINT_H

#include "bench/bench.h"
#include <stdio.h>

/* A kernel that cannot be recorded is a line that begins with #. `progress`: a terminal, or NULL. false with `error`:
 * there is no GPU, or it failed. */
bool grid_print(const BenchOptions *options, FILE *out, FILE *progress, Error *error);

#endif
