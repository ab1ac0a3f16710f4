/* Every kernel of the catalogue that is not wrong on purpose, run on the emulator and held against its
 * reference: each type, operation, number of elements and block size. Floats are run twice: on small whole
 * numbers, whose sums are exact in any order, and on random numbers, within the bound that the depth of the
 * kernel's tree gives.
 *
 * REDVIZ_TEST_LIMIT is the largest n (the sanitizer and valgrind runs are slow); REDVIZ_TEST_KERNEL a pattern of kernels
 * to try ("shuffle*"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "session.h"
#include <stdlib.h>
#include <string.h>

static const uint64_t SIZES[] = {1, 2, 31, 33, 1000, 65537};
static const uint32_t BLOCKS[] = {1, 2, 16, 32, 48, 64, 96, 128, 256, 512, 1024};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, BLOCK_COUNT = sizeof BLOCKS / sizeof *BLOCKS };
#define LARGE ((uint64_t)1048583) /* at the default block size only */

static uint64_t limit = UINT64_MAX;

static bool accepts(const CatalogRow *row, uint32_t block) {
    if (block < row->minimum_block || block > row->maximum_block) return false;
    return !row->accepts_block || row->accepts_block(block);
}

/* One run. On whole numbers the ladder's sums must be right to the bit. */
static void expect_correct(const CatalogRow *row, const CatalogOptions *catalog) {
    SessionOptions options = {.kernel = row->id, .catalog = *catalog, .threads = 1};
    Error error = {0};
    Session *session = session_open(&options, &error);
    const char *type = plan_type_name(catalog->dtype);
    if (!session)
        fail_msg("%s %s %s n=%llu block=%u: %s", row->id, type, catalog->op, (unsigned long long)catalog->n,
                 catalog->block, error.message);
    const CatalogResult *result = session_result(session);
    assert_non_null(result);
    bool exact = row->group == CATALOG_LADDER && catalog->whole_numbers;
    if (session_failed(session) || !result->correct || (exact && result->absolute_error != 0))
        fail_msg("%s %s %s n=%llu block=%u%s: %s at %llu, expected %s, bound %g, %d traps", row->id, type,
                 catalog->op, (unsigned long long)catalog->n, catalog->block,
                 catalog->whole_numbers ? " whole" : "", result->result_text,
                 (unsigned long long)result->index, result->expected_text, result->bound,
                 session_trace(session)->trap_count);
    session_free(session);
}

static void expect_correct_on_both_data(const CatalogRow *row, CatalogOptions options) {
    if (options.n > limit) return;
    options.seed = options.n * 31 + options.block;
    expect_correct(row, &options);
    if (!ptx_type_is_float(options.dtype)) return;
    options.whole_numbers = true;
    expect_correct(row, &options);
}

static void run_sizes(const CatalogRow *row, CatalogOptions options) {
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int j = 0; j < BLOCK_COUNT; j++) {
            if (!accepts(row, BLOCKS[j])) continue;
            if (SIZES[i] > 1000 && BLOCKS[j] < 32 && BLOCKS[j] != row->default_block)
                continue; /* slow, nothing new */
            options.n = SIZES[i];
            options.block = BLOCKS[j];
            expect_correct_on_both_data(row, options);
        }
    options.n = LARGE;
    options.block = row->default_block;
    expect_correct_on_both_data(row, options);
}

/* Copies the first of the space-separated words and returns what follows it; NULL: there is none. */
static const char *next_word(const char *words, char *word, size_t bytes) {
    words += strspn(words, " ");
    size_t length = strcspn(words, " ");
    if (!length) return NULL;
    assert_true(length < bytes);
    memcpy(word, words, length);
    word[length] = 0;
    return words + length;
}

static void every_result_equals_the_reference(void **state) {
    const CatalogRow *row = *state;
    char type[16], op[16];
    for (const char *types = row->types; (types = next_word(types, type, sizeof type));)
        for (const char *ops = row->operations; (ops = next_word(ops, op, sizeof op));) {
            CatalogOptions options = {.op = op};
            assert_true(plan_type_parse(type, &options.dtype));
            run_sizes(row, options);
        }
}

int main(void) {
    const char *asked = getenv("REDVIZ_TEST_LIMIT");
    if (asked) limit = strtoull(asked, NULL, 10);
    if (getenv("REDVIZ_TEST_KERNEL")) cmocka_set_test_filter(getenv("REDVIZ_TEST_KERNEL"));
    struct CMUnitTest *tests = memory_new((size_t)catalog_count() * sizeof *tests);
    size_t count = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group == CATALOG_BUG) continue;
        tests[count++] = (struct CMUnitTest){.name = row->id,
                                             .test_func = every_result_equals_the_reference,
                                             .initial_state = (void *)(uintptr_t)row};
    }
    int failed = _cmocka_run_group_tests("results", tests, count, NULL, NULL);
    free(tests);
    return failed;
}
