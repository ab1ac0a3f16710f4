/* Every kernel of the catalogue, instrumented and run by the emulator: results are unchanged, and what the
 * probes wrote decodes to the events that the emulator recorded itself. */
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

static void test_catalogue(void **state) {
    (void)state;
    static const char *const types[] = {"int", "float", "double", "half", "bfloat"};
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        const char *only = getenv("REDVIZ_TEST_KERNEL");
        if (row->group == CATALOG_BUG || (only && strcmp(only, row->id) != 0)) continue;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            if (!has_word(row->types, types[t])) continue;
            CatalogOptions options = {.n = 1000};
            assert_true(plan_type_parse(types[t], &options.dtype));
            compare(row, options, 0, 0);
            options.block = 64;
            compare(row, options, 1, 3);
        }
    }
    print_message("# summary: %" PRIu64 " runs, %" PRIu64 " events of threads\n", runs, pairs);
    assert_true(runs > 0 && pairs > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_catalogue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
