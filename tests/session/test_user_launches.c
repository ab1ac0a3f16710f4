/* --launch: several launches of a file as one run (tests/kernels/stages.ptx). Structures are among their
 * arguments. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "session/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[512];

static RunSpec options_of(const char *launches) {
    const char *root = getenv("REDVIZ_SHARE");
    snprintf(path, sizeof path, "%s/tests/kernels/stages.ptx", root ? root : ".");
    return (RunSpec){.file = path, .launches = launches, .catalog = {.n = 1000, .seed = 5}, .threads = 1};
}

static Session *open(const char *launches) {
    RunSpec options = options_of(launches);
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", launches, error.message);
    return session;
}

static void expect_right(const char *launches, const char *looks_like) {
    Session *session = open(launches);
    const char *is = session->guess.verdict.looks_like;
    if (!is || strcmp(is, looks_like) != 0) fail_msg("%s: looks like %s", launches, is ? is : "nothing");
    session_free(session);
}

static const char two_stages[] =
    "stage_sum<<<16, 256>>>(in, partial, n); stage_sum<<<1, 256>>>(partial, out, 16)";

/* An undefined name is a buffer with a guessed size; a defined one is the same buffer. */
static void launches_share_buffers_by_name(void **state) {
    (void)state;
    expect_right(two_stages, "sum(in)");
    Session *session = open(two_stages);
    assert_int_equal(session_trace(session)->launch_count, 2);
    assert_int_equal(session_block_count(session), 2);
    static const char complete[] = "stage_sum<<<16, 256>>>(in=float[n]:random, partial=float[n], n); "
                                   "stage_sum<<<1, 256>>>(partial, out=float[n], 16)";
    assert_string_equal(session_arguments(session), complete);
    char guess[256];
    snprintf(guess, sizeof guess, "--launch '%s'", complete);
    assert_string_equal(session->guess.account.guessed, guess);
    session_free(session);
    session = open(complete); /* the text shown gives the same run, and nothing is guessed */
    assert_string_equal(session_arguments(session), complete);
    assert_null(session->guess.account.guessed);
    assert_string_equal(session->guess.verdict.looks_like, "sum(in)");
    session_free(session);
}

static Session *open_expecting(const char *launches, const char *expect) {
    RunSpec options = options_of(launches);
    Error error = {0};
    options.expect = expect;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    assert_non_null(session_result(session));
    return session;
}

/* The partial results are right, but they are not the run's result. */
static void the_last_launch_has_the_result(void **state) {
    (void)state;
    static const char *const last[] = {"stage_sum<<<1, 256>>>(partial, out, 3)",
                                       "stage_lost<<<1, 32>>>(partial, out, 4)"};
    for (int i = 0; i < 2; i++) {
        char launches[256];
        snprintf(launches, sizeof launches, "stage_sum<<<16, 256>>>(in, partial, n); %s", last[i]);
        Session *session = open_expecting(launches, "sum(in)");
        assert_false(session_result(session)->correct);
        assert_string_equal(session->guess.verdict.looks_like, "sum(in)");
        session_free(session);
    }
}

static void structures_are_what_libraries_pass(void **state) {
    (void)state;
    expect_right("view_sum<<<4, 256>>>({n, (long)n, 1l}, {in=float[n]:iota, null, {n,0,0,0}, {4,0,0,0}, "
                 "{(ushort)1, (ushort)0}},"
                 " {out=float[1], null, {1,0,0,0}, {4,0,0,0}, (ushort)1})",
                 "sum(in)");
}

static void a_structure_may_hold_structures(void **state) {
    (void)state;
    Session *session = open_expecting(
        "row_fold<Largest><<<4, 32>>>({in=int[64*100]:random, 6400l, {64l, 100l}, {400l, 4l}}, "
        "out=int[64], {64, 4, 16}, {})",
        "rowmax(in, 100)");
    assert_true(session_result(session)->correct);
    assert_int_equal(session_result(session)->compared, 64);
    assert_string_equal(session->guess.verdict.looks_like, "rowmax(in, 100)");
    session_free(session);
}

static void what_is_wrong_is_shown_in_the_text(void **state) {
    (void)state;
    static const struct {
        const char *launches, *problem;
        int column;
    } cases[] = {
        {"stage_sum<<<1, 32>>>(in, out)", "--launch: the kernel takes 3 arguments, not 2", 22},
        {"stage_sum<<<1, 32>>>(in, out, n); stage_su<<<1, 32>>>(in, out, n)",
         "--launch: there is no entry 'stage_su'", 35},
        {"stage_sum<<<1, 32>>>(in, out, m)", "'m' is not known", 31},
        {"view_sum<<<1, 32>>>({1, 2l, 3l}, in, out)", "'in' is not known", 34},
        {"stage_sum<<<2147483647, 1024>>>(in, out, n)", "would take very long", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RunSpec options = options_of(cases[i].launches);
        Error error = {0};
        if (session_open(&options, &error)) fail_msg("%s is accepted", cases[i].launches);
        if (!strstr(error.message, cases[i].problem) || (cases[i].column && error.column != cases[i].column))
            fail_msg("%s: column %d: %s", cases[i].launches, error.column, error.message);
    }
}

static void a_saved_run_keeps_its_launches(void **state) {
    (void)state;
    char saved[] = "/tmp/redviz-launches-XXXXXX";
    int file = mkstemp(saved);
    assert_true(file >= 0);
    close(file);
    Session *session = open(two_stages);
    Error error = {0};
    if (!ask_save(session, saved, &error)) fail_msg("%s", error.message);
    session_free(session);
    RunSpec options = {.saved = saved};
    session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    assert_string_equal(session_spec(session)->launches, two_stages);
    assert_null(session_spec(session)->args);
    assert_string_equal(session->guess.verdict.looks_like, "sum(in)");
    session_free(session);
    remove(saved);
}

/* ---- --keep-going ---- */

static Session *keep_going(const char *launches) {
    RunSpec options = options_of(launches);
    options.keep_going = options.search_races = true;
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static void expect_values(Session *session, const char *buffer, const char *values) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *to = open_memstream(&text, &length);
    assert_true(session_dump(session, buffer, to, &error));
    fclose(to);
    assert_string_equal(text, values);
    free(text);
}

static void accesses_out_of_bounds_are_dropped_and_counted(void **state) {
    (void)state;
    static const char launch[] = "past_the_end<<<1, 32>>>(in=int[12]:iota, out=int[12], 12)";
    Session *session = open(launch);
    assert_int_equal(session_trace(session)->traps[0].kind, TRAP_OUT_OF_BOUNDS);
    session_free(session);
    session = keep_going(launch);
    expect_values(session, "out", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    const Trace *trace = session_trace(session);
    assert_int_equal(trace->trap_count, 2);
    assert_int_equal(trace->traps[0].kind, TRAP_READ_OUTSIDE);
    assert_int_equal(trace->traps[0].lanes, 0x3ff000);
    assert_non_null(strstr(trace->traps[0].detail, "just past the end of `in` (48 bytes)"));
    assert_non_null(strstr(trace->traps[0].detail, "10 such accesses of a lane gave 0"));
    assert_int_equal(trace->traps[1].kind, TRAP_WRITE_OUTSIDE);
    assert_non_null(strstr(trace->traps[1].detail, "10 such accesses of a lane were dropped"));
    assert_int_equal(ask_hazards(session)->error_count, 2);
    assert_true(ask_failed(session));
    uint64_t bits[32];
    uint32_t weight[32];
    int32_t producer[32];
    assert_false(session_register(session, 0, 0, 0, "%r1", bits, weight, producer)); /* not in any event */
    session_free(session);
}

/* Also for shared memory and atomics; the launch after it runs. */
static void every_space_goes_on(void **state) {
    (void)state;
    Session *session = keep_going("past_shared<<<1, 32>>>(in=int[32]:ones, out=int[32], found=int[32]:7); "
                                  "past_the_end<<<1, 32>>>(out, last=int[32], 22)");
    Text found = {0}, last = {0};
    for (int i = 0; i < 32; i++) {
        int sum = i < 24; /* read from shared memory; the others were never written */
        text_print(&last, "%d\n", sum + (i >= 8 ? 100 : 0) + 1);
        text_print(&found, "%d\n", i + 8 < 24 ? 1 : 0);
    }
    expect_values(session, "found", text_string(&found));
    expect_values(session, "last", text_string(&last));
    assert_int_equal(session_trace(session)->launch_count, 2);
    assert_int_equal(session_trace(session)->trap_count, 3);
    text_done(&found);
    text_done(&last);
    session_free(session);
}

/* A misaligned access has no defined result: it ends the run. */
static void what_has_no_meaning_ends_the_run(void **state) {
    (void)state;
    Session *session =
        keep_going("view_sum<<<1, 32>>>({8, 8l, 1l}, {in=float[8], null, {8,0,0,0}, {2,0,0,0}, (ushort)1}, "
                   "{out=float[1], null, {1,0,0,0}, {4,0,0,0}, (ushort)1})");
    assert_int_equal(session_trace(session)->traps[0].kind, TRAP_MISALIGNED);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_share_buffers_by_name),
        cmocka_unit_test(the_last_launch_has_the_result),
        cmocka_unit_test(structures_are_what_libraries_pass),
        cmocka_unit_test(a_structure_may_hold_structures),
        cmocka_unit_test(what_is_wrong_is_shown_in_the_text),
        cmocka_unit_test(a_saved_run_keeps_its_launches),
        cmocka_unit_test(accesses_out_of_bounds_are_dropped_and_counted),
        cmocka_unit_test(every_space_goes_on),
        cmocka_unit_test(what_has_no_meaning_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
