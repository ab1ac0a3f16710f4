/* Timings as tab-separated text, a line each: what --bench=tsv prints and assets/h200 keeps.
 *
 *   machine  NAME DRIVER MULTIPROCESSORS L2_BYTES MEMORY_CLOCK PEAK READ COPY WHEN
 *   timing   KERNEL N TYPE OP THREADS alone|scalar graph|call cold|warm SAMPLES MEDIAN P5 P95
 *            CLOCK TEMPERATURE NOTE
 *   value    KERNEL N TYPE OP NAME UNIT VALUE NOTE
 *
 * A timing or a value is of the machine above it; rates and shares follow from both. Units are those of
 * BenchMachine and Timing; what is not known is "-". Lines that begin with # are skipped. */
#ifndef BENCH_RECORDED_FILE_H
#define BENCH_RECORDED_FILE_H

#include "base/text.h"
#include "bench/bench.h"

void bench_add_machine(Text *out, const BenchMachine *machine, const char *measured);
void bench_add_timing(Text *out, const Timing *timing);
void bench_add_value(Text *out, const BenchValue *value);

/* Hands what a file holds to the sink; false with `error`: it cannot be read, or a line of it cannot. */
bool bench_read_file(const char *path, const BenchSink *sink, Error *error);

#endif
