/* Latency: the cycles of an access when the next one needs its result. Kernels that time themselves measured
 * them (CatalogRow.latencies); they are shown in groups. */
#ifndef LADDER_LATENCY_H
#define LADDER_LATENCY_H

#include "trace/measured.h"

enum { LATENCY_ROWS = 48 };

typedef struct LatencyRow {
    const char *group; /* set where a group begins; else NULL */
    const char *label;
    double cycles;      /* NaN: not measured */
    double nanoseconds; /* NaN: the clock is not known */
} LatencyRow;

typedef struct Latencies {
    LatencyRow rows[LATENCY_ROWS]; /* of latencies.def, measured or not; then what else there is */
    int count;
    int known;                      /* those that were measured */
    double most;                    /* cycles */
    double clock;                   /* MHz; NaN: not known */
    const char *machine, *measured; /* NULL: nothing was */
} Latencies;

void latency_gather(Latencies *out, const Measurements *from);

#endif
