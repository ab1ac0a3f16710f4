/* Printing of --bench as lines, as a table, as JSON, or as a file of assets/h200. Lines appear as the timings
 * come. */
#ifndef CLI_BENCH_PRINT_H
#define CLI_BENCH_PRINT_H

#include "bench/bench.h"
#include <stdio.h>

typedef enum BenchFormat { BENCH_TABLE, BENCH_JSON, BENCH_TSV /* session_bench_file.h */ } BenchFormat;

typedef struct BenchOutput {
    FILE *out;
    FILE *progress; /* a terminal that shows which cell is being measured; NULL: none */
    BenchFormat format;
    Measurements *kept;        /* gets every timing, too; NULL: they are not kept */
    const CatalogRun *kept_of; /* and the intervals of this run */
} BenchOutput;

bool bench_print(const BenchOptions *options, const BenchOutput *output, Error *error);

#endif
