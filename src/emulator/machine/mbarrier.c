/* mbarriers of a block, and the threads that wait for them (mbarrier.h). */
#include "emulator/machine/mbarrier.h"

#include "emulator/machine/observe.h"

/* Waits that give up while no mbarrier changes: a loop that leaves the registers as they were repeats for
 * ever, another one may count its rounds. */
enum { PATIENCE = 64, PATIENCE_WITH_COUNTER = 1 << 18 };

/* Makes fragments that wait for an mbarrier ready; `at_once`: in the current slice. */
static bool wake(Block *block, bool gives_up, bool at_once) {
    bool any = false;
    for (int w = 0; w < block->warp_count; w++) {
        Warp *warp = &block->warps[w];
        bool woken = false;
        for (int i = 0; i < warp->fragment_count; i++) {
            Fragment *fragment = &warp->fragments[i];
            if (fragment->state != FRAGMENT_AT_MBARRIER) continue;
            fragment->state = FRAGMENT_READY;
            fragment->gives_up = gives_up;
            woken = true;
        }
        any |= woken;
        if (!woken) continue;
        if (warp->current == NO_FRAGMENT) warp_pick(warp);
        if ((block->queued | block->ready) >> w & 1) continue; /* another part of it runs anyway */
        warp->turn = block->turn + 1;
        if (!at_once) {
            block->next[w] = warp->turn;
            block->queued |= UINT32_C(1) << w;
        } else {
            block->ready |= UINT32_C(1) << w;
        }
    }
    return any;
}

void mbarrier_wake(Block *block, const Block *running) {
    block->given_up = 0;
    wake(block, false, block == running);
}

static bool is_alone(const Block *block) {
    return !block->cluster && block->grid->cluster_blocks > 1;
}

/* A hash of the registers of the threads that wait. */
static uint64_t hash_waiting(const Block *block) {
    uint64_t hash = 0;
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        const Frame *frame = NULL;
        for (int i = 0; i < warp->fragment_count; i++)
            if (warp->fragments[i].state == FRAGMENT_AT_MBARRIER) frame = warp->fragments[i].frame;
        for (uint32_t at = 0; frame && at + 8 <= frame->layout->register_bytes; at += 8)
            hash = (hash ^ bytes_read(frame->registers + at, 8)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}

bool mbarrier_give_up(Block *block) {
    uint64_t hash = hash_waiting(block);
    block->given_up_alike = block->given_up && hash == block->waited_with ? block->given_up_alike + 1 : 0;
    block->waited_with = hash;
    bool is_vain = block->given_up_alike >= PATIENCE || block->given_up >= PATIENCE_WITH_COUNTER;
    if (is_vain && !is_alone(block)) return false;
    block->given_up++;
    if (!block->given_up_alike) block->worker->changes++; /* a round that is counted is no spinning */
    return wake(block, true, false);
}

void mbarrier_write(Block *block, uint64_t place, Mbarrier mbarrier, const Block *running) {
    uint64_t word = mbarrier_pack(mbarrier);
    memcpy(block->shared + place, &word, MBARRIER_BYTES);
    mbarrier_wake(block, running);
}

bool mbarrier_lies_with(Block *block, const Warp *warp, const Op *op, int lane, int to, int at) {
    if (to == at) return true;
    raise_trap(block, TRAP_MBARRIER, warp, op->pc, lane_bit[lane], NULL,
               "the destination lies in block %d of the cluster, its mbarrier in block %d: both must be in "
               "the same block",
               to < 0 ? (int)block->rank : to, at < 0 ? (int)block->rank : at);
    return false;
}

void mbarrier_flip(Mbarrier *mbarrier) {
    mbarrier->phase ^= 1;
    mbarrier->pending = mbarrier->expected;
    mbarrier->bytes = 0;
}

void mbarrier_settle(Block *block, uint64_t place, const Warp *warp, int lane) {
    Mbarrier mbarrier = mbarrier_read(block, place);
    uint64_t until;
    if (!copies_complete(block, (uint32_t)place, mbarrier.bytes, mbarrier.pending, &until)) return;
    copies_arrive(block, warp, lane, (uint32_t)place, until);
    if (block->observed) observe_phase(block, warp, lane, place);
    mbarrier_flip(&mbarrier);
    mbarrier_write(block, place, mbarrier, warp->block);
}

void mbarrier_complete_alone(Block *block, uint64_t place, const Warp *warp, int lane) {
    if (!is_alone(block)) return;
    Mbarrier mbarrier = mbarrier_read(block, place);
    copies_arrive(block, warp, lane, (uint32_t)place, UINT64_MAX);
    mbarrier_flip(&mbarrier);
    mbarrier_write(block, place, mbarrier, block);
}
