/* The search for hazards of a session, for --check. Private to session*.c; what others call is in
 * session.h. */
#ifndef SESSION_HAZARDS_H
#define SESSION_HAZARDS_H

#include "session/state.h"

#include <time.h>

const char *session_find_source_line(void *session, const char *file, int line); /* a FindingSource */
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
/* The same with the PTX of the session, in this order. `observer` may be NULL. */
Session *session_open_in_order(const Session *session, const FindingOrder *order,
                               const TraceObserver *observer);

/* other_size.c: where a file's size was not asked for, what is wrong with one that is no multiple of the
 * block: a sentence; NULL: nothing. */
const char *session_other_size(Session *session);
/* remedies.c: those of one finding; returns their number. */
int session_remedies_of(const Session *session, const Finding *of, SessionRemedy *remedies);
/* Sets Finding.remedies of the slow findings. */
void session_name_remedies(const Session *session, Findings *list);
/* The first element that differs between two runs by more than rounding: order->where, result, instead_of. */
bool session_find_difference(const Session *session, const Session *other, FindingOrder *order);

/* Sets the progress of the options: `done` of `all` steps of `what`. */
void session_report_progress(const Session *session, const char *what, uint64_t done, uint64_t all);
/* Runs the plan again with these options. NULL if that fails. The caller frees it. */
Session *session_open_again(const Session *session, const SessionOptions *options);
/* The same with another plan of its launches, which the copy takes over. `is_unchecked`: its result is not compared. */
Session *session_open_plan_again(const Session *session, const SessionOptions *options, Plan *plan,
                                 bool is_unchecked);
/* reach.c: runs a small kernel of unknown result again with extremes at its elements; a result that some of them cannot reach is
 * wrong, and findings.reach says how many can. */
void session_find_reach(Session *session);

#endif
