/* Recording: turns the actions of a block's warps into the entries of a tape (tape.h). This file runs no
 * instruction: the block does, and kept values are read from its registers. */
#include "emulator/tape/tape.h"

#include "emulator/instructions/warp_op.h"
#include "emulator/lanes/affine.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 4096, MOST_KEPT_BYTES = 1 << 22 };

static void abandon(Tape *tape) {
    tape->is_abandoned = true;
}

/* ---- slots ------------------------------------------------------------------------------------------ */

static TapeSlot *slot_at(Tape *tape, const Warp *warp, Operand operand) {
    return &tape->slots[warp->index * tape->slot_count + (int)(operand.offset / TAPE_SLOT)];
}

static uint32_t slot_bytes(Tape *tape, Operand operand) {
    uint32_t bytes = operand.offset % TAPE_SLOT ? 0 : tape->slot_bytes[operand.offset / TAPE_SLOT];
    if (!bytes) abandon(tape);
    return bytes;
}

static bool varies(Tape *tape, const Warp *warp, Operand operand, uint32_t mask) {
    return !operand.constant && slot_at(tape, warp, operand)->varying & mask;
}

static int add_value(Tape *tape, uint32_t bytes) {
    TapeValue *value = arena_new(&tape->arena, sizeof *value);
    value->bytes = bytes;
    value->special = -1;
    value->home = tape->value_count;
    value->last = -1;
    array_push(tape->values, tape->value_count, tape->value_capacity, value);
    return tape->value_count - 1;
}

/* Keeps the register's current value, which is the same in every block. */
static int keep(Tape *tape, const Warp *warp, Operand operand) {
    TapeSlot *slot = slot_at(tape, warp, operand);
    uint32_t bytes = slot_bytes(tape, operand), bit = UINT32_C(1) << warp->index;
    if (slot->kept != NO_VALUE || !bytes) return slot->kept;
    int *latest = &tape->latest_kept[operand.offset / TAPE_SLOT];
    if (*latest == NO_VALUE || tape->values[*latest]->has & bit) {
        *latest = add_value(tape, bytes);
        tape->values[*latest]->is_kept = true;
        tape->values[*latest]->data =
            arena_new(&tape->arena, (size_t)bytes * (size_t)tape->grid->warps_per_block);
        tape->kept_bytes += bytes;
    }
    TapeValue *value = tape->values[*latest];
    value->has |= bit;
    memcpy(value->data + (uint32_t)warp->index * bytes, operand_at(warp, operand), bytes);
    return slot->kept = *latest;
}

/* The lanes of the mask receive a value that is the same in every block. */
static void make_same(Tape *tape, const Warp *warp, Operand operand, uint32_t mask) {
    if (!slot_bytes(tape, operand)) return;
    TapeSlot *slot = slot_at(tape, warp, operand);
    slot->varying &= ~mask;
    slot->kept = NO_VALUE;
}

/* ---- entries ---------------------------------------------------------------------------------------- */

/* An entry under construction, with the instruction's operands. */
typedef struct Draft {
    TapeEntry entry;
    Op op;
    MemoryOp memory;
    TapeDetail detail;
} Draft;

static void begin_draft(Draft *draft, TapeKind kind, const Op *source) {
    draft->entry = (TapeEntry){.kind = kind, .source = source};
    draft->op = source ? *source : (Op){0};
    draft->detail = (TapeDetail){.is_line = false};
}

static void add_reference(Draft *draft, Operand *operand, int value, bool is_result, int before) {
    draft->entry.references[draft->entry.reference_count++] =
        (TapeReference){operand, value, is_result, before};
}

static void add_result(Tape *tape, Draft *draft, const Warp *warp, Operand *operand, uint32_t mask) {
    const TapeSlot *slot = slot_at(tape, warp, *operand);
    add_reference(draft, operand, NO_VALUE, true, slot->varying & ~mask ? slot->value : NO_VALUE);
}

/* True if other warps have just executed the same entry, with the same values. */
static bool joins(const TapeEntry *last, const TapeEntry *entry, int warp) {
    if (last->source != entry->source || last->kind != entry->kind || last->warps[last->count - 1] >= warp ||
        last->region != entry->region || entry->kind == TAPE_SYNC)
        return false;
    for (int r = 0; r < entry->reference_count; r++) {
        const TapeReference *a = &last->references[r], *b = &entry->references[r];
        if (a->before != b->before || (!a->is_result && a->value != b->value)) return false;
    }
    return true;
}

/* Adds a draft and its operands as an entry. */
static TapeEntry *add_entry(Tape *tape, const Draft *from) {
    Draft *draft = arena_copy(&tape->arena, from, sizeof *draft);
    TapeEntry *entry = &draft->entry;
    const char *begin = (const char *)from;
    entry->tape = tape;
    entry->op = &draft->op;
    entry->memory = &draft->memory;
    entry->details = arena_new(&tape->arena, (size_t)tape->grid->warps_per_block * sizeof *entry->details);
    for (int r = 0; r < entry->reference_count; r++) {
        TapeReference *reference = &entry->references[r];
        const char *operand = (const char *)reference->operand;
        if (operand >= begin && operand < begin + sizeof *from)
            reference->operand = (Operand *)(void *)((char *)draft + (operand - begin));
        if (reference->is_result) reference->value = add_value(tape, slot_bytes(tape, *reference->operand));
    }
    array_push(tape->entries, tape->entry_count, tape->entry_capacity, entry);
    return entry;
}

static void set_value(TapeSlot *slot, int value, uint32_t mask) {
    slot->value = value;
    slot->varying |= mask;
}

static void add(Tape *tape, const Draft *draft, const Warp *warp, uint32_t mask) {
    TapeEntry *last = tape->entry_count ? tape->entries[tape->entry_count - 1] : NULL;
    if (tape->entry_count >= MOST_ENTRIES || tape->kept_bytes > MOST_KEPT_BYTES) abandon(tape);
    if (tape->is_abandoned) return;
    if (!last || !joins(last, &draft->entry, warp->index)) last = add_entry(tape, draft);
    last->warps[last->count] = (uint8_t)warp->index;
    last->masks[last->count] = mask;
    last->details[last->count++] = draft->detail;
    for (int r = 0; r < draft->entry.reference_count; r++) {
        const TapeReference *reference = &draft->entry.references[r];
        if (reference->is_result)
            set_value(slot_at(tape, warp, *reference->operand), last->references[r].value, mask);
    }
}

/* Some lanes of the mask vary: from now on the others count as varying too. */
static void merge(Tape *tape, const Warp *warp, Operand operand, uint32_t mask) {
    uint32_t same = mask & ~slot_at(tape, warp, operand)->varying;
    Draft merged;
    begin_draft(&merged, TAPE_MERGE, NULL);
    merged.op.s[0] = merged.op.d = operand;
    add_reference(&merged, &merged.op.s[0], keep(tape, warp, operand), false, NO_VALUE);
    add_result(tape, &merged, warp, &merged.op.d, same);
    add(tape, &merged, warp, same);
}

static void add_source(Tape *tape, Draft *draft, const Warp *warp, Operand *operand, uint32_t mask) {
    if (operand->constant) return;
    const TapeSlot *slot = slot_at(tape, warp, *operand);
    if (slot->varying & mask && mask & ~slot->varying) merge(tape, warp, *operand, mask);
    int value = slot->varying & mask ? slot->value : keep(tape, warp, *operand);
    add_reference(draft, operand, value, false, NO_VALUE);
}

/* ---- lane arithmetic -------------------------------------------------------------------------------- */

static void note_guard(Tape *tape, const Warp *warp, const Op *op, uint32_t among) {
    if (tape->is_abandoned || !varies(tape, warp, op->guard, among)) return;
    Draft check;
    begin_draft(&check, TAPE_GUARD, op);
    check.op.s[0] = op->guard;
    check.detail.expected = *(const uint32_t *)operand_at(warp, op->guard) & among;
    add_source(tape, &check, warp, &check.op.s[0], among);
    add(tape, &check, warp, among);
}

/* A guard only removes lanes: without it, the check covers more than needed. */
static void note_product(Tape *tape, const Warp *warp, const Op *op, uint32_t mask) {
    bool result_varies = false;
    if (tape->is_abandoned || !tape->is_observed) return;
    for (int s = 0; s < op->source_count; s++) result_varies |= varies(tape, warp, op->s[s], mask);
    if (!result_varies) return;
    Draft check;
    begin_draft(&check, TAPE_PRODUCT, op);
    for (int s = 0; s < op->source_count; s++) add_source(tape, &check, warp, &check.op.s[s], mask);
    add(tape, &check, warp, mask);
}

static void note_lanes(Tape *tape, const Warp *warp, const Op *op, uint32_t mask) {
    bool result_varies = false;
    if (!op->lists_registers || op->prelude) abandon(tape);
    if (tape->is_abandoned) return;
    for (int s = 0; s < op->read_count; s++) result_varies |= varies(tape, warp, op->s[s], mask);
    if (!result_varies) {
        if (op->has_d) make_same(tape, warp, op->d, mask);
        if (op->has_p) make_same(tape, warp, op->p, mask);
        return;
    }
    if (op->extra) {
        abandon(tape);
        return;
    }
    Draft lanes;
    begin_draft(&lanes, TAPE_LANES, op);
    for (int s = 0; s < op->read_count; s++) add_source(tape, &lanes, warp, &lanes.op.s[s], mask);
    if (op->has_d) add_result(tape, &lanes, warp, &lanes.op.d, mask);
    if (op->has_p) add_result(tape, &lanes, warp, &lanes.op.p, mask);
    add(tape, &lanes, warp, mask);
}

/* ---- exchanges -------------------------------------------------------------------------------------- */

static void note_exchange(Tape *tape, const Warp *warp, const Op *op, uint32_t mask) {
    WarpRegisters registers;
    Op *copy = warp_op_copy(&tape->arena, op, &registers);
    bool result_varies = registers.a && varies(tape, warp, *registers.a, mask);
    for (int i = 0; i < registers.fixed_count; i++)
        if (varies(tape, warp, *registers.fixed[i], mask)) abandon(tape);
    if (!warp_op_is_whole(op, (Warp *)(uintptr_t)warp, mask)) abandon(tape);
    if (tape->is_abandoned) return;
    bool p_varies = result_varies && !registers.is_shuffle;
    if (registers.p && !p_varies) make_same(tape, warp, *registers.p, mask);
    if (registers.d && !result_varies) make_same(tape, warp, *registers.d, mask);
    if (!(registers.d && result_varies) && !(registers.p && p_varies)) return;
    Draft exchange;
    begin_draft(&exchange, registers.is_shuffle ? TAPE_SHUFFLE : TAPE_EXCHANGE, copy);
    exchange.entry.source = op;
    if (registers.is_shuffle) {
        uint8_t *from = arena_new(&tape->arena, WARP_LANES);
        warp_op_sources(op, warp, mask, from);
        exchange.detail.from = from;
        exchange.op.d = *registers.d, exchange.op.s[0] = *registers.a;
        registers.d = &exchange.op.d, registers.a = &exchange.op.s[0];
    }
    if (registers.a) add_source(tape, &exchange, warp, registers.a, mask);
    for (int i = 0; i < registers.fixed_count && !registers.is_shuffle; i++)
        add_source(tape, &exchange, warp, registers.fixed[i], mask);
    if (registers.d) add_result(tape, &exchange, warp, registers.d, mask);
    if (registers.p && p_varies) add_result(tape, &exchange, warp, registers.p, mask);
    add(tape, &exchange, warp, mask);
}

/* ---- accesses --------------------------------------------------------------------------------------- */

static void read_addresses(const Warp *warp, const MemoryOp *memory, uint64_t *address) {
    const void *base = operand_at(warp, memory->base);
    for (int l = 0; l < WARP_LANES; l++)
        address[l] = memory->base_bytes == 4
                         ? (uint32_t)(((const uint32_t *)base)[l] + (uint32_t)memory->offset)
                         : ((const uint64_t *)base)[l] + (uint64_t)memory->offset;
}

static bool is_in_shared(const Tape *tape, const MemoryOp *memory, const uint64_t *address, uint32_t mask) {
    uint64_t size = tape->grid->program->shared_bytes, width = memory->width;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t at = address[__builtin_ctz(rest)];
        if (at % width || at > size || width > size - at) return false;
    }
    return true;
}

/* True if the lanes are adjacent, so that those between the active lanes may be moved too. */
static bool is_movable(const Tape *tape, const MemoryOp *memory, const TapeDetail *detail) {
    uint64_t needs = (uint64_t)memory->width * WARP_LANES, size = tape->grid->program->shared_bytes;
    return detail->is_line && memory->is_plain && detail->stride == memory->width && detail->first < size &&
           size - detail->first >= needs;
}

static bool place_shared(Tape *tape, Draft *access, const uint64_t *address, uint32_t mask) {
    const MemoryOp *memory = &access->memory;
    TapeDetail *detail = &access->detail;
    if (!is_in_shared(tape, memory, address, mask)) return false;
    detail->is_line = affine_find_64(address, mask, &detail->stride);
    if (detail->is_line && !(mask & (mask - 1)))
        detail->stride = memory->width; /* of a single lane: any stride works */
    int lowest = __builtin_ctz(mask);
    detail->first = address[lowest] - (uint64_t)lowest * (uint64_t)detail->stride;
    detail->is_movable = is_movable(tape, memory, detail);
    if (!detail->is_line) detail->offset = arena_copy(&tape->arena, address, WARP_LANES * sizeof *address);
    return true;
}

static bool place_global(Tape *tape, Draft *access, const uint64_t *address, uint32_t mask) {
    TapeDetail *detail = &access->detail;
    int lowest = __builtin_ctz(mask);
    if (!affine_find_64(address, mask, &detail->stride)) return false;
    detail->is_line = true;
    detail->first = address[lowest] - (uint64_t)lowest * (uint64_t)detail->stride;
    detail->sectors = arena_new(&tape->arena, SECTOR_BYTES);
    access->entry.region = memory_find(tape->grid->memory, address[lowest]);
    return access->entry.region >= 0 &&
           (access->memory.is_load || !tape->grid->memory->regions[access->entry.region].read_only);
}

static void note_transfer(Tape *tape, const Warp *warp, const Op *op, uint32_t mask) {
    const MemoryOp *source = op->extra;
    bool shared = source->space == PTX_SPACE_SHARED || source->space == PTX_SPACE_SHARED_CLUSTER;
    bool global = source->space == PTX_SPACE_GLOBAL || source->space == PTX_SPACE_CONST ||
                  source->space == PTX_SPACE_GENERIC;
    if (source->is_deferred || (!shared && !global) || (shared && varies(tape, warp, source->base, mask))) {
        abandon(tape);
        return;
    }
    uint64_t address[WARP_LANES];
    Draft access;
    begin_draft(&access, shared ? TAPE_SHARED : TAPE_GLOBAL, op);
    access.memory = *source;
    MemoryOp *memory = &access.memory;
    read_addresses(warp, memory, address);
    if (!(shared ? place_shared : place_global)(tape, &access, address, mask)) {
        abandon(tape);
        return;
    }
    if (global) add_source(tape, &access, warp, &memory->base, mask);
    for (int e = 0; e < memory->count; e++) {
        if (!memory->values[e].present) continue;
        if (memory->is_store)
            add_source(tape, &access, warp, &memory->values[e].place, mask);
        else
            add_result(tape, &access, warp, &memory->values[e].place, mask);
    }
    add(tape, &access, warp, mask);
}

static void note_ordered(Tape *tape, const Warp *warp, const Op *op, uint32_t mask) {
    const CoreOp *core = op->extra;
    if (op->prelude) abandon(tape);
    if (tape->is_abandoned) return;
    switch (core->form) {
    case CORE_NO_VALUE:
        break;
    case CORE_TRANSFER:
        note_transfer(tape, warp, op, mask);
        break;
    case CORE_EXCHANGE:
        note_exchange(tape, warp, op, mask);
        break;
    case CORE_OTHER:
        abandon(tape);
        break;
    }
}

static void note_sync(Tape *tape, const TraceSync *sync) {
    bool is_of_block = sync->kind == TRACE_SYNC_ARRIVE || sync->kind == TRACE_SYNC_RELEASE ||
                       sync->kind == TRACE_SYNC_WARP || sync->kind == TRACE_SYNC_PASSED_BY;
    if (!is_of_block) abandon(tape);
    if (tape->is_abandoned) return;
    TraceSync *kept = arena_copy(&tape->arena, sync, sizeof *sync);
    if (sync->released)
        kept->released =
            arena_copy(&tape->arena, sync->released, (size_t)sync->released_count * sizeof *sync->released);
    Draft seen;
    begin_draft(&seen, TAPE_SYNC, NULL);
    seen.entry.sync = kept;
    add(tape, &seen, &tape->recorded->warps[0], ALL_LANES);
}

/* ---- begin and end ---------------------------------------------------------------------------------- */

/* Finds registers of one component, and special registers. Values that differ between blocks vary from the
 * start. */
static void find_slots(Tape *tape) {
    const FunctionLayout *layout = &tape->grid->program->functions[0];
    for (int r = 0; r < layout->function->register_count; r++) {
        const PtxRegister *reg = layout->function->registers[r];
        if (layout->register_offset[r] != UINT32_MAX && reg->vector <= 1)
            tape->slot_bytes[layout->register_offset[r] / TAPE_SLOT] =
                register_lane_bytes(reg) ? register_slot_bytes(reg) : PREDICATE_BYTES;
    }
    for (int i = 0; i < layout->slot_count; i++) {
        const FrameSlot *slot = &layout->slots[i];
        tape->slot_bytes[slot->offset / TAPE_SLOT] = slot->bytes * (uint32_t)WARP_LANES;
        if (slot->special < 0 || special_lifetime(slot->special) != SPECIAL_OF_BLOCK) continue;
        int value = add_value(tape, slot->bytes * (uint32_t)WARP_LANES);
        tape->values[value]->special = slot->special;
        for (int w = 0; w < tape->grid->warps_per_block; w++)
            tape->slots[w * tape->slot_count + (int)(slot->offset / TAPE_SLOT)] =
                (TapeSlot){value, ALL_LANES, NO_VALUE};
    }
}

static Tape *begin(const Block *block) {
    const Grid *grid = block->grid;
    const Worker *worker = block->worker;
    Tape *tape = memory_new(sizeof *tape);
    size_t ops = (size_t)grid->program->op_count + 1;
    tape->grid = grid;
    tape->recorded = block;
    tape->is_observed = block->observed != NULL;
    tape->irregular = worker->irregular;
    tape->runs = memory_new(ops * sizeof *tape->runs);
    tape->counters = memory_new(ops * sizeof *tape->counters);
    memcpy(tape->runs, worker->runs, ops * sizeof *tape->runs);
    memcpy(tape->counters, worker->counters, ops * sizeof *tape->counters);
    tape->slot_count = (int)(grid->program->functions[0].register_bytes / TAPE_SLOT) + 1;
    size_t slots = (size_t)tape->slot_count;
    tape->slot_bytes = arena_new(&tape->arena, slots * sizeof *tape->slot_bytes);
    tape->latest_kept = arena_new(&tape->arena, slots * sizeof *tape->latest_kept);
    tape->slots = arena_new(&tape->arena, slots * (size_t)grid->warps_per_block * sizeof *tape->slots);
    for (size_t s = 0; s < slots; s++) tape->latest_kept[s] = NO_VALUE;
    for (size_t s = 0; s < slots * (size_t)grid->warps_per_block; s++)
        tape->slots[s] = (TapeSlot){NO_VALUE, 0, NO_VALUE};
    find_slots(tape);
    return tape;
}

/* Reduces the counters to the cost of this block. */
static void subtract_counters(Tape *tape, const Worker *worker) {
    for (int pc = 0; pc <= tape->grid->program->op_count; pc++) {
        tape->runs[pc].executions = worker->runs[pc].executions - tape->runs[pc].executions;
        tape->runs[pc].lanes = worker->runs[pc].lanes - tape->runs[pc].lanes;
        TraceCounter before = tape->counters[pc];
        tape->counters[pc] = worker->counters[pc];
        counter_add(&tape->counters[pc], &before, UINT64_MAX);
    }
}

static Tape *end(Tape *tape) {
    const Block *block = tape->recorded;
    const Worker *worker = block->worker;
    bool is_complete = !block->live_warps && !worker->stopped && worker->irregular == tape->irregular;
    if (tape->is_observed && block->follows) is_complete = false; /* undefined values may depend on data */
    if (is_complete && !tape->is_abandoned) {
        subtract_counters(tape, worker);
        tape->executed = block->executed;
        tape->now = block->now;
        tape->recorded = NULL;
        if (tape_order(tape) && tape_place(tape)) return tape;
    }
    tape_free(tape);
    return NULL;
}

static uint64_t executed(const Tape *tape) {
    return tape->executed;
}

static uint64_t now(const Tape *tape) {
    return tape->now;
}

static void finish(Tape *tape, Worker *worker) {
    for (int pc = 0; pc <= tape->grid->program->op_count; pc++) {
        worker->runs[pc].executions += tape->runs[pc].executions * (int64_t)tape->plays;
        worker->runs[pc].lanes += tape->runs[pc].lanes * (int64_t)tape->plays;
        counter_add(&worker->counters[pc], &tape->counters[pc], tape->plays);
    }
    tape_free(tape);
}

const TapeDoor tape_door = {
    .begin = begin,
    .guard = note_guard,
    .product = note_product,
    .lanes = note_lanes,
    .ordered = note_ordered,
    .sync = note_sync,
    .end = end,
    .executed = executed,
    .now = now,
    .play = tape_play_block,
    .free = finish,
};
