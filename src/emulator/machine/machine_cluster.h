/* Clusters: blocks that access each other's shared memory and share a barrier. They run together ("Cluster of
 * Cooperative Thread Arrays", "barrier.cluster" in the PTX ISA). Private to the emulator.
 *
 * A shared::cluster address names its block by its rank in the cluster. An address that does not come from
 * mapa names no block: it lies in the memory of the block that uses it. */
#ifndef EMULATOR_MACHINE_MACHINE_CLUSTER_H
#define EMULATOR_MACHINE_MACHINE_CLUSTER_H

#include "emulator/machine/machine_block.h"

typedef struct Cluster {
    Block *blocks[LAUNCH_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
    int block_count;                      /* ranks */
    int resident;                         /* blocks that have not ended */
    bool in_use;                          /* threads have arrived at the barrier since it last completed */
} Cluster;

/* Blocks of the grid's clusters; clusters are numbered like blocks, x first. */
uint64_t cluster_count(const Grid *grid);
uint64_t cluster_block(const Grid *grid, uint64_t cluster, uint32_t rank); /* its linear index */
uint32_t cluster_rank(const Grid *grid, const uint32_t block[3]);

/* The block begins or ends as a member of the cluster. A block without a cluster (a replay, a block that runs
 * alone) never waits for others. */
void cluster_join(Cluster *cluster, Block *block);
void cluster_leave(Block *block); /* the last one frees the cluster */
/* The block of `rank`. NULL: it does not exist or has exited. */
Block *cluster_member(const Block *block, uint32_t rank);

/* True if a thread of the block waits for other blocks of its cluster, at their barrier or for an
 * mbarrier. */
bool cluster_waits(const Block *block);
/* Counts the threads that the cluster barrier expects, and those that have arrived. */
void cluster_count_threads(const Block *block, uint32_t *live, uint32_t *arrived);

#endif
