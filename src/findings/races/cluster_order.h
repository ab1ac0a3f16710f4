/* Cluster order: the order that a cluster's barrier gives to threads of its blocks. Private to src/metrics.
 *
 * Arriving releases what the thread has done (unless it is relaxed: then only what its last fence released); waiting
 * acquires what all threads of the cluster released to that phase. Between the two, a thread is in neither order. */
#ifndef FINDINGS_RACES_CLUSTER_ORDER_H
#define FINDINGS_RACES_CLUSTER_ORDER_H

#include "findings/races/happens_before.h"

typedef struct ClusterOrder {      /* of one block */
    uint32_t arrived[BLOCK_WARPS]; /* lanes, in this phase */
    uint32_t *stamps;              /* [warp * 32 + lane] when it arrived; 0: relaxed. NULL: none has yet */
    bool
        is_split; /* a thread has accessed memory since it arrived, or is relaxed: threads count one by one */
    VectorClock *passed; /* what was released to the phase that was complete last */
} ClusterOrder;

void cluster_order_begin(ClusterOrder *cluster);
void cluster_order_end(ClusterOrder *cluster); /* its clock; the stamps stay for the next block */
void cluster_order_arrive(ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes,
                          bool is_relaxed);
/* Lanes access memory. */
static inline void cluster_order_access(ClusterOrder *cluster, int warp, uint32_t lanes) {
    cluster->is_split |= (cluster->arrived[warp] & lanes) != 0;
}
/* The phase is complete: adds what the block's threads released to *phase; once all blocks have, it is what those who
 * wait acquire. */
void cluster_order_complete(ClusterOrder *cluster, HappensBefore *order, VectorClock **phase);
void cluster_order_pass(ClusterOrder *cluster, VectorClock *phase);
void cluster_order_wait(const ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes);

#endif
