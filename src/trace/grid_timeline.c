/* Figures and bins of a grid's timeline (grid_timeline.h). */
#include "trace/grid_timeline.h"

#include <math.h>
#include <stdlib.h>

GridTimeline *grid_timeline_new(int launch_count) {
    GridTimeline *timeline = memory_new(sizeof *timeline);
    *timeline = (GridTimeline){.of = timeline_run_unknown, .overhead = NAN};
    timeline->launch_count = launch_count;
    timeline->launches = arena_new(&timeline->arena, (size_t)(launch_count + 1) * sizeof *timeline->launches);
    return timeline;
}

void grid_timeline_free(GridTimeline *timeline) {
    if (!timeline) return;
    arena_done(&timeline->arena);
    free(timeline);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

/* A block starts or ends. */
typedef struct GridChange {
    uint64_t time;
    uint32_t multiprocessor;
    int by; /* 1 or -1 */
} GridChange;

/* By multiprocessor, then time; at equal times, ends come before starts. */
static int compare_changes(const void *a, const void *b) {
    const GridChange *x = a, *y = b;
    if (x->multiprocessor != y->multiprocessor) return x->multiprocessor < y->multiprocessor ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->by - y->by;
}

static GridChange *list_changes(const GridBlock *blocks, uint64_t count) {
    GridChange *changes = memory_new((size_t)(2 * count + 1) * sizeof *changes);
    for (uint64_t i = 0; i < count; i++) {
        changes[2 * i] = (GridChange){blocks[i].start, blocks[i].multiprocessor, 1};
        changes[2 * i + 1] = (GridChange){blocks[i].end, blocks[i].multiprocessor, -1};
    }
    qsort(changes, (size_t)(2 * count), sizeof *changes, compare_changes);
    return changes;
}

/* Visits each multiprocessor in turn. A block of length zero is resident for no time. */
static void walk_changes(const GridChange *changes, uint64_t count, GridFigures *figures, uint64_t *busy,
                         uint64_t *first_idle) {
    *busy = 0;
    *first_idle = UINT64_MAX;
    for (uint64_t i = 0; i < count;) {
        uint32_t multiprocessor = changes[i].multiprocessor;
        int resident = 0;
        uint64_t since = 0, last = 0;
        for (; i < count && changes[i].multiprocessor == multiprocessor; i++) {
            if (resident <= 0 && changes[i].by > 0) since = changes[i].time;
            resident += changes[i].by;
            if (resident > (int)figures->most_resident) figures->most_resident = (uint32_t)resident;
            if (resident == 0 && changes[i].time > since) *busy += changes[i].time - since;
            last = changes[i].time;
        }
        figures->used_multiprocessors++;
        if (last < *first_idle) *first_idle = last;
    }
}

GridFigures grid_figures(const GridBlock *blocks, uint64_t count, uint32_t multiprocessors) {
    GridFigures figures = {.start = UINT64_MAX};
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double length = (double)(blocks[i].end - blocks[i].start);
        if (blocks[i].start < figures.start) figures.start = blocks[i].start;
        if (blocks[i].end > figures.end) figures.end = blocks[i].end;
        if (length > figures.longest_block) figures.longest_block = length;
        sum += length;
    }
    if (!count) return (GridFigures){.idle = NAN, .mean_block = NAN, .longest_block = NAN};
    uint64_t busy, first_idle;
    GridChange *changes = list_changes(blocks, count);
    walk_changes(changes, 2 * count, &figures, &busy, &first_idle);
    free(changes);
    double whole = (double)(figures.end - figures.start) * multiprocessors;
    figures.mean_block = sum / (double)count;
    figures.tail = figures.end - first_idle;
    figures.idle = whole > 0 ? 1 - (double)busy / whole : (double)NAN;
    return figures;
}

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The smallest nonzero difference of two times: the timer's step, or more if there are few blocks. */
static uint32_t find_granularity(const GridTimeline *timeline) {
    uint64_t count = 0, least = UINT64_MAX;
    for (int i = 0; i < timeline->launch_count; i++) count += 2 * timeline->launches[i].block_count;
    uint64_t *times = memory_new((size_t)(count + 1) * sizeof *times);
    count = 0;
    for (int i = 0; i < timeline->launch_count; i++)
        for (uint64_t k = 0; k < timeline->launches[i].block_count; k++) {
            times[count++] = timeline->launches[i].blocks[k].start;
            times[count++] = timeline->launches[i].blocks[k].end;
        }
    qsort(times, (size_t)count, sizeof *times, compare_times);
    for (uint64_t i = 1; i < count; i++)
        if (times[i] > times[i - 1] && times[i] - times[i - 1] < least) least = times[i] - times[i - 1];
    free(times);
    return least > UINT32_MAX ? 0 : (uint32_t)least;
}

void grid_timeline_finish(GridTimeline *timeline) {
    uint64_t first = UINT64_MAX;
    for (int i = 0; i < timeline->launch_count; i++)
        for (uint64_t k = 0; k < timeline->launches[i].block_count; k++)
            if (timeline->launches[i].blocks[k].start < first) first = timeline->launches[i].blocks[k].start;
    for (int i = 0; i < timeline->launch_count; i++) {
        GridLaunch *launch = &timeline->launches[i];
        for (uint64_t k = 0; k < launch->block_count; k++) {
            launch->blocks[k].start -= first;
            launch->blocks[k].end -= first;
        }
        launch->figures = grid_figures(launch->blocks, launch->block_count, timeline->multiprocessors);
    }
    timeline->granularity = find_granularity(timeline);
}

uint64_t grid_timeline_end(const GridTimeline *timeline) {
    uint64_t end = 0;
    for (int i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].figures.end > end) end = timeline->launches[i].figures.end;
    return end;
}

double grid_waves(const GridTimeline *timeline, int launch) {
    const GridLaunch *of = &timeline->launches[launch];
    double held = (double)of->capacity * timeline->multiprocessors;
    return held > 0 ? (double)of->block_count / held : (double)NAN;
}

int64_t grid_gap(const GridTimeline *timeline, int launch) {
    if (launch < 1) return 0;
    return (int64_t)timeline->launches[launch].figures.start -
           (int64_t)timeline->launches[launch - 1].figures.end;
}

bool grid_same_launch(const GridLaunch *launch, const uint32_t grid[3], const uint32_t block[3]) {
    return !memcmp(launch->grid, grid, sizeof launch->grid) &&
           !memcmp(launch->block, block, sizeof launch->block);
}

/* ---- residency ----------------------------------------------------------------------------------------- */

typedef struct GridColumns { /* equal parts of a time range */
    double begin, width;
    int count;
    double *resident; /* [multiprocessor][count] */
} GridColumns;

/* Adds `weight` blocks that are resident from `start` to `end`. */
static void add_stretch(const GridColumns *columns, uint32_t multiprocessor, double start, double end,
                        double weight) {
    double *row = columns->resident + (size_t)multiprocessor * (size_t)columns->count;
    double from = (start - columns->begin) / columns->width, to = (end - columns->begin) / columns->width;
    if (from < 0) from = 0;
    if (to > columns->count) to = columns->count;
    for (int i = (int)from; i < columns->count && i < to; i++) {
        double left = from > i ? from : i, right = to < i + 1 ? to : i + 1;
        if (right > left) row[i] += weight * (right - left);
    }
}

static void add_blocks(const GridLaunch *launch, const GridColumns *columns) {
    for (uint64_t i = 0; i < launch->block_count; i++) {
        const GridBlock *block = &launch->blocks[i];
        add_stretch(columns, block->multiprocessor, (double)block->start, (double)block->end, 1);
    }
}

static void add_bins(const GridLaunch *launch, uint32_t multiprocessors, const GridColumns *columns) {
    for (uint32_t m = 0; m < multiprocessors; m++)
        for (uint32_t bin = 0; bin < launch->bins; bin++) {
            double start = (double)launch->figures.start + (double)launch->bin_ns * bin;
            uint8_t level = launch->levels[m * launch->bins + bin];
            if (level) add_stretch(columns, m, start, start + (double)launch->bin_ns, level / 2.0);
        }
}

void grid_residency(const GridTimeline *timeline, int launch, uint64_t begin, uint64_t end, int columns,
                    double *resident) {
    const GridLaunch *of = &timeline->launches[launch];
    GridColumns to = {(double)begin, ((double)end - (double)begin) / columns, columns, resident};
    memset(resident, 0, (size_t)timeline->multiprocessors * (size_t)columns * sizeof *resident);
    if (end <= begin) return;
    if (of->blocks)
        add_blocks(of, &to);
    else
        add_bins(of, timeline->multiprocessors, &to);
}

/* ---- folding ------------------------------------------------------------------------------------------- */

/* A bin with any residency never becomes 0. */
static uint8_t level_of(double resident) {
    double level = floor(2 * resident + 0.5);
    if (resident > 0 && level < 1) level = 1;
    return level > GRID_MOST_LEVEL ? GRID_MOST_LEVEL : (uint8_t)level;
}

static void fold_launch(GridTimeline *timeline, int index) {
    GridLaunch *launch = &timeline->launches[index];
    uint64_t length = launch->figures.end - launch->figures.start;
    launch->bin_ns = (length + GRID_BINS - 1) / GRID_BINS;
    if (!launch->bin_ns) launch->bin_ns = 1;
    launch->bins = (uint32_t)((length + launch->bin_ns - 1) / launch->bin_ns);
    if (!launch->bins) launch->bins = 1;
    size_t count = (size_t)timeline->multiprocessors * launch->bins;
    double *resident = memory_new((count + 1) * sizeof *resident);
    grid_residency(timeline, index, launch->figures.start,
                   launch->figures.start + launch->bin_ns * launch->bins, (int)launch->bins, resident);
    launch->levels = arena_new(&timeline->arena, count);
    for (size_t i = 0; i < count; i++) launch->levels[i] = level_of(resident[i]);
    launch->blocks = NULL;
    free(resident);
}

void grid_timeline_fold(GridTimeline *timeline, uint64_t most) {
    for (int i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].blocks && timeline->launches[i].block_count > most)
            fold_launch(timeline, i);
}
