/* f32 and f64 arithmetic, also in mixed precision: "Floating-Point Instructions" add sub mul fma mad div abs
 * neg min max copysign, and the mixed precision forms of add, sub and fma.
 *
 * Kernels mostly round to nearest without .sat: these forms are vectorized and use the host's arithmetic,
 * which is bit-identical except for NaNs. Everything else goes through Exact. A NaN result of f32 is the
 * canonical NaN; one of f64 is a NaN operand, made quiet, or else CUDART_NAN. The manual does not say which
 * operand; an H200 checks b, c, a in this order, but its division is software that checks a first. */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"
#include <math.h>

#define QUIET64 UINT64_C(0x0008000000000000)

LANES_INLINE uint64_t propagate(uint64_t result, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t nan = is_nan64(a)   ? a | QUIET64
                   : is_nan64(b) ? b | QUIET64
                   : is_nan64(c) ? c | QUIET64
                                 : NAN_F64;
    return is_nan64(result) ? nan : result;
}

/* ---- to nearest ------------------------------------------------------------------------------------ */

#define F(x)                          float_of(x)
#define FLUSH(x)                      float_of(flush32(x))
#define OUT(x)                        canonical32(bits_of(x))
#define OUTF(x)                       flush32(canonical32(bits_of(x)))
#define D(x)                          double_of(x)
#define OUTD(x, first, second, third) propagate(bits_of_double(x), first, second, third)

BINARY(add_f32, uint32_t, uint32_t, OUT(F(a[l]) + F(b[l])))
BINARY(sub_f32, uint32_t, uint32_t, OUT(F(a[l]) - F(b[l])))
BINARY(mul_f32, uint32_t, uint32_t, OUT(F(a[l]) * F(b[l])))
BINARY(div_f32, uint32_t, uint32_t, OUT(F(a[l]) / F(b[l])))
TERNARY(fma_f32, uint32_t, uint32_t, uint32_t, OUT(fmaf(F(a[l]), F(b[l]), F(c[l]))))
BINARY(add_f32_ftz, uint32_t, uint32_t, OUTF(FLUSH(a[l]) + FLUSH(b[l])))
BINARY(sub_f32_ftz, uint32_t, uint32_t, OUTF(FLUSH(a[l]) - FLUSH(b[l])))
BINARY(add_f64, uint64_t, uint64_t, OUTD(D(a[l]) + D(b[l]), b[l], a[l], a[l]))
BINARY(sub_f64, uint64_t, uint64_t, OUTD(D(a[l]) - D(b[l]), b[l], a[l], a[l]))
BINARY(mul_f64, uint64_t, uint64_t, OUTD(D(a[l]) * D(b[l]), b[l], a[l], a[l]))
BINARY(div_f64, uint64_t, uint64_t, OUTD(D(a[l]) / D(b[l]), a[l], b[l], b[l]))
TERNARY(fma_f64, uint64_t, uint64_t, uint64_t, OUTD(fma(D(a[l]), D(b[l]), D(c[l])), b[l], c[l], a[l]))
/* With the product or the addend negated, as fused instructions have it (ptx/contract.h). */
TERNARY(minus_product_f32, uint32_t, uint32_t, uint32_t, OUT(fmaf(-F(a[l]), F(b[l]), F(c[l]))))
TERNARY(minus_addend_f32, uint32_t, uint32_t, uint32_t, OUT(fmaf(F(a[l]), F(b[l]), -F(c[l]))))
TERNARY(minus_product_f64, uint64_t, uint64_t, uint64_t,
        OUTD(fma(-D(a[l]), D(b[l]), D(c[l])), b[l], c[l], a[l]))
TERNARY(minus_addend_f64, uint64_t, uint64_t, uint64_t,
        OUTD(fma(D(a[l]), D(b[l]), -D(c[l])), b[l], c[l], a[l]))

/* A result of 2^-126 may be a smaller one that the host rounded up as a subnormal and that .ftz flushes: such
 * lanes are recomputed. (Sums of normal numbers this small are exact.) */
static uint32_t compute_f32(const Op *op, uint32_t a, uint32_t b, uint32_t c);
#define FLUSHED(NAME, VALUE)                                                                                 \
    HANDLER(NAME) {                                                                                          \
        uint32_t *d = operand_at(warp, op->d), result[WARP_LANES], least = 0;                                \
        const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                     \
        const uint32_t *c = operand_at(warp, op->s[2]);                                                      \
        (void)c;                                                                                             \
        for (int l = 0; l < WARP_LANES; l++) result[l] = OUTF(VALUE);                                        \
        for (int l = 0; l < WARP_LANES; l++)                                                                 \
            least |= (result[l] & 0x7fffffffu) == 0x00800000u ? lane_bit[l] : 0;                             \
        for (; least; least &= least - 1) {                                                                  \
            int l = __builtin_ctz(least);                                                                    \
            result[l] = compute_f32(op, a[l], b[l], c[l]);                                                   \
        }                                                                                                    \
        EACH_LANE(uint32_t, result[l]);                                                                      \
    }
FLUSHED(mul_f32_ftz, FLUSH(a[l]) * FLUSH(b[l]))
FLUSHED(div_f32_ftz, FLUSH(a[l]) / FLUSH(b[l]))
FLUSHED(fma_f32_ftz, fmaf(FLUSH(a[l]), FLUSH(b[l]), FLUSH(c[l])))

/* div.approx is a * (1 / b), which is 0 (NaN for an infinite a) if 1 / b is subnormal: 2^126 < |b| < 2^128.
 * Otherwise the quotient rounded to nearest is within its error of 2 ulp. */
LANES_INLINE uint32_t divide_approx(uint32_t a, uint32_t b) {
    uint32_t magnitude = b & 0x7fffffffu, sign = (a ^ b) & 0x80000000u;
    bool huge = magnitude > 0x7e800000u && magnitude < 0x7f800000u;
    uint32_t quotient = OUT(F(a) / F(b));
    uint32_t of_huge = (a & 0x7fffffffu) >= 0x7f800000u ? NAN_F32 : sign;
    return huge ? of_huge : quotient;
}
BINARY(div_approx_f32, uint32_t, uint32_t, divide_approx(a[l], b[l]))
BINARY(div_approx_f32_ftz, uint32_t, uint32_t, flush32(divide_approx(flush32(a[l]), flush32(b[l]))))

/* ---- any rounding, saturation ---------------------------------------------------------------------- */

enum { ADD, SUB, MUL, FMA, DIV };
/* Fields of Op.number. FLAGS: .ftz, .sat, and what a fused instruction negates. KIND: ADD... FROM: type of a
 * (and b of fma), NO_TYPE: f32. */
enum { ROUNDING, FLAGS, KIND, FROM };
enum { FTZ = 1, SAT = 2, MINUS_PRODUCT = 4, MINUS_ADDEND = 8 };

static Exact compute(const Op *op, Exact a, Exact b, Exact c) {
    PtxModifierKind rounding = (PtxModifierKind)op->number[ROUNDING];
    if (op->number[FLAGS] & MINUS_PRODUCT) a = exact_negate(a);
    if (op->number[FLAGS] & MINUS_ADDEND) c = exact_negate(c);
    switch (op->number[KIND]) {
    case ADD:
        return exact_add(a, b, rounding);
    case SUB:
        return exact_add(a, exact_negate(b), rounding);
    case MUL:
        return exact_multiply(a, b);
    case DIV:
        return exact_divide(a, b);
    default:
        return exact_add(exact_multiply(a, b), c, rounding);
    }
}

/* product + addend; what a double cannot hold of it makes the last bit odd, so that a second rounding is as
 * one of the sum itself. */
static double sum_odd(double product, double addend) {
    double sum = product + addend, back = sum - product, lost = (product - (sum - back)) + (addend - back);
    uint64_t bits = bits_of_double(sum);
    if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
    return double_of(bits);
}

/* The float next to this one, which is not 0. */
static uint32_t neighbour(uint32_t bits, bool is_above) {
    return is_above == (bits >> 31 == 0) ? bits + 1 : bits - 1;
}

/* The same as below in doubles, which hold the product of two floats, for sums that are far from 0 and
 * infinity. False: not these. */
static bool compute_in_double(const Op *op, uint32_t a, uint32_t b, uint32_t c, uint32_t *result) {
    int kind = op->number[KIND], flags = op->number[FLAGS], rounding = op->number[ROUNDING];
    bool is_sum = kind == ADD || kind == SUB;
    double x = (double)float_of(a), y = (double)float_of(b), z = (double)float_of(c);
    double product = is_sum ? x : x * y, addend = kind == MUL ? 0 : !is_sum ? z : kind == SUB ? -y : y;
    if (flags & MINUS_PRODUCT) product = -product;
    if (flags & MINUS_ADDEND) addend = -addend;
    double sum = sum_odd(product, addend), magnitude = sum < 0 ? -sum : sum;
    if (kind == DIV || !(magnitude > 0x1p-120 && magnitude < 0x1p120)) return false;
    float nearest = (float)sum;
    bool is_down = rounding == PTX_MOD_RM || (rounding == PTX_MOD_RZ && sum > 0),
         is_up = rounding == PTX_MOD_RP || (rounding == PTX_MOD_RZ && sum < 0);
    *result = bits_of(nearest);
    if (is_down && (double)nearest > sum) *result = neighbour(*result, false);
    if (is_up && (double)nearest < sum) *result = neighbour(*result, true);
    if (flags & SAT) *result = saturate32(*result);
    return true;
}

static uint32_t compute_f32(const Op *op, uint32_t a, uint32_t b, uint32_t c) {
    bool flush = op->number[FLAGS] & FTZ;
    uint32_t quick;
    if (flush) a = flush32(a), b = flush32(b), c = flush32(c);
    if (compute_in_double(op, a, b, c, &quick)) return quick;
    Exact exact = compute(op, exact_of(&FORMAT_F32, a), exact_of(&FORMAT_F32, b), exact_of(&FORMAT_F32, c));
    PtxModifierKind rounding = (PtxModifierKind)op->number[ROUNDING];
    uint32_t result = (uint32_t)exact_round(exact, &FORMAT_F32, rounding, false);
    if (flush && exact_is_tiny(exact, &FORMAT_F32, rounding)) result &= 0x80000000u;
    return op->number[FLAGS] & SAT ? saturate32(result) : result;
}
SLOW_TERNARY(any_f32, uint32_t, uint32_t, uint32_t, compute_f32(op, a[l], b[l], c[l]))
SLOW_TERNARY(
    any_f32x2, uint64_t, uint64_t, uint64_t,
    compute_f32(op, (uint32_t)a[l], (uint32_t)b[l], (uint32_t)c[l]) |
        (uint64_t)compute_f32(op, (uint32_t)(a[l] >> 32), (uint32_t)(b[l] >> 32), (uint32_t)(c[l] >> 32))
            << 32)

SLOW_HANDLER(any_f64) {
    uint64_t *d = operand_at(warp, op->d);
    const uint64_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE {
        Exact exact = compute(op, exact_of(&FORMAT_F64, a[l]), exact_of(&FORMAT_F64, b[l]),
                              exact_of(&FORMAT_F64, c[l]));
        uint64_t result = exact_round(exact, &FORMAT_F64, (PtxModifierKind)op->number[ROUNDING], false);
        d[l] = op->number[KIND] == DIV ? propagate(result, a[l], b[l], b[l])
                                       : propagate(result, b[l], c[l], a[l]);
    }
}

/* Mixed precision: a (and b of fma) are f16 or bf16, widened exactly; the last operand is f32. */
static uint32_t widen(const Op *op, uint32_t half) {
    return op->number[FROM] == PTX_F16 ? widen_f16(half) : widen_bf16(half);
}
SLOW_HANDLER(mixed_binary) {
    uint32_t *d = operand_at(warp, op->d);
    const uint16_t *a = operand_at(warp, op->s[0]);
    const uint32_t *b = operand_at(warp, op->s[1]);
    EACH_ACTIVE_LANE d[l] = compute_f32(op, widen(op, a[l]), b[l], 0);
}
SLOW_HANDLER(mixed_fma) {
    uint32_t *d = operand_at(warp, op->d);
    const uint16_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);
    const uint32_t *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE d[l] = compute_f32(op, widen(op, a[l]), widen(op, b[l]), c[l]);
}

/* ---- signs ----------------------------------------------------------------------------------------- */

UNARY(abs_f32, uint32_t, uint32_t, canonical32(a[l] & 0x7fffffffu))
UNARY(abs_f32_ftz, uint32_t, uint32_t, canonical32(flush32(a[l]) & 0x7fffffffu))
UNARY(neg_f32, uint32_t, uint32_t, canonical32(a[l] ^ 0x80000000u))
UNARY(neg_f32_ftz, uint32_t, uint32_t, canonical32(flush32(a[l]) ^ 0x80000000u))
/* "For abs.f64, NaN input is passed through unchanged." neg.f64 may give any NaN; on an H200 it is quiet and
 * keeps its sign. */
UNARY(abs_f64, uint64_t, uint64_t, is_nan64(a[l]) ? a[l] : a[l] & UINT64_C(0x7fffffffffffffff))
UNARY(neg_f64, uint64_t, uint64_t, is_nan64(a[l]) ? a[l] | QUIET64 : a[l] ^ UINT64_C(0x8000000000000000))
BINARY(copysign_f32, uint32_t, uint32_t, (a[l] & 0x80000000u) | (b[l] & 0x7fffffffu))
BINARY(copysign_f64, uint64_t, uint64_t,
       (a[l] & UINT64_C(0x8000000000000000)) | (b[l] & UINT64_C(0x7fffffffffffffff)))

/* ---- order ----------------------------------------------------------------------------------------- */

/* As signed integers, keys have the order of the floats, with -0 below +0. */
LANES_INLINE int32_t key32(uint32_t x) {
    return (int32_t)(x & 0x80000000u ? x ^ 0x7fffffffu : x);
}
LANES_INLINE int64_t key64(uint64_t x) {
    return (int64_t)(x >> 63 ? x ^ UINT64_C(0x7fffffffffffffff) : x);
}
/* A number beats a NaN. */
LANES_INLINE uint32_t order32(uint32_t a, uint32_t b, bool maximal) {
    uint32_t picked = (key32(a) < key32(b)) != maximal ? a : b;
    return canonical32(is_nan32(a) ? b : is_nan32(b) ? a : picked);
}
LANES_INLINE uint64_t order64(uint64_t a, uint64_t b, bool maximal) {
    uint64_t picked = (key64(a) < key64(b)) != maximal ? a : b;
    return is_nan64(a) ? is_nan64(b) ? b | QUIET64 : b : is_nan64(b) ? a : picked;
}
BINARY(min_f32, uint32_t, uint32_t, order32(a[l], b[l], false))
BINARY(max_f32, uint32_t, uint32_t, order32(a[l], b[l], true))
BINARY(min_f64, uint64_t, uint64_t, order64(a[l], b[l], false))
BINARY(max_f64, uint64_t, uint64_t, order64(a[l], b[l], true))

/* With modifiers, or three operands: number[0] holds ORDER_... flags, number[1] means maximum. */
enum { ORDER_FTZ = 1, ORDER_NAN = 2, ORDER_ABS = 4, ORDER_XORSIGN = 8, ORDER_THREE = 16 };
static uint32_t order_any(const Op *op, uint32_t a, uint32_t b, uint32_t c) {
    int flags = op->number[0], maximal = op->number[1];
    if (flags & ORDER_FTZ) a = flush32(a), b = flush32(b), c = flush32(c);
    if ((flags & ORDER_NAN) && (is_nan32(a) || is_nan32(b) || ((flags & ORDER_THREE) && is_nan32(c))))
        return NAN_F32;
    uint32_t sign = (a ^ b) & 0x80000000u;
    if (flags & ORDER_ABS) a &= 0x7fffffffu, b &= 0x7fffffffu, c &= 0x7fffffffu;
    uint32_t result = order32(a, b, maximal);
    if (flags & ORDER_THREE) result = order32(result, c, maximal);
    if ((flags & ORDER_XORSIGN) && !is_nan32(result)) result = (result & 0x7fffffffu) | sign;
    return result;
}
SLOW_TERNARY(order_any_f32, uint32_t, uint32_t, uint32_t, order_any(op, a[l], b[l], c[l]))

/* ---- lowering -------------------------------------------------------------------------------------- */

typedef struct Operation {
    const LaneHandler *f32, *f32_ftz, *f64;
    int kind, source_count;
    OpWeight provenance;
} Operation;

static bool lower_operation(Lowering *low, const PtxInstruction *in, Op *op, const Operation *operation) {
    PtxType type = lanes_type(in, 0), from = lanes_type(in, 1);
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ), saturate = ptx_instruction_has(in, PTX_MOD_SAT);
    PtxModifierKind rounding = lanes_rounding(in);
    if (!lanes_accept(low, in, op, PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP, PTX_MOD_FTZ, PTX_MOD_SAT,
                      PTX_MODIFIER_NONE))
        return false;
    if ((flush && type == PTX_F64) || (saturate && (type != PTX_F32 || operation->kind == DIV)))
        return lowering_reject(low, op, "%s.%s with .ftz or .sat does not exist", in->name,
                               ptx_type_text(type));
    int count = operation->source_count;
    op->number[ROUNDING] = rounding ? (int32_t)rounding : (int32_t)PTX_MOD_RN;
    op->number[FLAGS] = (flush ? FTZ : 0) | (saturate ? SAT : 0);
    op->number[KIND] = operation->kind;
    if (from == PTX_F16 || from == PTX_BF16) { /* mixed precision */
        op->number[FROM] = (int32_t)from;
        if (type != PTX_F32 || operation->kind == MUL || operation->kind == DIV)
            return lowering_reject(low, op, "%s.%s.%s does not exist", in->name, ptx_type_text(type),
                                   ptx_type_text(from));
        return count == 2 ? lanes_use(low, in, op, &mixed_binary, operation->provenance) &&
                                lanes_operands(low, in, op, type, 2, (PtxType[]){from, type})
                          : lanes_use(low, in, op, &mixed_fma, operation->provenance) &&
                                lanes_operands(low, in, op, type, 3, (PtxType[]){from, from, type});
    }
    bool nearest = op->number[ROUNDING] == PTX_MOD_RN && !saturate;
    const LaneHandler *handler = NULL;
    switch (type) {
    case PTX_F32:
        handler = !nearest ? &any_f32 : flush ? operation->f32_ftz : operation->f32;
        break;
    case PTX_F64:
        handler = nearest ? operation->f64 : &any_f64;
        break;
    case PTX_F32X2:
        handler = operation->kind == DIV ? NULL : &any_f32x2;
        break;
    default:
        break;
    }
    if (!lanes_simple(low, in, op, type, count, handler, operation->provenance)) return false;
    if (count == 2) op->s[2] = op->s[1]; /* the handlers for any rounding read three */
    return true;
}

bool lanes_lower_float_add(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_operation(low, in, op, &(Operation){&add_f32, &add_f32_ftz, &add_f64, ADD, 2, WEIGHT_SUM});
}
bool lanes_lower_float_sub(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_operation(low, in, op, &(Operation){&sub_f32, &sub_f32_ftz, &sub_f64, SUB, 2, WEIGHT_SUM});
}
bool lanes_lower_float_mul(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_operation(low, in, op,
                           &(Operation){&mul_f32, &mul_f32_ftz, &mul_f64, MUL, 2, WEIGHT_PRODUCT});
}
bool lanes_lower_float_fma(Lowering *low, const PtxInstruction *in, Op *op) {
    static const Operation operations[] = {
        [0] = {&fma_f32, &fma_f32_ftz, &fma_f64, FMA, 3, WEIGHT_PRODUCT},
        [MINUS_PRODUCT] = {&minus_product_f32, &any_f32, &minus_product_f64, FMA, 3, WEIGHT_PRODUCT},
        [MINUS_ADDEND] = {&minus_addend_f32, &any_f32, &minus_addend_f64, FMA, 3, WEIGHT_PRODUCT},
        [MINUS_PRODUCT | MINUS_ADDEND] = {&any_f32, &any_f32, &any_f64, FMA, 3, WEIGHT_PRODUCT}};
    int minus = lanes_minus(in, MINUS_PRODUCT, MINUS_ADDEND);
    if (!lower_operation(low, in, op, &operations[minus])) return false;
    op->number[FLAGS] |= minus;
    return true;
}

bool lanes_lower_float_div(Lowering *low, const PtxInstruction *in, Op *op) {
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ), approx = ptx_instruction_has(in, PTX_MOD_APPROX);
    if (!approx && !ptx_instruction_has(in, PTX_MOD_FULL))
        return lower_operation(low, in, op,
                               &(Operation){&div_f32, &div_f32_ftz, &div_f64, DIV, 2, WEIGHT_PRODUCT});
    const LaneHandler *handler = approx  ? flush ? &div_approx_f32_ftz : &div_approx_f32
                                 : flush ? &div_f32_ftz
                                         : &div_f32;
    PtxType type = lanes_type(in, 0);
    op->number[ROUNDING] = PTX_MOD_RN;
    op->number[FLAGS] = flush ? FTZ : 0;
    op->number[KIND] = DIV;
    if (!lanes_accept(low, in, op, PTX_MOD_APPROX, PTX_MOD_FULL, PTX_MOD_FTZ, PTX_MODIFIER_NONE) ||
        !lanes_simple(low, in, op, type, 2, type == PTX_F32 ? handler : NULL, WEIGHT_PRODUCT))
        return false;
    op->s[2] = op->s[1];
    return true;
}

static bool lower_sign(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *f32,
                       const LaneHandler *f32_ftz, const LaneHandler *f64) {
    PtxType type = lanes_type(in, 0);
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ);
    return lanes_accept(low, in, op, PTX_MOD_FTZ, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1,
                        type == PTX_F32             ? flush ? f32_ftz : f32
                        : type == PTX_F64 && !flush ? f64
                                                    : NULL,
                        WEIGHT_SUM);
}
bool lanes_lower_float_abs(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_sign(low, in, op, &abs_f32, &abs_f32_ftz, &abs_f64);
}
bool lanes_lower_float_neg(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_sign(low, in, op, &neg_f32, &neg_f32_ftz, &neg_f64);
}

OPCODE_LOWER(copysign) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) && lanes_simple(low, in, op, type, 2,
                                                                        type == PTX_F32   ? &copysign_f32
                                                                        : type == PTX_F64 ? &copysign_f64
                                                                                          : NULL,
                                                                        WEIGHT_SUM);
}

static bool lower_order(Lowering *low, const PtxInstruction *in, Op *op, bool maximal) {
    static const struct {
        PtxModifierKind modifier;
        int flag;
    } flags[] = {{PTX_MOD_FTZ, ORDER_FTZ},
                 {PTX_MOD_NAN, ORDER_NAN},
                 {PTX_MOD_ABS, ORDER_ABS},
                 {PTX_MOD_XORSIGN, ORDER_XORSIGN}};
    PtxType type = lanes_type(in, 0);
    if (!lanes_accept(low, in, op, PTX_MOD_FTZ, PTX_MOD_NAN, PTX_MOD_ABS, PTX_MOD_XORSIGN, PTX_MODIFIER_NONE))
        return false;
    for (int i = 0; i < 4; i++)
        if (ptx_instruction_has(in, flags[i].modifier)) op->number[0] |= flags[i].flag;
    if (in->operand_count == 4) op->number[0] |= ORDER_THREE;
    op->number[1] = maximal;
    int count = op->number[0] & ORDER_THREE ? 3 : 2;
    const LaneHandler *handler = type == PTX_F32                     ? op->number[0] ? &order_any_f32
                                                                       : maximal     ? &max_f32
                                                                                     : &min_f32
                                 : type == PTX_F64 && !op->number[0] ? maximal ? &max_f64 : &min_f64
                                                                     : NULL;
    if (!lanes_simple(low, in, op, type, count, handler, WEIGHT_SUM)) return false;
    if (count == 2) op->s[2] = op->s[1];
    return true;
}
bool lanes_lower_float_min(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_order(low, in, op, false);
}
bool lanes_lower_float_max(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_order(low, in, op, true);
}
