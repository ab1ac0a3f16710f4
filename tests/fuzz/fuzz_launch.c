/* Fuzz target of --launch: accepted text has sizes that a GPU allows, and reads the same again after
 * printing; its arguments are read as --args are. */
#include "plan/launches.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char module_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) { ret; }\n"
    ".visible .entry s(.param .align 8 .b8 s[24], .param .align 1 .b8 f[1]) { ret; }\n";

static const char *const defaults[] = {"float[n]:random", "float[grid]", "n"};

static void check_sizes(const TypedLaunch *launch) {
    if (!launch->entry[0] || launch_volume(launch->block) > 1024 || launch->shared_bytes > 227 << 10) abort();
    for (int i = 0; i < 3; i++)
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] > INT32_MAX) abort();
}

static void check_same(const TypedLaunch *launch, const PlanLaunch *planned, const char *arguments) {
    Text text = {0};
    TypedLaunch again[PLAN_LAUNCHES];
    int count;
    Arena arena = {0};
    Error error = {0};
    launches_print(launch->entry, planned, arguments, &text);
    if (!launches_read(text_string(&text), 1000, again, &count, &arena, &error) || count != 1) abort();
    if (memcmp(again->grid, launch->grid, sizeof launch->grid) != 0 ||
        memcmp(again->block, launch->block, sizeof launch->block) != 0 ||
        memcmp(again->cluster, launch->cluster, sizeof launch->cluster) != 0 ||
        again->shared_bytes != launch->shared_bytes || again->cooperative != launch->cooperative)
        abort();
    arena_done(&arena);
    text_done(&text);
}

static bool plan(Plan *plan, const char *text, const TypedLaunch *typed, const PtxFunction *entry,
                 Error *error) {
    PlanLaunch *launch = plan_add_launch(plan, entry->name);
    memcpy(launch->grid, typed->grid, sizeof launch->grid);
    memcpy(launch->block, typed->block, sizeof launch->block);
    memcpy(launch->cluster, typed->cluster, sizeof launch->cluster);
    launch->dynamic_shared_bytes = typed->shared_bytes;
    launch->cooperative = typed->cooperative;
    Text arguments = {0};
    PlanTyped list = {.option = "--launch",
                      .text = text,
                      .begin = typed->arguments,
                      .length = typed->argument_length,
                      .defaults = defaults,
                      .completed = &arguments};
    PlanVariables variables = {1000, launch_volume(launch->block), launch_volume(launch->grid)};
    bool good = plan_parse_typed(plan, launch, entry, &list, &variables, error);
    if (good && launch->argument_count != entry->parameter_count) abort();
    if (good) check_same(typed, launch, text_string(&arguments));
    text_done(&arguments);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static PtxModule *module;
    Error error = {0};
    if (!module) module = ptx_module_parse(module_text, sizeof module_text - 1, "launch.ptx", &error);
    if (!module) abort();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    TypedLaunch launches[PLAN_LAUNCHES];
    int count;
    Arena arena = {0};
    Plan whole = {0};
    bool good = launches_read(text, 1000, launches, &count, &arena, &error);
    if (good && (count < 1 || count > PLAN_LAUNCHES)) abort();
    for (int i = 0; good && i < count; i++) {
        check_sizes(&launches[i]);
        good = plan(&whole, text, &launches[i], module->functions[launches[i].entry[0] == 's'], &error);
    }
    if (!good && !error.message[0]) abort();
    plan_free(&whole);
    arena_done(&arena);
    free(text);
    return 0;
}
