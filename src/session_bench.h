/* Bench: kernels of the catalogue timed on the GPU, by sizes and types, as a table or as JSON. */
#ifndef SESSION_BENCH_H
#define SESSION_BENCH_H

#include "catalog/catalog.h"
#include <stdio.h>

typedef struct BenchOptions {
    const char *kernel;     /* NULL: the ladder */
    CatalogOptions catalog; /* n 0: all sizes; dtype PTX_NO_TYPE: int; block, op, parameters as for a run */
    bool json;
} BenchOptions;

/* Measures and prints as it goes on; `progress` (a terminal, or NULL) is told which cell is measured. false
 * with `error` where there is no GPU, or it fails. What does not fit (memory, a kernel that refuses) is a
 * skipped cell that says why. */
bool bench_run(const BenchOptions *options, FILE *out, FILE *progress, Error *error);

#endif
