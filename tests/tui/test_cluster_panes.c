/* Panes of mbarriers and copies that reach another block of the cluster: they name it. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char kernel[] =
    ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n"
    ".reqnctapercluster 2, 1, 1\n{\n.reg .pred %p<4>;\n.reg .b32 %r<24>;\n.reg .b64 %q<4>;\n"
    ".shared .align 128 .b8 tile[128];\n.shared .align 128 .b8 other[128];\n.shared .align 8 .b64 gate;\n"
    "ld.param.u64 %q0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r4, %cluster_ctarank;\nxor.b32 %r5, %r4, 1;\n"
    "mov.u32 %r1, tile;\nmov.u32 %r6, other;\nmov.u32 %r9, gate;\nmad.lo.u32 %r2, %r0, 4, %r1;\n"
    "mad.lo.u32 %r7, %r0, 4, %r6;\nsetp.eq.u32 %p0, %r0, 0;\nst.shared.u32 [%r2], %r0;\n"
    "mapa.shared::cluster.u32 %r16, %r6, %r5;\nmapa.shared::cluster.u32 %r19, %r9, %r5;\n"
    "@%p0 mbarrier.init.shared::cta.b64 [%r9], 33;\nfence.mbarrier_init.release.cluster;\n"
    "fence.proxy.async.shared::cta;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 128;\n"
    "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r16], [%r1], 128, "
    "[%r19];\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n"
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r9], 0;\n@!%p1 bra W;\n"
    "ld.shared.u32 %r8, [%r7];\nmad.wide.u32 %q1, %r0, 4, %q0;\nst.global.u32 [%q1], %r8;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n";

static Stage *open_stage(void) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/redviz-cluster-%d.ptx", (int)getpid());
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(kernel, file);
    assert_int_equal(fclose(file), 0);
    Stage *stage = stage_open(&(RunSpec){
        .file = name, .args = "out=int[32]:zero", .grid = {2}, .block = {32}, .backend = BACKEND_EMULATOR});
    unlink(name);
    return stage;
}

/* Beat after beat: each of `parts` appears on a screen, in this order. */
static void expect_in_order(Stage *stage, const char *const *parts, int count) {
    int found = 0;
    for (int beat = 0; beat < 24 && found < count; beat++) {
        char *text = stage_text(stage, 160, 40);
        while (found < count && strstr(text, parts[found])) found++;
        free(text);
        stage_press(stage, "<Right>");
    }
    stage_free(stage);
    if (found < count) fail_msg("\"%s\" is on no screen behind the one before it", parts[found]);
}

static void pictures_name_the_block(void **state) {
    (void)state;
    static const char *const parts[] = {"gate+0: a phase takes 33 arrivals",
                                        "128 bytes  tile+0 \u2192 other+0 of block 1",
                                        "gate+0 of block 1: each lane arrives"};
    expect_in_order(open_stage(), parts, 3);
}

static void sentences_name_the_block(void **state) {
    (void)state;
    static const char *const parts[] = {"in shared memory of block 1 of its cluster",
                                        "It lies in shared memory of block 1"};
    expect_in_order(open_stage(), parts, 2);
}

/* The value read there, its sum, is beside each block's word. */
static void words_of_other_blocks_have_values(void **state) {
    (void)state;
    Stage *stage = stage_open(
        &(RunSpec){.kernel = "cluster", .catalog = {.n = 4096, .fill = FILL_ONES, .has_fill = true}});
    static const char *const parts[] = {
        "block 7             block_sum[0]         \u2500\u2500\u25b6   lane 7            512"};
    stage_press(stage, "g18l");
    expect_in_order(stage, parts, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_name_the_block),
                                       cmocka_unit_test(sentences_name_the_block),
                                       cmocka_unit_test(words_of_other_blocks_have_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
