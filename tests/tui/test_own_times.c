/* Times of runs that the benchmark does not time, beside the diagram: the real program on a pseudo-terminal,
 * with the emulator in a GPU's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 16 };

/* `variable`: for the driver; NULL: there is none. */
static Pty *start(const char *library, const char *variable, int columns, int rows,
                  const char *const given[]) {
    char driver[4200];
    const char *program = getenv("REDVIZ_BIN"), *arguments[ARGUMENTS + 2] = {NULL};
    if (!program) program = "build/redviz";
    const char *slash = strrchr(program, '/');
    if (!slash) fail_msg("%s has no folder", program);
    snprintf(driver, sizeof driver, "REDVIZ_CUDA=%.*s/tests/gpu/%s", (int)(slash - program), program,
             library);
    /* As in test_warps_live.c. */
    const char *const environment[] = {
        "TERM=xterm-256color", "LC_ALL=C.UTF-8", "ASAN_OPTIONS=detect_leaks=0", driver, variable, NULL};
    arguments[0] = program;
    for (int i = 0; i < ARGUMENTS && given[i]; i++) arguments[i + 1] = given[i];
    return pty_start(arguments, environment, columns, rows);
}

#define GPU "libcuda_emulated.so"
#define RUN(...)                                                                                             \
    (const char *const[]) {                                                                                  \
        __VA_ARGS__, NULL                                                                                    \
    }
#define FILE_RUN                                                                                             \
    "tests/cli/scale.ptx", "--args", "in=float[n]:iota, out=float[n]:zero, n", "--n", "64", "--grid", "1",   \
        "--block", "64"

static void a_file_is_timed(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, 80, 24, RUN(FILE_RUN));
    pty_wait_for(pty, "time 250 us live on this Stub 1, a single call, L2 cold");
    pty_type(pty, "p128\r"); /* of another size */
    pty_wait_for(pty, "n 128");
    pty_wait_for(pty, "time 250 us live on this Stub 1");
    pty_quit(pty);
    pty = start(GPU, NULL, 120, 40, RUN(FILE_RUN)); /* in the pane of the timings */
    pty_wait_for(pty, "250 us live on this Stub 1, a single call, L2 cold");
    assert_false(pty_shows(pty, "Not measured"));
    pty_quit(pty);
}

static void bugs_are_timed_unless_they_have_faults(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, 80, 24, RUN("--kernel", "bug_missing_sync", "--n", "1024"));
    pty_wait_for(pty, "time 250 us live on this Stub 1");
    pty_quit(pty);
    pty = start(GPU, NULL, 80, 24, RUN("--kernel", "bug_half_shared", "--n", "1024"));
    pty_wait_for(pty, "time not timed on this GPU: it has a fault");
    pty_quit(pty);
    pty = start(GPU, NULL, 120, 40, RUN("--kernel", "bug_half_shared", "--n", "1024"));
    pty_wait_for(pty, ">bug_half_shared  not timed on this GPU: it has a fault");
    pty_quit(pty);
}

static void what_may_not_end_is_not_launched(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, 80, 24, RUN("tests/cli/spin.ptx", "--n", "64"));
    pty_wait_for(pty, "time not timed on this GPU: it may not end");
    pty_quit(pty);
    pty = start(GPU, NULL, 120, 40, RUN("tests/cli/spin.ptx", "--n", "64")); /* there is no pane */
    pty_wait_for(pty, "  not timed on this GPU: it may not end");
    pty_quit(pty);
}

/* Both sides are timed in the same way. */
static void a_comparison_with_a_file(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, 200, 50, RUN(FILE_RUN, "--compare", "block=32"));
    pty_wait_for(pty, "time, Stub live");
    pty_wait_for(pty, "250 us > 250 us");
    pty_quit(pty);
    pty =
        start(GPU, NULL, 200, 50, RUN("--kernel", "strided", "--n", "1024", "--compare", "bug_missing_sync"));
    pty_wait_for(pty, "250 us > 250 us");
    pty_quit(pty);
}

static void a_failure_is_a_line(void **state) {
    (void)state;
    Pty *pty = start(GPU, "STUB_FAIL=cuLaunchKernel=2", 80, 24, RUN(FILE_RUN));
    pty_wait_for(pty, "time not timed: cuLaunchKernel: out of memory");
    pty_type(pty, ">");
    pty_quit(pty);
}

/* The GPU does not return; leaving the program does not wait for it. */
static void quitting_does_not_wait(void **state) {
    (void)state;
    Pty *pty = start(GPU, "STUB_BUSY=1", 80, 24, RUN(FILE_RUN, "--backend", "emulator"));
    pty_wait_for(pty, "q quit");
    pty_quit(pty);
}

static void without_a_gpu_nothing_is_said(void **state) {
    (void)state;
    Pty *pty = start("no_such_library.so", NULL, 80, 24, RUN(FILE_RUN));
    pty_wait_for(pty, "time not measured on a GPU; --bench times kernels of the catalogue");
    pty_settle(pty);
    assert_false(pty_shows(pty, "not timed"));
    pty_quit(pty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_timed),
        cmocka_unit_test(bugs_are_timed_unless_they_have_faults),
        cmocka_unit_test(what_may_not_end_is_not_launched),
        cmocka_unit_test(a_comparison_with_a_file),
        cmocka_unit_test(a_failure_is_a_line),
        cmocka_unit_test(quitting_does_not_wait),
        cmocka_unit_test(without_a_gpu_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
