/* The order of loads and their first uses (instrument/load_order.h): small texts, and random programs that
 * must compute the same in both orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/load_order.h"
#include "ptx/opcodes.h"
#include "tests/emulator/core.h"
#include "tests/emulator/lane_table.h"
#include <stdlib.h>
#include <string.h>

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.func meet() { ret; }\n"
    ".visible .entry kernel(.param .u64 out)\n{\n.shared .b32 word;\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n"
    ".reg .b64 %q<8>;\n";

static bool is_awaited(const PtxInstruction *in) {
    return (in->opcode == PTX_ld || in->opcode == PTX_atom) && in->space == PTX_SPACE_GLOBAL;
}

typedef struct Found {
    PtxModule *module;
    PtxProgram *program;
    LoadOrder order;
} Found;

static Found find(const char *body, bool keep_order) {
    Found found = {0};
    Text text = {0};
    Error error = {0};
    text_print(&text, "%s%s\n}\n", head, body);
    found.module = ptx_module_parse(text_string(&text), text.length, "order.ptx", &error);
    PtxFunction *entry = found.module ? ptx_module_find_entry(found.module, "kernel", &error) : NULL;
    found.program = entry ? ptx_program_link(found.module, entry, &error) : NULL;
    if (!found.program) fail_msg("%s\n%d: %s", body, error.line, error.message);
    load_order_find(found.program, is_awaited, keep_order, &found.order);
    text_done(&text);
    return found;
}

static void found_done(Found *found) {
    load_order_done(&found->order);
    ptx_program_free(found->program);
    ptx_module_free(found->module);
}

/* "0 2 1 3": the pcs in their order. "1<0 %r0 %r1; 3<2 %q1": the instruction 1 is the first to need %r0 and
 * %r1 of the load 0, and so on. */
static void expect(const char *body, const char *order, const char *uses) {
    Found found = find(body, false);
    Text places = {0}, needs = {0};
    for (int i = 0; i < found.order.count; i++) {
        text_print(&places, "%s%d", i ? " " : "", found.order.placed[i]);
        if (found.order.load[i] < 0) continue;
        text_print(&needs, "%s%d<%d", needs.length ? "; " : "", found.order.placed[i], found.order.load[i]);
        for (int k = 0; found.order.awaited[i][k]; k++)
            text_print(&needs, " %s", found.order.awaited[i][k]->name);
    }
    if (strcmp(text_string(&places), order) != 0 || strcmp(text_string(&needs), uses) != 0)
        fail_msg("%s\nhas the order '%s', not '%s', and the uses '%s', not '%s'", body, text_string(&places),
                 order, text_string(&needs), uses);
    text_done(&places);
    text_done(&needs);
    found_done(&found);
}

/* ---- order --------------------------------------------------------------------------------------------- */

#define TWO_SUMS(between)                                                                                    \
    "ld.global.u32 %r0, [%q0];\nadd.u32 %r8, %r8, %r0;\n" between                                            \
    "ld.global.u32 %r1, [%q0+4];\nadd.u32 %r8, %r8, %r1;\nret;"

static void independent_loads_come_first(void **state) {
    (void)state;
    expect(TWO_SUMS(""), "0 2 1 3 4", "1<0 %r0; 3<2 %r1");
    Found kept = find(TWO_SUMS(""), true);
    for (int i = 0; i < kept.order.count; i++) assert_int_equal(kept.order.placed[i], i);
    assert_int_equal(kept.order.load[1], 0);
    assert_int_equal(kept.order.load[3], 2);
    found_done(&kept);
}

static void a_chase_keeps_its_order(void **state) {
    (void)state;
    expect("ld.global.u64 %q1, [%q0];\nld.global.u64 %q2, [%q1];\nld.global.u64 %q3, [%q2];\nret;", "0 1 2 3",
           "1<0 %q1; 2<1 %q2");
    /* Two of them are under way together. */
    expect("ld.global.u64 %q1, [%q0];\nld.global.u64 %q2, [%q1];\n"
           "ld.global.u64 %q5, [%q4];\nld.global.u64 %q6, [%q5];\nret;",
           "0 2 1 3 4", "1<0 %q1; 3<2 %q5");
}

/* Only what is awaited counts: here, shared memory is not. */
static void other_loads_stay(void **state) {
    (void)state;
    expect("ld.shared.u32 %r0, [word];\nadd.u32 %r8, %r8, %r0;\nld.shared.u32 %r1, [word];\nret;", "0 1 2 3",
           "");
}

static void what_is_not_passed(void **state) {
    (void)state;
    static const char *const bodies[] = {TWO_SUMS("st.global.u32 [%q1], %r9;\n"),
                                         TWO_SUMS("st.shared.u32 [word], %r9;\n"),
                                         TWO_SUMS("bar.sync 0;\n"),
                                         TWO_SUMS("bar.warp.sync -1;\n"),
                                         TWO_SUMS("atom.global.add.u32 %r9, [%q1], 1;\n"),
                                         TWO_SUMS("red.global.add.u32 [%q1], 1;\n"),
                                         TWO_SUMS("membar.gl;\n"),
                                         TWO_SUMS("ld.volatile.global.u32 %r9, [%q1];\n"),
                                         TWO_SUMS("ld.acquire.gpu.global.u32 %r9, [%q1];\n"),
                                         TWO_SUMS("ld.relaxed.gpu.global.u32 %r9, [%q1];\n"),
                                         TWO_SUMS("shfl.sync.idx.b32 %r9, %r10, 0, 31, -1;\n"),
                                         TWO_SUMS("call meet;\n"),
                                         TWO_SUMS("mov.u32 %r9, %clock;\n"),
                                         TWO_SUMS("mov.u64 %q2, %globaltimer;\n"),
                                         TWO_SUMS("bra L;\nL: "),
                                         TWO_SUMS("@%p0 bra L;\nL: ")};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect(bodies[i], "0 1 2 3 4 5", "1<0 %r0; 4<3 %r1");
    expect(TWO_SUMS("L: "), "0 1 2 3 4", "1<0 %r0; 3<2 %r1");
    expect(TWO_SUMS("{ .reg .b32 %mine;\n}\n"), "0 1 2 3 4", "1<0 %r0; 3<2 %r1");
    expect(TWO_SUMS("mov.u32 %r9, %tid.x;\n"), "0 2 3 1 4 5", "1<0 %r0; 4<3 %r1"); /* which is passed */
}

static void guards_are_operands(void **state) {
    (void)state;
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r8, %r8, %r0;\n@%p0 ld.global.u32 %r1, [%q0];\n"
           "add.u32 %r8, %r8, %r1;\nret;",
           "0 2 1 3 4", "1<0 %r0; 3<2 %r1");
    /* The guard depends on the first load. */
    expect("ld.global.u32 %r0, [%q0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 ld.global.u32 %r1, [%q0];\n"
           "ld.global.u32 %r2, [%q0];\nret;",
           "0 3 1 2 4", "1<0 %r0");
    /* Where the guard is false, the loaded value stays. */
    expect(
        "ld.global.u32 %r0, [%q0];\nmov.u32 %r1, 5;\n@%p0 mov.u32 %r0, %r1;\nld.global.u32 %r2, [%q0];\nret;",
        "0 1 3 2 4", "2<0 %r0");
}

static void registers_are_not_overtaken(void **state) {
    (void)state;
    /* Written after it was read; after it was written; and the twins that use another register. */
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r8, %r0, %r2;\nld.global.u32 %r2, [%q0];\nret;", "0 1 2 3",
           "1<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r8, %r0, %r2;\nld.global.u32 %r3, [%q0];\nret;", "0 2 1 3",
           "1<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r2, %r0, 1;\nmov.u32 %r2, 7;\nret;", "0 1 2 3", "1<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r2, %r0, 1;\nmov.u32 %r3, 7;\nret;", "0 2 1 3", "1<0 %r0");
    /* A carry has no register of its own. */
    expect("ld.global.u32 %r0, [%q0];\nadd.cc.u32 %r2, %r0, %r3;\nld.global.u32 %r1, [%q0];\n"
           "addc.u32 %r4, %r5, %r6;\nret;",
           "0 1 2 3 4", "1<0 %r0");
}

/* ---- first uses ---------------------------------------------------------------------------------------- */

static void uses_of_all_kinds(void **state) {
    (void)state;
    /* A vector comes as a whole. */
    expect("ld.global.v2.u32 {%r0, %r1}, [%q0];\nadd.u32 %r8, %r8, %r1;\nadd.u32 %r8, %r8, %r0;\nret;",
           "0 1 2 3", "1<0 %r1");
    expect("ld.global.u32 %r0, [%q0];\nld.global.u32 %r1, [%q0];\nadd.u32 %r8, %r0, %r1;\nret;", "0 1 2 3",
           "2<0 %r0 %r1");
    expect("ld.global.u32 %r0, [%q0];\nst.global.u32 [%q1], %r0;\nret;", "0 1 2", "1<0 %r0");
    expect("ld.global.u64 %q1, [%q0];\nst.global.u32 [%q1], %r0;\nret;", "0 1 2", "1<0 %q1");
    expect("atom.global.add.u32 %r0, [%q0], 1;\nbar.sync 0;\nadd.u32 %r8, %r8, %r0;\nret;", "0 1 2 3",
           "2<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nbar.sync %r0;\nret;", "0 1 2", "1<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nnanosleep.u32 %r0;\nret;", "0 1 2", "1<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\nT: .branchtargets A, B;\nbrx.idx %r0, T;\nA: B: ret;", "0 1 2",
           "1<0 %r0");
    /* Overwritten before its use, and never used. */
    expect("ld.global.u32 %r0, [%q0];\nmov.u32 %r0, 1;\nadd.u32 %r8, %r8, %r0;\nret;", "0 1 2 3", "");
    expect("ld.global.u32 %r0, [%q0];\nret;", "0 1", "");
}

static void uses_in_other_blocks(void **state) {
    (void)state;
    expect("ld.global.u32 %r0, [%q0];\n@%p0 bra L;\nadd.u32 %r1, %r1, 1;\nL: add.u32 %r8, %r8, %r0;\nret;",
           "0 1 2 3 4", "3<0 %r0");
    /* Behind a label that the code in front reaches, whose last instruction is not the last one of the
     * text. */
    expect("ld.global.u32 %r0, [%q0];\nadd.u32 %r8, %r8, %r0;\nld.global.u32 %r1, [%q0];\n"
           "L: add.u32 %r8, %r8, %r1;\n@%p0 bra L;\nret;",
           "0 2 1 3 4 5", "1<0 %r0; 3<2 %r1");
    /* One path has needed it, the other has not; then both have. */
    expect("ld.global.u32 %r0, [%q0];\n@%p0 bra L;\nadd.u32 %r8, %r8, %r0;\nL: add.u32 %r9, %r0, 1;\nret;",
           "0 1 2 3 4", "2<0 %r0; 3<0 %r0");
    expect("ld.global.u32 %r0, [%q0];\n@%p0 bra L;\nadd.u32 %r8, %r8, %r0;\nbra M;\n"
           "L: add.u32 %r8, %r0, 2;\nM: add.u32 %r9, %r0, 1;\nret;",
           "0 1 2 3 4 5 6", "2<0 %r0; 4<0 %r0");
    /* In the next round. */
    expect("mov.u32 %r0, 0;\nL: add.u32 %r8, %r8, %r0;\nld.global.u32 %r0, [%q0];\n@%p0 bra L;\nret;",
           "0 1 2 3 4", "1<2 %r0");
    /* By a table of branches. */
    expect("ld.global.u32 %r0, [%q0];\nT: .branchtargets A, B;\nbrx.idx %r3, T;\nA: ret;\n"
           "B: add.u32 %r8, %r8, %r0;\nret;",
           "0 1 2 3 4", "3<0 %r0");
}

/* ---- random programs ----------------------------------------------------------------------------------- */

enum { WORDS = 64, LINES = 60, PROGRAMS = 300 };

static int below(uint64_t *random, int sides) {
    return (int)(lane_random(random) >> 33) % sides;
}

/* A line of one thread, on %r0 .. %r7 and words 0 .. 31 of `out`, which begin at %q0. */
static void add_random_line(uint64_t *random, Text *out) {
    static const char *const forms[] = {"add.u32 %%r%d, %%r%d, %%r%d;",  "mul.lo.u32 %%r%d, %%r%d, %%r%d;",
                                        "xor.b32 %%r%d, %%r%d, %%r%d;",  "add.cc.u32 %%r%d, %%r%d, %%r%d;",
                                        "addc.u32 %%r%d, %%r%d, %%r%d;", "sub.u32 %%r%d, %%r%d, %%r%d;"};
    int a = below(random, 8), b = below(random, 8), c = below(random, 8);
    int word = 4 * below(random, 31), p = below(random, 2);
    int kind = below(random, 16);
    if (below(random, 5) == 0 && kind > 0) text_print(out, "@%s%%p%d ", a & 1 ? "!" : "", 1 - p);
    switch (kind) {
    case 0: /* two lines: a load whose address is a value */
        text_print(out, "and.b32 %%r8, %%r%d, 31;\nmad.wide.u32 %%q1, %%r8, 4, %%q0;", a);
        break;
    case 1:
    case 2:
        text_print(out, "ld.global.u32 %%r%d, [%%q1];", a);
        break;
    case 3:
    case 4:
    case 5:
        text_print(out, "ld.global.u32 %%r%d, [%%q0+%d];", a, word);
        break;
    case 6:
        text_print(out, "ld.global.v2.u32 {%%r%d, %%r%d}, [%%q0+%d];", a, (a + 1) % 8, word & ~7);
        break;
    case 7:
        text_print(out, "setp.lt.u32 %%p%d, %%r%d, %%r%d;", p, a, b);
        break;
    case 8:
        text_print(out, "selp.b32 %%r%d, %%r%d, %%r%d, %%p%d;", a, b, c, p);
        break;
    case 9:
        text_print(out, "st.global.u32 [%%q0+%d], %%r%d;", word, a);
        break;
    default:
        text_print(out, forms[below(random, (int)(sizeof forms / sizeof *forms))], a, b, c);
    }
    text_add(out, "\n");
}

static char *random_body(uint64_t *random) {
    Text out = {0};
    text_add(&out, "ld.param.u64 %q0, [out];\nmov.u64 %q1, %q0;\n");
    for (int i = 0; i < 8; i++) text_print(&out, "mov.u32 %%r%d, %d;\n", i, i * 37);
    text_add(&out, "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 1;\nadd.cc.u32 %r9, %r0, %r0;\n");
    for (int i = 0; i < LINES; i++) add_random_line(random, &out);
    for (int i = 0; i < 8; i++) text_print(&out, "st.global.u32 [%%q0+%d], %%r%d;\n", 4 * (WORDS - 8 + i), i);
    text_add(&out, "ret;\n");
    return out.data;
}

/* The lines of the text, one instruction each, in that order. */
static char *in_order(const char *body, const LoadOrder *order) {
    const char *lines[LINES * 2 + 32] = {NULL};
    Text out = {0};
    int count = 0;
    for (const char *at = body; *at; at = strchr(at, '\n') + 1) lines[count++] = at;
    assert_int_equal(count, order->count);
    for (int i = 0; i < count; i++) {
        const char *line = lines[order->placed[i]];
        text_add_bytes(&out, line, (size_t)(strchr(line, '\n') + 1 - line));
    }
    return out.data;
}

static char *result_of(const char *body) {
    uint32_t words[WORDS];
    Text module = {0}, out = {0};
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i * UINT32_C(2654435761);
    text_print(&module, "%s%s}\n", head, body);
    CoreRun run = core_run_well((CoreKernel){
        .module = text_string(&module), .block = 1, .words = WORDS, .in = words, .untraced = true});
    for (int i = 0; i < WORDS; i++) text_print(&out, "%u ", run.out[i]);
    core_done(&run);
    text_done(&module);
    return out.data;
}

static void both_orders_compute_the_same(void **state) {
    (void)state;
    uint64_t random = 7;
    int moved = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        char *body = random_body(&random);
        Found found = find(body, false);
        char *other = in_order(body, &found.order);
        char *expected = result_of(body), *result = result_of(other);
        if (strcmp(expected, result) != 0)
            fail_msg("%s\ngives %s\nand as\n%s\n%s", body, expected, other, result);
        moved += strcmp(body, other) != 0;
        free(body), free(other), free(expected), free(result);
        found_done(&found);
    }
    assert_true(moved > PROGRAMS * 3 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_loads_come_first),
        cmocka_unit_test(a_chase_keeps_its_order),
        cmocka_unit_test(other_loads_stay),
        cmocka_unit_test(what_is_not_passed),
        cmocka_unit_test(guards_are_operands),
        cmocka_unit_test(registers_are_not_overtaken),
        cmocka_unit_test(uses_of_all_kinds),
        cmocka_unit_test(uses_in_other_blocks),
        cmocka_unit_test(both_orders_compute_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
