/* Tensor copies in im2col mode, and what cuTensorMapEncodeIm2col refuses, as this GPU does them: prints a
 * line a case, with its map, its instruction and what was moved, so that a run on a GPU and a run on redviz
 * can be compared line by line:
 *
 *     nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90a,code=compute_90a \
 *         tests/device/im2col.cu -o im2col
 *     ./im2col >on_a_gpu; build/redviz --report -- ./im2col >on_redviz
 *
 * After a fault, the process starts itself again with the next case. tests/data/im2col_h200.txt has the lines
 * of an H200, which emulator/test_core_im2col checks.
 *
 * The tensor's memory holds 16-bit words: word i of the buffer is i + 1, the tensor begins at word 2048. A
 * load prints what shared memory then has, as runs: r+n: the n words from word r of the tensor on; .n: n
 * zeros; Nn: n times 7ff7; _n: n words untouched; xHHHH: another word. A store prints @g=s+n: the n words
 * from g on of the tensor are those from s on of shared memory. A reduction adds to zeros. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

static const int SHARED = 32768, WORDS = 65000, BASE = 2048;
static const int type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

__device__ static uint32_t window(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ static bool mb_wait(uint32_t bar) {
    for (int i = 0; i < 2000; i++) {
        uint32_t done;
        asm volatile(
            "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
            : "=r"(done)
            : "r"(bar)
            : "memory");
        if (done) return true;
    }
    return false;
}
__device__ static void mb_init(uint32_t bar) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ static void mb_expect(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

struct Place {
    int c[5];
    unsigned short off[3];
};

#define LOAD3(M, T)                                                                                          \
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes" M      \
                 " [%0], [%1, {%3,%4,%5}], [%2], {%6}" T ";" ::"r"(d),                                       \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "h"(p.off[0]), "h"(mask)            \
                 : "memory")
#define LOAD4(M, T)                                                                                          \
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes" M      \
                 " [%0], [%1, {%3,%4,%5,%6}], [%2], {%7,%8}" T ";" ::"r"(d),                                 \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "h"(p.off[0]),         \
                 "h"(p.off[1]), "h"(mask)                                                                    \
                 : "memory")
#define LOAD5(M, T)                                                                                          \
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes" M      \
                 " [%0], [%1, {%3,%4,%5,%6,%7}], [%2], {%8,%9,%10}" T ";" ::"r"(d),                          \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4]),           \
                 "h"(p.off[0]), "h"(p.off[1]), "h"(p.off[2]), "h"(mask)                                      \
                 : "memory")
#define TILE3()                                                                                              \
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "   \
                 "[%1, {%3,%4,%5}], [%2];" ::"r"(d),                                                         \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2])                                      \
                 : "memory")
#define TILE4()                                                                                              \
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "   \
                 "[%1, {%3,%4,%5,%6}], [%2];" ::"r"(d),                                                      \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3])                         \
                 : "memory")
#define TILE5()                                                                                              \
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "   \
                 "[%1, {%3,%4,%5,%6,%7}], [%2];" ::"r"(d),                                                   \
                 "l"(&m), "r"(b), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4])            \
                 : "memory")

// how: 'L' im2col, 'T' tile
__global__ void load(const __grid_constant__ CUtensorMap m, char how, int rank, Place p, uint32_t bytes,
                     int at, uint16_t *out, unsigned long long *flag) {
    extern __shared__ __align__(1024) uint16_t shared[];
    __shared__ uint64_t bar;
    const unsigned short mask = 0;
    for (int i = threadIdx.x; i < SHARED / 2; i += blockDim.x) shared[i] = 0xEEEE;
    if (threadIdx.x == 0) mb_init(window(&bar));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t d = window(shared) + at, b = window(&bar);
        mb_expect(b, bytes);
        if (how == 'L') {
            if (rank == 3) LOAD3("", "");
            if (rank == 4) LOAD4("", "");
            if (rank == 5) LOAD5("", "");
        } else {
            if (rank == 3) TILE3();
            if (rank == 4) TILE4();
            if (rank == 5) TILE5();
        }
        flag[0] = mb_wait(b);
        flag[1] = *(volatile uint64_t *)&bar;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SHARED / 2; i += blockDim.x) out[i] = shared[i];
}

// Block 0 of a cluster of 2 loads for both.
__global__ void __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ CUtensorMap m, Place p,
                                                    uint32_t bytes, uint16_t *out, unsigned long long *flag) {
    extern __shared__ __align__(1024) uint16_t shared[];
    __shared__ uint64_t bar;
    const unsigned short mask = 3;
    for (int i = threadIdx.x; i < SHARED / 4; i += blockDim.x) shared[i] = 0xEEEE;
    if (threadIdx.x == 0) {
        mb_init(window(&bar));
        mb_expect(window(&bar), bytes);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    uint32_t d = window(shared), b = window(&bar);
    if (threadIdx.x == 0 && blockIdx.x == 0) LOAD4(".multicast::cluster", ", %9");
    if (threadIdx.x == 0) flag[blockIdx.x] = mb_wait(b);
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    for (int i = threadIdx.x; i < SHARED / 4; i += blockDim.x) out[blockIdx.x * (SHARED / 4) + i] = shared[i];
}

#define OUT3(I)                                                                                              \
    asm volatile(I ".im2col_no_offs.bulk_group [%0, {%2,%3,%4}], [%1];" ::"l"(&m), "r"(d), "r"(p.c[0]),      \
                 "r"(p.c[1]), "r"(p.c[2])                                                                    \
                 : "memory")
#define OUT4(I)                                                                                              \
    asm volatile(I ".im2col_no_offs.bulk_group [%0, {%2,%3,%4,%5}], [%1];" ::"l"(&m), "r"(d), "r"(p.c[0]),   \
                 "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3])                                                       \
                 : "memory")
#define OUT5(I)                                                                                              \
    asm volatile(I ".im2col_no_offs.bulk_group [%0, {%2,%3,%4,%5,%6}], [%1];" ::"l"(&m), "r"(d),             \
                 "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4])                             \
                 : "memory")
#define COPY(R)   "cp.async.bulk.tensor." R ".global.shared::cta"
#define REDUCE(R) "cp.reduce.async.bulk.tensor." R ".global.shared::cta.add"

// how: 'S' store, 'R' reduce by add
__global__ void store(const __grid_constant__ CUtensorMap m, char how, int rank, Place p, int at) {
    extern __shared__ __align__(1024) uint16_t shared[];
    for (int i = threadIdx.x; i < SHARED / 2; i += blockDim.x) shared[i] = (uint16_t)(i + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) return;
    uint32_t d = window(shared) + at;
    if (how == 'S') {
        if (rank == 3) OUT3(COPY("3d"));
        if (rank == 4) OUT4(COPY("4d"));
        if (rank == 5) OUT5(COPY("5d"));
    } else {
        if (rank == 3) OUT3(REDUCE("3d"));
        if (rank == 4) OUT4(REDUCE("4d"));
        if (rank == 5) OUT5(REDUCE("5d"));
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void prefetch(const __grid_constant__ CUtensorMap m, int rank, Place p) {
    if (rank == 3)
        asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1,%2,%3}], {%4};" ::"l"(&m),
                     "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "h"(p.off[0])
                     : "memory");
    if (rank == 4)
        asm volatile(
            "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1,%2,%3,%4}], {%5,%6};" ::"l"(&m),
            "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "h"(p.off[0]), "h"(p.off[1])
            : "memory");
    if (rank == 5)
        asm volatile(
            "cp.async.bulk.prefetch.tensor.5d.L2.global.im2col [%0, {%1,%2,%3,%4,%5}], {%6,%7,%8};" ::"l"(&m),
            "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4]), "h"(p.off[0]), "h"(p.off[1]),
            "h"(p.off[2])
            : "memory");
}

typedef CUresult (*Im2col)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                           const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t,
                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*Tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                          const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                          CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*Move)(CUtensorMap *, void *);
static Im2col encode_im2col;
static Tiled encode_tiled;
static Move move_map;

// how: L load, S store, R reduce, P prefetch, M multicast, E encode only, X tile load of an im2col map,
// Y im2col load of a tiled map, V load after cuTensorMapReplaceAddress
struct Case {
    std::string name;
    char how = 'L';
    int dt = 1, rank = 4;
    cuuint64_t gd[5] = {8, 6, 5, 3, 1}, gs[4] = {0, 0, 0, 0};
    int lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
    unsigned channels = 8, pixels = 16, box[5] = {8, 2, 2, 2, 1}, es[5] = {1, 1, 1, 1, 1};
    int il = 0, sw = 0, fill = 0, at = 0, address = 0, copy_rank = 0;
    Place p = {{0, 0, 0, 0, 0}, {0, 0, 0}};
};
static std::vector<Case> cases;
static void add(const char *name, Case c) {
    c.name = name;
    if (!c.gs[0])
        for (int i = 0; i + 1 < c.rank && i < 4; i++)
            c.gs[i] = i ? c.gs[i - 1] * c.gd[i] : (c.gd[0] * type_bytes[c.dt % 13] + 15) / 16 * 16;
    cases.push_back(c);
}
template <class F> static void add(const char *name, Case c, F change) {
    change(c);
    add(name, c);
}
#define ADD(name, base, ...)                                                                                 \
    add(name, base, [](Case &k) {                                                                            \
        (void)k;                                                                                             \
        __VA_ARGS__;                                                                                         \
    })
#define SET(array, ...)                                                                                      \
    do {                                                                                                     \
        auto v = {__VA_ARGS__};                                                                              \
        int i_ = 0;                                                                                          \
        for (auto x : v) array[i_++] = x;                                                                    \
    } while (0)

static void make_cases() {
    // Images of C=8, W=6, H=5, N=3 (one pixel: 16 bytes); offsets and corners: W first.
    Case b4;
    Case pad = b4;
    SET(pad.lo, -1, -1);
    SET(pad.hi, -1, -1); // 3x3 filter, padding 1
    SET(pad.p.c, 0, -1, -1, 0);
    Case b3;
    b3.rank = 3;
    SET(b3.gd, 8, 7, 3);
    Case b5;
    b5.rank = 5;
    SET(b5.gd, 8, 4, 3, 3, 2);
    b5.pixels = 40;
    Case pad5 = b5;
    SET(pad5.lo, -1, -1, -1);
    SET(pad5.hi, -1, -1, -1);
    SET(pad5.p.c, 0, -1, -1, -1, 0);

    ADD("3d plain", b3);
    ADD("3d to the end and beyond", b3, k.pixels = 32);
    ADD("3d from w 3", b3, k.p.c[1] = 3);
    ADD("3d from w 5 n 1", b3, SET(k.p.c, 0, 5, 1));
    ADD("3d lower -1 upper -1 from -1", b3, k.lo[0] = k.hi[0] = -1; k.p.c[1] = -1);
    ADD("3d lower -1 upper -1 offset 1", b3, k.lo[0] = k.hi[0] = -1; k.p.c[1] = -1; k.p.off[0] = 1);
    ADD("3d lower -1 upper -1 offset 2", b3, k.lo[0] = k.hi[0] = -1; k.p.c[1] = -1; k.p.off[0] = 2);
    ADD("3d lower -2 upper 1", b3, k.lo[0] = -2; k.hi[0] = 1; k.p.c[1] = -2; k.pixels = 24);
    ADD("3d lower 2 upper -2", b3, k.lo[0] = 2; k.hi[0] = -2; k.p.c[1] = 2);
    ADD("3d lower 1 upper 3", b3, k.lo[0] = 1; k.hi[0] = 3; k.p.c[1] = 1; k.pixels = 24);
    ADD("3d stride 2", b3, k.es[1] = 2);
    ADD("3d stride 2 from 1", b3, k.es[1] = 2; k.p.c[1] = 1);
    ADD("3d stride 3 lower -1 upper -1", b3, k.es[1] = 3; k.lo[0] = k.hi[0] = -1; k.p.c[1] = -1);
    ADD("3d stride n 2", b3, k.es[2] = 2);
    ADD("3d stride c 2", b3, k.es[0] = 2);
    ADD("3d offset 65535", b3, k.p.off[0] = 65535);
    ADD("3d offset 4", b3, k.p.off[0] = 4);
    ADD("3d negative n", b3, k.p.c[2] = -1);
    ADD("3d n beyond", b3, k.p.c[2] = 3);

    ADD("4d plain", b4);
    ADD("4d 40 pixels", b4, k.pixels = 40);
    ADD("4d 100 pixels, past the last image", b4, k.pixels = 100);
    ADD("4d from w 4 h 3", b4, SET(k.p.c, 0, 4, 3, 0));
    ADD("4d from w 5 h 4 n 1", b4, SET(k.p.c, 0, 5, 4, 1));
    ADD("4d from n 2", b4, k.p.c[3] = 2; k.pixels = 32);
    ADD("4d n 3, outside", b4, k.p.c[3] = 3);
    ADD("4d n -1", b4, k.p.c[3] = -1; k.pixels = 40);
    ADD("4d 1 pixel", b4, k.pixels = 1; SET(k.p.c, 0, 3, 2, 1));
    ADD("4d 3 pixels", b4, k.pixels = 3; SET(k.p.c, 0, 5, 2, 1));
    ADD("4d padding 1, offset 0 0", pad, k.pixels = 36);
    ADD("4d padding 1, offset 1 0", pad, k.pixels = 36; SET(k.p.off, 1, 0));
    ADD("4d padding 1, offset 0 1", pad, k.pixels = 36; SET(k.p.off, 0, 1));
    ADD("4d padding 1, offset 2 2", pad, k.pixels = 36; SET(k.p.off, 2, 2));
    ADD("4d padding 1, offset 1 2 from 2 1 n 1", pad, SET(k.p.off, 1, 2); SET(k.p.c, 0, 2, 1, 1);
        k.pixels = 64);
    ADD("4d padding 1, from the end", pad, SET(k.p.c, 0, 4, 3, 2); SET(k.p.off, 1, 1));
    ADD("4d lower 0 1 upper 0 0", b4, SET(k.lo, 0, 1); SET(k.p.c, 0, 0, 1, 0); k.pixels = 48);
    ADD("4d lower 1 0 upper 0 0", b4, SET(k.lo, 1, 0); SET(k.p.c, 0, 1, 0, 0); k.pixels = 48);
    ADD("4d lower 0 0 upper 0 -2", b4, SET(k.hi, 0, -2); k.pixels = 48);
    ADD("4d lower 0 0 upper -2 0", b4, SET(k.hi, -2, 0); k.pixels = 48);
    ADD("4d lower -2 -1 upper -1 -2", b4, SET(k.lo, -2, -1); SET(k.hi, -1, -2); SET(k.p.c, 0, -2, -1, 0);
        k.pixels = 64);
    ADD("4d lower 0 0 upper -2 -2, 3x3 filter offset 2 1", b4, SET(k.hi, -2, -2); SET(k.p.off, 2, 1);
        k.pixels = 30);
    ADD("4d dilation 2: lower -2, offset 4 2", b4, SET(k.lo, -2, -2); SET(k.hi, -2, -2);
        SET(k.p.c, 0, -2, -2, 0); SET(k.p.off, 4, 2); k.pixels = 40);
    ADD("4d one column box", b4, SET(k.lo, 2, 0); SET(k.hi, -3, 0); SET(k.p.c, 0, 2, 0, 0));
    ADD("4d strides 2 2", b4, SET(k.es, 1, 2, 2, 1); k.pixels = 40);
    ADD("4d strides 2 1", b4, SET(k.es, 1, 2, 1, 1); k.pixels = 40);
    ADD("4d strides 1 2", b4, SET(k.es, 1, 1, 2, 1); k.pixels = 40);
    ADD("4d strides 4 3", b4, SET(k.es, 1, 4, 3, 1));
    ADD("4d strides 2 2 padding 1 offset 1 2", pad, SET(k.es, 1, 2, 2, 1); SET(k.p.off, 1, 2); k.pixels = 30);
    ADD("4d strides 2 2 from 1 1", b4, SET(k.es, 1, 2, 2, 1); SET(k.p.c, 0, 1, 1, 0); k.pixels = 30);
    ADD("4d stride n 2", b4, SET(k.es, 1, 1, 1, 2); k.pixels = 64);
    ADD("4d stride 8", b4, SET(k.es, 1, 8, 8, 1));
    ADD("4d offset 255 0", b4, SET(k.p.off, 255, 0));
    ADD("4d offset 256 1", b4, SET(k.p.off, 256, 1));
    ADD("4d offset 3 0", b4, SET(k.p.off, 3, 0));
    ADD("4d offset 65535 65535", b4, SET(k.p.off, 65535, 65535));
    ADD("4d offset 0 3 over the bottom", b4, SET(k.p.off, 0, 3); k.pixels = 32);

    ADD("5d plain", b5);
    ADD("5d past all", b5, k.pixels = 100);
    ADD("5d from 3 2 2 0", b5, SET(k.p.c, 0, 3, 2, 2, 0));
    ADD("5d padding 1 offset 0 0 0", pad5);
    ADD("5d padding 1 offset 1 0 0", pad5, SET(k.p.off, 1, 0, 0));
    ADD("5d padding 1 offset 0 1 0", pad5, SET(k.p.off, 0, 1, 0));
    ADD("5d padding 1 offset 0 0 1", pad5, SET(k.p.off, 0, 0, 1));
    ADD("5d padding 1 offset 2 1 2", pad5, SET(k.p.off, 2, 1, 2));
    ADD("5d lower 0 0 1", b5, SET(k.lo, 0, 0, 1); SET(k.p.c, 0, 0, 0, 1, 0));
    ADD("5d upper -1 -2 0", b5, SET(k.hi, -1, -2, 0));
    ADD("5d strides 2 1 2", b5, SET(k.es, 1, 2, 1, 2, 1));
    ADD("5d offset 31 31 31", b5, SET(k.p.off, 31, 31, 31));
    ADD("5d offset 32 0 0", b5, SET(k.p.off, 32, 0, 0));

    // Channels.
    Case wide = pad;
    wide.gd[0] = 24;
    SET(wide.p.off, 1, 1);
    wide.pixels = 20;
    ADD("channels 8 of 24 from 0", wide);
    ADD("channels 16 of 24 from 8", wide, k.channels = 16; k.p.c[0] = 8);
    ADD("channels 16 of 24 from 16, 8 outside", wide, k.channels = 16; k.p.c[0] = 16);
    ADD("channels 16 of 24 from -8", wide, k.channels = 16; k.p.c[0] = -8);
    ADD("channels 24 of 24", wide, k.channels = 24);
    ADD("channels 8 of 5", wide, k.gd[0] = 5; k.channels = 8);
    ADD("channels 16 of 11, padded strides", wide, k.gd[0] = 11; k.channels = 16; SET(k.gs, 48, 304, 1600));
    for (int sw = 1; sw <= 3; sw++)
        for (int chunks = 1; chunks <= 1 << sw; chunks *= 2) {
            Case k = wide;
            k.gd[0] = 64, k.sw = sw, k.channels = 8 * chunks;
            char name[60];
            snprintf(name, sizeof name, "swizzle %d channels %d", 16 << sw, 8 * chunks);
            add(name, k);
        }
    ADD("swizzle 128 channels 48 at 256", wide, k.gd[0] = 64; k.sw = 3; k.channels = 48; k.at = 256);
    ADD("swizzle 128 channels 24 at 128", wide, k.gd[0] = 64; k.sw = 3; k.channels = 24; k.at = 128);
    // Types and fills.
    ADD("u8", pad, k.dt = 0; k.gd[0] = 16; k.channels = 16; SET(k.p.off, 1, 0));
    ADD("u32", pad, k.dt = 2; k.gd[0] = 4; k.channels = 4; SET(k.p.off, 0, 1));
    ADD("u64", pad, k.dt = 4; k.gd[0] = 4; k.channels = 2; k.p.c[0] = 2);
    ADD("f16 NaN fill", pad, k.dt = 6; k.fill = 1);
    ADD("bf16 NaN fill, channels 8 of 5", pad, k.dt = 9; k.fill = 1; k.gd[0] = 5);
    ADD("f32 NaN fill", pad, k.dt = 7; k.fill = 1; k.gd[0] = 4; k.channels = 4);
    ADD("f64 NaN fill", pad, k.dt = 8; k.fill = 1; k.gd[0] = 2; k.channels = 2);
    ADD("tf32 NaN fill", pad, k.dt = 11; k.fill = 1; k.gd[0] = 4; k.channels = 4);
    ADD("f32 ftz", pad, k.dt = 10; k.gd[0] = 4; k.channels = 4);
    ADD("1000 pixels of 8 channels", pad, k.pixels = 1000; SET(k.gd, 8, 20, 20, 4));
    ADD("256 channels, 16 pixels", pad, k.channels = 256; k.pixels = 16; SET(k.gd, 256, 4, 4, 3));

    // Stores and reductions.
    Case s4 = b4;
    s4.how = 'S';
    ADD("store 3d", b3, k.how = 'S');
    ADD("store 3d upper -1 to the end", b3, k.how = 'S'; k.hi[0] = -1; k.pixels = 32);
    ADD("store 4d", s4);
    ADD("store 4d from 4 3 n 1, 40 pixels", s4, SET(k.p.c, 0, 4, 3, 1); k.pixels = 40);
    ADD("store 4d lower 1 1 upper -1 -1", s4, SET(k.lo, 1, 1); SET(k.hi, -1, -1); SET(k.p.c, 0, 1, 1, 0);
        k.pixels = 40);
    ADD("store 4d upper 2 1", s4, SET(k.hi, 2, 1); k.pixels = 60);
    ADD("store 4d strides 2 2", s4, SET(k.es, 1, 2, 2, 1); k.pixels = 30);
    ADD("store 4d channels 8 of 5", s4, k.gd[0] = 5);
    ADD("store 4d channels 16 of 11, padded strides", s4, k.gd[0] = 11; k.channels = 16;
        SET(k.gs, 48, 304, 1600));
    ADD("store 4d swizzle 64", s4, k.gd[0] = 32; k.channels = 32; k.sw = 2; SET(k.p.c, 0, 3, 2, 1));
    ADD("store 4d swizzle 128, channels 24", s4, k.gd[0] = 32; k.channels = 24; k.sw = 3; k.p.c[0] = 8);
    ADD("store 5d", b5, k.how = 'S');
    ADD("store 5d upper -1 -1 -1", b5, k.how = 'S'; SET(k.hi, -1, -1, -1));
    ADD("reduce 3d u32", b3, k.how = 'R'; k.dt = 2; k.gd[0] = 4; k.channels = 4);
    ADD("reduce 4d u32 from 4 3", s4, k.how = 'R'; k.dt = 2; k.gd[0] = 4; k.channels = 4;
        SET(k.p.c, 0, 4, 3, 0));
    ADD("reduce 4d u32 upper 1 1", s4, k.how = 'R'; k.dt = 2; k.gd[0] = 4; k.channels = 4; SET(k.hi, 1, 1);
        k.pixels = 50);
    ADD("reduce 4d u32 channels 4 of 3", s4, k.how = 'R'; k.dt = 2; k.gd[0] = 3; k.channels = 4);
    ADD("reduce 5d u32", b5, k.how = 'R'; k.dt = 2; k.gd[0] = 4; k.channels = 4);
    ADD("prefetch 3d", b3, k.how = 'P');
    ADD("prefetch 4d", pad, k.how = 'P');
    ADD("prefetch 5d", pad5, k.how = 'P');
    ADD("multicast 4d", pad, k.how = 'M'; SET(k.p.off, 1, 1); k.pixels = 32);
    ADD("moved map", pad, k.how = 'V'; SET(k.p.off, 1, 1));

    // What the driver refuses.
    Case e = b4;
    e.how = 'E';
    Case e3 = b3;
    e3.how = 'E';
    Case e5 = b5;
    e5.how = 'E';
    ADD("encode good", e);
    ADD("encode rank 2", e, k.rank = 2);
    ADD("encode rank 6", e, k.rank = 6);
    ADD("encode address 8", e, k.address = 8);
    ADD("encode address 16", e, k.address = 16);
    ADD("encode stride 24", e, SET(k.gs, 24, 144, 720));
    ADD("encode stride 0", e, SET(k.gs, 16, 0, 0));
    ADD("encode size 0", e, SET(k.gs, 16, 96, 480); k.gd[1] = 0);
    ADD("encode channels 0", e, k.channels = 0);
    ADD("encode channels 4 (8 bytes)", e, k.channels = 4);
    ADD("encode channels 12 (24 bytes)", e, k.channels = 12);
    ADD("encode channels 256", e, k.channels = 256);
    ADD("encode channels 257", e, k.channels = 257);
    ADD("encode channels 264", e, k.channels = 264);
    ADD("encode pixels 0", e, k.pixels = 0);
    ADD("encode pixels 1024", e, k.pixels = 1024);
    ADD("encode pixels 1025", e, k.pixels = 1025);
    ADD("encode channels 256 pixels 512 (256 KB)", e, k.channels = 256; k.pixels = 512);
    ADD("encode channels 128 pixels 1024 (256 KB)", e, k.channels = 128; k.pixels = 1024);
    ADD("encode channels 224 pixels 512 (224 KB)", e, k.channels = 224; k.pixels = 512);
    ADD("encode channels 232 pixels 512 (232 KB)", e, k.channels = 232; k.pixels = 512);
    ADD("encode lower -128", e, k.lo[0] = -128; k.hi[0] = 0);
    ADD("encode lower -129", e, k.lo[0] = -129);
    ADD("encode upper 127", e, k.hi[0] = 127);
    ADD("encode upper 128", e, k.hi[0] = 128);
    ADD("encode 4d third lower 1000", e, k.lo[2] = 1000);
    ADD("encode empty box W: lower 6 upper 0", e, k.lo[0] = 6);
    ADD("encode empty box W: upper -6", e, k.hi[0] = -6);
    ADD("encode box of one W: upper -5", e, k.hi[0] = -5);
    ADD("encode empty box H: upper -5", e, k.hi[1] = -5);
    ADD("encode box of one H: upper -4", e, k.hi[1] = -4);
    ADD("encode box below zero: upper -7", e, k.hi[0] = -7);
    ADD("encode lower 6 upper 6", e, k.lo[0] = 6; k.hi[0] = 6);
    ADD("encode 3d lower -32768", e3, k.lo[0] = -32768);
    ADD("encode 3d lower -32769", e3, k.lo[0] = -32769);
    ADD("encode 3d upper 32767", e3, k.hi[0] = 32767);
    ADD("encode 3d upper 32768", e3, k.hi[0] = 32768);
    ADD("encode 5d lower -16", e5, k.lo[2] = -16);
    ADD("encode 5d lower -17", e5, k.lo[2] = -17);
    ADD("encode 5d upper 15", e5, k.hi[0] = 15);
    ADD("encode 5d upper 16", e5, k.hi[0] = 16);
    ADD("encode step 0", e, k.es[1] = 0);
    ADD("encode step c 0", e, k.es[0] = 0);
    ADD("encode step c 9", e, k.es[0] = 9);
    ADD("encode step 8", e, k.es[1] = 8);
    ADD("encode step 9", e, k.es[1] = 9);
    ADD("encode step n 9", e, k.es[3] = 9);
    ADD("encode swizzle 32 channels 16", e, k.sw = 1; k.channels = 16);
    ADD("encode swizzle 32 channels 24", e, k.sw = 1; k.channels = 24);
    ADD("encode swizzle 128 channels 64", e, k.sw = 3; k.channels = 64);
    ADD("encode swizzle 128 channels 72", e, k.sw = 3; k.channels = 72);
    ADD("encode swizzle 4", e, k.sw = 4);
    ADD("encode swizzle 7", e, k.sw = 7);
    ADD("encode type 13", e, k.dt = 13);
    ADD("encode integer NaN fill", e, k.fill = 1);
    ADD("encode fill 2", e, k.dt = 6; k.fill = 2);
    ADD("encode interleave 16B", e, k.il = 1);
    ADD("encode interleave 16B channels 4", e, k.il = 1; k.channels = 4);
    ADD("encode interleave 32B swizzle 0", e, k.il = 2; SET(k.gs, 32, 192, 960));
    ADD("encode interleave 32B swizzle 32", e, k.il = 2; k.sw = 1; SET(k.gs, 32, 192, 960));
    ADD("encode interleave 3", e, k.il = 3);

    // Base coordinates outside of the bounding box.
    ADD("base w -1 of lower 0", b4, k.p.c[1] = -1; k.pixels = 40);
    ADD("base w 6 of upper 0", b4, k.p.c[1] = 6; k.pixels = 40);
    ADD("base w 8 of upper 0", b4, k.p.c[1] = 8; k.pixels = 40);
    ADD("base h -1 of lower 0", b4, k.p.c[2] = -1; k.pixels = 40);
    ADD("base h 5 of upper 0", b4, k.p.c[2] = 5; k.pixels = 40);
    ADD("base h 7 of upper 0", b4, k.p.c[2] = 7; k.pixels = 40);
    ADD("base w 4 of upper -2", b4, SET(k.hi, -2, -2); k.p.c[1] = 4; k.pixels = 30);
    ADD("base w 0 of lower 2", b4, SET(k.lo, 2, 2); k.pixels = 30);
    ADD("base w -3 of lower -1", pad, k.p.c[1] = -3; k.pixels = 40);
    ADD("base w 5 of stride 2", b4, SET(k.es, 1, 2, 2, 1); k.p.c[1] = 5; k.pixels = 30);
    ADD("base w 7 of stride 2", b4, SET(k.es, 1, 2, 2, 1); k.p.c[1] = 7; k.pixels = 30);

    // What may fault.
    ADD("fault load channel 4 (8 bytes)", b4, k.p.c[0] = 4);
    ADD("fault load at 64", b4, k.at = 64);
    ADD("fault load rank 3 of a map of rank 4", b4, k.copy_rank = 3);
    ADD("fault tile load of an im2col map", b4, k.how = 'X');
    ADD("fault im2col load of a tiled map", b4, k.how = 'Y');
    ADD("fault store lower -1 from -1", pad, k.how = 'S');
    ADD("fault store w -1 of lower 0", s4, k.p.c[1] = -1);
    ADD("fault store lower -1, from 0", pad, k.how = 'S'; SET(k.p.c, 0, 0, 0, 0); k.pixels = 40);
    ADD("fault store channel -8", s4, k.p.c[0] = -8);
    ADD("fault store n -1", s4, k.p.c[3] = -1);
    ADD("fault store channel 4 (8 bytes)", s4, k.p.c[0] = 4);
    ADD("fault reduce lower -1 from -1", pad, k.how = 'R'; k.dt = 2; k.gd[0] = 4; k.channels = 4);
    ADD("fault store w 8, beyond", s4, k.p.c[1] = 8);
    ADD("end", b4);
}

static uint16_t *memory, *result;
static unsigned long long *flags;

static void print_runs(const std::vector<uint16_t> &s) {
    size_t last = s.size();
    while (last && s[last - 1] == 0xEEEE) last--;
    for (size_t i = 0, n; i < last; i += n) {
        n = 1;
        if (s[i] == 0 || s[i] == 0xEEEE || s[i] == 0x7ff7) {
            while (i + n < last && s[i + n] == s[i]) n++;
            printf(" %c%zu", s[i] == 0 ? '.' : s[i] == 0xEEEE ? '_' : 'N', n);
        } else if (s[i] <= WORDS) {
            while (i + n < last && s[i + n] == s[i] + n) n++;
            printf(" %d+%zu", s[i] - 1 - BASE, n);
        } else
            printf(" x%04x", s[i]);
    }
}
static void print_stored(const std::vector<uint16_t> &g, uint16_t untouched) {
    for (size_t i = 0, n; i < g.size(); i += n) {
        n = 1;
        if (g[i] == untouched) continue;
        while (i + n < g.size() && g[i + n] == g[i] + n) n++;
        printf(" @%d=%d+%zu", (int)i - BASE, g[i] - 1, n);
    }
}

static CUresult encode(const Case &k, CUtensorMap *map, void *address) {
    if (k.how == 'T' || k.how == 'Y')
        return encode_tiled(map, (CUtensorMapDataType)k.dt, k.rank, address, k.gd, k.gs, k.box, k.es,
                            (CUtensorMapInterleave)k.il, (CUtensorMapSwizzle)k.sw,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)k.fill);
    return encode_im2col(map, (CUtensorMapDataType)k.dt, k.rank, address, k.gd, k.gs, k.lo, k.hi, k.channels,
                         k.pixels, k.es, (CUtensorMapInterleave)k.il, (CUtensorMapSwizzle)k.sw,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)k.fill);
}

template <class T> static void print_list(const T *list, int count) {
    for (int i = 0; i < count; i++) printf("%lld ", (long long)list[i]);
    printf("| ");
}

static void print_case(const Case &k) {
    const int modes[] = {k.dt,   k.rank,    k.il, k.sw,
                         k.fill, k.address, k.at, k.copy_rank ? k.copy_rank : k.rank};
    const unsigned pixels[] = {k.channels, k.pixels};
    printf("%s | %c | ", k.name.c_str(), k.how);
    print_list(modes, 8), print_list(k.gd, 5), print_list(k.gs, 4), print_list(k.lo, 3), print_list(k.hi, 3);
    print_list(pixels, 2), print_list(k.es, 5), print_list(k.p.c, 5), print_list(k.p.off, 3);
}

#define CHECK(x)                                                                                             \
    do {                                                                                                     \
        cudaError_t e_ = (x);                                                                                \
        if (e_ != cudaSuccess) return e_;                                                                    \
    } while (0)

static cudaError_t run(const Case &k) {
    bool out = k.how == 'S' || k.how == 'R';
    uint16_t untouched = k.how == 'R' ? 0 : 0xEEEE;
    std::vector<uint16_t> words(WORDS), shared(SHARED / 2);
    for (int i = 0; i < WORDS; i++) words[i] = out ? untouched : (uint16_t)(i + 1);
    CHECK(cudaMemcpy(memory, words.data(), WORDS * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result, 0x11, SHARED));
    CHECK(cudaMemset(flags, 0, 64));
    alignas(64) CUtensorMap map;
    memset(&map, 0, sizeof map);
    CUresult code = encode(k, &map, (char *)memory + (k.how == 'V' ? 0 : BASE * 2) + k.address);
    if (k.how == 'V' && code == CUDA_SUCCESS) code = move_map(&map, memory + BASE);
    print_case(k);
    if (code != CUDA_SUCCESS || k.how == 'E')
        return printf(code == CUDA_SUCCESS ? "accepted" : "refused"), cudaSuccess;
    uint32_t bytes = type_bytes[k.dt];
    if (k.how == 'T' || k.how == 'X' || k.how == 'Y') {
        for (int i = 0; i < k.rank; i++) bytes *= (k.box[i] + k.es[i] - 1) / k.es[i];
    } else
        bytes *= k.channels * k.pixels;
    if (k.how == 'P')
        prefetch<<<1, 1>>>(map, k.rank, k.p);
    else if (k.how == 'M')
        multicast<<<2, 64, SHARED / 2>>>(map, k.p, bytes, result, flags);
    else if (out)
        store<<<1, 64, SHARED>>>(map, k.how, k.rank, k.p, k.at);
    else
        load<<<1, 64, SHARED>>>(map, k.how == 'T' || k.how == 'X' ? 'T' : 'L',
                                k.copy_rank ? k.copy_rank : k.rank, k.p, bytes, k.at, result, flags);
    CHECK(cudaDeviceSynchronize());
    unsigned long long f[2];
    CHECK(cudaMemcpy(f, flags, sizeof f, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(words.data(), memory, WORDS * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(shared.data(), result, SHARED, cudaMemcpyDeviceToHost));
    if (k.how == 'P') return printf("prefetched"), cudaSuccess;
    if (out) return print_stored(words, untouched), cudaSuccess;
    printf(f[0] && (k.how != 'M' || f[1]) ? "%u bytes:" : "not %u bytes:", bytes);
    print_runs(shared);
    return cudaSuccess;
}

template <class F> static void entry(const char *name, F *to) {
    void *f = nullptr;
    cudaDriverEntryPointQueryResult q;
    cudaError_t e = cudaGetDriverEntryPoint(name, &f, cudaEnableDefault, &q);
    if (e != cudaSuccess || !f) {
        printf("no %s: %s\n", name, cudaGetErrorName(e));
        exit(1);
    }
    *to = (F)f;
}

int main(int argc, char **argv) {
    size_t first = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    make_cases();
    entry("cuTensorMapEncodeIm2col", &encode_im2col);
    entry("cuTensorMapEncodeTiled", &encode_tiled);
    entry("cuTensorMapReplaceAddress", &move_map);
    if (first == 0) printf("%zu cases\n", cases.size());
    if (cudaMalloc(&memory, WORDS * 2) || cudaMalloc(&result, SHARED) || cudaMalloc(&flags, 64) ||
        cudaFuncSetAttribute(load, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED) ||
        cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED)) {
        printf("no device: %s\n", cudaGetErrorName(cudaGetLastError()));
        return 1;
    }
    for (size_t i = first; i < cases.size(); i++) {
        cudaError_t e = run(cases[i]);
        if (e == cudaSuccess) {
            printf("\n");
            continue;
        }
        printf("%s\n", cudaGetErrorName(e));
        fflush(stdout);
        std::string next = std::to_string(i + 1);
        if (i + 1 < cases.size()) execl("/proc/self/exe", argv[0], next.c_str(), (char *)nullptr);
        return 1;
    }
    fflush(stdout);
    return 0;
}
