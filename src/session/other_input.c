/* Runs a kernel whose result is right once more with an input that hides less (expect/expect_inputs.c). */
#include "session/state.h"

static bool can_be_tried(const Session *session) {
    const RunSpec *options = &session->options;
    return session_may_repeat(session) && !session->result.is_rounding && !session->kernel.row &&
           !options->program && options->expect && !session->is_planned && !session->machine.device;
}

/* An atomic extreme that meets what its memory held is the fault of that value. */
static bool is_outdone(const Trace *trace) {
    for (int i = 0; i < trace->launch_count; i++)
        if (trace->launches[i]->outdone) return true;
    return false;
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
    session->result.correct = session->guess.verdict.result.correct = false;
    text_done(&what);
}

/* Runs it with the input number `of->turn`. False: there is none, or it tells nothing. */
static bool run_other(const Session *session, ExpectOther *of, ExpectResult *result, Text *input) {
    Plan plan;
    GuessRun ran = {
        .filled = &session->run->filled, .done = &session->run->plan, .trace = session->run->trace};
    plan_copy(&session->run->plan, &plan);
    text_clear(input);
    if (!guess_other_input(&session->guess, &ran, &plan, of, input)) {
        plan_free(&plan);
        return false;
    }
    Session *other = session_judge_again(session, &plan, false);
    bool good =
        other && other->has_result && !trace_has_fault(other->run->trace) && !is_outdone(other->run->trace);
    if (good) *result = other->result;
    session_free(other);
    return good;
}

/* A sum must be wrong for two inputs: rounding may look like one element by chance. */
void session_try_other_input(Session *session) {
    Text input = {0};
    ExpectOther of = {0};
    ExpectResult result;
    bool good = can_be_tried(session) && run_other(session, &of, &result, &input),
         is_wrong = good && expect_other_is_wrong(&of, &result);
    of.turn = 1;
    if (is_wrong && of.count > 0)
        is_wrong = run_other(session, &of, &result, &input) && expect_other_is_wrong(&of, &result);
    if (is_wrong)
        keep_wrong(session, &result, text_string(&input));
    else if (good && result.correct)
        session->findings.other_input = arena_copy_text(&session->arena, text_string(&input), input.length);
    text_done(&input);
}
