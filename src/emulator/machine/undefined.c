/* Undefined values of shuffles, registers and memory, followed to their uses (undefined.h). */
#include "emulator/machine/undefined_value.h"

#include "base/language.h"
#include "emulator/lower/address_space.h"
#include "emulator/lower/index_products.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/other_orders.h"
#include "ptx/opcodes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void undefined_forget_frame(Frame *frame) {
    free(frame->undefined);
    frame->undefined = NULL;
}

void undefined_forget_memory(Warp *warp) {
    free(warp->undefined);
    warp->undefined = NULL;
    warp->undefined_count = 0;
    for (UnwrittenRead *read = warp->unwritten_reads, *next; read; read = next) {
        next = read->next;
        free(read);
    }
    warp->unwritten_reads = NULL;
}

void undefined_begin(Warp *warp, int pc, Operand place, uint32_t lanes) {
    UndefinedValue *values = undefined_values_of(warp_fragment(warp)->frame);
    UndefinedValue *value = &values[place.offset / REGISTER_SLOT_ALIGNMENT];
    value->lanes |= lanes;
    for (int l = 0; l < WARP_LANES; l++) {
        if (!(lanes & lane_bit[l])) continue;
        value->origin[l] = pc;
        value->bytes[l] = ALL_BYTES;
    }
    warp->follows = warp->block->follows = true;
}

/* ---- unwritten registers ---- */

/* The origin of a register's value until an instruction reads it; then read_origin(). */
enum { UNREAD = -1, READABLE = 64 /* registers of an instruction that have a number */ };

/* The n-th register of the instruction at `pc`, the guard first. */
static int32_t read_origin(int pc, int n) {
    return UNREAD - 1 - (pc * READABLE + n);
}

static int read_pc(int32_t origin) {
    return (UNREAD - 1 - origin) / READABLE;
}

void undefined_begin_frame(Warp *warp, Frame *frame) {
    const FunctionLayout *layout = frame->layout;
    for (int i = 0; i < layout->cleared_count; i++) {
        const ClearedSlot *slot = &layout->cleared[i];
        bool is_vector = slot->lane_bytes && slot->bytes > (uint32_t)slot->lane_bytes * WARP_LANES;
        if (slot->offset == layout->carry_offset || is_vector) continue;
        UndefinedValue *value = undefined_values_of(frame) + slot->offset / REGISTER_SLOT_ALIGNMENT;
        uint32_t bytes = slot->lane_bytes ? bytes_mask(slot->lane_bytes) : ALL_BYTES;
        for (int lane = 0; lane < WARP_LANES; lane++) undefined_add(value, lane, bytes, UNREAD);
        warp->follows = warp->block->follows = true;
    }
}

void undefined_watch_product(const Op *op, const Gang *gang) {
    for (int w = 0; w < gang->count; w++) {
        Warp *warp = gang->warps[w];
        uint32_t lanes = op->guarded ? guard_lanes(op, warp, gang->masks[w]) : gang->masks[w];
        uint32_t wraps = lanes ? lower_index_product_wraps(op, warp, lanes) : 0;
        if (!wraps) continue;
        undefined_begin(warp, op->pc, op->d, wraps);
        warp->block->worker->irregular++;
    }
}

/* Instructions that put bits together: which of them are left is not followed. */
static bool joins_bits(PtxOpcode opcode) {
    return opcode == PTX_bfi || opcode == PTX_bfe || opcode == PTX_prmt || opcode == PTX_lop3 ||
           opcode == PTX_shf;
}

static void drop_registers(UndefinedValue *value) {
    for (uint32_t rest = value->lanes; rest; rest &= rest - 1)
        if (value->origin[__builtin_ctz(rest)] < 0) value->lanes &= ~(rest & -rest);
}

/* No index depends on its result. */
static void drop_products(const Warp *warp, UndefinedValue *value) {
    const PtxCode *code = warp->block->grid->program->program->code;
    for (uint32_t rest = value->lanes; rest; rest &= rest - 1)
        if (value->origin[__builtin_ctz(rest)] >= 0 &&
            lower_index_is_product(code[value->origin[__builtin_ctz(rest)]].instruction))
            value->lanes &= ~(rest & -rest);
}

static bool is_of_product(const Warp *warp, int32_t origin) {
    return origin >= 0 && warp->block->grid->program->program->code[origin].instruction->opcode == PTX_wgmma;
}

/* Whoever reads it has been reported. */
static void drop_matrix_products(const Warp *warp, UndefinedValue *value) {
    for (uint32_t rest = value->lanes; rest; rest &= rest - 1)
        if (is_of_product(warp, value->origin[__builtin_ctz(rest)])) value->lanes &= ~(rest & -rest);
}

static void join(UndefinedValue *into, const UndefinedValue *from) {
    undefined_join(into, from, 0);
}

static const PtxCode *code_at(const Warp *warp, int pc) {
    return &warp->block->grid->program->program->code[pc];
}

/* The n-th register of the operand and of those after it; *n is what is left. */
static const PtxRegister *register_of(const PtxOperand *operand, int count, int *n) {
    const PtxRegister *found = NULL;
    for (int i = 0; i < count && !found; i++) {
        if (operand[i].reg && !(*n)--) return operand[i].reg;
        found = register_of(operand[i].items, operand[i].item_count, n);
    }
    return found;
}

static const char *name_of_read(const Warp *warp, int32_t origin) {
    const PtxInstruction *in = code_at(warp, read_pc(origin))->instruction;
    int n = (UNREAD - 1 - origin) % READABLE;
    const PtxRegister *reg = register_of(&in->guard, 1, &n);
    if (!reg) reg = register_of(in->operands, in->operand_count, &n);
    return reg ? reg->name : "";
}

static void report_shared(Block *block, const Warp *warp, int pc, uint32_t lanes, const uint64_t *address,
                          int peer) {
    uint8_t *reported = &block->worker->reported[pc];
    int lane = __builtin_ctz(lanes);
    char owner[48] = "";
    block->worker->irregular++;
    if (*reported >= MAX_REPORTED) return;
    ++*reported;
    if (peer >= 0) snprintf(owner, sizeof owner, tr(" of block %d of the cluster"), peer);
    raise_trap(block, TRAP_UNINITIALIZED, warp, pc, lanes, address,
               tr("shared memory at offset %llu%s is read but was never written (thread %d of the block)"),
               (unsigned long long)address[lane], owner, warp->index * WARP_LANES + lane);
}

/* The warp's last load by this instruction, whose value it uses now, and those of which the value was
 * computed with it. */
static void report_read(const Warp *warp, UnwrittenRead *read) {
    UnwrittenRead *each = read = undefined_first_read(read);
    do {
        UnwrittenRead *first = undefined_first_read(each);
        if (!first->is_reported)
            report_shared(warp->block, &warp->block->warps[first->warp], first->pc, first->lanes,
                          first->address, first->peer);
        first->is_reported = true;
        each = each->joined;
    } while (each != read);
}

/* These lanes read an unwritten register, or unwritten memory, at `origin`, and the instruction at `pc` uses
 * the value. */
static void report_unwritten(const Warp *warp, int32_t origin, int pc, uint32_t lanes, TraceUse how) {
    static const char *const uses[] = {[TRACE_USE_STORE] = "is stored",
                                       [TRACE_USE_ADDRESS] = "is part of an address",
                                       [TRACE_USE_ATOMIC] = "is an atomic's operand",
                                       [TRACE_USE_BRANCH] = "decides a branch",
                                       [TRACE_USE_GUARD] = "decides whether an instruction is executed",
                                       [TRACE_USE_BARRIER] = "is part of a barrier's result"};
    Block *block = warp->block;
    int read = origin < 0 ? read_pc(origin) : origin;
    uint8_t *reported = &block->worker->reported[read];
    const PtxCode *at = code_at(warp, pc);
    int line = at->line.line ? at->line.line : at->instruction->line;
    int thread = warp->index * WARP_LANES + __builtin_ctz(lanes);
    char where[48] = "";
    if (*reported >= MAX_REPORTED) return;
    ++*reported;
    if (line) snprintf(where, sizeof where, tr(", in line %d"), line);
    if (origin < 0)
        raise_trap(
            block, TRAP_UNWRITTEN_REGISTER, warp, read, lanes, NULL,
            tr("register %s is read but was never written, and its value %s%s (thread %d of the block)"),
            name_of_read(warp, origin), tr(uses[how]), where, thread);
    else
        raise_trap(
            block, TRAP_UNINITIALIZED, warp, read, lanes, NULL,
            tr("local memory is read but was never written, and its value %s%s (thread %d of the block)"),
            tr(uses[how]), where, thread);
}

void undefined_use_shared(const Access *access, const uint32_t *unwritten, uint32_t lanes) {
    UnwrittenRead *from = undefined_moved(access, unwritten, &lanes);
    if (from) report_read(access->warp, from);
    if (lanes)
        report_shared(access->block, access->warp, access->op->pc, lanes, access->address, access->peer);
}

/* The instruction at `pc` uses the bytes `mask` of the value in `lanes`: reported once per originating
 * instruction. */
static void use_bytes(const Warp *warp, int pc, const UndefinedValue *value, uint32_t lanes, uint32_t mask,
                      TraceUse how) {
    uint32_t left = value ? value->lanes & lanes : 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
        if (!(value->bytes[__builtin_ctz(rest)] & mask)) left &= ~(rest & -rest);
    while (left) {
        int origin = value->origin[__builtin_ctz(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (value->origin[__builtin_ctz(rest)] == origin) same |= rest & -rest;
        const PtxInstruction *from = origin < 0 ? NULL : code_at(warp, origin)->instruction;
        UnwrittenRead *read = from && from->opcode == PTX_ld ? undefined_find_read(warp, origin) : NULL;
        if (from && from->opcode == PTX_wgmma)
            ; /* see report_early_reads() */
        else if (read)
            report_read(warp, read);
        else if (!from || from->opcode == PTX_ld)
            report_unwritten(warp, origin, pc, same, how);
        else if (!lower_index_is_product(from) || how == TRACE_USE_ADDRESS)
            observe_undefined(warp, origin, pc, same, how);
        left &= ~same;
    }
}

static void use(const Warp *warp, int pc, const UndefinedValue *value, uint32_t lanes, TraceUse how) {
    use_bytes(warp, pc, value, lanes, ALL_BYTES, how);
}

/* ---- operands in PTX ---- */

static void join_operand(const Frame *frame, const PtxOperand *operand, UndefinedValue *into) {
    Operand place;
    if (frame_find_register(frame, operand, &place)) join(into, undefined_find_place(frame, place));
    for (int i = 0; i < operand->item_count; i++) join_operand(frame, &operand->items[i], into);
}

/* A value keeps one origin a lane: the loads of unwritten memory that meet in an instruction are kept with
 * their ring. `first`: NULL, or one that has met before. */
static UnwrittenRead *join_reads(const Warp *warp, const PtxOperand *operand, uint32_t active,
                                 UnwrittenRead *first) {
    const Frame *frame = warp->fragments[warp->current].frame;
    const UndefinedValue *value = NULL;
    Operand place;
    if (frame_find_register(frame, operand, &place)) value = undefined_find_place(frame, place);
    for (uint32_t rest = value ? value->lanes & active : 0; rest; rest &= rest - 1) {
        UnwrittenRead *read = undefined_find_read(warp, value->origin[__builtin_ctz(rest)]);
        if (read && first) undefined_join_reads(first, read);
        if (!first) first = read;
    }
    for (int i = 0; i < operand->item_count; i++) first = join_reads(warp, &operand->items[i], active, first);
    return first;
}

static void assign_operand(const Frame *frame, const PtxOperand *operand, const UndefinedValue *from,
                           uint32_t lanes) {
    Operand place;
    if (frame_find_register(frame, operand, &place))
        undefined_assign(undefined_find_place(frame, place), from, lanes);
    for (int i = 0; i < operand->item_count; i++) assign_operand(frame, &operand->items[i], from, lanes);
}

/* The current fragment's lanes are about to read the operand, whose registers are the instruction's `n`-th
 * and following: values that nothing has written come from here. */
static void note_reads(const Frame *frame, const PtxOperand *operand, int count, int pc, int *n,
                       uint32_t lanes) {
    for (int i = 0; i < count; i++) {
        UndefinedValue *value = NULL;
        Operand place;
        if (frame_find_register(frame, &operand[i], &place)) value = undefined_find_place(frame, place);
        for (uint32_t rest = value ? value->lanes & lanes : 0; rest; rest &= rest - 1) {
            int32_t *origin = &value->origin[__builtin_ctz(rest)];
            if (*origin == UNREAD) *origin = read_origin(pc, *n);
        }
        *n += operand[i].reg && *n < READABLE - 1;
        note_reads(frame, operand[i].items, operand[i].item_count, pc, n, lanes);
    }
}

/* The lanes in which a defined operand is 0, or has all its bits set. */
static uint32_t lanes_that_are(const Warp *warp, const PtxOperand *operand, bool all_ones) {
    const Frame *frame = warp->fragments[warp->current].frame;
    Operand place;
    if (operand->kind == PTX_OPERAND_INTEGER) return operand->integer == (all_ones ? -1 : 0) ? ALL_LANES : 0;
    if (!frame_find_register(frame, operand, &place)) return 0;
    int bytes = register_type_bytes(operand->reg->type);
    uint32_t lanes = 0;
    if (!bytes) {
        uint32_t holds = *(const uint32_t *)operand_at(warp, place);
        lanes = (holds ^ (operand->negated ? ALL_LANES : 0)) ^ (all_ones ? 0 : ALL_LANES);
    } else {
        uint64_t wanted = all_ones && bytes <= 8 ? UINT64_MAX >> (64 - 8 * bytes) : 0;
        for (int l = 0; l < WARP_LANES && bytes <= 8; l++)
            if (register_read(warp, place, bytes, l) == wanted) lanes |= lane_bit[l];
    }
    const UndefinedValue *value = undefined_find_place(frame, place);
    return value ? lanes & ~value->lanes : lanes;
}

/* ---- register instructions ---- */

/* The lanes whose result does not depend on the undefined operand. */
static uint32_t settled_lanes(const Warp *warp, const PtxInstruction *in) {
    const PtxOperand *operands = in->operands;
    switch (in->opcode) {
    case PTX_and:
    case PTX_or:
        return lanes_that_are(warp, &operands[1], in->opcode == PTX_or) |
               lanes_that_are(warp, &operands[2], in->opcode == PTX_or);
    case PTX_xor:
    case PTX_sub: /* a register and itself */
        return operands[1].reg && operands[1].reg == operands[2].reg &&
                       operands[1].component == operands[2].component && !ptx_type_is_float(in->types[0])
                   ? ALL_LANES
                   : 0;
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

/* The lanes in which slct takes its first operand: its third is not negative, nor NaN. */
static uint32_t lanes_that_take_first(const Warp *warp, const PtxInstruction *in) {
    const Frame *frame = warp->fragments[warp->current].frame;
    const PtxOperand *operand = &in->operands[3];
    bool flushes = ptx_instruction_has(in, PTX_MOD_FTZ);
    Operand place;
    uint32_t lanes = 0;
    if (operand->kind == PTX_OPERAND_INTEGER) return operand->integer >= 0 ? ALL_LANES : 0;
    if (!frame_find_register(frame, operand, &place)) return operand->number >= 0 ? ALL_LANES : 0;
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t bits = (uint32_t)register_read(warp, place, 4, l);
        float number;
        memcpy(&number, &bits, sizeof number);
        if (flushes && fabsf(number) < FLT_MIN) number = 0;
        if (in->types[1] == PTX_F32 ? number >= 0 : bits >> 31 == 0) lanes |= lane_bit[l];
    }
    return lanes;
}

/* selp and slct select one of their operands. */
static UndefinedValue selected(const Warp *warp, const PtxInstruction *in) {
    const Frame *frame = warp->fragments[warp->current].frame;
    UndefinedValue result = {0}, first = {0}, second = {0};
    uint32_t takes_first = in->opcode == PTX_slct ? lanes_that_take_first(warp, in)
                                                  : lanes_that_are(warp, &in->operands[3], true);
    join_operand(frame, &in->operands[3], &result);
    join_operand(frame, &in->operands[1], &first);
    join_operand(frame, &in->operands[2], &second);
    first.lanes &= takes_first;
    second.lanes &= ~takes_first;
    join(&result, &first);
    join(&result, &second);
    return result;
}

/* mov copies bytes: "mov.b64 {%r1, %r2}, %rd1" and back. */
static void follow_move(const Frame *frame, const PtxInstruction *in, uint32_t active) {
    const PtxOperand *to = &in->operands[0], *from = &in->operands[1];
    int bytes = ptx_type_bytes(in->types[0]);
    UndefinedValue whole = {0};
    for (int i = 0; i < from->item_count; i++) {
        UndefinedValue item = {0};
        join_operand(frame, &from->items[i], &item);
        undefined_keep(&item, 0, bytes_mask(bytes / from->item_count));
        undefined_join(&whole, &item, i * bytes / from->item_count);
    }
    if (!from->item_count) join_operand(frame, from, &whole);
    if (!to->item_count) assign_operand(frame, to, &whole, active);
    for (int i = 0; i < to->item_count; i++) {
        UndefinedValue item = whole;
        undefined_keep(&item, i * bytes / to->item_count, bytes_mask(bytes / to->item_count));
        assign_operand(frame, &to->items[i], &item, active);
    }
}

/* The undefined bytes of the result, given those of the operands in `value`. */
static void find_bytes(const PtxInstruction *in, UndefinedValue *value) {
    const PtxOperand *last = &in->operands[in->operand_count - 1];
    bool is_constant = last->kind == PTX_OPERAND_INTEGER;
    if (in->opcode == PTX_cvt && in->type_count == 2 && !ptx_type_is_float(in->types[0]) &&
        !ptx_type_is_float(in->types[1])) {
        int from = ptx_type_bytes(in->types[1]), to = ptx_type_bytes(in->types[0]);
        undefined_keep(value, 0, bytes_mask(from < to ? from : to));
        if (to > from && ptx_type_is_signed(in->types[1])) undefined_spread(value);
    } else if (in->opcode == PTX_shr && is_constant && last->integer % 8 == 0 && last->integer >= 0) {
        undefined_keep(value, last->integer < 128 ? (int)last->integer / 8 : 16, ALL_BYTES);
    } else if (in->opcode == PTX_and && is_constant) {
        uint32_t mask = 0;
        for (int byte = 0; byte < 8; byte++)
            if ((uint64_t)last->integer >> 8 * byte & 0xff) mask |= UINT32_C(1) << byte;
        undefined_keep(value, 0, mask);
    } else {
        undefined_spread(value);
    }
}

static void follow_lanes(Warp *warp, const Op *op, const UndefinedValue *guard, uint32_t active) {
    const PtxInstruction *in = op->instruction;
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0}, carry = {0};
    if (!in->operand_count) return;
    if ((in->opcode == PTX_selp || in->opcode == PTX_slct) && in->operand_count == 4) {
        result = selected(warp, in);
    } else {
        UnwrittenRead *read = NULL;
        for (int i = 1; i < in->operand_count; i++) {
            join_operand(frame, &in->operands[i], &result);
            if (warp->unwritten_reads) read = join_reads(warp, &in->operands[i], active, read);
        }
        bool has_carry = frame->layout->carry_offset != UINT32_MAX;
        UndefinedValue *flag =
            has_carry ? undefined_find_place(frame, (Operand){frame->layout->carry_offset, false}) : NULL;
        if (in->opcode == PTX_addc || in->opcode == PTX_subc || in->opcode == PTX_madc) join(&result, flag);
        if (in->opcode != PTX_mov) drop_matrix_products(warp, &result);
        if (result.lanes) {
            result.lanes &= ~settled_lanes(warp, in);
            if (!lower_index_is_carried_by(in->opcode)) drop_products(warp, &result);
            if (joins_bits(in->opcode)) drop_registers(&result);
            find_bytes(in, &result);
        }
        carry = result;
        if (ptx_instruction_has(in, PTX_MOD_CC)) undefined_assign(flag, &carry, active);
    }
    if (in->opcode == PTX_mov)
        follow_move(frame, in, active);
    else
        assign_operand(frame, &in->operands[0], &result, active);
    if (guard && guard->lanes) { /* whether it was executed */
        UndefinedValue before = {0}, by_guard = *guard;
        join_operand(frame, &in->operands[0], &before);
        join(&before, &by_guard);
        assign_operand(frame, &in->operands[0], &before, by_guard.lanes);
    }
}

/* Reports an instruction that reads the result of wgmma.mma_async before a wait. A mov is none: compilers
 * write it between two products, and no machine code is made of it. */
static void report_early_reads(const Warp *warp, const Op *op, uint32_t active) {
    const PtxInstruction *in = op->instruction;
    const Frame *frame = warp->fragments[warp->current].frame;
    if (in->opcode == PTX_mov || in->opcode == PTX_wgmma || !in->operand_count) return;
    UndefinedValue read = {0};
    for (int i = in->operands[0].kind == PTX_OPERAND_MEMORY ? 0 : 1; i < in->operand_count; i++)
        join_operand(frame, &in->operands[i], &read);
    for (uint32_t left = read.lanes & active; left;) {
        int32_t origin = read.origin[__builtin_ctz(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (read.origin[__builtin_ctz(rest)] == origin) same |= rest & -rest;
        if (is_of_product(warp, origin)) observe_undefined(warp, origin, op->pc, same, TRACE_USE_OPERAND);
        left &= ~same;
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
    const PtxInstruction *in = op->instruction;
    int n = 0;
    note_reads(frame, &in->guard, 1, op->pc, &n, active);
    if (op->guarded) {
        const UndefinedValue *value = undefined_find_place(frame, op->guard);
        if (value) guard = *value;
        guard.lanes &= fragment->mask;
        active = guard_lanes(op, warp, fragment->mask);
    }
    note_reads(frame, in->operands, in->operand_count, op->pc, &n, active);
    report_early_reads(warp, op, active);
    if (op->op_class == OP_LANES || op->op_class == OP_NO_EFFECT) {
        follow_lanes(warp, op, &guard, active);
        return;
    }
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
    } else if (in->opcode == PTX_alloca || in->opcode == PTX_stacksave) {
        assign_operand(frame, &in->operands[0], &(UndefinedValue){0}, active);
    }
}

void undefined_end_products(Warp *warp) {
    UndefinedValue *values = undefined_values_of(warp_fragment(warp)->frame);
    size_t count = warp_fragment(warp)->frame->layout->register_bytes / REGISTER_SLOT_ALIGNMENT;
    for (size_t i = 0; i < count; i++)
        for (uint32_t rest = values[i].lanes; rest; rest &= rest - 1) {
            int32_t origin = values[i].origin[__builtin_ctz(rest)];
            if (is_of_product(warp, origin) && !copies_has_matrix(warp->block, warp, origin))
                values[i].lanes &= ~(rest & -rest);
        }
}

/* ---- memory ---- */

static bool is_private(const Access *access) {
    return access->space == PTX_SPACE_LOCAL || access->space == PTX_SPACE_PARAM;
}

/* The kept state of the lane's 4 bytes at byte `at` of the access; NULL: not kept. */
static UndefinedValue *kept_at(const Access *access, int lane, int at, bool make) {
    uint64_t address = access->address[lane] + (uint64_t)at;
    if (access->space == PTX_SPACE_LOCAL) return undefined_find_local(access->warp, address, make);
    if (address < FRAME_PARAMETERS) return NULL; /* the kernel's */
    return undefined_find_parameter(warp_fragment(access->warp)->frame, address - FRAME_PARAMETERS);
}

static void store_private(const Access *access, const UndefinedValue *value, int at, int bytes) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t undefined = value && value->lanes & lane_bit[lane] ? value->bytes[lane] : 0;
        for (int part = 0; part < bytes; part += 4) {
            uint32_t mask = bytes_mask(bytes - part < 4 ? bytes - part : 4), these = undefined >> part & mask;
            UndefinedValue *kept = kept_at(access, lane, at + part, these);
            int within = (int)((access->address[lane] + (uint64_t)(at + part)) % 4);
            if (!kept) continue;
            if (kept->lanes & lane_bit[lane]) kept->bytes[lane] &= (uint16_t) ~(mask << within);
            if (!kept->bytes[lane]) kept->lanes &= ~lane_bit[lane];
            if (these) undefined_add(kept, lane, these << within, value->origin[lane]);
        }
    }
}

static void load_private(const Access *access, UndefinedValue *value, int at, int bytes) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int part = 0; part < bytes; part += 4) {
            const UndefinedValue *kept = kept_at(access, lane, at + part, false);
            int within = (int)((access->address[lane] + (uint64_t)(at + part)) % 4);
            uint32_t mask = bytes_mask(bytes - part < 4 ? bytes - part : 4);
            if (!kept || !(kept->lanes & lane_bit[lane])) continue;
            undefined_add(value, lane, ((uint32_t)kept->bytes[lane] >> within & mask) << part,
                          kept->origin[lane]);
        }
    }
}

void undefined_load(const Access *access, const uint32_t *unwritten) {
    const MemoryOp *memory = access->memory;
    uint32_t lanes = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        if (unwritten[__builtin_ctz(rest)]) lanes |= rest & -rest;
    if (access->space == PTX_SPACE_SHARED) undefined_keep_read(access, unwritten, lanes);
    UndefinedValue *values = undefined_values_of(warp_fragment(access->warp)->frame);
    access->warp->follows = access->block->follows = true;
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        UndefinedValue *place = &values[value->place.offset / REGISTER_SLOT_ALIGNMENT];
        if (!value->present) continue;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest), bytes = memory->element_bytes;
            uint32_t these = unwritten[lane] >> e * bytes & bytes_mask(bytes);
            if (these && memory->is_signed) these = ALL_BYTES;
            undefined_add(place, lane, these, access->op->pc);
        }
    }
}

/* The bytes of this element that unwritten shared memory gave, and that it stores there, remain unwritten.
 * Returns the lanes whose value has another origin. */
static uint32_t move_in_shared(const Access *access, const UndefinedValue *value, int at, int bytes) {
    Block *block = access->block;
    uint32_t others = access->mask;
    for (uint32_t rest = value ? value->lanes & access->mask : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), origin = value->origin[lane];
        uint64_t begin = access->address[lane] + (uint64_t)at;
        UnwrittenRead *read = origin < 0 ? NULL : undefined_find_read(access->warp, origin);
        if (!read) continue;
        others &= ~lane_bit[lane];
        for (int i = 0; i < bytes; i++) {
            if (!(value->bytes[lane] >> i & 1)) continue;
            bits_clear(block->shared_written, begin + (uint64_t)i, 1);
            undefined_move_read(block, begin + (uint64_t)i, read);
            block->shared_is_written = false;
        }
    }
    return others;
}

void undefined_access(const Access *access) {
    const MemoryOp *memory = access->memory;
    Frame *frame = warp_fragment(access->warp)->frame;
    int pc = access->op->pc;
    use(access->warp, pc, undefined_find_place(frame, memory->base), access->mask, TRACE_USE_ADDRESS);
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        int at = e * memory->element_bytes;
        if (!value->present) continue; /* mbarrier.init has no place of a value, either */
        if (memory->is_load) {
            UndefinedValue loaded = {0};
            if (is_private(access)) load_private(access, &loaded, at, memory->element_bytes);
            if (loaded.lanes) undefined_values_of(frame);
            undefined_assign(undefined_find_place(frame, value->place), &loaded, access->mask);
        } else if (is_private(access)) {
            store_private(access, undefined_find_place(frame, value->place), at, memory->element_bytes);
        } else {
            const UndefinedValue *stored = undefined_find_place(frame, value->place);
            bool stays = access->space == PTX_SPACE_SHARED && access->peer < 0 && memory->is_store &&
                         !memory->is_deferred;
            uint32_t lanes = stays ? move_in_shared(access, stored, at, memory->element_bytes) : access->mask;
            use_bytes(access->warp, pc, stored, lanes, bytes_mask(memory->element_bytes),
                      memory->is_atomic ? TRACE_USE_ATOMIC : TRACE_USE_STORE);
        }
        if (memory->is_atomic && memory->results[e].present)
            undefined_assign(undefined_find_place(frame, memory->results[e].place), &(UndefinedValue){0},
                             access->mask);
    }
    if (memory->is_atomic && memory->third.present)
        use(access->warp, pc, undefined_find_place(frame, memory->third.place), access->mask,
            TRACE_USE_ATOMIC);
}

/* ---- between lanes, and between functions ---- */

const UndefinedValue *undefined_find(const Frame *frame, Operand place) {
    return undefined_find_place(frame, place);
}

void undefined_shuffle(Warp *warp, const UndefinedValue *from, Operand to, bool has_to, uint32_t lanes,
                       const int32_t *source) {
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0};
    for (uint32_t rest = from && from->lanes ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (source[lane] < 0 || !(from->lanes & lane_bit[source[lane]])) continue;
        undefined_add(&result, lane, from->bytes[source[lane]], from->origin[source[lane]]);
    }
    if (has_to) undefined_assign(undefined_find_place(frame, to), &result, lanes);
}

void undefined_gather(Warp *warp, const UndefinedValue *from, const Operand *to, int to_count, uint32_t lanes,
                      const uint32_t *of) {
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0};
    for (uint32_t rest = from && from->lanes ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t among = of[lane] & from->lanes;
        if (!among) continue;
        undefined_add(&result, lane, ALL_BYTES, from->origin[__builtin_ctz(among)]);
    }
    for (int i = 0; i < to_count; i++) undefined_assign(undefined_find_place(frame, to[i]), &result, lanes);
}

void undefined_gather_all(Warp *warp, const Operand *from, int from_count, const Operand *to, int to_count) {
    const Frame *frame = warp_fragment(warp)->frame;
    UndefinedValue result = {0};
    for (int i = 0; i < from_count && !result.lanes; i++) {
        const UndefinedValue *value = undefined_find_place(frame, from[i]);
        if (!value || !value->lanes) continue;
        for (int lane = 0; lane < WARP_LANES; lane++)
            undefined_add(&result, lane, ALL_BYTES, value->origin[__builtin_ctz(value->lanes)]);
    }
    for (int i = 0; i < to_count; i++)
        undefined_assign(undefined_find_place(frame, to[i]), &result, ALL_LANES);
}

/* The kept state of byte `at` of a passed value, and the index of that byte; NULL: not kept. */
static UndefinedValue *passed(const Frame *frame, const CallValue *value, uint32_t at, int *within) {
    uint32_t part = value->in_memory ? 4 : value->part_bytes ? value->part_bytes : 1;
    *within = (int)((value->in_memory ? value->offset + at : at) % part);
    return value->in_memory ? undefined_find_parameter(frame, value->offset + at)
                            : undefined_find_place(frame, call_value_part(value, at - (uint32_t)*within));
}

static void pass_byte(UndefinedValue *to, int to_within, const UndefinedValue *from, int from_within,
                      uint32_t mask) {
    uint16_t bit = (uint16_t)(1u << to_within);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (to->lanes & lane_bit[lane]) to->bytes[lane] &= (uint16_t)~bit;
        if (!to->bytes[lane]) to->lanes &= ~lane_bit[lane];
        if (!from || !(from->lanes & lane_bit[lane]) || !(from->bytes[lane] >> from_within & 1)) continue;
        undefined_add(to, lane, bit, from->origin[lane]);
        to->origin[lane] = from->origin[lane]; /* not that of a byte still to be replaced */
    }
}

void undefined_pass(const Frame *from, const CallValue *source, Frame *to, const CallValue *destination,
                    uint32_t mask) {
    uint32_t bytes = source->bytes < destination->bytes ? source->bytes : destination->bytes;
    if (!source->present || !destination->present) return;
    for (uint32_t at = 0; at < bytes; at++) {
        int from_within, to_within;
        const UndefinedValue *piece = passed(from, source, at, &from_within);
        if (piece && piece->lanes & mask) undefined_values_of(to);
        UndefinedValue *place = passed(to, destination, at, &to_within);
        if (place) pass_byte(place, to_within, piece, from_within, mask);
    }
}
