/* The progress line of long runs. */
#include "session/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Each second of a line: {done, blocks}, and the text at that time. */
static void follow(ProgressState *state, SessionProgress of, double seconds, const char *line) {
    Text out = {0};
    progress_follow(state, &of, seconds);
    progress_print(state, &out);
    assert_string_equal(text_string(&out), line);
    text_done(&out);
}

static void what_is_left_is_said(void **state) {
    (void)state;
    ProgressState line = {0};
    follow(&line, (SessionProgress){0}, 1, "reading and filling: 1 s");
    follow(&line, (SessionProgress){0}, 2, "reading and filling: 2 s");
    follow(&line, (SessionProgress){.blocks = 4096}, 3, "0 of 4,096 blocks");
    follow(&line, (SessionProgress){.done = 1024, .blocks = 4096}, 6,
           "1,024 of 4,096 blocks, about 9 s left");
    follow(&line, (SessionProgress){.done = 4096, .blocks = 4096}, 20,
           "4,096 of 4,096 blocks, examining the result: 20 s");
    line = (ProgressState){0};
    follow(&line, (SessionProgress){.done = 1, .blocks = 1}, 3, "1 of 1 block, examining the result: 3 s");
}

/* Sizes that are tried, and blocks that one thread must run after all, start at 0: that is another run, not a
 * step back. */
static void what_begins_anew_is_another_run(void **state) {
    (void)state;
    ProgressState line = {0};
    follow(&line, (SessionProgress){.done = 3000, .blocks = 4096}, 1, "3,000 of 4,096 blocks");
    follow(&line, (SessionProgress){.done = 100, .blocks = 4096}, 2, "run 2: 100 of 4,096 blocks");
    follow(&line, (SessionProgress){.done = 200, .blocks = 4096}, 3,
           "run 2: 200 of 4,096 blocks, about 19 s left");
    follow(&line, (SessionProgress){.done = 500, .blocks = 1024}, 4, "run 3: 500 of 1,024 blocks");
}

static void what_follows_the_run_is_said(void **state) {
    (void)state;
    ProgressState line = {0};
    follow(&line, (SessionProgress){.done = 64, .blocks = 64}, 1,
           "64 of 64 blocks, examining the result: 1 s");
    SessionProgress of = {.what = "searching other orders of warps and blocks"};
    follow(&line, of, 2, "searching other orders of warps and blocks: 2 s");
    of = (SessionProgress){.done = 3, .blocks = 39, .what = "trying other orders"};
    follow(&line, of, 5, "trying other orders: 3 of 39, 5 s");
    of = (SessionProgress){.what = "the program runs"};
    follow(&line, of, 6, "the program runs: 6 s");
    of.done = 1;
    follow(&line, of, 7, "the program runs: 1 launch, 7 s");
    of.done = 1200;
    follow(&line, of, 8, "the program runs: 1,200 launches, 8 s");
}

/* The tests' stderr is not a terminal. */
static void nothing_is_said_without_a_terminal(void **state) {
    (void)state;
    SessionProgress of = {.blocks = 4};
    if (freopen("/dev/null", "w", stderr)) assert_null(progress_begin(&of));
    progress_end(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_said),
        cmocka_unit_test(what_begins_anew_is_another_run),
        cmocka_unit_test(what_follows_the_run_is_said),
        cmocka_unit_test(nothing_is_said_without_a_terminal),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
