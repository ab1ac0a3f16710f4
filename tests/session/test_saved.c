/* Session files in use: a saved run gives the answers of the run itself, on a machine with only the program
 * and the file; and after saving, either the old or the new file is complete, in every case. */
#define _DEFAULT_SOURCE
#include "tests/cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the same answers ---------------------------------------------------------------------------------- */

static const char *const QUESTIONS[] = {"--report=json",
                                        "--events",
                                        "--frame=160x50 --keys ']]rz'",
                                        "--report",
                                        "--frame",
                                        "--frame=140x45 --keys 'GRttt'",
                                        "--frame=100x36 --keys 'nVVvs' --theme light --svg"};
enum { PRINTED = 2, FEW = 3, ALL = sizeof QUESTIONS / sizeof *QUESTIONS };

/* A frame of the kernel itself would sum digits if no fill is given; the saved run does not. */
#define SAVED_INPUT " --fill random"

/* A copy of the program that finds neither kernels nor PTX, but finds the shipped timings. */
static void make_elsewhere(void) {
    const char *program = getenv("REDVIZ_BIN");
    Outcome made = program_shell(
        "mkdir -p %s/elsewhere/assets && ln -sfn \"$PWD/assets/h200\" %s/elsewhere/assets/h200 && "
        "cp %s %s/elsewhere/redviz",
        program_folder(), program_folder(), program ? program : "build/redviz", program_folder());
    assert_int_equal(made.status, 0);
    program_outcome_done(&made);
}

static void check_same(const char *run, const char *question) {
    const char *folder = program_folder();
    Outcome direct = program_shell("@ %s %s", run, question);
    Outcome saved =
        program_shell("cd %s/elsewhere && REDVIZ_SHARE=. ./redviz ../run.redviz %s", folder, question);
    if (direct.status != saved.status || strcmp(direct.out, saved.out) != 0 ||
        strcmp(direct.err, saved.err) != 0)
        fail_msg("%s %s: the saved session says something else (status %d and %d)\n%s%s", run, question,
                 direct.status, saved.status, direct.err, saved.err);
    assert_true(strlen(direct.out) > 0);
    program_outcome_done(&direct);
    program_outcome_done(&saved);
}

/* Saving prints nothing and changes nothing, and an opened file can be saved again, with equal bytes. */
static void check_saved(const char *run, int questions, const char *buffers) {
    const char *folder = program_folder();
    Outcome bare = program_shell("@ %s --report=json", run);
    Outcome saving = program_shell("@ %s --report=json --save %s/run.redviz", run, folder);
    assert_int_equal(bare.status, saving.status);
    assert_string_equal(bare.out, saving.out);
    assert_string_equal(saving.err, "");
    program_outcome_done(&bare);
    program_outcome_done(&saving);
    for (int i = 0; i < questions; i++) check_same(run, QUESTIONS[i]);
    for (const char *name = buffers; *name; name += strcspn(name, " "), name += *name == ' ') {
        char question[80];
        snprintf(question, sizeof question, "--dump %.*s", (int)strcspn(name, " "), name);
        check_same(run, question);
    }
    Outcome again = program_shell("@ %s/run.redviz --events --save %s/again.redviz >%s/none; "
                                  "cmp %s/run.redviz %s/again.redviz",
                                  folder, folder, folder, folder, folder);
    assert_string_equal(again.out, "");
    assert_int_equal(again.status, 0);
    program_outcome_done(&again);
}

static void every_kernel_of_the_catalogue(void **state) {
    (void)state;
    make_elsewhere();
    assert_true(catalog_count() > 40);
    for (int i = 0; i < catalog_count(); i += getenv("REDVIZ_TEST_QUICK") ? 16 : 1) { /* slow runs: some */
        char run[128];
        snprintf(run, sizeof run, "--kernel %s --n 1000" SAVED_INPUT, catalog_row(i)->id);
        check_saved(run, FEW, "");
    }
}

static void settings_of_every_sort(void **state) {
    (void)state;
    static const char *const runs[][2] = {
        {"--kernel strided" SAVED_INPUT, "in out"},
        {"--kernel shuffle --n 5000 --dtype float --op max --fill iota --trace-blocks 2-4", "in out"},
        {"--kernel two_stage --n 2^16 --block 128 --seed 7 --schedule 3" SAVED_INPUT, "in"},
        {"--kernel cooperative --n 2^16 --dtype double" SAVED_INPUT, "in"},
        {"--kernel lab_bank_stride --param stride=33" SAVED_INPUT, ""},
        {"--kernel interleaved --n 2000 --fill file:build/redviz", "in"},
        {"--kernel bug_unguarded_load --n 1000" SAVED_INPUT, ""},
        {"tests/cli/scale.ptx --n 2^8 --args 'in=int[n]:iota, out=int[n]:zero, n' --trace-blocks 0",
         "in out"},
        {"tests/cli/kinds.ptx --block 6 --args 'in=int[6]:iota, out=int[1]:zero'", "in out"},
        {"tests/cli/shuffles.ptx --block 32 --grid 2 --args 'out=int[64]'", "out"},
        {"tests/cli/spin.ptx --n 32 --max-instructions 100000", ""},
    };
    make_elsewhere();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i += getenv("REDVIZ_TEST_QUICK") ? 4 : 1)
        check_saved(runs[i][0], ALL, runs[i][1]);
    check_saved("--kernel strided --n 5000", PRINTED, "in out");
    check_saved("--kernel half_naive --n 5000", PRINTED, "in out");
}

/* A saved session beside a kernel, another session, and itself with another setting. */
static void comparing(void **state) {
    (void)state;
    const char *folder = program_folder();
    char *made = program_output(0,
                                "@ --kernel strided --n 4096 --save %s/strided.redviz --report >%s/none && "
                                "@ --kernel interleaved --n 4096 --save %s/interleaved.redviz --report",
                                folder, folder, folder);
    char *direct = program_output(
        0, "@ --kernel strided --n 4096" SAVED_INPUT " --compare interleaved --frame=180x50 --keys ']]'; "
           "@ --kernel strided --n 4096" SAVED_INPUT " --compare block=128 --frame=180x50 --keys ']]'");
    char *kernel = program_output(0,
                                  "@ %s/strided.redviz --compare interleaved --frame=180x50 --keys ']]'; "
                                  "@ %s/strided.redviz --compare block=128 --frame=180x50 --keys ']]'",
                                  folder, folder);
    assert_string_equal(direct, kernel);
    char *first = program_output(0, "@ --kernel strided --n 4096" SAVED_INPUT
                                    " --compare interleaved --frame=180x50 --keys ']]'");
    char *both = program_output(
        0, "@ %s/strided.redviz --compare %s/interleaved.redviz --frame=180x50 --keys ']]'", folder, folder);
    assert_string_equal(first, both);
    char *beside = program_output(0,
                                  "@ --kernel strided --n 4096" SAVED_INPUT
                                  " --compare %s/interleaved.redviz --frame=180x50 --keys ']]'",
                                  folder);
    assert_string_equal(first, beside);
    free(made), free(direct), free(kernel), free(first), free(both), free(beside);
}

/* Settings of a saved run can be changed if the kernel is redviz's own; a session file cannot name other
 * files to open. */
static void other_runs_from_a_session(void **state) {
    (void)state;
    const char *folder = program_folder();
    free(program_output(0,
                        "@ --kernel strided --n 4096 --save %s/own.redviz --report >%s/none && "
                        "@ tests/cli/scale.ptx --n 64 --save %s/theirs.redviz --report",
                        folder, folder, folder));
    char *changed = program_output(0, "@ %s/own.redviz --frame --keys 'p<Right><Up><Enter>'", folder);
    program_assert_contains(changed, "<<<");
    free(changed);
    Outcome refused = program_shell("@ %s/theirs.redviz --frame --compare n=128", folder);
    assert_int_equal(refused.status, 2);
    assert_int_equal(program_line_count(refused.err), 1);
    program_assert_contains(refused.err, "a saved session holds this one run");
    program_outcome_done(&refused);
}

/* ---- complete or unchanged ----------------------------------------------------------------------------- */

static void sleep_microseconds(long microseconds) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static pid_t start_saving(const char *kernel, const char *file) {
    const char *program = getenv("REDVIZ_BIN");
    if (!program) program = "build/redviz";
    pid_t child = fork();
    if (child) return child;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(126);
    execl(program, program, "--kernel", kernel, "--n", "65536", "--trace-blocks", "0-255", "--report",
          "--save", file, (char *)NULL);
    _exit(127);
}

static long elapsed_microseconds(const struct timespec *since) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000000 + (now.tv_nsec - since->tv_nsec) / 1000;
}

/* Two kernels are saved in turn to one file; each is killed at another moment. The file is always one of the
 * two, complete; and the next successful save removes what a killed one left beside it. */
static void killed_at_any_moment(void **state) {
    (void)state;
    static const char *const kernels[] = {"strided", "interleaved"};
    char file[128];
    int status, survivors = 0, kills = getenv("REDVIZ_TEST_QUICK") ? 15 : 40;
    struct timespec begin;
    snprintf(file, sizeof file, "%s/killed.redviz", program_folder());
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = start_saving(kernels[0], file);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    long whole = elapsed_microseconds(&begin);
    for (int i = 0; i < kills; i++) {
        child = start_saving(kernels[i % 2], file);
        sleep_microseconds(whole * (i + 1) / kills);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        survivors += WIFEXITED(status);
        char *report = program_output(0, "@ %s --report=json", file);
        if (!strstr(report, "\"kernel\":\"strided\"") && !strstr(report, "\"kernel\":\"interleaved\""))
            fail_msg("killed after %ld us: %.200s", whole * (i + 1) / kills, report);
        free(report);
    }
    assert_true(survivors < kills);
    free(program_output(0, "@ --kernel strided --n 256 --report --save %s", file));
    char *left = program_output(0, "ls %s | grep -c killed.redviz", program_folder());
    assert_string_equal(left, "1\n");
    free(left);
}

/* The old file is unchanged, and one line says why. */
static void check_refused(const char *command, const char *says) {
    const char *folder = program_folder();
    free(program_output(
        0, "@ --kernel strided --n 256 --report --save %s/old.redviz && cp %s/old.redviz %s/kept", folder,
        folder, folder));
    Outcome outcome = program_shell("%s", command);
    if (outcome.status != 2 || program_line_count(outcome.err) != 1 || !strstr(outcome.err, says))
        fail_msg("%s: status %d, '%s'", command, outcome.status, outcome.err);
    program_outcome_done(&outcome);
    free(program_output(0, "cmp %s/old.redviz %s/kept", folder, folder));
    char *left = program_output(0, "ls -a %s | grep -c saving- || :", folder);
    assert_string_equal(left, "0\n");
    free(left);
}

/* For a program, a limit on the size of files is like a full disk, except for the message. */
static void where_it_does_not_fit(void **state) {
    (void)state;
    char command[512];
    snprintf(
        command, sizeof command,
        "trap '' XFSZ; ulimit -f 40; @ --kernel interleaved --n 65536 --trace-blocks 0-9 --report --save "
        "%s/old.redviz >%s/none",
        program_folder(), program_folder());
    check_refused(command, "old.redviz: cannot save: ");
}

static void where_it_must_not_go(void **state) {
    (void)state;
    const char *folder = program_folder();
    char command[512];
    snprintf(command, sizeof command,
             "@ --kernel strided --n 256 --report --save %s/none.redviz/x.redviz >%s/none", folder, folder);
    check_refused(command, "cannot save here: No such file");
    snprintf(
        command, sizeof command,
        "mkdir -p %s/folder.redviz; @ --kernel strided --n 256 --report --save %s/folder.redviz >%s/none",
        folder, folder, folder);
    check_refused(command, "not a regular file");
    if (geteuid() == 0) return; /* a user who may write everywhere is never refused */
    snprintf(command, sizeof command,
             "chmod 555 %s; @ --kernel strided --n 256 --report --save %s/old.redviz >/dev/null; s=$?; chmod "
             "755 %s; "
             "exit $s",
             folder, folder, folder);
    check_refused(command, "cannot save here: Permission denied");
}

/* Saving through a link replaces the file that it names, which keeps its permissions. */
static void links_and_modes(void **state) {
    (void)state;
    const char *folder = program_folder();
    char *said = program_output(0,
                                "@ --kernel strided --n 256 --report --save %s/real.redviz >%s/none && "
                                "chmod 640 %s/real.redviz && ln -sf real.redviz %s/link.redviz && "
                                "@ --kernel interleaved --n 256 --report --save %s/link.redviz >%s/none && "
                                "test -L %s/link.redviz && ls -l %s/real.redviz | cut -c1-10 && "
                                "@ %s/real.redviz --report | head -n 1 | cut -c1-11",
                                folder, folder, folder, folder, folder, folder, folder, folder, folder);
    assert_string_equal(said, "-rw-r-----\ninterleaved\n");
    free(said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_of_the_catalogue),
        cmocka_unit_test(settings_of_every_sort),
        cmocka_unit_test(comparing),
        cmocka_unit_test(other_runs_from_a_session),
        cmocka_unit_test(killed_at_any_moment),
        cmocka_unit_test(where_it_does_not_fit),
        cmocka_unit_test(where_it_must_not_go),
        cmocka_unit_test(links_and_modes),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
