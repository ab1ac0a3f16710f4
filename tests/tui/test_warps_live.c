/* Timelines of warps that the interface measures when their pane is shown: the real program on a
 * pseudo-terminal, with the emulator in a GPU's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS = 16 };

/* `library`: of the driver, in tests/gpu; NULL: there is none. `variable`: for that driver; NULL: none. */
static Pty *start(const char *library, const char *variable, const char *const given[]) {
    char driver[4200];
    const char *program = getenv("REDVIZ_BIN"), *arguments[ARGUMENTS + 2] = {NULL};
    if (!program) program = "build/redviz";
    const char *slash = strrchr(program, '/');
    if (!slash) fail_msg("%s has no folder", program);
    if (library)
        snprintf(driver, sizeof driver, "REDVIZ_CUDA=%.*s/tests/gpu/%s", (int)(slash - program), program,
                 library);
    else
        snprintf(driver, sizeof driver, "REDVIZ_CUDA=/nowhere/libcuda.so.1");
    /* The emulated driver has thread-local variables. Where a worker has loaded and closed it, the leak
     * sanitizer often ends by a fault of its own ("Tracer caught signal 11"). */
    const char *const environment[] = {
        "TERM=xterm-256color", "LC_ALL=C.UTF-8", "ASAN_OPTIONS=detect_leaks=0", driver, variable, NULL};
    arguments[0] = program;
    for (int i = 0; i < ARGUMENTS && given[i]; i++) arguments[i + 1] = given[i];
    return pty_start(arguments, environment, 120, 40);
}

#define GPU "libcuda_emulated.so"
#define RUN(...)                                                                                             \
    (const char *const[]) {                                                                                  \
        __VA_ARGS__, NULL                                                                                    \
    }

static void a_kernel_of_the_catalogue(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, RUN("--kernel", "shuffle", "--n", "4096"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "warps on SM 0  live on Stub");
    pty_wait_without(pty, "measuring on the GPU");
    pty_type(pty, "#p8192\r"); /* of another size */
    pty_wait_for(pty, "n 8,192");
    pty_type(pty, "\033##");
    pty_wait_for(pty, "warps on SM 0  live on Stub");
    assert_false(pty_shows(pty, "of n ="));
    pty_quit(pty);
}

/* Of the numbers of blocks at once that are recorded, this GPU cannot have the second: what was measured
 * stays. */
static void residencies_that_are_recorded(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL, RUN("--kernel", "sequential", "--n", "4096"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "warps on SM 0  live on Stub");
    pty_wait_for(pty, "Not measured: a multiprocessor cannot be made to hold 1 block of 256 threads.");
    pty_quit(pty);
}

static void a_file(void **state) {
    (void)state;
    Pty *pty = start(GPU, NULL,
                     RUN("tests/cli/scale.ptx", "--args", "in=float[n]:iota, out=float[n]:zero, n", "--n",
                         "64", "--grid", "1", "--block", "64"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "warps on SM 0  live on Stub");
    pty_quit(pty);
}

static void the_failure_is_a_line(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/redviz_inner_%d.ptx", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry inner(.param .u64 out) {\n"
          ".reg .b32 %r<2>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [out]; mov.u32 %r1, 1;\n"
          "{ .shared .b32 s; st.shared.u32 [s], %r1; }\nst.global.u32 [%rd1], %r1; ret; }\n",
          file);
    fclose(file);
    Pty *pty =
        start(GPU, NULL, RUN(path, "--args", "out=int[n]:zero", "--n", "64", "--grid", "1", "--block", "32"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "Not known: inner declares shared memory in an inner scope.");
    assert_false(pty_shows(pty, "On a machine with a GPU"));
    pty_quit(pty);
    unlink(path);
}

/* The GPU does not return; the recording stays, and leaving the pane, or the program, does not wait for
 * it. */
static void it_can_be_cancelled(void **state) {
    (void)state;
    Pty *pty = start(GPU, "STUB_BUSY=1", RUN("--kernel", "shuffle", "--n", "4096", "--backend", "emulator"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "measuring on the GPU ... (leaving this pane cancels)");
    pty_wait_for(pty, "H100, 2026-");
    pty_type(pty, ">");
    pty_type(pty, "\033");
    pty_wait_without(pty, "measuring on the GPU");
    pty_quit(pty);
}

static void without_a_gpu(void **state) {
    (void)state;
    Pty *pty = start(NULL, NULL, RUN("--kernel", "shuffle", "--n", "4096"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "H100, 2026-");
    pty_wait_without(pty, "measuring on the GPU");
    assert_false(pty_shows(pty, "Not measured"));
    pty_quit(pty);
    pty = start(NULL, NULL,
                RUN("tests/cli/scale.ptx", "--args", "in=float[n]:iota, out=float[n]:zero, n", "--n", "64",
                    "--grid", "1", "--block", "64"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "Not known: there is no CUDA driver here (/nowhere/libcuda.so.1).");
    pty_quit(pty);
}

/* What has a fault is not run on a GPU. */
static void a_fault_is_not_run(void **state) {
    (void)state;
    Pty *pty =
        start(GPU, NULL, RUN("--kernel", "bug_unguarded_load", "--n", "1000", "--backend", "emulator"));
    pty_wait_for(pty, "q quit");
    pty_type(pty, "##");
    pty_wait_for(pty, "Not known: ");
    pty_settle(pty);
    assert_false(pty_shows(pty, "warps on SM"));
    pty_quit(pty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_of_the_catalogue),
        cmocka_unit_test(residencies_that_are_recorded),
        cmocka_unit_test(a_file),
        cmocka_unit_test(the_failure_is_a_line),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(without_a_gpu),
        cmocka_unit_test(a_fault_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
