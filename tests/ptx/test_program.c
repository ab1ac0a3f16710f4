/* Linked programs: their functions, pcs of calls, and source lines of instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/library_files.h"
#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static PtxModule *parse_functions(const char *text) {
    Text whole = {0};
    text_print(&whole, ".version 8.0\n.target sm_80\n.address_size 64\n%s\n", text);
    PtxModule *module = parse_module(text_string(&whole));
    text_done(&whole);
    return module;
}

static void check_linked(const char *text, const char *expected) {
    PtxModule *module = parse_functions(text);
    PtxProgram *program = link_entry(module, "k");
    Text out = {0};
    int next = 0;
    for (int i = 0; i < program->function_count; i++) {
        const PtxProgramFunction *placed = &program->functions[i];
        text_print(&out, "%s%s", i ? " " : "", placed->function->name);
        assert_int_equal(placed->begin, next); /* one after another */
        assert_int_equal(ptx_program_function(program, placed->function), i);
        for (int pc = placed->begin; pc < placed->end; pc++) assert_int_equal(program->code[pc].function, i);
        next = placed->end;
    }
    assert_int_equal(next, program->code_count);
    assert_string_equal(text_string(&out), expected);
    text_done(&out);
    ptx_program_free(program);
    ptx_module_free(module);
}

#define F(name) ".func " name "() { ret; }\n"
#define R       ".reg .b64 %rd<4>; "

static void only_what_the_entry_needs_is_linked(void **state) {
    (void)state;
    check_linked(F("a") F("b") ".entry k() { ret; }", "k");
    check_linked(F("a") F("b") F("c") ".entry k() { call c; call a; }", "k a c"); /* in the module's order */
    check_linked(".func b(); .func a() { call b; } " F("c") F("b") ".entry k() { call a; }",
                 "k b a"); /* b is declared first */
    check_linked(F("a") ".entry other() { call a; } .entry k() { exit; }", "k");
    check_linked(".func a(); .func b() { call a; } .func a() { call b; } .entry k() { call b; }",
                 "k a b"); /* recursion */
    check_linked(".func a() { call a; } .entry k() { call a; }", "k a");
    check_linked(
        ".func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a); .extern .func free(.param .b64 p);"
        ".entry k() { " R "call free, (%rd1); }",
        "k"); /* built in */
}

static void functions_by_address_are_linked(void **state) {
    (void)state;
    check_linked(F("a") F("b") ".entry k() { " R "mov.u64 %rd1, b; }", "k b");
    check_linked(F("a") F("b") ".global .u64 t[2] = {b, a}; .entry k() { " R "ld.global.u64 %rd1, [t]; }",
                 "k a b");
    check_linked(
        F("a") ".global .u64 t = a; .global .u64 u = t; .entry k() { " R "ld.global.u64 %rd1, [u]; }", "k a");
    check_linked(F("a") ".global .u64 t = a; .entry k() { ret; }", "k");
    check_linked(F("a") F("b") ".entry k() { " R "list: .calltargets b; call %rd1, list; }", "k b");
    /* Through a pointer, any function may be called whose address is taken somewhere. */
    check_linked(F("a") F("b") F("c") ".global .u64 t = c; .entry set() { " R
                                      "mov.u64 %rd1, a; }\n.entry k() { " R "call %rd1; }",
                 "k a c");
    check_linked(".func pure(); .global .u64 t[2] = {pure, a};" F(
                     "a") ".entry k() { " R "ld.global.u64 %rd1, [t]; call %rd1; }",
                 "k a");
}

/* Looking for functions whose address is taken reads all bodies; one that does not parse does not affect this
 * entry. */
static void a_broken_body_stops_only_who_needs_it(void **state) {
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n" F("a") ".func broken() { this is no PTX }\n"
                                                                 ".global .u64 t = a; .entry k() { " R
                                                                 "call %rd1; } .entry l() { call broken; }";
    Error error = {0};
    PtxModule *module = ptx_module_parse(text, sizeof text - 1, "test.ptx", &error);
    assert_non_null(module);
    PtxProgram *program = link_entry(module, "k");
    assert_int_equal(program->function_count, 2);
    assert_null(ptx_program_link(module, ptx_module_find(module, "l"), &error));
    assert_int_equal(error.line, 5);
    ptx_program_free(program);
    ptx_module_free(module);
}

static void aliases_are_followed(void **state) {
    (void)state;
    check_linked(F("a") ".func b(); .alias b, a; .entry k() { call b; }", "k a");
    PtxModule *module = parse_functions(F("a") ".func b(); .alias b, a; .entry k() { call b; }");
    PtxProgram *program = link_entry(module, "k");
    assert_int_equal(ptx_program_function(program, ptx_module_find(module, "b")), 1);
    ptx_program_free(program);
    ptx_module_free(module);
}

static void lists_of_calls_are_pcs(void **state) {
    (void)state;
    PtxModule *module = parse_functions(F("a") ".func b() { membar.cta; ret; }\n" F(
        "c") ".entry k() { " R "list: .calltargets c, b, a; call %rd1, list; call b; }");
    PtxProgram *program = link_entry(module, "k");
    static const char *const names[] = {"c", "b", "a"};
    assert_int_equal(program->code[0].target_count, 3);
    for (int i = 0; i < 3; i++) {
        int function = program->code[program->code[0].targets[i]].function;
        assert_string_equal(program->functions[function].function->name, names[i]);
        assert_int_equal(program->code[0].targets[i], program->functions[function].begin);
    }
    assert_int_equal(program->code[1].target_count, 0);
    assert_int_equal(program->code[1].target, PTX_NO_PC);
    ptx_program_free(program);
    ptx_module_free(module);
}

static void a_module_may_be_linked_again(void **state) {
    (void)state;
    PtxModule *module = parse_functions(F("a") ".entry k() { call a; } .entry l() { call a; ret; }");
    for (int round = 0; round < 3; round++) {
        PtxProgram *k = link_entry(module, "k"), *l = link_entry(module, "l");
        assert_true(k->code_count == 3 && l->code_count == 3);
        assert_int_equal(k->functions[1].begin, 2);
        ptx_program_free(k);
        ptx_program_free(l);
    }
    ptx_module_free(module);
}

/* ---- source lines -------------------------------------------------------------------------------------- */

#define TOOLKIT "/usr/local/cuda/include/header.h"
#define FILES                                                                                                \
    ".file 1 \"user.cu\"\n.file 2 \"" TOOLKIT                                                                \
    "\"\n.file 3 \"/home/me/sums.cuh\"\n.file 4 \"/opt/cuda/cub/a.cuh\"\n"

static void put_line(const PtxSourceLine *line, Text *out) {
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    text_print(out, "%s:%d", slash ? slash + 1 : line->file ? line->file : "none", line->line);
}

/* "user.cu:7|user.cu:5<user.cu:9": two candidates, and where it was called. */
static void check_lines_of(const char *text, bool has_library_headers, const char *expected) {
    PtxModule *module = parse_functions(text);
    module->has_library_headers = has_library_headers;
    PtxProgram *program = link_entry(module, "k");
    Text out = {0};
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxPlaces *places = program->code[pc].places;
        if (pc) text_add(&out, " ");
        put_line(&program->code[pc].line, &out);
        for (int i = 1; places && i < places->line_count; i++)
            text_add(&out, "|"), put_line(&places->lines[i], &out);
        for (int i = 0; places && i < places->caller_count; i++)
            text_add(&out, i ? "|" : "<"), put_line(&places->callers[i], &out);
    }
    if (strcmp(text_string(&out), expected) != 0)
        fail_msg("%s\n  gives %s\n  not   %s", text, text_string(&out), expected);
    text_done(&out);
    ptx_program_free(program);
    ptx_module_free(module);
}

static void check_lines(const char *text, const char *expected) {
    check_lines_of(text, false, expected);
}

static void lines_without_inlining(void **state) {
    (void)state;
    check_lines(".entry k() { ret; }", "none:0");
    check_lines(FILES ".entry k() { .loc 1 7 1 membar.cta; membar.cta; .loc 1 9 5 ret; }",
                "user.cu:7 user.cu:7 user.cu:9");
    check_lines(FILES ".entry k() { membar.cta; .loc 1 7 1 ret; }",
                "none:0 user.cu:7"); /* before the first */
    check_lines(FILES ".entry k() { .loc 1 7 1 membar.cta; .loc 1 0 0 membar.cta; ret; }",
                "user.cu:7 user.cu:7 user.cu:7");            /* line 0 */
    check_lines(".entry k() { .loc 5 7 1 ret; }", "none:7"); /* no such .file */
}

#define AT(place) ", function_name f, inlined_at " place " "

static void lines_through_inlining(void **state) {
    (void)state;
    /* one hop: the user's line that calls the header's function */
    check_lines(FILES ".entry k() { .loc 1 7 1 membar.cta; .loc 2 100 3" AT("1 7 1") "membar.cta; ret; }",
                "user.cu:7 user.cu:7 user.cu:7");
    /* two hops: user.cu:8 calls the toolkit, which calls CUB */
    check_lines(FILES ".entry k() { .loc 1 8 1 .loc 2 50 2" AT("1 8 1") ".loc 4 9 9" AT("2 50 2") "ret; }",
                "user.cu:8");
    /* a helper in the user's own file, and one in the user's header, which calls the toolkit */
    check_lines(FILES ".entry k() { .loc 1 20 1 membar.cta; .loc 1 3 5" AT("1 20 1") "ret; }",
                "user.cu:20 user.cu:3<user.cu:20");
    check_lines(FILES ".entry k() { .loc 1 20 1 .loc 3 3 5" AT("1 20 1") ".loc 2 1 1" AT("3 3 5") "ret; }",
                "sums.cuh:3<user.cu:20");
    /* a helper in a helper: the next frame outwards calls it */
    check_lines(FILES ".entry k() { .loc 1 20 1 .loc 1 8 5" AT("1 20 1") ".loc 1 3 5" AT("1 8 5") "ret; }",
                "user.cu:3<user.cu:8");
    /* It is named, but no .loc is there. */
    check_lines(FILES ".entry k() { .loc 2 9 9" AT("1 6 1") "ret; }", "user.cu:6");
}

/* Of one hop alone, code behind the second call may belong to the first. */
static void lines_of_interleaved_calls(void **state) {
    (void)state;
    check_lines(FILES ".entry k() { .loc 2 9 9" AT("1 5 1") "membar.cta; .loc 2 9 9" AT(
                    "1 6 1") ".loc 4 1 1" AT("2 9 9") "membar.cta; .loc 1 7 1 ret; }",
                "user.cu:5 user.cu:6|user.cu:5 user.cu:7");
    check_lines(FILES ".entry k() { .loc 3 9 9" AT("1 5 1") "membar.cta; .loc 3 9 9" AT(
                    "1 6 1") ".loc 2 1 1" AT("3 9 9") "ret; }",
                "sums.cuh:9<user.cu:5 sums.cuh:9<user.cu:6|user.cu:5");
    /* two calls in one line */
    check_lines(FILES ".entry k() { .loc 2 9 9" AT("1 5 1") ".loc 2 9 9" AT("1 5 20") ".loc 4 1 1" AT(
                    "2 9 9") "ret; }",
                "user.cu:5");
}

/* Of a kernel of the catalogue only its own file is the reader's; a library's kernel is shown as it is. */
static void files_of_libraries(void **state) {
    (void)state;
    const char *text = FILES ".entry k() { .loc 1 20 1 .loc 3 3 5" AT("1 20 1") "ret; }";
    check_lines_of(text, true, "user.cu:20");
    check_lines(FILES ".entry k() { .loc 4 20 1 membar.cta; .loc 2 3 5" AT("4 20 1") "ret; }",
                "a.cuh:20 a.cuh:20");
    assert_true(ptx_is_library_file("cub/block/block_reduce.cuh"));
    assert_true(
        ptx_is_library_file("/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp"));
    assert_true(
        ptx_is_library_file("/x/lib/python3.12/site-packages/nvidia/cu13/include/cooperative_groups.h"));
    assert_false(ptx_is_library_file("/home/me/include/reduce.cuh"));
    assert_false(ptx_is_library_file("/home/me/scub/reduce.cuh"));
    assert_string_equal(ptx_library_file_end("/usr/local/cuda-13.0/include/cccl/cub/util.cuh"),
                        "cub/util.cuh");
    assert_null(ptx_library_file_end("kernels/sum.cu"));
}

static void lines_of_called_functions(void **state) {
    (void)state;
    /* in the entry's file: their own lines; in a header: the header's */
    check_lines(FILES ".func a() { .loc 1 3 1 ret; } .entry k() { .loc 1 10 1 call a; ret; }",
                "user.cu:10 user.cu:10 user.cu:3");
    check_lines(FILES ".func a() { .loc 2 3 1 ret; } .entry k() { .loc 1 10 1 call a; ret; }",
                "user.cu:10 user.cu:10 header.h:3");
    check_lines(FILES ".func a() { ret; } .entry k() { .loc 1 10 1 call a; ret; }",
                "user.cu:10 user.cu:10 none:0");
}

/* A .loc that was inlined at itself must not be followed for ever. */
static void inlining_loops_end(void **state) {
    (void)state;
    check_lines(FILES ".entry k() { .loc 1 7 1, function_name f, inlined_at 1 7 1 .loc 1 7 1, function_name "
                      "f, inlined_at 1 7 1 ret; }",
                "user.cu:7<user.cu:7");
    check_lines(FILES ".entry k() { .loc 2 5 1" AT("3 6 1") ".loc 3 6 1" AT("2 5 1") "ret; }",
                "sums.cuh:6<sums.cuh:6");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_the_entry_needs_is_linked),
                                       cmocka_unit_test(functions_by_address_are_linked),
                                       cmocka_unit_test(a_broken_body_stops_only_who_needs_it),
                                       cmocka_unit_test(aliases_are_followed),
                                       cmocka_unit_test(lists_of_calls_are_pcs),
                                       cmocka_unit_test(a_module_may_be_linked_again),
                                       cmocka_unit_test(lines_without_inlining),
                                       cmocka_unit_test(lines_through_inlining),
                                       cmocka_unit_test(lines_of_interleaved_calls),
                                       cmocka_unit_test(files_of_libraries),
                                       cmocka_unit_test(lines_of_called_functions),
                                       cmocka_unit_test(inlining_loops_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
