/* Turns partial events into events of the trace. */
#include "base/memory.h"
#include "instrument/probe_copies.h"
#include "instrument/probe_tensor.h"
#include "instrument/partial_events.h"
#include "instrument/probe_plan.h"
#include "ptx/opcodes.h"
#include "trace/block.h"
#include "trace/producer_rules.h"
#include <stdlib.h>

/* ---- event order --------------------------------------------------------------------------------------- */

/* The order of events: the turn at which each warp would have recorded each event. In each turn, every warp
 * that does not wait at a barrier records one event.
 *
 * The order of the records is a possible one: all threads that arrive at a barrier record it before any of
 * them continues. So one pass in that order is enough. Events of a thread after its k-th use of a barrier
 * come after all k-th uses of it. */

enum { BARRIERS = 17, NO_BARRIER = 255 };

typedef struct BarrierPhases { /* of a single barrier */
    uint32_t *latest;          /* [phase] turn of the latest arrival */
    size_t count, capacity;
} BarrierPhases;

typedef struct ThreadTurns {
    uint8_t behind; /* the barrier that it waits at; NO_BARRIER: none */
    uint32_t used[BARRIERS];
} ThreadTurns;

typedef struct TurnClock {
    BarrierPhases phases[BARRIERS];
    ThreadTurns *threads;
    uint32_t next[WARP_LANES]; /* [warp] its next turn */
} TurnClock;

static void wait_for(const TurnClock *clock, ThreadTurns *thread, uint32_t *turn) {
    if (thread->behind == NO_BARRIER) return;
    uint32_t released = clock->phases[thread->behind].latest[thread->used[thread->behind] - 1] + 1;
    if (released > *turn) *turn = released;
    thread->behind = NO_BARRIER;
}

static void arrive(TurnClock *clock, ThreadTurns *thread, uint32_t barrier, bool waits, uint32_t turn) {
    BarrierPhases *phases = &clock->phases[barrier];
    uint32_t phase = thread->used[barrier]++;
    while (phases->count <= phase) array_push(phases->latest, phases->count, phases->capacity, 0);
    if (phases->latest[phase] < turn) phases->latest[phase] = turn;
    if (waits) thread->behind = (uint8_t)barrier;
}

static bool is_barrier(const PartialEvent *partial) {
    return partial->kind == TRACE_BARRIER || partial->kind == TRACE_NAMED_BARRIER;
}

static void take_turn(TurnClock *clock, const PartialEvents *partial_events, PartialEvent *partial) {
    const Record *record = &partial_events->records->records[partial->record];
    ThreadTurns *threads = clock->threads + record->warp * WARP_LANES;
    uint32_t turn = clock->next[record->warp];
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        wait_for(clock, &threads[__builtin_ctz(rest)], &turn);
    partial->turn = turn;
    clock->next[record->warp] = turn + 1;
    if (!is_barrier(partial) || record->extra >= BARRIERS) return;
    bool waits = !ptx_instruction_has(record->site->instruction, PTX_MOD_ARRIVE);
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        arrive(clock, &threads[__builtin_ctz(rest)], record->extra, waits, turn);
}

static int warp_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].warp;
}

/* Turns increase within each warp, so a counting sort by turn that visits the warps in order is enough. */
static void sort(PartialEvents *partial_events) {
    uint32_t turns = 0;
    for (int i = 0; i < partial_events->count; i++)
        if (partial_events->partial_events[i].turn >= turns)
            turns = partial_events->partial_events[i].turn + 1;
    size_t keys = ((size_t)turns + 1) * WARP_LANES;
    int *place = memory_new((keys + 1) * sizeof *place);
    for (int i = 0; i < partial_events->count; i++)
        place[partial_events->partial_events[i].turn * (size_t)WARP_LANES +
              (size_t)warp_of(partial_events, &partial_events->partial_events[i]) + 1]++;
    for (size_t key = 1; key <= keys; key++) place[key] += place[key - 1];
    PartialEvent *sorted = memory_new(((size_t)partial_events->count + 1) * sizeof *sorted);
    for (int i = 0; i < partial_events->count; i++) {
        const PartialEvent *partial = &partial_events->partial_events[i];
        sorted[place[partial->turn * (size_t)WARP_LANES + (size_t)warp_of(partial_events, partial)]++] =
            *partial;
    }
    free(place);
    free(partial_events->partial_events);
    partial_events->partial_events = sorted;
    partial_events->capacity = partial_events->count + 1;
}

/* Assigns a turn to each remaining partial event, and sorts by turn and warp. */
static void partial_events_order(PartialEvents *partial_events) {
    TurnClock clock = {.threads =
                           memory_new(((size_t)partial_events->threads + WARP_LANES) * sizeof(ThreadTurns))};
    for (uint32_t i = 0; i < partial_events->threads + WARP_LANES; i++) clock.threads[i].behind = NO_BARRIER;
    int kept = 0;
    for (int i = 0; i < partial_events->count; i++)
        if (!partial_events->partial_events[i].is_dropped)
            partial_events->partial_events[kept++] = partial_events->partial_events[i];
    partial_events->count = kept;
    for (int i = 0; i < kept; i++) take_turn(&clock, partial_events, &partial_events->partial_events[i]);
    for (int b = 0; b < BARRIERS; b++) free(clock.phases[b].latest);
    free(clock.threads);
    sort(partial_events);
}

/* ---- instructions ----------------------------------------------------------------------------------- */

static uint64_t low_bytes(uint64_t bits, int bytes) {
    return bytes < 8 ? bits & ((UINT64_C(1) << 8 * bytes) - 1) : bits;
}

static void fill_access(const PartialEvents *partial_events, const PartialEvent *partial,
                        const InstrumentSite *site, TraceEvent *event) {
    const PtxInstruction *in = site->instruction;
    event->element_bytes = site->element_bytes;
    event->element_count = site->element_count;
    event->width = site->element_bytes * site->element_count;
    event->is_load = !ptx_instruction_stores(in) && !ptx_instruction_has(in, PTX_MOD_INIT);
    event->has_result = in->opcode != PTX_red && (site->kind != TRACE_MBARRIER || site->is_behind);
    if (copies_part_count(site)) copies_fill(partial_events, partial, event);
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        Location location = partial_event_location(partial_events, partial, lane);
        event->buffer[lane] = location.buffer;
        event->offset[lane] = location.offset;
        if (location.space == PTX_SPACE_SHARED) event->participants = (uint32_t)(location.peer + 1);
        if (tensor_copy_is_site(site)) tensor_copy_place(partial_events, partial, event);
        if (copies_part_count(site)) continue;
        for (int e = 0; event->has_result && e < site->element_count; e++)
            event->value[e][lane] =
                low_bytes(partial_event_element(partial_events, partial, e, lane), site->element_bytes);
        event->operand[lane] = low_bytes(
            partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane), site->element_bytes);
    }
}

static void fill_warp_op(const PartialEvents *partial_events, const PartialEvent *partial,
                         const InstrumentSite *site, TraceEvent *event) {
    event->element_bytes = 4;
    event->element_count = 1;
    event->has_result = true;
    ShuffleMode mode = trace_shuffle_mode(site->instruction);
    uint32_t met = partial->mask | partial_events->records->records[partial->record].met;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->value[0][lane] = partial_event_value(partial_events, partial, INSTRUMENT_VALUE, 0, lane);
        event->operand[lane] = partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
        if (site->kind != TRACE_SHUFFLE) continue;
        uint32_t control = site->has_control ? site->control
                                             : (uint32_t)partial_event_value(partial_events, partial,
                                                                             INSTRUMENT_CONTROL, 0, lane);
        int source = trace_shuffle_source(mode, lane, control, control >> 8); /* instrument_control() */
        if (source < 0) source = lane;
        event->source[lane] = (int8_t)(met >> source & 1 ? source : -1);
    }
}

/* False: a record of wgmma begins behind the registers of D. */
static bool fill_product(const PartialEvents *partial_events, const PartialEvent *partial,
                         const InstrumentSite *site, TraceEvent *event) {
    uint32_t first = partial_events->records->records[partial->record].extra;
    event->element_bytes = site->element_bytes;
    event->element_count = site->element_count;
    event->has_result = true;
    if (site->group_registers) {
        if (first >= site->group_registers) return false;
        event->participants = first;
        event->element_count = trace_warpgroup_registers(site->group_registers, (int)first);
    }
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        for (int e = 0; e < event->element_count; e++)
            event->value[e][__builtin_ctz(rest)] =
                partial_event_value(partial_events, partial, INSTRUMENT_VALUE, e, __builtin_ctz(rest));
    return true;
}

static bool fill_branch(const PartialEvents *partial_events, const PartialEvent *partial, uint32_t taken,
                        TraceEvent *event) {
    const PtxCode *code = &partial_events->launch->program->code[partial->pc];
    event->element_bytes = 4;
    event->element_count = 1;
    event->has_result = true;
    event->taken = taken;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), target = partial->pc + 1;
        if (taken >> lane & 1) {
            uint64_t index = partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
            bool indexed = code->instruction->opcode == PTX_brx;
            if (indexed && index >= (uint64_t)code->target_count) return false;
            target = indexed ? code->targets[index] : code->target;
        }
        event->value[0][lane] = (uint64_t)target;
    }
    return true;
}

static bool fill_event(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    const Record *record = &partial_events->records->records[partial->record];
    const InstrumentSite *site = record->site;
    uint32_t constant;
    *event = (TraceEvent){.kind = partial->kind,
                          .warp = record->warp,
                          .pc = partial->pc,
                          .mask = partial->mask,
                          .turn = partial->turn,
                          .interval = partial->interval,
                          .occurrence = partial->occurrence};
    switch (site->kind) {
    case TRACE_BRANCH:
        return fill_branch(partial_events, partial, record->extra & partial->mask, event);
    case TRACE_SHUFFLE:
    case TRACE_VOTE:
    case TRACE_REDUX:
        fill_warp_op(partial_events, partial, site, event);
        event->participants = probe_plan_extra(site, &constant) ? record->extra : partial->mask;
        return true;
    case TRACE_MATRIX:
        return fill_product(partial_events, partial, site, event);
    case TRACE_BARRIER:
    case TRACE_NAMED_BARRIER:
        for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
            event->operand[__builtin_ctz(rest)] =
                partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, __builtin_ctz(rest));
        event->participants = record->extra;
        return true;
    case TRACE_WARP_SYNC:
    case TRACE_ASYNC_GROUP:
        event->participants = record->extra;
        return true;
    case TRACE_APPROXIMATE:
        fill_warp_op(partial_events, partial, site, event);
        event->element_bytes = site->element_bytes;
        return true;
    default:
        fill_access(partial_events, partial, site, event);
        return true;
    }
}

/* ---- a block ---------------------------------------------------------------------------------------- */

static bool write_block(PartialEvents *partial_events, uint32_t number, TraceLaunch *launch, Error *error) {
    TraceBlock *block = trace_block_new(number);
    partial_events_order(partial_events);
    for (int i = 0; i < partial_events->count; i++) {
        TraceEvent event;
        if (!fill_event(partial_events, &partial_events->partial_events[i], &event)) {
            trace_block_free(block);
            return error_set(error,
                             "the trace buffer is damaged: block %u: a branch without a target, or a "
                             "product without registers",
                             number);
        }
        trace_block_append(block, &event);
    }
    trace_launch_add_block(launch, block);
    return true;
}

bool instrument_decode(const InstrumentSites *sites, const InstrumentSettings *settings,
                       const InstrumentMemory *memory, uint32_t block, const uint8_t *region, Arena *arena,
                       TraceLaunch *launch, InstrumentTally *tally, Error *error) {
    Records records;
    if (!records_read(&records, sites, settings, block, region, error)) return false;
    Locator locator;
    locator_init(&locator, sites, memory, launch, block, region);
    PartialEvents partial_events = {.records = &records, .locator = &locator, .launch = launch};
    partial_events.threads = settings->block_threads;
    bool good = partial_events_make(&partial_events, block, error) &&
                write_block(&partial_events, block, launch, error);
    if (good) {
        if (!launch->symbols) locator_name_symbols(&locator, arena, launch);
        launch->dropped += records.dropped;
        tally->records += (uint64_t)records.count;
        tally->dropped += records.dropped;
        tally->left_out += records.left_out;
    }
    partial_events_done(&partial_events);
    locator_done(&locator);
    records_done(&records);
    return good;
}
