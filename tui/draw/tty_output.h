/* TTY output: frames on their way to the terminal, without waiting for it. What the terminal does not take at once is kept
 * and sent bit by bit; as long as anything is on its way, a frame more would only be queued, so the caller drops it and
 * draws again when tty_output_milliseconds() is 0. One terminal at a time, standard output. */
#ifndef TUI_DRAW_TTY_OUTPUT_H
#define TUI_DRAW_TTY_OUTPUT_H

#include <stddef.h>

void tty_output_open(void);
void tty_output_close(void);

/* Sends what it can. */
void tty_output_send(const char *bytes, size_t count);
void tty_output_go_on(void);
/* Sends the rest, and waits for it; gives up on a terminal that takes nothing for seconds. */
void tty_output_finish(void);

/* 0: everything that was sent is shown, as far as can be known. Else when to ask again, at most. */
int tty_output_milliseconds(void);
/* To poll for POLLOUT; -1: nothing waits to be sent. */
int tty_output_waits_for(void);

#endif
