/* Questions about any run: the interface counts the stated answer at that place; none is trivial, none occurs
 * twice, and no answer is shown before its question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tui/app.h"
#include "tui/quiz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Session *open_session(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static Session *open_kernel(const char *kernel) {
    return open_session(
        &(RunSpec){.kernel = kernel, .first_look = true, .threads = 1, .catalog.prefers_digits = true});
}

static const LectureQuestion *question_of(const Quiz *quiz, int stop) {
    return quiz->lecture->stops[stop].question;
}

static int question_count(const Quiz *quiz) {
    int count = 0;
    for (int i = 0; i < quiz->lecture->stop_count; i++) count += question_of(quiz, i) != NULL;
    return count;
}

/* The number of "74g"; 0 if the whole block is asked about. */
static int step_of(const char *keys) {
    return keys ? atoi(keys) : 0;
}

static void assert_sound(const Quiz *quiz, const char *kernel) {
    const Lecture *lecture = quiz->lecture;
    int step = 0, last = lecture->stop_count - 1;
    assert_int_equal(question_count(quiz), last);
    assert_true(last >= 1 && last <= QUIZ_MOST);
    for (int i = 0; i < last; i++) {
        const LectureQuestion *question = question_of(quiz, i);
        int before = step_of(quiz->screens[i].keys), asked = step_of(question->keys);
        if (asked && (before > asked || (before == asked && asked > 1) || asked <= step))
            fail_msg("%s, stop %d: asked at step %d about step %d, after step %d", kernel, i + 1, before,
                     asked, step);
        step = asked ? asked : step;
        if (!strcmp(question->topic, "lanes"))
            assert_true(atoi(question->value) > 1 && atoi(question->value) < 32);
        for (int k = 0; k < i; k++) {
            const LectureQuestion *other = question_of(quiz, k);
            bool same = !strcmp(other->topic, question->topic) && !strcmp(other->value, question->value);
            if (same && strcmp(question->topic, "values") != 0)
                fail_msg("%s: two questions about %s with the answer %s", kernel, question->topic,
                         question->value);
        }
        const char *words = strstr(question->text, question->value);
        assert_true(!words || !strcmp(question->topic, "values") || strlen(question->value) < 3);
    }
}

/* The check of a lecture goes through its stops with their keys, and evaluates each answer at the reader's
 * place. */
static void assert_answers(const Quiz *quiz, const char *kernel) {
    Text out = {0};
    Error error = {0};
    int failed = 0;
    if (!app_check_lecture(&quiz->run, NULL, false, &out, &failed, &error))
        fail_msg("%s: %s", kernel, error.message);
    if (failed) fail_msg("%s: %s", kernel, text_string(&out));
    text_done(&out);
}

static void answers_are_those_of_the_run(void **state) {
    (void)state;
    int questions = 0, kernels = 0, topics[6] = {0};
    static const char *const names[] = {"levels", "lanes", "wavefronts", "sectors", "divergence", "values"};
    int step = getenv("REDVIZ_TEST_QUICK") ? 3 : 1; /* slow runs: some kernels */
    for (int i = 0; i < catalog_count(); i += step) {
        const char *kernel = catalog_row(i)->id;
        Session *session = open_kernel(kernel);
        Quiz quiz;
        Error error = {0};
        if (quiz_open(session, "en", &quiz, &error)) {
            assert_sound(&quiz, kernel);
            assert_answers(&quiz, kernel);
            kernels++;
            questions += question_count(&quiz);
            for (int stop = 0; stop + 1 < quiz.lecture->stop_count; stop++)
                for (int k = 0; k < 6; k++) topics[k] += !strcmp(question_of(&quiz, stop)->topic, names[k]);
            quiz_close(&quiz);
        } else {
            assert_non_null(strstr(error.message, "nothing to ask about"));
        }
        session_free(session);
    }
    printf("# summary: %d questions about %d of %d kernels:", questions, kernels, catalog_count());
    for (int k = 0; k < 6; k++) printf(" %d of %s%s", topics[k], names[k], k < 5 ? "," : "\n");
    assert_true(kernels * step > catalog_count() * 8 / 10);
    for (int k = 0; k < 6; k++) assert_true(topics[k] * step > 20);
}

/* strided: levels, conflicts of 2, 4 and 8 ways, sums by hand. */
static void questions_about_strided(void **state) {
    (void)state;
    Session *session = open_kernel("strided");
    Quiz quiz;
    Error error = {0};
    assert_true(quiz_open(session, "en", &quiz, &error));
    const Lecture *lecture = quiz.lecture;
    assert_string_equal(lecture->title, "Questions about strided");
    const LectureQuestion *first = question_of(&quiz, 0);
    assert_string_equal(first->text, "In how many levels do the threads of this block combine their values?");
    assert_string_equal(first->value, "8");
    bool has_conflict = false, has_sum = false;
    for (int i = 1; i + 1 < lecture->stop_count; i++) {
        const LectureQuestion *question = question_of(&quiz, i);
        has_conflict |=
            !strcmp(question->text, "How many wavefronts does the shared load of warp 0 take?") &&
            !strcmp(question->value, "4") &&
            strstr(lecture->stops[i].blocks[0].text,
                   "`sdata[index] = op(sdata[index], sdata[index + s]);`, in barrier interval 3, level 2 of "
                   "the reduction (distance 2)");
        int word, left, right;
        const char *other = strstr(question->text, ", word 128 holds ");
        if (other && sscanf(question->text, "Now word %d holds %d", &word, &left) == 2 &&
            sscanf(other, ", word 128 holds %d", &right) == 1)
            has_sum |= atoi(question->value) == left + right;
    }
    assert_true(has_conflict);
    assert_true(has_sum);
    quiz_close(&quiz);
    session_free(session);
}

static void questions_about_a_file(void **state) {
    (void)state;
    Session *session =
        open_session(&(RunSpec){.file = "tests/cli/scale.ptx", .threads = 1, .catalog.n = 100});
    Quiz quiz;
    Error error = {0};
    assert_true(quiz_open(session, "en", &quiz, &error));
    assert_sound(&quiz, "scale.ptx");
    assert_answers(&quiz, "scale.ptx");
    assert_non_null(strstr(quiz.lecture->stops[0].blocks[1].text, "Next comes PTX "));
    quiz_close(&quiz);
    session_free(session);
}

/* In Chinese the questions are the same, in sentences without English. */
static void questions_are_asked_in_chinese(void **state) {
    (void)state;
    static const char *const kernels[] = {"strided", "shuffle", "redux", "atomic", "interleaved"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Session *session = open_kernel(kernels[k]);
        Quiz english, chinese;
        Error error = {0};
        assert_true(quiz_open(session, "en", &english, &error));
        assert_true(quiz_open(session, "zh", &chinese, &error));
        if (!lecture_is_same(english.lecture, chinese.lecture, &error)) fail_msg("%s", error.message);
        assert_string_equal(chinese.lecture->language, "zh");
        for (int stop = 0; stop + 1 < chinese.lecture->stop_count; stop++) {
            const LectureQuestion *asked = question_of(&chinese, stop), *same = question_of(&english, stop);
            assert_string_equal(asked->value, same->value);
            assert_non_null(strstr(asked->text, "\uff1f")); /* the Chinese question mark */
            assert_null(strchr(asked->text, '?'));
        }
        quiz_close(&english);
        quiz_close(&chinese);
        session_free(session);
    }
}

/* The first frame is the first question: nothing that is asked for has been shown. */
static void the_first_frame_hides_its_figures(void **state) {
    (void)state;
    Session *session = open_kernel("strided");
    Quiz quiz;
    Error error = {0};
    Text out = {0};
    assert_true(quiz_open(session, "en", &quiz, &error));
    AppStart start = {.lecture = &quiz.run, .still = true};
    assert_true(app_frame(session, 120, 40, &start, &out, &error));
    assert_non_null(strstr(text_string(&out), "stop 1 of "));
    assert_non_null(strstr(text_string(&out), "type your answer"));
    assert_null(strstr(text_string(&out), "of 8"));
    text_clear(&out);
    start.keys = "8<Enter>";
    assert_true(app_frame(session, 120, 40, &start, &out, &error));
    assert_non_null(strstr(text_string(&out), "Right: 8"));
    assert_non_null(strstr(text_string(&out), "level 0 of 8"));
    text_done(&out);
    quiz_close(&quiz);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_run),
        cmocka_unit_test(questions_about_strided),
        cmocka_unit_test(questions_about_a_file),
        cmocka_unit_test(questions_are_asked_in_chinese),
        cmocka_unit_test(the_first_frame_hides_its_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
