/* Status report: asks the terminal whether it has shown what it was sent. ESC[5n (ECMA-48, DSR) asks for its
 * status; the terminal answers ESC[0n when it reaches the question, after all bytes before it. By then every
 * queue in between (system, ssh, window) is empty, at any line speed.
 *
 * At most one question is open. A terminal that has never answered gets one short wait; one that answers late
 * is trusted from then on. Characters that may begin an answer are held back until the rest comes, so that an
 * answer in pieces is not taken for keys. Times are in seconds from any origin. */
#ifndef TUI_DRAW_STATUS_REPORT_H
#define TUI_DRAW_STATUS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define STATUS_QUESTION "\033[5n"
#define STATUS_ANSWER   "\033[0n"
enum { STATUS_MOST_HELD = 4 };

typedef struct StatusReport {
    size_t sent;        /* bytes since the last question */
    bool is_open;       /* a question is not answered yet */
    double asked;       /* when the open question was asked */
    bool has_answered;  /* at least once */
    bool is_silent;     /* never answered within the time limit: no more questions */
    double longest;     /* seconds: the slowest of the last answers */
    int matched, given; /* characters that begin an answer; how many of them turned out to be keys */
    double held_since;  /* when the last of them came */
} StatusReport;

void status_report_sent(StatusReport *report, size_t bytes);
/* True: many bytes were sent since the last question, and no question is open. The caller sends
 * STATUS_QUESTION. */
bool status_report_asks(StatusReport *report, double now);
/* The whole answer has come. */
void status_report_answered(StatusReport *report, double now);
/* Seconds to wait for the answer at most; 0: do not wait. */
double status_report_seconds(const StatusReport *report, double now);
/* Seconds to wait at most for an answer that would otherwise arrive after the program has exited. */
double status_report_farewell(const StatusReport *report, double now);

/* Takes a character that was typed or is part of an answer. Writes the characters that are keys, and returns
 * how many. */
int status_report_take(StatusReport *report, unsigned character, double now, unsigned keys[STATUS_MOST_HELD]);
/* Does the same for characters held back for too long, or for all of them if `all`. */
int status_report_release(StatusReport *report, bool all, double now, unsigned keys[STATUS_MOST_HELD]);
/* Seconds until that happens; negative: none is held back. */
double status_report_held_seconds(const StatusReport *report, double now);

#endif
