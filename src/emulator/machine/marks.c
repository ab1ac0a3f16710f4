#include "emulator/machine/marks.h"

#include "base/language.h"

#include <inttypes.h>

static uint64_t offset_of(const Access *access, int lane) {
    return (uint64_t)(access_host(access, lane) - access->region->host);
}

static bool is_written(const Region *region, uint64_t offset, uint64_t bytes) {
    return bits_all(region->written, offset, bytes);
}

void marks_write(const Region *region, uint64_t offset, uint64_t bytes) {
    if (region->written && bytes) bits_set(region->written, offset, bytes);
}

/* Limits the reported faults per instruction. */
static bool may_report(const Access *access) {
    access->block->worker->irregular++;
    uint8_t *reported = &access->block->worker->reported[access->op->pc];
    if (*reported >= MAX_REPORTED) return false;
    ++*reported;
    return true;
}

static void report(const Access *access, TrapKind kind, uint32_t lanes, const char *what) {
    uint64_t address[WARP_LANES] = {0}, base = access->space == PTX_SPACE_GLOBAL ? access->region->base : 0;
    if (!may_report(access)) return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        address[lane] = base + (access->space == PTX_SPACE_GLOBAL
                                    ? offset_of(access, lane)
                                    : (uint64_t)(access_host(access, lane) - access->bytes));
    }
    raise_trap(access->block, kind, access->warp, access->op->pc, lanes, address, "%s", what);
}

static void report_unwritten(const Access *access, uint32_t lanes) {
    char what[320];
    int lane = __builtin_ctz(lanes);
    snprintf(what, sizeof what,
             tr("%u bytes at offset %llu of `%s` are read but were never written (thread %d of the block)"),
             access->memory->width, (unsigned long long)offset_of(access, lane), access->region->name,
             access->warp->index * WARP_LANES + lane);
    report(access, TRAP_UNWRITTEN, lanes, what);
}

/* ---- the heap ------------------------------------------------------------------------------------------ */

/* Lanes whose access lies outside every allocation: beyond one, or in a freed one. */
static uint32_t outside_allocations(const Access *access, HeapPlace place) {
    uint32_t lanes = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        HeapAllocation near;
        HeapPlace found =
            heap_place(access->block->grid->memory, offset_of(access, lane), access->memory->width, &near);
        if (found == place) lanes |= lane_bit[lane];
    }
    return lanes;
}

static void report_heap(const Access *access, TrapKind kind, uint32_t lanes) {
    int lane = __builtin_ctz(lanes);
    char what[320];
    HeapAllocation near = {0};
    unsigned long long offset = offset_of(access, lane);
    heap_place(access->block->grid->memory, offset, access->memory->width, &near);
    if (kind == TRAP_USE_AFTER_FREE)
        snprintf(what, sizeof what, tr("%u bytes at offset %llu of the device heap, which have been freed"),
                 access->memory->width, offset);
    else if (near.bytes)
        snprintf(what, sizeof what, tr("%u bytes at offset %llu of an allocation of %llu bytes by malloc"),
                 access->memory->width, offset - near.offset, (unsigned long long)near.bytes);
    else
        snprintf(what, sizeof what,
                 tr("%u bytes at offset %llu of the device heap, which malloc has not returned"),
                 access->memory->width, offset);
    report(access, kind, lanes, what);
}

static uint32_t watch_heap(const Access *access) {
    uint32_t beyond = outside_allocations(access, HEAP_OUTSIDE),
             freed = outside_allocations(access, HEAP_FREED);
    if (beyond) report_heap(access, TRAP_HEAP_OVERRUN, beyond);
    if (freed) report_heap(access, TRAP_USE_AFTER_FREE, freed);
    return beyond | freed;
}

void marks_see(const Access *access) {
    const Region *region = access->region;
    if (!region->written) return;
    const Memory *memory = access->block->grid->memory;
    uint32_t lanes = access->mask, unwritten = 0;
    if (region - memory->regions == memory->heap_region) lanes &= ~watch_heap(access);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = offset_of(access, lane);
        if (!access->memory->is_store && !access->memory->overwrites &&
            !is_written(region, offset, access->memory->width))
            unwritten |= lane_bit[lane];
        if (!access->memory->is_load) marks_write(region, offset, access->memory->width);
    }
    if (unwritten) report_unwritten(access, unwritten);
}

/* ---- shared arrays ------------------------------------------------------------------------------------- */

static const SharedPlace *place_at(const LoweredProgram *program, uint64_t offset) {
    for (int i = 0; i < program->shared_count; i++)
        if (offset >= program->shared[i].offset &&
            offset - program->shared[i].offset < program->shared[i].bytes)
            return &program->shared[i];
    return NULL;
}

static void report_array(const Access *access, const SharedPlace *array, uint32_t lanes) {
    const LoweredProgram *program = access->block->grid->program;
    int lane = __builtin_ctz(lanes), width = access->memory->width;
    int64_t index = (access_host(access, lane) - access->bytes - (int64_t)array->offset) / width;
    const SharedPlace *hit = place_at(program, (uint64_t)(access_host(access, lane) - access->bytes));
    char what[320], where[100];
    if (hit)
        snprintf(where, sizeof where, tr("in `%s`"), hit->name);
    else
        snprintf(where, sizeof where, "%s", tr("between two arrays"));
    snprintf(what, sizeof what,
             tr("`%s[%lld]` is outside its array (%u elements), %s (thread %d of the block)"), array->name,
             (long long)index, array->bytes / (uint32_t)width, where,
             access->warp->index * WARP_LANES + lane);
    report(access, TRAP_ARRAY_OVERRUN, lanes, what);
}

static uint32_t outside_array(const Access *access, const SharedPlace *array, uint32_t lanes) {
    uint32_t outside = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = (uint64_t)(access_host(access, lane) - access->bytes);
        if (offset < array->offset || offset + access->memory->width > (uint64_t)array->offset + array->bytes)
            outside |= lane_bit[lane];
    }
    return outside;
}

void marks_see_shared(const Access *access) {
    const LoweredProgram *program = access->block->grid->program;
    int index = program->arrays[access->op->pc];
    if (index < 0 || access->peer >= 0) return;
    const SharedPlace *array = &program->shared[index];
    int low = __builtin_ctz(access->mask), high = 31 - __builtin_clz(access->mask);
    if (access->host_line && !outside_array(access, array, lane_bit[low] | lane_bit[high])) return;
    uint32_t outside = outside_array(access, array, access->mask);
    if (outside) report_array(access, array, outside);
}

/* ---- buffers ------------------------------------------------------------------------------------------- */

bool marks_see_buffer(const Access *access) {
    const LoweredProgram *program = access->block->grid->program;
    const Memory *memory = access->block->grid->memory;
    int index = program->buffers[access->op->pc];
    if (index < 0 || access->region == &memory->regions[index]) return false;
    const Region *own = &memory->regions[index];
    int lane = __builtin_ctz(access->mask), width = access->memory->width;
    int64_t distance = (int64_t)(access->region->base + offset_of(access, lane) - own->base);
    char what[320];
    snprintf(what, sizeof what,
             tr("`%s[%lld]` is outside its buffer (%llu elements), in `%s` (thread %d of the block)"),
             own->name, (long long)(distance / width), (unsigned long long)own->bytes / (unsigned)width,
             access->region->name, access->warp->index * WARP_LANES + lane);
    report(access, TRAP_ARRAY_OVERRUN, access->mask, what);
    return true;
}
