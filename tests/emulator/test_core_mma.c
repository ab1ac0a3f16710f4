/* mma, wmma, movmatrix and ldmatrix.trans: every form of matrix.def computes the product of the matrices in
 * its operands. The elements of mma's fragments are placed here as the PTX ISA lists them, form by form;
 * wmma's are what wmma.load reads of a matrix in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "emulator/instructions/matrix_dot.h"
#include <string.h>

typedef struct Form {
    const char *shape, *types, *d, *a, *b, *c;
} Form;

static const Form products[] = {
#define MMA(shape, types, d, a, b, c) {#shape, types, d, a, b, c},
#include "ptx/matrix.def"
};
static const Form wmma_products[] = {
#define WMMA(shape, types, d, a, b, c) {#shape, types, d, a, b, c},
#include "ptx/matrix.def"
};

enum { WORDS_OF_LANE = 64, AT_A = 0, AT_B = 16, AT_C = 32, AT_D = 48, LANES = 32 };

typedef struct Place {
    int row, column;
} Place;

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* A whole number from -16 to 16 as bits of a type. */
static uint64_t bits_of(const char *type, int value) {
    if (type[0] == 's' || type[0] == 'u')
        return (uint64_t)(int64_t)value & (type[1] == '8' ? 0xff : 0xffffffff);
    float number = (float)value;
    double wide = value;
    uint32_t word;
    uint64_t bits;
    memcpy(&word, &number, sizeof word);
    memcpy(&bits, &wide, sizeof bits);
    if (!strcmp(type, "f64")) return bits;
    if (!strcmp(type, "bf16")) return word >> 16;
    if (!strcmp(type, "e4m3")) return value ? (word >> 31) << 7 | ((word >> 20 & 0x7ff) - (120 << 3)) : 0;
    if (!strcmp(type, "e5m2")) return bits_of("f16", value) >> 8;
    if (!strcmp(type, "f16"))
        return value ? (word >> 31) << 15 | (((word >> 23 & 0xff) - 112) << 10) | (word >> 13 & 0x3ff) : 0;
    return word;
}

static int bytes_of(const char *type) {
    return type[1] == '8' || type[0] == 'e' ? 1 : !strcmp(type, "f64") ? 8 : strstr(type, "16") ? 2 : 4;
}

static int value_a(int row, int k) {
    return (row * 5 + k * 3) % 7;
}
static int value_b(int k, int column) {
    return (k * 2 + column * 3) % 5;
}
static int value_c(int row, int column) {
    return (row + column * 2) % 11;
}
static int sum_of(int row, int column, int k) {
    int sum = value_c(row, column);
    for (int i = 0; i < k; i++) sum += value_a(row, i) * value_b(i, column);
    return sum;
}

/* ---- places of mma, as the PTX ISA has them: element i of a lane --------------------------------------- */

static Place place_a(const char *type, int m, int k, int g, int t, int i) {
    switch (bytes_of(type)) {
    case 2:
        if (k == 8) return (Place){i < 2 ? g : g + 8, t * 2 + (i & 1)};
        return (Place){i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    case 1:
        if (m == 8) return (Place){g, t * 4 + (i & 3)};
        if (k == 16) return (Place){i < 4 ? g : g + 8, t * 4 + (i & 3)};
        return (Place){i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    default:
        if (k == 4) return (Place){i == 0 ? g : g + 8, t};
        if (k == 8) return (Place){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
        return (Place){i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
    }
}

static Place place_b(const char *type, int k, int g, int t, int i) {
    switch (bytes_of(type)) {
    case 2:
        return (Place){t * 2 + (i & 1) + (k == 16 && i >= 2 ? 8 : 0), g};
    case 1:
        return (Place){t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
    default:
        return (Place){k == 16 ? i * 4 + t : i == 0 ? t : t + 4, g};
    }
}

static Place place_c(int g, int t, int i) {
    return (Place){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static int registers_of(const char *operand) {
    return operand[strlen(operand) - 1] - '0';
}

static const char *register_name(const char *operand) {
    return !strncmp(operand, "f64", 3) ? "%d" : !strncmp(operand, "f32", 3) ? "%f" : "%r";
}

/* {%r4, %r5}: names from `first` on. */
static void print_registers(Text *body, const char *operand, int first) {
    for (int i = 0; i < registers_of(operand); i++)
        text_print(body, "%s%s%d", i ? ", " : "{", register_name(operand), first + i);
    text_add(body, "}");
}

static void print_moves(Text *body, const char *move, const char *operand, int first, int at) {
    int bytes = !strncmp(operand, "f64", 3) ? 8 : 4;
    for (int i = 0; i < registers_of(operand); i++) {
        char place[32], value[16];
        snprintf(place, sizeof place, "[%%q20+%d]", 4 * at + bytes * i);
        snprintf(value, sizeof value, "%s%d", register_name(operand), first + i);
        bool is_load = move[0] == 'l';
        text_print(body, "%s.global.b%d %s, %s;\n", move, 8 * bytes, is_load ? value : place,
                   is_load ? place : value);
    }
}

static const char lane_address[] = "mad.wide.u32 %q20, %t, 256, %base;\n";

/* "{satfinite} s32 s8|u8 s8|u8 s32": the types, the first alternatives; the optional one left out. */
static void read_types(const char *text, char types[4][8], int *count) {
    for (*count = 0; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " |"), whole = strcspn(text, " ");
        if (*text != '{') snprintf(types[(*count)++], 8, "%.*s", (int)length, text);
        text += whole;
    }
}

static void read_shape(const char *shape, int *m, int *n, int *k) {
    if (sscanf(shape, "m%dn%dk%d", m, n, k) != 3) fail_msg("%s is no shape", shape);
}

static void put(uint8_t *words, size_t at, const char *type, int value) {
    uint64_t bits = bits_of(type, value);
    memcpy(words + at * (size_t)bytes_of(type), &bits, (size_t)bytes_of(type));
}

static CoreRun run_product(const Form *form, char types[4][8], const uint32_t *in) {
    Text body = {0};
    text_add(&body, lane_address);
    print_moves(&body, "ld", form->a, 0, AT_A);
    print_moves(&body, "ld", form->b, 8, AT_B);
    print_moves(&body, "ld", form->c, 12, AT_C);
    text_print(&body, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s ", form->shape, types[0], types[1], types[2],
               types[3]);
    print_registers(&body, form->d, 12);
    text_add(&body, ", ");
    print_registers(&body, form->a, 0);
    text_add(&body, ", ");
    print_registers(&body, form->b, 8);
    text_add(&body, ", ");
    print_registers(&body, form->c, 12);
    text_add(&body, ";\n");
    print_moves(&body, "st", form->d, 12, AT_D);
    CoreRun run =
        core_run_well((CoreKernel){.body = text_string(&body), .words = LANES * WORDS_OF_LANE, .in = in});
    text_done(&body);
    return run;
}

static void check_product(const Form *form) {
    static uint32_t in[LANES * WORDS_OF_LANE];
    char types[4][8] = {{0}};
    int count, m, n, k;
    read_types(form->types, types, &count);
    read_shape(form->shape, &m, &n, &k);
    memset(in, 0, sizeof in);
    for (int lane = 0; lane < LANES; lane++) {
        uint8_t *own = (uint8_t *)&in[lane * WORDS_OF_LANE];
        int g = lane / 4, t = lane % 4;
        for (int i = 0; i < m * k / LANES; i++) {
            Place place = place_a(types[1], m, k, g, t, i);
            put(own + 4 * AT_A, (size_t)i, types[1], value_a(place.row, place.column));
        }
        for (int i = 0; i < k * n / LANES; i++) {
            Place place = place_b(types[2], k, g, t, i);
            put(own + 4 * AT_B, (size_t)i, types[2], value_b(place.row, place.column));
        }
        for (int i = 0; i < m * n / LANES; i++) {
            Place place = place_c(g, t, i);
            put(own + 4 * AT_C, (size_t)i, types[3], value_c(place.row, place.column));
        }
    }
    CoreRun run = run_product(form, types, in);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < m * n / LANES; i++) {
            Place place = place_c(lane / 4, lane % 4, i);
            const uint8_t *own = (const uint8_t *)&run.out[lane * WORDS_OF_LANE + AT_D];
            uint64_t found = 0, expected = bits_of(types[0], sum_of(place.row, place.column, k));
            memcpy(&found, own + i * bytes_of(types[0]), (size_t)bytes_of(types[0]));
            if (found != expected)
                fail_msg("%s %s: D(%d, %d) is %llx, not %llx", form->shape, form->types, place.row,
                         place.column, (unsigned long long)found, (unsigned long long)expected);
        }
    core_done(&run);
}

static void every_mma_multiplies(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) check_product(&products[i]);
}

static PtxType float_type(const char *type) {
    static const struct {
        const char *name;
        PtxType type;
    } of[] = {{"f16", PTX_F16}, {"bf16", PTX_BF16}, {"tf32", PTX_TF32}, {"f32", PTX_F32}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (!strcmp(of[i].name, type)) return of[i].type;
    return PTX_NO_TYPE;
}

static uint64_t element_of(const void *words, int at, const char *type, int i) {
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)words + 4 * at + i * bytes_of(type), (size_t)bytes_of(type));
    return bits;
}

/* D of all lanes is that of matrix_dot(), element by element. */
static void check_any_bits(const Form *form, char types[4][8], const uint32_t *in) {
    PtxProduct shape = {.kept_bits = 25};
    uint64_t a[16][16], b[8][16], c[16][8];
    read_shape(form->shape, &shape.m, &shape.n, &shape.k);
    shape.d.type = float_type(types[0]), shape.a.type = float_type(types[1]);
    shape.b.type = float_type(types[2]), shape.c.type = float_type(types[3]);
    for (int lane = 0; lane < LANES; lane++) {
        const uint32_t *own = &in[lane * WORDS_OF_LANE];
        for (int i = 0; i < shape.m * shape.k / LANES; i++) {
            Place place = place_a(types[1], shape.m, shape.k, lane / 4, lane % 4, i);
            a[place.row][place.column] = element_of(own, AT_A, types[1], i);
        }
        for (int i = 0; i < shape.k * shape.n / LANES; i++) {
            Place place = place_b(types[2], shape.k, lane / 4, lane % 4, i);
            b[place.column][place.row] = element_of(own, AT_B, types[2], i);
        }
        for (int i = 0; i < shape.m * shape.n / LANES; i++) {
            Place place = place_c(lane / 4, lane % 4, i);
            c[place.row][place.column] = element_of(own, AT_C, types[3], i);
        }
    }
    CoreRun run = run_product(form, types, in);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < shape.m * shape.n / LANES; i++) {
            Place place = place_c(lane / 4, lane % 4, i);
            uint64_t expected = matrix_dot(&shape, a[place.row], b[place.column], c[place.row][place.column]),
                     found = element_of(&run.out[lane * WORDS_OF_LANE], AT_D, types[0], i);
            if (found != expected)
                fail_msg("%s %s: D(%d, %d) is %llx, not %llx", form->shape, form->types, place.row,
                         place.column, (unsigned long long)found, (unsigned long long)expected);
        }
    core_done(&run);
}

/* Also infinities, NaN, subnormal numbers and sums that cancel. */
static void any_bits_give_what_one_element_gives(void **state) {
    (void)state;
    static uint32_t in[LANES * WORDS_OF_LANE];
    uint32_t dice = 3;
    int forms = 0;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        char types[4][8] = {{0}};
        int count;
        read_types(products[i].types, types, &count);
        if (count != 4 || !float_type(types[0]) || !float_type(types[1])) continue;
        for (size_t w = 0; w < sizeof in / sizeof *in; w++) in[w] = (dice = dice * 1664525 + 1013904223);
        check_any_bits(&products[i], types, in);
        forms++;
    }
    assert_int_equal(forms, 8);
}

/* ---- wmma: from memory to memory ----------------------------------------------------------------------- */

enum { STRIDE = 48, MATRIX_BYTES = STRIDE * 32 * 8, MATRICES = 4 };

static size_t element_at(bool by_columns, int row, int column) {
    return (size_t)(by_columns ? column * STRIDE + row : row * STRIDE + column);
}

static void print_load(Text *body, char role, bool by_columns, const Form *form, const char *type,
                       const char *operand, int first, int at) {
    text_print(body, "wmma.load.%c.sync.aligned.%s.%s.global.%s ", role, by_columns ? "col" : "row",
               form->shape, type);
    print_registers(body, operand, first);
    text_print(body, ", [%%base+%d], %d;\n", at, STRIDE);
}

static void check_wmma(const Form *form, bool a_by_columns, bool b_by_columns, bool c_by_columns) {
    static uint32_t in[MATRICES * MATRIX_BYTES / 4];
    uint8_t *bytes = (uint8_t *)in;
    char types[4][8] = {{0}};
    int count, m, n, k;
    read_types(form->types, types, &count);
    read_shape(form->shape, &m, &n, &k);
    const char *a = count == 2 ? "f16" : types[1], *c = count == 2 ? types[1] : types[3];
    memset(in, 0x77, sizeof in);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++) put(bytes, element_at(a_by_columns, i, j), a, value_a(i, j));
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++)
            put(bytes + MATRIX_BYTES, element_at(b_by_columns, i, j), a, value_b(i, j));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            put(bytes + 2 * MATRIX_BYTES, element_at(c_by_columns, i, j), c, value_c(i, j));
    Text body = {0};
    print_load(&body, 'a', a_by_columns, form, a, form->a, 0, 0);
    print_load(&body, 'b', b_by_columns, form, a, form->b, 8, MATRIX_BYTES);
    int first_c = register_name(form->c)[1] == 'r' ? 20 : 16 - registers_of(form->c);
    print_load(&body, 'c', c_by_columns, form, c, form->c, first_c, 2 * MATRIX_BYTES);
    const char *types_text = strchr(form->types, '}') ? strchr(form->types, '}') + 2 : form->types;
    text_print(&body, "wmma.mma.sync.aligned.%s.%s.%s", a_by_columns ? "col" : "row",
               b_by_columns ? "col" : "row", form->shape);
    for (const char *at = types_text; *at; at++)
        text_print(&body, "%s%c", at == types_text ? "." : "", *at == ' ' ? '.' : *at);
    text_add(&body, " ");
    const char *const operands[] = {form->d, form->a, form->b, form->c};
    int d = !strncmp(form->d, "f64", 3) ? 4 : !strncmp(form->d, "f32", 3) ? 0 : 32;
    const int firsts[] = {d, 0, 8, first_c};
    for (int i = 0; i < 4; i++) {
        print_registers(&body, operands[i], firsts[i]);
        text_add(&body, i < 3 ? ", " : ";\n");
    }
    text_print(&body, "wmma.store.d.sync.aligned.%s.%s.global.%s [%%base+%d], ", c_by_columns ? "col" : "row",
               form->shape, types[0], 3 * MATRIX_BYTES);
    print_registers(&body, form->d, d);
    text_print(&body, ", %d;\n", STRIDE);
    CoreRun run =
        core_run_well((CoreKernel){.body = text_string(&body), .words = sizeof in / sizeof *in, .in = in});
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            const uint8_t *out = (const uint8_t *)run.out + 3 * MATRIX_BYTES;
            uint64_t found = 0, expected = bits_of(types[0], sum_of(i, j, k));
            memcpy(&found, out + element_at(c_by_columns, i, j) * (size_t)bytes_of(types[0]),
                   (size_t)bytes_of(types[0]));
            if (found != expected)
                fail_msg("%s: D(%d, %d) is %llx, not %llx", text_string(&body), i, j,
                         (unsigned long long)found, (unsigned long long)expected);
        }
    core_done(&run);
    text_done(&body);
}

static void every_wmma_loads_multiplies_and_stores(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wmma_products / sizeof *wmma_products; i++)
        for (int layouts = 0; layouts < 8; layouts++)
            check_wmma(&wmma_products[i], layouts & 1, layouts & 2, layouts & 4);
}

/* ---- places of wmma, as ptxas 13.0 has them for sm_80 and sm_90 ---------------------------------------- */

/* Register r of a lane: element (row + 8-row blocks, ...) in a matrix whose element i is i. */
static void check_load(const char *text, int bytes, int registers, const int *blocks, int down, int right,
                       int g_step, int t_step) {
    static uint32_t in[1024 + LANES * 8];
    for (size_t i = 0; i < 1024; i++) in[i] = (uint32_t)i;
    for (size_t i = 0; bytes == 2 && i < 2048; i++) ((uint16_t *)in)[i] = (uint16_t)i;
    Text body = {0};
    text_print(&body, "%s\nmad.wide.u32 %%q20, %%t, 32, %%base;\n", text);
    for (int r = 0; r < registers; r++)
        text_print(&body, "st.global.u32 [%%q20+%d], %%r%d;\n", 4096 + 4 * r, r);
    CoreRun run =
        core_run_well((CoreKernel){.body = text_string(&body), .words = sizeof in / sizeof *in, .in = in});
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < registers; r++) {
            int first =
                lane / 4 * g_step + lane % 4 * t_step + (blocks[r] & 1) * down + (blocks[r] >> 1) * right;
            uint32_t found = run.out[1024 + lane * 8 + r];
            assert_int_equal(bytes == 2 ? found & 0xffff : found, bytes == 2 ? first : first + r % 2);
        }
    core_done(&run);
    text_done(&body);
}

/* 1: 8 below; 2: to the right. */
static void lanes_hold_of_wmma_what_the_machine_code_says(void **state) {
    (void)state;
    static const int a[] = {0, 1, 2, 3, 0, 1, 2, 3}, b[] = {0, 2, 1, 3, 0, 2, 1, 3},
                     c[] = {0, 0, 1, 1, 2, 2, 3, 3};
#define EIGHT "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%base], 32;"
    check_load("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT, 2, 8, a, 8 * 32, 8, 32, 2);
    check_load("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 " EIGHT, 2, 8, b, 8 * 32, 8, 32, 2);
    check_load("wmma.load.a.sync.aligned.col.m16n16k16.global.f16 " EIGHT, 2, 8, a, 8, 8 * 32, 1, 64);
    check_load("wmma.load.c.sync.aligned.row.m16n16k16.global.s32 " EIGHT, 4, 8, c, 8 * 32, 8, 32, 2);
    check_load("wmma.load.c.sync.aligned.row.m32n8k16.global.s32 " EIGHT, 4, 4, c, 8 * 32, 8, 32, 2);
    check_load("wmma.load.c.sync.aligned.col.m8n32k16.global.s32 " EIGHT, 4, 4, c, 8 * 32, 8, 32, 2);
}

/* ---- arithmetic ---------------------------------------------------------------------------------------- */

static PtxProduct product_of(PtxType d, PtxType a, PtxType c, bool saturates) {
    return (PtxProduct){.m = 16,
                        .n = 8,
                        .k = 16,
                        .a = {.type = a},
                        .b = {.type = a},
                        .c = {.type = c},
                        .d = {.type = d},
                        .kept_bits = 25,
                        .saturates = saturates};
}

/* The first elements of a and b; the rest is 0. */
static uint64_t dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, int count, uint64_t c) {
    uint64_t all_a[MATRIX_MOST_K] = {0}, all_b[MATRIX_MOST_K] = {0};
    memcpy(all_a, a, (size_t)count * sizeof *a);
    memcpy(all_b, b, (size_t)count * sizeof *b);
    return matrix_dot(product, all_a, all_b, c);
}
#define DOT(product, c, a, b) dot(&(product), a, b, 2, c)
#define BITS(...)             ((const uint64_t[]){__VA_ARGS__})

enum {
    H_1 = 0x3c00,
    H_EPSILON = 0x1400 /* 2^-10 */,
    H_NAN = 0x7e00,
    H_INF = 0x7c00,
    H_LEAST = 0x0001 /* 2^-24 */
};

static void sums_keep_25_bits_and_are_cut(void **state) {
    (void)state;
    PtxProduct f32 = product_of(PTX_F32, PTX_F16, PTX_F32, false),
               f16 = product_of(PTX_F16, PTX_F16, PTX_F16, false);
    PtxProduct to_f16 = product_of(PTX_F16, PTX_F16, PTX_F32, false),
               tf32 = product_of(PTX_F32, PTX_TF32, PTX_F32, false);
    /* 1 + 2^-24 is truncated to 1, two of them are not lost on the way: 1 + 2^-23. */
    assert_int_equal(DOT(f32, 0x3f800000, BITS(0x0c00, 0), BITS(0x0c00, 0)), 0x3f800000);
    assert_int_equal(DOT(f32, 0x3f800000, BITS(0x0c00, 0x0c00), BITS(0x0c00, 0x0c00)), 0x3f800001);
    /* 1 - 2^-24 fits f32, 1 - 2^-26 becomes 1: truncated before the sum. */
    assert_int_equal(DOT(f32, 0x3f800000, BITS(0x8c00, 0), BITS(0x0c00, 0)), 0x3f7fffff);
    assert_int_equal(DOT(f32, 0x3f800000, BITS(0x8400, 0), BITS(0x0c00, 0)), 0x3f800000);
    /* Subnormals count. */
    assert_int_equal(DOT(f32, 0, BITS(H_LEAST, 0), BITS(H_LEAST, 0)), 0x27800000);
    /* f16 rounds to the nearest, ties to even: 1 + 2^-11, 1 + 2^-10 + 2^-11. */
    assert_int_equal(DOT(f16, H_1, BITS(0x1000, 0), BITS(H_1, 0)), H_1);
    assert_int_equal(DOT(f16, H_1 + 1, BITS(0x1000, 0), BITS(H_1, 0)), H_1 + 2);
    assert_int_equal(DOT(to_f16, 0x3f802000, BITS(0x1000, 0), BITS(H_1, 0)), H_1 + 2);
    assert_int_equal(DOT(f16, 0x7bff, BITS(0x7bff, 0), BITS(H_1, 0)), H_INF);
    /* NaN, infinity, and what has no sign. */
    assert_int_equal(DOT(f32, 0, BITS(H_NAN, 0), BITS(H_1, 0)), 0x7fffffff);
    assert_int_equal(DOT(f32, 0, BITS(H_INF, 0), BITS(0, 0)), 0x7fffffff);
    assert_int_equal(DOT(f32, 0xff800000, BITS(H_INF, 0), BITS(H_1, 0)), 0x7fffffff);
    assert_int_equal(DOT(f32, 0, BITS(H_INF, 0), BITS(0xbc00, 0)), 0xff800000);
    assert_int_equal(DOT(f16, 0, BITS(H_NAN, 0), BITS(H_1, 0)), 0x7fff);
    assert_int_equal(DOT(f32, 0x80000000, BITS(0, 0), BITS(0, 0)), 0);
    /* One after another: 1 + 2^-24 is truncated before the second 2^-24 is added. */
    f32.k_step = 1;
    assert_int_equal(DOT(f32, 0x3f800000, BITS(0x0c00, 0x0c00), BITS(0x0c00, 0x0c00)), 0x3f800000);
    /* The lowest 13 bits of tf32 are ignored. */
    assert_int_equal(DOT(tf32, 0, BITS(0x3f801fff, 0), BITS(0x3f800000, 0)), 0x3f800000);
}

static void integers_wrap_or_saturate_and_f64_is_a_chain(void **state) {
    (void)state;
    PtxProduct wraps = product_of(PTX_S32, PTX_S8, PTX_S32, false),
               stops = product_of(PTX_S32, PTX_U8, PTX_S32, true);
    assert_int_equal(DOT(wraps, 0x7fffffff, BITS(1, 0), BITS(1, 0)), 0x80000000);
    assert_int_equal(DOT(wraps, 0, BITS(0x80, 0xff), BITS(0x80, 2)), 16384 - 2);
    assert_int_equal(DOT(stops, 0x7fffffff, BITS(255, 0), BITS(255, 0)), 0x7fffffff);
    stops.a.type = PTX_S8;
    assert_int_equal(DOT(stops, 0x80000000, BITS(0xff, 0), BITS(1, 0)), 0x80000000);
    PtxProduct f64 = product_of(PTX_F64, PTX_F64, PTX_F64, false);
    uint64_t one = UINT64_C(0x3ff0000000000000), tiny = UINT64_C(0x3ca0000000000000),
             minus = UINT64_C(1) << 63 | one;
    /* (1 + 2^-53) - 1 is 0, in the order of k */
    assert_int_equal(DOT(f64, one, BITS(tiny, minus), BITS(one, one)), 0);
    assert_int_equal(DOT(f64, one, BITS(minus, tiny), BITS(one, one)), tiny);
}

static void a_result_of_another_machine_is_within_the_bound_or_not(void **state) {
    (void)state;
    PtxProduct f32 = product_of(PTX_F32, PTX_F16, PTX_F32, false),
               s32 = product_of(PTX_S32, PTX_S8, PTX_S32, false);
    uint64_t a[MATRIX_MOST_K] = {H_1, H_1, H_1}, b[MATRIX_MOST_K] = {H_1, H_EPSILON, 0x8400};
    uint64_t own = matrix_dot(&f32, a, b, 0x3f800000);
    assert_true(matrix_dot_is_within(&f32, a, b, 0x3f800000, own, own));
    assert_true(matrix_dot_is_within(&f32, a, b, 0x3f800000, own, own + 15)); /* of 18 * 2^-23 * 2 */
    assert_true(matrix_dot_is_within(&f32, a, b, 0x3f800000, own, own - 15));
    assert_false(matrix_dot_is_within(&f32, a, b, 0x3f800000, own, own + 40));
    assert_false(matrix_dot_is_within(&f32, a, b, 0x3f800000, own, 0x7fc00000));
    assert_false(matrix_dot_is_within(&s32, a, b, 5, 5, 6));
    a[0] = H_NAN;
    assert_true(matrix_dot_is_within(&f32, a, b, 0, 0x7fffffff, 0x7fc00000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mma_multiplies),
        cmocka_unit_test(any_bits_give_what_one_element_gives),
        cmocka_unit_test(every_wmma_loads_multiplies_and_stores),
        cmocka_unit_test(lanes_hold_of_wmma_what_the_machine_code_says),
        cmocka_unit_test(sums_keep_25_bits_and_are_cut),
        cmocka_unit_test(integers_wrap_or_saturate_and_f64_is_a_chain),
        cmocka_unit_test(a_result_of_another_machine_is_within_the_bound_or_not),
    };
    return cmocka_run_group_tests_name("products of matrices", tests, NULL, NULL);
}
