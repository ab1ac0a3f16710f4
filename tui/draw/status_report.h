/* Status report: asks the terminal whether it has shown what it was sent. ESC[5n (ECMA-48, DSR) asks for its status, and
 * ESC[0n is the answer, which a terminal gives when it comes to the question: after all bytes before it. What is
 * queued in between, by the system, ssh or a window, is then empty, whatever the speed of the line.
 *
 * At most one question is open. A terminal that has never answered is waited for once, and shortly; whoever answers late is
 * believed from then on. Characters that may be the beginning of an answer are held back until the rest comes, so that
 * an answer in pieces is not taken for keys. Times are in seconds, from any beginning. */
#ifndef TUI_DRAW_STATUS_REPORT_H
#define TUI_DRAW_STATUS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define STATUS_QUESTION "\033[5n"
#define STATUS_ANSWER   "\033[0n"
enum { STATUS_MOST_HELD = 4 };

typedef struct StatusReport {
    size_t sent;        /* bytes since the last question */
    bool is_open;       /* a question that is not answered yet */
    double asked;       /* that question */
    bool has_answered;  /* ever */
    bool is_silent;     /* never, and long enough: it is not asked any more */
    double longest;     /* seconds to an answer, of the last ones */
    int matched, given; /* characters that begin an answer; of them, those that were keys after all */
    double held_since;  /* the last of them */
} StatusReport;

void status_report_sent(StatusReport *report, size_t bytes);
/* True: many bytes have been sent since the last question, and none is open. The caller sends STATUS_QUESTION. */
bool status_report_asks(StatusReport *report, double now);
/* The whole answer has come. */
void status_report_answered(StatusReport *report, double now);
/* Seconds to wait for the answer at most; 0: for none. */
double status_report_seconds(const StatusReport *report, double now);
/* Seconds to wait at most for an answer that would otherwise arrive after the program has left. */
double status_report_farewell(const StatusReport *report, double now);

/* A character was typed, or is part of an answer. Writes those that are keys, and returns how many. */
int status_report_take(StatusReport *report, unsigned character, double now, unsigned keys[STATUS_MOST_HELD]);
/* The same of characters that have been held back for too long, or all of them where `all`. */
int status_report_release(StatusReport *report, bool all, double now, unsigned keys[STATUS_MOST_HELD]);
/* Seconds until some have; negative: none is held back. */
double status_report_held_seconds(const StatusReport *report, double now);

#endif
