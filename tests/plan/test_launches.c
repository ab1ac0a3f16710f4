/* --launch: launches as text, read and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/launches.h"

#define FOUR    "k<<<1,2>>>();k<<<1,2>>>();k<<<1,2>>>();k<<<1,2>>>();"
#define SIXTEEN FOUR FOUR FOUR FOUR

static TypedLaunch launches[PLAN_LAUNCHES];
static int count;

static bool read(const char *text, Arena *arena, Error *error) {
    return launches_read(text, 1000, launches, &count, arena, error);
}

static void expect_arguments(const char *text, int index, const char *expected) {
    assert_int_equal(launches[index].argument_length, strlen(expected));
    assert_memory_equal(text + launches[index].arguments, expected, strlen(expected));
}

static void several_launches_are_read(void **state) {
    (void)state;
    static const char text[] =
        " k<<<(n + block - 1) / block, 256>>>(in, f(1), {2, 3}) ;\n"
        "  sum<float, (Op)0><<< dim3(2, 3), (16, 8, 2), 4 * block, cluster=2, cooperative >>>(); ";
    Arena arena = {0};
    Error error = {0};
    if (!read(text, &arena, &error)) fail_msg("%s", error.message);
    assert_int_equal(count, 2);
    assert_string_equal(launches[0].entry, "k");
    assert_int_equal(launches[0].at, 1);
    assert_int_equal(launches[0].grid[0], 4);
    assert_int_equal(launches[0].grid[1], 1);
    assert_int_equal(launches[0].block[0], 256);
    assert_false(launches[0].has_shared || launches[0].cluster[0] || launches[0].cooperative);
    expect_arguments(text, 0, "in, f(1), {2, 3}");
    assert_string_equal(launches[1].entry, "sum<float, (Op)0>");
    static const uint32_t grid[] = {2, 3, 1}, block[] = {16, 8, 2}, cluster[] = {2, 1, 1};
    assert_memory_equal(launches[1].grid, grid, sizeof grid);
    assert_memory_equal(launches[1].block, block, sizeof block);
    assert_memory_equal(launches[1].cluster, cluster, sizeof cluster);
    assert_true(launches[1].has_shared && launches[1].cooperative);
    assert_int_equal(launches[1].shared_bytes, 1024);
    expect_arguments(text, 1, "");
    arena_done(&arena);
}

static void what_is_printed_is_read_again(void **state) {
    (void)state;
    PlanLaunch launch = {.grid = {4, 1, 1},
                         .block = {16, 8, 1},
                         .cluster = {2, 1, 1},
                         .dynamic_shared_bytes = 512,
                         .cooperative = true};
    Text text = {0};
    launches_print("k<int>", &launch, "in=int[n], 3", &text);
    text_add(&text, "; ");
    launch = (PlanLaunch){.grid = {1, 1, 1}, .block = {32, 1, 1}};
    launches_print("k<int>", &launch, "in, 3", &text);
    assert_string_equal(
        text_string(&text),
        "k<int><<<4, (16, 8), 512, cluster=2, cooperative>>>(in=int[n], 3); k<int><<<1, 32>>>(in, 3)");
    Arena arena = {0};
    Error error = {0};
    assert_true(read(text_string(&text), &arena, &error));
    assert_int_equal(count, 2);
    assert_int_equal(launches[0].block[1], 8);
    assert_int_equal(launches[0].shared_bytes, 512);
    assert_int_equal(launches[0].cluster[0], 2);
    assert_true(launches[0].cooperative);
    assert_false(launches[1].cooperative);
    arena_done(&arena);
    text_done(&text);
}

static void bad_launches_say_what_is_wrong_and_where(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
        int column;
    } cases[] = {
        {"", "a launch is KERNEL<<<GRID, BLOCK>>>(ARGUMENTS)", 1},
        {"k", "a launch is KERNEL<<<", 1},
        {"<<<1, 1>>>()", "a launch is KERNEL<<<", 1},
        {"k< <<<1, 32>>>()", "a launch is KERNEL<<<", 1},
        {"k<<<1, 32", "'>>>' is missing", 2},
        {"k<<<1>>>()", "write <<<GRID, BLOCK>>>", 5},
        {"k<<<1, >>>()", "something is missing at the end", 7},
        {"k<<<1, 1025>>>()", "the block '1025' is not a whole number from 1 to 1024", 8},
        {"k<<<1, (64, 32)>>>()", "a block of 2048 threads", 8},
        {"k<<<0, 32>>>()", "the grid '0' is not a whole number from 1", 5},
        {"k<<<1.5, 32>>>()", "the grid '1.5' is not a whole number", 5},
        {"k<<<(1, 70000), 32>>>()", "from 1 to 65535", 9},
        {"k<<<(1, 2, 3, 4), 32>>>()", "the grid has at most three dimensions", 15},
        {"k<<<m, 32>>>()", "'m' is not known", 5},
        {"k<<<1, block>>>()", "'block' is not known", 8},
        {"k<<<1, 32, 300000>>>()", "at most 232448 bytes", 12},
        {"k<<<1, 32, 0, 0>>>()", "'0' is not one of SHARED, cluster=SIZE, cooperative", 15},
        {"k<<<1, 32, cluster=17>>>()", "the cluster '17' is not a whole number from 1 to 16", 20},
        {"k<<<1, 32, cluster=(8, 8)>>>()", "a cluster has at most 16 blocks", 5},
        {"k<<<1, 32>>>", "the arguments are missing", 13},
        {"k<<<1, 32>>>(1", "')' is missing", 13},
        {"k<<<1, 32>>>() j<<<1, 32>>>()", "';' is missing", 16},
        {"k<<<1, 32>>>();;", "a launch is KERNEL<<<", 16},
        {"k<<<1, 32>>>(); j", "a launch is KERNEL<<<", 17},
        {"a; k<<<1, 32>>>()", "a launch is KERNEL<<<", 1},
        {SIXTEEN SIXTEEN "k<<<1,2>>>()", "more than 32 launches", 417},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = {0};
        Error error = {0};
        if (read(cases[i].text, &arena, &error)) fail_msg("%s is accepted", cases[i].text);
        if (!strstr(error.message, cases[i].problem) || error.column != cases[i].column)
            fail_msg("%s: column %d: %s", cases[i].text, error.column, error.message);
        assert_int_equal(strncmp(error.message, "--launch: ", 10), 0);
        arena_done(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_launches_are_read),
        cmocka_unit_test(what_is_printed_is_read_again),
        cmocka_unit_test(bad_launches_say_what_is_wrong_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
