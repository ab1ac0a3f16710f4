/* Lecture files: the parser and its errors, marks in paragraphs, two languages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "lecture/claim.h"
#include "lecture/lecture.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define HEAD   "# T\n```lecture\nlanguage: en\nminutes: 5\nneeds: no GPU\n```\n" /* lines 1 to 6 */
#define SCREEN "```redviz\n--kernel interleaved\n```\n"
#define STOP   "## S\n" SCREEN /* lines 7 to 10 */

static Lecture *parse(const char *text) {
    Error error = {0};
    Lecture *lecture = lecture_parse(text, strlen(text), "a.md", &error);
    if (!lecture) fail_msg("%d:%d: %s", error.line, error.column, error.message);
    return lecture;
}

/* ---- valid files --------------------------------------------------------------------------------------- */

static void assert_block(const LectureBlock *block, LectureBlockKind kind, const char *label,
                         const char *text) {
    assert_int_equal(block->kind, kind);
    assert_string_equal(block->text, text);
    if (label)
        assert_string_equal(block->label, label);
    else
        assert_null(block->label);
}

static void every_kind_of_block_is_read(void **state) {
    (void)state;
    Lecture *lecture =
        parse(HEAD "What it\nis about.\n"
                   "<!-- a comment\n  of two lines -->\n" STOP "- one\n  goes on\n- two\n"
                   "1. first\n\n### Inside\nA *word*.\n```cuda\n  x += y;\n\nz;\n```\nafter\n");
    assert_string_equal(lecture->path, "a.md");
    assert_string_equal(lecture->title, "T");
    assert_string_equal(lecture->language, "en");
    assert_string_equal(lecture->needs, "no GPU");
    assert_int_equal(lecture->minutes, 5);
    assert_int_equal(lecture->stop_count, 2);
    assert_string_equal(lecture->stops[0].title, "T");
    assert_false(lecture->stops[0].has_command);
    assert_int_equal(lecture->stops[0].block_count, 1);
    assert_block(&lecture->stops[0].blocks[0], LECTURE_PARAGRAPH, NULL, "What it is about.");
    const LectureStop *stop = &lecture->stops[1];
    assert_string_equal(stop->title, "S");
    assert_int_equal(stop->place.line, 11);
    assert_true(stop->has_command);
    assert_int_equal(stop->command_place.line, 12);
    assert_int_equal(stop->block_count, 7);
    assert_block(&stop->blocks[0], LECTURE_ITEM, "-", "one goes on");
    assert_block(&stop->blocks[1], LECTURE_ITEM, "-", "two");
    assert_block(&stop->blocks[2], LECTURE_ITEM, "1.", "first");
    assert_block(&stop->blocks[3], LECTURE_HEADING, NULL, "Inside");
    assert_block(&stop->blocks[4], LECTURE_PARAGRAPH, NULL, "A *word*.");
    assert_block(&stop->blocks[5], LECTURE_CODE, NULL, "  x += y;\n\nz;\n");
    assert_block(&stop->blocks[6], LECTURE_PARAGRAPH, NULL, "after");
    lecture_free(lecture);
}

static void a_command_line_is_read_as_a_shell_does(void **state) {
    (void)state;
    static const char *const words[] = {"--kernel", "strided", "--keys", "a 'b\"", "--fill=digits"};
    static const LecturePlace places[] = {{9, 1}, {9, 10}, {10, 2}, {10, 9}, {10, 19}};
    Lecture *lecture =
        parse(HEAD "## S\n```redviz\n--kernel strided\n\t--keys \"a 'b\"'\"' --fill=digits\n```\n");
    const LectureStop *stop = &lecture->stops[0]; /* without text before it, the title is not a stop */
    assert_int_equal(lecture->stop_count, 1);
    assert_int_equal(stop->word_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(stop->words[i].text, words[i]);
        assert_int_equal(stop->words[i].place.line, places[i].line);
        assert_int_equal(stop->words[i].place.column, places[i].column);
    }
    lecture_free(lecture);
}

static void questions_and_claims_are_read(void **state) {
    (void)state;
    Lecture *lecture = parse(HEAD STOP "```predict\nHow\n  many?\ntopic: banks\nkeys: l\n"
                                       "answer: min(wavefronts(step), 3) = 2\n```\n"
                                       "## C\n```predict\nWhich?\ntopic: t\nchoices: 1 lane | all of them\n"
                                       "answer: = all of them\n```\n```claim\n  1 == 1\n\n2 == 2\n```\n"
                                       "```claim\n3 == 3\n```\n");
    const LectureQuestion *question = lecture->stops[0].question;
    assert_string_equal(question->text, "How many?");
    assert_string_equal(question->topic, "banks");
    assert_string_equal(question->keys, "l");
    assert_string_equal(question->answer.text, "min(wavefronts(step), 3)");
    assert_int_equal(question->answer.place.line, 16);
    assert_int_equal(question->answer.place.column, 9);
    assert_string_equal(question->value, "2");
    assert_int_equal(question->value_place.column, 36);
    assert_int_equal(question->choice_count, 0);
    const LectureStop *stop = &lecture->stops[1];
    question = stop->question;
    assert_null(question->keys);
    assert_int_equal(question->choice_count, 2);
    assert_string_equal(question->choices[0], "1 lane");
    assert_string_equal(question->choices[1], "all of them");
    assert_string_equal(question->answer.text, "");
    assert_string_equal(question->value, "all of them");
    assert_int_equal(stop->claim_count, 3);
    assert_string_equal(stop->claims[0].text, "1 == 1");
    assert_int_equal(stop->claims[0].place.line, 26);
    assert_int_equal(stop->claims[0].place.column, 3);
    assert_string_equal(stop->claims[2].text, "3 == 3");
    lecture_free(lecture);
}

static void a_section_ends_with_an_exercise(void **state) {
    (void)state;
    Lecture *lecture = parse(HEAD STOP "Text.\n```exercise\n  block-sum \n```\n");
    const LectureStop *stop = &lecture->stops[0];
    assert_string_equal(stop->exercise, "block-sum");
    assert_int_equal(stop->exercise_place.line, 13);
    assert_int_equal(stop->exercise_place.column, 3);
    assert_int_equal(stop->blocks[1].kind, LECTURE_CODE);
    assert_string_equal(stop->blocks[1].text, "redviz --exercise block-sum\n");
    lecture_free(lecture);
}

static void lines_of_a_script_without_blanks_join_without_one(void **state) {
    (void)state;
    Lecture *lecture = parse(HEAD STOP "归约\n核\nwarp\n每个\n");
    assert_string_equal(lecture->stops[0].blocks[0].text, "归约核 warp 每个");
    lecture_free(lecture);
}

static void line_ends_and_a_byte_order_mark_make_no_difference(void **state) {
    (void)state;
    static const char plain[] = HEAD "Text\ngoes on.\n" STOP "```cuda\na\nb\n```\n";
    Text other = {0};
    text_add(&other, "\xef\xbb\xbf");
    for (const char *at = plain; *at; at++) text_add(&other, *at == '\n' ? "\r\n" : (char[]){*at, 0});
    Lecture *lecture = parse(text_string(&other));
    assert_string_equal(lecture->title, "T");
    assert_string_equal(lecture->stops[0].blocks[0].text, "Text goes on.");
    assert_string_equal(lecture->stops[1].words[1].text, "interleaved");
    assert_string_equal(lecture->stops[1].blocks[0].text, "a\nb\n");
    lecture_free(lecture);
    text_done(&other);
}

static void text_behind_a_comment_is_kept(void **state) {
    (void)state;
    Lecture *lecture = parse(HEAD STOP "Before\n<!-- a -->\nbetween <!-- b --> and\n<!-- c --> after\n");
    assert_int_equal(lecture->stops[0].block_count, 1);
    assert_string_equal(lecture->stops[0].blocks[0].text, "Before between and after");
    lecture_free(lecture);
}

/* ---- invalid files ------------------------------------------------------------------------------------- */

static void every_error_names_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } cases[] = {
        {"", 1, 1, "this file is empty: '# Title' begins a lecture"},
        {"\n\n", 1, 1, "this file is empty: '# Title' begins a lecture"},
        {"text\n", 1, 1, "the lecture's title comes first: '# Title'"},
        {"```lecture\n", 1, 1, "the lecture's title comes first: '# Title'"},
        {"```\n", 1, 1, "the lecture's title comes first: '# Title'"},
        {"```redviz\n", 1, 1, "the lecture's title comes first: '# Title'"},
        {"## S\n", 1, 1, "the lecture's title is missing: '# Title' comes before the first stop"},
        {"# \n", 1, 2, "this heading is empty: '## Title' begins a stop"},
        {"# T\n## S\n", 2, 1,
         "the block ```lecture (language, minutes, needs) is missing before the first stop"},
        {"# T\ntext\n", 2, 1, "the block ```lecture (language, minutes, needs) is missing"},
        {HEAD "##  \n", 7, 3, "this heading is empty: '## Title' begins a stop"},
        {HEAD STOP "```exercise\n\n```\n", 11, 1,
         "this block is empty: give the name of an exercise, like block-sum"},
        {HEAD STOP "```exercise\na\nb\n```\n", 13, 1, "one name of an exercise is expected"},
        {HEAD STOP "```exercise\na\n```\n```exercise\nb\n```\n", 14, 1, "a stop has one block ```exercise"},
        {HEAD "# U\n", 7, 1, "a lecture has one title; '## Title' begins a stop"},
        {HEAD "```lecture\n", 7, 1, "there is one block ```lecture"},
        {HEAD "text\n", 1, 1, "no stop shows anything: a block ```redviz says what"},
        {"# T\n```lecture\nlanguage: en\n```\n", 2, 1,
         "the block ```lecture lacks one of language, minutes, needs"},
        {"# T\n```lecture\nlanguage:\nminutes: 5\nneeds: x\n```\n", 2, 1,
         "the block ```lecture lacks one of language, minutes, needs"},
        {"# T\n```lecture\n minutes: 0\n", 3, 11, "minutes is a whole number, like 20"},
        {"# T\n```lecture\nminutes: 1.5\n", 3, 10, "minutes is a whole number, like 20"},
        {"# T\n```lecture\nminutes:\n", 3, 9, "minutes is a whole number, like 20"},
        {"# T\n```lecture\n length: 5\n", 3, 2,
         "the block ```lecture has the lines language: ..., minutes: ... and needs: ..."},
        {"# T\n```lecture\nlanguage: en\n", 2, 1, "this block is never closed: ``` is missing"},
        {HEAD "## S\n```redviz\n--kernel a\n", 8, 1, "this block is never closed: ``` is missing"},
        {HEAD STOP "```predict\nWhat?\n", 11, 1, "this block is never closed: ``` is missing"},
        {HEAD STOP "```claim\n1 == 1\n", 11, 1, "this block is never closed: ``` is missing"},
        {HEAD STOP "```cuda\nx\n", 11, 1, "this block is never closed: ``` is missing"},
        {HEAD STOP "\n<!-- x\n\n", 12, 1, "this comment is never closed: --> is missing"},
        {HEAD STOP "a <!-- x\n\n", 11, 3, "this comment is never closed: --> is missing"},
        {HEAD "## S\n```redvis\n", 8, 4, "there is no block 'redvis'; did you mean ```redviz?"},
        {HEAD "## S\n```predicts\n", 8, 4, "there is no block 'predicts'; did you mean ```predict?"},
        {HEAD "## S\n```redviz\n```\n", 8, 1,
         "this block is empty: give options, like --kernel interleaved --keys ']'"},
        {HEAD "## S\n```redviz\n redviz --kernel a\n```\n", 9, 2,
         "the options alone, without the word redviz"},
        {HEAD "## S\n```redviz\n--keys 'a b\n```\n", 9, 8, "this quote is never closed"},
        {HEAD "## S\n```redviz\n--keys \"a'\n```\n", 9, 8, "this quote is never closed"},
        {HEAD STOP SCREEN, 11, 1, "a stop has one block ```redviz"},
        {HEAD STOP "```claim\n\n```\n", 11, 1,
         "this block is empty: give claims, a line each, like interleaved.excess == 0"},
        {HEAD STOP "```predict\ntopic: t\nanswer: steps = 1\n```\n", 11, 1,
         "the question is missing: it comes before topic: and answer:"},
        {HEAD STOP "```predict\nWhat?\nanswer: x = 1\n```\n", 11, 1,
         "topic: is missing, the word under which the score counts this question"},
        {HEAD STOP "```predict\nWhat?\ntopic:\nanswer: x = 1\n```\n", 11, 1,
         "topic: is missing, the word under which the score counts this question"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\n```\n", 11, 1,
         "answer: is missing: answer: EXPRESSION = VALUE"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nand then?\n", 14, 1,
         "after the question come the lines topic: ..., choices: ..., keys: ..., answer: ... and wrong: ..."},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nwrong: 4\nanswer: lanes(step) = 5\n```\n", 14, 8,
         "a wrong answer has its reason behind '=': wrong: 32 = those are the lanes"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: lanes(step) = 5\nwrong: many = no\n```\n", 15, 8,
         "a wrong answer is a number, one of the choices, or *"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: lanes(step) = 5\nwrong: 5 = no\n```\n", 15, 8,
         "this is the right answer"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: 4\n", 14, 9,
         "write the answer as EXPRESSION = VALUE, like lanes(step) = 4"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: x =\n", 14, 9,
         "write the answer as EXPRESSION = VALUE, like lanes(step) = 4"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: x = many\n```\n", 14, 13,
         "an answer is a number; else give choices: one | two | three"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: x = nan\n```\n", 14, 13,
         "an answer is a number; else give choices: one | two | three"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: = 4\n```\n", 14, 11,
         "the expression before '=' is missing, like lanes(step)"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nchoices: one | | two\n", 14, 15,
         "a choice is empty: choices: one | two | three"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nchoices: one\n", 14, 10,
         "at least two choices: choices: one | two | three"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nchoices: 1|2|3|4|5|6|7|8|9\n", 14, 26,
         "a question has at most 8 choices"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nchoices: one | two\nanswer: = three\n```\n", 15, 11,
         "this is none of the choices"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nchoices: one | two\nanswer: x = one\n```\n", 15, 13,
         "the expression gives a number, so this choice begins with one; else write answer: = CHOICE"},
        {HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: x = 1\n```\n```predict\n", 16, 1,
         "a stop has one block ```predict"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        const char *text = cases[i].text;
        if (lecture_parse(text, strlen(text), "a.md", &error)) fail_msg("case %zu is accepted: %s", i, text);
        assert_string_equal(error.file, "a.md");
        if (error.line != cases[i].line || error.column != cases[i].column ||
            strcmp(error.message, cases[i].says) != 0)
            fail_msg("case %zu: %d:%d: %s\n  not %d:%d: %s", i, error.line, error.column, error.message,
                     cases[i].line, cases[i].column, cases[i].says);
    }
}

/* Anywhere: in a paragraph, in a comment, within a block. */
static void a_byte_0_is_refused_at_its_place(void **state) {
    (void)state;
    static const char *const texts[] = {HEAD STOP "a ~", HEAD STOP "```cuda\n  ~\n```\n",
                                        HEAD STOP "<!-- ~ -->\n", HEAD STOP "```claim\n1 == 1~\n```\n"};
    static const LecturePlace places[] = {{11, 3}, {12, 3}, {11, 6}, {12, 7}};
    for (int i = 0; i < 4; i++) {
        Error error = {0};
        char text[256];
        size_t length = (size_t)snprintf(text, sizeof text, "%s", texts[i]);
        *strchr(text, '~') = 0;
        assert_null(lecture_parse(text, length, "a.md", &error));
        assert_string_equal(error.message, "a lecture is text; this byte is 0");
        assert_int_equal(error.line, places[i].line);
        assert_int_equal(error.column, places[i].column);
    }
}

static void at_most_500_stops(void **state) {
    (void)state;
    Text text = {0};
    Error error = {0};
    text_add(&text, HEAD "first\n");
    for (int i = 1; i < 500; i++) text_print(&text, "## Stop %d\n%s", i, i == 1 ? SCREEN : "");
    Lecture *lecture = parse(text_string(&text));
    assert_int_equal(lecture->stop_count, 500);
    assert_string_equal(lecture->stops[499].title, "Stop 499");
    lecture_free(lecture);
    text_add(&text, "## One more\n");
    assert_null(lecture_parse(text.data, text.length, "a.md", &error));
    assert_string_equal(error.message, "a lecture has at most 500 stops");
    assert_int_equal(error.line, 7 + 499 + 3 + 1);
    text_done(&text);
}

/* The line at fault is shown; an unreadable file is named. */
static void errors_show_the_line(void **state) {
    (void)state;
    Error error = {0};
    static const char text[] = HEAD "## S\n```redviz\n--keys 'a b\n```\n";
    assert_null(lecture_parse(text, sizeof text - 1, "a.md", &error));
    assert_string_equal(error.excerpt, "--keys 'a b");
    assert_null(lecture_read("/nowhere/a.md", &error));
    assert_string_equal(error.file, "/nowhere/a.md");
}

/* Truncated anywhere, a file is read, or refused with one line: nothing else. */
static void any_part_of_a_file_is_read_or_refused(void **state) {
    (void)state;
    static const char text[] = HEAD "Text `code`.\n" STOP "```predict\nWhat?\ntopic: t\nkeys: l\n"
                                    "choices: 1 a | 2 b\nanswer: x = 1 a\n```\n```claim\n1 == 1\n```\n"
                                    "<!-- c -->\n- item\n";
    for (size_t length = 0; length < sizeof text; length++) {
        Error error = {0};
        char *part = malloc(length ? length : 1); /* exact size, so that a sanitizer detects reads past it */
        memcpy(part, text, length);
        Lecture *lecture = lecture_parse(part, length, "a.md", &error);
        assert_int_equal(!lecture, error.message[0] != 0);
        assert_null(strchr(error.message, '\n'));
        lecture_free(lecture);
        free(part);
    }
}

/* ---- marks --------------------------------------------------------------------------------------------- */

/* "s(strong) and ..." : the mark's letter and its text, plain text unchanged. */
static void assert_spans(const char *text, const char *expected) {
    static const char letters[] = {'p', 's', 'e', 'c', 'l'};
    Text all = {0};
    LectureSpan span;
    while (lecture_next_span(&text, &span)) {
        assert_true(span.length > 0);
        text_print(&all, "%c(%.*s", letters[span.mark], (int)span.length, span.text);
        if (span.address) text_print(&all, "|%.*s", (int)span.address_length, span.address);
        text_add(&all, ")");
    }
    assert_string_equal(text_string(&all), expected);
    text_done(&all);
}

static void marks_are_found_in_a_paragraph(void **state) {
    (void)state;
    assert_spans("", "");
    assert_spans("plain", "p(plain)");
    assert_spans("a **b** *c* `d` e", "p(a )s(b)p( )e(c)p( )c(d)p( e)");
    assert_spans("`a * b` and **", "c(a * b)p( and **)");
    assert_spans("2 * 3 * 4", "p(2 * 3 * 4)");
    assert_spans("[text](address), [no] (no)", "l(text|address)p(, [no] (no))");
    assert_spans("s[tid] += s[tid + k]", "p(s[tid] += s[tid + k])");
    assert_spans("an open `code", "p(an open `code)");
    assert_spans("``a`b``", "c(a`b)");
    assert_spans("**b**", "s(b)");
    assert_spans("**每个**warp", "s(每个)p(warp)");
}

/* ---- two languages ------------------------------------------------------------------------------------- */

#define QUESTION "```predict\nWhat?\ntopic: t\nkeys: l\nanswer: x = 1\n```\n"
#define CHOICE   "```predict\nWhat?\ntopic: t\nchoices: one | two\nanswer: = one\n```\n"
#define CLAIM    "```claim\n1 == 1\n```\n"

static void one_lecture_in_two_languages(void **state) {
    (void)state;
    static const struct {
        const char *one, *other;
        const char *file; /* where the error is; NULL: both agree */
        int line;
        const char *says;
    } cases[] = {
        {HEAD STOP, HEAD "Text\n" STOP, "b.md", 1,
         "the block ```redviz of this stop is not that of line 8 of a.md"},
        {HEAD STOP "text\n" QUESTION CLAIM,
         HEAD STOP "词\n\n词\n```predict\n什么？\ntopic: 词\nkeys: l\nanswer: x = 1\n```\n" CLAIM, NULL, 0,
         NULL},
        {HEAD STOP CHOICE, HEAD STOP "```predict\n什么？\ntopic: t\nchoices: 一 | 二\nanswer: = 一\n```\n",
         NULL, 0, NULL},
        {HEAD STOP CHOICE, HEAD STOP "```predict\n什么？\ntopic: t\nchoices: 一 | 二\nanswer: = 二\n```\n",
         "b.md", 11, "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP CHOICE,
         HEAD STOP "```predict\n什么？\ntopic: t\nchoices: 一 | 二 | 三\nanswer: = 一\n```\n", "b.md", 11,
         "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP, HEAD "## S\n```redviz\n--kernel strided\n```\n", "b.md", 8,
         "the block ```redviz of this stop is not that of line 8 of a.md"},
        {HEAD STOP, HEAD "## S\n```redviz\n--kernel interleaved --n 64\n```\n", "b.md", 8,
         "the block ```redviz of this stop is not that of line 8 of a.md"},
        {HEAD STOP STOP, HEAD STOP "## S\n", "b.md", 11,
         "the block ```redviz of this stop is not that of line 12 of a.md"},
        {HEAD STOP QUESTION, HEAD STOP, "b.md", 7, "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP, HEAD STOP QUESTION, "b.md", 11, "the answer of this stop is not that of line 7 of a.md"},
        {HEAD STOP QUESTION, HEAD STOP "```predict\nWhat?\ntopic: t\nkeys: l\nanswer: x = 2\n```\n", "b.md",
         11, "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP QUESTION, HEAD STOP "```predict\nWhat?\ntopic: t\nkeys: l\nanswer: y = 1\n```\n", "b.md",
         11, "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP QUESTION, HEAD STOP "```predict\nWhat?\ntopic: t\nanswer: x = 1\n```\n", "b.md", 11,
         "the answer of this stop is not that of line 11 of a.md"},
        {HEAD STOP "```exercise\nblock-sum\n```\n", HEAD STOP "```exercise\nlast-warp\n```\n", "b.md", 12,
         "the exercise of this stop is not that of line 12 of a.md"},
        {HEAD STOP CLAIM, HEAD STOP, "b.md", 7, "this stop lacks the claim in line 12 of a.md"},
        {HEAD STOP CLAIM, HEAD STOP "```claim\n1 == 2\n```\n", "b.md", 12,
         "this stop lacks the claim in line 12 of a.md"},
        {HEAD STOP, HEAD STOP CLAIM, "b.md", 12, "a.md lacks this claim in the stop of line 7"},
        {HEAD STOP "## T\n", HEAD STOP, "a.md", 11, "b.md lacks this stop"},
        {HEAD STOP, HEAD STOP "## T\n", "b.md", 11, "a.md lacks this stop"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        Lecture *one = parse(cases[i].one);
        Lecture *other = lecture_parse(cases[i].other, strlen(cases[i].other), "b.md", &error);
        assert_non_null(other);
        bool same = lecture_is_same(one, other, &error);
        if (same != !cases[i].file) fail_msg("case %zu: %s", i, same ? "no difference" : error.message);
        if (!same && (strcmp(error.file, cases[i].file) != 0 || error.line != cases[i].line ||
                      strcmp(error.message, cases[i].says) != 0))
            fail_msg("case %zu: %s:%d: %s", i, error.file, error.line, error.message);
        lecture_free(one);
        lecture_free(other);
    }
}

/* ---- the shipped lectures ------------------------------------------------------------------------------ */

static bool names_its_screen(const LectureStop *stop) {
    for (int i = 0; i < stop->claim_count; i++)
        if (claim_shown_text(&stop->claims[i])) return true;
    return false;
}

/* So that no frame lacks what its text speaks of. */
static void every_shipped_stop_names_what_it_shows(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/lectures/*.*.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Error error = {0};
        Lecture *lecture = lecture_read(files.gl_pathv[i], &error);
        if (!lecture) fail_msg("%s:%d: %s", files.gl_pathv[i], error.line, error.message);
        for (int k = 0; k < lecture->stop_count; k++)
            if (!names_its_screen(&lecture->stops[k]))
                fail_msg("%s:%d: no claim 'shows: ...'", files.gl_pathv[i], lecture->stops[k].place.line);
        lecture_free(lecture);
    }
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_block_is_read),
        cmocka_unit_test(a_command_line_is_read_as_a_shell_does),
        cmocka_unit_test(questions_and_claims_are_read),
        cmocka_unit_test(a_section_ends_with_an_exercise),
        cmocka_unit_test(lines_of_a_script_without_blanks_join_without_one),
        cmocka_unit_test(line_ends_and_a_byte_order_mark_make_no_difference),
        cmocka_unit_test(text_behind_a_comment_is_kept),
        cmocka_unit_test(every_error_names_its_place),
        cmocka_unit_test(a_byte_0_is_refused_at_its_place),
        cmocka_unit_test(at_most_500_stops),
        cmocka_unit_test(errors_show_the_line),
        cmocka_unit_test(any_part_of_a_file_is_read_or_refused),
        cmocka_unit_test(marks_are_found_in_a_paragraph),
        cmocka_unit_test(every_shipped_stop_names_what_it_shows),
        cmocka_unit_test(one_lecture_in_two_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
