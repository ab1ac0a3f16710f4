/* Whole numbers, in every notation, and texts that are not numbers; the limits of 64 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sentence.h"
#include "base/number.h"

static void numbers_in_each_way(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"4096", 4096},
        {"010", 10},
        {"0x1000", 4096},
        {"0XfF", 255},
        {"2^12", 4096},
        {"0x10^2", 256},
        {"10^0x3", 1000},
        {"7^0", 1},
        {"0^0", 1},
        {"0^5", 0},
        {"1^99999999999", 1},
        {"2^63", (uint64_t)1 << 63},
        {"18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        if (!number_parse(cases[i].text, 0, UINT64_MAX, &value)) fail_msg("%s", cases[i].text);
        assert_int_equal(value, cases[i].value);
    }
}

static void what_is_no_number(void **state) {
    (void)state;
    static const char *const cases[] = {"",
                                        " 1",
                                        "1 ",
                                        "-1",
                                        "+1",
                                        "x",
                                        "0x",
                                        "0xg",
                                        "12q",
                                        "1.5",
                                        "2^",
                                        "2^x",
                                        "2^-1",
                                        "2^2^2",
                                        "2^64",
                                        "3^1000",
                                        "^2",
                                        "1e3",
                                        "0x1 ",
                                        "99999999999999999999",
                                        "0x10000000000000000"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 7;
        if (number_parse(cases[i], 0, UINT64_MAX, &value)) fail_msg("'%s' is accepted", cases[i]);
        assert_int_equal(value, 7);
    }
}

static void ranges_hold_their_ends(void **state) {
    (void)state;
    uint64_t value;
    assert_true(number_parse("3", 3, 5, &value) && number_parse("5", 3, 5, &value));
    assert_false(number_parse("2", 3, 5, &value) || number_parse("6", 3, 5, &value));
}

static void an_option_names_its_range(void **state) {
    (void)state;
    uint64_t value = 7;
    Error error = {0};
    assert_false(number_parse_option("n", "0", 1, 40, &value, &error));
    assert_string_equal(error.message, "--n: '0' is not a whole number from 1 to 40 (4096, 0x1000 or 2^12)");
    assert_false(number_parse_option("seed", "x", 0, UINT64_MAX, &value, &error));
    assert_string_equal(error.message, "--seed: 'x' is not a whole number from 0 on (4096, 0x1000 or 2^12)");
    assert_int_equal(value, 7);
    assert_true(number_parse_option("n", "2^5", 1, 40, &value, NULL));
    assert_int_equal(value, 32);
}

static void the_cursor_stands_behind_the_number(void **state) {
    (void)state;
    uint64_t value;
    const char *cursor = "2^3,0x10x7";
    assert_true(number_read(&cursor, &value));
    assert_int_equal(value, 8);
    assert_int_equal(*cursor++, ',');
    assert_true(number_read_digits(&cursor, &value));
    assert_int_equal(value, 16);
    assert_string_equal(cursor, "x7");
}

static void lanes_are_named(void **state) {
    (void)state;
    static const struct {
        uint32_t mask;
        const char *text;
    } cases[] = {{1, "lane 0"},
                 {0x80000000, "lane 31"},
                 {0xffffffff, "lanes 0-31"},
                 {0x000100ff, "lanes 0-7, 16"},
                 {0x00000005, "lanes 0, 2"},
                 {0x55555555, "lanes 0, 2, ... 30"},
                 {0x11111110, "lanes 4, 8, ... 28"},
                 {0x1203f0ff, "lanes 0-7, 12-17, 25, 28"},
                 {0x5203f0ff, "lanes 0x5203f0ff"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LanesText text;
        assert_string_equal(lanes_text(cases[i].mask, &text), cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_each_way),    cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(ranges_hold_their_ends), cmocka_unit_test(an_option_names_its_range),
        cmocka_unit_test(lanes_are_named),        cmocka_unit_test(the_cursor_stands_behind_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
