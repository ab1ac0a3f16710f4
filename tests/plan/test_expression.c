/* Expressions of sizes: their grammar, floats, suffixes, and their errors. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/expression.h"
#include <string.h>

static const ExpressionName NAMES[] = {{"n", {.integer = 1000, .number = 1000}},
                                       {"block", {.integer = 256, .number = 256}}};

static void expressions_follow_the_grammar(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"7", 7},           {" n ", 1000},     {"2+3*4", 14},
        {"(2+3)*4", 20},    {"10-3-2", 5},     {"(n+block-1)/block", 4},
        {"n%block", 232},   {"-3", -3},        {"- -3", 3},
        {"0x10", 16},       {"+5", 5},         {"1 | 6 & 3", 3},
        {"5 ^ 3 & 1", 4},   {"1 << 2 + 1", 8}, {"n >> 3", 125},
        {"12 & 10 | 1", 9}, {"-8 >> 1", -4},   {"0 << 63", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExpressionValue value;
        Error error = {0};
        if (!expression_evaluate(cases[i].text, strlen(cases[i].text), NAMES, 2, &value, &error))
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_false(value.is_float);
        assert_int_equal(value.integer, cases[i].value);
    }
}

static void floats_spread_through_expressions(void **state) {
    (void)state;
    ExpressionValue value;
    Error error = {0};
    assert_true(expression_evaluate("1.5*2+n/8", 9, NAMES, 2, &value, &error));
    assert_true(value.is_float);
    assert_true(value.number == 128);
    assert_true(expression_evaluate("1e-3", 4, NAMES, 2, &value, &error));
    assert_true(value.number == 1e-3);
}

static void suffixes_say_how_many_bytes_a_number_has(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int bytes;
        bool is_float;
    } cases[] = {{"3", 0, false},           {"3l", 8, false},          {"3u", 4, false},
                 {"0xffffffffu", 4, false}, {"3ULL", 8, false},        {"3.5", 0, true},
                 {"3.5f", 4, true},         {"1e3F", 4, true},         {"2*3l", 8, false},
                 {"-3.5f", 4, true},        {"n + 1u", 4, false},      {"3l * 1.5f", 4, true},
                 {"3l * 1.5", 0, true},     {"0x100000000u", 8, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExpressionValue value;
        Error error = {0};
        if (!expression_evaluate(cases[i].text, strlen(cases[i].text), NAMES, 2, &value, &error))
            fail_msg("%s: %s", cases[i].text, error.message);
        if (value.bytes != cases[i].bytes || value.is_float != cases[i].is_float)
            fail_msg("%s: %d bytes", cases[i].text, value.bytes);
    }
}

static void bad_expressions_say_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"", "missing at the end"},
        {"2+", "missing at the end"},
        {"(2", "')' is missing"},
        {"2 3", "operator is expected"},
        {"m", "'m' is not known"},
        {"n/0", "division by zero"},
        {"n%(block-256)", "division by zero"},
        {"9223372036854775807+1", "does not fit 64 bits"},
        {"99999999999999999999", "does not fit 64 bits"},
        {"3x", "letters follow a number"},
        {"1 << 63", "does not fit 64 bits"},
        {"1 >> 64", "0 to 63 bits"},
        {"2 < 3", "operator is expected"},
        {"1.5 & 1", "whole numbers"},
        {"*", "a number, a name or '(' is expected"},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExpressionValue value;
        Error error = {0};
        assert_false(expression_evaluate(cases[i].text, strlen(cases[i].text), NAMES, 2, &value, &error));
        if (!strstr(error.message, cases[i].problem)) fail_msg("%s: %s", cases[i].text, error.message);
    }
}

static void errors_have_their_column(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
    } cases[] = {{"n + m", 5}, {"n / 0", 3}, {"2 3", 3}, {"(2", 3}, {"n * ", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExpressionValue value;
        Error error = {0};
        assert_false(expression_evaluate(cases[i].text, strlen(cases[i].text), NAMES, 2, &value, &error));
        assert_int_equal(error.column, cases[i].column);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_follow_the_grammar),
        cmocka_unit_test(floats_spread_through_expressions),
        cmocka_unit_test(suffixes_say_how_many_bytes_a_number_has),
        cmocka_unit_test(bad_expressions_say_what_is_wrong),
        cmocka_unit_test(errors_have_their_column),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
