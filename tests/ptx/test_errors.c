/* Error messages of the front end: one line, its place, the line of PTX and a caret. Invalid input causes
 * nothing but that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

typedef struct Row {
    const char *text;
    int column;
    const char *message;
} Row;

/* Each row's text stands in the line `line` of the module that `format` makes of it. */
static void check_rows(const Row *rows, size_t count, const char *before, int line, const char *after) {
    for (size_t i = 0; i < count; i++) {
        Text text = {0};
        Error error;
        text_print(&text, "%s%s%s", before, rows[i].text, after);
        error_of(text_string(&text), &error);
        if (strcmp(error.message, rows[i].message) != 0)
            fail_msg("%s\n  gives %s", rows[i].text, error.message);
        if (error.line != line || error.column != rows[i].column)
            fail_msg("%s\n  at %d:%d, not %d:%d: %s", rows[i].text, error.line, error.column, line,
                     rows[i].column, error.message);
        assert_string_equal(error.file, "test.ptx");
        if (error.column) assert_memory_equal(error.excerpt, rows[i].text, strcspn(rows[i].text, "\n"));
        text_done(&text);
    }
}

static const char header[] = ".version 8.0\n.target sm_80\n.address_size 64\n";

static void in_the_module(void **state) {
    (void)state;
    static const Row rows[] = {
        {"ret;", 1, "expected a directive such as .visible or .global, found 'ret'"},
        {"#include <x>", 1, "this character has no meaning in PTX"},
        {"'x'", 1, "this character has no meaning in PTX"},
        {"/* open", 1, "this comment has no end; close it with */"},
        {".version 8.0", 1, "a module has only one .version"},
        {".target 80", 9, "expected a target such as sm_75, found '80'"},
        {".address_size 48", 15, "the address size must be 32 or 64"},
        {".address_size 4294967328", 15, "the address size must be from 32 to 64"},
        {".file 1 a.cu", 9, "expected a path in quotes, found 'a'"},
        {".file 1 \"a.cu\n\"", 9, "this string has no end on its line; close it with \""},
        {".file 4294967296 \"a\"", 7, "the number of a file must be from 0 to 2147483647"},
        {".pragma nounroll;", 9, "expected a string, found 'nounroll'"},
        {".section { }", 10, "expected a section's name, found '{'"},
        {".section .debug_str {", 21, "this brace is never closed"},
        {".u32 x;", 1, "this declaration names no state space"},
        {".global x;", 9, "expected a type such as .u32, found 'x'"},
        {".global .u33 x;", 9, "'.u33' is not a state space, type or attribute of a variable"},
        {".global .u32;", 13, "expected a variable's name, found ';'"},
        {".global .u32 x y;", 16, "expected ';', found 'y'"},
        {".global .pred x;", 1, ".pred variables must be registers"},
        {".reg .u32 x;", 6, "registers are declared inside functions"},
        {".global .align 3 .u32 x;", 16, "an alignment must be a power of two"},
        {".global .align 0 .u32 x;", 16, "an alignment must be from 1 to 1048576"},
        {".global .u32 x; .global .u32 x;", 30, "'x' is declared twice in this scope"},
        {".global .u32 f; .func f() { ret; }", 23, "'f' is already the name of something else"},
        {".global .u32 x[];", 14, "the array 'x' has no size"},
        {".global .u32 x[2][];", 19, "only the first dimension of an array may be left out"},
        {".global .u32 x[1000000][1000000];", 14, "this variable is too large; the limit is 2^40 bytes"},
        {".global .u32 x[-1];", 16, "the size of an array must be from 0 to 1099511627776"},
        {".global .u32 x[1.5];", 16, "the size of an array must be an integer"},
        {".global .u32 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];", 63,
         "an array has at most 16 dimensions"},
        {".global .u32 x<5000>;", 16, "a number of variables must be from 1 to 4096"},
        {".global .u32 x = 1.5;", 18, "a float cannot initialise a variable of type .u32"},
        {".global .f16 x = 1.5;", 18, "variables of type .f16 have no initial values; use .b16 or .b32 bits"},
        {".func (.reg .pred p) f();", 8, "a function takes and returns no predicates: pass 0 or 1 as .b32"},
        {".func f(.reg .u32 a, .reg .pred p);", 22,
         "a function takes and returns no predicates: pass 0 or 1 as .b32"},
        {".global .u32 x[2] = {1, 2, 3};", 28, "more initial values than the variable has elements"},
        {".global .u32 x[2] = {{1}, {2}};", 22, "this list of initial values is nested too deeply"},
        {".global .u32 x[2] = {1, 2;", 26, "expected '}', found ';'"},
        {".global .u32 x = ;", 18, "expected an initial value, found ';'"},
        {".global .u64 x = missing;", 18, "'missing' is not declared"},
        {".global .u16 x = y; .global .u32 y;", 18, "an address does not fit an element of type .u16"},
        {".global .u8 x = 0xF0(y); .global .u32 y;", 17, "a mask must pick one byte, as 0xFF or 0xFF00"},
        {".global .u64 x = y+1.5; .global .u32 y;", 20, "an offset must be an integer"},
        {".global .u32 x = 1/0;", 19, "division by zero"},
        {".global .u32 x = 1.5 & 1;", 22, "this operator needs integers"},
        {".global .u32 x = ~1.5;", 18, "~ needs an integer"},
        {".global .u32 x = 12abc;", 18, "'12abc' is not a number, or does not fit 64 bits"},
        {".global .u32 x = 99999999999999999999;", 18,
         "'99999999999999999999' is not a number, or does not fit 64 bits"},
        {".global .u32 x = 0f3F80;", 18, "'0f3F80' is not a number, or does not fit 64 bits"},
        {".global .u32 x = 08;", 18, "'08' is not a number, or does not fit 64 bits"},
        {".func f(.global .u32 a) { ret; }", 9, "a parameter must be .param or .reg"},
        {".func f(.param .u32) { ret; }", 20, "expected a parameter's name, found ')'"},
        {".func f(.param .u32 a .param .u32 b) { ret; }", 23, "expected ')', found '.param'"},
        {".func f(.param .u32 a, .param .u64 a) { ret; }", 7,
         "two parameters of this function are named 'a'"},
        {".func f() { ret; } .func f() { ret; }", 26, "the function 'f' has two bodies"},
        {".func f(); .entry f() { ret; }", 19, "'f' is already the name of something else"},
        {".entry k() .maxntid x { ret; }", 21, "expected a number, found 'x'"},
        {".entry k() .maxntid 1, 2, 3, 4 { ret; }", 28, "expected ';' or the function's body, found ','"},
        {".entry k() .reqntid 4294967296 { ret; }", 21, "a number of threads must be from 0 to 4294967295"},
        {".entry k() ret;", 12, "expected ';' or the function's body, found 'ret'"},
        {".entry k() { ret;", 12, "this brace is never closed"},
        {".entry 7() { ret; }", 8, "expected a function's name, found '7'"},
        {".alias a, b;", 8, ".alias needs a function that is declared before"},
        {".func a(); .alias a, a;", 22, ".alias needs another function, which is declared before"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, header, 4, "\n.entry last() { ret; }\n");
}

static void in_bodies(void **state) {
    (void)state;
    static const Row rows[] = {
        {"add.s32 %r1 %r2, %r3;", 13, "expected ',' or ';', found '%r2'"},
        {"add.s32 %r1,, %r3;", 13, "expected an operand, found ','"},
        {"add.s32, %r1;", 8, "expected an operand, found ','"},
        {"add. s32 %r1, 2;", 4, "this character has no meaning in PTX"},
        {"ADD.s32 %r1, 2;", 1, "'ADD' is no instruction"},
        {"+ 3;", 1, "expected an instruction, a label or a directive, found '+'"},
        {"\"text\";", 1, "expected an instruction, a label or a directive, found '\"text\"'"},
        {"mov.u32 %r10, 1;", 9, "the register '%r10' is not declared"},
        {"mov.u32 %r01, 1;", 9, "the register '%r01' is not declared"},
        {"add.u32 %r1, %r2, nothing;", 19, "'nothing' is not declared"},
        {"mov.u32 %r1, nothing;", 14, "'nothing' is not declared"},
        {"mov.u32 %r1, %tid.q;", 18, "expected a component .x .y .z or .w, found '.q'"},
        {"mov.f32 %f1, 1.5f;", 14, "'1.5f' is not a number, or does not fit 64 bits"},
        {"mov.f32 %f1, .5x;", 14, "'.5x' is not a number"},
        {"mov.u32 %r1, (1 + 2;", 20, "expected ')', found ';'"},
        {"mov.u32 %r1, 1 ? 2;", 19, "expected ':', found ';'"},
        {"mov.u32 %r1, -tile;", 15, "only a register can be negated"},
        {"ld.shared.u32 %r1, [%r2;", 24, "expected ']', found ';'"},
        {"ld.shared.u32 %r1, [%r2+%r3];", 25, "expected a number, found '%r3'"},
        {"ld.shared.u32 %r1, [%r2+1.5];", 25, "an offset must be an integer"},
        {"ld.shared.u32 %r1, tile[-1];", 25, "an index must be from 0 to 2147483647"},
        {"mov.b64 {%r1, %r2, %rd1; }", 24, "expected ',' or '}', found ';'"},
        {"@%r1 ret;", 2, "a guard must be a predicate register"},
        {"@5 ret;", 2, "expected a predicate, found '5'"},
        {"@%p1 { ret; }", 6, "expected an instruction, found '{'"},
        {"@%p1 L: ret;", 6, "'L' is no instruction"},
        {"bra nowhere;", 5, "the label 'nowhere' is not declared"},
        {"{ L: ret; } bra L;", 17, "the label 'L' is not declared"},
        {"L: ret; L: ret;", 9, "the label 'L' is declared twice in this scope"},
        {"bra table;", 5, "the label 'table' is not declared"},
        {"bra 7;", 1, "bra needs one label of an instruction"},
        {"bra list; list: .branchtargets list;", 1, "bra needs one label of an instruction"},
        {"L: brx.idx %r1, L;", 4, "brx.idx needs an index and the name of a .branchtargets list"},
        {"a: .branchtargets a; brx.idx %r1, a;", 22,
         "its list of targets names something that is not the label of an instruction"},
        {"list: .branchtargets nowhere;", 22, "the label 'nowhere' is not declared"},
        {"list: .branchtargets ;", 22, "expected a label, found ';'"},
        {"list: .calltargets nobody;", 20, "the function 'nobody' is not declared"},
        {"call nobody;", 6, "'nobody' is not declared"},
        {"call outside;", 1,
         "the function 'outside' has no body in this file; link it in first (nvcc without -rdc=true)"},
        {"call cudaLaunchDeviceV2;", 1,
         "the function 'cudaLaunchDeviceV2' launches from a kernel (dynamic parallelism), which is not "
         "emulated"},
        {".reg .u32 x; .reg .f32 x;", 24, "'x' is declared twice in this scope"},
        {".reg .u32 x<2147483648>;", 13, "a number of registers must be from 0 to 2147483647"},
        {".reg .u32 x<y>;", 13, "expected a number of registers, found 'y'"},
        {".shared .u32 x = 4;", 16, "only .global and .const variables have initial values"},
        {".reg .u32 x = 4;", 13, "expected ',' or ';', found '='"},
        {".loc 1;", 7, "expected a number, found ';'"},
        {".loc 1 2 3, function_name 7", 27, "expected a label of .debug_str, found '7'"},
        {"mov.u32 %r1, 5\nmov.u32 %r2, 5;", 15, "expected ',' or ';' at the end of this line"},
        {"mov.u32 %r1, 5 // five\n\nret;", 15, "expected ',' or ';' at the end of this line"},
        {"mov.u32 %r1, 5 mov.u32 %r2, 5;", 16, "expected ',' or ';', found 'mov'"},
        {".loc 1 2 3, file 7", 13, "expected function_name or inlined_at, found 'file'"},
        {".entry inner() { ret; }", 1, "'.entry' is not a state space, type or attribute of a variable"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, body_prologue, body_line, "\n}\n");
}

/* Calls, as ptxas refuses them. */
static void in_calls(void **state) {
    (void)state;
    static const char before[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.reg .u32 d) one(.reg .u32 a);\n.func two(.reg .v2 .u32 a);\n"
        ".func (.reg .v2 .u32 d) back();\n.func by_memory(.param .align 16 .b8 a[16]);\n"
        ".entry k() { .reg .pred p; .reg .v2 .u32 v; .reg .v4 .u32 w; .reg .u32 r; .reg .u64 q;\n";
    static const Row rows[] = {
        {"call (r), one, (p);", 17, "a function takes and returns no predicates: pass 0 or 1 as .b32"},
        {"call (p), one, (r);", 7, "a function takes and returns no predicates: pass 0 or 1 as .b32"},
        {"call (r), one, (v);", 1, "the call passes 'v', a vector of 2, where the function has one value"},
        {"call (v), one, (r);", 1, "the call passes 'v', a vector of 2, where the function has one value"},
        {"call two, (w);", 1, "the call passes 'w', a vector of 4, where the function has a vector of 2"},
        {"call two, (v.x);", 1, "the call passes 'v', one value, where the function has a vector of 2"},
        {"call (r), back;", 1, "the call passes 'r', one value, where the function has a vector of 2"},
        {"call by_memory, (w);", 1,
         "the call passes 'w', a vector of 4, where the function has a .param variable"},
        {"st.global.u32 [q], r + 1;", 20, "a register takes an offset only within brackets, as an address"},
        {"mov.u32 r, r - 1;", 12, "a register takes an offset only within brackets, as an address"},
        {"mov.b64 q, {r + 1, r};", 13, "a register takes an offset only within brackets, as an address"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, before, 9, "\n}\n");
}

static void of_the_whole_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "this is not PTX: it must begin with .version"},
        {"\n\n  // nothing\n", "this is not PTX: it must begin with .version"},
        {"hello", "this is not PTX: it must begin with .version"},
        {"\x7f"
         "ELF\x02\x01\x01",
         "this is not PTX: it must begin with .version"},
        {".target sm_75\n.version 7.0", "this is not PTX: it must begin with .version"},
        {".version", "expected a version such as 7.8, found the end of the text"},
        {".version 7", "expected a version such as 7.8, found '7'"},
        {".version 7.123", "expected a version such as 7.8, found '7.123'"},
        {".version 0.1", "expected a version such as 7.8, found '0.1'"},
        {".version 99999999999999999999.0", "expected a version such as 7.8, found '99999999999999999999.0'"},
        {".version 7.0\n", "expected .target, found the end of the text"},
        {".version 7.0\n.target sm_75\n", "this file has no entry"},
        {".version 7.0\n.target sm_75\n.entry k();", "this file has no entry"},
        {".version 7.0\n.target sm_75\n.entry a() { ret; } .entry b() { ret; }",
         "this file has several entries; choose one with --entry: a, b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error error;
        error_of(rows[i].text, &error);
        assert_string_equal(error.message, rows[i].message);
        assert_string_equal(error.file, "test.ptx");
    }
}

static void of_bytes(void **state) {
    (void)state;
    static const char zero[] = ".version 7.0\n.target\0sm_75\n.entry k() { ret; }";
    Error error = {0};
    assert_null(ptx_module_parse(zero, sizeof zero - 1, "test.ptx", &error));
    assert_string_equal(error.message, "a zero byte: this is not PTX text");
    assert_true(error.line == 2 && error.column == 8);
    assert_null(ptx_module_parse("", 0, "test.ptx", &error));
    assert_null(ptx_module_parse(zero, (size_t)1 << 40, "test.ptx", &error));
    assert_string_equal(error.message, "1099511627776 bytes of PTX are too many; the limit is 512 MB");
}

static PtxModule *parse_whole(const char *text, size_t length, Error *error) {
    PtxModule *module = ptx_module_parse(text, length, "test.ptx", error);
    if (module && ptx_module_parse_all(module, error)) return module;
    ptx_module_free(module);
    return NULL;
}

/* Truncated anywhere, a file either parses or gives an error with a message and a caret within its line. */
static void truncated_files(void **state) {
    (void)state;
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file("tests/fuzz/corpus/calls.ptx", 1 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    int refused = 0;
    for (size_t cut = 0; cut < length; cut++) {
        char *part = memory_new(cut + 1); /* of exactly that size, so that reading past the end is found */
        memcpy(part, text, cut);
        error = (Error){0};
        PtxModule *module = parse_whole(part, cut, &error);
        if (!module) {
            refused++;
            assert_true(error.message[0] && !strchr(error.message, '\n'));
            assert_true(!error.excerpt[0] ||
                        (error.caret >= 1 && (size_t)error.caret <= strlen(error.excerpt) + 1));
        }
        ptx_module_free(module);
        free(part);
    }
    assert_true(refused > (int)length / 2);
    free(text);
}

static void garbage(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 2000; round++) {
        char bytes[256];
        size_t length = (size_t)snprintf(bytes, sizeof bytes, "%s.entry k() {", header);
        if (round % 2) length = 0;
        while (length < sizeof bytes) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[length++] = (char)(random >> 56);
        }
        Error error = {0};
        assert_null(parse_whole(bytes, sizeof bytes, &error));
        assert_true(error.message[0] != 0);
    }
}

static void repeat(Text *text, const char *what, int count) {
    for (int i = 0; i < count; i++) text_add(text, what);
}

/* A million levels of any nested construct do not overflow the stack. */
static void deep_nesting(void **state) {
    (void)state;
    static const struct {
        const char *before, *open, *between, *close, *after, *message;
    } rows[] = {
        {".entry k() ", "{", "", "}", "", "scopes are nested too deeply"},
        {".entry k() {", "{", "", "", "", "this brace is never closed"},
        {".entry k() { .reg .u32 a; mov.u32 a, ", "(", "1", ")", "; }",
         "this expression is nested too deeply"},
        {".entry k() { .reg .u32 a; mov.u32 a, ", "-", "1", "", "; }",
         "this expression is nested too deeply"},
        {".entry k() { .reg .u32 a; mov.u32 a, ", "1?", "1", ":1", "; }",
         "this expression is nested too deeply"},
        {".entry k() { .reg .u32 a; mov.u32 a, ", "(.s64)", "1", "", "; }",
         "this expression is nested too deeply"},
        {".entry k() { .reg .u32 a; mov.u32 ", "{", "a", "}", ", a; }", "this operand is nested too deeply"},
        {".entry k() { .reg .u32 a; tex.1d a, ", "[", "a", "]", "; }", "this operand is nested too deeply"},
        {".entry k() { call ", "(", "k", ")", "; }", "this operand is nested too deeply"},
        {".global .u32 x[1] = ", "{", "1", "}", ";", "this list of initial values is nested too deeply"},
        {".global .u32 x = ", "(", "1", ")", ";", "this expression is nested too deeply"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text text = {0};
        Error error;
        text_print(&text, "%s%s", header, rows[i].before);
        repeat(&text, rows[i].open, 300000);
        text_add(&text, rows[i].between);
        repeat(&text, rows[i].close, 300000);
        text_add(&text, rows[i].after);
        error_of(text_string(&text), &error);
        assert_string_equal(error.message, rows[i].message);
        text_done(&text);
    }
}

/* Very long names and lists are only slow. */
static void large_is_no_error(void **state) {
    (void)state;
    Text text = {0};
    text_print(&text, "%s.entry k() { .reg .u32 ", header);
    repeat(&text, "name", 10000);
    text_add(&text, "; .reg .u32 a; a: add.u32 a");
    repeat(&text, ", 1+1+1+1", 20000);
    text_add(&text, ";");
    repeat(&text, "{ bra a; }\n", 20000);
    text_add(&text, "}");
    PtxModule *module = parse_module(text_string(&text));
    assert_int_equal(instruction_of(module, 0)->operand_count, 20001);
    check_prints_back(module);
    ptx_module_free(module);
    text_done(&text);
}

/* For a long line, the part around the caret is shown. */
static void long_lines_show_the_place(void **state) {
    (void)state;
    Text text = {0};
    Error error;
    text_print(&text, "%s.entry k() { ret; ", header);
    repeat(&text, "/* far */ ", 100);
    text_add(&text, "oops oops; ");
    repeat(&text, "/* away */ ", 100);
    text_add(&text, "}");
    error_of(text_string(&text), &error);
    assert_int_equal(error.column, 18 + 1000 + 6);
    assert_memory_equal(error.excerpt + error.caret - 1 - 5, "oops oops; /* away", 18);
    text_done(&text);
}

static void expect_printed(const Error *error, const char *expected) {
    char shown[256] = {0};
    FILE *out = tmpfile();
    assert_non_null(out);
    error_print(error, out);
    rewind(out);
    assert_true(fread(shown, 1, sizeof shown - 1, out) > 0);
    fclose(out);
    assert_string_equal(shown, expected);
}

static void carets_are_printed_below_the_place(void **state) {
    (void)state;
    Error error;
    error_of(".version 7.0\n.target sm_75\n\t.entry k() {\x1b }", &error);
    expect_printed(&error, "redviz: test.ptx:3:14: this character has no meaning in PTX\n"
                           "   .entry k() {? }\n"
                           "               ^\n");
}

/* An option may have several lines; its excerpt has one, and the caret is below its place. */
static void ends_of_lines_are_escaped(void **state) {
    (void)state;
    Error error = {0};
    error_set_at(&error, "", 0, 8, "there is no entry 'kk\n'");
    error_show_line(&error, "k<<<1;\nkk", 9);
    expect_printed(&error, "redviz: there is no entry 'kk\\n'\n"
                           "  k<<<1;\\nkk\n"
                           "          ^\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_module),
                                       cmocka_unit_test(in_bodies),
                                       cmocka_unit_test(in_calls),
                                       cmocka_unit_test(of_the_whole_file),
                                       cmocka_unit_test(of_bytes),
                                       cmocka_unit_test(truncated_files),
                                       cmocka_unit_test(garbage),
                                       cmocka_unit_test(deep_nesting),
                                       cmocka_unit_test(large_is_no_error),
                                       cmocka_unit_test(long_lines_show_the_place),
                                       cmocka_unit_test(carets_are_printed_below_the_place),
                                       cmocka_unit_test(ends_of_lines_are_escaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
