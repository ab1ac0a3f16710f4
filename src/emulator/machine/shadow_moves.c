/* Moves, selections and other instructions that handle bits, with a shadow (shadow.h). */
#include "emulator/machine/shadow.h"

#include "ptx/opcodes.h"

#include <math.h>

/* ---- registers ---- */

typedef struct Moved { /* a source of one lane */
    uint64_t bits;
    int bytes;
    ShadowParts parts;
} Moved;

enum { MOST_MOVED = 12 };

/* Of up to 8 bytes, and no predicate. */
static bool register_place(const Frame *frame, const PtxOperand *operand, Operand *place) {
    int bytes = operand->reg ? register_type_bytes(operand->reg->type) : 0;
    return bytes >= 2 && bytes <= 8 && frame_find_register(frame, operand, place);
}

/* What the registers among the operands hold. Returns the new count. */
static int gather(const ShadowLanes *lanes, const PtxOperand *operands, int operand_count, int lane,
                  Moved *to, int count) {
    for (int i = 0; i < operand_count && count < MOST_MOVED; i++) {
        Operand place;
        if (register_place(lanes->frame, &operands[i], &place)) {
            Moved *moved = &to[count++];
            moved->bytes = register_type_bytes(operands[i].reg->type);
            moved->bits = register_read(lanes->warp, place, moved->bytes, lane);
            moved->parts = shadow_of_register(lanes->frame, place, moved->bytes, lane, moved->bits);
        }
        count = gather(lanes, operands[i].items, operands[i].item_count, lane, to, count);
    }
    return count;
}

/* bf16 becomes f32 by a shift; fabs() and minus change the sign alone. */
static bool has_same_magnitude(const ShadowNumber *of, int bytes, uint64_t bits, ShadowNumber *result) {
    PtxType type = bytes == 4 ? PTX_F32 : bytes == 8 ? PTX_F64 : (PtxType)of->type;
    bool widens = of->type == PTX_BF16 && type == PTX_F32;
    if (of->flags & SHADOW_IS_CUT || (!widens && (of->type != type || of->bytes != bytes))) return false;
    double value = shadow_value(type, bits), before = shadow_value((PtxType)of->type, of->bits);
    if (fabs(value) != fabs(before) || value == 0) return false;
    *result = *of;
    result->bits = bits;
    result->type = (uint8_t)type;
    result->bytes = (uint8_t)bytes;
    if (signbit(value) != signbit(before)) result->shadow = -of->shadow;
    return true;
}

/* False: there is one. */
static bool add_part(ShadowParts *to, int at, const ShadowNumber *number) {
    for (int i = 0; i < to->count; i++)
        if (to->at[i] == at && to->number[i].bytes == number->bytes) return false;
    if (to->count == SHADOW_PARTS) return true;
    to->at[to->count] = (uint8_t)at;
    to->number[to->count++] = *number;
    return true;
}

/* The number, where its bits are in the result, and where the result is the same number in another form. */
static bool take_number(const ShadowNumber *number, uint64_t bits, int bytes, ShadowParts *to) {
    ShadowNumber same;
    bool takes = has_same_magnitude(number, bytes, bits, &same);
    if (takes) add_part(to, 0, &same);
    for (int at = 0; at + number->bytes <= bytes; at += number->bytes)
        if (shadow_part_bits(bits, at, number->bytes) == number->bits && add_part(to, at, number))
            return true;
    return takes;
}

/* Adds the numbers of `from` whose bits are in the result. */
static bool take_equal(const Moved *from, uint64_t bits, int bytes, ShadowParts *to) {
    bool takes = from->bytes == bytes && from->bits == bits;
    for (int i = 0; i < from->parts.count; i++) {
        if (from->bytes == bytes && from->bits == bits)
            add_part(to, from->parts.at[i], &from->parts.number[i]);
        else
            takes |= take_number(&from->parts.number[i], bits, bytes, to);
    }
    return takes;
}

static bool is_rounded_value(const Moved *from) {
    for (int i = 0; i < from->parts.count; i++)
        if (shadow_is_rounded(&from->parts.number[i])) return true;
    return false;
}

static ShadowNumber cut_number(uint64_t bits, int bytes) {
    return (ShadowNumber){.bits = bits, .bytes = (uint8_t)bytes, .flags = SHADOW_IS_CUT};
}

/* The parts of a result that is put together from the bits of its sources. */
static ShadowParts parts_of_result(const Moved *from, int count, uint64_t bits, int bytes) {
    ShadowParts parts = {0};
    bool takes = false, cuts = false;
    for (int i = 0; i < count; i++) {
        takes |= take_equal(&from[i], bits, bytes, &parts);
        cuts |= is_rounded_value(&from[i]);
    }
    if (takes || !cuts) return parts;
    parts.count = 1;
    parts.at[0] = 0;
    parts.number[0] = cut_number(bits, bytes);
    return parts;
}

static void set_result(const ShadowLanes *lanes, const PtxOperand *to, const Moved *from, int count,
                       int lane) {
    Operand place;
    if (register_place(lanes->frame, to, &place)) {
        int bytes = register_type_bytes(to->reg->type);
        uint64_t bits = register_read(lanes->warp, place, bytes, lane);
        ShadowParts parts = parts_of_result(from, count, bits, bytes);
        shadow_set_register(lanes->frame, place, bytes, lane, &parts);
    }
    for (int i = 0; i < to->item_count; i++) set_result(lanes, &to->items[i], from, count, lane);
}

/* Of an integer literal: it may be the bits of a float, as in inline PTX; small integers are not. */
static PtxType literal_type(const PtxInstruction *in, int bytes) {
    PtxType type = ptx_type_computed(in->types[0]);
    if (type) return type;
    return bytes == 8 ? PTX_F64 : bytes == 4 ? PTX_F32 : PTX_F16;
}

/* A literal, or a parameter of the kernel, which is one of its caller. */
static bool is_literal(const Op *op) {
    const PtxInstruction *in = op->instruction;
    if (in->opcode == PTX_ld)
        return ptx_type_computed(in->types[0]) && op->d_bytes == ptx_type_bytes(in->types[0]);
    bool is_number =
        in->opcode == PTX_mov && in->operand_count == 2 &&
        (in->operands[1].kind == PTX_OPERAND_FLOAT || in->operands[1].kind == PTX_OPERAND_INTEGER);
    return is_number && op->d_bytes >= 2;
}

/* How exact it is depends on its digits. */
static void keep_literal(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    PtxType type = literal_type(op->instruction, op->d_bytes);
    ShadowParts parts = {0};
    ShadowNumber *number = &parts.number[0];
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t bits = register_read(lanes->warp, op->d, op->d_bytes, lane);
        if (rest == lanes->mask || bits != number->bits) { /* nearly always the same in all lanes */
            double value = shadow_value(type, bits);
            bool may_be_float = fabs(value) >= 0x1p-60 && fabs(value) <= 0x1p60;
            *number = (ShadowNumber){(long double)value, bits, (uint8_t)type, op->d_bytes,
                                     may_be_float ? shadow_literal(type, value) : 0};
            parts.count = number->flags != 0;
        }
        if (parts.count) shadow_set_register(lanes->frame, op->d, op->d_bytes, lane, &parts);
    }
}

/* mov puts values one after another, and takes a value apart: "mov.b32 %r1, {%h1, %h2}" and back. */
static ShadowParts joined(const ShadowLanes *lanes, const PtxOperand *from, int bytes, int lane) {
    ShadowParts parts = {0};
    for (int i = 0; i < from->item_count; i++) {
        Operand place;
        if (!register_place(lanes->frame, &from->items[i], &place)) continue;
        int width = register_type_bytes(from->items[i].reg->type);
        ShadowParts item = shadow_of_register(lanes->frame, place, width, lane,
                                              register_read(lanes->warp, place, width, lane));
        for (int k = 0; k < item.count; k++)
            add_part(&parts, i * bytes / from->item_count + item.at[k], &item.number[k]);
    }
    return parts;
}

static ShadowParts cut_out(const ShadowParts *parts, int from, int bytes) {
    ShadowParts cut = {0};
    for (int i = 0; i < parts->count; i++)
        if (parts->at[i] >= from && parts->at[i] + parts->number[i].bytes <= from + bytes)
            add_part(&cut, parts->at[i] - from, &parts->number[i]);
    return cut;
}

/* The part of a value that a register of `bytes` bytes takes from byte `from` on. */
static ShadowParts taken_apart(const ShadowParts *whole, int from, int bytes, uint64_t bits) {
    ShadowParts parts = cut_out(whole, from, bytes);
    for (int i = 0; i < whole->count && !parts.count; i++) {
        ShadowNumber part = whole->number[i];
        bool overlaps = whole->at[i] < from + bytes && from < whole->at[i] + part.bytes;
        if (!overlaps || !shadow_is_rounded(&part)) continue;
        bool is_half = part.type == PTX_F64 && part.bytes == 8 && bytes == 4;
        if (!is_half) part = cut_number(bits, bytes);
        part.bits = bits;
        part.bytes = (uint8_t)bytes;
        if (is_half) part.flags |= from == whole->at[i] ? SHADOW_IS_LOW : SHADOW_IS_HIGH;
        add_part(&parts, 0, &part);
    }
    return parts;
}

/* Adds the number that the parts are together. */
static void put_together(ShadowParts *parts, uint64_t bits, int bytes) {
    ShadowNumber same;
    for (int i = 0; i < parts->count; i++) {
        const ShadowNumber *low = &parts->number[i];
        if (has_same_magnitude(low, bytes, bits, &same)) add_part(parts, 0, &same);
        for (int k = 0; k < parts->count; k++) {
            const ShadowNumber *high = &parts->number[k];
            bool is_pair = low->flags & SHADOW_IS_LOW && high->flags & SHADOW_IS_HIGH &&
                           low->shadow == high->shadow && !parts->at[i] && parts->at[k] == 4;
            if (!is_pair || bytes != 8) continue;
            same = *low;
            same.bits = bits;
            same.bytes = 8;
            same.flags &= ~(SHADOW_IS_LOW | SHADOW_IS_HIGH);
            add_part(parts, 0, &same);
        }
    }
}

/* mov of a register to another one. */
static bool copy_one(const ShadowLanes *lanes) {
    const PtxInstruction *in = lanes->op->instruction;
    Operand to, from;
    if (in->opcode != PTX_mov || in->operand_count != 2 ||
        !register_place(lanes->frame, &in->operands[0], &to) ||
        !register_place(lanes->frame, &in->operands[1], &from))
        return false;
    int bytes = register_type_bytes(in->operands[0].reg->type);
    if (bytes != register_type_bytes(in->operands[1].reg->type)) return false;
    shadow_copy_register(lanes->frame, from, to, bytes, lanes->mask, NULL);
    lanes->op->run(lanes->op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    return true;
}

static bool moves_several(const PtxInstruction *in) {
    return in->opcode == PTX_mov && in->operand_count == 2 && ptx_type_bytes(in->types[0]) <= 8 &&
           (in->operands[0].item_count || in->operands[1].item_count);
}

/* Where a bf16 and zeros make an f32, or an f64 is taken apart, the numbers follow their bits. */
static void move_several(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    const PtxOperand *to = &op->instruction->operands[0], *from = &op->instruction->operands[1];
    int bytes = ptx_type_bytes(op->instruction->types[0]);
    Moved moved[WARP_LANES];
    Operand place;
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (from->item_count)
            moved[lane].parts = joined(lanes, from, bytes, lane);
        else
            gather(lanes, from, 1, lane, &moved[lane], 0);
    }
    op->run(op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int i = 0; i < to->item_count; i++) {
            if (!register_place(lanes->frame, &to->items[i], &place)) continue;
            int width = register_type_bytes(to->items[i].reg->type);
            ShadowParts parts = taken_apart(&moved[lane].parts, i * bytes / to->item_count, width,
                                            register_read(lanes->warp, place, width, lane));
            shadow_set_register(lanes->frame, place, width, lane, &parts);
        }
        if (to->item_count || !register_place(lanes->frame, to, &place)) continue;
        put_together(&moved[lane].parts, register_read(lanes->warp, place, bytes, lane), bytes);
        shadow_set_register(lanes->frame, place, bytes, lane, &moved[lane].parts);
    }
}

/* selp takes the one of its operands that the predicate says, also where their bits are equal. */
static int drop_unselected(const ShadowLanes *lanes, int lane, Moved *from, int count) {
    const Op *op = lanes->op;
    const PtxOperand *operands = op->instruction->operands;
    if (op->instruction->opcode != PTX_selp) return count;
    bool takes_first = register_read(lanes->warp, op->s[2], 0, lane);
    int first = operands[1].kind == PTX_OPERAND_REGISTER, second = operands[2].kind == PTX_OPERAND_REGISTER;
    if (!takes_first && first && second) from[0] = from[1];
    return takes_first ? first : second;
}

static void move_bits(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    const PtxInstruction *in = op->instruction;
    Moved from[WARP_LANES][MOST_MOVED];
    int count[WARP_LANES];
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        count[lane] = gather(lanes, in->operands + 1, in->operand_count - 1, lane, from[lane], 0);
        count[lane] = drop_unselected(lanes, lane, from[lane], count[lane]);
    }
    op->run(op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    for (uint32_t rest = lanes->mask; rest && in->operand_count; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        set_result(lanes, &in->operands[0], from[lane], count[lane], lane);
    }
}

/* Comparisons and conversions to integers follow the value. */
static bool takes_value(const PtxInstruction *in) {
    if (in->opcode == PTX_set || in->opcode == PTX_setp || in->opcode == PTX_testp) return true;
    return in->opcode == PTX_cvt && ptx_type_computed(in->types[1]) && !ptx_type_computed(in->types[0]) &&
           shadow_rounds_to_integer(in);
}

static bool has_numbers(const ShadowLanes *lanes, const PtxOperand *operands, int count) {
    for (int i = 0; i < count; i++) {
        Operand place;
        if (register_place(lanes->frame, &operands[i], &place) &&
            shadow_is_kept(lanes->frame, place, register_type_bytes(operands[i].reg->type), lanes->mask))
            return true;
        if (has_numbers(lanes, operands[i].items, operands[i].item_count)) return true;
    }
    return false;
}

static void forget(const ShadowLanes *lanes, const PtxOperand *to) {
    Operand place;
    if (register_place(lanes->frame, to, &place))
        shadow_forget(lanes->frame, place, register_type_bytes(to->reg->type), lanes->mask);
    for (int i = 0; i < to->item_count; i++) forget(lanes, &to->items[i]);
}

/* A float that says that a comparison holds may correct a rounding: hexp() of cuda_fp16.h adds a last bit for
 * four arguments. */
static void cut_true(const ShadowLanes *lanes) {
    const Op *op = lanes->op;
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t bits = register_read(lanes->warp, op->d, op->d_bytes, lane);
        ShadowParts parts = {.count = 1, .number = {cut_number(bits, op->d_bytes)}};
        if (bits) shadow_set_register(lanes->frame, op->d, op->d_bytes, lane, &parts);
    }
}

/* The result has no number. */
static void run_plain(const ShadowLanes *lanes) {
    const PtxInstruction *in = lanes->op->instruction;
    lanes->op->run(lanes->op, &(Warp *){lanes->warp}, &lanes->mask, 1);
    if (in->operand_count) forget(lanes, &in->operands[0]);
    if (is_literal(lanes->op)) keep_literal(lanes);
    if (in->opcode == PTX_set && ptx_type_computed(in->types[0])) cut_true(lanes);
}

void shadow_move(const ShadowLanes *lanes) {
    const PtxInstruction *in = lanes->op->instruction;
    if (copy_one(lanes)) return;
    if (moves_several(in))
        move_several(lanes);
    else if (!takes_value(in) && !is_literal(lanes->op) &&
             has_numbers(lanes, in->operands, in->operand_count))
        move_bits(lanes);
    else
        run_plain(lanes);
}
