/* Grid timeline: the multiprocessor and the times of each block of a run. A light probe records it
 * (instrument/residency_probe.h), the pane of the grid draws it, files keep it (grid_file.h).
 *
 * Times are nanoseconds of the GPU's global timer since the first block of the run started. The timer moves in steps
 * of `granularity`: a time is exact to one step, a length to two.
 *
 * A launch keeps each block, or, where there are many, how many blocks were resident on each multiprocessor in each
 * bin of time. Figures always come from the single blocks, before they are folded. */
#ifndef TRACE_GRID_TIMELINE_H
#define TRACE_GRID_TIMELINE_H

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    GRID_MOST_MULTIPROCESSORS = 1024,
    GRID_MOST_LAUNCHES = 64,
    GRID_EXACT_BLOCKS = 4096, /* of a launch that keeps each block in a file; more are folded */
    GRID_BINS = 96,           /* of a folded launch, at most */
    GRID_MOST_LEVEL = 63      /* of a bin: half blocks */
};

typedef struct GridBlock {
    uint64_t start, end; /* the first thread began; the last warp exited */
    uint32_t multiprocessor;
    uint32_t cycles; /* from start to end by the multiprocessor's own clock; 0: not known */
} GridBlock;

/* What follows from the blocks of a launch. */
typedef struct GridFigures {
    uint64_t start, end;           /* of the first block, of the last one */
    uint32_t used_multiprocessors; /* that had a block */
    uint32_t most_resident;        /* blocks on one multiprocessor at once */
    uint64_t tail; /* from when the first multiprocessor that had a block had no more to do, to the end */
    double idle;   /* 0 to 1: time in which a multiprocessor had no block, of all multiprocessors' */
    double mean_block, longest_block; /* nanoseconds that a block was resident */
} GridFigures;

typedef struct GridLaunch {
    const char *entry; /* its readable name */
    uint32_t grid[3], block[3];
    bool cooperative;
    uint32_t capacity; /* blocks that one multiprocessor holds, of the kernel with the probe; 0: not known */
    uint32_t plain_capacity; /* the same of the kernel as it is */
    uint64_t block_count;
    GridBlock *blocks; /* [block_count] by linear index; NULL: folded */
    uint64_t bin_ns;   /* folded: length of a bin; the first begins at figures.start */
    uint32_t bins;
    uint8_t *levels; /* folded: [multiprocessor][bin] mean number of resident blocks, in halves */
    GridFigures figures;
} GridLaunch;

typedef struct GridTimeline {
    const char *kernel, *dtype, *op; /* dtype, op "": not known */
    uint64_t n;
    const char *machine, *driver; /* "NVIDIA H200"; "580.159.04, CUDA 13.0", "": not known */
    const char *measured;         /* when: UTC, "2026-11-21T15:00:00Z" */
    uint32_t multiprocessors;
    uint32_t granularity; /* nanoseconds: the smallest difference of two times; 0: not known */
    double
        overhead; /* of the probe: the fraction by which the launches took longer with it; NaN: not known */
    GridLaunch *launches;
    int launch_count;
    Arena arena; /* everything above */
} GridTimeline;

/* All zero but `launches` ([launch_count]), whose blocks the caller fills. */
GridTimeline *grid_timeline_new(int launch_count);
void grid_timeline_free(GridTimeline *timeline); /* or NULL */

/* Moves all times so that the first block starts at 0, and finds granularity and figures. Every launch has its
 * blocks. */
void grid_timeline_finish(GridTimeline *timeline);
GridFigures grid_figures(const GridBlock *blocks, uint64_t count, uint32_t multiprocessors);
/* Replaces the blocks of each launch that has more than `most` by bins. */
void grid_timeline_fold(GridTimeline *timeline, uint64_t most);

uint64_t grid_timeline_end(const GridTimeline *timeline); /* nanoseconds */
/* Blocks over what the machine holds at once; NaN: not known. */
double grid_waves(const GridTimeline *timeline, int launch);
/* Nanoseconds from the end of the launch before to the launch's first block; the first one has none: 0. Negative: they
 * overlap. */
int64_t grid_gap(const GridTimeline *timeline, int launch);

/* resident[multiprocessor * columns + column]: mean number of the launch's blocks that were resident in each of
 * `columns` equal parts of [begin, end). */
void grid_residency(const GridTimeline *timeline, int launch, uint64_t begin, uint64_t end, int columns,
                    double *resident);

/* The same geometry: it may be shown for a run of these launches. */
bool grid_same_launch(const GridLaunch *launch, const uint32_t grid[3], const uint32_t block[3]);

#endif
