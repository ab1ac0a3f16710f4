/* cp.async.bulk and cp.reduce.async.bulk: one lane copies a range, or reduces it into another, without
 * registers ("Data Movement and Conversion Instructions: Bulk copy"). tensor_copy.c has those of tensors.
 *
 * With .cp_mask it copies some bytes of every 16: each run of them is a copy of its own, so that the bytes
 * between are neither read nor written.
 *
 * The range is read when the copy is issued and written when it arrives (machine/machine_copies.h). Each side
 * is an event of the lane. Sectors and wavefronts belong to the load/store units and do not count what the
 * copy engine moves. */
#include "emulator/instructions/access_execute.h"

#include "base/language.h"
#include "emulator/instructions/copy_async.h"

#include "emulator/machine/mbarrier.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"

#include <inttypes.h>

enum { BULK_UNIT = 16, WHOLE_UNIT = 0xffff }; /* sizes and addresses are multiples of it; every byte of it */

typedef struct BulkOp {
    CoreOp core;
    MemoryOp to, from, mbarrier; /* addresses */
    bool has_mbarrier, has_byte_mask;
    Operand size, byte_mask;   /* .cp_mask: bit i of the mask: byte i of every 16 bytes is copied */
    PtxModifierKind operation; /* PTX_MODIFIER_NONE: a copy */
    PtxType type;
} BulkOp;

typedef struct Range { /* one side of the copy of one lane */
    PtxSpace space;    /* SHARED, GLOBAL */
    uint64_t address;
    uint32_t bytes;
    uint8_t *host;
    SharedHome home; /* SHARED: the block that owns the memory */
} Range;

/* ---- ranges ----------------------------------------------------------------------------------------- */

static bool find_shared(const Block *block, Range *range) {
    uint64_t size = block->grid->program->shared_bytes;
    range->host = range->home.block ? range->home.block->shared + range->address : NULL;
    return range->address <= size && range->bytes <= size - range->address;
}

static bool find_range(Block *block, Range *range) {
    if (range->space == PTX_SPACE_SHARED) return find_shared(block, range);
    range->host = memory_at(block->grid->memory, range->address, range->bytes);
    return range->host != NULL;
}

static bool trap_range(Block *block, const Warp *warp, const Op *op, int lane, const Range *range) {
    Text text = {0};
    int buffer = -1;
    if (range->space == PTX_SPACE_GLOBAL)
        buffer = memory_describe(block->grid->memory, range->address, (int)range->bytes, -1, &text);
    else if (range->home.peer < 0)
        text_print(&text, tr("shared offset %llu: the block has %u bytes of shared memory"),
                   (unsigned long long)range->address, block->grid->program->shared_bytes);
    else
        text_print(&text,
                   tr("shared offset %llu of block %d of the cluster, which has %u bytes of shared memory"),
                   (unsigned long long)range->address, range->home.peer, block->grid->program->shared_bytes);
    Trap *trap = raise_trap(block, TRAP_OUT_OF_BOUNDS, warp, op->pc, lane_bit[lane], NULL,
                            tr("a bulk copy of %u bytes: %s"), range->bytes, text_string(&text));
    if (trap) {
        trap->space = range->space;
        trap->buffer = buffer;
    }
    text_done(&text);
    return false;
}

static bool is_aligned(Block *block, const Warp *warp, const Op *op, int lane, const Range *range) {
    if (!(range->bytes % BULK_UNIT) && !(range->address % BULK_UNIT)) return true;
    raise_trap(block, TRAP_MISALIGNED, warp, op->pc, lane_bit[lane], NULL,
               tr("a bulk copy of %u bytes at 0x%llx: both must be multiples of 16"), range->bytes,
               (unsigned long long)range->address);
    return false;
}

static uint32_t byte_mask_of(const BulkOp *bulk, const Warp *warp, int lane) {
    return bulk->has_byte_mask ? (uint32_t)register_read(warp, bulk->byte_mask, 2, lane) : WHOLE_UNIT;
}

static uint32_t bytes_of(const BulkOp *bulk, const Warp *warp, int lane) {
    return byte_mask_of(bulk, warp, lane) ? (uint32_t)register_read(warp, bulk->size, 4, lane) : 0;
}

/* Finds the next run of bytes that the mask selects, from `end` of the last one (0 at first) on. */
static bool next_run(uint32_t mask, uint32_t bytes, uint32_t *start, uint32_t *end) {
    uint32_t at = *end;
    if (mask == WHOLE_UNIT) {
        *start = 0;
        *end = bytes;
        return !at && bytes;
    }
    while (at < bytes && !(mask >> at % BULK_UNIT & 1)) at++;
    *start = at;
    while (at < bytes && mask >> at % BULK_UNIT & 1) at++;
    *end = at;
    return *start < at;
}

static Range part_of(const Range *whole, uint32_t start, uint32_t end) {
    Range part = *whole;
    part.address += start;
    part.bytes = end - start;
    return part;
}

static bool find_runs(Block *block, const Warp *warp, const Op *op, int lane, const Range *whole) {
    uint32_t mask = byte_mask_of(op->extra, warp, lane);
    for (uint32_t start, end = 0; next_run(mask, whole->bytes, &start, &end);) {
        Range part = part_of(whole, start, end);
        if (!find_range(block, &part)) return trap_range(block, warp, op, lane, &part);
    }
    return true;
}

static bool check_range(Block *block, const Warp *warp, const Op *op, int lane, const Range *range) {
    return is_aligned(block, warp, op, lane, range) && find_runs(block, warp, op, lane, range);
}

static void check_written(Block *block, const Warp *warp, const Op *op, int lane, const Range *range) {
    uint8_t *reported = &block->worker->reported[op->pc];
    if (range->space != PTX_SPACE_SHARED || bits_all(block->shared_written, range->address, range->bytes))
        return;
    if (*reported >= MAX_REPORTED) return;
    ++*reported;
    raise_trap(block, TRAP_UNINITIALIZED, warp, op->pc, lane_bit[lane], NULL,
               tr("a bulk copy reads %u bytes of shared memory at offset %llu, some of which were never "
                  "written (thread %d of the block)"),
               range->bytes, (unsigned long long)range->address, warp->index * WARP_LANES + lane);
}

static void note_read(const Block *block, const Range *range) {
    const Footprint *footprint = block->worker->footprint;
    if (range->space != PTX_SPACE_GLOBAL || !footprint) return;
    const Region *region = &block->grid->memory->regions[memory_find(block->grid->memory, range->address)];
    bits_set(footprint->read, region->first_word + (range->address - region->base) / 4, range->bytes / 4);
}

/* ---- execution -------------------------------------------------------------------------------------- */

/* The sum of a NaN is the source's, else the destination's, with its bits as they are (measured on an H200,
 * 26 of 26). */
static uint64_t fold_f64(uint64_t old, uint64_t value) {
    const uint64_t infinity = UINT64_C(0x7ff) << 53; /* without the sign */
    if (value << 1 > infinity) return value;
    if (old << 1 > infinity) return old;
    return atomic_apply(PTX_MOD_ADD, PTX_F64, old, value);
}

/* add.f32 keeps subnormals: the PTX ISA says "the current implementation flushes" them, but an H200 adds the
 * bits 0 and 3 to 3 (driver 580.159.04, tests/device/verify_copies.sh). */
uint64_t bulk_fold(PtxModifierKind operation, PtxType type, uint64_t old, uint64_t value) {
    if (type == PTX_F64) return fold_f64(old, value);
    return atomic_apply(operation, type, old, value);
}

/* Reduces element by element, each atomically. */
static void fold_range(const void *rule, uint8_t *destination, const uint8_t *from, uint32_t bytes) {
    const BulkOp *bulk = rule;
    uint32_t width = (uint32_t)ptx_type_bytes(bulk->type);
    for (uint32_t at = 0; at < bytes; at += width) {
        uint64_t value = bulk_fold(bulk->operation, bulk->type, bytes_read(destination + at, (int)width),
                                   bytes_read(from + at, (int)width));
        memcpy(destination + at, &value, width);
    }
}

static void record_side(Block *block, const Warp *warp, const Op *op, uint32_t mask, TraceKind kind,
                        const Range *ranges) {
    const Grid *grid = block->grid;
    int peer = ranges[__builtin_ctz(mask)].home.peer;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, kind);
    event->element_bytes = 4;
    event->element_count = 1;
    event->width = BULK_UNIT;
    if (trace_kind_is_shared(kind)) event->participants = (uint32_t)(peer + 1);
    event->is_load = kind == TRACE_GLOBAL_BULK_READ || kind == TRACE_SHARED_BULK_READ;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const Range *range = &ranges[lane];
        event->operand[lane] = range->bytes;
        if (range->space == PTX_SPACE_SHARED) {
            access_place_shared(grid, range->address, &event->buffer[lane], &event->offset[lane]);
            continue;
        }
        int region = memory_find(grid->memory, range->address);
        event->buffer[lane] = (uint16_t)region;
        event->offset[lane] = range->address - grid->memory->regions[region].base;
    }
    recorder_end(block->recorder, false, false);
}

/* The lanes that write to the same block as the first one. */
static uint32_t lanes_of_home(uint32_t mask, const Range *to) {
    uint32_t lanes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (to[__builtin_ctz(rest)].home.peer == to[__builtin_ctz(mask)].home.peer)
            lanes |= rest & (0 - rest);
    return lanes;
}

/* Records one event per destination block. */
static void record_written(Block *block, const Warp *warp, const Op *op, uint32_t mask, const Range *to) {
    for (uint32_t lanes; mask; mask &= ~lanes) {
        lanes = lanes_of_home(mask, to);
        record_side(block, warp, op, lanes, trace_written_kind_of(op->instruction), to);
    }
}

/* From the first byte that the mask selects to the last one. */
static Range selected_part(const Warp *warp, const Op *op, int lane, const Range *whole) {
    uint32_t mask = byte_mask_of(op->extra, warp, lane);
    uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
    return part_of(whole, first, whole->bytes - BULK_UNIT + last + 1);
}

static void record_copies(Block *block, const Warp *warp, const Op *op, uint32_t mask, const Range *from,
                          const Range *to) {
    Range read[WARP_LANES] = {0}, written[WARP_LANES] = {0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        read[lane] = selected_part(warp, op, lane, &from[lane]);
        written[lane] = selected_part(warp, op, lane, &to[lane]);
    }
    record_side(block, warp, op, mask, trace_kind_of(op->instruction), read);
    record_written(block, warp, op, mask, written);
}

static void begin_copy(Block *block, Warp *warp, const Op *op, int lane, const Range *from, const Range *to) {
    const BulkOp *bulk = op->extra;
    Block *home = to->home.block;
    AsyncCopy *copy = copies_add(home, warp, lane, op->pc,
                                 bulk->has_mbarrier ? COPY_ON_MBARRIER : COPY_IN_BULK_GROUP, from->bytes);
    memcpy(copies_room(copy), from->host, from->bytes);
    copy->to = to->space;
    copy->to_address = to->address;
    copy->from = from->space;
    copy->from_address = from->address;
    if (bulk->operation != PTX_MODIFIER_NONE) copy->fold = fold_range;
    copy->rule = bulk;
    if (bulk->has_mbarrier)
        copy->mbarrier = (uint32_t)(shared_window_address(warp, &bulk->mbarrier, lane) & CLUSTER_OFFSET);
    if (block->observed) {
        ObservedRange read = {block, op->pc, warp->index, lane, from->space, from->address, from->bytes};
        ObservedRange written = {home, op->pc, warp->index, lane, to->space, to->address, to->bytes};
        observe_range(block, &read, NULL);
        observe_range(block, &written, copy_bytes(copy));
    }
    copies_begun(home, copy);
    if (bulk->has_mbarrier) mbarrier_wake(home, block);
}

static Range range_of(Block *block, const Warp *warp, const MemoryOp *memory, int lane, uint32_t bytes) {
    bool global = memory->space == PTX_SPACE_GLOBAL;
    return (Range){.space = global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED,
                   .address = global ? access_lane_address(warp, memory, lane)
                                     : shared_window_address(warp, memory, lane),
                   .bytes = bytes,
                   .home = {block, -1}};
}

/* Finds the block that holds both the destination and the mbarrier; false after a trap. */
static bool find_home(Block *block, const Warp *warp, const Op *op, int lane, Range *to) {
    const BulkOp *bulk = op->extra;
    if (to->space != PTX_SPACE_SHARED) return true;
    uint64_t mbarrier = shared_window_address(warp, &bulk->mbarrier, lane);
    SharedHome at;
    return access_find_home(block, warp, op, bulk->to.space, lane, &to->address, &to->home) &&
           access_find_home(block, warp, op, PTX_SPACE_SHARED_CLUSTER, lane, &mbarrier, &at) &&
           mbarrier_lies_with(block, warp, op, lane, to->home.peer, at.peer);
}

/* Finds the lanes that copy at least one byte; false after a trap. */
static bool find_ranges(Block *block, const Warp *warp, const Op *op, uint32_t *mask, Range from[WARP_LANES],
                        Range to[WARP_LANES]) {
    const BulkOp *bulk = op->extra;
    for (uint32_t rest = *mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t bytes = bytes_of(bulk, warp, lane);
        from[lane] = range_of(block, warp, &bulk->from, lane, bytes);
        to[lane] = range_of(block, warp, &bulk->to, lane, bytes);
        if (bytes && !find_home(block, warp, op, lane, &to[lane])) return false;
        if (!bytes) *mask &= ~lane_bit[lane];
        if (bytes && (!check_range(block, warp, op, lane, &from[lane]) ||
                      !check_range(block, warp, op, lane, &to[lane])))
            return false;
    }
    return true;
}

static void begin_copies(Block *block, Warp *warp, const Op *op, uint32_t mask, const Range *from,
                         const Range *to) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t byte_mask = byte_mask_of(op->extra, warp, lane);
        for (uint32_t start, end = 0; next_run(byte_mask, from[lane].bytes, &start, &end);) {
            Range source = part_of(&from[lane], start, end), target = part_of(&to[lane], start, end);
            find_range(block, &source);
            check_written(block, warp, op, lane, &source);
            note_read(block, &source);
            if (target.home.block) begin_copy(block, warp, op, lane, &source, &target);
        }
    }
}

static void replay_event(Block *block, const Warp *warp, const Op *op, uint32_t mask) {
    recorder_begin(block->recorder, warp, op->pc, mask, TRACE_NOT_RECORDED);
    recorder_end(block->recorder, false, false);
}

/* In a replay: the hooks know the events; nothing is copied. */
static void replay_events(Block *block, const Warp *warp, const Op *op, uint32_t mask) {
    const BulkOp *bulk = op->extra;
    Range to[WARP_LANES];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!bytes_of(bulk, warp, lane)) mask &= ~lane_bit[lane];
        to[lane] = range_of(block, warp, &bulk->to, lane, 0);
        uint64_t field = to[lane].address >> CLUSTER_RANK_SHIFT;
        if (to[lane].space == PTX_SPACE_SHARED && field && field - 1 != block->rank)
            to[lane].home.peer = (int)field - 1;
    }
    if (mask) replay_event(block, warp, op, mask);
    for (uint32_t lanes; mask; mask &= ~lanes) {
        lanes = lanes_of_home(mask, to);
        replay_event(block, warp, op, lanes);
    }
}

static Outcome execute_bulk(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Range from[WARP_LANES], to[WARP_LANES];
    block->worker->counters[op->pc].requests++;
    if (block->hooks) {
        replay_events(block, warp, op, mask);
        return OUTCOME_NEXT;
    }
    if (!find_ranges(block, warp, op, &mask, from, to)) return OUTCOME_STOP;
    if (block->recorder && mask) record_copies(block, warp, op, mask, from, to);
    begin_copies(block, warp, op, mask, from, to);
    return OUTCOME_NEXT;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

/* The types that each operation supports ("cp.reduce.async.bulk" in the PTX ISA). */
static bool is_possible(PtxModifierKind operation, PtxType type, bool in_global) {
    bool word = type == PTX_U32 || type == PTX_S32, half = type == PTX_F16 || type == PTX_BF16;
    switch (operation) {
    case PTX_MOD_ADD:
        return word || type == PTX_U64 || (in_global && (type == PTX_F32 || type == PTX_F64 || half));
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return word || (in_global && (type == PTX_U64 || type == PTX_S64 || half));
    case PTX_MOD_INC:
    case PTX_MOD_DEC:
        return type == PTX_U32;
    case PTX_MOD_AND:
    case PTX_MOD_OR:
    case PTX_MOD_XOR:
        return type == PTX_B32 || (in_global && type == PTX_B64);
    default:
        return false;
    }
}

static bool lower_reduction(Lowering *low, const PtxInstruction *in, Op *op, BulkOp *bulk) {
    bulk->operation = PTX_MODIFIER_NONE;
    if (!ptx_instruction_has(in, PTX_MOD_REDUCE)) return true;
    bulk->operation = atomic_operation_of(in);
    bulk->type = in->type_count ? in->types[0] : PTX_NO_TYPE;
    return is_possible(bulk->operation, bulk->type, bulk->to.space == PTX_SPACE_GLOBAL) ||
           lowering_reject(low, op, "cp.reduce.async.bulk has no such form for .%s",
                           ptx_type_text(bulk->type));
}

/* The instruction's first space is the destination's, the second the source's. */
static bool set_spaces(const PtxInstruction *in, BulkOp *bulk) {
    bool mbarrier = ptx_instruction_has(in, PTX_MOD_COMPLETE_TX_BYTES);
    bulk->to.space = in->space;
    bulk->has_mbarrier = mbarrier;
    bool from_global = in->space != PTX_SPACE_GLOBAL && ptx_instruction_has(in, PTX_MOD_GLOBAL);
    bulk->from.space = from_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    if (in->space == PTX_SPACE_GLOBAL) return ptx_instruction_has(in, PTX_MOD_BULK_GROUP) && !mbarrier;
    return mbarrier && (in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER);
}

bool bulk_lower(Lowering *low, const PtxInstruction *in, Op *op) {
    BulkOp *bulk = lowering_allocate(low, sizeof *bulk);
    bulk->core.execute = execute_bulk;
    op->op_class = OP_MEMORY;
    op->extra = bulk;
    if (ptx_instruction_has(in, PTX_MOD_MULTICAST_CLUSTER))
        return lowering_reject(low, op, "not emulated: cp.async.bulk.multicast::cluster without .tensor");
    bool good = set_spaces(in, bulk);
    bulk->has_byte_mask = ptx_instruction_has(in, PTX_MOD_CP_MASK);
    int count = 3 + bulk->has_mbarrier + ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT) + bulk->has_byte_mask;
    good &= !bulk->has_byte_mask ||
            (bulk->to.space == PTX_SPACE_GLOBAL && !ptx_instruction_has(in, PTX_MOD_REDUCE));
    if (!good || in->operand_count != count)
        return lowering_reject(low, op, "%s.async.bulk: malformed",
                               ptx_instruction_has(in, PTX_MOD_REDUCE) ? "cp.reduce" : "cp");
    bulk->mbarrier.space = PTX_SPACE_SHARED;
    if (!access_lower_address(low, op, &bulk->to, &in->operands[0]) ||
        !access_lower_address(low, op, &bulk->from, &in->operands[1]) ||
        (bulk->has_mbarrier && !access_lower_address(low, op, &bulk->mbarrier, &in->operands[3])))
        return false;
    uint8_t bytes;
    if (!lowering_value(low, op, &in->operands[2], PTX_U32, &bulk->size, &bytes)) return false;
    if (bytes != 4) return lowering_reject(low, op, "cp.async.bulk: the size is a 32-bit number");
    if (bulk->has_byte_mask &&
        !lowering_value(low, op, &in->operands[count - 1], PTX_U16, &bulk->byte_mask, &bytes))
        return false;
    if (bulk->to.space == PTX_SPACE_GLOBAL) low->lowered->lets_blocks_communicate |= in->type_count > 0;
    if (!lower_reduction(low, in, op, bulk)) return false;
    if (bulk->to.space == PTX_SPACE_GLOBAL || bulk->from.space == PTX_SPACE_GLOBAL) return true;
    return lower_in_clusters(low, op,
                             bulk->operation == PTX_MODIFIER_NONE
                                 ? "cp.async.bulk.shared::cluster.shared::cta"
                                 : "cp.reduce.async.bulk.shared::cluster.shared::cta");
}
