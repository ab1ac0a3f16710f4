/* Lane arithmetic with a shadow (shadow.h). */
#include "emulator/machine/shadow.h"

#include "ptx/opcodes.h"

#include <math.h>

static int part_count(PtxType type) {
    return type == PTX_F16X2 || type == PTX_BF16X2 || type == PTX_F32X2 ? 2 : 1;
}

/* ---- arithmetic ---- */

typedef struct OperandShadows { /* of one result */
    int count;
    ShadowNumber of[OP_SOURCES];
} OperandShadows;

/* False: this opcode is not floating-point arithmetic, or has no number of its own. */
static bool compute(const PtxInstruction *in, const OperandShadows *from, long double *result) {
    long double a = from->of[0].shadow, b = from->of[1].shadow, c = from->of[2].shadow;
    bool has_sign = ptx_instruction_has(in, PTX_MOD_ABS) || ptx_instruction_has(in, PTX_MOD_XORSIGN);
    switch (in->opcode) {
    case PTX_add:
        *result = a + b;
        return true;
    case PTX_sub:
        *result = a - b;
        return true;
    case PTX_mul:
        *result = a * b;
        return true;
    case PTX_fma:
    case PTX_mad:
        if (in->fused && in->operands[1].negated != in->operands[2].negated) a = -a;
        if (in->fused && in->operands[3].negated) c = -c;
        *result = a * b + c;
        return true;
    case PTX_div:
        *result = a / b;
        return true;
    case PTX_rcp:
        *result = 1 / a;
        return true;
    case PTX_sqrt:
        *result = sqrtl(a);
        return true;
    case PTX_rsqrt:
        *result = 1 / sqrtl(a);
        return true;
    case PTX_neg:
        *result = -a;
        return true;
    case PTX_abs:
        *result = fabsl(a);
        return true;
    case PTX_min:
        *result = from->count > 2 ? fminl(fminl(a, b), c) : fminl(a, b);
        return !has_sign;
    case PTX_max:
        *result = from->count > 2 ? fmaxl(fmaxl(a, b), c) : fmaxl(a, b);
        return !has_sign;
    case PTX_copysign:
        *result = copysignl(b, a);
        return true;
    case PTX_ex2:
        *result = exp2l(a);
        return true;
    case PTX_lg2:
        *result = log2l(a);
        return true;
    case PTX_sin:
        *result = sinl(a);
        return true;
    case PTX_cos:
        *result = cosl(a);
        return true;
    case PTX_tanh:
        *result = tanhl(a);
        return true;
    case PTX_cvt:
        *result = a;
        return true;
    default:
        return false;
    }
}

/* The result is an integer, by a conversion or by adding a large literal: its shadow is its value. */
static bool makes_integer(const PtxInstruction *in, const OperandShadows *from) {
    if (in->opcode == PTX_cvt) return shadow_rounds_to_integer(in);
    if (in->opcode == PTX_add || in->opcode == PTX_sub)
        return (from->of[0].flags | from->of[1].flags) & SHADOW_IS_LITERAL;
    return (in->opcode == PTX_fma || in->opcode == PTX_mad) && from->of[2].flags & SHADOW_IS_LITERAL;
}

static ShadowNumber result_of(const PtxInstruction *in, const OperandShadows *from) {
    ShadowNumber result = {0};
    for (int i = 0; i < from->count; i++)
        result.flags |= from->of[i].flags & (SHADOW_IS_CUT | SHADOW_OF_LITERAL);
    if (!compute(in, from, &result.shadow)) result.flags |= SHADOW_IS_CUT;
    if (ptx_instruction_has(in, PTX_MOD_SAT)) result.shadow = fminl(fmaxl(result.shadow, 0), 1);
    if (ptx_instruction_has(in, PTX_MOD_RELU)) result.shadow = fmaxl(result.shadow, 0);
    result.bytes = makes_integer(in, from) ? 0 : 1;
    return result;
}

/* ---- operands ---- */

static int bytes_of(const Op *op, int source) {
    return op->s_bytes[source];
}

/* Operand `source` as a part of a float; an integer of a conversion. */
static ShadowNumber source_number(const ShadowLanes *lanes, int source, PtxType type, int part, int lane) {
    const Op *op = lanes->op;
    int bytes = bytes_of(op, source);
    uint64_t bits = register_read(lanes->warp, op->s[source], bytes, lane);
    ShadowParts parts = shadow_of_register(lanes->frame, op->s[source], bytes, lane, bits);
    PtxType of = ptx_type_computed(type);
    if (!of) { /* an integer */
        ShadowNumber number = {.bits = bits};
        int unused = 64 - 8 * (ptx_type_bytes(type) < bytes ? ptx_type_bytes(type) : bytes);
        number.shadow = ptx_type_is_signed(type) ? (long double)((int64_t)(bits << unused) >> unused)
                                                 : (long double)(bits << unused >> unused);
        for (int i = 0; i < parts.count; i++) number.flags |= parts.number[i].flags & SHADOW_IS_CUT;
        return number;
    }
    int width = ptx_type_bytes(of), at = part * width;
    bits = shadow_part_bits(bits, at, width);
    ShadowNumber number = shadow_number(&parts, of, at, bits);
    if (op->s[source].constant) number.flags |= shadow_literal(of, (double)number.shadow);
    return number;
}

/* The type of a source: in mixed precision the narrow operands have the second type. */
static PtxType source_type(const Op *op, int source) {
    const PtxInstruction *in = op->instruction;
    PtxType first = in->types[0], second = in->types[1];
    if (in->opcode == PTX_cvt) return second;
    bool is_mixed = second && ptx_type_bytes(first) != bytes_of(op, source) &&
                    ptx_type_bytes(second) == bytes_of(op, source);
    return is_mixed ? second : first;
}

/* cvt of two floats to a pair: the first is the upper half. */
static bool joins_two(const PtxInstruction *in) {
    return in->opcode == PTX_cvt && part_count(in->types[0]) == 2 && part_count(in->types[1]) == 1;
}

static OperandShadows sources_of(const ShadowLanes *lanes, int part, int lane) {
    const Op *op = lanes->op;
    OperandShadows from = {.count = op->source_count};
    if (joins_two(op->instruction)) {
        from.count = 1;
        from.of[0] = source_number(lanes, part ? 0 : 1, op->instruction->types[1], 0, lane);
        return from;
    }
    for (int i = 0; i < op->source_count; i++) {
        PtxType type = source_type(op, i);
        from.of[i] = source_number(lanes, i, type, part_count(type) == 2 ? part : 0, lane);
    }
    return from;
}

/* Nothing is kept of a value that is its own shadow. */
static bool deviates(const ShadowNumber *number, double value) {
    return number->flags || !((double)number->shadow == value && number->shadow == (long double)value);
}

static void keep_result(const ShadowLanes *lanes, int lane, const ShadowNumber *results, PtxType type) {
    const Op *op = lanes->op;
    PtxType of = ptx_type_computed(type);
    int width = ptx_type_bytes(of);
    uint64_t bits = register_read(lanes->warp, op->d, op->d_bytes, lane);
    ShadowParts parts = {0};
    for (int p = 0; p < part_count(type); p++) {
        ShadowNumber number = results[p];
        if (!number.bytes) continue;
        number.bits = shadow_part_bits(bits, width * p, width);
        number.type = (uint8_t)of;
        number.bytes = (uint8_t)width;
        double value = shadow_value(of, number.bits);
        if (isnan(value) && isnan(number.shadow)) number.shadow = 0, number.flags |= SHADOW_IS_CUT;
        if (!deviates(&number, value)) continue;
        shadow_note(lanes->warp, op->pc, &number, (long double)value);
        parts.at[parts.count] = (uint8_t)(width * p);
        parts.number[parts.count++] = number;
    }
    shadow_set_register(lanes->frame, op->d, op->d_bytes, lane, &parts);
}

static void run_arithmetic(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    PtxType type = op->instruction->types[0];
    ShadowNumber results[WARP_LANES][2];
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int p = 0; p < part_count(type); p++) {
            OperandShadows from = sources_of(lanes, p, lane);
            results[lane][p] = result_of(op->instruction, &from);
        }
    }
    op->run(op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1)
        keep_result(lanes, __builtin_ctz(rest), results[__builtin_ctz(rest)], type);
}

/* ---- sums and products of whole floats, most of what kernels do ---- */

typedef struct Column { /* an operand in all lanes */
    long double shadow[WARP_LANES];
    uint8_t flags[WARP_LANES];
} Column;

static bool is_common(const Op *op) {
    const PtxInstruction *in = op->instruction;
    PtxType type = in->types[0];
    bool is_whole = (type == PTX_F32 || type == PTX_F64) && !in->types[1] && !in->fused;
    for (int i = 0; i < op->source_count; i++) is_whole &= op->s_bytes[i] == ptx_type_bytes(type);
    return is_whole && !ptx_instruction_has(in, PTX_MOD_SAT) &&
           (in->opcode == PTX_add || in->opcode == PTX_sub || in->opcode == PTX_mul || in->opcode == PTX_fma);
}

static inline long double whole_value(const void *values, int bytes, int lane, uint64_t *bits) {
    float narrow;
    double wide;
    if (bytes == 4) {
        *bits = ((const uint32_t *)values)[lane];
        memcpy(&narrow, (const float *)values + lane, sizeof narrow);
        return (long double)narrow;
    }
    *bits = ((const uint64_t *)values)[lane];
    memcpy(&wide, (const double *)values + lane, sizeof wide);
    return (long double)wide;
}

static void read_column(const ShadowLanes *lanes, int source, int bytes, Column *to) {
    Operand place = lanes->op->s[source];
    const void *values = operand_at(lanes->warp, place);
    const ShadowSlot *slot =
        place.constant || !lanes->frame->shadow ? NULL : shadow_slots(lanes->frame, place);
    uint32_t kept = slot ? slot->lanes : 0;
    uint64_t bits;
    uint8_t literal = 0;
    if (place.constant)
        literal =
            shadow_literal(bytes == 4 ? PTX_F32 : PTX_F64, (double)whole_value(values, bytes, 0, &bits));
    for (int l = 0; l < WARP_LANES; l++) {
        to->shadow[l] = whole_value(values, bytes, l, &bits);
        to->flags[l] = literal;
        if (!(kept >> l & 1) || slot->number[l].bits != bits || slot->number[l].bytes != bytes) continue;
        if (slot->number[l].type) to->shadow[l] = slot->number[l].shadow;
        to->flags[l] = slot->number[l].flags;
    }
}

static void add_columns(const ShadowLanes *lanes, const Column *a, const Column *b, const Column *c,
                        Column *to) {
    PtxOpcode opcode = lanes->op->instruction->opcode;
    for (int l = 0; l < WARP_LANES; l++) {
        to->shadow[l] = opcode == PTX_add   ? a->shadow[l] + b->shadow[l]
                        : opcode == PTX_sub ? a->shadow[l] - b->shadow[l]
                        : opcode == PTX_mul ? a->shadow[l] * b->shadow[l]
                                            : a->shadow[l] * b->shadow[l] + c->shadow[l];
        uint8_t of_addends = opcode == PTX_fma   ? c->flags[l]
                             : opcode == PTX_mul ? 0
                                                 : a->flags[l] | b->flags[l];
        to->flags[l] = (a->flags[l] | b->flags[l] | (opcode == PTX_fma ? c->flags[l] : 0)) &
                       (SHADOW_IS_CUT | SHADOW_OF_LITERAL);
        to->flags[l] |= of_addends & SHADOW_IS_LITERAL; /* it rounds the sum to an integer */
    }
}

static void keep_column(const ShadowLanes *lanes, int bytes, const Column *from) {
    const Op *op = lanes->op;
    const void *values = operand_at(lanes->warp, op->d);
    ShadowSlot *slot = shadow_slots(lanes->frame, op->d);
    shadow_forget(lanes->frame, op->d, bytes, lanes->mask);
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        ShadowNumber *number = &slot->number[l];
        uint64_t bits;
        long double value = whole_value(values, bytes, l, &bits), shadow = from->shadow[l];
        bool is_cut = value != value && shadow != shadow;
        if (from->flags[l] & SHADOW_IS_LITERAL || (shadow == value && !from->flags[l])) continue;
        slot->lanes |= UINT32_C(1) << l;
        *number = (ShadowNumber){is_cut ? 0 : shadow, bits, bytes == 4 ? PTX_F32 : PTX_F64, (uint8_t)bytes,
                                 is_cut ? SHADOW_IS_CUT : from->flags[l]};
        shadow_note(lanes->warp, op->pc, number, value);
    }
}

static void run_common(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    int bytes = op->d_bytes;
    Column a, b, c = {0}, result;
    read_column(lanes, 0, bytes, &a);
    read_column(lanes, 1, bytes, &b);
    if (op->instruction->opcode == PTX_fma) read_column(lanes, 2, bytes, &c);
    add_columns(lanes, &a, &b, &c, &result);
    op->run(op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    keep_column(lanes, bytes, &result);
}

/* True if the instruction computes a float; moves, selections and conversions to integers do not. */
static bool is_arithmetic(const Op *op) {
    const PtxInstruction *in = op->instruction;
    return ptx_type_computed(in->types[0]) && op->has_d && op->d_bytes >= 2 && in->opcode != PTX_mov &&
           in->opcode != PTX_ld && in->opcode != PTX_selp && in->opcode != PTX_slct &&
           in->opcode != PTX_set && in->opcode != PTX_setp && in->opcode != PTX_testp;
}

void shadow_run(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {
    for (int w = 0; w < count; w++) {
        ShadowLanes lanes = {op, warps[w], warp_fragment(warps[w])->frame, masks[w]};
        if (is_common(op))
            run_common(&lanes);
        else if (is_arithmetic(op))
            run_arithmetic(&lanes);
        else
            shadow_move(&lanes);
    }
}
