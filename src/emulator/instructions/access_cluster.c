/* Accesses of shared memory whose addresses name a block of the cluster (machine/cluster.h). Lanes that reach several
 * blocks make one access each. */
#include "emulator/instructions/access_execute.h"
#include "emulator/machine/cluster.h"

#include <inttypes.h>

static uint32_t lanes_of_rank(const Access *access, uint32_t among, uint64_t rank) {
    uint32_t lanes = 0;
    for (uint32_t rest = among; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (access->address[lane] >> CLUSTER_RANK_SHIFT == rank) lanes |= lane_bit[lane];
    }
    return lanes;
}

static Outcome stop(const Access *access, TrapKind kind, const char *format, uint32_t rank) {
    Text text = {0};
    text_print(&text, format, rank, access->block->grid->cluster_blocks);
    text_print(&text, " (thread %d of the block%s)",
               access->warp->index * WARP_LANES + __builtin_ctz(access->mask),
               access->mask & (access->mask - 1) ? " and others" : "");
    raise_trap(access->block, kind, access->warp, access->op->pc, access->mask, access->address, "%s",
               text_string(&text));
    text_done(&text);
    return OUTCOME_STOP;
}

/* In shared memory of the block `rank` of the cluster. */
static Outcome in_rank(Access *access, uint32_t rank, AccessInBlock in_block, AccessMove move) {
    Block *block = access->block, *owner = cluster_member(block, rank);
    if (rank >= block->grid->cluster_blocks)
        return stop(access, TRAP_OUT_OF_BOUNDS,
                    "shared memory of block %" PRIu32 " of a cluster of %" PRIu32 " blocks: there is none",
                    rank);
    if (access->memory->space == PTX_SPACE_SHARED)
        return stop(access, TRAP_OUT_OF_BOUNDS,
                    "shared memory of block %" PRIu32
                    " of the cluster through .shared, which is the own block's: "
                    "use .shared::cluster or a generic address",
                    rank);
    access->peer = (int)rank;
    if (!block->cluster) return in_block(access, block_elsewhere(block), move); /* it runs alone */
    if (owner) return in_block(access, (SharedMemory){owner->shared, owner->shared_written}, move);
    return stop(access, TRAP_BLOCK_EXITED,
                "shared memory of block %" PRIu32
                " of the cluster, which has exited: it must not exit before others "
                "have made their last access of its memory",
                rank);
}

bool access_in_own_block(Block *block, const Warp *warp, const Op *op, int lane, uint64_t *address) {
    uint64_t field = *address >> CLUSTER_RANK_SHIFT;
    if (!field || field > block->grid->cluster_blocks) return true; /* out of bounds is found later */
    *address &= CLUSTER_OFFSET;
    if (field - 1 == block->rank) return true;
    raise_trap(
        block, TRAP_NOT_EMULATED, warp, op->pc, lane_bit[lane], NULL,
        "not emulated: mbarriers and asynchronous copies in another block of the cluster (block %" PRIu64 ")",
        field - 1);
    return false;
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
