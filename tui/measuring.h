/* Measuring: a worker thread that keeps timing kernels while the interface runs: first the kernel that is
 * shown, then the ladder, then this machine's CPU; after a pause it starts over. The wish may change at any
 * time; results arrive one by one. The interface never waits for the thread, not even at its end. */
#ifndef TUI_MEASURING_H
#define TUI_MEASURING_H

#include "tui/view/view.h"
#include "bench/bench.h"

typedef bool MeasureFunction(const BenchOptions *options, const BenchSink *sink, Error *error);

typedef struct MeasuringWish {
    BenchOptions of; /* kernel NULL: the ladder alone; n 0: all sizes. seconds and cancel do not count */
    uint64_t cpu_n;  /* what the CPU reduces: the size that the table shows; 0: the CPU is not timed */
} MeasuringWish;

MeasuringWish measuring_wish(const Scene *scene); /* what to measure for this run; borrows from it */

/* For the ladder screen: all sizes of every rung, in this type; or the kernels that time themselves. */
MeasuringWish measuring_ladder_wish(const Scene *scene, const View *view);

typedef struct Measuring Measuring;

/* `gpu` times kernels (bench_run()), `cpu` what they are compared with (NULL: nothing). `wake` is called from
 * the thread when there is something to take. NULL: no thread could be started. */
Measuring *measuring_new(MeasureFunction *gpu, MeasureFunction *cpu, void (*wake)(void));

/* What to measure from now on; NULL: nothing. Copied. Work on another wish is cancelled. */
void measuring_want(Measuring *measuring, const MeasuringWish *wish);

/* Moves the results since the last call into `live` (intervals: those of the kernel that is wanted now), and
 * sets in `status` which kernel is being measured, or why no GPU is. False: nothing new. */
bool measuring_take(Measuring *measuring, Measurements *live, SceneTimings *status);

/* Ends the thread and frees all. False: it does not end soon, or the GPU has failed; then nothing is freed,
 * and the process must leave by _exit(), as the driver's own clean-up may wait for ever. */
bool measuring_end(Measuring *measuring);

#endif
