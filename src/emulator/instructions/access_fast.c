/* The fast path of accesses with addresses in arithmetic progression. One loop handles all warps of a gang if
 * the instruction has made such an access before. */
#include "emulator/instructions/access_execute.h"
#include "emulator/lanes/affine.h"
#include "emulator/machine/observe.h"

/* ---- what lines cost ---- */

/* The cost of a line depends on its lanes, its stride, and its start within a row of banks or a sector.
 * (Buffers start on both boundaries.) */
static inline uint32_t phase_of(uint64_t first, bool global) {
    return (uint32_t)first & (uint32_t)(global ? SECTOR_BYTES - 1 : LINE_BYTES - 1);
}

static inline CostPattern *pattern_set(Worker *worker, int pc, uint32_t mask, int64_t stride,
                                       uint32_t phase) {
    uint32_t mix = (mask ^ (uint32_t)stride * 0x9e3779b1u ^ phase << 8) * 0x85ebca6bu;
    return &worker->patterns[pc * PATTERNS + (int)(mix >> 30) * PATTERN_WAYS];
}

/* NULL: not seen recently */
static inline const CostPattern *find_pattern(Worker *worker, int pc, uint32_t mask, int64_t stride,
                                              uint32_t phase, bool global) {
    const CostPattern *set = pattern_set(worker, pc, mask, stride, phase);
    for (int way = 0; way < PATTERN_WAYS; way++)
        if (set[way].mask == mask && set[way].stride == stride && set[way].phase == phase &&
            set[way].global == global)
            return &set[way];
    return NULL;
}

void access_keep_pattern(const Access *access, bool global, int cost, int ideal) {
    uint32_t phase = phase_of(access->first, global);
    CostPattern *set =
        pattern_set(access->block->worker, access->op->pc, access->mask, access->stride, phase);
    memmove(set + 1, set, (PATTERN_WAYS - 1) * sizeof *set);
    set[0] = (CostPattern){access->mask, phase, access->stride, global, (uint32_t)cost, (uint32_t)ideal};
}

/* ---- the loop ---- */

typedef struct Target { /* the buffer that should hold all accesses of a gang */
    uint64_t base, size;
    uint8_t *bytes;
    const Region *region; /* NULL: shared memory, which no other thread writes meanwhile */
} Target;

static bool find_target(const Block *block, const Op *op, Target *target) {
    const MemoryOp *memory = op->extra;
    const Worker *worker = block->worker;
    uint32_t index = worker->last_region[op->pc];
    if (block->recorder || block->follows || block->grid->shadow || memory->is_atomic ||
        memory->is_deferred || memory->kind == TRACE_CONSTANT_LOAD)
        return false;
    switch (memory->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        *target = (Target){0, block->grid->program->shared_bytes, block->shared, NULL};
        return target->size >= memory->width;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_GENERIC: {
        const Memory *global = block->grid->memory;
        if (block->grid->writers || index >= (uint32_t)global->count) return false;
        const Region *region = &global->regions[index];
        *target = (Target){region->base, region->bytes, region->host, region};
        return !region->read_only && target->size >= memory->width;
    }
    default:
        return false;
    }
}

/* True if the shared memory of the line was written before, or this store writes it. */
static __attribute__((noinline)) bool is_written(Block *block, const MemoryOp *memory, uint32_t mask,
                                                 uint64_t first, int64_t stride, uint64_t low,
                                                 uint64_t high) {
    uint64_t width = memory->width;
    if (bits_all(block->shared_written, low, high - low + width)) return true;
    if (memory->is_load) return false;
    bool is_one_piece = mask == ALL_LANES && stride == (int64_t)width;
    if (is_one_piece) bits_set(block->shared_written, low, width * WARP_LANES);
    for (uint32_t rest = is_one_piece ? 0 : mask; rest; rest &= rest - 1)
        bits_set(block->shared_written, first + (uint64_t)__builtin_ctz(rest) * (uint64_t)stride, width);
    block->shared_is_written = bits_all(block->shared_written, 0, block->grid->program->shared_bytes);
    return true;
}

/* Moves adjacent elements that fill their registers. Copies elements between the active lanes too, if that is
 * harmless. False: it is not. */
LANES_INLINE bool copy_line(const MemoryOp *memory, const Target *target, uint64_t first, uint32_t mask,
                            void *value) {
    uint64_t needs = (uint64_t)memory->element_bytes * WARP_LANES;
    /* lane 0 may lie outside if it is not active */
    void *host = (void *)((uintptr_t)target->bytes + first), *to = memory->is_store ? host : value,
         *from = memory->is_store ? value : host;
    if (mask == ALL_LANES) {
        if (memory->element_bytes == 8)
            memcpy(to, from, 8 * WARP_LANES); /* sizes known at compile time */
        else
            memcpy(to, from, 4 * WARP_LANES);
        return true;
    }
    if (first >= target->size || target->size - first < needs || (memory->is_store && target->region))
        return false;
    if (memory->element_bytes == 8)
        affine_blend_64(to, from, mask);
    else
        affine_blend_32(to, from, mask);
    return true;
}

/* Handles accesses whose lanes form a line inside one buffer, like an earlier access of this instruction,
 * with nothing to record and no fault: only the values have to move. The first other access takes the slow
 * path. */
LANES_INLINE int fast_together(Block *block, const Op *op, const Gang *gang, AccessMove move) {
    const MemoryOp *memory = op->extra;
    const Operand base = memory->base, value = memory->values[0].place;
    const bool narrow = memory->base_bytes == 4, is_plain = memory->is_plain,
               communicates = block->grid->blocks_communicate;
    const uint64_t width = memory->width, shift = (uint64_t)memory->offset;
    const CostPattern *pattern = NULL;
    uint64_t cost = 0, ideal = 0;
    Target target;
    int done = 0;
    if (!find_target(block, op, &target)) return 0;
    const bool global = target.region != NULL;
    Footprint *footprint = global ? block->worker->footprint : NULL;
    const bool is_seen = block->observed || footprint;
    for (; done < gang->count; done++) {
        Warp *warp = gang->warps[done];
        const uint32_t mask = gang->masks[done];
        const void *from = operand_at(warp, base);
        int lowest = __builtin_ctz(mask), span = 31 - __builtin_clz(mask) - lowest;
        int64_t stride;
        if (!(narrow ? affine_find_32(from, mask, &stride) : affine_find_64(from, mask, &stride))) break;
        uint64_t at = narrow ? ((const uint32_t *)from)[lowest] + (uint32_t)shift
                             : ((const uint64_t *)from)[lowest] + shift;
        at -= target.base;
        uint64_t end = at + (uint64_t)span * (uint64_t)stride, low = stride < 0 ? end : at,
                 high = stride < 0 ? at : end;
        uint64_t first = at - (uint64_t)lowest * (uint64_t)stride;
        if (((at | (uint64_t)stride) & (width - 1)) || low > high || high > target.size - width) break;
        uint32_t phase = phase_of(first, global);
        if (!pattern || pattern->mask != mask || pattern->stride != stride || pattern->phase != phase) {
            const CostPattern *known = find_pattern(block->worker, op->pc, mask, stride, phase, global);
            if (!known) break;
            pattern = known;
        }
        if (!global && !block->shared_is_written &&
            !is_written(block, memory, mask, first, stride, low, high))
            break;
        cost += pattern->cost;
        ideal += pattern->ideal;
        bool watched = communicates || warp->live != mask,
             unseen = watched && gang->fragments[done]->quiet >= QUIET_ITERATIONS;
        bool copies = is_plain && stride == (int64_t)width && !unseen;
        if (copies && !is_seen && copy_line(memory, &target, first, mask, operand_at(warp, value))) {
            if (watched) note_access(block->worker, gang->fragments[done], memory->is_store);
            continue;
        }
        Access access;
        access.op = op, access.memory = memory, access.block = block, access.warp = warp, access.mask = mask;
        access.space = global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
        access.line = access.host_line = true;
        access.peer = -1;
        access.first = first + target.base;
        access.host_first = first;
        access.stride = access.host_stride = stride;
        access.bytes = target.bytes;
        access.region = target.region;
        if (footprint) access_leave_footprint(&access, footprint);
        if (block->observed) observe_access(&access);
        if (copies && copy_line(memory, &target, first, mask, operand_at(warp, value))) {
            if (watched) note_access(block->worker, gang->fragments[done], memory->is_store);
            continue;
        }
        move(&access);
    }
    TraceCounter *counter = &block->worker->counters[op->pc];
    counter->requests += (uint64_t)done;
    *(global ? &counter->sectors : &counter->wavefronts) += cost;
    *(global ? &counter->ideal_sectors : &counter->ideal_wavefronts) += ideal;
    if (memory->space == PTX_SPACE_GENERIC) counter->global_requests += (uint64_t)done;
    return done;
}

#define FAST_LEVEL(LEVEL, TARGET)                                                                            \
    TARGET static int fast_##LEVEL(Block *block, const Op *op, const Gang *gang, AccessMove move) {          \
        return fast_together(block, op, gang, move);                                                         \
    }
FAST_LEVEL(plain, )
#if LANES_HAVE_LEVELS
FAST_LEVEL(avx2, LANES_AVX2)
FAST_LEVEL(avx512, LANES_AVX512)
static const AccessTogether fast_levels[LANE_LEVELS] = {fast_plain, fast_avx2, fast_avx512};
#else
static const AccessTogether fast_levels[LANE_LEVELS] = {fast_plain, fast_plain, fast_plain};
#endif

AccessTogether access_together(void) {
    return fast_levels[lanes_level()];
}
