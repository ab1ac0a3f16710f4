/* Small kernels for features that the catalogue does not use: guards, vectors, overlapping registers, called
 * functions, brx, generic addresses, named barriers, lanes that exit or stay apart, waiting loops. Each is
 * instrumented, run by the emulator, and must decode to the emulator's own events; ptxas, if installed,
 * accepts it. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_kernel.h"

#include <stdlib.h>
#include <unistd.h>

static bool has_ptxas(void) {
    static int found = -1;
    if (found < 0) found = system("PATH=$PATH:/usr/local/cuda/bin ptxas --version >/dev/null 2>&1") == 0;
    return found;
}

static void assemble(const SmallKernel *kernel, const Text *text) {
    if (!has_ptxas()) return;
    char input[] = "/tmp/redviz_case_XXXXXX", command[256];
    int file = mkstemp(input);
    assert_true(file >= 0);
    assert_int_equal(write(file, text_string(text), text->length), (ssize_t)text->length);
    close(file);
    snprintf(command, sizeof command, "PATH=$PATH:/usr/local/cuda/bin ptxas -arch=sm_90a -o /dev/null %s >&2",
             input);
    if (system(command) != 0) fail_msg("%s: ptxas refuses it, instrumented: see %s", kernel->name, input);
    unlink(input);
}

/* Begins a copy of `bytes` on the mbarrier `gate`, by thread 0, and waits for it. */
#define ON_GATE(bytes, copy)                                                                                 \
    "mov.u32 %r1, tile; mov.u32 %r9, gate; setp.eq.u32 %p0, %t, 0;\n"                                        \
    "mov.b64 %q0, kernel_map; cvta.param.u64 %q0, %q0; mov.u32 %r5, 0; mov.u32 %r6, 1; mov.u32 %r7, -1;\n"   \
    "@%p0 mbarrier.init.shared::cta.b64 [%r9], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"        \
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " #bytes ";\n" copy                            \
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W;\n"                              \
    "shl.b32 %r0, %t, 2; add.u32 %r0, %r0, %r1; ld.shared.u32 %r2, [%r0]; st.global.u32 [%out], %r2;\n"
#define TILE ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 gate;\n"

static const TensorMap line = {.size = {4000}, .box = {64}, .step = {1}, .rank = 1, .type = TENSOR_U32};
static const TensorMap plane = {.size = {60, 40},
                                .stride = {256},
                                .box = {32, 8},
                                .step = {1, 1},
                                .rank = 2,
                                .type = TENSOR_F32,
                                .swizzle = 3};
static const TensorMap every_second = {.size = {32, 16, 8},
                                       .stride = {128, 2048},
                                       .box = {16, 8, 4},
                                       .step = {1, 2, 2},
                                       .rank = 3,
                                       .type = TENSOR_U32,
                                       .swizzle = 2};
static const TensorMap five = {.size = {8, 4, 4, 4, 4},
                               .stride = {32, 128, 512, 2048},
                               .box = {8, 2, 2, 2, 2},
                               .step = {1, 1, 1, 1, 1},
                               .rank = 5,
                               .type = TENSOR_S32};

static const TensorMap images = {.size = {8, 5, 4, 3},
                                 .stride = {32, 160, 640},
                                 .box = {8},
                                 .step = {1, 2, 1, 1},
                                 .rank = 4,
                                 .type = TENSOR_U32,
                                 .mode = TENSOR_IM2COL,
                                 .lower = {-1, -1},
                                 .upper = {-1, -1},
                                 .pixels = 16};
static const TensorMap signals = {.size = {4, 30, 3},
                                  .stride = {16, 512},
                                  .box = {4},
                                  .step = {1, 1, 1},
                                  .rank = 3,
                                  .type = TENSOR_U32,
                                  .mode = TENSOR_IM2COL,
                                  .lower = {2},
                                  .upper = {-3},
                                  .pixels = 40};

static const SmallKernel cases[] = {
    {.name = "a tensor copy of one dimension",
     .module = TILE,
     .body = ON_GATE(256, "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                          "[%r1], [%q0, {%r5}], [%r9];\n"),
     .block = 64,
     .map = &line,
     .must_have = "mad.lo.u64 %redviz_w0, %redviz_w0, 0x9e3779b97f4a7c15, %redviz_t;"},
    {.name = "a tile that is partly outside, by all lanes but one",
     .module = TILE,
     .body =
         "mov.u32 %r1, tile; mov.u32 %r9, gate; setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 3;\n"
         "mov.b64 %q0, kernel_map; cvta.param.u64 %q0, %q0; mul.lo.u32 %r5, %t, 16; add.u32 %r6, %t, 34;\n"
         "shl.b32 %r3, %t, 10; add.u32 %r3, %r3, %r1; @!%p1 mov.u64 %q0, 0;\n"
         "@%p0 mbarrier.init.shared::cta.b64 [%r9], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
         "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 3072;\n"
         "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], "
         "[%q0, {%r5, %r6}], [%r9];\n"
         "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W;\n"
         "shl.b32 %r0, %t, 5; add.u32 %r0, %r0, %r1; ld.shared.u32 %r2, [%r0]; st.global.u32 [%out], %r2;\n",
     .block = 96,
     .map = &plane},
    {.name = "a tile that is outside",
     .module = TILE,
     .body = ON_GATE(1024, "mov.u32 %r5, 64; @%p0 "
                           "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], "
                           "[%q0, {%r5, %r7}], [%r9];\n"),
     .block = 64,
     .version = "8.6",
     .map = &plane},
    {.name = "element strides",
     .module = TILE,
     .body = ON_GATE(512, "@%p0 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                          "[%r1], [%q0, {%r5, %r7, %r6}], [%r9];\n"),
     .block = 128,
     .map = &every_second},
    {.name = "five dimensions, with a cache policy",
     .module = TILE,
     .body = "createpolicy.fractional.L2::evict_first.b64 %q3, 1.0;\n" ON_GATE(
         512, "@%p0 cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
              ".L2::cache_hint [%r1], [%q0, {%r5, %r6, %r7, %r5, %r6}], [%r9], %q3;\n"),
     .block = 128,
     .map = &five},
    {.name = "a tensor copy into several blocks",
     .module = TILE,
     .body = ON_GATE(1024, "barrier.cluster.arrive; barrier.cluster.wait;\n"
                           "mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p3, %r4, 1; and.pred %p3, %p3, %p0;\n"
                           "mov.b16 %h0, 15; @%p3 cp.async.bulk.tensor.2d.shared::cluster.global"
                           ".mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%q0, {%r5, %r6}], "
                           "[%r9], %h0;\n") "barrier.cluster.arrive; barrier.cluster.wait;\n",
     .block = 64,
     .grid = 4,
     .cluster = 4,
     .map = &plane},
    {.name = "a tensor is stored and reduced",
     .module = TILE,
     .body =
         "mov.u32 %r1, tile; setp.eq.u32 %p0, %t, 0; mov.b64 %q0, kernel_map; cvta.param.u64 %q0, %q0;\n"
         "shl.b32 %r0, %t, 2; add.u32 %r0, %r0, %r1; st.shared.u32 [%r0], %t; mov.u32 %r5, 8; mov.u32 %r6, "
         "3;\n"
         "fence.proxy.async.shared::cta; bar.sync 0;\n"
         "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%q0, {%r5}], [%r1];\n"
         "@%p0 cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%q0, {256}], [%r1];\n"
         "@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0; st.global.u32 [%out], %t;\n",
     .block = 64,
     .map = &line},
    {.name = "pixels of images into two blocks",
     .module = TILE,
     .body =
         ON_GATE(512, "barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h1, 1; mov.b16 %h2, 2;\n"
                      "mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p3, %r4, 1; and.pred %p3, %p3, %p0;\n"
                      "mov.b16 %h0, 3; @%p3 cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                      ".mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%q0, {%r5, %r7, %r7, %r6}], "
                      "[%r9], {%h1, %h2}, %h0;\n") "barrier.cluster.arrive; barrier.cluster.wait;\n",
     .block = 64,
     .grid = 2,
     .cluster = 2,
     .map = &images},
    {.name = "pixels are stored and reduced",
     .module = TILE,
     .body = "mov.u32 %r1, tile; setp.eq.u32 %p0, %t, 0; mov.b64 %q0, kernel_map; cvta.param.u64 %q0, %q0;\n"
             "mad.lo.u32 %r0, %t, 16, %r1; st.shared.v4.u32 [%r0], {%t, %t, %t, %t}; mov.u32 %r5, 0;\n"
             "mov.u32 %r6, 4; fence.proxy.async.shared::cta; bar.sync 0;\n"
             "@%p0 cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%q0, {%r5, %r6, "
             "1}], [%r1];\n"
             "@%p0 cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group [%q0, {0, "
             "2, 0}], "
             "[%r1];\n"
             "@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0; st.global.u32 [%out], %t;\n",
     .block = 64,
     .map = &signals},
    {.name = "a product of a warpgroup",
     .module = TILE,
     .body =
         "mov.u32 %r1, tile; shl.b32 %r0, %t, 5; add.u32 %r0, %r0, %r1; mov.b32 %r2, 0x3c003e00;\n"
         "st.shared.v4.u32 [%r0], {%r2, %r2, %r2, %r2}; st.shared.v4.u32 [%r0+16], {%r2, %r2, %r2, %r2};\n"
         "fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r3, %r1, 4; cvt.u64.u32 %q0, %r3;\n"
         "or.b64 %q0, %q0, 0x0000000800080000; setp.ne.u32 %p0, %t, 1000; mov.f32 %f0, 0f3f800000;\n"
         "mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
         "mov.u32 %r22, 0; mov.u32 %r23, 0; mov.u32 %r24, 0; mov.u32 %r25, 0;\n"
         "wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %q0, %q0, %p0, 1, 1, 0, "
         "0;\n"
         /* registers 0 to 3 and 4, 5 are two events */
         "wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16 {%r20, %r21, %r22, %r23, %r24, %r25}, "
         "{%r2, %r2, %r2, %r2}, %q0, %p0, 1, 1, 0;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %q0, %q0, %p0, 1, 1, 0, "
         "0;\n"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
         "st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3}; st.global.v2.u32 [%out+16], {%r24, %r25};\n",
     .block = 256,
     .grid = 2,
     .must_have = "wgmma.wait_group.sync.aligned 0;\n\tmov.b32 %redviz_n0, %r20;"},
    {.name = "a sparse product of a warpgroup",
     .module = TILE,
     .body =
         "mov.u32 %r1, tile; shl.b32 %r0, %t, 5; add.u32 %r0, %r0, %r1; mov.b32 %r2, 0x3c003e00;\n"
         "st.shared.v4.u32 [%r0], {%r2, %r2, %r2, %t}; st.shared.v4.u32 [%r0+16], {%r2, %t, %r2, %r2};\n"
         "fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r3, %r1, 4; cvt.u64.u32 %q0, %r3;\n"
         "or.b64 %q0, %q0, 0x0000000800080000; mov.u32 %r4, 0xd98ec44e; mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
         "wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%r20, %r21}, %q0, %q0, %r4, 1, 0, 1, 1, 0, "
         "0;\n"
         "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%r20, %r21}, {%r2, %r2, %r2, %r2}, %q0, %r4, "
         "0, "
         "1, 1, -1, 0;\n"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
         "st.global.v2.u32 [%out], {%r20, %r21};\n",
     .block = 256,
     .grid = 2,
     .version = "8.2"},
    {.name = "shared memory of other blocks",
     .module = ".shared .align 16 .b8 words[2048];\n.shared .u32 sum;\n",
     .body =
         "mov.u32 %r4, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; add.u32 %r5, %r4, 1;\n"
         "rem.u32 %r5, %r5, %r6; shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r2, %r1, %r0;\n"
         "st.shared.u32 [%r2], %n; st.shared.u32 [%r2+1024], %n; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 "
         "[sum], 0;\n"
         "barrier.cluster.arrive; barrier.cluster.wait;\n"
         "mapa.shared::cluster.u32 %r8, %r2, %r5; ld.shared::cluster.u32 %r10, [%r8];\n"
         "st.shared::cluster.u32 [%r8+1024], %r10;\n"
         "cvt.u64.u32 %q0, %r2; cvta.shared.u64 %q0, %q0; mapa.u64 %q1, %q0, %r5; ld.u32 %r11, [%q1];\n"
         "and.b32 %r9, %t, 3; mapa.shared::cluster.u32 %r9, %r2, %r9; ld.shared::cluster.u32 %r12, [%r9];\n"
         "mapa.shared::cluster.u32 %r13, sum, 0; red.shared::cluster.add.u32 [%r13], 1;\n"
         "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
         "ld.shared.u32 %r14, [%r2+1024]; ld.shared::cluster.u32 %r15, [%r13];\n"
         "setp.lt.u32 %p1, %t, 16; selp.b64 %q2, %q1, %out, %p1; ld.u32 %r16, [%q2];\n" /* two spaces */
         "st.global.v4.u32 [%out], {%r10, %r11, %r12, %r14}; st.global.u32 [%out+16], %r15;\n"
         "barrier.cluster.arrive; barrier.cluster.wait;\n",
     .grid = 8,
     .block = 64,
     .cluster = 4,
     .must_have = "mapa.shared::cluster.u64 %redviz_t, words, 0;"},
    {.name = "another block's sums",
     .body = ".shared .align 4 .u32 sum;\n@!%p0 st.shared.u32 [sum], %b; mov.u32 %r0, %cluster_ctarank;\n"
             "barrier.cluster.arrive.relaxed; barrier.cluster.wait; setp.ne.u32 %p0, %r0, 1; @%p0 bra DONE;\n"
             "rem.u32 %r1, %l, 8; mov.u64 %q0, sum; cvta.shared.u64 %q0, %q0; mapa.u64 %q0, %q0, %r1;\n"
             "ld.u32 %r2, [%q0]; st.global.u32 [%out], %r2; DONE: barrier.cluster.arrive; "
             "barrier.cluster.wait;\n",
     .grid = 8,
     .block = 32,
     .cluster = 8},
    {.name = "mbarriers of other blocks",
     .module = ".shared .align 16 .b8 words[256];\n.shared .align 8 .b64 gate[2];\n",
     .body = "mov.u32 %r4, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; add.u32 %r5, %r4, 1;\n"
             "rem.u32 %r5, %r5, %r6; shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r2, %r1, %r0;\n"
             "mov.u32 %r9, gate; setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 24; st.shared.u32 [%r2], %n;\n"
             "@%p0 mbarrier.init.shared::cta.b64 [%r9], 64; @%p0 mbarrier.init.shared::cta.b64 [%r9+8], 64;\n"
             "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"
             "mapa.shared::cluster.u32 %r8, %r2, %r5; mapa.shared::cluster.u32 %r10, %r9, %r5;\n"
             "mov.u64 %q0, gate; cvta.shared.u64 %q0, %q0; mapa.u64 %q1, %q0, %r5;\n"
             "st.shared::cluster.u32 [%r8], %n;\n"
             "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\n"
             "@!%p1 mbarrier.arrive.release.cluster.b64 _, [%q1];\n"
             "A: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra A;\n"
             "ld.shared.u32 %r12, [%r2]; st.global.u32 [%out], %r12;\n"
             /* half of them to the own block, which a mapped address may name, too */
             "selp.b32 %r11, %r9, %r10, %p1; mapa.shared::cluster.u32 %r13, %r9, %r4; selp.b32 %r11, %r13, "
             "%r11, %p0;\n"
             "@%p0 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r10+8], 64;\n"
             "@%p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r10+8], 64;\n"
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11+8];\n"
             "B: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r9+8], 0; @!%p2 bra B;\n"
             "@%p0 mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r10], 3;\n"
             "@%p0 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r10], 16;\n"
             "barrier.cluster.arrive; barrier.cluster.wait;\n",
     .grid = 8,
     .block = 64,
     .cluster = 4},
    {.name = "copies into other blocks",
     .module = ".shared .align 128 .b8 tile[1024];\n.shared .align 128 .b8 other[1024];\n.shared .align 8 "
               ".b64 gate;\n",
     .body = "mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1; mov.u32 %r1, tile; mov.u32 %r2, other;\n"
             "mad.lo.u32 %r0, %l, 32, %r1; mad.lo.u32 %r8, %l, 32, %r2; mov.u32 %r9, gate; setp.eq.u32 %p0, "
             "%l, 0;\n"
             "setp.lt.u32 %p1, %l, 6; setp.lt.u32 %p2, %l, 3; setp.gt.u32 %p3, %l, 15;\n"
             "st.shared.v4.u32 [%r0], {%n, %t, %t, %t}; st.shared.v4.u32 [%r0+16], {%t, %t, %n, %t};\n"
             "st.shared.v4.u32 [%r8], {1, 2, 3, 4}; st.shared.v4.u32 [%r8+16], {5, 6, 7, 8};\n"
             "@%p0 mbarrier.init.shared::cta.b64 [%r9], 1; fence.mbarrier_init.release.cluster;\n"
             "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n"
             "mapa.shared::cluster.u32 %r10, %r8, %r5; mapa.shared::cluster.u32 %r11, %r9, %r5;\n"
             "cvt.u64.u32 %q0, %r8; cvta.shared.u64 %q0, %q0; mapa.u64 %q1, %q0, %r5;\n"
             "mov.u64 %q2, gate; cvta.shared.u64 %q2, %q2; mapa.u64 %q3, %q2, %r5;\n"
             "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 392;\n"
             /* some lanes to the own block, some to the other one */
             "selp.b32 %r12, %r8, %r10, %p2; selp.b32 %r13, %r9, %r11, %p2;\n"
             "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r12], [%r0], 16, "
             "[%r13];\n"
             "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+16], [%out], 16, "
             "[%r11];\n"
             "@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
             "[%r10+512], [%r0+512], 32, [%r11];\n"
             "@!%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %n, [%r11];\n"
             "@%p3 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r10+4], "
             "%n, [%r11];\n"
             "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r9], 0; @!%p4 bra W;\n"
             "ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r8]; st.global.v4.u32 [%out], {%r14, %r15, %r16, "
             "%r17};\n"
             "barrier.cluster.arrive; barrier.cluster.wait; @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 "
             "_, [%r9], 256;\n"
             "mul.wide.u32 %q4, %n, 7; st.async.weak.mbarrier::complete_tx::bytes.u64 [%q1+8], %q4, [%q3];\n"
             "V: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r9], 1; @!%p4 bra V;\n"
             "ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r8]; st.global.v4.u32 [%out], {%r14, %r15, %r16, "
             "%r17};\n"
             "barrier.cluster.arrive; barrier.cluster.wait;\n",
     .grid = 8,
     .cluster = 2,
     .version = "8.1"},
    {.name = "guarded accesses",
     .body = "setp.lt.u32 %p0, %l, 10;\n@%p0 ld.global.u32 %r0, [%out];\n@!%p0 ld.global.u32 %r0, [%out+4];\n"
             "@%p0 st.global.u32 [%out+8], %r0;\n@!%p0 st.global.u32 [%out+12], 7;\n"
             "setp.gt.u32 %p1, %l, 40;\n@%p1 st.global.u32 [%out], %r0;\n"},
    {.name = "vectors",
     .body =
         "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out];\nst.global.v2.u32 [%out+16], {%r1, %r0};\n"
         "ld.global.v2.u64 {%q0, %q1}, [%out+32];\nst.global.v2.f64 [%out+48], {0d3FF0000000000000, 2.5};\n"
         "ld.global.v4.u32 {%r4, _, %r5, _}, [%out];\nst.global.v4.f32 [%out], {0f3F800000, 0.5, 3.0, "
         "0f40000000};\n"},
    {.name = "vector registers",
     .body = ".reg .v4 .f32 %v;\nld.global.v4.f32 %v, [%out];\nst.global.v4.f32 [%out+16], %v;\n"
             "st.global.f32 [%out+32], %v.z;\n"},
    {.name = "all widths",
     .body = "cvt.u16.u32 %h0, %t;\nst.global.u8 [%out], %h0;\nst.global.u16 [%out+2], %h0;\nld.global.s8 "
             "%r0, [%out];\n"
             "ld.global.u8 %h1, [%out+1];\nld.global.s16 %h2, [%out+2];\nld.global.s16 %r1, [%out+2];\n"
             "ld.global.s32 %q1, [%out+4];\nst.global.u8 [%out+8], %r1;\nst.global.u8 [%out+9], %q1;\n"
             "st.global.u16 [%out+10], 65535;\nst.global.u8 [%out+12], -1;\nld.global.f64 %d0, [%out+16];\n"
             "st.global.f64 [%out+24], %d0;\nld.global.b32 %f0, [%out];\nst.global.b32 [%out+32], %f0;\n"
             "mov.b32 %r5, %f0;\nst.global.f32 [%out+36], %r5;\nst.global.b64 [%out+40], %d0;\n"
             "st.global.u16 [%out+48], %r5;\n"},
    {.name = "half registers",
     .body = ".reg .f16 %x, %y;\n.reg .b8 %z;\nld.global.b16 %x, [%out];\nadd.f16 %y, %x, %x;\nst.global.b16 "
             "[%out+2], %y;\n"
             "ld.global.b8 %z, [%out+4];\nst.global.b8 [%out+5], %z;\n"},
    {.name = "matrices",
     .module = ".shared .align 128 .b8 tile[2048];\n",
     .body = "mov.u32 %r1, tile;\nmad.lo.u32 %r0, %l, 64, %r1;\nst.shared.v4.u32 [%r0], {%t, %l, %b, 7};\n"
             "st.shared.v4.u32 [%r0+16], {%l, %t, %b, 8};\nbar.sync 0;\n"
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r0}, [%r0];\n"
             "mad.lo.u32 %r5, %l, 64, %r1;\nstmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5+16], {%r0, %r3};\n"
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\ncvta.shared.u64 %q1, tile;\n"
             "ldmatrix.sync.aligned.m8n8.x1.b16 {%r7}, [%q1+16];\n"
             "st.global.v4.u32 [%out], {%r2, %r3, %r4, %r0};\nst.global.v2.u32 [%out+16], {%r6, %r7};\n"},
    {.name = "transposed matrices",
     .module = ".shared .align 128 .b8 tile[2048];\n",
     .body = "mov.u32 %r1, tile;\nmad.lo.u32 %r0, %l, 16, %r1;\nst.shared.v4.u32 [%r0], {%t, %l, %b, 7};\n"
             "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r2, %r3, %r4, %r0}, [%r0];\n"
             "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r3;\nmad.lo.u32 %r5, %l, 16, %r1;\n"
             "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r5+512], {%r0, %r3};\n"
             "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r5];\n"
             "st.global.v4.u32 [%out], {%r2, %r3, %r4, %r6};\n"},
    {.name = "products",
     .body =
         "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%out];\nld.global.v2.u32 {%r6, %r7}, [%out+16];\n"
         "mov.b32 %f0, 0f3F800000;\nmov.b32 %f1, %f0;\nmov.b32 %f2, %f0;\nmov.b32 %f3, %f0;\n"
         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, "
         "{%r6, %r7}, {%f0, %f1, %f2, %f3};\nst.global.v4.f32 [%out+32], {%f0, %f1, %f2, %f3};\n"
         "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%r2, %r3, %r4, %r5}, {%r2, %r3, %r4, "
         "%r5}, {%r6, %r7}, {%r4, %r4, %r4, %r4};\nst.global.v4.u32 [%out+48], {%r2, %r3, %r4, %r5};\n"
         "ld.global.v2.f64 {%d0, %d1}, [%out];\n"
         "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%d0, %d1}, {%d1}, {%d0, "
         "%d0, %d0, %d0};\nst.global.v2.f64 [%out], {%d2, %d3};\n"},
    {.name = "fragments of global memory",
     .grid = 2,
     .body = "mov.u32 %r20, 24;\nmul.wide.u32 %q1, %b, 2048;\nadd.u64 %base, %base, %q1;\n"
             "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
             "[%base], %r20;\n"
             "wmma.load.b.sync.aligned.row.m16n16k16.f16 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
             "[%base+16];\n"
             "wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
             "[%base], 16;\n"
             "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
             "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
             "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\n"
             "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%base], {%f0, %f1, %f2, %f3, %f4, %f5, "
             "%f6, %f7}, "
             "16;\n"
             "wmma.load.a.sync.aligned.col.m32n8k16.global.s8 {%r0, %r1, %r2, %r3}, [%base], 32;\n"
             "st.global.v4.u32 [%base+1024], {%r0, %r1, %r2, %r3};\n"},
    {.name = "fragments of shared memory",
     .module = ".shared .align 128 .b8 tile[4096];\n",
     .body =
         "mov.u32 %r1, tile;\nmad.lo.u32 %r0, %l, 128, %r1;\nmov.u32 %r2, 0;\n"
         "FILL: mad.lo.u32 %r3, %r2, 4, %r0;\nmad.lo.u32 %r4, %l, 77, %r2;\nst.shared.u32 [%r3], %r4;\n"
         "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 32;\n@%p0 bra FILL;\nbar.sync 0;\nmov.u32 %r20, 40;\n"
         "wmma.load.a.sync.aligned.col.m8n32k16.shared.bf16 {%r2, %r3}, [tile], %r20;\n"
         "wmma.load.b.sync.aligned.col.m8n32k16.shared.bf16 {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, "
         "[%r1], %r20;\n"
         "wmma.load.a.sync.aligned.row.m8n8k4.shared::cta.f64 {%d0}, [tile+64], 6;\n"
         "wmma.load.c.sync.aligned.row.m8n8k4.shared.f64 {%d2, %d3}, [tile+64], 10;\n"
         "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 {%d2, %d3}, {%d0}, {%d0}, {%d2, %d3};\n"
         "bar.sync 0;\nwmma.store.d.sync.aligned.col.m8n8k4.shared.f64 [tile], {%d2, %d3}, 8;\nbar.sync 0;\n"
         "ld.shared.u32 %r1, [%r0];\nst.global.v4.u32 [%out], {%r1, %r2, %r7, %r11};\n"},
    {.name = "asynchronous copies",
     .module = ".shared .align 128 .b8 tile[2048];\n",
     .body =
         "mov.u32 %r1, tile;\nmad.lo.u32 %r0, %l, 32, %r1;\nmin.u32 %r2, %l, 16;\nsetp.lt.u32 %p0, %l, 9;\n"
         "cp.async.cg.shared.global [%r0], [%out], 16;\ncp.async.ca.shared.global [%r0+16], [%out+16], 8;\n"
         "cp.async.commit_group;\n@!%p0 cp.async.ca.shared.global [%r0+24], [%out+4], "
         "4;\ncp.async.wait_all;\n"
         "cp.async.cg.shared.global [%r0], [%out], 16, %r2;\n@%p0 cp.async.cg.shared.global [%r0+16], "
         "[%out+32], "
         "16, %r2;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
         "cp.async.ca.shared.global [%r0], [%out], 8, %p0;\ncp.async.ca.shared.global [%r0+8], [%out+8], 4, "
         "3;\n"
         "cp.async.commit_group;\n@%p0 cp.async.wait_group 1;\ncp.async.wait_group 0;\n"
         "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0];\nst.global.v4.u32 [%out+48], {%r4, %r5, %r6, "
         "%r7};\n"},
    {.name = "mbarriers",
     .module = ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 gate[2];\n",
     .body =
         "mov.u32 %r9, gate;\ncvta.shared.u64 %q9, gate;\nmov.u32 %r1, tile;\nmad.lo.u32 %r0, %t, 16, %r1;\n"
         "setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared::cta.b64 [%r9], 128;\n"
         "@%p0 mbarrier.init.b64 [%q9+8], 1;\nbar.sync 0;\n"
         "cp.async.cg.shared.global [%r0], [%out], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\n"
         "mbarrier.arrive.b64 %q1, [%q9];\nA: mbarrier.test_wait.shared::cta.b64 %p1, [%r9], %q1;\n"
         "@!%p1 bra A;\n@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9+8], 64;\n"
         "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9+8], 64;\n"
         "B: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9+8], 0, 1000;\n@!%p1 bra B;\n"
         "mbarrier.arrive_drop.shared::cta.b64 _, [%r9];\n@%p0 mbarrier.arrive.noComplete.shared::cta.b64 _, "
         "[%r9], 1;\n"
         "ld.shared.u32 %r4, [%r0];\nst.global.u32 [%out+48], %r4;\n",
     .block = 64},
    {.name = "bulk copies",
     .module = ".shared .align 128 .b8 tile[1024];\n.shared .align 128 .b8 other[1024];\n.shared .align 8 "
               ".b64 gate;\n",
     .body =
         "mov.u32 %r9, gate;\nmov.u32 %r1, tile;\nmad.lo.u32 %r0, %l, 32, %r1;\nmov.u32 %r8, other;\n"
         "mad.lo.u32 %r8, %l, 32, %r8;\nsetp.lt.u32 %p0, %l, 4;\nsetp.eq.u32 %p2, %l, 0;\n"
         "st.shared.v4.u32 [%r0], {%t, %t, %t, %t};\nst.shared.v4.u32 [%r8], {%t, %t, %t, %t};\n"
         "st.shared.v4.u32 [%r0+16], {%t, %t, %t, %t};\nst.shared.v4.u32 [%r8+16], {%t, %t, %t, %t};\n"
         "@%p2 mbarrier.init.shared::cta.b64 [%r9], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
         "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 384;\n"
         "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%out], 32, [%r9];\n"
         "@!%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %l, [%r9];\n"
         "@!%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8+4], %l, "
         "[%r9];\n"
         "@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r0+992], 32, "
         "[%r9];\n"
         "A: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9], 0;\n@!%p1 bra "
         "A;\nfence.proxy.async;\nbar.sync 0;\n"
         "@!%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r8], 16;\n"
         "@!%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%out+16], [%r8], 16;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n",
     .cluster = 1,
     .version = "8.1"},
    {.name = "the address is overwritten",
     .body = "cvta.to.global.u64 %q0, %out;\nst.global.u64 [%out+8], %out;\nld.global.u64 %q0, [%q0+8];\n"
             "st.global.u32 [%q0+4], 5;\nmov.u64 %q1, %out;\nst.global.v2.u64 [%out+16], {%out, %out};\n"
             "ld.global.v2.u64 {%q2, %q1}, [%q1+16];\nst.global.u32 [%q1], 6;\n"
             "atom.global.exch.b64 %q1, [%q1+16], 9;\nst.global.u32 [%q1+12], 8;\n"},
    {.name = "the guard and the operands are overwritten",
     .body =
         "setp.lt.u32 %p0, %l, 20;\nmov.u32 %r0, -1;\nvote.sync.any.pred %p0, %p0, %r0;\n"
         "setp.lt.u32 %p1, %l, 12;\nmov.u32 %r1, %l;\nactivemask.b32 %r2;\n"
         "@%p1 bra A;\nbra.uni B;\nA:\nactivemask.b32 %r2;\nshfl.sync.down.b32 %r1|%p1, %r1, 3, 31, %r2;\n"
         "@%p1 vote.sync.all.pred %p1, %p1, 0xfff;\nB:\n"
         "mov.u32 %r3, %l;\nshfl.sync.idx.b32 %r3, %r1, %r3, 31, %r0;\n"
         "mov.u32 %r4, 1;\nshfl.sync.bfly.b32 %r4, %r3, %r4, 31, %r0;\n"
         "vote.sync.ballot.b32 %r0, %p1, %r0;\nst.global.u32 [%out], %r3;\nst.global.u32 [%out+4], %r0;\n"
         "atom.global.add.u32 %r4, [%out], %r4;\nst.global.u32 [%out+8], %r4;\n"},
    {.name = "shuffles",
     .body =
         "mov.u32 %r0, -1;\nmov.u32 %r9, 31;\nshfl.sync.up.b32 %r1|%p0, %t, 3, 0, %r0;\nshfl.sync.down.b32 "
         "%r2, %t, 5, 0x181f, -1;\n"
         "shfl.sync.bfly.b32 %r3|%p1, %t, 7, %r9, %r0;\nrem.u32 %r4, %l, 5;\nshfl.sync.idx.b32 %r5, %t, %r4, "
         "0x1c1f, %r0;\n"
         "shfl.sync.idx.b32 _|%p2, %t, %r4, 31, %r0;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r3, %r3, %r5;\n"
         "setp.lt.u32 %p3, %l, 8;\n@%p3 bra HERE;\nbra.uni THERE;\nHERE:\nshfl.sync.down.b32 %r6, %t, 4, 31, "
         "0xff;\n"
         "st.global.u32 [%out+8], %r6;\nTHERE:\nst.global.u32 [%out], %r1;\nst.global.u32 [%out+4], %r3;\n",
     .must_have = "shfl.sync.idx.b32 %redviz_d|%p2"},
    {.name = "match, elect, redux, vote",
     .body = "and.b32 %r0, %l, 3;\nmatch.any.sync.b32 %r1, %r0, 0xffffffff;\ncvt.u64.u32 %q0, %r0;\n"
             "match.all.sync.b64 %r2|%p0, %q0, -1;\nelect.sync %r3|%p1, -1;\nelect.sync _|%p2, -1;\n"
             "redux.sync.add.u32 %r4, %l, -1;\nredux.sync.max.s32 %r5, %r4, 0xffffffff;\nvote.sync.uni.pred "
             "%p3, %p1, -1;\n"
             "vote.sync.any.pred %p4, !%p1, -1;\nst.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n@%p2 "
             "st.global.u32 [%out+16], %r5;\n"},
    {.name = "called functions",
     .module = ".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %x<3>;\n.reg .pred %p;\n.shared "
               ".b32 cell;\n"
               "ld.param.b32 %x0, [a];\nsetp.gt.u32 %p, %x0, 100;\n@%p bra OUT;\nst.shared.u32 [cell], "
               "4;\nld.shared.u32 %x1, [cell];\n"
               "add.u32 %x0, %x0, %x1;\nOUT:\nst.param.b32 [r], %x0;\nret;\n}\n"
               ".func (.reg .b32 %y) thrice(.reg .b32 %z)\n{\nmul.lo.u32 %y, %z, 3;\nret;\n}\n",
     .body =
         "{\n.param .b32 a, r;\nst.param.b32 [a], %t;\ncall (r), twice, (a);\nld.param.b32 %r0, [r];\n}\n"
         "call (%r1), thrice, (%r0);\nsetp.lt.u32 %p0, %l, 5;\n{\n.param .b32 a, r;\nst.param.b32 [a], 120;\n"
         "@%p0 call (r), twice, (a);\nld.param.b32 %r2, [r];\n}\nst.global.u32 [%out], %r1;\n"},
    {.name = "calls through pointers",
     .module = ".global .u32 counter;\n.func (.reg .b32 %y) one(.reg .b32 %x)\n{\nst.global.u32 [counter], "
               "%x;\nadd.u32 %y, %x, 1;\nret;\n}\n"
               ".func (.reg .b32 %y) two(.reg .b32 %x)\n{\n.reg .pred %p;\nsetp.gt.u32 %p, %x, 9;\n@%p "
               "add.u32 %x, %x, 2;\n"
               "@%p bra OUT;\nld.global.u32 %x, [counter];\nOUT:\nmov.u32 %y, 2;\nret;\n}\n"
               ".func (.reg .b32 %y) unused(.reg .b32 %x)\n{\nmov.u32 %y, 3;\nret;\n}\n"
               ".global .u64 functions[2] = {one, two};\n",
     .body = "PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);\nand.b32 %r0, %l, 1;\nmul.wide.u32 %q0, "
             "%r0, 8;\n"
             "mov.u64 %q1, functions;\nadd.u64 %q0, %q0, %q1;\nmov.u64 %q2, one;\nmov.u64 %q3, "
             "two;\nsetp.eq.u32 %p0, %r0, 0;\n"
             "selp.b64 %q2, %q2, %q3, %p0;\ncall (%r1), %q2, (%l), PROTO;\nst.global.u32 [%out], %r1;\n"},
    {.name = "frames of called functions",
     .module = ".func (.reg .b32 %y) deep(.reg .b32 %x)\n{\n.local .align 8 .b8 frame[16];\n.reg .pred "
               "%p;\n.reg .b32 %z;\n"
               "st.local.u32 [frame+4], %x;\nsetp.lt.u32 %p, %x, 5;\n@%p bra OUT;\nsub.u32 %z, %x, 5;\ncall "
               "(%z), deep, (%z);\n"
               "OUT:\nld.local.u32 %y, [frame+4];\nret;\n}\n",
     .body = ".local .b32 own;\nst.local.u32 [own], %t;\ncall (%r0), deep, (%l);\nld.local.u32 %r1, "
             "[own];\nst.global.u32 [%out], %r0;\n"},
    {.name = "nested scopes",
     .body = "{\n.reg .b32 %a;\n.shared .b32 inner;\nst.shared.u32 [inner], %t;\n{\n.reg .b32 %a;\nbar.sync "
             "0;\nld.shared.u32 %a, [inner];\n"
             "@%p0 bra L;\nL:\n}\nmov.u32 %a, 3;\nst.global.u32 [%out], %a;\n}\n"},
    {.name = "three dimensions",
     .body =
         "mov.u32 %r0, %tid.z;\nmov.u32 %r1, %ctaid.y;\nadd.u32 %r0, %r0, %r1;\nsetp.gt.u32 %p0, %r0, 1;\n"
         "ld.global.u32 %r2, [%out];\n@%p0 bra OUT;\nld.global.u32 %r3, [%out+4];\nOUT:\nbar.sync "
         "0;\nld.global.u32 %r3, [%out+8];\n",
     .grid = 2,
     .block = 9,
     .height = 2,
     .depth = 3},
    {.name = "brx",
     .body = "rem.u32 %r0, %l, 3;\nTABLE: .branchtargets A, B, C;\nsetp.lt.u32 %p0, %l, 30;\n"
             "@%p0 brx.idx %r0, TABLE;\nst.global.u32 [%out+4], 9;\nbra.uni C;\nA:\nst.global.u32 [%out], "
             "1;\nbra.uni C;\n"
             "B:\nst.global.u32 [%out], 2;\nC:\nst.global.u32 [%out+8], 3;\n"},
    {.name = "generic addresses",
     .module = ".shared .align 8 .b8 first[64];\n.shared .align 8 .b8 second[256];\n.const .b32 table[4] = "
               "{5, 6, 7, 8};\n",
     .body = ".local .align 8 .b8 frame[32];\nmov.u64 %q0, second;\ncvta.shared.u64 %q0, %q0;\nmad.wide.u32 "
             "%q0, %l, 8, %q0;\n"
             "st.u32 [%q0], %t;\nld.u32 %r0, [%q0];\nst.shared.u32 [first+8], 3;\nmov.u64 %q1, "
             "frame;\ncvta.local.u64 %q1, %q1;\n"
             "st.u32 [%q1+8], %t;\nst.local.u32 [frame+12], 7;\nld.local.u32 %r9, [frame+8];\n"
             "setp.lt.u32 %p0, %l, 11;\nsetp.lt.u32 %p1, %l, 22;\nselp.b64 %q2, %q0, %out, %p0;\nadd.u64 "
             "%q5, %q1, 8;\nselp.b64 %q3, %q2, %q5, %p1;\n"
             "ld.u32 %r1, [%q3];\nadd.u32 %r1, %r1, %r0;\nst.u32 [%q3], %r1;\nmov.u64 %q4, "
             "table;\ncvta.const.u64 %q4, %q4;\n"
             "ld.u32 %r2, [%q4+4];\nld.const.u32 %r3, [table+8];\nadd.u32 %r2, %r2, %r3;\natom.add.u32 %r4, "
             "[%q2], 2;\n"
             "selp.b64 %q6, %q4, %out, %p0;\nld.u32 %r5, [%q6];\nst.global.u32 [%out+4], %r2;\n"},
    {.name = "dynamic shared memory",
     .module = ".extern .shared .align 16 .b8 dynamic[];\n.shared .b32 fixed;\n",
     .body = "st.shared.u32 [fixed], 1;\nmov.u32 %r0, dynamic;\nmad.lo.u32 %r0, %l, 4, %r0;\nst.shared.u32 "
             "[%r0], %t;\n"
             "ld.shared.u32 %r1, [%r0];\nmov.u64 %q0, dynamic;\nmad.wide.u32 %q0, %l, 4, %q0;\nld.shared.u32 "
             "%r2, [%q0];\n"
             "ld.volatile.shared.u32 %r3, [dynamic+4];\nst.global.u32 [%out], %r2;\n",
     .shared_bytes = 128},
    {.name = "named barriers",
     .body =
         "setp.lt.u32 %p0, %t, 32;\n@%p0 bra PRODUCE;\nbar.sync 1, 64;\nst.global.u32 [%out], 1;\nbar.arrive "
         "2, 64;\nbra.uni END;\n"
         "PRODUCE:\nst.global.u32 [%out], 2;\nbar.arrive 1, 64;\nst.global.u32 [%out+4], 3;\nbar.sync 2, "
         "64;\n"
         "END:\nbar.sync 0;\nsetp.eq.u32 %p1, %l, 3;\nbarrier.red.popc.aligned.u32 %r0, 0, %p1;\n"
         "bar.red.or.pred %p2, 0, %p1;\nbar.red.and.pred %p3, 3, 64, !%p1;\nst.global.u32 [%out+8], %r0;\n"
         "mov.u32 %r1, 4;\nbar.sync %r1;\nst.global.u32 [%out+12], 5;\n",
     .block = 64},
    {.name = "lanes that leave early",
     .body = "setp.gt.u32 %p0, %l, 24;\n@%p0 exit;\nsetp.gt.u32 %p1, %l, 16;\n@%p1 ret;\nst.global.u32 "
             "[%out], 1;\nbar.sync 0;\n"
             "setp.gt.u32 %p2, %t, 60;\n@%p2 bra OUT;\nst.global.u32 [%out+4], 2;\nbar.sync "
             "0;\nst.global.u32 [%out+8], 2;\nOUT:\n",
     .block = 96},
    {.name = "lanes that stay apart and meet in warp operations",
     .body = "setp.lt.u32 %p0, %l, 9;\n@%p0 bra LOW;\nst.global.u32 [%out], 1;\nst.global.u32 [%out+4], "
             "2;\nadd.u32 %r0, %t, 1;\n"
             "bra.uni MEET;\nLOW:\nmov.u32 %r0, %t;\nMEET:\nshfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\n"
             "st.global.u32 [%out+8], %r1;\nsetp.lt.u32 %p1, %l, 5;\n@%p1 bra FEW;\nbar.warp.sync "
             "-1;\nbra.uni END;\nFEW:\n"
             "st.global.u32 [%out+12], 4;\nbar.warp.sync -1;\nEND:\nst.global.u32 [%out+16], 5;\n"},
    {.name = "divergent loops",
     .body = "mov.u32 %r0, 0;\nand.b32 %r1, %l, 7;\nLOOP:\nadd.u32 %r0, %r0, 1;\nsetp.eq.u32 %p0, %r1, "
             "2;\n@%p0 bra SKIP;\n"
             "st.global.u32 [%out], %r0;\nSKIP:\nsetp.le.u32 %p1, %r0, %r1;\n@%p1 bra LOOP;\nst.global.u32 "
             "[%out+4], %r0;\n",
     .grid = 3,
     .block = 64},
    {.name = "two branches out of a loop",
     .body = "mov.u32 %r0, 0;\nLOOP:\nadd.u32 %r0, %r0, 3;\nsetp.gt.u32 %p0, %r0, %l;\n@%p0 bra "
             "OUT;\nld.global.u32 %r1, [%out];\n"
             "setp.gt.u32 %p1, %r0, 20;\n@!%p1 bra LOOP;\nst.global.u32 [%out], 1;\nOUT:\nst.global.u32 "
             "[%out+4], %r0;\n"},
    {.name = "atomics",
     .module = ".global .align 8 .b8 total[64];\n.shared .align 8 .b8 sum[16];\n",
     .body =
         "atom.global.add.u32 %r0, [total], %t;\nred.global.max.s32 [total+4], %t;\natom.global.cas.b32 %r1, "
         "[total+8], 0, %t;\n"
         "st.shared.v2.u64 [sum], {0, 0};\natom.shared.exch.b64 %q0, [sum], 77;\nred.shared.add.u32 [sum+8], "
         "1;\natom.global.add.f32 %f0, [total+12], 0f3F800000;\n"
         "atom.global.add.f64 %d0, [total+16], 0d3FF0000000000000;\nred.global.add.u64 [total+24], 3;\n"
         "atom.global.add.noftz.f16x2 %r2, [total+32], %t;\natom.global.cas.b16 %h0, [total+36], %h1, %h2;\n"
         "atom.global.inc.u32 _, [total+40], 5;\n@%p0 red.global.or.b32 [total+44], 8;\n"},
    {.name = "vector atomics",
     .version = "8.1",
     .module = ".global .align 16 .b8 total[64];\n",
     .body = "cvt.rn.f32.u32 %f2, %t;\nmov.f32 %f3, 0f40000000;\n"
             "atom.global.add.v2.f32 {%f0, %f1}, [total], {%f2, %f3};\nred.global.add.v4.f32 [total+16], "
             "{%f0, %f1, %f2, %f3};\n"
             "atom.global.add.noftz.v4.f16 {%h0, %h1, %h2, %h3}, [total+32], {%h4, %h5, %h6, %h7};\n"},
    {.name = "128 bits",
     .version = "8.3",
     .module = ".global .align 16 .b8 cell[16];\n",
     .body =
         ".reg .b128 %w<3>;\nmov.b128 %w0, {%base, %out};\nst.global.b128 [%out], %w0;\nld.global.b128 %w1, "
         "[%out];\n"
         "mov.b128 {%q0, %q1}, %w1;\nst.global.u32 [%q1+32], 4;\natom.global.exch.b128 %w2, [cell], %w1;\n"},
    {.name = "addresses of all forms",
     .module = ".global .align 8 .b8 here[64];\n.visible .global .u64 pointer = generic(here);\n.shared .b32 "
               "cells[8];\n",
     .body = "st.global.u32 [here+8], 5;\nld.global.u32 %r0, [here];\nld.u32 %r1, [here+8];\nld.global.u64 "
             "%q0, [pointer];\n"
             "ld.u32 %r2, [%q0+8];\nst.shared.u32 [cells+4], %r2;\nmov.u32 %r3, cells;\nld.shared.u32 %r4, "
             "[%r3+4];\n"
             "mov.u32 %r5, cells;\nadd.u32 %r5, %r5, 16;\nst.shared.u32 [%r5+-8], 1;\nst.global.u32 "
             "[%out+8], %r4;\n"},
    {.name = "lanes that meet from several places",
     .body = "setp.lt.u32 %p0, %l, 8; setp.lt.u32 %p1, %l, 20; @%p0 bra A; @%p1 bra B;\n"
             "shfl.sync.down.b32 %r0, %t, 6, 31, -1; redux.sync.add.u32 %r1, %t, -1; bra C;\n"
             "A: shfl.sync.down.b32 %r0, %t, 6, 31, -1; redux.sync.add.u32 %r1, %t, -1; bra C;\n"
             "B: shfl.sync.down.b32 %r0, %t, 6, 31, -1; redux.sync.add.u32 %r1, %t, -1;\n"
             "C: st.global.u32 [%out], %r0; st.global.u32 [%out+4], %r1;\n"},
    {.name = "a loop that lanes leave one by one",
     .body = "and.b32 %r0, %l, 3; mov.u32 %r1, 0; mov.u32 %r2, %t;\n"
             "L: setp.ge.u32 %p0, %r1, %r0; @%p0 bra R; shfl.sync.bfly.b32 %r2, %r2, 5, 31, -1;\n"
             "vote.sync.ballot.b32 %r3, %p0, -1; add.u32 %r1, %r1, 1; bra L;\n"
             "R: setp.ge.u32 %p0, %r1, 3; @%p0 bra D; shfl.sync.bfly.b32 %r2, %r2, 5, 31, -1;\n"
             "vote.sync.ballot.b32 %r3, %p0, -1; add.u32 %r1, %r1, 1; bra R;\n"
             "D: st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r3;\n"},
    {.name = "two places that swap their lanes",
     .body = "and.b32 %r0, %l, 16; mov.u32 %r1, 0; mov.u32 %r2, %t;\n"
             "L: setp.eq.u32 %p0, %r0, 0; @%p0 bra A; redux.sync.max.u32 %r2, %r2, -1; bra B;\n"
             "A: redux.sync.max.u32 %r2, %r2, -1;\n"
             "B: add.u32 %r2, %r2, %l; xor.b32 %r0, %r0, 16; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4;\n"
             "@%p1 bra L; st.global.u32 [%out], %r2;\n"},
    {.name = "a lock",
     .module = ".global .u32 lock;\n.global .u32 count;\n",
     .body = "TRY:\natom.global.cas.b32 %r0, [lock], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra TRY;\n"
             "ld.volatile.global.u32 %r1, [count];\nadd.u32 %r1, %r1, 1;\nst.volatile.global.u32 [count], "
             "%r1;\nmembar.gl;\n"
             "atom.global.exch.b32 %r2, [lock], 0;\n",
     .block = 1,
     .grid = 5},
    {.name = "waiting for another warp",
     .module = ".shared .u32 flag;\n",
     .body = "setp.ne.u32 %p0, %t, 40;\n@%p0 bra NO;\nst.shared.u32 [flag], 0;\nNO:\nbar.sync "
             "0;\nsetp.lt.u32 %p1, %t, 32;\n@%p1 bra WAIT;\n"
             "mov.u32 %r1, 0;\nWORK:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\nsetp.lt.u32 %p3, "
             "%r1, 40;\n@%p3 bra WORK;\n"
             "setp.eq.u32 %p4, %t, 40;\n@%p4 st.volatile.shared.u32 [flag], 1;\nbra.uni END;\n"
             "WAIT:\nld.volatile.shared.u32 %r0, [flag];\nsetp.eq.u32 %p2, %r0, 0;\n@%p2 bra "
             "WAIT;\nst.global.u32 [%out], 3;\nEND:\n",
     .block = 64},
};

static void test_cases(void **state) {
    (void)state;
    uint64_t compared = 0;
    const char *only = getenv("REDVIZ_TEST_CASE");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const SmallKernel *kernel = &cases[i];
        if (only && strcmp(only, kernel->name) != 0) continue;
        Twin twin = small_kernel_run(kernel, (TwinOptions){.first = 0, .last = 7});
        assert_int_equal(twin.tally.dropped, 0);
        if (kernel->must_have && !strstr(text_string(&twin.text), kernel->must_have))
            fail_msg("%s: '%s' is not in the text", kernel->name, kernel->must_have);
        uint64_t pairs = twin_expect_same_events(&twin, kernel->name);
        if (!pairs) fail_msg("%s: nothing was recorded", kernel->name);
        compared += pairs;
        assemble(kernel, &twin.text);
        twin_done(&twin);
    }
    print_message("# summary: %d events of threads%s\n", (int)compared, has_ptxas() ? "" : "; no ptxas here");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
