#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "tui/draw/tty_output.h"

#include "base/clock.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LOOK_MILLISECONDS = 20, PATIENCE_MILLISECONDS = 5000 };

static struct {
    int file;    /* standard output, opened again so that O_NONBLOCK affects no other process */
    bool is_own; /* false: writes block */
    Text waiting;
    size_t sent; /* bytes already sent */
    OutputQueue queue;
} output = {.file = -1};

static double declared_bits(void) {
    static const struct {
        speed_t speed;
        int bits;
    } slow[] = {{B300, 300},   {B600, 600},   {B1200, 1200}, {B1800, 1800},
                {B2400, 2400}, {B4800, 4800}, {B9600, 9600}, {B19200, 19200}};
    struct termios modes;
    if (tcgetattr(STDOUT_FILENO, &modes)) return 0;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (slow[i].speed == cfgetospeed(&modes)) return slow[i].bits;
    return 0;
}

void tty_output_open(void) {
    const char *name = ttyname(STDOUT_FILENO);
    output.file = name ? open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    output.is_own = output.file >= 0;
    if (!output.is_own) output.file = STDOUT_FILENO;
    output_queue_init(&output.queue, declared_bits());
}

void tty_output_close(void) {
    tty_output_finish();
    if (output.is_own) close(output.file);
    output.file = -1;
    text_done(&output.waiting);
    output.sent = 0;
}

void tty_output_go_on(void) {
    while (output.sent < output.waiting.length) {
        size_t left = output.waiting.length - output.sent;
        ssize_t count = write(output.file, text_string(&output.waiting) + output.sent, left);
        bool is_refused = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (count < 0 && errno == EINTR) continue;
        output_queue_wrote(&output.queue, count > 0 ? (size_t)count : 0, is_refused || count < (ssize_t)left,
                           clock_seconds());
        if (is_refused) return;
        output.sent += count > 0 ? (size_t)count : left; /* the terminal is gone */
    }
    text_clear(&output.waiting);
    output.sent = 0;
}

void tty_output_send(const char *bytes, size_t count) {
    text_add_bytes(&output.waiting, bytes, count);
    tty_output_go_on();
}

void tty_output_finish(void) {
    struct pollfd file = {.fd = output.file, .events = POLLOUT};
    while (output.waiting.length && poll(&file, 1, PATIENCE_MILLISECONDS) > 0) tty_output_go_on();
    text_clear(&output.waiting);
    output.sent = 0;
}

int tty_output_milliseconds(void) {
    int queued = 0;
    struct pollfd file = {.fd = output.file, .events = POLLOUT};
    tty_output_go_on();
    if (output.waiting.length || poll(&file, 1, 0) == 0) return LOOK_MILLISECONDS;
    if (ioctl(output.file, TIOCOUTQ, &queued) == 0 && queued > 0) return LOOK_MILLISECONDS;
    return (int)ceil(output_queue_seconds(&output.queue, clock_seconds()) * 1000);
}

int tty_output_waits_for(void) {
    return output.waiting.length ? output.file : -1;
}

/* ---- the queue ----------------------------------------------------------------------------------------- */

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
        /* Each time the system accepts bytes again, its queue is equally full: what it accepted since the
         * last time is what the terminal has shown since then. */
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
