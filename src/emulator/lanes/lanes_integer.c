/* Integer arithmetic, including extended precision: "Integer Arithmetic Instructions" and "Extended-Precision
 * Integer Arithmetic Instructions".
 *
 * Wrapping arithmetic is the same for signed and unsigned values, so most handlers exist once per width. */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"

#define S16(x) ((int16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

/* ---- wrapping -------------------------------------------------------------------------------------- */

BINARY(add_16, uint16_t, uint16_t, a[l] + b[l])
BINARY(add_32, uint32_t, uint32_t, a[l] + b[l])
BINARY(add_64, uint64_t, uint64_t, a[l] + b[l])
BINARY(sub_16, uint16_t, uint16_t, a[l] - b[l])
BINARY(sub_32, uint32_t, uint32_t, a[l] - b[l])
BINARY(sub_64, uint64_t, uint64_t, a[l] - b[l])

/* Two 16-bit lanes in a word: carries must not cross bit 15. */
#define ADD_HALVES(a, b) ((((a)&0x7fff7fffu) + ((b)&0x7fff7fffu)) ^ (((a) ^ (b)) & 0x80008000u))
BINARY(add_16x2, uint32_t, uint32_t, ADD_HALVES(a[l], b[l]))

BINARY(mul_lo_16, uint16_t, uint16_t, (uint32_t)a[l] * b[l])
BINARY(mul_lo_32, uint32_t, uint32_t, a[l] * b[l])
BINARY(mul_lo_64, uint64_t, uint64_t, a[l] * b[l])
BINARY(mul_hi_u16, uint16_t, uint16_t, ((uint32_t)a[l] * b[l]) >> 16)
BINARY(mul_hi_s16, uint16_t, uint16_t, (S16(a[l]) * S16(b[l])) >> 16)
BINARY(mul_hi_u32, uint32_t, uint32_t, ((uint64_t)a[l] * b[l]) >> 32)
BINARY(mul_hi_s32, uint32_t, uint32_t, ((int64_t)S32(a[l]) * S32(b[l])) >> 32)
SLOW_BINARY(mul_hi_u64, uint64_t, uint64_t, ((Wide)a[l] * b[l]) >> 64)
SLOW_BINARY(mul_hi_s64, uint64_t, uint64_t, ((SignedWide)S64(a[l]) * S64(b[l])) >> 64)
BINARY(mul_wide_u16, uint32_t, uint16_t, (uint32_t)a[l] * b[l])
BINARY(mul_wide_s16, uint32_t, uint16_t, S16(a[l]) * S16(b[l]))
BINARY(mul_wide_u32, uint64_t, uint32_t, (uint64_t)a[l] * b[l])
BINARY(mul_wide_s32, uint64_t, uint32_t, (int64_t)S32(a[l]) * S32(b[l]))

TERNARY(mad_lo_16, uint16_t, uint16_t, uint16_t, (uint32_t)a[l] * b[l] + c[l])
TERNARY(mad_lo_32, uint32_t, uint32_t, uint32_t, a[l] * b[l] + c[l])
TERNARY(mad_lo_64, uint64_t, uint64_t, uint64_t, a[l] * b[l] + c[l])
TERNARY(mad_hi_u16, uint16_t, uint16_t, uint16_t, (((uint32_t)a[l] * b[l]) >> 16) + c[l])
TERNARY(mad_hi_s16, uint16_t, uint16_t, uint16_t, ((S16(a[l]) * S16(b[l])) >> 16) + c[l])
TERNARY(mad_hi_u32, uint32_t, uint32_t, uint32_t, (((uint64_t)a[l] * b[l]) >> 32) + c[l])
TERNARY(mad_hi_s32, uint32_t, uint32_t, uint32_t, (uint64_t)(((int64_t)S32(a[l]) * S32(b[l])) >> 32) + c[l])
SLOW_TERNARY(mad_hi_u64, uint64_t, uint64_t, uint64_t, (((Wide)a[l] * b[l]) >> 64) + c[l])
SLOW_TERNARY(mad_hi_s64, uint64_t, uint64_t, uint64_t,
             (Wide)(((SignedWide)S64(a[l]) * S64(b[l])) >> 64) + c[l])
TERNARY(mad_wide_u16, uint32_t, uint16_t, uint32_t, (uint32_t)a[l] * b[l] + c[l])
TERNARY(mad_wide_s16, uint32_t, uint16_t, uint32_t, (uint32_t)(S16(a[l]) * S16(b[l])) + c[l])
TERNARY(mad_wide_u32, uint64_t, uint32_t, uint64_t, (uint64_t)a[l] * b[l] + c[l])
TERNARY(mad_wide_s32, uint64_t, uint32_t, uint64_t, (uint64_t)((int64_t)S32(a[l]) * S32(b[l])) + c[l])

/* 24-bit operands: bits above 23 are ignored, s32 is sign-extended from bit 23. */
#define U24(x) ((uint64_t)((x)&0xffffffu))
#define S24(x) ((int64_t)(S32((x) << 8) >> 8))
BINARY(mul24_lo_u32, uint32_t, uint32_t, U24(a[l]) * U24(b[l]))
BINARY(mul24_lo_s32, uint32_t, uint32_t, S24(a[l]) * S24(b[l]))
BINARY(mul24_hi_u32, uint32_t, uint32_t, (U24(a[l]) * U24(b[l])) >> 16)
BINARY(mul24_hi_s32, uint32_t, uint32_t, (S24(a[l]) * S24(b[l])) >> 16)
TERNARY(mad24_lo_u32, uint32_t, uint32_t, uint32_t, U24(a[l]) * U24(b[l]) + c[l])
TERNARY(mad24_lo_s32, uint32_t, uint32_t, uint32_t, (uint64_t)(S24(a[l]) * S24(b[l])) + c[l])
TERNARY(mad24_hi_u32, uint32_t, uint32_t, uint32_t, ((U24(a[l]) * U24(b[l])) >> 16) + c[l])
TERNARY(mad24_hi_s32, uint32_t, uint32_t, uint32_t, (uint64_t)((S24(a[l]) * S24(b[l])) >> 16) + c[l])

/* ---- saturating ------------------------------------------------------------------------------------ */

LANES_INLINE int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}
#define CLAMP_S32(x)           clamp((x), INT32_MIN, INT32_MAX)
#define CLAMP_U32(x)           clamp((x), 0, UINT32_MAX)
#define LOW(x)                 ((x)&0xffffu)
#define PAIR(LIMIT, low, high) ((uint32_t)(uint16_t)LIMIT(low) | (uint32_t)(uint16_t)LIMIT(high) << 16)
#define CLAMP_S16(x)           clamp((x), INT16_MIN, INT16_MAX)
#define CLAMP_U16(x)           clamp((x), 0, UINT16_MAX)

BINARY(add_sat_s32, uint32_t, uint32_t, CLAMP_S32((int64_t)S32(a[l]) + S32(b[l])))
BINARY(add_sat_u32, uint32_t, uint32_t, CLAMP_U32((int64_t)a[l] + b[l]))
BINARY(sub_sat_s32, uint32_t, uint32_t, CLAMP_S32((int64_t)S32(a[l]) - S32(b[l])))
BINARY(sub_sat_u32, uint32_t, uint32_t, CLAMP_U32((int64_t)a[l] - b[l]))
BINARY(add_sat_s16x2, uint32_t, uint32_t,
       PAIR(CLAMP_S16, S16(a[l]) + S16(b[l]), S16(a[l] >> 16) + S16(b[l] >> 16)))
BINARY(add_sat_u16x2, uint32_t, uint32_t,
       PAIR(CLAMP_U16, (int64_t)LOW(a[l]) + LOW(b[l]), (int64_t)(a[l] >> 16) + (b[l] >> 16)))
TERNARY(mad_hi_sat_s32, uint32_t, uint32_t, uint32_t,
        CLAMP_S32((((int64_t)S32(a[l]) * S32(b[l])) >> 32) + S32(c[l])))
TERNARY(mad24_hi_sat_s32, uint32_t, uint32_t, uint32_t,
        CLAMP_S32(((S24(a[l]) * S24(b[l])) >> 16) + S32(c[l])))

/* ---- differences, signs, order --------------------------------------------------------------------- */

#define SAD(T) ((T)a[l] < (T)b[l] ? b[l] - a[l] : a[l] - b[l])
TERNARY(sad_u16, uint16_t, uint16_t, uint16_t, c[l] + SAD(uint16_t))
TERNARY(sad_s16, uint16_t, uint16_t, uint16_t, c[l] + SAD(int16_t))
TERNARY(sad_u32, uint32_t, uint32_t, uint32_t, c[l] + SAD(uint32_t))
TERNARY(sad_s32, uint32_t, uint32_t, uint32_t, c[l] + SAD(int32_t))
TERNARY(sad_u64, uint64_t, uint64_t, uint64_t, c[l] + SAD(uint64_t))
TERNARY(sad_s64, uint64_t, uint64_t, uint64_t, c[l] + SAD(int64_t))

/* The most negative value is its own negation and its own absolute value. */
UNARY(abs_16, uint16_t, uint16_t, S16(a[l]) < 0 ? 0u - a[l] : a[l])
UNARY(abs_32, uint32_t, uint32_t, S32(a[l]) < 0 ? 0u - a[l] : a[l])
UNARY(abs_64, uint64_t, uint64_t, S64(a[l]) < 0 ? 0u - a[l] : a[l])
UNARY(neg_16, uint16_t, uint16_t, 0u - a[l])
UNARY(neg_32, uint32_t, uint32_t, 0u - a[l])
UNARY(neg_64, uint64_t, uint64_t, 0u - a[l])

#define MIN(T, x, y) ((T)(x) < (T)(y) ? (x) : (y))
#define MAX(T, x, y) ((T)(x) > (T)(y) ? (x) : (y))
#define ORDER(NAME, PICK)                                                                                    \
    BINARY(NAME##_u16, uint16_t, uint16_t, PICK(uint16_t, a[l], b[l]))                                       \
    BINARY(NAME##_s16, uint16_t, uint16_t, PICK(int16_t, a[l], b[l]))                                        \
    BINARY(NAME##_u32, uint32_t, uint32_t, PICK(uint32_t, a[l], b[l]))                                       \
    BINARY(NAME##_s32, uint32_t, uint32_t, PICK(int32_t, a[l], b[l]))                                        \
    BINARY(NAME##_u64, uint64_t, uint64_t, PICK(uint64_t, a[l], b[l]))                                       \
    BINARY(NAME##_s64, uint64_t, uint64_t, PICK(int64_t, a[l], b[l]))                                        \
    BINARY(NAME##_u16x2, uint32_t, uint32_t,                                                                 \
           PAIR(, PICK(uint16_t, LOW(a[l]), LOW(b[l])), PICK(uint16_t, a[l] >> 16, b[l] >> 16)))             \
    BINARY(NAME##_s16x2, uint32_t, uint32_t,                                                                 \
           PAIR(, PICK(int16_t, LOW(a[l]), LOW(b[l])), PICK(int16_t, a[l] >> 16, b[l] >> 16)))               \
    BINARY(NAME##_relu_s32, uint32_t, uint32_t, MAX(int32_t, PICK(int32_t, a[l], b[l]), 0))                  \
    BINARY(NAME##_relu_s16x2, uint32_t, uint32_t,                                                            \
           PAIR(, MAX(int16_t, PICK(int16_t, LOW(a[l]), LOW(b[l])), 0),                                      \
                MAX(int16_t, PICK(int16_t, a[l] >> 16, b[l] >> 16), 0)))
ORDER(min, MIN)
ORDER(max, MAX)

/* ---- four bytes in a word (PTX ISA 9.2) -------------------------------------------------------------- */

#define CLAMP_S8(x) clamp((x), INT8_MIN, INT8_MAX)
#define CLAMP_U8(x) clamp((x), 0, UINT8_MAX)
#define BYTE(T, FORM, i)                                                                                     \
    ((uint32_t)(uint8_t)FORM((int)(T)(a[l] >> 8 * (i)), (int)(T)(b[l] >> 8 * (i))) << 8 * (i))
#define BYTES(NAME, T, FORM)                                                                                 \
    SLOW_BINARY(NAME, uint32_t, uint32_t,                                                                    \
                BYTE(T, FORM, 0) | BYTE(T, FORM, 1) | BYTE(T, FORM, 2) | BYTE(T, FORM, 3))
#define SUM_OF(x, y)        ((x) + (y))
#define DIFFERENCE_OF(x, y) ((x) - (y))
#define SUM_S8(x, y)        CLAMP_S8((x) + (y))
#define SUM_U8(x, y)        CLAMP_U8((x) + (y))
#define DIFFERENCE_S8(x, y) CLAMP_S8((x) - (y))
#define DIFFERENCE_U8(x, y) CLAMP_U8((x) - (y))
#define LEAST(x, y)         MIN(int, x, y)
#define MOST(x, y)          MAX(int, x, y)
#define LEAST_RELU(x, y)    MAX(int, LEAST(x, y), 0)
#define MOST_RELU(x, y)     MAX(int, MOST(x, y), 0)
BYTES(add_8x4, uint8_t, SUM_OF)
BYTES(sub_8x4, uint8_t, DIFFERENCE_OF)
BYTES(add_sat_s8x4, int8_t, SUM_S8)
BYTES(add_sat_u8x4, uint8_t, SUM_U8)
BYTES(sub_sat_s8x4, int8_t, DIFFERENCE_S8)
BYTES(sub_sat_u8x4, uint8_t, DIFFERENCE_U8)
BYTES(min_s8x4, int8_t, LEAST)
BYTES(min_u8x4, uint8_t, LEAST)
BYTES(max_s8x4, int8_t, MOST)
BYTES(max_u8x4, uint8_t, MOST)
BYTES(min_relu_s8x4, int8_t, LEAST_RELU)
BYTES(max_relu_s8x4, int8_t, MOST_RELU)
#define NEGATED_BYTE(i) ((uint32_t)(uint8_t)(0u - (a[l] >> 8 * (i))) << 8 * (i))
SLOW_UNARY(neg_8x4, uint32_t, uint32_t, NEGATED_BYTE(0) | NEGATED_BYTE(1) | NEGATED_BYTE(2) | NEGATED_BYTE(3))

/* ---- division -------------------------------------------------------------------------------------- */

/* "Division by zero yields an unspecified, machine-specific value": an H200 gives all ones, also for the
 * remainder. The quotient of the most negative value and -1 wraps, like its negation; the host would trap. */
#define DIVIDE(U, T)           (b[l] == 0 ? (U)-1 : (U)((T)a[l] / (T)b[l]))
#define DIVIDE_SIGNED(U, T)    (b[l] == (U)-1 ? 0u - a[l] : DIVIDE(U, T))
#define REMAINDER(U, T)        (b[l] == 0 ? (U)-1 : (U)((T)a[l] % (T)b[l]))
#define REMAINDER_SIGNED(U, T) (b[l] == (U)-1 ? 0u : REMAINDER(U, T))
#define DIVISIONS(BITS)                                                                                      \
    SLOW_BINARY(div_u##BITS, uint##BITS##_t, uint##BITS##_t, DIVIDE(uint##BITS##_t, uint##BITS##_t))         \
    SLOW_BINARY(div_s##BITS, uint##BITS##_t, uint##BITS##_t, DIVIDE_SIGNED(uint##BITS##_t, int##BITS##_t))   \
    SLOW_BINARY(rem_u##BITS, uint##BITS##_t, uint##BITS##_t, REMAINDER(uint##BITS##_t, uint##BITS##_t))      \
    SLOW_BINARY(rem_s##BITS, uint##BITS##_t, uint##BITS##_t, REMAINDER_SIGNED(uint##BITS##_t, int##BITS##_t))
DIVISIONS(16)
DIVISIONS(64)

/* 32 bits, vectorized, so without comparisons and without conversions of doubles to integers: with a = k b +
 * j, (a + 1/2) / b - 1/2 lies between k - 1/2 + 1 / 2b and k + 1/2 - 1 / 2b, and doubles are exact to far
 * less than 1 / 2b there (k <= 2^32 / b), so the nearest integer is k. Adding 1.5 * 2^52 rounds to it. */
LANES_INLINE uint32_t divide_u32(uint32_t a, uint32_t b) {
    const double magic = 6755399441055744.0, half = 2147483648.0;
    double x = (double)(int32_t)(a ^ 0x80000000u) + (half + 0.5),
           y = (double)(int32_t)(b ^ 0x80000000u) + half;
    return (uint32_t)bits_of_double(x / y - 0.5 + magic) | (b ? 0 : UINT32_MAX);
}
LANES_INLINE uint32_t magnitude(uint32_t x) {
    return x >> 31 ? 0u - x : x;
}
LANES_INLINE uint32_t divide_s32(uint32_t a, uint32_t b) {
    uint32_t quotient = divide_u32(magnitude(a), magnitude(b));
    return b && (a ^ b) >> 31 ? 0u - quotient : quotient;
}
BINARY(div_u32, uint32_t, uint32_t, divide_u32(a[l], b[l]))
BINARY(div_s32, uint32_t, uint32_t, divide_s32(a[l], b[l]))
#define REST(DIVIDE)                                                                                         \
    ((a[l] - DIVIDE(a[l], b[l]) * b[l]) | (b[l] ? 0 : UINT32_MAX)) /* otherwise the loop is not vectorized */
/* If every divisor is a power of two, as usual in reductions, the remainder is the low bits. */
HANDLER(rem_u32) {
    uint32_t *d = operand_at(warp, op->d), other = 0;
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);
    for (int l = 0; l < WARP_LANES; l++) other |= (b[l] & (b[l] - 1)) | (b[l] - 1) >> 31; /* 0 is not one */
    if (other)
        EACH_LANE(uint32_t, REST(divide_u32));
    else
        EACH_LANE(uint32_t, a[l] & (b[l] - 1));
}
BINARY(rem_s32, uint32_t, uint32_t, REST(divide_s32))

/* ---- carries --------------------------------------------------------------------------------------- */

/* One row of handlers per width: d and the carry of a sum. s[3] is CC.CF; number[0] says whether it is read,
 * number[1] whether it is written, number[2] what is added if it is not read.
 *
 * The manual speaks of a borrow, but every instruction sets the same carry: a - b is a + ~b + 1 and carries
 * when it does not borrow. Only sequences that mix additions and subtractions can tell; this is what an H200
 * does. */
#define CARRY_HANDLER(NAME, T, W, SUM)                                                                       \
    SLOW_HANDLER(NAME) {                                                                                     \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),                            \
                *c = operand_at(warp, op->s[2]);                                                             \
        uint32_t in = op->number[0] ? *(const uint32_t *)operand_at(warp, op->s[3])                          \
                                    : (uint32_t)op->number[2],                                               \
                 out = 0;                                                                                    \
        (void)b;                                                                                             \
        EACH_ACTIVE_LANE {                                                                                   \
            W sum = (SUM);                                                                                   \
            d[l] = (T)sum;                                                                                   \
            out |= ((sum >> (8 * sizeof(T))) & 1) ? lane_bit[l] : 0;                                         \
        }                                                                                                    \
        (void)c;                                                                                             \
        if (op->number[1]) SET_PREDICATE(op->s[3], out);                                                     \
    }
#define IN     ((in >> l) & 1)
#define HI_S64 ((uint64_t)(((SignedWide)S64(a[l]) * S64(b[l])) >> 64))
#define HI_S32 ((uint32_t)(((int64_t)S32(a[l]) * S32(b[l])) >> 32))
CARRY_HANDLER(addc_32, uint32_t, uint64_t, (uint64_t)a[l] + b[l] + IN)
CARRY_HANDLER(addc_64, uint64_t, Wide, (Wide)a[l] + b[l] + IN)
CARRY_HANDLER(subc_32, uint32_t, uint64_t, (uint64_t)a[l] + (uint32_t)~b[l] + IN)
CARRY_HANDLER(subc_64, uint64_t, Wide, (Wide)a[l] + ~b[l] + IN)
CARRY_HANDLER(madc_lo_32, uint32_t, uint64_t, (uint64_t)(a[l] * b[l]) + c[l] + IN)
CARRY_HANDLER(madc_lo_64, uint64_t, Wide, (Wide)(a[l] * b[l]) + c[l] + IN)
CARRY_HANDLER(madc_hi_u32, uint32_t, uint64_t, (((uint64_t)a[l] * b[l]) >> 32) + c[l] + IN)
CARRY_HANDLER(madc_hi_s32, uint32_t, uint64_t, (uint64_t)HI_S32 + c[l] + IN)
CARRY_HANDLER(madc_hi_u64, uint64_t, Wide, (((Wide)a[l] * b[l]) >> 64) + c[l] + IN)
CARRY_HANDLER(madc_hi_s64, uint64_t, Wide, (Wide)HI_S64 + c[l] + IN)

/* ---- lowering -------------------------------------------------------------------------------------- */

#define WIDTHS(NAME)                                                                                         \
    [PTX_U16] = &NAME##_16, [PTX_S16] = &NAME##_16, [PTX_U32] = &NAME##_32, [PTX_S32] = &NAME##_32,          \
    [PTX_U64] = &NAME##_64, [PTX_S64] = &NAME##_64
#define SIGNED_WIDTHS(NAME) [PTX_S16] = &NAME##_16, [PTX_S32] = &NAME##_32, [PTX_S64] = &NAME##_64
#define SIGNS(NAME)                                                                                          \
    [PTX_U16] = &NAME##_u16, [PTX_S16] = &NAME##_s16, [PTX_U32] = &NAME##_u32, [PTX_S32] = &NAME##_s32,      \
    [PTX_U64] = &NAME##_u64, [PTX_S64] = &NAME##_s64
#define SIGNS_32(NAME)   [PTX_U32] = &NAME##_u32, [PTX_S32] = &NAME##_s32
#define SIGNS_WIDE(NAME) [PTX_U16] = &NAME##_u16, [PTX_S16] = &NAME##_s16, SIGNS_32(NAME)
#define CARRIES(NAME)                                                                                        \
    [PTX_U32] = &NAME##_32, [PTX_S32] = &NAME##_32, [PTX_U64] = &NAME##_64, [PTX_S64] = &NAME##_64
#define CARRIES_SIGNED(NAME)                                                                                 \
    [PTX_U32] = &NAME##_u32, [PTX_S32] = &NAME##_s32, [PTX_U64] = &NAME##_u64, [PTX_S64] = &NAME##_s64

#define PAIRS(NAME) [PTX_U16X2] = &NAME##_u16x2, [PTX_S16X2] = &NAME##_s16x2
#define QUADS(NAME) [PTX_U8X4] = &NAME##_u8x4, [PTX_S8X4] = &NAME##_s8x4
#define RELUS(NAME) [PTX_S32] = &NAME##_s32, [PTX_S16X2] = &NAME##_s16x2, [PTX_S8X4] = &NAME##_s8x4

static HandlerOfType add_wrap = {WIDTHS(add), [PTX_U16X2] = &add_16x2, [PTX_S16X2] = &add_16x2,
                                 [PTX_U8X4] = &add_8x4, [PTX_S8X4] = &add_8x4};
static HandlerOfType sub_wrap = {WIDTHS(sub), [PTX_U8X4] = &sub_8x4, [PTX_S8X4] = &sub_8x4};
static HandlerOfType add_saturate = {SIGNS_32(add_sat), PAIRS(add_sat), QUADS(add_sat)};
static HandlerOfType sub_saturate = {SIGNS_32(sub_sat), QUADS(sub_sat)};
static HandlerOfType mul_lo = {WIDTHS(mul_lo)}, mul_hi = {SIGNS(mul_hi)}, mul_wide = {SIGNS_WIDE(mul_wide)};
static HandlerOfType mad_lo = {WIDTHS(mad_lo)}, mad_hi = {SIGNS(mad_hi)}, mad_wide = {SIGNS_WIDE(mad_wide)},
                     mad_hi_saturate = {[PTX_S32] = &mad_hi_sat_s32};
static HandlerOfType mul24_lo = {SIGNS_32(mul24_lo)}, mul24_hi = {SIGNS_32(mul24_hi)},
                     mad24_lo = {SIGNS_32(mad24_lo)}, mad24_hi = {SIGNS_32(mad24_hi)},
                     mad24_hi_saturate = {[PTX_S32] = &mad24_hi_sat_s32};
static HandlerOfType sad = {SIGNS(sad)}, divide = {SIGNS(div)}, remainder_of = {SIGNS(rem)};
static HandlerOfType absolute = {SIGNED_WIDTHS(abs)}, negate = {SIGNED_WIDTHS(neg), [PTX_S8X4] = &neg_8x4};
static HandlerOfType minimum = {SIGNS(min), PAIRS(min), QUADS(min)}, minimum_relu = {RELUS(min_relu)};
static HandlerOfType maximum = {SIGNS(max), PAIRS(max), QUADS(max)}, maximum_relu = {RELUS(max_relu)};
static HandlerOfType add_carry = {CARRIES(addc)}, sub_carry = {CARRIES(subc)},
                     mad_lo_carry = {CARRIES(madc_lo)}, mad_hi_carry = {CARRIES_SIGNED(madc_hi)};

static PtxType twice(PtxType type) {
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return PTX_NO_TYPE;
    }
}

/* Lowers add.cc, addc{.cc}, ... by the `table` of types; reads CC.CF if `reads`, writes it with .cc. */
static bool lower_carry(Lowering *low, const PtxInstruction *in, Op *op, HandlerOfType table,
                        int source_count, bool reads) {
    if (!lanes_accept(low, in, op, PTX_MOD_CC, PTX_MOD_LO, PTX_MOD_HI, PTX_MODIFIER_NONE)) return false;
    PtxType type = lanes_type(in, 0);
    if (!lanes_simple(low, in, op, type, source_count, table[type],
                      source_count == 3 ? WEIGHT_PRODUCT : WEIGHT_SUM))
        return false;
    op->number[0] = reads;
    op->number[1] = ptx_instruction_has(in, PTX_MOD_CC);
    op->number[2] = !reads && table == sub_carry ? -1 : 0;
    if (source_count == 2) op->s[2] = op->s[1];
    return lowering_carry(low, op, &op->s[3]);
}

bool lanes_lower_integer_add(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    if (ptx_instruction_has(in, PTX_MOD_CC)) return lower_carry(low, in, op, add_carry, 2, false);
    return lanes_accept(low, in, op, PTX_MOD_SAT, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_SAT) ? add_saturate[type] : add_wrap[type],
                        WEIGHT_SUM);
}

bool lanes_lower_integer_sub(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    if (ptx_instruction_has(in, PTX_MOD_CC)) return lower_carry(low, in, op, sub_carry, 2, false);
    return lanes_accept(low, in, op, PTX_MOD_SAT, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_SAT) ? sub_saturate[type] : sub_wrap[type],
                        WEIGHT_SUM);
}

OPCODE_LOWER(addc) {
    return lower_carry(low, in, op, add_carry, 2, true);
}

OPCODE_LOWER(subc) {
    return lower_carry(low, in, op, sub_carry, 2, true);
}

OPCODE_LOWER(madc) {
    return lower_carry(low, in, op, ptx_instruction_has(in, PTX_MOD_HI) ? mad_hi_carry : mad_lo_carry, 3,
                       true);
}

bool lanes_lower_integer_mul(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    if (!lanes_accept(low, in, op, PTX_MOD_LO, PTX_MOD_HI, PTX_MOD_WIDE, PTX_MODIFIER_NONE)) return false;
    if (ptx_instruction_has(in, PTX_MOD_WIDE))
        return lanes_use(low, in, op, mul_wide[type], WEIGHT_PRODUCT) &&
               lanes_operands(low, in, op, twice(type), 2, (PtxType[]){type, type});
    return lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_HI) ? mul_hi[type] : mul_lo[type], WEIGHT_PRODUCT);
}

bool lanes_lower_integer_mad(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    bool high = ptx_instruction_has(in, PTX_MOD_HI);
    if (ptx_instruction_has(in, PTX_MOD_CC))
        return lower_carry(low, in, op, high ? mad_hi_carry : mad_lo_carry, 3, false);
    if (!lanes_accept(low, in, op, PTX_MOD_LO, PTX_MOD_HI, PTX_MOD_WIDE, PTX_MOD_SAT, PTX_MODIFIER_NONE))
        return false;
    if (ptx_instruction_has(in, PTX_MOD_WIDE))
        return lanes_use(low, in, op, mad_wide[type], WEIGHT_PRODUCT) &&
               lanes_operands(low, in, op, twice(type), 3, (PtxType[]){type, type, twice(type)});
    const LaneHandler *handler = !high                                  ? mad_lo[type]
                                 : ptx_instruction_has(in, PTX_MOD_SAT) ? mad_hi_saturate[type]
                                                                        : mad_hi[type];
    return lanes_simple(low, in, op, type, 3, handler, WEIGHT_PRODUCT);
}

OPCODE_LOWER(mul24) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MOD_LO, PTX_MOD_HI, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_HI) ? mul24_hi[type] : mul24_lo[type],
                        WEIGHT_PRODUCT);
}

OPCODE_LOWER(mad24) {
    PtxType type = lanes_type(in, 0);
    const LaneHandler *handler = !ptx_instruction_has(in, PTX_MOD_HI)   ? mad24_lo[type]
                                 : ptx_instruction_has(in, PTX_MOD_SAT) ? mad24_hi_saturate[type]
                                                                        : mad24_hi[type];
    return lanes_accept(low, in, op, PTX_MOD_LO, PTX_MOD_HI, PTX_MOD_SAT, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 3, handler, WEIGHT_PRODUCT);
}

OPCODE_LOWER(sad) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 3, sad[type], WEIGHT_SUM);
}

bool lanes_lower_integer_div(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2, divide[type], WEIGHT_PRODUCT);
}

OPCODE_LOWER(rem) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2, remainder_of[type], WEIGHT_PRODUCT);
}

bool lanes_lower_integer_abs(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1, absolute[type], WEIGHT_SUM);
}

bool lanes_lower_integer_neg(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1, negate[type], WEIGHT_SUM);
}

static bool lower_order(Lowering *low, const PtxInstruction *in, Op *op, HandlerOfType plain,
                        HandlerOfType relu) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MOD_RELU, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_RELU) ? relu[type] : plain[type], WEIGHT_SUM);
}

bool lanes_lower_integer_min(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_order(low, in, op, minimum, minimum_relu);
}

bool lanes_lower_integer_max(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_order(low, in, op, maximum, maximum_relu);
}
