/* Times for claims: recorded on a machine, or measured now. Private to this folder. */
#ifndef LECTURE_TIMES_H
#define LECTURE_TIMES_H

#include "lecture/claim.h"
#include "trace/measured.h"

enum { CLAIM_MACHINES = 8 };

typedef struct ClaimTimes { /* zero-initialized: empty */
    struct {
        char name[32];
        Measurements measured;
    } machines[CLAIM_MACHINES]; /* read on first use */
    int machine_count;
    Measurements live; /* measured now */
} ClaimTimes;

/* A TIME or CYCLES of the machine in the query, or else of `machine`, or measured now. */
bool claim_times_value(ClaimTimes *times, const ClaimQuery *query, const char *machine, bool live,
                       double *value, Error *error);
void claim_times_done(ClaimTimes *times);

#endif
