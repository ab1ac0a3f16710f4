/* The schedule of a block's warps.
 *
 * It is defined as round robin: in every turn, each warp that can run executes one instruction, in the order
 * of the warps. Only instructions that others can observe (memory, barriers, exits, recorded events) need
 * that order. So a turn has two parts: the warps whose turn it is execute their ordered instruction, one
 * after another; then all of them run ahead through everything else, up to the next ordered instruction, and
 * wait for its turn. Warps that run ahead from the same place form a *gang*, which pays the fixed cost of an
 * instruction once. Tracing only changes where a warp pauses to check. */
#include "emulator/machine/machine_block.h"

#include "emulator/machine/holds.h"
#include "emulator/machine/other_orders.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/call_values.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/special_values.h"
#include "emulator/machine/tape_door.h"
#include "emulator/machine/undefined.h"

#include <stdlib.h>

enum { RUN_AHEAD = 4096, MAX_GANGS = 256 }; /* per turn: instructions of a gang, and gangs */

/* A compile-time constant in the functions below, so that a plain run has no overhead. */
typedef enum Mode { RUN_PLAIN, RUN_TRACED, RUN_HOOKED } Mode;

/* ---- branches --------------------------------------------------------------------------------------- */

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

/* A backward jump to a loop that may wait for other lanes of the warp or other blocks: another fragment may
 * be current afterwards. */
static inline bool may_rotate(const Warp *warp, const Fragment *fragment, int pc, int target) {
    return target <= pc && (warp->live != fragment->mask || warp->block->grid->blocks_communicate);
}

static inline void jump(Worker *worker, Warp *warp, Fragment *fragment, int pc, int target) {
    count_segment(worker, fragment, pc + 1);
    fragment->pc = fragment->segment = target;
    if (may_rotate(warp, fragment, pc, target)) warp_consider_rotation(warp);
}

static inline void diverge(Worker *worker, Warp *warp, Fragment *fragment, uint32_t taken,
                           const PtxCode *code) {
    worker->counters[fragment->pc].divergent++;
    count_segment(worker, fragment, fragment->pc + 1);
    warp_diverge(warp, taken, code->target, code->reconvergence);
}

/* The current fragment is at a guarded bra. */
static inline void take_branch(Block *block, Warp *warp, Fragment *fragment) {
    Worker *worker = block->worker;
    int pc = fragment->pc;
    const Op *op = &block->grid->program->ops[pc];
    const PtxCode *code = &block->grid->program->program->code[pc];
    uint32_t taken = guard_lanes(op, warp, fragment->mask);
    if (warp->follows) undefined_follow(warp, op);
    worker->counters[pc].requests++;
    block->executed++;
    warp->turn++;
    record_branch(block, warp, op, taken, code->target);
    if (!taken) {
        fragment->pc++;
    } else if (taken == fragment->mask) {
        jump(worker, warp, fragment, pc, code->target);
    } else {
        diverge(worker, warp, fragment, taken, code);
    }
}

/* ---- running ahead ---------------------------------------------------------------------------------- */

static inline bool is_end_of_function(const Block *block, const Fragment *fragment, int pc) {
    return block->grid->program->may_fall_off && pc == fragment->frame->layout->end;
}

/* Passes the warp's current reconvergence points and function ends. False: no part of it can run. */
static bool find_place(Block *block, Warp *warp) {
    Worker *worker = block->worker;
    for (;;) {
        if (warp->current == NO_FRAGMENT && (!warp->live || !block_unstick(block, warp))) return false;
        Fragment *fragment = warp_fragment(warp);
        if (fragment->pc == fragment->join_pc) {
            count_segment(worker, fragment, fragment->pc);
            warp_arrive(warp);
        } else if (is_end_of_function(block, fragment, fragment->pc)) {
            uint32_t lanes = fragment->mask, live = warp->live;
            count_segment(worker, fragment, fragment->pc);
            call_values_return(warp, fragment->frame, lanes);
            warp_return(warp, lanes);
            if (warp->live != live) barrier_after_exit(block, warp, lanes);
        } else {
            return true;
        }
    }
}

static inline void gang_begin(Gang *gang, int pc, uint64_t turn) {
    gang->count = 0;
    gang->pc = pc;
    gang->turn = turn;
    gang->may_reconverge = false;
}

static inline void gang_add(Gang *gang, Warp *warp, Fragment *fragment) {
    gang->warps[gang->count] = warp;
    gang->fragments[gang->count] = fragment;
    gang->masks[gang->count++] = fragment->mask;
    gang->may_reconverge |= fragment->join_pc != PTX_NO_PC;
}

/* Moves warps from index `first` on to the gang's place. */
static inline void gang_settle(const Gang *gang, int first) {
    for (int w = first; w < gang->count; w++) {
        gang->warps[w]->turn = gang->turn;
        gang->fragments[w]->pc = gang->pc;
    }
}

/* Takes the first of the block's ready warps, and all others at the same place. */
static void gather(Block *block, Gang *gang) {
    uint32_t taken = 0;
    gang->count = 0;
    for (uint32_t rest = block->ready; rest; rest &= rest - 1) {
        Warp *warp = &block->warps[__builtin_ctz(rest)];
        if (find_place(block, warp)) {
            Fragment *fragment = warp_fragment(warp);
            if (gang->count == 0)
                gang_begin(gang, fragment->pc, warp->turn);
            else if (fragment->pc != gang->pc || warp->turn != gang->turn)
                continue;
            gang_add(gang, warp, fragment);
        }
        taken |= rest & -rest;
    }
    block->ready &= ~taken;
}

/* Warps of the gang, which is at `op`, may have undefined values (undefined.h). */
static __attribute__((noinline)) void follow(const Op *op, const Gang *gang) {
    for (int w = 0; w < gang->count; w++)
        if (gang->warps[w]->follows) undefined_follow(gang->warps[w], op);
}

/* The gang is about to execute `op`, a branch or lane arithmetic. */
static __attribute__((noinline)) void look(const Block *block, const Op *op, const Gang *gang) {
    if (block->follows) follow(op, gang);
    if (op->is_index_product && block->observed) undefined_watch_product(op, gang);
    if (block->tape) tape_note(block, op, gang);
}

static inline void run_op(Block *block, const Op *op, const Gang *gang, Mode mode, bool looks) {
    const Gang *active = gang;
    Gang part;
    if (looks) look(block, op, gang);
    if (op->guarded) {
        part.count = 0;
        for (int w = 0; w < gang->count; w++) {
            uint32_t lanes = guard_lanes(op, gang->warps[w], gang->masks[w]);
            block->worker->counters[op->pc].lanes -= (uint64_t)lane_count(gang->masks[w] & ~lanes);
            if (!lanes) continue;
            part.warps[part.count] = gang->warps[w];
            part.masks[part.count++] = lanes;
        }
        active = &part;
    }
    if (mode == RUN_HOOKED && active->count)
        block->hooks->before_lanes(block->hooks->context, active->warps[0], op, active->masks[0]);
    if (looks && block->grid->shadow)
        shadow_run(op, active->warps, active->masks, active->count);
    else
        op->run(op, active->warps, active->masks, active->count);
    if (mode == RUN_HOOKED && active->count)
        block->hooks->after_lanes(block->hooks->context, active->warps[0], op, active->masks[0]);
}

/* All warps are at gang->pc. True if it is a reconvergence point of one of them, or the end of a function. */
static inline bool is_reconvergence_point(const Block *block, const Gang *gang) {
    bool is_point = is_end_of_function(block, gang->fragments[0], gang->pc);
    for (int w = 0; gang->may_reconverge && w < gang->count; w++)
        is_point |= gang->pc == gang->fragments[w]->join_pc;
    return is_point;
}

/* Splits the gang into single warps. */
static void part(Block *block, Gang *gang) {
    gang_settle(gang, 0);
    for (int w = 0; w < gang->count; w++) block->ready |= UINT32_C(1) << gang->warps[w]->index;
    gang->count = 0;
}

/* count_segment() for all warps, which mostly have the same segment start. */
static inline void count_segments(Worker *worker, const Gang *gang, int end) {
    int64_t lanes = 0;
    int first = 0;
    for (int w = 0; w < gang->count; w++) {
        lanes += gang->masks[w] == ALL_LANES ? WARP_LANES : lane_count(gang->masks[w]);
        int segment = gang->fragments[w]->segment;
        gang->fragments[w]->segment = end;
        if (w + 1 < gang->count && gang->fragments[w + 1]->segment == segment) continue;
        worker->runs[segment].executions += w + 1 - first;
        worker->runs[end].executions -= w + 1 - first;
        worker->runs[segment].lanes += lanes;
        worker->runs[end].lanes -= lanes;
        lanes = 0;
        first = w + 1;
    }
}

/* The gang is at `pc` and jumps to `target`. False: the caller looks for another fragment. */
static inline bool jump_together(Block *block, Gang *gang, int pc, int target) {
    bool together = true;
    count_segments(block->worker, gang, pc + 1);
    gang->pc = target;
    for (int w = 0; w < gang->count; w++) {
        Fragment *fragment = gang->fragments[w];
        fragment->segment = target;
        if (!may_rotate(gang->warps[w], fragment, pc, target)) continue;
        if (together) gang_settle(gang, 0);
        together = false;
        warp_consider_rotation(gang->warps[w]);
    }
    if (together) return true;
    for (int w = 0; w < gang->count; w++) block->ready |= UINT32_C(1) << gang->warps[w]->index;
    return false;
}

/* Lanes or warps of the gang diverge. Those whose next instruction is at pc + 1 stay; the others become
 * ready. */
static void part_at_branch(Block *block, Gang *gang, const uint32_t *taken) {
    const PtxCode *code = &block->grid->program->program->code[gang->pc];
    Worker *worker = block->worker;
    int pc = gang->pc, count = gang->count;
    gang_begin(gang, pc + 1, gang->turn + 1); /* refilled below from its own warps */
    for (int w = 0; w < count; w++) {
        Warp *warp = gang->warps[w];
        Fragment *fragment = gang->fragments[w];
        if (!taken[w]) {
            gang_add(gang, warp, fragment);
            continue;
        }
        warp->turn = gang->turn;
        fragment->pc = pc;
        if (taken[w] == fragment->mask)
            jump(worker, warp, fragment, pc, code->target);
        else
            diverge(worker, warp, fragment, taken[w], code);
        fragment = warp->current == NO_FRAGMENT ? NULL : warp_fragment(warp);
        if (fragment && fragment->pc == gang->pc)
            gang_add(gang, warp, fragment);
        else
            block->ready |= UINT32_C(1) << warp->index;
    }
}

/* The gang is at a guarded bra. False: the gang is empty. */
static bool branch_together(Block *block, Gang *gang) {
    const Op *op = &block->grid->program->ops[gang->pc];
    uint32_t taken[MAX_WARPS], some = 0, not_all = 0;
    if (block->follows || block->tape) look(block, op, gang);
    for (int w = 0; w < gang->count; w++) {
        taken[w] = guard_lanes(op, gang->warps[w], gang->masks[w]);
        some |= taken[w];
        not_all |= taken[w] ^ gang->masks[w];
    }
    block->worker->counters[gang->pc].requests += (uint64_t)gang->count;
    block->executed += (uint64_t)gang->count;
    if (some && not_all) {
        part_at_branch(block, gang, taken);
        return gang->count != 0;
    }
    gang->turn++;
    if (some)
        return jump_together(block, gang, gang->pc, block->grid->program->program->code[gang->pc].target);
    gang->pc++;
    return true;
}

/* ---- running ahead, together ------------------------------------------------------------------------ */

static void wait_for_turns(Block *block, const Gang *gang) {
    /* not at branches, where only traced blocks stop: they must run like the others */
    bool delays = block->grid->schedule && block->grid->program->step[gang->pc] == STEP_ORDERED;
    gang_settle(gang, 0);
    for (int w = 0; w < gang->count; w++) {
        const Warp *warp = gang->warps[w];
        block->next[warp->index] = warp->turn + (delays ? order_delay(block, warp) : 0);
        block->queued |= UINT32_C(1) << warp->index;
    }
}

/* Executes instructions that no other warp can observe, up to the next ordered one, with the part of the gang
 * that stays together; the others become ready. False: the gang is empty. */
static inline __attribute__((always_inline)) bool run_gang(Block *block, Gang *gang, Mode mode) {
    const LoweredProgram *program = block->grid->program;
    uint64_t limit = gang->turn + RUN_AHEAD;
    do {
        int end = program->run_end[gang->pc];
        uint64_t count = (uint64_t)(end - gang->pc);
        bool watches =
            block->observed && program->products && program->products[end] != program->products[gang->pc];
        /* shuffles may start following undefined values, and end a run */
        bool looks = block->follows || block->tape || watches || block->grid->shadow;
        block->now = gang->turn;
        for (const Op *op = program->ops + gang->pc, *last = program->ops + end; op < last; op++)
            run_op(block, op, gang, mode, looks);
        block->executed += count * (uint64_t)gang->count;
        gang->turn += count;
        gang->pc = end;
        if (is_reconvergence_point(block, gang)) {
            part(block, gang);
            return false;
        }
        StepKind step = program->step[end];
        if (step == STEP_ORDERED || (step == STEP_BRANCH && mode != RUN_PLAIN)) return true;
        if (step == STEP_BRANCH) {
            if (!branch_together(block, gang)) return false;
        } else if (step == STEP_JUMP) {
            gang->turn++;
            block->executed += (uint64_t)gang->count;
            if (!jump_together(block, gang, end, program->program->code[end].target)) return false;
        } else {
            continue;
        }
        if (is_reconvergence_point(block, gang)) {
            part(block, gang);
            return false;
        }
    } while (gang->turn < limit);
    return true;
}

/* ---- ordered instructions --------------------------------------------------------------------------- */

static Outcome execute_ordered(Block *block, Warp *warp, const Op *op) {
    uint32_t mask = warp_fragment(warp)->mask, lanes = mask;
    if (op->guarded && block->tape) block->grid->tapes->guard(block->tape, warp, op, mask);
    if (op->prelude) prelude_run(op->prelude, warp);
    if (warp->follows) undefined_follow(warp, op);
    if (op->guarded) {
        lanes = guard_lanes(op, warp, mask);
        if (!lanes) {
            block->worker->counters[op->pc].lanes -= (uint64_t)lane_count(mask);
            return OUTCOME_NEXT;
        }
    }
    if (block->tape) tape_note_ordered(block, warp, op, lanes);
    const CoreOp *core = op->extra;
    Outcome outcome = core->execute(block, warp, op, lanes);
    if (lanes != mask && outcome != OUTCOME_WAIT)
        block->worker->counters[op->pc].lanes -= (uint64_t)lane_count(mask & ~lanes);
    return outcome;
}

/* Executes the warp's ordered instruction. False: the warp waits for others, or has ended. */
static inline __attribute__((always_inline)) bool take_turn(Block *block, Warp *warp, Mode mode) {
    const LoweredProgram *program = block->grid->program;
    bool parted = false;
    if (mode != RUN_HOOKED) warp->turn = block->turn;
    for (;;) {
        if (warp->current == NO_FRAGMENT && (!warp->live || !block_unstick(block, warp))) return false;
        if (block->grid->schedule && mode != RUN_HOOKED && !parted) {
            order_part_lanes(block, warp, &program->ops[warp_fragment(warp)->pc]);
            parted = true;
        }
        Fragment *fragment = warp_fragment(warp);
        const Op *op = &program->ops[fragment->pc];
        StepKind kind = program->step[fragment->pc];
        if (fragment->pc == fragment->join_pc) return true;
        if (mode == RUN_HOOKED) {
            if (order_is_out_of_turn(block, warp, op)) return warp_pick(warp);
            if (order_awaits_as_recorded(block, warp, op)) return warp_pick(warp);
            fragment = warp_fragment(warp);
            order_split_as_recorded(block, warp, op);
            if (program->recorded[op->pc]) warp->turn = block->turn;
        }
        if (block->grid->holds && mode != RUN_HOOKED && kind == STEP_ORDERED) {
            if (!holds_pass(block, warp, op)) {
                warp_pick(warp);
                continue;
            }
            fragment = warp_fragment(warp);
        }
        if (kind == STEP_BRANCH && mode != RUN_PLAIN) {
            take_branch(block, warp, fragment);
            return true;
        }
        if (kind != STEP_ORDERED) return true;
        Outcome outcome = execute_ordered(block, warp, op);
        if (outcome == OUTCOME_STOP) return false;
        if (outcome == OUTCOME_WAIT) {
            warp_pick(warp);
            continue;
        }
        warp->turn = mode == RUN_HOOKED ? warp->turn + 1 : block->turn + 1;
        block->executed++;
        if (outcome == OUTCOME_NEXT) fragment->pc++;
        if (block->grid->holds && mode != RUN_HOOKED && op->op_class == OP_MEMORY)
            holds_executed(block, warp, op);
        if (outcome != OUTCOME_ARRIVED) return true;
        if (warp->fragment_count == 1 && mode != RUN_HOOKED) { /* the whole warp waits: nothing to search */
            warp->current = NO_FRAGMENT;
            return false;
        }
        warp_pick(warp);
        return true;
    }
}

/* ---- turns ------------------------------------------------------------------------------------------ */

/* The earliest turn of the queued warps, and the warps that have it; UINT64_MAX: no warp is queued. */
static inline uint64_t earliest(const Block *block, uint32_t *warps) {
    uint64_t turn = UINT64_MAX;
    *warps = 0;
    for (uint32_t rest = block->queued; rest; rest &= rest - 1) {
        uint64_t next = block->next[__builtin_ctz(rest)];
        if (next > turn) continue;
        *warps = (rest & -rest) | (next == turn ? *warps : 0);
        turn = next;
    }
    return turn;
}

/* True if the turn of a waiting gang comes before all others: it continues at once. */
static inline bool is_next(const Block *block, const Gang *gang, uint64_t others, uint64_t until) {
    const Grid *grid = block->grid;
    return gang->turn < others && block->executed < until && !block->worker->stopped && !grid->schedule &&
           !grid->holds && grid->program->step[gang->pc] == STEP_ORDERED;
}

static int execute_together(Block *block, const Gang *gang) {
    const Op *op = &block->grid->program->ops[gang->pc];
    const CoreOp *core = op->extra;
    if (op->guarded || op->prelude || block->follows || block->grid->shadow || !core->execute_together)
        return 0;
    if (block->tape) tape_note_together(block, op, gang);
    int done = core->execute_together(block, op, gang);
    if (block->tape) tape_done_together(block, gang, done);
    return done;
}

/* Takes the warps' turns one after another. False: not all of them are at `next` afterwards. */
static bool take_turns_apart(Block *block, const Gang *gang, int first, int next, uint32_t *ready) {
    bool together = true;
    gang_settle(gang, first);
    for (int w = first; w < gang->count && !block->worker->stopped; w++) {
        Warp *warp = gang->warps[w];
        const Fragment *fragment = gang->fragments[w];
        bool goes_on = take_turn(block, warp, RUN_PLAIN);
        if (goes_on) *ready |= UINT32_C(1) << warp->index;
        together &= goes_on && warp->current != NO_FRAGMENT && warp_fragment(warp) == fragment &&
                    fragment->mask == gang->masks[w] && fragment->pc == next;
    }
    return together && !block->worker->stopped;
}

/* Executes the ordered instruction of the whole gang. False: not all warps continue at the next one; those
 * that can are ready. */
static bool take_turn_together(Block *block, Gang *gang) {
    block->turn = gang->turn;
    int first = execute_together(block, gang), next = gang->pc + 1;
    uint32_t ready = 0;
    block->executed += (uint64_t)first;
    bool together = first == gang->count || take_turns_apart(block, gang, first, next, &ready);
    for (int w = 0; w < first; w++) together &= gang->fragments[w]->state == FRAGMENT_READY;
    gang->pc = next;
    gang->turn++;
    if (together && !block->ready && !is_reconvergence_point(block, gang)) return true;
    for (int w = 0; w < first; w++) {
        if (gang->fragments[w]->state != FRAGMENT_READY) continue;
        gang->warps[w]->turn = gang->turn;
        gang->fragments[w]->pc = next;
        ready |= UINT32_C(1) << gang->warps[w]->index;
    }
    block->ready |= ready;
    return false;
}

/* Runs every ready warp, up to the limits of a turn. */
static inline __attribute__((always_inline)) void run_ahead(Block *block, uint64_t until, Mode mode) {
    Gang gang;
    for (int gangs = 0; block->ready && gangs < MAX_GANGS; gangs++) {
        gather(block, &gang);
        if (!gang.count) continue;
        bool waits = run_gang(block, &gang, mode);
        /* it has jumped backward: time to check whether it rests */
        bool may_spin = block->grid->blocks_communicate && gangs;
        if (waits && mode == RUN_PLAIN && !block->ready && !may_spin) {
            uint32_t unused;
            uint64_t others = earliest(block, &unused);
            while (waits && is_next(block, &gang, others, until))
                waits = take_turn_together(block, &gang) && run_gang(block, &gang, mode);
        }
        if (waits) wait_for_turns(block, &gang);
    }
    while (block->ready) {
        gather(block, &gang);
        wait_for_turns(block, &gang);
    }
}

bool block_hooked_turn(Block *block, Warp *warp) {
    uint32_t bit = UINT32_C(1) << warp->index;
    block->queued &= ~bit;
    block->ready = bit;
    run_ahead(block, 0, RUN_HOOKED);
    bool has_place = block->queued & bit;
    block->queued |= bit;
    return has_place && take_turn(block, warp, RUN_HOOKED);
}

/* After a turn of `warp`: true if everything in the block spins or waits. */
static bool rests(const Block *block, const Warp *warp) {
    if (warp->current == NO_FRAGMENT || !warp->fragments[warp->current].rests) return false;
    for (uint32_t rest = block->queued; rest; rest &= rest - 1)
        if (!warp_rests(&block->warps[__builtin_ctz(rest)])) return false;
    return true;
}

/* The awaited change may have come: fragments must spin again before they rest. */
static void wake(Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        for (int i = 0; i < block->warps[w].fragment_count; i++) {
            block->warps[w].fragments[i].rests = false;
            block->warps[w].fragments[i].spins = 0;
        }
}

/* The first of `warps`, and later ones that execute the same instruction in this turn. */
static inline void gather_turn(Block *block, uint32_t *warps, Gang *gang, Mode mode) {
    gang_begin(gang, PTX_NO_PC, block->turn);
    for (; *warps; *warps &= *warps - 1) {
        Warp *warp = &block->warps[__builtin_ctz(*warps)];
        Fragment *fragment = warp->current == NO_FRAGMENT ? NULL : warp_fragment(warp);
        bool joins = mode == RUN_PLAIN && !block->grid->schedule && !block->grid->holds && fragment &&
                     fragment->pc != fragment->join_pc &&
                     block->grid->program->step[fragment->pc] == STEP_ORDERED;
        if (gang->count && (!joins || fragment->pc != gang->pc)) return;
        block->queued &= ~(UINT32_C(1) << warp->index);
        if (!joins) { /* takes its turn alone */
            gang->warps[gang->count++] = warp;
            *warps &= *warps - 1;
            return;
        }
        gang->pc = fragment->pc;
        gang_add(gang, warp, fragment);
    }
}

static inline __attribute__((always_inline)) SliceEnd run_slice(Block *block, uint64_t instructions,
                                                                Mode mode) {
    const Worker *worker = block->worker;
    uint64_t until = block->executed + instructions;
    wake(block);
    while (!worker->stopped) {
        uint32_t warps;
        uint64_t turn = earliest(block, &warps);
        if (!warps) {
            if (!block->live_warps) return SLICE_DONE;
            if (!block_resolve(block)) return SLICE_WAITS;
            continue;
        }
        block->turn = turn;
        for (uint32_t rest = warps; rest && !worker->stopped;) {
            Gang gang;
            gather_turn(block, &rest, &gang, mode);
            if (gang.count > 1) {
                if (take_turn_together(block, &gang)) part(block, &gang);
            } else if (take_turn(block, gang.warps[0], mode)) {
                block->ready |= UINT32_C(1) << gang.warps[0]->index;
            }
        }
        run_ahead(block, until, mode);
        bool spins = false;
        if (block->grid->blocks_communicate)
            for (uint32_t rest = warps; rest; rest &= rest - 1)
                spins |= rests(block, &block->warps[__builtin_ctz(rest)]);
        if (worker->stopped) break;
        if (holds_released(block)) return SLICE_USED;
        if (spins) return SLICE_RESTS;
        if (block->executed >= until) return SLICE_USED;
    }
    return SLICE_STOPPED;
}

/* Segments are counted at their end, which a stopped block does not reach. */
void block_count_rest(Block *block) {
    Worker *worker = block->worker;
    const Trap *fatal = worker->stopped ? &worker->traps[worker->trap_count - 1] : NULL;
    bool is_here = fatal && !memcmp(fatal->block, block->id, sizeof fatal->block);
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        for (int i = 0; warp->live && i < warp->fragment_count; i++) {
            Fragment *fragment = &warp->fragments[i];
            bool trapped =
                is_here && fatal->lanes & fragment->mask && fatal->warp == w && fatal->pc == fragment->pc;
            /* the instruction that trapped was executed */
            count_segment(worker, fragment, fragment->pc + trapped);
        }
    }
}

SliceEnd block_run(Block *block, uint64_t instructions) {
    return block->recorder ? run_slice(block, instructions, RUN_TRACED)
                           : run_slice(block, instructions, RUN_PLAIN);
}
