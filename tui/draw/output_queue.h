/* Output queue: estimates how long the terminal needs for what it was sent. A system queues 4 to 20 kB for a
 * terminal and often does not report how much of that is left: at 9600 baud, that is 20 seconds of outdated
 * frames. So the rate is what the line declares, if it declares a slow one; otherwise it is learned from
 * writes that the system refuses. */
#ifndef TUI_DRAW_OUTPUT_QUEUE_H
#define TUI_DRAW_OUTPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

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
