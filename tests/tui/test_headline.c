/* The top of the screen: the result against the exact answer, in colour and in words, and the worst finding
 * of a file. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "base/exact_sum.h"
#include "tui/frame.h"
#include "tui/scene/headline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Run {
    Session *session;
    Scene *scene;
} Run;

static Run open_run(const RunSpec *options) {
    Error error = {0};
    Run run = {.session = session_open(options, &error)};
    if (!run.session) fail_msg("%s", error.message);
    run.scene = scene_new(run.session);
    return run;
}

static Run open_kernel(const char *kernel, CatalogOptions catalog) {
    return open_run(&(RunSpec){.kernel = kernel, .catalog = catalog, .threads = 1});
}

static void close_run(Run *run) {
    scene_free(run->scene);
    session_free(run->session);
}

/* The first row of the frame ends with `text`, all of it in `role`. */
static void check_header(const Run *run, int columns, const char *text, Role role) {
    View view;
    Text row = {0};
    Canvas *canvas = canvas_new(columns, 24, true);
    view_init(&view);
    frame_draw(run->scene, &view, canvas);
    canvas_to_text(canvas, &row);
    size_t end = strcspn(text_string(&row), "\n"), length = strlen(text);
    if (end < length || memcmp(text_string(&row) + end - length, text, length) != 0)
        fail_msg("'%.*s' does not end with '%s'", (int)end, text_string(&row), text);
    for (size_t i = 0; i < length; i++) {
        const Cell *cell = canvas_cell(canvas, (Rectangle){0, 0, columns, 24}, (int)(end - length + i), 0);
        assert_int_equal(cell->role, role);
    }
    text_done(&row);
    canvas_free(canvas);
}

/* Green only if the method gives what it guarantees. */
static void a_wrong_sum_that_is_the_lesson_is_no_ok(void **state) {
    (void)state;
    Run run = open_kernel("half_naive", (CatalogOptions){.n = 1 << 16});
    assert_true(session_result(run.session)->correct); /* as scripts read it */
    assert_int_equal(run.scene->outcome.verdict, SCENE_OFF);
    check_header(&run, 80, "2048, exact 4096: off by 2048", ROLE_WARNING);
    check_header(&run, 120, "2048, exact 4096: off by 2048", ROLE_WARNING);
    close_run(&run);
    run = open_kernel("half_naive",
                      (CatalogOptions){.n = 1 << 16, .parameters = {"items=1024"}, .parameter_count = 1});
    check_header(&run, 80, "result ok", ROLE_GOOD);
    close_run(&run);
    run = open_kernel("half_promote", (CatalogOptions){.n = 1 << 16});
    check_header(&run, 80, "result ok", ROLE_GOOD);
    close_run(&run);
}

static void a_bug_says_by_how_much_it_is_off(void **state) {
    (void)state;
    CatalogOptions digits = {.has_fill = true, .fill = FILL_DIGITS};
    Run run = open_kernel("bug_double_count", digits);
    const ExpectResult *result = session_result(run.session);
    char expected[160];
    snprintf(expected, sizeof expected, "%s, exact %s: off by %.0f, on purpose", result->result_text,
             result->expected_text, fabs(atof(result->result_text) - atof(result->expected_text)));
    check_header(&run, 120, expected, ROLE_WARNING);
    *strstr(expected, ", on") = 0;
    check_header(&run, 80, expected, ROLE_WARNING);
    close_run(&run);
    run = open_kernel("bug_half_shared", digits);
    check_header(&run, 120, "TRAP out_of_bounds, on purpose", ROLE_WARNING);
    close_run(&run);
}

/* The texts are the shortest that read back as the same value of this type. */
static void add_buffer(Session *session, const char *name, PtxType type, int times, ExactSum *sum) {
    char *text = NULL, *end;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_true(session_dump(session, name, out, NULL));
    fclose(out);
    for (char *at = text; *at; at = end + 1)
        exact_sum_add(sum, type == PTX_F32 ? strtof(at, &end) : strtod(at, &end), times);
    free(text);
}

/* The error of a float sum is the exact distance, for any order of additions. */
static void floats_are_held_against_the_exact_sum(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "shuffle", "atomic", "multi_add", "kahan"};
    static const PtxType types[] = {PTX_F32, PTX_F64};
    for (size_t i = 0; i < 2 * sizeof kernels / sizeof *kernels; i++) {
        Run run = open_kernel(kernels[i / 2], (CatalogOptions){.n = 100000, .dtype = types[i % 2]});
        ExactSum off = {0};
        add_buffer(run.session, "out", types[i % 2], 1, &off);
        add_buffer(run.session, "in", types[i % 2], -1, &off);
        double expected = fabs(exact_sum_value(&off));
        assert_int_equal(run.scene->outcome.verdict, SCENE_RIGHT);
        assert_true(expected <= session_result(run.session)->bound);
        if (fabs(run.scene->outcome.off - expected) > 1e-6 * expected)
            fail_msg("%s: off by %g, not %g", kernels[i / 2], expected, run.scene->outcome.off);
        char text[64], verdict[64];
        snprintf(text, sizeof text, "result ok, off by %.2g", expected);
        assert_int_equal(headline_print_verdict(run.scene, 40, verdict, sizeof verdict), HEADLINE_GOOD);
        assert_string_equal(verdict, expected == 0 ? "result ok" : text);
        close_run(&run);
    }
}

/* Hand-made outcomes: fewer words if there is less room. */
static void verdicts_fit_their_room(void **state) {
    (void)state;
    static const struct {
        SceneVerdict verdict;
        const char *result, *expected;
        double off;
        int columns;
        const char *text;
        HeadlineTone tone;
    } cases[] = {
        {SCENE_WRONG, "7", "8", 1, 40, "WRONG: 7, exact 8: off by 1", HEADLINE_WARNING},
        {SCENE_WRONG, "7", "8", 1, 20, "WRONG: 7, exact 8", HEADLINE_WARNING},
        {SCENE_WRONG, "nan", "8", NAN, 40, "WRONG: nan, exact 8", HEADLINE_WARNING},
        {SCENE_WRONG, "inf", "8.5", INFINITY, 40, "WRONG: inf, exact 8.5", HEADLINE_WARNING},
        {SCENE_WRONG_ON_PURPOSE, "7", "8", 1, 40, "7, exact 8: off by 1, on purpose", HEADLINE_WARNING},
        {SCENE_WRONG_ON_PURPOSE, "7", "8", 1, 25, "7, exact 8: off by 1", HEADLINE_WARNING},
        {SCENE_OFF, "0.5", "0.75", 0.25, 40, "0.5, exact 0.75: off by 0.25", HEADLINE_WARNING},
        {SCENE_RIGHT, "8", "8", 0, 40, "result ok", HEADLINE_GOOD},
        {SCENE_RIGHT, "8.5", "8.501", 1e-3, 40, "result ok, off by 0.001", HEADLINE_GOOD},
        {SCENE_RIGHT, "8.5", "8.501", 1e-3, 12, "result ok", HEADLINE_GOOD},
        {SCENE_COUNTING, "", "", 0, 40, "counting the grid ...", HEADLINE_PLAIN},
        {SCENE_NOT_CHECKED, "", "", 0, 40, "result not checked", HEADLINE_PLAIN},
    };
    Trace trace = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        Scene scene = {
            .outcome = {cases[i].verdict, cases[i].result, cases[i].expected, NULL, cases[i].off, false},
            .traced = {.trace = &trace}};
        assert_int_equal(headline_print_verdict(&scene, cases[i].columns, text, sizeof text), cases[i].tone);
        assert_string_equal(text, cases[i].text);
        Findings findings = {.error_count = 2};
        scene.borrowed.hazards = &findings; /* a right result may be luck */
        assert_int_equal(headline_print_verdict(&scene, 80, text, sizeof text), HEADLINE_WARNING);
        bool may_be_luck = cases[i].verdict == SCENE_RIGHT || cases[i].verdict == SCENE_NOT_CHECKED;
        assert_int_equal(strstr(text, ", 2 hazards (f)") != NULL, may_be_luck);
    }
}

static void check_story(const char *file, const char *entry, int columns, const char *expected) {
    Run run = open_run(&(RunSpec){.file = file,
                                  .entry = entry,
                                  .block = {256, 1, 1},
                                  .catalog = {.n = 4096},
                                  .threads = 1,
                                  .search_races = true});
    char story[256];
    run.scene->borrowed.hazards = ask_hazards(run.session);
    headline_print_story(run.scene, columns, story, sizeof story);
    assert_string_equal(story, expected);
    close_run(&run);
}

/* Errors before slow places; whole sentences, else the lines and the kind. */
static void a_file_opens_on_its_worst_line(void **state) {
    (void)state;
    static const char interleaved[] = "assets/ptx/interleaved.ptx", strided[] = "assets/ptx/strided.ptx",
                      volatile_tail[] = "assets/ptx/bug_volatile_tail.ptx",
                      half[] = "assets/ptx/bug_half_shared.ptx";
    check_story("tests/cli/scale.ptx", "scale", 78, "");
    check_story(strided, "strided<int,Sum>", 78,
                "1. line 26: up to 8-way bank conflicts: 2,256 wavefronts, ideal 576.");
    check_story(
        strided, "strided<int,Sum>", 118,
        "1. line 26: up to 8-way bank conflicts: 2,256 wavefronts, ideal 576.   Enter: see it   e: edit");
    check_story(interleaved, "interleaved<int,Sum>", 100,
                "1. line 22: 73 % of branches diverge, 5.4 of 32 lanes busy   Enter: see it   e: edit");
    check_story(strided, "strided<int,Sum>", 40, "1. line 26: bank conflicts");
    check_story(volatile_tail, "bug_volatile_tail<int>", 118,
                "1. line 29: warp 0 lane 16 stores tail[16] (2229); line 30: warp 0 lane 0 loads it (2229)   "
                "Enter: see it   "
                "e: edit");
    check_story(volatile_tail, "bug_volatile_tail<int>", 78,
                "1. lines 29 and 30: race between lanes of a warp   Enter: see it   e: edit");
    check_story(half, "bug_half_shared<int>", 78, "1. line 16: out_of_bounds   Enter: see it   e: edit");
}

static void a_catalogue_kernel_keeps_its_story(void **state) {
    (void)state;
    Run run = open_kernel("strided", (CatalogOptions){.n = 4096});
    char story[256];
    run.scene->borrowed.hazards = ask_hazards(run.session);
    headline_print_story(run.scene, 78, story, sizeof story);
    assert_string_equal(story, session_row(run.session)->story);
    close_run(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_sum_that_is_the_lesson_is_no_ok),
        cmocka_unit_test(a_bug_says_by_how_much_it_is_off),
        cmocka_unit_test(floats_are_held_against_the_exact_sum),
        cmocka_unit_test(verdicts_fit_their_room),
        cmocka_unit_test(a_file_opens_on_its_worst_line),
        cmocka_unit_test(a_catalogue_kernel_keeps_its_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
