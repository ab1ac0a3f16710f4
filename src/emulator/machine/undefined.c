/* Undefined values of shuffles, followed to where they are used (undefined.h). */
#include "emulator/machine/undefined.h"

#include "emulator/lower/address_space.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/other_orders.h"

#include <stdlib.h>

/* ---- where values are kept ---- */

static size_t value_count(const FunctionLayout *layout) {
    return layout->register_bytes / REGISTER_SLOT_ALIGNMENT + (layout->parameter_bytes + 3) / 4 + 2;
}

static UndefinedValue *values_of(Frame *frame) {
    if (!frame->undefined)
        frame->undefined = memory_new(value_count(frame->layout) * sizeof *frame->undefined);
    return frame->undefined;
}

/* NULL: nothing of the frame, or a constant. */
static UndefinedValue *find_place(const Frame *frame, Operand place) {
    return place.constant || !frame->undefined ? NULL
                                               : &frame->undefined[place.offset / REGISTER_SLOT_ALIGNMENT];
}

static UndefinedValue *find_parameter(const Frame *frame, uint64_t offset) {
    return frame->undefined
               ? &frame->undefined[frame->layout->register_bytes / REGISTER_SLOT_ALIGNMENT + offset / 4]
               : NULL;
}

static UndefinedValue *find_local(Warp *warp, uint64_t offset, bool make) {
    uint64_t index = offset / 4;
    if (index >= warp->undefined_count) {
        if (!make) return NULL;
        uint64_t count = warp->local_bytes / 4 + 1;
        warp->undefined = memory_resize(warp->undefined, count * sizeof *warp->undefined);
        memset(warp->undefined + warp->undefined_count, 0,
               (count - warp->undefined_count) * sizeof *warp->undefined);
        warp->undefined_count = count;
    }
    return &warp->undefined[index];
}

void undefined_forget_frame(Frame *frame) {
    free(frame->undefined);
    frame->undefined = NULL;
}

void undefined_forget_local(Warp *warp) {
    free(warp->undefined);
    warp->undefined = NULL;
    warp->undefined_count = 0;
}

void undefined_begin(Warp *warp, int pc, Operand place, uint32_t lanes) {
    UndefinedValue *values = values_of(warp_fragment(warp)->frame);
    UndefinedValue *value = &values[place.offset / REGISTER_SLOT_ALIGNMENT];
    value->lanes |= lanes;
    for (int l = 0; l < WARP_LANES; l++)
        if (lanes & lane_bit[l]) value->shuffle[l] = pc;
    warp->follows = warp->block->follows = true;
}

/* What is undefined in either. */
static void join(UndefinedValue *into, const UndefinedValue *from) {
    if (!from) return;
    for (uint32_t rest = from->lanes & ~into->lanes; rest; rest &= rest - 1)
        into->shuffle[__builtin_ctz(rest)] = from->shuffle[__builtin_ctz(rest)];
    into->lanes |= from->lanes;
}

/* `lanes` of `to` become what `from` has. */
static void assign(UndefinedValue *to, const UndefinedValue *from, uint32_t lanes) {
    if (!to) return;
    to->lanes = (to->lanes & ~lanes) | (from->lanes & lanes);
    for (uint32_t rest = from->lanes & lanes; rest; rest &= rest - 1)
        to->shuffle[__builtin_ctz(rest)] = from->shuffle[__builtin_ctz(rest)];
}

/* `lanes` of the value are used by the instruction at `pc`: once for each shuffle that they came from. */
static void use(const Warp *warp, int pc, const UndefinedValue *value, uint32_t lanes, TraceUse how) {
    for (uint32_t left = value ? value->lanes & lanes : 0; left;) {
        int shuffle = value->shuffle[__builtin_ctz(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (value->shuffle[__builtin_ctz(rest)] == shuffle) same |= rest & -rest;
        observe_undefined(warp, shuffle, pc, same, how);
        left &= ~same;
    }
}

/* ---- operands as PTX has them ---- */

static bool register_place(const Frame *frame, const PtxOperand *operand, Operand *place) {
    if (operand->kind != PTX_OPERAND_REGISTER || !operand->reg) return false;
    uint32_t offset = frame->layout->register_offset[operand->reg->index];
    if (offset == UINT32_MAX) return false;
    int bytes = register_type_bytes(operand->reg->type),
        component = operand->component > 0 ? operand->component : 0;
    *place = (Operand){
        offset + (uint32_t)(component * (bytes ? bytes * WARP_LANES : REGISTER_SLOT_ALIGNMENT)), false};
    return true;
}

static void join_operand(const Frame *frame, const PtxOperand *operand, UndefinedValue *into) {
    Operand place;
    if (register_place(frame, operand, &place)) join(into, find_place(frame, place));
    for (int i = 0; i < operand->item_count; i++) join_operand(frame, &operand->items[i], into);
}

static void assign_operand(const Frame *frame, const PtxOperand *operand, const UndefinedValue *from,
                           uint32_t lanes) {
    Operand place;
    if (register_place(frame, operand, &place)) assign(find_place(frame, place), from, lanes);
    for (int i = 0; i < operand->item_count; i++) assign_operand(frame, &operand->items[i], from, lanes);
}

/* The lanes in which a defined operand is 0, or has all of its bits set. */
static uint32_t lanes_that_are(const Warp *warp, const PtxOperand *operand, bool all_ones) {
    const Frame *frame = warp->fragments[warp->current].frame;
    Operand place;
    if (operand->kind == PTX_OPERAND_INTEGER) return operand->integer == (all_ones ? -1 : 0) ? ALL_LANES : 0;
    if (!register_place(frame, operand, &place)) return 0;
    int bytes = register_type_bytes(operand->reg->type);
    uint32_t lanes = 0;
    if (!bytes) {
        uint32_t holds = *(const uint32_t *)operand_at(warp, place);
        lanes = (holds ^ (operand->negated ? ALL_LANES : 0)) ^ (all_ones ? 0 : ALL_LANES);
    } else {
        uint64_t wanted = all_ones ? UINT64_MAX >> (64 - 8 * bytes) : 0;
        for (int l = 0; l < WARP_LANES && bytes <= 8; l++)
            if (register_read(warp, place, bytes, l) == wanted) lanes |= lane_bit[l];
    }
    const UndefinedValue *value = find_place(frame, place);
    return value ? lanes & ~value->lanes : lanes;
}

/* ---- what depends on registers alone ---- */

/* The lanes whose result is the same whatever the undefined operand is. */
static uint32_t settled_lanes(const Warp *warp, const PtxInstruction *in) {
    const PtxOperand *operands = in->operands;
    switch (in->opcode) {
    case PTX_and:
    case PTX_or:
        return lanes_that_are(warp, &operands[1], in->opcode == PTX_or) |
               lanes_that_are(warp, &operands[2], in->opcode == PTX_or);
    case PTX_mul:
    case PTX_mul24:
        if (ptx_type_is_float(in->types[0])) return 0;
        return lanes_that_are(warp, &operands[1], false) | lanes_that_are(warp, &operands[2], false);
    case PTX_setp:
    case PTX_set:
        if (in->operand_count < 4) return 0;
        if (ptx_instruction_has(in, PTX_MOD_AND)) return lanes_that_are(warp, &operands[3], false);
        if (ptx_instruction_has(in, PTX_MOD_OR)) return lanes_that_are(warp, &operands[3], true);
        return 0;
    default:
        return 0;
    }
}

/* selp takes one of its operands. */
static UndefinedValue selected(const Warp *warp, const PtxInstruction *in) {
    const Frame *frame = warp->fragments[warp->current].frame;
    UndefinedValue result = {0}, first = {0}, second = {0};
    uint32_t takes_first = lanes_that_are(warp, &in->operands[3], true);
    join_operand(frame, &in->operands[3], &result);
    join_operand(frame, &in->operands[1], &first);
    join_operand(frame, &in->operands[2], &second);
    first.lanes &= takes_first;
    second.lanes &= ~takes_first;
    join(&result, &first);
    join(&result, &second);
    return result;
}

static void follow_lanes(Warp *warp, const Op *op, const UndefinedValue *guard, uint32_t active) {
    const PtxInstruction *in = op->instruction;
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0}, carry = {0};
    if (!in->operand_count) return;
    if (in->opcode == PTX_selp && in->operand_count == 4) {
        result = selected(warp, in);
    } else {
        for (int i = 1; i < in->operand_count; i++) join_operand(frame, &in->operands[i], &result);
        bool has_carry = frame->layout->carry_offset != UINT32_MAX;
        UndefinedValue *flag =
            has_carry ? find_place(frame, (Operand){frame->layout->carry_offset, false}) : NULL;
        if (in->opcode == PTX_addc || in->opcode == PTX_subc || in->opcode == PTX_madc) join(&result, flag);
        if (result.lanes) result.lanes &= ~settled_lanes(warp, in);
        carry = result;
        if (ptx_instruction_has(in, PTX_MOD_CC)) assign(flag, &carry, active);
    }
    assign_operand(frame, &in->operands[0], &result, active);
    if (guard && guard->lanes) { /* whether it was executed */
        UndefinedValue before = {0}, by_guard = *guard;
        join_operand(frame, &in->operands[0], &before);
        join(&before, &by_guard);
        assign_operand(frame, &in->operands[0], &before, by_guard.lanes);
    }
}

static bool is_load(const Op *op) {
    PtxOpcode opcode = op->instruction->opcode;
    return opcode == PTX_ld || opcode == PTX_ldu || opcode == PTX_ldmatrix || opcode == PTX_wmma;
}

void undefined_follow(Warp *warp, const Op *op) {
    const Fragment *fragment = warp_fragment(warp);
    Frame *frame = fragment->frame;
    uint32_t active = fragment->mask;
    UndefinedValue guard = {0};
    if (op->guarded) {
        const UndefinedValue *value = find_place(frame, op->guard);
        if (value) guard = *value;
        guard.lanes &= fragment->mask;
        active = guard_lanes(op, warp, fragment->mask);
    }
    if (op->op_class == OP_LANES || op->op_class == OP_NO_EFFECT) {
        follow_lanes(warp, op, &guard, active);
        return;
    }
    const PtxInstruction *in = op->instruction;
    if (is_load(op) && guard.lanes)
        assign_operand(frame, &in->operands[0], &guard, guard.lanes);
    else
        use(warp, op->pc, &guard, fragment->mask,
            op->op_class == OP_CONTROL ? TRACE_USE_BRANCH : TRACE_USE_GUARD);
    UndefinedValue operands = {0};
    if (in->opcode == PTX_brx && in->operand_count) {
        join_operand(frame, &in->operands[0], &operands);
        use(warp, op->pc, &operands, active, TRACE_USE_BRANCH);
    } else if (op->op_class == OP_BARRIER && ptx_instruction_has(in, PTX_MOD_RED)) {
        join_operand(frame, &in->operands[in->operand_count - 1], &operands);
        use(warp, op->pc, &operands, active, TRACE_USE_BARRIER);
        assign_operand(frame, &in->operands[0], &(UndefinedValue){0}, active);
    }
}

/* ---- memory ---- */

static bool is_private(const Access *access) {
    return access->space == PTX_SPACE_LOCAL || access->space == PTX_SPACE_PARAM;
}

/* What is kept of the lane's 4 bytes at `at`, bytes into the access; NULL: nothing. */
static UndefinedValue *kept_at(const Access *access, int lane, int at, bool make) {
    uint64_t address = access->address[lane] + (uint64_t)at;
    if (access->space == PTX_SPACE_LOCAL) return find_local(access->warp, address, make);
    if (address < FRAME_PARAMETERS) return NULL; /* the kernel's */
    return find_parameter(warp_fragment(access->warp)->frame, address - FRAME_PARAMETERS);
}

static void store_private(const Access *access, const UndefinedValue *value, int at, int bytes) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool is_undefined = value && value->lanes & lane_bit[lane];
        for (int part = 0; part < bytes; part += 4) {
            UndefinedValue *kept = kept_at(access, lane, at + part, is_undefined);
            if (!kept || (!is_undefined && bytes < 4)) continue;
            kept->lanes = (kept->lanes & ~lane_bit[lane]) | (is_undefined ? lane_bit[lane] : 0);
            if (is_undefined) kept->shuffle[lane] = value->shuffle[lane];
        }
    }
}

static void load_private(const Access *access, UndefinedValue *value, int at, int bytes) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int part = 0; part < bytes; part += 4) {
            const UndefinedValue *kept = kept_at(access, lane, at + part, false);
            if (!kept || !(kept->lanes & lane_bit[lane])) continue;
            value->lanes |= lane_bit[lane];
            value->shuffle[lane] = kept->shuffle[lane];
        }
    }
}

void undefined_access(const Access *access) {
    const MemoryOp *memory = access->memory;
    Frame *frame = warp_fragment(access->warp)->frame;
    int pc = access->op->pc;
    use(access->warp, pc, find_place(frame, memory->base), access->mask, TRACE_USE_ADDRESS);
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        int at = e * memory->element_bytes;
        if (memory->is_load) {
            UndefinedValue loaded = {0};
            if (!value->present) continue;
            if (is_private(access)) load_private(access, &loaded, at, memory->element_bytes);
            if (loaded.lanes) values_of(frame);
            assign(find_place(frame, value->place), &loaded, access->mask);
        } else if (is_private(access)) {
            store_private(access, find_place(frame, value->place), at, memory->element_bytes);
        } else {
            use(access->warp, pc, find_place(frame, value->place), access->mask,
                memory->is_atomic ? TRACE_USE_ATOMIC : TRACE_USE_STORE);
        }
        if (memory->is_atomic && memory->results[e].present)
            assign(find_place(frame, memory->results[e].place), &(UndefinedValue){0}, access->mask);
    }
    if (memory->is_atomic && memory->third.present)
        use(access->warp, pc, find_place(frame, memory->third.place), access->mask, TRACE_USE_ATOMIC);
}

/* ---- between lanes, and between functions ---- */

void undefined_shuffle(Warp *warp, Operand from, Operand to, bool has_to, uint32_t lanes,
                       const int32_t *source) {
    const Frame *frame = warp_fragment(warp)->frame;
    const UndefinedValue *value = find_place(frame, from);
    UndefinedValue result = {0};
    for (uint32_t rest = value && value->lanes ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (source[lane] < 0 || !(value->lanes & lane_bit[source[lane]])) continue;
        result.lanes |= lane_bit[lane];
        result.shuffle[lane] = value->shuffle[source[lane]];
    }
    if (has_to) assign(find_place(frame, to), &result, lanes);
}

void undefined_gather(Warp *warp, Operand from, const Operand *to, int to_count, uint32_t lanes,
                      const uint32_t *of) {
    const Frame *frame = warp_fragment(warp)->frame;
    const UndefinedValue *value = find_place(frame, from);
    UndefinedValue result = {0};
    for (uint32_t rest = value && value->lanes ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t among = of[lane] & value->lanes;
        if (!among) continue;
        result.lanes |= lane_bit[lane];
        result.shuffle[lane] = value->shuffle[__builtin_ctz(among)];
    }
    for (int i = 0; i < to_count; i++) assign(find_place(frame, to[i]), &result, lanes);
}

void undefined_gather_all(Warp *warp, const Operand *from, int from_count, const Operand *to, int to_count) {
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0};
    for (int i = 0; i < from_count && !result.lanes; i++) {
        const UndefinedValue *value = find_place(frame, from[i]);
        if (!value || !value->lanes) continue;
        result.lanes = ALL_LANES;
        for (int lane = 0; lane < WARP_LANES; lane++)
            result.shuffle[lane] = value->shuffle[__builtin_ctz(value->lanes)];
    }
    for (int i = 0; i < to_count; i++) assign(find_place(frame, to[i]), &result, ALL_LANES);
}

/* Piece `at` of a value that is passed; NULL: nothing is kept of it. */
static UndefinedValue *passed(const Frame *frame, const CallValue *value, uint32_t at) {
    return value->in_memory ? find_parameter(frame, value->offset + at)
                            : find_place(frame, call_value_part(value, at));
}

void undefined_pass(const Frame *from, const CallValue *source, Frame *to, const CallValue *destination,
                    uint32_t mask) {
    uint32_t bytes = source->bytes < destination->bytes ? source->bytes : destination->bytes;
    if (!source->present || !destination->present) return;
    uint32_t part = destination->in_memory ? 4 : destination->part_bytes;
    for (uint32_t at = 0; at < bytes; at += part) {
        UndefinedValue piece = {0};
        for (uint32_t within = 0; within < part && at + within < bytes; within += 4)
            join(&piece, passed(from, source, at + within));
        if (piece.lanes & mask) values_of(to);
        assign(passed(to, destination, at), &piece, mask);
    }
}
