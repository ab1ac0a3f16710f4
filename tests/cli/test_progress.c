/* What is said while a run takes long. */
#include "cli/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(uint64_t done, uint64_t blocks, double seconds, const char *line) {
    Text out = {0};
    progress_print(done, blocks, seconds, &out);
    assert_string_equal(text_string(&out), line);
    text_done(&out);
}

static void what_is_left_is_said(void **state) {
    (void)state;
    expect(0, 0, 2, "compiling, reading, filling: 2 s");
    expect(0, 4096, 1, "0 of 4,096 blocks");
    expect(1024, 4096, 4, "1,024 of 4,096 blocks, about 12 s left");
    expect(1, 1, 3, "1 of 1 block, looking at the result: 3 s");
}

/* The tests' stderr is no terminal. */
static void nothing_is_said_without_a_terminal(void **state) {
    (void)state;
    SessionProgress of = {.blocks = 4};
    if (freopen("/dev/null", "w", stderr)) assert_null(progress_begin(&of));
    progress_end(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_said),
        cmocka_unit_test(nothing_is_said_without_a_terminal),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
