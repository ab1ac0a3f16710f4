/* A signal during a compilation or --save leaves neither files nor processes; the program ends by that
 * signal. */
#define _XOPEN_SOURCE 700
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void path_of(const char *name, char path[512]) {
    snprintf(path, 512, "%s/%s", program_folder(), name);
}

static void pause_milliseconds(int milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* A compiler that starts another process, records both, makes a temporary file as nvcc does, and never
 * ends. */
static int set_up(void **state) {
    char path[512];
    if (program_make_folder(state)) return -1;
    path_of("temporary", path);
    mkdir(path, 0700);
    setenv("TMPDIR", path, 1);
    path_of("home", path);
    mkdir(path, 0700);
    setenv("CUDA_HOME", path, 1);
    setenv("XDG_CACHE_HOME", path, 1);
    path_of("home/bin", path);
    mkdir(path, 0700);
    path_of("started", path);
    setenv("STARTED", path, 1);
    program_write_file("home/bin/nvcc",
                       "#!/bin/sh\nmktemp >/dev/null\nsleep 100 &\necho $$ $! >$STARTED.new\n"
                       "mv $STARTED.new $STARTED\nwait\n");
    path_of("home/bin/nvcc", path);
    chmod(path, 0700);
    program_write_file("k.cu", "__global__ void k(int *p) { *p = 1; }\n");
    return 0;
}

static pid_t start(const char *const arguments[]) {
    pid_t child = fork();
    if (child) return child;
    int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) dup2(nowhere, i);
    signal(SIGINT, SIG_DFL);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static const char *program(void) {
    const char *name = getenv("REDVIZ_BIN");
    return name ? name : "build/redviz";
}

static int count_files(const char *folder) {
    char *text = program_output(0, "ls -A %s/%s | wc -l", program_folder(), folder);
    int count = atoi(text);
    free(text);
    return count;
}

static bool is_gone(pid_t process) {
    for (int tries = 0; tries < 200; tries++, pause_milliseconds(10))
        if (kill(process, 0) && errno == ESRCH) return true;
    return false;
}

static void end_compiling(int number) {
    char file[512], started[512];
    path_of("k.cu", file);
    path_of("started", started);
    unlink(started);
    const char *const arguments[] = {program(), file, "--compiler", "nvcc", "--report", NULL};
    pid_t child = start(arguments);
    for (int tries = 0; access(started, F_OK); tries++) {
        if (tries == 3000) fail_msg("the compiler was not started");
        pause_milliseconds(10);
    }
    int compilers[2], status;
    FILE *pids = fopen(started, "r");
    assert_non_null(pids);
    assert_int_equal(fscanf(pids, "%d %d", &compilers[0], &compilers[1]), 2);
    fclose(pids);
    kill(child, number);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != number)
        fail_msg("signal %d: it ended with status %#x", number, (unsigned)status);
    for (int i = 0; i < 2; i++)
        if (!is_gone(compilers[i])) fail_msg("signal %d: process %d is still there", number, compilers[i]);
    if (count_files("temporary")) fail_msg("signal %d: there are temporary files", number);
}

static void while_it_compiles(void **state) {
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) end_compiling(numbers[i]);
}

static bool catches_interrupts(pid_t process) {
    char *text = program_output(0, "sed -n 's/^SigCgt:[[:space:]]*//p' /proc/%d/status", (int)process);
    bool catches = strtoull(text, NULL, 16) >> (SIGINT - 1) & 1;
    free(text);
    return catches;
}

/* Ctrl-C while blocks run: the report has the results so far, and the program ends by the signal, as a shell
 * expects. */
static void while_it_runs(void **state) {
    (void)state;
    char file[512];
    path_of("report", file);
    char command[640];
    snprintf(command, sizeof command,
             "exec %s tests/cli/spin.ptx --grid 3 --block 32 --max-instructions 2^60 --report=json >%s",
             program(), file);
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};
    pid_t child = start(arguments);
    int seen = 0; /* in succession: before the run, signals are held back for a moment */
    for (int tries = 0; seen < 5; tries++) {
        if (tries == 3000) fail_msg("it does not run");
        seen = catches_interrupts(child) ? seen + 1 : 0;
        pause_milliseconds(10);
    }
    int status;
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGINT)
        fail_msg("it ended with status %#x", (unsigned)status);
    char *report = program_output(0, "cat %s", file);
    program_assert_contains(report, "\"interrupted\":{\"blocks_done\":0,\"blocks\":3}");
    program_assert_contains(report, "\"result\":null");
    free(report);
}

/* A session of some megabytes; the signal is sent as soon as its temporary file exists. */
static void while_it_saves(void **state) {
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char file[512], path[512];
    path_of("saved", path);
    mkdir(path, 0700);
    path_of("saved/run.redviz", file);
    const char *const arguments[] = {
        program(),  "--kernel", "interleaved", "--n",      "2^16", "--trace-blocks", "0-255", "--backend",
        "emulator", "--save",   file,          "--report", NULL};
    for (int i = 0; i < 12; i++) {
        int number = numbers[i % 4], status;
        unlink(file);
        pid_t child = start(arguments);
        for (int tries = 0; !count_files("saved"); tries++)
            if (tries == 3000) fail_msg("nothing is saved");
        pause_milliseconds(i * 3);
        kill(child, number);
        assert_int_equal(waitpid(child, &status, 0), child);
        bool is_saved = access(file, F_OK) == 0;
        if (count_files("saved") != is_saved)
            fail_msg("signal %d: a temporary file is left, status %#x", number, (unsigned)status);
        if (!is_saved && (!WIFSIGNALED(status) || WTERMSIG(status) != number))
            fail_msg("signal %d: it ended with status %#x", number, (unsigned)status);
    }
}

static void a_signal_that_is_ignored_ends_nothing(void **state) {
    (void)state;
    Outcome run = program_shell("trap '' HUP; @ --kernel interleaved --n 2^12 --backend emulator --save "
                                "%s/saved/hup.redviz --report & "
                                "kill -HUP $!; wait $!",
                                program_folder());
    assert_int_equal(run.status, 0);
    program_assert_contains(run.out, "result");
    program_outcome_done(&run);
}

/* The file would be created where a foreign link points, or the link would be lost. */
static void a_link_to_nowhere(void **state) {
    (void)state;
    char link[512], nowhere[512];
    path_of("link.redviz", link);
    path_of("nowhere.redviz", nowhere);
    assert_int_equal(symlink(nowhere, link), 0);
    Outcome run = program_shell("@ --kernel interleaved --n 64 --save %s --report", link);
    assert_int_equal(run.status, 2);
    program_assert_contains(run.err, "it is a link to /tmp/");
    program_outcome_done(&run);
    assert_int_not_equal(access(nowhere, F_OK), 0);
    assert_int_equal(unlink(link), 0);
    program_write_file("there.redviz", "");
    path_of("there.redviz", nowhere);
    assert_int_equal(symlink(nowhere, link), 0); /* a link to an existing file is followed */
    free(program_output(0, "@ --kernel interleaved --n 64 --save %s --report && test -L %s && test -s %s",
                        link, link, nowhere));
}

static void a_file_that_may_not_grow(void **state) {
    (void)state;
    char path[512];
    path_of("small", path);
    mkdir(path, 0700);
    Outcome run = program_shell("ulimit -f 100; @ --kernel interleaved --n 2^16 --trace-blocks 0-63 "
                                "--backend emulator --save %s/small/run.redviz --report",
                                program_folder());
    assert_int_equal(run.status, 2);
    program_assert_contains(run.err, "cannot save: ");
    program_outcome_done(&run);
    assert_int_equal(count_files("small"), 0);
}

/* $TMPDIR of another machine, or a folder without write permission. */
static void a_temporary_folder_that_is_not_there(void **state) {
    (void)state;
    program_write_file(
        "home/bin/nvcc",
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
        "printf '.version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k(.param .u64 p)\\n"
        "{\\nret;\\n}\\n' >$out\n");
    free(program_output(0, "TMPDIR=/no/such/folder @ %s/k.cu --compiler nvcc --report", program_folder()));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_it_compiles),
        cmocka_unit_test(while_it_runs),
        cmocka_unit_test(while_it_saves),
        cmocka_unit_test(a_signal_that_is_ignored_ends_nothing),
        cmocka_unit_test(a_link_to_nowhere),
        cmocka_unit_test(a_file_that_may_not_grow),
        cmocka_unit_test(a_temporary_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
