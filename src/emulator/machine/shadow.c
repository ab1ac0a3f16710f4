/* Numbers of registers, and of what moves between registers and memory (shadow.h). */
#include "emulator/machine/shadow.h"

#include "ptx/opcodes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { SLOT_BYTES = REGISTER_SLOT_ALIGNMENT / WARP_LANES };

static size_t slot_count(const Frame *frame) {
    return frame->layout->register_bytes / REGISTER_SLOT_ALIGNMENT + 1;
}

ShadowSlot *shadow_slots(Frame *frame, Operand place) {
    if (!frame->shadow) frame->shadow = memory_new(slot_count(frame) * sizeof *frame->shadow);
    return frame->shadow + place.offset / REGISTER_SLOT_ALIGNMENT;
}

void shadow_forget_frame(Frame *frame) {
    free(frame->shadow);
    frame->shadow = NULL;
}

void shadow_begin_frame(const Frame *frame) {
    for (size_t i = 0; frame->shadow && i < slot_count(frame); i++) frame->shadow[i].lanes = 0;
}

/* ---- values ---- */

bool shadow_rounds_to_integer(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_RNI) || ptx_instruction_has(in, PTX_MOD_RZI) ||
           ptx_instruction_has(in, PTX_MOD_RMI) || ptx_instruction_has(in, PTX_MOD_RPI);
}

static double half_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 0x3ff), sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24));
}

static double float_value(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double shadow_value(PtxType type, uint64_t bits) {
    double value;
    if (type == PTX_F16) return half_value(bits);
    if (type == PTX_BF16) return float_value(bits << 16);
    if (type == PTX_F32) return float_value(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

ShadowNumber shadow_number(const ShadowParts *parts, PtxType type, int at, uint64_t bits) {
    ShadowNumber number = {.bits = bits, .type = (uint8_t)type, .bytes = (uint8_t)ptx_type_bytes(type)};
    number.shadow = (long double)shadow_value(type, bits);
    for (int i = 0; i < parts->count; i++) {
        const ShadowNumber *part = &parts->number[i];
        bool overlaps = parts->at[i] < at + number.bytes && at < parts->at[i] + part->bytes;
        if (parts->at[i] == at && part->type == number.type && part->bytes == number.bytes &&
            part->bits == bits) {
            number.shadow = part->shadow;
            number.flags = part->flags;
            break;
        }
        if (overlaps && shadow_is_rounded(part)) number.flags |= SHADOW_IS_CUT;
    }
    return number;
}

bool shadow_is_rounded(const ShadowNumber *number) {
    return number->flags & (SHADOW_IS_CUT | SHADOW_IS_LOW | SHADOW_IS_HIGH) || !number->type ||
           number->shadow != (long double)shadow_value((PtxType)number->type, number->bits);
}

void shadow_note(const Warp *warp, int pc, const ShadowNumber *number, long double value) {
    double *most = &warp->block->grid->deviation[pc], off = (double)fabsl(value - number->shadow);
    if (!(number->flags & SHADOW_IS_CUT) && off > *most) *most = off;
}

/* ---- literals ---- */

/* From here on, adding x to a literal keeps no more than half a unit of x: the start of a conversion to
 * integers. */
static bool rounds_addends(PtxType type, double value) {
    return fabs(value) >= (type == PTX_F64 ? 0x1p51 : type == PTX_F32 ? 0x1p22 : INFINITY) && isfinite(value);
}

/* It seems to be a decimal number that the type rounds; numbers of few bits, as 0.5 or 3, are what they say.
 * */
static bool is_rounded(PtxType type, double value) {
    int exponent, few_bits = type == PTX_F32 ? 12 : type == PTX_F16 ? 8 : 6;
    double scaled = ldexp(frexp(value, &exponent), few_bits);
    return type != PTX_F64 && isfinite(value) && scaled != trunc(scaled);
}

uint8_t shadow_literal(PtxType type, double value) {
    uint8_t of = is_rounded(type, value) ? type == PTX_F32 ? SHADOW_OF_LITERAL : SHADOW_IS_CUT : 0;
    return rounds_addends(type, value) ? SHADOW_IS_LITERAL : of;
}

/* ---- places ---- */

typedef struct ShadowPlace { /* of a value: a register, or memory */
    const ShadowSlot *slots;
    int lane;
    ShadowPages *memory;
    const uint8_t *bytes;
} ShadowPlace;

static bool find(const ShadowPlace *place, int at, int bytes, uint64_t bits, ShadowNumber *found) {
    if (place->memory) return shadow_pages_find(place->memory, place->bytes + at, bytes, bits, found);
    assert(place->slots);
    const ShadowSlot *slot = &place->slots[at / SLOT_BYTES];
    const ShadowNumber *number = &slot->number[place->lane];
    if (!(slot->lanes >> place->lane & 1) || number->bytes != bytes || number->bits != bits) return false;
    *found = *number;
    return true;
}

static bool has_width(const ShadowPlace *place, int bytes) {
    return !place->memory || shadow_pages_keep_width(place->memory, bytes);
}

/* The number of the whole value, and those of its parts. */
static ShadowParts find_parts(const ShadowPlace *place, int bytes, uint64_t bits) {
    ShadowParts parts;
    parts.count = 0;
    for (int width = bytes; width >= SLOT_BYTES; width /= 2)
        for (int at = has_width(place, width) ? 0 : bytes; at < bytes; at += width) {
            if (parts.count == SHADOW_PARTS ||
                !find(place, at, width, shadow_part_bits(bits, at, width), &parts.number[parts.count]))
                continue;
            parts.at[parts.count++] = (uint8_t)at;
        }
    return parts;
}

bool shadow_is_kept(const Frame *frame, Operand place, int bytes, uint32_t lanes) {
    uint32_t kept = 0;
    if (place.constant || !frame->shadow) return false;
    const ShadowSlot *slots = frame->shadow + place.offset / REGISTER_SLOT_ALIGNMENT;
    for (int at = 0; at < bytes; at += SLOT_BYTES) kept |= slots[at / SLOT_BYTES].lanes;
    return kept & lanes;
}

void shadow_forget(const Frame *frame, Operand place, int bytes, uint32_t lanes) {
    if (place.constant || !frame->shadow) return;
    ShadowSlot *slots = frame->shadow + place.offset / REGISTER_SLOT_ALIGNMENT;
    for (int at = 0; at < bytes; at += SLOT_BYTES) slots[at / SLOT_BYTES].lanes &= ~lanes;
}

ShadowParts shadow_of_register(const Frame *frame, Operand place, int bytes, int lane, uint64_t bits) {
    ShadowParts none = {0};
    if (bytes < SLOT_BYTES || !shadow_is_kept(frame, place, bytes, UINT32_C(1) << lane)) return none;
    const ShadowSlot *slots = frame->shadow + place.offset / REGISTER_SLOT_ALIGNMENT;
    return find_parts(&(ShadowPlace){.slots = slots, .lane = lane}, bytes, bits);
}

void shadow_copy_register(Frame *frame, Operand from, Operand to, int bytes, uint32_t lanes,
                          const uint8_t *source) {
    if (from.constant || !shadow_is_kept(frame, from, bytes, ALL_LANES)) {
        shadow_forget(frame, to, bytes, lanes);
        return;
    }
    for (int at = 0; at < bytes; at += SLOT_BYTES) {
        const ShadowSlot of = shadow_slots(frame, from)[at / SLOT_BYTES];
        ShadowSlot *slot = &shadow_slots(frame, to)[at / SLOT_BYTES];
        slot->lanes &= ~lanes;
        for (uint32_t rest = of.lanes ? lanes : 0; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest), other = source ? source[lane] : lane;
            if (other >= WARP_LANES || !(of.lanes >> other & 1)) continue;
            slot->lanes |= UINT32_C(1) << lane;
            slot->number[lane] = of.number[other];
        }
    }
}

void shadow_set_register(Frame *frame, Operand place, int bytes, int lane, const ShadowParts *parts) {
    if (place.constant || bytes < SLOT_BYTES || (!parts->count && !frame->shadow)) return;
    ShadowSlot *slots = shadow_slots(frame, place);
    shadow_forget(frame, place, bytes, UINT32_C(1) << lane);
    for (int i = 0; i < parts->count; i++) {
        ShadowSlot *slot = &slots[parts->at[i] / SLOT_BYTES];
        slot->lanes |= UINT32_C(1) << lane;
        slot->number[lane] = parts->number[i];
    }
}

ShadowParts shadow_of_bytes(ShadowPages *memory, const uint8_t *at, int bytes) {
    ShadowParts none = {0};
    if (bytes < SLOT_BYTES) return none;
    return find_parts(&(ShadowPlace){.memory = memory, .bytes = at}, bytes, bytes_read(at, bytes));
}

void shadow_set_bytes(ShadowPages *memory, const uint8_t *at, int bytes, const ShadowParts *parts) {
    shadow_pages_forget(memory, at, (size_t)bytes);
    for (int i = 0; i < parts->count; i++) shadow_pages_keep(memory, at + parts->at[i], &parts->number[i]);
}
