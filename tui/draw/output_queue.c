#include "tui/draw/output_queue.h"

enum {
    FAST_BITS = 38400,     /* what pseudo-terminals declare, however fast */
    BITS_A_BYTE = 10,      /* with start and stop bits */
    MOST_QUEUED = 20 << 10 /* bytes that a system queues for a terminal */
};
#define SAFETY         0.9 /* of the rate, so that a queue believed empty is empty */
#define REFILL_SECONDS 3.0 /* a queue that refills this soon was not empty in between */

void output_queue_init(OutputQueue *queue, double bits) {
    *queue = (OutputQueue){.rate = bits > 0 && bits < FAST_BITS ? SAFETY * bits / BITS_A_BYTE : 0};
}

void output_queue_wrote(OutputQueue *queue, size_t bytes, bool is_refused, double now) {
    queue->queued -= queue->rate * (now - queue->at);
    if (queue->queued < 0 || !queue->rate) queue->queued = 0;
    queue->at = now;
    if (bytes && queue->is_refused) {
        /* Each time the system accepts bytes again, its queue is equally full: what it accepted since the last time
         * is what the terminal has shown since then. */
        bool was_full = queue->resumed > 0 && queue->refused - queue->resumed < REFILL_SECONDS;
        if (was_full && now > queue->resumed && queue->since_resumed > 0) {
            queue->rate = SAFETY * queue->since_resumed / (now - queue->resumed);
            queue->queued = queue->accepted < MOST_QUEUED ? queue->accepted : MOST_QUEUED;
            queue->at = now;
        }
        queue->resumed = now;
        queue->since_resumed = 0;
    }
    if (is_refused && (bytes || !queue->is_refused)) queue->refused = now;
    queue->is_refused = is_refused;
    queue->accepted += (double)bytes;
    queue->since_resumed += (double)bytes;
    if (queue->rate) queue->queued += (double)bytes;
}

double output_queue_seconds(const OutputQueue *queue, double now) {
    if (!queue->rate) return 0;
    double left = queue->queued / queue->rate - (now - queue->at);
    return left > 0 ? left : 0;
}
