/* Prints --bench=sass: the catalogue's machine code as a file of assets. */
#ifndef RECORD_SASS_RECORD_H
#define RECORD_SASS_RECORD_H

#include "bench/bench.h"
#include <stdio.h>

/* Prints the results of bench_sass() in the format of sass/recorded.h, kernel by kernel; reports missing
 * parts to `errors`. `progress`: a terminal that shows the current measurement (NULL: none). */
bool record_print_sass(const BenchOptions *options, FILE *out, FILE *errors, FILE *progress, Error *error);

#endif
