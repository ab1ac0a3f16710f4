/* Numbers that move through memory, between lanes, and between functions (shadow.h). */
#include "emulator/machine/shadow.h"

#include "ptx/opcodes.h"

#include <stdlib.h>

static ShadowPages *memory_of(const Warp *warp) {
    return warp->block->grid->shadow;
}

/* ---- loads and stores ---- */

static ShadowParts parts_of_value(const Access *access, const MemoryValue *value, int lane) {
    const Warp *warp = access->warp;
    uint64_t bits = register_read(warp, value->place, value->bytes, lane);
    return shadow_of_register(warp->fragments[warp->current].frame, value->place, value->bytes, lane, bits);
}

/* Parameters of the kernel are literals of the caller. */
static void flag_parameter(const Access *access, uint64_t bits, int bytes, ShadowParts *parts) {
    PtxType type = access->memory->type;
    ShadowNumber number = {.bits = bits, .type = (uint8_t)type, .bytes = (uint8_t)bytes};
    if (type != PTX_F32 && type != PTX_F16 && type != PTX_BF16) return;
    double value = shadow_value(type, bits);
    number.shadow = (long double)value;
    number.flags = shadow_literal(type, value);
    if (!number.flags) return;
    parts->count = 1;
    parts->at[0] = 0;
    parts->number[0] = number;
}

static void loaded(const Access *access, int lane) {
    const MemoryOp *memory = access->memory;
    Frame *frame = warp_fragment(access->warp)->frame;
    const uint8_t *host = access_host(access, lane);
    if (access->space != PTX_SPACE_PARAM && !shadow_pages_may_keep(memory_of(access->warp), host)) {
        for (int e = 0; e < memory->count; e++)
            if (memory->values[e].present)
                shadow_forget(frame, memory->values[e].place, memory->values[e].bytes, UINT32_C(1) << lane);
        return;
    }
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        if (!value->present || memory->element_bytes > 8) continue;
        const uint8_t *at = host + e * memory->element_bytes;
        ShadowParts parts = shadow_of_bytes(memory_of(access->warp), at, memory->element_bytes);
        if (access->space == PTX_SPACE_PARAM && access->address[lane] < FRAME_PARAMETERS)
            flag_parameter(access, bytes_read(at, memory->element_bytes), memory->element_bytes, &parts);
        shadow_set_register(frame, value->place, value->bytes, lane, &parts);
    }
}

static void stored(const Access *access, int lane) {
    const MemoryOp *memory = access->memory;
    const uint8_t *host = access_host(access, lane);
    for (int e = 0; e < memory->count; e++) {
        if (!memory->values[e].present || memory->element_bytes > 8) continue;
        ShadowParts parts = parts_of_value(access, &memory->values[e], lane);
        while (parts.count &&
               parts.at[parts.count - 1] + parts.number[parts.count - 1].bytes > memory->element_bytes)
            parts.count--;
        shadow_set_bytes(memory_of(access->warp), host + e * memory->element_bytes, memory->element_bytes,
                         &parts);
    }
}

/* Matrices are moved in another order than the registers': numbers among their elements are lost. */
static void check_matrix(const Access *access, int lane) {
    const MemoryOp *memory = access->memory;
    for (int e = 0; e < memory->count; e++) {
        ShadowParts parts = memory->is_load
                                ? shadow_of_bytes(memory_of(access->warp),
                                                  access_host(access, lane) + e * memory->element_bytes,
                                                  memory->element_bytes)
                                : parts_of_value(access, &memory->values[e], lane);
        if (parts.count) shadow_pages_lose(memory_of(access->warp));
    }
}

void shadow_moved(const Access *access) {
    PtxOpcode opcode = access->op->instruction->opcode;
    bool is_plain = opcode == PTX_ld || opcode == PTX_ldu || opcode == PTX_st || opcode == PTX_cp;
    if (access->memory->is_atomic) return; /* shadow_atomic() */
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!is_plain)
            check_matrix(access, lane);
        else if (access->memory->is_load)
            loaded(access, lane);
        else
            stored(access, lane);
    }
}

/* ---- atomics ---- */

static bool is_float_sum(const PtxInstruction *in, PtxType type) {
    return ptx_instruction_has(in, PTX_MOD_ADD) && type != PTX_NO_TYPE;
}

static ShadowParts sum_of(PtxType type, int bytes, const ShadowParts *old, uint64_t old_bits,
                          const ShadowParts *operand, uint64_t operand_bits, uint64_t new) {
    ShadowParts sum = {0};
    PtxType of = ptx_type_computed(type);
    int width = ptx_type_bytes(of);
    for (int at = 0; at < bytes; at += width) {
        ShadowNumber a = shadow_number(old, of, at, shadow_part_bits(old_bits, at, width)),
                     b = shadow_number(operand, of, at, shadow_part_bits(operand_bits, at, width)), *to;
        to = &sum.number[sum.count];
        *to = a;
        to->shadow = a.shadow + b.shadow;
        to->bits = shadow_part_bits(new, at, width);
        to->flags = (a.flags | b.flags) & (SHADOW_IS_CUT | SHADOW_OF_LITERAL);
        sum.at[sum.count++] = (uint8_t)at;
    }
    return sum;
}

/* A compare-and-swap takes two sums of equal value for the same. What another thread has added meanwhile,
 * and rounding has swallowed, is part of the sum. */
static void add_swallowed(ShadowParts *after, const ShadowParts *found, const ShadowParts *compared,
                          uint64_t value) {
    for (int i = 0; i < after->count; i++) {
        ShadowNumber *sum = &after->number[i];
        PtxType type = (PtxType)sum->type;
        int at = after->at[i];
        uint64_t bits = shadow_part_bits(value, at, sum->bytes);
        if (type)
            sum->shadow +=
                shadow_number(found, type, at, bits).shadow - shadow_number(compared, type, at, bits).shadow;
    }
}

void shadow_atomic(const Access *access, int lane, int element, uint8_t *host, uint64_t old, uint64_t new) {
    const MemoryOp *memory = access->memory;
    ShadowPages *shadow = memory_of(access->warp);
    Frame *frame = warp_fragment(access->warp)->frame;
    int bytes = memory->element_bytes;
    const PtxInstruction *in = access->op->instruction;
    PtxModifierKind operation = ptx_instruction_has(in, PTX_MOD_CAS)    ? PTX_MOD_CAS
                                : ptx_instruction_has(in, PTX_MOD_EXCH) ? PTX_MOD_EXCH
                                                                        : PTX_MODIFIER_NONE;
    const MemoryValue *value = &memory->values[element], *third = &memory->third;
    uint64_t operand = register_read(access->warp, value->place, value->bytes, lane);
    ShadowParts before = shadow_of_bytes(shadow, host, bytes),
                by = shadow_of_register(frame, value->place, value->bytes, lane, operand), after = before;
    if (bytes == 2) operand &= 0xffff;
    if (is_float_sum(in, ptx_type_computed(memory->type)))
        after = sum_of(memory->type, bytes, &before, old, &by, operand, new);
    else if (operation == PTX_MOD_EXCH || (operation != PTX_MOD_CAS && new == operand &&new != old))
        after = by;
    else if (operation == PTX_MOD_CAS && old == operand)
        after = shadow_of_register(frame, third->place, third->bytes, lane,
                                   register_read(access->warp, third->place, third->bytes, lane));
    if (operation == PTX_MOD_CAS && old == operand) add_swallowed(&after, &before, &by, old);
    for (int i = 0; i < after.count; i++) {
        const ShadowNumber *number = &after.number[i];
        if (number->type)
            shadow_note(access->warp, access->op->pc, number,
                        (long double)shadow_value((PtxType)number->type, number->bits));
    }
    shadow_set_bytes(shadow, host, bytes, &after);
    if (memory->results[element].present)
        shadow_set_register(frame, memory->results[element].place, memory->results[element].bytes, lane,
                            &before);
}

/* ---- matrices ---- */

enum { MOST_SIDE = 32, MOST_DEPTH = 32 };

typedef struct ShadowMatrix {
    ShadowNumber at[MOST_SIDE][MOST_DEPTH];
} ShadowMatrix;

static void read_elements(const Warp *warp, const MatrixRegisters *from, ShadowMatrix *to) {
    const PtxFragment *fragment = &from->fragment;
    const Frame *frame = warp->fragments[warp->current].frame;
    int bytes = fragment->register_bytes / fragment->parts;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < fragment->registers; r++) {
            const MemoryValue *value = &from->items[r];
            uint64_t bits = register_read(warp, value->place, value->bytes, lane);
            ShadowParts parts = shadow_of_register(frame, value->place, value->bytes, lane, bits);
            for (int p = 0; p < fragment->parts; p++) {
                PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, p);
                bool is_b = fragment->role == PTX_MATRIX_B;
                to->at[is_b ? place.column : place.row][is_b ? place.row : place.column] =
                    shadow_number(&parts, fragment->type, p * bytes, ptx_fragment_element(fragment, bits, p));
            }
        }
}

static bool is_known(PtxType type) {
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_TF32 || type == PTX_F64;
}

static bool has_numbers(const Warp *warp, const MatrixRegisters *registers) {
    const Frame *frame = warp->fragments[warp->current].frame;
    for (int r = 0; r < registers->fragment.registers; r++)
        if (shadow_is_kept(frame, registers->items[r].place, registers->items[r].bytes, ALL_LANES))
            return true;
    return false;
}

/* An element of D: products along k, and the element of C. */
static ShadowNumber dot(const ProductOp *product, const ShadowMatrix *a, const ShadowMatrix *b,
                        const ShadowMatrix *c, PtxMatrixPlace at) {
    ShadowNumber sum = c->at[at.row][at.column];
    for (int k = 0; k < product->shape.k; k++) {
        const ShadowNumber *x = &a->at[at.row][k], *y = &b->at[at.column][k];
        sum.shadow += x->shadow * y->shadow;
        sum.flags |= x->flags | y->flags;
    }
    sum.flags &= SHADOW_IS_CUT | SHADOW_OF_LITERAL;
    return sum;
}

static void set_products(const Warp *warp, const ProductOp *product, const ShadowMatrix *a,
                         const ShadowMatrix *b, const ShadowMatrix *c, uint64_t result[][WARP_LANES]) {
    const PtxFragment *fragment = &product->d.fragment;
    Frame *frame = warp->fragments[warp->current].frame;
    int bytes = fragment->register_bytes / fragment->parts;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < fragment->registers; r++) {
            ShadowParts parts = {.count = fragment->parts};
            for (int p = 0; p < fragment->parts; p++) {
                PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, p);
                ShadowNumber *number = &parts.number[p];
                parts.at[p] = (uint8_t)(p * bytes);
                *number = dot(product, a, b, c, place);
                number->bits = ptx_fragment_element(fragment, result[r][lane], p);
                number->type = (uint8_t)fragment->type;
                number->bytes = (uint8_t)bytes;
            }
            shadow_set_register(frame, product->d.items[r].place, product->d.items[r].bytes, lane, &parts);
        }
}

void shadow_product(const Warp *warp, const ProductOp *product, uint64_t result[][WARP_LANES]) {
    bool is_integer = product->d.fragment.type == PTX_S32;
    if (product->is_move || is_integer || !is_known(product->a.fragment.type) ||
        !is_known(product->b.fragment.type)) {
        bool loses = has_numbers(warp, &product->a) || (!product->is_move && !is_integer);
        if (loses) shadow_pages_lose(memory_of(warp));
        return;
    }
    ShadowMatrix *of = memory_resize(NULL, 3 * sizeof *of); /* the lanes hold every element that is read */
    read_elements(warp, &product->a, &of[0]);
    read_elements(warp, &product->b, &of[1]);
    read_elements(warp, &product->c, &of[2]);
    set_products(warp, product, &of[0], &of[1], &of[2], result);
    free(of);
}

/* ---- functions ---- */

static uint8_t *passed_bytes(const Frame *frame, const CallValue *value, int lane) {
    return frame->parameters + (size_t)lane * frame->layout->parameter_bytes + value->offset;
}

static ShadowParts parts_of_passed(const Warp *warp, const Frame *frame, const CallValue *value, int lane,
                                   uint32_t at, int bytes) {
    ShadowParts none = {0};
    uint64_t bits = 0;
    if (value->in_memory)
        return shadow_of_bytes(memory_of(warp), passed_bytes(frame, value, lane) + at, bytes);
    Operand place = call_value_part(value, at);
    if (place.constant) return none;
    memcpy(&bits, frame->registers + place.offset + (size_t)lane * (size_t)bytes, (size_t)bytes);
    return shadow_of_register(frame, place, bytes, lane, bits);
}

void shadow_pass(const Warp *warp, const Frame *from, const CallValue *source, Frame *to,
                 const CallValue *destination, uint32_t mask) {
    uint32_t bytes = source->bytes < destination->bytes ? source->bytes : destination->bytes,
             step = source->in_memory ? destination->part_bytes : source->part_bytes;
    if (!source->present || !destination->present) return;
    if (!step || step > 8) step = bytes % 8 ? 4 : 8;
    for (uint32_t at = 0; at + step <= bytes; at += step)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            ShadowParts parts = parts_of_passed(warp, from, source, lane, at, (int)step);
            if (destination->in_memory)
                shadow_set_bytes(memory_of(warp), passed_bytes(to, destination, lane) + at, (int)step,
                                 &parts);
            else
                shadow_set_register(to, call_value_part(destination, at), (int)step, lane, &parts);
        }
}
