/* Far terminal: the program on a pseudo-terminal that shows a limited number of bytes a second. Its other
 * side accepts all bytes at once and buffers them: a window behind ssh. It answers the question for its
 * status when it reaches it, or never. */
#ifndef TESTS_TUI_FAR_TERMINAL_H
#define TESTS_TUI_FAR_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct FarTerminal {
    int master, slave;
    pid_t program;
    double rate;        /* bytes a second that it shows */
    bool takes_at_once; /* else it takes only what it shows, and the system keeps the rest */
    bool answers;
    double pause; /* seconds between the characters of an answer; 0: in one piece */
    double delay; /* of an answer */

    char *seen; /* all bytes; `shown` of the `taken` bytes are on the screen */
    size_t taken, shown;
    double now;                 /* when the last of them was shown */
    double answer_due;          /* when the next character of an answer is due */
    size_t questions, answered; /* questions shown; characters of answers sent */
    size_t most_held;           /* the most bytes that waited to be shown */
} FarTerminal;

/* `terminal`: its behaviour, as set in the fields above. `bits`: a speed that the line declares, or 0.
 * `type`: TERM. Its size is 80x24. `arguments`: the program first, NULL at the end. False: no pseudo-terminal
 * here. */
bool far_terminal_start(FarTerminal *terminal, const char *type, unsigned bits,
                        const char *const arguments[]);
/* Shows bytes for this time, or until what is shown from `from` on contains `text`. Returns the seconds that
 * this took. */
double far_terminal_show(FarTerminal *terminal, double seconds, size_t from, const char *text);
void far_terminal_type(const FarTerminal *terminal, const char *keys);
/* The exit status as waitpid() returns it, after the program's end; kills the program after some seconds.
 * `unread`, if not NULL: bytes that the program has left for the shell. */
int far_terminal_end(FarTerminal *terminal, int *unread);

#endif
