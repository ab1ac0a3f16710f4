/* Submissions of each exercise that ships, with their verdicts.
 *
 * Right in an unusual way, wrong in a plausible way, and cheating: submissions.def. The solution, the start
 * and the wrong solutions of an exercise's file are in test_shipped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/memory.h"
#include "exercise/grade.h"
#include "tests/cli/program.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK_SLICE = 12 };

typedef struct Submission {
    const char *exercise;
    const char
        *verdict; /* the first goal that is missed: "compiles", "right", "safe", "counts"; or "all" are met */
    const char *from, *to; /* the solution with each `from` as `to`; NULL: `to` is all of it */
} Submission;

static const Submission submissions[] = {
#define SUBMISSION(exercise, verdict, from, to) {exercise, verdict, from, to},
#include "submissions.def"
#undef SUBMISSION
};
enum { SUBMISSIONS = sizeof submissions / sizeof *submissions };

static const char *verdict_of(const Grade *grade) {
    for (int i = 0; i < grade->goal_count; i++)
        if (grade->goals[i].state != GOAL_MET) return i < 3 ? grade->goals[i].id : "counts";
    return "all";
}

/* False: there is no such place. */
static bool edit(const char *solution, const Submission *submission, Text *out) {
    const char *at = solution;
    if (!submission->from) {
        text_add(out, submission->to);
        return true;
    }
    for (const char *next; (next = strstr(at, submission->from)); at = next + strlen(submission->from)) {
        text_add_bytes(out, at, (size_t)(next - at));
        text_add(out, submission->to);
    }
    text_add(out, at);
    return at != solution;
}

static void it_has_its_verdict(void **state) {
    const Submission *submission = *state;
    char path[256], file[32];
    Text text = {0};
    Grade graded;
    Error error = {0};
    snprintf(path, sizeof path, "assets/exercises/%s.en.md", submission->exercise);
    Exercise *exercise = exercise_read(path, &error);
    if (!exercise) fail_msg("%s: %s", path, error.message);
    if (!edit(exercise->solution, submission, &text)) fail_msg("%s has no '%s'", path, submission->from);
    snprintf(file, sizeof file, "mine.%s", exercise_suffix(exercise));
    const GradeLimits limits = {.seed = 5, .refuses_start = true};
    assert_true(grade_file(exercise, file, text_string(&text), &limits, &graded, &error));
    bool is_missing = graded.goals[0].why && strstr(graded.goals[0].why, "CUDA compiler");
    const char *verdict = verdict_of(&graded);
    bool good = !strcmp(verdict, submission->verdict);
    for (int i = 0; i < graded.goal_count && !good && !is_missing; i++)
        if (graded.goals[i].why) fprintf(stderr, "%s: %s\n", graded.goals[i].words, graded.goals[i].why);
    if (!good && !is_missing)
        fail_msg("%s: %s, not %s: '%s' for '%s'", path, verdict, submission->verdict, submission->to,
                 submission->from ? submission->from : "all");
    grade_done(&graded);
    text_done(&text);
    exercise_free(exercise);
    if (is_missing) skip_because("no CUDA compiler was found");
}

/* Five of each, besides those in its file. */
static void each_exercise_has_five(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/exercises/*.en.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        int count = 0;
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        for (int k = 0; k < SUBMISSIONS; k++) {
            size_t length = strlen(submissions[k].exercise);
            count += !strncmp(name, submissions[k].exercise, length) && name[length] == '.';
        }
        if (count < 5) fail_msg("%s has %d submissions", name, count);
    }
    globfree(&files);
}

static int set_up(void **state) {
    return program_make_folder(state) ? -1 : setenv("XDG_CACHE_HOME", program_folder(), 1);
}

int main(void) {
    struct CMUnitTest *tests = memory_new((SUBMISSIONS + 1) * sizeof *tests);
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(each_exercise_has_five);
    for (int i = 0; i < SUBMISSIONS; i++)
        if (!getenv("REDVIZ_TEST_QUICK") || i % QUICK_SLICE == 0)
            tests[count++] = (struct CMUnitTest){.name = submissions[i].exercise,
                                                 .test_func = it_has_its_verdict,
                                                 .initial_state = (void *)(uintptr_t)&submissions[i]};
    int failed = _cmocka_run_group_tests("submissions", tests, count, set_up, program_remove_folder);
    free(tests);
    return failed;
}
