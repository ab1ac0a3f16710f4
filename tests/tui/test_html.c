/* Frames as the data of a page: decoded, they give the same cells; hostile text stays text; the output of
 * --html and --handout. A browser reads the pages in tests/html. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/cli/program.h"
#include "tui/draw/html.h"
#include <stdlib.h>
#include <string.h>

/* ---- a decoder, written from html.h -------------------------------------------------------------------- */

typedef struct Shown { /* a cell as the page keeps it */
    char text[32];
    int role, columns; /* 0 columns: the right half of a character */
} Shown;

static int digit(const char **at) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    const char *found = **at ? strchr(digits, **at) : NULL;
    if (!found) fail_msg("no digit: %.20s", *at);
    (*at)++;
    return (int)(found - digits);
}

static int number(const char **at) {
    int sum = 0;
    for (int place = 0, more = 1; more && place < 30; place += 5) {
        int next = digit(at);
        sum += (next & 31) << place;
        more = next >= 32;
    }
    return sum;
}

/* Appends one code point. */
static void take(const char **at, Shown *cell) {
    size_t length = strlen(cell->text), count = 1;
    assert_true(**at);
    while (((unsigned char)(*at)[count] & 0xc0) == 0x80) count++;
    assert_true(length + count < sizeof cell->text);
    memcpy(cell->text + length, *at, count);
    cell->text[length + count] = 0;
    *at += count;
}

static Shown *put(Shown *cell, const Shown *what) {
    *cell = *what;
    if (what->columns == 2) *++cell = (Shown){"", what->role, 0};
    return cell + 1;
}

static void decode(const char *at, Shown *cells, int count) {
    Shown *cell = cells;
    while (*at) {
        cell += number(&at);
        Shown one = {"", digit(&at), 1};
        int head = number(&at), times = head >> 2, kind = head & 3;
        one.columns = kind == 2 || (kind == 3 && (times & 1)) ? 2 : 1;
        if (kind == 1 || kind == 3)
            for (int i = 0; i < (kind == 3 ? times / 2 : 1); i++) take(&at, &one);
        for (int i = 0; i < (kind == 3 ? 1 : times); i++) {
            if (kind == 0 || kind == 2) {
                one.text[0] = 0;
                take(&at, &one);
            }
            assert_true(cell + one.columns <= cells + count);
            cell = put(cell, &one);
        }
    }
}

static void assert_same(const Shown *shown, const Canvas *canvas) {
    for (int i = 0; i < canvas->columns * canvas->rows; i++) {
        const Cell *cell = &canvas->cells[i];
        Text text = {0};
        canvas_add_cell_text(cell, &text);
        assert_string_equal(shown[i].text, text_string(&text));
        assert_int_equal(shown[i].role, cell->role + (cell->reverse ? 32 : 0));
        assert_int_equal(shown[i].columns, canvas_cell_columns(cell));
        text_done(&text);
    }
}

/* ---- frames -------------------------------------------------------------------------------------------- */

static const char *const pieces[] = {"a",
                                     "12",
                                     "     ",
                                     "\u2500\u2500\u2500\u2500\u2500\u2500",
                                     "\u2588\u2584",
                                     "<&>",
                                     "\"'",
                                     "e\u0301x",
                                     "\u5f52\u7ea6\u6c42\u548c",
                                     "0000000000",
                                     "\u00b7 \u00b7 "};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* xorshift; never 0 */
static uint64_t draw(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static void scribble(Canvas *canvas, uint64_t *seed, int times) {
    Rectangle all = {0, 0, canvas->columns, canvas->rows};
    for (int i = 0; i < times; i++) {
        int column = (int)(draw(seed) % (unsigned)canvas->columns),
            row = (int)(draw(seed) % (unsigned)canvas->rows);
        canvas_text(canvas, all, column, row, (Role)(draw(seed) % ROLE_COUNT), pieces[draw(seed) % PIECES]);
        if (draw(seed) % 4 == 0) canvas_reverse(canvas, all, column, row, (int)(draw(seed) % 6));
    }
}

static void check_sequence(uint64_t seed, int columns, int rows) {
    Canvas *before = NULL;
    Shown *shown = calloc((size_t)columns * (size_t)rows, sizeof *shown);
    for (int frame = 0; frame < 12; frame++) {
        Canvas *canvas = canvas_new(columns, rows, false);
        if (before)
            memcpy(canvas->cells, before->cells, (size_t)columns * (size_t)rows * sizeof *canvas->cells);
        scribble(canvas, &seed, frame ? frame : 40);
        Text text = {0};
        html_add_frame(&text, canvas, before);
        decode(text_string(&text), shown, columns * rows);
        assert_same(shown, canvas);
        text_done(&text);
        canvas_free(before);
        before = canvas;
    }
    canvas_free(before);
    free(shown);
}

static void frames_are_the_same_after_decoding(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_sequence(seed, 7 + (int)(seed % 5) * 11, 3 + (int)(seed % 4) * 3);
}

static void an_unchanged_frame_is_nothing(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(40, 5, false);
    Text text = {0};
    html_add_frame(&text, canvas, canvas);
    assert_int_equal(text.length, 0);
    html_add_frame(&text, canvas, NULL); /* 200 blanks */
    assert_string_equal(text_string(&text), "00XP ");
    text_done(&text);
    canvas_free(canvas);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void text_is_no_markup(void **state) {
    (void)state;
    static const char hostile[] = "</script><b a=\"1\">&amp;\x01\x1b[2J\x7f]]>\n";
    Text text = {0};
    html_add_text(&text, hostile, sizeof hostile - 1);
    assert_string_equal(text_string(&text),
                        "&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;&amp;amp;\ufffd\ufffd[2J\ufffd]]&gt;\n");
    text_done(&text);
}

static void data_ends_no_script(void **state) {
    (void)state;
    Text text = {0};
    html_add_script_data(&text, "[\"</script><!--\u2028\u2029\u2500\u5f52\"]");
    assert_string_equal(text_string(&text), "[\"\\u003c/script>\\u003c!--\\u2028\\u2029\u2500\u5f52\"]");
    text_done(&text);
}

static void each_role_has_its_colours(void **state) {
    (void)state;
    Text text = {0};
    html_add_colours(&text);
    for (int role = 0; role < ROLE_COUNT; role++) {
        char rule[32];
        snprintf(rule, sizeof rule, "\n.r%d{", role);
        char other[32];
        snprintf(other, sizeof other, "\n.r%d.v{", role);
        assert_non_null(strstr(text_string(&text), rule));
        assert_non_null(strstr(text_string(&text), other));
    }
    program_assert_contains(
        text_string(&text),
        "@media (prefers-color-scheme:light){\n:root:not([data-theme=dark]){--back:#ffffff");
    program_assert_contains(text_string(&text), ":root{--back:#1c1c1c");
    text_done(&text);
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

static char *page_of(const char *arguments) {
    free(program_output(0, "LC_ALL=C.UTF-8 @ %s --html %s/page.html", arguments, program_folder()));
    return program_output(0, "cat %s/page.html", program_folder());
}

/* Within the size limit of a page, complete, and without a reference to another file. */
static void a_page_of_a_run(void **state) {
    (void)state;
    char *page = page_of("--kernel interleaved");
    assert_true(strlen(page) < 1000000);
    assert_int_equal(count_of(page, "</script"), 2);
    assert_int_equal(count_of(page, "{{"), 0);
    assert_int_equal(count_of(page, " src="), 0);
    assert_int_equal(count_of(page, "://"), 0);
    program_assert_contains(page, "<title>interleaved - redviz</title>");
    program_assert_contains(page, "\"columns\":120,\"rows\":40");
    free(page);
    page = page_of("--kernel interleaved --n 4096 --frame=80x24");
    program_assert_contains(page, "\"columns\":80,\"rows\":24");
    free(page);
}

/* A jump to a place that looks like its beat leads to the beat's frame: of a step's frames, only later
 * wavefronts follow the first. */
static void a_place_has_one_frame(void **state) {
    (void)state;
    char *page = page_of("--kernel strided --n 256 --block 64");
    const char *kinds = strstr(page, "\"kinds\":\""), *steps = kinds ? strstr(kinds, "\"steps\":[") : NULL;
    if (!steps) fail_msg("the page has no frames");
    kinds += strlen("\"kinds\":\"");
    steps += strlen("\"steps\":[");
    int wavefronts = 0;
    for (long before = -1; *kinds != '"'; kinds++) {
        char *end;
        long step = strtol(steps, &end, 10);
        assert_true(step >= before);
        bool is_landing = *kinds == 'x'; /* f may select another warp */
        assert_true(is_landing || (step == before) == (*kinds == 'w'));
        wavefronts += *kinds == 'w';
        before = step;
        steps = end + 1;
    }
    assert_true(wavefronts > 0);
    free(page);
}

/* Source lines, their file and a kernel that would end the page's script, its style or a comment. */
static void a_page_of_a_hostile_file(void **state) {
    (void)state;
    static const char name[] = "]]>'&quot;<b>-->x.cu";
    char path[512];
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    FILE *source = fopen(path, "wb");
    assert_non_null(source);
    fputs(
        "// </script><script>document.title='taken'</script> <!-- ]]> \x01\x1b[31m \xe2\x80\xa8 \xff &amp;\n"
        "</style></title><img src=x onerror=alert(1)>\n",
        source);
    fclose(source);
    snprintf(path, sizeof path, "%s/hostile.ptx", program_folder());
    FILE *ptx = fopen(path, "wb");
    assert_non_null(ptx);
    fprintf(
        ptx,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .b64 %%rd<3>;\n.reg .b32 %%r<3>;\n.loc 1 1 1\nld.param.u64 %%rd1, [p];\nld.global.u32 %%r1, "
        "[%%rd1];\n"
        ".loc 1 2 1\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n.file 1 \"%s\"\n",
        name);
    fclose(ptx);
    free(program_output(0, "cd %s && cp hostile.ptx '%s.ptx'", program_folder(), "<script>x"));
    char *page, arguments[1024];
    snprintf(arguments, sizeof arguments, "'%s/<script>x.ptx' --args 'a=int[n]:iota, n'", program_folder());
    page = page_of(arguments);
    assert_int_equal(count_of(page, "</script"), 2);
    assert_int_equal(count_of(page, "<script"), 2);
    assert_int_equal(count_of(page, "</style"), 1);
    assert_int_equal(count_of(page, "</title"), 1);
    assert_int_equal(count_of(page, "<!--"), 0);
    assert_int_equal(count_of(page, "\xe2\x80\xa8"), 0);
    for (const char *at = page; *at; at++) assert_true((unsigned char)*at >= 32 || *at == '\n');
    program_assert_contains(page, "\\u003c/script>\\u003cscript>document.title='taken'");
    program_assert_contains(page, "onerror=alert(1)>");
    free(page);
}

static void write_lecture(const char *path) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("# Two <b>stops</b>\n\n```lecture\nlanguage: en\nminutes: 1\nneeds: nothing\n```\n\n"
          "Text with `code`, **weight** and a [link](https://example.org/?a=1&b=2), none with "
          "[this](javascript:alert).\n\n"
          "```redviz\n--kernel interleaved --n 1024\n```\n\n"
          "## Lanes </script>\n\n- one\n- two\n\n```redviz\n--kernel interleaved --n 1024 --keys ']'\n```\n\n"
          "```predict\nHow many lanes of warp 0 add?\ntopic: lanes\nkeys: ]\nanswer: lanes(step) = "
          "4\n```\n",
          file);
    fclose(file);
}

static void a_page_of_a_lecture(void **state) {
    (void)state;
    char path[512], arguments[600];
    snprintf(path, sizeof path, "%s/two.md", program_folder());
    snprintf(arguments, sizeof arguments, "--lecture %s", path);
    write_lecture(path);
    char *page = page_of(arguments);
    program_assert_contains(page, "<h1>Two &lt;b&gt;stops&lt;/b&gt;</h1>");
    program_assert_contains(
        page, "<section class=\"stop\" id=\"stop-2\">\n<h2>Lanes &lt;/script&gt;</h2>\n<ul>\n<li>one</li>");
    program_assert_contains(page, "<code>code</code>, <strong>weight</strong>");
    program_assert_contains(
        page, "<a rel=\"noreferrer\" href=\"https://example.org/?a=1&amp;b=2\">link</a>, none with this.");
    program_assert_contains(page, "\"asks\":true,\"questions\":[null,{\"topic\":\"lanes\",\"value\":\"4\"");
    assert_int_equal(count_of(page, "<section"), 2);
    free(page);
}

static void assert_link(const char *arguments, const char *wanted) {
    char *page = page_of(arguments);
    if (wanted)
        program_assert_contains(page, wanted);
    else
        assert_int_equal(count_of(page, "id=\"open\""), 0);
    free(page);
}

/* Only if the page of the interface lies beside it, and can open the same. */
static void a_page_links_to_the_interface(void **state) {
    (void)state;
    char lecture[512];
    snprintf(lecture, sizeof lecture, "--lecture %s/two.md", program_folder());
    write_lecture(lecture + strlen("--lecture "));
    assert_link("--kernel strided --n 4096", NULL);
    free(program_output(0, "touch %s/redviz.html", program_folder()));
    assert_link("--kernel strided --n 4096 --frame=80x24",
                "<p id=\"open\"><a href=\"redviz.html#kernel=strided&amp;n=4096\">open in redviz</a></p>");
    assert_link(
        "strided --block=64 --n 2^10 --keys ']<Right>' --no-motion",
        "\"redviz.html#block=64&amp;n=2%5E10&amp;keys=%5D%3CRight%3E&amp;no-motion&amp;kernel=strided\"");
    assert_link("--kernel strided --n 4096 --language zh",
                "\"redviz.html#kernel=strided&amp;n=4096&amp;language=zh\">在 redviz 中打开</a>");
    assert_link("--lecture banks --no-predict", "\"redviz.html#no-predict&amp;lecture=banks\"");
    assert_link("--lecture=banks --language=en", "\"redviz.html#lecture=banks\"");
    assert_link(lecture, NULL);
    assert_link("tests/tui/race_then_fault.ptx", NULL);
    assert_link("--kernel strided --n 64 --counters", NULL);
    assert_link("--kernel strided --backend emulator", "\"redviz.html#kernel=strided\"");
    free(program_output(0, "rm %s/redviz.html", program_folder()));
}

static void a_handout(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/two.md", program_folder());
    write_lecture(path);
    free(program_output(0, "LC_ALL=C.UTF-8 @ --lecture %s --handout %s/out.md", path, program_folder()));
    char *text = program_output(0, "cat %s/out.md", program_folder());
    program_assert_contains(text, "## 2. Lanes </script>\n\n```text\n");
    program_assert_contains(text, "- one\n- two\n\n**?** How many lanes of warp 0 add?\n");
    program_assert_contains(text, "## Answers\n\n### 2. Lanes </script>\n\n**4**\n\n```text\n");
    assert_int_equal(count_of(text, "```text\n"), 3);
    /* What a question asks for is hidden before it, and visible after the answer. */
    Outcome refused = program_shell("@ --lecture %s --handout %s/./two.md", path, program_folder());
    assert_int_equal(refused.status, 2);
    program_assert_contains(refused.err, "is the lecture itself");
    program_outcome_done(&refused);
    const char *asked = strstr(text, "## 2."), *answers = strstr(text, "## Answers");
    assert_non_null(strstr(answers, "4/32"));
    for (const char *at = asked; at < answers; at++) assert_true(strncmp(at, " 4/32", 5) != 0);
    free(text);
    free(program_output(0, "LC_ALL=C.UTF-8 @ --lecture %s --handout %s/out.html", path, program_folder()));
    text = program_output(0, "cat %s/out.html", program_folder());
    assert_int_equal(count_of(text, "<svg "), 3);
    assert_int_equal(count_of(text, "<script"), 0);
    program_assert_contains(text, "<h2>2. Lanes &lt;/script&gt;</h2>");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_the_same_after_decoding),
        cmocka_unit_test(an_unchanged_frame_is_nothing),
        cmocka_unit_test(text_is_no_markup),
        cmocka_unit_test(data_ends_no_script),
        cmocka_unit_test(each_role_has_its_colours),
        cmocka_unit_test(a_page_of_a_run),
        cmocka_unit_test(a_place_has_one_frame),
        cmocka_unit_test(a_page_of_a_hostile_file),
        cmocka_unit_test(a_page_of_a_lecture),
        cmocka_unit_test(a_page_links_to_the_interface),
        cmocka_unit_test(a_handout),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
