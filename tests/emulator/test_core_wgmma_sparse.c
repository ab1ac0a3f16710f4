/* Sparse products of a warpgroup are those of an H200. The measured ones are in wgmma_sparse.def; metadata
 * that PTX does not allow are a trap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "emulator/lanes/lanes.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, THREADS = 128, STORED_BYTES = 32, IMAGE_BYTES = 8192, AT_B_TILE = 4096 };
/* Words of `out`: shared memory, A and metadata of each thread, C, D. */
enum {
    AT_A = IMAGE_BYTES / 4,
    AT_METADATA = AT_A + THREADS * 4,
    AT_C = AT_METADATA + THREADS,
    AT_D = AT_C + THREADS * 32,
    WORDS = AT_D + THREADS * 32
};
/* Numbers: of six neighbouring exponents; of many, and some zeros; also infinities, NaN and subnormals. */
typedef enum Numbers { NEAR, WIDE, SPECIAL } Numbers;

typedef struct Sparse {
    const char *types;
    PtxType a, b;
    int k, n;
    bool in_registers;
    int selector, sign_a, sign_b;
    bool trans_a, trans_b;
    uint64_t seed;
    Numbers kind;
    bool scale_d;
    uint64_t sum;
} Sparse;

static const Sparse products[] = {
#define SPARSE(types, a, b, k, n, in_registers, selector, sign_a, sign_b, trans_a, trans_b, seed, kind,      \
               scale_d, sum)                                                                                 \
    {types,  PTX_##a, PTX_##b, k,    n,    in_registers, selector, sign_a,                                   \
     sign_b, trans_a, trans_b, seed, kind, scale_d,      sum},
#include "wgmma_sparse.def"
};

/* ---- numbers ------------------------------------------------------------------------------------------ */

static uint64_t state;

static uint32_t dice(void) { /* splitmix64 */
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z ^ z >> 31);
}

static uint32_t random_element(PtxType type, Numbers kind) {
    static const struct {
        PtxType type;
        int exponent_bits, fraction_bits;
        uint32_t near_first, wide_first, wide_count;
    } formats[] = {{PTX_F16, 5, 10, 13, 0, 22},
                   {PTX_BF16, 8, 7, 125, 105, 45},
                   {PTX_TF32, 8, 23, 125, 105, 45},
                   {PTX_E4M3, 4, 3, 5, 0, 15},
                   {PTX_E5M2, 5, 2, 13, 0, 26}};
    if (type == PTX_S8 || type == PTX_U8) return dice() & 0xff;
    int i = 0;
    while (formats[i].type != type) i++;
    int e = formats[i].exponent_bits, f = formats[i].fraction_bits;
    uint32_t sign = dice() & 1, fraction = dice() & ((1u << f) - 1);
    uint32_t exponent = kind == NEAR ? formats[i].near_first + dice() % 6
                                     : formats[i].wide_first + dice() % formats[i].wide_count;
    uint32_t choice = dice();
    if (kind != NEAR && choice % 4 == 0) return sign << (e + f);
    if (kind == SPECIAL && choice % 64 == 1) {
        exponent = (1u << e) - 1;
        fraction = type == PTX_E4M3 ? 7 : choice & 64 ? 0 : 1u << (f - 1);
    }
    if (kind == SPECIAL && choice % 16 == 2) exponent = 0;
    return sign << (e + f) | exponent << f | fraction;
}

static bool is_half(const Sparse *of) {
    return !strncmp(of->types, "f16", 3);
}

static bool is_integer(const Sparse *of) {
    return strstr(of->types, "s32") != NULL;
}

static int registers_of(const Sparse *of) {
    return of->n / (is_half(of) ? 4 : 2);
}

static uint32_t random_c(const Sparse *of) {
    if (is_integer(of)) return of->kind == NEAR ? dice() % 20000 - 10000 : dice();
    if (is_half(of)) {
        uint32_t low = random_element(PTX_F16, of->kind);
        return low | random_element(PTX_F16, of->kind) << 16;
    }
    uint32_t sign = dice() & 1;
    uint32_t exponent = of->kind == NEAR ? 124 + dice() % 9 : 110 + dice() % 34, fraction = dice() & 0x7fffff;
    if (of->kind != NEAR && dice() % 4 == 0) return sign << 31;
    if (of->kind == SPECIAL && dice() % 64 == 0) return sign << 31 | 255u << 23;
    return sign << 31 | exponent << 23 | fraction;
}

/* Lanes whose metadata do not count have arbitrary ones. */
static uint32_t random_metadata(const Sparse *of, int thread) {
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    uint32_t metadata = dice();
    if (ptx_type_bytes(of->a) > 1 && thread % 4 / 2 != of->selector) return metadata;
    metadata = 0;
    for (int i = 0; i < 8; i++)
        metadata |= (of->a == PTX_TF32 ? (dice() & 1 ? 0xeu : 0x4u) : pairs[dice() % 6]) << 4 * i;
    return metadata;
}

/* ---- tiles -------------------------------------------------------------------------------------------- */

/* Where element k of a line lies in a tile without swizzle, whose lines have `line_bytes`. */
static int place_in_tile(int bytes, int line, int k, bool is_turned, int line_bytes) {
    int at = line / 8 * 8 * line_bytes;
    return at + (is_turned ? k / 8 * 128 + k % 8 * 16 + line % 8 * 2
                           : k * bytes / 16 * 128 + line % 8 * 16 + k * bytes % 16);
}

static void fill(const Sparse *of, uint32_t *words) {
    static uint8_t rows[ROWS][STORED_BYTES];
    uint8_t *image = (uint8_t *)words;
    size_t bytes = (size_t)ptx_type_bytes(of->a);
    memset(words, 0, WORDS * sizeof *words);
    state = of->seed;
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < of->k / 2; k++) {
            uint32_t bits = random_element(of->a, of->kind);
            memcpy(&rows[row][(size_t)k * bytes], &bits, bytes);
            memcpy(image + place_in_tile((int)bytes, row, k, of->trans_a, STORED_BYTES), &bits, bytes);
        }
    for (int k = 0; k < of->k; k++)
        for (int column = 0; column < of->n; column++) {
            uint32_t bits = random_element(of->b, of->kind);
            memcpy(image + AT_B_TILE + place_in_tile((int)bytes, column, k, of->trans_b, 2 * STORED_BYTES),
                   &bits, bytes);
        }
    for (int i = 0; i < THREADS * registers_of(of); i++) words[AT_C + i] = random_c(of);
    for (int t = 0; t < THREADS; t++) words[AT_METADATA + t] = random_metadata(of, t);
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < 4; r++)
            memcpy(&words[AT_A + 4 * t + r],
                   &rows[t / 32 * 16 + t % 32 / 4 + r % 2 * 8][t % 4 * 4 + r / 2 * 16], 4);
}

/* ---- kernels ------------------------------------------------------------------------------------------ */

#define TILE ".shared .align 1024 .b8 tile[8192];\n"
/* %q0 and %q1: descriptors of A and B. */
#define DESCRIPTORS                                                                                          \
    "mov.u32 %r0, tile; shr.u32 %r1, %r0, 4; cvt.u64.u32 %q0, %r1; or.b64 %q1, %q0, 0x2000080100;\n"         \
    "or.b64 %q0, %q0, 0x1000080000;\n"

static void print_registers(Text *body, const char *name, int count) {
    for (int i = 0; i < count; i++) text_print(body, i ? ", %%%s%d" : "{%%%s%d", name, i);
    text_add(body, "}");
}

static void print_kernel(Text *body, const Sparse *of) {
    int count = registers_of(of), is_wide = ptx_type_bytes(of->a) == 2;
    const char *type = is_half(of) || is_integer(of) ? "b32" : "f32";
    text_print(body, ".reg .%s %%v<32>;\n", type);
    text_add(body, DESCRIPTORS "mad.lo.u32 %r2, %t, 64, %r0; mad.wide.u32 %q2, %t, 64, %base;\n");
    for (int at = 0; at < 64; at += 16)
        text_print(body,
                   "ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%q2+%d];\n"
                   "st.shared.v4.u32 [%%r2+%d], {%%r4, %%r5, %%r6, %%r7};\n",
                   at, at);
    text_print(body,
               "fence.proxy.async; bar.sync 0; mad.wide.u32 %%q3, %%t, 16, %%base;\n"
               "ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%q3+%d]; mad.wide.u32 %%q4, %%t, 4, %%base;\n"
               "ld.global.u32 %%r8, [%%q4+%d]; mad.wide.u32 %%q5, %%t, %d, %%base;\n",
               4 * AT_A, 4 * AT_METADATA, 4 * count);
    for (int i = 0; i < count; i++)
        text_print(body, "ld.global.%s %%v%d, [%%q5+%d];\n", type, i, 4 * (AT_C + i));
    text_print(body,
               "setp.%s.u32 %%p0, %%t, 1000; wgmma.fence.sync.aligned;\n"
               "wgmma.mma_async.sp.sync.aligned.m64n%dk%d.%s ",
               of->scale_d ? "lt" : "gt", of->n, of->k, of->types);
    print_registers(body, "v", count);
    text_print(body, ", %s, %%q1, %%r8, %d, %%p0", of->in_registers ? "{%r4, %r5, %r6, %r7}" : "%q0",
               of->selector);
    if (!is_integer(of)) text_print(body, ", %d, %d", of->sign_a, of->sign_b);
    if (is_wide && !of->in_registers) text_print(body, ", %d", of->trans_a);
    if (is_wide) text_print(body, ", %d", of->trans_b);
    text_add(body, ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < count; i++)
        text_print(body, "st.global.%s [%%q5+%d], %%v%d;\n", type, 4 * (AT_D + i), i);
}

static uint64_t checksum(const uint32_t *words, int count) { /* FNV-1a */
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < count; i++)
        for (int shift = 0; shift < 32; shift += 8)
            sum = (sum ^ (words[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return sum;
}

/* ---- tests -------------------------------------------------------------------------------------------- */

static void sparse_products_have_the_bits_of_an_h200(void **of_test) {
    (void)of_test;
    static uint32_t in[WORDS];
    for (int level = 0; level < LANE_LEVELS; level++) {
        lanes_limit_level(level);
        for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
            const Sparse *of = &products[i];
            Text body = {0};
            fill(of, in);
            print_kernel(&body, of);
            CoreRun run = core_run_well((CoreKernel){.module = TILE,
                                                     .body = text_string(&body),
                                                     .block = THREADS,
                                                     .words = WORDS,
                                                     .in = in,
                                                     .untraced = true});
            uint64_t sum = checksum(run.out + AT_D, THREADS * registers_of(of));
            if (sum != of->sum)
                fail_msg("%s, %d columns, seed %d, level %d: %llx, not %llx", of->types, of->n, (int)of->seed,
                         level, (unsigned long long)sum, (unsigned long long)of->sum);
            core_done(&run);
            text_done(&body);
        }
    }
    lanes_limit_level(LANE_LEVELS);
}

#define ZERO                                                                                                 \
    DESCRIPTORS                                                                                              \
    "mad.lo.u32 %r2, %t, 64, %r0; mov.u32 %r4, 0; st.shared.v4.u32 [%r2], {%r4, %r4, %r4, %r4};\n"           \
    "st.shared.v4.u32 [%r2+16], {%r4, %r4, %r4, %r4};\n"                                                     \
    "st.shared.v4.u32 [%r2+32], {%r4, %r4, %r4, %r4};\n"                                                     \
    "st.shared.v4.u32 [%r2+48], {%r4, %r4, %r4, %r4}; fence.proxy.async; bar.sync 0;\n"
#define MULTIPLY(form, last)                                                                                 \
    "wgmma.mma_async.sp.sync.aligned." form " {%f0, %f1, %f2, %f3}, %q0, %q1, " last ";\n"                   \
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
#define HALF(sparsity)  MULTIPLY("m64n8k32.f32.f16.f16", sparsity ", 0, 1, 1, 0, 0")
#define FLOAT(sparsity) MULTIPLY("m64n8k16.f32.tf32.tf32", sparsity ", 0, 1, 1")
#define BYTES(sparsity) MULTIPLY("m64n8k64.f32.e4m3.e4m3", sparsity ", 0, 1, 1")
/* %r5: 0x44444444, with 4 other bits in one lane of the second warp. */
#define METADATA(lane, bits)                                                                                 \
    ZERO "mov.u32 %r5, 0x44444444; setp.eq.u32 %p0, %t, 32+" lane "; @%p0 mov.u32 %r5, 0x4" bits "444444;\n"

static void expect_trap(const char *body, const char *part) {
    core_run_trap((CoreKernel){.module = TILE, .body = body, .block = THREADS}, TRAP_NOT_EMULATED, part);
}

static void expect_no_trap(const char *body) {
    CoreRun run = core_run_well((CoreKernel){.module = TILE, .body = body, .block = THREADS});
    core_done(&run);
}

static void what_ptx_does_not_allow_is_a_trap(void **of_test) {
    (void)of_test;
    expect_trap(
        METADATA("9", "1") HALF("%r5, 0"),
        "PTX does not allow the metadata 0x41444444 of lane 9: each 4 bits are two ascending columns");
    expect_trap(METADATA("9", "a") HALF("%r5, 0"), "0x4a444444 of lane 9");
    expect_trap(METADATA("11", "a") HALF("%r5, 1"), "0x4a444444 of lane 11");
    expect_trap(METADATA("11", "1") BYTES("%r5, 0"), "0x41444444 of lane 11");
    expect_trap(METADATA("8", "8") FLOAT("%r5, 0"), "0x48444444 of lane 8");
    /* The other two lanes do not count. */
    expect_no_trap(METADATA("11", "1") HALF("%r5, 0"));
    expect_no_trap(METADATA("9", "1") HALF("%r5, 1"));
    expect_no_trap(METADATA("10", "8") FLOAT("%r5, 0"));
    expect_no_trap(METADATA("8", "e") FLOAT("%r5, 0"));
}

/* As ptxas 13.0. */
static void other_operands_are_refused(void **of_test) {
    (void)of_test;
    expect_trap(METADATA("0", "4") HALF("%r5, 2"), "not emulated: wgmma");
    expect_trap(METADATA("0", "4") BYTES("%r5, 1"), "not emulated: wgmma");
    expect_trap(METADATA("0", "4") HALF("0x44444444, 0"), "metadata are a register of 32 bits");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_products_have_the_bits_of_an_h200),
                                       cmocka_unit_test(what_ptx_does_not_allow_is_a_trap),
                                       cmocka_unit_test(other_operands_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
