/* Machine code that a session measures, against stubs of libraries (tests/gpu/stub): measured code is used,
 * and for missing code one line says why. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "tests/gpu/libraries.h"
#include <stdlib.h>
#include <string.h>

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    unsetenv("STUB_NVDISASM_FAILS");
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    setenv("REDVIZ_NVDISASM", "tests/gpu/stub/nvdisasm.sh", 1);
    return 0;
}

static Session *measure(RunSpec options) {
    Error error = {0};
    options.catalog.n = 4096;
    options.threads = 1;
    options.measure_sass = true;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static Session *measure_kernel(const char *kernel) {
    return measure((RunSpec){.kernel = kernel, .backend = BACKEND_AUTO});
}

static void expect_note(Session *session, const char *words) {
    int count;
    const char *const *notes = session_sass_notes(session, &count);
    for (int i = 0; i < count; i++)
        if (strstr(notes[i], words)) return;
    fail_msg("no note says '%s'", words);
}

static void every_launch_is_measured(void **state) {
    (void)state;
    Session *session = measure_kernel("two_stage");
    for (int i = 0; i < 2; i++) {
        const SassKernel *kernel = session_sass(session, i, NULL);
        assert_non_null(kernel);
        assert_string_equal(kernel->machine, "Stub 1");
        assert_string_equal(kernel->kernel, "two_stage");
        assert_string_equal(kernel->dtype, "int");
        assert_string_equal(kernel->op, "sum");
        assert_true(kernel->launch == i && kernel->count == 2);
        assert_true(kernel->counted.n == 4096 && kernel->counted.grid == (i ? 1 : 16));
        assert_true(kernel->sampled.n == 4096 && kernel->sampled.period == 32);
        assert_int_equal(kernel->instructions[1].samples[SASS_STALL_wait], 2);
    }
    expect_note(session, "6 samples found no room and are missing");
    assert_false(ask_failed(session));
    session_free(session);
}

static void a_file_is_measured(void **state) {
    (void)state;
    Session *session = measure((RunSpec){.file = "assets/ptx/shuffle.ptx",
                                         .entry = "shuffle<int,Sum>",
                                         .block = {128, 1, 1},
                                         .backend = BACKEND_AUTO});
    const SassKernel *kernel = session_sass(session, 0, NULL);
    assert_non_null(kernel);
    assert_null(kernel->kernel);
    assert_true(kernel->counted.n == 4096 && kernel->counted.block == 128);
    session_free(session);
}

/* The run itself is unchanged: the kernel's result, its trace and its counters are the same as without. */
static void what_fails_is_one_line(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"cuptiPCSamplingEnable=35", "machine code not sampled: cuptiPCSamplingEnable: "
                                     "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets only root"},
        {"cuptiPCSamplingStart=35", "machine code not sampled: cuptiPCSamplingStart: "},
        {"cuptiSassMetricsEnable=35", "machine code not counted: cuptiSassMetricsEnable: "},
        {"cuptiSubscribe=39", "machine code not measured: cuptiSubscribe: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("STUB_FAIL", cases[i][0], 1);
        Session *session = measure_kernel("sequential");
        expect_note(session, cases[i][1]);
        assert_false(ask_failed(session));
        session_free(session);
    }
    clean(NULL);
    every_launch_is_measured(NULL); /* and it works again */
}

static void without_nvdisasm(void **state) {
    (void)state;
    setenv("REDVIZ_NVDISASM", "/nowhere", 1);
    Session *session = measure_kernel("sequential");
    expect_note(session, "machine code not measured: REDVIZ_NVDISASM=/nowhere is not an executable program");
    assert_false(ask_failed(session));
    session_free(session);
}

/* Only who shows machine code assembles it: reports and remedies run no other program. */
static void what_is_not_measured_is_assembled(void **state) {
    (void)state;
    const char *why = NULL;
    setenv("REDVIZ_PTXAS", "tests/gpu/stub/ptxas_stub.sh", 1);
    Session *session = measure((RunSpec){.file = "assets/ptx/shuffle.ptx",
                                         .entry = "shuffle<int,Sum>",
                                         .block = {128, 1, 1},
                                         .backend = BACKEND_EMULATOR});
    assert_null(session_sass(session, 0, &why));
    session_assemble_sass(session, -1, 60);
    session_assemble_sass(session, 1, 60);
    session_assemble_sass(session, 0, 60);
    const SassKernel *kernel = session_sass(session, 0, &why);
    assert_non_null(kernel);
    assert_null(why);
    assert_string_equal(kernel->assembler, "ptxas 1.2.3");
    assert_true(!session_sass_is_live(session, 0) && kernel->count == 2 && !kernel->counted.n);
    assert_non_null(session_compared_sass(session, 0));
    session_assemble_sass(session, 0, 60);
    assert_ptr_equal(session_sass(session, 0, NULL), kernel);
    session_free(session);
    session = measure((RunSpec){.kernel = "sequential", .backend = BACKEND_AUTO});
    session_assemble_sass(session, 0, 60);
    assert_null(session_sass(session, 0, NULL)->assembler); /* it was measured */
    session_free(session);
    unsetenv("REDVIZ_PTXAS");
}

/* A missing GPU is not mentioned: the message says that no machine code of a file is recorded. */
static void without_a_driver(void **state) {
    (void)state;
    int count;
    const char *why = NULL;
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    Session *session = measure((RunSpec){.file = "assets/ptx/shuffle.ptx",
                                         .entry = "shuffle<int,Sum>",
                                         .block = {128, 1, 1},
                                         .backend = BACKEND_AUTO});
    session_sass_notes(session, &count);
    assert_int_equal(count, 0);
    assert_null(session_sass(session, 0, &why));
    assert_non_null(strstr(why, "is not recorded: a GPU, with nvdisasm beside it, has to measure it"));
    session_free(session);
}

static void the_emulator_measures_nothing(void **state) {
    (void)state;
    int count;
    Session *session = measure((RunSpec){.kernel = "sequential", .backend = BACKEND_EMULATOR});
    const SassKernel *kernel = session_sass(session, 0, NULL);
    session_sass_notes(session, &count);
    assert_int_equal(count, 0);
    assert_true(!kernel || strcmp(kernel->machine, "Stub 1") != 0); /* at most recorded */
    session_free(session);
}

static void a_kernel_that_traps_is_not_run(void **state) {
    (void)state;
    int count;
    RunSpec options = {
        .kernel = "bug_unguarded_load", .backend = BACKEND_AUTO, .catalog.n = 4097, .threads = 1};
    Error error = {0};
    options.measure_sass = true;
    Session *session = session_open(&options, &error);
    assert_non_null(session);
    assert_true(ask_failed(session));
    session_sass_notes(session, &count);
    assert_int_equal(count, 0);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_driver, clean), /* first: a GPU that was opened is kept */
        cmocka_unit_test_setup(every_launch_is_measured, clean),
        cmocka_unit_test_setup(a_file_is_measured, clean),
        cmocka_unit_test_setup(what_fails_is_one_line, clean),
        cmocka_unit_test_setup(without_nvdisasm, clean),
        cmocka_unit_test_setup(the_emulator_measures_nothing, clean),
        cmocka_unit_test_setup(what_is_not_measured_is_assembled, clean),
        cmocka_unit_test_setup(a_kernel_that_traps_is_not_run, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
