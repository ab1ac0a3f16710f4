/* Accesses of shared memory whose addresses name a block of the cluster (machine/machine_cluster.h). Lanes
 * that reach several blocks make one access per block. */
#include "emulator/instructions/access_execute.h"

#include "base/language.h"
#include "emulator/machine/machine_cluster.h"

#include <inttypes.h>

static uint32_t lanes_of_rank(const Access *access, uint32_t among, uint64_t rank) {
    uint32_t lanes = 0;
    for (uint32_t rest = among; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (access->address[lane] >> CLUSTER_RANK_SHIFT == rank) lanes |= lane_bit[lane];
    }
    return lanes;
}

/* An access of another block's shared memory. */
typedef struct Reach {
    Block *block;
    const Warp *warp;
    const Op *op;
    uint32_t lanes;
    const uint64_t *address; /* for the text of a trap; NULL: unknown */
} Reach;

static void stop(const Reach *reach, TrapKind kind, const char *format, uint32_t rank) {
    Text text = {0};
    text_print(&text, format, rank, reach->block->grid->cluster_blocks);
    text_print(&text,
               reach->lanes & (reach->lanes - 1) ? tr(" (thread %d of the block and others)")
                                                 : tr(" (thread %d of the block)"),
               reach->warp->index * WARP_LANES + __builtin_ctz(reach->lanes));
    raise_trap(reach->block, kind, reach->warp, reach->op->pc, reach->lanes, reach->address, "%s",
               text_string(&text));
    text_done(&text);
}

/* Finds the block of this rank; *owner is NULL if this block runs without its cluster. False after a trap. */
static bool find_owner(const Reach *reach, PtxSpace space, uint32_t rank, Block **owner) {
    *owner = cluster_member(reach->block, rank);
    if (rank >= reach->block->grid->cluster_blocks)
        stop(reach, TRAP_OUT_OF_BOUNDS,
             tr("shared memory of block %u of the cluster, which has only %u blocks"), rank);
    else if (space == PTX_SPACE_SHARED)
        stop(reach, TRAP_OUT_OF_BOUNDS,
             tr("shared memory of block %u of the cluster: .shared reaches only the block's own; use "
                ".shared::cluster or a generic address"),
             rank);
    else if (*owner || !reach->block->cluster)
        return true;
    else
        stop(reach, TRAP_BLOCK_EXITED,
             tr("shared memory of block %u of the cluster, which has exited: a block must not exit before "
                "the last access to its memory"),
             rank);
    return false;
}

/* Makes the access in the shared memory of block `rank` of the cluster. */
static Outcome in_rank(Access *access, uint32_t rank, AccessInBlock in_block, AccessMove move) {
    Block *block = access->block, *owner;
    Reach reach = {block, access->warp, access->op, access->mask, access->address};
    if (!find_owner(&reach, access->memory->space, rank, &owner)) return OUTCOME_STOP;
    access->peer = (int)rank;
    if (!owner) return in_block(access, block_elsewhere(block), move);
    return in_block(access, (SharedMemory){owner->shared, owner->shared_written}, move);
}

bool access_find_home(Block *block, const Warp *warp, const Op *op, PtxSpace space, int lane,
                      uint64_t *address, SharedHome *home) {
    uint64_t field = *address >> CLUSTER_RANK_SHIFT;
    *home = (SharedHome){block, -1};
    if (!field || field > CLUSTER_NO_RANK) return true; /* out of bounds: found later */
    *address &= CLUSTER_OFFSET;
    if (field - 1 == block->rank) return true;
    home->peer = (int)field - 1;
    Reach reach = {block, warp, op, lane_bit[lane], NULL};
    return find_owner(&reach, space, (uint32_t)home->peer, &home->block);
}

Outcome access_in_cluster(const Access *access, AccessInBlock in_block, AccessMove move) {
    const Block *block = access->block;
    SharedMemory own = {block->shared, block->shared_written};
    for (uint32_t left = access->mask; left;) {
        Access part = *access;
        uint64_t field = access->address[__builtin_ctz(left)] >> CLUSTER_RANK_SHIFT;
        part.mask = lanes_of_rank(access, left, field);
        left &= ~part.mask;
        bool is_rank = field > 0 && field <= CLUSTER_NO_RANK, is_own = is_rank && field - 1 == block->rank;
        if (is_rank)
            for (int l = 0; l < WARP_LANES; l++) part.address[l] &= CLUSTER_OFFSET;
        access_find_line(&part);
        Outcome outcome = is_rank && !is_own ? in_rank(&part, (uint32_t)field - 1, in_block, move)
                                             : in_block(&part, own, move);
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    return OUTCOME_NEXT;
}
