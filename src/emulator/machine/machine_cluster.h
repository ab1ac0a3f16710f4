/* Clusters: blocks that access each other's shared memory and share a barrier. They run together ("Cluster of
 * Cooperative Thread Arrays", "barrier.cluster" in the PTX ISA). Private to the emulator.
 *
 * A shared::cluster address names the block by its rank in the cluster. Addresses that do not come from mapa name none:
 * they lie in the own block's memory. */
#ifndef EMULATOR_MACHINE_MACHINE_CLUSTER_H
#define EMULATOR_MACHINE_MACHINE_CLUSTER_H

#include "emulator/machine/machine_block.h"

typedef struct Cluster {
    Block *blocks[LAUNCH_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
    int block_count;                      /* ranks */
    int resident;                         /* blocks that have not ended */
    bool in_use;                          /* threads have arrived at the barrier since it was complete last */
} Cluster;

/* Blocks of the grid's clusters: the clusters are numbered as blocks are, x first. */
uint64_t cluster_count(const Grid *grid);
uint64_t cluster_block(const Grid *grid, uint64_t cluster, uint32_t rank); /* its linear index */
uint32_t cluster_rank(const Grid *grid, const uint32_t block[3]);

/* The block begins, or ends, as a part of the cluster; one that has no cluster (a replay, a block that runs alone)
 * never waits for others. */
void cluster_join(Cluster *cluster, Block *block);
void cluster_leave(Block *block); /* the last one frees the cluster */
/* The block whose shared memory `rank` names: NULL: there is none, or it has exited. */
Block *cluster_member(const Block *block, uint32_t rank);

/* barrier.cluster.arrive and .wait of lanes that execute it together. */
Outcome cluster_arrive(Block *block, Warp *warp, const Op *op, uint32_t mask);
Outcome cluster_wait(Block *block, Warp *warp, const Op *op, uint32_t mask);
/* Lanes of the block have exited: the barrier may be complete without them. */
void cluster_after_exit(const Block *block);
/* Does a thread of the block wait for other blocks of its cluster, at their barrier or for an mbarrier? */
bool cluster_waits(const Block *block);
/* Threads of the cluster that are expected, and those that have arrived. */
void cluster_count_threads(const Block *block, uint32_t *live, uint32_t *arrived);

#endif
