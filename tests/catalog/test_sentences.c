/* Sentences of the catalogue about results: they are run. Sentences about costs: test_claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"
#include <string.h>

static Session *open_run(const char *kernel, CatalogOptions catalog, uint64_t schedule) {
    Error error = {0};
    SessionOptions options = {.kernel = kernel, .catalog = catalog, .schedule = schedule, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

/* bug_overlapping_halves, bug_volatile_tail: "right under the default schedule, wrong under --schedule 1", of random
 * numbers and of digits. */
static void schedules_hide_races_and_show_them(void **state) {
    (void)state;
    static const char *const kernels[] = {"bug_overlapping_halves", "bug_volatile_tail"};
    for (int i = 0; i < 8; i++) {
        CatalogOptions catalog = {.prefers_digits = i & 2};
        Session *session = open_run(kernels[i / 4], catalog, i & 1);
        assert_int_equal(session_result(session)->correct, !(i & 1));
        session_free(session);
    }
}

/* scaled_half: "with scale=1 ... sums become infinite, of either sign, and the result nan". */
static void unscaled_halves_overflow(void **state) {
    (void)state;
    Session *session = open_run(
        "scaled_half", (CatalogOptions){.parameters = {"scale=1"}, .parameter_count = 1, .n = 1 << 16}, 0);
    assert_string_equal(session_result(session)->result_text, "nan");
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_hide_races_and_show_them),
        cmocka_unit_test(unscaled_halves_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
