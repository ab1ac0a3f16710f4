#include "tui/draw/status_report.h"

enum { MANY_BYTES = 512 }; /* half a second at 9600 baud; less than an average frame of play in 80x24 */
#define FIRST_SECONDS 1.0  /* wait for a terminal's first answer */
/* A later one is waited for so long: this, plus a multiple of the time that earlier answers took */
#define LEAST_SECONDS    1.0
#define TIMES_AS_LONG    4.0
#define MOST_SECONDS     10.0
#define LOST_SECONDS     60.0 /* an answer that has not come by then is lost */
#define FAREWELL_SECONDS 0.15 /* for a terminal that may not answer at all */
#define FAREWELL_MOST    2.0
#define ESCAPE_SECONDS   0.2  /* Esc is a key, too */
#define APART_SECONDS    0.01 /* between a piece of an answer and a key */
#define PIECE_SECONDS    1.0  /* nobody types the rest of an answer, and a terminal known to answer will */

void status_report_sent(StatusReport *report, size_t bytes) {
    report->sent += bytes;
}

static double patience(const StatusReport *report) {
    double seconds = report->has_answered ? LEAST_SECONDS + TIMES_AS_LONG * report->longest : FIRST_SECONDS;
    return seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
}

static void give_up(StatusReport *report, double now) {
    if (!report->is_open || now - report->asked < LOST_SECONDS) return;
    report->is_open = false;
    report->is_silent = !report->has_answered;
}

bool status_report_asks(StatusReport *report, double now) {
    give_up(report, now);
    if (report->is_open || report->is_silent || report->sent < MANY_BYTES) return false;
    report->is_open = true;
    report->asked = now;
    report->sent = 0;
    return true;
}

void status_report_answered(StatusReport *report, double now) {
    if (report->is_open) {
        double seconds = now - report->asked;
        report->longest = seconds > report->longest / 2 ? seconds : report->longest / 2;
    }
    report->is_open = report->is_silent = false;
    report->has_answered = true;
    report->matched = report->given = 0;
}

double status_report_seconds(const StatusReport *report, double now) {
    double left = report->asked + patience(report) - now;
    return report->is_open && left > 0 ? left : 0;
}

double status_report_farewell(const StatusReport *report, double now) {
    double left = status_report_seconds(report, now);
    if (!report->is_open || now - report->asked >= LOST_SECONDS) return 0;
    if (!report->has_answered) return FAREWELL_SECONDS;
    return left < FAREWELL_SECONDS ? FAREWELL_SECONDS : left < FAREWELL_MOST ? left : FAREWELL_MOST;
}

/* The characters that are held back, which are keys. */
static int give(StatusReport *report, unsigned keys[STATUS_MOST_HELD]) {
    int count = 0;
    while (report->given < report->matched) keys[count++] = (unsigned char)STATUS_ANSWER[report->given++];
    return count;
}

int status_report_take(StatusReport *report, unsigned character, double now,
                       unsigned keys[STATUS_MOST_HELD]) {
    int count = 0;
    give_up(report, now);
    /* A terminal known to answer will send the rest. The time says little: curses passes on together what
     * arrives while it waits for the rest of a key. */
    bool is_apart = report->has_answered || now - report->held_since > APART_SECONDS;
    bool is_typed_between =
        report->matched > 1 && report->matched > report->given && is_apart && character != '\033';
    if (is_typed_between && character != (unsigned char)STATUS_ANSWER[report->matched]) {
        keys[0] = character;
        return 1;
    }
    if (report->matched && character != (unsigned char)STATUS_ANSWER[report->matched]) {
        bool may_go_on = report->matched == 1 && !report->given && report->has_answered;
        count = give(report, keys);
        if (may_go_on && character != '\033') { /* Esc and a key, or a key within an answer */
            keys[count++] = character;
            return count;
        }
        report->matched = report->given = 0;
    }
    if (!report->is_open || character != (unsigned char)STATUS_ANSWER[report->matched]) {
        keys[count++] = character;
        return count;
    }
    report->held_since = now;
    if (!STATUS_ANSWER[++report->matched]) status_report_answered(report, now);
    return count;
}

double status_report_held_seconds(const StatusReport *report, double now) {
    if (report->matched == report->given) return -1;
    double hold = report->matched == 1 && !report->has_answered ? ESCAPE_SECONDS : PIECE_SECONDS;
    double left = report->held_since + hold - now;
    return left > 0 ? left : 0;
}

int status_report_release(StatusReport *report, bool all, double now, unsigned keys[STATUS_MOST_HELD]) {
    if (!all && status_report_held_seconds(report, now) != 0) return 0;
    int count = give(report, keys);
    if (all) report->matched = report->given = 0;
    return count;
}
