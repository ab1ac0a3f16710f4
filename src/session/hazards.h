/* The search for hazards of a session, for --check. Private to session*.c; what others call is in
 * session.h. */
#ifndef SESSION_HAZARDS_H
#define SESSION_HAZARDS_H

#include "session/state.h"

#include <time.h>

const char *session_find_source_line(void *session, const char *file, int line); /* a FindingSource */
/* Finds for each race's cause an order that changes the result although all other causes are mended. Call it
 * after session_prove(). */
void session_find_orders_of_causes(Session *session);
/* A limit of processor time from now on; `seconds` 0: `usual`. */
typedef struct TimeLimit {
    double seconds;
    clock_t end;
} TimeLimit;
TimeLimit session_limit_time(double seconds, double usual);
bool session_time_is_over(const TimeLimit *limit);
/* Runs the plan again with other PTX (NULL: the same) and another schedule. NULL if that fails. The caller
 * frees it. */
Session *session_open_copy(const Session *session, const char *ptx, uint64_t schedule, bool search);

/* Sets the progress of the options: `done` of `all` steps of `what`. */
void session_report_progress(const Session *session, const char *what, uint64_t done, uint64_t all);
/* Runs the plan again with these options, and with other elements unless `elements` is NULL. NULL if that
 * fails. The caller frees it. */
Session *session_open_again(const Session *session, const SessionOptions *options,
                            const GuessElements *elements);
/* Runs the plan again with other elements. */
Session *session_open_with_elements(const Session *session, const GuessElements *elements);

#endif
