/* What a CUDA file says literally: launches, numbers, kernels. */
#include "guess/host_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The first launch of a text: sizes, 0 if they are not literal, and arguments. */
static void expect(const char *text, uint32_t grid, uint32_t block, const char *arguments) {
    HostCode *code = host_code_read(text);
    if (!host_code_launch_count(code)) fail_msg("no launch: %s", text);
    const HostLaunch *launch = host_code_launch(code, 0);
    uint32_t size[3];
    Text items = {0};
    assert_string_equal(launch->kernel, "k");
    assert_int_equal(host_code_size(code, launch->grid, NULL, size) ? size[0] * size[1] * size[2] : 0, grid);
    assert_int_equal(host_code_size(code, launch->block, NULL, size) ? size[0] * size[1] * size[2] : 0,
                     block);
    for (int i = 0; i < launch->item_count; i++) text_print(&items, "%s%s", i ? "|" : "", launch->items[i]);
    assert_string_equal(text_string(&items), arguments);
    text_done(&items);
    host_code_free(code);
}

static void literal_sizes_are_read(void **state) {
    (void)state;
    expect("void f() { k<<<4, 256>>>(a, b, 1024); }", 4, 256, "a|b|1024");
    expect("#define N (1 << 10)\nconst int B = 64;\nvoid f() { k<<<(N + B - 1) / B, B>>>(a, N); }", 16, 64,
           "a|N");
    expect("constexpr unsigned B = 32, G = 2 * B;\nvoid f() { k<<<G, B>>>(a[0], f(1, 2)); }", 64, 32,
           "a[0]|f(1, 2)");
    expect("void f() { k<<<dim3(2, 3), dim3(8, 4, 2)>>>(a); }", 6, 64, "a");
    expect("void f() { dim3 grid(2, 3), block{8}; k<<<grid, block>>>(a); }", 6, 8, "a");
    expect("void f() { // k<<<1, 1>>>(x)\n k<int, 4><<<2, 8, 16 * sizeof(float)>>>(); }", 2, 8, "");
    expect("#if 0\nk<<<1, 1>>>(x);\n#endif\nvoid f() { space::k << <2, 8> >> (a); }", 2, 8, "a");
}

/* What may be another number at the launch is none. */
static void other_names_are_no_numbers(void **state) {
    (void)state;
    expect("void f(int n) { k<<<n / 256, 256>>>(a, n); }", 0, 256, "a|n");
    expect("void f() { int b = 64; b *= 2; k<<<4, b>>>(a); }", 4, 0, "a");
    expect("const int B = 64;\nvoid f() { const int B = 32; k<<<4, B>>>(a); }", 4, 0, "a");
    expect("const int B = C, C = B;\nvoid f() { k<<<B, C>>>(a); }", 0, 0, "a");
    expect("void f() { dim3 g(1); g.x = 2; { dim3 g(3); k<<<g, size()>>>(a); } }", 0, 0, "a");
}

static void launches_by_calls_are_read(void **state) {
    (void)state;
    static const char text[] = "void f(float *a, int n) { void *args[] = {&a, (void *)&n};\n"
                               "cudaLaunchCooperativeKernel((void *)k<float>, dim3(8), 128, args, 0, 0); }";
    expect(text, 8, 128, "a|n");
    HostCode *code = host_code_read(text);
    assert_true(host_code_launch(code, 0)->is_cooperative);
    assert_string_equal(host_code_launch(code, 0)->arguments, "float");
    assert_int_equal(host_code_launch(code, 0)->line, 2);
    host_code_free(code);
    expect("void f() { void *args[1] = {&a}; cudaLaunchKernel(k, 2, 32, args); }", 2, 32, "a");
}

static void numbers_may_stand_for_n(void **state) {
    (void)state;
    HostCode *code = host_code_read("const int B = 128;");
    ExpressionName n = {"count", expression_integer(1000)};
    ExpressionValue value;
    assert_true(host_code_number(code, "(count + B - 1) / B", &n, &value));
    assert_int_equal(value.integer, 8);
    assert_false(host_code_number(code, "(count + B - 1) / B", NULL, &value));
    assert_true(host_code_number(code, "B * sizeof(double)", NULL, &value));
    assert_int_equal(value.integer, 1024);
    assert_true(host_code_number(code, "1e-5f", NULL, &value));
    assert_false(host_code_number(code, "sizeof(Pair)", NULL, &value));
    assert_false(host_code_number(code, "", NULL, &value));
    host_code_free(code);
}

static void lengths_of_arrays_are_read(void **state) {
    (void)state;
    HostCode *code =
        host_code_read("#define N 4096\n__managed__ float x[N];\n"
                       "__global__ void k(float *y) { __shared__ float z[32]; float w[8]; }\n"
                       "void f() { float a[16], b[2 * N] = {1}; y[5] = a[3]; float c[4]; { float c[5]; } }");
    static const struct {
        const char *name;
        uint64_t length;
    } rows[] = {{"x", 4096}, {"a", 16}, {"b", 8192}, {"y", 0}, {"z", 0}, {"w", 0}, {"c", 0}, {"", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(host_code_length(code, rows[i].name), rows[i].length);
    host_code_free(code);
}

static void parameters_have_names(void **state) {
    (void)state;
    static const struct {
        int index, count;
        const char *type, *name;
    } rows[] = {{0, 3, "const float *__restrict__ ", "in"},
                {1, 3, "unsigned int ", "n"},
                {0, 2, "int ", "b"},
                {0, 1, NULL, NULL}};
    HostCode *code = host_code_read(
        "void k(int x);\n__global__ void __launch_bounds__(256) k(const float *__restrict__ in, "
        "unsigned int n = 7, float a[4]) { }\n__global__ void k(int b, int c) { }");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text type = {0}, name = {0};
        bool found = host_code_parameter(code, "k", rows[i].index, rows[i].count, &type, &name);
        assert_int_equal(found, rows[i].name != NULL);
        if (found) assert_string_equal(text_string(&type), rows[i].type);
        if (found) assert_string_equal(text_string(&name), rows[i].name);
        text_done(&type);
        text_done(&name);
    }
    assert_int_equal(host_code_place(code, "other"), SIZE_MAX);
    assert_true(host_code_place(code, "k") < SIZE_MAX);
    assert_false(host_code_has_main(code));
    host_code_free(code);
    code = host_code_read("int main(int argc, char **argv) { return 0; }");
    assert_true(host_code_has_main(code));
    host_code_free(code);
}

static void templates_get_an_instance(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"template <typename T> __global__ void row_sum(const T *x) { }", "row_sum<float>"},
        {"namespace a { namespace b { template <class T, int B, bool F, int U = 4>\n__global__ void k(T *x) "
         "{ } } }",
         "a::b::k<float, 256, true, 4>"},
        {"template <class T> T half(T x) { return x / 2; }\n__global__ void k() { }", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        HostCode *code = host_code_read(rows[i][0]);
        Text instance = {0};
        assert_int_equal(host_code_template(code, &instance), rows[i][1] != NULL);
        if (rows[i][1]) assert_string_equal(text_string(&instance), rows[i][1]);
        text_done(&instance);
        host_code_free(code);
    }
}

/* Names that refer to each other, brackets that nothing closes: an answer, and soon. */
static void any_text_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "<<<",
        "k<<<",
        "k<<<>>>",
        "k<<<1>>>(",
        "{{{{((((",
        "}}}}))))",
        "/*",
        "\"",
        "'",
        "#if 0\n#if 1\n",
        "#define A B\n#define B A\nvoid f() { k<<<A, B>>>(A); }",
        "#define A B + B\n#define B C + C\n#define C D * D\n#define D A\nvoid f() { k<<<A, D>>>(B); }",
        "const int a = a; void f() { k<<<a, a>>>(a); }",
        "#define F(x) F(x)\nvoid f() { k<<<F(1), F(F(2))>>>(F(3)); }",
        "void f() { k<<<1 << 99, 1 / 0>>>(-9223372036854775808 / -1); }",
        "void f() { k<x<y><<<1, 1>>>(p); }",
        "< < < > > > << < >> >",
        "const int x =",
        "#define x",
        "void f() { k<<<dim3, dim3(>>>(x); }",
        "void f() { k<<<dim3(, dim3{1,>>>(x); }",
        "void f() { cudaLaunchKernel(",
        "void f() { cudaLaunchKernel(k<1, 2, 3, a); }",
        "void f() { void *a[ = {; cudaLaunchKernel(((k)), 1, 2, a, 0); }",
        "template <> __global__ void k(int *p) {}",
        "template < __global__ void k(",
        "x[",
        "float x[",
        "dim3 x("};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        HostCode *code = host_code_read(texts[i]);
        Text text = {0}, name = {0};
        for (int k = 0; k < host_code_launch_count(code); k++) {
            const HostLaunch *launch = host_code_launch(code, k);
            uint32_t size[3];
            ExpressionValue value;
            host_code_size(code, launch->grid, NULL, size);
            host_code_size(code, launch->block, NULL, size);
            for (int m = 0; m < launch->item_count; m++)
                host_code_number(code, launch->items[m], NULL, &value);
        }
        host_code_length(code, "x");
        host_code_parameter(code, "k", 0, 1, &text, &name);
        host_code_template(code, &text);
        text_done(&text);
        text_done(&name);
        host_code_free(code);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_sizes_are_read),     cmocka_unit_test(other_names_are_no_numbers),
        cmocka_unit_test(launches_by_calls_are_read), cmocka_unit_test(numbers_may_stand_for_n),
        cmocka_unit_test(lengths_of_arrays_are_read), cmocka_unit_test(parameters_have_names),
        cmocka_unit_test(templates_get_an_instance),  cmocka_unit_test(any_text_is_read),
    };
    return cmocka_run_group_tests_name("host_code", tests, NULL, NULL);
}
