/* Programs that end in every way: nothing hangs, and neither a process nor a temporary file stays behind.
 *
 * programs/ends.c uses the driver and PTX; it is compiled by the C compiler alone. */
#define _XOPEN_SOURCE 700
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool has_program;

static const char *redviz(void) {
    const char *name = getenv("REDVIZ_BIN");
    return name ? name : "build/redviz";
}

static int set_up(void **state) {
    static const char *const ways[] = {
        "sum",    "same",        "many",  "fork_before",   "fork_after", "threads", "exit_in_callback",
        "killed", "leave_child", "abort", "leave_at_once", "attack"};
    static char commands[16][160];
    if (program_make_folder(state)) return -1;
    has_program = program_runs_build_ends();
    if (!has_program) return 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(commands[i], sizeof *commands,
                 "timeout 60 @ --report=json --max-instructions 10000 -- %s/ends %s", program_folder(),
                 ways[i]);
        program_runs_add(ways[i], commands[i]);
    }
    program_runs_add("large", "timeout 60 @ --report=json --at 1 -- $TMPDIR/ends large");
    program_runs_add("memories", "timeout 40 @ --report=json -- $TMPDIR/ends memories");
    program_runs_do();
    return 0;
}

static void need_program(void) {
    if (!has_program) skip_because("nvcc was not found, which builds its program");
}

static void expect(const char *name, int status, const char *output, const char *lines) {
    need_program();
    program_runs_expect(name, status, output, lines);
}

static void four_launches(void **state) {
    (void)state;
    expect("sum", 0, "PASSED: 10\n",
           "exited 0: 4 launches, 4 distinct\n1 add 1x32 line 69: values 32\n2 add 1x32 line 69: values 32\n"
           "3 add 1x32 line 69: values 32\n4 add 1x32 line 69: values 32\n");
}

static void launches_that_repeat_the_first(void **state) {
    (void)state;
    expect("same", 0, "PASSED: 7\n",
           "exited 0: 100 launches, 1 distinct\n1 add 1x32 line 69: values 32\n2-100 as 1\n");
}

static void expect_begin(const char *name, const char *output, const char *words) {
    need_program();
    char *json = program_runs_json(name, 0), *said = program_json_text(json, "program.output"),
         *lines = program_runs_lines(json);
    assert_string_equal(said, output);
    if (strncmp(lines, words, strlen(words)) != 0) fail_msg("%.300s", lines);
    free(json);
    free(said);
    free(lines);
}

static int count(const char *text, const char *word) {
    int found = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) found++;
    return found;
}

static void ten_thousand_launches(void **state) {
    (void)state;
    need_program();
    char *json = program_runs_json("many", 0), *said = program_json_text(json, "program.output");
    assert_string_equal(said, "PASSED: 10000\n");
    assert_int_equal(count(json, "\"kernel\":\"add\",\"grid\":"), 10000);
    assert_int_equal(count(json, "\"repeats\":null"), 10000);
    free(json);
    free(said);
}

static void two_gibibytes(void **state) {
    (void)state;
    expect_begin("large", "PASSED: 42\n", "exited 0: 2 launches, 2 distinct\n");
}

/* Naming them took a minute once. */
static void many_memories(void **state) {
    (void)state;
    expect("memories", 0, "PASSED: 5\n",
           "exited 0: 1 launch, 1 distinct\n1 add 1x32 line 69: address120000 32\n");
}

static void four_threads_that_launch(void **state) {
    (void)state;
    expect_begin("threads", "PASSED: 50\nPASSED: 50\nPASSED: 50\nPASSED: 50\n",
                 "exited 0: 200 launches, 200 distinct\n");
}

/* Parent and child have a device each. */
static void a_fork_before_the_first_call(void **state) {
    (void)state;
    need_program();
    char *json = program_runs_json("fork_before", 0), *said = program_json_text(json, "program.output"),
         *lines = program_runs_lines(json);
    program_assert_contains(said, "PASSED: 1\n");
    program_assert_contains(said, "PASSED: 2\n");
    program_assert_contains(said, "child: 0\n");
    program_assert_contains(lines, "exited 0: 2 launches, 2 distinct\n");
    free(json);
    free(said);
    free(lines);
}

/* 3: CUDA_ERROR_NOT_INITIALIZED. */
static void a_fork_after_the_first_call(void **state) {
    (void)state;
    expect("fork_after", 0, "child: 3\nPASSED: 3\n",
           "exited 0: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n");
}

static void exit_within_a_callback(void **state) {
    (void)state;
    expect("exit_in_callback", 1, "leaving\n",
           "exited 6: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n"
           "error -:-1: the program exited 6, though no CUDA call failed\n");
}

static void ends_by_itself(void **state) {
    (void)state;
    expect("abort", 1, "",
           "signal 6: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n"
           "error -:-1: the program was ended by signal 6 (Aborted), though no CUDA call failed\n");
    expect("leave_at_once", 1, "",
           "exited 9: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n"
           "error -:-1: the program exited 9, though no CUDA call failed\n");
}

/* The launch that was executed then is listed. */
static void killed_within_a_launch(void **state) {
    (void)state;
    need_program();
    char *json = program_runs_json("killed", 1), *lines = program_runs_lines(json);
    program_assert_contains(lines, "signal 9: 1 launch, 1 distinct\n1 spin 1x1 line 74: values 1 [702]\n");
    free(json);
    free(lines);
}

static bool is_running(const char *word) {
    Outcome outcome = program_shell("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '");
    bool found = strstr(outcome.out, word) != NULL;
    program_outcome_done(&outcome);
    return found;
}

static void pause_milliseconds(int milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static void expect_gone(const char *word) {
    for (int tries = 0; is_running(word); tries++) {
        if (tries == 200) fail_msg("'%s' is still there", word);
        pause_milliseconds(10);
    }
}

static void it_cannot_stop_what_runs_it(void **state) {
    (void)state;
    expect("attack", 0, "PASSED: 1\n", "exited 0: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n");
}

static void a_child_that_it_leaves(void **state) {
    (void)state;
    expect("leave_child", 0, "PASSED: 1\n",
           "exited 0: 1 launch, 1 distinct\n1 add 1x32 line 69: values 32\n");
    expect_gone("ends leave_child");
}

/* Starts redviz in a process group of its own; its output goes to a file. */
static pid_t start(const char *const arguments[]) {
    char path[256];
    snprintf(path, sizeof path, "%s/started", program_folder());
    pid_t child = fork();
    if (child) return child;
    int nowhere = open("/dev/null", O_RDWR), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(nowhere, 0), dup2(file, 1), dup2(file, 2);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static void wait_for_words(const char *words) {
    for (int tries = 0;; tries++) {
        Outcome outcome = program_shell("cat %s/started", program_folder());
        bool found = strstr(outcome.out, words) != NULL;
        if (!found && tries == 3000) fail_msg("%s", outcome.out);
        program_outcome_done(&outcome);
        if (found) return;
        pause_milliseconds(10);
    }
}

/* Sends the signal to redviz (or, as Ctrl-C does, to its group) when the program has printed `words`; returns
 * how redviz ended. */
static int end_by(const char *const arguments[], const char *words, int number, bool to_group) {
    int status = 0;
    pid_t child = start(arguments);
    wait_for_words(words);
    kill(to_group ? -child : child, number);
    for (int tries = 0; waitpid(child, &status, WNOHANG) != child; tries++) {
        if (tries == 2000) {
            kill(-child, SIGKILL);
            fail_msg("signal %d: it goes on", number);
        }
        pause_milliseconds(10);
    }
    return status;
}

static void signals_end_redviz_and_program(void **state) {
    (void)state;
    static const int numbers[] = {SIGKILL, SIGTERM, SIGHUP, SIGQUIT};
    char program[256], word[64];
    need_program();
    snprintf(program, sizeof program, "%s/ends", program_folder());
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(word, sizeof word, "unique-%ld-%zu", (long)getpid(), i);
        const char *const arguments[] = {redviz(), "--report", "--", program, i % 2 ? "spin" : "wait",
                                         word,     NULL};
        int status = end_by(arguments, i % 2 ? "spinning" : "PASSED", numbers[i], false);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != numbers[i])
            fail_msg("signal %d: status %#x", numbers[i], (unsigned)status);
        expect_gone(word);
    }
}

/* The report has what ran until then. */
static void control_c(void **state) {
    (void)state;
    char program[256], word[64];
    need_program();
    snprintf(program, sizeof program, "%s/ends", program_folder());
    for (int i = 0; i < 4; i++) {
        snprintf(word, sizeof word, "unique-c-%ld-%d", (long)getpid(), i);
        const char *const arguments[] = {redviz(), "--report", "--max-instructions",    "10000",
                                         "--",     program,    i % 2 ? "spin" : "wait", word,
                                         NULL};
        end_by(arguments, i % 2 ? "spinning" : "PASSED", SIGINT, i / 2);
        wait_for_words("program was stopped by Ctrl-C after ");
        wait_for_words(": 1 launch, 1 distinct");
        expect_gone(word);
    }
}

/* The folder with the program is removed. */
static void signals_while_a_file_runs(void **state) {
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    char word[64];
    skip_without_nvcc("this way of building");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(word, sizeof word, "unique-f-%ld-%zu", (long)getpid(), i);
        const char *const arguments[] = {
            redviz(), "--run", "tests/runtime/programs/endless_host.cu", "--report", "--", word, NULL};
        end_by(arguments, "waiting", numbers[i], false);
        expect_gone(word);
        Outcome outcome = program_shell("ls -d %s/redviz-*", program_folder());
        assert_string_equal(outcome.out, "");
        program_outcome_done(&outcome);
    }
}

/* Where a program asks for it, though it launches nothing. */
static void what_is_missing_is_named(void **state) {
    (void)state;
    need_program();
    Outcome outcome = program_shell("@ --report -- %s/ends link", program_folder());
    assert_int_equal(outcome.status, 3);
    program_assert_contains(outcome.out, ": cuLinkAddData of machine code is not emulated: it returned ");
    program_assert_contains(outcome.out, "note: ends.c line ");
    program_outcome_done(&outcome);
}

static void nothing_is_left(void **state) {
    (void)state;
    Outcome outcome = program_shell("ls -d %s/redviz-*; ls %s/core*", program_folder(), program_folder());
    assert_string_equal(outcome.out, "");
    program_outcome_done(&outcome);
    char word[64];
    snprintf(word, sizeof word, "%s/ends ", program_folder());
    expect_gone(word);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_launches),
        cmocka_unit_test(launches_that_repeat_the_first),
        cmocka_unit_test(ten_thousand_launches),
        cmocka_unit_test(two_gibibytes),
        cmocka_unit_test(many_memories),
        cmocka_unit_test(four_threads_that_launch),
        cmocka_unit_test(a_fork_before_the_first_call),
        cmocka_unit_test(a_fork_after_the_first_call),
        cmocka_unit_test(exit_within_a_callback),
        cmocka_unit_test(ends_by_itself),
        cmocka_unit_test(killed_within_a_launch),
        cmocka_unit_test(it_cannot_stop_what_runs_it),
        cmocka_unit_test(a_child_that_it_leaves),
        cmocka_unit_test(signals_end_redviz_and_program),
        cmocka_unit_test(control_c),
        cmocka_unit_test(signals_while_a_file_runs),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
