/* --args: buffers, scalars, structures, their layout, and their errors. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/npy.h"
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>

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

static bool has_fractions(const char *args) {
    Plan plan;
    Error error = {0};
    bool has = false;
    if (!parse(&plan, "scale", args, &error) || !plan_fill(&plan, 7, &error)) fail_msg("%s", error.message);
    for (uint64_t i = 0; i < plan.buffers[0].count; i++) {
        double x = plan_element(plan.buffers[0].type, plan.buffers[0].bytes, i);
        assert_true(x >= 0 && x <= 1);
        has |= x != (double)(int)x;
    }
    plan_free(&plan);
    return has;
}

static void random_floats_have_fractions(void **state) {
    (void)state;
    assert_true(has_fractions("in=float[n]:random(0,1), out=half[8], n, 0.5"));
    assert_true(has_fractions("in=half[n]:random(0.0,1.0), out=half[8], n, 0.5"));
    assert_false(has_fractions("in=int[n]:random(0,1), out=half[8], n, 0.5"));
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

/* Types as people write them. */
static void types_have_other_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        PtxType type;
    } names[] = {{"int64", PTX_S64},
                 {"uint64", PTX_U64},
                 {"unsigned long long", PTX_U64},
                 {"f32", PTX_F32},
                 {"bf16", PTX_BF16},
                 {"__half", PTX_F16},
                 {"size_t", PTX_U64},
                 {"long long", PTX_S64},
                 {"float64", PTX_F64},
                 {"unsigned", PTX_U32},
                 {"__nv_bfloat16", PTX_BF16},
                 {"uint8_t", PTX_U8},
                 {"int64t", PTX_NO_TYPE},
                 {"long|int", PTX_NO_TYPE},
                 {"", PTX_NO_TYPE},
                 {"unsigned float", PTX_NO_TYPE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PtxType type = PTX_NO_TYPE;
        bool is_type = plan_type_parse(names[i].name, &type);
        if (type != names[i].type || is_type != (type != PTX_NO_TYPE)) fail_msg("'%s'", names[i].name);
    }
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
        {"scale", "in=float[n], 1, n, tensor((", "')' is missing in 'tensor(('"},
        {"scale", "in=float[n], tensor(n, {8}, {8}), n, 1", "a tensor is of an array: tensor(in"},
        {"scale", "in=float[n], tensor(in, {2147483648, 2147483648, 8}, {8, 1, 1}), n, 1",
         "has a stride that is not"},
        {"scale", "in=float[n], tensor(in, 8, {8}), n, 1", "a list of a tensor is {64, 32}"},
        {"scale", "in=float[n], tensor(in, {8, 8}, {8}), n, 1", "as many dimensions as the tensor"},
        {"scale", "in=float[n], tensor(in, {1, 1, 1, 1, 1, 1}, {8}), n, 1", "at most 5 dimensions"},
        {"scale", "in=float[n], tensor(in, {8, 8}, {8, 8}, 48), n, 1", "a span of 0, 32, 64 or 128 bytes"},
        {"scale", "in=float[n], tensor(in, {6, 8}, {4, 8}), n, 1", "the tensor map has a stride that is not"},
        {"scale", "in=float[n], tensor(in, {8, 8}, {8, 300}), n, 1",
         "'300' is not a whole number from 0 to 256"},
        {"scale", "in=float[n], tensor(in, {8, 8}, {8, 8}), n, 1", "has 128 bytes, and parameter 2"},
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
    launch_done(&launch);
    plan_free(&plan);
}

/* The kernel reads the members of a structure as written, even within another structure. */
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

/* An object without members has a byte; parameters with more alignment than their members are padded. */
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

/* Their bytes come from a file, which must have their size. */
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

/* Every user of a planned launch (emulator, capture, counters, --verify, --bench) binds it with
 * plan_bind_launch(): no other code makes a Launch of it. */
static void launches_are_bound_in_one_place(void **state) {
    (void)state;
    char found[256] = "";
    FILE *files = popen("grep -rlE --exclude-dir=library '\\(Launch\\)\\{\\.|const "
                        "PlanArgument \\*' src tui",
                        "r");
    assert_non_null(files);
    found[fread(found, 1, sizeof found - 1, files)] = 0;
    assert_int_equal(pclose(files), 0);
    assert_string_equal(found, "src/plan/plan.c\n");
}

/* TYPE[COUNT]=@FILE.npy is file:FILE.npy; NumPy knows a bfloat by its bits. */
static void arrays_with_a_type_are_read_from_files(void **state) {
    (void)state;
    static const char path[] = "build/array.npy";
    static const uint16_t bits[4] = {0x3f80, 0x4000, 0x4040, 0x4080};
    static const struct {
        const char *args;
        bool is_good;
    } cases[] = {
        {"in=bfloat[4]=@build/array.npy, out=float[4], 4, 1.0", true},
        {"in=bfloat[3]:file:build/array.npy, out=float[4], 4, 1.0", true},
        {"in=ushort[4]=@build/array.npy, out=float[4], 4, 1.0", true},
        {"in=half[4]=@build/array.npy, out=float[4], 4, 1.0", false},
        {"in=bfloat[5]=@build/array.npy, out=float[4], 4, 1.0", false},
        {"in=bfloat[4]=@build/none.npy, out=float[4], 4, 1.0", false},
        {"in=bfloat[4]=@, out=float[4], 4, 1.0", false},
    };
    Error error = {0};
    assert_true(npy_write(path, PTX_BF16, bits, 4, &error));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        error = (Error){0};
        if (parse(&plan, "scale", cases[i].args, &error) != cases[i].is_good)
            fail_msg("%s: %s", cases[i].args, error.message);
        if (cases[i].is_good) {
            assert_true(plan_fill(&plan, 1, &error));
            assert_memory_equal(plan.buffers[0].bytes, bits, 6);
        }
        plan_free(&plan);
    }
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(args_become_buffers_and_scalars),
        cmocka_unit_test(random_floats_have_fractions),
        cmocka_unit_test(a_buffer_can_be_passed_twice_and_scalars_have_names),
        cmocka_unit_test(types_have_other_names),
        cmocka_unit_test(bad_args_say_what_is_wrong),
        cmocka_unit_test(an_error_points_into_the_text),
        cmocka_unit_test(structures_are_laid_out_as_in_c),
        cmocka_unit_test(members_are_what_the_kernel_reads),
        cmocka_unit_test(structures_have_the_size_of_their_parameter),
        cmocka_unit_test(pointers_may_point_into_a_buffer),
        cmocka_unit_test(structures_are_read_from_files),
        cmocka_unit_test(arrays_with_a_type_are_read_from_files),
        cmocka_unit_test(arguments_are_laid_out_by_alignment),
        cmocka_unit_test(launches_are_bound_in_one_place),
    };
    return cmocka_run_group_tests_name("arguments", tests, parse_module, free_module);
}
