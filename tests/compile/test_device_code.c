/* The device code of CUDA C++ text, and compilers' messages about it. */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "compile/device_code.h"
#include "compile/compiler_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* `text` with runs of blanks squeezed, and without blanks at line ends. */
static char *squeezed(const char *text) {
    char *out = memory_new(strlen(text) + 1), *to = out;
    for (; *text; text++) {
        if (*text == ' ' && (to == out || to[-1] == ' ' || to[-1] == '\n')) continue;
        if (*text == '\n' && to > out && to[-1] == ' ') to--;
        *to++ = *text;
    }
    while (to > out && to[-1] == ' ') to--;
    *to = 0;
    return out;
}

static void expect(const char *text, const char *kept) {
    char *copy = memory_copy_text(text);
    device_code_keep(copy);
    assert_int_equal(strlen(copy), strlen(text));
    for (size_t i = 0; text[i]; i++)
        if ((text[i] == '\n') != (copy[i] == '\n')) fail_msg("a line break moved in: %s", text);
    char *shown = squeezed(copy);
    assert_string_equal(shown, kept);
    free(shown);
    free(copy);
}

static void functions_of_the_host_go(void **state) {
    (void)state;
    expect("int main() { return f(\"}\"); }", "");
    expect("__global__ void k() { if (1) { } }\nint main(int c, char **v) {\n k<<<1, 2>>>();\n}\n",
           "__global__ void k() { if (1) { } }\n\n\n\n");
    expect("static void check(cudaError_t e);\n__device__ int f(int);", "\n__device__ int f(int);");
    expect("template <class T> T cpu_sum(const T *p, int n) { return *p; } struct A { int x; };",
           "struct A { int x; };");
    expect("std::vector<int> data; const int N = 256; std::mt19937 g(42);", "const int N = 256;");
}

static void what_the_device_uses_stays(void **state) {
    (void)state;
    static const char *const texts[] = {
        "template <typename T, int B = (1 > 0)> __global__ void __launch_bounds__(256) k(T *p) { p[0] = B; }",
        "constexpr int half(int x) { return x / 2; }",
        "struct P { int a; P(int x) : a(x) {} } p;",
        "enum class E { A, B };",
        "typedef int (*function)(int); using T = float;",
        "#define HD __host__ __device__\nHD inline int f(int x) { return x; }",
        "#define KERNEL(T) __global__ void k_##T(T *p) { *p = 0; }\nKERNEL(int)\n",
        "__constant__ int table[] = {1, 2, 3};",
        "int table[2] = {1, 2};",
        "extern __shared__ float s[];",
        "namespace a { namespace { __device__ char c = '\\''; } }",
        "extern \"C\" { __global__ void k() {} }",
        "extern \"C\" __global__ void k() {}",
        "static_assert(sizeof(int) == 4, \"}\");",
        "__device__ const char *text = R\"x(}\")x\"; // } int f() {",
        "__device__ int big = 1'000'000; /* { */",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *same = squeezed(texts[i]);
        expect(texts[i], same);
        free(same);
    }
}

static void directives_stay(void **state) {
    (void)state;
    expect("void f() {\n puts(\"####\");\n /* # */ int a;\n/*\n# b */\n#define A 1\n}",
           "\n\n\n\n\n#define A 1\n");
    expect("int main() {\n#ifdef A\n f();\n#else\n g(); /* } */\n#endif\n}\n#define B \\\n 2\n",
           "\n#ifdef A\n\n#else\n\n#endif\n\n#define B \\\n2\n");
}

static void add_name(void *context, const char *name, size_t length) {
    text_print(context, "[%.*s]", (int)length, name);
}

/* Texts that end inside any construct are read to their end, and not past it. */
static void broken_text_ends(void **state) {
    (void)state;
    static const char whole[] =
        "#include \"a\"\n#define HD __device__ \\\n\nnamespace n { template <class T = a<b>> HD T f(T x)"
        " { return R\"q(})q\" + '\\'' + \"\\\"\"; } /* c */ } // d\nint main() { g({}); }";
    for (size_t length = 0; length < sizeof whole; length++) {
        char *copy = memory_new(length + 1); /* no longer, so that a sanitizer sees a read past the end */
        memcpy(copy, whole, length);
        Text names = {0};
        device_code_includes(copy, true, add_name, &names);
        assert_string_equal(text_string(&names), length < 11 ? "" : "[a]");
        text_done(&names);
        device_code_keep(copy);
        assert_int_equal(strlen(copy), length);
        Text heads = {0};
        device_code_templates(copy, &heads);
        text_done(&heads);
        free(copy);
    }
}

static void includes_are_found(void **state) {
    (void)state;
    static const char text[] =
        "#include <cstdio>\n# include  \"a/b.h\"\n// #include \"c.h\"\n/*\n#include <d>\n*/\n"
        "const char *s = \"\n\"; x #include <e>\n#include \"f.h";
    Text quoted = {0}, system = {0};
    device_code_includes(text, true, add_name, &quoted);
    device_code_includes(text, false, add_name, &system);
    assert_string_equal(text_string(&quoted), "[a/b.h][f.h]");
    assert_string_equal(text_string(&system), "[cstdio]");
    text_done(&quoted);
    text_done(&system);
}

static void templates_are_named(void **state) {
    (void)state;
    Text heads = {0};
    device_code_templates(
        "template <typename T, unsigned B> __global__ void __launch_bounds__(B) reduce(T *p) {}\n"
        "template <class T> __device__ T f(T x) { return x; }\n"
        "namespace n { template <int N> static __global__ void two(int *p); }\n"
        "__global__ void plain() {}",
        &heads);
    assert_string_equal(text_string(&heads), "reduce<typename T, unsigned B>, two<int N>");
    text_done(&heads);
}

static void expect_message(const char *output, const char *file, int line, int column, const char *message) {
    Error error = {0};
    assert_false(messages_to_error(output, "nvcc", &error));
    assert_string_equal(error.file, file);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    assert_string_equal(error.message, message);
}

static void messages_have_places(void **state) {
    (void)state;
    expect_message("/a/b.cu(13): error: identifier \"t\" is undefined\n"
                   "      if (k) t[0] = 1;\n             ^\n\n1 error detected.\n",
                   "/a/b.cu", 13, 12, "identifier \"t\" is undefined (nvcc)");
    expect_message("warning: x\n/a(1)/b.cu:3:7: error: no\n/a/b.cu:4:1: error: more\nfatal error: x\n",
                   "/a(1)/b.cu", 3, 7, "no (nvcc, and 1 more)");
    expect_message("b.cu(2): error #20-D: bad: worse\n", "b.cu", 2, 0, "bad: worse (nvcc)");
    expect_message("b.cu(1): catastrophic error: cannot open source file \"x.h\"\n", "b.cu", 1, 0,
                   "cannot open source file \"x.h\" (nvcc)");
    expect_message("\n nvcc fatal   : Unsupported gpu architecture 'compute_1'\nrest", "", 0, 0,
                   "nvcc: nvcc fatal   : Unsupported gpu architecture 'compute_1'");
    expect_message("", "", 0, 0, "nvcc: failed without a message");
    expect_message(
        "/usr/bin/ld: /tmp/a.o: in function `main':\n"
        "tmpxft.cpp:(.text.startup+0x5): undefined reference to `other(int)'\ncollect2: error: ld\n",
        "", 0, 0, "nvcc: undefined reference to `other(int)'");
    expect_message("/usr/bin/ld: skipping\n/usr/bin/ld: cannot find -lcurand: No such file\n", "", 0, 0,
                   "nvcc: /usr/bin/ld: cannot find -lcurand: No such file");
}

/* nvcc places its caret below its own rendering of the line; the fault is at the name that the message
 * quotes. */
static void carets_stand_at_names(void **state) {
    (void)state;
    char path[] = "/tmp/redviz-caret-XXXXXX", output[300];
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    fputs("#include \"x.h\"\nint kx; a[0] = f(1); k(); /* \"k\" */\n", file);
    assert_int_equal(fclose(file), 0);
    static const struct {
        const char *place, *message; /* the text after the name of the file, and the expected message */
        int line, column;
    } rows[] = {{"(1): catastrophic error: cannot open source file \"x.h\"",
                 "cannot open source file \"x.h\" (nvcc)", 1, 11},
                {"(2): error: identifier \"k\" is undefined", "identifier \"k\" is undefined (nvcc)", 2, 22},
                {"(2): error: calling a __host__ function(\"f(int)\") is not allowed",
                 "calling a __host__ function(\"f(int)\") is not allowed (nvcc)", 2, 16},
                {"(2): error: expected a \";\"", "expected a \";\" (nvcc)", 2, 1},
                {":2:5: error: \"k\" is odd", "\"k\" is odd (nvcc)", 2, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(output, sizeof output, "%s%s\n", path, rows[i].place);
        expect_message(output, path, rows[i].line, rows[i].column, rows[i].message);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_the_host_go), cmocka_unit_test(what_the_device_uses_stays),
        cmocka_unit_test(directives_stay),          cmocka_unit_test(broken_text_ends),
        cmocka_unit_test(includes_are_found),       cmocka_unit_test(templates_are_named),
        cmocka_unit_test(messages_have_places),     cmocka_unit_test(carets_stand_at_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
