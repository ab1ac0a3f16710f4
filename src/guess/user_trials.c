/* Trials with other guesses where the first one gives no known result: of the block of a kernel that is in no
 * catalogue, of the numbers that it is given, of the kernel itself. A result on random numbers that is just
 * what a known function gives is no accident. What was typed, or read in the file, is never changed. */
#include "guess/user_launch.h"

#include "guess/uses.h"
#include <stdlib.h>
#include <string.h>

/* ---- one launch instead of a loop, another block ---------------------------------------------------------------- */

/* A fault that another block may not have: an access of a buffer out of bounds is the kernel's own. */
static bool is_other_fault(const Guess *guess) {
    const Trace *trace = guess->run.trace;
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        bool is_fault = trap_kind_is_fatal(trap->kind) || trap_kind_is_dropped(trap->kind);
        if (is_fault) return !trap_kind_is_outside(trap->kind) || trap->space == PTX_SPACE_SHARED;
    }
    return false;
}

bool user_leave_loop(Guess *guess) {
    bool is_right = guess->verdict.has_result && guess->verdict.result.correct;
    bool leaves = guess->account.has_loop && !is_right && !guess->trial.no_loops && !guess->request.expect;
    guess->trial.no_loops |= leaves;
    return leaves;
}

bool guess_may_try_block(const Guess *guess) {
    const GuessTrial *trial = &guess->trial;
    return guess->account.block_choices > 1 && !trial->is_settled && !guess->request.launches &&
           guess->launch_count < 2 && uses_communicate(guess->entries[0]);
}

bool user_try_block(Guess *guess) {
    enum { QUICK = 1 << 23 }; /* warp instructions: a second */
    GuessTrial *trial = &guess->trial;
    bool is_right = guess->verdict.is_right && !trace_has_fault(guess->run.trace);
    if (!guess_may_try_block(guess) || is_right || guess->run.is_partial) return false;
    bool goes_on = trial->block + 1 < guess->account.block_choices &&
                   trace_count_instructions(guess->run.trace) <= QUICK;
    int clean = trial->clean ? trial->clean : is_other_fault(guess) ? 0 : trial->block + 1;
    int next = goes_on ? trial->block + 1
               : clean ? clean - 1
                       : 0; /* none is right: the likeliest without a fault */
    if (!goes_on && next == trial->block) return false;
    *trial = (GuessTrial){
        .block = next, .clean = clean, .is_settled = !goes_on, .quarterings = trial->quarterings};
    return true;
}

/* ---- other numbers, other kernels ------------------------------------------------------------------------------- */

enum {
    MOST_ENTRIES = 6,
    MOST_OF_ENTRY = 3, /* profiles of each of these */
    QUARTERINGS = 2,   /* of n, while it is tried */
    DRAWS = 3          /* that confirm what few elements give */
};

static bool is_right(const Guess *guess) {
    return guess->verdict.has_result && guess->verdict.result.correct && !trace_has_fault(guess->run.trace);
}

/* A result that is known is compared with it, be it wrong; what was typed is what is shown. */
static bool may_try_others(const Guess *guess) {
    const GuessRequest *asked = &guess->asked;
    bool is_typed = asked->launches || asked->args || asked->expect;
    return !is_typed && !guess->run.is_partial && !guess->run.is_interrupted && !guess->verdict.has_result &&
           guess->run.filled->buffers && guess->launch_count == 1;
}

/* The plan of this trial; false: it cannot be made. */
static bool make_plan(Guess *guess, const GuessTrial *trial, Plan *plan, Error *error) {
    guess->trial = *trial;
    guess->account = (GuessAccount){.n = guess->request.n};
    guess->verdict = (GuessVerdict){0};
    guess->plan = plan;
    *plan = (Plan){0};
    bool good = user_plan(guess, error);
    guess->launch_count = good ? plan->launch_count : 0;
    for (int i = 0; i < guess->launch_count && good; i++) {
        guess->entries[i] = ptx_module_find_entry(guess->request.module, plan->launches[i].entry, error);
        good = guess->entries[i] != NULL;
    }
    plan->expect = arena_copy_string(&plan->arena, guess->request.expect);
    if (!good) plan_free(plan);
    return good;
}

static bool is_late(const Guess *guess) {
    return clock() > guess->deadline;
}

/* The next of the other trials: profiles of the same kernel, without sides, and of other kernels. False: there is no other. */
static bool next_other(Guess *guess) {
    const GuessAccount *kept = &guess->kept_account;
    bool is_of_file =
        kept->is_launched && !kept->guesses_arguments; /* all of it was read: it is what is meant */
    int entries = is_of_file ? 0 : kept->other_entries < MOST_ENTRIES ? kept->other_entries : MOST_ENTRIES;
    GuessTrial *next = &guess->candidate;
    for (; guess->axis < 2 + entries && !is_late(guess); guess->axis++, guess->next_profile = 0) {
        bool is_same = guess->axis < 2, no_sides = guess->axis == 1;
        if (no_sides && !kept->has_sides) continue;
        if (guess->next_profile > (is_same ? kept->profiles : MOST_OF_ENTRY)) continue;
        *next =
            (GuessTrial){.is_other = true,
                         .is_settled = true,
                         .is_candidate = true,
                         .no_sides = no_sides,
                         .block = is_same ? guess->kept_trial.block : 0,
                         .more_sides = guess->axis == 0 ? guess->kept_trial.more_sides : 0,
                         .entry = is_same ? 0 : guess->axis - 1,
                         .profile = guess->next_profile++,
                         .quarterings = guess->kept_trial.quarterings + (kept->may_shrink ? QUARTERINGS : 0)};
        return true;
    }
    return false;
}

/* The last run is kept while others are tried. */
static void keep(Guess *guess) {
    guess->kept_trial = guess->trial;
    guess->kept_account = guess->account;
    guess->kept_verdict = guess->verdict;
    guess->kept_launch_count = guess->launch_count;
    memcpy(guess->kept_entries, guess->entries, sizeof guess->kept_entries);
}

/* None of the others is better. */
static GuessStep restore(Guess *guess) {
    guess->trial = guess->kept_trial;
    guess->account = guess->kept_account;
    guess->verdict = guess->kept_verdict;
    guess->request = guess->asked;
    guess->launch_count = guess->kept_launch_count;
    memcpy(guess->entries, guess->kept_entries, sizeof guess->entries);
    return GUESS_DONE;
}

static GuessStep try_other(Guess *guess, Plan *plan) {
    guess->stage = GUESS_STAGE_OTHER;
    guess->request = guess->asked;
    while (guess->kept_account.guessed && next_other(guess))
        if (make_plan(guess, &guess->candidate, plan, NULL)) return GUESS_RUN;
    return restore(guess);
}

/* The whole run of a trial that was right for a smaller n; `shorter`: that n once more, where the whole was not right. */
static GuessStep try_whole(Guess *guess, bool shorter, Plan *plan) {
    GuessTrial trial = guess->candidate;
    trial.is_candidate = false;
    if (!shorter) trial.quarterings = guess->kept_trial.quarterings;
    guess->stage = shorter ? GUESS_STAGE_SHORTER : GUESS_STAGE_WHOLE;
    guess->request = guess->asked;
    return make_plan(guess, &trial, plan, NULL) ? GUESS_RUN : restore(guess);
}

/* The elements of another draw, and what they should give. */
static GuessStep try_draw(Guess *guess, Plan *plan) {
    const GuessVerdict *hinted = &guess->hinted;
    guess->stage = GUESS_STAGE_DRAW;
    guess->request.seed++;
    if (hinted->result.outputs < 2)
        guess->request.expect =
            arena_copy_text(&guess->arena, hinted->looks_like, hinted->result.function_length);
    return make_plan(guess, &guess->candidate, plan, NULL) ? GUESS_RUN : try_other(guess, plan);
}

/* The likeliest plan has run: it is kept, and others are tried where its result looks like nothing known. */
static GuessStep keep_first(Guess *guess, double seconds, Plan *plan) {
    if (!may_try_others(guess)) return GUESS_DONE;
    keep(guess);
    guess->deadline = clock() + (clock_t)(seconds * (double)CLOCKS_PER_SEC);
    guess->next_profile = 1;
    if (guess->account.n >= EXPECT_FEW) return try_other(guess, plan);
    guess->stage = GUESS_STAGE_HINT;
    guess->candidate = guess->trial;
    guess->candidate.is_other = guess->candidate.is_settled = guess->candidate.is_candidate =
        guess->candidate.takes_hints = true;
    return make_plan(guess, &guess->candidate, plan, NULL) ? GUESS_RUN : try_other(guess, plan);
}

/* What follows the run of a candidate. */
static GuessStep after_candidate(Guess *guess, bool right, Plan *plan) {
    if (guess->stage == GUESS_STAGE_HINT && right) {
        guess->hinted = guess->verdict;
        guess->draw = 0;
        return try_draw(guess, plan);
    }
    if (guess->stage == GUESS_STAGE_DRAW && right) {
        bool has_several = guess->hinted.result.outputs > 1; /* --expect takes one */
        bool is_confirmed = !has_several || !strcmp(guess->verdict.looks_like, guess->hinted.looks_like);
        if (is_confirmed)
            return ++guess->draw < DRAWS ? try_draw(guess, plan) : try_whole(guess, false, plan);
    }
    return guess->stage == GUESS_STAGE_OTHER && right ? try_whole(guess, false, plan)
                                                      : try_other(guess, plan);
}

/* True: the last plan had sizes that do not fit, or another block may be better; the trial has others. False with *good false:
 * --expect cannot be compared. */
static bool corrects(Guess *guess, const GuessRun *run, bool *good, Error *error) {
    guess->run = *run;
    *good = true;
    if (!run->is_interrupted && user_resize(guess)) return true;
    *good = guess_compare(guess, run, error);
    return *good && !run->is_interrupted && (user_leave_loop(guess) || user_try_block(guess));
}

GuessStep guess_next(Guess *guess, const GuessRun *run, double seconds, Plan *plan, Error *error) {
    bool good = run != NULL;
    if (guess->stage == GUESS_STAGE_NEW) {
        guess->stage = GUESS_STAGE_FIRST;
        return make_plan(guess, &guess->trial, plan, error) ? GUESS_RUN : GUESS_FAILED;
    }
    if (run && corrects(guess, run, &good, error)) {
        GuessTrial trial = guess->trial;
        good = make_plan(guess, &trial, plan, error);
        if (good) return GUESS_RUN;
    }
    switch (guess->stage) {
    case GUESS_STAGE_FIRST:
        return good ? keep_first(guess, seconds, plan) : GUESS_FAILED;
    case GUESS_STAGE_WHOLE:
        if (!good) return restore(guess);
        if (run->is_interrupted || is_right(guess) ||
            guess->candidate.quarterings == guess->kept_trial.quarterings)
            return GUESS_DONE;
        keep(guess);
        return try_whole(guess, true, plan);
    case GUESS_STAGE_SHORTER:
        return good ? GUESS_DONE : restore(guess);
    default:
        return after_candidate(guess, good && is_right(guess), plan);
    }
}

Guess guess_begin(const GuessRequest *request) {
    return (Guess){.asked = *request, .request = *request};
}

void guess_done(Guess *guess) {
    free(guess->checked);
    arena_done(&guess->arena);
    *guess = (Guess){0};
}

Guess guess_of_plan(const GuessRequest *request, const Plan *plan, const PtxFunction *const *entries) {
    Guess guess = guess_begin(request);
    guess.trial.is_settled = true;
    guess.launch_count = plan->launch_count;
    guess.account.n = user_count_elements(plan);
    for (int i = 0; i < plan->buffer_count && !guess.account.n; i++) guess.account.n = plan->buffers[i].count;
    memcpy(guess.entries, entries, (size_t)plan->launch_count * sizeof *entries);
    return guess;
}

Guess guess_copy(const Guess *guess, PtxModule *module, const PtxFunction *const *entries) {
    Guess copy = *guess;
    copy.arena = (Arena){0};
    copy.checked = NULL;
    copy.checked_count = copy.checked_capacity = 0;
    copy.request.module = module;
    copy.verdict = (GuessVerdict){0};
    copy.trial.is_settled = true;
    memcpy(copy.entries, entries, (size_t)copy.launch_count * sizeof *entries);
    return copy;
}
