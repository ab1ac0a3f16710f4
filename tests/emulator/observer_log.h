/* Observer log: everything that an observer of a run sees, as text, block after block. */
#ifndef TESTS_OBSERVER_LOG_H
#define TESTS_OBSERVER_LOG_H

#include "base/text.h"
#include "trace/observer.h"

typedef struct ObserverLog {
    Text text; /* the caller frees it with text_done() */
    const TraceLaunch *launch;
} ObserverLog;

/* Adds lines to `log`, which outlives it. It cannot be split: the run has one thread. */
TraceObserver observer_log(ObserverLog *log);

#endif
