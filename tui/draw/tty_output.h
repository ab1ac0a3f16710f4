/* TTY output: sends frames to the terminal without waiting for it. Bytes that the terminal does not accept at
 * once are kept and sent bit by bit. While any are pending, another frame would only be queued, so the caller
 * drops it and draws again when tty_output_milliseconds() is 0. One terminal at a time, standard output. */
#ifndef TUI_DRAW_TTY_OUTPUT_H
#define TUI_DRAW_TTY_OUTPUT_H

#include <stdbool.h>

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

/* Output queue: estimates how long the terminal needs for what it was sent. A system queues 4 to 20 kB for a
 * terminal and often does not report how much of that is left: at 9600 baud, that is 20 seconds of outdated
 * frames. So the rate is what the line declares, if it declares a slow one; otherwise it is learned from
 * writes that the system refuses. */

typedef struct OutputQueue {
    double rate;       /* bytes a second; 0: unknown, the terminal counts as fast */
    double queued, at; /* bytes not shown yet, at that time */
    double accepted;   /* bytes in total */
    bool is_refused;   /* the system takes no more */
    /* When the system last accepted bytes again after refusing some, and the bytes accepted since then. */
    double resumed, refused, since_resumed;
} OutputQueue;

/* `bits`: bits a second that the line declares; 0: none. */
void output_queue_init(OutputQueue *queue, double bits);
/* Times are in seconds from any origin. `is_refused`: not everything could be written. */
void output_queue_wrote(OutputQueue *queue, size_t bytes, bool is_refused, double now);
/* Seconds until everything is shown. */
double output_queue_seconds(const OutputQueue *queue, double now);

#endif
