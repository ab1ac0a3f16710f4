/* Clusters: their member blocks, and which of them wait (machine_cluster.h). */
#include "emulator/machine/machine_cluster.h"

#include <stdlib.h>

uint64_t cluster_count(const Grid *grid) {
    return grid->block_count / grid->cluster_blocks;
}

uint64_t cluster_block(const Grid *grid, uint64_t cluster, uint32_t rank) {
    const uint32_t *size = grid->cluster;
    uint64_t x = grid->grid[0] / size[0], y = grid->grid[1] / size[1];
    uint64_t id[3] = {cluster % x * size[0] + rank % size[0],
                      cluster / x % y * size[1] + rank / size[0] % size[1],
                      cluster / x / y * size[2] + rank / size[0] / size[1]};
    return (id[2] * grid->grid[1] + id[1]) * grid->grid[0] + id[0];
}

uint32_t cluster_rank(const Grid *grid, const uint32_t block[3]) {
    const uint32_t *size = grid->cluster;
    return (block[2] % size[2] * size[1] + block[1] % size[1]) * size[0] + block[0] % size[0];
}

void cluster_join(Cluster *cluster, Block *block) {
    cluster->block_count = (int)block->grid->cluster_blocks;
    cluster->blocks[block->rank] = block;
    cluster->resident++;
    block->cluster = cluster;
}

void cluster_leave(Block *block) {
    Cluster *cluster = block->cluster;
    if (!cluster) return;
    cluster->blocks[block->rank] = NULL;
    block->cluster = NULL;
    if (!--cluster->resident) free(cluster);
}

Block *cluster_member(const Block *block, uint32_t rank) {
    if (!block->cluster || rank >= (uint32_t)block->cluster->block_count) return NULL;
    Block *member = block->cluster->blocks[rank];
    return member && member->live_warps ? member : NULL;
}

bool cluster_waits(const Block *block) {
    if (!block->cluster || block->cluster->block_count == 1) return false;
    bool has_others = block->cluster->resident > 1; /* they may arrive at an mbarrier of this block */
    for (int w = 0; w < block->warp_count; w++) {
        const Warp *warp = &block->warps[w];
        for (int i = 0; warp->live && i < warp->fragment_count; i++) {
            const Fragment *fragment = &warp->fragments[i];
            if (fragment->state == FRAGMENT_IN_BARRIER && fragment->barrier == CLUSTER_BARRIER) return true;
            if (fragment->state == FRAGMENT_AT_MBARRIER && has_others) return true;
        }
    }
    return false;
}

void cluster_count_threads(const Block *block, uint32_t *live, uint32_t *arrived) {
    *live = *arrived = 0;
    for (int rank = 0; block->cluster && rank < block->cluster->block_count; rank++) {
        const Block *member = block->cluster->blocks[rank];
        for (int w = 0; member && w < member->warp_count; w++) {
            const Warp *warp = &member->warps[w];
            *live += (uint32_t)lane_count(warp->live);
            *arrived += (uint32_t)lane_count(warp->live & warp->arrived[CLUSTER_BARRIER]);
        }
    }
}
