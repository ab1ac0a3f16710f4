/* The table of texts: every row has both languages, with the same conversions, once; every text that the
 * sources translate has a row, and every row is a text of the sources. */
#include "base/language.h"
#include "base/memory.h"
#include "base/text.h"
#include "exercise/exercise.h"
#include "lecture/lecture.h"
#include "metrics/totals.h"
#include "tui/view/key_actions.h"
#include "tui/view/menu.h"

#include <ctype.h>
#include <glob.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The conversion at `*at`, without flags, width and precision, which a language may choose: "s", "llu"; moves
 * past it. "5 % of all" has none. False: none is left. */
static bool next_conversion(const char **at, char out[8]) {
    for (; **at; ++*at) {
        if (**at != '%') continue;
        if (*++*at == '%') continue;
        size_t length = 0;
        for (; **at && strchr("-+#0123456789.*", **at); ++*at)
            if (**at == '*' && length + 1 < 8) out[length++] = '*';
        if (!**at) return false;
        if (!isalpha((unsigned char)**at)) continue;
        while (**at && length + 1 < 8) {
            char letter = *(*at)++;
            out[length++] = letter;
            if (!strchr("hlzjt", letter)) break;
        }
        out[length] = 0;
        return true;
    }
    return false;
}

static void both_languages_take_the_same_arguments(void **state) {
    (void)state;
    int count;
    const LanguageText *texts = language_texts(&count);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        const char *english = texts[i].english, *chinese = texts[i].chinese;
        char one[8], other[8];
        if (!*english || !*chinese) fail_msg("'%s' has no text in one language", english);
        while (next_conversion(&english, one))
            if (!next_conversion(&chinese, other) || strcmp(one, other) != 0)
                fail_msg("'%s' takes %%%s, but not '%s'", texts[i].english, one, texts[i].chinese);
        if (next_conversion(&chinese, other))
            fail_msg("'%s' takes %%%s, but not '%s'", texts[i].chinese, other, texts[i].english);
    }
}

static void each_text_stands_once(void **state) {
    (void)state;
    int count;
    const LanguageText *texts = language_texts(&count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(texts[i].english, texts[j].english)) fail_msg("'%s' stands twice", texts[i].english);
}

static void the_language_is_a_setting(void **state) {
    (void)state;
    int count;
    const LanguageText *texts = language_texts(&count);
    assert_string_equal(language(), "en");
    assert_ptr_equal(tr(texts[0].english), texts[0].english);
    assert_false(language_set("de"));
    assert_true(language_set("zh"));
    assert_string_equal(language(), "zh");
    for (int i = 0; i < count; i++) assert_string_equal(tr(texts[i].english), texts[i].chinese);
    assert_string_equal(tr("not in the table"), "not in the table");
    assert_true(language_set("en"));
    assert_string_equal(tr(texts[0].english), texts[0].english);
}

/* ---- one Chinese word for one thing -------------------------------------------------------------------- */

static const struct {
    const char *refused, *chosen;
} terms[] = {{"level", "层"},                      /* of a reduction; a rung of the ladder is 级 */
             {"interval", "区间"}, {"步骤", "步"}, /* a step */
             {"一站", "一节"},                     /* a stop of a lecture */
             {"%d 站", "%d 节"},   {" 站", " 节"},    {" word", "字"},
             {"conflict", "冲突"}, {" race", "竞争"}, {"屏障", "barrier"}};

/* The word of `chinese` that has another one; NULL: none. */
static const char *refused_term(const char *chinese, const char **chosen) {
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        *chosen = terms[i].chosen;
        if (strstr(chinese, terms[i].refused)) return terms[i].refused;
    }
    return NULL;
}

static void assert_terms(const char *where, const char *chinese) {
    Text text = {0};
    const char *chosen;
    text_print(&text, " %s", chinese); /* a term may begin with a blank */
    const char *refused = refused_term(text_string(&text), &chosen);
    if (refused) fail_msg("%s: '%s' is '%s' here: %s", where, refused, chosen, chinese);
    text_done(&text);
}

static void a_second_word_is_found(void **state) {
    (void)state;
    const char *chosen;
    assert_string_equal(refused_term("更早的 level，或刚加载的输入", &chosen), "level");
    assert_string_equal(chosen, "层");
    assert_null(refused_term("更早的层，或刚加载的输入", &chosen));
}

static void each_thing_has_one_chinese_word(void **state) {
    (void)state;
    int count;
    const LanguageText *texts = language_texts(&count);
    for (int i = 0; i < count; i++) assert_terms("src/base/texts", texts[i].chinese);
}

/* What a reader sees as prose: code keeps its English. */
static void assert_prose(const char *path, const char *markdown) {
    Text prose = {0};
    LectureSpan span;
    while (lecture_next_span(&markdown, &span))
        if (span.mark != LECTURE_INLINE_CODE) text_add_bytes(&prose, span.text, span.length);
    assert_terms(path, text_string(&prose));
    text_done(&prose);
}

static void assert_stop(const char *path, const LectureStop *stop) {
    const LectureQuestion *question = stop->question;
    assert_prose(path, stop->title);
    for (int i = 0; i < stop->block_count; i++)
        if (stop->blocks[i].kind != LECTURE_CODE) assert_prose(path, stop->blocks[i].text);
    if (question) assert_prose(path, question->text);
    for (int i = 0; question && i < question->reason_count; i++)
        assert_prose(path, question->reasons[i].text);
}

static void lectures_use_the_same_words(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/lectures/*.zh.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Error error = {0};
        Lecture *lecture = lecture_read(files.gl_pathv[i], &error);
        if (!lecture) fail_msg("%s:%d: %s", files.gl_pathv[i], error.line, error.message);
        for (int k = 0; k < lecture->stop_count; k++) assert_stop(files.gl_pathv[i], &lecture->stops[k]);
        lecture_free(lecture);
    }
    globfree(&files);
}

static void exercises_use_the_same_words(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/exercises/*.zh.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        Error error = {0};
        Exercise *exercise = exercise_read(path, &error);
        if (!exercise) fail_msg("%s:%d: %s", path, error.line, error.message);
        assert_prose(path, exercise->title);
        assert_prose(path, exercise->task);
        assert_prose(path, exercise->solution_text);
        for (int k = 0; k < exercise->hint_count; k++) assert_prose(path, exercise->hints[k]);
        exercise_free(exercise);
    }
    globfree(&files);
}

/* ---- the sources --------------------------------------------------------------------------------------- */

typedef struct Literals {
    char **texts;
    bool *translated; /* the argument of tr() */
    int count, capacity;
} Literals;

/* Appends the characters of a literal; `at` is behind its quote. Returns the place behind the closing one. */
static const char *read_literal(const char *at, Text *out) {
    for (; *at && *at != '"'; at++) {
        if (*at != '\\') {
            text_add_bytes(out, at, 1);
            continue;
        }
        static const char names[] = "nt\\\"'", values[] = "\n\t\\\"'";
        const char *found = strchr(names, *++at);
        text_add_bytes(out, found && *found ? &values[found - names] : at, 1);
    }
    return *at ? at + 1 : at;
}

static const char *skip_comment(const char *at) {
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    return at[0] == '/' && at[1] == '/' ? at + strcspn(at, "\n") : at;
}

/* Takes `text`. */
static void add_literal(Literals *out, char *text, bool translated) {
    bool *flag = out->translated;
    int capacity = out->capacity;
    array_push(out->texts, out->count, out->capacity, text);
    if (out->capacity != capacity) {
        out->translated = realloc(flag, (size_t)out->capacity * sizeof *flag);
        assert_non_null(out->translated);
    }
    out->translated[out->count - 1] = translated;
}

/* All string literals of a source, adjacent ones as one. */
static void read_source(const char *source, Literals *out) {
    for (const char *at = source; *at;) {
        const char *next = skip_comment(at);
        if (next != at) {
            at = next;
        } else if (*at == '\'') {
            at += at[1] == '\\' ? 4 : 3;
        } else if (*at == '"') {
            bool translated = at - source >= 3 && !strncmp(at - 3, "tr(", 3) &&
                              (at - source < 4 || at[-4] == ' ' || strchr("(,!?:&|=", at[-4]));
            Text text = {0};
            do {
                at = read_literal(at + 1, &text);
                at += strspn(at, " \t\n");
            } while (*at == '"');
            add_literal(out, memory_copy_text(text_string(&text)), translated);
            text_done(&text);
        } else {
            at++;
        }
    }
}

static bool has_chinese(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text >= 0xe4 && (unsigned char)*text <= 0xe9) return true;
    return false;
}

/* The literals of every line that has Chinese. */
static void assert_literals(const char *path, char *source) {
    for (char *line = strtok(source, "\n"); line; line = strtok(NULL, "\n")) {
        if (!has_chinese(line)) continue;
        for (char *at = line; (at = strchr(at, '"')) != NULL;) {
            Text literal = {0};
            at = (char *)read_literal(at + 1, &literal);
            assert_terms(path, text_string(&literal));
            text_done(&literal);
        }
    }
}

static void literals_use_the_same_words(void **state) {
    (void)state;
    static const char *const patterns[] = {"tui/*.c", "tui/*/*.c", "src/*/*.c", "assets/html/*.js"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        assert_int_equal(glob(patterns[i], 0, NULL, &found), 0);
        for (size_t file = 0; file < found.gl_pathc; file++) {
            char *source;
            size_t length;
            assert_true(text_read_file(found.gl_pathv[file], 1 << 22, &source, &length, NULL));
            assert_literals(found.gl_pathv[file], source);
            free(source);
        }
        globfree(&found);
    }
}

static void read_sources(Literals *out) {
    static const char *const patterns[] = {"tui/*.[ch]",     "tui/*/*.[ch]", "tui/*/*.def",  "src/*/*.[ch]",
                                           "src/*/*/*.[ch]", "src/*/*.def",  "src/*/*/*.def"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) != 0) continue;
        for (size_t file = 0; file < found.gl_pathc; file++) {
            char *source;
            size_t length;
            if (strstr(found.gl_pathv[file], "base/texts/")) continue;
            assert_true(text_read_file(found.gl_pathv[file], 1 << 22, &source, &length, NULL));
            read_source(source, out);
            free(source);
        }
        globfree(&found);
    }
}

/* As the differences of two runs show it. */
static char *name_of_metric(Metric metric) {
    char *name = memory_copy_text(metric_infos[metric].name);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = ' ';
    return name;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void every_text_has_both_languages(void **state) {
    (void)state;
    Literals literals = {0};
    int count, lacking = 0, translated = 0;
    const LanguageText *texts = language_texts(&count);
    char **rows = memory_new((size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++) rows[i] = (char *)texts[i].english;
    qsort(rows, (size_t)count, sizeof *rows, by_text);
    read_sources(&literals);
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
        add_literal(&literals, name_of_metric(metric), true);
    for (int i = 0; i < literals.count; i++) {
        translated += literals.translated[i];
        if (!literals.translated[i] ||
            bsearch(&literals.texts[i], rows, (size_t)count, sizeof *rows, by_text))
            continue;
        print_error("no Chinese for \"%s\"\n", literals.texts[i]);
        lacking++;
    }
    qsort(literals.texts, (size_t)literals.count, sizeof *literals.texts, by_text);
    for (int i = 0; i < count; i++)
        if (!bsearch(&rows[i], literals.texts, (size_t)literals.count, sizeof *rows, by_text)) {
            print_error("no source says \"%s\"\n", rows[i]);
            lacking++;
        }
    for (int i = 0; i < literals.count; i++) free(literals.texts[i]);
    free(literals.texts);
    free(literals.translated);
    free(rows);
    if (lacking) fail_msg("%d texts", lacking);
    print_message("# summary: %d texts in two languages, %d of them in tr()\n", count, translated);
}

/* ---- the tables ---------------------------------------------------------------------------------------- */

static int lacking_in_tables;

static void expect_chinese(const char *english) {
    int count;
    const LanguageText *texts = language_texts(&count);
    if (!english || !*english) return;
    for (int i = 0; i < count; i++)
        if (!strcmp(texts[i].english, english)) return;
    print_error("no Chinese for \"%s\"\n", english);
    lacking_in_tables++;
}

static void expect_keys(const KeyRow *rows, int count) {
    for (int i = 0; i < count; i++) {
        expect_chinese(rows[i].name);
        expect_chinese(rows[i].help);
    }
}

static void expect_catalogue(void) {
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        expect_chinese(row->title);
        expect_chinese(row->story);
        expect_chinese(row->lesson);
        expect_chinese(row->watch);
        expect_chinese(menu_group_title(row->group));
        for (int at = 0; at < CATALOG_PARAMETERS && row->parameters[at].name; at++) {
            const CatalogParameter *parameter = &row->parameters[at];
            expect_chinese(parameter->meaning);
            for (int64_t v = 0; row->value_names[at] && v <= parameter->maximum; v++)
                expect_chinese(row->value_names[at][v]);
        }
    }
}

/* The literal test does not see these: tr() gets them from a row of a table. */
static void every_row_of_a_table_has_both_languages(void **state) {
    (void)state;
    static const char *const explained[] = {
#define SIGN(pane, role, sign, meaning) meaning,
#include "tui/panes/legend.def"
#undef SIGN
#define WORD(word, meaning) meaning,
#include "tui/panes/glossary.def"
#undef WORD
    };
    lacking_in_tables = 0;
    for (size_t i = 0; i < sizeof explained / sizeof *explained; i++) expect_chinese(explained[i]);
    expect_keys(key_rows, ACTION_COUNT);
    expect_keys(lecture_key_rows, LECTURE_KEY_COUNT);
    for (KeyGroup group = 0; group < KEY_GROUP_COUNT; group++) expect_chinese(keys_group_title(group));
    for (int i = 0; i < METRIC_COUNT; i++) {
        expect_chinese(metric_infos[i].label);
        expect_chinese(metric_infos[i].pane);
    }
    expect_catalogue();
    if (lacking_in_tables) fail_msg("%d texts", lacking_in_tables);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_languages_take_the_same_arguments),
        cmocka_unit_test(each_text_stands_once),
        cmocka_unit_test(the_language_is_a_setting),
        cmocka_unit_test(a_second_word_is_found),
        cmocka_unit_test(each_thing_has_one_chinese_word),
        cmocka_unit_test(lectures_use_the_same_words),
        cmocka_unit_test(exercises_use_the_same_words),
        cmocka_unit_test(literals_use_the_same_words),
        cmocka_unit_test(every_text_has_both_languages),
        cmocka_unit_test(every_row_of_a_table_has_both_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
