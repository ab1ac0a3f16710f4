/* Prints --bench as lines, as a table, as JSON, or as a file of assets/h200. Lines appear as results
 * arrive. */
#ifndef CLI_BENCH_PRINT_H
#define CLI_BENCH_PRINT_H

#include "bench/bench.h"
#include <stdio.h>

typedef enum BenchFormat { BENCH_TABLE, BENCH_JSON, BENCH_TSV /* session_bench_file.h */ } BenchFormat;

typedef struct BenchOutput {
    FILE *out;
    FILE *progress; /* a terminal that shows the current cell; NULL: none */
    BenchFormat format;
    Measurements *kept;        /* also receives every timing; NULL: not kept */
    const CatalogRun *kept_of; /* and the intervals of this run */
} BenchOutput;

bool cli_bench_print(const BenchOptions *options, const BenchOutput *output, Error *error);

#endif
