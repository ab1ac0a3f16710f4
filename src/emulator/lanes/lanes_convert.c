/* cvt and cvt.pack: conversions between all types.
 *
 * Common conversions are vectorized. The others go through one function per lane: it unpacks the source into
 * an integer or an Exact, rounds once, and packs the result. Registers may be wider than the instruction's
 * types ("Operand Size Exceeding Instruction-Type Size"): sources are truncated, and results extended by
 * their type. */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"

/* ---- between integers ------------------------------------------------------------------------------ */

/* From a register of type R, whose type S is used, to a register of type D. */
#define CAST(NAME, D, R, S) UNARY(NAME, D, R, (S)a[l])
CAST(u8_to_16, uint16_t, uint16_t, uint8_t)
CAST(u8_to_32, uint32_t, uint16_t, uint8_t)
CAST(u8_to_64, uint64_t, uint16_t, uint8_t)
CAST(s8_to_16, uint16_t, uint16_t, int8_t)
CAST(s8_to_32, uint32_t, uint16_t, int8_t)
CAST(s8_to_64, uint64_t, uint16_t, int8_t)
CAST(u16_to_16, uint16_t, uint16_t, uint16_t)
CAST(u16_to_32, uint32_t, uint16_t, uint16_t)
CAST(u16_to_64, uint64_t, uint16_t, uint16_t)
CAST(s16_to_32, uint32_t, uint16_t, int16_t)
CAST(s16_to_64, uint64_t, uint16_t, int16_t)
CAST(u32_to_16, uint16_t, uint32_t, uint32_t)
CAST(u32_to_32, uint32_t, uint32_t, uint32_t)
CAST(u32_to_64, uint64_t, uint32_t, uint32_t)
CAST(s32_to_64, uint64_t, uint32_t, int32_t)
CAST(u64_to_16, uint16_t, uint64_t, uint64_t)
CAST(u64_to_32, uint32_t, uint64_t, uint64_t)
CAST(u64_to_64, uint64_t, uint64_t, uint64_t)

/* By width of the destination: 2, 4, 8 bytes. */
typedef const LaneHandler *const HandlerOfWidth[3];
static HandlerOfWidth casts[PTX_TYPE_COUNT] = {
    [PTX_U8] = {&u8_to_16, &u8_to_32, &u8_to_64},     [PTX_S8] = {&s8_to_16, &s8_to_32, &s8_to_64},
    [PTX_U16] = {&u16_to_16, &u16_to_32, &u16_to_64}, [PTX_S16] = {&u16_to_16, &s16_to_32, &s16_to_64},
    [PTX_U32] = {&u32_to_16, &u32_to_32, &u32_to_64}, [PTX_S32] = {&u32_to_16, &u32_to_32, &s32_to_64},
    [PTX_U64] = {&u64_to_16, &u64_to_32, &u64_to_64}, [PTX_S64] = {&u64_to_16, &u64_to_32, &u64_to_64},
};

/* ---- common conversions of floats --------------------------------------------------------------------- */

/* NaNs keep sign and payload, and become quiet. All in 64 bits, so that it vectorizes. */
LANES_INLINE uint64_t widen_f32(uint32_t bits) {
    uint64_t a = bits, number = bits_of_double((double)float_of(bits));
    uint64_t nan = (a & 0x80000000u) << 32 | UINT64_C(0x7ff8000000000000) | (a & 0x7fffffu) << 29;
    return (a & 0x7fffffffu) > 0x7f800000u ? nan : number;
}
LANES_INLINE uint32_t narrow_f64(uint64_t a) {
    uint64_t number = bits_of((float)double_of(a));
    uint64_t nan = (a >> 32 & 0x80000000u) | 0x7fc00000u | (a >> 29 & 0x7fffffu);
    return (uint32_t)(is_nan64(a) ? nan : number);
}
UNARY(s32_to_f32, uint32_t, uint32_t, bits_of((float)(int32_t)a[l]))
UNARY(u32_to_f32, uint32_t, uint32_t, bits_of((float)a[l]))
UNARY(s32_to_f64, uint64_t, uint32_t, bits_of_double((double)(int32_t)a[l]))
UNARY(u32_to_f64, uint64_t, uint32_t, bits_of_double((double)a[l]))
UNARY(f32_to_f64, uint64_t, uint32_t, widen_f32(a[l]))
UNARY(f64_to_f32, uint32_t, uint64_t, narrow_f64(a[l]))
UNARY(f16_to_f32, uint32_t, uint16_t, canonical32(widen_f16(a[l])))
UNARY(bf16_to_f32, uint32_t, uint16_t, widen_bf16(a[l]))
UNARY(f32_to_f16, uint16_t, uint32_t, narrow_f16(a[l]))
UNARY(f32_to_bf16, uint16_t, uint32_t, narrow_bf16(a[l]))
BINARY(f32_to_f16x2, uint32_t, uint32_t, narrow_f16(a[l]) << 16 | narrow_f16(b[l]))
BINARY(f32_to_bf16x2, uint32_t, uint32_t, narrow_bf16(a[l]) << 16 | narrow_bf16(b[l]))
/* The host's conversion is undefined out of range: clamp first. */
LANES_INLINE uint32_t truncate_f32(uint32_t a) {
    float value = float_of(a), low = value > -2147483648.0f ? value : -2147483648.0f;
    int32_t inside = (int32_t)(low < 2147483520.0f ? low : 2147483520.0f);
    return is_nan32(a) ? 0 : value >= 2147483648.0f ? 0x7fffffffu : (uint32_t)inside;
}
UNARY(f32_to_s32_rzi, uint32_t, uint32_t, truncate_f32(a[l]))

typedef struct Direct { /* without .ftz, .sat and the like, for registers as wide as the types */
    PtxType to, from;
    PtxModifierKind rounding;
    const LaneHandler *handler;
} Direct;
static const Direct direct[] = {
    {PTX_F32, PTX_S32, PTX_MOD_RN, &s32_to_f32},        {PTX_F32, PTX_U32, PTX_MOD_RN, &u32_to_f32},
    {PTX_F64, PTX_S32, PTX_MOD_RN, &s32_to_f64},        {PTX_F64, PTX_U32, PTX_MOD_RN, &u32_to_f64},
    {PTX_F64, PTX_F32, PTX_MODIFIER_NONE, &f32_to_f64}, {PTX_F32, PTX_F64, PTX_MOD_RN, &f64_to_f32},
    {PTX_F32, PTX_F16, PTX_MODIFIER_NONE, &f16_to_f32}, {PTX_F32, PTX_BF16, PTX_MODIFIER_NONE, &bf16_to_f32},
    {PTX_F16, PTX_F32, PTX_MOD_RN, &f32_to_f16},        {PTX_BF16, PTX_F32, PTX_MOD_RN, &f32_to_bf16},
    {PTX_F16X2, PTX_F32, PTX_MOD_RN, &f32_to_f16x2},    {PTX_BF16X2, PTX_F32, PTX_MOD_RN, &f32_to_bf16x2},
    {PTX_S32, PTX_F32, PTX_MOD_RZI, &f32_to_s32_rzi},
};

/* ---- all other conversions: one value at a time -------------------------------------------------------- */

typedef struct Element {       /* one element of a packed type; otherwise the type itself */
    const FloatFormat *format; /* NULL: an integer */
    int bits, count;           /* count: elements in the packed type */
    bool is_signed;
} Element;

/* Powers of two: an exponent without sign, significand or zero. The numbers here only serve
 * check_rounding(). */
static const FloatFormat format_ue8m0 = {0, 8, 0, 0xfe, 0, 0xff};

static const Element elements[PTX_TYPE_COUNT] = {
    [PTX_U8] = {NULL, 8, 1, false},
    [PTX_S8] = {NULL, 8, 1, true},
    [PTX_U16] = {NULL, 16, 1, false},
    [PTX_S16] = {NULL, 16, 1, true},
    [PTX_U32] = {NULL, 32, 1, false},
    [PTX_S32] = {NULL, 32, 1, true},
    [PTX_U64] = {NULL, 64, 1, false},
    [PTX_S64] = {NULL, 64, 1, true},
    [PTX_F16] = {&FORMAT_F16, 16, 1, true},
    [PTX_F16X2] = {&FORMAT_F16, 16, 2, true},
    [PTX_BF16] = {&FORMAT_BF16, 16, 1, true},
    [PTX_BF16X2] = {&FORMAT_BF16, 16, 2, true},
    [PTX_F32] = {&FORMAT_F32, 32, 1, true},
    [PTX_F64] = {&FORMAT_F64, 64, 1, true},
    [PTX_TF32] = {&FORMAT_TF32, 32, 1, true},
    [PTX_E4M3X2] = {&FORMAT_E4M3, 8, 2, true},
    [PTX_E5M2X2] = {&FORMAT_E5M2, 8, 2, true},
    [PTX_E3M2X2] = {&FORMAT_E3M2, 8, 2, true},
    [PTX_E2M3X2] = {&FORMAT_E2M3, 8, 2, true},
    [PTX_E2M1X2] = {&FORMAT_E2M1, 4, 2, true},
    [PTX_UE8M0X2] = {&format_ue8m0, 8, 2, false},
};

/* Fields of Op.number; TO and FROM are PtxType. */
enum { TO, FROM, ROUNDING, FLAGS };
enum { FTZ = 1, SAT = 2, RELU = 4, SATFINITE = 8 };

static uint64_t low_bits(uint64_t value, int bits) {
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}
static int64_t sign_extend(uint64_t value, int bits) {
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static bool is_integral(PtxModifierKind rounding) {
    return rounding == PTX_MOD_RNI || rounding == PTX_MOD_RZI || rounding == PTX_MOD_RMI ||
           rounding == PTX_MOD_RPI;
}

static uint64_t integer_result(const Op *op, SignedWide value, const Element *to) {
    if (op->number[FLAGS] & SAT) {
        SignedWide high = ((SignedWide)1 << (to->bits - to->is_signed)) - 1,
                   low = to->is_signed ? -high - 1 : 0;
        value = value < low ? low : value > high ? high : value;
    }
    return low_bits((uint64_t)value, to->bits);
}

static uint64_t float_to_integer(const Op *op, Exact x, const Element *from, const Element *to) {
    if (x.kind == EXACT_NAN) /* "Integer Notes" of cvt */
        return from->bits != 64 && to->bits != 64 ? 0 : UINT64_C(1) << (to->bits - 1);
    SignedWide high = ((SignedWide)1 << (to->bits - to->is_signed)) - 1, low = to->is_signed ? -high - 1 : 0;
    x = exact_to_integer(x, (PtxModifierKind)op->number[ROUNDING]);
    return low_bits((uint64_t)exact_clamp(x, low, high), to->bits);
}

static bool is_zero_or_negative(const FloatFormat *format, uint64_t bits) {
    return (bits >> format->shift) >> (format->mantissa + format->exponent) & 1;
}

static uint32_t ue8m0_result(const Op *op, Exact x) {
    uint64_t bits = exact_round(x, &FORMAT_F64, PTX_MOD_RN, false); /* exact */
    int power = (int)(bits >> 52 & 0x7ff) - 1023;
    if (op->number[ROUNDING] == PTX_MOD_RP && (bits << 12) != 0) power++;
    uint32_t too_large = op->number[FLAGS] & SATFINITE ? 0xfe : 0xff;
    if (x.kind == EXACT_NAN) return 0xff;
    if (x.kind == EXACT_ZERO || power < -127) return 0;
    return power > 127 ? too_large : (uint32_t)(power + 127);
}
static Exact ue8m0_value(uint32_t bits) {
    return exact_of(&FORMAT_F64, bits == 0xff ? NAN_F64 : (uint64_t)(bits + 1023 - 127) << 52);
}

static uint64_t float_result(const Op *op, Exact x, const FloatFormat *format) {
    int flags = op->number[FLAGS];
    PtxModifierKind rounding = (PtxModifierKind)op->number[ROUNDING];
    if (format == &format_ue8m0) return ue8m0_result(op, x);
    if (is_integral(rounding)) x = exact_to_integer(x, rounding), rounding = PTX_MOD_RN;
    if (!rounding) rounding = PTX_MOD_RN;
    uint64_t bits = exact_round(x, format, rounding, flags & SATFINITE);
    if (x.kind == EXACT_NAN) return flags & SAT ? 0 : bits;
    if ((flags & FTZ) && format == &FORMAT_F32 && exact_is_tiny(x, format, rounding)) bits &= 0x80000000u;
    if ((flags & (SAT | RELU)) && is_zero_or_negative(format, bits)) return 0;
    if (flags & SAT) {
        uint64_t one = exact_round(exact_of_unsigned(1), format, PTX_MOD_RN, false);
        if (bits > one) return one;
    }
    return bits;
}

/* "NaN payloads are supported for double-precision instructions": to and from f64, an H200 keeps the sign and
 * as much of the payload as fits, and makes the NaN quiet. bf16 to f32 is a shift that keeps the NaN as it
 * is. A plain copy changes nothing. */
static bool keeps_payload(const Op *op, const FloatFormat *from, const FloatFormat *to, uint64_t bits,
                          uint64_t *result) {
    int flags = op->number[FLAGS];
    bool shift = from == &FORMAT_BF16 && to == &FORMAT_F32 && !(flags & FTZ);
    bool copy =
        from == to && (to == &FORMAT_F32 || to == &FORMAT_F64) && !op->number[ROUNDING] && !(flags & FTZ);
    if ((flags & SAT) || !(shift || copy || from == &FORMAT_F64 || to == &FORMAT_F64)) return false;
    if ((flags & FTZ) && from == &FORMAT_F32) bits = NAN_F32;
    uint64_t payload = low_bits(bits, from->mantissa), sign = bits >> (from->mantissa + from->exponent) & 1;
    int wider = to->mantissa - from->mantissa;
    payload = wider >= 0 ? payload << wider : payload >> -wider;
    if (!shift && !copy) payload |= UINT64_C(1) << (to->mantissa - 1);
    *result = sign << (to->mantissa + to->exponent) | to->infinity | payload;
    return true;
}

/* Converts one element of the source to one of the destination; both are low bits. */
static uint64_t convert(const Op *op, uint64_t bits) {
    const Element *from = &elements[op->number[FROM]], *to = &elements[op->number[TO]];
    bits = low_bits(bits, from->bits);
    if (!from->format) {
        int64_t value = from->is_signed ? sign_extend(bits, from->bits) : (int64_t)bits;
        if (!to->format)
            return integer_result(op, from->is_signed ? (SignedWide)value : (SignedWide)bits, to);
        return float_result(op, from->is_signed ? exact_of_signed(value) : exact_of_unsigned(bits),
                            to->format);
    }
    /* .ftz has no effect between f32 and f16 (on an H200) */
    if ((op->number[FLAGS] & FTZ) && from->format == &FORMAT_F32 && to->format != &FORMAT_F16)
        bits = flush32((uint32_t)bits);
    Exact x = from->format == &format_ue8m0 ? ue8m0_value((uint32_t)bits) : exact_of(from->format, bits);
    uint64_t kept;
    if (x.kind == EXACT_NAN && to->format && keeps_payload(op, from->format, to->format, bits, &kept))
        return kept;
    return to->format ? float_result(op, x, to->format) : float_to_integer(op, x, from, to);
}

static uint64_t read_lane(const Warp *warp, Operand from, int bytes, uint32_t l) {
    const void *values = operand_at(warp, from);
    return bytes <= 2   ? ((const uint16_t *)values)[l]
           : bytes == 4 ? ((const uint32_t *)values)[l]
                        : ((const uint64_t *)values)[l];
}

SLOW_HANDLER(convert_any) {
    const Element *to = &elements[op->number[TO]], *from = &elements[op->number[FROM]];
    void *d = operand_at(warp, op->d);
    EACH_ACTIVE_LANE {
        uint64_t result = 0;
        for (int i = 0; i < to->count; i++) { /* element 1, the upper one, comes from source a */
            uint64_t bits = from->count == 2 ? read_lane(warp, op->s[0], op->s_bytes[0], l) >> from->bits * i
                            : i == to->count - 1 ? read_lane(warp, op->s[0], op->s_bytes[0], l)
                                                 : read_lane(warp, op->s[1], op->s_bytes[1], l);
            result |= convert(op, bits) << (to->bits * i & 63);
        }
        if (!to->format && to->is_signed) result = (uint64_t)sign_extend(result, to->bits);
        if (op->d_bytes <= 2)
            ((uint16_t *)d)[l] = (uint16_t)result;
        else if (op->d_bytes == 4)
            ((uint32_t *)d)[l] = (uint32_t)result;
        else
            ((uint64_t *)d)[l] = result;
    }
}

/* cvt.pack: a and b, clamped to number[0] bits (signed: number[1]), below the low bits of c. */
SLOW_HANDLER(convert_pack) {
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    int bits = op->number[0];
    int64_t high = (INT64_C(1) << (bits - op->number[1])) - 1, low = op->number[1] ? -high - 1 : 0;
    uint64_t field = (UINT64_C(1) << bits) - 1;
    EACH_ACTIVE_LANE {
        int64_t x = (int32_t)a[l], y = (int32_t)b[l];
        x = x < low ? low : x > high ? high : x;
        y = y < low ? low : y > high ? high : y;
        uint64_t pair = ((uint64_t)x & field) << bits | ((uint64_t)y & field);
        d[l] = (uint32_t)(bits == 16 ? pair : pair | (uint64_t)c[l] << 2 * bits);
    }
}

/* ---- lowering -------------------------------------------------------------------------------------- */

static bool lower_pack(Lowering *low, const PtxInstruction *in, Op *op) {
    static const struct {
        const char *text;
        int bits, is_signed;
    } types[] = {{"u16", 16, 0}, {"s16", 16, 1}, {"u8", 8, 0}, {"s8", 8, 1},
                 {"u4", 4, 0},   {"s4", 4, 1},   {"u2", 2, 0}, {"s2", 2, 1}};
    for (int i = 0; i < in->modifier_count && !op->number[0]; i++)
        for (size_t j = 0; j < sizeof types / sizeof types[0]; j++)
            if (!strcmp(in->modifiers[i].text, types[j].text))
                op->number[0] = types[j].bits, op->number[1] = types[j].is_signed;
    if (!op->number[0] || !ptx_instruction_has(in, PTX_MOD_SAT))
        return lowering_reject(low, op, "cvt.pack to a type that is not emulated");
    bool third = op->number[0] < 16;
    if (!lanes_use(low, in, op, &convert_pack, WEIGHT_PRODUCT) ||
        !lanes_operands(low, in, op, PTX_U32, third ? 3 : 2, (PtxType[]){PTX_S32, PTX_S32, PTX_B32}))
        return false;
    if (!third) op->s[2] = op->s[1];
    return true;
}

/* Checks whether PTX requires a rounding for this pair of types, and which kind. */
static bool check_rounding(Lowering *low, const PtxInstruction *in, Op *op, PtxType to, PtxType from) {
    PtxModifierKind rounding = lanes_rounding(in);
    const FloatFormat *source = elements[from].format, *result = elements[to].format;
    bool loses =
        (result && !source) ||
        (result && source && (result->mantissa < source->mantissa || result->exponent < source->exponent));
    bool integral = is_integral(rounding);
    /* ptxas also accepts f16 to bf16 and back without a rounding, and rounds to nearest */
    bool halves = (to == PTX_F16 && from == PTX_BF16) || (to == PTX_BF16 && from == PTX_F16);
    if (source && !result ? !integral : loses && (integral || (!rounding && !halves)))
        return lowering_reject(low, op, "cvt.%s.%s needs a rounding", ptx_type_text(to), ptx_type_text(from));
    if ((!source && !result && rounding) || (integral && source && result && source != result))
        return lowering_reject(low, op, "cvt.%s.%s takes no such rounding", ptx_type_text(to),
                               ptx_type_text(from));
    return true;
}

UNARY(saturate_f32, uint32_t, uint32_t, saturate32(a[l]))

static const LaneHandler *fast_handler(const Op *op, const PtxInstruction *in, PtxType to, PtxType from) {
    if (op->number[FLAGS] == SAT && to == PTX_F32 && from == PTX_F32 && !lanes_rounding(in) &&
        op->d_bytes == 4 && op->s_bytes[0] == 4)
        return &saturate_f32;
    if (op->number[FLAGS] || (to == PTX_U8 || to == PTX_S8)) return NULL;
    /* A result is extended to a wider register by its own type, so only equal widths are a plain cast. */
    if (op->d_bytes != ptx_type_bytes(to) ||
        op->s_bytes[0] != (ptx_type_bytes(from) == 1 ? 2 : ptx_type_bytes(from)))
        return NULL;
    if (!elements[to].format && !elements[from].format)
        return casts[from][op->d_bytes == 2 ? 0 : op->d_bytes == 4 ? 1 : 2];
    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++)
        if (direct[i].to == to && direct[i].from == from && direct[i].rounding == lanes_rounding(in))
            return direct[i].handler;
    return NULL;
}

OPCODE_LOWER(cvt) {
    static const struct {
        PtxModifierKind modifier;
        int flag;
    } flags[] = {
        {PTX_MOD_FTZ, FTZ}, {PTX_MOD_SAT, SAT}, {PTX_MOD_RELU, RELU}, {PTX_MOD_SATFINITE, SATFINITE}};
    if (ptx_instruction_has(in, PTX_MOD_PACK)) return lower_pack(low, in, op);
    PtxType to = lanes_type(in, 0), from = lanes_type(in, 1);
    if (!lanes_accept(low, in, op, PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP, PTX_MOD_RNA, PTX_MOD_RNI,
                      PTX_MOD_RZI, PTX_MOD_RMI, PTX_MOD_RPI, PTX_MOD_FTZ, PTX_MOD_SAT, PTX_MOD_RELU,
                      PTX_MOD_SATFINITE, PTX_MODIFIER_NONE))
        return false;
    bool two = elements[to].count == 2 && elements[from].count == 1; /* packs two sources */
    if (!elements[to].bits || !elements[from].bits || elements[to].count < elements[from].count ||
        (two && from != PTX_F32))
        return lowering_reject(low, op, "cvt.%s.%s is not emulated", ptx_type_text(to), ptx_type_text(from));
    if (!check_rounding(low, in, op, to, from) ||
        !lanes_expect_operands(low, in, op, two ? 3 : 2, two ? 3 : 2))
        return false;
    op->number[TO] = (int32_t)to;
    op->number[FROM] = (int32_t)from;
    op->number[ROUNDING] = (int32_t)lanes_rounding(in);
    for (int i = 0; i < 4; i++)
        if (ptx_instruction_has(in, flags[i].modifier)) op->number[FLAGS] |= flags[i].flag;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (!op->has_d || op->d_bytes < ptx_type_bytes(to) || op->d_bytes > 8)
        return lowering_reject(low, op, "the destination of cvt.%s has the wrong size", ptx_type_text(to));
    op->source_count = two ? 2 : 1;
    for (int i = 0; i < op->source_count; i++)
        if (!lowering_source(low, op, i + 1, from, &op->s[i])) return false;
    const LaneHandler *fast = fast_handler(op, in, to, from);
    return lanes_use(low, in, op, fast ? fast : &convert_any, WEIGHT_PRODUCT);
}
