/* Executes the events of a replay and compares them with the trace. The next event of a warp is found in the
 * trace; its instruction must give the recorded event. */
#include "emulator/replay/replay_state.h"

#include "emulator/instructions/texture.h"
#include "ptx/opcodes.h"

enum { WINDOW = 64 }; /* range of events that run before their turn */

bool replay_fail(Replay *replay, const char *why) {
    if (replay->failed.message[0]) return false;
    return error_set(&replay->failed, "event %d of the trace cannot be replayed: %s", replay->position + 1,
                     why);
}

/* The first event of the warp that has not run, is at `pc` (-1: any) and has a matching mask; -1: none is
 * near. */
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

bool replay_expects(const void *context, const Warp *warp, int pc, uint32_t lanes) {
    const Replay *replay = context;
    int next = find_event(replay, warp->index, -1, 0, false);
    TraceEvent header;
    if (next < 0) return true; /* the trace ends here */
    trace_block_read_header(replay->recorded, next, &header);
    return header.pc == pc && header.mask & lanes;
}

uint32_t replay_next_mask(const void *context, const Warp *warp, int pc) {
    const Replay *replay = context;
    int next = find_event(replay, warp->index, -1, 0, false);
    TraceEvent header = {.mask = 0};
    if (next >= 0) trace_block_read_header(replay->recorded, next, &header);
    return header.pc == pc ? header.mask : 0;
}

bool replay_take(Replay *replay, const Warp *warp, int pc, uint32_t mask, bool part) {
    replay->current = find_event(replay, warp->index, pc, mask, part);
    if (replay->current < 0) return replay_fail(replay, "its warp executes another instruction");
    trace_block_read(replay->recorded, replay->current, &replay->expected);
    replay->taken |= UINT64_C(1) << (replay->current - replay->position - 1);
    return true;
}

void replay_before_lanes(void *context, const Warp *warp, const Op *op, uint32_t mask) {
    Replay *replay = context;
    if (replay->folds) fold_builder_read(warp, op, mask, &replay->read);
}

void replay_after_lanes(void *context, const Warp *warp, const Op *op, uint32_t mask) {
    Replay *replay = context;
    const Frame *frame = warp->fragments[warp->current].frame;
    int32_t joined[WARP_LANES];
    if (replay->folds)
        fold_builder_lanes(replay->folds, replay->rules, warp, frame, op, &replay->read, mask, joined);
    replay_see_weight(replay, provenance_lanes(replay->rules, frame, op, mask));
    if (replay->folds) provenance_set_producers(replay->rules, frame, op, mask, joined);
}

TraceEvent *replay_begin_event(void *context, const Warp *warp, int pc, uint32_t mask) {
    Replay *replay = context;
    memset(&replay->made, 0, sizeof replay->made);
    if (!replay_take(replay, warp, pc, mask, false)) replay->expected = (TraceEvent){0};
    return &replay->made;
}

void replay_meet(void *context, const MetLanes *met) {
    Replay *replay = context;
    replay->met.lanes = met ? met->lanes : 0;
    for (uint32_t rest = replay->met.lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const Provenance *source = provenance_of(met->frame[lane], met->place[lane]);
        replay->met.names[lane] = met->names[lane];
        replay->met.operand[lane] = met->operand[lane];
        replay->met.source.weight[lane] = source ? source->weight[lane] : 0;
        replay->met.source.producer[lane] = source ? source->producer[lane] : -1;
        replay->met.node[lane] = FOLD_NONE;
    }
}

/* `lanes` of the event receive what redux folds of the lanes of `group`. */
static void fold_group(Replay *replay, const Provenance *source, const uint64_t *operand, uint32_t group,
                       uint32_t lanes, ElementProvenance *provenance) {
    uint32_t weight = 0;
    int32_t producer = -1;
    int first = __builtin_ctz(lanes);
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        weight = weight_sum(weight, source->weight[lane]);
        if (source->producer[lane] > producer) producer = source->producer[lane];
    }
    if (replay->folds) {
        FoldPlace place = replay_place(replay, first, 0);
        producer = replay->met.lanes ? replay->met.node[first] : FOLD_NONE;
        if (producer == FOLD_NONE)
            producer = fold_builder_redux(replay->folds, &place,
                                          replay->program->ops[replay->expected.pc].instruction, operand,
                                          source, group);
        for (uint32_t rest = replay->met.lanes ? group : 0; rest; rest &= rest - 1)
            replay->met.node[__builtin_ctz(rest)] = producer;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        provenance->weight[__builtin_ctz(rest)] = weight;
        provenance->producer[__builtin_ctz(rest)] = producer;
    }
}

/* The values that redux folds: those of the lanes that the lane names. */
static void fold_weights(Replay *replay, const Provenance *source, ElementProvenance *provenance) {
    const TraceEvent *event = &replay->expected;
    if (!replay->met.lanes) {
        uint32_t groups[2] = {event->mask & event->participants, event->mask & ~event->participants};
        for (int g = 0; g < 2; g++)
            if (groups[g]) fold_group(replay, source, event->operand, groups[g], groups[g], provenance);
        return;
    }
    for (uint32_t left = event->mask; left;) {
        uint32_t group = replay->met.names[__builtin_ctz(left)], lanes = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (replay->met.names[__builtin_ctz(rest)] == group) lanes |= rest & -rest;
        fold_group(replay, source, replay->met.operand, group, lanes, provenance);
        left &= ~lanes;
    }
}

static void shuffle_weights(const TraceEvent *event, const Provenance *source,
                            ElementProvenance *provenance) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), from = event->source[lane];
        if (from < 0) continue;
        provenance->weight[lane] = source->weight[from];
        provenance->producer[lane] = source->producer[from];
    }
}

/* Makes this event the producer of the result of a shuffle, vote, ... */
static void set_result_provenance(const Replay *replay, const Op *op, const Frame *frame,
                                  const ElementProvenance *provenance) {
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (op->has_d)
            replay_set_provenance(frame, op->d, lane, provenance->weight[lane],
                                  replay_brought(replay, lane, 0, provenance->producer[lane]));
        if (op->has_p)
            replay_set_provenance(frame, op->p, lane, 0, replay_brought(replay, lane, 0, FOLD_NONE));
    }
}

/* A fetch gets the recorded values; they count as no inputs of a sum, since a filter may have mixed them. */
static void give_texels(Replay *replay) {
    const TraceEvent *event = &replay->expected;
    const TextureOp *texture = replay->program->ops[event->pc].extra;
    Warp *warp = &replay->block->warps[event->warp];
    const Frame *frame = warp->fragments[warp->current].frame;
    for (int i = 0; i < texture->count && !texture->is_store; i++)
        for (uint32_t rest = texture->values[i].present ? event->mask : 0; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            register_write(warp, texture->values[i].place, texture->values[i].bytes, lane,
                           event->value[i][lane]);
            replay_set_provenance(frame, texture->values[i].place, lane, 0,
                                  replay_brought(replay, lane, i, FOLD_NONE));
        }
    ElementProvenance provenance[TEXTURE_VALUES];
    event_provenance_clear(provenance, TEXTURE_VALUES);
    replay_keep_provenance(replay, provenance, texture->count, texture->count);
}

void replay_end_event(void *context) {
    Replay *replay = context;
    const TraceEvent *event = &replay->expected;
    if (!event->mask) return; /* it failed */
    if (event->kind == TRACE_MATRIX) {
        const Op *product = &replay->program->ops[event->pc];
        Warp *of = &replay->block->warps[event->warp];
        if (product->instruction->opcode != PTX_wgmma)
            replay_matrix(replay, product, of);
        else if (!replay_wgmma(replay, product, of))
            replay_fail(replay, "it has other registers");
        return;
    }
    if (event->kind == TRACE_TEXTURE) {
        give_texels(replay);
        return;
    }
    if (event->has_result && memcmp(event->value[0], replay->made.value[0], sizeof event->value[0]) != 0)
        replay_fail(replay, "it produces other values");
    const Op *op = &replay->program->ops[event->pc];
    const Warp *warp = &replay->block->warps[event->warp];
    const Frame *frame = warp->fragments[warp->current].frame;
    ElementProvenance provenance;
    event_provenance_clear(&provenance, 1);
    const Provenance *source = op->op_class != OP_WARP || !op->source_count ? NULL
                               : replay->met.lanes                          ? &replay->met.source
                                                                            : provenance_of(frame, op->s[0]);
    if (source && event->kind == TRACE_SHUFFLE) shuffle_weights(event, source, &provenance);
    if (source && event->kind == TRACE_REDUX) fold_weights(replay, source, &provenance);
    if (op->op_class == OP_WARP) set_result_provenance(replay, op, frame, &provenance);
    if (trace_kind_is_bulk(event->kind)) replay_bulk(replay);
    replay_keep_provenance(replay, &provenance, 1, 1);
}
