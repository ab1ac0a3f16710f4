/* Ladder: times of all rungs by size, and other measurements of each rung. They share one type, operation and
 * way of timing; --ladder and the ladder screen show this table.
 *
 * A plain table, rebuilt from lists that grow during a measurement. Rungs are the kernels of the catalogue's
 * ladder that support the type, timed or not, in its order. Other reductions of the same elements follow: a
 * Triton program, libraries, a CPU. Nothing is computed from counts: values that were not measured are NaN,
 * and printed as "-". */
#ifndef LADDER_LADDER_H
#define LADDER_LADDER_H

#include "catalog/catalog.h"
#include "ladder/counts.h"
#include "findings/limit.h"
#include "trace/measured.h"

enum { LADDER_SIZES = 16, LADDER_ROWS = 64 };

typedef struct LadderOf {
    const char *dtype, *op; /* "int", "sum" */
    TimesWay way;
    bool alone; /* the kernel alone; otherwise all launches to one number */
} LadderOf;

typedef struct LadderRow {
    const char *id;                    /* of the catalogue, or "cub"; borrowed */
    const CatalogRow *row;             /* NULL: not in the catalogue */
    const Timing *times[LADDER_SIZES]; /* measured as requested, or in the most similar way; NULL: none */
    const Timing *alone[LADDER_SIZES], *scalar[LADDER_SIZES];
    const char *skipped[LADDER_SIZES]; /* why there is no time; NULL: unknown */
} LadderRow;

typedef struct Ladder {
    LadderOf of;                  /* `op`: "sum" if nothing else was timed */
    const Measurements *from;     /* borrowed */
    const Measurements *here;     /* likewise; NULL: none */
    const Timing *sample;         /* of some rung: gives the machine and date; NULL: nothing was timed */
    uint64_t sizes[LADDER_SIZES]; /* ascending */
    double best[LADDER_SIZES];    /* microseconds of the fastest on this GPU; NaN: nothing was timed */
    int size_count;
    LadderRow rows[LADDER_ROWS];
    int rung_count, row_count; /* rows from rung_count on are not rungs */
    int first;                 /* the base of speedups: K0; -1: it was not timed at any size */
} Ladder;

/* `here`: timings of this machine's CPU, placed below those of a GPU; NULL: none. */
void ladder_gather(Ladder *out, const Measurements *from, const Measurements *here, const LadderOf *of);

int ladder_find_size(const Ladder *ladder, uint64_t n);    /* the nearest */
int ladder_find_row(const Ladder *ladder, const char *id); /* -1: none */
/* True if the timing was measured in another way than requested. */
bool ladder_is_otherwise(const Ladder *ladder, const Timing *timing);

/* Compares a cell with the fastest of its size, from 4, at least 90 % as fast, to 0; -1: not timed. Each
 * speed has a sign, so the display does not depend on colour. */
enum { LADDER_SPEEDS = 5 };
int ladder_speed(const Ladder *ladder, int row, int size);

typedef struct LadderFigures { /* NaN: unknown */
    double microseconds;
    double over_first, over_before;       /* speedup over K0, and over the nearest timed rung above */
    double gigabytes, read_share;         /* GB/s; 0 to 1 of the measured read bandwidth */
    double sass;                          /* executed warp instructions */
    double wavefronts, sectors, barriers; /* of the emulated kernel: its own launches */
    int launches;                         /* to one number; 0: unknown */
    LimitFigures limit;
} LadderFigures;

void ladder_figures(const Ladder *ladder, const LadderCounts *counts, int row, int size, LadderFigures *out);

/* Finds the limit of one kernel at a size, from its times `alone` and `scalar` (NULL: none) and its profile
 * in `from`, for the dtype and op in `of`. */
void ladder_find_limit(const Measurements *from, const LadderOf *of, const char *kernel, uint64_t n,
                       const Timing *alone, const Timing *scalar, LimitFigures *out);

/* The types in which rungs or comparisons were timed, in the order int, float, double, then others; returns
 * their number. */
enum { LADDER_TYPES = 8 };
int ladder_types(const Measurements *from, const char *types[LADDER_TYPES]);

/* Counts the timed cells of rungs, and all cells. */
int ladder_timed(const Ladder *ladder, int *all);

/* "1.3", "25.9", "398", "29.5ms": at most 6 columns; microseconds without a unit. */
void ladder_print_time(double microseconds, char *out, size_t bytes);
void ladder_print_size(uint64_t n, char *out, size_t bytes);    /* "2^20" */
void ladder_print_count(double count, char *out, size_t bytes); /* "614,400", "4.19 M" */
/* Its number in our numbering: "K0"; "" if it has none. */
const char *ladder_number(const LadderRow *row);

#endif
