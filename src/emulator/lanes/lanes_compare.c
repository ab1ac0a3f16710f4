/* Comparisons and selections: "Comparison and Selection Instructions", "Half Precision Comparison
 * Instructions", testp.
 *
 * set and setp share their handlers: a handler compares, giving one bit per lane, and finish() stores it. Few
 * comparisons are primitive; the others swap the operands or invert the result: a > b is b < a, and "a gtu b"
 * (greater or unordered) is !(a <= b). */
#include "emulator/lanes/lanes.h"

/* Fields of Op.number. */
enum { BOOLEAN, RESULT, INVERT, FORMAT };
/* number[BOOLEAN]: PTX_MOD_AND, _OR, _XOR with the predicate s[2]; 0: no predicate; ALONE: no predicate, and
 * setp sets only p. number[RESULT]: the type that set writes; PTX_NO_TYPE: setp. number[INVERT]: -1 to invert
 * the bits, else 0. number[FORMAT]: half comparisons: the type, and FLUSHED. */
enum { FLUSHED = 1 << 8, ALONE = -1 };

static uint32_t combine(const Op *op, const Warp *warp, uint32_t bits) {
    if (op->number[BOOLEAN] == 0 || op->number[BOOLEAN] == ALONE) return bits;
    uint32_t other = *(const uint32_t *)operand_at(warp, op->s[2]);
    switch (op->number[BOOLEAN]) {
    case PTX_MOD_AND:
        return bits & other;
    case PTX_MOD_OR:
        return bits | other;
    default:
        return bits ^ other;
    }
}

static void store_set(const Op *op, Warp *warp, uint32_t mask, uint32_t bits) {
    void *d = operand_at(warp, op->d);
    static const uint32_t yes[PTX_TYPE_COUNT] = {
        [PTX_U32] = UINT32_MAX, [PTX_S32] = UINT32_MAX, [PTX_F32] = 0x3f800000u, [PTX_U16] = 0xffffu,
        [PTX_S16] = 0xffffu,    [PTX_F16] = 0x3c00u,    [PTX_BF16] = 0x3f80u,
    };
    uint32_t value = yes[op->number[RESULT]];
    EACH_ACTIVE_LANE {
        uint32_t result = (bits >> l) & 1 ? value : 0;
        if (op->d_bytes == 2)
            ((uint16_t *)d)[l] = (uint16_t)result;
        else
            ((uint32_t *)d)[l] = result;
    }
}

static __attribute__((noinline)) void finish_all(const Op *op, Warp *warp, uint32_t mask, uint32_t bits) {
    if (op->number[RESULT] == PTX_NO_TYPE) {
        uint32_t first = combine(op, warp, bits), second = combine(op, warp, ~bits);
        if (op->has_d) SET_PREDICATE(op->d, first);
        if (op->has_p) SET_PREDICATE(op->p, second);
    } else {
        store_set(op, warp, mask, combine(op, warp, bits));
    }
}

LANES_INLINE void finish(const Op *op, Warp *warp, uint32_t mask, uint32_t bits) {
    bits ^= (uint32_t)op->number[INVERT];
    if (op->number[BOOLEAN] == ALONE)
        SET_PREDICATE(op->d, bits);
    else
        finish_all(op, warp, mask, bits);
}

#define COMPARISON(NAME, T, CONDITION)                                                                       \
    HANDLER(NAME) {                                                                                          \
        const T *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        T##_sum bits = 0; /* as wide as the operands: needs no conversion */                                 \
        for (int l = 0; l < WARP_LANES; l++) bits |= lane_bit[l] & ((CONDITION) ? ~(T##_sum)0 : 0);          \
        finish(op, warp, mask, (uint32_t)bits);                                                              \
    }
typedef uint32_t uint16_t_sum, int16_t_sum, uint32_t_sum, int32_t_sum;
typedef uint64_t uint64_t_sum, int64_t_sum;
COMPARISON(eq_16, uint16_t, a[l] == b[l])
COMPARISON(eq_32, uint32_t, a[l] == b[l])
COMPARISON(eq_64, uint64_t, a[l] == b[l])
COMPARISON(lt_u16, uint16_t, a[l] < b[l])
COMPARISON(lt_s16, int16_t, a[l] < b[l])
COMPARISON(lt_u32, uint32_t, a[l] < b[l])
COMPARISON(lt_s32, int32_t, a[l] < b[l])
COMPARISON(lt_u64, uint64_t, a[l] < b[l])
COMPARISON(lt_s64, int64_t, a[l] < b[l])

/* NE tests for NaNs by their bits: "less or greater" is one instruction, for which valgrind handles NaNs
 * wrongly. */
#define FLOAT_COMPARISONS(NAME, T, VALUE, IS_NAN)                                                            \
    COMPARISON(eq_##NAME, T, VALUE(a[l]) == VALUE(b[l]))                                                     \
    COMPARISON(ne_##NAME, T, !IS_NAN(a[l]) && !IS_NAN(b[l]) && VALUE(a[l]) != VALUE(b[l]))                   \
    COMPARISON(lt_##NAME, T, VALUE(a[l]) < VALUE(b[l]))                                                      \
    COMPARISON(le_##NAME, T, VALUE(a[l]) <= VALUE(b[l]))                                                     \
    COMPARISON(num_##NAME, T, VALUE(a[l]) == VALUE(a[l]) && VALUE(b[l]) == VALUE(b[l]))
#define FLUSHED_FLOAT(x) float_of(flush32(x))
FLOAT_COMPARISONS(f32, uint32_t, float_of, is_nan32)
FLOAT_COMPARISONS(f32_ftz, uint32_t, FLUSHED_FLOAT, is_nan32)
FLOAT_COMPARISONS(f64, uint64_t, double_of, is_nan64)

/* Widens halves, which is exact. Packed ones give two results, which setp stores in p and q. */
static float widen(uint32_t half, int32_t format) {
    if (format & FLUSHED) half = flush16(half);
    int32_t type = format & ~FLUSHED;
    return float_of(type == PTX_F16 || type == PTX_F16X2 ? widen_f16(half) : widen_bf16(half));
}
typedef bool FloatTest(float a, float b);
static bool test_eq(float a, float b) {
    return a == b;
}
static bool test_ne(float a, float b) {
    return a < b || a > b;
}
static bool test_lt(float a, float b) {
    return a < b;
}
static bool test_le(float a, float b) {
    return a <= b;
}
static bool test_num(float a, float b) {
    return a == a && b == b;
}

#define HALF_COMPARISON(NAME)                                                                                \
    SLOW_HANDLER(NAME##_half) {                                                                              \
        const uint16_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                     \
        uint32_t bits = 0;                                                                                   \
        EACH_ACTIVE_LANE bits |=                                                                             \
            test_##NAME(widen(a[l], op->number[FORMAT]), widen(b[l], op->number[FORMAT])) ? lane_bit[l] : 0; \
        finish(op, warp, mask, bits);                                                                        \
    }                                                                                                        \
    SLOW_HANDLER(NAME##_half2) {                                                                             \
        finish_packed(op, warp, mask, test_##NAME);                                                          \
    }

static void finish_packed(const Op *op, Warp *warp, uint32_t mask, FloatTest *test) {
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);
    uint32_t bits[2] = {0, 0};
    EACH_ACTIVE_LANE for (int i = 0; i < 2; i++) bits[i] |=
        test(widen(a[l] >> 16 * i & 0xffffu, op->number[FORMAT]),
             widen(b[l] >> 16 * i & 0xffffu, op->number[FORMAT]))
            ? lane_bit[l]
            : 0;
    for (int i = 0; i < 2; i++) bits[i] = combine(op, warp, bits[i] ^ (uint32_t)op->number[INVERT]);
    if (op->number[RESULT] == PTX_NO_TYPE) {
        if (op->has_d) SET_PREDICATE(op->d, bits[0]);
        if (op->has_p) SET_PREDICATE(op->p, bits[1]);
        return;
    }
    uint32_t *d = operand_at(warp, op->d);
    uint32_t yes = op->number[RESULT] == PTX_F16X2    ? 0x3c00u
                   : op->number[RESULT] == PTX_BF16X2 ? 0x3f80u
                                                      : 0xffffu;
    EACH_ACTIVE_LANE d[l] = ((bits[0] >> l) & 1 ? yes : 0) | ((bits[1] >> l) & 1 ? yes << 16 : 0);
}
HALF_COMPARISON(eq)
HALF_COMPARISON(ne)
HALF_COMPARISON(lt)
HALF_COMPARISON(le)
HALF_COMPARISON(num)

/* ---- selections ------------------------------------------------------------------------------------ */

#define SELECT(NAME, T)                                                                                      \
    HANDLER(NAME) {                                                                                          \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        uint32_t choose = *(const uint32_t *)operand_at(warp, op->s[2]);                                     \
        EACH_LANE(T, (choose & lane_bit[l]) ? a[l] : b[l]);                                                  \
    }
SELECT(selp_16, uint16_t)
SELECT(selp_32, uint32_t)
SELECT(selp_64, uint64_t)

/* slct: a if c >= 0. -0 is not negative, a NaN is; .ftz only changes the sign of a negative subnormal. */
#define NOT_NEGATIVE(x)     (float_of(x) >= 0.0f)
#define NOT_NEGATIVE_FTZ(x) (float_of(flush32(x)) >= 0.0f)
#define SLCT(T, BITS)                                                                                        \
    TERNARY(slct_s32_##BITS, T, T, uint32_t, (int32_t)c[l] >= 0 ? a[l] : b[l])                               \
    TERNARY(slct_f32_##BITS, T, T, uint32_t, NOT_NEGATIVE(c[l]) ? a[l] : b[l])                               \
    TERNARY(slct_f32_ftz_##BITS, T, T, uint32_t, NOT_NEGATIVE_FTZ(c[l]) ? a[l] : b[l])
SLCT(uint16_t, 16)
SLCT(uint32_t, 32)
SLCT(uint64_t, 64)

/* ---- testp ----------------------------------------------------------------------------------------- */

static bool is_kind(uint64_t bits, int mantissa, int exponent, int32_t kind) {
    uint64_t all = (UINT64_C(1) << exponent) - 1, field = (bits >> mantissa) & all,
             fraction = bits & ((UINT64_C(1) << mantissa) - 1);
    switch (kind) {
    case PTX_MOD_FINITE:
        return field != all;
    case PTX_MOD_INFINITE:
        return field == all && fraction == 0;
    case PTX_MOD_NUMBER:
        return field != all || fraction == 0;
    case PTX_MOD_NOTANUMBER:
        return field == all && fraction != 0;
    case PTX_MOD_SUBNORMAL:
        return field == 0 && fraction != 0;
    default:
        return field != all && (field != 0 || fraction == 0); /* zeros count as normal */
    }
}
#define TESTP(NAME, T, MANTISSA, EXPONENT)                                                                   \
    SLOW_HANDLER(NAME) {                                                                                     \
        const T *a = operand_at(warp, op->s[0]);                                                             \
        uint32_t bits = 0;                                                                                   \
        EACH_ACTIVE_LANE bits |= is_kind(a[l], MANTISSA, EXPONENT, op->number[0]) ? lane_bit[l] : 0;         \
        SET_PREDICATE(op->d, bits);                                                                          \
    }
TESTP(testp_f32, uint32_t, 23, 8)
TESTP(testp_f64, uint64_t, 52, 11)

/* ---- lowering -------------------------------------------------------------------------------------- */

enum { TEST_EQ, TEST_NE, TEST_LT, TEST_LE, TEST_NUM, TEST_COUNT };

typedef struct CompareOperator {
    PtxModifierKind modifier;
    uint8_t test; /* for integers NE is EQ inverted, and LE is LT swapped and inverted */
    bool exchange, invert;
    bool floats, integers; /* the types that allow it */
} CompareOperator;

static const CompareOperator comparisons[] = {
    {PTX_MOD_EQ, TEST_EQ, false, false, true, true},
    {PTX_MOD_NE, TEST_NE, false, false, true, true},
    {PTX_MOD_LT, TEST_LT, false, false, true, true},
    {PTX_MOD_LE, TEST_LE, false, false, true, true},
    {PTX_MOD_GT, TEST_LT, true, false, true, true},
    {PTX_MOD_GE, TEST_LE, true, false, true, true},
    {PTX_MOD_LO, TEST_LT, false, false, false, true},
    {PTX_MOD_LS, TEST_LE, false, false, false, true},
    {PTX_MOD_HI, TEST_LT, true, false, false, true},
    {PTX_MOD_HS, TEST_LE, true, false, false, true},
    {PTX_MOD_EQU, TEST_NE, false, true, true, false},
    {PTX_MOD_NEU, TEST_EQ, false, true, true, false},
    {PTX_MOD_LTU, TEST_LE, true, true, true, false},
    {PTX_MOD_LEU, TEST_LT, true, true, true, false},
    {PTX_MOD_GTU, TEST_LE, false, true, true, false},
    {PTX_MOD_GEU, TEST_LT, false, true, true, false},
    {PTX_MOD_NUM, TEST_NUM, false, false, true, false},
    {PTX_MOD_EITHER_NAN, TEST_NUM, false, true, true, false},
};

static const CompareOperator *find_comparison(const PtxInstruction *in) {
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        if (ptx_instruction_has(in, comparisons[i].modifier)) return &comparisons[i];
    return NULL;
}

#define FLOAT_TESTS(NAME)                                                                                    \
    {                                                                                                        \
        [TEST_EQ] = &eq_##NAME, [TEST_NE] = &ne_##NAME, [TEST_LT] = &lt_##NAME, [TEST_LE] = &le_##NAME,      \
        [TEST_NUM] = &num_##NAME                                                                             \
    }
#define ORDERED(WIDTH, ORDER)                                                                                \
    { [TEST_EQ] = &eq_##WIDTH, [TEST_LT] = &lt_##ORDER }
#define UNORDERED(WIDTH)                                                                                     \
    { [TEST_EQ] = &eq_##WIDTH }

static const LaneHandler *const tests[PTX_TYPE_COUNT][TEST_COUNT] = {
    [PTX_B16] = UNORDERED(16),      [PTX_B32] = UNORDERED(32),        [PTX_B64] = UNORDERED(64),
    [PTX_U16] = ORDERED(16, u16),   [PTX_S16] = ORDERED(16, s16),     [PTX_U32] = ORDERED(32, u32),
    [PTX_S32] = ORDERED(32, s32),   [PTX_U64] = ORDERED(64, u64),     [PTX_S64] = ORDERED(64, s64),
    [PTX_F32] = FLOAT_TESTS(f32),   [PTX_F64] = FLOAT_TESTS(f64),     [PTX_F16] = FLOAT_TESTS(half),
    [PTX_BF16] = FLOAT_TESTS(half), [PTX_F16X2] = FLOAT_TESTS(half2), [PTX_BF16X2] = FLOAT_TESTS(half2),
};
static const LaneHandler *const flushed_tests[TEST_COUNT] = FLOAT_TESTS(f32_ftz);

/* Chooses the handler for a comparison of `type`; lowers operands 1 and 2 and the optional predicate. */
static bool lower_comparison(Lowering *low, const PtxInstruction *in, Op *op, PtxType type) {
    const CompareOperator *comparison = find_comparison(in);
    if (!comparison) return lowering_reject(low, op, "%s without a comparison", in->name);
    bool is_float = ptx_type_is_float(type), flush = ptx_instruction_has(in, PTX_MOD_FTZ);
    if (is_float ? !comparison->floats : !comparison->integers)
        return lowering_reject(low, op, "%s has no such comparison for .%s", in->name, ptx_type_text(type));
    int test = comparison->test;
    bool exchange = comparison->exchange, invert = comparison->invert;
    if (!is_float && test == TEST_NE) test = TEST_EQ, invert = !invert;
    if (!is_float && test == TEST_LE) test = TEST_LT, exchange = !exchange, invert = !invert;
    if (flush && !(type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2))
        return lowering_reject(low, op, "%s.ftz has no form for .%s", in->name, ptx_type_text(type));
    if (!lanes_use(low, in, op, flush && type == PTX_F32 ? flushed_tests[test] : tests[type][test],
                   WEIGHT_SUM))
        return false;
    op->number[INVERT] = invert ? -1 : 0;
    op->number[FORMAT] = (int32_t)type | (flush ? FLUSHED : 0);
    static const PtxModifierKind booleans[] = {PTX_MOD_AND, PTX_MOD_OR, PTX_MOD_XOR};
    for (int i = 0; i < 3; i++)
        if (ptx_instruction_has(in, booleans[i])) op->number[BOOLEAN] = (int32_t)booleans[i];
    int count = op->number[BOOLEAN] ? 4 : 3;
    op->source_count = 2;
    return lanes_expect_operands(low, in, op, count, count) &&
           lowering_source(low, op, 1, type, &op->s[exchange ? 1 : 0]) &&
           lowering_source(low, op, 2, type, &op->s[exchange ? 0 : 1]) &&
           (count == 3 || lowering_source(low, op, 3, PTX_PRED, &op->s[2]));
}

static bool accept_comparison(Lowering *low, const PtxInstruction *in, Op *op) {
    return lanes_accept(low, in, op, PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT, PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE,
                        PTX_MOD_LO, PTX_MOD_LS, PTX_MOD_HI, PTX_MOD_HS, PTX_MOD_EQU, PTX_MOD_NEU, PTX_MOD_LTU,
                        PTX_MOD_LEU, PTX_MOD_GTU, PTX_MOD_GEU, PTX_MOD_NUM, PTX_MOD_EITHER_NAN, PTX_MOD_AND,
                        PTX_MOD_OR, PTX_MOD_XOR, PTX_MOD_FTZ, PTX_MODIFIER_NONE);
}

OPCODE_LOWER(setp) {
    if (!accept_comparison(low, in, op) || !lower_comparison(low, in, op, lanes_type(in, 0))) return false;
    op->number[RESULT] = PTX_NO_TYPE;
    const PtxOperand *d = &in->operands[0], *p = d->kind == PTX_OPERAND_PAIR ? &d->items[0] : d;
    uint8_t bytes = 0;
    if (!lowering_destination(low, op, p, &op->d, &op->d_bytes, &op->has_d) ||
        (p != d && !lowering_destination(low, op, &d->items[1], &op->p, &bytes, &op->has_p)))
        return false;
    if (op->d_bytes || bytes) return lowering_reject(low, op, "the destination of setp is not a predicate");
    if (op->has_d && !op->has_p && op->number[BOOLEAN] == 0) op->number[BOOLEAN] = ALONE;
    return true;
}

OPCODE_LOWER(set) {
    PtxType result = lanes_type(in, 0), type = lanes_type(in, 1);
    if (!accept_comparison(low, in, op) || !lower_comparison(low, in, op, type)) return false;
    bool packed = type == PTX_F16X2 || type == PTX_BF16X2, word = result == PTX_U32 || result == PTX_S32;
    bool valid = packed ? word || result == type
                        : word || result == PTX_F32 || result == PTX_F16 || result == PTX_BF16 ||
                              result == PTX_U16 || result == PTX_S16;
    if (!valid)
        return lowering_reject(low, op, "set.%s.%s is not emulated", ptx_type_text(result),
                               ptx_type_text(type));
    op->number[RESULT] = (int32_t)result;
    return lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d) &&
           ((op->has_d && op->d_bytes == ptx_type_bytes(result)) ||
            lowering_reject(low, op, "the destination of set is not a .%s register", ptx_type_text(result)));
}

#define WIDTHS(NAME)                                                                                         \
    [PTX_B16] = &NAME##_16, [PTX_U16] = &NAME##_16, [PTX_S16] = &NAME##_16, [PTX_F16] = &NAME##_16,          \
    [PTX_BF16] = &NAME##_16, [PTX_B32] = &NAME##_32, [PTX_U32] = &NAME##_32, [PTX_S32] = &NAME##_32,         \
    [PTX_F32] = &NAME##_32, [PTX_B64] = &NAME##_64, [PTX_U64] = &NAME##_64, [PTX_S64] = &NAME##_64,          \
    [PTX_F64] = &NAME##_64

OPCODE_LOWER(selp) {
    static HandlerOfType table = {WIDTHS(selp)};
    PtxType type = lanes_type(in, 0);
    if (!lanes_accept(low, in, op, PTX_MODIFIER_NONE) || !lanes_use(low, in, op, table[type], WEIGHT_SUM) ||
        !lanes_operands(low, in, op, type, 3, (PtxType[]){type, type, PTX_PRED}))
        return false;
    op->source_count = 2;
    return true;
}

OPCODE_LOWER(slct) {
    static HandlerOfType integer = {WIDTHS(slct_s32)}, real = {WIDTHS(slct_f32)},
                         flushed = {WIDTHS(slct_f32_ftz)};
    PtxType type = lanes_type(in, 0), sign = lanes_type(in, 1);
    bool flush = ptx_instruction_has(in, PTX_MOD_FTZ);
    if (sign != PTX_F32 && (sign != PTX_S32 || flush))
        return lowering_reject(low, op, "the last type of slct is .s32 or .f32");
    return lanes_accept(low, in, op, PTX_MOD_FTZ, PTX_MODIFIER_NONE) &&
           lanes_use(low, in, op,
                     sign == PTX_S32 ? integer[type]
                     : flush         ? flushed[type]
                                     : real[type],
                     WEIGHT_SUM) &&
           lanes_operands(low, in, op, type, 3, (PtxType[]){type, type, sign});
}

OPCODE_LOWER(testp) {
    static const PtxModifierKind kinds[] = {PTX_MOD_FINITE,     PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                            PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL,   PTX_MOD_SUBNORMAL};
    PtxType type = lanes_type(in, 0);
    for (int i = 0; i < 6; i++)
        if (ptx_instruction_has(in, kinds[i])) op->number[0] = (int32_t)kinds[i];
    if (!op->number[0]) return lowering_reject(low, op, "testp without a kind");
    return lanes_accept(low, in, op, PTX_MOD_FINITE, PTX_MOD_INFINITE, PTX_MOD_NUMBER, PTX_MOD_NOTANUMBER,
                        PTX_MOD_NORMAL, PTX_MOD_SUBNORMAL, PTX_MODIFIER_NONE) &&
           lanes_use(low, in, op,
                     type == PTX_F32   ? &testp_f32
                     : type == PTX_F64 ? &testp_f64
                                       : NULL,
                     WEIGHT_SUM) &&
           lanes_operands(low, in, op, PTX_PRED, 1, &type);
}
