/* Latency: the cycles of an access whose result the next one needs. Kernels that time themselves measure them
 * (CatalogRow.latencies); the display groups them. */
#ifndef LADDER_LATENCY_H
#define LADDER_LATENCY_H

#include "trace/measured.h"

enum { LATENCY_ROWS = 48 };

typedef struct LatencyRow {
    const char *group; /* set at the start of a group; otherwise NULL */
    const char *label;
    double cycles;      /* NaN: not measured */
    double nanoseconds; /* NaN: unknown clock */
} LatencyRow;

typedef struct Latencies {
    LatencyRow rows[LATENCY_ROWS]; /* of latencies.def, measured or not, followed by others */
    int count;
    int known;                      /* measured rows */
    double most;                    /* cycles */
    double clock;                   /* MHz; NaN: unknown */
    const char *machine, *measured; /* NULL: nothing was measured */
} Latencies;

/* The cycles of a load from shared memory by its wavefronts, of one warp and 4 bytes a lane. NaN: not
 * measured. */
typedef struct WavefrontCycles {
    double alone;     /* each load waits for the one before */
    double in_flight; /* cycles per load with eight in flight */
    const char *machine, *measured;
} WavefrontCycles;

WavefrontCycles latency_of_wavefronts(const Measurements *from, int wavefronts);

void latency_gather(Latencies *out, const Measurements *from);

#endif
