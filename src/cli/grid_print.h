/* Printing of --bench=grid: the times and the multiprocessor of each block. It prints the files of
 * assets/h200/grid. */
#ifndef CLI_GRID_PRINT_H
#define CLI_GRID_PRINT_H

#include "bench/bench.h"
#include <stdio.h>

/* A kernel that cannot be recorded is a line that begins with #. `progress`: a terminal, or NULL. false with `error`:
 * there is no GPU, or it failed. */
bool grid_print(const BenchOptions *options, FILE *out, FILE *progress, Error *error);

#endif
