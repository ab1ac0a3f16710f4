/* Executes the events of a replay and compares them with the trace. The next event of a warp is found in the
 * trace; its instruction must give the recorded event. */
#include "emulator/replay/replay_state.h"

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

void replay_after_lanes(void *context, const Warp *warp, const Op *op, uint32_t mask) {
    Replay *replay = context;
    const Frame *frame = warp->fragments[warp->current].frame;
    int32_t joined[WARP_LANES];
    if (replay->folds) fold_builder_lanes(replay->folds, replay->rules, warp, frame, op, mask, joined);
    replay_see_weight(replay, provenance_lanes(replay->rules, frame, op, mask));
    if (replay->folds) provenance_set_producers(replay->rules, frame, op, mask, joined);
}

TraceEvent *replay_begin_event(void *context, const Warp *warp, int pc, uint32_t mask) {
    Replay *replay = context;
    memset(&replay->made, 0, sizeof replay->made);
    if (!replay_take(replay, warp, pc, mask, false)) replay->expected = (TraceEvent){0};
    return &replay->made;
}

/* The values that redux folds: those of the lanes that the lane names. */
static void fold_weights(const Replay *replay, const Provenance *source, ElementProvenance *provenance) {
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
            FoldPlace place = replay_place(replay, __builtin_ctz(groups[g]), 0);
            producer = fold_builder_redux(replay->folds, &place, event, source, groups[g]);
        }
        for (uint32_t rest = groups[g]; rest; rest &= rest - 1) {
            provenance->weight[__builtin_ctz(rest)] = weight;
            provenance->producer[__builtin_ctz(rest)] = producer;
        }
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

void replay_end_event(void *context) {
    Replay *replay = context;
    const TraceEvent *event = &replay->expected;
    if (!event->mask) return; /* it failed */
    if (event->kind == TRACE_MATRIX) {
        replay_matrix(replay, &replay->program->ops[event->pc], &replay->block->warps[event->warp]);
        return;
    }
    if (event->has_result && memcmp(event->value[0], replay->made.value[0], sizeof event->value[0]) != 0)
        replay_fail(replay, "it produces other values");
    const Op *op = &replay->program->ops[event->pc];
    const Warp *warp = &replay->block->warps[event->warp];
    const Frame *frame = warp->fragments[warp->current].frame;
    ElementProvenance provenance;
    event_provenance_clear(&provenance, 1);
    const Provenance *source =
        op->op_class == OP_WARP && op->source_count ? provenance_of(frame, op->s[0]) : NULL;
    if (source && event->kind == TRACE_SHUFFLE) shuffle_weights(event, source, &provenance);
    if (source && event->kind == TRACE_REDUX) fold_weights(replay, source, &provenance);
    if (op->op_class == OP_WARP) set_result_provenance(replay, op, frame, &provenance);
    if (trace_kind_is_bulk(event->kind)) replay_bulk(replay);
    replay_keep_provenance(replay, &provenance, 1, 1);
}
