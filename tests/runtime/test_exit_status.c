/* The exit status for each way in which a program ends, in every mode of redviz.
 *
 * programs/ends.c is compiled by the C compiler alone. */
#define _XOPEN_SOURCE 700
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <stdlib.h>

static bool has_program;

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    has_program = program_runs_build_ends();
    return 0;
}

static const struct {
    const char *options, *command;
    int status;
} rows[] = {
    {"", "$TMPDIR/ends sum", 0},
    {"", "$TMPDIR/ends same", 0},
    {"", "$TMPDIR/ends leave_child", 0},
    {"", "$TMPDIR/ends nothing", 0},
    {"", "$TMPDIR/ends link", 3},
    {"", "/bin/true", 0},
    {"", "/bin/false", 1},
    {"", "$TMPDIR/ends exit_in_callback", 1},
    {"", "$TMPDIR/ends leave_at_once", 1},
    {"", "$TMPDIR/ends abort", 1},
    {"", "$TMPDIR/ends crash", 1},
    {"", "$TMPDIR/ends killed", 1},
    {"", "$TMPDIR/ends trap", 1},
    {"", "$TMPDIR/ends hang", 1},
    {"--time-limit 1", "$TMPDIR/ends wait", 1},
    {"--time-limit 1", "$TMPDIR/ends spin", 1},
    {"--time-limit 1", "/bin/sleep 100", 1},
    {"", "/bin/sh -c 'kill -KILL $$'", 1},
    {"", "/bin/sh -c 'kill -TERM $$'", 1},
    {"", "/bin/sh -c 'kill -BUS $$'", 1},
    {"", "/bin/sh -c 'kill -STOP $PPID'", 0}, /* the program's parent is not redviz */
    {"", "/bin/sh -c 'kill -STOP $PPID; exit 5'", 1},
    {"", "/bin/sh -c 'kill -KILL $PPID; sleep 100'", 1},
    {"", "/bin/sh -c 'kill -USR1 $PPID; sleep 100'", 1},
    {"", "/no/such/program", 2},
    {"--time-limit never", "$TMPDIR/ends sum", 2},
    {"--no-such-option", "$TMPDIR/ends sum", 2},
};

/* All ways are tried; what is wrong is listed. */
static void expect_statuses(const char *mode) {
    int wrong = 0;
    if (!has_program) skip_because("no C compiler was found, which builds its program");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Outcome outcome = program_shell("timeout 60 @ %s --max-instructions 10000 %s -- %s", mode,
                                        rows[i].options, rows[i].command);
        if (outcome.status != rows[i].status) {
            print_message("%s %s %s: status %d, not %d: %s\n", mode, rows[i].options, rows[i].command,
                          outcome.status, rows[i].status, outcome.err);
            wrong++;
        }
        program_outcome_done(&outcome);
    }
    assert_int_equal(wrong, 0);
}

static void of_a_report(void **state) {
    (void)state;
    expect_statuses("--report");
}

static void of_a_report_as_json(void **state) {
    (void)state;
    expect_statuses("--report=json");
}

static void of_a_check(void **state) {
    (void)state;
    expect_statuses("--check");
}

static void of_a_frame(void **state) {
    (void)state;
    expect_statuses("--frame=80x24");
}

static void of_the_interface(void **state) {
    (void)state;
    expect_statuses("--plain");
}

static const char in_a_kernel[] = "__global__ void child(int *p) { *p = 1; }\n"
                                  "__global__ void parent(int *p) { child<<<1, 1>>>(p); }\n"
                                  "int main() { parent<<<1, 1>>>(0); }\n",
                  on_the_host[] = "__global__ void child(int *p) { if (p) *p = 1; }\n"
                                  "int main() { child<<<1, 1>>>(0); }\n";

/* What is not emulated is named with its line. */
static void of_a_launch_within_a_kernel(void **state) {
    (void)state;
    program_write_file("in_a_kernel.cu", in_a_kernel);
    program_write_file("on_the_host.cu", on_the_host);
    Outcome refused = program_shell("@ --run %s/in_a_kernel.cu --report", program_folder()),
            good = program_shell("@ --run %s/on_the_host.cu --report", program_folder());
    const char *missing = program_missing_compiler(&refused);
    if (!missing) {
        assert_int_equal(refused.status, 3);
        program_assert_contains(refused.err, "in_a_kernel.cu:2:");
        program_assert_contains(refused.err, "(dynamic parallelism), which is not emulated");
        assert_int_equal(good.status, 0);
    }
    program_outcome_done(&refused);
    program_outcome_done(&good);
    if (missing) skip_because("%s", missing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_report),      cmocka_unit_test(of_a_report_as_json),
        cmocka_unit_test(of_a_check),       cmocka_unit_test(of_a_frame),
        cmocka_unit_test(of_the_interface), cmocka_unit_test(of_a_launch_within_a_kernel),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
