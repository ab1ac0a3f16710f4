/* Printing of --bench=sass: the catalogue's machine code as a file of assets. */
#ifndef CLI_SASS_RECORD_H
#define CLI_SASS_RECORD_H

#include "bench/bench.h"
#include <stdio.h>

/* What bench_sass() measures, in the format of sass/recorded.h, kernel by kernel; what is missing goes to `errors`;
 * `progress` is a terminal that shows what is measured (NULL: none). */
bool sass_print_recording(const BenchOptions *options, FILE *out, FILE *errors, FILE *progress, Error *error);

#endif
