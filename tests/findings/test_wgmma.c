/* Hazards of wgmma, inserted one by one; each with a correct version, which has no hazard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "race_check.h"

#define MODULE ".shared .align 1024 .b8 a_tile[2048];\n.shared .align 1024 .b8 b_tile[256];\n"
/* %r0 and %r1: the thread's bytes of A and B. */
#define FILL                                                                                                 \
    "mov.u32 %r9, a_tile; mad.lo.u32 %r0, %t, 16, %r9; mov.u32 %r7, 0;\n"                                    \
    "st.shared.v4.b32 [%r0], {%r7, %r7, %r7, %r7};\n"                                                        \
    "mov.u32 %r10, b_tile; mad.lo.u32 %r1, %t, 2, %r10; mov.u16 %h0, 0; st.shared.b16 [%r1], %h0;\n"         \
    "shr.u32 %r9, %r9, 4; cvt.u64.u32 %q0, %r9; or.b64 %q0, %q0, 0x1000080000;\n"                            \
    "shr.u32 %r10, %r10, 4; cvt.u64.u32 %q1, %r10; or.b64 %q1, %q1, 0x1000080000;\n"                         \
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
#define PROXY "fence.proxy.async;\n"
#define BAR   "bar.sync 0;\n"
#define MULTIPLY                                                                                             \
    "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "    \
    "%q0, %q1, 1, 1, 1, 0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT   "wgmma.wait_group.sync.aligned 0;\n"
#define READ   "add.f32 %f4, %f0, %f3;\n"
#define STORE  "st.global.f32 [%out], %f0;\n"
#define WRITE  "st.shared.b16 [%r1], %h0;\n"

static void expect(const char *body, const char *expected) {
    check(body, (CoreKernel){.module = MODULE, .body = body, .block = 128}, expected);
}

static void expect_sparse(const char *body, const char *expected) {
    check(
        body,
        (CoreKernel){.module = ".shared .align 1024 .b8 a_tile[2560];\n.shared .align 16 .b8 b_tile[256];\n",
                     .body = body,
                     .block = 128},
        expected);
}

#define PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"

static void stores_are_published_to_the_proxy(void **state) {
    (void)state;
    expect(FILL PROXY BAR MULTIPLY COMMIT WAIT STORE, "");
    expect(FILL BAR MULTIPLY COMMIT WAIT STORE,
           "proxy_order " PRODUCT " st.shared.v4.b32\nproxy_order " PRODUCT " st.shared.b16");
    /* A warp's rows of A are its own; B is everybody's. */
    expect(FILL PROXY MULTIPLY COMMIT WAIT STORE, "shared_race " PRODUCT " st.shared.b16");
}

static void results_are_read_after_a_wait(void **state) {
    (void)state;
    expect(FILL PROXY BAR MULTIPLY COMMIT WAIT READ, "");
    expect(FILL PROXY BAR MULTIPLY COMMIT READ WAIT, "early_result add.f32 " PRODUCT);
    expect(FILL PROXY BAR MULTIPLY COMMIT STORE WAIT, "early_result st.global.f32 " PRODUCT);
    /* Group 0 of two is complete, and the other has the same registers. */
    expect(FILL PROXY BAR MULTIPLY COMMIT MULTIPLY COMMIT "wgmma.wait_group.sync.aligned 1;\n" READ WAIT,
           "early_result add.f32 " PRODUCT);
    /* Compilers move accumulators between two products. */
    expect(FILL PROXY BAR MULTIPLY "mov.f32 %f8, %f0; mov.f32 %f0, %f8;\n" MULTIPLY COMMIT WAIT READ
                                   "st.global.f32 [%out], %f8;\n",
           "");
}

static void tiles_are_written_after_a_wait(void **state) {
    (void)state;
    expect(FILL PROXY BAR MULTIPLY COMMIT WAIT BAR WRITE, "");
    expect(FILL PROXY BAR MULTIPLY COMMIT WAIT "st.shared.b32 [%r0], %r7;\n", "");
    expect(FILL PROXY BAR MULTIPLY COMMIT BAR WRITE WAIT, "async_write st.shared.b16 " PRODUCT);
}

/* One warp of the warpgroup tells a fifth one that the tile may change, for all four. */
#define FIFTH  "setp.ge.u32 %p0, %t, 128; @%p0 bra FIFTH;\n"
#define ARRIVE "setp.ge.u32 %p1, %t, 32; @%p1 bra PASS; bar.arrive 1, 64;\nPASS:\n"
#define CHANGE                                                                                               \
    "bra END;\nFIFTH: bar.sync 0; bar.sync 1, 64;\n"                                                         \
    "mov.u32 %r10, b_tile; mad.lo.u32 %r1, %t, 2, %r10; mov.u16 %h0, 0; st.shared.b16 [%r1+-256], %h0;\n"    \
    "END:\n"

static void a_group_is_one_of_the_warpgroup(void **state) {
    (void)state;
    const char *awaited = FIFTH FILL PROXY BAR MULTIPLY COMMIT WAIT ARRIVE CHANGE;
    const char *early = FIFTH FILL PROXY BAR MULTIPLY COMMIT ARRIVE WAIT CHANGE;
    check(awaited, (CoreKernel){.module = MODULE, .body = awaited, .block = 160}, "");
    check(early, (CoreKernel){.module = MODULE, .body = early, .block = 160},
          "shared_race st.shared.b16 " PRODUCT);
}

static void groups_are_committed_and_awaited(void **state) {
    (void)state;
    expect(FILL PROXY BAR MULTIPLY, "copy_not_committed " PRODUCT " -");
    expect(FILL PROXY BAR MULTIPLY COMMIT, "copy_not_awaited " PRODUCT " -");
}

#define SPARSE "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
/* B of 32 rows is behind A. */
#define SPARSE_FILL                                                                                          \
    FILL "mov.u32 %r2, 0x44444444; mov.u32 %r10, a_tile; mad.lo.u32 %r1, %t, 4, %r10; add.u32 %r1, %r1, "    \
         "2048;\nst.shared.b32 [%r1], %r7; add.u64 %q1, %q0, 128;\n"
#define SPARSE_MULTIPLY                                                                                      \
    "wgmma.fence.sync.aligned;\n" SPARSE " {%f0, %f1, %f2, %f3}, %q0, %q1, %r2, 0, 1, 1, 1, 0, 0;\n"

static void sparse_products_are_no_exception(void **state) {
    (void)state;
    expect_sparse(SPARSE_FILL PROXY BAR SPARSE_MULTIPLY COMMIT WAIT READ BAR "st.shared.b32 [%r1], %r7;\n",
                  "");
    expect_sparse(SPARSE_FILL PROXY BAR SPARSE_MULTIPLY COMMIT READ WAIT, "early_result add.f32 " SPARSE);
    expect_sparse(SPARSE_FILL PROXY BAR SPARSE_MULTIPLY COMMIT BAR "st.shared.b32 [%r1], %r7;\n" WAIT,
                  "async_write st.shared.b32 " SPARSE);
    /* The last 16 bytes of B are read, too. */
    expect_sparse(SPARSE_FILL PROXY BAR SPARSE_MULTIPLY COMMIT BAR
                  "setp.ge.u32 %p0, %t, 124; @%p0 st.shared.b32 [%r1], %r7;\n" WAIT,
                  "async_write st.shared.b32 " SPARSE);
    /* Metadata are a register: a warp may change them once it has read them. */
    expect_sparse(SPARSE_FILL PROXY BAR SPARSE_MULTIPLY "mov.u32 %r2, 0;\n" COMMIT WAIT STORE, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stores_are_published_to_the_proxy),
                                       cmocka_unit_test(results_are_read_after_a_wait),
                                       cmocka_unit_test(tiles_are_written_after_a_wait),
                                       cmocka_unit_test(a_group_is_one_of_the_warpgroup),
                                       cmocka_unit_test(groups_are_committed_and_awaited),
                                       cmocka_unit_test(sparse_products_are_no_exception)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
