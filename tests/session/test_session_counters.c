/* Hardware counters of a session against stubs of driver and CUPTI (tests/gpu/stub): they are shown beside
 * the predictions of their launch, a file keeps them, and if they are unavailable, one line says why. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/counted.h"
#include "ask/ask.h"
#include "tests/gpu/libraries.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    setenv("STUB_KERNELS", "1", 1);
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    return 0;
}

static Session *open_session(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static Session *count(const char *kernel) {
    return open_session(
        &(RunSpec){.kernel = kernel, .catalog = {.n = 4096}, .threads = 1, .counters = COUNTERS_ASKED});
}

static const MeasuredCounter *find(Session *session, int launch, const char *label) {
    const Measurements *measured = session_measured(session);
    for (int i = 0; i < measured->counter_count; i++)
        if (measured->counters[i].launch == launch && !strcmp(measured->counters[i].label, label))
            return &measured->counters[i];
    fail_msg("nothing measured of %s in launch %d", label, launch);
    return NULL;
}

static void expect_report(Session *session, const char *words) {
    Text out = {0};
    ask_report(session, false, &out);
    if (!strstr(text_string(&out), words)) fail_msg("no '%s' in\n%s", words, text_string(&out));
    text_done(&out);
}

/* The stub's value is the index of the metric among those of the hardware; for two that are added, 9 and
 * 10. */
static void beside_the_predictions(void **state) {
    (void)state;
    Session *session = count("sequential");
    assert_int_equal(session_measured(session)->counter_count, COUNTED_ROWS);
    const MeasuredCounter *loads = find(session, 0, "global load requests"),
                          *atomics = find(session, 0, "global atomics");
    assert_true(loads->predicted == 128 && loads->value == 5 && !loads->note);
    assert_true(atomics->predicted == 0 && atomics->value == 9 + 10);
    assert_string_equal(loads->machine, "Stub 1");
    expect_report(session, "\nCounted on Stub 1\n");
    session_free(session);
}

static void each_launch_has_its_own(void **state) {
    (void)state;
    setenv("STUB_KERNELS", "2", 1);
    Session *session = count("two_stage");
    assert_int_equal(session_measured(session)->counter_count, 2 * COUNTED_ROWS);
    assert_true(find(session, 0, "global store requests")->value == 7);
    assert_true(find(session, 1, "global store requests")->value == 107);
    assert_true(find(session, 1, "global store requests")->predicted == 1);
    session_free(session);
}

/* cooperative waits for the other blocks at the grid's barrier; the number of polls cannot be predicted. */
static void loops_that_wait_are_apart(void **state) {
    (void)state;
    Session *session = count("cooperative");
    const MeasuredCounter *loads = find(session, 0, "global load requests");
    assert_non_null(loads->note);
    assert_int_equal(counted_agreement(loads), COUNTED_NOT_COMPARED);
    assert_null(find(session, 0, "shared stores")->note);
    session_free(session);
}

static void a_file_keeps_them(void **state) {
    (void)state;
    char path[] = "/tmp/redviz-counters-XXXXXX.redviz", words[64];
    Error error = {0};
    int file = mkstemps(path, 7);
    assert_true(file >= 0);
    close(file);
    Session *session = count("sequential");
    if (!ask_save(session, path, &error)) fail_msg("%s", error.message);
    session_free(session);
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    session = open_session(&(RunSpec){.saved = path});
    assert_true(find(session, 0, "global load requests")->value == 5);
    char now[32];
    snprintf(words, sizeof words, "\nRecorded on Stub 1, %.10s\n", text_now(now, sizeof now));
    expect_report(session, words);
    session_free(session);
    remove(path);
}

static void expect_none(const char *why) {
    char line[256];
    Session *session = count("sequential");
    assert_int_equal(session_measured(session)->counter_count, 0);
    assert_false(ask_failed(session));
    snprintf(line, sizeof line, "\nNo hardware counters: %s", why);
    expect_report(session, line);
    session_free(session);
}

static void without_a_driver(void **state) {
    (void)state;
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    expect_none("there is no CUDA driver here (/nowhere/libcuda.so.1)");
}

static void where_something_fails(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"cuptiRangeProfilerEnable=35", "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the "
                                        "driver lets only root read counters"},
        {"cuptiProfilerHostInitialize=46", "cuptiProfilerHostInitialize: CUPTI_ERROR_INVALID_CHIP_NAME"},
        {"cuModuleLoadDataEx=218", "cuModuleLoadDataEx: a PTX JIT compilation failed"},
        {"cuLaunchKernel=2", "cuLaunchKernel: out of memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("STUB_FAIL", cases[i][0], 1);
        expect_none(cases[i][1]);
    }
    clean(NULL);
    beside_the_predictions(NULL); /* and it works again */
}

static void a_kernel_that_traps_is_not_run(void **state) {
    (void)state;
    Session *session = open_session(&(RunSpec){
        .kernel = "bug_unguarded_load", .catalog = {.n = 4097}, .threads = 1, .counters = COUNTERS_ASKED});
    assert_true(ask_failed(session));
    expect_report(session, "\nNo hardware counters: the run ended in a trap\n");
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_driver, clean), /* first: a GPU that was opened is kept */
        cmocka_unit_test_setup(beside_the_predictions, clean),
        cmocka_unit_test_setup(each_launch_has_its_own, clean),
        cmocka_unit_test_setup(loops_that_wait_are_apart, clean),
        cmocka_unit_test_setup(a_file_keeps_them, clean),
        cmocka_unit_test_setup(where_something_fails, clean),
        cmocka_unit_test_setup(a_kernel_that_traps_is_not_run, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
