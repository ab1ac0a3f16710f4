/* The driver layer against a stub of the CUDA driver (stub/cuda_stub.c): a failing call is one line with the
 * call's name and the driver's words, and a call that does not return is abandoned. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/driver.h"
#include "gpu/run.h"
#include "gpu/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "libraries.h"

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    unsetenv("STUB_DEVICES");
    unsetenv("STUB_BUSY");
    unsetenv("STUB_SLOW_LOAD");
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    return 0;
}

static void expect_error(const char *words) {
    Error error = {0};
    assert_null(cuda_open(&error));
    if (!strstr(error.message, words)) fail_msg("'%s' does not say '%s'", error.message, words);
}

static Cuda *open_stub(void) {
    Error error = {0};
    Cuda *cuda = cuda_open(&error);
    if (!cuda) fail_msg("%s", error.message);
    return cuda;
}

static void no_driver(void **state) {
    (void)state;
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    expect_error("there is no CUDA driver here");
}

static void old_driver(void **state) {
    (void)state;
    use_library("REDVIZ_CUDA", "libcuda_old_stub.so");
    expect_error("has no cuStreamEndCapture: CUDA 12 or later is needed");
}

static void no_device(void **state) {
    (void)state;
    setenv("STUB_DEVICES", "0", 1);
    expect_error("sees no GPU");
    setenv("STUB_FAIL", "cuInit=999", 1);
    expect_error("cuInit: unknown error (CUDA_ERROR_UNKNOWN)");
}

static void what_the_device_is(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    assert_string_equal(cuda->name, "Stub 1");
    assert_int_equal(cuda->multiprocessors, 132);
    assert_int_equal(cuda->driver_version, 13000);
    cuda_close(cuda);
}

static void memory_that_is_not_there(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    CudaAddress address;
    Error error = {0};
    setenv("STUB_FAIL", "cuMemAlloc_v2=2", 1);
    assert_false(cuda_allocate(cuda, (size_t)4 << 30, &address, &error));
    assert_string_equal(error.message,
                        "cuMemAlloc: 4096 MB of GPU memory are needed, but only 100 of 200 MB are free");
    cuda_close(cuda);
}

static void bad_ptx(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    CudaModule module;
    Error error = {0};
    setenv("STUB_FAIL", "cuModuleLoadDataEx=218", 1);
    assert_false(cuda_load(cuda, ".version", &module, &error));
    assert_string_equal(error.message,
                        "cuModuleLoadDataEx: a PTX JIT compilation failed (CUDA_ERROR_INVALID_PTX)");
    cuda_close(cuda);
}

static void buffers_come_back(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    GpuRun run;
    Error error = {0};
    int32_t host[3] = {1, 2, 3};
    assert_true(gpu_run_begin(&run, cuda, "", &error));
    assert_int_equal(gpu_run_add_buffer(&run, host, sizeof host, &error), 0);
    assert_int_equal(gpu_run_add_buffer(&run, NULL, 1 << 20, &error), 1); /* a pattern */
    assert_true(gpu_run_upload(&run, &error));
    host[1] = 7;
    assert_true(gpu_run_download(&run, &error));
    assert_int_equal(host[1], 2);
    gpu_run_end(&run);
    cuda_close(cuda);
}

static void a_kernel_that_does_not_return(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    CudaAddress address;
    Error error = {0};
    setenv("STUB_BUSY", "1", 1);
    assert_false(cuda_wait(cuda, 0.02, "endless", &error));
    assert_string_equal(error.message,
                        "endless: the kernel has not returned after 0.02 s on Stub 1; giving up");
    assert_true(cuda->hung);
    assert_false(cuda_allocate(cuda, 16, &address, &error)); /* at once */
    assert_false(cuda_wait(cuda, 10, "next", &error));
    assert_string_equal(error.message, "next: the GPU's driver is still busy with what did not return");
    cuda_close(cuda);
}

static void a_compiler_that_does_not_return(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    CudaModule module;
    Error error = {0};
    setenv("STUB_SLOW_LOAD", "200", 1);
    cuda->load_seconds = 0.02;
    assert_false(cuda_load(cuda, ".version", &module, &error));
    assert_string_equal(error.message,
                        "cuModuleLoadDataEx: the driver's compiler has not returned after 0.02 s; giving up");
    assert_true(cuda->hung);
    assert_false(cuda->faulted); /* no kernel did */
    assert_false(cuda_load(cuda, ".version", &module, &error));
    assert_string_equal(error.message,
                        "cuModuleLoadDataEx: the GPU's driver is still busy with what did not return");
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL); /* the abandoned thread ends */
    cuda_close(cuda);
}

static bool nothing(void *context, int set, Error *error) {
    (void)set, (void)error;
    ++*(int *)context;
    return true;
}

static void times_are_per_repetition(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    Timer timer;
    Spread timing;
    Error error = {0};
    int calls = 0;
    TimingPlan plan = {nothing, &calls, 1, 10, 0.01};
    assert_true(timer_new(&timer, cuda, &error));
    assert_true(time_single(&timer, &plan, false, &timing, &error));
    assert_true(timing.count >= 5);
    assert_int_equal(calls, timing.count + 3); /* warm-ups */
    assert_true(timing.median == 250);
    calls = 0;
    assert_true(time_graph(&timer, &plan, true, &timing, &error));
    assert_int_equal(calls, 10);
    assert_true(timing.median == 25 && timing.low == 25 && timing.high == 25);
    timer_free(&timer);
    cuda_close(cuda);
}

/* A capture that fails to begin is still ended, or the stream would stay in capture. */
static bool refuses(void *context, int set, Error *error) {
    (void)context, (void)set;
    return error_set(error, "no");
}

static void work_that_fails(void **state) {
    (void)state;
    Cuda *cuda = open_stub();
    Timer timer;
    Spread timing;
    Error error = {0};
    TimingPlan plan = {refuses, NULL, 1, 10, 0.01};
    assert_true(timer_new(&timer, cuda, &error));
    assert_false(time_graph(&timer, &plan, false, &timing, &error));
    assert_string_equal(error.message, "no");
    timer_free(&timer);
    cuda_close(cuda);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_driver, clean),
        cmocka_unit_test_setup(old_driver, clean),
        cmocka_unit_test_setup(no_device, clean),
        cmocka_unit_test_setup(what_the_device_is, clean),
        cmocka_unit_test_setup(memory_that_is_not_there, clean),
        cmocka_unit_test_setup(bad_ptx, clean),
        cmocka_unit_test_setup(buffers_come_back, clean),
        cmocka_unit_test_setup(a_kernel_that_does_not_return, clean),
        cmocka_unit_test_setup(a_compiler_that_does_not_return, clean),
        cmocka_unit_test_setup(times_are_per_repetition, clean),
        cmocka_unit_test_setup(work_that_fails, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
