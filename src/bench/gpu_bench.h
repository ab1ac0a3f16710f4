/* Timings on a GPU: in four ways, each on copies of the buffers. Private to src/bench. */
#ifndef BENCH_GPU_BENCH_H
#define BENCH_GPU_BENCH_H

#include "gpu/nvml.h"
#include "gpu/timing.h"
#include "bench/cell.h"

typedef struct Bench {
    const BenchOptions *options;
    const BenchSink *sink;
    Cuda *cuda;
    Timer timer;
    Nvml nvml;
    BenchMachine machine;
    char measured[32]; /* start time */
} Bench;

enum { BENCH_SETS = 32 }; /* maximum number of copies of the buffers */

/* The number of copies of `bytes` that overwrite L2 twice, limited by memory; 0 with `error`: not even one
 * fits. */
int bench_choose_sets(const Bench *bench, size_t bytes, Error *error);

enum { BENCH_WAYS = 4 };
typedef struct BenchTimes {
    Spread ways[BENCH_WAYS]; /* microseconds; count 0: not measured */
    NvmlReading reading;
} BenchTimes;

typedef struct BenchWork {
    TimedWork work;
    void *context;
    int sets;
    uint64_t bytes; /* of the input */
    bool has_graph; /* works in a graph */
    double seconds; /* limit */
} BenchWork;

/* Measures in a graph and as single calls, cold and warm. */
bool bench_time(const Bench *bench, const BenchWork *work, BenchTimes *times, Error *error);
/* Sends a timing for each measured way; its other fields come from `of`. */
void bench_send_times(const Bench *bench, const BenchWork *work, const BenchTimes *times, Timing of);

/* Called for each requested kernel and type. */
typedef bool (*BenchVisit)(const Bench *bench, const CatalogRow *row, PtxType dtype, Error *error);
bool bench_visit(const Bench *bench, BenchVisit visit, Error *error);

bool bench_kernels(const Bench *bench, Error *error); /* of the catalogue */
bool bench_peers(const Bench *bench, Error *error);   /* CUB and thrust, if their library is available */

#endif
