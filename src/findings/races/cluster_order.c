#include "findings/races/cluster_order.h"

#include "base/memory.h"
#include <stdlib.h>

enum { BLOCK_THREADS = BLOCK_WARPS * WARP_LANES };

void cluster_order_begin(ClusterOrder *cluster) {
    memset(cluster->arrived, 0, sizeof cluster->arrived);
    cluster->is_split = false;
}

void cluster_order_end(ClusterOrder *cluster) {
    vector_clock_replace(&cluster->passed, NULL);
}

void cluster_order_arrive(ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes,
                          bool is_relaxed) {
    if (!cluster->stamps) cluster->stamps = memory_new(BLOCK_THREADS * sizeof *cluster->stamps);
    cluster->arrived[warp] |= lanes;
    cluster->is_split |= is_relaxed;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        cluster->stamps[warp * WARP_LANES + __builtin_ctz(rest)] = is_relaxed ? 0 : order->now;
    order->now++;
}

/* What threads of the block know beyond their block. */
static void add_known(const HappensBefore *order, VectorClock **phase) {
    const VectorClock *last = NULL;
    vector_clock_join(phase, order->known);
    for (int t = 0; order->threads && t < order->thread_count; t++) {
        VectorClock *known = order->threads[t].known;
        if (known != last) vector_clock_join(phase, known);
        last = known;
    }
}

/* Thread by thread: a relaxed arrival adds only what a fence has released. */
static void add_threads(const ClusterOrder *cluster, const HappensBefore *order, VectorClock **phase) {
    VectorClockEntry entries[WARP_LANES];
    for (int w = 0; w < BLOCK_WARPS; w++) {
        int count = 0;
        for (uint32_t rest = cluster->arrived[w]; rest; rest &= rest - 1) {
            int thread = w * WARP_LANES + __builtin_ctz(rest);
            uint32_t stamp = cluster->stamps[thread];
            if (stamp) entries[count++] = (VectorClockEntry){order->number, (uint32_t)thread, stamp};
            if (order->threads && stamp) vector_clock_join(phase, order->threads[thread].known);
            if (order->threads && !stamp) happens_before_add_released(order, thread, SCOPE_DEVICE, phase);
        }
        vector_clock_add(phase, entries, count);
    }
}

void cluster_order_complete(ClusterOrder *cluster, HappensBefore *order, VectorClock **phase) {
    uint32_t stamp = cluster->is_split ? order->barrier : order->now;
    if (cluster->is_split)
        add_threads(cluster, order, phase);
    else
        add_known(order, phase);
    vector_clock_join(phase, order->known);
    vector_clock_add(phase, &(VectorClockEntry){order->number, VECTOR_CLOCK_WHOLE_BLOCK, stamp}, 1);
    order->now++;
    cluster_order_begin(cluster);
}

void cluster_order_pass(ClusterOrder *cluster, VectorClock *phase) {
    vector_clock_replace(&cluster->passed, vector_clock_keep(phase));
}

/* Threads that knew the same before share a clock afterwards. */
void cluster_order_wait(const ClusterOrder *cluster, HappensBefore *order, int warp, uint32_t lanes) {
    ClockJoin join = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        clock_join_again(&join, &happens_before_threads(order)[warp * WARP_LANES + __builtin_ctz(rest)].known,
                         cluster->passed);
    clock_join_done(&join);
}
