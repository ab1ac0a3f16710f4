/* --bench --gpus N on a driver whose GPUs the emulator runs, with a stub of NCCL. Every join delivers the
 * combined result, and missing parts are reported. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "tests/gpu/libraries.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Taken {
    Measurements all;
    int values;
    double speed_up, share;
} Taken;

static void take_timing(void *context, const Timing *timing) {
    measured_add_timing(&((Taken *)context)->all, timing);
}

static void take_value(void *context, const BenchValue *value) {
    Taken *taken = context;
    taken->values++;
    if (!strcmp(value->name, "speed-up")) taken->speed_up = value->value;
    if (!strcmp(value->name, "of the link")) taken->share = value->value;
}

static bool bench(BenchOptions options, Taken *taken, Error *error) {
    BenchSink sink = {.context = taken, .timing = take_timing, .value = take_value};
    *taken = (Taken){.speed_up = NAN, .share = NAN};
    *error = (Error){0};
    options.cell_seconds = 1e-9;
    return bench_run(&options, &sink, error);
}

static const Timing *find(const Taken *taken, const char *kernel) {
    for (int i = 0; i < taken->all.timing_count; i++)
        if (!strcmp(taken->all.timings[i].kernel, kernel)) return &taken->all.timings[i];
    fail_msg("no row %s", kernel);
    return NULL;
}

static const BenchOptions small = {.gpus = 3, .catalog = {.n = 100000, .dtype = PTX_S32}};

static int setup(void **state) {
    (void)state;
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    use_library("REDVIZ_NCCL", "libnccl_stub.so");
    setenv("STUB_DEVICES", "3", 1);
    unsetenv("STUB_FAIL");
    unsetenv("STUB_NO_PEERS");
    unsetenv("STUB_NCCL_WRONG");
    return 0;
}

static void test_every_join(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    static const char *const ops[] = {"sum", "min", "max"};
    static const char *const rows[] = {"1 GPU", "3 GPUs apart", "3 GPUs NCCL", "3 GPUs peers"};
    for (int t = 0; t < 3; t++) {
        Taken taken;
        Error error;
        BenchOptions options = small;
        options.catalog.dtype = types[t];
        options.catalog.op = ops[t];
        if (!bench(options, &taken, &error)) fail_msg("%s", error.message);
        assert_int_equal(taken.all.timing_count, 4);
        for (int r = 0; r < 4; r++) {
            const Timing *timing = find(&taken, rows[r]);
            assert_true(timing->samples >= 5 && timing->median > 0 && timing->n == 100000);
            assert_string_equal(timing->op, ops[t]);
        }
        assert_int_equal(taken.values, 7); /* of three joins; two use a link */
        assert_true(taken.speed_up == 1);  /* the stand-in's events are always as far apart */
        assert_true(taken.share > 0 && taken.share < 100);
        measured_done(&taken.all);
    }
}

static void test_what_is_missing_is_said(void **state) {
    (void)state;
    Taken taken;
    Error error;
    setenv("REDVIZ_NCCL", "/nowhere/libnccl.so", 1);
    assert_true(bench(small, &taken, &error));
    assert_int_equal(find(&taken, "3 GPUs NCCL")->samples, 0);
    assert_non_null(strstr(find(&taken, "3 GPUs NCCL")->note, "not installed here"));
    assert_true(find(&taken, "3 GPUs peers")->samples > 0);
    measured_done(&taken.all);

    setup(NULL);
    setenv("STUB_NO_PEERS", "1", 1);
    assert_true(bench(small, &taken, &error));
    assert_string_equal(find(&taken, "3 GPUs peers")->note, "GPU 1 cannot write into the memory of GPU 0");
    assert_true(find(&taken, "3 GPUs NCCL")->samples > 0);
    measured_done(&taken.all);

    setup(NULL);
    setenv("STUB_FAIL", "ncclCommInitAll=2", 1);
    assert_true(bench(small, &taken, &error));
    assert_string_equal(find(&taken, "3 GPUs NCCL")->note, "ncclCommInitAll: unhandled system error");
    measured_done(&taken.all);
}

static void test_too_few_gpus(void **state) {
    (void)state;
    Taken taken;
    Error error;
    setenv("STUB_DEVICES", "2", 1);
    assert_false(bench(small, &taken, &error));
    assert_string_equal(error.message, "the CUDA driver sees 2 GPUs, not 3");
}

static void test_a_wrong_result_is_an_error(void **state) {
    (void)state;
    Taken taken;
    Error error;
    setenv("STUB_NCCL_WRONG", "1", 1);
    assert_false(bench(small, &taken, &error));
    assert_non_null(strstr(error.message, "3 GPUs: the joined result is"));
    measured_done(&taken.all);
}

static void test_one_gpu(void **state) {
    (void)state;
    Taken taken;
    Error error;
    BenchOptions options = small;
    options.gpus = 1;
    assert_true(bench(options, &taken, &error));
    assert_true(find(&taken, "1 GPU NCCL")->samples > 0 && isnan(taken.share));
    measured_done(&taken.all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_join, setup),
        cmocka_unit_test_setup(test_what_is_missing_is_said, setup),
        cmocka_unit_test_setup(test_too_few_gpus, setup),
        cmocka_unit_test_setup(test_a_wrong_result_is_an_error, setup),
        cmocka_unit_test_setup(test_one_gpu, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
