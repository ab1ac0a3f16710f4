/* A submission may include headers of the toolkit by their names, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exercise/submission.h"
#include <string.h>

static void what_may_be_compiled(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "#include <cuda_runtime.h>\n",
        "  #  include  <cooperative_groups/reduce.h>\n",
        "// #include \"/etc/passwd\"\n",
        "/* \n#include \"/etc/passwd\"\n*/\n",
        "const char *text = \"\\\n#include </etc/passwd>\";\n",
        "#pragma unroll\n#define N 4\n#if N > 3\n#endif\n",
        "int million = 1'000'000; char c = '\"'; // \"\n#include <cuda/barrier>\n",
        "int has_include, my__has_include;\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        if (!submission_check(cases[i], strlen(cases[i]), "mine.cu", &error))
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
    }
}

static void what_may_not(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        {"#include \"/etc/passwd\"\n", 1, "only headers of the toolkit"},
        {"\n#include \"mine.h\"\n", 2, "only headers of the toolkit"},
        {"#include </etc/passwd>\n", 1, "by its name, not by a path"},
        {"#include <../../etc/passwd>\n", 1, "by its name, not by a path"},
        {"#include <~root/x>\n", 1, "by its name, not by a path"},
        {"#include <cuda_runtime.h\n", 1, "by its name, not by a path"},
        {"#define F \"/etc/passwd\"\n#include F\n", 2, "only headers of the toolkit"},
        {"#in\\\nclude \"/etc/passwd\"\n", 1, "only headers of the toolkit"},
        {"# /* a */ include /* b */ \"/etc/passwd\"\n", 1, "only headers of the toolkit"},
        {"/* a */ #include \"/etc/passwd\"\n", 1, "only headers of the toolkit"},
        {"%:include \"/etc/passwd\"\n", 1, "only headers of the toolkit"},
        {"\?\?=include \"/etc/passwd\"\n", 1, "trigraphs"},
        {"#include_next <stdio.h>\n", 1, "only #include <NAME>"},
        {"#import <stdio.h>\n", 1, "only #include <NAME>"},
        {"#embed </etc/passwd>\n", 1, "#embed"},
        {"int a = 1;\n#if __has_include(\"/etc/passwd\")\n#endif\n", 2, "__has_include"},
        {"_Pragma(\"x\")\n", 1, "_Pragma"},
        {"asm(\".incbin \\\"/etc/passwd\\\"\");\n", 1, ".incbin"},
        {"int a;\n__syncthreads ; // all\n", 2, "write __syncthreads();"},
        {"__syncwarp;\n", 1, "write __syncwarp();"},
        {"char *s = R\"(\"\n#include \"/etc/passwd\"\n)\";\n", 2, "only headers of the toolkit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        if (submission_check(cases[i].text, strlen(cases[i].text), "mine.cu", &error))
            fail_msg("case %zu is taken", i);
        if (error.line != cases[i].line || !strstr(error.message, cases[i].says))
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
    }
    Error error = {0};
    assert_false(submission_check("a\0b", 3, "mine.cu", &error));
    assert_string_equal(error.message, "it is not text");
}

static void what_was_not_changed(void **state) {
    (void)state;
    static const char start[] = "int a; // one\nint b = a + 1;\n";
    assert_true(submission_begins_with(start, start));
    assert_true(submission_begins_with("/* mine */ int a;\n\n  int b = a+1; int c;", start));
    assert_false(submission_begins_with("int a;\nint b = a + 2;\n", start));
    assert_false(submission_begins_with("int a;\n", start));
    assert_false(submission_begins_with("", start));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_may_be_compiled), cmocka_unit_test(what_may_not),
                                       cmocka_unit_test(what_was_not_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
