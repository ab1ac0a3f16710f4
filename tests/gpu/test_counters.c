/* Hardware counters against a stub of CUPTI: the order of calls, the passes and the errors
 * (stub/cupti_stub.c). NVIDIA's library, if installed, knows the metrics that redviz requests (its host half
 * needs no GPU). */
#define _POSIX_C_SOURCE 200809L

#include "gpu/counters.h"
#include "gpu/cupti.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libraries.h"

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    unsetenv("STUB_KERNELS");
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    return 0;
}

/* ---- against the stub ---------------------------------------------------------------------------------- */

static const char *const metrics[] = {"stub__a.sum",     "nowhere__b.sum",   "stub__c.sum",
                                      "stub__d.avg",     "stub__sass_e.sum", "nowhere__sass_f.sum",
                                      "stub__sass_g.sum"};
enum { METRICS = sizeof metrics / sizeof *metrics, LAUNCHES = 2 };

typedef struct Calls {
    int restored, launched;
    bool fails;
} Calls;

static bool restore(void *context, Error *error) {
    (void)error;
    ((Calls *)context)->restored++;
    return true;
}

static bool launch(void *context, int index, Error *error) {
    Calls *calls = context;
    if (calls->launched++ != LAUNCHES * (calls->restored - 1) + index)
        return error_set(error, "not restored before each pass, or not in order");
    return !calls->fails || error_set(error, "no such kernel");
}

static Cuda *open_stub(void) {
    Error error = {0};
    Cuda *cuda = cuda_open(&error);
    if (!cuda) fail_msg("%s", error.message);
    return cuda;
}

/* A failing call gives these words, and leaves nothing open. */
static void expect_failure(const char *words, Calls *calls) {
    Error error = {0};
    Cuda *cuda = open_stub();
    double values[LAUNCHES * METRICS];
    CountersWork work = {restore, launch, calls, LAUNCHES};
    Counters *counters = counters_open(cuda, metrics, METRICS, &error);
    if (counters) assert_false(counters_measure(counters, &work, values, &error));
    if (!strstr(error.message, words)) fail_msg("'%s' does not say '%s'", error.message, words);
    counters_close(counters);
    cuda_close(cuda);
}

static void every_pass_is_run(void **state) {
    (void)state;
    Error error = {0};
    Calls calls = {0};
    Cuda *cuda = open_stub();
    double values[LAUNCHES * METRICS];
    CountersWork work = {restore, launch, &calls, LAUNCHES};
    Counters *counters = counters_open(cuda, metrics, METRICS, &error);
    if (!counters) fail_msg("%s", error.message);
    for (int again = 1; again <= 2; again++) {
        if (!counters_measure(counters, &work, values, &error)) fail_msg("%s", error.message);
        assert_int_equal(calls.restored,
                         3 * again); /* three metrics: two passes, and one for those of SASS */
        assert_int_equal(calls.launched, 3 * LAUNCHES * again);
        for (int i = 0; i < LAUNCHES; i++) {
            const double *of = &values[i * METRICS];
            assert_true(of[0] == 100 * i && isnan(of[1]) && of[2] == 100 * i + 1 && of[3] == 100 * i + 2);
            assert_true(of[4] == 2 && isnan(of[5]) && of[6] == 4);
        }
    }
    counters_close(counters);
    cuda_close(cuda);
}

static void not_allowed(void **state) {
    (void)state;
    static const char *const calls[] = {"cuptiProfilerGetCounterAvailability", "cuptiRangeProfilerEnable"};
    for (size_t i = 0; i < 2; i++) {
        char fail[64], words[128];
        snprintf(fail, sizeof fail, "%s=35", calls[i]);
        snprintf(words, sizeof words, "%s: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets only root",
                 calls[i]);
        setenv("STUB_FAIL", fail, 1);
        expect_failure(words, &(Calls){0});
    }
}

static void every_call_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {
#define CUPTI(name, Parameters, last) #name,
#include "gpu/cupti.def"
#undef CUPTI
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char fail[64];
        /* Errors at the end are ignored. */
        if (strstr(names[i], "Deinitialize") || strstr(names[i], "Disable")) continue;
        if (strstr(names[i], "Sass") || strstr(names[i], "PCSampling") || strstr(names[i], "AddMetrics"))
            continue; /* patching_that_fails(); test_sass.c; the chip does not have the metric */
        snprintf(fail, sizeof fail, "%s=999", names[i]);
        setenv("STUB_FAIL", fail, 1);
        expect_failure(names[i], &(Calls){0});
    }
    clean(NULL);
    every_pass_is_run(NULL); /* nothing was left enabled */
}

static void work_that_fails(void **state) {
    (void)state;
    expect_failure("no such kernel", &(Calls){.fails = true});
    every_pass_is_run(NULL);
}

/* Counters that cannot be patched are unknown; the others are known. */
static void patching_that_fails(void **state) {
    (void)state;
    static const char *const fails[] = {
        "cuptiSassMetricsSetConfig=8", "cuptiSassMetricsGetProperties=12",     "cuptiSassMetricsEnable=12",
        "cuptiSassMetricsFlushData=7", "cuptiSassMetricsGetDataProperties=12",
    };
    Cuda *cuda = open_stub();
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        Error error = {0};
        Calls calls = {0};
        double values[LAUNCHES * METRICS];
        CountersWork work = {restore, launch, &calls, LAUNCHES};
        setenv("STUB_FAIL", fails[i], 1);
        Counters *counters = counters_open(cuda, metrics, METRICS, &error);
        if (!counters || !counters_measure(counters, &work, values, &error)) fail_msg("%s", error.message);
        assert_true(values[0] == 0 && values[METRICS] == 100);
        assert_true(isnan(values[4]) && isnan(values[METRICS + 4]));
        counters_close(counters);
    }
    cuda_close(cuda);
}

static void other_kernels_ran(void **state) {
    (void)state;
    setenv("STUB_KERNELS", "3", 1);
    expect_failure("the profiler saw 3 kernels instead of 2", &(Calls){0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(patching_that_fails, clean), /* first: once configured, it stays so */
        cmocka_unit_test_setup(every_pass_is_run, clean),   cmocka_unit_test_setup(not_allowed, clean),
        cmocka_unit_test_setup(every_call_may_fail, clean), cmocka_unit_test_setup(work_that_fails, clean),
        cmocka_unit_test_setup(other_kernels_ran, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
