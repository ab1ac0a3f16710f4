/* Runs in the background, in the real program on a pseudo-terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Pty *start(const char *kernel, const char *n, int columns, int rows) {
    static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {program ? program : "build/redviz", "--kernel", kernel, "--n", n, NULL};
    return pty_start(arguments, environment, columns, rows);
}

/* Shows the traced block at once, and the grid's counts later, unless the place has changed. */
static void large_grids_are_counted_behind_a_first_look(void **state) {
    (void)state;
    Pty *pty = start("interleaved", "2^22", 200, 60);
    pty_wait_for(pty, "counting the grid");
    pty_type(pty, "g29>");
    pty_wait_for(pty, "step 30 of 59");
    pty_wait_for(pty, "result ok");
    pty_wait_without(pty, "counting");
    assert_true(pty_shows(pty, "step 30 of 59"));
    pty_quit(pty);
}

/* Runs opened later also start with a first look, even from a run that was counted whole. */
static void later_runs_have_a_first_look(void **state) {
    (void)state;
    Pty *pty = start("interleaved", "2^22", 120, 40);
    pty_wait_for(pty, "counting the grid");
    pty_wait_for(pty, "result ok");
    pty_wait_without(pty, "counting");
    pty_type(pty, "p2^26\r");
    pty_wait_for(pty, "n 67,108,864");
    assert_true(pty_shows(pty, "counting the grid"));
    pty_quit(pty);
}

static void quitting_does_not_wait_for_the_count(void **state) {
    (void)state;
    Pty *pty = start("interleaved", "2^25", 80, 24);
    pty_wait_for(pty, "counting the grid");
    pty_quit(pty);
}

/* While the second kernel opens, keys still step; then it appears beside the first and follows it. */
static void a_second_kernel_comes_while_stepping(void **state) {
    (void)state;
    Pty *pty = start("interleaved", "4096", 200, 60);
    pty_go_to_first_step(pty, "step 1 of 59");
    pty_type(pty, "c\r");
    pty_wait_for(pty, "redviz  strided");
    pty_type(pty, "29>");
    pty_wait_for(pty, "step 30 of 59");
    pty_wait_for(pty, "of 64");
    pty_wait_without(pty, "step 1 of 64"); /* a frame may arrive in two parts */
    pty_type(pty, "S");
    pty_wait_without(pty, "redviz  strided");
    pty_wait_for(pty, "step 30 of 59");
    pty_quit(pty);
}

static void new_settings_keep_the_place(void **state) {
    (void)state;
    Pty *pty = start("interleaved", "4096", 120, 40);
    pty_go_to_first_step(pty, "step 1 of 59");
    pty_type(pty, "29>p");
    pty_wait_for(pty, "‹n 4,096›");
    pty_type(pty, "lk"); /* the run follows at once, and the row stays */
    pty_wait_for(pty, "<<<8, 512>>>");
    pty_wait_for(pty, "step 30 of 66");
    pty_wait_for(pty, "‹block 512›");
    pty_type(pty, "100\r"); /* refused at once, in the row; the last good run stays */
    pty_wait_for(pty, "a power of two, from 1 to 1024");
    assert_true(pty_shows(pty, "<<<8, 512>>>"));
    pty_type(pty, "jjjjkk"); /* the newest settings win */
    pty_wait_for(pty, "<<<128, 32>>>");
    pty_type(pty, "\r");
    pty_wait_for(pty, "q quit");
    pty_quit(pty);
}

/* Escape cancels; the screen stays. */
/* The block of the second access is traced first; then its line is the current one. */
static void a_hazard_waits_for_its_block(void **state) {
    (void)state;
    static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {program ? program : "build/redviz",
                                     "tests/kernels/order.ptx",
                                     "--entry",
                                     "nobody_fences",
                                     "--n",
                                     "4096",
                                     NULL};
    Pty *pty = pty_start(arguments, environment, 120, 40);
    pty_wait_for(pty, "2 hazards (f)");
    pty_type(pty, "f");
    pty_wait_for(pty, "block 15, w0");
    pty_wait_for(pty, ">230X");
    pty_quit(pty);
}

static void escape_gives_a_run_up(void **state) {
    (void)state;
    Pty *pty = start("shuffle_atomic", "4096", 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "p2^27\r"); /* its blocks communicate: there is no first look */
    pty_wait_for(pty, "opening the run with new settings");
    pty_type(pty, ">>");
    pty_wait_for(pty, "step 3 of ");
    pty_type(pty, "Ksequential\r"); /* one after another */
    pty_wait_for(pty, "is still being opened; Esc cancels it");
    assert_true(pty_shows(pty, "redviz  shuffle_atomic"));
    pty_type(pty, "\033");
    pty_wait_for(pty, "cancelled");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 4 of ");
    assert_true(pty_shows(pty, "4,096"));
    pty_quit(pty);
}

static void a_block_is_traced_on_demand(void **state) {
    (void)state;
    Pty *pty = start("strided", "65536", 120, 40);
    pty_go_to_first_step(pty, "step 1 of 64");
    pty_type(pty, "20>17}");
    pty_wait_for(pty, "lanes  block 17");
    pty_wait_for(pty, "step 21 of 64");
    pty_quit(pty);
}

/* All blocks are searched behind the first frame; the view goes to the place, in a block that is traced for
 * it. */
static void hazards_are_found_behind(void **state) {
    (void)state;
    Pty *pty = start("bug_volatile_tail", "1024", 120, 40);
    pty_wait_for(pty, "result ok, 20 hazards, 80 times (f)");
    pty_type(pty, "f");
    pty_wait_for(pty, "hazards  20");
    pty_wait_for(pty, "step 25 of 42");
    pty_type(pty, "f");
    pty_wait_without(pty, "step 25 of 42");
    pty_quit(pty);
    pty = start("bug_unguarded_load", "1000", 80, 24);
    pty_wait_for(pty, "lanes  block 3"); /* the block of the fault */
    pty_type(pty, "1}");
    pty_wait_for(pty, "lanes  block 1");
    pty_type(pty, "f");
    pty_wait_for(pty, "out of bounds");
    pty_type(pty, "f");
    pty_wait_for(pty, "lanes  block 3");
    pty_quit(pty);
}

/* On a GPU (a driver that runs the emulator), the grid is counted without a second capture. */
static void a_gpu_captures_a_large_run_once(void **state) {
    (void)state;
    char captures[64], driver[4096], byte[8];
    const char *program = getenv("REDVIZ_BIN");
    if (!program) program = "build/redviz";
    const char *slash = strrchr(program, '/');
    if (!slash) fail_msg("%s has no folder", program);
    snprintf(captures, sizeof captures, "STUB_CAPTURES=/tmp/redviz_captures_%d", (int)getpid());
    snprintf(driver, sizeof driver, "REDVIZ_CUDA=%.*s/tests/gpu/libcuda_emulated.so", (int)(slash - program),
             program);
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", driver, captures, NULL};
    const char *const arguments[] = {program, "--kernel",  "interleaved", "--n",
                                     "2^19",  "--backend", "gpu",         NULL};
    Pty *pty = pty_start(arguments, environment, 120, 40);
    pty_wait_for(pty, "LIVE");
    pty_wait_for(pty, "result ok");
    assert_true(pty_shows(pty, "LIVE"));
    pty_quit(pty);
    FILE *file = fopen(strchr(captures, '=') + 1, "r");
    assert_non_null(file);
    assert_int_equal(fread(byte, 1, sizeof byte, file), 1);
    fclose(file);
    unlink(strchr(captures, '=') + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_grids_are_counted_behind_a_first_look),
        cmocka_unit_test(later_runs_have_a_first_look),
        cmocka_unit_test(quitting_does_not_wait_for_the_count),
        cmocka_unit_test(a_second_kernel_comes_while_stepping),
        cmocka_unit_test(new_settings_keep_the_place),
        cmocka_unit_test(hazards_are_found_behind),
        cmocka_unit_test(a_hazard_waits_for_its_block),
        cmocka_unit_test(escape_gives_a_run_up),
        cmocka_unit_test(a_block_is_traced_on_demand),
        cmocka_unit_test(a_gpu_captures_a_large_run_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
