/* Host functions of a file without main(), called by --call for several sizes. */
#define _POSIX_C_SOURCE 200809L
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/host_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(list, options) "@ %/solve.cu --call '" list "' " options " --report"

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("TMPDIR", program_folder(), 1);
    program_runs_add(
        "right", CALL("solve(in=float[n]:random, out=float[1], n)", "--n 1,31,1000,4097 --expect 'sum(in)'"));
    program_runs_add("wrong", CALL("solve_wrongly(in=float[n]:random, out=float[1], n)",
                                   "--n 32,33,31 --expect 'sum(in)'"));
    program_runs_add("proposed", CALL("solve", "--n 10"));
    program_runs_add("sizes", CALL("spread(v=int[n]:random(0,9), pairs=int[n*2], n)", "--n 5"));
    program_runs_add(
        "host", CALL("on_host(host v=float[n]:ones, host out=float[1], n)", "--n 100 --expect 'sum(v)'"));
    program_runs_add("poison", CALL("forget(v=float[n]:ones, out=float[3], n)", "--n 100"));
    program_runs_add("leaves", CALL("leave(v=float[n]:ones, out=float[1], n)", "--n 1000"));
    program_runs_add("nowhere", CALL("nothing(v=float[n], n)", ""));
    program_runs_add("too_few", CALL("solve(in=float[n]:random, out=float[1])", ""));
    program_runs_add("json", CALL("solve(in=float[n]:random, out=float[1], n)", "--n 100 --json"));
    program_runs_add("own_main",
                     "@ %/own_main.cu --call 'solve(in=int32[n]:iota, out=unsigned long long[1], n)' --n 100 "
                     "--expect 'out=sum(in)' --report");
    program_runs_add("own_main_fails",
                     "@ %/own_main.cu --call 'solve_wrongly(in=i32[n]:iota, out=size_t[1], rows=96)' --n 100 "
                     "--expect 'out=sum(in)' --report");
    program_runs_add("main", "@ %/own_main.cu --call 'main(1)' --report");
    program_runs_do();
    return 0;
}

static void expect_words(const char *name, int status, const char *const *words) {
    Outcome outcome = program_runs_outcome(name);
    if (outcome.status != status)
        fail_msg("%s: status %d: %s%s", name, outcome.status, outcome.out, outcome.err);
    for (; *words; words++)
        if (!strstr(outcome.out, *words) && !strstr(outcome.err, *words))
            fail_msg("'%s' is not in: %s%s", *words, outcome.out, outcome.err);
    program_outcome_done(&outcome);
}
#define EXPECT_WORDS(name, status, ...) expect_words(name, status, (const char *const[]){__VA_ARGS__, NULL})

static void right_for_every_size(void **state) {
    (void)state;
    EXPECT_WORDS("right", 0, "n = 1: result ", "n = 31: result ", "n = 1000: result ", "n = 4097: result ",
                 ": ok, sum(in)\n", "program exited 0: 1 launch, 1 distinct");
    Outcome outcome = program_runs_outcome("right");
    assert_null(strstr(outcome.out, "WRONG"));
    program_outcome_done(&outcome);
}

/* The exit status says so, too. */
static void wrong_for_some_sizes(void **state) {
    (void)state;
    EXPECT_WORDS("wrong", 1, "n = 32: result ", ": ok, off by ", "n = 31: result 0, expected ",
                 ": WRONG, sum(in)\n");
}

static void a_list_from_the_signature(void **state) {
    (void)state;
    EXPECT_WORDS("proposed", 0,
                 "guessed from its signature: --call 'solve(input=float[n]:random, output=float[n], n)'\n",
                 "n = 10: output = ", " (not checked; --expect)\n");
}

static void sizes_and_fills_are_expressions(void **state) {
    (void)state;
    EXPECT_WORDS("sizes", 0, "n = 5: pairs = ", "double_each     1    128       0  pairs 10");
    Outcome outcome = program_runs_outcome("sizes");
    int pair[4], count = sscanf(strstr(outcome.out, "pairs = "), "pairs = %d %d %d %d", &pair[0], &pair[1],
                                &pair[2], &pair[3]);
    assert_int_equal(count, 4);
    assert_true(pair[0] == pair[1] && pair[2] == pair[3] && pair[0] >= 0 && pair[0] <= 9);
    program_outcome_done(&outcome);
}

static void pointers_to_host_memory(void **state) {
    (void)state;
    EXPECT_WORDS("host", 0, "n = 100: result 100, expected 100: ok, sum(v)\n", "d_result 1");
}

/* The file has a main() and macros of its own. */
static void a_file_that_is_a_program(void **state) {
    (void)state;
    EXPECT_WORDS("own_main", 0, "n = 100: result 4950, expected 4950: ok");
    EXPECT_WORDS("own_main_fails", 1, "n = 100: result 4560, expected 4950: WRONG");
    EXPECT_WORDS("main", 2, "--call main: redviz --run FILE.cu runs the main() of a file");
}

/* An output that the function does not write is full of 0xA5. */
static void outputs_that_are_not_written(void **state) {
    (void)state;
    EXPECT_WORDS("poison", 1, "n = 100: out is not written (not checked; --expect)\n");
}

static void a_function_that_exits(void **state) {
    (void)state;
    EXPECT_WORDS("leaves", 1, "n = 1000: the program exited 3\n",
                 "redviz: the program exited 3 and launched no kernel\n");
}

static void what_the_compiler_refuses(void **state) {
    (void)state;
    EXPECT_WORDS("nowhere", 2,
                 "--call nothing: the file defines no such function; its host functions are solve, ");
    EXPECT_WORDS("too_few", 2, "solve(redviz_pointer{"); /* the words are the compiler's */
}

static void only_json(void **state) {
    (void)state;
    char *json = program_runs_json("json", 0);
    program_assert_contains(json, "\"kernel\":\"add_all\"");
    free(json);
}

/* Before anything is compiled. */
static void lists_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *list, *options, *words;
    } refused[] = {
        {"nothing", "",
         "redviz: --call nothing: the file defines no such function; its host functions are solve, "},
        {"unknown", "", "redviz: --call unknown: what 'pairs' should be is not known; give the list"},
        {"solve(in=float[n]:random, out=float[1], n", "", "redviz: --call: ')' is missing in 'solve("},
        {"(n)", "", "redviz: --call: '(n)' is not NAME(ITEMS)"},
        {"solve(in=flaot[n], out=float[1], n)", "",
         "redviz: --call: 'flaot' is not a type; types are char, "},
        {"solve(in=float[n]:random, out=float[m], n)", "",
         "redviz: --call: 'm' is not known: use numbers, n"},
        {"solve(in=float[n]:nothing, out=float[1], n)", "", "nothing"},
        {"solve(in=float[n, n)", "", "redviz: --call: "},
        {"solve(n)", "--n 1,x", "redviz: --n: '1,x' is not a list of numbers, 1,31,1000"},
        {"solve(n)", "--n 0", "--n"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Outcome outcome = program_shell("@ tests/runtime/programs/solve.cu --call '%s' %s --report",
                                        refused[i].list, refused[i].options);
        if (outcome.status != 2)
            fail_msg("%s: status %d: %s%s", refused[i].list, outcome.status, outcome.out, outcome.err);
        program_assert_contains(outcome.err, refused[i].words);
        program_outcome_done(&outcome);
    }
}

static void expect_proposal(const char *source, const char *items) {
    Call call;
    Error error = {0};
    bool good = call_read("solve", source, &call, &error);
    if (items) {
        if (!good) fail_msg("%s: %s", source, error.message);
        assert_string_equal(call.items, items);
        assert_true(call.is_proposed);
    } else {
        assert_false(good);
        assert_int_not_equal(error.message[0], 0);
    }
    call_done(&call);
}

static void proposals(void **state) {
    (void)state;
    expect_proposal("void solve(const float* in, float* out, int n) {}",
                    "in=float[n]:random, out=float[n], n");
    expect_proposal("extern \"C\" void solve(const unsigned char *a, double *b, int rows, size_t n)\n{\n}",
                    "a=uchar[n]:random, b=double[n], 1, n");
    expect_proposal("void solve(int *, int);\nvoid resolve(int *x) {}\nvoid solve(int *p, int count) {}",
                    "p=int[n], n");
    expect_proposal("void solve(float scale, const uint64_t *v, int n) {}", "1, v=ulong[n]:random, n");
    expect_proposal("void solve(const __half *in, __half *out, int n) {}",
                    "in=half[n]:random, out=half[n], n");
    expect_proposal("void solve() {}", "");
    expect_proposal("void solve(Pair *p, int n) {}", NULL);
    expect_proposal("void solve(int *p, int n);", NULL);
    expect_proposal("void solve(int *p", NULL);
    expect_proposal("solve(", NULL);
    expect_proposal("", NULL);
}

static void host_marks(void **state) {
    (void)state;
    Call call;
    Error error = {0};
    assert_true(
        call_read(" solve ( host a=float[n] ,b=int[max(1,n)]:random(0,9), n ) ", NULL, &call, &error));
    assert_string_equal(call.function, " solve");
    assert_int_equal(call.argument_count, 3);
    assert_true(call.is_host[0]);
    assert_false(call.is_host[1]);
    assert_false(call.is_proposed);
    call_done(&call);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_for_every_size),
        cmocka_unit_test(wrong_for_some_sizes),
        cmocka_unit_test(a_list_from_the_signature),
        cmocka_unit_test(sizes_and_fills_are_expressions),
        cmocka_unit_test(pointers_to_host_memory),
        cmocka_unit_test(a_file_that_is_a_program),
        cmocka_unit_test(outputs_that_are_not_written),
        cmocka_unit_test(a_function_that_exits),
        cmocka_unit_test(what_the_compiler_refuses),
        cmocka_unit_test(only_json),
        cmocka_unit_test(lists_that_are_refused),
        cmocka_unit_test(proposals),
        cmocka_unit_test(host_marks),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
