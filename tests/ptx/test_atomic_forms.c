/* What the machine makes of atomics on shared memory. Each row was compared with the SASS of ptxas 13.0 for
 * sm_90. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"

typedef struct Row {
    const char *body; /* its last atom or red counts */
    PtxAtomicForm form;
} Row;

static const char *const names[] = {"lanes",         "counted", "combined", "scanned", "compared",
                                    "compared half", "spun",    "tried",    "swapped", "unknown"};

static void check(const Row *row) {
    static const char before[] = ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
                                 ".shared .align 16 .b8 s[4096];\n"
                                 ".reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .b16 %h<4>; .reg .f32 %f<4>;\n"
                                 ".reg .f64 %d<4>; .reg .b128 %q<4>; .reg .pred %p<4>;\n"
                                 "mov.u32 %r1, %tid.x; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 16, %r3;\n"
                                 "ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [n];\n"
                                 "cvt.u64.u32 %rd2, %r4; cvta.shared.u64 %rd2, %rd2;\n";
    Text text = {0};
    text_print(&text, ".version 8.8\n.target sm_90\n.address_size 64\n%s%s ret; }\n", before, row->body);
    PtxModule *module = parse_module(text_string(&text));
    PtxProgram *program = link_entry(module, "k");
    PtxAtomicForm form = PTX_ATOMIC_UNKNOWN;
    for (int pc = 0; pc < program->code_count; pc++) {
        PtxOpcode opcode = program->code[pc].instruction->opcode;
        if (opcode == PTX_atom || opcode == PTX_red) form = program->code[pc].atomic_form;
    }
    if (form != row->form) fail_msg("%s\n  is %s, not %s", row->body, names[form], names[row->form]);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&text);
}

static void check_all(const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) check(&rows[i]);
}
#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof *(rows))

static void adding_one_is_counted_if_no_one_reads_the_result(void **state) {
    (void)state;
    static const Row rows[] = {
        {"red.shared.add.u32 [%r4], 1;", PTX_ATOMIC_COUNTED},
        {"red.shared.add.u32 [%r4], 2;", PTX_ATOMIC_LANES},
        {"red.shared.add.s32 [%r4], -1;", PTX_ATOMIC_LANES},
        {"red.shared.add.u32 [%r4], %r1;", PTX_ATOMIC_LANES},
        {"mov.u32 %r5, 1; red.shared.add.u32 [%r4], %r5;", PTX_ATOMIC_COUNTED},
        {"mov.u32 %r5, 1; mov.u32 %r6, %r5; red.shared.add.u32 [%r4], %r6;", PTX_ATOMIC_COUNTED},
        {"mov.u32 %r5, 1; @%p1 mov.u32 %r5, 2; red.shared.add.u32 [%r4], %r5;", PTX_ATOMIC_LANES},
        {"atom.shared.add.u32 %r5, [%r4], 1;", PTX_ATOMIC_COUNTED},
        {"atom.shared.add.u32 %r5, [%r4], 1; add.u32 %r6, %r5, 1;", PTX_ATOMIC_COUNTED},
        {"atom.shared.add.u32 %r5, [%r4], 1; st.global.u32 [%rd1], %r5;", PTX_ATOMIC_LANES},
        {"atom.shared.add.u32 %r5, [%r4], 1; add.u32 %r6, %r5, 1; st.global.u32 [%rd1], %r6;",
         PTX_ATOMIC_LANES},
        {"atom.shared.add.u32 %r5, [%r4], 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra L; L:", PTX_ATOMIC_LANES},
        {"red.shared.inc.u32 [%r4], 0xffffffff;", PTX_ATOMIC_COUNTED},
        {"red.shared.inc.u32 [%r4], 7;", PTX_ATOMIC_LANES},
        {"red.shared.dec.u32 [%r4], 0xffffffff;", PTX_ATOMIC_LANES},
        {"red.add.u32 [%rd2], 1;", PTX_ATOMIC_LANES}, /* a generic address: ATOM.ADD */
        {"red.shared.add.u64 [%r4], 1;", PTX_ATOMIC_SPUN},
    };
    CHECK_ALL(rows);
}

static void one_address_is_combined(void **state) {
    (void)state;
    static const Row rows[] = {
        {"red.shared.add.u32 [s], %r1;", PTX_ATOMIC_COMBINED},
        {"red.shared.add.u32 [%r3+4], %r1;", PTX_ATOMIC_COMBINED},
        {"red.shared.max.s32 [%r3], %r1;", PTX_ATOMIC_COMBINED},
        {"red.shared.xor.b32 [%r3], %r1;", PTX_ATOMIC_COMBINED},
        {"atom.shared.max.u32 %r5, [%r3], %r1; st.global.u32 [%rd1], %r5;", PTX_ATOMIC_LANES},
        {"atom.shared.add.u32 %r5, [%r3], %r1; st.global.u32 [%rd1], %r5;", PTX_ATOMIC_SCANNED},
        {"atom.shared.add.u32 %r5, [%r3], 1; st.global.u32 [%rd1], %r5;", PTX_ATOMIC_COMBINED},
        {"atom.shared.add.u32 %r5, [%r3], %r2; st.global.u32 [%rd1], %r5;", PTX_ATOMIC_COMBINED},
        {"red.shared.add.u32 [s], 1;", PTX_ATOMIC_COUNTED},
        {"red.shared.inc.u32 [s], 7;", PTX_ATOMIC_LANES},
        {"atom.shared.exch.b32 %r5, [s], %r1;", PTX_ATOMIC_LANES},
        {"red.shared.add.f32 [s], %f1;", PTX_ATOMIC_SPUN},
        {"mad.lo.u32 %r5, %r2, 4, %r3; red.shared.add.u32 [%r5], %r1;", PTX_ATOMIC_COMBINED},
        {"mov.u32 %r5, %ctaid.x; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;", PTX_ATOMIC_COMBINED},
        {"mov.u32 %r5, %tid.y; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;", PTX_ATOMIC_LANES},
        {"ld.shared.u32 %r5, [s+8]; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;",
         PTX_ATOMIC_COMBINED},
        {"ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;", PTX_ATOMIC_LANES},
        {"redux.sync.add.u32 %r5, %r1, -1; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;",
         PTX_ATOMIC_COMBINED},
        {"shfl.sync.idx.b32 %r5, %r1, 0, 31, -1; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1;",
         PTX_ATOMIC_COMBINED},
        {"setp.gt.u32 %p1, %r1, 7; selp.u32 %r5, 4, 8, %p1; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], "
         "%r1;",
         PTX_ATOMIC_LANES},
        /* chosen by a branch that splits the warp, or by one that does not */
        {"mov.u32 %r5, %r3; setp.gt.u32 %p1, %r1, 7; @%p1 bra L; add.u32 %r5, %r3, 8;\n"
         "L: red.shared.add.u32 [%r5], %r1;",
         PTX_ATOMIC_LANES},
        {"mov.u32 %r5, %r3; setp.gt.u32 %p1, %r2, 7; @%p1 bra L; add.u32 %r5, %r3, 8;\n"
         "L: red.shared.add.u32 [%r5], %r1;",
         PTX_ATOMIC_COMBINED},
        /* a loop of as many rounds for all lanes, or for each its own */
        {"mov.u32 %r5, %r3; L: red.shared.add.u32 [%r5], %r1; add.u32 %r5, %r5, 4;\n"
         "setp.lt.u32 %p1, %r5, %r2; @%p1 bra L;",
         PTX_ATOMIC_COMBINED},
        {"mov.u32 %r5, %r3; L: red.shared.add.u32 [%r5], %r1; add.u32 %r5, %r5, 4;\n"
         "setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;",
         PTX_ATOMIC_LANES},
    };
    CHECK_ALL(rows);
}

static void other_operations(void **state) {
    (void)state;
    static const Row rows[] = {
        {"atom.shared.cas.b32 %r5, [%r4], %r1, %r2;", PTX_ATOMIC_COMPARED},
        {"atom.shared.cas.b64 %rd3, [%r4], %rd1, %rd2;", PTX_ATOMIC_COMPARED},
        {"atom.shared.cas.b16 %h1, [%r4], %h2, %h3;", PTX_ATOMIC_COMPARED_HALF},
        {"atom.shared.exch.b64 %rd3, [%r4], %rd1;", PTX_ATOMIC_LANES},
        {"red.shared.add.f64 [%r4], %d1;", PTX_ATOMIC_SPUN},
        {"red.shared.max.u64 [%r4], %rd1;", PTX_ATOMIC_SPUN},
        {"red.shared.add.noftz.f16x2 [%r4], %r1;", PTX_ATOMIC_SPUN},
        {"red.shared.add.noftz.f16 [%r4], %h1;", PTX_ATOMIC_SWAPPED},
        {"red.add.noftz.bf16 [%rd2], %h1;", PTX_ATOMIC_SWAPPED},
        {"red.add.f32 [%rd2], %f1;", PTX_ATOMIC_TRIED},
        {"red.or.b64 [%rd2], %rd1;", PTX_ATOMIC_TRIED},
        {"red.add.u64 [%rd2], %rd1;", PTX_ATOMIC_LANES},
        {"red.shared::cluster.add.u32 [%r4], 1;", PTX_ATOMIC_LANES},
    };
    CHECK_ALL(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_one_is_counted_if_no_one_reads_the_result),
        cmocka_unit_test(one_address_is_combined),
        cmocka_unit_test(other_operations),
    };
    return cmocka_run_group_tests_name("atomic forms", tests, NULL, NULL);
}
