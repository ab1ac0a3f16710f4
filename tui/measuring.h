/* Measuring: a worker thread that times kernels while the interface runs: first the kernel that is shown,
 * then the ladder, then this machine's CPU; after a pause it starts over. The wish may change at any time;
 * results arrive one by one. The interface never waits for the thread, not even at its end. */
#ifndef TUI_MEASURING_H
#define TUI_MEASURING_H

#include "tui/view/view.h"
#include "bench/bench.h"

typedef bool MeasureFunction(const BenchOptions *options, const BenchSink *sink, Error *error);

typedef struct MeasuringWish {
    BenchOptions of; /* kernel NULL: the ladder alone; n 0: all sizes. seconds and cancel are ignored */
    uint64_t cpu_n;  /* the size that the CPU reduces, as in the table; 0: do not time the CPU */
    bool once;       /* measures once; else again and again, after pauses */
} MeasuringWish;

MeasuringWish measuring_wish(const Scene *scene); /* what to measure for this run; borrows from it */

/* For the ladder screen: all sizes of every rung, in this type; or the kernels that time themselves. */
MeasuringWish measuring_ladder_wish(const Scene *scene, const View *view);

typedef struct Measuring Measuring;

/* `gpu` times kernels (bench_run()), `cpu` times the CPU for comparison (NULL: not). The thread calls `wake`
 * when a result is ready. NULL: no thread could be started. */
Measuring *measuring_new(MeasureFunction *gpu, MeasureFunction *cpu, void (*wake)(void));

/* Sets what to measure from now on; NULL: nothing. The wish is copied. Work on another wish is cancelled. */
void measuring_want(Measuring *measuring, const MeasuringWish *wish);

/* Moves the results since the last call into `live` (intervals: those of the kernel wanted now), and sets in
 * `status` which kernel is being measured, or why no GPU is. False: nothing new. */
bool measuring_take(Measuring *measuring, Measurements *live, SceneTimings *status);

/* Ends the thread and frees everything. False: the thread does not end soon, or the GPU has failed; then
 * nothing is freed, and the process must leave by _exit(), as the driver's own clean-up may wait for ever. */
bool measuring_end(Measuring *measuring);

#endif
