/* The time of a session's run on a GPU, with the emulator in its place (tests/gpu/stub): what is timed, what
 * is not launched, and that each repetition begins with the inputs. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "tests/gpu/libraries.h"
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 20, STUB_MICROSECONDS = 250 };

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    unsetenv("STUB_LAUNCHED");
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    return 0;
}

static Session *open(RunSpec options) {
    Error error = {0};
    options.catalog.n = 64;
    options.threads = 1;
    options.backend = BACKEND_EMULATOR;
    options.keep_inputs = options.times_run = true;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static void assert_timed(const Session *session) {
    SessionTime time = session_take_time(session, session);
    if (time.why) fail_msg("%s", time.why);
    assert_int_equal(time.repetitions, REPETITIONS);
    assert_true(time.microseconds == STUB_MICROSECONDS);
    assert_string_equal(time.machine, "Stub 1");
}

/* Each thread adds 1 to the output, and to a variable, and traps if more threads than there are have done
 * so. */
static const char tally[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".global .u32 calls;\n"
                            ".visible .entry tally(.param .u64 out) {\n"
                            ".reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<3>;\n"
                            "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u64 %rd2, calls;\n"
                            "atom.global.add.u32 %r1, [%rd1], 1; atom.global.add.u32 %r2, [%rd2], 1;\n"
                            "setp.ge.u32 %p1, %r1, 64; setp.ge.u32 %p2, %r2, 64;\n"
                            "@%p1 trap;\n@%p2 trap;\nret; }\n";

static void every_repetition_begins_with_the_inputs(void **state) {
    (void)state;
    Session *session = open((RunSpec){.file = "tally.ptx",
                                      .text = tally,
                                      .args = "out=int[1]:zero",
                                      .grid = {1, 1, 1},
                                      .block = {64, 1, 1}});
    assert_timed(session);
    session_free(session);
}

static void several_launches_are_one_run(void **state) {
    (void)state;
    Session *session = open((RunSpec){.kernel = "two_stage"});
    assert_int_equal(session_trace(session)->launch_count, 2);
    assert_timed(session);
    session_free(session);
}

/* A race is no reason: the GPU ends such a run. */
static void a_race_is_timed(void **state) {
    (void)state;
    Session *session = open((RunSpec){.kernel = "bug_missing_sync", .search_races = true});
    assert_timed(session);
    session_free(session);
}

static void assert_not_launched(RunSpec options, const char *why) {
    Session *session = open(options);
    assert_string_equal(session_untimed(session), why);
    assert_string_equal(session_take_time(session, session).why, why);
    assert_null(getenv("STUB_LAUNCHED"));
    session_free(session);
}

static void what_may_not_end_is_not_launched(void **state) {
    (void)state;
    assert_not_launched((RunSpec){.file = "tests/cli/spin.ptx"}, "it may not end");
    assert_not_launched((RunSpec){.kernel = "bug_half_shared"}, "it has a fault");
}

/* The next run is timed again. */
static void a_failure_is_a_line(void **state) {
    (void)state;
    RunSpec options = {.kernel = "strided"};
    setenv("STUB_FAIL", "cuLaunchKernel=2", 1);
    Session *session = open(options);
    SessionTime time = session_take_time(session, session);
    assert_int_equal(time.repetitions, 0);
    assert_string_equal(time.why, "cuLaunchKernel: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    session_free(session);
    unsetenv("STUB_FAIL");
    session = open(options);
    assert_timed(session);
    session_free(session);
}

/* What the interface opens beside a session: its time is that of the session unless the code is another. */
static void it_is_measured_beside_the_session(void **state) {
    (void)state;
    Error error = {0};
    RunSpec wanted;
    RunSpec options = {.kernel = "strided",
                       .catalog.n = 64,
                       .threads = 1,
                       .backend = BACKEND_EMULATOR,
                       .measure_sass = true};
    Session *session = session_open(&options, &error);
    assert_non_null(session);
    assert_int_equal(session_take_time(session, session).repetitions, 0);
    assert_true(session_wants_time(session, &wanted) && wanted.times_run && !wanted.measure_sass);
    Session *measured = session_open_on_gpu(&wanted, &error);
    assert_non_null(measured);
    assert_int_equal(session_take_time(session, measured).repetitions, REPETITIONS);
    Session *other = open((RunSpec){.kernel = "shuffle"});
    assert_string_equal(session_take_time(session, other).why, "the file has changed since this run");
    session_free(other);
    session_free(measured);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_repetition_begins_with_the_inputs, clean),
        cmocka_unit_test_setup(several_launches_are_one_run, clean),
        cmocka_unit_test_setup(a_race_is_timed, clean),
        cmocka_unit_test_setup(what_may_not_end_is_not_launched, clean),
        cmocka_unit_test_setup(a_failure_is_a_line, clean),
        cmocka_unit_test_setup(it_is_measured_beside_the_session, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
