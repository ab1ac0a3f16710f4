/* Counts: the emulator's counts of a rung over the whole grid, the same on every machine. */
#ifndef LADDER_COUNTS_H
#define LADDER_COUNTS_H

#include "session/session.h"

typedef struct LadderCount {
    char kernel[48], dtype[16], op[8];
    uint64_t n;
    double accesses;   /* of warps to shared memory; also the members below */
    double wavefronts; /* of loads, stores and atomics */
    double excess;     /* wavefronts beyond the ideal number */
    double sectors, barriers;
    bool failed; /* the run failed: nothing is known */
} LadderCount;

typedef struct LadderCounts {
    LadderCount *items;
    int count, capacity;
} LadderCounts;

/* A size that is emulated within a fraction of a second. */
enum { LADDER_COUNTED_N = 1 << 20 };

/* NULL: not counted */
const LadderCount *ladder_counts_find(const LadderCounts *counts, const char *kernel, uint64_t n,
                                      const char *dtype, const char *op);
/* The run that gives the counts. `kernel` and `op` are borrowed. */
RunSpec ladder_counts_options(const char *kernel, uint64_t n, const char *dtype, const char *op);
/* Adds the counts of that run; NULL: it could not be opened. */
void ladder_counts_add(LadderCounts *counts, const RunSpec *options, Session *session);
void ladder_counts_done(LadderCounts *counts);

#endif
