/* Blocks: the schedule.
 *
 * It is defined as a round robin: in every turn each warp that can run executes one instruction, in the order of the warps.
 * Only instructions that others can see (memory, barriers, exits, recorded events) need that order, so a warp runs ahead
 * through everything else at once and then waits for its turn: the next instruction to execute is always the ordered one
 * with the lowest (turn, warp). What is traced decides nothing but where a warp stops to look. */
#include "emulator/block.h"

#include "emulator/access.h"
#include "emulator/recorder.h"
#include "emulator/replay.h"

#include <stdlib.h>

enum { RUN_AHEAD = 4096 };

/* Known when the functions below are compiled, so that a plain run pays for nothing else. */
typedef enum Mode { RUN_PLAIN, RUN_TRACED, RUN_REPLAY } Mode;

static inline uint32_t guard_lanes(const Op *op, const Warp *warp, uint32_t mask) {
    uint32_t bits = *(const uint32_t *)operand_at(warp, op->guard);
    return mask & (op->guard_negated ? ~bits : bits);
}

/* ---- branches ------------------------------------------------------------------------------------------------------ */

static void record_branch(Block *block, const Warp *warp, const Op *op, uint32_t taken, int target) {
    uint32_t mask = warp->fragments[warp->current].mask;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_BRANCH);
    event->element_bytes = 4;
    event->element_count = 1;
    event->has_result = true;
    event->taken = taken;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->value[0][lane] = (uint64_t)(taken & lane_bit[lane] ? target : op->pc + 1);
    }
    recorder_end(block->recorder, true, false);
}

static inline void jump(Worker *worker, Warp *warp, Fragment *fragment, int pc, int target) {
    count_segment(worker, fragment, pc + 1);
    fragment->pc = fragment->segment = target;
    if (target <= pc && (warp->live != fragment->mask || warp->block->grid->blocks_meet)) warp_consider_rotation(warp);
}

/* The current fragment stands at a guarded bra. */
static inline void take_branch(Block *block, Warp *warp, Fragment *fragment, bool traced) {
    Worker *worker = block->worker;
    int pc = fragment->pc;
    const Op *op = &block->grid->program->ops[pc];
    const PtxCode *code = &block->grid->program->program->code[pc];
    uint32_t taken = guard_lanes(op, warp, fragment->mask);
    TraceCounter *counter = &worker->counters[pc];
    counter->requests++;
    warp->turn++;
    if (traced) record_branch(block, warp, op, taken, code->target);
    if (!taken) {
        fragment->pc++;
    } else if (taken == fragment->mask) {
        jump(worker, warp, fragment, pc, code->target);
    } else {
        counter->divergent++;
        count_segment(worker, fragment, pc + 1);
        warp_diverge(warp, taken, code->target, code->reconvergence);
    }
}

/* ---- running ahead ------------------------------------------------------------------------------------------------- */

/* Executes what no other warp can see, up to the next ordered instruction. Returns its turn, or NEVER. */
static inline __attribute__((always_inline)) uint64_t run_ahead(Block *block, Warp *warp, Mode mode) {
    const LoweredProgram *program = block->grid->program;
    Worker *worker = block->worker;
    uint64_t limit = warp->turn + RUN_AHEAD;
    for (;;) {
        if (warp->current == NO_FRAGMENT) {
            if (!warp->live) return NEVER;
            if (!block_unstick(block, warp)) return NEVER;
        }
        Fragment *fragment = warp_fragment(warp);
        int pc = fragment->pc, end = program->run_end[pc];
        if (pc == fragment->join_pc) {
            count_segment(worker, fragment, pc);
            warp_arrive(warp);
            continue;
        }
        if (program->may_fall_off && pc == fragment->frame->layout->end) {
            uint32_t lanes = fragment->mask, live = warp->live;
            count_segment(worker, fragment, pc);
            call_return_values(warp, fragment->frame, lanes);
            warp_return(warp, lanes);
            if (warp->live != live) barrier_after_exit(block, warp, lanes);
            continue;
        }
        uint32_t mask = fragment->mask;
        for (const Op *op = program->ops + pc, *last = program->ops + end; op < last; op++) {
            uint32_t lanes = mask;
            if (op->guarded) {
                lanes = guard_lanes(op, warp, mask);
                worker->counters[op->pc].lanes -= (uint64_t)lane_count(mask & ~lanes);
                if (!lanes) continue;
            }
            op->run(op, warp, lanes);
            if (mode == RUN_REPLAY) replay_lanes(block->replay, warp, op, lanes);
        }
        warp->turn += (uint64_t)(end - pc);
        fragment->pc = pc = end;
        if (pc == fragment->join_pc || (program->may_fall_off && pc == fragment->frame->layout->end)) continue;
        switch ((StepKind)program->step[pc]) {
        case STEP_LANES:
        case STEP_NOTHING: break;
        case STEP_JUMP:
            warp->turn++;
            jump(worker, warp, fragment, pc, program->program->code[pc].target);
            break;
        case STEP_BRANCH:
            if (mode != RUN_PLAIN) return warp->turn;
            take_branch(block, warp, fragment, false);
            break;
        case STEP_ORDERED: return warp->turn;
        }
        if (warp->turn >= limit) return warp->turn;
    }
}

/* ---- ordered instructions ------------------------------------------------------------------------------------------ */

static Outcome execute_ordered(Block *block, Warp *warp, const Op *op) {
    uint32_t mask = warp_fragment(warp)->mask, lanes = mask;
    if (op->prelude) prelude_run(op->prelude, warp);
    if (op->guarded) {
        lanes = guard_lanes(op, warp, mask);
        if (!lanes) {
            block->worker->counters[op->pc].lanes -= (uint64_t)lane_count(mask);
            return OUTCOME_NEXT;
        }
    }
    const CoreOp *core = op->extra;
    Outcome outcome = core->execute(block, warp, op, lanes);
    if (lanes != mask && outcome != OUTCOME_WAIT)
        block->worker->counters[op->pc].lanes -= (uint64_t)lane_count(mask & ~lanes);
    return outcome;
}

/* In a replay the events decide which fragment of a warp goes on, where spin loops that were left out of the trace make a
 * difference. */
static bool is_out_of_turn(const Block *block, const Warp *warp, const Op *op) {
    uint32_t mask = warp->fragments[warp->current].mask;
    if (op->op_class != OP_MEMORY && op->op_class != OP_CONTROL) return false; /* these may wait for each other */
    if (op->guarded && op->op_class == OP_MEMORY) mask = guard_lanes(op, warp, mask);
    return mask && block->grid->program->recorded[op->pc] && !replay_expects(block->replay, warp, op->pc, mask);
}

/* The same difference may have left lanes together that were apart when the event was made. */
static void split_as_recorded(const Block *block, Warp *warp, const Op *op) {
    bool splits = op->op_class == OP_WARP || op->op_class == OP_BARRIER || op->op_class == OP_CONTROL;
    if (!splits || !block->grid->program->recorded[op->pc]) return;
    uint32_t lanes = warp_fragment(warp)->mask;
    if (op->guarded && op->op_class != OP_CONTROL) lanes = guard_lanes(op, warp, lanes);
    uint32_t mask = replay_next_mask(block->replay, warp, op->pc);
    if (lanes & mask && lanes & ~mask) warp_split(warp, lanes & ~mask);
}

/* The warp's ordered instruction. False: it waits for others, or has ended. */
static inline __attribute__((always_inline)) bool take_turn(Block *block, Warp *warp, Mode mode) {
    const LoweredProgram *program = block->grid->program;
    if (mode != RUN_REPLAY) warp->turn = block->turn;
    for (;;) {
        if (warp->current == NO_FRAGMENT && (!warp->live || !block_unstick(block, warp))) return false;
        Fragment *fragment = warp_fragment(warp);
        const Op *op = &program->ops[fragment->pc];
        StepKind kind = program->step[fragment->pc];
        if (fragment->pc == fragment->join_pc) return true;
        if (mode == RUN_REPLAY) {
            if (is_out_of_turn(block, warp, op)) return warp_pick(warp);
            split_as_recorded(block, warp, op);
            if (program->recorded[op->pc]) warp->turn = block->turn;
        }
        if (kind == STEP_BRANCH && mode != RUN_PLAIN) {
            take_branch(block, warp, fragment, true);
            return true;
        }
        if (kind != STEP_ORDERED) return true;
        Outcome outcome = execute_ordered(block, warp, op);
        if (outcome == OUTCOME_STOP) return false;
        if (outcome == OUTCOME_WAIT) {
            warp_pick(warp);
            continue;
        }
        warp->turn++;
        if (outcome == OUTCOME_NEXT) fragment->pc++;
        if (outcome != OUTCOME_ARRIVED) return true;
        if (warp->fragment_count == 1 && mode != RUN_REPLAY) { /* the whole warp waits: nothing to look for */
            warp->current = NO_FRAGMENT;
            return false;
        }
        warp_pick(warp);
        return true;
    }
}

bool block_replay_turn(Block *block, Warp *warp) {
    return run_ahead(block, warp, RUN_REPLAY) != NEVER && take_turn(block, warp, RUN_REPLAY);
}

/* A different fair order, where one is asked for: now and then a warp is late. */
static uint64_t delay(const Block *block, const Warp *warp) {
    uint64_t mix = block->grid->schedule ^ block->linear * 0x9e3779b97f4a7c15u ^ warp->turn * 0xc2b2ae3d27d4eb4fu ^
                   (uint64_t)warp->index * 0x165667b19e3779f9u;
    mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9u;
    return mix >> 62;
}

/* `warp` has had its turn: is there anything in the block that does not spin or wait? */
static bool rests(const Block *block, const Warp *warp) {
    if (warp->current == NO_FRAGMENT || !warp->fragments[warp->current].rests) return false;
    for (int w = 0; w < block->warp_count; w++)
        if (block->next[w] != NEVER && !warp_rests(&block->warps[w])) return false;
    return true;
}

/* What it waited for may have come: it is to spin anew before it rests again. */
static void wake(Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        for (int i = 0; i < block->warps[w].fragment_count; i++) {
            block->warps[w].fragments[i].rests = false;
            block->warps[w].fragments[i].spins = 0;
        }
}

static inline __attribute__((always_inline)) SliceEnd run_slice(Block *block, uint64_t instructions, Mode mode) {
    Worker *worker = block->worker;
    const Grid *grid = block->grid;
    uint64_t used = 0;
    int count = block->warp_count;
    wake(block);
    while (!worker->stopped) {
        uint64_t turn = NEVER;
        for (int w = 0; w < count; w++) turn = block->next[w] < turn ? block->next[w] : turn;
        if (turn == NEVER) {
            bool live = false;
            for (int w = 0; w < count; w++) live |= block->warps[w].live != 0;
            if (!live) {
                block->executed += used;
                return SLICE_DONE;
            }
            block_resolve(block);
            continue;
        }
        block->turn = turn;
        bool spins = false;
        for (int w = 0; w < count && !worker->stopped; w++) {
            if (block->next[w] != turn) continue;
            Warp *warp = &block->warps[w];
            block->next[w] = NEVER;
            uint64_t next = take_turn(block, warp, mode) ? run_ahead(block, warp, mode) : NEVER;
            used += warp->turn - turn;
            if (next != NEVER && grid->schedule) next += delay(block, warp);
            block->next[w] = next;
            if (grid->blocks_meet) spins |= rests(block, warp);
        }
        if (used >= instructions || spins) {
            block->executed += used;
            return worker->stopped ? SLICE_STOPPED : spins ? SLICE_RESTS : SLICE_USED;
        }
    }
    block->executed += used;
    return SLICE_STOPPED;
}

/* Segments are counted at their end, which a block that was stopped does not reach. */
void block_count_rest(Block *block) {
    Worker *worker = block->worker;
    const Trap *fatal = worker->stopped ? &worker->traps[worker->trap_count - 1] : NULL;
    bool is_here = fatal && !memcmp(fatal->block, block->id, sizeof fatal->block);
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        for (int i = 0; warp->live && i < warp->fragment_count; i++) {
            Fragment *fragment = &warp->fragments[i];
            bool trapped = is_here && fatal->lanes & fragment->mask && fatal->warp == w && fatal->pc == fragment->pc;
            count_segment(worker, fragment, fragment->pc + trapped); /* the instruction that trapped was executed */
        }
    }
}

SliceEnd block_run(Block *block, uint64_t instructions) {
    return block->recorder ? run_slice(block, instructions, RUN_TRACED) : run_slice(block, instructions, RUN_PLAIN);
}

/* ---- life of a block ----------------------------------------------------------------------------------------------- */

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Spread, so that the same register of different warps does not always fall into the same cache set. */
static size_t register_stride(const Grid *grid) { return aligned(grid->program->functions[0].register_bytes) + 192; }

size_t block_bytes(const Grid *grid) {
    const FunctionLayout *entry = &grid->program->functions[0];
    size_t per_warp = sizeof(Warp) + sizeof(Frame) + register_stride(grid) + (size_t)entry->local_bytes * WARP_LANES * 9 / 8 +
                      (size_t)entry->parameter_bytes * WARP_LANES;
    return sizeof(Block) + (size_t)grid->program->shared_bytes * 9 / 8 + per_warp * (size_t)grid->warps_per_block;
}

static size_t shared_words(const Grid *grid) { return (size_t)grid->program->shared_bytes / 64 + 1; }

Block *block_new(Grid *grid) {
    Block *block = memory_new(sizeof *block);
    size_t warps = (size_t)grid->warps_per_block;
    block->grid = grid;
    block->warp_count = grid->warps_per_block;
    block->warps = memory_new(warps * sizeof *block->warps);
    block->frames = memory_new(warps * sizeof *block->frames);
    block->registers_memory = memory_new(warps * register_stride(grid) + 64);
    block->registers = (uint8_t *)block->registers_memory + (64 - (uintptr_t)block->registers_memory % 64) % 64;
    block->shared = memory_new((size_t)grid->program->shared_bytes + 64);
    block->shared_written = memory_new(shared_words(grid) * sizeof *block->shared_written);
    const FunctionLayout *entry = &grid->program->functions[0];
    for (size_t w = 0; w < warps; w++) {
        Frame *frame = &block->frames[w];
        frame->layout = entry;
        frame->registers = block->registers + w * register_stride(grid);
        frame->parameters = entry->parameter_bytes ? memory_new((size_t)entry->parameter_bytes * WARP_LANES) : NULL;
        frame->join = NO_JOIN;
    }
    return block;
}

void block_free(Block *block) {
    if (!block) return;
    for (int w = 0; w < block->warp_count; w++) {
        warp_done(&block->warps[w]);
        free(block->frames[w].parameters);
    }
    if (block->recorder) recorder_free(block->recorder);
    free(block->warps);
    free(block->frames);
    free(block->registers_memory);
    free(block->shared);
    free(block->shared_written);
    free(block);
}

/* Registers begin as 0. What special registers and addresses hold is the same in every block, or filled in. */
static void fill_registers(const Block *block, const Warp *warp, const Frame *frame) {
    const FunctionLayout *layout = frame->layout;
    if (!block->has_run || !layout->shares_slots) {
        memset(frame->registers, 0, layout->register_bytes);
        frame_fill_slots(warp, frame);
        return;
    }
    for (int i = 0; i < layout->cleared_count; i++)
        memset(frame->registers + layout->cleared[i].offset, 0, layout->cleared[i].bytes);
    frame_fill_block_slots(warp, frame);
}

static void start_warp(Block *block, int index) {
    const Grid *grid = block->grid;
    Warp *warp = &block->warps[index];
    Frame *frame = &block->frames[index];
    uint32_t first = (uint32_t)index * WARP_LANES, left = grid->threads_per_block - first;
    warp_abandon(warp);
    frame->local_base = 0;
    frame->local_top = frame->layout->local_bytes;
    warp_start(warp, block, index, left >= WARP_LANES ? ALL_LANES : (UINT32_C(1) << left) - 1, frame);
    if (warp->local_bytes) {
        memset(warp->local, 0xa5, warp->local_bytes * WARP_LANES);
        memset(warp->local_written, 0, warp->local_bytes * WARP_LANES / 8);
    }
    local_reserve(block, warp, frame->local_top);
    fill_registers(block, warp, frame);
    block->next[index] = 0;
}

static void start_reserved(Block *block, uint32_t bytes) {
    memset(block->shared, 0, bytes);
    bits_set(block->shared_written, 0, bytes);
}

void block_start(Block *block, Worker *worker, uint64_t linear) {
    const Grid *grid = block->grid;
    block->worker = worker;
    block->linear = linear;
    block->id[0] = (uint32_t)(linear % grid->grid[0]);
    block->id[1] = (uint32_t)(linear / grid->grid[0] % grid->grid[1]);
    block->id[2] = (uint32_t)(linear / grid->grid[0] / grid->grid[1]);
    block->turn = block->executed = 0;
    block->started_at = linear * 1000;
    block->frame_bytes = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, 0xa5, grid->program->shared_bytes);
    memset(block->shared_written, 0, shared_words(grid) * sizeof *block->shared_written);
    if (grid->program->reserved_shared_bytes) start_reserved(block, grid->program->reserved_shared_bytes);
    for (int w = 0; w < block->warp_count; w++) start_warp(block, w);
    block->has_run = true;
    if (linear >= grid->trace_first && linear <= grid->trace_last) block->recorder = recorder_new(grid, linear);
}

void block_copy(Block *to, const Block *from) {
    memcpy(to->id, from->id, sizeof to->id);
    to->linear = from->linear;
    to->turn = from->turn;
    to->started_at = from->started_at;
    memcpy(to->barriers, from->barriers, sizeof to->barriers);
    memcpy(to->next, from->next, sizeof to->next);
    for (int w = 0; w < to->warp_count; w++) warp_copy(&to->warps[w], &from->warps[w]);
    to->frame_bytes = from->frame_bytes;
}
