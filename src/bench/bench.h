/* Bench: measures the times of kernels by size and type. A BenchSink receives each result as it is measured:
 * --bench prints it (src/cli/bench_print.h), a session keeps it (session_measured()), a pane shows it. All
 * functions may run in a worker thread. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "catalog/catalog.h"
#include "sass/sass.h"
#include "trace/grid_timeline.h"
#include "trace/measured.h"
#include <stdatomic.h>

typedef struct BenchOptions {
    const char *kernel; /* NULL: the ladder; "all": every kernel that is not a bug */
    /* n 0: eight sizes, from 2^10 to 2^30; dtype PTX_NO_TYPE: those of int, float and double that the kernel
     * has, or its first type; the rest as for a run */
    CatalogOptions catalog;
    double cell_seconds; /* limit per kernel, type and size; 0: 0.05 */
    /* 0: one; otherwise the array is spread over this many GPUs and summed in several ways */
    int gpus;
    bool intervals; /* also the cycles of block 0's barrier intervals, for each kernel alone */
    bool profile;   /* also values for each kernel alone: counters, occupancy, copies */
    /* instead of times: where and when each block of each kernel alone ran; n 0: 2^20 and 2^24, only the
     * first type */
    bool grid;
    const char *machine;       /* whose recordings to use without a GPU; NULL: the default one */
    const atomic_bool *cancel; /* true: ends between two measurements, with an error; NULL: never */
} BenchOptions;

/* The machine of the timings. Unknown: "", 0, NaN. */
typedef struct BenchMachine {
    char name[128];  /* "NVIDIA H200" */
    char driver[96]; /* "580.159.04, CUDA 13.0" */
    int multiprocessors;
    int l2_bytes;
    double memory_clock; /* MHz */
    double peak;         /* GB/s of its memory: nominal, from memory clock and bus width */
    double read, copy;   /* GB/s, measured: reading only; copying, the sum of both directions */
} BenchMachine;

typedef MeasuredValue BenchValue;

typedef struct BenchSink { /* any may be NULL; arguments are borrowed during the call */
    void *context;
    void (*machine)(void *context, const BenchMachine *machine); /* before its timings */
    void (*cell)(void *context, const char *kernel, uint64_t n); /* the next cell to be measured */
    void (*timing)(void *context, const Timing *timing);
    void (*value)(void *context, const BenchValue *value);
    /* Of block 0; `of` gives the kernel and size. */
    void (*interval)(void *context, const BenchValue *of, const IntervalTime *time);
    /* `timeline` NULL: unknown, `why` gives the reason. */
    void (*grid)(void *context, const BenchValue *of, GridTimeline *timeline, const char *why);
} BenchSink;

/* True if CUDA can use a GPU; otherwise `why` says why not. */
bool bench_has_gpu(Error *why);

/* Measures on the GPU. For each kernel, type and size: first the kernel alone, then all launches down to one
 * number; each in a graph (if possible) and as a single call; each cold and warm. A measurement that is
 * impossible (memory, a kernel that refuses) is one timing without samples, whose note gives the reason.
 * False with `error` if there is no GPU, or it fails. */
bool bench_run(const BenchOptions *options, const BenchSink *sink, Error *error);

typedef struct BenchSassSink { /* arguments are borrowed during the call */
    void *context;
    void (*cell)(void *context, const char *kernel, const char *dtype); /* the next cell to be measured */
    void (*kernel)(void *context, const SassKernel *kernel);
    void (*missing)(void *context, const char *kernel, const char *dtype, const char *why);
} BenchSassSink;

/* The machine code of each requested kernel and type, and of each launch: counted at 2^20 elements and
 * sampled at 2^24, or both at the requested size. Reports a failure of a kernel and continues with the next
 * one. False with `error`: there is no GPU, a kernel hangs, or no kernel could be measured. */
bool bench_sass(const BenchOptions *options, const BenchSassSink *sink, Error *error);

/* Measures this machine's CPU on the same reductions: "cpu", one thread, element by element, and "cpu, all
 * threads", with SIMD; single calls, caches warm. Skips kernels that are not reductions. False with `error`:
 * cancelled, no such kernel, or the CPU's result is wrong. */
bool bench_cpu(const BenchOptions *options, const BenchSink *sink, Error *error);

/* ---- recordings that ship with redviz: assets/NAME/timings.tsv ---- */

enum { BENCH_MACHINES = 16, BENCH_MACHINE_BYTES = 32 };
/* The names of the recorded machines, for --machine, in alphabetical order; returns their number. */
int bench_machines(char names[BENCH_MACHINES][BENCH_MACHINE_BYTES]);
/* The default machine: the H200 if recorded, otherwise the first. */
const char *bench_default_machine(void);

/* Advances from this machine ("": the default one) to the next, cyclically. False: there is no other. */
bool bench_next_machine(char name[BENCH_MACHINE_BYTES]);

/* Reads the timings and values of a machine (NULL: the default one); each says on what machine and when it
 * was measured. */
bool bench_recorded(const char *machine, Measurements *measured, Error *error);
bool bench_read_recorded(const char *machine, const BenchSink *sink, Error *error);

#endif
