#define _POSIX_C_SOURCE 200809L

#include "ask/ask.h"
#include "tui/session_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct SessionLoader {
    pthread_t thread;
    atomic_bool is_done;
    atomic_bool cancel;
    Arena arena; /* what `options` point to */
    RunSpec options;
    Session *(*open)(const RunSpec *options, Error *error); /* NULL: ask_open_in_bad_order() */
    AskRacePair pair;                                       /* its race */
    void (*done)(void);
    Session *session;
    Error error;
};

static void *work(void *context) {
    SessionLoader *loader = context;
    loader->session = loader->open ? loader->open(&loader->options, &loader->error)
                                   : ask_open_in_bad_order(&loader->options, loader->pair, &loader->error);
    atomic_store(&loader->is_done, true);
    loader->done();
    return NULL;
}

static SessionLoader *start(Session *(*open)(const RunSpec *options, Error *error), const RunSpec *options,
                            AskRacePair pair, void (*done)(void)) {
    SessionLoader *loader = memory_new(sizeof *loader);
    loader->open = open;
    loader->pair = pair;
    loader->options = run_spec_copy(options, &loader->arena);
    loader->options.cancel = &loader->cancel;
    loader->done = done;
    if (!pthread_create(&loader->thread, NULL, work, loader)) return loader;
    arena_done(&loader->arena);
    free(loader);
    return NULL;
}

SessionLoader *loader_start(const RunSpec *options, void (*done)(void)) {
    return start(session_open, options, (AskRacePair){0}, done);
}

SessionLoader *loader_start_in_bad_order(const RunSpec *options, AskRacePair pair, void (*done)(void)) {
    return start(NULL, options, pair, done);
}

SessionLoader *loader_start_on_gpu(const RunSpec *options, void (*done)(void)) {
    return start(session_open_on_gpu, options, (AskRacePair){0}, done);
}

bool loader_is_done(const SessionLoader *loader) {
    return atomic_load(&loader->is_done);
}

void loader_cancel(SessionLoader *loader) {
    loader->cancel = true;
}

Session *loader_finish(SessionLoader *loader, Error *error) {
    pthread_join(loader->thread, NULL);
    Session *session = loader->session;
    if (error) *error = loader->error;
    arena_done(&loader->arena);
    free(loader);
    return session;
}
