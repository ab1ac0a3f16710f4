/* The plan for --launch: several launches that share buffers by name. Their kernels are in no catalogue and
 * follow one another. */
#include "guess/guess_state.h"

#include "plan/launches.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What each pointer probably is, [GUESS_PARAMETERS], in the arena: "float[n]:random". */
static const char **find_defaults(Guess *guess, const PtxFunction *entry, uint64_t n) {
    const char **defaults = arena_new(&guess->arena, GUESS_PARAMETERS * sizeof *defaults);
    GuessParameter parameters[GUESS_PARAMETERS];
    GuessSource source = {0};
    guess_parameters(entry, &source, n, &guess->arena, parameters);
    for (int i = 0; i < entry->parameter_count && i < GUESS_PARAMETERS; i++) {
        Text text = {0};
        if (!parameters[i].is_pointer) continue;
        guess_print_buffer(&parameters[i], n, guess_fill_text(guess), &text);
        defaults[i] = arena_copy_text(&guess->arena, text_string(&text), text.length);
        text_done(&text);
    }
    return defaults;
}

static bool plan_launch(Guess *guess, const char *text, const TypedLaunch *typed, Text *completed,
                        Error *error) {
    Error inner = {0};
    uint64_t n = guess->account.n;
    PtxFunction *entry = ptx_module_find_entry(guess->request.module, typed->entry, &inner);
    if (!entry) {
        if (error) *error = inner;
        launches_show(text, typed->at, error);
        return false;
    }
    if (!guess_parse(guess, entry, error)) return false;
    PlanLaunch *launch = plan_add_launch(guess->plan, entry->name);
    memcpy(launch->grid, typed->grid, sizeof launch->grid);
    memcpy(launch->block, typed->block, sizeof launch->block);
    memcpy(launch->cluster, typed->cluster, sizeof launch->cluster);
    launch->cooperative = typed->cooperative;
    launch->dynamic_shared_bytes = typed->has_shared ? typed->shared_bytes : guess_shared(guess, entry);
    uint64_t warps = (launch_volume(launch->block) + 31) / 32, blocks = launch_volume(launch->grid);
    if (!guess->request.has_budget && blocks > GUESS_WARPS / warps) {
        error_set(error,
                  "%" PRIu64 " blocks would take very long to emulate; launch fewer, or give "
                  "--max-instructions N to run up to N warp instructions of them",
                  blocks);
        launches_show(text, typed->at, error);
        return false;
    }
    Text arguments = {0};
    PlanTyped list = {.option = "--launch",
                      .text = text,
                      .begin = typed->arguments,
                      .length = typed->argument_length,
                      .defaults = find_defaults(guess, entry, n),
                      .completed = &arguments};
    PlanVariables variables = {n, launch_volume(launch->block), blocks};
    bool good = plan_parse_typed(guess->plan, launch, entry, &list, &variables, error);
    text_add(completed, completed->length ? "; " : "");
    launches_print(typed->entry, launch, text_string(&arguments), completed);
    text_done(&arguments);
    return good;
}

static int count_of(const char *text, char wanted) {
    int count = 0;
    for (; *text; text++) count += *text == wanted;
    return count;
}

static bool guesses_shared(const Guess *guess, const TypedLaunch *launches) {
    bool guesses = false;
    for (int i = 0; i < guess->plan->launch_count; i++)
        guesses |= !launches[i].has_shared && guess->plan->launches[i].dynamic_shared_bytes;
    return guesses;
}

bool guess_plan_launches(Guess *guess, Error *error) {
    const char *text = guess->request.launches;
    TypedLaunch launches[PLAN_LAUNCHES];
    int count;
    Text completed = {0};
    uint64_t *n = &guess->account.n;
    if (!*n) *n = GUESS_N;
    bool good = launches_read(text, *n, launches, &count, &guess->arena, error);
    for (int i = 0; good && i < count; i++) good = plan_launch(guess, text, &launches[i], &completed, error);
    if (good)
        guess->account.arguments = arena_copy_text(&guess->arena, text_string(&completed), completed.length);
    if (good &&
        (count_of(text_string(&completed), '[') != count_of(text, '[') || guesses_shared(guess, launches)))
        guess->account.guessed = arena_print(&guess->arena, "--launch '%s'", guess->account.arguments);
    text_done(&completed);
    const char *expect = guess->request.expect;
    return good && (!expect || expect_read(expect, guess->plan, error));
}
