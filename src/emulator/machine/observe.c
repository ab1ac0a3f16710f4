/* Calls of the launch's observer (observe.h). */
#include "emulator/machine/observe.h"

#include "emulator/machine/cluster.h"

void observe_block(Block *block) {
    const TraceObserver *observer = block->grid->observer;
    block->observed = observer ? observer->block(observer->context, block->linear) : NULL;
}

void observe_end(Block *block) {
    if (block->observed) block->grid->observer->end(block->observed);
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

/* malloc may give memory that one thread has freed to another thread, so the heap is left out. */
static bool is_shared_between_threads(const Access *access) {
    const Memory *memory = access->block->grid->memory;
    return access->space == PTX_SPACE_SHARED ||
           (!access->region->read_only && access->region - memory->regions != memory->heap_region);
}

void observe_access(const Access *access) {
    if (!is_shared_between_threads(access)) return;
    TraceAccess seen;
    seen.pc = access->op->pc;
    seen.warp = access->warp->index;
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
    seen.stored = stored_bytes;
    seen.producer = access;
    access->block->grid->observer->access(access->block->observed, &seen);
}

static void notify(const Block *block, TraceSyncKind kind, int pc, int warp, uint32_t lanes, int number,
                   bool blockwide) {
    TraceSync sync = {.kind = kind,
                      .pc = pc,
                      .warp = warp,
                      .number = number,
                      .mask = lanes,
                      .exited = block->warps[warp].started & ~block->warps[warp].live,
                      .is_blockwide = blockwide};
    block->grid->observer->sync(block->observed, &sync);
}

void observe_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes, int barrier,
                     bool blockwide) {
    notify(block, TRACE_SYNC_ARRIVE, pc, warp->index, lanes, barrier, blockwide);
}

void observe_release(const Block *block, int barrier) {
    bool blockwide = !block->barriers[barrier].expected;
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        uint32_t lanes = 0;
        int pc = PTX_NO_PC;
        for (int i = 0; i < warp->fragment_count; i++) {
            if (warp->fragments[i].state != FRAGMENT_IN_BARRIER || warp->fragments[i].barrier != barrier)
                continue;
            if (!lanes) pc = warp->fragments[i].pc;
            lanes |= warp->fragments[i].mask;
        }
        if (lanes) notify(block, TRACE_SYNC_RELEASE, pc, w, lanes, barrier, blockwide);
    }
    notify(block, TRACE_SYNC_RELEASE, PTX_NO_PC, 0, 0, barrier, blockwide);
}

void observe_cluster_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes) {
    notify(block, TRACE_SYNC_CLUSTER_ARRIVE, pc, warp->index, lanes, 0, false);
}

void observe_cluster_complete(const Block *block, int following) {
    notify(block, TRACE_SYNC_CLUSTER_COMPLETE, PTX_NO_PC, 0, 0, following, false);
}

void observe_cluster_wait(const Block *block, const Warp *warp, int pc, uint32_t lanes) {
    notify(block, TRACE_SYNC_CLUSTER_WAIT, pc, warp->index, lanes, 0, false);
}

void observe_warp_sync(const Warp *warp, int pc, uint32_t lanes) {
    notify(warp->block, TRACE_SYNC_WARP, pc, warp->index, lanes, 0, false);
}

void observe_fence(const Warp *warp, int pc, uint32_t lanes) {
    notify(warp->block, TRACE_SYNC_FENCE, pc, warp->index, lanes, 0, false);
}

void observe_undefined(const Warp *warp, int shuffle, int pc, uint32_t lanes, TraceUse use) {
    const Block *block = warp->block;
    TraceUndefined undefined = {
        .pc = pc, .shuffle = shuffle, .warp = warp->index, .lanes = lanes, .use = use};
    block->grid->observer->undefined(block->observed, &undefined);
}
