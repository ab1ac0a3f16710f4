/* What is wrong with a run: the watch that looks on, and what is made of it (session.h). */
#include "session_hazards.h"

const TraceObserver *session_observer(Session *session) {
    if (!session->options.watch) return NULL;
    session->watch = hazard_watch_new();
    session->observer = hazard_watch_observer(session->watch);
    return &session->observer;
}

/* The same run again, watched. */
static void watch_again(Session *session) {
    SessionOptions options = session->options;
    options.watch = true;
    options.first_look = options.keep_inputs = false;
    options.cancel = NULL;
    Session *watched = session_open(&options, NULL);
    if (!watched) return;
    session->watch = watched->watch;
    watched->watch = NULL;
    session_free(watched);
}

const Hazards *session_hazards(const Session *session) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: made at the first question */
    if (session->hazards || session->is_partial || session_is_from_file(session)) return session->hazards;
    if (!session->watch) watch_again(cache);
    if (!session->watch) return NULL;
    HazardResult result = {.is_wrong = session->has_result && !session->result.correct};
    if (result.is_wrong && !session_has_fatal_trap(session->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    cache->hazards = hazards_new(session->watch, session->trace, &result);
    return session->hazards;
}

static const char *source_line(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

void session_check(const Session *session, bool json, Text *out) {
    const Hazards *hazards = session_hazards(session);
    if (json) {
        Json object = {.out = out};
        json_open_object(&object, NULL);
        json_string(&object, "kernel", session_name(session));
        hazards_put_json(hazards, &object);
        json_close_object(&object);
        text_add(out, "\n");
    } else if (hazards) {
        hazards_print(hazards, source_line, (void *)(uintptr_t)session, out);
    } else {
        text_add(out, "Hazards are not known: the run comes from a file.\n");
    }
}
