/* Timings as tab-separated text, one per line: the format of --bench=tsv and assets/h200.
 *
 *   machine  NAME DRIVER MULTIPROCESSORS L2_BYTES MEMORY_CLOCK PEAK READ COPY WHEN
 *   timing   KERNEL N TYPE OP THREADS alone|scalar graph|call cold|warm SAMPLES MEDIAN P5 P95
 *            CLOCK TEMPERATURE NOTE
 *   value    KERNEL N TYPE OP NAME UNIT VALUE NOTE
 *
 * A timing or a value belongs to the machine above it; rates and shares follow from both. Units are those of
 * BenchMachine and Timing; unknown values are "-". Lines that begin with # are skipped. */
#ifndef BENCH_RECORDED_FILE_H
#define BENCH_RECORDED_FILE_H

#include "base/text.h"
#include "bench/bench.h"

void bench_add_machine(Text *out, const BenchMachine *machine, const char *measured);
void bench_add_timing(Text *out, const Timing *timing);
void bench_add_value(Text *out, const BenchValue *value);

/* Sends the contents of a file to the sink; false with `error`: the file, or one of its lines, cannot be
 * read. */
bool bench_read_file(const char *path, const BenchSink *sink, Error *error);

#endif
