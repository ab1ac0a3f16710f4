/* Cluster order: how a cluster barrier orders the threads of its blocks. Private to src/findings.
 *
 * An arrival releases what the thread has done; a relaxed one only what its last fence released. A wait
 * acquires what all threads of the cluster released in that phase. Between its arrival and its wait, a thread
 * is in neither order. */
#ifndef FINDINGS_RACES_CLUSTER_ORDER_H
#define FINDINGS_RACES_CLUSTER_ORDER_H

#include "findings/races/happens_before.h"

typedef struct ClusterOrder {      /* for one block */
    uint32_t arrived[BLOCK_WARPS]; /* lanes, in this phase */
    uint32_t *stamps; /* [warp * 32 + lane] stamp of its arrival; 0: relaxed. NULL: none has arrived yet */
    /* A thread has accessed memory since its arrival, or its arrival is relaxed: threads count one by one. */
    bool is_split;
    VectorClock *passed; /* what was released in the last complete phase */
} ClusterOrder;

void cluster_order_begin(ClusterOrder *cluster);
void cluster_order_end(ClusterOrder *cluster); /* frees its clock; keeps the stamps for the next block */
void cluster_order_arrive(ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes,
                          bool is_relaxed);
/* Lanes access memory. */
static inline void cluster_order_access(ClusterOrder *cluster, int warp, uint32_t lanes) {
    cluster->is_split |= (cluster->arrived[warp] & lanes) != 0;
}
/* The phase is complete: adds what the block's threads released to *phase. Once all blocks have done so,
 * waiting threads acquire it. */
void cluster_order_complete(ClusterOrder *cluster, HappensBefore *order, VectorClock **phase);
void cluster_order_pass(ClusterOrder *cluster, VectorClock *phase);
void cluster_order_wait(const ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes);

#endif
