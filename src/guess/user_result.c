/* The comparison of a result with --expect or with the function that it looks like; and buffers of a kernel
 * in no catalogue that turned out to be too small. */
#include "guess/user_launch.h"

#include "expect/expect.h"
#include "guess/uses.h"
#include "guess/user_variables.h"
#include <stdlib.h>
#include <string.h>

/* What all launches only do. */
static const char *find_fold(const Guess *guess) {
    const char *fold = uses_only_fold(guess->entries[0]);
    for (int i = 1; fold && i < guess->launch_count; i++) {
        const char *other = uses_only_fold(guess->entries[i]);
        if (!other || strcmp(fold, other) != 0) fold = NULL;
    }
    return fold;
}

bool user_any_entry(const Guess *guess, bool (*is_so)(const PtxFunction *entry)) {
    bool found = false;
    for (int i = 0; i < guess->launch_count; i++) found |= is_so(guess->entries[i]);
    return found;
}

static bool counts_values(const Guess *guess) {
    Use uses[USES_PARAMETERS];
    bool found = false;
    uses_find(guess->entries[0], uses);
    for (int i = 0; i < USES_PARAMETERS; i++) found |= uses[i].is_index;
    return found;
}

/* Columns that a block's addresses begin with, and bounds that are compared with. */
static int find_numbers(const Guess *guess, uint64_t *numbers, int most) {
    const PtxFunction *entry = guess->entries[0];
    uint64_t reach = uses_reach(entry).elements;
    if (reach > 1) numbers[0] = reach;
    return (reach > 1) + uses_bounds(entry, numbers + (reach > 1), most - (reach > 1));
}

/* Buffers that get what clocks show; false: there are none. */
static bool leave_out_times(const Guess *guess, bool *results) {
    bool found = false;
    Use uses[USES_PARAMETERS];
    for (int k = 0; k < guess->launch_count; k++) {
        const PlanLaunch *launch = &guess->run.done->launches[k];
        uses_find(guess->entries[k], uses);
        for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++) {
            int buffer = launch->arguments[i].buffer;
            if (buffer < 0 || !uses[i].gets_times) continue;
            results[buffer] = false;
            found = true;
        }
    }
    return found;
}

/* The last of several launches writes them. */
static bool find_last_results(const Guess *guess, bool *results) {
    int last = guess->launch_count - 1;
    const PlanLaunch *launch = &guess->run.done->launches[last];
    Use uses[USES_PARAMETERS];
    bool found = false;
    if (last < 1) return false;
    uses_find(guess->entries[last], uses);
    for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++) {
        if (!uses[i].is_written && !uses[i].is_updated) continue;
        found = true;
        plan_mark_buffers(launch, i, results);
    }
    return found;
}

bool *user_find_results(const Guess *guess, int buffers) {
    bool *results = memory_new((size_t)buffers + 1);
    for (int i = guess->run.done->buffer_count; i < buffers; i++) results[i] = true;
    bool is_last = find_last_results(guess, results);
    for (int i = 0; !is_last && i < buffers; i++) results[i] = true;
    if (leave_out_times(guess, results) || is_last) return results;
    free(results);
    return NULL;
}

/* The buffers that any launch loads from. The caller's. */
static bool *find_read(const Guess *guess, int buffers) {
    bool *read = memory_new((size_t)buffers + 1);
    Use uses[USES_PARAMETERS];
    for (int k = 0; k < guess->launch_count; k++) {
        const PlanLaunch *launch = &guess->run.done->launches[k];
        uses_find(guess->entries[k], uses);
        for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++)
            if (uses[i].is_read) plan_mark_buffers(launch, i, read);
    }
    return read;
}

/* What the guess says of the block, or of several numbers that the kernel is given, may be what is wrong. */
static bool may_be_guess(const Guess *guess) {
    const PlanLaunch *launch = &guess->run.done->launches[0];
    uint64_t value;
    int numbers = 0;
    for (int i = 0; i < launch->argument_count; i++) numbers += plan_scalar(launch, i, &value);
    return guess->account.guesses_block || (guess->account.guesses_arguments && numbers > 2);
}

/* The launches were read in the file, and the threads of the last one do not work together: it only uses a result. */
static bool may_be_earlier(const Guess *guess) {
    int last = guess->launch_count - 1;
    return last > 0 && !guess->request.launches && !uses_communicate(guess->entries[last]);
}

/* What the last launch gave; where that looks like nothing, what an earlier one did. */
static bool find_result(const Guess *guess, const ExpectRun *run, ExpectResult *result, Text *what) {
    if (expect_find(run, result, what)) return true;
    ExpectRun of_all = *run;
    of_all.results = NULL;
    of_all.fold = NULL;
    of_all.names_output = true;
    return may_be_earlier(guess) && expect_find(&of_all, result, what);
}

/* What a single launch printed, where its buffers look like nothing. */
static bool find_printed(const Guess *guess, UserVariables *variables, const ExpectRun *run,
                         ExpectResult *result, Text *what) {
    ExpectRun of_printed = *run;
    if (guess->launch_count > 1) return false;
    of_printed.variables += user_add_printed(guess, variables);
    of_printed.fold = NULL;
    of_printed.counts_values = true; /* a size that is printed is no count */
    of_printed.names_output = true;
    return of_printed.variables > run->variables && expect_find(&of_printed, result, what);
}

/* Without --expect: what is guessed does not depend on that. */
static bool looks_right(const ExpectRun *run) {
    ExpectResult result = {0};
    Text what = {0};
    bool found = expect_find(run, &result, &what);
    text_done(&what);
    return found && result.correct;
}

bool guess_compare(Guess *guess, const GuessRun *last, Error *error) {
    guess->run = *last;
    bool was_run = !guess->run.is_partial && !trace_has_fatal_trap(guess->run.trace);
    if (!was_run || !guess->run.filled->buffers || !guess->run.trace->launch_count) return true;
    enum { MOST_NUMBERS = 8 };
    uint64_t numbers[MOST_NUMBERS];
    UserVariables with_variables = user_variables(guess);
    user_add_gathered(guess, &with_variables);
    bool *results = user_find_results(guess, with_variables.done.buffer_count);
    bool *read = find_read(guess, with_variables.done.buffer_count + USER_PRINTED);
    ExpectRun run = {.filled = &with_variables.filled,
                     .done = &with_variables.done,
                     .variables = with_variables.done.buffer_count - guess->run.done->buffer_count,
                     .n = guess->account.n,
                     .results = results,
                     .read = read,
                     .atomics = trace_count_atomics(guess->run.trace),
                     .fold = may_be_guess(guess) ? NULL : find_fold(guess),
                     .compares = user_any_entry(guess, uses_compares),
                     .counts_values = counts_values(guess),
                     .numbers = numbers,
                     .number_count = find_numbers(guess, numbers, MOST_NUMBERS),
                     .is_trial = guess->trial.block > 0 || guess->trial.is_candidate,
                     .is_hint = guess->trial.takes_hints,
                     .takes_most = guess->trial.is_other,
                     .float_fold = uses_float_fold(guess->entries[0])};
    const char *expectation = guess->run.done->expect;
    Text what = {0};
    bool good = !expectation || expect_compare(expectation, &run, &guess->verdict.result, &what, error);
    guess->verdict.is_said = expectation != NULL;
    guess->verdict.is_right = good && expectation && guess->account.block_choices > 1 && looks_right(&run);
    guess->verdict.has_result =
        good && (expectation || find_result(guess, &run, &guess->verdict.result, &what) ||
                 find_printed(guess, &with_variables, &run, &guess->verdict.result, &what));
    if (guess->verdict.has_result)
        guess->verdict.looks_like = arena_copy_text(&guess->arena, text_string(&what), what.length);
    if (!expectation) guess->verdict.is_right = guess->verdict.has_result && guess->verdict.result.correct;
    text_done(&what);
    free(results);
    free(read);
    user_variables_done(&with_variables);
    return good;
}

/* A kernel that is given a number knows where its buffers end: an access beyond it is its fault. */
static bool knows_sizes(const PlanLaunch *launch) {
    for (int i = 0; i < launch->argument_count; i++) {
        uint64_t value;
        if (plan_scalar(launch, i, &value) && value > 1) return true;
    }
    return false;
}

/* Each block takes more elements than was thought: there are fewer blocks. Where its addresses say how many it takes, an
 * access out of bounds is the kernel's fault. */
static bool halve_grid(Guess *guess, const Trap *trap, bool reads_buffers) {
    enum { MOST_HALVINGS = 5 };
    UseReach reach = uses_reach(guess->entries[0]);
    if (reach.is_known && !reach.goes_on) return false;
    const PlanLaunch *launch = &guess->run.done->launches[0];
    if (!guess->account.guesses_grid || launch->grid[0] < 2 || guess->trial.halvings == MOST_HALVINGS)
        return false;
    if (trap->space == PTX_SPACE_SHARED || (!reads_buffers && !trap->block[0])) return false;
    guess->trial.halvings++;
    return true;
}

static bool grow_buffer(Guess *guess, const Trap *trap) {
    enum { MOST_TIMES = 64 };
    const PlanLaunch *launch = &guess->run.done->launches[0];
    if (knows_sizes(launch)) return false;
    for (int i = 0; i < launch->argument_count && i < 64; i++) {
        int buffer = launch->arguments[i].buffer;
        if (buffer < 0) continue;
        uint64_t now = guess->trial.grow[i] ? guess->trial.grow[i] : 1;
        if (trap->buffer != buffer || now >= MOST_TIMES) continue;
        guess->trial.grow[i] = 2 * now;
        return true;
    }
    return false;
}

/* A variable of the module has no place for so large an n. */
static bool is_beyond_variable(const Guess *guess, const Trap *trap) {
    return trap->kind == TRAP_OUT_OF_BOUNDS && trap->space != PTX_SPACE_SHARED &&
           trap->buffer >= guess->run.done->buffer_count;
}

/* Three sizes or more, of which two are the side of a square: the array has more dimensions. */
static bool add_dimension(Guess *guess, const Trap *trap) {
    enum { MOST_SIDES = 2 };
    const PlanLaunch *launch = &guess->run.done->launches[0];
    uint64_t side = guess->account.side, value, n = guess->account.n;
    int sides = 0, sizes = 0;
    for (int i = 0; i < launch->argument_count; i++) {
        if (!plan_scalar(launch, i, &value)) continue;
        sides += value == side;
        sizes += value > 1 && value < n;
    }
    if (sides < 2 || sizes < 3 || side < 2 || side >= n || trap->space == PTX_SPACE_SHARED ||
        guess->trial.more_sides == MOST_SIDES)
        return false;
    guess->trial.more_sides++;
    return true;
}

bool user_resize(Guess *guess) {
    enum { MOST_QUARTERINGS = 6 };
    const Trace *trace = guess->run.trace;
    if (guess->request.launches || !trace->trap_count) return false;
    const Trap *trap = &trace->traps[0];
    bool is_chain = guess->launch_count > 1;
    if (is_chain || (guess->account.is_cut &&
                     trap_kind_is_outside(trap->kind))) { /* its sizes may fit the file's own n alone */
        bool keeps = trap_kind_is_outside(trap->kind) && guess->account.is_reduced && !guess->trial.keeps_n;
        guess->trial.keeps_n |= keeps;
        return keeps;
    }
    bool takes_long = trap->kind == TRAP_INSTRUCTION_BUDGET && !trap->is_of_block;
    if ((takes_long || is_beyond_variable(guess, trap)) && !guess->trial.is_candidate &&
        guess->account.may_shrink && guess->trial.quarterings < MOST_QUARTERINGS) {
        guess->trial.quarterings++;
        return true;
    }
    if (!trap_kind_is_outside(trap->kind) || guess->request.args) return false;
    bool reads_buffers = guess->account.reads_arguments;
    if (!reads_buffers && add_dimension(guess, trap)) return true;
    return halve_grid(guess, trap, reads_buffers) || (!reads_buffers && grow_buffer(guess, trap));
}
