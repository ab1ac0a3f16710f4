/* Timings on a GPU: in four ways, each on copies of the buffers. Private to
 * src/bench. */
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
    char measured[32]; /* when it began */
} Bench;

enum { BENCH_SETS = 32 }; /* copies of the buffers, at most */

/* How many copies of `bytes` overwrite L2 twice, as far as there is memory; 0 with `error`: not even one
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
    bool has_graph; /* can be in one */
    double seconds; /* at most */
} BenchWork;

/* In a graph and as single calls, cold and warm. */
bool bench_time(const Bench *bench, const BenchWork *work, BenchTimes *times, Error *error);
/* Sends a timing for each way that was measured; its other fields are those of `of`. */
void bench_send_times(const Bench *bench, const BenchWork *work, const BenchTimes *times, Timing of);

/* Is called for each kernel and type that the options ask for. */
typedef bool (*BenchVisit)(const Bench *bench, const CatalogRow *row, PtxType dtype, Error *error);
bool bench_visit(const Bench *bench, BenchVisit visit, Error *error);

bool bench_kernels(const Bench *bench, Error *error); /* of the catalogue */
bool bench_peers(const Bench *bench, Error *error);   /* CUB and thrust, where their library is */

#endif
