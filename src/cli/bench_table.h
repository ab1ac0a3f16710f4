/* The table of --bench for people. It has a line per *cell* (consecutive timings of one kernel, size and type
 * on one machine), followed by a table of the other values. */
#ifndef CLI_BENCH_TABLE_H
#define CLI_BENCH_TABLE_H

#include "bench/bench.h"
#include <stdio.h>

typedef struct BenchTable {
    FILE *out;
    bool headed;       /* the header was printed */
    Measurements cell; /* not printed yet */
    BenchValue *values;
    int value_count, value_capacity;
    Arena arena; /* their texts */
} BenchTable;

void cli_bench_table_timing(BenchTable *table, const Timing *timing);
void cli_bench_table_value(BenchTable *table, const BenchValue *value);
/* Prints the pending cell. */
void cli_bench_table_flush(BenchTable *table);
/* Prints the values, and frees the table's memory. */
void cli_bench_table_end(BenchTable *table);

#endif
