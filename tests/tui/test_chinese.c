/* Chinese: no English words are left in explanations, verdicts, times and findings. Every kernel of the
 * catalogue, at its opening and on its first beats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "base/language.h"
#include "stage.h"
#include "tui/frame.h"
#include "tui/draw/canvas.h"
#include "tui/scene/headline.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 120, ROWS = 40, BEATS = 20, LEAST_LETTERS = 3, LEAST_STORY_COLUMNS = 60 };

/* Terms that Chinese engineers say in English, keys, and words of CUDA that are not in the kernel itself. */
static const char *const allowed[] = {
    "kernel",  "grid",     "block",    "warp",    "lane",    "bank",   "wavefront", "sector", "shuffle",
    "barrier", "mbarrier", "cluster",  "fence",   "word",    "hazard", "way",       "PTX",    "GPU",
    "CUDA",    "Volta",    "volatile", "padding", "swizzle", "delta",  "commit",    "ptxas",  "TRAP",
    "else",    "case",     "Enter",    "CUB",     "nan",     "selp",
};

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The name stands in a line of the source, not in its comment. */
static bool is_in_source(const Scene *scene, const char *name, size_t length) {
    const PtxProgram *program = scene->traced.trace->launches[0]->program;
    const char *file = NULL;
    for (int pc = 0; !file && pc < program->code_count; pc++) file = program->code[pc].line.file;
    for (int line = 1; file; line++) {
        const char *text = scene_source_line(scene, file, line);
        if (!text) return false;
        const char *comment = strstr(text, "//");
        size_t end = comment ? (size_t)(comment - text) : strlen(text);
        for (size_t i = 0; i + length <= end; i++)
            if (!strncmp(text + i, name, length) && (!i || !is_name(text[i - 1])) &&
                !is_name(text[i + length]))
                return true;
    }
    return false;
}

static bool is_same(const char *term, const char *name, size_t length) {
    return strlen(term) == length && !strncmp(term, name, length);
}

/* Allowed, the kind of a trap, or a kernel. */
static bool is_term(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (is_same(allowed[i], name, length)) return true;
    for (int kind = 0; kind < TRAP_KIND_COUNT; kind++)
        if (is_same(trap_kind_text((TrapKind)kind), name, length)) return true;
    for (int i = 0; i < catalog_count(); i++)
        if (is_same(catalog_row(i)->id, name, length)) return true;
    return false;
}

/* The first English word of the text; NULL: none. Code is allowed: a call, "cp.async", sums[3], 0xff00, what
 * stands between backquotes, and names of the source. */
static const char *english_in(const Scene *scene, const char *text, size_t *length) {
    bool is_quoted = false;
    for (const char *at = text; *at; at++) {
        is_quoted ^= *at == '`';
        if (!is_name(*at)) continue;
        const char *begin = at;
        while (is_name(*at) || ((*at == '.' || *at == ':') && is_name(at[1]))) at++;
        *length = (size_t)(at - begin);
        size_t letters = 0;
        bool is_code = is_quoted || isdigit((unsigned char)*begin) || *at == '(' || *at == '[' ||
                       (begin > text && begin[-1] == '-' && begin[-2] == '-');
        for (const char *c = begin; c < at; c++) {
            letters += isalpha((unsigned char)*c) != 0;
            is_code |= *c == '_' || *c == '.' || *c == ':';
        }
        at--;
        if (letters < LEAST_LETTERS || is_code || is_term(begin, *length) ||
            (scene && is_in_source(scene, begin, *length)))
            continue;
        return begin;
    }
    return NULL;
}

static int texts_seen, texts_with_english;

static void check(const Stage *stage, const char *where, const char *text) {
    size_t length;
    const char *word = english_in(stage->scene, text, &length);
    texts_seen++;
    if (!word) return;
    texts_with_english++;
    print_error("%s, %s: \"%.*s\" in \"%s\"\n", stage->scene->identity.kernel, where, (int)length, word,
                text);
}

/* The part of the frame in which the explanation is drawn. */
static void check_explanation(const Stage *stage) {
    const View *view = &stage->comparison.view[0];
    Layout layout;
    Text text = {0};
    char where[40];
    assert_true(layout_make(COLUMNS, ROWS, view, frame_needs(stage->scene, view), &layout));
    Canvas *canvas = stage_draw(stage, COLUMNS, ROWS);
    Rectangle area = layout.slots[SLOT_EXPLANATION];
    Canvas *part = canvas_new(area.columns - 2, area.rows - 1, false);
    for (int row = 0; row < part->rows; row++)
        for (int column = 0; column < part->columns; column++)
            *canvas_cell(part, (Rectangle){0, 0, part->columns, part->rows}, column, row) =
                *canvas_cell(canvas, area, column + 1, row);
    canvas_to_text(part, &text);
    assert_non_null(strstr(text_string(&text), "说明"));
    snprintf(where, sizeof where, "explanation of step %d", view->place.step + 1);
    check(stage, where, text_string(&text));
    canvas_free(part);
    canvas_free(canvas);
    text_done(&text);
}

static void check_headline(const Stage *stage) {
    char text[512];
    for (int columns = 20; columns <= 140; columns += 40) {
        headline_print_verdict(stage->scene, columns, text, sizeof text);
        check(stage, "verdict", text);
        headline_print_story(stage->scene, columns, text, sizeof text);
        check(stage, "story", text);
        if (columns >= LEAST_STORY_COLUMNS) assert_in_range(canvas_text_columns(text), 0, columns);
        times_print_line(stage->scene, true, TIMES_COLD, columns, text, sizeof text);
        check(stage, "time", text);
        assert_in_range(canvas_text_columns(text), 0, columns);
    }
}

static void check_findings(const Stage *stage) {
    const Findings *list = stage->scene->borrowed.hazards;
    for (int i = 0; list && i < list->count; i++) {
        const Finding *finding = &list->items[i];
        Text text = {0};
        text_print(&text, "%s\n%s\n", finding_kind_title(finding->kind), finding->sentence);
        if (finding->advice) text_print(&text, "%s\n", finding->advice);
        if (finding_has_count(finding)) finding_print_count(finding, &text);
        if (finding->severity == SEVERITY_SLOW) finding_print_samples(finding, &text);
        check(stage, "finding", text_string(&text));
        text_done(&text);
    }
}

static void no_english_is_left(void **state) {
    (void)state;
    assert_true(language_set("zh"));
    for (int i = 0; i < catalog_count(); i++) {
        Stage *stage = stage_open_kernel(catalog_row(i)->id);
        /* the catalogue's own sentences are texts of their own */
        stage->scene->identity.story = stage->scene->identity.watch = "";
        stage->scene->borrowed.hazards = ask_hazards(stage->session);
        check_headline(stage);
        check_findings(stage);
        check_explanation(stage);
        for (int beat = 0; beat < BEATS; beat++) {
            stage_press(stage, "l");
            check_explanation(stage);
        }
        stage_free(stage);
    }
    assert_true(language_set("en"));
    if (texts_with_english) fail_msg("%d texts", texts_with_english);
    print_message("# summary: %d texts in Chinese\n", texts_seen);
}

static void english_is_found(void **state) {
    (void)state;
    size_t length;
    assert_null(english_in(
        NULL, "第 26 行：最多 8-way 冲突；`sums` 的 lane 0-31，__syncthreads() 0xffff00ff in[3]", &length));
    const char *text = "距离 4：w0 needs 2 个 wavefront", *word = english_in(NULL, text, &length);
    assert_non_null(word);
    assert_int_equal(length, 5);
    assert_ptr_equal(word, strstr(text, "needs"));
}

static void sentences_are_native(void **state) {
    (void)state;
    assert_true(language_set("zh"));
    Stage *stage = stage_open_kernel("strided");
    StepContext context;
    Text text = {0};
    char line[256];
    assert_true(step_context_init(&context, stage->scene, stage_view(stage)));
    explain_step(&context, &text);
    assert_string_equal(text_string(&text),
                        "距离 1：全部 32 个 lane（warp 0-3）读取；warp 4-7 在 barrier 处等待。"
                        "间隔 2 的字只落在 16 个 bank 里（共 32 个）：w0 需要 2 个 "
                        "wavefront，而不是 1 个。");
    stage->scene->identity.story = "";
    static const struct {
        int columns;
        const char *story;
    } stories[] = {
        {100, "1. 第 26 行：最多 8-way bank 冲突：141 个 wavefront，理想值 36。   Enter：查看   e：编辑"},
        {78, "1. 第 26 行：最多 8-way bank 冲突：141 个 wavefront，理想值 36。   Enter：查看"},
        {76, "1. 第 26 行：最多 8-way bank 冲突：141 个 wavefront，理想值 36   Enter：查看"},
        {60, "1. 第 26 行：bank 冲突   Enter：查看   e：编辑"},
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        headline_print_story(stage->scene, stories[i].columns, line, sizeof line);
        assert_string_equal(line, stories[i].story);
    }
    text_done(&text);
    stage_free(stage);
    assert_true(language_set("en"));
}

/* Two sentences in room for one: the second is left out; a clause ends at a semicolon. */
static void a_sentence_is_drawn_whole(void **state) {
    (void)state;
    static const struct {
        SentencePart part;
        const char *shown;
    } cases[] = {{PART_SENTENCE, "全部到达；继续。\n"}, {PART_CLAUSE, "全部到达；继续。\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Canvas *canvas = canvas_new(20, 1, false);
        Text text = {0};
        canvas_sentences(canvas, (Rectangle){0, 0, 20, 1}, 0, ROLE_TEXT, "全部到达；继续。它们等待其他线程。",
                         cases[i].part);
        canvas_to_text(canvas, &text);
        assert_string_equal(text_string(&text), cases[i].shown);
        text_done(&text);
        canvas_free(canvas);
    }
    Canvas *canvas = canvas_new(14, 1, false);
    Text text = {0};
    canvas_sentences(canvas, (Rectangle){0, 0, 14, 1}, 0, ROLE_TEXT, "全部到达；它们等待其他线程。",
                     PART_CLAUSE);
    canvas_to_text(canvas, &text);
    assert_string_equal(text_string(&text), "全部到达\n");
    text_done(&text);
    canvas_free(canvas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_is_found),
        cmocka_unit_test(sentences_are_native),
        cmocka_unit_test(a_sentence_is_drawn_whole),
        cmocka_unit_test(no_english_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
