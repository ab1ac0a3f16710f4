/* Elements: 16-bit floats, shortest texts, names of types. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/float16.h"
#include "plan/plan.h"
#include <math.h>

static void half_and_bfloat_round_to_nearest_even(void **state) {
    (void)state;
    static const struct {
        double number;
        uint16_t half, bfloat;
    } cases[] = {
        {0, 0x0000, 0x0000},
        {-0.0, 0x8000, 0x8000},
        {1, 0x3c00, 0x3f80},
        {-2, 0xc000, 0xc000},
        {0.1, 0x2e66, 0x3dcd},
        {65504, 0x7bff, 0x4780},
        {65519.99, 0x7bff, 0x4780},
        {65520, 0x7c00, 0x4780},
        {1e39, 0x7c00, 0x7f80},
        {0x1p-24, 0x0001, 0x3380},
        {0x1p-25, 0x0000, 0x3300},
        {0x1.8p-25, 0x0001, 0x3340},
        {0x1.ffcp-15, 0x0400, 0x3880},
        {INFINITY, 0x7c00, 0x7f80},
        {-INFINITY, 0xfc00, 0xff80},
        {2049, 0x6800, 0x4500},
        {2051, 0x6802, 0x4500},
        {1 + 0x1p-8, 0x3c04, 0x3f80},
        {1 + 3 * 0x1p-8, 0x3c0c, 0x3f82},
        {0x1p-133, 0x0000, 0x0001},
        {NAN, 0x7fff, 0x7fff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(float16_half_write(cases[i].number), cases[i].half);
        assert_int_equal(float16_bfloat_write(cases[i].number), cases[i].bfloat);
    }
}

static void every_half_and_bfloat_reads_back(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double half = float16_half_read((uint16_t)bits), bfloat = float16_bfloat_read((uint16_t)bits);
        assert_int_equal(float16_half_write(half), isnan(half) ? 0x7fff : bits);
        assert_int_equal(float16_bfloat_write(bfloat), isnan(bfloat) ? 0x7fff : bits);
    }
}

static void elements_print_the_shortest_text_that_reads_back(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        double number;
        const char *text;
    } cases[] = {
        {PTX_S8, -128, "-128"},
        {PTX_U8, 255, "255"},
        {PTX_S32, -2147483648.0, "-2147483648"},
        {PTX_U32, 4294967295.0, "4294967295"},
        {PTX_S64, -3, "-3"},
        {PTX_F16, 0.1, "0.1"},
        {PTX_BF16, 0.1, "0.1"},
        {PTX_F32, 0.1, "0.1"},
        {PTX_F32, 16777216, "16777216"},
        {PTX_F64, 0.1, "0.1"},
        {PTX_F64, 1.0 / 3, "0.3333333333333333"},
        {PTX_F32, NAN, "nan"},
        {PTX_F64, -INFINITY, "-inf"},
        {PTX_F32, -0.0, "-0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[8];
        Text text = {0};
        plan_element_set(cases[i].type, bytes, 0, cases[i].number);
        plan_element_print(cases[i].type, bytes, 0, &text);
        assert_string_equal(text_string(&text), cases[i].text);
        text_done(&text);
    }
    uint64_t largest = UINT64_MAX;
    Text text = {0};
    plan_element_print(PTX_U64, &largest, 0, &text);
    assert_string_equal(text_string(&text), "18446744073709551615");
    text_done(&text);
}

static void types_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                        "long", "ulong", "half",  "bfloat", "float", "double"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PtxType type;
        assert_true(plan_type_parse(names[i], &type));
        assert_string_equal(plan_type_name(type), names[i]);
    }
    PtxType type;
    assert_false(plan_type_parse("integer", &type));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_and_bfloat_round_to_nearest_even),
        cmocka_unit_test(every_half_and_bfloat_reads_back),
        cmocka_unit_test(elements_print_the_shortest_text_that_reads_back),
        cmocka_unit_test(types_have_names),
    };
    return cmocka_run_group_tests_name("elements", tests, NULL, NULL);
}
