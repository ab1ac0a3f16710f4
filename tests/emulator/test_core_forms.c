/* Forms that no PTX ISA defines, one error each: the instruction is refused when it is executed, not guessed.
 * Beside each is the correct form, which runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static const char module[] =
    ".shared .align 16 .b8 words[256];\n.const .align 4 .b8 table[64];\n"
    ".func (.reg .b32 result) twice(.reg .b32 number) { add.u32 result, number, number; ret; }\n";

/* `%w` is a 32-bit number, %q31 the address of `words`, %r63 too; %p15 is true. */
static const char begin[] = "mov.u32 %r63, words; cvta.shared.u64 %q31, words; setp.eq.u32 %p15, %t, %t;\n"
                            "st.shared.v4.u32 [words], {%t, %t, %t, %t};\n.reg .b128 %big, %wide;\n"
                            ".reg .v2 .b32 %pair;\n";

static const struct {
    const char *right; /* NULL: only the wrong one */
    const char *wrong;
} forms[] = {
    /* atomics */
    {"atom.shared.add.u32 %r0, [%r63], 1;", "atom.shared.add.u32 %r0, [%r63];"},
    {NULL, "atom.shared.add.u16 %h0, [%r63], %h1;"},
    {NULL, "atom.shared.inc.u64 %q0, [%r63], %q1;"},
    {NULL, "atom.shared.inc.f32 %f0, [%r63], %f1;"},
    {NULL, "atom.shared.and.b16 %h0, [%r63], %h1;"},
    {NULL, "atom.shared.xor.f32 %f0, [%r63], %f1;"},
    {NULL, "atom.shared.exch.b16 %h0, [%r63], %h1;"},
    {"atom.shared.cas.b16 %h0, [%r63], %h1, %h2;", "atom.shared.cas.b16 %h0, [%r63], %h1;"},
    {"atom.shared.exch.b64 %q0, [%r63], %q1;", "atom.shared.exch.b64 %r0, [%r63], %q1;"},
    {NULL, "atom.shared.exch.b64 %q0, [%r63], %r1;"},
    {NULL, "atom.shared.cas.b32 %r0, [%r63], %r1, %q2;"},
    {NULL, "atom.shared.cas.b8 %h0, [%r63], %h1, %h2;"},
    {NULL, "atom.const.add.u32 %r0, [table], 1;"},
    {NULL, "atom.shared.u32 %r0, [%r63], 1;"},
    {"red.shared.add.u32 [%r63], 1;", "red.shared.add.u32 [%h0], 1;"},
    {NULL,
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [%r63], %f0, [%r62];"},
    {NULL, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r63], 1;"},
    {"atom.global.add.v2.f32 {%f0, %f1}, [%base], {%f2, %f3};",
     "atom.global.add.v2.f32 {%f0, %f1, %f4}, [%base], {%f2, %f3};"},
    {NULL, "atom.global.add.v2.f32 {%f0, %f1}, [%base], %f2;"},
    {NULL, "atom.global.add.v4.f64 {%d0, %d1, %d2, %d3}, [%base], {%d0, %d1, %d2, %d3};"},
    {"atom.shared.exch.b128 %big, [%r63], %wide;", "atom.shared.add.b128 %big, [%r63], %wide;"},
    {NULL, "atom.shared.exch.b128 %q0, [%r63], %wide;"},
    /* requests for a block that has not started */
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %big;",
     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;"},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r2, _}, %big;",
     "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %q2, _}, %big;"},
    {NULL, "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %q0, %big;"},
    {NULL, "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
           ".multicast::cluster::all.b128 [%r63], [%r63];"},
    /* barriers */
    {"bar.red.popc.u32 %r0, 0, %p15;", "bar.red.popc.u32 %q0, 0, %p15;"},
    {NULL, "bar.red.popc.u32 %p0, 0, %p15;"},
    {"bar.red.and.pred %p0, 0, %p15;", "bar.red.and.pred %r0, 0, %p15;"},
    {NULL, "bar.red.and.pred %p0, 0, %r1;"},
    {"bar.sync 0;", "bar.sync;"},
    {"bar.sync 1, 32;", "bar.sync 1, 32, 64;"},
    {NULL, "bar.sync 1, %q0;"},
    {"bar.arrive 1, 32;", "bar.arrive 1;"},
    {"barrier.cluster.arrive;", "barrier.cluster;"},
    {"bar.warp.sync -1;", "bar.warp.sync;"},
    {NULL, "bar.warp.sync -1, -1;"},
    {NULL, "bar.warp.sync %q0;"},
    /* warps */
    {"shfl.sync.up.b32 %r0|%p0, %t, 1, 0, -1;", "shfl.sync.up.b32 %r0|%r1, %t, 1, 0, -1;"},
    {NULL, "shfl.sync.up.b32 %r0, %t, 1, 0;"},
    {NULL, "shfl.sync.b32 %r0, %t, 1, 0, -1;"},
    {NULL, "shfl.sync.up.b32 %r0, %q0, 1, 0, -1;"},
    {NULL, "shfl.sync.up.b32 %h0, %t, 1, 0, -1;"},
    {"vote.sync.ballot.b32 %r0, %p15, -1;", "vote.sync.ballot.b32 %p0, %p15, -1;"},
    {"vote.sync.all.pred %p0, %p15, -1;", "vote.sync.all.pred %r0, %p15, -1;"},
    {NULL, "vote.sync.pred %p0, %p15, -1;"},
    {NULL, "vote.sync.all.pred %p0, %p15;"},
    {NULL, "vote.sync.all.pred %p0, %r0, -1;"},
    {"match.any.sync.b32 %r0, %t, -1;", "match.any.sync.b32 %r0, %t;"},
    {NULL, "match.any.sync.b16 %r0, %h0, -1;"},
    {NULL, "match.sync.b32 %r0, %t, -1;"},
    {NULL, "match.any.sync.b64 %r0, %t, -1;"},
    {"activemask.b32 %r0;", "activemask.b32 %q0;"},
    {NULL, "activemask.b32 %r0, %r1;"},
    {"elect.sync %r0|%p0, -1;", "elect.sync %r0|%p0;"},
    {NULL, "elect.sync %r0|%p0, -1, -1;"},
    {NULL, "elect.sync %r0|%r1, -1;"},
    {"redux.sync.add.u32 %r0, %t, -1;", "redux.sync.u32 %r0, %t, -1;"},
    {NULL, "redux.sync.add.u32 %r0, %t;"},
    {NULL, "redux.sync.add.u32 %q0, %t, -1;"},
    {"redux.sync.min.f32 %f0, %f1, -1;", "redux.sync.add.f32 %f0, %f1, -1;"},
    /* loads and stores */
    {"ld.shared.v2.u32 {%r0, %r1}, [%r63];", "ld.shared.v2.u32 {%r0}, [%r63];"},
    {NULL, "ld.shared.v2.u32 %r0, [%r63];"},
    {NULL, "ld.shared.u32 %r0, %r63;"},
    {NULL, "ld.shared.u32 %r0;"},
    {NULL, "ld.shared.u32 %r0, [%p0];"},
    {NULL, "st.const.u32 [table], 1;"},
    {"st.shared.b128 [%r63], %big;", "st.shared.b64 [%r63], %big;"},
    {NULL, "ld.param.u64 %q0, [kernel_out+8];"},
    {NULL, "ld.param.u64 %q0, [kernel_out+1];"},
    {"ld.shared.u16 %r0, [%r63];", "ld.shared.u64 %r0, [%r63];"},
    /* matrices */
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r63];",
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1, %r2}, [%r63];"},
    {NULL, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%r63];"},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %t;", "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %q0;"},
    {NULL, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
           "{%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, "
     "%f2, %f3};",
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0}, {%r2}, {%f0, %f1, %f2, "
     "%f3};"},
    {NULL, "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d0, %d1};"},
    {NULL, "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, "
           "{%r0, %r1, %r2, %r3};"},
    {NULL, "wmma.load.a.sync.aligned.row.m8n8k32.shared.s4 {%r0}, [%r63], 32;"},
    {NULL, "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1}, [%r63], 16;"},
    {NULL, "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [%r63];"},
    {NULL, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0};"},
    /* addresses */
    {"isspacep.shared %p0, %q31;", "isspacep.shared %r0, %q31;"},
    {NULL, "isspacep.shared %p0;"},
    {NULL, "isspacep.shared %p0, %h0;"},
    {"cvta.to.shared.u64 %q0, %q31;", "cvta.to.shared.u64 %q0;"},
    {NULL, "cvta.to.shared.u64 %q0, %r63;"},
    {"mapa.shared::cluster.u32 %r0, %r63, 0;", "mapa.shared::cluster.u32 %r0, %r63;"},
    {"getctarank.shared::cluster.u32 %r0, %r63;", "getctarank.shared::cluster.u32 %q0, %r63;"},
    {NULL, "getctarank.shared::cluster.u32 %r0;"},
    {"createpolicy.fractional.L2::evict_last.b64 %q0, 1.0;",
     "createpolicy.fractional.L2::evict_last.b64 %r0, 1.0;"},
    {"mov.u64 %q0, words;", "mov.u16 %h0, words;"},
    {NULL, "mov.u32 %r0, twice;"},
    /* branches and calls */
    {"T: .branchtargets TO; brx.idx 0, T; TO:", "T: .branchtargets TO; brx.idx %q0, T; TO:"},
    {"call (%r0), twice, (%t);", "call (%r0), twice, (%t, %t);"},
    {NULL, "call (%r0), twice;"},
    {NULL, "call (%r0), %r1, (%t);"},
    /* arithmetic */
    {"add.u32 %r0, %t, 1;", "add.u32 %r0, %t;"},
    {NULL, "add.u32 %r0, %t, 1, 2;"},
    {NULL, "add.u32 %q0, %t, 1;"},
    {NULL, "add.u32 %r0, %q0, 1;"},
    {NULL, "add.u32 %r0, %p0, 1;"},
    {NULL, "add.u32 5, %t, 1;"},
    {NULL, "add.u8 %h0, %h1, 1;"},
    {NULL, "add.rn.u32 %r0, %t, 1;"},
    {NULL, "add.ftz.f64 %d0, %d1, %d2;"},
    {"lop3.b32 %r0, %t, %t, %t, 255;", "lop3.b32 %r0, %t, %t, %t, 256;"},
    {NULL, "lop3.b32 %r0, %t, %t, %t, %r1;"},
    {"lop3.or.b32 %r0|%p0, %t, %t, %t, 1, %p15;", "lop3.or.b32 %r0, %t, %t, %t, 1, %p15;"},
    {"setp.lt.u32 %p0, %t, 1;", "setp.u32 %p0, %t, 1;"},
    {NULL, "setp.nan.u32 %p0, %t, 1;"},
    {NULL, "setp.lt.ftz.u32 %p0, %t, 1;"},
    {"set.lt.f32.u32 %f0, %t, 1;", "set.lt.f32.u32 %q0, %t, 1;"},
    {NULL, "set.lt.u64.u32 %q0, %t, 1;"},
    {"slct.u32.s32 %r0, %t, 1, %t;", "slct.u32.u32 %r0, %t, 1, %t;"},
    {"testp.finite.f32 %p0, %f0;", "testp.f32 %p0, %f0;"},
    {"cvt.rzi.s32.f32 %r0, %f0;", "cvt.s32.f32 %r0, %f0;"},
    {"cvt.u16.u32 %h0, %t;", "cvt.rn.u16.u32 %h0, %t;"},
    {NULL, "cvt.rn.s32.f32 %r0, %f0;"},
    {NULL, "cvt.u64.u32 %r0, %t;"},
    {"mov.b64 %q0, {%r0, %r1};", "mov.b64 %q0, {%r0, %h1};"},
    {NULL, "mov.b64 %r0, {%r0, %r1};"},
    {NULL, "mov.b64 %q0, {%r0, %r1, %r2};"},
    {"sqrt.rn.f32 %f0, %f1;", "sqrt.f32 %f0, %f1;"},
    {NULL, "sqrt.approx.rn.f32 %f0, %f1;"},
};

/* Describes the failure. */
static bool is_as_expected(const char *form, bool is_right) {
    Text body = {0};
    text_print(&body, "%s%s", begin, form);
    CoreRun run = core_run((CoreKernel){.body = text_string(&body), .module = module});
    if (!run.done) fail_msg("%s: %s", form, run.error.message);
    const Trap *trap = run.trace->trap_count ? &run.trace->traps[0] : NULL;
    bool good = is_right ? !trap : trap && trap->kind == TRAP_NOT_EMULATED;
    if (!good)
        print_error("%s: %s %s\n", form, trap ? trap_kind_text(trap->kind) : "it ran",
                    trap ? trap->detail : "");
    core_done(&run);
    text_done(&body);
    return good;
}

static void test_forms(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        good &= !forms[i].right || is_as_expected(forms[i].right, true);
        good &= is_as_expected(forms[i].wrong, false);
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
