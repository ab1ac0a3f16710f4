/* The values that an event of a replay brings, and their provenance. */
#include "emulator/replay/replay_state.h"

void replay_see_weight(Replay *replay, uint32_t weight) {
    if (weight > replay->largest) replay->largest = weight;
}

void replay_keep_provenance(Replay *replay, const ElementProvenance *provenance, int elements, int shown) {
    if (!replay->stored) return; /* already known */
    event_provenance_add(replay->provenance, replay->current, replay->expected.mask, provenance, elements,
                         shown);
    for (uint32_t rest = replay->expected.mask; rest; rest &= rest - 1) {
        uint32_t weight = 0;
        for (int e = 0; e < shown; e++)
            weight = weight_sum(weight, provenance[e].weight[__builtin_ctz(rest)]);
        replay_see_weight(replay, weight);
    }
}

/* The type of a word with two 16-bit floats, if loaded from an array of them; an instruction without a type
 * (cp.async) has the buffer's. */
static PtxType type_of(const Replay *replay, const TraceEvent *event, int lane, PtxType type) {
    if (type == PTX_NO_TYPE && trace_kind_is_buffer(event->kind)) {
        PtxType element = replay->buffers[event->buffer[lane]].type;
        return ptx_type_bytes(element) == event->element_bytes ? element : type;
    }
    if (event->kind != TRACE_GLOBAL_LOAD || event->element_bytes != 4 || type == PTX_F32) return type;
    PtxType element = replay->buffers[event->buffer[lane]].type;
    return element == PTX_F16 ? PTX_F16X2 : element == PTX_BF16 ? PTX_BF16X2 : type;
}

FoldPlace replay_place(const Replay *replay, int lane, int element) {
    const TraceEvent *event = &replay->expected;
    const PtxInstruction *in = replay->program->ops[event->pc].instruction;
    return (FoldPlace){.event = replay->current,
                       .warp = event->warp,
                       .lane = lane,
                       .type = type_of(replay, event, lane, in->type_count ? in->types[0] : PTX_NO_TYPE),
                       .bits = event->value[element][lane],
                       .pc = event->pc};
}

int32_t replay_brought(const Replay *replay, int lane, int element, int32_t node) {
    if (!replay->folds) return replay->current;
    FoldPlace place = replay_place(replay, lane, element);
    return folds_add_move(replay->folds, &place, node);
}

void replay_set_provenance(const Frame *frame, Operand place, int lane, uint32_t weight, int32_t producer) {
    Provenance *provenance = provenance_of(frame, place);
    if (!provenance) return;
    provenance->weight[lane] = weight;
    provenance->producer[lane] = producer;
}
