/* The result of a run beside --expect, or what it looks like. */
#include "guess/guess_state.h"

#include <stdlib.h>

/* [buffers] What the last of several launches may write, the caller's; NULL: there is one launch. */
static bool *find_results(const Guess *guess, const GuessRun *run, int buffers) {
    int last = guess->launch_count - 1;
    GuessParameter parameters[GUESS_PARAMETERS];
    GuessSource source = {0};
    Arena arena = {0};
    if (last < 1 || !guess->entries[last]) return NULL;
    const PtxFunction *entry = guess->entries[last];
    const PlanLaunch *launch = &run->done->launches[last];
    bool *results = memory_new((size_t)buffers + 1);
    guess_parameters(entry, &source, guess->account.n, &arena, parameters);
    for (int i = run->done->buffer_count; i < buffers; i++) results[i] = true;
    for (int i = 0; i < launch->argument_count && i < GUESS_PARAMETERS; i++)
        if (!parameters[i].is_pointer || !parameters[i].is_constant) plan_mark_buffers(launch, i, results);
    arena_done(&arena);
    return results;
}

/* Memory of a GPU's size is not searched for what it looks like. */
static bool is_small(const ExpectRun *run) {
    enum { MOST_BYTES = 512 << 20 };
    uint64_t bytes = 0;
    for (int i = 0; i < run->filled->buffer_count; i++)
        bytes += run->filled->buffers[i].count * (uint64_t)ptx_type_bytes(run->filled->buffers[i].type);
    return bytes <= MOST_BYTES;
}

static bool was_run(const GuessRun *run) {
    return !run->is_partial && !trace_has_fatal_trap(run->trace) && run->filled->buffers &&
           run->trace->launch_count;
}

static ExpectRun compared_run(const Guess *guess, const GuessRun *run, const GuessVariables *with,
                              const bool *results) {
    return (ExpectRun){.filled = &with->filled,
                       .done = &with->done,
                       .variables = with->done.buffer_count - run->done->buffer_count,
                       .n = guess->account.n,
                       .results = results,
                       .shadow = run->shadow,
                       .arithmetic = guess_arithmetic(run->trace)};
}

bool guess_other_input(const Guess *guess, const GuessRun *run, Plan *other, ExpectOther *of, Text *what) {
    if (!was_run(run) || !run->done->expect) return false;
    ExpectRun compared = {.filled = run->filled,
                          .done = run->done,
                          .n = guess->account.n,
                          .arithmetic = guess_arithmetic(run->trace)};
    return expect_other_input(run->done->expect, &compared, other, of, what);
}

bool guess_compare(Guess *guess, const GuessRun *run, Error *error) {
    if (!was_run(run)) return true;
    GuessVariables with_variables = guess_variables(guess, run);
    bool *results = find_results(guess, run, with_variables.done.buffer_count);
    ExpectRun compared = compared_run(guess, run, &with_variables, results);
    const char *expectation = run->done->expect;
    Text what = {0};
    bool good = !expectation || expect_compare(expectation, &compared, &guess->verdict.result, &what, error);
    bool is_known = good && (expectation || (is_small(&compared) && expect_look(&compared, &what)));
    guess->verdict.has_result = good && expectation;
    guess->verdict.changes_nothing =
        good && !expectation && is_small(&compared) && expect_changes_nothing(&compared);
    guess->verdict.looks_like =
        is_known ? arena_copy_text(&guess->arena, text_string(&what), what.length) : NULL;
    text_done(&what);
    free(results);
    guess_variables_done(&with_variables);
    return good;
}
