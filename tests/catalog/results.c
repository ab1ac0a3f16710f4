#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "results.h"
#include "runs.h"

#include "base/memory.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LARGE ((uint64_t)1048583) /* at the default block size only */

static const PtxType *types;
static int type_count;
static uint64_t limit, runs, excluded, above_limit;

/* Kernels whose results are rounded more than once even if every sum is exact: they call exp() or log(),
 * scale first, or add in fp16 (test_results_numerics.c predicts that one). */
static bool rounds_whole_numbers(const CatalogRow *row) {
    static const char *const ids[] = {"softmax_row", "logsumexp", "scaled_half", "half_naive"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!strcmp(row->id, ids[i])) return true;
    return false;
}

static void describe(const CatalogRow *row, const CatalogOptions *options, char *text, size_t bytes) {
    snprintf(text, bytes, "--kernel %s --dtype %s --op %s --n %" PRIu64 " --block %u --grid %u%s%s%s",
             row->id, plan_type_name(options->dtype), options->op, options->n, options->block, options->grid,
             options->parameter_count ? " --param " : "",
             options->parameter_count ? options->parameters[0] : "",
             options->whole_numbers ? " (whole numbers)" : "");
}

static void expect_correct(const CatalogRow *row, const CatalogOptions *options) {
    char what[256];
    describe(row, options, what, sizeof what);
    Session *session = run_kernel(row->id, options);
    const ExpectResult *result = session_result(session);
    bool exact = !ptx_type_is_float(options->dtype) || (options->whole_numbers && !rounds_whole_numbers(row));
    if (session_trace(session)->trap_count)
        fail_msg("%s: trap: %s", what, session_trace(session)->traps[0].detail);
    if (!result || !result->compared) {
        fail_msg("%s: nothing was compared", what);
        return;
    }
    if (ask_failed(session) || !result->correct)
        fail_msg("%s: %s at %" PRIu64 ", expected %s, bound %g", what, result->result_text, result->index,
                 result->expected_text, result->bound);
    if (exact && result->inexact) fail_msg("%s: %" PRIu64 " elements are not exact", what, result->inexact);
    session_free(session);
    runs++;
}

static uint64_t runs_on_data(PtxType type) {
    return ptx_type_is_float(type) ? 2 : 1;
}

static void run_on_all_data(const CatalogRow *row, CatalogOptions options) {
    if (options.n > limit) {
        above_limit += runs_on_data(options.dtype);
        return;
    }
    options.seed = options.n * 31 + options.block;
    options.has_fill = true; /* some rows have another default */
    options.fill = FILL_RANDOM;
    expect_correct(row, &options);
    options.whole_numbers = true;
    if (ptx_type_is_float(options.dtype)) expect_correct(row, &options);
}

static void run_sizes(const CatalogRow *row, CatalogOptions options) {
    for (int j = 0; j < RUN_BLOCK_COUNT; j++) {
        options.block = RUN_BLOCKS[j];
        if (!run_accepts_block(row, options.block)) {
            excluded += RUN_SIZE_COUNT * runs_on_data(options.dtype);
            continue;
        }
        for (int i = 0; i < RUN_SIZE_COUNT; i++) {
            options.n = RUN_SIZES[i];
            run_on_all_data(row, options);
        }
    }
    options.n = LARGE;
    options.block = row->default_block;
    run_on_all_data(row, options);
}

/* Other block sizes, with n near the limits of one block and of two. */
static void run_edges(const CatalogRow *row, CatalogOptions options) {
    static const uint32_t blocks[] = {3,   4,   5,   8,   17,  31,  33,  63,  65,
                                      160, 192, 255, 333, 384, 640, 992, 1023};
    static const int edges[] = {-1, 0, 1};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        options.block = blocks[b];
        if (!run_accepts_block(row, options.block)) {
            excluded += 6 * runs_on_data(options.dtype);
            continue;
        }
        for (int i = 0; i < 3; i++)
            for (uint32_t count = 1; count <= 2; count++) {
                options.n = count * options.block + (uint64_t)(int64_t)edges[i];
                run_on_all_data(row, options);
            }
    }
}

/* Kernels with one block size (Triton's): n near the limits of tiles, which are powers of two. */
static void run_tiles(const CatalogRow *row, CatalogOptions options) {
    if (row->minimum_block < row->maximum_block) return;
    options.block = row->default_block;
    for (uint64_t tile = 64; tile <= 8192; tile *= 2)
        for (options.n = tile - 1; options.n <= tile + 1; options.n++) run_on_all_data(row, options);
}

/* Each parameter at its limits, and grids that are too small or too large for n. A row may refuse a value
 * that conflicts with the others, if the message names it. */
static void run_parameters(const CatalogRow *row, CatalogOptions options) {
    options.block = row->default_block;
    options.n = 1000;
    for (int i = 0; i < CATALOG_PARAMETERS && row->parameters[i].name; i++)
        for (int end = 0; end < 2; end++) {
            char text[64];
            Error error = {0};
            snprintf(text, sizeof text, "%s=%" PRId64, row->parameters[i].name,
                     end ? row->parameters[i].maximum : row->parameters[i].minimum);
            /* overflows, as its lesson says: test_results_numerics.c. */
            if (!strcmp(row->id, "scaled_half") && !strcmp(text, "scale=1")) continue;
            options.parameters[0] = text;
            options.parameter_count = 1;
            CatalogRun run;
            Plan plan = {0};
            bool accepted = catalog_resolve(row, &options, &run, &error) && catalog_plan(&run, &plan, &error);
            plan_free(&plan);
            if (accepted)
                run_on_all_data(row, options);
            else if (strstr(error.message, text))
                excluded += runs_on_data(options.dtype);
            else
                fail_msg("%s: %s: %s", row->id, text, error.message);
        }
    options.parameter_count = 0;
    for (options.grid = 1; row->has_free_grid && options.grid < 1000; options.grid *= 9)
        run_on_all_data(row, options);
}

static void every_result_equals_the_reference(void **state) {
    const CatalogRow *row = *state;
    for (int i = 0; i < type_count; i++) {
        if (!run_has_word(row->types, plan_type_name(types[i]))) continue;
        static const char *const ops[] = {"sum", "min", "max"};
        for (int op = 0; op < 3; op++)
            if (run_has_word(row->operations, ops[op]))
                run_sizes(row, (CatalogOptions){.dtype = types[i], .op = ops[op]});
        CatalogOptions usual = {.dtype = types[i],
                                .op = run_has_word(row->operations, "sum") ? "sum" : "max"};
        run_edges(row, usual);
        run_tiles(row, usual);
        run_parameters(row, usual);
    }
}

static int say_summary(void **state) {
    (void)state;
    printf("# summary: %" PRIu64 " runs; %" PRIu64 " excluded by the rows' own rules, %" PRIu64
           " by REDVIZ_TEST_LARGEST_N\n",
           runs, excluded, above_limit);
    return 0;
}

int results_main(const PtxType *of_types, int count) {
    types = of_types;
    type_count = count;
    limit = run_limit();
    if (getenv("REDVIZ_TEST_KERNEL")) cmocka_set_test_filter(getenv("REDVIZ_TEST_KERNEL"));
    struct CMUnitTest *tests = memory_new((size_t)catalog_count() * sizeof *tests);
    size_t test_count = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        bool takes = false;
        for (int t = 0; t < type_count; t++) takes |= run_has_word(row->types, plan_type_name(types[t]));
        if (row->group == CATALOG_BUG || !takes) continue;
        tests[test_count++] = (struct CMUnitTest){.name = row->id,
                                                  .test_func = every_result_equals_the_reference,
                                                  .initial_state = (void *)(uintptr_t)row};
    }
    int failed = _cmocka_run_group_tests("results", tests, test_count, NULL, say_summary);
    free(tests);
    return failed;
}
