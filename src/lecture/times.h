/* Times of claims: recorded on a machine, or measured now. Private to this folder. */
#ifndef LECTURE_TIMES_H
#define LECTURE_TIMES_H

#include "lecture/claim.h"
#include "trace/measured.h"

enum { CLAIM_MACHINES = 8 };

typedef struct ClaimTimes { /* zero-initialised is empty */
    struct {
        char name[32];
        Measurements measured;
    } machines[CLAIM_MACHINES]; /* read at the first question */
    int machine_count;
    Measurements live; /* what was measured now */
} ClaimTimes;

/* A TIME or CYCLES of the machine that the query names, else of `machine`, or measured now. */
bool claim_times_value(ClaimTimes *times, const ClaimQuery *query, const char *machine, bool live,
                       double *value, Error *error);
void claim_times_done(ClaimTimes *times);

#endif
