/* Replay of one traced block (emulator.h, replay.h).
 *
 * The first question runs the whole block once: that gives the facts of every event and a snapshot now and
 * then. Later ones go back to a snapshot and run from there; what a load finds is then read from the facts,
 * so that snapshots need no memory.
 *
 * Warps are lazy: after event k every warp stands just behind its last event up to k. */
#include "emulator/replay.h"

#include "emulator/facts.h"
#include "emulator/folding.h"
#include "emulator/grid.h"
#include "emulator/recorder.h"
#include "emulator/shadow.h"

#include <limits.h>
#include <stdlib.h>

enum { WINDOW = 64, SNAPSHOT_EVENTS = 64, SNAPSHOT_BYTES = 64 << 20, MIN_SNAPSHOTS = 8, PATIENCE = 4096 };

typedef struct Snapshot {
    int position;
    uint64_t taken;
    Block *block;
} Snapshot;

struct Replay {
    const TraceBlock *recorded;
    int event_count;
    Memory memory; /* addresses only: there are no bytes */
    LoweredProgram *program;
    Grid grid;
    Worker *worker;
    ShadowRules *rules;
    Block *block;
    int position;   /* the last event that was made; -1: none */
    uint64_t taken; /* bit i: event position + 1 + i was made before its turn */
    Snapshot *snapshots;
    int snapshot_count, snapshot_capacity, snapshot_interval;
    bool prepared;        /* the first run is over, or under way: */
    ShadowMemory *stored; /* only during the first run */
    Facts *facts;
    Folds *folds;     /* NULL: not wanted; then producers are nodes (folding.h) */
    uint32_t largest; /* weight seen so far, in the first run */
    double *progress; /* [event] that weight, over the largest in the end */
    Error failed;     /* the replay has come apart from the trace here */
    int current;      /* the event being made */
    TraceEvent expected, made;
};

/* ---- the events --------------------------------------------------------------------------------------- */

static bool fail(Replay *replay, const char *why) {
    if (replay->failed.message[0]) return false;
    return error_set(&replay->failed, "event %d of the trace cannot be replayed: %s", replay->position + 1,
                     why);
}

/* The first event of the warp that has not been made, is at `pc` (-1: any) and has a mask that fits; -1: none
 * is near. */
static int find_event(const Replay *replay, int warp, int pc, uint32_t mask, bool part) {
    for (int i = 0; i < WINDOW && replay->position + 1 + i < replay->event_count; i++) {
        if (replay->taken >> i & 1) continue;
        TraceEvent header;
        trace_block_read_header(replay->recorded, replay->position + 1 + i, &header);
        if (header.warp != warp) continue;
        bool fits = part ? header.mask & mask && !(header.mask & ~mask) : header.mask == mask;
        if (pc < 0 || (header.pc == pc && fits)) return replay->position + 1 + i;
    }
    return -1;
}

bool replay_expects(const Replay *replay, const Warp *warp, int pc, uint32_t lanes) {
    int next = find_event(replay, warp->index, -1, 0, false);
    TraceEvent header;
    if (next < 0) return true; /* the trace ends here */
    trace_block_read_header(replay->recorded, next, &header);
    return header.pc == pc && header.mask & lanes;
}

uint32_t replay_next_mask(const Replay *replay, const Warp *warp, int pc) {
    int next = find_event(replay, warp->index, -1, 0, false);
    TraceEvent header = {.mask = 0};
    if (next >= 0) trace_block_read_header(replay->recorded, next, &header);
    return header.pc == pc ? header.mask : 0;
}

/* Reads it into `expected`; false: there is none. */
static bool take(Replay *replay, const Warp *warp, int pc, uint32_t mask, bool part) {
    replay->current = find_event(replay, warp->index, pc, mask, part);
    if (replay->current < 0) return fail(replay, "another instruction is executed");
    trace_block_read(replay->recorded, replay->current, &replay->expected);
    replay->taken |= UINT64_C(1) << (replay->current - replay->position - 1);
    return true;
}

static void see_weight(Replay *replay, uint32_t weight) {
    if (weight > replay->largest) replay->largest = weight;
}

static void keep_facts(Replay *replay, const ElementFacts *facts, int elements, int shown) {
    if (!replay->stored) return; /* known */
    facts_add(replay->facts, replay->current, replay->expected.mask, facts, elements, shown);
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        uint32_t weight = 0;
        for (int e = 0; e < shown; e++) weight = weight_sum(weight, facts[e].weight[__builtin_ctz(rest)]);
        see_weight(replay, weight);
    }
}

/* ---- what the emulator asks --------------------------------------------------------------------------- */

void replay_lanes(Replay *replay, const Warp *warp, const Op *op, uint32_t mask) {
    const Frame *frame = warp->fragments[warp->current].frame;
    int32_t joined[WARP_LANES];
    if (replay->folds) folding_lanes(replay->folds, replay->rules, warp, frame, op, mask, joined);
    see_weight(replay, shadow_lanes(replay->rules, frame, op, mask));
    if (replay->folds) shadow_set_producers(replay->rules, frame, op, mask, joined);
}

static void set_shadow(const Frame *frame, Operand place, int lane, uint32_t weight, int32_t producer) {
    Shadow *shadow = shadow_of(frame, place);
    if (!shadow) return;
    shadow->weight[lane] = weight;
    shadow->producer[lane] = producer;
}

static uint32_t weight_of(const Frame *frame, Operand place, int lane) {
    const Shadow *shadow = shadow_of(frame, place);
    return shadow ? shadow->weight[lane] : 0;
}

static int32_t producer_of(const Frame *frame, Operand place, int lane) {
    const Shadow *shadow = shadow_of(frame, place);
    return shadow ? shadow->producer[lane] : -1;
}

void replay_parameters(const Access *access) {
    const MemoryOp *memory = access->memory;
    const Frame *frame = access->warp->fragments[access->warp->current].frame;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int e = 0; e < memory->count; e++) {
            const MemoryValue *value = &memory->values[e];
            if (!value->present) continue;
            bool entry = access->address[lane] < FRAME_PARAMETERS;
            uint64_t offset =
                access->address[lane] - FRAME_PARAMETERS + (uint64_t)(e * memory->element_bytes);
            uint32_t weight = 0;
            int32_t producer = -1;
            for (int at = 0; !entry && at < memory->element_bytes; at += 4) {
                Shadow *word = shadow_of_parameter(frame, offset + (uint64_t)at);
                if (!memory->is_load) {
                    word->weight[lane] = weight_of(frame, value->place, lane);
                    word->producer[lane] = producer_of(frame, value->place, lane);
                } else if (word->weight[lane] >= weight) {
                    weight = word->weight[lane];
                    producer = word->producer[lane];
                }
            }
            if (memory->is_load) set_shadow(frame, value->place, lane, weight, producer);
        }
    }
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

/* Names a byte over all spaces; local memory is the lane's own. */
static uint64_t key_of(const TraceEvent *event, int lane, int element) {
    uint64_t offset = event->offset[lane] + (uint64_t)(element * event->element_bytes);
    bool is_local = event->kind == TRACE_LOCAL_LOAD || event->kind == TRACE_LOCAL_STORE;
    bool is_shared = event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE ||
                     event->kind == TRACE_SHARED_ATOMIC;
    if (is_local) return UINT64_C(1) << 62 | (uint64_t)(event->warp * WARP_LANES + lane) << 32 | offset;
    return (uint64_t)is_shared << 63 | (uint64_t)event->buffer[lane] << 46 | offset;
}

static uint64_t sign_extend(uint64_t value, int bytes) {
    int unused = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

typedef struct Replayed { /* one element of one lane of an access */
    Replay *replay;
    const Access *access;
    const Frame *frame;
    int lane, element;
    ElementFacts *facts, *before; /* before: what an atomic found */
    bool first_run;
} Replayed;

/* What the event being made gives to a lane. */
static FoldPlace place_of(const Replay *replay, int lane, int element) {
    const TraceEvent *event = &replay->expected;
    const PtxInstruction *in = replay->program->ops[event->pc].instruction;
    return (FoldPlace){.event = replay->current,
                       .warp = event->warp,
                       .lane = lane,
                       .type = in->type_count ? in->types[0] : PTX_NO_TYPE,
                       .bits = event->value[element][lane]};
}

/* The producer of a value that an event brings: the event, or where folds are kept the value in the lane's
 * hands. */
static int32_t brought(const Replay *replay, int lane, int element, int32_t node) {
    if (!replay->folds) return replay->current;
    FoldPlace place = place_of(replay, lane, element);
    return folds_add_move(replay->folds, &place, node);
}

/* The producer of a value that an event leaves in memory. */
static int32_t left(const Replayed *at, int32_t node) {
    return at->replay->folds ? node : at->replay->current;
}

static bool is_global(const TraceEvent *event) {
    return event->kind == TRACE_GLOBAL_LOAD || event->kind == TRACE_GLOBAL_STORE ||
           event->kind == TRACE_GLOBAL_ATOMIC;
}

/* An element that nobody in the block has written: the first load makes its node, which later ones find in
 * memory. */
static void keep_input(const Replayed *at, uint64_t key, int32_t *node) {
    const TraceEvent *event = &at->replay->expected;
    FoldPlace place = place_of(at->replay, at->lane, at->element);
    uint64_t offset = event->offset[at->lane] + (uint64_t)(at->element * event->element_bytes);
    *node = folds_add_input(at->replay->folds, &place, event->buffer[at->lane], offset);
    shadow_memory_write(at->replay->stored, key, event->element_bytes, 1, *node);
}

static void keep_result(const Replayed *at, int32_t node) {
    const TraceEvent *event = &at->replay->expected;
    if (!at->replay->folds || !is_global(event)) return;
    FoldPlace place = place_of(at->replay, at->lane, at->element);
    folds_add_result(at->replay->folds, &place, key_of(event, at->lane, at->element), node);
}

static void replay_load(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    const TraceEvent *event = &at->replay->expected;
    const MemoryValue *value = &memory->values[at->element];
    uint32_t *weight = &at->facts->weight[at->lane];
    int32_t *producer = &at->facts->producer[at->lane];
    uint64_t key = key_of(event, at->lane, at->element);
    if (at->first_run &&
        !shadow_memory_read(at->replay->stored, key, memory->element_bytes, weight, producer)) {
        *weight = event->kind != TRACE_LOCAL_LOAD && event->kind != TRACE_SHARED_LOAD; /* an input */
        if (*weight && at->replay->folds) keep_input(at, key, producer);
    }
    if (!value->present) return;
    uint64_t bits = event->value[at->element][at->lane];
    if (memory->is_signed) bits = sign_extend(bits, memory->element_bytes);
    register_write(at->access->warp, value->place, value->bytes, at->lane, bits);
    int32_t from = at->replay->folds ? *producer : FOLD_NONE;
    set_shadow(at->frame, value->place, at->lane, *weight, brought(at->replay, at->lane, at->element, from));
}

static void replay_store(const Replayed *at) {
    const MemoryValue *value = &at->access->memory->values[at->element];
    if (!at->first_run) return;
    uint32_t weight = at->facts->weight[at->lane] = weight_of(at->frame, value->place, at->lane);
    at->facts->producer[at->lane] = producer_of(at->frame, value->place, at->lane);
    shadow_memory_write(at->replay->stored, key_of(&at->replay->expected, at->lane, at->element),
                        at->access->memory->element_bytes, weight, left(at, at->facts->producer[at->lane]));
    keep_result(at, at->facts->producer[at->lane]);
}

static bool cas_swaps(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    uint64_t compared =
        register_read(at->access->warp, memory->values[0].place, memory->values[0].bytes, at->lane);
    return memory->results[0].present && at->replay->expected.value[0][at->lane] == compared;
}

/* What an atomic leaves in memory holds what was there and its operand; compare and swap, and exchange, only
 * the operand. */
static uint32_t atomic_weight(const Replayed *at, uint32_t old) {
    const MemoryOp *memory = at->access->memory;
    PtxModifierKind operation = atomic_operation(memory);
    uint32_t operand = weight_of(at->frame, memory->values[at->element].place, at->lane);
    if (operation == PTX_MOD_EXCH) return operand;
    if (operation != PTX_MOD_CAS) return weight_sum(old, operand);
    return cas_swaps(at) ? weight_of(at->frame, memory->third.place, at->lane) : old;
}

/* The same as a node; `moved` is what was there, come to the lane. */
static int32_t atomic_node(const Replayed *at, int32_t old, int32_t moved, int32_t operand) {
    PtxModifierKind operation = atomic_operation(at->access->memory);
    if (operation == PTX_MOD_EXCH) return operand;
    if (operation == PTX_MOD_CAS) return cas_swaps(at) ? operand : old;
    if (moved == FOLD_NONE) return brought(at->replay, at->lane, at->element, operand);
    if (operand == FOLD_NONE) return moved;
    FoldPlace place = place_of(at->replay, at->lane, at->element);
    place.type = PTX_NO_TYPE; /* the sum is not recorded */
    return folds_add_join(at->replay->folds, &place, moved, operand, true);
}

static void replay_atomic(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    const TraceEvent *event = &at->replay->expected;
    int lane = at->lane;
    int32_t node = FOLD_NONE, moved = at->replay->current;
    if (at->first_run) {
        uint64_t key = key_of(event, lane, at->element);
        shadow_memory_read(at->replay->stored, key, memory->element_bytes, &at->before->weight[lane],
                           &at->before->producer[lane]);
        Operand operand =
            atomic_operation(memory) == PTX_MOD_CAS ? memory->third.place : memory->values[at->element].place;
        at->facts->weight[lane] = atomic_weight(at, at->before->weight[lane]);
        at->facts->producer[lane] = producer_of(at->frame, operand, lane);
        if (at->replay->folds) {
            moved = brought(at->replay, lane, at->element, at->before->producer[lane]);
            node = atomic_node(at, at->before->producer[lane], moved, at->facts->producer[lane]);
        }
        shadow_memory_write(at->replay->stored, key, memory->element_bytes, at->facts->weight[lane],
                            left(at, node));
        keep_result(at, node);
    }
    const MemoryValue *result = &memory->results[at->element];
    if (!result->present || !event->has_result) return;
    register_write(at->access->warp, result->place, result->bytes, lane, event->value[at->element][lane]);
    set_shadow(at->frame, result->place, lane, at->before->weight[lane], moved);
}

static void replay_event_access(Replay *replay, const Access *access) {
    const MemoryOp *memory = access->memory;
    ElementFacts facts[FACTS_ELEMENTS];
    int elements =
        memory->is_atomic ? 2 * memory->count : memory->count; /* atomics: what was there before, too */
    bool first_run = replay->stored != NULL;
    facts_clear(facts, elements);
    if (!first_run) facts_read(replay->facts, replay->current, facts, elements);
    Replayed at = {.replay = replay, .access = access, .first_run = first_run};
    at.frame = access->warp->fragments[access->warp->current].frame;
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        at.lane = __builtin_ctz(rest);
        for (at.element = 0; at.element < memory->count; at.element++) {
            at.facts = &facts[at.element];
            at.before = &facts[at.element + memory->count];
            if (memory->is_load)
                replay_load(&at);
            else if (memory->is_store)
                replay_store(&at);
            else
                replay_atomic(&at);
        }
    }
    keep_facts(replay, facts, elements, memory->count);
}

Outcome replay_access(const Access *access) {
    Replay *replay = access->block->replay;
    for (uint32_t left = access->mask; left; left &= ~replay->expected.mask) {
        if (!take(replay, access->warp, access->op->pc, left, true)) return OUTCOME_STOP;
        replay_event_access(replay, access);
    }
    return OUTCOME_NEXT;
}

/* ---- other events ------------------------------------------------------------------------------------- */

TraceEvent *replay_begin(Replay *replay, const Warp *warp, int pc, uint32_t mask) {
    memset(&replay->made, 0, sizeof replay->made);
    if (!take(replay, warp, pc, mask, false)) replay->expected = (TraceEvent){0};
    return &replay->made;
}

/* The values that redux folds: of the lanes that the lane names. */
static void fold_weights(const Replay *replay, const Shadow *source, ElementFacts *facts) {
    const TraceEvent *event = &replay->expected;
    uint32_t groups[2] = {event->mask & event->participants, event->mask & ~event->participants};
    for (int g = 0; g < 2; g++) {
        uint32_t weight = 0;
        int32_t producer = -1;
        for (uint32_t rest = groups[g]; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            weight = weight_sum(weight, source->weight[lane]);
            if (source->producer[lane] > producer) producer = source->producer[lane];
        }
        if (replay->folds && groups[g]) {
            FoldPlace place = place_of(replay, __builtin_ctz(groups[g]), 0);
            producer = folding_redux(replay->folds, &place, event, source, groups[g]);
        }
        for (uint32_t rest = groups[g]; rest; rest &= rest - 1) {
            facts->weight[__builtin_ctz(rest)] = weight;
            facts->producer[__builtin_ctz(rest)] = producer;
        }
    }
}

static void shuffle_weights(const TraceEvent *event, const Shadow *source, ElementFacts *facts) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), from = event->source[lane];
        if (from < 0) continue;
        facts->weight[lane] = source->weight[from];
        facts->producer[lane] = source->producer[from];
    }
}

/* The result of a shuffle, vote, ... is produced here. */
static void set_result_shadows(const Replay *replay, const Op *op, const Frame *frame,
                               const ElementFacts *facts) {
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (op->has_d)
            set_shadow(frame, op->d, lane, facts->weight[lane],
                       brought(replay, lane, 0, facts->producer[lane]));
        if (op->has_p) set_shadow(frame, op->p, lane, 0, brought(replay, lane, 0, FOLD_NONE));
    }
}

void replay_end(Replay *replay) {
    const TraceEvent *event = &replay->expected;
    if (!event->mask) return; /* has failed */
    if (event->has_result && memcmp(event->value[0], replay->made.value[0], sizeof event->value[0]) != 0)
        fail(replay, "it gives other values");
    const Op *op = &replay->program->ops[event->pc];
    const Warp *warp = &replay->block->warps[event->warp];
    const Frame *frame = warp->fragments[warp->current].frame;
    ElementFacts facts;
    facts_clear(&facts, 1);
    const Shadow *source = op->op_class == OP_WARP && op->source_count ? shadow_of(frame, op->s[0]) : NULL;
    if (source && event->kind == TRACE_SHUFFLE) shuffle_weights(event, source, &facts);
    if (source && event->kind == TRACE_REDUX) fold_weights(replay, source, &facts);
    if (op->op_class == OP_WARP) set_result_shadows(replay, op, frame, &facts);
    keep_facts(replay, &facts, 1, 1);
}

/* ---- moving ------------------------------------------------------------------------------------------- */

static bool is_taken(const Replay *replay) {
    return replay->taken & 1;
}

/* Makes the next event, and those before it in its warp. */
static bool advance(Replay *replay) {
    TraceEvent header;
    Block *block = replay->block;
    trace_block_read_header(replay->recorded, replay->position + 1, &header);
    if (header.warp < 0 || header.warp >= block->warp_count) return fail(replay, "there is no such warp");
    Warp *warp = &block->warps[header.warp];
    block->turn = header.turn;
    for (int turns = 0; !is_taken(replay); turns++) {
        if (turns >= PATIENCE) return fail(replay, "it does not come");
        if (turns % (2 * WARP_LANES) == 2 * WARP_LANES - 1) warp_release_any(warp);
        if (block_replay_turn(block, warp) || is_taken(replay)) continue;
        if (!replay->failed.message[0] && !replay->worker->stopped && warp->live) block_resolve(block);
        if (replay->failed.message[0] || replay->worker->stopped || !warp->live)
            return fail(replay, "its warp has ended or waits");
    }
    replay->position++;
    replay->taken >>= 1;
    return !replay->failed.message[0];
}

static Block *new_block(Replay *replay) {
    Block *block = block_new(&replay->grid);
    for (int w = 0; w < block->warp_count; w++)
        block->frames[w].shadows = shadows_new(block->frames[w].layout);
    return block;
}

static void free_block(Block *block) {
    for (int w = 0; block && w < block->warp_count; w++) {
        warp_abandon(&block->warps[w]);
        free(block->frames[w].shadows);
    }
    block_free(block);
}

/* A block that has not begun has the warps of one that stands at its start. */
static void start(Replay *replay, Block *block) {
    block_start(block, replay->worker, trace_block_linear(replay->recorded));
    block->replay = replay;
    block->recorder = recorder_for_replay(replay);
}

static void add_snapshot(Replay *replay) {
    Snapshot snapshot = {replay->position, replay->taken, new_block(replay)};
    block_start(snapshot.block, replay->worker, trace_block_linear(replay->recorded));
    block_copy(snapshot.block, replay->block);
    array_push(replay->snapshots, replay->snapshot_count, replay->snapshot_capacity, snapshot);
}

static void restore(Replay *replay, const Snapshot *snapshot) {
    block_copy(replay->block, snapshot->block);
    replay->position = snapshot->position;
    replay->taken = snapshot->taken;
}

/* Weights become shares of the largest; where there are none: intervals, or events. */
static void finish_progress(Replay *replay) {
    uint32_t intervals = 0, passed = 0;
    TraceEvent event;
    for (int i = 0; i < replay->event_count; i++) {
        trace_block_read_header(replay->recorded, i, &event);
        if (event.interval > intervals) intervals = event.interval;
    }
    for (int i = 0; i < replay->event_count; i++) {
        trace_block_read_header(replay->recorded, i, &event);
        if (event.interval > passed) passed = event.interval;
        if (replay->largest > 1)
            replay->progress[i] /= replay->largest;
        else if (intervals)
            replay->progress[i] = (double)passed / intervals;
        else
            replay->progress[i] = (double)(i + 1) / replay->event_count;
    }
}

/* The first run. Where it fails, the facts of the events before stay. */
static void prepare(Replay *replay) {
    if (replay->prepared) return;
    replay->prepared = true;
    replay->stored = shadow_memory_new();
    while (replay->position + 1 < replay->event_count) {
        if ((replay->position + 1) % replay->snapshot_interval == 0) add_snapshot(replay);
        if (!advance(replay)) break;
        replay->progress[replay->position] = replay->largest;
    }
    for (int event = replay->position + 1; event < replay->event_count; event++)
        replay->progress[event] = replay->largest;
    finish_progress(replay);
    shadow_memory_free(replay->stored);
    replay->stored = NULL;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

static uint64_t address_of(void *context, const PtxVariable *variable) {
    const Memory *memory = context;
    for (int i = memory->count - 1; i >= 0; i--) /* module variables follow the arguments */
        if (!strcmp(memory->regions[i].name, variable->name)) return memory->regions[i].base;
    return 0;
}

static int find_buffer(const Trace *trace, const char *name) {
    int buffer = trace->buffer_count - 1;
    while (buffer >= 0 && strcmp(trace->buffers[buffer].name, name) != 0) buffer--;
    return buffer;
}

/* Buffers lie where they lay: their order and sizes decide. */
static void place_buffers(Replay *replay, const Trace *trace) {
    for (int i = 0; i < trace->buffer_count; i++)
        memory_add(&replay->memory, trace->buffers[i].name, NULL, trace->buffers[i].bytes,
                   trace->buffers[i].type, false, false);
}

static void place_special(Replay *replay, const Trace *trace) {
    int heap = find_buffer(trace, "heap"), workspace = find_buffer(trace, "grid workspace");
    if (replay->program->uses_heap && heap >= 0) heap_begin(&replay->memory, heap);
    if (workspace >= 0) replay->grid.workspace = replay->memory.regions[workspace].base;
}

static size_t snapshot_bytes(const Grid *grid) {
    return block_bytes(grid) + (size_t)grid->warps_per_block * shadows_bytes(&grid->program->functions[0]);
}

static int choose_interval(const Replay *replay) {
    size_t most = SNAPSHOT_BYTES / (snapshot_bytes(&replay->grid) + 1);
    if (most < MIN_SNAPSHOTS) most = MIN_SNAPSHOTS;
    size_t interval = (size_t)replay->event_count / most + 1;
    return interval < SNAPSHOT_EVENTS ? SNAPSHOT_EVENTS : (int)interval;
}

Replay *replay_open(const Trace *trace, int launch, const TraceBlock *block, const EmulatorLaunch *geometry,
                    Error *error) {
    if (launch < 0 || launch >= trace->launch_count || !block) {
        error_set(error, "this block was not traced");
        return NULL;
    }
    if (trace->launches[launch]->dropped) {
        error_set(error, "events were dropped while recording, so values cannot be worked out");
        return NULL;
    }
    Replay *replay = memory_new(sizeof *replay);
    replay->recorded = block;
    replay->event_count = trace_block_event_count(block);
    replay->position = -1;
    place_buffers(replay, trace);
    replay->program = lowered_new(geometry, false, address_of, &replay->memory, error);
    if (!replay->program) {
        replay_free(replay);
        return NULL;
    }
    grid_init(&replay->grid, geometry, replay->program, &replay->memory);
    replay->grid.launch_index = launch;
    replay->grid.number = (uint64_t)launch + 1;
    place_special(replay, trace);
    replay->worker = worker_new(&replay->grid);
    replay->rules = shadow_rules_new(replay->program);
    replay->facts = facts_new(replay->event_count);
    replay->progress = memory_new(((size_t)replay->event_count + 1) * sizeof *replay->progress);
    replay->block = new_block(replay);
    start(replay, replay->block);
    replay->snapshot_interval = choose_interval(replay);
    return replay;
}

void replay_free(Replay *replay) {
    if (!replay) return;
    for (int i = 0; i < replay->snapshot_count; i++) free_block(replay->snapshots[i].block);
    free(replay->snapshots);
    free_block(replay->block);
    worker_free(replay->worker);
    shadow_rules_free(replay->rules);
    facts_free(replay->facts);
    shadow_memory_free(replay->stored);
    free(replay->progress);
    lowered_free(replay->program);
    memory_done(&replay->memory);
    free(replay);
}

/* ---- questions ---------------------------------------------------------------------------------------- */

bool replay_seek(Replay *replay, int event, Error *error) {
    prepare(replay);
    if (event < -1 || event >= replay->event_count) return error_set(error, "there is no event %d", event);
    const Snapshot *nearest = NULL;
    for (int i = 0; i < replay->snapshot_count && replay->snapshots[i].position <= event; i++)
        nearest = &replay->snapshots[i];
    if (nearest && (replay->position > event || nearest->position > replay->position)) {
        replay->failed = (Error){0};
        replay->worker->stopped = false;
        restore(replay, nearest);
    }
    while (replay->position < event && advance(replay)) {
    }
    if (replay->position == event) return true;
    if (error) *error = replay->failed;
    return false;
}

/* The frame in which the lane stands, or waits. */
static const Frame *frame_of(const Warp *warp, int lane) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (warp->fragments[i].mask & lane_bit[lane]) return warp->fragments[i].frame;
    for (int i = 0; i < warp->join_count; i++)
        if (warp->joins[i].used && warp->joins[i].arrived & lane_bit[lane]) return warp->joins[i].frame;
    for (const Frame *frame = warp->frames; frame; frame = frame->next)
        if (frame->parent && frame->arrived & lane_bit[lane]) return frame;
    return warp->entry_frame;
}

static const PtxRegister *find_register(const PtxFunction *function, const char *name) {
    for (int i = 0; i < function->register_count; i++)
        if (!strcmp(function->registers[i]->name, name)) return function->registers[i];
    return NULL;
}

static bool read_register(const Frame *frame, const char *name, int lane, ReplayValue *out) {
    const PtxRegister *reg = find_register(frame->layout->function, name);
    if (!reg || frame->layout->register_offset[reg->index] == UINT32_MAX) return false;
    uint32_t offset = frame->layout->register_offset[reg->index];
    const uint8_t *at = frame->registers + offset;
    int bytes = ptx_type_bytes(reg->type);
    uint32_t bits;
    switch (bytes) {
    case 0:
        memcpy(&bits, at, sizeof bits);
        out->bits[lane] = bits >> lane & 1;
        break;
    case 1:
    case 2:
        out->bits[lane] = bytes_read(at + lane * 2, 2);
        break;
    case 4:
        out->bits[lane] = bytes_read(at + lane * 4, 4);
        break;
    default:
        out->bits[lane] = bytes_read(at + lane * 8, 8);
        break;
    }
    out->weight[lane] = frame->shadows[offset / 64].weight[lane];
    out->producer[lane] = frame->shadows[offset / 64].producer[lane];
    return true;
}

bool replay_register(Replay *replay, int warp, const char *name, ReplayValue *out) {
    *out = (ReplayValue){0};
    if (warp < 0 || warp >= replay->block->warp_count) return false;
    bool found = false;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        out->producer[lane] = -1;
        found |= read_register(frame_of(&replay->block->warps[warp], lane), name, lane, out);
    }
    return found;
}

const ReplayEventFacts *replay_event_facts(Replay *replay, int event) {
    if (event < 0 || event >= replay->event_count) return NULL;
    prepare(replay);
    return facts_of_event(replay->facts, event);
}

Folds *replay_folds(const Trace *trace, int launch, const TraceBlock *block, const EmulatorLaunch *geometry,
                    Error *error) {
    Replay *replay = replay_open(trace, launch, block, geometry, error);
    if (!replay) return NULL;
    Folds *folds = replay->folds = folds_new();
    replay->snapshot_interval = INT_MAX;
    prepare(replay);
    if (replay->failed.message[0]) {
        if (error) *error = replay->failed;
        folds_free(folds);
        folds = NULL;
    }
    replay_free(replay);
    return folds;
}

double replay_progress(Replay *replay, int event) {
    prepare(replay);
    if (event < 0 || !replay->event_count) return 0;
    return replay->progress[event < replay->event_count ? event : replay->event_count - 1];
}
