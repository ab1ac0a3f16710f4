/* A lecture in the interface: its keys, its stops, questions and their answers, the score, its panel, and
 * that no figure is visible while a question is open. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "cli/lecture_open.h"
#include "pty.h"
#include "stage.h"
#include "tui/app.h"
#include "tui/frame.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- lectures of the tests ----------------------------------------------------------------------------- */

#define HEAD  "# Reductions\n```lecture\nlanguage: en\nminutes: 5\nneeds: no GPU\n```\n"
#define SMALL "--kernel interleaved --n 64 --block 64 --fill ones"

static const char WALK[] =
    HEAD "The beginning.\n"
         "```redviz\n" SMALL "\n```\n"
         "## Second\nText of the second stop.\n```redviz\n" SMALL " --keys '3g'\n```\n"
         "## Third\nIt stays as it was.\n"
         "## Two runs\n```redviz\n" SMALL " --compare sequential\n```\nBeside each other.\n"
         "## The ladder\n```redviz\n" SMALL " --keys B\n```\nAll rungs.\n"
         "## Enlarged\n```redviz\n" SMALL " --keys '<Tab>z'\n```\nOne pane.\n"
         "## A file\n```redviz\n%s/tests/cli/scale.ptx --n 64\n```\nThe last one.\n";

static const char ASK[] =
    HEAD "```redviz\n" SMALL "\n```\nWelcome.\n"
         "## Number\n```redviz\n" SMALL " --keys '1g'\n```\n```predict\nHow many elements?\ntopic: sizes\n"
         "keys: 5g\nanswer: here.n = 64\n"
         "wrong: 32 = that is one warp\nwrong: * = count the elements of in\n```\n"
         "## Choice\n```predict\nWhich of them?\ntopic: sizes\nchoices: one | two | all of them\n"
         "answer: = all of them\n```\n"
         "## Lanes\n```redviz\n" SMALL " --keys '1g'\n```\n```predict\nWhich lanes add?\ntopic: lanes\n"
         "answer: lane_mask(step) = 0xffffffff\n```\n"
         "## The end\nThat was all.\n";

static char folder[] = "/tmp/redviz-lecture-XXXXXX", path[64];

static void write_lecture(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_lecture(const char *format, ...) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    assert_int_equal(fclose(file), 0);
}

/* A stop of forty paragraphs, followed by `rest`. */
static void write_long(const char *rest) {
    Text text = {0};
    text_add(&text, HEAD "```redviz\n" SMALL "\n```\n");
    for (int i = 1; i <= 40; i++) text_print(&text, "Sentence %d is here.\n\n", i);
    text_add(&text, rest);
    write_lecture("%s", text_string(&text));
    text_done(&text);
}

static void write_walk(void) {
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    write_lecture(WALK, here);
}

/* The frame after these keys. Caller frees. */
static char *play_at(const char *keys, int columns, int rows, bool asks) {
    Error error = {0};
    OpenLecture open;
    Text out = {0};
    Options options = {.has_lecture = true, .lecture = path, .no_predict = !asks, .session.threads = 1};
    if (!cli_lecture_open(&options, &open, &error)) fail_msg("%d: %s", error.line, error.message);
    Session *session = session_open(open.screens[0].session, &error);
    if (!session) fail_msg("%s", error.message);
    AppStart start = {.lecture = &open.run, .keys = keys, .still = true};
    if (!app_frame(session, columns, rows, &start, &out, &error)) fail_msg("%s: %s", keys, error.message);
    session_free(session);
    cli_lecture_close(&open);
    return out.data;
}

static char *play(const char *keys) {
    return play_at(keys, 100, 36, true);
}

static void shows_at(const char *keys, int columns, int rows, const char *text) {
    char *frame = play_at(keys, columns, rows, true);
    if (!strstr(frame, text)) fail_msg("after %s there is no \"%s\" in\n%s", keys, text, frame);
    free(frame);
}

static void shows(const char *keys, const char *text) {
    shows_at(keys, 100, 36, text);
}

static void lacks(const char *keys, const char *text) {
    char *frame = play(keys);
    if (strstr(frame, text)) fail_msg("after %s there is \"%s\" in\n%s", keys, text, frame);
    free(frame);
}

static void same(const char *keys, const char *others) {
    char *frame = play(keys), *other = play(others);
    if (strcmp(frame, other) != 0) fail_msg("%s\n%s\nis not %s\n%s", keys, frame, others, other);
    free(frame);
    free(other);
}

/* ---- from stop to stop --------------------------------------------------------------------------------- */

static void page_keys_go_from_stop_to_stop(void **state) {
    (void)state;
    write_walk();
    shows("", "stop 1 of 7");
    shows("", "The beginning.");
    shows("<PgDn>", "stop 2 of 7");
    shows("<PgDn>", "step 3 of");
    shows("<Enter>", "stop 2 of 7");
    shows("<PgDn><PgDn>", "stop 3 of 7");
    shows("<PgDn><PgDn>", "It stays as it was.");
    shows("<PgDn><PgDn>", "step 3 of");
    shows("<PgDn><PgDn><PgUp>", "stop 2 of 7");
    shows("<PgDn><PgDn><PgUp><PgUp>", "stop 1 of 7");
    shows("<PgUp>", "stop 1 of 7");
    shows("<PgDn><PgDn><PgDn><Home>", "stop 1 of 7");
    shows("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn>", "stop 7 of 7");
    shows("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn><PgDn>",
          "this is the last stop; q: quit, Home: the first stop");
    same("<PgDn><PgUp>", "");
}

/* An overlay that a stop opens is part of it: the page keys are the lecture's. */
static void a_stop_may_open_the_help(void **state) {
    (void)state;
    write_lecture(HEAD "```redviz\n" SMALL " --keys '?'\n```\nThe keys.\n## Second\nThe end.\n");
    shows("", "type to filter");
    shows("", "stop 1 of 2");
    shows("<PgDn>", "stop 2 of 2");
    shows("j<PgDn>", "stop 1 of 2"); /* now the run is the reader's */
}

static void enter_comes_back_after_other_keys(void **state) {
    (void)state;
    write_walk();
    shows("<PgDn>lll", "stop 2 of 7");
    same("<PgDn>llllzv<Enter>", "<PgDn>");
    same("<PgDn>trHGuu<Enter>", "<PgDn>");
    same("<PgDn>l<Enter><Enter>", "<PgDn><PgDn>");
    same("<PgDn>l<PgDn><PgUp>", "<PgDn>");
    same("<PgDn>p<Esc><Enter>", "<PgDn>");
    same("<PgDn>/sdata<Enter><Enter>", "<PgDn>"); /* the first Enter is the search's */
    same("<PgDn>?<Esc><Enter>", "<PgDn>");
    same("<PgDn>Kshuffle<Enter><Enter>", "<PgDn>"); /* the first one opens the kernel */
    shows("<PgDn>Kshuffle<Enter>", "redviz  shuffle");
    shows("<PgDn>Kshuffle<Enter>", "stop 2 of 7");
    same("<PgDn>csequential<Enter><Enter>", "<PgDn>");
    same("<PgDn>B<Esc><Enter>", "<PgDn>");
}

static void a_stop_compares_two_runs(void **state) {
    (void)state;
    write_walk();
    shows("<PgDn><PgDn><PgDn>", "redviz  interleaved");
    shows("<PgDn><PgDn><PgDn>", "sequential");
    shows("<PgDn><PgDn><PgDn>", "Beside each other.");
    shows_at("<PgDn><PgDn><PgDn>", 80, 24, "Beside each other.");
    shows_at("<PgDn><PgDn><PgDn>", 80, 24, "sequential");
    same("<PgDn><PgDn><PgDn>lllS<Enter>", "<PgDn><PgDn><PgDn>");
    same("<PgDn><PgDn><PgDn><PgUp><PgUp>", "<PgDn>"); /* one run again */
}

static void stops_open_tables_panes_and_files(void **state) {
    (void)state;
    write_walk();
    shows("<PgDn><PgDn><PgDn><PgDn>", "rung");
    shows("<PgDn><PgDn><PgDn><PgDn>", "All rungs.");
    shows("<PgDn><PgDn><PgDn><PgDn><Enter>",
          "stop 6 of 7"); /* the ladder's Enter belongs to the lecture, as the stop opened the ladder */
    lacks("<PgDn><PgDn><PgDn><PgDn><PgDn>", "rung");
    lacks("<PgDn><PgDn><PgDn><PgDn><PgDn>", "reduction");
    shows("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn>", "redviz  scale");
    shows("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn>", "The last one.");
    lacks("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn><Home>", "redviz  scale");
}

/* ---- questions ----------------------------------------------------------------------------------------- */

static void a_number_is_right_or_wrong(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    shows("<PgDn>", "How many elements?");
    shows("<PgDn>", "type your answer, then Enter; PgDn shows it");
    shows("<PgDn>6", "> 6_");
    shows("<PgDn>64<Enter>", "Right: 64");
    shows("<PgDn>64.0<Enter>", "Right: 64");
    shows("<PgDn>0064<Enter>", "Right: 64");
    shows("<PgDn>63<Enter>", "No, it is 64 (your answer: 63)");
    shows("<PgDn>63<Enter>", "count the elements of in");
    shows("<PgDn>32<Enter>", "that is one warp");
    shows("<PgDn>-64<Enter>", "No, it is 64 (your answer: -64)");
    shows("<PgDn>6<Backspace>5<Enter>", "No, it is 64 (your answer: 5)");
    shows("<PgDn>64<Enter>", "step 5 of"); /* its keys are pressed, and figures are visible */
    shows("<PgDn>63<Enter>", "step 5 of");
    lacks("<PgDn>64", "step 5 of");
    shows("<PgDn><PgDn>", "The answer: 64");
    shows("<PgDn><PgDn>", "step 5 of");
    shows("<PgDn><PgDn><PgDn>", "stop 3 of 5");
    shows("<PgDn>64<Enter><Enter>", "stop 3 of 5");
}

static void nonsense_goes_on_waiting(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    shows("<PgDn><Enter>", "type a number, then Enter; PgDn: the answer");
    shows("<PgDn>-<Enter>", "type a number, then Enter; PgDn: the answer");
    shows("<PgDn>1.2.3<Enter>", "type a number, then Enter; PgDn: the answer");
    shows("<PgDn>99999999999999999999999999999999<Enter>", "No, it is 64");
    lacks("<PgDn><Enter>", "step 5 of");
    shows("<PgDn>-<Enter>64<Enter>", "Right: 64");
    shows("<PgDn>Z", "Z: this key does not answer the question");
    shows("<PgDn>Z", "type a number, then Enter; PgDn: the answer");
    lacks("<PgDn>Z6", "type a number, then Enter");
    shows("<PgDn>64<Enter>Z", "Z is no key here");
    lacks("<PgDn><Enter>6", "type a number, then Enter");
    shows("<PgDn><PgDn><PgDn>4<Enter>", "type a number from 1 to 3, then Enter; PgDn shows the answer");
    shows("<PgDn><PgDn><PgDn>0<Enter>", "type a number from 1 to 3, then Enter; PgDn shows the answer");
    shows("<PgDn><PgDn><PgDn>99999999999999999999999<Enter>",
          "type a number from 1 to 3, then Enter; PgDn shows the answer");
}

/* A title that leaves no room beside it stands in the text. */
static void a_long_title_leaves_the_key_that_goes_on(void **state) {
    (void)state;
    static const char longest[] = "The largest power of two that divides a stride decides how many banks";
    for (int length = 30; length < (int)sizeof longest; length += 3) {
        write_lecture(HEAD "```redviz\n" SMALL "\n```\n## %.*s\nText.\n## Last\nText.\n", length, longest);
        shows_at("<PgDn>", 80, 24, "PgDn next");
        shows_at("<PgDn><PgDn>", 80, 24, "Home first");
    }
}

static void banks_are_pointed_at(void **state) {
    (void)state;
    write_lecture("%s",
                  HEAD "```redviz\n--kernel lab_bank_stride --param stride=8 --keys 'h'\n```\n```predict\n"
                       "Which banks?\ntopic: banks\nkeys: l\nanswer: bank_mask(step) = 0x1010101\n```\n");
    shows("<Space>8x<Space>", "> 0, 8_   Space marks bank 8, x: the next one; then Enter");
    shows("<Space>8x<Space>16x<Space>24x<Space><Enter>", "Right: 0, 8, 16, 24");
    shows("<Space><Enter>", "No, it is 0, 8, 16, 24 (your answer: 0)");
}

static void a_choice_is_right_or_wrong(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    shows("<PgDn><PgDn><PgDn>", "3 all of them");
    shows("<PgDn><PgDn><PgDn>3<Enter>", "Right: all of them");
    shows("<PgDn><PgDn><PgDn>1<Enter>", "No, it is all of them (your answer: one)");
}

/* Typed as a mask, or marked: Space marks the lane under the cursor. */
static void lanes_are_pointed_at(void **state) {
    (void)state;
    static const char go[] = "<PgDn><PgDn><PgDn><PgDn><PgDn>";
    char keys[512];
    write_lecture("%s", ASK);
    snprintf(keys, sizeof keys, "%s<Space>x<Space>", go);
    shows(keys, "> 0, 1_   Space marks lane 1, x: the next one; then Enter");
    snprintf(keys, sizeof keys, "%s<Space>x<Space>X<Space>", go);
    shows(keys, "> 1_");
    snprintf(keys, sizeof keys, "%s<Space><Space>", go);
    shows(keys, "> _");
    snprintf(keys, sizeof keys, "%s10x<Space>4x<Space>", go); /* counts of keys */
    shows(keys, "> 4, 10_");
    snprintf(keys, sizeof keys, "%s4x<Space><Backspace>", go);
    shows(keys, "> _");
    snprintf(keys, sizeof keys, "%s0xf<Backspace>e", go);
    shows(keys, "> 0xe_");
    snprintf(keys, sizeof keys, "%s0xffffffff<Enter>", go);
    shows(keys, "Right: 0, 1, 2, 3");
    snprintf(keys, sizeof keys, "%s<Space><Enter>", go);
    shows(keys, "30, 31 (your answer: 0)");
    int length = snprintf(keys, sizeof keys, "%s", go);
    for (int lane = 0; lane < WARP_LANES; lane++)
        length += snprintf(keys + length, sizeof keys - (size_t)length, "<Space>x");
    snprintf(keys + length, sizeof keys - (size_t)length, "<Enter>");
    shows(keys, "Right: 0, 1, 2, 3");
}

/* The first answer counts, skipped questions are wrong, topics are counted separately. */
static void the_score_comes_at_the_end(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    shows("<PgDn>64<Enter><PgDn>1<Enter><PgDn><PgDn><PgDn>",
          "Your answers: 1 of 3 right: sizes 1 of 2, lanes 0 of 1");
    shows("<PgDn>64<Enter><PgDn>3<Enter><PgDn>0xffffffff<Enter><PgDn>",
          "Your answers: 3 of 3 right: sizes 2 of 2, lanes 1 of 1");
    shows("<PgDn>63<Enter><PgUp><PgDn>64<Enter><PgDn>3<Enter><PgDn>0xffffffff<Enter><PgDn>",
          "Your answers: 2 of 3 right: sizes 1 of 2, lanes 1 of 1");
    lacks("<PgDn>64<Enter><PgDn>1<Enter><PgDn>", "Your answers");
}

static void a_lecturer_asks_the_hall(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    char *frame = play_at("<PgDn><PgDn>", 100, 36, false);
    assert_non_null(strstr(frame, "stop 3 of 5"));
    assert_non_null(strstr(frame, "3 all of them"));
    assert_null(strstr(frame, "type your answer"));
    free(frame);
    frame = play_at("<PgDn><PgDn><PgDn><PgDn>", 100, 36, false);
    assert_non_null(strstr(frame, "That was all."));
    assert_null(strstr(frame, "Your answers"));
    free(frame);
}

/* ---- the panel ----------------------------------------------------------------------------------------- */

/* PgDn scrolls text that does not fit, and then goes to the next stop; PgUp scrolls back, and then goes to
 * the stop before. */
static void long_text_is_scrolled(void **state) {
    (void)state;
    write_long("## Second\nThe next stop.\n");
    shows("", "Sentence 1 is here.");
    shows("", "PgDn ↓ more");
    lacks("", "Sentence 40 is here.");
    lacks("<PgDn>", "Sentence 1 is here.");
    shows("<PgDn>", "stop 1 of 2");
    same("<PgDn><PgUp>", "");
    Text keys = {0};
    int pages = 0;
    const char *says = "PgDn ↓ more"; /* of the page before; what the key then does */
    for (bool end = false; !end && pages < 30; pages++) {
        text_add(&keys, "<PgDn>");
        char *frame = play(text_string(&keys));
        end = strstr(frame, "stop 2 of 2") != NULL;
        assert_string_equal(says, end ? "PgDn next" : "PgDn ↓ more");
        says = strstr(frame, "PgDn next") ? "PgDn next" : "PgDn ↓ more";
        if (!end) assert_non_null(strstr(frame, "stop 1 of 2"));
        free(frame);
    }
    text_done(&keys);
    assert_true(pages > 3 && pages < 30);
    shows("<PgDn>l<Enter>", "Sentence 1 is here.");
    /* What is typed to a long question, and what becomes of it, is on the screen. */
    write_long("```predict\nHow many?\ntopic: sizes\nanswer: here.n = 64\n```\n");
    shows("", "Sentence 1 is here.");
    lacks("", "How many?");
    shows("7", "> 7_");
    shows("Z", "Z: this key does not answer the question");
    shows("Z", "> _   type a number, then Enter");
    lacks("Z7", "Z: this key");
    shows("7<Enter>", "(your answer: 7)");
    shows("<Enter>", "> _   type a number, then Enter");
}

/* At any size, the panel shows the stop's number, and the interface above or beside it is complete. */
static void the_panel_fits_every_size(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    for (int columns = 60; columns <= 220; columns += 20)
        for (int rows = 24; rows <= 64; rows += 8) {
            shows_at("<PgDn><PgDn>", columns, rows, "stop 2 of 5");
            shows_at("<PgDn><PgDn>", columns, rows, "The answer: 64");
            shows_at("<PgDn><PgDn>", columns, rows, "redviz  interleaved");
            shows_at("<PgDn><PgDn>", columns, rows, "quit");
            char *frame = play_at("<PgDn><PgDn>", columns, rows, true);
            assert_memory_equal(frame, " redviz  interleaved", 20); /* beside the panel, nothing moves */
            free(frame);
        }
    free(play_at("<PgDn>", 60, 16, true)); /* too small for a panel: nothing breaks */
    free(play_at("<PgDn>", 20, 5, true));
    free(play_at("<PgDn>", 1, 1, true));
}

/* ---- what is hidden ------------------------------------------------------------------------------------ */

/* The phrases that tell an answer of each kind, # a digit; not in the source, and not in the hints of
 * keys. */
static const struct {
    unsigned hides;
    const char *phrases[8];
} telling[] = {
    {HIDES_ACCESSES, {"# wavefront", "#-way", "ideal", "way conflict", "coalesced", " request: "}},
    {HIDES_LANES | HIDES_HERE, {"/32", " active", "lanes enter", "lanes go on", " diverge ", "skip it"}},
    {HIDES_TIMES, {" us ", " ms ", "GB/s"}},
    {HIDES_COUNTS, {"level 1 of", "of 64 active", "excess"}},
    {HIDES_VALUES, {"values of w"}},
};

static bool says(const char *text, const char *phrase) {
    bool has_digit = *phrase == '#';
    phrase += has_digit;
    for (const char *at = text; (at = strstr(at, phrase)) != NULL; at++)
        if (!has_digit || (at > text && isdigit((unsigned char)at[-1]))) return true;
    return false;
}

static void assert_untold(const Stage *stage, const char *name, int columns, int rows, size_t kind) {
    Layout layout;
    const View *view = &stage->comparison.view[0];
    if (!layout_make(columns, rows, view, frame_needs(stage->scene, view), &layout)) return;
    Canvas *canvas = stage_draw(stage, columns, rows);
    canvas_fill(canvas, layout.slots[SLOT_SOURCE], ROLE_TEXT);
    canvas_fill(canvas, layout.footer, ROLE_TEXT);
    Text text = {0};
    canvas_to_text(canvas, &text);
    for (int i = 0; i < 8 && telling[kind].phrases[i]; i++) {
        bool found = says(text_string(&text), telling[kind].phrases[i]);
        if (found)
            fail_msg("%s, %dx%d, kind %d: \"%s\" in\n%s", name, columns, rows, (int)kind,
                     telling[kind].phrases[i], text_string(&text));
    }
    text_done(&text);
    canvas_free(canvas);
}

/* What a question asks about is nowhere on the screen; the picture stays. */
static void an_open_question_is_not_answered_on_the_screen(void **state) {
    (void)state;
    static const int sizes[][2] = {{80, 18}, {80, 24}, {120, 28}, {140, 50}, {200, 60}};
    int step = getenv("REDVIZ_TEST_QUICK") ? 8 : 1; /* slow runs: some kernels */
    for (int i = 0; i < catalog_count(); i += step) {
        Stage *stage = stage_open_kernel(catalog_row(i)->id);
        for (size_t kind = 0; kind < sizeof telling / sizeof *telling; kind++) {
            stage->comparison.view[0].transient.hides = telling[kind].hides;
            for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
                assert_untold(stage, catalog_row(i)->id, sizes[size][0], sizes[size][1], kind);
        }
        stage_free(stage);
    }
}

/* The warps pane, if the answer is of its timeline; else it stays. */
static void the_warps_are_covered(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        bool is_covered;
    } cases[] = {{"round(100 * sequential.ready with 1 block) = 51", true},
                 {"round(sequential.all_wait with 1 block) = 0", true},
                 {"round(sequential.no_warp with 1 block) = 0", true},
                 {"round(sequential.wait \"barrier\") = 53", true},
                 {"round(sequential.throughput with 1 block) = 36777", true},
                 {"sequential.life with 1 block = 1326", true},
                 {"sequential.barriers = 294912", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_lecture(HEAD "```redviz\n--kernel sequential --fill digits --keys '##z'\n```\nWelcome.\n"
                           "## Warps\n```predict\nHow many?\ntopic: warps\nkeys: y\nanswer: %s\n```\n",
                      cases[i].answer);
        char *frame = play("<PgDn>");
        if (!strstr(frame, "per scheduler:") != cases[i].is_covered)
            fail_msg("%s:\n%s", cases[i].answer, frame);
        free(frame);
        shows("<PgDn><PgDn>", "per scheduler:");
    }
}

/* The timeline's legend does not tell the answer, and the footer says what Enter does. */
static void the_legend_is_covered(void **state) {
    (void)state;
    write_lecture(HEAD "```redviz\n--kernel strided\n```\nWelcome.\n"
                       "## Count\n```predict\nHow many?\ntopic: counts\nkeys: l\nanswer: %s\n```\n",
                  "strided.barriers = 294912");
    char *frame = play("<PgDn>");
    if (!strstr(frame, "Enter answer")) fail_msg("Enter has no name:\n%s", frame);
    if (strstr(frame, "! conflict")) fail_msg("the legend is shown:\n%s", frame);
    free(frame);
    shows("<PgDn><PgDn>", "! conflict");
}

/* Whatever the gutter counts, the source pane shows only the lines: no figure, no sign. */
static void the_gutter_is_hidden_too(void **state) {
    (void)state;
    static const char *const kernels[] = {"strided", "bug_missing_sync", "shuffle", "interleaved"};
    for (int i = 0; i < 4; i++) {
        Stage *stage = stage_open_kernel(kernels[i]);
        View *view = stage_view(stage);
        const char *file = "";
        StepContext context;
        assert_true(step_context_init(&context, stage->scene, view));
        file = context.code->line.file;
        view->transient.hides = HIDES_ALL;
        for (view->display.gutter = 0; view->display.gutter < GUTTER_SCOPE_COUNT; view->display.gutter++) {
            Layout layout;
            assert_true(layout_make(120, 40, view, frame_needs(stage->scene, view), &layout));
            Rectangle area = layout.slots[SLOT_SOURCE];
            Canvas *canvas = stage_draw(stage, 120, 40);
            bool is_code = false;
            for (int row = area.row + 1; row < area.row + area.rows - 1; row++) {
                char text[128] = "";
                for (int column = 0; column < area.columns - 4; column++) {
                    uint32_t glyph = canvas->cells[row * 120 + area.column + 2 + column].glyph;
                    text[column] = glyph < 128 ? (char)glyph : '#';
                }
                char *end = text + strlen(text), *code;
                while (end > text && strchr(" #", end[-1])) *--end = 0; /* '#': the line is cut */
                int line = (int)strtol(text + strspn(text, "> "), &code, 10);
                if (!line) continue; /* the rest of a long line, the instruction */
                code += strspn(code, " ");
                const char *source = scene_source_line(stage->scene, file, line);
                assert_non_null(source);
                if (!strstr(source, code)) fail_msg("%s, line %d: %s\n%s", kernels[i], line, source, code);
                is_code |= *code != 0;
            }
            assert_true(is_code);
            canvas_free(canvas);
        }
        stage_free(stage);
    }
}

static const LectureRun *offer_one(void *context, int index, Error *error) {
    OpenLecture *open = context;
    if (index == 1) return &open->run;
    error_set(error, "cannot be opened today");
    return NULL;
}

/* ---- under a terminal ---------------------------------------------------------------------------------- */

static const char *const xterm[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL};

static Pty *start(int columns, int rows) {
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {program ? program : "build/redviz", "--lecture", path, NULL};
    unsetenv("LINES");
    unsetenv("COLUMNS");
    return pty_start(arguments, xterm, columns, rows);
}

static void a_question_outlives_every_size(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    Pty *pty = start(80, 24);
    pty_wait_for(pty, "stop 1 of 5");
    pty_type(pty, "\033[6~");
    pty_wait_for(pty, "How many elements?");
    pty_type(pty, "6");
    pty_wait_for(pty, "> 6_");
    for (int columns = 40; columns < 220; columns += 13) pty_resize(pty, columns, columns / 3);
    pty_resize(pty, 30, 10);
    pty_resize(pty, 200, 60);
    pty_wait_for(pty, "> 6_");
    assert_false(pty_shows(pty, "step 5 of"));
    pty_resize(pty, 120, 40);
    pty_type(pty, "4\r");
    pty_wait_for(pty, "Right: 64");
    pty_wait_for(pty, "step 5 of");
    pty_quit(pty);
}

static void stops_are_opened_while_one_waits(void **state) {
    (void)state;
    write_walk();
    Pty *pty = start(100, 30);
    pty_wait_for(pty, "stop 1 of 7");
    pty_type(pty, "\033[6~\033[6~\033[6~"); /* faster than the second run opens */
    pty_wait_for(pty, "Beside each other.");
    pty_wait_for(pty, "sequential");
    pty_type(pty, "\033[6~");
    pty_wait_for(pty, "All rungs.");
    pty_type(pty, "\033[6~\033[6~");
    pty_wait_for(pty, "redviz  scale");
    pty_wait_for(pty, "stop 7 of 7");
    pty_type(pty, "\033OH");
    pty_wait_for(pty, "stop 1 of 7");
    pty_quit(pty);
}

/* The mouse: a click where the panel says "PgDn next"; the wheel over the panel. */
static void the_mouse_goes_on_and_scrolls(void **state) {
    (void)state;
    write_long("## Second\n```redviz\n" SMALL " --keys '3g'\n```\nThe next stop.\n");
    Pty *pty = start(100, 30);
    pty_wait_for(pty, "stop 1 of 2");
    pty_wait_for(pty, "Sentence 1 is here.");
    pty_type(pty, "\033[<65;10;26M\033[<65;10;26M"); /* down, over the panel: two rows */
    pty_wait_without(pty, "Sentence 1 is here.");
    pty_type(pty, "\033[<64;10;26M\033[<64;10;26M");
    pty_wait_for(pty, "Sentence 1 is here.");
    for (int pages = 0; pages < 40 && !pty_shows(pty, "stop 2 of 2"); pages++) {
        int row = 0;
        while (row < 30 && !strstr(pty_row(pty, row), "PgDn next") &&
               !strstr(pty_row(pty, row), "PgDn ↓ more"))
            row++;
        char click[64];
        snprintf(click, sizeof click, "\033[<0;92;%dM\033[<0;92;%dm", row + 1, row + 1);
        pty_type(pty, click);
        pty_settle(pty);
    }
    pty_wait_for(pty, "The next stop.");
    pty_wait_for(pty, "step 3 of");
    pty_quit(pty);
}

/* K lists lectures after the kernels, and starts the chosen one, even during another lecture. */
static void the_menu_offers_lectures(void **state) {
    (void)state;
    static const char *const names[] = {"first", "second"}, *const titles[] = {"One thing", "Reductions"};
    write_lecture("%s", ASK);
    Error error = {0};
    OpenLecture open;
    Options options = {.has_lecture = true, .lecture = path, .session.threads = 1};
    assert_true(cli_lecture_open(&options, &open, &error));
    LectureOffer offer = {{2, names, titles, NULL}, offer_one, &open};
    static const struct {
        const char *keys, *text;
    } cases[] = {{"Klecture", "second                 lecture"},
                 {"Klecture", "One thing"},
                 {"Kreductions", ">second                 lecture"},
                 {"Kreductions<Enter>", "Welcome."},
                 {"Kreductions<Enter>", "stop 1 of 5"},
                 {"Kreductions<Enter><PgDn>64<Enter>", "Right: 64"},
                 {"Kreductions<Enter><PgDn><PgDn><PgDn>Klecture second<Enter>", "stop 1 of 5"},
                 {"Klecture first<Enter>", "first: cannot be opened today"},
                 {"Kreductions<Enter>K<PgDn><PgDn><Esc>", "stop 1 of 5"},
                 {"Kreductions<Enter>?", "more of the text, then the next stop; back"},
                 {"Kreductions<Enter>", "PgDn stop Enter next"},
                 {"Kreductions<Enter><Right>", "PgDn stop Enter return"},
                 {"Kreductions<Enter><PgDn>", "PgDn stop Enter answer"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Session *session =
            session_open(&(RunSpec){.kernel = "strided", .threads = 1, .catalog.n = 4096}, &error);
        AppStart start = {.lectures = &offer, .keys = cases[i].keys, .still = true};
        Text out = {0};
        assert_non_null(session);
        assert_true(app_frame(session, 100, 36, &start, &out, &error));
        if (!strstr(text_string(&out), cases[i].text))
            fail_msg("%s: no %s in\n%s", cases[i].keys, cases[i].text, out.data);
        text_done(&out);
        session_free(session);
    }
    cli_lecture_close(&open);
}

/* The interface gets the rows that a short text does not need; an answer moves nothing. */
static void a_short_text_gives_rows_back(void **state) {
    (void)state;
    write_lecture("%s", ASK);
    static const char *const keys[] = {"<PgDn>", "<PgDn>63<Enter>", "<PgDn>64<Enter>", "<PgDn><PgDn>"};
    int first = 0;
    for (int i = 0; i < 4; i++) {
        char *frame = play_at(keys[i], 120, 40, true);
        int row = 0;
        for (const char *at = frame; at < strstr(frame, "stop 2 of 5"); at++) row += *at == '\n';
        if (!i) first = row;
        assert_int_equal(row, first);
        free(frame);
    }
    assert_true(first >= 36);
}

static int make_path(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.md", folder);
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path) || rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_keys_go_from_stop_to_stop),
        cmocka_unit_test(a_stop_may_open_the_help),
        cmocka_unit_test(enter_comes_back_after_other_keys),
        cmocka_unit_test(a_stop_compares_two_runs),
        cmocka_unit_test(stops_open_tables_panes_and_files),
        cmocka_unit_test(a_number_is_right_or_wrong),
        cmocka_unit_test(nonsense_goes_on_waiting),
        cmocka_unit_test(a_long_title_leaves_the_key_that_goes_on),
        cmocka_unit_test(a_choice_is_right_or_wrong),
        cmocka_unit_test(lanes_are_pointed_at),
        cmocka_unit_test(banks_are_pointed_at),
        cmocka_unit_test(the_score_comes_at_the_end),
        cmocka_unit_test(a_lecturer_asks_the_hall),
        cmocka_unit_test(long_text_is_scrolled),
        cmocka_unit_test(the_panel_fits_every_size),
        cmocka_unit_test(an_open_question_is_not_answered_on_the_screen),
        cmocka_unit_test(the_warps_are_covered),
        cmocka_unit_test(the_legend_is_covered),
        cmocka_unit_test(the_gutter_is_hidden_too),
        cmocka_unit_test(the_menu_offers_lectures),
        cmocka_unit_test(a_short_text_gives_rows_back),
        cmocka_unit_test(the_mouse_goes_on_and_scrolls),
        cmocka_unit_test(a_question_outlives_every_size),
        cmocka_unit_test(stops_are_opened_while_one_waits),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
