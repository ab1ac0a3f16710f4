/* Scene times: the timings to show with a run: those of its type, operation and size (or of the nearest
 * recorded size), one row per kernel, in the catalogue's order, and below them the references of the ladder:
 * cub, thrust, this machine's CPU.
 *
 * Rows of kernels are all live or all recorded, never a mixture. A lab or a kernel outside the catalogue does
 * other work than the ladder: it is shown alone, with its own times. */
#ifndef TUI_SCENE_SCENE_TIMES_H
#define TUI_SCENE_SCENE_TIMES_H

#include "findings/limit.h"
#include "tui/scene/scene.h"

enum { TIMES_MOST_ROWS = 64 };

typedef struct TimesRow {
    const char *kernel;
    bool is_live;
    const Timing *of[2][TIMES_WAY_COUNT]; /* [to one scalar]; NULL: not measured in this way */
    const Timing *skipped;                /* its note says why there is no time; NULL: not skipped */
} TimesRow;

typedef struct Times {
    TimesRow rows[TIMES_MOST_ROWS]; /* includes the run's own kernel, timed or not */
    int kernel_count, count;        /* the rows from kernel_count on are references */
    const Timing *sample;           /* of one kernel: machine, date, size, type; NULL: no kernel was timed */
    bool is_live;                   /* the kernels were measured by this process, on this machine */
    bool has_other_block;           /* the run's kernel was measured in blocks of another size */
    uint64_t n;                     /* size of the rows: the run's, or the nearest recorded one */
} Times;

void times_gather(Times *out, const Scene *scene);

/* The row's timing measured in this way, else in the most similar way: a kernel that cannot be in a graph is
 * called, a CPU has no L2 to empty. NULL: none; a timing only to one scalar is never used for "alone". */
const Timing *times_of(const TimesRow *row, bool to_scalar, TimesWay way);
/* The same; a kernel that ends with more than one number is shown alone. */
const Timing *times_shown(const TimesRow *row, bool to_scalar, TimesWay way);

/* What limits the row's kernel, on the table's machine and at its size, from timings measured in this way and
 * from profiles. */
void times_find_limit(const Times *times, const Scene *scene, const TimesRow *row, TimesWay way,
                      LimitFigures *out);

/* "28 % of samples wait for shared memory, 61 % of them in line 26", from the samples of the kernel's
 * machine code; without samples "31 % of warp cycles wait for shared memory", of a profile. False: neither is
 * known. */
bool times_print_stalls(const Scene *scene, const LimitFigures *figures, bool with_line, char *out,
                        size_t bytes);

/* The benchmark times this run's kernel: it is the catalogue's, as it ships, and not one of its bugs. */
bool times_are_of_catalogue(const Scene *scene);
/* Of any other run: "16.8 us live on this H200, a single call, L2 cold", or why it was not timed. False:
 * nothing is known. */
bool times_print_own(const Scene *scene, int columns, char *out, size_t bytes);

/* The row of the run's own kernel if it was timed; else NULL. */
const TimesRow *times_own(const Times *times, const Scene *scene);

/* "15.7 us", "1.5 ms": four digits at most; "1.7x", "0.05x". */
void times_print(double microseconds, char *out, size_t bytes);
void times_print_ratio(double ratio, char *out, size_t bytes);

/* Why the run has no time: "not measured with block 512". NULL: another kernel. */
void times_print_missing(const Times *times, const Scene *scene, char *out, size_t bytes);

/* The run's time in one line of at most `columns`, with its references: "15.7 us on an H200, recorded
 * 2026-11-21, 1.0x as fast as interleaved, limited by memory 97 %; next strided 10.8, CUB 4.1". Says so if it
 * was not measured. */
void times_print_line(const Scene *scene, bool to_scalar, TimesWay way, int columns, char *out, size_t bytes);

#endif
