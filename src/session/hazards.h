/* The search for hazards of a session, for --check. Private to session*.c; what others call is in
 * session.h. */
#ifndef SESSION_HAZARDS_H
#define SESSION_HAZARDS_H

#include "session/state.h"

#include <time.h>

/* For the emulator; NULL where the options do not ask for it. */
const TraceObserver *session_observer(Session *session);
const char *session_find_source_line(void *session, const char *file, int line); /* a FindingSource */
/* Fills in, of each race's cause, an order in which the result is another although all other causes are mended. After
 * session_prove(). */
void session_find_orders_of_causes(const Session *session);
/* So many seconds of processor time from now on; 0: as many as usual. */
typedef struct TimeLimit {
    double seconds;
    clock_t end;
} TimeLimit;
TimeLimit session_limit_time(double seconds, double usual);
bool session_time_is_over(const TimeLimit *limit);
/* The same run of other PTX (NULL: its own), by another schedule; NULL where that fails. The caller's. */
Session *session_open_copy(const Session *session, const char *ptx, uint64_t schedule, bool search);

/* What session_check() does, for the progress of the options: `done` of `all` of it. */
void session_report_progress(const Session *session, const char *what, uint64_t done, uint64_t all);
/* The same run with these options, by the sizes that were found for it. NULL where that fails. The caller's. */
Session *session_open_again(const Session *session, const SessionOptions *options);

#endif
