/* rcp, sqrt, rsqrt and the transcendental functions: "Floating-Point Instructions", "Half Precision
 * Floating-Point Instructions" tanh and ex2.
 *
 * Forms with a rounding are exact. The .approx forms round the host's double result: as close to the true
 * value as the type allows, and so within the error that PTX states for each. The hardware's bits differ
 * within that error. */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"
#include <math.h>

#define F(x)     float_of(x)
#define FLUSH(x) float_of(flush32(x))
#define OUT(x)   canonical32(bits_of(x))
#define OUTF(x)  flush32(canonical32(bits_of(x)))
#define QUIET64  UINT64_C(0x0008000000000000)

LANES_INLINE uint64_t propagate(double result, uint64_t a) {
    uint64_t bits = bits_of_double(result);
    return is_nan64(a) ? a | QUIET64 : is_nan64(bits) ? NAN_F64 : bits;
}

UNARY(rcp_f32, uint32_t, uint32_t, OUT(1.0f / F(a[l])))
UNARY(rcp_f32_ftz, uint32_t, uint32_t, OUTF(1.0f / FLUSH(a[l])))
UNARY(rcp_f64, uint64_t, uint64_t, propagate(1.0 / double_of(a[l]), a[l]))
SLOW_UNARY(sqrt_f32, uint32_t, uint32_t, OUT(sqrtf(F(a[l]))))
SLOW_UNARY(sqrt_f32_ftz, uint32_t, uint32_t, OUTF(sqrtf(FLUSH(a[l]))))
SLOW_UNARY(sqrt_f64, uint64_t, uint64_t, propagate(sqrt(double_of(a[l])), a[l]))
SLOW_UNARY(rsqrt_f64, uint64_t, uint64_t, propagate(1.0 / sqrt(double_of(a[l])), a[l]))

/* rcp and sqrt with the rounding number[0]; number[1]: .ftz; number[2]: sqrt. */
static Exact root_or_reciprocal(const Op *op, const FloatFormat *format, uint64_t a) {
    Exact x = exact_of(format, a);
    return op->number[2] ? exact_sqrt(x) : exact_divide(exact_of_unsigned(1), x);
}
static uint32_t rounded_f32(const Op *op, uint32_t a) {
    PtxModifierKind rounding = (PtxModifierKind)op->number[0];
    Exact exact = root_or_reciprocal(op, &FORMAT_F32, op->number[1] ? flush32(a) : a);
    uint32_t result = (uint32_t)exact_round(exact, &FORMAT_F32, rounding, false);
    return op->number[1] && exact_is_tiny(exact, &FORMAT_F32, rounding) ? result & 0x80000000u : result;
}
static uint64_t rounded_f64(const Op *op, uint64_t a) {
    return exact_round(root_or_reciprocal(op, &FORMAT_F64, a), &FORMAT_F64, (PtxModifierKind)op->number[0],
                       false);
}
SLOW_UNARY(rounded_any_f32, uint32_t, uint32_t, rounded_f32(op, a[l]))
SLOW_UNARY(rounded_any_f64, uint64_t, uint64_t, propagate(double_of(rounded_f64(op, a[l])), a[l]))

/* The "gross" approximations of f64 read and write only the upper word; subnormals count as zero; there is
 * one NaN. */
static uint64_t gross(uint64_t a, bool root) {
    a &= UINT64_C(0xffffffff00000000);
    if (!(a & UINT64_C(0x7ff0000000000000))) a &= UINT64_C(0x8000000000000000);
    uint64_t bits = bits_of_double(1.0 / (root ? sqrt(double_of(a)) : double_of(a)));
    if (is_nan64(bits)) return UINT64_C(0x7fffffff00000000);
    if (!(bits & UINT64_C(0x7ff0000000000000))) bits &= UINT64_C(0x8000000000000000);
    return bits & UINT64_C(0xffffffff00000000);
}
SLOW_UNARY(rcp_gross_f64, uint64_t, uint64_t, gross(a[l], false))
SLOW_UNARY(rsqrt_gross_f64, uint64_t, uint64_t, gross(a[l], true))

/* ---- functions ------------------------------------------------------------------------------------- */

static double reciprocal_root(double x) {
    return 1.0 / sqrt(x);
}

typedef double Function(double x);
#define FUNCTION(NAME, CALL)                                                                                 \
    SLOW_UNARY(NAME##_f32, uint32_t, uint32_t, OUT((float)CALL((double)F(a[l]))))                            \
    SLOW_UNARY(NAME##_f32_ftz, uint32_t, uint32_t, OUTF((float)CALL((double)FLUSH(a[l]))))
/* sin.approx and cos.approx turn the angle into revolutions, in float and rounded towards zero. This causes
 * their error for large angles; an H200 differs from this by less than 2^-21.5 at any angle. */
static double angle_of(double x) {
    double exact = x * (double)0.15915494f; /* 1 / (2 * pi); exact: 24 + 24 bits */
    float revolutions = (float)exact;
    if (fabs((double)revolutions) > fabs(exact)) revolutions = nextafterf(revolutions, 0.0f);
    return 6.283185307179586 * fmod((double)revolutions, 1.0);
}
static double sine(double x) {
    return sin(angle_of(x));
}
static double cosine(double x) {
    return cos(angle_of(x));
}

FUNCTION(rsqrt, reciprocal_root)
FUNCTION(sin, sine)
FUNCTION(cos, cosine)
FUNCTION(lg2, log2)
FUNCTION(ex2, exp2)
FUNCTION(tanh, tanh)

static uint32_t f16_function(Function *function, uint32_t half, bool flush) {
    if (flush) half = flush16(half);
    uint32_t result = narrow_f16(float_odd(function((double)float_of(widen_f16(half)))));
    return flush ? flush16(result) : result;
}
static uint32_t bf16_function(Function *function, uint32_t half, bool flush) {
    if (flush) half = half & 0x7f80u ? half : half & 0x8000u;
    uint32_t result = narrow_bf16(float_odd(function((double)float_of(widen_bf16(half)))));
    return flush && !(result & 0x7f80u) ? result & 0x8000u : result;
}
#define PAIR(CALL, NAME)                                                                                     \
    (CALL(NAME, a[l] & 0xffffu, op->number[1]) | CALL(NAME, a[l] >> 16, op->number[1]) << 16)
#define HALF_FUNCTION(NAME, CALL)                                                                            \
    SLOW_UNARY(NAME##_f16, uint16_t, uint16_t, f16_function(CALL, a[l], op->number[1]))                      \
    SLOW_UNARY(NAME##_f16x2, uint32_t, uint32_t, PAIR(f16_function, CALL))                                   \
    SLOW_UNARY(NAME##_bf16, uint16_t, uint16_t, bf16_function(CALL, a[l], op->number[1]))                    \
    SLOW_UNARY(NAME##_bf16x2, uint32_t, uint32_t, PAIR(bf16_function, CALL))
HALF_FUNCTION(ex2, exp2)
HALF_FUNCTION(tanh, tanh)

/* ---- lowering -------------------------------------------------------------------------------------- */

/* rcp and sqrt: `f32`, `f32_ftz`, `f64` round to nearest and also serve .approx of f32; `gross` is
 * .approx.ftz.f64. */
static bool lower_root(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *f32,
                       const LaneHandler *f32_ftz, const LaneHandler *f64, const LaneHandler *gross_f64) {
    PtxType type = lanes_type(in, 0);
    PtxModifierKind rounding = lanes_rounding(in);
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ), approx = ptx_instruction_has(in, PTX_MOD_APPROX);
    if (!lanes_accept(low, in, op, PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP, PTX_MOD_FTZ,
                      PTX_MOD_APPROX, PTX_MODIFIER_NONE))
        return false;
    if (approx == (rounding != PTX_MODIFIER_NONE))
        return lowering_reject(low, op, "%s takes either .approx or a rounding", in->name);
    const LaneHandler *handler = NULL;
    bool nearest = approx || rounding == PTX_MOD_RN;
    if (type == PTX_F32) handler = !nearest ? &rounded_any_f32 : flush ? f32_ftz : f32;
    if (type == PTX_F64 && approx && flush) handler = gross_f64;
    if (type == PTX_F64 && !approx) handler = nearest ? f64 : &rounded_any_f64; /* .ftz has no effect here */
    op->number[0] = (int32_t)rounding;
    op->number[1] = flush;
    return lanes_simple(low, in, op, type, 1, handler, WEIGHT_SUM);
}

OPCODE_LOWER(rcp) {
    return lower_root(low, in, op, &rcp_f32, &rcp_f32_ftz, &rcp_f64, &rcp_gross_f64);
}
OPCODE_LOWER(sqrt) {
    op->number[2] = true; /* not rcp */
    return lower_root(low, in, op, &sqrt_f32, &sqrt_f32_ftz, &sqrt_f64, NULL);
}

/* Lowers a function that only has .approx; `flushed`: the handlers for .ftz, if they differ. */
static bool lower_function(Lowering *low, const PtxInstruction *in, Op *op, HandlerOfType plain,
                           HandlerOfType flushed) {
    PtxType type = lanes_type(in, 0);
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ);
    op->number[1] = flush;
    return lanes_accept(low, in, op, PTX_MOD_APPROX, PTX_MOD_FTZ, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1, flush ? flushed[type] : plain[type], WEIGHT_SUM);
}

#define LOWER(NAME, PLAIN, FLUSHED)                                                                          \
    OPCODE_LOWER(NAME) {                                                                                     \
        static HandlerOfType plain = {[PTX_F32] = &NAME##_f32, PLAIN},                                       \
                             flushed = {[PTX_F32] = &NAME##_f32_ftz, FLUSHED};                               \
        return lower_function(low, in, op, plain, flushed);                                                  \
    }
#define F16S(NAME)  [PTX_F16] = &NAME##_f16, [PTX_F16X2] = &NAME##_f16x2
#define BF16S(NAME) [PTX_BF16] = &NAME##_bf16, [PTX_BF16X2] = &NAME##_bf16x2
#define COMMA       ,
LOWER(sin, , )
LOWER(cos, , )
LOWER(lg2, , )
LOWER(rsqrt, [PTX_F64] = &rsqrt_f64, [PTX_F64] = &rsqrt_gross_f64)
LOWER(ex2, F16S(ex2), F16S(ex2) COMMA BF16S(ex2))
LOWER(tanh, F16S(tanh) COMMA BF16S(tanh), )
