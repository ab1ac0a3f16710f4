/* Change: the run before an edit beside the run after it. Sequential's PTX under the name of strided stands
 * for an edit of strided, so that no compiler is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "tui/comparison.h"
#include <stdlib.h>
#include <string.h>

typedef struct Run {
    Session *session;
    Scene *scene;
} Run;

static Run run_open(const char *ptx) {
    Error error = {0};
    RunSpec options = {
        .kernel = "strided", .ptx = ptx, .catalog = {.n = 4096, .prefers_digits = true}, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    return (Run){session, scene_new(session)};
}

static void run_done(Run *run) {
    scene_free(run->scene);
    session_free(run->session);
}

/* A PTX file with every `from` replaced; the caller's. */
static char *read_ptx(const char *path, const char *from, const char *to) {
    char *text;
    size_t length;
    Text out = {0};
    assert_true(text_read_file(path, 1 << 24, &text, &length, NULL));
    const char *at = text;
    for (const char *next; (next = strstr(at, from)); at = next + strlen(from)) {
        text_add_bytes(&out, at, (size_t)(next - at));
        text_add(&out, to);
    }
    text_add(&out, at);
    free(text);
    return out.data;
}

static void open_change(Comparison *comparison, const Run *before, const Run *after) {
    comparison_init(comparison, before->scene);
    comparison_put_change(comparison, after->scene, "strided.cu  edited, line 23");
}

static Text frame_of(const Comparison *comparison, int columns, int rows) {
    Text text = {0};
    Canvas *canvas = canvas_new(columns, rows, false);
    comparison_draw(comparison, canvas);
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text;
}

static void check_shows(const Comparison *comparison, const char *expected) {
    Text text = frame_of(comparison, 120, 40);
    if (!strstr(text_string(&text), expected)) fail_msg("no '%s' in\n%s", expected, text_string(&text));
    text_done(&text);
}

static void check_hides(const Comparison *comparison, const char *unexpected) {
    Text text = frame_of(comparison, 120, 40);
    if (strstr(text_string(&text), unexpected)) fail_msg("'%s' in\n%s", unexpected, text_string(&text));
    text_done(&text);
}

static void before_and_after_stand_side_by_side(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int columns, rows;
    } sizes[] = {{"change_80x24", 80, 24}, {"change_120x40", 120, 40}, {"change_200x60", 200, 60}};
    char *ptx = read_ptx("assets/ptx/sequential.ptx", "_Z10sequential", "_Z7strided");
    Run before = run_open(NULL), after = run_open(ptx);
    Comparison comparison;
    open_change(&comparison, &before, &after);
    assert_int_equal(comparison.active, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Text text = frame_of(&comparison, sizes[i].columns, sizes[i].rows);
        golden_check(sizes[i].name, &text);
        text_done(&text);
    }
    run_done(&before);
    run_done(&after);
    free(ptx);
}

/* The same kernel: both are at the same step, whichever has the keys. */
static void the_same_counts_did_not_help(void **state) {
    (void)state;
    char *ptx = read_ptx("assets/ptx/strided.ptx", "nothing of it", "");
    Run before = run_open(NULL), after = run_open(ptx);
    Comparison comparison;
    open_change(&comparison, &before, &after);
    check_shows(&comparison, "did not help: the same counts   result ok -> ok   time not measured");
    check_shows(&comparison, "before  strided");
    check_shows(&comparison, "after   strided (edited)");
    for (int i = 0; i < 12; i++) {
        comparison_press(&comparison, keys_decode(i % 5 == 4 ? 'o' : ']'));
        assert_int_equal(comparison.view[0].place.step, comparison.view[1].place.step);
    }
    assert_true(session_is_edited(after.session) && !session_is_edited(before.session));
    assert_int_equal(session_first_change(before.session, after.session), 0);
    comparison_leave(&comparison);
    check_hides(&comparison, "did not help");
    run_done(&before);
    run_done(&after);
    free(ptx);
}

/* A wrong sum is no help; a run that a fault ended has fewer of everything, which helps nobody. */
static void wrong_results_and_faults_are_named(void **state) {
    (void)state;
    char *wrong = read_ptx("assets/ptx/strided.ptx", "add.s32 \t%r23, %r21", "sub.s32 \t%r23, %r21");
    char *fault =
        read_ptx("assets/ptx/strided.ptx", "st.global.u32 \t[%rd8], ", "st.global.u32 \t[%rd8+1048576], ");
    Run before = run_open(NULL), after[2] = {run_open(wrong), run_open(fault)};
    Comparison comparison;
    open_change(&comparison, &before, &after[0]);
    check_shows(&comparison, "result ok -> WRONG");
    assert_int_not_equal(session_first_change(before.session, after[0].session), 0);
    open_change(&comparison, &before, &after[1]);
    check_shows(&comparison, "a fault ended a run early: counts are not compared   result ok -> trap");
    check_hides(&comparison, " -> 0");
    run_done(&before);
    run_done(&after[0]);
    run_done(&after[1]);
    free(wrong);
    free(fault);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_and_after_stand_side_by_side),
        cmocka_unit_test(the_same_counts_did_not_help),
        cmocka_unit_test(wrong_results_and_faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
