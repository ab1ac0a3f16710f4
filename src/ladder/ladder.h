/* Ladder: times of all rungs by size, and what else was measured of each rung. They are of one type,
 * operation and way of timing; --ladder and the ladder screen show this table.
 *
 * A plain table, made anew from lists that grow while a GPU is measured. Rungs are the kernels of the catalogue's ladder
 * that take the type, timed or not, in its order; below them stands what else brings as many numbers to one: a program of
 * Triton's, libraries, a CPU. Nothing is computed from counts: what was not measured is NaN, and printed as "-". */
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
    bool alone; /* the kernel alone, else all launches to one number */
} LadderOf;

typedef struct LadderRow {
    const char *id;                    /* of the catalogue, or "cub"; borrowed */
    const CatalogRow *row;             /* NULL: not in the catalogue */
    const Timing *times[LADDER_SIZES]; /* taken in the way asked for, or the most similar one; NULL: none */
    const Timing *alone[LADDER_SIZES], *scalar[LADDER_SIZES];
    const char *skipped[LADDER_SIZES]; /* why there is none; NULL: not known */
} LadderRow;

typedef struct Ladder {
    LadderOf of;                  /* `op`: "sum" where nothing else was timed */
    const Measurements *from;     /* borrowed */
    const Measurements *here;     /* likewise; NULL: none */
    const Timing *sample;         /* one of a rung's: which machine and when; NULL: nothing was timed */
    uint64_t sizes[LADDER_SIZES]; /* ascending */
    double best[LADDER_SIZES];    /* microseconds of the fastest on this GPU; NaN: nothing was timed */
    int size_count;
    LadderRow rows[LADDER_ROWS];
    int rung_count, row_count; /* rows from rung_count on are no rungs */
    int first;                 /* the rung that speed-ups are over: K0; -1: it was not timed at any size */
} Ladder;

/* `here`: timings of this machine's CPU, to stand below those of a GPU; NULL: none. */
void ladder_gather(Ladder *out, const Measurements *from, const Measurements *here, const LadderOf *of);

int ladder_find_size(const Ladder *ladder, uint64_t n);    /* the nearest */
int ladder_find_row(const Ladder *ladder, const char *id); /* -1: none */
/* The timing was taken in another way than asked for. */
bool ladder_is_otherwise(const Ladder *ladder, const Timing *timing);

/* How fast a cell is beside the best of its size, from 4, at least 90 % as fast, to 0; -1: not timed. Each has a sign,
 * so that nothing depends on colour. */
enum { LADDER_SPEEDS = 5 };
int ladder_speed(const Ladder *ladder, int row, int size);

typedef struct LadderFigures { /* NaN: not known */
    double microseconds;
    double over_first, over_before; /* speed-up over K0, and over the nearest rung above that was timed */
    double gigabytes, read_share;   /* GB/s; 0 to 1 of what was measured for reading alone */
    double sass;                    /* warp instructions that were executed */
    double wavefronts, sectors, barriers; /* of the emulated kernel: its own launches */
    int launches;                         /* to one number; 0: not known */
    LimitFigures limit;
} LadderFigures;

void ladder_figures(const Ladder *ladder, const LadderCounts *counts, int row, int size, LadderFigures *out);

/* What limits one kernel at a size, from its times `alone` and `scalar` (NULL: none) and what it was profiled for in
 * `from`. Its dtype and op are those of `of`. */
void ladder_find_limit(const Measurements *from, const LadderOf *of, const char *kernel, uint64_t n,
                       const Timing *alone, const Timing *scalar, LimitFigures *out);

/* The types that rungs, or what they are compared with, were timed in, in the order int, float, double, then others; their number. */
enum { LADDER_TYPES = 8 };
int ladder_types(const Measurements *from, const char *types[LADDER_TYPES]);

/* Cells of rungs that were timed, and all of them. */
int ladder_timed(const Ladder *ladder, int *all);

/* "1.3", "25.9", "398", "29.5ms": in at most 6 columns; microseconds where it says nothing else. */
void ladder_print_time(double microseconds, char *out, size_t bytes);
void ladder_print_size(uint64_t n, char *out, size_t bytes);    /* "2^20" */
void ladder_print_count(double count, char *out, size_t bytes); /* "614,400", "4.19 M" */
/* Its number in our numbering: "K0"; "" where it has none. */
const char *ladder_number(const LadderRow *row);

#endif
