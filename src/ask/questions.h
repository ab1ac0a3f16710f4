/* What the questions share. Private to src/ask; what others ask is in ask.h. */
#ifndef ASK_QUESTIONS_H
#define ASK_QUESTIONS_H

#include "ask/ask.h"
#include "session/state.h"

#include <time.h>

const char *ask_source_line(void *session, const char *file, int line); /* a FindingSource */
/* The error does not depend on what was guessed (ask_sure_errors()). `session`: a Session. */
bool ask_is_sure(void *session, const Finding *error);
/* A limit of processor time from now on; `seconds` 0: `usual`. */
typedef struct TimeLimit {
    double seconds;
    clock_t end;
} TimeLimit;
TimeLimit ask_limit_time(double seconds, double usual);
bool ask_time_is_over(const TimeLimit *limit);

/* other_size.c: where a file's size was not asked for, what is wrong with one that is no multiple of the
 * block: a sentence; NULL: nothing. */
const char *ask_other_size(Session *session);
/* A sentence about the first NaN that a traced block stores though all that it loaded was finite; NULL: there
 * is none. */
const char *ask_first_nan(Session *session);
/* remedies.c: those of one finding; returns their number. */
int ask_remedies_of(const Session *session, const Finding *of, AskRemedy *remedies);
/* Sets Finding.remedies of the slow findings. */
void ask_name_remedies(const Session *session, Findings *list);
/* The first element that differs between two runs by more than rounding: order->where, result, instead_of. */
bool ask_difference(const Session *session, const Session *other, FindingOrder *order);

/* An error of the cause is a race. */
bool ask_has_race(const Findings *hazards, int cause);

/* The trap that ended the run; NULL: none did. */
const Trap *ask_fatal_trap(const Trace *trace);

/* Sets the progress of the options: `done` of `all` steps of `what`. */
void ask_show_progress(const Session *session, const char *what, uint64_t done, uint64_t all);
/* reach.c: runs a small kernel of unknown result again with extremes at its elements; a result that some of
 * them cannot reach is wrong, and findings.reach says how many can. */
void ask_reach(Session *session);

#endif
