/* Statements: the text of a body, and the statements parsed from it, one per line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static void describe_loc(const PtxLoc *loc, Text *out) {
    text_print(out, "loc %d:%d:%d", loc->file, loc->line, loc->column);
    if (loc->function_name) text_print(out, " in %s+%d", loc->function_name, loc->function_name_addend);
    if (loc->inlined_file)
        text_print(out, " at %d:%d:%d", loc->inlined_file, loc->inlined_line, loc->inlined_column);
}

static void describe_targets(const PtxStatement *statement, Text *out) {
    text_print(out, "%s %s:", statement->is_call_targets ? "calls" : "branches", statement->label->name);
    for (int i = 0; i < statement->name_count; i++) {
        const PtxOperand *target = &statement->targets[i];
        assert_string_equal(statement->names[i],
                            target->function ? target->function->name : target->label->name);
        text_print(out, " %s", statement->names[i]);
        if (target->label) text_print(out, "@%d", target->label->statement);
    }
}

static void describe_prototype(const PtxStatement *statement, Text *out) {
    const PtxFunction *like = statement->prototype;
    text_print(out, "prototype %s:", statement->label->name);
    for (int i = 0; i < like->parameter_count; i++)
        text_print(out, " %llu", (unsigned long long)like->parameters[i]->bytes);
    for (int i = 0; i < like->result_count; i++)
        text_print(out, " ->%llu", (unsigned long long)like->results[i]->bytes);
    if (like->is_noreturn) text_add(out, " noreturn");
}

static void describe(const PtxFunction *function, const PtxStatement *statement, Text *out) {
    switch (statement->kind) {
    case PTX_STATEMENT_INSTRUCTION:
        text_print(out, "%s", statement->instruction->name);
        break;
    case PTX_STATEMENT_LABEL:
        text_print(out, "label %s", statement->label->name);
        break;
    case PTX_STATEMENT_LOC:
        describe_loc(&function->locs[statement->index], out);
        break;
    case PTX_STATEMENT_REGISTERS:
        text_print(out, "registers %s", statement->text);
        break;
    case PTX_STATEMENT_VARIABLE:
        text_print(out, "variable %s", statement->variable->text);
        break;
    case PTX_STATEMENT_OPEN:
        text_add(out, "open");
        break;
    case PTX_STATEMENT_CLOSE:
        text_add(out, "close");
        break;
    case PTX_STATEMENT_TARGETS:
        describe_targets(statement, out);
        break;
    case PTX_STATEMENT_PROTOTYPE:
        describe_prototype(statement, out);
        break;
    case PTX_STATEMENT_OTHER:
        text_print(out, "other %s", statement->text);
        break;
    }
    if (statement->instruction && statement->instruction->loc >= 0)
        text_print(out, " loc %d", statement->instruction->loc);
}

/* The statements of `body` in a function without declarations of its own. */
static void check_statements(const char *body, const char *expected) {
    Text text = {0}, out = {0};
    text_print(&text,
               ".version 9.0\n.target sm_90\n.address_size 64\n.func f() { ret; } .func g() { ret; }\n.entry "
               "k()\n{%s}\n",
               body);
    PtxModule *module = parse_module(text_string(&text));
    const PtxFunction *function = ptx_module_find(module, "k");
    for (int i = 0; i < function->statement_count; i++) {
        if (i) text_add(&out, "; ");
        describe(function, &function->statements[i], &out);
    }
    assert_string_equal(text_string(&out), expected);
    check_prints_back(module);
    ptx_module_free(module);
    text_done(&text);
    text_done(&out);
}

static void declarations_in_bodies(void **state) {
    (void)state;
    check_statements("", "");
    check_statements(";;ret;;", "ret");
    check_statements(".reg .b32 a, %r<5>;.reg .v2 .f32 v;",
                     "registers .reg .b32 a, %r<5>; registers .reg .v2 .f32 v");
    check_statements(".reg .pred p;.reg .b32 %z<0>;", "registers .reg .pred p; registers .reg .b32 %z<0>");
    check_statements(
        ".shared .align 4 .b8 s[16]; .local .u32 l; .param .align 8 .b8 p[4];",
        "variable .shared .align 4 .b8 s[16]; variable .local .u32 l; variable .param .align 8 .b8 p[4]");
    check_statements(".const .u32 c=7; .global .u64 d[2]={c,1};",
                     "variable .const .u32 c = 7; variable .global .u64 d[2] = {c, 1}");
    check_statements(".shared .u32 a, b[2]; .param .b32 p<2>;",
                     "variable .shared .u32 a; variable .shared .u32 b[2]; variable .param .b32 p0; variable "
                     ".param .b32 p1");
    check_statements(".pragma \"nounroll\", \"other\" ;", "other .pragma \"nounroll\", \"other\"");
}

static void labels_and_lists(void **state) {
    (void)state;
    check_statements("a: b: ret; $L__BB0_1:ret; %c: bra %c; _: bra _;",
                     "label a; label b; ret; label $L__BB0_1; ret; label %c; bra; label _; bra");
    check_statements(
        ".reg .b32 i; list: .branchtargets two,one, two; brx.idx i, list; one: ret; two:",
        "registers .reg .b32 i; branches list: two@5 one@3 two@5; brx; label one; ret; label two");
    check_statements(".reg .b64 p; call p, list; list:.calltargets f ,g;",
                     "registers .reg .b64 p; call; calls list: f g");
    check_statements("like: .callprototype (.param .align 4 .b8 _[12]) _ (.param .b64 _, .reg .u32 _); ret;",
                     "prototype like: 8 4 ->12; ret");
    check_statements("like: .callprototype _ .noreturn;", "prototype like: noreturn");
}

static void scopes(void **state) {
    (void)state;
    check_statements("{ ret; { } }", "open; ret; open; close; close");
    check_statements("{ .reg .b32 a; } { .reg .b64 a; }",
                     "open; registers .reg .b32 a; close; open; registers .reg .b64 a; close");
}

static void locs(void **state) {
    (void)state;
    check_statements("ret; .loc 1 2 3 ret; ret; .loc 1 4 ret;",
                     "ret; loc 1:2:3; ret loc 0; ret loc 0; loc 1:4:0; ret loc 1");
    check_statements(".loc 1 2 0 .loc 2 5 7, function_name $L__info_string3, inlined_at 1 2 0\nret;",
                     "loc 1:2:0; loc 2:5:7 in $L__info_string3+0 at 1:2:0; ret loc 1");
    check_statements(".loc 2 5 7, function_name .debug_str+21, inlined_at 1 2 9;ret;",
                     "loc 2:5:7 in .debug_str+21 at 1:2:9; ret loc 0");
    check_statements(".loc 2 5 7, inlined_at 1 2 9, function_name info", "loc 2:5:7 in info+0 at 1:2:9");
}

/* Inline asm may bring comments, several instructions on a line and blocks. */
static void inline_asm(void **state) {
    (void)state;
    check_statements("\n// begin inline asm\n{ .reg .pred p; /* } */ L: setp.eq.u32 p, 1, 1; // }\n@!p bra "
                     "L; }\n// end inline asm\n",
                     "open; registers .reg .pred p; label L; setp; bra; close");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(declarations_in_bodies),
                                       cmocka_unit_test(labels_and_lists), cmocka_unit_test(scopes),
                                       cmocka_unit_test(locs), cmocka_unit_test(inline_asm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
