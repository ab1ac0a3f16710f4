/* Turns records into partial events (partial_events.h). */
#include "instrument/probe_copies.h"
#include "instrument/probe_tensor.h"

#include "base/memory.h"
#include "ptx/matrix.h"
#include <stdlib.h>

typedef struct SiteOccurrences { /* of one site and thread, in its current interval */
    uint32_t interval, count;
} SiteOccurrences;

typedef struct Cutter {
    PartialEvents *partial_events;
    uint32_t block;
    uint32_t *interval;            /* [thread] block-wide barriers passed */
    SiteOccurrences **occurrences; /* [pc][thread], allocated when a pc first occurs */
    SpinCollapse *spin_collapse;
    Error *error;
} Cutter;

static const InstrumentSite *site_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].site;
}

/* ---- interval, occurrence --------------------------------------------------------------------------- */

static uint32_t *interval_of(const Cutter *cutter, const PartialEvent *partial, int lane) {
    uint32_t warp = cutter->partial_events->records->records[partial->record].warp;
    return &cutter->interval[warp * WARP_LANES + (uint32_t)lane];
}

static uint32_t latest_interval(const Cutter *cutter, const PartialEvent *partial) {
    uint32_t latest = 0;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        uint32_t interval = *interval_of(cutter, partial, __builtin_ctz(rest));
        if (interval > latest) latest = interval;
    }
    return latest;
}

static SiteOccurrences *occurrences_of(Cutter *cutter, const PartialEvent *partial) {
    SiteOccurrences **of = &cutter->occurrences[partial->pc];
    size_t threads = ((size_t)cutter->partial_events->threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    if (!*of) *of = memory_new(threads * sizeof **of);
    return *of + cutter->partial_events->records->records[partial->record].warp * (size_t)WARP_LANES;
}

static void count_occurrence(Cutter *cutter, PartialEvent *partial) {
    SiteOccurrences *counts = occurrences_of(cutter, partial);
    int lowest = __builtin_ctz(partial->mask);
    partial->interval = latest_interval(cutter, partial);
    partial->occurrence = counts[lowest].interval == partial->interval ? counts[lowest].count : 0;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        SiteOccurrences *of = &counts[__builtin_ctz(rest)];
        if (of->interval != partial->interval) *of = (SiteOccurrences){partial->interval, 0};
        of->count++;
    }
    if (partial->kind != TRACE_BARRIER) return;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        *interval_of(cutter, partial, __builtin_ctz(rest)) = partial->interval + 1;
}

/* The later iteration replaces the earlier one in the counts. */
static void drop_round(Cutter *cutter, const uint64_t *earlier, const uint64_t *later, int period) {
    for (int i = 0; i < period; i++) {
        PartialEvent *old = &cutter->partial_events->partial_events[earlier[i]],
                     *new = &cutter->partial_events->partial_events[later[i]];
        old->is_dropped = true;
        new->occurrence = old->occurrence;
        SiteOccurrences *counts = occurrences_of(cutter, old);
        for (uint32_t rest = old->mask; rest; rest &= rest - 1) {
            SiteOccurrences *of = &counts[__builtin_ctz(rest)];
            if (of->interval == old->interval && of->count) of->count--;
        }
    }
}

static void add_partial_event(Cutter *cutter, PartialEvent partial) {
    PartialEvents *partial_events = cutter->partial_events;
    const uint64_t *earlier, *later;
    count_occurrence(cutter, &partial);
    array_push(partial_events->partial_events, partial_events->count, partial_events->capacity, partial);
    int period = spin_collapse_note(cutter->spin_collapse, partial_events, partial_events->count - 1,
                                    &earlier, &later);
    if (!period) return;
    drop_round(cutter, earlier, later, period);
    spin_collapse_forget(cutter->spin_collapse, partial_events->records->records[partial.record].warp,
                         period);
}

/* ---- cutting ---------------------------------------------------------------------------------------- */

static bool refuse_address(const Cutter *cutter, const InstrumentSite *site, uint64_t address) {
    return error_set(cutter->error,
                     "the trace buffer, block %u: %s reached the address 0x%llx, which is in no buffer",
                     cutter->block, site->instruction->name, (unsigned long long)address);
}

/* For shared accesses: the lanes that reach the same block's memory as the first one. For others outside
 * shared and local memory: the lanes in the same buffer. */
static uint32_t lanes_of_place(const Location *where, uint32_t among) {
    int first = __builtin_ctz(among);
    uint32_t lanes = 0;
    for (uint32_t rest = among; rest; rest &= rest - 1) {
        const Location *other = &where[__builtin_ctz(rest)];
        bool same = where[first].space == PTX_SPACE_SHARED  ? other->peer == where[first].peer
                    : where[first].space == PTX_SPACE_LOCAL ? true
                                                            : other->buffer == where[first].buffer;
        if (same) lanes |= rest & (0 - rest);
    }
    return lanes;
}

/* Creates a partial event per place, in the order of the emulator: shared, block by block, local, then
 * buffers by their first lane. */
static bool cut_access(Cutter *cutter, PartialEvent partial) {
    const PartialEvents *partial_events = cutter->partial_events;
    const InstrumentSite *site = site_of(partial_events, &partial);
    Location where[WARP_LANES];
    uint32_t left = partial.mask, in_space[2] = {0};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = partial_event_address(partial_events, &partial, lane);
        if (!locate(partial_events->locator, partial_event_space(partial_events, &partial), address,
                    &where[lane]))
            return refuse_address(cutter, site, address);
        if (where[lane].space == PTX_SPACE_SHARED) in_space[0] |= UINT32_C(1) << lane;
        if (where[lane].space == PTX_SPACE_LOCAL) in_space[1] |= UINT32_C(1) << lane;
    }
    while (left) {
        uint32_t among = left & in_space[0]   ? left & in_space[0]
                         : left & in_space[1] ? left & in_space[1]
                                              : left;
        uint32_t mask = lanes_of_place(where, among);
        int first = __builtin_ctz(mask);
        left &= ~mask;
        PartialEvent part = partial;
        part.mask = mask;
        part.kind = trace_kind_in_space(partial.kind, where[first].space);
        if (site->kind == TRACE_CONSTANT_LOAD) part.kind = TRACE_CONSTANT_LOAD;
        add_partial_event(cutter, part);
    }
    return true;
}

static bool cut_copy(Cutter *cutter, PartialEvent partial) {
    const InstrumentSite *site = site_of(cutter->partial_events, &partial);
    for (int parts = copies_part_count(site); partial.matrix < parts; partial.matrix++) {
        PartialEvent part = partial;
        part.kind = copies_part_kind(site, partial.matrix);
        part.mask = copies_part_lanes(cutter->partial_events, &partial);
        if (part.mask && !cut_access(cutter, part)) return false;
    }
    return true;
}

/* Each lane copies a tile of its own, and has events of its own. */
static bool cut_tensor(Cutter *cutter, PartialEvent partial) {
    for (uint32_t rest = partial.mask; rest; rest &= rest - 1) {
        PartialEvent lane = partial;
        lane.mask = rest & (0 - rest);
        const TensorMap *map = partial_event_map(cutter->partial_events, &lane);
        const InstrumentSite *site = site_of(cutter->partial_events, &lane);
        bool is_im2col = trace_tile_shape(site->instruction) == TILE_PIXELS;
        if (!map || (int)map->rank != tensor_copy_rank(site) || is_im2col != (map->mode == TENSOR_IM2COL))
            return error_set(cutter->error,
                             "the trace buffer, block %u: a tensor copy reads a tensor map that no parameter "
                             "of the kernel is",
                             cutter->block);
        if (!cut_copy(cutter, lane)) return false;
    }
    return true;
}

/* True if this record represents its execution: the first one if the probe follows the instruction, the last
 * one at barriers. */
static bool stands_for_all(const Records *records, int number) {
    const Record *record = &records->records[number];
    const Record *first = &records->records[record->first];
    return number == (record->site->is_behind ? record->first : first->last);
}

static bool cut_record(Cutter *cutter, int number) {
    const Records *records = cutter->partial_events->records;
    const PtxProgram *program = cutter->partial_events->launch->program;
    const Record *first = &records->records[records->records[number].first];
    const InstrumentSite *site = first->site;
    int function = ptx_program_function(program, program->module->functions[site->function]);
    if (function < 0)
        return error_set(cutter->error,
                         "the trace buffer is damaged: block %u has records of another kernel (%s)",
                         cutter->block, program->module->functions[site->function]->name);
    PartialEvent partial = {.record = records->records[number].first,
                            .pc = program->functions[function].begin + site->place,
                            .mask = first->all,
                            .kind = site->kind};
    if (!trace_kind_is_access(site->kind)) {
        add_partial_event(cutter, partial);
        return true;
    }
    int matrices = ptx_matrix_access_count(site->instruction);
    if (copies_part_count(site))
        return tensor_copy_is_site(site) ? cut_tensor(cutter, partial) : cut_copy(cutter, partial);
    do {
        if (!cut_access(cutter, partial)) return false;
    } while (++partial.matrix < matrices);
    return true;
}

bool partial_events_make(PartialEvents *partial_events, uint32_t block, Error *error) {
    size_t warps = (partial_events->threads + WARP_LANES - 1) / WARP_LANES;
    size_t codes = (size_t)partial_events->launch->program->code_count;
    Cutter cutter = {.partial_events = partial_events, .block = block, .error = error};
    cutter.interval = memory_new((warps * WARP_LANES + 1) * sizeof *cutter.interval);
    cutter.occurrences = memory_new((codes + 1) * sizeof *cutter.occurrences);
    cutter.spin_collapse = spin_collapse_new((int)warps);
    bool good = true;
    for (int i = 0; good && i < partial_events->records->count; i++)
        if (stands_for_all(partial_events->records, i)) good = cut_record(&cutter, i);
    for (size_t pc = 0; pc < codes; pc++) free(cutter.occurrences[pc]);
    free(cutter.occurrences);
    free(cutter.interval);
    spin_collapse_free(cutter.spin_collapse);
    return good;
}

void partial_events_done(PartialEvents *partial_events) {
    free(partial_events->partial_events);
    *partial_events = (PartialEvents){0};
}
