/* The comparison of a result with --expect or with the function that it looks like; and buffers of a kernel
 * in no catalogue that turned out to be too small. */
#include "session/state.h"

#include "expect/expect.h"
#include "guess/uses.h"
#include "guess/user_variables.h"
#include <stdlib.h>
#include <string.h>

uint64_t session_count_atomics(const Session *session) {
    uint64_t count = 0;
    for (int i = 0; i < session->trace->launch_count; i++) {
        const TraceLaunch *launch = session->trace->launches[i];
        for (int pc = 0; pc < launch->program->code_count; pc++) {
            const char *name = launch->program->code[pc].instruction->name;
            if (!strcmp(name, "atom") || !strcmp(name, "red")) count += launch->counters[pc].lanes;
        }
    }
    return count;
}

/* What all launches only do. */
static const char *find_fold(const Session *session) {
    const char *fold = uses_only_fold(session->launches.programs[0]->entry);
    for (int i = 1; fold && i < session->launches.count; i++) {
        const char *other = uses_only_fold(session->launches.programs[i]->entry);
        if (!other || strcmp(fold, other) != 0) fold = NULL;
    }
    return fold;
}

bool session_any_entry(const Session *session, bool (*is_so)(const PtxFunction *entry)) {
    bool found = false;
    for (int i = 0; i < session->launches.count; i++) found |= is_so(session->launches.programs[i]->entry);
    return found;
}

static bool counts_values(const Session *session) {
    Use uses[USES_PARAMETERS];
    bool found = false;
    uses_find(session->launches.programs[0]->entry, uses);
    for (int i = 0; i < USES_PARAMETERS; i++) found |= uses[i].is_index;
    return found;
}

/* Columns that a block's addresses begin with, and bounds that are compared with. */
static int find_numbers(const Session *session, uint64_t *numbers, int most) {
    const PtxFunction *entry = session->launches.programs[0]->entry;
    uint64_t reach = uses_reach(entry).elements;
    if (reach > 1) numbers[0] = reach;
    return (reach > 1) + uses_bounds(entry, numbers + (reach > 1), most - (reach > 1));
}

/* Buffers that get what clocks show; false: there are none. */
static bool leave_out_times(const Session *session, bool *results) {
    bool found = false;
    Use uses[USES_PARAMETERS];
    for (int k = 0; k < session->plan.launch_count && k < session->launches.count; k++) {
        const PlanLaunch *launch = &session->plan.launches[k];
        uses_find(session->launches.programs[k]->entry, uses);
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
static bool find_last_results(const Session *session, bool *results) {
    int last = session->plan.launch_count - 1;
    const PlanLaunch *launch = &session->plan.launches[last];
    Use uses[USES_PARAMETERS];
    bool found = false;
    if (last < 1) return false;
    uses_find(session->launches.programs[last]->entry, uses);
    for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++) {
        if (!uses[i].is_written && !uses[i].is_updated) continue;
        found = true;
        plan_mark_buffers(launch, i, results);
    }
    return found;
}

bool *session_find_results(const Session *session, int buffers) {
    bool *results = memory_new((size_t)buffers + 1);
    for (int i = session->plan.buffer_count; i < buffers; i++) results[i] = true;
    bool is_last = find_last_results(session, results);
    for (int i = 0; !is_last && i < buffers; i++) results[i] = true;
    if (leave_out_times(session, results) || is_last) return results;
    free(results);
    return NULL;
}

/* The buffers that any launch loads from. The caller's. */
static bool *find_read(const Session *session, int buffers) {
    bool *read = memory_new((size_t)buffers + 1);
    Use uses[USES_PARAMETERS];
    for (int k = 0; k < session->plan.launch_count && k < session->launches.count; k++) {
        const PlanLaunch *launch = &session->plan.launches[k];
        uses_find(session->launches.programs[k]->entry, uses);
        for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++)
            if (uses[i].is_read) plan_mark_buffers(launch, i, read);
    }
    return read;
}

static bool is_guessed(const Session *session, const char *option) {
    return session->kernel.guess && strstr(session->kernel.guess, option);
}

/* What the guess says of the block, or of several numbers that the kernel is given, may be what is wrong. */
static bool may_be_guess(const Session *session) {
    const PlanLaunch *launch = &session->plan.launches[0];
    uint64_t value;
    int numbers = 0;
    for (int i = 0; i < launch->argument_count; i++) numbers += plan_scalar(launch, i, &value);
    return is_guessed(session, "--block") || (is_guessed(session, "--args") && numbers > 2);
}

/* The launches were read in the file, and the threads of the last one do not work together: it only uses a result. */
static bool may_be_earlier(const Session *session) {
    int last = session->plan.launch_count - 1;
    return last > 0 && !session->options.launches &&
           !uses_communicate(session->launches.programs[last]->entry);
}

/* What the last launch gave; where that looks like nothing, what an earlier one did. */
static bool find_result(const Session *session, const ExpectRun *run, ExpectResult *result, Text *what) {
    if (expect_find(run, result, what)) return true;
    ExpectRun of_all = *run;
    of_all.results = NULL;
    of_all.fold = NULL;
    of_all.names_output = true;
    return may_be_earlier(session) && expect_find(&of_all, result, what);
}

/* What a single launch printed, where its buffers look like nothing. */
static bool find_printed(const Session *session, UserVariables *variables, const ExpectRun *run,
                         ExpectResult *result, Text *what) {
    ExpectRun of_printed = *run;
    if (session->plan.launch_count > 1) return false;
    of_printed.variables += user_add_printed(session, variables);
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

bool session_compare_user_kernel(Session *session, Error *error) {
    bool was_run = !session->is_partial && !session_has_fatal_trap(session->trace);
    if (!was_run || !session->filled.buffers || !session->trace->launch_count) return true;
    enum { MOST_NUMBERS = 8 };
    uint64_t numbers[MOST_NUMBERS];
    UserVariables with_variables = user_variables(session);
    user_add_gathered(session, &with_variables);
    bool *results = session_find_results(session, with_variables.done.buffer_count);
    bool *read = find_read(session, with_variables.done.buffer_count + USER_PRINTED);
    ExpectRun run = {.filled = &with_variables.filled,
                     .done = &with_variables.done,
                     .variables = with_variables.done.buffer_count - session->plan.buffer_count,
                     .n = session->options.catalog.n,
                     .results = results,
                     .read = read,
                     .atomics = session_count_atomics(session),
                     .fold = may_be_guess(session) ? NULL : find_fold(session),
                     .compares = session_any_entry(session, uses_compares),
                     .counts_values = counts_values(session),
                     .numbers = numbers,
                     .number_count = find_numbers(session, numbers, MOST_NUMBERS),
                     .is_trial = session->trial.block > 0 || session->trial.is_candidate,
                     .is_hint = session->trial.takes_hints,
                     .takes_most = session->trial.is_other,
                     .float_fold = uses_float_fold(session->launches.programs[0]->entry)};
    const char *expectation = session->options.expect;
    Text what = {0};
    bool good = !expectation || expect_compare(expectation, &run, &session->result, &what, error);
    session->kernel.is_said = expectation != NULL;
    session->trial.is_right = good && expectation && session->kernel.block_choices > 1 && looks_right(&run);
    session->has_result = good && (expectation || find_result(session, &run, &session->result, &what) ||
                                   find_printed(session, &with_variables, &run, &session->result, &what));
    if (session->has_result)
        session->kernel.looks_like = arena_copy_text(&session->arena, text_string(&what), what.length);
    if (!expectation) session->trial.is_right = session->has_result && session->result.correct;
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

/* An access of shared memory; a buffer may be called so, too. */
bool session_is_of_shared(const Trap *trap) {
    return strstr(trap->detail, "shared offset ") != NULL;
}

/* Each block takes more elements than was thought: there are fewer blocks. Where its addresses say how many it takes, an
 * access out of bounds is the kernel's fault. */
static bool halve_grid(Session *session, const Trap *trap, bool reads_buffers) {
    enum { MOST_HALVINGS = 5 };
    UseReach reach = uses_reach(session->launches.programs[0]->entry);
    if (reach.is_known && !reach.goes_on) return false;
    const PlanLaunch *launch = &session->plan.launches[0];
    if (!is_guessed(session, "--grid") || launch->grid[0] < 2 || session->trial.halvings == MOST_HALVINGS)
        return false;
    if (session_is_of_shared(trap) || (!reads_buffers && !trap->block[0])) return false;
    session->trial.halvings++;
    return true;
}

static bool grow_buffer(Session *session, const Trap *trap) {
    enum { MOST_TIMES = 64 };
    const PlanLaunch *launch = &session->plan.launches[0];
    if (knows_sizes(launch)) return false;
    for (int i = 0; i < launch->argument_count && i < 64; i++) {
        int buffer = launch->arguments[i].buffer;
        if (buffer < 0) continue;
        char name[80];
        snprintf(name, sizeof name, "`%.60s`", session->plan.buffers[buffer].name);
        uint64_t now = session->trial.grow[i] ? session->trial.grow[i] : 1;
        if (!strstr(trap->detail, name) || now >= MOST_TIMES) continue;
        session->trial.grow[i] = 2 * now;
        return true;
    }
    return false;
}

/* Out of bounds, whether the run ended there or not. */
bool session_is_outside(TrapKind kind) {
    return kind == TRAP_OUT_OF_BOUNDS || kind == TRAP_INDEX_OVERFLOW || trap_kind_is_dropped(kind);
}

/* A variable of the module has no place for so large an n. */
static bool is_beyond_variable(const Session *session, const Trap *trap) {
    if (trap->kind != TRAP_OUT_OF_BOUNDS || session_is_of_shared(trap) || !strchr(trap->detail, '`'))
        return false;
    for (int i = 0; i < session->plan.buffer_count; i++) {
        char name[80];
        snprintf(name, sizeof name, "`%.60s`", session->plan.buffers[i].name);
        if (strstr(trap->detail, name)) return false;
    }
    return true;
}

/* Three sizes or more, of which two are the side of a square: the array has more dimensions. */
static bool add_dimension(Session *session, const Trap *trap) {
    enum { MOST_SIDES = 2 };
    const PlanLaunch *launch = &session->plan.launches[0];
    uint64_t side = session->kernel.side, value, n = session->options.catalog.n;
    int sides = 0, sizes = 0;
    for (int i = 0; i < launch->argument_count; i++) {
        if (!plan_scalar(launch, i, &value)) continue;
        sides += value == side;
        sizes += value > 1 && value < n;
    }
    if (sides < 2 || sizes < 3 || side < 2 || side >= n || session_is_of_shared(trap) ||
        session->trial.more_sides == MOST_SIDES)
        return false;
    session->trial.more_sides++;
    return true;
}

bool session_resize(Session *session) {
    enum { MOST_QUARTERINGS = 6 };
    const Trace *trace = session->trace;
    if (session->kernel.row || session->options.launches || !trace->trap_count) return false;
    const Trap *trap = &trace->traps[0];
    bool is_chain = session->plan.launch_count > 1;
    if (is_chain || (session->kernel.is_cut &&
                     session_is_outside(trap->kind))) { /* its sizes may fit the file's own n alone */
        bool keeps = session_is_outside(trap->kind) && session->kernel.is_reduced && !session->trial.keeps_n;
        session->trial.keeps_n |= keeps;
        return keeps;
    }
    bool takes_long = trap->kind == TRAP_INSTRUCTION_BUDGET && !strstr(trap->detail, "before a block ended");
    if ((takes_long || is_beyond_variable(session, trap)) && !session->trial.is_candidate &&
        session->kernel.may_shrink && session->trial.quarterings < MOST_QUARTERINGS) {
        session->trial.quarterings++;
        return true;
    }
    if (!session_is_outside(trap->kind) || session->options.args) return false;
    bool reads_buffers = session->kernel.read && strstr(session->kernel.read, "--args");
    if (!reads_buffers && add_dimension(session, trap)) return true;
    return halve_grid(session, trap, reads_buffers) || (!reads_buffers && grow_buffer(session, trap));
}
