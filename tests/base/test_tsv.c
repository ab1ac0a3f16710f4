/* Tab-separated text: read as written; error messages name file, line and column. */
#include "base/tsv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void what_is_written_is_read(void **state) {
    (void)state;
    Text text = {0};
    TsvReader reader;
    double number;
    uint64_t whole;
    text_add(&text, "# a comment\n\nrow");
    tsv_add_word(&text, "two\twords\nand more");
    tsv_add_word(&text, "");
    tsv_add_word(&text, NULL);
    tsv_add_number(&text, 2.0 / 3, 4);
    tsv_add_number(&text, NAN, 4);
    text_add(&text, "\t18446744073709551615\t\n#\nend\n");
    tsv_open_text(&reader, text_string(&text), "here");
    assert_true(tsv_next(&reader));
    assert_int_equal(reader.line, 3);
    assert_int_equal(reader.count, 8);
    assert_true(tsv_is(&reader, "row") && !tsv_is(&reader, "ro"));
    assert_string_equal(tsv_word(&reader, 1), "two words and more");
    assert_string_equal(reader.columns[2], "-");
    assert_string_equal(tsv_word(&reader, 2), "");
    assert_string_equal(tsv_word(&reader, 3), "");
    assert_true(tsv_number(&reader, 4, &number, NULL) && number == 0.6667);
    assert_true(tsv_number_within(&reader, 5, 0, 1, &number, NULL) && isnan(number));
    assert_true(tsv_whole(&reader, 6, 0, UINT64_MAX, &whole, NULL) && whole == UINT64_MAX);
    assert_string_equal(reader.columns[7], "");
    assert_true(tsv_next(&reader) && tsv_is(&reader, "end"));
    assert_int_equal(reader.line, 5);
    assert_int_equal(reader.count, 1);
    assert_false(tsv_next(&reader));
    assert_false(tsv_next(&reader));
    tsv_close(&reader);
    text_done(&text);
}

/* A file without a final newline; and a missing file. */
static void files(void **state) {
    (void)state;
    static const char path[] = "/tmp/redviz_test_tsv";
    FILE *file = fopen(path, "w");
    TsvReader reader;
    Error error = {0};
    fputs("a\tb", file);
    fclose(file);
    if (!tsv_open(&reader, path, &error)) fail_msg("%s", error.message);
    assert_true(tsv_next(&reader) && !strcmp(reader.columns[1], "b"));
    assert_false(tsv_next(&reader));
    tsv_close(&reader);
    remove(path);
    assert_false(tsv_open(&reader, path, &error));
    assert_string_equal(error.file, path);
}

typedef enum Reading { WHOLE, WHOLE32, NUMBER, WITHIN, READINGS } Reading;

/* As the second column of line 2; whole numbers from 2 to 40, numbers from -1 to 1.5. */
static bool read_as(Reading reading, const char *column, Error *error) {
    TsvReader reader;
    Text text = {0};
    uint64_t whole;
    uint32_t whole32;
    double number;
    bool good = false;
    text_print(&text, "#\nkind\t%s\n", column);
    tsv_open_text(&reader, text_string(&text), "file.tsv");
    assert_true(tsv_next(&reader));
    switch (reading) {
    case WHOLE:
        good = tsv_whole(&reader, 1, 2, 40, &whole, error);
        break;
    case WHOLE32:
        good = tsv_whole32(&reader, 1, 2, 40, &whole32, error);
        break;
    case NUMBER:
        good = tsv_number(&reader, 1, &number, error);
        break;
    default:
        good = tsv_number_within(&reader, 1, -1, 1.5, &number, error);
    }
    tsv_close(&reader);
    text_done(&text);
    return good;
}

static void what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *column, *accepted; /* a digit: accepted by that reading */
    } rows[] = {
        {"2", "012"},  {"40", "012"}, {"1", "23"},   {"41", "2"},         {"0x2", "2"},
        {"+2", "2"},   {"", ""},      {"-", "23"},   {"-1", "23"},        {"-1.01", "2"},
        {"1.5", "23"}, {"1.51", "2"}, {" 2", "2"},   {"2 ", ""},          {"two", ""},
        {"nan", ""},   {"inf", ""},   {"1e999", ""}, {"4294967298", "2"}, {"18446744073709551618", "2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int reading = 0; reading < READINGS; reading++) {
            Error error = {0};
            bool good = read_as((Reading)reading, rows[i].column, &error);
            if (good != !!strchr(rows[i].accepted, '0' + reading))
                fail_msg("'%s', reading %d: %s", rows[i].column, reading, good ? "accepted" : error.message);
            assert_true(good || (!strcmp(error.file, "file.tsv") && error.line == 2));
        }
}

static void messages(void **state) {
    (void)state;
    Error error = {0};
    read_as(WHOLE32, "many", &error);
    assert_string_equal(error.message, "column 2 is 'many', not a whole number from 2 to 40");
    read_as(NUMBER, "much", &error);
    assert_string_equal(error.message, "column 2 is 'much', not a number");
    read_as(WITHIN, "2", &error);
    assert_string_equal(error.message, "column 2 is '2', not a number from -1 to 1.5");
}

/* Columns above TSV_COLUMNS are not kept, but make the line invalid. */
static void number_of_columns(void **state) {
    (void)state;
    TsvReader reader;
    Error error = {0};
    Text text = {0};
    text_add(&text, "row");
    for (int i = 0; i < TSV_COLUMNS; i++) text_print(&text, "\t%d", i);
    text_add(&text, "\nsmall\t1\n");
    tsv_open_text(&reader, text_string(&text), "file.tsv");
    assert_true(tsv_next(&reader));
    assert_string_equal(reader.columns[TSV_COLUMNS - 1], "38");
    assert_false(tsv_has_columns(&reader, TSV_COLUMNS, &error));
    assert_string_equal(error.message, "'row' has 40 columns, not 41");
    assert_true(tsv_next(&reader));
    assert_true(tsv_has_columns(&reader, 2, &error));
    assert_false(tsv_has_columns(&reader, 1, &error));
    assert_int_equal(error.line, 2);
    tsv_close(&reader);
    text_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(files),
        cmocka_unit_test(what_is_refused),         cmocka_unit_test(messages),
        cmocka_unit_test(number_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
