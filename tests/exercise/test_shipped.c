/* Every exercise that ships: its solution reaches all goals, its start compiles and misses one, each wrong
 * solution fails for the reason that it names, and its translation and its twin in PTX are there. With
 * REDVIZ_TEST_QUICK only the solutions of every sixth are tried. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "exercise/grade.h"
#include "tests/cli/program.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_short(void) {
    return getenv("REDVIZ_TEST_QUICK") != NULL;
}

static void its_solutions_behave(void **state) {
    const char *path = *state;
    Error error = {0};
    GradeLimits limits = {0};
    Grade graded;
    Text out = {0};
    Exercise *exercise = exercise_read(path, &error);
    if (!exercise) fail_msg("%s:%d: %s", error.file, error.line, error.message);
    assert_true(exercise->goal_count > 0 && exercise->hint_count == EXERCISE_HINTS &&
                exercise->wrong_count >= 3);
    char file[32];
    snprintf(file, sizeof file, "solution.%s", exercise_suffix(exercise));
    assert_true(grade_file(exercise, file, exercise->solution, &limits, &graded, &error));
    const char *why = graded.goals[0].why;
    bool is_missing = why && strstr(why, "compiler"), passed = grade_passed(&graded);
    for (int i = 0; i < graded.goal_count; i++)
        if (graded.goals[i].why) text_print(&out, "%s: %s\n", graded.goals[i].words, graded.goals[i].why);
    grade_done(&graded);
    if (!is_missing && !passed) fail_msg("%s: %s", path, text_string(&out));
    if (!is_missing && !is_short() && !grade_check_exercise(exercise, &limits, &out))
        fail_msg("%s: %s", path, text_string(&out));
    text_done(&out);
    exercise_free(exercise);
    if (is_missing) skip_because("no CUDA compiler was found");
}

static void its_translation_is_whole(void **state) {
    char path[256];
    const char *english = *state;
    Error error = {0};
    snprintf(path, sizeof path, "%.*s.zh.md", (int)(strlen(english) - strlen(".en.md")), english);
    Exercise *exercise = exercise_read(path, &error);
    if (!exercise) fail_msg("%s:%d: %s", error.file, error.line, error.message);
    exercise_free(exercise);
}

/* Who has no compiler solves the twin in PTX. */
static void its_twin_is_in_ptx(void **state) {
    char path[256];
    Error error = {0};
    Exercise *exercise = exercise_read(*state, &error);
    if (!exercise) fail_msg("%s:%d: %s", error.file, error.line, error.message);
    if (!exercise->is_ptx && exercise->order <= 8) assert_non_null(exercise->twin);
    if (exercise->twin) {
        snprintf(path, sizeof path, "assets/exercises/%s.en.md", exercise->twin);
        Exercise *twin = exercise_read(path, &error);
        if (!twin) fail_msg("%s:%d: %s", error.file, error.line, error.message);
        assert_true(twin->is_ptx && !exercise->is_ptx);
        exercise_free(twin);
    }
    exercise_free(exercise);
}

static int set_up(void **state) {
    return program_make_folder(state) ? -1 : setenv("XDG_CACHE_HOME", program_folder(), 1);
}

int main(void) {
    glob_t files;
    if (glob("assets/exercises/*.en.md", 0, NULL, &files) != 0) return 1;
    struct CMUnitTest *tests = memory_new(3 * files.gl_pathc * sizeof *tests);
    size_t count = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *path = files.gl_pathv[i], *name = strrchr(path, '/') + 1;
        if (!is_short() || i % 6 == 0)
            tests[count++] =
                (struct CMUnitTest){.name = name, .test_func = its_solutions_behave, .initial_state = path};
        tests[count++] =
            (struct CMUnitTest){.name = name, .test_func = its_translation_is_whole, .initial_state = path};
        tests[count++] =
            (struct CMUnitTest){.name = name, .test_func = its_twin_is_in_ptx, .initial_state = path};
    }
    int failed = _cmocka_run_group_tests("exercises", tests, count, set_up, program_remove_folder);
    free(tests);
    globfree(&files);
    return failed;
}
