/* Measuring: a worker thread that keeps timing kernels while the interface goes on: first the one that is
 * shown, then the ladder, then this machine's CPU; a rest, and again. What is wanted may change at any time;
 * results come out one by one. The interface never waits for it, not even at its end. */
#ifndef TUI_MEASURING_H
#define TUI_MEASURING_H

#include "tui/scene/scene.h"
#include "bench/bench.h"

typedef bool MeasureFunction(const BenchOptions *options, const BenchSink *sink, Error *error);

typedef struct MeasuringWish {
    BenchOptions of; /* kernel NULL: the ladder alone; n of one size. seconds and cancel do not count */
    uint64_t cpu_n;  /* what the CPU reduces: the size that the table shows; 0: the CPU is not timed */
} MeasuringWish;

MeasuringWish measuring_wish(const Scene *scene); /* what belongs beside this run; borrows from it */

typedef struct Measuring Measuring;

/* `gpu` times kernels (bench_run()), `cpu` what they are compared with (NULL: nothing). `wake` is called from
 * the thread when there is something to take. NULL: the machine has no thread. */
Measuring *measuring_new(MeasureFunction *gpu, MeasureFunction *cpu, void (*wake)(void));

/* From now on this; NULL: nothing. Copied. What is under way for another wish is cancelled. */
void measuring_want(Measuring *measuring, const MeasuringWish *wish);

/* Moves what came since the last time into `live` (intervals: those of the kernel that is wanted now), and says in `status` what is measured right now and why
 * the GPU is not. False: nothing new. */
bool measuring_take(Measuring *measuring, Measurements *live, SceneTimings *status);

/* Ends the thread and frees all. False: it does not end soon, or a GPU failed under it; then nothing is
 * freed, and the process must leave by _exit(), as the driver's own clean-up may wait for ever. */
bool measuring_end(Measuring *measuring);

#endif
