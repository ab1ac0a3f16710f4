/* Launches that do not end well: stopped with their program, or going on out of bounds. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/emulated_device.h"
#include "runtime/launch_list.h"
#include "runtime/user_program.h"
#include "session/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 a) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, 3; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry _Z3setPd(.param .u64 a) {\n.reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .f64 %d;\n"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; cvt.rn.f64.u32 %d, %r1;\n"
    "mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2; st.global.f64 [%rd3], %d; ret; }\n"
    ".visible .entry spin(.param .u64 a) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [a];\n"
    "$again: ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; bra $again; }\n";

static Device *device;

static void cancel(int number) {
    (void)number;
    device->cancel = true;
}

static void launch(const char *name, uint64_t a) {
    MessageFunction function = {0};
    MessageParameter *parameters = NULL;
    device_find_function(device, 1, name, &function, &parameters);
    free(parameters);
    MessageLaunch asked = {
        .function = function.number, .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameter_bytes = sizeof a};
    device_launch(device, &asked, (const uint8_t *)&a);
}

static void begin(uint64_t *a) {
    enum { WINDOW_BYTES = 1 << 20 };
    Error error = {0};
    char path[] = "/tmp/redviz_window_XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    assert_true(file >= 0 && !ftruncate(file, WINDOW_BYTES));
    device = device_new(captured_new(1 << 20), file, UINT64_C(1) << 40, WINDOW_BYTES, &error);
    if (!device) fail_msg("%s", error.message);
    close(file);
    device_add_module(device, &(MessageModule){1, FORMAT_PTX}, ptx, strlen(ptx));
    MessagePlace place;
    device_allocate(device, &(MessageAllocate){.bytes = 4}, &place);
    *a = place.address;
}

static void spin_until_cancelled(uint64_t a) {
    signal(SIGALRM, cancel);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL);
    launch("spin", a);
    const CapturedLaunch *last = &device->capture->launches[device->capture->launch_count - 1];
    assert_true(last->is_cancelled && last->instructions);
}

static void end(void) {
    Captured *capture = device->capture;
    device_free(device);
    captured_free(capture);
}

static void a_launch_that_ended_is_shown_first(void **state) {
    (void)state;
    uint64_t a;
    begin(&a);
    launch("store", a);
    spin_until_cancelled(a);
    assert_int_equal(captured_choose(device->capture), 0);
    end();
}

static void it_runs_as_far_as_it_went(void **state) {
    (void)state;
    uint64_t a;
    begin(&a);
    spin_until_cancelled(a);
    assert_int_equal(captured_choose(device->capture), 0);
    Error error = {0};
    Program program = {.capture = device->capture, .end = PROGRAM_TIME, .has_connected = true};
    RunSpec options = {.program = &program, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    const Trace *trace = session_trace(session);
    assert_int_equal(trace->trap_count, 1);
    assert_int_equal(trace->traps[0].kind, TRAP_INSTRUCTION_BUDGET);
    assert_in_range(trace_count_instructions(trace), 1, device->capture->launches[0].instructions + 8);
    session_free(session);
    end();
}

/* Doubles are counted as elements; one that is written with the value that it has is none. */
static void elements_that_change_are_counted(void **state) {
    (void)state;
    uint64_t a;
    begin(&a);
    MessagePlace place;
    device_allocate(device, &(MessageAllocate){.bytes = 32 * sizeof(double)}, &place);
    launch("_Z3setPd", place.address); /* lane 0 stores 0 */
    launch("_Z3setPd", place.address);
    const CapturedLaunch *launches = device->capture->launches;
    assert_int_equal(launches[0].changed_count, 1);
    assert_int_equal(launches[0].changed[0].count, 64); /* words */
    assert_int_equal(launches[0].changed[0].elements, 31);
    assert_int_equal(launches[1].changed[0].elements, 0);
    end();
}

static void a_launch_out_of_bounds_keeps_going(void **state) {
    (void)state;
    uint64_t a;
    begin(&a);
    emulator_keep_going(device->emulator);
    launch("store", a);
    launch("store", a + 4);
    launch("store", a);
    const CapturedLaunch *launches = device->capture->launches;
    assert_int_equal(device->error, 0);
    assert_int_equal(launches[0].trap, -1);
    assert_int_equal(launches[1].trap, TRAP_WRITE_OUTSIDE);
    assert_true(launches[2].memories != NULL || launches[2].repeats == 0);
    assert_int_equal(captured_choose(device->capture), 1);
    end();
}

/* What the run of the launch that is shown has found goes before what the program's run has. */
static void the_first_problem_is_named_with_its_count(void **state) {
    (void)state;
    static const LaunchShown none = {.launch = -1};
    static const struct {
        const char *finding, *words;
    } rows[] = {
        {"bank_conflict", "bank conflicts"}, {"divergence", "divergence"}, {"", "-"}, {NULL, "not known"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int memory = 0;
        uint64_t count, beyond = rows[i].finding && *rows[i].finding ? 50 : 0;
        CapturedLaunch launch = {
            .trap = -1, .memories = &memory, .finding = rows[i].finding, .beyond = beyond};
        Captured capture = {.launches = &launch, .launch_count = 1};
        Finding race = {.kind = FINDING_SHARED_RACE};
        FindingCause cause = {.count = 1};
        Findings found = {.items = &race, .count = 1, .error_count = 1, .causes = &cause, .cause_count = 1};
        assert_string_equal(launch_finding(&capture, 0, &none, &count), rows[i].words);
        assert_int_equal(count, beyond);
        assert_string_equal(launch_finding(&capture, 0, &(LaunchShown){0, &found}, &count),
                            "race on shared memory between warps");
        assert_int_equal(count, 0);
        launch.error = 1;
        assert_string_equal(launch_finding(&capture, 0, &none, &count), "failed");
        assert_int_equal(count, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_problem_is_named_with_its_count),
                                       cmocka_unit_test(a_launch_that_ended_is_shown_first),
                                       cmocka_unit_test(elements_that_change_are_counted),
                                       cmocka_unit_test(it_runs_as_far_as_it_went),
                                       cmocka_unit_test(a_launch_out_of_bounds_keeps_going)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
