/* Clocks and temperature against a stub of NVML (stub/nvml_stub.c): unavailable values are NaN, without a
 * message. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/nvml.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libraries.h"

static int setup(void **state) {
    Error error = {0};
    unsetenv("STUB_FAIL");
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    use_library("REDVIZ_NVML", "libnvml_stub.so");
    *state = cuda_open(&error);
    return !*state;
}

static int teardown(void **state) {
    cuda_close(*state);
    return 0;
}

static NvmlReading read_now(const Cuda *cuda, Nvml *nvml) {
    nvml_open(nvml, cuda);
    return nvml_read(nvml);
}

static void what_it_tells(void **state) {
    Nvml nvml;
    NvmlReading reading = read_now(*state, &nvml);
    assert_true(reading.clock == 1980 && reading.memory_clock == 3201 && reading.temperature == 41);
    assert_string_equal(nvml.driver, "580.00.01");
    nvml_close(&nvml);
}

static void no_library(void **state) {
    Nvml nvml;
    setenv("REDVIZ_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    NvmlReading reading = read_now(*state, &nvml);
    assert_true(isnan(reading.clock) && isnan(reading.memory_clock) && isnan(reading.temperature));
    assert_string_equal(nvml.driver, "");
    nvml_close(&nvml);
    use_library("REDVIZ_NVML", "libcuda_stub.so"); /* a library, but not this one */
    reading = read_now(*state, &nvml);
    assert_true(isnan(reading.clock));
    nvml_close(&nvml);
}

static void what_it_refuses(void **state) {
    static const char *const fails[] = {"nvmlInit_v2=9", "nvmlDeviceGetHandleByUUID=6",
                                        "nvmlDeviceGetClockInfo=3", "nvmlDeviceGetTemperature=3"};
    for (int i = 0; i < 4; i++) {
        Nvml nvml;
        setenv("STUB_FAIL", fails[i], 1);
        NvmlReading reading = read_now(*state, &nvml);
        assert_int_equal(isnan(reading.clock), i != 3);
        assert_int_equal(isnan(reading.temperature), i != 2);
        nvml_close(&nvml);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_it_tells, setup, teardown),
        cmocka_unit_test_setup_teardown(no_library, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_refuses, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
