/* Decides what happens when no warp can run: releases lanes or reports a fault. It releases lanes that only
 * wait to reconverge, first those that only exit; if there are none, it reports the fault (deadlock.c). */
#include "emulator/machine/holds.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/mbarrier.h"

static int count_state(const Warp *warp, FragmentState state) {
    int count = 0;
    for (int i = 0; i < warp->fragment_count; i++) count += warp->fragments[i].state == state;
    return count;
}

/* Raises the fault of a warp that waits for its own lanes; false: it does not. Where some lanes wait at a
 * barrier and others at an instruction that names them, the fault is where the branch is: lanes that have
 * left it wait where all lanes should. */
static bool raise_own_lanes_of(Block *block, const Warp *warp) {
    const Fragment *barrier = NULL, *exchange = NULL;
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *fragment = &warp->fragments[i];
        if (fragment->state == FRAGMENT_AT_ALIGNED && (!barrier || warp_is_deeper(warp, fragment, barrier)))
            barrier = fragment;
        if (fragment->state == FRAGMENT_AT_WARP_OP && (!exchange || warp_is_deeper(warp, fragment, exchange)))
            exchange = fragment;
    }
    if (exchange && (!barrier || warp_is_deeper(warp, exchange, barrier)))
        raise_missing_lanes(block, warp, exchange);
    else if (barrier)
        raise_divergent_barrier(block, warp);
    return exchange || barrier;
}

bool block_unstick(Block *block, Warp *warp) {
    if (block->worker->stopped || !warp->live) return false;
    if (warp->fragment_count == 1 && warp->fragments[0].state == FRAGMENT_IN_BARRIER)
        return false; /* the common case */
    if (warp_pick(warp)) return true;
    if (count_state(warp, FRAGMENT_IN_BARRIER) || count_state(warp, FRAGMENT_AT_MBARRIER) ||
        count_state(warp, FRAGMENT_HELD))
        return false; /* others may still release it */
    if (warp_release_exiting(warp)) return warp_pick(warp);
    if (!count_state(warp, FRAGMENT_AT_ALIGNED) && warp_release_any(warp)) return warp_pick(warp);
    raise_own_lanes_of(block, warp);
    return false;
}

bool block_resolve(Block *block) {
    bool released = false;
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        bool aligned = count_state(warp, FRAGMENT_AT_ALIGNED);
        if (!warp->live || !(aligned ? warp_release_exiting(warp) : warp_release_any(warp))) continue;
        warp_pick(warp);
        block->next[w] = block->turn + 1;
        block->queued |= UINT32_C(1) << w;
        released = true;
    }
    if (released) return true;
    if (holds_any_in(block)) return holds_give_up_in(block);
    if (cluster_waits(block)) return false;
    if (mbarrier_give_up(block)) return true;
    block_raise_stuck(block);
    return true;
}

static bool raise_own_lanes(Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        if (raise_own_lanes_of(block, &block->warps[w])) return true;
    return false;
}

void block_raise_stuck(Block *block) {
    int ranks = cluster_waits(block) ? block->cluster->block_count : 0;
    if (raise_own_lanes(block)) return;
    for (int rank = 0; rank < ranks; rank++)
        if (block->cluster->blocks[rank] && raise_own_lanes(block->cluster->blocks[rank])) return;
    raise_deadlock(block);
}
