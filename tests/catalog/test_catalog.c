/* The catalogue: names, accepted options, the geometry of launches, and occupancy. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"

#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/occupancy.h"
#include "catalog/rows.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------------------- */

static void sample_numbers_are_aliases(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"K0", "interleaved"}, {"K1", "strided"},           {"K2", "sequential"},
        {"K3", "first_add"},   {"K4", "shuffle_last_warp"}, {"K5", "unrolled"},
        {"K6", "grid_stride"}, {"K7", "cooperative"},       {"atomic", "atomic"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const CatalogRow *row = catalog_find(pairs[i][0], NULL);
        assert_non_null(row);
        assert_string_equal(row->id, pairs[i][1]);
    }
}

static void unknown_names_suggest_the_nearest(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"interleavd", "no kernel 'interleavd'; did you mean 'interleaved'? --list shows all"},
        {"K33", "no kernel 'K33'; did you mean 'K3'? --list shows all"},
        {"k7", "no kernel 'k7'; did you mean 'K7'? --list shows all"},
        {"Shuffle_Atomic", "no kernel 'Shuffle_Atomic'; did you mean 'shuffle_atomic'? --list shows all"},
        {"half", "no kernel 'half'; there are half_naive, half_promote, scaled_half, triton_half_sum, "
                 "bug_half_shared; --list "
                 "shows all"},
        {"qqqqqqqqqqqqqqqqq", "no kernel 'qqqqqqqqqqqqqqqqq'; --list shows all"},
        {"", "no kernel ''; --list shows all"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        assert_null(catalog_find(cases[i][0], &error));
        assert_string_equal(error.message, cases[i][1]);
    }
}

static void cooperative_grids_are_resident(void **state) {
    (void)state;
    const CatalogRow *row = catalog_find("cooperative", NULL);
    for (uint32_t grid = 1056; grid <= 1057; grid++) {
        CatalogRun run;
        Plan plan = {0};
        Error error = {0};
        assert_true(catalog_resolve(row, &(CatalogOptions){.grid = grid}, &run, &error));
        assert_int_equal(catalog_plan(&run, &plan, &error), grid == 1056);
        if (grid > 1056)
            assert_non_null(strstr(error.message, "132 multiprocessors hold 1056 of 256 threads"));
        plan_free(&plan);
    }
}

static void names_are_unique(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++)
        assert_ptr_equal(catalog_find(catalog_row(i)->id, NULL), catalog_row(i));
    assert_null(catalog_row(catalog_count()));
}

static void the_catalogue_of_the_issue_is_there(void **state) {
    (void)state;
    static const char *const ids[] = {
        "atomic",
        "interleaved",
        "interleaved_bitmask",
        "strided",
        "sequential",
        "first_add",
        "unroll_last_warp",
        "unrolled",
        "shuffle_last_warp",
        "shuffle",
        "shuffle_atomic",
        "multi_add",
        "grid_stride",
        "vectorized_shared",
        "vectorized",
        "vectorized_shuffle",
        "redux",
        "cooperative",
        "last_block",
        "two_stage",
        "row_sum",
        "column_sum",
        "column_sum_permuted",
        "mean",
        "moments",
        "softmax_row",
        "logsumexp",
        "bfloat_promote",
        "half_naive",
        "half_promote",
        "scaled_half",
        "kahan",
        "tensor_core",
        "triton_sum",
        "triton_max",
        "triton_row_sum",
        "triton_column_sum",
        "triton_half_sum",
        "lab_bank_stride",
        "lab_bank_broadcast",
        "lab_bank_bytes",
        "lab_bank_double",
        "lab_bank_vector",
        "lab_bank_padding",
        "lab_tile_column",
        "lab_partial_warp",
        "lab_divergent_branch",
        "lab_coalescing",
        "lab_shuffle_range",
        "lab_wavefronts",
        "lab_latency",
        "bug_missing_sync",
        "bug_overlapping_halves",
        "bug_unguarded_load",
        "bug_half_shared",
        "bug_uninitialized_shared",
        "bug_all_lanes_add",
        "bug_volatile_tail",
        "bug_double_count",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        Error error = {0};
        if (!catalog_find(ids[i], &error)) fail_msg("%s", error.message);
    }
}

static void every_row_is_complete(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        char path[PATH_MAX];
        Error error = {0};
        assert_true(row->title && *row->title && row->lesson && *row->lesson && row->watch && *row->watch);
        if (strlen(row->lesson) > 150) fail_msg("%s: its lesson needs a third line of the menu", row->id);
        assert_true(row->block_rule && *row->block_rule && row->types && row->operations &&
                    (row->plan || row->plan_if) && row->check);
        assert_true(row->minimum_block <= row->default_block && row->default_block <= row->maximum_block);
        if (!catalog_path("kernels", row->source, path, sizeof path, &error)) fail_msg("%s", error.message);
        if (!catalog_ptx_path(row, path, sizeof path, &error)) fail_msg("%s", error.message);
        CatalogRun run;
        if (!catalog_resolve(row, &(CatalogOptions){0}, &run, &error))
            fail_msg("%s: %s", row->id, error.message);
    }
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void options_resolve_to_the_row_or_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        CatalogOptions options;
        const char *problem;
    } cases[] = {
        {"interleaved", {.block = 96}, "takes a power of two, from 1 to 1024"},
        {"interleaved", {.block = 2048}, "takes a power of two"},
        {"shuffle", {.block = 48}, "takes a multiple of 32, from 32 to 1024"},
        {"unrolled", {.block = 32}, "from 64 to 1024"},
        {"redux", {.dtype = PTX_F32}, "--dtype float: redux takes one of: int"},
        {"interleaved", {.dtype = PTX_F16}, "takes one of: int float double"},
        {"interleaved", {.op = "product"}, "--op product: interleaved takes one of: sum min max"},
        {"interleaved", {.grid = 4}, "the grid of interleaved follows from n"},
        {"interleaved", {.n = (uint64_t)1 << 40}, "take up to 1073741824"},
        {"interleaved", {.parameters = {"items=4"}, .parameter_count = 1}, "interleaved has no parameters"},
        {"multi_add",
         {.parameters = {"item=4"}, .parameter_count = 1},
         "has no such parameter; it has: items"},
        {"multi_add", {.parameters = {"items=four"}, .parameter_count = 1}, "a whole number from 4 to 16"},
        {"multi_add", {.parameters = {"items=17"}, .parameter_count = 1}, "a whole number from 4 to 16"},
        {"multi_add", {.parameters = {"items"}, .parameter_count = 1}, "a whole number from 4 to 16"},
        {"multi_add", {.parameters = {"items=2^"}, .parameter_count = 1}, "a whole number from 4 to 16"},
        {"multi_add", {.parameters = {"items=2^99"}, .parameter_count = 1}, "a whole number from 4 to 16"},
        {"multi_add", {.parameters = {"items=9^40"}, .parameter_count = 1}, "a whole number from 4 to 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CatalogRun run;
        Error error = {0};
        assert_false(catalog_resolve(catalog_find(cases[i].kernel, NULL), &cases[i].options, &run, &error));
        if (!strstr(error.message, cases[i].problem)) fail_msg("%s", error.message);
    }
    CatalogRun run;
    assert_true(catalog_resolve(
        catalog_find("multi_add", NULL),
        &(CatalogOptions){.op = "max", .parameters = {"items=2^4"}, .parameter_count = 1}, &run, NULL));
    assert_int_equal(run.n, 1 << 20);
    assert_int_equal(run.block, 256);
    assert_int_equal(run.dtype, PTX_S32);
    assert_string_equal(run.op, "max");
    assert_int_equal(rows_parameter(&run, "items"), 16);
    assert_int_equal(run.multiprocessors, 132);
}

/* Digits are only a default: a fill that is given, or that the lesson needs, takes precedence. */
static void inputs_that_are_not_given_suit_the_lesson(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *op;
        FillKind usual, preferred;
    } cases[] = {
        {"interleaved", "sum", FILL_RANDOM, FILL_DIGITS},    {"interleaved", "max", FILL_RANDOM, FILL_RANDOM},
        {"half_naive", NULL, FILL_ONES, FILL_ONES},          {"kahan", NULL, FILL_RANDOM, FILL_RANDOM},
        {"scaled_half", NULL, FILL_RANDOM, FILL_RANDOM},     {"triton_max", NULL, FILL_RANDOM, FILL_RANDOM},
        {"bug_double_count", NULL, FILL_RANDOM, FILL_DIGITS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const CatalogRow *row = catalog_find(cases[i].kernel, NULL);
        CatalogOptions options = {.op = cases[i].op};
        CatalogRun run;
        assert_true(catalog_resolve(row, &options, &run, NULL));
        assert_int_equal(run.fill, cases[i].usual);
        options.prefers_digits = true;
        assert_true(catalog_resolve(row, &options, &run, NULL));
        assert_int_equal(run.fill, cases[i].preferred);
        options.has_fill = true;
        options.fill = FILL_IOTA;
        assert_true(catalog_resolve(row, &options, &run, NULL));
        assert_int_equal(run.fill, FILL_IOTA);
    }
}

static const PtxType ALL_TYPES[] = {PTX_S8,  PTX_U8,  PTX_S16, PTX_U16,  PTX_S32, PTX_U32,
                                    PTX_S64, PTX_U64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
enum { ALL_TYPE_COUNT = sizeof ALL_TYPES / sizeof *ALL_TYPES };

/* One line that names the option, the kernel and the accepted values. */
static void assert_refused(const CatalogRow *row, const CatalogOptions *options, const char *option,
                           const char *takes) {
    CatalogRun run;
    Error error = {0};
    assert_false(catalog_resolve(row, options, &run, &error));
    if (strncmp(error.message, option, strlen(option)) != 0 || !strstr(error.message, row->id) ||
        !strstr(error.message, takes) || strchr(error.message, '\n'))
        fail_msg("%s", error.message);
}

/* A row accepts all types, operations and blocks that it lists, and no others. */
static void every_row_takes_what_it_lists(void **state) {
    (void)state;
    static const char *const ops[] = {"sum", "min", "max", "product"};
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        CatalogRun run;
        for (int t = 0; t < ALL_TYPE_COUNT; t++) {
            CatalogOptions options = {.dtype = ALL_TYPES[t]};
            if (run_has_word(row->types, plan_type_name(ALL_TYPES[t])))
                assert_true(catalog_resolve(row, &options, &run, NULL));
            else
                assert_refused(row, &options, "--dtype", row->types);
        }
        for (int o = 0; o < 4; o++) {
            CatalogOptions options = {.op = ops[o]};
            if (run_has_word(row->operations, ops[o]))
                assert_true(catalog_resolve(row, &options, &run, NULL));
            else
                assert_refused(row, &options, "--op", row->operations);
        }
        for (uint32_t block = 1; block <= 1100; block++)
            if (!run_accepts_block(row, block))
                assert_refused(row, &(CatalogOptions){.block = block}, "--block", row->block_rule);
    }
}

/* ---- plans --------------------------------------------------------------------------------------------- */

static void make_plan(const char *kernel, CatalogOptions options, Plan *plan) {
    CatalogRun run;
    Error error = {0};
    const CatalogRow *row = catalog_find(kernel, &error);
    *plan = (Plan){0};
    if (!row || !catalog_resolve(row, &options, &run, &error) || !catalog_plan(&run, plan, &error))
        fail_msg("%s: %s", kernel, error.message);
}

static void launches_have_the_textbook_geometry(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        CatalogOptions options;
        const char *entry;
        uint32_t grid, block, shared_bytes;
    } cases[] = {
        {"interleaved", {0}, "interleaved<int,Sum>", 4096, 256, 1024},
        {"interleaved", {.n = 1}, "interleaved<int,Sum>", 1, 256, 1024},
        {"interleaved", {.n = 257, .dtype = PTX_F64, .op = "min"}, "interleaved<double,Min>", 2, 256, 2048},
        {"first_add", {0}, "first_add<int,Sum>", 2048, 256, 1024},
        {"unrolled", {.block = 512}, "unrolled<int,Sum,512>", 1024, 512, 2048},
        {"multi_add", {.dtype = PTX_F32}, "multi_add<float,Sum,8>", 512, 256, 0},
        {"vectorized", {.dtype = PTX_F64}, "vectorized<double,Sum>", 2048, 256, 2048},
        {"vectorized_shared",
         {.dtype = PTX_F32, .op = "max"},
         "vectorized_shared<float,Max>",
         1024,
         256,
         4096},
        {"grid_stride", {0}, "grid_stride<int,Sum>", 132 * 8, 256, 0},
        {"grid_stride", {.block = 1024}, "grid_stride<int,Sum>", 132 * 2, 1024, 0},
        {"grid_stride", {.multiprocessors = 20}, "grid_stride<int,Sum>", 160, 256, 0},
        {"grid_stride", {.grid = 7}, "grid_stride<int,Sum>", 7, 256, 0},
        {"grid_stride", {.n = 1000}, "grid_stride<int,Sum>", 4, 256, 0},
        {"cooperative", {0}, "cooperative<int,Sum>", 264, 256, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        make_plan(cases[i].kernel, cases[i].options, &plan);
        assert_int_equal(plan.launch_count, 1);
        assert_string_equal(plan.launches[0].entry, cases[i].entry);
        assert_int_equal(plan.launches[0].grid[0], cases[i].grid);
        assert_int_equal(plan.launches[0].block[0], cases[i].block);
        assert_int_equal(plan.launches[0].dynamic_shared_bytes, cases[i].shared_bytes);
        plan_free(&plan);
    }
}

static PtxModule *load_ptx(const CatalogRow *row) {
    Error error = {0};
    PtxModule *module = catalog_module(row, &error);
    if (!module) fail_msg("%s: %s", row->id, error.message);
    return module;
}

/* Every launch finds its entry, accepts its arguments, and has known registers. */
static void check_launches(const CatalogRow *row, const Plan *plan, PtxModule *module) {
    static const uint64_t addresses[16];
    assert_true(plan->buffer_count <= 16);
    for (int i = 0; i < plan->launch_count; i++) {
        Error error = {0};
        Launch launch = {0};
        PtxProgram program = {.entry = ptx_module_find_entry(module, plan->launches[i].entry, &error)};
        if (!program.entry || !plan_bind_launch(&plan->launches[i], &program, addresses, &launch, &error))
            fail_msg("%s: %s", row->id, error.message);
        launch_done(&launch);
        if (program.entry && occupancy_registers(program.entry->name, OCCUPANCY_H200) < 1)
            fail_msg("%s: no registers of %s", row->id, program.entry->name);
    }
}

static void every_type_and_operation_has_its_entry(void **state) {
    (void)state;
    static const char *const ops[] = {"sum", "min", "max"};
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        PtxModule *module = load_ptx(row);
        int checked = 0;
        for (int t = 0; t < ALL_TYPE_COUNT; t++)
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
                CatalogRun run;
                Plan plan = {0};
                Error error = {0};
                if (!catalog_resolve(row, &(CatalogOptions){.dtype = ALL_TYPES[t], .op = ops[o]}, &run, NULL))
                    continue;
                if (!catalog_plan(&run, &plan, &error)) fail_msg("%s: %s", row->id, error.message);
                check_launches(row, &plan, module);
                plan_free(&plan);
                checked++;
            }
        assert_true(checked > 0);
        ptx_module_free(module);
    }
}

static void two_stage_cuts_n_by_its_rule(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        uint32_t grid, block, last_block; /* blocks and threads of the first launch, threads of the second */
    } cases[] = {
        {1, 1, 64, 64},          {64, 1, 64, 64},          {65, 1, 128, 64},         {1000, 1, 256, 64},
        {1024, 1, 256, 64},      {1025, 5, 256, 64},       {65537, 257, 256, 256},   {131072, 512, 256, 256},
        {131073, 257, 256, 256}, {1048576, 512, 256, 256}, {1048583, 257, 256, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        make_plan("two_stage", (CatalogOptions){.n = cases[i].n}, &plan);
        assert_int_equal(plan.launch_count, 2);
        assert_int_equal(plan.launches[0].grid[0], cases[i].grid);
        assert_int_equal(plan.launches[0].block[0], cases[i].block);
        assert_int_equal(plan.launches[1].grid[0], 1);
        assert_int_equal(plan.launches[1].block[0], cases[i].last_block);
        plan_free(&plan);
    }
}

static void atomics_start_from_the_identity(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        const char *op;
        double value;
    } cases[] = {{PTX_S32, "sum", 0},        {PTX_S32, "min", 2147483647}, {PTX_S32, "max", -2147483648.0},
                 {PTX_F32, "min", INFINITY}, {PTX_F64, "max", -INFINITY},  {PTX_F64, "sum", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        make_plan("atomic", (CatalogOptions){.n = 5, .dtype = cases[i].type, .op = cases[i].op}, &plan);
        assert_true(plan_fill(&plan, 1, NULL));
        assert_int_equal(plan.buffers[1].count, 1);
        assert_true(plan_element(cases[i].type, plan.buffers[1].bytes, 0) == cases[i].value);
        plan_free(&plan);
    }
}

/* ---- references ---------------------------------------------------------------------------------------- */

static void comparing_keeps_the_worst_element(void **state) {
    (void)state;
    ExpectResult result = {0};
    reference_judge(&result, PTX_F32, 0, 1, 1, 0.5);
    assert_true(result.correct);
    reference_judge(&result, PTX_F32, 1, 1.25, 1, 0.5);
    reference_judge(&result, PTX_F32, 2, 1, 1, 0.5);
    assert_true(result.correct);
    assert_int_equal(result.index, 1);
    assert_string_equal(result.result_text, "1.25");
    assert_true(result.absolute_error == 0.25 && result.relative_error == 0.25);
    reference_judge(&result, PTX_F32, 3, NAN, 1, 0.5);
    reference_judge(&result, PTX_F32, 4, 1, 1, 0.5);
    assert_false(result.correct);
    assert_int_equal(result.index, 3);
    assert_int_equal(result.compared, 5);
    result = (ExpectResult){0};
    reference_judge(&result, PTX_F32, 0, NAN, NAN, 0);
    reference_judge(&result, PTX_F32, 1, INFINITY, INFINITY, 0);
    assert_true(result.correct);
}

static void integers_wrap_as_their_type(void **state) {
    (void)state;
    ExpectResult result = {0};
    reference_judge(&result, PTX_S32, 0, -2147483648.0L, 2147483648.0L, 0);
    assert_true(result.correct);
    assert_string_equal(result.expected_text, "-2147483648");
    result = (ExpectResult){0};
    reference_judge(&result, PTX_U8, 0, 1, 257, 0);
    assert_true(result.correct);
    reference_judge(&result, PTX_U8, 1, 1, 258, 0);
    assert_false(result.correct);
}

static void bounds_grow_with_depth_and_roundoff(void **state) {
    (void)state;
    assert_true(reference_bound(PTX_S32, 100, 1e9L) == 0);
    double bound = reference_bound(PTX_F32, 10, 1);
    assert_true(bound > 10 * 0x1p-24 && bound < 10.001 * 0x1p-24);
    assert_true(reference_bound(PTX_F64, 10, 2) < bound * 1e-7);
    assert_true(isinf(reference_bound(PTX_F16, 5000, 1)));
}

/* ---- occupancy ----------------------------------------------------------------------------------------- */

static void occupancy_matches_the_calculator(void **state) {
    (void)state;
    static const struct {
        int architecture;
        uint32_t registers, shared_bytes, threads;
        int blocks;
        double occupancy;
    } cases[] = {
        {90, 32, 1024, 256, 8, 1.0},        /* warps are the limit */
        {90, 33, 0, 256, 6, 0.75},          /* 40 registers after rounding: 1280 a warp, 48 warps */
        {90, 64, 0, 1024, 1, 0.5},          /* registers */
        {90, 255, 0, 1024, 0, 0.0},         /* 8192 registers a warp: a block does not fit */
        {90, 16, 100 * 1024, 256, 2, 0.25}, /* shared memory, with 1 KB reserved */
        {90, 16, 228 * 1024, 256, 0, 0.0},  /* a block may have at most 227 KB */
        {90, 16, 0, 32, 32, 0.5},           /* blocks */
        {90, 16, 0, 48, 32, 1.0},           /* 48 threads occupy two warps */
        {75, 16, 0, 256, 4, 1.0},           {75, 16, 32 * 1024, 256, 2, 0.5}, {80, 32, 0, 1024, 2, 1.0},
        {86, 32, 0, 1024, 1, 32.0 / 48},    {89, 16, 0, 64, 24, 1.0},         {120, 40, 0, 256, 6, 1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(occupancy_blocks(cases[i].architecture, cases[i].registers, cases[i].shared_bytes,
                                          cases[i].threads),
                         cases[i].blocks);
        assert_true(occupancy_theoretical(cases[i].architecture, cases[i].registers, cases[i].shared_bytes,
                                          cases[i].threads) == cases[i].occupancy);
    }
    assert_true(occupancy_theoretical(10, 16, 0, 256) < 0);
    assert_int_equal(occupancy_blocks(90, 16, 0, 0), 0);
}

static void registers_of_shipped_entries_are_known(void **state) {
    (void)state;
    int registers = occupancy_registers("_Z11interleavedIi3SumEvPKT_PS1_j", OCCUPANCY_H200);
    assert_true(registers >= 8 && registers <= 32);
    assert_int_equal(occupancy_registers("_Z11interleavedIi3SumEvPKT_PS1_", OCCUPANCY_H200), -1);
    assert_int_equal(occupancy_registers("_Z11interleavedIi3SumEvPKT_PS1_j", 35), -1);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void files_are_found_or_the_error_says_how(void **state) {
    (void)state;
    char path[PATH_MAX];
    Error error = {0};
    assert_true(catalog_path("kernels", "operations.cuh", path, sizeof path, &error));
    assert_false(catalog_path("kernels", "nothing.cu", path, sizeof path, &error));
    assert_non_null(strstr(error.message, "set REDVIZ_SHARE"));
    setenv("REDVIZ_SHARE", "/nonexistent", 1);
    assert_false(catalog_path("kernels", "operations.cuh", path, sizeof path, &error));
    assert_non_null(strstr(error.message, "REDVIZ_SHARE=/nonexistent"));
    unsetenv("REDVIZ_SHARE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_numbers_are_aliases),
        cmocka_unit_test(unknown_names_suggest_the_nearest),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(cooperative_grids_are_resident),
        cmocka_unit_test(the_catalogue_of_the_issue_is_there),
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(options_resolve_to_the_row_or_are_refused),
        cmocka_unit_test(inputs_that_are_not_given_suit_the_lesson),
        cmocka_unit_test(every_row_takes_what_it_lists),
        cmocka_unit_test(launches_have_the_textbook_geometry),
        cmocka_unit_test(every_type_and_operation_has_its_entry),
        cmocka_unit_test(two_stage_cuts_n_by_its_rule),
        cmocka_unit_test(atomics_start_from_the_identity),
        cmocka_unit_test(comparing_keeps_the_worst_element),
        cmocka_unit_test(integers_wrap_as_their_type),
        cmocka_unit_test(bounds_grow_with_depth_and_roundoff),
        cmocka_unit_test(occupancy_matches_the_calculator),
        cmocka_unit_test(registers_of_shipped_entries_are_known),
        cmocka_unit_test(files_are_found_or_the_error_says_how),
    };
    return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
