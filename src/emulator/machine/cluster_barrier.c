/* The barrier of a cluster (machine_cluster.h).
 *
 * A thread arrives first and waits later. A phase completes when all threads of the cluster that have not
 * exited have arrived; the next phase begins at once. Warp.arrived holds the lanes that have arrived in this
 * phase, Warp.passed the lanes whose phase is complete and that have not waited yet. */
#include "emulator/machine/barrier.h"

#include "base/language.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"

static bool has_arrived(const Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        if (block->warps[w].live & ~block->warps[w].arrived[CLUSTER_BARRIER]) return false;
    return true;
}

static bool is_complete(const Cluster *cluster) {
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

static void release(Cluster *cluster, const Block *running) {
    cluster->in_use = false;
    observe_complete(cluster);
    for (int rank = 0; rank < cluster->block_count; rank++)
        if (cluster->blocks[rank]) release_block(cluster->blocks[rank], running);
}

void cluster_after_exit(const Block *block) {
    Cluster *cluster = block->cluster;
    if (cluster && cluster->in_use && has_arrived(block) && is_complete(cluster)) release(cluster, block);
}

static Outcome misused(Block *block, const Warp *warp, const Op *op, uint32_t lanes, const char *why) {
    raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, op->pc, lanes, NULL, "%s", why);
    return OUTCOME_STOP;
}

Outcome cluster_arrive(Block *block, Warp *warp, const Op *op, uint32_t mask) {
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
    if (has_arrived(block) && is_complete(cluster)) release(cluster, block);
    return OUTCOME_NEXT;
}

Outcome cluster_wait(Block *block, Warp *warp, const Op *op, uint32_t mask) {
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
