/* Vary: a session's run once more, with a change (session.h). What a question tried of one session may come
 * up again, since the same insertion may mend several causes: the last short runs are kept. */
#include "session/state.h"

enum {
    MOST_INSTRUCTIONS = 1 << 18, /* of a run that is kept */
    /* of a run in another order or with other PTX, which may never end: so many for each one of the run that
     * it varies, and more */
    TIMES_AS_MANY = 16,
    AT_LEAST = 1 << 20
};

static RunSpec spec_of(const Session *of, const RunChange *change) {
    RunSpec spec = of->options;
    if (change->ptx) spec.ptx = change->ptx;
    if (change->n) spec.catalog.n = change->n;
    if (change->blocks) session_set_grid(&spec, of->kernel.row, change->blocks);
    if (change->schedule) spec.schedule = *change->schedule;
    if (change->order) {
        spec.schedule = change->order->schedule;
        spec.holds = change->order->holds;
        spec.hold_count = change->order->hold_count;
    }
    if (change->is_shown) return spec;
    uint64_t most = TIMES_AS_MANY * trace_count_instructions(of->run->trace) + AT_LEAST;
    if ((change->order || change->ptx) && (!spec.instruction_budget || spec.instruction_budget > most))
        spec.instruction_budget = most;
    if (change->threads) spec.threads = change->threads;
    if (change->traces_all) {
        spec.has_trace_blocks = true;
        spec.trace_first = 0;
        spec.trace_last = UINT32_MAX;
    }
    session_make_quiet(of, &spec);
    spec.search_races = change->searches_races;
    spec.keep_going &= !change->n;
    spec.observer = change->observer;
    if (!change->shows_progress) spec.progress = NULL;
    return spec;
}

static Session *find_kept(const Session *of, const RunSpec *spec) {
    for (int i = 0; i < of->varied->count; i++) {
        Session *kept = of->varied->runs[i];
        if (!run_spec_equal(&kept->options, spec)) continue;
        kept->sharer_count++;
        return kept;
    }
    return NULL;
}

static void keep(const Session *of, Session *run) {
    SessionVaried *varied = of->varied;
    if (trace_count_instructions(run->run->trace) > MOST_INSTRUCTIONS) return;
    session_free(varied->runs[varied->next]);
    varied->runs[varied->next] = run;
    varied->next = (varied->next + 1) % SESSION_VARIED;
    if (varied->count < SESSION_VARIED) varied->count++;
    run->sharer_count++;
}

Session *session_vary(const Session *of, const RunChange *change, Error *error) {
    RunSpec spec = spec_of(of, change);
    if (change->is_shown || change->n) return session_open(&spec, error);
    bool is_kept = (change->ptx || change->schedule || change->order) && !change->observer && !change->plan;
    Session *run = is_kept ? find_kept(of, &spec) : NULL;
    if (run) return run;
    Plan plan;
    if (!change->plan) plan_copy(&of->run->plan, &plan);
    run = session_run_copy(of, &spec, change->plan ? change->plan : &plan, change->plan || !of->has_result);
    if (run && is_kept) keep(of, run);
    return run;
}
