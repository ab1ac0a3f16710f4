/* What a kernel that is in no catalogue gave, compared with --expect or with what it looks like; and buffers of such a kernel
 * that turned out to be too small. */
#include "session/state.h"

#include "catalog/expect.h"
#include "catalog/uses.h"
#include <stdlib.h>
#include <string.h>

/* Lanes that executed atomics of memory, of all launches. */
static uint64_t count_atomics(const Session *session) {
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

/* The buffers that the last of several launches writes; NULL: not known. The caller's. */
static bool *find_results(const Session *session) {
    int last = session->plan.launch_count - 1;
    const PlanLaunch *launch = &session->plan.launches[last];
    Use uses[USES_PARAMETERS];
    bool found = false;
    if (last < 1) return NULL;
    bool *results = memory_new((size_t)session->plan.buffer_count);
    uses_find(session->launches.programs[last]->entry, uses);
    for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++) {
        const PlanArgument *argument = &launch->arguments[i];
        if (!uses[i].is_written && !uses[i].is_updated) continue;
        found = true;
        if (argument->buffer >= 0) results[argument->buffer] = true;
        for (int k = 0; k < argument->pointer_count; k++) results[argument->pointers[k].buffer] = true;
    }
    if (found) return results;
    free(results);
    return NULL;
}

bool session_compare_user_kernel(Session *session, Error *error) {
    bool was_run = !session->is_partial && !session_has_fatal_trap(session->trace);
    if (!was_run || !session->filled.buffers || !session->trace->launch_count) return true;
    bool *results = find_results(session);
    ExpectRun run = {.filled = &session->filled,
                     .done = &session->plan,
                     .n = session->options.catalog.n,
                     .results = results,
                     .atomics = count_atomics(session),
                     .fold = find_fold(session)};
    const char *expectation = session->options.expect;
    Text what = {0};
    bool good = !expectation || expect_compare(expectation, &run, &session->result, &what, error);
    session->kernel.is_said = expectation != NULL;
    session->has_result = good && (expectation || expect_find(&run, &session->result, &what));
    if (session->has_result)
        session->kernel.looks_like = arena_copy_text(&session->arena, text_string(&what), what.length);
    text_done(&what);
    free(results);
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

bool session_grow_buffer(Session *session) {
    enum { MOST_TIMES = 64, MOST_HALVINGS = 5 };
    const Trace *trace = session->trace;
    const PlanLaunch *launch = &session->plan.launches[0];
    if (session->kernel.row || session->options.args || session->options.launches ||
        session->plan.launch_count > 1 || !trace->trap_count)
        return false;
    const Trap *trap = &trace->traps[0];
    if (trap->kind != TRAP_OUT_OF_BOUNDS) return false;
    bool guesses_grid = session->kernel.guess && strstr(session->kernel.guess, "--grid"),
         reads_buffers = session->kernel.read && strstr(session->kernel.read, "--args");
    if (guesses_grid && launch->grid[0] > 1 && session->halvings < MOST_HALVINGS &&
        (reads_buffers || trap->block[0])) {
        session->halvings++;
        return true;
    }
    if (reads_buffers || knows_sizes(launch)) return false;
    for (int i = 0; i < launch->argument_count && i < 64; i++) {
        int buffer = launch->arguments[i].buffer;
        if (buffer < 0) continue;
        char name[80];
        snprintf(name, sizeof name, "`%.60s`", session->plan.buffers[buffer].name);
        uint64_t now = session->grow[i] ? session->grow[i] : 1;
        if (!strstr(trap->detail, name) || now >= MOST_TIMES) continue;
        session->grow[i] = 2 * now;
        return true;
    }
    return false;
}
