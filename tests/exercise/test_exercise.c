/* Exercises are read as written; a translation takes the rest from English.
 * Each error names its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exercise/exercise.h"
#include "exercise/exercise_lecture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_whole_exercise_is_read(void **state) {
    (void)state;
    Error error = {0};
    Exercise *exercise = exercise_read("tests/data/exercises/tiny.en.md", &error);
    if (!exercise) fail_msg("%s:%d: %s", error.file, error.line, error.message);
    assert_string_equal(exercise->name, "tiny");
    assert_string_equal(exercise->title, "One sum for each block");
    assert_string_equal(exercise->task, "Each block stores the sum of its 64 elements.");
    assert_int_equal(exercise->order, 3);
    assert_int_equal(exercise->size_count, 3);
    assert_int_equal(exercise->sizes[2], 200);
    assert_int_equal(exercise->counted_n, 256);
    assert_int_equal(exercise->input_count, 2);
    assert_string_equal(exercise->inputs[1], "digits");
    assert_int_equal(exercise->hint_count, 2);
    assert_string_equal(exercise->hints[1], "`tid` 0.");
    assert_string_equal(exercise->solution_text, "One thread adds everything.");
    assert_int_equal(strncmp(exercise->solution, "__global__", 10), 0);
    assert_int_equal(exercise->goal_count, 2);
    assert_string_equal(exercise->goals[1].words, "shared loads");
    assert_string_equal(exercise->goals[1].expression, "here.shared_loads");
    assert_string_equal(exercise->goals[1].comparison, "<");
    assert_true(exercise->goals[1].limit == 100);
    assert_int_equal(exercise->wrong_count, 2);
    assert_string_equal(exercise->wrongs[0].goal, "right");
    assert_string_equal(exercise->wrongs[0].reason, "past the end");
    assert_string_equal(exercise->wrongs[1].reason, "");
    exercise_free(exercise);
}

static void a_translation_takes_the_rest_from_english(void **state) {
    (void)state;
    Error error = {0};
    Exercise *exercise = exercise_read("tests/data/exercises/tiny.zh.md", &error);
    if (!exercise) fail_msg("%s:%d: %s", error.file, error.line, error.message);
    assert_string_equal(exercise->title, "每个 block 一个和");
    assert_string_equal(exercise->hints[0], "谁来加？");
    assert_string_equal(exercise->solution_text, "由一个线程把所有元素加起来。");
    assert_int_equal(exercise->goal_count, 2);
    assert_int_equal(strncmp(exercise->start, "__global__", 10), 0);
    exercise_free(exercise);
}

static void the_launch_gets_its_input(void **state) {
    (void)state;
    Text launch = {0};
    exercise_print_launch(&(Exercise){.launch = "k<<<1, 2>>>(a=int[n]:INPUT, b=int[n]:INPUT)"}, "random(0,9)",
                          &launch);
    assert_string_equal(text_string(&launch), "k<<<1, 2, 0>>>(a=int[n]:random(0,9), b=int[n]:random(0,9))");
    text_clear(&launch);
    exercise_print_launch(&(Exercise){.launch = "a<<<(n, 1), dim3(2, 2), 64>>>(); b<<<f(1, 2), 3>>>()"}, "",
                          &launch);
    assert_string_equal(text_string(&launch), "a<<<(n, 1), dim3(2, 2), 64>>>(); b<<<f(1, 2), 3, 0>>>()");
    text_done(&launch);
}

static void its_lecture_has_the_same_stops_in_every_state(void **state) {
    (void)state;
    Error error = {0};
    Exercise *exercise = exercise_read("tests/data/exercises/tiny.en.md", &error);
    assert_non_null(exercise);
    Grade grade = {.goal_count = 2, .met_count = 1};
    grade.goals[0] = (GradedGoal){.id = "compiles", .words = "compiles", .state = GOAL_MET};
    grade.goals[1] = (GradedGoal){.id = "right", .words = "right", .state = GOAL_MISSED, .why = "it is `4`"};
    Lecture *before = exercise_lecture(exercise, "tiny.cu", NULL, &error);
    Lecture *after = exercise_lecture(exercise, "tiny.cu", &grade, &error);
    assert_non_null(before);
    assert_non_null(after);
    assert_int_equal(before->stop_count, 5); /* task, goals, two hints, a solution */
    assert_int_equal(after->stop_count, 5);
    assert_string_equal(after->stops[EXERCISE_STOP_TASK].title, "One sum for each block");
    assert_string_equal(after->stops[EXERCISE_STOP_GOALS].title, "1 of 2 goals");
    assert_string_equal(after->stops[EXERCISE_STOP_GOALS].blocks[1].text, "[ ] right: it is `4`");
    lecture_free(before);
    lecture_free(after);
    exercise_free(exercise);
}

#define HEAD                                                                                                 \
    "# T\n```exercise\nlaunch: k<<<1, 1>>>(out=int[1])\nexpect: out=sum(in)\n```\ntask\n" /* lines 1 to 6 */
#define START "```start\na\n```\n"                                                        /* 7 to 9 */
#define REST  START "## Solution\n```cuda\nb\n```\n"                                      /* 10 to 13 */

static void bad_files_name_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        {"", 0, "a title is missing"},
        {"# T\n", 1, "the task is missing"},
        {"# T\ntask\n", 2, "a block ```exercise with launch and expect is missing"},
        {HEAD, 6, "a block ```start is missing"},
        {HEAD START, 9, "\"## Solution\" with a block of code (```cuda, ```ptx) is missing"},
        {HEAD "```start\na\n", 7, "this block is never closed"},
        {"# T\n```exercise\nlaunhc: k\n```\n", 3,
         "order, launch, expect, same, n, inputs, counted, source or twin is expected"},
        {"# T\n```exercise\nlaunch: k\n```\n", 3, "launch: kernel<<<GRID, BLOCK>>>(ARGUMENTS) is expected"},
        {"# T\n```exercise\norder: first\n```\n", 3, "order: its place in the list is expected"},
        {"# T\n```exercise\nn: 1, x\n```\n", 3, "n: up to 16 sizes"},
        {"# T\n```exercise\nn: 0\n```\n", 3, "n: up to 16 sizes"},
        {"# T\n```exercise\ntwin:\n```\n", 3, "twin: the name of an exercise in PTX"},
        {"# T\n```exercise\ncounted: many\n```\n", 3, "counted: the n of the run"},
        {"# T\n```exercise\ninputs:\n```\n", 3, "inputs: fills"},
        {"# T\n```exercise\nexpect:\n```\n", 3, "expect: the output and a function are expected"},
        {HEAD "```goals\nbarriers\n```\n", 8, "a goal is expected"},
        {HEAD "```goals\nbarriers: here.barriers <= few\n```\n", 8,
         "a number is expected behind the comparison"},
        {HEAD "## Tip\n", 7, "\"## Hint\", \"## Solution\" or \"## Wrong: TITLE\" is expected"},
        {HEAD "## Hint\n## Hint\n## Hint\n## Hint\n## Hint\n", 11, "three hints are expected"},
        {HEAD "```wrong right\nc\n```\n", 7, "a wrong solution stands below"},
        {HEAD REST "## Wrong: w\n```wrong\nc\n```\n", 15, "```wrong GOAL: REASON is expected"},
        {HEAD REST "## Wrong: w\n```wrong fast\nc\n```\n", 15, "this is not one of its goals"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/redviz-exercise-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        assert_int_equal(write(file, cases[i].text, strlen(cases[i].text)), (ssize_t)strlen(cases[i].text));
        close(file);
        Error error = {0};
        Exercise *exercise = exercise_read(path, &error);
        unlink(path);
        if (exercise || error.line != cases[i].line || !strstr(error.message, cases[i].says))
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
    }
}

static void bad_translations_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {{"# T\n\ntask\n\n## Hint\n\none\n", "it has 1 hints, and"},
                 {"# T\n\ntask\n\n```start\na\n```\n", "a translation has no such block"},
                 {"# T\n\ntask\n\n## Wrong: w\n", "a translation has no wrong solutions"}};
    char folder[] = "/tmp/redviz-exercises-XXXXXX", path[64], command[160];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "cp tests/data/exercises/tiny.en.md %s", folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/tiny.zh.md", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(path, "w");
        fputs(cases[i].text, file);
        fclose(file);
        Error error = {0};
        assert_null(exercise_read(path, &error));
        if (!strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_exercise_is_read),
        cmocka_unit_test(a_translation_takes_the_rest_from_english),
        cmocka_unit_test(the_launch_gets_its_input),
        cmocka_unit_test(its_lecture_has_the_same_stops_in_every_state),
        cmocka_unit_test(bad_files_name_the_place),
        cmocka_unit_test(bad_translations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
