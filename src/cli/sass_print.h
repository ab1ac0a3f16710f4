/* Machine code as text: --sass, and the file that --bench=sass records. */
#ifndef CLI_SASS_PRINT_H
#define CLI_SASS_PRINT_H

#include "bench/bench.h"
#include "session/session.h"

/* Instruction by instruction, under their source lines. false with `error`: none is known. */
bool sass_print(Session *session, Text *out, Error *error);

/* What bench_sass() measures, in the format of sass/recorded.h, kernel by kernel; what is missing goes to `errors`,
 * `progress` is a terminal that shows what is measured (NULL: none). */
bool sass_print_recording(const BenchOptions *options, FILE *out, FILE *errors, FILE *progress, Error *error);

#endif
