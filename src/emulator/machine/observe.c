/* Calls to the launch's observer (observe.h). */
#include "emulator/machine/observe.h"

#include "emulator/lower/index_products.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/marks.h"
#include "emulator/machine/tape_door.h"

void observe_block(Block *block) {
    const TraceObserver *observer = block->grid->observer;
    block->observed = observer ? observer->block(block->worker->observed_by, block->linear) : NULL;
}

void observe_end(Block *block) {
    if (block->observed) block->grid->observer->end(block->observed, block->live_warps != 0);
    block->observed = NULL;
}

static void stored_bytes(const TraceAccess *seen, int lane, uint8_t *bytes) {
    const Access *access = seen->producer;
    const MemoryOp *memory = access->memory;
    for (int e = 0; e < memory->count; e++) {
        uint64_t value = register_read(access->warp, memory->values[e].place, memory->values[e].bytes, lane);
        memcpy(bytes + e * memory->element_bytes, &value, memory->element_bytes);
    }
}

/* malloc may pass freed memory on to another thread, so the heap is excluded. */
static bool is_shared_between_threads(const Access *access) {
    const Memory *memory = access->block->grid->memory;
    return access->space == PTX_SPACE_SHARED ||
           (!access->region->read_only && access->region - memory->regions != memory->heap_region);
}

void observe_access(const Access *access) {
    if (access->space == PTX_SPACE_SHARED) marks_see_shared(access);
    if (access->space == PTX_SPACE_GLOBAL && marks_see_buffer(access)) return; /* a fault, not a race */
    if (access->space == PTX_SPACE_GLOBAL && access->region->written) marks_see(access);
    observe_repeated_access(access, access->warp->index);
}

void observe_repeated_access(const Access *access, int warp) {
    if (!is_shared_between_threads(access)) return;
    TraceAccess seen;
    seen.pc = access->op->pc;
    seen.warp = warp;
    seen.mask = access->mask;
    seen.space = access->space;
    seen.buffer =
        access->space == PTX_SPACE_SHARED ? -1 : (int)(access->region - access->block->grid->memory->regions);
    seen.is_line = access->host_line;
    seen.first = access->host_first;
    seen.stride = access->host_stride;
    seen.offset = access->offset;
    seen.memory = access->bytes;
    const Block *owner = access->space == PTX_SPACE_SHARED && access->peer >= 0
                             ? cluster_member(access->block, (uint32_t)access->peer)
                             : NULL;
    seen.owner = owner ? owner->observed : NULL;
    seen.arrives = false;
    seen.stored = stored_bytes;
    seen.producer = access;
    access->block->grid->observer->access(access->block->observed, &seen);
}

void observe_repeated_sync(const Block *block, const TraceSync *sync) {
    block->grid->observer->sync(block->observed, sync);
}

static void see_sync(const Block *block, const TraceSync *sync) {
    if (block->tape) block->grid->tapes->sync(block->tape, sync);
    observe_repeated_sync(block, sync);
}

static void notify(const Block *block, TraceSyncKind kind, int pc, int warp, uint32_t lanes, int number) {
    TraceSync sync = {.kind = kind, .pc = pc, .warp = warp, .number = number, .mask = lanes};
    see_sync(block, &sync);
}

void observe_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes, int barrier) {
    notify(block, TRACE_SYNC_ARRIVE, pc, warp->index, lanes, barrier);
}

static TraceRelease release_of(const Warp *warp, int barrier) {
    TraceRelease release = {.pc = PTX_NO_PC, .exited = warp->started & ~warp->live};
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *fragment = &warp->fragments[i];
        if (fragment->state != FRAGMENT_IN_BARRIER || fragment->barrier != barrier) continue;
        if (!release.mask) release.pc = fragment->pc;
        release.mask |= fragment->mask;
    }
    return release;
}

static void notify_release(const Block *block, int barrier, const TraceRelease *released, bool blockwide) {
    TraceSync sync = {.kind = TRACE_SYNC_RELEASE,
                      .pc = PTX_NO_PC,
                      .number = barrier,
                      .is_blockwide = blockwide,
                      .released = released,
                      .released_count = block->warp_count};
    see_sync(block, &sync);
}

void observe_release(const Block *block, int barrier) {
    TraceRelease released[MAX_WARPS];
    for (int w = 0; w < block->warp_count; w++) released[w] = release_of(&block->warps[w], barrier);
    notify_release(block, barrier, released, !block->barriers[barrier].expected);
}

void observe_release_of_all(const Block *block, int pc, int barrier) {
    TraceRelease released[MAX_WARPS];
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        released[w] = (TraceRelease){.pc = pc, .mask = warp->live, .exited = warp->started & ~warp->live};
    }
    notify_release(block, barrier, released, true);
}

void observe_cluster_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes) {
    notify(block, TRACE_SYNC_CLUSTER_ARRIVE, pc, warp->index, lanes, 0);
}

void observe_cluster_complete(const Block *block, int following) {
    notify(block, TRACE_SYNC_CLUSTER_COMPLETE, PTX_NO_PC, 0, 0, following);
}

void observe_cluster_wait(const Block *block, const Warp *warp, int pc, uint32_t lanes) {
    notify(block, TRACE_SYNC_CLUSTER_WAIT, pc, warp->index, lanes, 0);
}

void observe_passed_by(const Warp *warp, const Fragment *waiting, uint32_t lanes) {
    TraceSync sync = {.kind = TRACE_SYNC_PASSED_BY,
                      .pc = waiting->pc,
                      .warp = warp->index,
                      .mask = waiting->active,
                      .exited = lanes};
    if (warp->block->observed) see_sync(warp->block, &sync);
}

void observe_warp_sync(const Warp *warp, int pc, uint32_t lanes) {
    notify(warp->block, TRACE_SYNC_WARP, pc, warp->index, lanes, 0);
}

void observe_products(const Warp *warp, int pc) {
    notify(warp->block, TRACE_SYNC_PRODUCTS, pc, warp->index, UINT32_MAX, 0);
}

void observe_fence(const Warp *warp, int pc, uint32_t lanes) {
    notify(warp->block, TRACE_SYNC_FENCE, pc, warp->index, lanes, 0);
}

/* ---- asynchronous copies ---------------------------------------------------------------------------- */

/* Buffer (-1: shared memory) and offset of an address. */
static int locate(const Block *block, PtxSpace space, uint64_t address, uint64_t *offset) {
    const Memory *memory = block->grid->memory;
    *offset = address;
    if (space != PTX_SPACE_GLOBAL) return -1;
    int region = memory_find(memory, address);
    *offset = address - memory->regions[region].base;
    return region;
}

/* The block that issued the copy; NULL: it has ended. */
static const Block *issuer_of(const Block *home, const AsyncCopy *copy) {
    if (home->linear == copy->block) return home;
    return home->cluster ? home->cluster->blocks[copy->rank] : NULL;
}

void observe_copy(const Block *block, const AsyncCopy *copy, TraceCopyKind kind, bool is_committed) {
    const Block *issuer = issuer_of(block, copy);
    TraceCopy seen = {.kind = kind,
                      .number = copy->number,
                      .block = copy->block,
                      .issuer = issuer ? issuer->observed : NULL,
                      .pc = copy->pc,
                      .warp = copy->warp,
                      .lane = copy->lane,
                      .to = copy->to,
                      .from = copy->from,
                      .bytes = copy->bytes,
                      .is_committed = is_committed};
    seen.to_buffer = locate(block, copy->to, copy->to_address, &seen.to_offset);
    seen.from_buffer = locate(block, copy->from, copy->from_address, &seen.from_offset);
    block->grid->observer->copy(block->observed, &seen);
}

typedef struct RangePart {
    const uint8_t *bytes;
    uint64_t count;
} RangePart;

static void part_bytes(const TraceAccess *seen, int lane, uint8_t *bytes) {
    (void)lane;
    const RangePart *part = seen->producer;
    memcpy(bytes, part->bytes, part->count);
}

static void see_range(const Block *block, const ObservedRange *range, const uint8_t *bytes, bool arrives) {
    const Memory *memory = block->grid->memory;
    TraceAccess seen = {.pc = range->pc,
                        .warp = range->warp,
                        .mask = lane_bit[range->lane],
                        .space = range->space,
                        .is_line = true};
    seen.stored = bytes ? part_bytes : NULL;
    seen.arrives = arrives;
    seen.buffer = locate(block, range->space, range->address, &seen.first);
    if (seen.buffer >= 0 && memory->regions[seen.buffer].read_only) return;
    if (bytes && seen.buffer >= 0) marks_write(&memory->regions[seen.buffer], seen.first, range->count);
    seen.memory = seen.buffer >= 0 ? memory->regions[seen.buffer].host : range->owner->shared;
    seen.owner = seen.buffer < 0 && range->owner != block ? range->owner->observed : NULL;
    uint64_t piece = (uint64_t)trace_bulk_piece(block->grid->program->program->code[range->pc].instruction);
    for (uint64_t at = 0; at < range->count; at += piece) {
        uint64_t left = range->count - at;
        RangePart part = {bytes ? bytes + at : NULL, left < piece ? left : piece};
        seen.producer = &part;
        block->grid->observer->access(block->observed, &seen);
        seen.first += piece;
    }
}

void observe_range(const Block *block, const ObservedRange *range, const uint8_t *bytes) {
    see_range(block, range, bytes, false);
}

/* The copy has now read its source, possibly in another block: the lane is also the first to know that. */
void observe_arrived_bytes(const Block *home, const AsyncCopy *copy, const Block *knows, int warp, int lane) {
    const Block *issuer = issuer_of(home, copy);
    ObservedRange read = {issuer, copy->pc, warp, lane, copy->from, copy->from_address, copy->bytes};
    ObservedRange written = {home, copy->pc, warp, lane, copy->to, copy->to_address, copy->bytes};
    if (issuer && issuer != knows && copy->from == PTX_SPACE_SHARED) see_range(knows, &read, NULL, true);
    see_range(knows, &written, copy_bytes(copy), true);
}

void observe_phase(const Block *home, const Warp *warp, int lane, uint64_t place) {
    const Block *block = warp->block;
    TraceSync sync = {.kind = TRACE_SYNC_PHASE,
                      .pc = PTX_NO_PC,
                      .warp = warp->index,
                      .number = (int)place,
                      .mask = lane_bit[lane],
                      .owner = home != block ? home->observed : NULL};
    see_sync(block, &sync);
}

void observe_undefined(const Warp *warp, int origin, int pc, uint32_t lanes, TraceUse use) {
    const Block *block = warp->block;
    const PtxInstruction *from = block->grid->program->program->code[origin].instruction;
    TraceUndefined undefined = {.pc = pc,
                                .origin = origin,
                                .is_product = lower_index_is_product(from),
                                .is_matrix = use == TRACE_USE_OPERAND,
                                .warp = warp->index,
                                .lanes = lanes,
                                .use = use};
    block->grid->observer->undefined(block->observed, &undefined);
}
