/* --access: the measured file unchanged, and errors with their line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/access_csv.h"
#include <stdlib.h>
#include <string.h>

/* Counts are computed, columns and rows kept: the measured file is its own expected output, 919 of 919. */
static void the_measured_file_comes_back_unchanged(void **state) {
    (void)state;
    char *csv;
    size_t length;
    Error error = {0};
    assert_true(text_read_file("tests/data/warp_access_counts.csv", 1 << 20, &csv, &length, &error));
    Text out = {0};
    assert_true(access_csv_count(csv, length, "accesses.csv", &out, &error));
    int rows = 0;
    for (const char *at = csv; (at = strchr(at, '\n')); at++) rows++;
    assert_int_equal(rows, 1 + 919);
    assert_int_equal(out.length, length);
    assert_string_equal(text_string(&out), csv);
    text_done(&out);
    free(csv);
}

static void assert_computes(const char *csv, const char *expected) {
    Text out = {0};
    Error error = {0};
    bool good = access_csv_count(csv, strlen(csv), "a.csv", &out, &error);
    assert_string_equal(error.message, "");
    assert_true(good);
    assert_string_equal(text_string(&out), expected);
    text_done(&out);
}

static void columns_are_found_by_name(void **state) {
    (void)state;
    assert_computes("active_mask,off1,kind,off0,width_bytes\n0x3,128,shared_load,0,4\n",
                    "active_mask,off1,kind,off0,width_bytes,count\n0x3,128,shared_load,0,4,2\n");
    assert_computes(
        "count,kind,width_bytes,active_mask,off0\n77,global_load,8,1,32\n", /* moved to the end, not read */
        "kind,width_bytes,active_mask,off0,count\nglobal_load,8,1,32,1\n");
    assert_computes(
        "kind,width_bytes,active_mask,off0,off1,count\nshared_store,4,2,,4\n", /* the count is optional */
        "kind,width_bytes,active_mask,off0,off1,count\nshared_store,4,2,,4,1\n");
    /* twelve; ten, as in C, would not be aligned. */
    assert_computes("\xef\xbb\xbfkind,width_bytes,active_mask,off0\r\nshared_load,4,1,012\r\n",
                    "kind,width_bytes,active_mask,off0,count\nshared_load,4,1,012,1\n");
}

static void comments_and_empty_lines_are_kept(void **state) {
    (void)state;
    assert_computes(
        "# measured, by us\n\nkind,width_bytes,active_mask,off0\n  # one\nglobal_store,4,1,0",
        "# measured, by us\n\nkind,width_bytes,active_mask,off0,count\n  # one\nglobal_store,4,1,0,1\n");
}

static void what_was_not_measured_says_so(void **state) {
    (void)state;
    assert_computes(
        "kind,width_bytes,active_mask,off0\nshared_atomic,4,1,0\nlocal_load,4,1,0\nglobal_atomic,4,1,0\n",
        "kind,width_bytes,active_mask,off0,count\nshared_atomic,4,1,0,not modelled\n"
        "local_load,4,1,0,not modelled\nglobal_atomic,4,1,0,1\n");
    assert_computes("kind,width_bytes,active_mask,off0\nshared_load,4,0,0\n",
                    "kind,width_bytes,active_mask,off0,count\nshared_load,4,0,0,0\n");
}

static void mistakes_have_a_place(void **state) {
    (void)state;
#define HEAD "kind,width_bytes,active_mask,off0,off1\n"
    static const struct {
        const char *csv;
        int line, column;
        const char *message;
    } rows[] = {
        {"", 0, 0, "no header line"},
        {"# nothing\n\n", 0, 0, "no header line"},
        {"kind,width_bytes,off0\n", 1, 1, "active_mask"},
        {"kind,width_bytes,active_mask,offset0\n", 1, 30, "unknown column"},
        {"kind,width_bytes,active_mask,off32\n", 1, 30, "unknown column"},
        {"kind,kind,active_mask\n", 1, 6, "duplicate column"},
        {HEAD "shared_load,4,3,0,4\nload,4,3,0,4\n", 3, 1, "unknown kind"},
        {HEAD "shuffle,4,3,0,4\n", 2, 1, "unknown kind"},
        {HEAD "shared_load,3,3,0,4\n", 2, 13, "width_bytes"},
        {HEAD "shared_load,64,3,0,4\n", 2, 13, "width_bytes"},
        {HEAD "shared_load,0,3,0,4\n", 2, 13, "width_bytes"},
        {HEAD "shared_load,4,0x1ffffffff,0,4\n", 2, 15, "active_mask"},
        {HEAD "shared_load,4,x,0,4\n", 2, 15, "active_mask"},
        {HEAD "shared_load,4,3,0,2\n", 2, 19, "multiple of width_bytes"},
        {HEAD "shared_load,4,3,0,-4\n", 2, 19, "offset"},
        {HEAD "shared_load,4,3,0,99999999999999999999\n", 2, 19, "offset"},
        {HEAD "shared_load,4,3,0,\n", 2, 19, "offset"},
        {HEAD "shared_load,4,3,0\n", 2, 17, "4 columns, but the header line has 5"},
        {HEAD "shared_load,4,3,0,4,8\n", 2, 21, "6 columns, but the header line has 5"},
        {HEAD "shared_load,4,7,0,4\n", 2, 15, "no column off2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text out = {0};
        Error error = {0};
        assert_false(access_csv_count(rows[i].csv, strlen(rows[i].csv), "a.csv", &out, &error));
        assert_string_equal(error.file, "a.csv");
        if (error.line != rows[i].line || error.column != rows[i].column ||
            !strstr(error.message, rows[i].message))
            fail_msg("'%s': line %d column %d: %s", rows[i].csv, error.line, error.column, error.message);
        text_done(&out);
    }
    Text out = {0};
    Error error = {0};
    assert_false(access_csv_count("kind\0x", 6, "a.csv", &out, &error));
    assert_non_null(strstr(error.message, "this is not text"));
    text_done(&out);
}

/* Any truncated or changed copy of a valid file gives an error or a result, never a crash (run under the
 * sanitizers). */
static void damaged_files_are_survived(void **state) {
    (void)state;
    static const char csv[] = "kind,width_bytes,active_mask,off0,off1,count\nshared_load,16,3,0,16,1\n# "
                              "x\nglobal_load,1,0x2,,7,1\n";
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        char damaged[sizeof csv];
        memcpy(damaged, csv, sizeof csv);
        size_t length = sizeof csv - 1;
        for (int k = 0; k < 3; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            damaged[(random >> 33) % length] = "0123456789,\n\r\t #xk-"[(random >> 20) % 19];
        }
        if (random >> 60 == 0) length = (random >> 33) % length;
        Text out = {0};
        Error error = {0};
        bool good = access_csv_count(damaged, length, "a.csv", &out, &error);
        assert_true(good == (error.message[0] == 0));
        text_done(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measured_file_comes_back_unchanged),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(comments_and_empty_lines_are_kept),
        cmocka_unit_test(what_was_not_measured_says_so),
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(damaged_files_are_survived),
    };
    return cmocka_run_group_tests_name("access_csv", tests, NULL, NULL);
}
