/* A metric is one row and one fold: in a copy of the tree, one of each is added, the program is built, and
 * the new metric is in the text report, in JSON, in the metrics pane and in the differences of a
 * comparison. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/json_reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char copy[] = "/tmp/redviz-metric-XXXXXX";
static const char *program; /* relative to the tree; at the same place in the copy */

static int shell(const char *command) {
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int build(void **state) {
    (void)state;
    static const char row[] =
        "METRIC(warp_syncs, true, true, COUNT, warp_syncs, \"syncs of warps\", \"warp syncs\")";
    static const char fold[] = "FOLD(warp_syncs) { return OF_KIND(WARP_SYNC, requests); }";
    char command[2048];
    program = getenv("REDVIZ_BIN");
    if (!program) program = "build/redviz";
    const char *slash = strrchr(program, '/');
    if (!mkdtemp(copy) || !slash) return -1;
    int folder = (int)(slash - program);
    snprintf(
        command, sizeof command,
        "mkdir -p %s/%.*s/obj && cp -a Makefile scripts src tui %s && cp -a %.*s/obj/src %.*s/obj/tui "
        "%s/%.*s/obj && "
        "cd %s && echo '%s' >>src/metrics/metrics.def && "
        "sed '/^#define OF_KIND/a %s' src/metrics/metrics.c >new && mv new src/metrics/metrics.c && "
        "env -u MAKEFLAGS -u MFLAGS make -s -j\"${JOBS:-2}\" %s CFLAGS=-O0 %s >log 2>&1 || { cat log; false; "
        "}",
        copy, folder, program, copy, folder, program, folder, program, copy, folder, program, copy, row, fold,
        program, strstr(program, "sanitize") ? "SANITIZE=1" : "");
    return shell(command);
}

static int delete_copy(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", copy);
    return shell(command);
}

/* The output of the copy's program; kernels and PTX are the tree's. */
static Text print_of(const char *options) {
    char command[512], path[64];
    Text out = {0};
    char *text;
    size_t length;
    Error error = {0};
    snprintf(path, sizeof path, "%s/out", copy);
    snprintf(command, sizeof command, "LC_ALL=C.UTF-8 REDVIZ_SHARE=. %s/%s %s >%s", copy, program, options,
             path);
    assert_int_equal(shell(command), 0);
    assert_true(text_read_file(path, 4 << 20, &text, &length, &error));
    text_add(&out, text);
    free(text);
    return out;
}

/* The last warp of each of 8 blocks has 12 of them. */
#define KERNEL "--kernel unroll_last_warp --n 4096 --block 256"
#define OTHER  "--compare sequential,n=4096,block=256"

static void assert_has(const char *options, const char *expected) {
    Text out = print_of(options);
    if (!strstr(text_string(&out), expected)) fail_msg("%s: no '%s' in\n%s", options, expected, out.data);
    text_done(&out);
}

static void it_is_in_the_text_report(void **state) {
    (void)state;
    assert_has(KERNEL " --report", "\n  syncs of warps                          96\n");
}

static void it_is_in_json(void **state) {
    (void)state;
    Text out = print_of(KERNEL " --report=json");
    static const char *const paths[] = {"totals.warp_syncs", "launches.0.totals.warp_syncs"};
    for (int i = 0; i < 2; i++) {
        const char *value = json_at(text_string(&out), paths[i]);
        assert_non_null(value);
        assert_int_equal(atoi(value), 96);
    }
    assert_non_null(json_at(text_string(&out), "lines.0.warp_syncs"));
    text_done(&out);
}

static void it_is_in_the_metrics_pane(void **state) {
    (void)state;
    assert_has(KERNEL " --frame=200x60 --keys tt",
               " warp syncs            \xc2\xb7       \xc2\xb7       \xc2\xb7      12      96  ");
}

static void it_is_in_the_differences(void **state) {
    (void)state;
    assert_has(KERNEL " " OTHER " --frame=200x60 --keys i",
               "warp syncs                              96 > 0 ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_in_the_text_report),
        cmocka_unit_test(it_is_in_json),
        cmocka_unit_test(it_is_in_the_metrics_pane),
        cmocka_unit_test(it_is_in_the_differences),
    };
    return cmocka_run_group_tests_name("a metric that is added", tests, build, delete_copy);
}
