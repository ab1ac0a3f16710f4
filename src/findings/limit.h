/* Limit: the reason why a launch is not faster, by a rule over measured figures.
 *
 * Without such figures there is no verdict. The rule, in this order:
 *   1. More than half of the time per result is spent outside the kernel (later launches and the gaps between
 *      them): LAUNCHES.
 *   2. The busiest of three resources is busy for at least 60 %: memory, as a share of the measured bandwidth
 *      of a kernel that only reads; the issue slots; the shared memory pipe. MEMORY, ISSUE or SHARED. Nsight
 *      Compute's section "GPU Speed Of Light Throughput" reports latency below 60 %.
 *   3. Nothing is busy: warps wait. If most wait at barriers: BARRIERS; else LATENCY, with its main stall.
 *   4. Without issue slots, pipe and stalls, only rule 1 and the memory of rule 2 apply; else UNKNOWN. */
#ifndef FINDINGS_LIMIT_H
#define FINDINGS_LIMIT_H

#include <stddef.h>

typedef enum Limit {
    LIMIT_UNKNOWN,
    LIMIT_MEMORY,
    LIMIT_ISSUE,
    LIMIT_SHARED,
    LIMIT_BARRIERS,
    LIMIT_LATENCY,
    LIMIT_LAUNCHES
} Limit;

enum { LIMIT_COUNT = LIMIT_LAUNCHES + 1 };

/* Why a warp does not issue. */
typedef enum Stall {
#define STALL(id, word, ours) STALL_##id,
#include "findings/limit_stalls.def"
#undef STALL
    STALL_COUNT
} Stall;

typedef struct LimitFigures {   /* measured; NaN: not known */
    double read_share;          /* 0 to 1: the input's bytes per time, of the measured read bandwidth */
    double issue;               /* 0 to 1: share of cycles in which an instruction issues */
    double shared_pipe;         /* 0 to 1: share of its peak */
    double outside;             /* 0 to 1: share of the time per result outside the kernel */
    int launches;               /* per result; 0: not known */
    double stalls[STALL_COUNT]; /* in any one unit, such as samples or cycles per instruction */
    double ready;               /* in that unit: the warp issues, or could */
} LimitFigures;

LimitFigures limit_figures_unknown(void);

/* The reason for most waits and its share of a warp's cycles: its waits, and the cycles in which it is ready.
 * STALL_COUNT: none known. */
Stall limit_main_stall(const LimitFigures *figures, double *share);
Limit limit_of(const LimitFigures *figures);
/* A short name: "memory", "issue slots", "shared memory pipe", "barriers", "latency", "launches", "-". */
const char *limit_name(Limit limit);
Limit limit_find(const char *name); /* LIMIT_UNKNOWN: no such name */
/* The verdict with its figures: "memory: 97 % of the read peak". Returns the verdict. */
Limit limit_print(const LimitFigures *figures, char *out, size_t bytes);
/* As above, in at most 16 columns: "memory 97 %", "issue slots 72 %", "-". */
void limit_print_short(const LimitFigures *figures, char *out, size_t bytes);

const char *stall_word(Stall stall);  /* the profiler's: "long_scoreboard" */
const char *stall_words(Stall stall); /* ours: "global memory" */

#endif
