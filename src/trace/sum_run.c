/* Runs of sum trees (sum_trees.h): which block or launch stored what another one loads.
 *
 * A block of a launch is added after the blocks whose results it loads, as far as that is possible. A word
 * that does not hold what was loaded of it, since it changes while it is read, is unknown. */
#include "ptx/opcodes.h"
#include "trace/sum_table.h"

#include <stdlib.h>

typedef struct SumWord {
    uint64_t key; /* FoldResult.place + 1; 0: free */
    bool is_there;
    int32_t node;
    int launch, block; /* that changed it last; the block by its index */
    int event;
    uint16_t warp;
    uint8_t lane, bytes; /* bytes: of `bits`; 0: they are not known */
    bool is_swapped;     /* by compare-and-swap */
    bool has_swappers;   /* several threads did so, in one launch */
    bool is_added;       /* by an atomic */
    bool is_consumed;
    uint64_t bits;
    int32_t base;            /* what it was before the atomics of that block */
    bool is_base_of_other;   /* made by atomics of other blocks of the launch */
    int planned, planned_by; /* a launch that will change it, and the block; SEVERAL */
} SumWord;

enum { WAITS, ENTERED, ADDED };
enum { OFFSET_BITS = 46, SEVERAL = -2 };

struct SumRun {
    SumTrees *trees;
    const Trace *trace;
    int *buffers; /* [buffer of the trace] */
    SumWord *places;
    size_t slot_count, place_count;
    SumPlace *listed;
    /* Of the launch that is being added: */
    int launch, block;
    Folds *const *folds;
    uint8_t *states; /* [block] */
};

SumRun *sum_run_new(SumTrees *trees, const Trace *trace) {
    SumRun *run = memory_new(sizeof *run);
    run->trees = trees;
    run->trace = trace;
    run->slot_count = 1 << 10;
    run->places = memory_new(run->slot_count * sizeof *run->places);
    run->buffers = memory_new((size_t)(trace->buffer_count + 1) * sizeof *run->buffers);
    for (int i = 0; i < trace->buffer_count; i++) run->buffers[i] = sum_buffer(trees, trace->buffers[i].name);
    return run;
}

void sum_run_free(SumRun *run) {
    if (!run) return;
    free(run->buffers);
    free(run->places);
    free(run->listed);
    free(run);
}

/* ---- places -------------------------------------------------------------------------------------------- */

static SumWord *find(const SumRun *run, uint64_t key) {
    for (size_t at = (size_t)sum_mix(key, 1);; at++) {
        SumWord *place = &run->places[at & (run->slot_count - 1)];
        if (place->key == key + 1 || !place->key) return place;
    }
}

static void grow(SumRun *run) {
    SumWord *old = run->places;
    size_t count = run->slot_count;
    run->slot_count *= 2;
    run->places = memory_new(run->slot_count * sizeof *run->places);
    for (size_t i = 0; i < count; i++)
        if (old[i].key) *find(run, old[i].key - 1) = old[i];
    free(old);
}

static SumWord *make(SumRun *run, uint64_t key) {
    SumWord *place = find(run, key);
    if (place->key) return place;
    if (++run->place_count * 2 > run->slot_count) {
        grow(run);
        place = find(run, key);
    }
    *place = (SumWord){.key = key + 1, .node = SUM_NONE, .launch = -1, .base = SUM_NONE, .planned = -1};
    return place;
}

static SumWord *written(const SumRun *run, uint64_t key) {
    SumWord *place = find(run, key);
    return place->key && place->is_there ? place : NULL;
}

static uint64_t offset_of(uint64_t key) {
    return key & ((UINT64_C(1) << OFFSET_BITS) - 1);
}

void sum_run_overwrite(SumRun *run, int buffer, uint64_t offset, uint64_t bytes) {
    for (size_t i = 0; i < run->slot_count; i++) {
        SumWord *place = &run->places[i];
        uint64_t key = place->key - 1, at = offset_of(key);
        if (place->key && key >> OFFSET_BITS == (uint64_t)buffer && at >= offset && at - offset < bytes)
            place->is_there = false;
    }
}

static int compare_places(const void *a, const void *b) {
    const SumPlace *x = a, *y = b;
    if (x->buffer != y->buffer) return x->buffer < y->buffer ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

const SumPlace *sum_run_places(SumRun *run, int *count) {
    free(run->listed);
    run->listed = memory_new((run->place_count + 1) * sizeof *run->listed);
    *count = 0;
    for (size_t i = 0; i < run->slot_count; i++) {
        const SumWord *place = &run->places[i];
        if (!place->key || !place->is_there) continue;
        uint64_t key = place->key - 1;
        run->listed[(*count)++] = (SumPlace){.buffer = (uint16_t)(key >> OFFSET_BITS),
                                             .offset = offset_of(key),
                                             .node = place->node,
                                             .is_consumed = place->is_consumed};
    }
    qsort(run->listed, (size_t)*count, sizeof *run->listed, compare_places);
    return run->listed;
}

/* ---- loads --------------------------------------------------------------------------------------------- */

static const PtxInstruction *instruction_at(const SumRun *run, int pc) {
    return run->trace->launches[run->launch]->program->code[pc].instruction;
}

static int buffer_of(const SumRun *run, const FoldNode *input) {
    return input->buffer < run->trace->buffer_count
               ? run->buffers[input->buffer]
               : sum_buffer(run->trees, "shared memory of another block");
}

static uint64_t mask_of(int bytes) {
    return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

static bool holds(const SumWord *place, const FoldNode *loaded, int bytes) {
    if (!place->bytes || loaded->type == PTX_NO_TYPE) return true;
    int common = place->bytes < bytes ? place->bytes : bytes;
    return !((place->bits ^ loaded->bits) & mask_of(common));
}

/* What a word holds that the block loads and has not written itself. */
static int load(SumRun *run, const FoldNode *input, const FoldNode *loaded) {
    int buffer = buffer_of(run, input);
    if (input->buffer >= run->trace->buffer_count)
        return sum_add_unknown(run->trees, buffer, input->bits, loaded);
    uint64_t key = (uint64_t)input->buffer << OFFSET_BITS | input->bits;
    int bytes = loaded->type == PTX_NO_TYPE ? 4 : ptx_type_bytes((PtxType)loaded->type);
    SumWord *place = written(run, key);
    bool is_whole = place != NULL;
    if (!place && input->bits % 4 == 2)
        place = written(run, key - 2); /* half of a word that was stored whole */
    if (!place) return sum_add_element(run->trees, buffer, input->bits, loaded);
    place->is_consumed = true;
    if (is_whole && !holds(place, loaded, bytes))
        return sum_add_unknown(run->trees, buffer, input->bits, loaded);
    SumWord *other = is_whole && bytes == 4 ? written(run, key + 2) : NULL; /* a word of two halves */
    if (!other) return place->node;
    other->is_consumed = true;
    return sum_add(run->trees, (SumOperation){.id = 1}, place->node, other->node,
                   &(SumPoint){.pc = loaded->pc, .launch = run->launch, .type = PTX_NO_TYPE}, false);
}

/* The bits of a word differ from those of its first load, whose node follows the element's. */
static bool has_changed(const Folds *folds, const FoldNode *move) {
    const FoldNode *first = &folds->nodes[move->a + 1];
    return folds->nodes[move->a].kind == FOLD_INPUT && first != move && first->kind == FOLD_MOVE &&
           first->a == move->a && first->type == move->type && first->bits != move->bits;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void add_block(SumRun *run, int block);

/* The blocks that write what is loaded come first. */
static void add_writers(SumRun *run, const FoldNode *input) {
    if (input->buffer >= run->trace->buffer_count) return;
    const SumWord *place = find(run, (uint64_t)input->buffer << OFFSET_BITS | input->bits);
    if (!place->key || place->planned != run->launch) return;
    int first = place->planned_by, last = first;
    if (first == SEVERAL) first = 0, last = run->trace->launches[run->launch]->block_count - 1;
    for (int block = first; block <= last; block++)
        if (run->states[block] == WAITS) add_block(run, block);
}

/* An atomic meets what an atomic of another thread left. */
static bool meets_another(const SumRun *run, const Folds *folds, const FoldNode *join) {
    const FoldNode *old = &folds->nodes[join->a];
    while (old->kind == FOLD_MOVE && old->pc == join->pc && old->event == join->event &&
           old->lane == join->lane)
        old = &folds->nodes[old->a];
    if (old->kind == FOLD_INPUT || !sum_operation_of(instruction_at(run, old->pc)).is_atomic) return false;
    return old->warp != join->warp || old->lane != join->lane;
}

static int join(const SumRun *run, const Folds *folds, const FoldNode *at, int a, int b) {
    SumOperation operation = sum_operation_of(instruction_at(run, at->pc));
    SumPoint point = {at->pc, run->launch, at->bits, at->type};
    bool no_order = operation.is_atomic && operation.rounds && meets_another(run, folds, at);
    return sum_add(run->trees, operation, a, b, &point, no_order);
}

/* [node] the block's nodes in the table; the caller's. */
static int32_t *translate(SumRun *run, const Folds *folds) {
    int32_t *made = memory_new(((size_t)folds->node_count + 1) * sizeof *made);
    for (int i = 0; i < folds->node_count; i++) {
        const FoldNode *node = &folds->nodes[i], *next = i + 1 < folds->node_count ? node + 1 : NULL;
        if (node->kind == FOLD_JOIN) {
            made[i] = join(run, folds, node, made[node->a], made[node->b]);
        } else if (node->kind == FOLD_MOVE) {
            const FoldNode *from = &folds->nodes[node->a];
            made[i] = has_changed(folds, node)
                          ? sum_add_unknown(run->trees, buffer_of(run, from), from->bits, node)
                          : made[node->a];
        } else {
            int block = run->block;
            FoldNode plain = {.type = PTX_NO_TYPE};
            add_writers(run, node);
            run->block = block;
            made[i] = load(run, node, next && next->kind == FOLD_MOVE && next->a == i ? next : &plain);
        }
    }
    return made;
}

/* ---- stores -------------------------------------------------------------------------------------------- */

typedef struct SumStore { /* a result of the block */
    const FoldResult *result;
    const TraceEvent *event;
    const PtxInstruction *instruction;
    SumWord *place;
    int node;
} SumStore;

/* The bits that a store wrote. */
static void keep_bits(const SumStore *at) {
    const TraceEvent *event = at->event;
    uint64_t from = event->offset[at->result->lane], offset = offset_of(at->result->place);
    at->place->bytes = 0;
    if (event->kind != TRACE_GLOBAL_STORE || offset < from) return;
    uint64_t element = (offset - from) / (unsigned)event->element_bytes;
    if (element >= (uint64_t)event->element_count) return;
    at->place->bytes = (uint8_t)event->element_bytes;
    at->place->bits = event->value[element][at->result->lane];
}

/* Begins the changes of this block to the place. */
static void enter(const SumRun *run, SumWord *place) {
    if (place->launch == run->launch && place->block == run->block) return;
    place->base = place->is_there ? place->node : SUM_NONE;
    place->is_base_of_other = place->is_there && place->is_added && place->launch == run->launch;
}

static bool is_swap(const PtxInstruction *in) {
    return in->opcode == PTX_atom && ptx_instruction_has(in, PTX_MOD_CAS);
}

/* Another thread changed the place before: several read it, add to it and swap it in. */
static bool is_of_another(const SumRun *run, const SumStore *at) {
    const SumWord *place = at->place;
    return place->block != run->block || place->warp != at->result->warp || place->lane != at->result->lane;
}

static void store(SumRun *run, const SumStore *at) {
    SumWord *place = at->place;
    SumOperation operation = sum_operation_of(at->instruction);
    bool swaps = is_swap(at->instruction);
    bool adds = operation.is_atomic && !swaps && !ptx_instruction_has(at->instruction, PTX_MOD_EXCH);
    int node = at->node;
    enter(run, place);
    place->has_swappers = swaps && place->launch == run->launch && place->is_swapped &&
                          (place->has_swappers || is_of_another(run, at));
    if (place->has_swappers) node = sum_without_order(run->trees, node);
    if (adds) {
        SumPoint point = {at->event->pc, run->launch, 0, PTX_NO_TYPE};
        node = sum_add(run->trees, operation, place->base, node, &point,
                       operation.rounds && place->is_base_of_other);
    } else {
        place->base = SUM_NONE;
        place->is_base_of_other = false;
    }
    place->node = node;
    place->launch = run->launch;
    place->block = run->block;
    place->event = at->result->event;
    place->warp = at->result->warp;
    place->lane = at->result->lane;
    place->is_swapped = swaps;
    place->is_added = adds;
    place->is_there = true;
    place->is_consumed = false;
    keep_bits(at);
}

/* What the block loads behind its last store there is consumed, as by another block. */
static void consume(const SumRun *run, const Folds *folds) {
    for (int i = 0; i < folds->reread_count; i++) {
        SumWord *place = find(run, folds->rereads[i].place);
        if (place->key && place->launch == run->launch && place->block == run->block &&
            folds->rereads[i].event > place->event)
            place->is_consumed = true;
    }
}

static bool is_followed(const FoldResult *result) {
    return !(result->place >> 63); /* not shared memory of a cluster */
}

static void add_block(SumRun *run, int block) {
    const TraceBlock *traced = run->trace->launches[run->launch]->blocks[block];
    const Folds *folds = run->folds[block];
    run->states[block] = ENTERED;
    run->block = block;
    int32_t *made = translate(run, folds);
    TraceEvent event = {0};
    int read = -1;
    for (int i = 0; i < folds->result_count; i++) {
        const FoldResult *result = &folds->results[i];
        if (!is_followed(result)) continue;
        if (read != result->event) trace_block_read(traced, result->event, &event);
        read = result->event;
        SumStore at = {.result = result, .event = &event, .instruction = instruction_at(run, event.pc)};
        at.place = make(run, result->place);
        at.node = result->node == FOLD_NONE ? SUM_NONE : made[result->node];
        store(run, &at);
    }
    consume(run, folds);
    free(made);
    run->states[block] = ADDED;
}

/* Finds out which block changes which place. */
static void plan(SumRun *run, int block) {
    const Folds *folds = run->folds[block];
    for (int i = 0; i < folds->result_count; i++) {
        if (!is_followed(&folds->results[i])) continue;
        SumWord *place = make(run, folds->results[i].place);
        bool again = place->planned == run->launch;
        place->planned_by = again && place->planned_by != block ? SEVERAL : block;
        place->planned = run->launch;
    }
}

void sum_run_add_launch(SumRun *run, int launch, Folds *const *folds) {
    int count = run->trace->launches[launch]->block_count;
    run->launch = launch;
    run->folds = folds;
    run->states = memory_new((size_t)count + 1);
    for (int block = 0; block < count; block++) plan(run, block);
    for (int block = 0; block < count; block++)
        if (run->states[block] == WAITS) add_block(run, block);
    free(run->states);
}
