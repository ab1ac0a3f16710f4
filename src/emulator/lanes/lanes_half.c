/* f16, bf16 and their packed pairs: "Half Precision Floating-Point Instructions".
 *
 * Operands are widened to float, which is exact, and results are rounded once to 16 bits:
 *  - a sum (and a product of f16) rounded to float first is rounded correctly, for 24 >= 2 * 11 + 2 bits;
 *  - a product of bf16 is exact as double, and so is every fma, or it is rounded to odd; rounding that to
 *    odd as float, then to 16 bits, equals rounding once.
 *
 * Rounding in another direction (fma of bf16) goes through Exact. NaN results are the canonical 0x7fff. */
#include "emulator/lanes/lanes.h"

LANES_INLINE float f16_value(uint32_t half) {
    return float_of(widen_f16(half & 0xffffu));
}
LANES_INLINE float bf16_value(uint32_t half) {
    return float_of(widen_bf16(half & 0xffffu));
}

/* x * y + z for an exact x * y; rounded to odd. */
LANES_INLINE double fma_odd(double x, double y, double z) {
    double product = x * y, sum = product + z;
    double z_part = sum - product, lost = (product - (sum - z_part)) + (z - z_part);
    uint64_t bits = bits_of_double(sum), away = (lost > 0.0) == (sum > 0.0) ? 1u : ~UINT64_C(0);
    bool finite = (bits & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
    return double_of(finite && lost != 0.0 && !(bits & 1) ? bits + away : bits);
}

#define ADD_F16(a, b, c)  narrow_f16(bits_of(f16_value(a) + f16_value(b)))
#define SUB_F16(a, b, c)  narrow_f16(bits_of(f16_value(a) - f16_value(b)))
#define MUL_F16(a, b, c)  narrow_f16(bits_of(f16_value(a) * f16_value(b)))
#define FMA_F16(a, b, c)  narrow_f16(float_odd(fma_odd(f16_value(a), f16_value(b), f16_value(c))))
#define ADD_BF16(a, b, c) narrow_bf16(bits_of(bf16_value(a) + bf16_value(b)))
#define SUB_BF16(a, b, c) narrow_bf16(bits_of(bf16_value(a) - bf16_value(b)))
#define MUL_BF16(a, b, c) narrow_bf16(float_odd((double)bf16_value(a) * (double)bf16_value(b)))
#define FMA_BF16(a, b, c) narrow_bf16(float_odd(fma_odd(bf16_value(a), bf16_value(b), bf16_value(c))))

#define LOW_HIGH(VALUE, a, b, c) (VALUE(a, b, c) | VALUE((a) >> 16, (b) >> 16, (c) >> 16) << 16)
#define HALF_BINARY(NAME, VALUE)                                                                             \
    BINARY(NAME, uint16_t, uint16_t, VALUE(a[l], b[l], 0))                                                   \
    BINARY(NAME##x2, uint32_t, uint32_t, LOW_HIGH(VALUE, a[l], b[l], 0))
#define HALF_TERNARY(NAME, VALUE)                                                                            \
    TERNARY(NAME, uint16_t, uint16_t, uint16_t, VALUE(a[l], b[l], c[l]))                                     \
    TERNARY(NAME##x2, uint32_t, uint32_t, uint32_t, LOW_HIGH(VALUE, a[l], b[l], c[l]))
HALF_BINARY(add_f16, ADD_F16)
HALF_BINARY(sub_f16, SUB_F16)
HALF_BINARY(mul_f16, MUL_F16)
HALF_TERNARY(fma_f16, FMA_F16)
HALF_BINARY(add_bf16, ADD_BF16)
HALF_BINARY(sub_bf16, SUB_BF16)
HALF_BINARY(mul_bf16, MUL_BF16)
HALF_TERNARY(fma_bf16, FMA_BF16)

/* ---- modifiers, signs, order ----------------------------------------------------------------------- */

typedef enum HalfOperation { ADD, SUB, MUL, FMA, ABS, NEG, MIN, MAX } HalfOperation;
/* Fields of Op.number; BFLOAT: bf16 instead of f16. */
enum { KIND, FLAGS, BFLOAT };
enum {
    FTZ = 1,
    SAT = 2,
    RELU = 4,
    NAN_WINS = 8,
    XORSIGN_ABS = 16,
    OOB = 32,
    MINUS_PRODUCT = 64,
    MINUS_ADDEND = 128
};
/* Tensor copies fill out-of-bounds elements with this value, of either sign; fma.oob of it is 0 ("OOB-NaN";
 * bits as on an H200). */
#define NAN_OOB 0x7ff7u

static bool is_nan16(uint32_t half, bool bfloat) {
    return (half & 0x7fffu) > (bfloat ? 0x7f80u : 0x7c00u);
}

static uint32_t order(uint32_t a, uint32_t b, bool bfloat, bool maximal, int flags) {
    bool a_nan = is_nan16(a, bfloat), b_nan = is_nan16(b, bfloat);
    if ((a_nan && b_nan) || ((flags & NAN_WINS) && (a_nan || b_nan))) return NAN_F16;
    uint32_t sign = (a ^ b) & 0x8000u;
    if (flags & XORSIGN_ABS) a &= 0x7fffu, b &= 0x7fffu;
    /* As signed integers, keys have the order of the floats, with -0 below +0. */
    int32_t a_key = (int16_t)(a & 0x8000u ? a ^ 0x7fffu : a),
            b_key = (int16_t)(b & 0x8000u ? b ^ 0x7fffu : b);
    uint32_t result = a_nan ? b : b_nan ? a : (a_key < b_key) != maximal ? a : b;
    return flags & XORSIGN_ABS ? (result & 0x7fffu) | sign : result;
}

/* .ftz flushes values below 2^-14 when rounded to 11 bits (exact_is_tiny): below 2^-14 - 2^-26. */
static uint32_t flushed_f16(double value) {
    const double least = 0x1p-14 - 0x1p-26;
    uint32_t result = narrow_f16(float_odd(value));
    return value > -least && value < least ? result & 0x8000u : result;
}

static uint32_t one_half(const Op *op, uint32_t a, uint32_t b, uint32_t c) {
    int flags = op->number[FLAGS];
    bool bfloat = op->number[BFLOAT], flush = flags & FTZ;
    if ((flags & OOB) && ((a & 0x7fffu) == NAN_OOB || (b & 0x7fffu) == NAN_OOB)) return 0;
    if (flush) a = flush16(a), b = flush16(b), c = flush16(c);
    if (flags & MINUS_PRODUCT) a ^= 0x8000u;
    if (flags & MINUS_ADDEND) c ^= 0x8000u;
    uint32_t result = 0;
    switch ((HalfOperation)op->number[KIND]) {
    case ADD:
        result = bfloat ? ADD_BF16(a, b, c) : ADD_F16(a, b, c);
        break;
    case SUB:
        result = bfloat ? SUB_BF16(a, b, c) : SUB_F16(a, b, c);
        break;
    case MUL:
        result = bfloat  ? MUL_BF16(a, b, c)
                 : flush ? flushed_f16((double)f16_value(a) * (double)f16_value(b))
                         : MUL_F16(a, b, c);
        break;
    case FMA:
        result = bfloat  ? FMA_BF16(a, b, c)
                 : flush ? flushed_f16(fma_odd(f16_value(a), f16_value(b), f16_value(c)))
                         : FMA_F16(a, b, c);
        break;
    case ABS:
        result = is_nan16(a, bfloat) ? NAN_F16 : a & 0x7fffu;
        break;
    case NEG:
        result = is_nan16(a, bfloat) ? NAN_F16 : a ^ 0x8000u;
        break;
    case MIN:
        result = order(a, b, bfloat, false, flags);
        break;
    case MAX:
        result = order(a, b, bfloat, true, flags);
        break;
    }
    if (flush) result = flush16(result);
    bool negative = result & 0x8000u, nan = is_nan16(result, bfloat);
    uint32_t one = bfloat ? 0x3f80u : 0x3c00u;
    if (flags & SAT) result = nan || negative ? 0 : result > one ? one : result;
    if ((flags & RELU) && negative && !nan) result = 0;
    return result;
}
SLOW_TERNARY(any_half, uint16_t, uint16_t, uint16_t, one_half(op, a[l], b[l], c[l]))
SLOW_TERNARY(any_half2, uint32_t, uint32_t, uint32_t,
             one_half(op, a[l] & 0xffffu, b[l] & 0xffffu, c[l] & 0xffffu) |
                 one_half(op, a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16)

/* ---- lowering -------------------------------------------------------------------------------------- */

static const struct {
    PtxModifierKind modifier;
    int flag;
} modifiers[] = {{PTX_MOD_FTZ, FTZ},
                 {PTX_MOD_SAT, SAT},
                 {PTX_MOD_RELU, RELU},
                 {PTX_MOD_NAN, NAN_WINS},
                 {PTX_MOD_XORSIGN, XORSIGN_ABS},
                 {PTX_MOD_OOB, OOB}};

/* `plain` holds the handlers without modifiers for f16, f16x2, bf16, bf16x2 (NULL: none); `allowed` the
 * flags. */
static bool lower_half(Lowering *low, const PtxInstruction *in, Op *op, HalfOperation kind, int source_count,
                       int allowed, const LaneHandler *const plain[4], OpWeight provenance) {
    PtxType type = lanes_type(in, 0);
    bool pair = type == PTX_F16X2 || type == PTX_BF16X2, bfloat = type == PTX_BF16 || type == PTX_BF16X2;
    if (!lanes_accept(low, in, op, PTX_MOD_RN, PTX_MOD_FTZ, PTX_MOD_SAT, PTX_MOD_RELU, PTX_MOD_NAN,
                      PTX_MOD_XORSIGN, PTX_MOD_ABS, PTX_MOD_OOB, PTX_MODIFIER_NONE))
        return false;
    if (bfloat) allowed &= ~(FTZ | SAT);
    for (size_t i = 0; i < sizeof modifiers / sizeof modifiers[0]; i++)
        if (ptx_instruction_has(in, modifiers[i].modifier)) op->number[FLAGS] |= modifiers[i].flag;
    if (op->number[FLAGS] & ~allowed ||
        ptx_instruction_has(in, PTX_MOD_ABS) != !!(op->number[FLAGS] & XORSIGN_ABS))
        return lowering_reject(low, op, "%s.%s has no such modifiers", in->name, ptx_type_text(type));
    if (kind == FMA) op->number[FLAGS] |= lanes_minus(in, MINUS_PRODUCT, MINUS_ADDEND);
    op->number[KIND] = (int32_t)kind;
    op->number[BFLOAT] = bfloat;
    const LaneHandler *handler = plain && op->number[FLAGS] == 0 ? plain[2 * bfloat + pair]
                                 : pair                          ? &any_half2
                                                                 : &any_half;
    if (!lanes_simple(low, in, op, type, source_count, handler, provenance)) return false;
    for (int i = source_count; i < 3; i++) op->s[i] = op->s[0]; /* the handlers for any kind read three */
    return true;
}

#define LOWER(NAME, KIND, COUNT, ALLOWED, WEIGHT)                                                            \
    bool lanes_lower_half_##NAME(Lowering *low, const PtxInstruction *in, Op *op) {                          \
        static const LaneHandler *const plain[] = {&NAME##_f16, &NAME##_f16x2, &NAME##_bf16,                 \
                                                   &NAME##_bf16x2};                                          \
        return lower_half(low, in, op, KIND, COUNT, ALLOWED, plain, WEIGHT);                                 \
    }
LOWER(add, ADD, 2, FTZ | SAT, WEIGHT_SUM)
LOWER(sub, SUB, 2, FTZ | SAT, WEIGHT_SUM)
LOWER(mul, MUL, 2, FTZ | SAT, WEIGHT_PRODUCT)
LOWER(fma, FMA, 3, FTZ | SAT | RELU | OOB, WEIGHT_PRODUCT)

bool lanes_lower_half_abs(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_half(low, in, op, ABS, 1, FTZ, NULL, WEIGHT_SUM);
}
bool lanes_lower_half_neg(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_half(low, in, op, NEG, 1, FTZ, NULL, WEIGHT_SUM);
}
bool lanes_lower_half_min(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_half(low, in, op, MIN, 2, FTZ | NAN_WINS | XORSIGN_ABS, NULL, WEIGHT_SUM);
}
bool lanes_lower_half_max(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_half(low, in, op, MAX, 2, FTZ | NAN_WINS | XORSIGN_ABS, NULL, WEIGHT_SUM);
}
