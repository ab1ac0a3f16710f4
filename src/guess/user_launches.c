/* The plan for --launch: several launches that share buffers by name. Their kernels are in no catalogue and
 * follow one another. */
#include "guess/user_launch.h"

#include "expect/expect.h"
#include "guess/guess_arguments.h"
#include "plan/launches.h"
#include "guess/uses.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_N = 1 << 20, USUAL_SHARED = 48 << 10, USER_WARPS = 1 << 25 };

static void choose_shared(const Guess *guess, const TypedLaunch *typed, const PtxFunction *entry,
                          PlanLaunch *launch) {
    KernelShape shape = guess_shape(guess->request.module, entry);
    launch->dynamic_shared_bytes = typed->shared_bytes;
    if (typed->has_shared || !shape.has_dynamic_shared || shape.static_shared >= USUAL_SHARED) return;
    launch->dynamic_shared_bytes = USUAL_SHARED - (uint32_t)shape.static_shared;
    guess_shared_beside(guess->request.file, &launch->dynamic_shared_bytes);
}

const char *user_fill_text(Guess *guess) {
    const GuessRequest *request = &guess->request;
    if (!request->has_fill) return "random";
    if (request->fill != FILL_FILE) return plan_fill_name(request->fill);
    return arena_print(&guess->arena, "file:%s", request->fill_path);
}

/* What each parameter probably is, [USES_PARAMETERS], in the arena: "float[n]:random" of a pointer. */
static const char **find_defaults(Guess *guess, const PtxFunction *entry, const PlanLaunch *launch,
                                  uint64_t n) {
    const char **defaults = arena_new(&guess->arena, USES_PARAMETERS * sizeof *defaults);
    bool by_block;
    int dimensions = uses_dimensions(entry);
    if (dimensions == 1 && guess_has_rows(entry, &by_block)) dimensions = 2;
    GuessInput input = {.n = n,
                        .grid = launch_volume(launch->grid),
                        .side = guess_side(n, dimensions),
                        .fill = user_fill_text(guess),
                        .has_fill = guess->request.has_fill,
                        .shared_bytes = launch->dynamic_shared_bytes};
    Text text = {0};
    guess_arguments(entry, &input, &text);
    int depth = 0, index = 0;
    const char *begin = text_string(&text);
    for (const char *at = begin; index < USES_PARAMETERS; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (*at && (*at != ',' || depth)) continue;
        const char *item = begin + strspn(begin, " "), *equal = memchr(begin, '=', (size_t)(at - begin));
        if (equal && *item != '{')
            defaults[index] = arena_copy_text(&guess->arena, equal + 1, (size_t)(at - equal - 1));
        index++;
        if (!*at) break;
        begin = at + 1;
    }
    text_done(&text);
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
    if (!user_parse(guess, entry, error)) return false;
    PlanLaunch *launch = plan_add_launch(guess->plan, entry->name);
    memcpy(launch->grid, typed->grid, sizeof launch->grid);
    memcpy(launch->block, typed->block, sizeof launch->block);
    memcpy(launch->cluster, typed->cluster, sizeof launch->cluster);
    launch->cooperative = typed->cooperative;
    choose_shared(guess, typed, entry, launch);
    uint64_t warps = (launch_volume(launch->block) + 31) / 32, blocks = launch_volume(launch->grid);
    if (!guess->request.has_budget && blocks > USER_WARPS / warps) {
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
                      .defaults = find_defaults(guess, entry, launch, n),
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

bool user_plan_launches(Guess *guess, const char *text, Error *error) {
    TypedLaunch launches[PLAN_LAUNCHES];
    int count;
    Text completed = {0};
    uint64_t *n = &guess->account.n;
    if (!*n) *n = DEFAULT_N;
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
