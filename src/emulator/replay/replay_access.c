/* Accesses of a replay take the recorded values. Weights flow through memory, and producers through loads and
 * atomics. */
#include "emulator/replay/replay_state.h"

#include "emulator/instructions/access_execute.h"

static uint32_t weight_of(const Frame *frame, Operand place, int lane) {
    const Provenance *provenance = provenance_of(frame, place);
    return provenance ? provenance->weight[lane] : 0;
}

static int32_t producer_of(const Frame *frame, Operand place, int lane) {
    const Provenance *provenance = provenance_of(frame, place);
    return provenance ? provenance->producer[lane] : -1;
}

void replay_after_parameters(void *context, const Access *access) {
    (void)context;
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
                Provenance *word = provenance_of_parameter(frame, offset + (uint64_t)at);
                if (!memory->is_load) {
                    word->weight[lane] = weight_of(frame, value->place, lane);
                    word->producer[lane] = producer_of(frame, value->place, lane);
                } else if (word->weight[lane] >= weight) {
                    weight = word->weight[lane];
                    producer = word->producer[lane];
                }
            }
            if (memory->is_load) replay_set_provenance(frame, value->place, lane, weight, producer);
        }
    }
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

/* A unique name of a byte over all spaces; local memory belongs to the lane. */
static uint64_t key_of(const TraceEvent *event, int lane, int element) {
    uint64_t offset = event->offset[lane] + (uint64_t)(element * event->element_bytes);
    if (trace_kind_is_local(event->kind))
        return UINT64_C(1) << 62 | (uint64_t)(event->warp * WARP_LANES + lane) << 32 | offset;
    return replay_event_key(event, lane, offset);
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
    ElementProvenance *provenance, *before; /* before: the value an atomic found */
    bool first_run;
} Replayed;

/* The producer of a value that an event stores. */
static int32_t left(const Replayed *at, int32_t node) {
    return at->replay->folds ? node : at->replay->current;
}

static bool is_global(const TraceEvent *event) {
    return event->kind == TRACE_GLOBAL_LOAD || event->kind == TRACE_GLOBAL_STORE ||
           event->kind == TRACE_GLOBAL_ATOMIC;
}

/* An element that no thread of the block has written: the first load creates its node, which later loads find
 * in memory. */
static void keep_input(const Replayed *at, uint64_t key, int32_t *node) {
    const TraceEvent *event = &at->replay->expected;
    int peer = trace_event_peer(event);
    uint16_t buffer = peer >= 0 ? (uint16_t)(FOLD_PEER_BUFFER + peer) : event->buffer[at->lane];
    if (peer < 0 && trace_kind_is_shared(event->kind)) buffer = FOLD_OTHER_BLOCK;
    FoldPlace place = replay_place(at->replay, at->lane, at->element);
    uint64_t offset = event->offset[at->lane] + (uint64_t)(at->element * event->element_bytes);
    *node = folds_add_input(at->replay->folds, &place, buffer, offset);
    provenance_memory_write(at->replay->stored, key, event->element_bytes, 1, *node);
}

static void keep_result(const Replayed *at, int32_t node) {
    const TraceEvent *event = &at->replay->expected;
    if (!at->replay->folds || (!is_global(event) && trace_event_peer(event) < 0)) return;
    FoldPlace place = replay_place(at->replay, at->lane, at->element);
    folds_add_result(at->replay->folds, &place, key_of(event, at->lane, at->element), node);
}

/* An element that the block finds in memory, and did not only load before. */
static void keep_reread(const Replayed *at, uint64_t key, int32_t node) {
    Folds *folds = at->replay->folds;
    if (!folds || !is_global(&at->replay->expected)) return;
    if (node == FOLD_NONE || folds->nodes[node].kind != FOLD_INPUT)
        folds_add_reread(folds, at->replay->current, key);
}

static void replay_load(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    const TraceEvent *event = &at->replay->expected;
    const MemoryValue *value = &memory->values[at->element];
    uint32_t *weight = &at->provenance->weight[at->lane];
    int32_t *producer = &at->provenance->producer[at->lane];
    uint64_t key = key_of(event, at->lane, at->element);
    if (at->first_run &&
        !provenance_memory_read(at->replay->stored, key, memory->element_bytes, weight, producer)) {
        bool is_own = trace_kind_is_shared(event->kind) && trace_event_peer(event) < 0;
        bool others_write = event->kind == TRACE_SHARED_LOAD && at->replay->grid.cluster_blocks > 1;
        *weight = !trace_kind_is_local(event->kind) && (!is_own || others_write); /* an input */
        if (*weight && at->replay->folds) keep_input(at, key, producer);
    } else if (at->first_run) {
        keep_reread(at, key, *producer);
    }
    if (!value->present) return;
    uint64_t bits = event->value[at->element][at->lane];
    if (memory->is_signed) bits = sign_extend(bits, memory->element_bytes);
    if (memory->is_byte_of_word)
        bits |= register_read(at->access->warp, value->place, value->bytes, at->lane) << 8;
    register_write(at->access->warp, value->place, value->bytes, at->lane, bits);
    int32_t from = at->replay->folds ? *producer : FOLD_NONE;
    replay_set_provenance(at->frame, value->place, at->lane, *weight,
                          replay_brought(at->replay, at->lane, at->element, from));
}

static void replay_store(const Replayed *at) {
    const MemoryValue *value = &at->access->memory->values[at->element];
    if (!at->first_run) return;
    uint32_t weight = at->provenance->weight[at->lane] = weight_of(at->frame, value->place, at->lane);
    at->provenance->producer[at->lane] = producer_of(at->frame, value->place, at->lane);
    provenance_memory_write(at->replay->stored, key_of(&at->replay->expected, at->lane, at->element),
                            at->access->memory->element_bytes, weight,
                            left(at, at->provenance->producer[at->lane]));
    keep_result(at, at->provenance->producer[at->lane]);
}

static bool cas_swaps(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    uint64_t compared =
        register_read(at->access->warp, memory->values[0].place, memory->values[0].bytes, at->lane);
    return memory->results[0].present && at->replay->expected.value[0][at->lane] == compared;
}

/* The value that an atomic stores combines the old value and its operand; compare-and-swap and exchange store
 * only the operand. */
static uint32_t atomic_weight(const Replayed *at, uint32_t old) {
    const MemoryOp *memory = at->access->memory;
    PtxModifierKind operation = atomic_operation(memory);
    uint32_t operand = weight_of(at->frame, memory->values[at->element].place, at->lane);
    if (operation == PTX_MOD_EXCH) return operand;
    if (operation != PTX_MOD_CAS) return weight_sum(old, operand);
    return cas_swaps(at) ? weight_of(at->frame, memory->third.place, at->lane) : old;
}

/* The same as a node; `moved`: the old value, moved to the lane. */
static int32_t atomic_node(const Replayed *at, int32_t old, int32_t moved, int32_t operand) {
    PtxModifierKind operation = atomic_operation(at->access->memory);
    if (operation == PTX_MOD_EXCH) return operand;
    if (operation == PTX_MOD_CAS) return cas_swaps(at) ? operand : old;
    if (moved == FOLD_NONE) return replay_brought(at->replay, at->lane, at->element, operand);
    if (operand == FOLD_NONE) return moved;
    FoldPlace place = replay_place(at->replay, at->lane, at->element);
    place.type = PTX_NO_TYPE; /* the sum is not recorded */
    FoldOp op = fold_reduces_by(at->replay->program->ops[at->replay->expected.pc].instruction);
    FoldJoin made = {moved, operand, op, true, {at->replay->folds->nodes[moved].bits}, 0};
    Operand source = at->access->memory->values[at->element].place;
    made.of[1] = register_read(at->access->warp, source, at->access->memory->element_bytes, at->lane);
    return folds_add_join(at->replay->folds, &place, &made);
}

static void replay_atomic(const Replayed *at) {
    const MemoryOp *memory = at->access->memory;
    const TraceEvent *event = &at->replay->expected;
    int lane = at->lane;
    int32_t node = FOLD_NONE, moved = at->replay->current;
    if (at->first_run) {
        uint64_t key = key_of(event, lane, at->element);
        provenance_memory_read(at->replay->stored, key, memory->element_bytes, &at->before->weight[lane],
                               &at->before->producer[lane]);
        Operand operand =
            atomic_operation(memory) == PTX_MOD_CAS ? memory->third.place : memory->values[at->element].place;
        at->provenance->weight[lane] = atomic_weight(at, at->before->weight[lane]);
        at->provenance->producer[lane] = producer_of(at->frame, operand, lane);
        if (at->replay->folds) {
            moved = replay_brought(at->replay, lane, at->element, at->before->producer[lane]);
            node = atomic_node(at, at->before->producer[lane], moved, at->provenance->producer[lane]);
        }
        provenance_memory_write(at->replay->stored, key, memory->element_bytes, at->provenance->weight[lane],
                                left(at, node));
        if (atomic_operation(memory) != PTX_MOD_CAS || cas_swaps(at)) keep_result(at, node);
    }
    const MemoryValue *result = &memory->results[at->element];
    if (!result->present || !event->has_result) return;
    register_write(at->access->warp, result->place, result->bytes, lane, event->value[at->element][lane]);
    replay_set_provenance(at->frame, result->place, lane, at->before->weight[lane], moved);
}

static void replay_event_access(Replay *replay, const Access *access) {
    const MemoryOp *memory = access->memory;
    ElementProvenance provenance[MAX_PROVENANCE_ELEMENTS];
    /* atomics: also the old value */
    int elements = memory->is_atomic ? 2 * memory->count : memory->count;
    bool first_run = replay->stored != NULL;
    event_provenance_clear(provenance, elements);
    if (!first_run) event_provenance_read(replay->provenance, replay->current, provenance, elements);
    Replayed at = {.replay = replay, .access = access, .first_run = first_run};
    at.frame = access->warp->fragments[access->warp->current].frame;
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        at.lane = __builtin_ctz(rest);
        for (at.element = 0; at.element < memory->count; at.element++) {
            at.provenance = &provenance[at.element];
            at.before = &provenance[at.element + memory->count];
            if (memory->is_load)
                replay_load(&at);
            else if (memory->is_store)
                replay_store(&at);
            else
                replay_atomic(&at);
        }
    }
    replay_keep_provenance(replay, provenance, elements, memory->count);
}

bool replay_access(void *context, const Access *access) {
    Replay *replay = context;
    for (uint32_t left = access->mask; left; left &= ~replay->expected.mask) {
        if (!replay_take(replay, access->warp, access->op->pc, left, true)) return false;
        replay_event_access(replay, access);
    }
    return true;
}
