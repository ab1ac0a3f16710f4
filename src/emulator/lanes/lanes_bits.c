/* Logic, shift and bit instructions: "Logic and Shift Instructions", and the bit instructions of "Integer
 * Arithmetic Instructions". */
#include "emulator/lanes/lanes.h"

/* ---- logic ----------------------------------------------------------------------------------------- */

#define LOGIC(NAME, OPERATOR)                                                                                \
    BINARY(NAME##_16, uint16_t, uint16_t, a[l] OPERATOR b[l])                                                \
    BINARY(NAME##_32, uint32_t, uint32_t, a[l] OPERATOR b[l])                                                \
    BINARY(NAME##_64, uint64_t, uint64_t, a[l] OPERATOR b[l])                                                \
    SLOW_HANDLER(NAME##_pred) {                                                                              \
        const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                     \
        SET_PREDICATE(op->d, *a OPERATOR *b);                                                                \
    }
LOGIC(and, &)
LOGIC(or, |)
LOGIC(xor, ^)

UNARY(not_16, uint16_t, uint16_t, ~a[l])
UNARY(not_32, uint32_t, uint32_t, ~a[l])
UNARY(not_64, uint64_t, uint64_t, ~a[l])
SLOW_HANDLER(not_pred) {
    SET_PREDICATE(op->d, ~*(const uint32_t *)operand_at(warp, op->s[0]));
}
UNARY(cnot_16, uint16_t, uint16_t, a[l] == 0)
UNARY(cnot_32, uint32_t, uint32_t, a[l] == 0)
UNARY(cnot_64, uint64_t, uint64_t, a[l] == 0)

/* lop3: the table has one bit per combination of a (4), b (2), c (1); here it is the sum of its minterms,
 * each of which is all ones or zero. number[0]: the table; number[1]: .and or .or, the operation of the
 * predicate. */
HANDLER(lop3) {
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    uint32_t m[8];
    for (int i = 0; i < 8; i++) m[i] = (op->number[0] >> i) & 1 ? ~0u : 0;
#define PICK(bit, one, zero) (((bit) & (one)) | (~(bit) & (zero)))
    EACH_LANE(uint32_t, PICK(a[l], PICK(b[l], PICK(c[l], m[7], m[6]), PICK(c[l], m[5], m[4])),
                             PICK(b[l], PICK(c[l], m[3], m[2]), PICK(c[l], m[1], m[0]))));
}
SLOW_HANDLER(lop3_pred) {
    uint32_t unused[WARP_LANES], *d = op->has_d ? operand_at(warp, op->d) : unused, bits = 0;
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE {
        uint32_t value = 0;
        for (int i = 0; i < 32; i++) {
            uint32_t row = ((a[l] >> i) & 1) * 4 + ((b[l] >> i) & 1) * 2 + ((c[l] >> i) & 1);
            value |= (((uint32_t)op->number[0] >> row) & 1) << i;
        }
        d[l] = value;
        bits |= value ? lane_bit[l] : 0;
    }
    uint32_t q = *(const uint32_t *)operand_at(warp, op->s[3]);
    if (op->has_p) SET_PREDICATE(op->p, op->number[1] == PTX_MOD_AND ? bits & q : bits | q);
}

/* ---- shifts: amounts above the width count as the width -------------------------------------------- */

/* The amount is 32 bits for every type. 16-bit values shift as 32 bits. */
#define SHIFT(NAME, T, VALUE)                                                                                \
    HANDLER(NAME) {                                                                                          \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]);                                                             \
        const uint32_t *b = operand_at(warp, op->s[1]);                                                      \
        EACH_LANE(T, VALUE);                                                                                 \
    }
#define BELOW(WIDTH) (b[l] < (WIDTH) ? b[l] : (WIDTH)-1)
SHIFT(shl_16, uint16_t, b[l] < 16 ? (uint32_t)a[l] << (b[l] & 15) : 0)
SHIFT(shl_32, uint32_t, b[l] < 32 ? a[l] << (b[l] & 31) : 0)
SHIFT(shl_64, uint64_t, b[l] < 64 ? a[l] << (b[l] & 63) : 0)
SHIFT(shr_u16, uint16_t, b[l] < 16 ? (uint32_t)a[l] >> (b[l] & 15) : 0)
SHIFT(shr_u32, uint32_t, b[l] < 32 ? a[l] >> (b[l] & 31) : 0)
SHIFT(shr_u64, uint64_t, b[l] < 64 ? a[l] >> (b[l] & 63) : 0)
SHIFT(shr_s16, uint16_t, (int32_t)(int16_t)a[l] >> BELOW(16))
SHIFT(shr_s32, uint32_t, (int32_t)a[l] >> BELOW(32))
SHIFT(shr_s64, uint64_t, (int64_t)a[l] >> BELOW(64))

/* Shifts by a literal below the width, the common case: number[0]. */
#define SHIFT_BY(NAME, T, VALUE)                                                                             \
    HANDLER(NAME) {                                                                                          \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]);                                                             \
        int by = op->number[0];                                                                              \
        EACH_LANE(T, VALUE);                                                                                 \
    }
SHIFT_BY(shl_32_by, uint32_t, a[l] << by)
SHIFT_BY(shl_64_by, uint64_t, a[l] << by)
SHIFT_BY(shr_u32_by, uint32_t, a[l] >> by)
SHIFT_BY(shr_u64_by, uint64_t, a[l] >> by)
SHIFT_BY(shr_s32_by, uint32_t, (int32_t)a[l] >> by)
SHIFT_BY(shr_s64_by, uint64_t, (int64_t)a[l] >> by)

/* shf: 64 bits b:a. Shifting by 32 leaves the other word, so the amount is applied to 64 bits. */
#define JOINED     ((uint64_t)b[l] << 32 | a[l])
#define CLAMPED(x) ((x) < 32 ? (x) : 32)
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, (JOINED << CLAMPED(c[l])) >> 32)
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, (JOINED << (c[l] & 31)) >> 32)
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, JOINED >> CLAMPED(c[l]))
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, JOINED >> (c[l] & 31))

/* ---- counting and finding -------------------------------------------------------------------------- */

/* Results are 32 bits wide for every source type. */
LANES_INLINE uint32_t count_ones(uint32_t x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return (((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
LANES_INLINE uint32_t leading_zeros(uint64_t x, uint32_t width) {
    return x ? (uint32_t)__builtin_clzll(x) - (64 - width) : width;
}
UNARY(popc_32, uint32_t, uint32_t, count_ones(a[l]))
UNARY(popc_64, uint32_t, uint64_t, count_ones((uint32_t)a[l]) + count_ones((uint32_t)(a[l] >> 32)))
SLOW_UNARY(clz_32, uint32_t, uint32_t, leading_zeros(a[l], 32))
SLOW_UNARY(clz_64, uint32_t, uint64_t, leading_zeros(a[l], 64))

/* The position of the highest bit that differs from the sign, or with .shiftamt its distance from the top; ~0
 * if no bit does. */
LANES_INLINE uint32_t find_high(uint64_t x, uint32_t width, bool distance) {
    uint32_t zeros = leading_zeros(x, width);
    return zeros == width ? UINT32_MAX : distance ? zeros : width - 1 - zeros;
}
#define UNSIGN(T, x) ((T)(x) < 0 ? ~(x) : (x))
#define BFIND(NAME, SHIFTAMT)                                                                                \
    SLOW_UNARY(NAME##_u32, uint32_t, uint32_t, find_high(a[l], 32, SHIFTAMT))                                \
    SLOW_UNARY(NAME##_s32, uint32_t, uint32_t, find_high(UNSIGN(int32_t, a[l]), 32, SHIFTAMT))               \
    SLOW_UNARY(NAME##_u64, uint32_t, uint64_t, find_high(a[l], 64, SHIFTAMT))                                \
    SLOW_UNARY(NAME##_s64, uint32_t, uint64_t, find_high(UNSIGN(int64_t, a[l]), 64, SHIFTAMT))
BFIND(bfind, false)
BFIND(bfind_shiftamt, true)

static uint32_t find_nth_set(uint32_t bits, uint32_t base, int32_t offset) {
    if (base > 31) return UINT32_MAX; /* "behavior is undefined" */
    if (offset == 0) return (bits >> base) & 1 ? base : UINT32_MAX;
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    for (int place = (int)base; place >= 0 && place<32; place += offset> 0 ? 1 : -1)
        if (((bits >> place) & 1) && count-- == 0) return (uint32_t)place;
    return UINT32_MAX;
}
SLOW_TERNARY(fns, uint32_t, uint32_t, uint32_t, find_nth_set(a[l], b[l], (int32_t)c[l]))

LANES_INLINE uint32_t reverse(uint32_t x) {
    x = ((x >> 1) & 0x55555555u) | (x & 0x55555555u) << 1;
    x = ((x >> 2) & 0x33333333u) | (x & 0x33333333u) << 2;
    x = ((x >> 4) & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = ((x >> 8) & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}
UNARY(brev_32, uint32_t, uint32_t, reverse(a[l]))
UNARY(brev_64, uint64_t, uint64_t, (uint64_t)reverse((uint32_t)a[l]) << 32 | reverse((uint32_t)(a[l] >> 32)))

/* ---- bit fields ------------------------------------------------------------------------------------ */

static uint64_t ones(uint32_t count) {
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* bfe: positions and lengths are 8 bits; a field that reaches beyond the top is sign-extended. */
static uint64_t extract_field(uint64_t a, uint32_t place, uint32_t length, uint32_t width, bool is_signed) {
    place &= 0xff, length &= 0xff;
    if (length == 0) return 0;
    uint32_t last = place + length - 1 < width - 1 ? place + length - 1 : width - 1;
    bool sign = is_signed && ((a >> last) & 1);
    uint32_t present = place >= width ? 0 : last - place + 1;
    uint64_t field = present ? (a >> place) & ones(present) : 0;
    return sign ? field | ~ones(present) : field;
}
static uint64_t insert_field(uint64_t a, uint64_t b, uint32_t place, uint32_t length, uint32_t width) {
    place &= 0xff, length &= 0xff;
    if (place >= width) return b;
    uint64_t field = ones(length) << place;
    return (b & ~field) | (a << place & field);
}
#define BFE(NAME, T, WIDTH, SIGNED)                                                                          \
    SLOW_HANDLER(NAME) {                                                                                     \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]);                                                             \
        const uint32_t *b = operand_at(warp, op->s[1]), *c = operand_at(warp, op->s[2]);                     \
        EACH_ACTIVE_LANE d[l] = (T)extract_field(a[l], b[l], c[l], WIDTH, SIGNED);                           \
    }
BFE(bfe_u32, uint32_t, 32, false)
BFE(bfe_s32, uint32_t, 32, true)
BFE(bfe_u64, uint64_t, 64, false)
BFE(bfe_s64, uint64_t, 64, true)
#define BFI(NAME, T, WIDTH)                                                                                  \
    SLOW_HANDLER(NAME) {                                                                                     \
        T *d = operand_at(warp, op->d);                                                                      \
        const T *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]);                            \
        const uint32_t *c = operand_at(warp, op->s[2]), *e = operand_at(warp, op->s[3]);                     \
        EACH_ACTIVE_LANE d[l] = (T)insert_field(a[l], b[l], c[l], e[l], WIDTH);                              \
    }
BFI(bfi_32, uint32_t, 32)
BFI(bfi_64, uint64_t, 64)

/* szext: sign- or zero-extends the low b bits of a; b >= 32 keeps a (.clamp) or wraps. */
LANES_INLINE uint32_t extend(uint32_t a, uint32_t bits, bool clamp, bool is_signed) {
    if (clamp && bits >= 32) return a;
    bits &= 31;
    uint32_t high = ~0u << bits;
    bool sign = is_signed && bits && ((a >> (bits - 1)) & 1);
    return (a & ~high) | (sign ? high : 0);
}
SLOW_BINARY(szext_clamp_u32, uint32_t, uint32_t, extend(a[l], b[l], true, false))
SLOW_BINARY(szext_clamp_s32, uint32_t, uint32_t, extend(a[l], b[l], true, true))
SLOW_BINARY(szext_wrap_u32, uint32_t, uint32_t, extend(a[l], b[l], false, false))
SLOW_BINARY(szext_wrap_s32, uint32_t, uint32_t, extend(a[l], b[l], false, true))

/* bmsk: b ones from bit a. */
LANES_INLINE uint32_t bit_mask(uint32_t place, uint32_t width, bool clamp) {
    if (clamp && place >= 32) return 0;
    if (!clamp || width < 32) width &= 31;
    return (uint32_t)(ones(width) << (place & 31));
}
SLOW_BINARY(bmsk_clamp, uint32_t, uint32_t, bit_mask(a[l], b[l], true))
SLOW_BINARY(bmsk_wrap, uint32_t, uint32_t, bit_mask(a[l], b[l], false))

/* ---- bytes ----------------------------------------------------------------------------------------- */

/* dp4a, dp2a: number[0] and [1] say whether a and b are signed; number[2] is the shift of b (dp2a.hi: 16). */
LANES_INLINE uint32_t part(uint32_t x, int index, int bits, bool is_signed) {
    uint32_t top = x << (32 - bits * (index + 1));
    return is_signed ? (uint32_t)((int32_t)top >> (32 - bits)) : top >> (32 - bits);
}
SLOW_HANDLER(dp4a) {
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE {
        uint32_t sum = c[l];
        for (int i = 0; i < 4; i++) sum += part(a[l], i, 8, op->number[0]) * part(b[l], i, 8, op->number[1]);
        d[l] = sum;
    }
}
SLOW_HANDLER(dp2a) {
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE {
        uint32_t sum = c[l], bytes = b[l] >> op->number[2];
        for (int i = 0; i < 2; i++)
            sum += part(a[l], i, 16, op->number[0]) * part(bytes, i, 8, op->number[1]);
        d[l] = sum;
    }
}

/* prmt: the modes other than the default choose all four bytes by two bits of c; one row per value, one
 * nibble per byte of d. */
static const uint16_t permute_modes[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
static uint32_t permute(uint64_t bytes, uint32_t selectors) {
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i), byte = (bytes >> (8 * (selector & 7))) & 0xff;
        if (selector & 8) byte = byte & 0x80 ? 0xff : 0; /* its sign, replicated */
        result |= byte << (8 * i);
    }
    return result;
}
SLOW_TERNARY(prmt, uint32_t, uint32_t, uint32_t, permute(JOINED, c[l]))
SLOW_TERNARY(prmt_mode, uint32_t, uint32_t, uint32_t, permute(JOINED, permute_modes[op->number[0]][c[l] & 3]))

/* ---- lowering -------------------------------------------------------------------------------------- */

#define BITS(NAME) [PTX_B16] = &NAME##_16, [PTX_B32] = &NAME##_32, [PTX_B64] = &NAME##_64
#define LOWER_LOGIC(NAME, COUNT)                                                                             \
    OPCODE_LOWER(NAME) {                                                                                     \
        static HandlerOfType table = {BITS(NAME), [PTX_PRED] = &NAME##_pred};                                \
        PtxType type = lanes_type(in, 0);                                                                    \
        return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&                                               \
               lanes_simple(low, in, op, type, COUNT, table[type], WEIGHT_SUM);                              \
    }
LOWER_LOGIC(and, 2)
LOWER_LOGIC(or, 2)
LOWER_LOGIC(xor, 2)
LOWER_LOGIC(not, 1)

OPCODE_LOWER(cnot) {
    static HandlerOfType table = {BITS(cnot)};
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1, table[type], WEIGHT_SUM);
}

static bool immediate(Lowering *low, const PtxInstruction *in, Op *op, int operand, int64_t limit,
                      int32_t *value) {
    const PtxOperand *from = &in->operands[operand];
    if (from->kind != PTX_OPERAND_INTEGER || from->integer < 0 || from->integer > limit)
        return lowering_reject(low, op, "operand %d of %s is not a number from 0 to %lld", operand + 1,
                               in->name, (long long)limit);
    *value = (int32_t)from->integer;
    return true;
}

OPCODE_LOWER(lop3) {
    bool and_predicate = ptx_instruction_has(in, PTX_MOD_AND),
         predicate = and_predicate || ptx_instruction_has(in, PTX_MOD_OR);
    if (!lanes_accept(low, in, op, PTX_MOD_AND, PTX_MOD_OR, PTX_MODIFIER_NONE) ||
        !lanes_use(low, in, op, predicate ? &lop3_pred : &lop3, WEIGHT_SUM) ||
        !lanes_expect_operands(low, in, op, predicate ? 6 : 5, predicate ? 6 : 5) ||
        !immediate(low, in, op, 4, 255, &op->number[0]))
        return false;
    const PtxOperand *d = &in->operands[0];
    uint8_t bytes = 0;
    if (predicate) {
        if (d->kind != PTX_OPERAND_PAIR)
            return lowering_reject(low, op, "lop3.%s needs d|p", and_predicate ? "and" : "or");
        if (!lowering_destination(low, op, &d->items[1], &op->p, &bytes, &op->has_p) ||
            !lowering_source(low, op, 5, PTX_PRED, &op->s[3]))
            return false;
        op->number[1] = and_predicate ? PTX_MOD_AND : PTX_MOD_OR;
        d = &d->items[0];
    }
    if (!lowering_destination(low, op, d, &op->d, &op->d_bytes, &op->has_d)) return false;
    for (int i = 0; i < 3; i++)
        if (!lowering_source(low, op, i + 1, PTX_B32, &op->s[i])) return false;
    op->source_count = 3;
    if ((op->has_d && op->d_bytes != 4) || bytes)
        return lowering_reject(low, op, "a destination of lop3 has the wrong size");
    return op->has_d || predicate || lowering_reject(low, op, "lop3 has no destination");
}

/* `by`: the handlers for a literal amount below the width; NULL: this type has none. */
static bool lower_shift(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *any,
                        const LaneHandler *by) {
    PtxType type = lanes_type(in, 0);
    const PtxOperand *amount = &in->operands[2];
    if (!lanes_accept(low, in, op, PTX_MODIFIER_NONE) || !lanes_expect_operands(low, in, op, 3, 3))
        return false;
    bool literal = by && amount->kind == PTX_OPERAND_INTEGER && amount->integer >= 0 &&
                   amount->integer < 8 * ptx_type_bytes(type);
    op->number[0] = literal ? (int32_t)amount->integer : 0;
    return lanes_use(low, in, op, literal ? by : any, WEIGHT_SUM) &&
           lanes_operands(low, in, op, type, 2, (PtxType[]){type, PTX_U32});
}

OPCODE_LOWER(shl) {
    static HandlerOfType table = {BITS(shl)}, by = {[PTX_B32] = &shl_32_by, [PTX_B64] = &shl_64_by};
    PtxType type = lanes_type(in, 0);
    return lower_shift(low, in, op, table[type], by[type]);
}

OPCODE_LOWER(shr) {
    static HandlerOfType table = {[PTX_B16] = &shr_u16, [PTX_B32] = &shr_u32, [PTX_B64] = &shr_u64,
                                  [PTX_U16] = &shr_u16, [PTX_U32] = &shr_u32, [PTX_U64] = &shr_u64,
                                  [PTX_S16] = &shr_s16, [PTX_S32] = &shr_s32, [PTX_S64] = &shr_s64};
    static HandlerOfType by = {[PTX_B32] = &shr_u32_by, [PTX_B64] = &shr_u64_by, [PTX_U32] = &shr_u32_by,
                               [PTX_U64] = &shr_u64_by, [PTX_S32] = &shr_s32_by, [PTX_S64] = &shr_s64_by};
    PtxType type = lanes_type(in, 0);
    return lower_shift(low, in, op, table[type], by[type]);
}

OPCODE_LOWER(shf) {
    bool left = ptx_instruction_has(in, PTX_MOD_L), wrap = ptx_instruction_has(in, PTX_MOD_WRAP);
    return lanes_accept(low, in, op, PTX_MOD_L, PTX_MOD_R, PTX_MOD_CLAMP, PTX_MOD_WRAP, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, PTX_B32, 3,
                        left   ? wrap ? &shf_l_wrap : &shf_l_clamp
                        : wrap ? &shf_r_wrap
                               : &shf_r_clamp,
                        WEIGHT_SUM);
}

/* popc, clz, bfind: a 32-bit result from a source of `type`. */
static bool lower_count(Lowering *low, const PtxInstruction *in, Op *op, HandlerOfType table) {
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MOD_SHIFTAMT, PTX_MODIFIER_NONE) &&
           lanes_use(low, in, op, table[type], WEIGHT_SUM) && lanes_operands(low, in, op, PTX_U32, 1, &type);
}

OPCODE_LOWER(popc) {
    static HandlerOfType table = {[PTX_B32] = &popc_32, [PTX_B64] = &popc_64};
    return lower_count(low, in, op, table);
}

OPCODE_LOWER(clz) {
    static HandlerOfType table = {[PTX_B32] = &clz_32, [PTX_B64] = &clz_64};
    return lower_count(low, in, op, table);
}

OPCODE_LOWER(bfind) {
#define SIGNS_OF(NAME)                                                                                       \
    [PTX_U32] = &NAME##_u32, [PTX_S32] = &NAME##_s32, [PTX_U64] = &NAME##_u64, [PTX_S64] = &NAME##_s64
    static HandlerOfType place = {SIGNS_OF(bfind)}, distance = {SIGNS_OF(bfind_shiftamt)};
    return lower_count(low, in, op, ptx_instruction_has(in, PTX_MOD_SHIFTAMT) ? distance : place);
}

OPCODE_LOWER(fns) {
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, PTX_B32, 3, &fns, WEIGHT_SUM);
}

OPCODE_LOWER(brev) {
    static HandlerOfType table = {[PTX_B32] = &brev_32, [PTX_B64] = &brev_64};
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 1, table[type], WEIGHT_SUM);
}

OPCODE_LOWER(bfe) {
    static HandlerOfType table = {SIGNS_OF(bfe), [PTX_B32] = &bfe_u32, [PTX_B64] = &bfe_u64};
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) && lanes_use(low, in, op, table[type], WEIGHT_SUM) &&
           lanes_operands(low, in, op, type, 3, (PtxType[]){type, PTX_U32, PTX_U32});
}

OPCODE_LOWER(bfi) {
    static HandlerOfType table = {[PTX_B32] = &bfi_32, [PTX_B64] = &bfi_64};
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MODIFIER_NONE) && lanes_use(low, in, op, table[type], WEIGHT_SUM) &&
           lanes_operands(low, in, op, type, 4, (PtxType[]){type, type, PTX_U32, PTX_U32});
}

OPCODE_LOWER(szext) {
    static HandlerOfType clamp = {[PTX_U32] = &szext_clamp_u32, [PTX_S32] = &szext_clamp_s32},
                         wrap = {[PTX_U32] = &szext_wrap_u32, [PTX_S32] = &szext_wrap_s32};
    PtxType type = lanes_type(in, 0);
    return lanes_accept(low, in, op, PTX_MOD_CLAMP, PTX_MOD_WRAP, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, type, 2,
                        ptx_instruction_has(in, PTX_MOD_WRAP) ? wrap[type] : clamp[type], WEIGHT_SUM);
}

OPCODE_LOWER(bmsk) {
    return lanes_accept(low, in, op, PTX_MOD_CLAMP, PTX_MOD_WRAP, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, PTX_B32, 2,
                        ptx_instruction_has(in, PTX_MOD_WRAP) ? &bmsk_wrap : &bmsk_clamp, WEIGHT_SUM);
}

static bool lower_dot(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *handler) {
    op->number[0] = lanes_type(in, 0) == PTX_S32;
    op->number[1] = lanes_type(in, 1) == PTX_S32;
    op->number[2] = ptx_instruction_has(in, PTX_MOD_HI) ? 16 : 0;
    return lanes_accept(low, in, op, PTX_MOD_LO, PTX_MOD_HI, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, PTX_B32, 3, handler, WEIGHT_PRODUCT);
}
OPCODE_LOWER(dp4a) {
    return lower_dot(low, in, op, &dp4a);
}
OPCODE_LOWER(dp2a) {
    return lower_dot(low, in, op, &dp2a);
}

OPCODE_LOWER(prmt) {
    static const PtxModifierKind modes[] = {PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8,
                                            PTX_MOD_ECL, PTX_MOD_ECR, PTX_MOD_RC16};
    const LaneHandler *handler = &prmt;
    for (int i = 0; i < 6; i++)
        if (ptx_instruction_has(in, modes[i])) handler = &prmt_mode, op->number[0] = i;
    return lanes_accept(low, in, op, PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8, PTX_MOD_ECL, PTX_MOD_ECR,
                        PTX_MOD_RC16, PTX_MODIFIER_NONE) &&
           lanes_simple(low, in, op, PTX_B32, 3, handler, WEIGHT_SUM);
}
