/* Plans: expressions and --args, fills, 16-bit floats, printed elements, the layout of arguments. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/expression.h"
#include "catalog/float16.h"
#include "catalog/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- expressions ------------------------------------------------------------------------------------ */

static const ExpressionName NAMES[] = {{"n", {.integer = 1000, .number = 1000}},
                                       {"block", {.integer = 256, .number = 256}}};

static void expressions_follow_the_grammar(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"7", 7},         {" n ", 1000}, {"2+3*4", 14},
        {"(2+3)*4", 20},  {"10-3-2", 5}, {"(n+block-1)/block", 4},
        {"n%block", 232}, {"-3", -3},    {"- -3", 3},
        {"0x10", 16},     {"+5", 5},
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

/* ---- --args ----------------------------------------------------------------------------------------- */

static const char PTX[] =
    ".version 7.2\n.target sm_75\n.address_size 64\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .f32 x)\n"
    "{\n\tret;\n}\n"
    ".visible .entry mixed(.param .u8 a, .param .u64 p, .param .u16 b, .param .f64 c)\n"
    "{\n\tret;\n}\n"
    ".visible .entry structure(.param .align 4 .b8 s[12])\n"
    "{\n\tret;\n}\n"
    ".visible .entry aligned(.param .align 4 .b8 s[8])\n{\n\tret;\n}\n"
    ".visible .entry view(.param .align 8 .b8 v[16])\n"
    "{\n\t.reg .b64 %d<3>;\n\t.reg .b32 %r<2>;\n\t.reg .f32 %f<3>;\n"
    "\tld.param.u64 %d1, [v];\n\tcvta.to.global.u64 %d2, %d1;\n\tld.param.b32 %r1, [v+8];\n"
    "\tadd.s32 %r1, %r1, 1;\n\tld.param.f32 %f1, [v+12];\n\tst.global.f32 [%d2], %f1;\n\tret;\n}\n"
    ".visible .entry array(.param .align 8 .b8 a[48])\n{\n\tret;\n}\n"
    ".visible .entry functor(.param .align 1 .b8 f[1], .param .align 16 .b8 s[16], .param .align 8 .b8 "
    "t[16])\n"
    "{\n\tret;\n}\n";
static PtxModule *module;
static const PlanVariables VARIABLES = {1000, 256, 4};

static int parse_module(void **state) {
    (void)state;
    Error error = {0};
    module = ptx_module_parse(PTX, sizeof PTX - 1, "test.ptx", &error);
    return module ? 0 : 1;
}

static int free_module(void **state) {
    (void)state;
    ptx_module_free(module);
    return 0;
}

static bool parse(Plan *plan, const char *entry, const char *args, Error *error) {
    *plan = (Plan){0};
    PlanLaunch *launch = plan_add_launch(plan, entry);
    PtxFunction *function = ptx_module_find(module, entry);
    return ptx_function_parse(module, function, error) &&
           plan_parse_arguments(plan, launch, function, args, &VARIABLES, error);
}

static uint32_t scalar_bits(const Plan *plan, int argument) {
    uint32_t bits;
    assert_int_equal(plan->launches[0].arguments[argument].buffer, -1);
    assert_int_equal(plan->launches[0].arguments[argument].byte_count, 4);
    memcpy(&bits, plan->launches[0].arguments[argument].bytes, 4);
    return bits;
}

static void args_become_buffers_and_scalars(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    if (!parse(&plan, "scale", "in = float[n]:iota, out=half[ grid * 2 ], n, 0.5", &error))
        fail_msg("%s", error.message);
    assert_int_equal(plan.buffer_count, 2);
    assert_string_equal(plan.buffers[0].name, "in");
    assert_int_equal(plan.buffers[0].type, PTX_F32);
    assert_int_equal(plan.buffers[0].count, 1000);
    assert_int_equal(plan.buffers[0].fill, FILL_IOTA);
    assert_string_equal(plan.buffers[1].name, "out");
    assert_int_equal(plan.buffers[1].type, PTX_F16);
    assert_int_equal(plan.buffers[1].count, 8);
    assert_int_equal(plan.buffers[1].fill, FILL_ZERO);
    assert_int_equal(plan.launches[0].argument_count, 4);
    assert_int_equal(plan.launches[0].arguments[1].buffer, 1);
    assert_int_equal(scalar_bits(&plan, 2), 1000);
    assert_int_equal(scalar_bits(&plan, 3), 0x3f000000);
    plan_free(&plan);
}

static void a_buffer_can_be_passed_twice_and_scalars_have_names(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    if (!parse(&plan, "scale", "a=int[n]:ones, a, m=n-1, m*2", &error)) fail_msg("%s", error.message);
    assert_int_equal(plan.buffer_count, 1);
    assert_int_equal(plan.launches[0].arguments[1].buffer, 0);
    assert_int_equal(scalar_bits(&plan, 2), 999);
    assert_int_equal(scalar_bits(&plan, 3), 0x44f9c000); /* 1998.0f */
    plan_free(&plan);
}

static void bad_args_say_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *entry, *args, *problem;
    } cases[] = {
        {"scale", "in=float[n], out=float[n], n", "takes 4 arguments, not 3"},
        {"scale", "", "takes 4 arguments, not 0"},
        {"scale", "in=float[n], , n, 1", "an item is empty"},
        {"scale", "in=real[n], out=float[n], n, 1", "'real' is not a type"},
        {"scale", "in=float[n, out=float[n], n, 1", "']' is missing"},
        {"scale", "in=float[0], out=float[n], n, 1", "a whole number from 1"},
        {"scale", "in=float[n-2*n], out=float[n], n, 1", "a whole number from 1"},
        {"scale", "in=float[1.5], out=float[n], n, 1", "a whole number from 1"},
        {"scale", "in=float[m], out=float[n], n, 1", "'m' is not known"},
        {"scale", "in=float[n]:twos, out=float[n], n, 1", "'twos' of in is not one of"},
        {"scale", "in=float[n]x, out=float[n], n, 1", "'x' follows ']'"},
        {"scale", "in=float[n], in=float[n], n, 1", "in is defined twice"},
        {"scale", "float[n], out=float[n], n, 1", "has no name"},
        {"scale", "1a=float[n], out=float[n], n, 1", "'1a' is not a name"},
        {"scale", "in=float[n], out=float[n], 0.5, 1", "is not a whole number"},
        {"scale", "in=float[n], out=float[n], n*n*n*n, 1", "does not fit the 4 bytes"},
        {"mixed", "256, p=int[1], 1, 1", "does not fit the 1 bytes"},
        {"structure", "1", "structure of 12 bytes; give its members"},
        {"structure", "in=float[n]", "a pointer has 8 bytes, and parameter 1 of the kernel has 12"},
        {"structure", "{1, 2}", "has 8 bytes (members at 0, 4), and parameter 1 of the kernel has 12"},
        {"structure", "{1, 2, 3, {}}", "has 16 bytes (members at 0, 4, 8, 12), and"},
        {"structure", "{1, 2l}", "has 16 bytes"},
        {"structure", "{1, 2, 3", "'}' is missing"},
        {"structure", "{1, 2, 3,}", "an item is empty"},
        {"structure", "{1, , 3}", "an item is empty"},
        {"structure", "{1, 2, m}", "'m' is not known"},
        {"structure", "{1, 2, &in}", "there is no buffer 'in'"},
        {"structure", "{(char)256, 2, 3}", "does not fit char"},
        {"structure", "{{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}}", "nested more than 16 deep"},
        {"view", "{in=float[n], n}",
         "the kernel reads 4 bytes at 12 of parameter 1, where the structure has no member (members at 0, "
         "8)"},
        {"view", "{in=float[n], n, 2}",
         "reads a float at 12 of parameter 1, where the structure has a whole number"},
        {"view", "{in=float[n], 1.0f, 2.0f}",
         "reads a whole number at 8 of parameter 1, where the structure has a float"},
        {"view", "{in=float[n], 1l}", "reads 4 bytes at 12"},
        {"view", "{1, n, 2, 3.0f}",
         "reads a pointer at 0 of parameter 1, where the structure has a whole number"},
        {"view", "{1.0, n, 3.0f}", "reads a pointer at 0 of parameter 1, where the structure has a float"},
        {"view", "{n, in=float[n]}", "reads a pointer at 0"},
        {"view", "7", "give its members, {in=float[n], n, 3.5f}, or file:PATH"},
        {"aligned", "{1l}", "aligned to 8 bytes, and parameter 1 of the kernel to 4"},
        {"scale", "in=float[n], &in[n+1], n, 1", "in has elements 0 to 999"},
        {"scale", "in=float[n], &in[1, n, 1", "']' is missing"},
        {"mixed", "1, p=int[1], null, 1", "a pointer has 8 bytes, and parameter 3 of the kernel has 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        Error error = {0};
        if (parse(&plan, cases[i].entry, cases[i].args, &error)) fail_msg("%s is accepted", cases[i].args);
        if (!strstr(error.message, cases[i].problem)) fail_msg("%s: %s", cases[i].args, error.message);
        plan_free(&plan);
    }
}

static void an_error_points_into_the_text(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    assert_false(parse(&plan, "array", "{in=float[n], {1, 2, m}}", &error));
    assert_int_equal(error.column, 22);
    assert_string_equal(error.excerpt, "{in=float[n], {1, 2, m}}");
    plan_free(&plan);
}

static Launch bound_launch(Plan *plan, const char *entry, const char *args) {
    static const uint64_t addresses[] = {0x1000, 0x2000};
    PtxProgram program = {.entry = ptx_module_find(module, entry)};
    Error error = {0};
    Launch launch = {0};
    if (!parse(plan, entry, args, &error) ||
        !plan_bind_launch(&plan->launches[0], &program, addresses, &launch, &error))
        fail_msg("%s: %s", args, error.message);
    return launch;
}

/* As nvcc lays them out: float *data; long size; struct { char a; short b; }; double c; float d; */
static void structures_are_laid_out_as_in_c(void **state) {
    (void)state;
    struct {
        uint64_t data;
        int64_t size;
        struct {
            int8_t a;
            int16_t b;
        } inner;
        double c;
        float d;
        uint64_t end;
    } wanted, got;
    memset(&wanted, 0, sizeof wanted);
    wanted.data = 0x1000;
    wanted.size = 1000;
    wanted.inner.a = 7;
    wanted.inner.b = -2;
    wanted.c = 3.5;
    wanted.d = 2.5F;
    wanted.end = 0x1000 + 4 * 999;
    assert_int_equal(sizeof wanted, 48);
    Plan plan;
    Launch launch =
        bound_launch(&plan, "array", "{in=float[n], (long)n, {(char)7, (short)-2}, 3.5, 2.5f, &in[n-1]}");
    assert_int_equal(launch.parameter_bytes, sizeof got);
    memcpy(&got, launch.parameters, sizeof got);
    assert_memory_equal(&got, &wanted, sizeof got);
    uint64_t bits;
    assert_false(plan_scalar(&plan.launches[0], 0, &bits));
    launch_done(&launch);
    plan_free(&plan);
}

/* What the kernel reads of a structure is what was written there, be it within another structure. */
static void members_are_what_the_kernel_reads(void **state) {
    (void)state;
    static const char *const good[] = {"{in=float[n], n, 2.5f}", "{in=float[n], {n, 2.5f}}",
                                       "{{in=float[n]}, n, 2.5f}", "{null, n, 2.5f}", "{0l, n, 2.5f}"};
    Error error = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Plan plan;
        if (!parse(&plan, "view", good[i], &error)) fail_msg("%s: %s", good[i], error.message);
        plan_free(&plan);
    }
}

/* An object without members has a byte; parameters that ask for more alignment than their members are padded. */
static void structures_have_the_size_of_their_parameter(void **state) {
    (void)state;
    Plan plan;
    Launch launch = bound_launch(&plan, "functor", "{}, {1, 2, 3}, {0xffffffffu, null}");
    static const uint32_t wanted[] = {0, 0, 0, 0, 1, 2, 3, 0, 0xffffffff, 0, 0, 0};
    assert_int_equal(launch.parameter_bytes, sizeof wanted);
    assert_memory_equal(launch.parameters, wanted, sizeof wanted);
    launch_done(&launch);
    plan_free(&plan);
}

static void pointers_may_point_into_a_buffer(void **state) {
    (void)state;
    Plan plan;
    Launch launch = bound_launch(&plan, "scale", "in=float[n], &in[n / 2], 5, 1");
    uint64_t got[2];
    memcpy(got, launch.parameters, sizeof got);
    assert_int_equal(got[0], 0x1000);
    assert_int_equal(got[1], 0x1000 + 2000);
    launch_done(&launch);
    plan_free(&plan);
}

/* Their bytes come from a file, and must be as many. */
static void structures_are_read_from_files(void **state) {
    (void)state;
    static const char path[] = "build/structure.bin";
    static const uint8_t structure[13] = "abcdefghijkl";
    for (size_t length = 12; length <= 13; length++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(structure, 1, length, file), length);
        fclose(file);
        Plan plan;
        Error error = {0};
        assert_int_equal(parse(&plan, "structure", " file:build/structure.bin ", &error), length == 12);
        if (length == 12) {
            assert_int_equal(plan.launches[0].arguments[0].byte_count, 12);
            assert_memory_equal(plan.launches[0].arguments[0].bytes, structure, 12);
        } else {
            assert_string_equal(
                error.message,
                "--args: file:build/structure.bin has 13 bytes, and parameter 1 of the kernel has 12");
        }
        plan_free(&plan);
    }
    remove(path);
    Plan plan;
    Error error = {0};
    assert_false(parse(&plan, "structure", "file:build/structure.bin", &error));
    assert_non_null(strstr(error.message, "cannot open"));
    plan_free(&plan);
}

static bool bind(const Plan *plan, const char *entry, Launch *launch, Error *error) {
    static const uint64_t addresses[] = {0x1122334455667700u, 0x1122334455667701u};
    PtxProgram program = {.entry = ptx_module_find(module, entry)};
    return plan_bind_launch(&plan->launches[0], &program, addresses, launch, error);
}

static void arguments_are_laid_out_by_alignment(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    Launch launch;
    assert_true(parse(&plan, "mixed", "7, p=int[1], 513, 1.0", &error));
    assert_true(bind(&plan, "mixed", &launch, &error));
    static const uint8_t expected[32] = {7,    0,    0,    0,    0,    0,    0,    0, 0x00, 0x77, 0x66,
                                         0x55, 0x44, 0x33, 0x22, 0x11, 0x01, 0x02, 0, 0,    0,    0,
                                         0,    0,    0,    0,    0,    0,    0,    0, 0xf0, 0x3f};
    assert_int_equal(launch.parameter_bytes, 32);
    assert_memory_equal(launch.parameters, expected, 32);
    launch_done(&launch);
    assert_false(bind(&plan, "structure", &launch, &error));
    assert_non_null(strstr(error.message, "takes 1 arguments, not 4"));
    assert_false(bind(&plan, "scale", &launch, &error));
    assert_non_null(strstr(error.message, "the parameter has 8 bytes, the value has 1"));
    plan_free(&plan);
}

/* Whatever runs a planned launch (emulator, capture, counters, --verify, --bench) has it bound by
 * plan_bind_launch(): nobody else makes a Launch of it, or reads its arguments. */
static void launches_are_bound_in_one_place(void **state) {
    (void)state;
    char found[256] = "";
    FILE *files = popen("grep -rlE '\\(Launch\\)\\{\\.|const PlanArgument \\*' src tui", "r");
    assert_non_null(files);
    found[fread(found, 1, sizeof found - 1, files)] = 0;
    assert_int_equal(pclose(files), 0);
    assert_string_equal(found, "src/catalog/plan.c\n");
}

/* ---- fills ------------------------------------------------------------------------------------------ */

static void make_buffer(Plan *plan, PtxType type, uint64_t count, FillKind fill) {
    *plan = (Plan){0};
    plan_add_buffer(plan, "in", type, count, fill);
}

static void fill_buffer(Plan *plan, uint64_t seed) {
    Error error = {0};
    if (!plan_fill(plan, seed, &error)) fail_msg("%s", error.message);
}

static void plain_fills_hold_what_they_say(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S8, PTX_U16, PTX_S32, PTX_U64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int fill = FILL_ZERO; fill <= FILL_IOTA; fill++) {
            Plan plan;
            make_buffer(&plan, types[t], 100, (FillKind)fill);
            fill_buffer(&plan, 1);
            for (uint64_t i = 0; i < 100; i++)
                assert_true(plan_element(types[t], plan.buffers[0].bytes, i) ==
                            (fill == FILL_IOTA ? (double)i : fill));
            plan_free(&plan);
        }
}

static void iota_wraps_in_small_integers(void **state) {
    (void)state;
    Plan plan;
    make_buffer(&plan, PTX_S8, 300, FILL_IOTA);
    fill_buffer(&plan, 1);
    assert_true(plan_element(PTX_S8, plan.buffers[0].bytes, 128) == -128);
    assert_true(plan_element(PTX_S8, plan.buffers[0].bytes, 299) == 43);
    plan_free(&plan);
}

static void random_data_is_the_same_everywhere(void **state) {
    (void)state;
    /* SplitMix64, computed apart. If these change, every recorded session and every screen in the tests
     * changes with them. */
    static const int expected[] = {500, -255, -123, 909};
    Plan plan;
    make_buffer(&plan, PTX_S32, 4, FILL_RANDOM);
    fill_buffer(&plan, 1);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(plan_element(PTX_S32, plan.buffers[0].bytes, i), expected[i]);
    plan_free(&plan);
}

/* 0 to 9 of every type, each as often, the same ones whatever the type. */
static void digits_are_the_same_ten_in_every_type(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S8,  PTX_U8,  PTX_S16, PTX_U16,  PTX_S32, PTX_U32,
                                    PTX_S64, PTX_U64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    static const int first[] = {7, 3, 4, 9};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        Plan plan, other;
        int times[10] = {0};
        make_buffer(&plan, types[t], 20000, FILL_DIGITS);
        make_buffer(&other, types[t], 20000, FILL_DIGITS);
        plan.buffers[0].scale = 60000; /* of random numbers, not of digits */
        fill_buffer(&plan, 1);
        fill_buffer(&other, 2);
        for (uint64_t i = 0; i < 20000; i++) {
            double value = plan_element(types[t], plan.buffers[0].bytes, i);
            assert_true(value >= 0 && value <= 9 && value == floor(value));
            if (i < 4) assert_int_equal(value, first[i]);
            times[(int)value]++;
        }
        for (int digit = 0; digit < 10; digit++) assert_in_range(times[digit], 1800, 2200);
        assert_memory_not_equal(plan.buffers[0].bytes, other.buffers[0].bytes, 100);
        plan_free(&plan);
        plan_free(&other);
    }
}

static void random_data_depends_on_seed_and_buffer(void **state) {
    (void)state;
    Plan one, other;
    make_buffer(&one, PTX_F64, 50, FILL_RANDOM);
    plan_add_buffer(&one, "second", PTX_F64, 50, FILL_RANDOM);
    make_buffer(&other, PTX_F64, 50, FILL_RANDOM);
    fill_buffer(&one, 1);
    fill_buffer(&other, 2);
    assert_memory_not_equal(one.buffers[0].bytes, other.buffers[0].bytes, 400);
    assert_memory_not_equal(one.buffers[0].bytes, one.buffers[1].bytes, 400);
    plan_free(&one);
    plan_free(&other);
}

static void random_data_stays_within_its_scale_and_reaches_it(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        bool whole;
        double scale, least, most;
    } cases[] = {{PTX_S8, false, 0, -10, 10},      {PTX_U8, false, 0, 0, 10},  {PTX_S16, false, 0, -100, 100},
                 {PTX_S32, false, 0, -1000, 1000}, {PTX_S64, false, 5, -5, 5}, {PTX_F32, true, 0, -8, 8},
                 {PTX_F16, true, 2, -2, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Plan plan;
        double least = INFINITY, most = -INFINITY;
        make_buffer(&plan, cases[c].type, 20000, FILL_RANDOM);
        plan.buffers[0].whole_numbers = cases[c].whole;
        plan.buffers[0].scale = cases[c].scale;
        fill_buffer(&plan, 3);
        for (uint64_t i = 0; i < 20000; i++) {
            double value = plan_element(cases[c].type, plan.buffers[0].bytes, i);
            assert_true(value == floor(value));
            least = fmin(least, value);
            most = fmax(most, value);
        }
        assert_true(least == cases[c].least && most == cases[c].most);
        plan_free(&plan);
    }
    Plan plan;
    make_buffer(&plan, PTX_F32, 20000, FILL_RANDOM);
    fill_buffer(&plan, 3);
    double sum = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        double value = plan_element(PTX_F32, plan.buffers[0].bytes, i);
        assert_true(fabs(value) <= 1);
        sum += value;
    }
    assert_true(fabs(sum / 20000) < 0.02);
    plan_free(&plan);
}

static void files_fill_buffers_and_must_be_long_enough(void **state) {
    (void)state;
    char path[] = "/tmp/redviz_test_XXXXXX";
    int descriptor = mkstemp(path);
    static const uint8_t bytes[] = {1, 0, 0, 0, 254, 255, 255, 255};
    assert_int_equal(write(descriptor, bytes, sizeof bytes), sizeof bytes);
    close(descriptor);
    Plan plan;
    Error error = {0};
    make_buffer(&plan, PTX_S32, 2, FILL_FILE);
    plan.buffers[0].path = path;
    fill_buffer(&plan, 1);
    assert_true(plan_element(PTX_S32, plan.buffers[0].bytes, 1) == -2);
    plan_free(&plan);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = path;
    assert_false(plan_fill(&plan, 1, &error));
    assert_non_null(strstr(error.message, "8 bytes are too few for in: 3 elements of int are 12"));
    plan_free(&plan);
    unlink(path);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = "/nonexistent/redviz";
    assert_false(plan_fill(&plan, 1, &error));
    assert_string_equal(error.file, "/nonexistent/redviz");
    plan_free(&plan);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = "/tmp";
    assert_false(plan_fill(&plan, 1, &error));
    plan_free(&plan);
}

static void plans_larger_than_the_machine_are_refused(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    make_buffer(&plan, PTX_F64, (uint64_t)1 << 48, FILL_ZERO);
    assert_false(plan_fill(&plan, 1, &error));
    assert_non_null(strstr(error.message, "use a smaller --n"));
    plan_free(&plan);
}

/* ---- elements --------------------------------------------------------------------------------------- */

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
        cmocka_unit_test(expressions_follow_the_grammar),
        cmocka_unit_test(floats_spread_through_expressions),
        cmocka_unit_test(suffixes_say_how_many_bytes_a_number_has),
        cmocka_unit_test(bad_expressions_say_what_is_wrong),
        cmocka_unit_test(args_become_buffers_and_scalars),
        cmocka_unit_test(a_buffer_can_be_passed_twice_and_scalars_have_names),
        cmocka_unit_test(bad_args_say_what_is_wrong),
        cmocka_unit_test(an_error_points_into_the_text),
        cmocka_unit_test(structures_are_laid_out_as_in_c),
        cmocka_unit_test(members_are_what_the_kernel_reads),
        cmocka_unit_test(structures_have_the_size_of_their_parameter),
        cmocka_unit_test(pointers_may_point_into_a_buffer),
        cmocka_unit_test(structures_are_read_from_files),
        cmocka_unit_test(arguments_are_laid_out_by_alignment),
        cmocka_unit_test(launches_are_bound_in_one_place),
        cmocka_unit_test(plain_fills_hold_what_they_say),
        cmocka_unit_test(iota_wraps_in_small_integers),
        cmocka_unit_test(random_data_is_the_same_everywhere),
        cmocka_unit_test(digits_are_the_same_ten_in_every_type),
        cmocka_unit_test(random_data_depends_on_seed_and_buffer),
        cmocka_unit_test(random_data_stays_within_its_scale_and_reaches_it),
        cmocka_unit_test(files_fill_buffers_and_must_be_long_enough),
        cmocka_unit_test(plans_larger_than_the_machine_are_refused),
        cmocka_unit_test(half_and_bfloat_round_to_nearest_even),
        cmocka_unit_test(every_half_and_bfloat_reads_back),
        cmocka_unit_test(elements_print_the_shortest_text_that_reads_back),
        cmocka_unit_test(types_have_names),
    };
    return cmocka_run_group_tests_name("plan", tests, parse_module, free_module);
}
