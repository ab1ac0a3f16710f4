/* NVIDIA's own library, if installed, knows the metrics of counted.def. Its host half, which needs no GPU, is
 * queried for several chips. Without the library the test is skipped. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/counters.h"
#include "gpu/cupti.h"
#include "metrics/counted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/skip.h"

static bool is_installed(void) {
    Error error = {0};
/* The library opens its parts with RTLD_DEEPBIND, at which AddressSanitizer aborts. */
#ifdef __SANITIZE_ADDRESS__
    return false;
#endif
    unsetenv("REDVIZ_CUPTI");
    if (cupti_open(&error)) return true;
    printf("# summary: skipped: %s\n", error.message);
    return false;
}

/* Each of the metrics that a row sums. */
static void expect_row(const char *chip, const CountedRow *row) {
    char names[256], *rest = names;
    snprintf(names, sizeof names, "%s", row->metric);
    for (const char *name; (name = strtok_r(rest, " +", &rest));) {
        Error error = {0};
        bool known = false;
        int passes = 0;
        if (!counters_known(chip, &name, 1, &known, &passes, &error))
            fail_msg("%s %s: %s", chip, name, error.message);
        if (!known || passes < 1) fail_msg("%s has no %s", chip, name);
    }
}

static void every_chip_has_our_metrics(void **state) {
    (void)state;
    static const char *const chips[] = {"TU102", "GA100", "GH100", "GB100"};
    if (!is_installed()) skip_because("CUPTI is not installed");
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        for (int row = 0; row < COUNTED_ROWS; row++) expect_row(chips[i], &counted_rows[row]);
}

static void a_metric_that_no_chip_has(void **state) {
    (void)state;
    const char *names[] = {"l1tex__no_such_metric.sum", "sm__cycles_active.avg"};
    Error error = {0};
    bool known[2] = {true, false};
    int passes = 0;
    if (!is_installed()) skip_because("CUPTI is not installed");
    assert_true(counters_known("GH100", names, 2, known, &passes, &error));
    assert_true(!known[0] && known[1] && passes == 1);
}

static void a_chip_that_there_is_not(void **state) {
    (void)state;
    const char *names[] = {"sm__cycles_active.avg"};
    Error error = {0};
    bool known;
    int passes;
    if (!is_installed()) skip_because("CUPTI is not installed");
    assert_false(counters_known("XY999", names, 1, &known, &passes, &error));
    assert_string_equal(error.message, "cuptiProfilerHostInitialize: CUPTI_ERROR_INVALID_CHIP_NAME");
}

static void no_library(void **state) {
    (void)state;
    const char *names[] = {"sm__cycles_active.avg"};
    Error error = {0};
    bool known;
    int passes;
    setenv("REDVIZ_CUPTI", "/nowhere/libcupti.so", 1);
    assert_false(counters_known("GH100", names, 1, &known, &passes, &error));
    assert_string_equal(error.message, "there is no CUPTI in /nowhere/libcupti.so ($REDVIZ_CUPTI)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_library), /* first: a library, once found, stays loaded */
        cmocka_unit_test(every_chip_has_our_metrics),
        cmocka_unit_test(a_metric_that_no_chip_has),
        cmocka_unit_test(a_chip_that_there_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
