#define _POSIX_C_SOURCE 200809L

#include "opening.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Opening {
    pthread_t thread;
    atomic_bool is_done;
    volatile bool cancel;
    Arena arena; /* what `options` point to */
    SessionOptions options;
    void (*done)(void);
    Session *session;
    Error error;
};

static void *work(void *context) {
    Opening *opening = context;
    opening->session = session_open(&opening->options, &opening->error);
    atomic_store(&opening->is_done, true);
    opening->done();
    return NULL;
}

Opening *opening_start(const SessionOptions *options, void (*done)(void)) {
    Opening *opening = memory_new(sizeof *opening);
    opening->options = session_options_copy(options, &opening->arena);
    opening->options.cancel = &opening->cancel;
    opening->done = done;
    if (!pthread_create(&opening->thread, NULL, work, opening)) return opening;
    arena_done(&opening->arena);
    free(opening);
    return NULL;
}

bool opening_is_done(const Opening *opening) {
    return atomic_load(&opening->is_done);
}

void opening_cancel(Opening *opening) {
    opening->cancel = true;
}

Session *opening_finish(Opening *opening, Error *error) {
    pthread_join(opening->thread, NULL);
    Session *session = opening->session;
    if (error) *error = opening->error;
    arena_done(&opening->arena);
    free(opening);
    return session;
}
