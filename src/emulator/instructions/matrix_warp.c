/* Products of a warp (matrix_warp.h).
 *
 * Floats are computed a column of 16 rows at a time: a product of two factors is exact in a float, and
 * multiplied by 2^(kept_bits - top) and converted to an integer it is cut where matrix_dot.h says. Elements
 * for which this does not hold (NaN, infinity, very large or small numbers) are left to matrix_dot(). */
#include "emulator/instructions/matrix_warp.h"

#include "emulator/instructions/matrix_dot.h"
#include "emulator/lanes/lanes.h"

#include <string.h>

enum { LANES = MATRIX_WARP_LANES, ROWS = MATRIX_WARP_ROWS };
/* Exponents. A larger factor or C is left to matrix_dot(), as are sums whose terms are all smaller. Zero has
 * none. */
enum { MOST_OF_FACTOR = 60, MOST_OF_C = 118, LEAST = -100, NONE = -1000 };

/* The bits of the elements of a line. */
static void unpack(const uint8_t line[MATRIX_LINE_BYTES], PtxType type, int count, uint64_t *elements) {
    size_t bytes = (size_t)ptx_type_bytes(type);
    for (int i = 0; i < count; i++) {
        elements[i] = 0;
        memcpy(&elements[i], line + (size_t)i * bytes, bytes);
    }
}

static uint32_t element(const PtxProduct *product, const MatrixLines *lines, int row, int column,
                        uint32_t c) {
    uint64_t a[MATRIX_MOST_K], b[MATRIX_MOST_K];
    unpack(lines->a[row], product->a.type, product->k, a);
    unpack(lines->b[column], product->b.type, product->k, b);
    for (int k = 0; lines->is_sparse && k < product->k; k++)
        if (!(lines->stored[row] >> k & 1)) b[k] = 0;
    return (uint32_t)matrix_dot(product, a, b, c);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* The bits of a float, of an element of this type. */
LANES_INLINE uint32_t float_bits(PtxType type, uint32_t bits) {
    switch (type) {
    case PTX_F16:
        return widen_f16(bits);
    case PTX_E5M2:
        return widen_f16(bits << 8);
    case PTX_E4M3: { /* the multiplication by 2^120 moves the exponent */
        uint32_t finite = bits_of(float_of((bits & 0x7f) << 20) * 1329227995784915872903807060280344576.0f) |
                          (bits & 0x80) << 24;
        return (bits & 0x7f) == 0x7f ? NAN_F32 : finite;
    }
    case PTX_BF16:
        return bits << 16;
    case PTX_TF32:
        return bits & ~UINT32_C(0x1fff);
    default:
        return bits;
    }
}

LANES_INLINE int32_t exponent_of(PtxType type, uint32_t bits) {
    uint32_t shift = type == PTX_F16    ? 10
                     : type == PTX_E5M2 ? 2
                     : type == PTX_E4M3 ? 3
                     : type == PTX_BF16 ? 7
                                        : 23;
    uint32_t most = type == PTX_F16 || type == PTX_E5M2 ? 31 : type == PTX_E4M3 ? 15 : 255;
    uint32_t field = bits >> shift & most;
    return (int32_t)(field ? field : 1) - (int32_t)(most >> 1);
}

/* Floats and exponents of these elements. Those with a larger exponent, infinities and NaN become 0, and are
 * marked. */
LANES_INLINE void read_numbers(PtxType type, int count, int most_exponent, const uint32_t *restrict bits,
                               uint32_t *restrict value, int32_t *restrict exponent,
                               uint32_t *restrict is_special) {
    LANES_INDEPENDENT for (int i = 0; i < count; i++) {
        uint32_t number = float_bits(type, bits[i]);
        int32_t own = exponent_of(type, bits[i]);
        uint32_t special = (uint32_t)(own > most_exponent) | (uint32_t)((number & 0x7fffffff) >= 0x7f800000);
        value[i] = number & (special - 1);
        exponent[i] = value[i] << 1 ? own : NONE;
        is_special[i] = special;
    }
}

/* The elements of a line along k. */
typedef struct LineNumbers {
    float value[MATRIX_MOST_K];
    int32_t exponent[MATRIX_MOST_K];
    bool is_special; /* an element is left to matrix_dot() */
} LineNumbers;

LANES_INLINE int bytes_of(PtxType type) {
    return type == PTX_TF32 ? 4 : type == PTX_F16 || type == PTX_BF16 ? 2 : 1;
}

LANES_INLINE void read_line_of(PtxType type, int count, const uint8_t line[MATRIX_LINE_BYTES],
                               LineNumbers *numbers) {
    int bytes = bytes_of(type);
    uint32_t bits[MATRIX_MOST_K], values[MATRIX_MOST_K], specials[MATRIX_MOST_K], special = 0;
    for (int k = 0; k < count; k++) {
        uint16_t half = 0;
        uint32_t word = 0;
        if (bytes == 2) memcpy(&half, line + 2 * k, sizeof half);
        if (bytes == 4) memcpy(&word, line + 4 * k, sizeof word);
        bits[k] = bytes == 1 ? line[k] : bytes == 2 ? half : word;
    }
    read_numbers(type, count, MOST_OF_FACTOR, bits, values, numbers->exponent, specials);
    memcpy(numbers->value, values, (size_t)count * sizeof *values);
    for (int k = 0; k < count; k++) special |= specials[k];
    numbers->is_special = special;
}

/* The type is a constant in each copy of read_line_of(). */
LANES_INLINE void read_line(PtxType type, int count, const uint8_t line[MATRIX_LINE_BYTES],
                            LineNumbers *numbers) {
    switch (type) {
    case PTX_F16:
        read_line_of(PTX_F16, count, line, numbers);
        return;
    case PTX_BF16:
        read_line_of(PTX_BF16, count, line, numbers);
        return;
    case PTX_TF32:
        read_line_of(PTX_TF32, count, line, numbers);
        return;
    case PTX_E4M3:
        read_line_of(PTX_E4M3, count, line, numbers);
        return;
    default:
        read_line_of(PTX_E5M2, count, line, numbers);
    }
}

/* ---- sums --------------------------------------------------------------------------------------------- */

/* One number for each row: vectors of the compiler's, which it splits where the machine has shorter ones. */
#define VECTOR_OF_ROWS(TYPE, NAME) typedef TYPE NAME __attribute__((vector_size(64), aligned(4), may_alias))
VECTOR_OF_ROWS(int32_t, RowIntegers);
VECTOR_OF_ROWS(float, RowFloats);

typedef struct RowNumbers {
    RowFloats value[MATRIX_MOST_K];
    RowIntegers exponent[MATRIX_MOST_K];
    bool is_special[ROWS], has_special;
} RowNumbers;

LANES_INLINE void read_rows(PtxType type, int count, const MatrixLines *lines, RowNumbers *rows) {
    rows->has_special = false;
    for (int row = 0; row < ROWS; row++) {
        LineNumbers line;
        read_line(type, count, lines->a[row], &line);
        for (int k = 0; k < count; k++) {
            rows->value[k][row] = line.value[k];
            rows->exponent[k][row] = line.exponent[k];
        }
        rows->is_special[row] = line.is_special;
        rows->has_special |= line.is_special;
    }
}

/* The sums of a column, in units of 2^(top - kept_bits). `sums`: two addends of each, as a sum may exceed
 * 32 bits. With 25 kept bits a term has 27 at most, and no more than 8 terms of an addend are not 0, and C.
 * `top` and `c`: of C. */
LANES_INLINE void cut_sums(int count, int kept_bits, const RowNumbers *a, const LineNumbers *b,
                           RowIntegers *top, const RowFloats *c, RowIntegers sums[2]) {
    RowIntegers most = *top;
    for (int k = 0; k < count; k++) {
        RowIntegers exponent = a->exponent[k] + b->exponent[k], is_more = exponent > most;
        most = (exponent & is_more) | (most & ~is_more);
    }
    RowIntegers least = (RowIntegers){0} + LEAST, is_less = most < least,
                used = (least & is_less) | (most & ~is_less), bits = (127 + kept_bits - used) << 23;
    RowFloats scale = (RowFloats)bits;
    sums[0] = __builtin_convertvector(*c * scale, RowIntegers);
    sums[1] = (RowIntegers){0};
    for (int k = 0; k < count; k += 8)
        for (int i = k; i < k + 4; i++) {
            sums[0] += __builtin_convertvector(a->value[i] * b->value[i] * scale, RowIntegers);
            sums[1] += __builtin_convertvector(a->value[i + 4] * b->value[i + 4] * scale, RowIntegers);
        }
    *top = most;
}

/* A column of D: c and d are the bits of its rows. True in `is_left`: not this row; returns whether there is
 * one. */
LANES_INLINE bool compute_column(int count, int kept_bits, PtxType type, const RowNumbers *a,
                                 const LineNumbers *b, const uint32_t c[ROWS], uint32_t d[ROWS],
                                 uint32_t is_left[ROWS]) {
    uint64_t unused = type == PTX_F16 ? 0 : ((uint64_t)1 << (kept_bits < 23 ? 52 - kept_bits : 29)) - 1;
    RowIntegers top, sums[2];
    RowFloats value;
    int32_t tops[ROWS], sum[2][ROWS];
    uint32_t values[ROWS], any = 0;
    read_numbers(type, ROWS, MOST_OF_C, c, values, tops, is_left);
    memcpy(&top, tops, sizeof top);
    memcpy(&value, values, sizeof value);
    cut_sums(count, kept_bits, a, b, &top, &value, sums);
    memcpy(tops, &top, sizeof tops);
    memcpy(sum, sums, sizeof sum);
    LANES_INDEPENDENT for (int row = 0; row < ROWS; row++) {
        /* Without a term any unit will do. */
        is_left[row] |= (uint32_t)(tops[row] < LEAST) & (uint32_t)(tops[row] > NONE / 2);
        int32_t used = tops[row] < LEAST ? LEAST : tops[row];
        double unit = double_of((uint64_t)(int64_t)(1023 + used - kept_bits) << 52);
        double whole = ((double)sum[0][row] + (double)sum[1][row]) * unit;
        uint64_t bits = bits_of_double(whole) & ~unused;
        uint32_t result = type == PTX_F16 ? narrow_f16(float_odd(whole)) : bits_of((float)double_of(bits));
        d[row] = result << 1 & (type == PTX_F16 ? 0xffffu : ~0u) ? result : 0; /* never -0 */
    }
    for (int row = 0; row < ROWS; row++) any |= is_left[row];
    return any;
}

LANES_INLINE void multiply(const PtxProduct *product, PtxType type, const MatrixLines *lines,
                           uint32_t registers[][LANES]) {
    enum { BLOCK = 8, LANES_OF_ROW = 4 };
    int parts = type == PTX_F16 ? 2 : 1, count = product->k;
    RowNumbers a;
    read_rows(product->a.type, count, lines, &a);
    for (int column = 0; column < product->n; column++) {
        LineNumbers b;
        uint32_t c[ROWS], d[ROWS], is_left[ROWS], mask = parts == 2 ? 0xffffu : ~0u;
        int odd = column % 2, lane = column % BLOCK / 2, shift = parts == 2 ? 16 * odd : 0;
        uint32_t *of[2] = {registers[parts == 2 ? column / BLOCK * 2 : column / BLOCK * 4 + odd] + lane,
                           registers[parts == 2 ? column / BLOCK * 2 + 1 : column / BLOCK * 4 + 2 + odd] +
                               lane};
        read_line(product->b.type, count, lines->b[column], &b);
        for (int row = 0; row < ROWS; row++)
            c[row] = of[row / BLOCK][row % BLOCK * LANES_OF_ROW] >> shift & mask;
        bool any = compute_column(count, product->kept_bits, type, &a, &b, c, d, is_left);
        for (int row = 0; (any || a.has_special || b.is_special) && row < ROWS; row++)
            if (is_left[row] || a.is_special[row] || b.is_special)
                d[row] = element(product, lines, row, column, c[row]);
        for (int row = 0; row < ROWS; row++) {
            uint32_t *bits = &of[row / BLOCK][row % BLOCK * LANES_OF_ROW];
            *bits = (*bits & ~(mask << shift)) | d[row] << shift;
        }
    }
}

/* The place in D that multiply() takes a register's part for. */
static PtxMatrixPlace place_in_d(int lane, int index, int part, int parts) {
    int pairs = parts == 2 ? index : index / 2;
    return (PtxMatrixPlace){.row = lane / 4 + pairs % 2 * 8,
                            .column = pairs / 2 * 8 + lane % 4 * 2 + (parts == 2 ? part : index % 2)};
}

static bool is_float_product(const PtxProduct *product) {
    PtxType a = product->a.type, b = product->b.type, d = product->d.type;
    bool is_fp8 = (a == PTX_E4M3 || a == PTX_E5M2) && (b == PTX_E4M3 || b == PTX_E5M2);
    return (d == PTX_F32 || d == PTX_F16) &&
           (is_fp8 || (a == b && (a == PTX_F16 || a == PTX_BF16 || a == PTX_TF32)));
}

bool matrix_warp_takes(const PtxProduct *product) {
    const PtxFragment *d = &product->d;
    if (product->m != ROWS || product->converts || product->k_step || product->c.type != d->type ||
        product->c.distinct != product->c.registers || !is_float_product(product))
        return false;
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < d->registers; r++)
            for (int part = 0; part < d->parts; part++) {
                PtxMatrixPlace place = ptx_fragment_place(d, lane, r, part),
                               taken = place_in_d(lane, r, part, d->parts);
                if (place.row != taken.row || place.column != taken.column) return false;
            }
    return true;
}

/* The type of D is a constant in each copy of multiply(). */
#define LEVEL(NAME, TARGET)                                                                                  \
    TARGET static void NAME(const PtxProduct *product, const MatrixLines *lines,                             \
                            uint32_t registers[][LANES]) {                                                   \
        if (product->d.type == PTX_F16)                                                                      \
            multiply(product, PTX_F16, lines, registers);                                                    \
        else                                                                                                 \
            multiply(product, PTX_F32, lines, registers);                                                    \
    }
LEVEL(multiply_plain, )
#if LANES_HAVE_LEVELS
LEVEL(multiply_avx2, LANES_AVX2)
LEVEL(multiply_avx512, LANES_AVX512)
#endif

static void multiply_integers(const PtxProduct *product, const MatrixLines *lines,
                              uint32_t registers[][LANES]) {
    for (int r = 0; r < product->d.registers; r++)
        for (int lane = 0; lane < LANES; lane++) {
            PtxMatrixPlace place = ptx_fragment_place(&product->d, lane, r, 0);
            registers[r][lane] = element(product, lines, place.row, place.column, registers[r][lane]);
        }
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
