/* Again: runs of the plan of a session, with other PTX, or another schedule. */
#include "session/hazards.h"

#include <stdlib.h>

Session *session_open_plan_again(const Session *session, const SessionOptions *options, Plan *plan,
                                 bool is_unchecked) {
    SessionOptions same = *options;
    if (!same.ptx) same.ptx = session->code.text;
    Session *copy = session_new(&same);
    copy->kernel.row = session->kernel.row;
    copy->kernel.run = session->kernel.run;
    copy->code.is_edited = session->code.is_edited;
    copy->fault_block = session->fault_block;
    copy->is_unchecked = is_unchecked;
    bool good = session_load_module(copy, NULL) && session_parse_others(copy, plan, NULL);
    if (good) {
        const PtxFunction *entries[PLAN_LAUNCHES];
        session_find_entries(copy, plan, entries);
        copy->guess = guess_copy(&session->guess, copy->code.module, entries);
        good = session_run_plan(copy, plan, NULL) && session_judge(copy, NULL);
    } else {
        plan_free(plan);
    }
    if (good) {
        session_describe(copy);
        if (!same.keep_inputs) session_drop_inputs(copy);
        return copy;
    }
    session_free(copy);
    return NULL;
}

Session *session_open_again(const Session *session, const SessionOptions *options) {
    Plan plan;
    plan_copy(&session->run->plan, &plan);
    return session_open_plan_again(session, options, &plan, !session->has_result);
}

static SessionOptions options_of_copy(const Session *session) {
    SessionOptions options = session->options;
    options.keep_going |= session->findings.goes_behind;
    options.search_races = false;
    options.backend = BACKEND_EMULATOR;
    options.counters = COUNTERS_NONE;
    options.measure_sass = options.first_look = options.keep_inputs = false;
    options.progress = NULL;
    return options;
}

Session *session_open_copy(const Session *session, const char *ptx, uint64_t schedule, bool search) {
    SessionOptions options = options_of_copy(session);
    options.ptx = ptx;
    options.schedule = schedule;
    options.search_races = search;
    return session_open_again(session, &options);
}

Session *session_open_in_order(const Session *session, const FindingOrder *order,
                               const TraceObserver *observer) {
    SessionOptions options = options_of_copy(session);
    options.schedule = order->schedule;
    options.holds = order->holds;
    options.hold_count = order->hold_count;
    options.observer = observer;
    return session_open_again(session, &options);
}
