/* The search for hazards of a session, for --check. Private to session*.c; what others call is in
 * session.h. */
#ifndef SESSION_HAZARDS_H
#define SESSION_HAZARDS_H

#include "session/state.h"

#include <time.h>

const char *session_find_source_line(void *session, const char *file, int line); /* a FindingSource */
/* Fills in, of each race's cause, an order in which the result is another although all other causes are mended. After
 * session_prove(). */
void session_find_orders_of_causes(Session *session);
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
/* The same plan, run with these options, and with other elements unless `elements` is NULL. NULL where that fails. The caller's. */
Session *session_open_again(const Session *session, const SessionOptions *options,
                            const GuessElements *elements);
/* The same run of other elements. */
Session *session_open_with_elements(const Session *session, const GuessElements *elements);

#endif
