/* An exercise in the interface: each save is graded, and the goals are shown. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "exercise/exercise.h"
#include "pty.h"
#include "tests/cli/program.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TINY "tests/data/exercises/tiny.en.md"

static void save(const char *text) {
    char path[64], other[64];
    snprintf(path, sizeof path, "%s/tiny.cu", program_folder());
    snprintf(other, sizeof other, "%s/tiny.new", program_folder());
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(other, path), 0);
}

static Pty *start(void) {
    static char command[3 * PATH_MAX], program[PATH_MAX], root[PATH_MAX], data[96];
    const char *bin = getenv("REDVIZ_BIN");
    assert_non_null(realpath(bin ? bin : "build/redviz", program));
    assert_non_null(getcwd(root, sizeof root));
    snprintf(command, sizeof command, "cd %s && exec %s --exercise %s/" TINY, program_folder(), program,
             root);
    snprintf(data, sizeof data, "XDG_DATA_HOME=%s", program_folder());
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
                                       "PATH=/usr/bin:/bin:/usr/local/cuda/bin", data, NULL};
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};
    return pty_start(arguments, environment, 120, 40);
}

/* False: there is no compiler here. */
static bool opens(Pty *pty) {
    for (int i = 0; i < 600 && !pty_shows(pty, "stop 1 of 5"); i++) {
        if (pty_shows(pty, "no CUDA compiler")) return false;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        pty_pump(pty);
    }
    return true;
}

static void each_save_is_graded(void **state) {
    (void)state;
    Error error = {0};
    Exercise *exercise = exercise_read(TINY, &error);
    assert_non_null(exercise);
    Pty *pty = start();
    bool has_compiler = opens(pty);
    if (has_compiler) {
        pty_wait_for(pty, "Each block stores the sum of its 64 elements.");
        pty_type(pty, "\033[6~"); /* PgDn */
        pty_wait_for(pty, "2 of 5 goals");
        pty_wait_for(pty, "[ ] right for n = 1, 33, 200");
        pty_type(pty, "\033[5~");
        pty_wait_for(pty, "stop 1 of 5");
        save(exercise->wrongs[1].code); /* right, with too many barriers: the goals are shown by themselves */
        pty_wait_for(pty, "4 of 5 goals");
        pty_wait_for(pty, "[ ] barriers <= 8: it is 512");
        save("this is no kernel\n");
        pty_wait_for(pty, "0 of 5 goals");
        pty_wait_for(pty, "[ ] compiles: line 1: ");
        save(exercise->solution);
        pty_wait_for(pty, "5 of 5 goals");
        pty_wait_for(pty, "Solved: ");
        char path[96], *solved;
        size_t length;
        snprintf(path, sizeof path, "%s/redviz/solved", program_folder());
        assert_true(text_read_file(path, 4096, &solved, &length, &error));
        assert_string_equal(solved, "tiny\n");
        free(solved);
        pty_type(pty, "\033[6~");
        pty_wait_for(pty, "Hint 1 of 2, ");
        pty_wait_for(pty, "Who adds?");
        pty_quit(pty);
    } else {
        pty_free(pty);
    }
    exercise_free(exercise);
    if (!has_compiler) skip_because("no CUDA compiler was found");
}

/* It ends at once while the file is being graded, and gives the terminal back. */
static void quitting_stops_the_grade(void **state) {
    (void)state;
    save("__global__ void total(const int *in, int *out, int n) {\n"
         "    for (int i = 0; i < 100000; i++) out[blockIdx.x] = in[0] + i;\n}\n");
    Pty *pty = start();
    if (!opens(pty)) {
        pty_free(pty);
        skip_because("no CUDA compiler was found");
    }
    pty_quit(pty);
}

static int set_up(void **state) {
    return program_make_folder(state) ? -1 : setenv("XDG_CACHE_HOME", program_folder(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_save_is_graded),
                                       cmocka_unit_test(quitting_stops_the_grade)};
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
