/* Products of a warpgroup, the part of one warp (matrix_warp.h).
 *
 * Floats are computed 32 lanes at a time: a product of two factors is exact in a float, and multiplied by
 * 2^(kept_bits - top) and converted to an integer it is cut where matrix_dot.h says. Elements for which this
 * does not hold (NaN, infinity, very large or small numbers) are left to matrix_dot(). */
#include "emulator/instructions/matrix_warp.h"

#include "emulator/instructions/matrix_dot.h"
#include "emulator/lanes/lanes.h"

#include <string.h>

enum { LANES = MATRIX_WARP_LANES, LANES_OF_ROW = 4, BLOCK = 8, HALVES = 2 };
/* Exponents. A larger factor or C is left to matrix_dot(), as are sums whose terms are all smaller. Zero has
 * none. */
enum { MOST_OF_FACTOR = 60, MOST_OF_C = 118, LEAST = -100, NONE = -1000 };

/* The bits of the elements of a line. */
static void unpack(const uint8_t line[MATRIX_LINE_BYTES], int count, uint64_t *elements) {
    size_t bytes = MATRIX_LINE_BYTES / (size_t)count;
    for (int i = 0; i < count; i++) {
        elements[i] = 0;
        memcpy(&elements[i], line + (size_t)i * bytes, bytes);
    }
}

static uint32_t element(const PtxProduct *product, const MatrixLines *lines, int r, int lane, int part,
                        uint32_t c) {
    uint64_t a[MATRIX_MOST_K], b[MATRIX_MOST_K];
    PtxMatrixPlace place = ptx_fragment_place(&product->d, lane, r, part);
    unpack(lines->a[place.row], product->k, a);
    unpack(lines->b[place.column], product->k, b);
    return (uint32_t)matrix_dot(product, a, b, c);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

typedef struct PlainNumber {
    uint32_t bits; /* of a float */
    int32_t exponent;
} PlainNumber;

LANES_INLINE int32_t exponent_of(uint32_t field, int bias) {
    return (int32_t)(field ? field : 1) - bias;
}

LANES_INLINE PlainNumber number_of(PtxType type, uint32_t bits) {
    PlainNumber number;
    switch (type) {
    case PTX_F16:
        number = (PlainNumber){widen_f16(bits), exponent_of(bits >> 10 & 31, 15)};
        break;
    case PTX_E5M2:
        number = (PlainNumber){widen_f16(bits << 8), exponent_of(bits >> 2 & 31, 15)};
        break;
    case PTX_E4M3: /* the multiplication by 2^120 moves the exponent */
        number.bits =
            (bits & 0x7f) == 0x7f
                ? NAN_F32
                : bits_of(float_of((bits & 0x7f) << 20) * 1329227995784915872903807060280344576.0f) |
                      (bits & 0x80) << 24;
        number.exponent = exponent_of(bits >> 3 & 15, 7);
        break;
    case PTX_BF16:
        number = (PlainNumber){bits << 16, exponent_of(bits >> 7 & 255, 127)};
        break;
    case PTX_TF32:
        bits &= ~UINT32_C(0x1fff);
        number = (PlainNumber){bits, exponent_of(bits >> 23 & 255, 127)};
        break;
    default:
        number = (PlainNumber){bits, exponent_of(bits >> 23 & 255, 127)};
    }
    if (!(number.bits << 1)) number.exponent = NONE;
    return number;
}

/* Elements of A or B along k, for the 32 lanes that multiply them. */
typedef struct LaneFactors {
    float value[MATRIX_MOST_K][LANES];
    int32_t exponent[MATRIX_MOST_K][LANES];
    bool is_special[LANES]; /* an element is left to matrix_dot() */
} LaneFactors;

/* Sets element k of `count` lanes, `first` and every `stride`-th after it: a row of A is in four lanes, a
 * column of B in eight. */
LANES_INLINE void set_factor(LaneFactors *factors, int k, int first, int stride, int count,
                             PlainNumber number) {
    bool is_special = number.exponent > MOST_OF_FACTOR || (number.bits & 0x7fffffff) >= 0x7f800000;
    float value = is_special ? 0 : float_of(number.bits);
    for (int i = 0; i < count; i++) {
        factors->value[k][first + i * stride] = value;
        factors->exponent[k][first + i * stride] = is_special ? NONE : number.exponent;
    }
    for (int i = 0; is_special && i < count; i++) factors->is_special[first + i * stride] = true;
}

LANES_INLINE uint32_t bits_at(const uint8_t *line, int k, int bytes) {
    uint32_t bits = 0;
    memcpy(&bits, line + k * bytes, (size_t)bytes);
    return bits;
}

/* Rows `8 * half` and following. */
LANES_INLINE void read_rows(PtxType type, int bytes, const MatrixLines *lines, int half,
                            LaneFactors *factors) {
    memset(factors->is_special, 0, sizeof factors->is_special);
    for (int row = 0; row < BLOCK; row++)
        for (int k = 0; k < MATRIX_LINE_BYTES / bytes; k++)
            set_factor(factors, k, row * LANES_OF_ROW, 1, LANES_OF_ROW,
                       number_of(type, bits_at(lines->a[half * BLOCK + row], k, bytes)));
}

/* Every second column from `first` on. */
LANES_INLINE void read_columns(PtxType type, int bytes, const MatrixLines *lines, int first,
                               LaneFactors *factors) {
    memset(factors->is_special, 0, sizeof factors->is_special);
    for (int column = 0; column < LANES_OF_ROW; column++)
        for (int k = 0; k < MATRIX_LINE_BYTES / bytes; k++)
            set_factor(factors, k, column, LANES_OF_ROW, BLOCK,
                       number_of(type, bits_at(lines->b[first + 2 * column], k, bytes)));
}

/* ---- sums --------------------------------------------------------------------------------------------- */

/* One element of D for each lane. True in `is_left`: not this one. */
LANES_INLINE void cut_sums(int count, int kept_bits, PtxType type, const LaneFactors *a, const LaneFactors *b,
                           const uint32_t *restrict c, uint32_t *restrict d, uint8_t *restrict is_left) {
    uint64_t unused = type == PTX_F16 ? 0 : ((uint64_t)1 << (kept_bits < 23 ? 52 - kept_bits : 29)) - 1;
    LANES_INDEPENDENT for (int l = 0; l < LANES; l++) {
        PlainNumber of_c = number_of(type, c[l]);
        int32_t is_large = of_c.exponent > MOST_OF_C || (of_c.bits & 0x7fffffff) >= 0x7f800000;
        int32_t top = is_large ? NONE : of_c.exponent;
        float value = is_large ? 0 : float_of(of_c.bits);
        for (int k = 0; k < count; k++) {
            int32_t exponent = a->exponent[k][l] + b->exponent[k][l];
            top = exponent > top ? exponent : top;
        }
        /* Zeros only: any scale will do. */
        int32_t is_small = top < LEAST && top > NONE / 2;
        top = top < LEAST ? LEAST : top;
        float scale = float_of((uint32_t)(127 + kept_bits - top) << 23);
        int32_t first = (int32_t)(value * scale), second = 0;
        for (int k = 0; k < count; k += 2) {
            first += (int32_t)(a->value[k][l] * b->value[k][l] * scale);
            second += (int32_t)(a->value[k + 1][l] * b->value[k + 1][l] * scale);
        }
        double unit = double_of((uint64_t)(int64_t)(1023 + top - kept_bits) << 52);
        double sum = ((double)first + (double)second) * unit;
        uint64_t bits = bits_of_double(sum) & ~unused;
        uint32_t result = type == PTX_F16 ? narrow_f16(float_odd(sum)) : bits_of((float)double_of(bits));
        d[l] = result << 1 & (type == PTX_F16 ? 0xffffu : ~0u) ? result : 0;
        is_left[l] = (uint8_t)(is_large | is_small);
    }
}

LANES_INLINE void multiply(const PtxProduct *product, PtxType type_a, PtxType type_b, int count, PtxType type,
                           const MatrixLines *lines, uint32_t registers[][LANES]) {
    LaneFactors a[HALVES], b;
    int bytes = MATRIX_LINE_BYTES / count, parts = type == PTX_F16 ? 2 : 1;
    for (int h = 0; h < HALVES; h++) read_rows(type_a, bytes, lines, h, &a[h]);
    for (int column = 0; column < product->n; column += BLOCK)
        for (int odd = 0; odd < 2; odd++) {
            read_columns(type_b, bytes, lines, column + odd, &b);
            for (int h = 0; h < HALVES; h++) {
                int r = parts == 2 ? column / 4 + h : column / 2 + 2 * h + odd,
                    shift = parts == 2 ? 16 * odd : 0;
                uint32_t c[LANES], d[LANES], mask = parts == 2 ? 0xffffu : ~0u;
                uint8_t is_left[LANES], any = 0;
                for (int l = 0; l < LANES; l++) c[l] = registers[r][l] >> shift & mask;
                cut_sums(count, product->kept_bits, type, &a[h], &b, c, d, is_left);
                for (int l = 0; l < LANES; l++) any |= is_left[l] | a[h].is_special[l] | b.is_special[l];
                for (int l = 0; any && l < LANES; l++)
                    if (is_left[l] | a[h].is_special[l] | b.is_special[l])
                        d[l] = element(product, lines, r, l, parts == 2 ? odd : 0, c[l]);
                for (int l = 0; l < LANES; l++)
                    registers[r][l] = (registers[r][l] & ~(mask << shift)) | d[l] << shift;
            }
        }
}

/* The types are constants in each copy of multiply(). */
#define FORM(A, B, COUNT)                                                                                    \
    if (product->a.type == A && product->b.type == B) {                                                      \
        if (product->d.type == PTX_F16)                                                                      \
            multiply(product, A, B, COUNT, PTX_F16, lines, registers);                                       \
        else                                                                                                 \
            multiply(product, A, B, COUNT, PTX_F32, lines, registers);                                       \
        return;                                                                                              \
    }
#define LEVEL(NAME, TARGET)                                                                                  \
    TARGET static void NAME(const PtxProduct *product, const MatrixLines *lines,                             \
                            uint32_t registers[][LANES]) {                                                   \
        FORM(PTX_F16, PTX_F16, 16)                                                                           \
        FORM(PTX_BF16, PTX_BF16, 16)                                                                         \
        FORM(PTX_TF32, PTX_TF32, 8)                                                                          \
        FORM(PTX_E4M3, PTX_E4M3, 32)                                                                         \
        FORM(PTX_E5M2, PTX_E5M2, 32)                                                                         \
        FORM(PTX_E4M3, PTX_E5M2, 32)                                                                         \
        FORM(PTX_E5M2, PTX_E4M3, 32)                                                                         \
    }
LEVEL(multiply_plain, )
#if LANES_HAVE_LEVELS
LEVEL(multiply_avx2, LANES_AVX2)
LEVEL(multiply_avx512, LANES_AVX512)
#endif

static void multiply_integers(const PtxProduct *product, const MatrixLines *lines,
                              uint32_t registers[][LANES]) {
    for (int r = 0; r < product->d.registers; r++)
        for (int lane = 0; lane < LANES; lane++)
            registers[r][lane] = element(product, lines, r, lane, 0, registers[r][lane]);
}

void matrix_warp_multiply(const PtxProduct *product, const MatrixLines *lines,
                          uint32_t registers[][MATRIX_WARP_LANES]) {
    if (product->d.type == PTX_S32) {
        multiply_integers(product, lines, registers);
        return;
    }
#if LANES_HAVE_LEVELS
    int level = lanes_level();
    (level == 2 ? multiply_avx512 : level == 1 ? multiply_avx2 : multiply_plain)(product, lines, registers);
#else
    multiply_plain(product, lines, registers);
#endif
}
