/* Lanes: the notation of the pure per-lane instructions. Private to lanes_*.c.
 *
 * A *handler* is a loop over the 32 lanes of a warp. It is written once and compiled several times, for the
 * vector units of x86 machines (a *level* each). Lowering picks the best level of this machine, so the
 * program needs neither -march=native nor intrinsics. All levels give the same bits: nothing here depends on
 * contraction, on the order of a sum or on the host's NaNs.
 *
 * Floats are kept as bits (uint16_t, uint32_t, uint64_t) and become float or double only inside an
 * expression. */
#ifndef EMULATOR_LANES_LANES_H
#define EMULATOR_LANES_LANES_H

#include "emulator/lower/op.h"

enum { LANE_LEVELS = 3 }; /* 0: the compiler's default; 1: AVX2 and FMA; 2: AVX-512 */

typedef struct LaneHandler {
    OpFunction at[LANE_LEVELS];
} LaneHandler;

typedef const LaneHandler *const HandlerOfType[PTX_TYPE_COUNT];

/* The level in use, and a limit that lets tests and benchmarks compare levels (not thread-safe). */
int lanes_level(void);
void lanes_limit_level(int limit);

#define LANES_INLINE static inline __attribute__((always_inline))

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define LANES_HAVE_LEVELS 1
#define LANES_AVX2        __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#define LANES_AVX512                                                                                         \
    __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq")))
#else
#define LANES_HAVE_LEVELS 0
#define LANES_AVX2
#define LANES_AVX512
#endif

/* Defines the handler NAME; the macro is followed by its body, which sees `op`, `warp` and `mask`. */
#if LANES_HAVE_LEVELS
#define HANDLER(NAME)                                                                                        \
    LANES_INLINE void NAME##_lanes(const Op *op, Warp *warp, uint32_t mask);                                 \
    HANDLER_LEVEL(NAME, plain, )                                                                             \
    HANDLER_LEVEL(NAME, avx2, LANES_AVX2)                                                                    \
    HANDLER_LEVEL(NAME, avx512, LANES_AVX512)                                                                \
    static const LaneHandler NAME = {{NAME##_plain, NAME##_avx2, NAME##_avx512}};                            \
    LANES_INLINE void NAME##_lanes(const Op *op, Warp *warp, uint32_t mask)
#define HANDLER_LEVEL(NAME, LEVEL, TARGET)                                                                   \
    TARGET static void NAME##_##LEVEL(const Op *restrict op, Warp *const *restrict warps,                    \
                                      const uint32_t *restrict masks, int count) {                           \
        for (int w = 0; w < count; w++) NAME##_lanes(op, warps[w], masks[w]);                                \
    }
#else
#define HANDLER(NAME) SLOW_HANDLER(NAME)
#endif

/* The same for instructions that no compiler vectorizes: compiled once. */
#define SLOW_HANDLER(NAME)                                                                                   \
    static void NAME##_plain(const Op *op, Warp *const *warps, const uint32_t *masks, int count);            \
    static const LaneHandler NAME = {{NAME##_plain, NAME##_plain, NAME##_plain}};                            \
    OP_FUNCTION(NAME##_plain)

/* Tells the vectorizer that lanes are independent: a destination equals a source or does not overlap it. */
#if defined __wasm__ && !defined __wasm_simd128__
#define LANES_INDEPENDENT /* there are no vectors */
#elif defined __clang__
#define LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* d[l] = VALUE for the lanes of the mask. The partial form computes all lanes and blends by bits, so the
 * compiler needs neither a branch nor a proof that arithmetic in a lane outside the mask cannot trap. */
#define EACH_LANE(TYPE, VALUE)                                                                               \
    do {                                                                                                     \
        if (mask == ALL_LANES) {                                                                             \
            LANES_INDEPENDENT for (int l = 0; l < WARP_LANES; l++) {                                         \
                d[l] = (TYPE)(VALUE);                                                                        \
            }                                                                                                \
        } else {                                                                                             \
            LANES_INDEPENDENT for (int l = 0; l < WARP_LANES; l++) {                                         \
                TYPE kept = (TYPE)((mask & lane_bit[l]) ? 0 : ~(TYPE)0), value = (TYPE)(VALUE);              \
                d[l] = (TYPE)((d[l] & kept) | (value & (TYPE)~kept));                                        \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* For expressions worth skipping: visits only the lanes of the mask. */
#define EACH_ACTIVE_LANE                                                                                     \
    for (uint32_t left = mask, l = 0; left && ((l = (uint32_t)__builtin_ctz(left)), true); left &= left - 1)

/* Builds a predicate register from one bit per lane. */
#define SET_PREDICATE(OPERAND, BITS)                                                                         \
    do {                                                                                                     \
        uint32_t *predicate = operand_at(warp, OPERAND);                                                     \
        *predicate = (*predicate & ~mask) | ((BITS)&mask);                                                   \
    } while (0)

/* Handlers of one, two and three sources; D and S are the unsigned types of the destination and the sources,
 * which the expression sees as a[l], b[l], c[l]. */
#define UNARY(NAME, D, S, VALUE)                                                                             \
    HANDLER(NAME) {                                                                                          \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]);                                                             \
        EACH_LANE(D, VALUE);                                                                                 \
    }
#define BINARY(NAME, D, S, VALUE)                                                                            \
    HANDLER(NAME) {                                                                                          \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        EACH_LANE(D, VALUE);                                                                                 \
    }
#define TERNARY(NAME, D, S, C, VALUE)                                                                        \
    HANDLER(NAME) {                                                                                          \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        const C *c = operand_at(warp, op->s[2]);                                                             \
        EACH_LANE(D, VALUE);                                                                                 \
    }
#define SLOW_UNARY(NAME, D, S, VALUE)                                                                        \
    SLOW_HANDLER(NAME) {                                                                                     \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]);                                                             \
        EACH_ACTIVE_LANE d[l] = (D)(VALUE);                                                                  \
    }
#define SLOW_BINARY(NAME, D, S, VALUE)                                                                       \
    SLOW_HANDLER(NAME) {                                                                                     \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        EACH_ACTIVE_LANE d[l] = (D)(VALUE);                                                                  \
    }
#define SLOW_TERNARY(NAME, D, S, C, VALUE)                                                                   \
    SLOW_HANDLER(NAME) {                                                                                     \
        D *d = operand_at(warp, op->d);                                                                      \
        const S *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        const C *c = operand_at(warp, op->s[2]);                                                             \
        EACH_ACTIVE_LANE d[l] = (D)(VALUE);                                                                  \
    }

/* ---- bits and floats ------------------------------------------------------------------------------- */

LANES_INLINE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
LANES_INLINE uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
LANES_INLINE double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
LANES_INLINE uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The hardware's NaN when no operand is a NaN: CUDART_NAN_F and CUDART_NAN in CUDA's math_constants.h. */
#define NAN_F32 0x7fffffffu
#define NAN_F16 0x7fffu /* also for bfloat16 */
#define NAN_F64 0xfff8000000000000u

LANES_INLINE bool is_nan32(uint32_t bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}
LANES_INLINE bool is_nan64(uint64_t bits) {
    return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}
LANES_INLINE uint32_t canonical32(uint32_t bits) {
    return is_nan32(bits) ? NAN_F32 : bits;
}
/* Modifier .ftz: a subnormal becomes zero of the same sign. */
LANES_INLINE uint32_t flush32(uint32_t bits) {
    return (bits & 0x7f800000u) ? bits : bits & 0x80000000u;
}
/* Modifier .sat of floats: clamps to [0, 1]; NaN and -0 become +0. */
LANES_INLINE uint32_t saturate32(uint32_t bits) {
    return (bits & 0x80000000u) || is_nan32(bits) ? 0 : bits > 0x3f800000u ? 0x3f800000u : bits;
}

/* binary16 to float is exact; the multiplication by 2^112 moves the exponent and makes subnormals normal. */
LANES_INLINE uint32_t widen_f16(uint32_t half) {
    uint32_t magnitude = (half & 0x7fffu) << 13, sign = (half & 0x8000u) << 16;
    uint32_t finite = bits_of(float_of(magnitude) * 5192296858534827628530496329220096.0f);
    return sign | ((half & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : finite);
}
LANES_INLINE uint32_t widen_bf16(uint32_t half) {
    return half << 16;
}
/* Float to binary16 and bfloat16, to nearest even. Below 2^-14, adding 0.5 rounds at the last bit of a
 * subnormal. */
LANES_INLINE uint32_t narrow_f16(uint32_t bits) {
    uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
    uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t finite = magnitude < 0x38800000u ? subnormal : magnitude < 0x477ff000u ? normal : 0x7c00u;
    return magnitude > 0x7f800000u ? NAN_F16 : sign | finite;
}
LANES_INLINE uint32_t narrow_bf16(uint32_t bits) {
    return is_nan32(bits) ? NAN_F16 : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
/* Double to float, rounded to odd: a second rounding to a narrower format then gives what one rounding would
 * have given. */
LANES_INLINE uint32_t float_odd(double value) {
    uint32_t near = bits_of((float)value);
    double rest = value - (double)float_of(near);
    uint32_t away = (rest > 0.0) == (value > 0.0) ? 1u : ~0u;
    return (double)float_of(near) != value && !(near & 1) ? near + away : near;
}
/* .ftz of binary16. */
LANES_INLINE uint32_t flush16(uint32_t half) {
    return half & 0x7c00u ? half : half & 0x8000u;
}

/* ---- lowering -------------------------------------------------------------------------------------- */

/* Rejects modifiers that are neither types of the instruction nor in the list, which PTX_MODIFIER_NONE
 * ends. */
bool lanes_accept(Lowering *low, const PtxInstruction *in, Op *op, ...);
/* Rejects any other number of operands. */
bool lanes_expect_operands(Lowering *low, const PtxInstruction *in, Op *op, int minimum, int maximum);
/* What a fused instruction negates: `product`, `addend`, their sum, or 0. */
int lanes_minus(const PtxInstruction *in, int product, int addend);
/* Makes `op` a lane operation. NULL: rejects, because the opcode does not support this type. */
bool lanes_use(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *handler,
               OpWeight provenance);
/* Operand 0 is d, of type `destination`; operands 1.. are sources of the `source_count` types. Widths must
 * match. */
bool lanes_operands(Lowering *low, const PtxInstruction *in, Op *op, PtxType destination, int source_count,
                    const PtxType *types);
/* d and `source_count` sources of one type, then lanes_use(). */
bool lanes_simple(Lowering *low, const PtxInstruction *in, Op *op, PtxType type, int source_count,
                  const LaneHandler *handler, OpWeight provenance);
/* The rounding modifier (PTX_MOD_RN, _RZ, _RM, _RP, ...) or PTX_MODIFIER_NONE. */
PtxModifierKind lanes_rounding(const PtxInstruction *in);
PtxType lanes_type(const PtxInstruction *in, int index); /* PTX_NO_TYPE past the end */

/* Opcodes with integer, float and half forms: lower_add() and the like (lanes_arithmetic.c) choose by
 * type. */
typedef bool LaneLowering(Lowering *low, const PtxInstruction *in, Op *op);
LaneLowering lanes_lower_integer_add, lanes_lower_integer_sub, lanes_lower_integer_mul,
    lanes_lower_integer_mad, lanes_lower_integer_div, lanes_lower_integer_abs, lanes_lower_integer_neg,
    lanes_lower_integer_min, lanes_lower_integer_max;
LaneLowering lanes_lower_float_add, lanes_lower_float_sub, lanes_lower_float_mul, lanes_lower_float_fma,
    lanes_lower_float_div, lanes_lower_float_abs, lanes_lower_float_neg, lanes_lower_float_min,
    lanes_lower_float_max;
LaneLowering lanes_lower_half_add, lanes_lower_half_sub, lanes_lower_half_mul, lanes_lower_half_fma,
    lanes_lower_half_abs, lanes_lower_half_neg, lanes_lower_half_min, lanes_lower_half_max;

#endif
