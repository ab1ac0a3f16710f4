/* bar, barrier: the threads of a block wait for each other ("Parallel Synchronization and Communication
 * Instructions: bar, barrier" in the PTX ISA).
 *
 * A warp arrives as a whole: when all of its live lanes have arrived, it counts as 32 threads. A barrier of
 * all threads does not wait for exited ones. All live lanes of a warp must execute an aligned form (bar.*,
 * .aligned) together: the first ones wait for the rest, and if the rest can never arrive, the kernel is
 * wrong. */
#include "emulator/machine/barrier.h"

#include "base/language.h"
#include "emulator/machine/machine_access.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"

/* ---- releases the fragments that wait at a complete barrier -------------------------------------------- */

static const BarrierOp *barrier_op_at(const Block *block, int pc) {
    return block->grid->program->ops[pc].extra;
}

static void write_reduction(const Barrier *barrier, Warp *warp, const Fragment *fragment,
                            const BarrierOp *op) {
    uint64_t value = op->reduction == PTX_MOD_POPC  ? barrier->holds
                     : op->reduction == PTX_MOD_AND ? barrier->holds == barrier->votes
                                                    : barrier->holds != 0;
    uint8_t *kept = warp->base.at[IN_REGISTERS];
    warp->base.at[IN_REGISTERS] = fragment->frame->registers;
    for (uint32_t rest = fragment->active; rest; rest &= rest - 1)
        register_write(warp, op->d, op->d_bytes, __builtin_ctz(rest), value);
    warp->base.at[IN_REGISTERS] = kept;
}

/* Resumes the warp's fragments that wait at the barrier. False: none does. */
static bool barrier_wake(const Block *block, Warp *warp, int number) {
    bool passed = false, woken = false, aligned = false;
    for (int i = 0; i < warp->fragment_count; i++) {
        Fragment *fragment = &warp->fragments[i];
        if (fragment->state != FRAGMENT_IN_BARRIER || fragment->barrier != number) continue;
        const BarrierOp *op = barrier_op_at(block, fragment->pc);
        if (op->action == BARRIER_RED) write_reduction(&block->barriers[number], warp, fragment, op);
        passed |= op->blockwide;
        aligned |= op->aligned;
        if (op->is_cluster) warp->passed &= ~fragment->active;
        if (op->is_cluster && block->observed)
            observe_cluster_wait(block, warp, fragment->pc, fragment->active);
        fragment->state = FRAGMENT_READY;
        fragment->pc++;
        woken = true;
    }
    if (passed) warp->interval++;
    if (aligned && warp->fragment_count > 1) warp_merge(warp);
    if (woken && warp->current == NO_FRAGMENT) warp_pick(warp);
    return woken;
}

/* ---- cluster barrier ----------------------------------------------------------------------------------- */

/* The barrier of a cluster (machine_cluster.h).
 *
 * A thread arrives first and waits later. A phase completes when all threads of the cluster that have not
 * exited have arrived; the next phase begins at once. Warp.arrived holds the lanes that have arrived in this
 * phase, Warp.passed the lanes whose phase is complete and that have not waited yet. */

static bool has_arrived(const Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        if (block->warps[w].live & ~block->warps[w].arrived[CLUSTER_BARRIER]) return false;
    return true;
}

static bool cluster_is_complete(const Cluster *cluster) {
    for (int rank = 0; rank < cluster->block_count; rank++)
        if (cluster->blocks[rank] && !has_arrived(cluster->blocks[rank])) return false;
    return true;
}

/* `running`: the block whose instruction completes the barrier, or NULL. */
static void release_block(Block *block, const Block *running) {
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        uint32_t bit = UINT32_C(1) << w;
        warp->passed |= warp->arrived[CLUSTER_BARRIER];
        warp->arrived[CLUSTER_BARRIER] = 0;
        if (!barrier_wake(block, warp, CLUSTER_BARRIER) || (block->queued | block->ready) & bit) continue;
        warp->turn = block->turn + 1;
        if (block == running) {
            block->ready |= bit;
        } else {
            block->next[w] = warp->turn;
            block->queued |= bit;
        }
    }
}

static void observe_complete(const Cluster *cluster) {
    for (int rank = 0, left = cluster->resident; rank < cluster->block_count; rank++)
        if (cluster->blocks[rank] && cluster->blocks[rank]->observed)
            observe_cluster_complete(cluster->blocks[rank], --left);
}

static void release_cluster(Cluster *cluster, const Block *running) {
    cluster->in_use = false;
    observe_complete(cluster);
    for (int rank = 0; rank < cluster->block_count; rank++)
        if (cluster->blocks[rank]) release_block(cluster->blocks[rank], running);
}

/* Lanes of the block have exited: the barrier may now be complete. */
static void cluster_after_exit(const Block *block) {
    Cluster *cluster = block->cluster;
    if (cluster && cluster->in_use && has_arrived(block) && cluster_is_complete(cluster))
        release_cluster(cluster, block);
}

static Outcome misused(Block *block, const Warp *warp, const Op *op, uint32_t lanes, const char *why) {
    raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, op->pc, lanes, NULL, "%s", why);
    return OUTCOME_STOP;
}

/* barrier.cluster.arrive and .wait of lanes that execute it together. */
static Outcome cluster_arrive(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Cluster *cluster = block->cluster;
    uint32_t *arrived = &warp->arrived[CLUSTER_BARRIER];
    block->worker->counters[op->pc].requests++;
    if (!cluster) return OUTCOME_NEXT;
    if (*arrived & mask)
        return misused(
            block, warp, op, *arrived & mask,
            tr("these threads have already arrived at the barrier of the cluster, which is not complete"));
    if (block->observed) observe_cluster_arrival(block, warp, op->pc, mask);
    *arrived |= mask;
    cluster->in_use = true;
    if (has_arrived(block) && cluster_is_complete(cluster)) release_cluster(cluster, block);
    return OUTCOME_NEXT;
}

static Outcome cluster_wait(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Fragment *fragment = warp_fragment(warp);
    uint32_t arrived = warp->arrived[CLUSTER_BARRIER];
    block->worker->counters[op->pc].requests++;
    if (block->recorder) {
        TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_NAMED_BARRIER);
        event->participants = CLUSTER_BARRIER;
        recorder_end(block->recorder, false, false);
    }
    if (block->cluster && mask & ~(arrived | warp->passed))
        return misused(block, warp, op, mask & ~(arrived | warp->passed),
                       tr("these threads wait at the barrier of the cluster without having arrived"));
    fragment->state = FRAGMENT_IN_BARRIER;
    fragment->barrier = CLUSTER_BARRIER;
    fragment->active = mask;
    if (block->cluster && mask & arrived) return OUTCOME_ARRIVED;
    barrier_wake(block, warp, CLUSTER_BARRIER);
    return OUTCOME_MOVED;
}

/* ---- completion ------------------------------------------------------------------------------------- */

static void release(Block *block, int number) {
    Barrier *barrier = &block->barriers[number];
    if (block->observed) observe_release(block, number);
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        warp->arrived[number] = 0;
        if (!barrier_wake(block, warp, number)) continue;
        if ((block->queued | block->ready) >> w & 1) continue; /* another part of it runs anyway */
        block->ready |= UINT32_C(1) << w;
        warp->turn = block->turn + 1;
    }
    *barrier = (Barrier){0};
    block->barriers_in_use &= ~(UINT32_C(1) << number);
}

static bool is_complete(const Block *block, int number) {
    const Barrier *barrier = &block->barriers[number];
    if (!(block->barriers_in_use >> number & 1)) return false;
    if (barrier->expected) return barrier->arrived >= barrier->expected;
    if (barrier->arrived < (uint32_t)block->live_warps * WARP_LANES) return false;
    for (int w = block->warp_count - 1; w >= 0; w--) /* the last warps come last */
        if (block->warps[w].live & ~block->warps[w].arrived[number]) return false;
    return true;
}

void barrier_after_exit(Block *block, const Warp *warp, uint32_t lanes) {
    for (uint32_t rest = block->barriers_in_use; rest; rest &= rest - 1) {
        int number = __builtin_ctz(rest);
        Barrier *barrier = &block->barriers[number];
        uint32_t arrived = warp->arrived[number];
        if (arrived && lanes & ~arrived && !(warp->live & ~arrived))
            barrier->arrived += WARP_LANES; /* waited only for these */
        if (is_complete(block, number)) release(block, number);
    }
    cluster_after_exit(block);
}

/* ---- arrival ---------------------------------------------------------------------------------------- */

/* Lanes that arrive again (bar.arrive) start a new arrival. */
static void come(Barrier *barrier, Warp *warp, uint32_t number, uint32_t lanes) {
    uint32_t before = warp->arrived[number], now = before & lanes ? lanes : before | lanes;
    warp->arrived[number] = now;
    if (!(warp->live & ~now)) barrier->arrived += WARP_LANES;
}

static uint32_t lane_value(const Warp *warp, Operand place, uint32_t mask) {
    return ((const uint32_t *)operand_at(warp, place))[__builtin_ctz(mask)];
}

static bool same_in_all(const Warp *warp, Operand place, uint32_t mask) {
    uint32_t first = lane_value(warp, place, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (((const uint32_t *)operand_at(warp, place))[__builtin_ctz(rest)] != first) return false;
    return true;
}

static void record(Block *block, const Warp *warp, const Op *op, uint32_t mask, uint32_t number) {
    const BarrierOp *barrier_op = op->extra;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, trace_kind_of(op->instruction));
    event->participants = number;
    if (barrier_op->action == BARRIER_RED) {
        uint32_t holds = *(const uint32_t *)operand_at(warp, barrier_op->predicate);
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            event->operand[__builtin_ctz(rest)] = holds >> __builtin_ctz(rest) & 1;
    }
    recorder_end(block->recorder, false, false);
}

/* All arrivals of a phase must expect the same number of threads; without a count: all of the block. */
static bool agrees(const Block *block, const Barrier *barrier, uint32_t count) {
    uint32_t live = (uint32_t)block->live_warps * WARP_LANES, all = (uint32_t)block->warp_count * WARP_LANES;
    if (barrier->expected == count) return true;
    if (barrier->expected && count) return false;
    return barrier->expected + count == live || barrier->expected + count == all;
}

static Outcome arrive(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const BarrierOp *barrier_op = op->extra;
    if (barrier_op->is_cluster)
        return barrier_op->action == BARRIER_ARRIVE ? cluster_arrive(block, warp, op, mask)
                                                    : cluster_wait(block, warp, op, mask);
    uint32_t number = lane_value(warp, barrier_op->number, mask);
    Barrier *barrier = &block->barriers[number];
    block->worker->counters[op->pc].requests++;
    if (block->recorder) record(block, warp, op, mask, number);
    if (block->observed && !barrier_op->blockwide) observe_arrival(block, warp, op->pc, mask, (int)number);
    uint32_t count = barrier_op->has_count ? lane_value(warp, barrier_op->count, mask) : 0;
    if (!(block->barriers_in_use >> number & 1)) {
        barrier->expected = count;
        barrier->pc = op->pc;
    } else if (!agrees(block, barrier, count)) {
        raise_barrier_counts(block, warp, op->pc, (int)number, count);
        return OUTCOME_STOP;
    }
    block->barriers_in_use |= UINT32_C(1) << number;
    come(barrier, warp, number, mask);
    if (barrier_op->action == BARRIER_RED) {
        uint32_t holds = *(const uint32_t *)operand_at(warp, barrier_op->predicate) & mask;
        barrier->holds += (uint32_t)lane_count(holds);
        barrier->votes += (uint32_t)lane_count(mask);
    }
    Fragment *fragment = warp_fragment(warp);
    if (barrier_op->action != BARRIER_ARRIVE) {
        fragment->state = FRAGMENT_IN_BARRIER;
        fragment->barrier = (uint8_t)number;
        fragment->active = mask;
    }
    if (is_complete(block, (int)number)) {
        release(block, (int)number);
        if (barrier_op->action == BARRIER_ARRIVE) return OUTCOME_NEXT;
        return OUTCOME_MOVED;
    }
    return barrier_op->action == BARRIER_ARRIVE ? OUTCOME_NEXT : OUTCOME_ARRIVED;
}

/* Gathers the siblings of the current fragment that wait at the same aligned barrier and merges them for
 * good, as hardware reconverges them. False: lanes are missing. */
static bool align(Warp *warp, uint32_t *mask) {
    Fragment *at = warp_fragment(warp);
    uint32_t present = *mask;
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        if (other->state == FRAGMENT_AT_ALIGNED && other->pc == at->pc && other->frame == at->frame)
            present |= other->active;
    }
    *mask = present;
    return present == warp->live;
}

static bool waits_elsewhere(const Warp *warp) {
    const Fragment *at = &warp->fragments[warp->current];
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        if (other->state == FRAGMENT_AT_ALIGNED && (other->pc != at->pc || other->frame != at->frame))
            return true;
    }
    return false;
}

static Outcome wait_for_siblings(Block *block, Warp *warp, uint32_t mask) {
    Fragment *fragment = warp_fragment(warp);
    fragment->state = FRAGMENT_AT_ALIGNED;
    fragment->active = mask;
    if (fragment->mask != mask || waits_elsewhere(warp)) { /* lanes passed it by, or wait at another */
        raise_divergent_barrier(block, warp);
        return OUTCOME_STOP;
    }
    return OUTCOME_WAIT;
}

/* All siblings have arrived: each fragment arrives at the barrier, the current one last. */
static Outcome arrive_together(Block *block, Warp *warp, const Op *op, uint32_t own, uint32_t all) {
    const BarrierOp *barrier_op = op->extra;
    uint32_t number = lane_value(warp, barrier_op->number, own);
    for (int i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->fragments[i];
        if (other->state != FRAGMENT_AT_ALIGNED) continue;
        block->worker->counters[op->pc].executions--; /* one execution for all of them */
        if (barrier_op->action == BARRIER_ARRIVE) {
            other->state = FRAGMENT_READY;
            other->pc++;
        } else {
            other->state = FRAGMENT_IN_BARRIER;
            other->barrier = (uint8_t)number;
        }
    }
    Fragment *fragment = warp_fragment(warp);
    Outcome outcome = arrive(block, warp, op, all);
    fragment->active = own;
    return outcome;
}

/* Executes a __syncthreads() for whole warps. */
int barrier_sync_together(Block *block, const Op *op, const Gang *gang) {
    const BarrierOp *barrier_op = op->extra;
    int count = 0;
    if (!barrier_op->is_plain) return 0;
    while (count < gang->count && gang->masks[count] == gang->warps[count]->live) count++;
    uint32_t number = lane_value(gang->warps[0], barrier_op->number, ALL_LANES);
    Barrier *barrier = &block->barriers[number];
    block->worker->counters[op->pc].requests += (uint64_t)count;
    /* all at once: no warp waits */
    if (count == block->live_warps && !(block->barriers_in_use >> number & 1)) {
        if (block->observed) observe_release_of_all(block, op->pc, (int)number);
        for (int w = 0; w < count; w++) gang->warps[w]->interval++;
        return count;
    }
    if (!(block->barriers_in_use >> number & 1)) barrier->pc = op->pc;
    for (int w = 0; w < count; w++) {
        come(barrier, gang->warps[w], number, gang->masks[w]);
        gang->fragments[w]->pc = op->pc;
        gang->fragments[w]->state = FRAGMENT_IN_BARRIER;
        gang->fragments[w]->barrier = (uint8_t)number;
        gang->fragments[w]->active = gang->masks[w];
        gang->warps[w]->current = NO_FRAGMENT;
    }
    if (count) block->barriers_in_use |= UINT32_C(1) << number;
    if (is_complete(block, (int)number)) release(block, (int)number);
    return count;
}

Outcome barrier_execute(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const BarrierOp *barrier_op = op->extra;
    if (barrier_op->is_plain && mask == warp->live) return arrive(block, warp, op, mask);
    if (!barrier_op->number.constant && !same_in_all(warp, barrier_op->number, mask)) {
        raise_trap(block, TRAP_NOT_EMULATED, warp, op->pc, mask, NULL,
                   tr("lanes of one warp name different barriers in one instruction"));
        return OUTCOME_STOP;
    }
    uint32_t number = lane_value(warp, barrier_op->number, mask);
    if (number >= BARRIER_COUNT || (number == CLUSTER_BARRIER && !barrier_op->is_cluster)) {
        raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, op->pc, mask, NULL,
                   tr("barrier %u does not exist; barriers are numbered 0 to 15"), number);
        return OUTCOME_STOP;
    }
    uint32_t count = barrier_op->has_count ? lane_value(warp, barrier_op->count, mask) : WARP_LANES;
    if (count % WARP_LANES || !count) {
        raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, op->pc, mask, NULL,
                   tr("the thread count of a barrier must be a positive multiple of 32, not %u"), count);
        return OUTCOME_STOP;
    }
    if (!barrier_op->aligned || mask == warp->live) return arrive(block, warp, op, mask);
    uint32_t all = mask;
    return align(warp, &all) ? arrive_together(block, warp, op, mask, all)
                             : wait_for_siblings(block, warp, mask);
}
