/* Records an access: its event, and the hash that recognizes a spinning fragment. Only traced blocks have
 * events. */
#include "emulator/instructions/access_execute.h"

#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/saved_pages.h"
#include "trace/producer_rules.h"

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_register(uint64_t hash, const Warp *warp, const MemoryValue *value, uint32_t mask) {
    if (mask == ALL_LANES && value->bytes) {
        const uint8_t *at = operand_at(warp, value->place);
        for (int i = 0; i < value->bytes * WARP_LANES; i += 8) hash = mix(hash, bytes_read(at + i, 8));
        return hash;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        hash = mix(hash, register_read(warp, value->place, value->bytes, __builtin_ctz(rest)));
    return hash;
}

static uint64_t mix_access(uint64_t hash, const Access *access, const MemoryValue *values, int count) {
    if (access->space == PTX_SPACE_SHARED && access->peer >= 0) hash = mix(hash, (uint64_t)access->peer + 1);
    if (access->line)
        hash = mix(mix(hash, access->first), (uint64_t)access->stride);
    else
        for (uint32_t rest = access->mask; rest; rest &= rest - 1)
            hash = mix(hash, access->address[__builtin_ctz(rest)]);
    for (int e = 0; e < count; e++)
        if (values[e].present) hash = mix_register(hash, access->warp, &values[e], access->mask);
    return hash;
}

/* Two iterations of a loop are the same if they access the same words and find the same values. Needed only
 * while lanes of the warp are diverged, or if blocks wait for each other. */
static void account(const Access *access, const MemoryValue *values, int count, bool changed) {
    Fragment *fragment = warp_fragment(access->warp);
    fragment->touched = true;
    if (changed) {
        fragment->changed = true;
        access->block->worker->changes++;
    }
    if (changed || fragment->quiet < QUIET_ITERATIONS) return;
    uint64_t hash = mix(fragment->hash, (uint64_t)access->op->pc ^ (uint64_t)access->mask << 32);
    fragment->hash = mix_access(hash, access, values, count);
}

void access_watch(const Access *access, const MemoryValue *values, int count) {
    Fragment *fragment = warp_fragment(access->warp);
    uint64_t hash = mix(fragment->watch, (uint64_t)access->op->pc ^ (uint64_t)access->mask << 32);
    fragment->watch = mix_access(hash, access, values, count) | 1;
}

/* The symbol that contains or precedes the address. */
static int symbol_at(const LoweredProgram *program, uint64_t address) {
    int place = 0;
    while (place + 1 < program->shared_count && program->shared[place + 1].offset <= address) place++;
    return place;
}

void access_place_shared(const Grid *grid, uint64_t address, uint16_t *buffer, uint64_t *offset) {
    const LoweredProgram *program = grid->program;
    int place = symbol_at(program, address);
    *buffer = (uint16_t)place;
    *offset = address - (program->shared_count ? program->shared[place].offset : 0);
}

static void record_shared_places(const Access *access, TraceEvent *event) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        access_place_shared(access->block->grid, access->address[lane], &event->buffer[lane],
                            &event->offset[lane]);
    }
}

/* True if all lanes lie in one symbol. */
static bool is_in_one_symbol(const Access *access, int *place) {
    const LoweredProgram *program = access->block->grid->program;
    if (!access->line) return false;
    int high = 31 - __builtin_clz(access->mask);
    *place = symbol_at(program, access->address[__builtin_ctz(access->mask)]);
    return symbol_at(program, access->address[high]) == *place;
}

static void record_places(const Access *access, TraceEvent *event) {
    const Grid *grid = access->block->grid;
    const LoweredProgram *program = grid->program;
    int buffer = 0;
    uint64_t base = 0;
    if (access->space == PTX_SPACE_SHARED) {
        if (!is_in_one_symbol(access, &buffer)) {
            record_shared_places(access, event);
            return;
        }
        base = program->shared_count ? program->shared[buffer].offset : 0;
    } else if (access->space == PTX_SPACE_LOCAL) {
        buffer = grid->trace->symbol_count - 1;
    } else {
        buffer = (int)(access->region - grid->memory->regions);
        base = access->region->base;
    }
    for (int l = 0; access->mask == ALL_LANES && l < WARP_LANES; l++) {
        event->buffer[l] = (uint16_t)buffer;
        event->offset[l] = access->address[l] - base;
    }
    for (uint32_t rest = access->mask == ALL_LANES ? 0 : access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->buffer[lane] = (uint16_t)buffer;
        event->offset[lane] = access->address[lane] - base;
    }
}

static void record_values(const Access *access, const MemoryValue *value, uint64_t row[WARP_LANES]) {
    int bytes = access->memory->element_bytes;
    uint64_t bits = bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : ~UINT64_C(0);
    if (access->mask == ALL_LANES && value->bytes == 4) {
        const uint32_t *from = operand_at(access->warp, value->place);
        for (int l = 0; l < WARP_LANES; l++) row[l] = from[l] & bits;
        return;
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        row[lane] = register_read(access->warp, value->place, value->bytes, lane) & bits;
    }
}

static void record(const Access *access, const MemoryValue *values, int count, const uint64_t *operand,
                   bool changed) {
    const MemoryOp *memory = access->memory;
    Recorder *recorder = access->block->recorder;
    TraceEvent *event = recorder_begin(recorder, access->warp, access->op->pc, access->mask,
                                       trace_kind_in_space(memory->kind, access->space));
    if (memory->kind == TRACE_CONSTANT_LOAD) event->kind = TRACE_CONSTANT_LOAD;
    if (access->block->recorded_values)
        recorded_values_access(access->block->recorded_values, access, values, count);
    if (access->space == PTX_SPACE_SHARED) event->participants = (uint32_t)(access->peer + 1);
    event->width = memory->width;
    event->element_bytes = memory->element_bytes;
    event->element_count = memory->count;
    event->is_load = !memory->is_store;
    event->has_result = count > 0;
    record_places(access, event);
    for (int e = 0; e < count; e++)
        if (values[e].present) record_values(access, &values[e], event->value[e]);
    for (uint32_t rest = operand ? access->mask : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->operand[lane] = operand[lane];
    }
    const PtxInstruction *in = access->op->instruction;
    recorder_end(recorder, trace_may_repeat(event->kind, in, changed), trace_watches(in));
}

void access_keep(Access *access, const MemoryValue *values, int count, const uint64_t *operand,
                 bool changed) {
    if (access->warp->live != warp_fragment(access->warp)->mask || access->block->grid->blocks_communicate)
        account(access, values, count, changed);
    if (access->block->recorder && access->space != PTX_SPACE_PARAM)
        record(access, values, count, operand, changed);
}

/* ---- footprint of a host thread ------------------------------------------------------------------------ */

static void track(Footprint *footprint, const Access *access, bool writes, uint64_t at, uint64_t bytes) {
    uint64_t first = access->region->first_word + at / 4, count = (at + bytes - 1) / 4 - at / 4 + 1;
    if (!writes) {
        bits_set(footprint->read, first, count);
        return;
    }
    footprint_write(footprint, first, count);
    if (footprint->saved) saved_pages_keep(footprint->saved, access->region, at, bytes);
}

static void track_lanes(Footprint *footprint, const Access *access, bool writes) {
    uint64_t width = access->memory->width;
    bool is_one_piece =
        access->host_line && access->mask == ALL_LANES && access->host_stride == (int64_t)width;
    if (is_one_piece) {
        track(footprint, access, writes, access->host_first, width * WARP_LANES);
        return;
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        track(footprint, access, writes, (uint64_t)(access_host(access, __builtin_ctz(rest)) - access->bytes),
              width);
}

void access_leave_footprint(const Access *access, Footprint *footprint) {
    if (!access->memory->is_store) track_lanes(footprint, access, false);
    if (!access->memory->is_load) track_lanes(footprint, access, true);
}
