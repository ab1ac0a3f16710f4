/* Every kernel of the catalogue, instrumented and run by the emulator: results are unchanged, and the probes'
 * records decode to the events that the emulator recorded itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "twin.h"

#include <inttypes.h>
#include <stdlib.h>

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static uint64_t runs, pairs;

static void compare(const CatalogRow *row, CatalogOptions options, uint64_t first, uint64_t last) {
    CatalogRun run;
    Error error = {0};
    if (!catalog_resolve(row, &options, &run, &error)) return; /* not a size for this kernel */
    Plan plans[2];
    char what[128];
    snprintf(what, sizeof what, "%s n %" PRIu64 " block %" PRIu32 " %s %s", row->id, run.n, run.block,
             ptx_type_text(run.dtype), run.op);
    Twin twin =
        twin_run_kernel(row, options, plans, &(TwinOptions){.what = what, .first = first, .last = last});
    twin_expect_same_results(&plans[0], &plans[1], what);
    assert_int_equal(twin.tally.dropped, 0);
    pairs += twin_expect_same_events(&twin, what);
    runs++;
    twin_done(&twin);
    plan_free(&plans[0]);
    plan_free(&plans[1]);
}

static const char *const types[] = {"int", "float", "double", "half", "bfloat"};
static const char *const operations[] = {"sum", "min", "max"};

/* The number of retries of a compare and swap depends on the other threads; there is no other minimum of
 * floats. */
static bool competes(const CatalogRow *row, const CatalogOptions *options) {
    bool is_atomic = !strcmp(row->id, "atomic") || !strcmp(row->id, "shuffle_atomic");
    return is_atomic && ptx_type_is_float(options->dtype) && strcmp(options->op, "sum") != 0;
}

/* Each kernel with each of its types and operations. */
static void each_kernel(void (*visit)(const CatalogRow *row, CatalogOptions options)) {
    const char *only = getenv("REDVIZ_TEST_KERNEL");
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->latencies) continue; /* it writes latencies, which include the probes */
        if (row->group == CATALOG_BUG || (only && strcmp(only, row->id) != 0)) continue;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
                CatalogOptions options = {.n = 1000, .op = operations[o]};
                assert_true(plan_type_parse(types[t], &options.dtype));
                if (!has_word(row->types, types[t]) || !has_word(row->operations, operations[o])) continue;
                if (!competes(row, &options)) visit(row, options);
            }
    }
}

static void compare_blocks(const CatalogRow *row, CatalogOptions options) {
    compare(row, options, 0, 0);
    options.block = 64;
    compare(row, options, 1, 3);
}

static void compare_sizes(const CatalogRow *row, CatalogOptions options) {
    static const uint32_t blocks[] = {32, 48, 256, 1024};
    static const uint64_t sizes[] = {1, 33, 4097};
    if (strcmp(options.op, "sum") != 0) return;
    size_t count = getenv("REDVIZ_TEST_QUICK") ? 2 : sizeof blocks / sizeof *blocks; /* slow runs */
    for (size_t b = 0; b < count; b++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            options.block = blocks[b];
            options.n = sizes[n];
            compare(row, options, 0, n);
        }
}

static void test_types_and_operations(void **state) {
    (void)state;
    each_kernel(compare_blocks);
    assert_true(runs > 300 || getenv("REDVIZ_TEST_KERNEL"));
}

static void test_sizes_and_blocks(void **state) {
    (void)state;
    each_kernel(compare_sizes);
    print_message("# summary: %" PRIu64 " runs, %" PRIu64 " events of threads\n", runs, pairs);
    assert_true(runs > 500 || getenv("REDVIZ_TEST_KERNEL"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_operations),
                                       cmocka_unit_test(test_sizes_and_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
