/* A program's launches in a session file: the file says and runs what the program's own capture does. */
#define _GNU_SOURCE
#include "tests/session/captured_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/launch_list.h"
#include "ask/ask.h"
#include "tui/app.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/redviz-program-XXXXXX";
static Program *program;

/* Says where they differ: a report is longer than what cmocka prints. */
static void expect_same(const char *got, const char *expected) {
    size_t i = 0;
    while (got[i] && got[i] == expected[i]) i++;
    if (got[i] != expected[i])
        fail_msg("at %zu: \"%.200s\"\ninstead of: \"%.200s\"", i, got + i, expected + i);
}

static Session *open_launch(const Program *of, int launch) {
    Error error = {0};
    Session *session = session_open(&(RunSpec){.program = of, .launch = launch, .threads = 1}, &error);
    if (!session) fail_msg("launch %d: %s", launch, error.message);
    return session;
}

static Session *open_saved(void) {
    Error error = {0};
    Session *session = session_open(&(RunSpec){.saved = path}, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static int save(void **state) {
    (void)state;
    Error error = {0};
    int file = mkstemp(path);
    if (file < 0 || !(program = captured_program_new())) return -1;
    close(file);
    Session *session = open_launch(program, 3);
    bool saved = ask_save(session, path, &error);
    session_free(session);
    return saved ? 0 : -1;
}

static int clean(void **state) {
    (void)state;
    program_free(program);
    return remove(path);
}

static char *list_of(const Program *of) {
    Text out = {0};
    Json json = {.out = &out};
    launch_list_print(of, 0, &(LaunchShown){.launch = -1}, &out);
    json_open_object(&json, NULL);
    launch_list_put_json(of, &json);
    json_close_object(&json);
    return out.data;
}

/* Names of files lose the folders of this machine. */
static char *without_folders(char *text) {
    static const char folder[] = "/nowhere/of/mine/";
    Text out = {0};
    const char *at = text;
    for (const char *found; (found = strstr(at, folder)); at = found + strlen(folder))
        text_add_bytes(&out, at, (size_t)(found - at));
    text_add(&out, at);
    free(text);
    return out.data;
}

static void its_list_is_the_same(void **state) {
    (void)state;
    Session *session = open_saved();
    const Program *saved = session_spec(session)->program;
    assert_non_null(saved);
    assert_int_equal(session_spec(session)->launch, 3);
    char *expected = without_folders(list_of(program)), *got = list_of(saved);
    expect_same(got, expected);
    assert_non_null(strstr(got, "cudaMemcpy failed"));
    assert_non_null(strstr(got, "refused"));
    assert_string_equal(text_string(&saved->output), "PASSED: 1\n");
    assert_non_null(
        strstr(got, "was stopped after 2 s (--time-limit; a smaller argument '--n=4096' would help)"));
    free(expected);
    free(got);
    session_free(session);
}

static char *report_of(const Program *of, int launch) {
    Text out = {0};
    Session *session = open_launch(of, launch);
    ask_report(session, true, &out);
    session_free(session);
    return without_folders(out.data);
}

static void each_launch_runs_as_before(void **state) {
    (void)state;
    Session *session = open_saved();
    const Program *saved = session_spec(session)->program;
    for (int i = 0; i < 4; i++) {
        char *expected = report_of(program, i), *got = report_of(saved, i);
        expect_same(got, expected);
        free(expected);
        free(got);
    }
    Error error = {0};
    assert_null(session_open(&(RunSpec){.program = saved, .launch = 4}, &error));
    assert_non_null(strstr(error.message, "launch 5 of total was refused: "));
    session_free(session);
}

/* The program's own run and the run of the launch alone name one first problem, with one count. */
static void its_first_problem_is_that_of_the_launch(void **state) {
    (void)state;
    static const LaunchShown none = {.launch = -1};
    for (int i = 0; i < 4; i++) {
        Session *session = open_launch(program, i);
        const LaunchShown shown = {i, ask_verdict(session)};
        uint64_t expected_count, count;
        const char *expected = launch_finding(program->capture, i, &shown, &expected_count);
        if (captured_original(program->capture, i) == &program->capture->launches[i]) {
            assert_string_equal(launch_finding(program->capture, i, &none, &count), expected);
            assert_int_equal(count, expected_count);
        }
        if (i == 3) assert_string_equal(expected, "atomics on one word");
        session_free(session);
    }
}

/* The caller takes the program, and it outlives the session that it came with. */
static void it_can_be_taken(void **state) {
    (void)state;
    Session *session = open_saved();
    Program *saved = session_take_program(session);
    assert_non_null(saved);
    assert_null(session_take_program(session));
    session_free(session);
    char *report = report_of(saved, 0);
    assert_non_null(strstr(report, "\"program\""));
    free(report);
    program_free(saved);
}

static void it_can_be_saved_again(void **state) {
    (void)state;
    char again[] = "/tmp/redviz-again-XXXXXX";
    Error error = {0};
    int file = mkstemp(again);
    assert_true(file >= 0);
    close(file);
    Session *first = open_saved();
    assert_true(ask_save(first, again, &error));
    Session *second = session_open(&(RunSpec){.saved = again}, &error);
    if (!second) fail_msg("%s", error.message);
    char *expected = report_of(session_spec(first)->program, 3),
         *got = report_of(session_spec(second)->program, 3);
    expect_same(got, expected);
    free(expected);
    free(got);
    session_free(first);
    session_free(second);
    remove(again);
}

/* & opens the previous launch; J shows the output; after that the program is the interface's. */
static void the_interface_goes_through_it(void **state) {
    (void)state;
    Text out = {0};
    Error error = {0};
    Session *session = open_saved();
    AppStart start = {.keys = "&"};
    if (!app_frame(session, 120, 40, &start, &out, &error)) fail_msg("%s", error.message);
    if (!strstr(text_string(&out), "launch 2 of 5")) fail_msg("%s", text_string(&out));
    out.length = 0;
    start.keys = "J";
    if (!app_frame(session, 120, 40, &start, &out, &error)) fail_msg("%s", error.message);
    assert_non_null(strstr(text_string(&out), "PASSED: 1"));
    text_done(&out);
    session_free(session);
}

static void no_folder_of_this_machine_is_in_it(void **state) {
    (void)state;
    char *bytes;
    size_t length;
    Error error = {0};
    assert_true(text_read_file(path, 1 << 24, &bytes, &length, &error));
    assert_null(memmem(bytes, length, "/nowhere/of/mine", 16));
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_list_is_the_same),
        cmocka_unit_test(each_launch_runs_as_before),
        cmocka_unit_test(its_first_problem_is_that_of_the_launch),
        cmocka_unit_test(it_can_be_taken),
        cmocka_unit_test(it_can_be_saved_again),
        cmocka_unit_test(the_interface_goes_through_it),
        cmocka_unit_test(no_folder_of_this_machine_is_in_it),
    };
    return cmocka_run_group_tests(tests, save, clean);
}
