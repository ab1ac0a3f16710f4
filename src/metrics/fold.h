/* Fold: adds an instruction or an event to totals. Private to src/metrics. */
#ifndef METRICS_FOLD_H
#define METRICS_FOLD_H

#include "metrics/metrics.h"

void fold_instruction(const TraceLaunch *launch, int pc, Totals *sum); /* its counters, whole grid */
/* The event as the counters of one execution (executions and lanes stay 0). */
TraceCounter fold_counter_of_event(const TraceLaunch *launch, const TraceEvent *event);

#endif
