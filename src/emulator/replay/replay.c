/* Replay of one traced block (replay.h).
 *
 * The first query runs the whole block once, which gives the provenance of every event and regular snapshots.
 * Later queries run from a snapshot; the provenance of a loaded value is then read from its event, so
 * snapshots need no memory.
 *
 * Warps are lazy: after event k, every warp is just after its last event up to k. */
#include "emulator/replay/replay_state.h"

#include "emulator/instructions/instruction_set.h"
#include "emulator/machine/recorder.h"

#include <limits.h>
#include <stdlib.h>

enum {
    SNAPSHOT_EVENTS = 64,
    SNAPSHOT_BYTES = 64 << 20,
    MIN_SNAPSHOTS = 8,
    PATIENCE = 4096,
    MOST_BLOCK_BYTES = 1 << 30 /* of a valid block; a file may claim more */
};

/* ---- moving ------------------------------------------------------------------------------------------- */

static bool is_taken(const Replay *replay) {
    return replay->taken & 1;
}

/* Creates the next event, and earlier ones of its warp. */
static bool advance(Replay *replay) {
    TraceEvent header;
    Block *block = replay->block;
    trace_block_read_header(replay->recorded, replay->position + 1, &header);
    if (header.warp < 0 || header.warp >= block->warp_count)
        return replay_fail(replay, "its warp does not exist");
    Warp *warp = &block->warps[header.warp];
    block->turn = header.turn;
    for (int turns = 0; !is_taken(replay); turns++) {
        if (turns >= PATIENCE) return replay_fail(replay, "its warp does not reach it");
        if (turns % (2 * WARP_LANES) == 2 * WARP_LANES - 1) warp_release_any(warp);
        if (block_hooked_turn(block, warp) || is_taken(replay)) continue;
        if (!replay->failed.message[0] && !replay->worker->stopped && warp->live) block_resolve(block);
        if (replay->failed.message[0] || replay->worker->stopped || !warp->live)
            return replay_fail(replay, "its warp has ended or waits");
    }
    replay->position++;
    replay->taken >>= 1;
    return !replay->failed.message[0];
}

static Block *new_block(Replay *replay) {
    Block *block = block_new(&replay->grid);
    block->hooks = &replay->hooks;
    for (int w = 0; w < block->warp_count; w++) provenance_begin_frame(&block->frames[w]);
    return block;
}

static void free_block(Block *block) {
    for (int w = 0; block && w < block->warp_count; w++) {
        warp_abandon(&block->warps[w]);
        free(block->frames[w].provenance);
    }
    block_free(block);
}

/* A block that has not begun: its warps are at the start. */
static void start(Replay *replay, Block *block) {
    block_start(block, replay->worker, trace_block_linear(replay->recorded));
    block->recorder = recorder_with_hooks(&replay->hooks);
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

/* Turns weights into fractions of the largest one; without weights, uses intervals or events. */
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

/* The first run. If it fails, the provenance of earlier events stays. */
static void prepare(Replay *replay) {
    if (replay->prepared) return;
    replay->prepared = true;
    replay->stored = provenance_memory_new();
    while (replay->position + 1 < replay->event_count) {
        if ((replay->position + 1) % replay->snapshot_interval == 0) add_snapshot(replay);
        if (!advance(replay)) break;
        replay->progress[replay->position] = replay->largest;
    }
    for (int event = replay->position + 1; event < replay->event_count; event++)
        replay->progress[event] = replay->largest;
    finish_progress(replay);
    provenance_memory_free(replay->stored);
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

/* Places the buffers at their recorded addresses, which depend on their order and sizes. */
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
    return block_bytes(grid) + (size_t)grid->warps_per_block * provenance_bytes(&grid->program->functions[0]);
}

static int choose_interval(const Replay *replay) {
    size_t most = SNAPSHOT_BYTES / (snapshot_bytes(&replay->grid) + 1);
    if (most < MIN_SNAPSHOTS) most = MIN_SNAPSHOTS;
    size_t interval = (size_t)replay->event_count / most + 1;
    return interval < SNAPSHOT_EVENTS ? SNAPSHOT_EVENTS : (int)interval;
}

static BlockHooks hooks_of(Replay *replay) {
    return (BlockHooks){.context = replay,
                        .expects = replay_expects,
                        .next_mask = replay_next_mask,
                        .before_lanes = replay_before_lanes,
                        .after_lanes = replay_after_lanes,
                        .access = replay_access,
                        .after_parameters = replay_after_parameters,
                        .after_transpose = replay_after_transpose,
                        .after_copy = replay_after_copy,
                        .begin_event = replay_begin_event,
                        .end_event = replay_end_event,
                        .meet = replay_meet,
                        .begin_frame = provenance_begin_frame,
                        .copy_frame = provenance_copy_frame,
                        .after_pass = provenance_pass};
}

Replay *replay_open(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error) {
    if (launch < 0 || launch >= trace->launch_count || !block) {
        error_set(error, "this block was not traced");
        return NULL;
    }
    if (trace->launches[launch]->dropped) {
        error_set(error, "events were dropped while recording, so values cannot be reconstructed");
        return NULL;
    }
    Replay *replay = memory_new(sizeof *replay);
    replay->recorded = block;
    replay->buffers = trace->buffers;
    replay->event_count = trace_block_event_count(block);
    replay->position = -1;
    replay->hooks = hooks_of(replay);
    place_buffers(replay, trace);
    replay->program =
        lowered_new(bound, &instruction_set, &(LoweringOptions){0}, address_of, &replay->memory, error);
    if (!replay->program) {
        replay_free(replay);
        return NULL;
    }
    grid_init(&replay->grid, bound, replay->program, &replay->memory);
    if (block_bytes(&replay->grid) > MOST_BLOCK_BYTES) {
        error_set(error, "a block takes %zu MB, which is too much", block_bytes(&replay->grid) >> 20);
        replay_free(replay);
        return NULL;
    }
    replay->grid.launch_index = launch;
    replay->grid.number = (uint64_t)launch + 1;
    place_special(replay, trace);
    replay->worker = worker_new(&replay->grid);
    replay->rules = provenance_rules_new(replay->program);
    replay->provenance = event_provenance_new(replay->event_count);
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
    provenance_rules_free(replay->rules);
    event_provenance_free(replay->provenance);
    free(replay->halves);
    provenance_memory_free(replay->stored);
    free(replay->progress);
    lowered_free(replay->program);
    memory_done(&replay->memory);
    free(replay);
}

/* ---- queries ------------------------------------------------------------------------------------------ */

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

/* The frame in which the lane runs, or waits. */
static const Frame *frame_of(const Warp *warp, int lane) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (warp->fragments[i].mask & lane_bit[lane]) return warp->fragments[i].frame;
    for (int i = 0; i < warp->join_count; i++)
        if (warp->joins[i].used && warp->joins[i].arrived & lane_bit[lane]) return warp->joins[i].frame;
    for (const Frame *frame = warp->frames; frame; frame = frame->next)
        if (frame->parent && frame->arrived & lane_bit[lane]) return frame;
    return warp->entry_frame;
}

/* Among the operands; NULL: none has this name. */
static const PtxRegister *find_operand(const PtxOperand *operands, int count, const char *name) {
    const PtxRegister *found = NULL;
    for (int i = 0; i < count && !found; i++)
        found = operands[i].reg && !strcmp(operands[i].reg->name, name)
                    ? operands[i].reg
                    : find_operand(operands[i].items, operands[i].item_count, name);
    return found;
}

/* Scopes may each have a register of this name: `named`, which the event's instruction names, else the one
 * that the lane wrote last. */
static const PtxRegister *find_register(const Frame *frame, const char *name, const PtxRegister *named,
                                        int lane) {
    const PtxFunction *function = frame->layout->function;
    const PtxRegister *found = NULL;
    int32_t last = 0;
    for (int i = 0; i < function->register_count; i++) {
        const PtxRegister *reg = function->registers[i];
        uint32_t offset = frame->layout->register_offset[reg->index];
        if (offset == UINT32_MAX || strcmp(reg->name, name) != 0) continue;
        if (reg == named) return reg;
        int32_t producer = frame->provenance[offset / 64].producer[lane];
        if (found && producer <= last) continue;
        found = reg;
        last = producer;
    }
    return found;
}

static bool read_register(const Frame *frame, const char *name, const PtxRegister *named, int lane,
                          ReplayValue *out) {
    const PtxRegister *reg = find_register(frame, name, named, lane);
    if (!reg) return false;
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
    out->weight[lane] = frame->provenance[offset / 64].weight[lane];
    out->producer[lane] = frame->provenance[offset / 64].producer[lane];
    return true;
}

bool replay_register(Replay *replay, int warp, const char *name, ReplayValue *out) {
    *out = (ReplayValue){0};
    if (warp < 0 || warp >= replay->block->warp_count) return false;
    const PtxRegister *named = NULL;
    bool found = false;
    if (replay->position >= 0) {
        TraceEvent header;
        trace_block_read_header(replay->recorded, replay->position, &header);
        const PtxInstruction *in = replay->program->ops[header.pc].instruction;
        named = find_operand(&in->guard, 1, name);
        if (!named) named = find_operand(in->operands, in->operand_count, name);
    }
    for (int lane = 0; lane < WARP_LANES; lane++) {
        out->producer[lane] = -1;
        found |= read_register(frame_of(&replay->block->warps[warp], lane), name, named, lane, out);
    }
    return found;
}

const ReplayEventProvenance *replay_event_provenance(Replay *replay, int event) {
    if (event < 0 || event >= replay->event_count) return NULL;
    prepare(replay);
    return provenance_of_event(replay->provenance, event);
}

Folds *replay_folds(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error) {
    Replay *replay = replay_open(trace, launch, block, bound, error);
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
