/* Runs a kernel whose result is right once more with an input that hides less (expect/expect_inputs.c). */
#include "session/state.h"

#include <math.h>

enum { MOST_INSTRUCTIONS = 16 << 20 }; /* warp instructions of a run that is repeated */

static bool can_be_tried(const Session *session) {
    const RunSpec *options = &session->options;
    return session->has_result && session->result.correct && !session->kernel.row && !options->program &&
           options->expect && !session->is_planned && !session->run->is_partial && !session->machine.device &&
           session->run->filled.buffers && !trace_has_fault(session->run->trace) &&
           trace_count_instructions(session->run->trace) <= MOST_INSTRUCTIONS;
}

/* An atomic extreme that meets what its memory held is the fault of that value. */
static bool is_outdone(const Trace *trace) {
    for (int i = 0; i < trace->launch_count; i++)
        if (trace->launches[i]->outdone) return true;
    return false;
}

/* A result that is off by a part of one, or no whole number, was rounded: the kernel scales its terms. */
static bool is_rounded(const ExpectResult *other) {
    bool is_whole_number = other->result == trunc(other->result) && other->expected == trunc(other->expected);
    return other->bound == 0 && !isnan(other->result) && other->expected == trunc(other->expected) &&
           (!is_whole_number || other->absolute_error < 0.5);
}

/* The result is now that of the other input. */
static void keep_wrong(Session *session, const ExpectResult *other, const char *input) {
    Text what = {0};
    const ExpectResult *given = &session->result;
    const char *known = session->guess.verdict.looks_like;
    text_print(&what, "%s, %s", known ? known : "", input);
    if (given->absolute_error > 0)
        text_print(&what, "; with the input as given it is off by %.2g, within the %.2g of rounding",
                   given->absolute_error, given->bound);
    else
        text_add(&what, "; with the input as given it is right");
    session->guess.verdict.looks_like = arena_copy_text(&session->arena, text_string(&what), what.length);
    session->findings.reach = arena_copy_string(&session->arena, input);
    session->result = session->guess.verdict.result = *other;
    text_done(&what);
}

void session_try_other_input(Session *session) {
    Plan plan;
    Text input = {0};
    if (!can_be_tried(session)) return;
    GuessRun ran = {
        .filled = &session->run->filled, .done = &session->run->plan, .trace = session->run->trace};
    plan_copy(&session->run->plan, &plan);
    if (!guess_other_input(&session->guess, &ran, &plan, &input)) {
        plan_free(&plan);
        text_done(&input);
        return;
    }
    RunSpec spec = session->options;
    session_make_quiet(session, &spec);
    spec.progress = NULL;
    Session *other = session_run_copy(session, &spec, &plan, false);
    if (other && other->has_result && !other->result.correct && !trace_has_fault(other->run->trace) &&
        !is_outdone(other->run->trace) && !is_rounded(&other->result))
        keep_wrong(session, &other->result, text_string(&input));
    session_free(other);
    text_done(&input);
}
