/* Grid timeline: the multiprocessor and the times of each block of a run. A light probe records it
 * (instrument/residency_probe.h), the grid pane draws it, files keep it (grid_file.h).
 *
 * Times are nanoseconds of the GPU's global timer since the first block of the run started. The timer moves
 * in steps of `granularity`: a time is exact to one step, a length to two.
 *
 * A launch keeps each block or, if there are many, how many blocks were resident on each multiprocessor in
 * each bin of time. Figures are always computed from single blocks, before these are folded into bins. */
#ifndef TRACE_GRID_TIMELINE_H
#define TRACE_GRID_TIMELINE_H

#include "base/memory.h"
#include "trace/timeline_run.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    GRID_MOST_MULTIPROCESSORS = 1024,
    GRID_MOST_LAUNCHES = 64,
    GRID_EXACT_BLOCKS = 4096, /* most blocks that a launch keeps in a file; more are folded */
    GRID_BINS = 96,           /* most bins of a folded launch */
    GRID_MOST_LEVEL = 63      /* of a bin, in half blocks */
};

typedef struct GridBlock {
    uint64_t start, end; /* when the first thread started and the last warp exited */
    uint32_t multiprocessor;
    uint32_t cycles; /* from start to end in clock cycles of the multiprocessor; 0: not known */
} GridBlock;

/* Figures computed from the blocks of a launch. */
typedef struct GridFigures {
    uint64_t start, end;           /* start of the first block, end of the last one */
    uint32_t used_multiprocessors; /* multiprocessors that had a block */
    uint32_t most_resident;        /* most blocks on one multiprocessor at once */
    uint64_t tail;                 /* from when the first multiprocessor ran out of blocks to the end */
    double idle;                   /* 0 to 1: share of all multiprocessors' time without a resident block */
    double mean_block, longest_block; /* nanoseconds of residency */
} GridFigures;

typedef struct GridLaunch {
    const char *entry; /* its readable name */
    uint32_t grid[3], block[3];
    bool cooperative;
    uint32_t capacity; /* blocks that one multiprocessor holds, for the kernel with the probe; 0: not known */
    uint32_t plain_capacity; /* as above, for the kernel without the probe */
    uint64_t block_count;
    GridBlock *blocks; /* [block_count] by linear index; NULL: folded */
    uint64_t bin_ns;   /* folded: length of a bin; the first one begins at figures.start */
    uint32_t bins;
    uint8_t *levels; /* folded: [multiprocessor][bin] mean number of resident blocks, in halves */
    GridFigures figures;
} GridLaunch;

typedef struct GridTimeline {
    TimelineRun of;
    uint32_t multiprocessors;
    uint32_t granularity; /* nanoseconds: the smallest difference of two times; 0: not known */
    /* Of the probe: the fraction by which it lengthens the launches; NaN: not known. */
    double overhead;
    GridLaunch *launches;
    int launch_count;
    Arena arena; /* everything above */
} GridTimeline;

/* All zero except `launches` ([launch_count]), whose blocks the caller fills. */
GridTimeline *grid_timeline_new(int launch_count);
void grid_timeline_free(GridTimeline *timeline); /* NULL is fine */

/* Shifts all times so that the first block starts at 0, and computes granularity and figures. Every launch
 * must have its blocks. */
void grid_timeline_finish(GridTimeline *timeline);
GridFigures grid_figures(const GridBlock *blocks, uint64_t count, uint32_t multiprocessors);
/* Replaces the blocks of each launch with more than `most` blocks by bins. */
void grid_timeline_fold(GridTimeline *timeline, uint64_t most);

uint64_t grid_timeline_end(const GridTimeline *timeline); /* nanoseconds */
/* Blocks divided by the number that the machine holds at once; NaN: not known. */
double grid_waves(const GridTimeline *timeline, int launch);
/* Nanoseconds from the end of the previous launch to this launch's first block; 0 for the first launch.
 * Negative: they overlap. */
int64_t grid_gap(const GridTimeline *timeline, int launch);

/* resident[multiprocessor * columns + column]: mean number of resident blocks of the launch in each of
 * `columns` equal parts of [begin, end). */
void grid_residency(const GridTimeline *timeline, int launch, uint64_t begin, uint64_t end, int columns,
                    double *resident);

/* True if the geometry is the same, so that the timeline fits a run of these launches. */
bool grid_same_launch(const GridLaunch *launch, const uint32_t grid[3], const uint32_t block[3]);

#endif
