/* Matrix products of a warpgroup are those of an H200. The measured ones are in wgmma_products.def and
 * wgmma_descriptors.def; the forms of the instruction, and what is wrong in PTX, follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "emulator/instructions/matrix_dot.h"
#include "emulator/instructions/matrix_warp.h"
#include "emulator/lanes/lanes.h"
#include <stdlib.h>
#include <string.h>

/* ---- measured products -------------------------------------------------------------------------------- */

typedef struct Product {
    const char *types;
    int k;
    const char *a, *b;
    uint32_t c, d, m, z, n;
} Product;

static const Product products[] = {
#define PRODUCT(types, k, a, b, c, d, m, z, n) {types, k, a, b, c, d, m, z, n},
#include "wgmma_products.def"
};
enum { PRODUCTS = sizeof products / sizeof *products };

enum {
    ROWS = 64,
    COLUMNS = 8,
    WORDS_OF_LINE = 8,
    AT_A = 0,
    AT_B = 512,
    AT_C = 576,
    AT_D = 1088,
    WORDS = 512
};
enum { SHARED, REGISTERS, NOTHING_ADDED, NEGATED, ONE_WARP, WAYS };

/* Hexadecimal elements, one after another, as bytes. */
static void put_line(const char *text, int k, uint8_t *line) {
    size_t digits = 64 / (size_t)k;
    for (int i = 0; i < k; i++) {
        char element[16] = {0};
        memcpy(element, text + (size_t)i * digits, digits);
        uint32_t bits = (uint32_t)strtoul(element, NULL, 16);
        memcpy(line + (size_t)i * digits / 2, &bits, digits / 2);
    }
}

static bool is_half(const char *types) {
    return !strncmp(types, "f16", 3);
}

/* The word, and the bits in it, of element (row, column) of C and D. */
static int place_of(bool half, int row, int column, int *shift) {
    *shift = half ? column % 2 * 16 : 0;
    return half ? row * COLUMNS / 2 + column / 2 : row * COLUMNS + column;
}

static void print_multiply(Text *body, const Product *of, int way) {
    bool half = is_half(of->types), is_integer = of->types[0] == 's', has_turns = of->k == 16;
    const char *d = half ? "{%r20, %r21}" : is_integer ? "{%r20, %r21, %r22, %r23}" : "{%f0, %f1, %f2, %f3}";
    if (way == ONE_WARP) {
        text_print(body,
                   "mma.sync.aligned.m16n8k%d.row.col.%s.%.3s %s, {%%r10, %%r11, %%r12, %%r13}, {%%r14, "
                   "%%r15}, %s;\n",
                   of->k, of->types, of->types, d, d);
        return;
    }
    text_print(body, "setp.%s.u32 %%p0, %%t, 1000;\nwgmma.fence.sync.aligned;\n",
               way == NOTHING_ADDED ? "gt" : "lt");
    text_print(body, "wgmma.mma_async.sync.aligned.m64n8k%d.%s %s, ", of->k, of->types, d);
    text_add(body, way == REGISTERS ? "{%r10, %r11, %r12, %r13}, %q6, %p0" : "%q5, %q6, %p0");
    if (!is_integer) text_add(body, way == NEGATED ? ", -1, 1" : ", 1, 1");
    if (has_turns) text_add(body, way == REGISTERS ? ", 0" : ", 0, 0");
    text_add(body, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

/* C to the registers of a lane, or D from them to the words from `at` on. */
static void print_moves(Text *body, bool half, bool is_integer, bool is_load, int at) {
    int bytes = half ? 16 : 32;
    text_print(body,
               "mul.lo.u32 %%r30, %%r3, %d; mad.lo.u32 %%r30, %%r4, %d, %%r30; cvt.u64.u32 %%q7, %%r30;\n"
               "add.u64 %%q7, %%q7, %%base;\n",
               bytes, half ? 4 : 8);
    for (int i = 0; i < (half ? 2 : 4); i++) {
        int offset = 4 * at + (half ? i * 8 * bytes : i / 2 * 8 * bytes + i % 2 * 4);
        const char *name = half || is_integer ? "%r2" : "%f";
        if (is_load)
            text_print(body, "ld.global.b32 %s%d, [%%q7+%d];\n", name, i, offset);
        else
            text_print(body, "st.global.b32 [%%q7+%d], %s%d;\n", offset, name, i);
    }
}

/* %r3: the lane's first row, %r4: lane % 4; A and B to shared memory, and what a lane has of them. */
static const char load_matrices[] =
    "and.b32 %r0, %t, 31; shr.u32 %r1, %r0, 2; mad.lo.u32 %r3, %w, 16, %r1; and.b32 %r4, %r0, 3;\n"
    "mad.wide.u32 %q0, %t, 16, %base; ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%q0];\n"
    "shr.u32 %r5, %t, 4; and.b32 %r6, %t, 1; shl.b32 %r7, %r5, 8; mad.lo.u32 %r7, %r6, 128, %r7;\n"
    "shr.u32 %r8, %t, 1; and.b32 %r8, %r8, 7; mad.lo.u32 %r7, %r8, 16, %r7;\n"
    "mov.u32 %r9, a_tile; add.u32 %r16, %r9, %r7; st.shared.v4.b32 [%r16], {%r10, %r11, %r12, %r13};\n"
    "setp.lt.u32 %p1, %t, 16; mov.u32 %r17, b_tile; add.u32 %r16, %r17, %r7;\n"
    "@%p1 ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%q0+2048];\n"
    "@%p1 st.shared.v4.b32 [%r16], {%r10, %r11, %r12, %r13};\n"
    "fence.proxy.async; bar.sync 0;\n"
    "shr.u32 %r18, %r9, 4; cvt.u64.u32 %q5, %r18; or.b64 %q5, %q5, 0x1000080000;\n"
    "shr.u32 %r18, %r17, 4; cvt.u64.u32 %q6, %r18; or.b64 %q6, %q6, 0x1000080000;\n"
    "mad.lo.u32 %r18, %r3, 8, %r4; mad.wide.u32 %q8, %r18, 4, %base;\n"
    "ld.global.b32 %r10, [%q8]; ld.global.b32 %r11, [%q8+256]; ld.global.b32 %r12, [%q8+16];\n"
    "ld.global.b32 %r13, [%q8+272]; mad.lo.u32 %r18, %r1, 8, %r4; mad.wide.u32 %q8, %r18, 4, %base;\n"
    "ld.global.b32 %r14, [%q8+2048]; ld.global.b32 %r15, [%q8+2064];\n";

/* Row i of A is that of product i % count, column i of B that of product i; so is C. */
static void check_types(const Product *of, int count) {
    static uint32_t in[AT_D + WAYS * WORDS];
    bool half = is_half(of->types), is_integer = of->types[0] == 's';
    Text body = {0};
    memset(in, 0, sizeof in);
    for (int row = 0; row < ROWS; row++)
        put_line(of[row % count].a, of->k, (uint8_t *)&in[AT_A + row * WORDS_OF_LINE]);
    for (int i = 0; i < count; i++) put_line(of[i].b, of->k, (uint8_t *)&in[AT_B + i * WORDS_OF_LINE]);
    for (int row = 0, shift; row < ROWS; row++) {
        int word = place_of(half, row, row % count, &shift);
        in[AT_C + word] |= of[row % count].c << shift;
    }
    text_add(&body, load_matrices);
    for (int way = 0; way < WAYS; way++) {
        if (is_integer && way == NEGATED) continue;
        print_moves(&body, half, is_integer, true, AT_C);
        print_multiply(&body, of, way);
        print_moves(&body, half, is_integer, false, AT_D + way * WORDS);
    }
    CoreRun run = core_run_well((CoreKernel){
        .module = ".shared .align 1024 .b8 a_tile[2048];\n.shared .align 1024 .b8 b_tile[256];\n",
        .body = text_string(&body),
        .block = 128,
        .words = AT_D + WAYS * WORDS,
        .in = in});
    for (int row = 0, shift; row < ROWS; row++) {
        const Product *product = &of[row % count];
        int word = place_of(half, row, row % count, &shift);
        const uint32_t expected[WAYS] = {product->d, product->d, product->z, product->n, product->m};
        for (int way = 0; way < WAYS; way++) {
            uint32_t found = run.out[AT_D + way * WORDS + word] >> shift & (half ? 0xffffu : ~0u);
            if (is_integer && way == NEGATED) continue;
            if (found != expected[way])
                fail_msg("%s, product %d, row %d, way %d: %x, not %x", of->types, row % count, row, way,
                         found, expected[way]);
        }
    }
    core_done(&run);
    text_done(&body);
}

static void products_have_the_bits_of_an_h200(void **state) {
    (void)state;
    for (int level = 0; level < LANE_LEVELS; level++) {
        lanes_limit_level(level);
        for (int i = 0, count; i < PRODUCTS; i += count) {
            count = 1;
            while (i + count < PRODUCTS && count < COLUMNS &&
                   !strcmp(products[i].types, products[i + count].types))
                count++;
            check_types(&products[i], count);
        }
    }
    lanes_limit_level(LANE_LEVELS);
}

/* ---- measured places ---------------------------------------------------------------------------------- */

static void descriptors_place_elements_as_on_an_h200(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        int along_mn, start, leading, stride, base_offset, swizzle;
        int at[9]; /* line, k, bytes */
    } rows[] = {
#define DESCRIPTOR(type, along_mn, start, leading, stride, base_offset, swizzle, ...)                        \
    {PTX_##type, along_mn, start, leading, stride, base_offset, swizzle, {__VA_ARGS__}},
#include "wgmma_descriptors.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { SHARED_BEGIN = 1024 };
        int bytes = ptx_type_bytes(rows[i].type), count = 16 / bytes;
        PtxMatrixDescriptor descriptor =
            ptx_matrix_descriptor((uint64_t)(SHARED_BEGIN + rows[i].start) >> 4 |
                                  (uint64_t)rows[i].leading >> 4 << 16 | (uint64_t)rows[i].stride >> 4 << 32 |
                                  (uint64_t)rows[i].base_offset << 49 | (uint64_t)rows[i].swizzle << 62);
        for (int p = 0; p < 3; p++) {
            int line = rows[i].at[3 * p], k = rows[i].at[3 * p + 1], along = rows[i].along_mn ? line : k;
            uint32_t chunk = ptx_matrix_chunk(&descriptor, !rows[i].along_mn, rows[i].along_mn ? k : line,
                                              along / count * count, bytes);
            assert_int_equal(chunk + (uint32_t)(along % count * bytes) - SHARED_BEGIN, rows[i].at[3 * p + 2]);
        }
    }
}

/* ---- forms -------------------------------------------------------------------------------------------- */

/* The bits of matrix_dot() for every element, whatever the numbers are. */
static void all_lanes_agree_with_one_element(void **state) {
    (void)state;
    static const char *const types[] = {"f32.f16.f16", "f16.f16.f16", "f32.bf16.bf16", "f32.tf32.tf32",
                                        "f32.e4m3.e5m2"};
    static const PtxType of[][3] = {{PTX_F32, PTX_F16, PTX_F16},
                                    {PTX_F16, PTX_F16, PTX_F16},
                                    {PTX_F32, PTX_BF16, PTX_BF16},
                                    {PTX_F32, PTX_TF32, PTX_TF32},
                                    {PTX_F32, PTX_E4M3, PTX_E5M2}};
    static MatrixLines lines;
    static uint32_t registers[128][32], before[128][32];
    uint32_t dice = 7;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int k = 32 / ptx_type_bytes(of[i][1]);
        PtxProduct product = {.m = 16, .n = 24, .k = k, .kept_bits = k == 32 ? 13 : 25};
        bool half = of[i][0] == PTX_F16;
        product.a.type = of[i][1];
        product.b.type = of[i][2];
        product.d = (PtxFragment){.role = PTX_MATRIX_C, .type = of[i][0], .rows = 16, .columns = 24};
        product.d.registers = product.d.distinct = half ? 6 : 12;
        product.d.parts = half ? 2 : 1;
        product.d.register_bytes = 4;
        product.c = product.d;
        for (size_t b = 0; b < sizeof lines.a; b++)
            ((uint8_t *)lines.a)[b] = (uint8_t)((dice = dice * 1664525 + 1013904223) >> 24);
        for (size_t b = 0; b < 24 * sizeof lines.b[0]; b++)
            ((uint8_t *)lines.b)[b] = (uint8_t)((dice = dice * 1664525 + 1013904223) >> 24);
        for (int r = 0; r < product.d.registers; r++)
            for (int lane = 0; lane < 32; lane++) before[r][lane] = (dice = dice * 1664525 + 1013904223);
        memcpy(registers, before, sizeof registers);
        matrix_warp_multiply(&product, &lines, registers);
        for (int r = 0; r < product.d.registers; r++)
            for (int lane = 0; lane < 32; lane++)
                for (int part = 0; part < product.d.parts; part++) {
                    uint64_t a[MATRIX_MOST_K] = {0}, b[MATRIX_MOST_K] = {0};
                    PtxMatrixPlace place = ptx_fragment_place(&product.d, lane, r, part);
                    for (int e = 0; e < k; e++) {
                        memcpy(&a[e], lines.a[place.row] + e * 32 / k, 32 / (size_t)k);
                        memcpy(&b[e], lines.b[place.column] + e * 32 / k, 32 / (size_t)k);
                    }
                    uint64_t own =
                        matrix_dot(&product, a, b, ptx_fragment_element(&product.d, before[r][lane], part));
                    if (own != ptx_fragment_element(&product.d, registers[r][lane], part))
                        fail_msg("%s: register %d of lane %d: not %llx", types[i], r, lane,
                                 (unsigned long long)own);
                }
    }
}

#define TILES ".shared .align 1024 .b8 a_tile[4096];\n.shared .align 1024 .b8 b_tile[512];\n"
#define MULTIPLY(types, d, ...)                                                                              \
    "wgmma.mma_async.sync.aligned." types " " d ", " __VA_ARGS__ ";\n"                                       \
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

/* A of 64 x 16 and B of 16 x 8, once along K and once along M and N: the same product. */
static void transposed_tiles_give_the_same_product(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module = TILES,
        .block = 128,
        .words = 1024,
        .body =
            "mov.u32 %r9, a_tile; mov.u32 %r10, b_tile; mov.u32 %r0, %t;\n"
            "FILL: shr.u32 %r1, %r0, 4; and.b32 %r2, %r0, 15; shr.u32 %r3, %r1, 3; and.b32 %r4, %r1, 7;\n"
            "shr.u32 %r5, %r2, 3; and.b32 %r6, %r2, 7; mad.lo.u32 %r7, %r1, 5, %r2; and.b32 %r7, %r7, 15;\n"
            "cvt.rn.f16.u32 %h0, %r7; mul.lo.u32 %r8, %r3, 256; mad.lo.u32 %r8, %r5, 128, %r8;\n"
            "mad.lo.u32 %r11, %r4, 16, %r8; mad.lo.u32 %r11, %r6, 2, %r11;\n"
            "mad.lo.u32 %r12, %r6, 16, %r8; mad.lo.u32 %r12, %r4, 2, %r12;\n"
            "add.u32 %r13, %r9, %r11; st.shared.b16 [%r13], %h0;\n"
            "add.u32 %r13, %r9, %r12; st.shared.b16 [%r13+2048], %h0;\n"
            "setp.lt.u32 %p0, %r0, 128; add.u32 %r13, %r10, %r11; @%p0 st.shared.b16 [%r13], %h0;\n"
            "add.u32 %r13, %r10, %r12; @%p0 st.shared.b16 [%r13+256], %h0;\n"
            "add.u32 %r0, %r0, 128; setp.lt.u32 %p1, %r0, 1024; @%p1 bra FILL;\n"
            "fence.proxy.async; bar.sync 0;\n"
            "shr.u32 %r1, %r9, 4; cvt.u64.u32 %q0, %r1; or.b64 %q0, %q0, 0x1000080000; add.u64 %q1, %q0, "
            "128;\n"
            "shr.u32 %r1, %r10, 4; cvt.u64.u32 %q2, %r1; or.b64 %q2, %q2, 0x1000080000; add.u64 %q3, %q2, "
            "16;\n" MULTIPLY("m64n8k16.f32.f16.f16", "{%f0, %f1, %f2, %f3}", "%q0, %q2, 0, 1, 1, 0, 0")
                MULTIPLY("m64n8k16.f32.f16.f16", "{%f4, %f5, %f6, %f7}",
                         "%q1, %q3, 0, 1, 1, 1, 1") "mad.wide.u32 %q4, %t, 32, %base; st.global.v4.f32 "
                                                    "[%q4], {%f0, %f1, %f2, %f3};\n"
                                                    "st.global.v4.f32 [%q4+16], {%f4, %f5, %f6, %f7};\n"});
    for (int t = 0; t < 128; t++)
        for (int j = 0; j < 4; j++) {
            int row = t / 32 * 16 + t % 32 / 4 + j / 2 * 8, column = t % 4 * 2 + j % 2, sum = 0;
            for (int k = 0; k < 16; k++) sum += (row * 5 + k) % 16 * ((column * 5 + k) % 16);
            assert_int_equal(run.out[8 * t + j], bits_of((float)sum));
            assert_int_equal(run.out[8 * t + 4 + j], bits_of((float)sum));
        }
    core_done(&run);
}

#define DESCRIPTORS                                                                                          \
    "mov.u32 %r9, a_tile; shr.u32 %r9, %r9, 4; cvt.u64.u32 %q0, %r9; or.b64 %q0, %q0, 0x1000080000;\n"       \
    "mov.u32 %r9, b_tile; shr.u32 %r9, %r9, 4; cvt.u64.u32 %q1, %r9; or.b64 %q1, %q1, 0x1000080000;\n"
#define PRODUCT_OF(a, b) MULTIPLY("m64n8k16.f32.f16.f16", "{%f0, %f1, %f2, %f3}", a ", " b ", 0, 1, 1, 0, 0")

#define FILL                                                                                                 \
    "mov.u32 %r9, a_tile; mad.lo.u32 %r8, %t, 16, %r9; mov.u32 %r7, 0; mov.u16 %h0, 0;\n"                    \
    "st.shared.v4.b32 [%r8], {%r7, %r7, %r7, %r7}; mov.u32 %r9, b_tile; mad.lo.u32 %r8, %t, 2, %r9;\n"       \
    "st.shared.b16 [%r8], %h0; fence.proxy.async; bar.sync 0;\n"

static void what_ptx_leaves_undefined_is_a_trap(void **state) {
    (void)state;
    CoreKernel kernel = {.module = TILES, .block = 128, .body = DESCRIPTORS PRODUCT_OF("%q0", "%q1")};
    CoreRun run = core_run(kernel);
    assert_int_equal(run.trace->trap_count, 2); /* A and B of one instruction, which goes on */
    assert_int_equal(run.trace->traps[0].kind, TRAP_UNINITIALIZED);
    assert_non_null(strstr(run.trace->traps[0].detail, "wgmma reads 16 bytes of shared memory"));
    core_done(&run);
    kernel.block = 96;
    core_run_trap(kernel, TRAP_NOT_EMULATED, "needs the four warps 0 to 3");
    kernel.block = 128;
    kernel.body = FILL DESCRIPTORS "cvt.u64.u32 %q2, %t; add.u64 %q0, %q0, %q2;\n" PRODUCT_OF("%q0", "%q1");
    core_run_trap(kernel, TRAP_NOT_EMULATED, "another descriptor than in lane 0");
    kernel.body = FILL DESCRIPTORS "add.u64 %q1, %q1, 8192;\n" PRODUCT_OF("%q0", "%q1");
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "the descriptor of B reaches shared offset");
    kernel.body =
        FILL DESCRIPTORS "setp.lt.u32 %p0, %t, 7; @%p0 bra OVER;\n" PRODUCT_OF("%q0", "%q1") "OVER:\n";
    core_run_trap(kernel, TRAP_NOT_EMULATED, "without all 32 lanes");
}

/* 24 columns have 12 registers: an event of 8 and one of 4. */
static void registers_of_d_are_events(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module = ".shared .align 1024 .b8 a_tile[4096];\n.shared .align 1024 .b8 b_tile[1024];\n",
        .block = 128,
        .body =
            "mov.u32 %r9, a_tile; mad.lo.u32 %r8, %t, 32, %r9; mov.u32 %r7, 0x38383838;\n"
            "st.shared.v4.b32 [%r8], {%r7, %r7, %r7, %r7}; st.shared.v4.b32 [%r8+16], {%r7, %r7, %r7, %r7};\n"
            "mov.u32 %r9, b_tile; mad.lo.u32 %r8, %t, 8, %r9; st.shared.v2.b32 [%r8], {%r7, %r7};\n"
            "fence.proxy.async; bar.sync 0;\n" DESCRIPTORS MULTIPLY(
                "m64n24k32.f32.e4m3.e4m3", "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11}",
                "%q0, %q1, 0, 1, 1") "st.global.f32 [%out], %f11;\n"});
    TraceEvent event;
    int found = 0;
    for (int i = 0; i < core_event_count(&run, 0); i++) {
        core_event(&run, 0, i, &event);
        if (event.kind != TRACE_MATRIX || event.warp != 2) continue;
        assert_int_equal(event.element_count, found ? 4 : 8);
        assert_int_equal(event.participants, found ? 8 : 0);
        assert_int_equal(event.value[event.element_count - 1][31], bits_of(32));
        found++;
    }
    assert_int_equal(found, 2);
    assert_int_equal(run.out[127], bits_of(32));
    core_done(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_have_the_bits_of_an_h200),
                                       cmocka_unit_test(descriptors_place_elements_as_on_an_h200),
                                       cmocka_unit_test(all_lanes_agree_with_one_element),
                                       cmocka_unit_test(transposed_tiles_give_the_same_product),
                                       cmocka_unit_test(what_ptx_leaves_undefined_is_a_trap),
                                       cmocka_unit_test(registers_of_d_are_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
