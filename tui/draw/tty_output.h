/* TTY output: sends frames to the terminal without waiting for it. Bytes that the terminal does not accept at
 * once are kept and sent bit by bit. While any are pending, another frame would only be queued, so the caller
 * drops it and draws again when tty_output_milliseconds() is 0. One terminal at a time, standard output. */
#ifndef TUI_DRAW_TTY_OUTPUT_H
#define TUI_DRAW_TTY_OUTPUT_H

#include <stddef.h>

void tty_output_open(void);
void tty_output_close(void);

/* Sends as much as the terminal accepts. */
void tty_output_send(const char *bytes, size_t count);
void tty_output_go_on(void);
/* Sends the rest and waits for it; gives up on a terminal that accepts nothing for seconds. */
void tty_output_finish(void);

/* 0: everything sent is shown, as far as is known. Otherwise ask again after this time at most. */
int tty_output_milliseconds(void);
/* The file to poll for POLLOUT; -1: nothing is pending. */
int tty_output_waits_for(void);

#endif
