/* A run of a session's kernel beside it, on the emulator. It keeps no more than an answer needs. */
#include "session/state.h"

void session_make_quiet(const Session *of, RunSpec *spec) {
    if (!spec->ptx) spec->ptx = of->code.text;
    spec->search_races = false;
    spec->keep_going = spec->keep_going || of->findings.goes_behind;
    spec->backend = BACKEND_EMULATOR;
    spec->counters = COUNTERS_NONE;
    spec->measure_sass = spec->times_blocks = spec->times_warps = spec->times_run = false;
    spec->first_look = spec->keep_inputs = false;
    spec->observer = NULL;
    spec->unsupported = NULL;
}

Session *session_run_copy(const Session *of, const RunSpec *spec, Plan *plan, bool is_unchecked) {
    Session *copy = session_new(spec);
    copy->kernel.row = of->kernel.row;
    copy->kernel.run = of->kernel.run;
    copy->code.is_edited = of->code.is_edited;
    copy->fault_block = of->fault_block;
    copy->is_unchecked = is_unchecked;
    bool good = session_load_module(copy, NULL) && session_parse_others(copy, plan, NULL);
    if (good) {
        const PtxFunction *entries[PLAN_LAUNCHES];
        session_find_entries(copy, plan, entries);
        copy->guess = guess_copy(&of->guess, copy->code.module, entries);
        good = session_run_plan(copy, plan, NULL) && session_judge(copy, NULL);
    } else {
        plan_free(plan);
    }
    if (!good) {
        session_free(copy);
        return NULL;
    }
    session_describe(copy);
    session_drop_inputs(copy);
    return copy;
}

Session *session_judge_again(const Session *of, Plan *plan, bool has_shadow) {
    RunSpec spec = of->options;
    session_make_quiet(of, &spec);
    spec.progress = NULL;
    spec.has_shadow = has_shadow;
    return session_run_copy(of, &spec, plan, false);
}

bool session_may_repeat(const Session *session) {
    enum { MOST_INSTRUCTIONS = 16 << 20 }; /* of a warp */
    const SessionRun *run = session->run;
    return session->has_result && session->result.correct && !run->is_partial && run->filled.buffers &&
           !trace_has_fault(run->trace) && trace_count_instructions(run->trace) <= MOST_INSTRUCTIONS;
}
