/* --bench: timings as they come, as a table or as JSON. */
#ifndef BENCH_PRINT_H
#define BENCH_PRINT_H

#include "session_bench.h"
#include <stdio.h>

typedef struct BenchOutput {
    FILE *out;
    FILE *progress; /* a terminal that is told which cell is measured; NULL: none is */
    bool json;
    Measurements *kept; /* gets every timing, too; NULL: nobody keeps them */
} BenchOutput;

bool bench_print(const BenchOptions *options, const BenchOutput *output, Error *error);

#endif
