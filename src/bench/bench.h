/* Bench: the times of kernels by size and type, measured now. A BenchSink gets each result as it is measured:
 * --bench prints it (src/cli/bench_print.h), a session keeps it (session_measured()), a pane shows it.
 * Everything here may run in a worker thread. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "catalog/catalog.h"
#include "sass/sass.h"
#include "trace/grid_timeline.h"
#include "trace/measured.h"

typedef struct BenchOptions {
    const char *kernel;     /* NULL: the ladder; "all": every kernel that is no bug */
    CatalogOptions catalog; /* n 0: eight sizes, from 2^10 to 2^30; dtype PTX_NO_TYPE: those of int, float
                               and double that the kernel has, else its first; the rest as for a run */
    double cell_seconds;    /* for a kernel, type and size, at most; 0: 0.05 */
    int gpus;               /* 0: one; else an array that lies across so many, summed in several ways */
    bool intervals;         /* cycles of block 0's barrier intervals, too, of each kernel alone */
    bool profile;           /* values, too, of each kernel alone: counters, occupancy, copies */
    bool
        grid; /* instead of times: where and when each block of each kernel alone ran; n 0: 2^20 and 2^24, and of the
                  types only the first */
    const char *machine;         /* whose recordings stand in where there is no GPU; NULL: the default one */
    const volatile bool *cancel; /* true ends it between two measurements, with an error; NULL: never */
} BenchOptions;

/* The machine that the timings are taken on. Not known: "", 0, NaN. */
typedef struct BenchMachine {
    char name[128];  /* "NVIDIA H200" */
    char driver[96]; /* "580.159.04, CUDA 13.0" */
    int multiprocessors;
    int l2_bytes;
    double memory_clock; /* MHz */
    double peak;         /* GB/s of its memory: nominal, by memory clock and width of the bus */
    double read, copy;   /* GB/s, measured: of reading alone; of copying, read and written */
} BenchMachine;

typedef MeasuredValue BenchValue;

typedef struct BenchSink { /* any of them may be NULL; what they get is borrowed until they return */
    void *context;
    void (*machine)(void *context, const BenchMachine *machine); /* before its timings */
    void (*cell)(void *context, const char *kernel, uint64_t n); /* it is measured next */
    void (*timing)(void *context, const Timing *timing);
    void (*value)(void *context, const BenchValue *value);
    /* Of block 0; `of` says of which kernel and size. */
    void (*interval)(void *context, const BenchValue *of, const IntervalTime *time);
    /* `timeline` NULL: not known, `why` says so. */
    void (*grid)(void *context, const BenchValue *of, GridTimeline *timeline, const char *why);
} BenchSink;

/* Is there a GPU that CUDA can use? `why` says why not. */
bool bench_has_gpu(Error *why);

/* On the GPU. For each kernel, type and size: first the kernel alone, then with all launches down to one
 * number; each in a graph (where it can be in one) and as a single call; each cold and warm. What does not
 * fit (memory, a kernel that refuses) is one timing without samples, whose note says why. false with
 * `error` where there is no GPU, or it fails. */
bool bench_run(const BenchOptions *options, const BenchSink *sink, Error *error);

typedef struct BenchSassSink { /* what they get is borrowed until they return */
    void *context;
    void (*cell)(void *context, const char *kernel, const char *dtype); /* it is measured next */
    void (*kernel)(void *context, const SassKernel *kernel);
    void (*missing)(void *context, const char *kernel, const char *dtype, const char *why);
} BenchSassSink;

/* The machine code of each kernel that is asked for, in each type, and of each of its launches: counted at 2^20
 * elements and sampled at 2^24, or both at the size that is asked for. What a kernel lacks is reported, and the next one
 * follows. false with `error`: there is no GPU, a kernel does not return, or not one kernel could be measured. */
bool bench_sass(const BenchOptions *options, const BenchSassSink *sink, Error *error);

/* This machine's own CPU, reducing as many elements to one number: "cpu", one thread, element after element,
 * and "cpu, all threads", with SIMD; single calls, caches warm. Nothing for kernels that do something else
 * than a reduction. false with `error`: cancelled, no such kernel, or the CPU's result is wrong. */
bool bench_cpu(const BenchOptions *options, const BenchSink *sink, Error *error);

/* ---- recordings that ship with redviz: assets/NAME/timings.tsv ---- */

enum { BENCH_MACHINES = 16, BENCH_MACHINE_BYTES = 32 };
/* Their names, as --machine takes them, in alphabetical order; returns their number. */
int bench_machines(char names[BENCH_MACHINES][BENCH_MACHINE_BYTES]);
/* The machine that is shown where none is asked for: the H200 where it is there, else the first. */
const char *bench_default_machine(void);

/* From the machine of this name ("": the default one) to the next, around. False: there is no other. */
bool bench_next_machine(char name[BENCH_MACHINE_BYTES]);

/* Timings and values of a machine (NULL: the default one); each says on what machine and when. */
bool bench_recorded(const char *machine, Measurements *measured, Error *error);
bool bench_read_recorded(const char *machine, const BenchSink *sink, Error *error);

#endif
