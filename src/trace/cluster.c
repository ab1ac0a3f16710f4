/* The blocks that belong to one cluster of a launch (trace.h). */
#include "trace/trace.h"

uint32_t trace_cluster_blocks(const TraceLaunch *launch) {
    uint32_t blocks = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    return blocks ? blocks : 1;
}

uint32_t trace_cluster_rank(const TraceLaunch *launch, uint32_t linear_block) {
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    if (trace_cluster_blocks(launch) == 1) return 0;
    uint32_t x = linear_block % grid[0], y = linear_block / grid[0] % grid[1],
             z = linear_block / grid[0] / grid[1];
    return (z % size[2] * size[1] + y % size[1]) * size[0] + x % size[0];
}

uint32_t trace_cluster_member(const TraceLaunch *launch, uint32_t linear_block, uint32_t rank) {
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    if (trace_cluster_blocks(launch) == 1) return linear_block;
    uint32_t x = linear_block % grid[0], y = linear_block / grid[0] % grid[1],
             z = linear_block / grid[0] / grid[1];
    x = x - x % size[0] + rank % size[0];
    y = y - y % size[1] + rank / size[0] % size[1];
    z = z - z % size[2] + rank / size[0] / size[1];
    return (z * grid[1] + y) * grid[0] + x;
}
