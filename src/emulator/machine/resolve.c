/* Decides what happens when no warp can run: releases lanes or reports a fault. It releases lanes that only
 * wait to reconverge, first those that only exit; if there are none, it reports the fault (deadlock.c). */
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/mbarrier.h"

static int count_state(const Warp *warp, FragmentState state) {
    int count = 0;
    for (int i = 0; i < warp->fragment_count; i++) count += warp->fragments[i].state == state;
    return count;
}

bool block_unstick(Block *block, Warp *warp) {
    if (block->worker->stopped || !warp->live) return false;
    if (warp->fragment_count == 1 && warp->fragments[0].state == FRAGMENT_IN_BARRIER)
        return false; /* the common case */
    if (warp_pick(warp)) return true;
    if (count_state(warp, FRAGMENT_IN_BARRIER) || count_state(warp, FRAGMENT_AT_MBARRIER))
        return false; /* others may still release it */
    if (warp_release_exiting(warp)) return warp_pick(warp);
    if (count_state(warp, FRAGMENT_AT_ALIGNED)) {
        raise_divergent_barrier(block, warp);
        return false;
    }
    if (warp_release_any(warp)) return warp_pick(warp);
    if (count_state(warp, FRAGMENT_AT_WARP_OP)) raise_missing_lanes(block, warp);
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
    if (cluster_waits(block)) return false;
    if (mbarrier_give_up(block)) return true;
    block_raise_stuck(block);
    return true;
}

/* Raises the fault of a warp of the block that waits for its own lanes. False: there is no such warp. */
static bool raise_own_lanes(Block *block) {
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        if (!count_state(warp, FRAGMENT_AT_ALIGNED)) continue;
        raise_divergent_barrier(block, warp);
        return true;
    }
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        if (!count_state(warp, FRAGMENT_AT_WARP_OP)) continue;
        raise_missing_lanes(block, warp);
        return true;
    }
    return false;
}

void block_raise_stuck(Block *block) {
    int ranks = cluster_waits(block) ? block->cluster->block_count : 0;
    if (raise_own_lanes(block)) return;
    for (int rank = 0; rank < ranks; rank++)
        if (block->cluster->blocks[rank] && raise_own_lanes(block->cluster->blocks[rank])) return;
    raise_deadlock(block);
}
