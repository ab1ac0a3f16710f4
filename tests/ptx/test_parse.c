/* Instructions and operands in the IR after parsing one line, as text. Each row is a one-line program and its
 * expectation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"

static void describe_operand(const PtxOperand *operand, Text *out) {
    static const char *const kinds[] = {"none",     "register",  "special", "integer", "float",
                                        "variable", "function",  "label",   "memory",  "vector",
                                        "pair",     "arguments", "sink",    "other"};
    text_print(out, "%s%s", operand->negated ? "negated " : "", kinds[operand->kind]);
    if (operand->reg) text_print(out, " %s", operand->reg->name);
    if (operand->variable) text_print(out, " %s", operand->variable->name);
    if (operand->function) text_print(out, " %s", operand->function->name);
    if (operand->label) text_print(out, " %s", operand->label->name);
    if (operand->kind == PTX_OPERAND_SPECIAL || operand->kind == PTX_OPERAND_OTHER)
        text_print(out, " %s", operand->name);
    if (operand->component >= 0) text_print(out, " component %d", operand->component);
    if (operand->selector) text_print(out, " selector %s", operand->selector);
    if (operand->kind == PTX_OPERAND_INTEGER || operand->integer)
        text_print(out, " %lld", (long long)operand->integer);
    if (operand->kind == PTX_OPERAND_FLOAT) text_print(out, " %g", operand->number);
    if (operand->float_bytes)
        text_print(out, " bits %llx/%d", (unsigned long long)operand->float_bits, operand->float_bytes);
    for (int i = 0; operand->kind != PTX_OPERAND_OTHER && i < operand->item_count; i++) {
        text_add(out, i ? ", " : " (");
        describe_operand(&operand->items[i], out);
    }
    if (operand->kind != PTX_OPERAND_OTHER && operand->item_count) text_add(out, ")");
}

static void describe(const PtxInstruction *instruction, Text *out) {
    if (instruction->guard.kind != PTX_OPERAND_NONE) {
        text_add(out, "if ");
        describe_operand(&instruction->guard, out);
        text_add(out, ": ");
    }
    text_print(out, "%s%s", instruction->opcode == PTX_OTHER ? "other " : "", instruction->name);
    for (int i = 0; i < instruction->type_count; i++)
        text_print(out, " %s", ptx_type_text(instruction->types[i]));
    static const char *const spaces[] = {"",       " reg",    " const",   " global", " local",
                                         " param", " shared", " cluster", " tex"};
    text_add(out, spaces[instruction->space]);
    if (instruction->vector > 1) text_print(out, " x%d", instruction->vector);
    for (int i = 0; i < instruction->operand_count; i++) {
        text_add(out, " | ");
        describe_operand(&instruction->operands[i], out);
    }
}

static const struct {
    const char *text, *expected;
} rows[] = {
    {"ret;", "ret"},
    {"add.s32 %r1, %r2, -7;", "add s32 | register %r1 | register %r2 | integer -7"},
    {"add.u32 %r1,%r2,0x1F;", "add u32 | register %r1 | register %r2 | integer 31"},
    {"add.u32 %r1, 017, 0b101;", "add u32 | register %r1 | integer 15 | integer 5"},
    {"mov.u64 %rd1, 18446744073709551615;", "mov u64 | register %rd1 | integer -1"},
    {"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFFU;", "mov u64 | register %rd1 | integer -1"},
    {"mov.u32 %r1, (1<<4)+2;", "mov u32 | register %r1 | integer 18"},
    {"mov.u32 %r1, 7 - -3 * 2;", "mov u32 | register %r1 | integer 13"},
    {"mov.u32 %r1, 1 ? 2 : 1/1;", "mov u32 | register %r1 | integer 2"},
    {"mov.u32 %r1, (.s64) 2.75;", "mov u32 | register %r1 | integer 2"},
    {"mov.u32 %r1, !0 + ~0;", "mov u32 | register %r1 | integer 0"},
    {"mov.u32 %r1, -8 >> 1;", "mov u32 | register %r1 | integer -4"},
    {"mov.u32 %r1, WARP_SZ*2;", "mov u32 | register %r1 | integer 64"},
    {"mov.f32 %f1, 0f3F800000;", "mov f32 | register %f1 | float 1 bits 3f800000/4"},
    {"mov.f32 %f1, -0F3F800000;", "mov f32 | register %f1 | float -1 bits bf800000/4"},
    {"mov.f64 %fd1, 0d4000000000000000;", "mov f64 | register %fd1 | float 2 bits 4000000000000000/8"},
    {"mov.f32 %f1, 1.5e-1;", "mov f32 | register %f1 | float 0.15"},
    {"mov.f32 %f1, .5;", "mov f32 | register %f1 | float 0.5"},
    {"mov.u32 %r1, %tid.x;", "mov u32 | register %r1 | special %tid.x component 0"},
    {"mov.u32 %r1, %envreg3;", "mov u32 | register %r1 | special %envreg3"},
    {"mov.u64 %rd1, %globaltimer;", "mov u64 | register %rd1 | special %globaltimer"},
    {"mov.u64 %rd1, table;", "mov u64 | register %rd1 | variable table"},
    {"mov.u64 %rd1, table+16;", "mov u64 | register %rd1 | variable table 16"},
    {"mov.u64 %rd1, table[2];", "mov u64 | register %rd1 | variable table 16"},
    {"mov.u64 %rd1, callee;", "mov u64 | register %rd1 | function callee"},
    {"mov.b64 %rd1, {%r1, %r2};", "mov b64 | register %rd1 | vector (register %r1, register %r2)"},
    {"mov.b64 {_, %r2}, %rd1;", "mov b64 | vector (sink, register %r2) | register %rd1"},
    {"mov.f32 pair.y, pair.x;", "mov f32 | register pair component 1 | register pair component 0"},
    {"ld.param.u32 %r1, [n];", "ld u32 param | register %r1 | memory n"},
    {"ld.param::entry.u64 %rd1, [in+0];", "ld u64 param | register %rd1 | memory in"},
    {"ld.volatile.shared.u32 %r1, [%r2+4];", "ld u32 shared | register %r1 | memory %r2 4"},
    {"ld.shared::cluster.u32 %r1, [%r2];", "ld u32 cluster | register %r1 | memory %r2"},
    {"ld.shared.u32 %r1, tile[3];", "ld u32 shared | register %r1 | memory tile 12"},
    {"ld.shared.u32 %r1, [tile-4*2];", "ld u32 shared | register %r1 | memory tile -8"},
    {"ld.shared.u32 %r1, [%r2+-4];", "ld u32 shared | register %r1 | memory %r2 -4"},
    {"ld.shared.u32 %r1, [16];", "ld u32 shared | register %r1 | memory 16"},
    {"ld.u32 %r1, [%rd1].unified;", "ld u32 | register %r1 | memory %rd1 selector unified"},
    {"ld.global.v2.u32 {%r1, %r2}, [%rd1];",
     "ld u32 global x2 | vector (register %r1, register %r2) | memory %rd1"},
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1 + 16];",
     "ld f32 global x4 | vector (register %f1, register %f2, register %f3, register %f4) | memory %rd1 16"},
    {"st.global.u32 [%rd1], 1;", "st u32 global | memory %rd1 | integer 1"},
    {"@%p1 st.global.u32 [%rd1], %r1;", "if register %p1: st u32 global | memory %rd1 | register %r1"},
    {"@!%p1 ret;", "if negated register %p1: ret"},
    {"setp.lt.s32 %p1|%p2, %r1, %r2;",
     "setp s32 | pair (register %p1, register %p2) | register %r1 | register %r2"},
    {"setp.lt.and.s32 %p1, %r1, %r2, !%p3;",
     "setp s32 | register %p1 | register %r1 | register %r2 | negated register %p3"},
    {"shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;",
     "shfl b32 | pair (register %r1, register %p1) | register %r2 | integer 16 | integer 31 | integer -1"},
    {"elect.sync _|%p1, -1;", "elect | pair (sink, register %p1) | integer -1"},
    {"cvt.rzi.s32.f32 %r1, %f1;", "cvt s32 f32 | register %r1 | register %f1"},
    {"vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
     "vadd s32 u32 s32 | register %r1 | register %r2 selector b0 | register %r3 selector h1"},
    {"vmad.s32.s32.s32 %r1, -%r2, %r3, %r4;",
     "vmad s32 s32 s32 | register %r1 | negated register %r2 | register %r3 | register %r4"},
    {"call (%r1), callee, (%r2, 5);",
     "call | arguments (register %r1) | function callee | arguments (register %r2, integer 5)"},
    {"call callee;", "call | function callee"},
    {"call (%r1), %rd1, (%r2), later; later: .calltargets callee;",
     "call | arguments (register %r1) | register %rd1 | arguments (register %r2) | label later"},
    {"bra.uni end; end: ret;", "bra | label end"},
    {"brx.idx %r1, list; list: .branchtargets end, end; end: ret;", "brx | register %r1 | label list"},
    {"atom.global.cas.b32 %r1, [%rd1], %r2, 3;",
     "atom b32 global | register %r1 | memory %rd1 | register %r2 | integer 3"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
     "tex f32 f32 x4 | vector (register %f1, register %f2, register %f3, register %f4) | other [%rd1, "
     "{%f5, %f6}]"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};",
     "mma f64 f64 f64 f64 | vector (register %fd1, register %fd2) | vector (register %fd3) | vector "
     "(register %fd4) | vector "
     "(register %fd5, register %fd6)"},
    {"newop.x.u32 %r1, [%rd1], 5;", "other newop u32 | register %r1 | memory %rd1 | integer 5"},
    {"add // comment\n .s32 /* and\n another */ %r1, %r2\n, 5\n;",
     "add s32 | register %r1 | register %r2 | integer 5"},
};

static void operands(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxModule *module = parse_body(rows[i].text);
        Text out = {0};
        describe(instruction_of(module, 0), &out);
        assert_string_equal(text_string(&out), rows[i].expected);
        text_done(&out);
        ptx_module_free(module);
    }
}

static void modifiers_are_known_by_their_rows(void **state) {
    (void)state;
    PtxModule *module = parse_body(
        "ld.relaxed.gpu.shared::cta.L2::256B.u32 %r1, [%r2]; set.lt.made_up.u32.s32 %r1, %r2, %r3;");
    const PtxInstruction *load = instruction_of(module, 0), *set = instruction_of(module, 1);
    assert_true(ptx_instruction_has(load, PTX_MOD_RELAXED) && ptx_instruction_has(load, PTX_MOD_GPU));
    assert_true(ptx_instruction_has(load, PTX_MOD_SHARED_CTA) && ptx_instruction_has(load, PTX_MOD_L2_256B));
    assert_false(ptx_instruction_has(load, PTX_MOD_OTHER));
    assert_true(ptx_instruction_has(set, PTX_MOD_LT) && ptx_instruction_has(set, PTX_MOD_OTHER));
    assert_string_equal(set->modifiers[1].text, "made_up");
    assert_int_equal(set->modifiers[2].kind, PTX_MOD_TYPE);
    ptx_module_free(module);
}

/* The innermost scope defines the meaning of a name; after the scope, the outer meaning returns. */
static void scopes_shadow(void **state) {
    (void)state;
    PtxModule *module = parse_body("mov.u32 %r1, 1; { .reg .f64 %r<3>; mov.f64 %r1, 0d0000000000000000; { "
                                   ".reg .b16 %r1; mov.u16 %r1, 2; "
                                   "mov.f64 %r2, %r2; } mov.f64 %r1, %r2; } mov.u32 %r1, %r2;");
    PtxType expected[] = {PTX_B32, PTX_F64, PTX_B16, PTX_F64, PTX_F64, PTX_B32};
    for (int i = 0; i < 6; i++)
        assert_int_equal(instruction_of(module, i)->operands[0].reg->type, expected[i]);
    assert_ptr_equal(instruction_of(module, 0)->operands[0].reg, instruction_of(module, 5)->operands[0].reg);
    assert_ptr_equal(instruction_of(module, 1)->operands[0].reg, instruction_of(module, 4)->operands[0].reg);
    ptx_module_free(module);
}

/* Two inline-asm blocks may use the same label; a branch refers to the nearest one around it, declared before
 * or after. */
static void labels_are_scoped(void **state) {
    (void)state;
    PtxModule *module = parse_body("L: { bra L; L: ret; } { bra L; } { { bra L; } L: ret; } bra M; M: ret;");
    const PtxFunction *function = ptx_module_find(module, "k");
    const PtxLabel *label[4];
    int branches[] = {0, 2, 3, 5};
    for (int i = 0; i < 4; i++) label[i] = instruction_of(module, branches[i])->operands[0].label;
    assert_int_equal(function->statements[label[0]->statement + 1].instruction->opcode, PTX_ret);
    assert_int_equal(function->statements[label[1]->statement + 1].kind, PTX_STATEMENT_OPEN);
    assert_ptr_not_equal(label[0], label[1]);
    assert_ptr_not_equal(label[2], label[0]);
    assert_ptr_not_equal(label[2], label[1]);
    assert_string_equal(label[3]->name, "M");
    ptx_module_free(module);
}

/* Registers of a range exist once they are used; indices are dense in the order of use. */
static void registers_are_numbered_densely(void **state) {
    (void)state;
    PtxModule *module = parse_module(".version 7.0\n.target sm_75\n.entry k() { .reg .b32 x, %r<2000000000>, "
                                     "%r1<4>; mov.u32 %r1999999999, %r7; mov.u32 %r7, %r13; }");
    const PtxFunction *function = ptx_module_find(module, "k");
    assert_int_equal(function->register_count, 4);
    const char *names[] = {"x", "%r1999999999", "%r7", "%r13"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(function->registers[i]->name, names[i]);
        assert_int_equal(function->registers[i]->index, i);
    }
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operands),
                                       cmocka_unit_test(modifiers_are_known_by_their_rows),
                                       cmocka_unit_test(scopes_shadow), cmocka_unit_test(labels_are_scoped),
                                       cmocka_unit_test(registers_are_numbered_densely)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
