/* The video instructions of PTX: prints the result of every form on the same values, one line each, so that a
 * run on a GPU and a run on redviz can be compared line by line:
 *
 *     nvcc -arch=sm_90 -cudart shared tests/device/video_rules.cu -o video_rules
 *     ./video_rules >on_a_gpu; build/redviz --report -- ./video_rules >on_redviz
 *
 * src/emulator/lanes/lanes_video.c says where ptxas is known to write something else than the manual says. */
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum { COUNT = 32 };

enum { A, B, C };

struct Inputs {
    uint32_t of[3][COUNT];
};

#define RULE(name, text)                                                                                     \
    __global__ void name(const Inputs *in, uint32_t *out) {                                                  \
        uint32_t d = 0, a = in->of[A][threadIdx.x], b = in->of[B][threadIdx.x], c = in->of[C][threadIdx.x];  \
        asm(text : "=r"(d) : "r"(a), "r"(b), "r"(c));                                                        \
        out[threadIdx.x] = d;                                                                                \
    }

/* X(name, text): the forms. */
#define TYPES(X, op, end, operands)                                                                          \
    X(op##_uuu##end, #op ".u32.u32.u32" TAIL_##end " " operands)                                             \
    X(op##_suu##end, #op ".s32.u32.u32" TAIL_##end " " operands)                                             \
    X(op##_sss##end, #op ".s32.s32.s32" TAIL_##end " " operands)                                             \
    X(op##_usu##end, #op ".u32.s32.u32" TAIL_##end " " operands)
#define TAIL_
#define TAIL__sat     ".sat"
#define TAIL__add     ".add"
#define TAIL__min     ".min"
#define TAIL__max     ".max"
#define TAIL__sat_min ".sat.min"
#define TAIL__part
#define TAIL__mask
#define TAIL__po       ".po"
#define TAIL__shr7     ".shr7"
#define TAIL__shr15sat ".sat.shr15"
#define SCALAR(X, op)                                                                                        \
    TYPES(X, op, , "%0, %1, %2;")                                                                            \
    TYPES(X, op, _sat, "%0, %1, %2.h1;")                                                                     \
    TYPES(X, op, _add, "%0, %1.b3, %2, %3;")                                                                 \
    TYPES(X, op, _min, "%0, %1, %2, %3;")                                                                    \
    TYPES(X, op, _max, "%0, %1.h0, %2.b1, %3;")                                                              \
    TYPES(X, op, _sat_min, "%0, %1, %2, %3;")                                                                \
    TYPES(X, op, _part, "%0.b2, %1, %2, %3;")                                                                \
    X(op##_part_sat, #op ".s32.s32.s32.sat %0.h1, %1, %2, %3;")
#define SHIFT(X, op)                                                                                         \
    X(op##_uu, #op ".u32.u32.u32.clamp %0, %1, %2;")                                                         \
    X(op##_us, #op ".u32.s32.u32.wrap %0, %1, %2;")                                                          \
    X(op##_ss_sat, #op ".s32.s32.u32.sat.clamp %0, %1, %2.b0;")                                              \
    X(op##_su_add, #op ".s32.u32.u32.clamp.add %0, %1, %2, %3;")                                             \
    X(op##_uu_min, #op ".u32.u32.u32.wrap.min %0, %1.h1, %2, %3;")                                           \
    X(op##_part, #op ".u32.u32.u32.sat.clamp %0.b1, %1, %2, %3;")
#define SIMD(X, op, swapped, mask)                                                                           \
    TYPES(X, op, , "%0, %1, %2, %3;")                                                                        \
    TYPES(X, op, _sat, "%0, %1, %2, %3;")                                                                    \
    TYPES(X, op, _add, "%0, %1" swapped ", %2, %3;")                                                         \
    TYPES(X, op, _mask, "%0" mask ", %1, %2" swapped ", %3;")
#define SETS(X, op, mask)                                                                                    \
    X(op##_eq, #op ".u32.u32.eq %0, %1, %2, %3;")                                                            \
    X(op##_ne, #op ".s32.u32.ne %0" mask ", %1, %2, %3;")                                                    \
    X(op##_lt, #op ".s32.s32.lt %0, %1, %2, %3;")                                                            \
    X(op##_ge, #op ".u32.s32.ge.add %0, %1, %2, %3;")
#define ALL(X)                                                                                               \
    SCALAR(X, vadd)                                                                                          \
    SCALAR(X, vsub)                                                                                          \
    SCALAR(X, vabsdiff)                                                                                      \
    SCALAR(X, vmin)                                                                                          \
    SCALAR(X, vmax)                                                                                          \
    SHIFT(X, vshl)                                                                                           \
    SHIFT(X, vshr)                                                                                           \
    TYPES(X, vmad, , "%0, %1, %2, %3;")                                                                      \
    TYPES(X, vmad, _po, "%0, %1.h0, %2.b1, %3;")                                                             \
    TYPES(X, vmad, _shr7, "%0, -%1, %2, %3;")                                                                \
    TYPES(X, vmad, _shr15sat, "%0, %1, %2, -%3;")                                                            \
    TYPES(X, vmad, _sat, "%0, %1, %2, %3;")                                                                  \
    SETS(X, vset, ".b1")                                                                                     \
    SIMD(X, vadd2, ".h02", ".h1")                                                                            \
    SIMD(X, vsub2, ".h31", ".h0")                                                                            \
    SIMD(X, vavrg2, ".h11", ".h10")                                                                          \
    SIMD(X, vabsdiff2, ".h20", ".h1")                                                                        \
    SIMD(X, vmin2, ".h01", ".h0")                                                                            \
    SIMD(X, vmax2, ".h23", ".h1")                                                                            \
    SETS(X, vset2, ".h1")                                                                                    \
    SIMD(X, vadd4, ".b0246", ".b31")                                                                         \
    SIMD(X, vsub4, ".b7654", ".b20")                                                                         \
    SIMD(X, vavrg4, ".b1111", ".b210")                                                                       \
    SIMD(X, vabsdiff4, ".b3210", ".b3")                                                                      \
    SIMD(X, vmin4, ".b5301", ".b321")                                                                        \
    SIMD(X, vmax4, ".b0123", ".b0")                                                                          \
    SETS(X, vset4, ".b32")

ALL(RULE)

static const struct {
    const char *text;
    void (*kernel)(const Inputs *, uint32_t *);
} RULES[] = {
#define LIST(name, text) {text, name},
    ALL(LIST)};

static void choose(Inputs *in) {
    static const uint32_t edges[] = {0,      1,      0x7f,       0x80,       0xff,
                                     0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t random = 1;
    for (int source = A; source <= C; source++)
        for (int i = 0; i < COUNT; i++) {
            random = random * 1664525u + 1013904223u;
            uint32_t value = random >> 28 < 5 ? edges[(random >> 8) % 10] : random ^ random >> 15;
            in->of[source][i] = source == B && i % 3 == 0 ? value & 63 : value; /* as an amount of a shift */
        }
}

int main() {
    Inputs *in;
    uint32_t *out;
    cudaMallocManaged(&in, sizeof *in);
    cudaMallocManaged(&out, COUNT * sizeof *out);
    choose(in);
    for (const auto &rule : RULES) {
        rule.kernel<<<1, COUNT>>>(in, out);
        cudaError_t error = cudaDeviceSynchronize();
        if (error != cudaSuccess) std::printf("%s: %s\n", rule.text, cudaGetErrorName(error));
        for (int i = 0; i < COUNT; i++)
            std::printf("%s  %08x %08x %08x = %08x\n", rule.text, in->of[A][i], in->of[B][i], in->of[C][i],
                        out[i]);
    }
    return 0;
}
