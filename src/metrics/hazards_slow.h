/* Slow: what a run could do with fewer wavefronts, sectors or idle lanes, as findings. Private to
 * src/metrics.
 */
#ifndef METRICS_HAZARDS_SLOW_H
#define METRICS_HAZARDS_SLOW_H

#include "metrics/hazards.h"

void hazards_add_slow(Hazards *list, int *capacity, const Trace *trace);

/* An empty finding at the end of the list, to be filled in; valid until the next one. */
Hazard *hazards_add(Hazards *list, int *capacity, HazardKind kind, int launch);
void hazard_put_line(const TraceLaunch *launch, HazardAccess *access);

#endif
