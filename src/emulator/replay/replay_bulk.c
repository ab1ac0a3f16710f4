/* Bulk copies of a replay move weights and producers from place to place in memory. They are copied with each
 * element, or folded into the destination (replay_state.h). */
#include "emulator/replay/replay_state.h"
#include "trace/tile.h"

enum { WORD = 4 };

/* Bytes of an element: global memory has the buffer's type; for shared memory only the bytes are known. */
static int element_bytes(const Replay *replay, TraceKind kind, uint16_t buffer) {
    int bytes = trace_kind_is_shared(kind) ? 0 : ptx_type_bytes(replay->memory.regions[buffer].type);
    return bytes ? bytes : WORD;
}

/* Reads the source: an element that no thread of the block has written is an input. */
static void read_source(Replay *replay, const FoldPlace *place, uint64_t offset, int bytes, uint32_t *weight,
                        int32_t *producer) {
    uint16_t buffer = replay->bulk_source.buffer[place->lane];
    TraceKind kind = replay->bulk_source.kind;
    uint64_t key = replay_key(kind, buffer, offset);
    if (provenance_memory_read(replay->stored, key, bytes, weight, producer)) return;
    *weight = !trace_kind_is_shared(kind);
    *producer = FOLD_NONE;
    if (!*weight || !replay->folds) return;
    *producer = folds_add_input(replay->folds, place, buffer, offset);
    provenance_memory_write(replay->stored, key, bytes, 1, *producer);
}

static int32_t joined(Replay *replay, const FoldPlace *place, int32_t old, int32_t node) {
    if (old == FOLD_NONE || node == FOLD_NONE) return old == FOLD_NONE ? node : old;
    FoldOp op = fold_reduces_by(replay->program->ops[place->pc].instruction);
    return folds_add_pair(replay->folds, place, old, node, op);
}

static void copy_element(Replay *replay, const FoldPlace *place, uint64_t from, uint64_t to, int bytes,
                         bool folds) {
    uint32_t weight = 0, old_weight = 0;
    int32_t node = FOLD_NONE, old = FOLD_NONE;
    read_source(replay, place, from, bytes, &weight, &node);
    if (folds) provenance_memory_read(replay->stored, to, bytes, &old_weight, &old);
    if (replay->folds) node = joined(replay, place, old, folds_add_move(replay->folds, place, node));
    weight = weight_sum(weight, old_weight);
    if (weight > replay->largest) replay->largest = weight;
    provenance_memory_write(replay->stored, to, bytes, weight, replay->folds ? node : replay->current);
    bool leaves =
        replay->expected.kind == TRACE_GLOBAL_BULK_WRITE || trace_event_peer(&replay->expected) >= 0;
    if (replay->folds && leaves) folds_add_result(replay->folds, place, to, node);
}

static void copy_lane(Replay *replay, int lane) {
    const TraceEvent *event = &replay->expected;
    FoldPlace place = {
        .event = replay->current, .warp = event->warp, .lane = lane, .type = PTX_NO_TYPE, .pc = event->pc};
    bool in_shared = trace_kind_is_shared(event->kind);
    TraceKind typed = in_shared ? replay->bulk_source.kind : event->kind;
    uint64_t bytes = (uint64_t)element_bytes(
        replay, typed, in_shared ? replay->bulk_source.buffer[lane] : event->buffer[lane]);
    bool folds = ptx_instruction_has(replay->program->ops[event->pc].instruction, PTX_MOD_REDUCE);
    for (uint64_t at = 0; at + bytes <= event->operand[lane]; at += bytes)
        copy_element(replay, &place, replay->bulk_source.offset[lane] + at,
                     replay_event_key(event, lane, event->offset[lane] + at), (int)bytes, folds);
}

/* Where a shared symbol lies in the window. */
static uint64_t window_of(const Replay *replay, uint16_t symbol) {
    return symbol < replay->program->shared_count ? replay->program->shared[symbol].offset : 0;
}

/* Moves the pieces of a tensor copy. What comes from outside of the tensor is no input. */
static void copy_tile(Replay *replay, int lane, const TraceTile *tile) {
    const TraceEvent *event = &replay->expected;
    FoldPlace place = {
        .event = replay->current, .warp = event->warp, .lane = lane, .type = PTX_NO_TYPE, .pc = event->pc};
    bool is_load = trace_kind_is_shared(event->kind);
    bool folds = ptx_instruction_has(replay->program->ops[event->pc].instruction, PTX_MOD_REDUCE);
    uint64_t from = replay->bulk_source.offset[lane], to = event->offset[lane];
    uint64_t window = window_of(replay, is_load ? event->buffer[lane] : replay->bulk_source.buffer[lane]);
    TilePiece piece;
    for (TileWalk walk = trace_tile_walk(tile, window + (is_load ? to : from));
         trace_tile_next(&walk, &piece);) {
        for (uint32_t at = 0; at < piece.bytes; at += tile->element_bytes) {
            uint64_t shared = piece.shared - window + at, global = piece.global + at;
            uint64_t key = replay_event_key(event, lane, is_load ? shared : to + global);
            if (piece.is_inside)
                copy_element(replay, &place, is_load ? from + global : shared, key, (int)tile->element_bytes,
                             folds);
            else if (is_load)
                provenance_memory_write(replay->stored, key, (int)tile->element_bytes, 0,
                                        replay->folds ? FOLD_NONE : replay->current);
        }
    }
}

void replay_bulk(Replay *replay) {
    const TraceEvent *event = &replay->expected;
    if (event->is_load) {
        replay->bulk_source.kind = event->kind;
        memcpy(replay->bulk_source.buffer, event->buffer, sizeof event->buffer);
        memcpy(replay->bulk_source.offset, event->offset, sizeof event->offset);
        return;
    }
    if (!replay->stored) return;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        TraceTile tile;
        int lane = __builtin_ctz(rest);
        if (trace_tile_read(event, lane, &tile))
            copy_tile(replay, lane, &tile);
        else
            copy_lane(replay, lane);
    }
}
