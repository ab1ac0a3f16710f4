/* Output queue: estimates how long the terminal needs for what it was sent. A system queues 4 to 20 kB for a
 * terminal and often does not say how much of that is left: at 9600 baud, 20 seconds of frames that nobody
 * wants to see any more. So the rate is what the line declares, where it declares a slow one; else it is
 * learned from writes that the system refuses. */
#ifndef TUI_DRAW_OUTPUT_QUEUE_H
#define TUI_DRAW_OUTPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct OutputQueue {
    double rate;       /* bytes a second; 0: not known, then the terminal counts as fast */
    double queued, at; /* bytes that are not shown yet, at that time */
    double accepted;   /* bytes, in all */
    bool is_refused;   /* the system takes no more */
    /* The last time that it took bytes again, when it refused some since then, and the bytes since then. */
    double resumed, refused, since_resumed;
} OutputQueue;

/* `bits`: a second, that the line declares; 0: none. */
void output_queue_init(OutputQueue *queue, double bits);
/* Times are in seconds, from any beginning. `is_refused`: there was more to write. */
void output_queue_wrote(OutputQueue *queue, size_t bytes, bool is_refused, double now);
/* Seconds until everything is shown. */
double output_queue_seconds(const OutputQueue *queue, double now);

#endif
