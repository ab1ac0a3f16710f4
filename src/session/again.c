/* Again: runs of the plan of a session, with other PTX, another schedule, or other elements. */
#include "session/hazards.h"

#include <stdlib.h>

Session *session_open_again(const Session *session, const SessionOptions *options,
                            const GuessElements *elements) {
    SessionOptions same = *options;
    if (!same.ptx) same.ptx = session->code.text;
    Session *copy = session_new(&same);
    Plan plan;
    copy->kernel.row = session->kernel.row;
    copy->kernel.run = session->kernel.run;
    copy->fault_block = session->fault_block;
    copy->is_unchecked = !session->has_result;
    bool good = session_load_module(copy, NULL) && session_parse_others(copy, &session->run->plan, NULL);
    if (good) {
        const PtxFunction *entries[PLAN_LAUNCHES];
        session_find_entries(copy, &session->run->plan, entries);
        copy->guess = guess_copy(&session->guess, copy->code.module, entries);
        plan_copy(&session->run->plan, &plan);
        good = session_run_plan(copy, &plan, &(RunSettings){.elements = elements}, NULL) &&
               session_judge(copy, NULL);
    }
    if (good) {
        session_describe(copy);
        if (!same.keep_inputs) session_drop_inputs(copy);
        return copy;
    }
    session_free(copy);
    return NULL;
}

static SessionOptions options_of_copy(const Session *session) {
    SessionOptions options = session->options;
    options.keep_going |= session->findings.goes_behind;
    options.search_races = false;
    options.backend = BACKEND_EMULATOR;
    options.counters = COUNTERS_NONE;
    options.measure_sass = options.first_look = options.keep_inputs = false;
    options.cancel = NULL;
    options.progress = NULL;
    return options;
}

Session *session_open_copy(const Session *session, const char *ptx, uint64_t schedule, bool search) {
    SessionOptions options = options_of_copy(session);
    options.ptx = ptx;
    options.schedule = schedule;
    options.search_races = search;
    return session_open_again(session, &options, NULL);
}

Session *session_open_with_elements(const Session *session, const GuessElements *elements) {
    SessionOptions options = options_of_copy(session);
    options.ptx = NULL;
    return session_open_again(session, &options, elements);
}

/* A GuessAgain. */
static bool run_again(void *session, const GuessElements *elements, Plan *done) {
    Session *other = session_open_with_elements(session, elements);
    bool good = other && !trace_has_fault(other->run->trace) && !other->run->is_partial;
    if (good) {
        Plan *plan = &other->run->plan;
        *done = (Plan){.buffers = plan->buffers,
                       .buffer_count = plan->buffer_count,
                       .buffer_capacity = plan->buffer_capacity};
        plan->buffers = NULL;
        plan->buffer_count = plan->buffer_capacity = 0;
    }
    session_free(other);
    return good;
}

const char *session_symmetry(Session *session) {
    bool may_ask = session->run->emulator && !session->kernel.row && !session->has_result;
    if (session->kernel.has_symmetry || !may_ask) return session->kernel.symmetry;
    void **bytes;
    GuessRun ran = session_seen_by_guess(session, &bytes);
    session->kernel.has_symmetry = true;
    session->kernel.symmetry = guess_symmetry(&session->guess, &ran, run_again, session);
    free(bytes);
    return session->kernel.symmetry;
}
