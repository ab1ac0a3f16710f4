#include "ptx/launch.h"

#include <stdlib.h>

void launch_done(Launch *launch) {
    free(launch->parameters);
    *launch = (Launch){0};
}

/* "Kernel Function Parameter Attributes" and ".param" in the PTX ISA: parameters follow one another, each at
 * a multiple of its alignment. */
size_t launch_parameter_offset(const PtxVariable *parameter, size_t *end) {
    size_t alignment = parameter->alignment > 0 ? (size_t)parameter->alignment : 1;
    size_t offset = (*end + alignment - 1) / alignment * alignment;
    *end = offset + (size_t)parameter->bytes;
    return offset;
}

void launch_cluster(const Launch *launch, uint32_t size[3]) {
    const PtxFunction *entry = launch->program->entry; /* NULL: in a hand-made trace */
    for (int d = 0; d < 3; d++) {
        uint32_t required = entry ? entry->required_cluster[d] : 0;
        size[d] = launch->cluster[0] ? launch->cluster[d] : required;
        if (!size[d]) size[d] = 1;
    }
}

bool launch_has_clusters(const Launch *launch) {
    return launch->cluster[0] || launch->program->entry->required_cluster[0];
}

uint32_t launch_cluster_blocks(const Launch *launch) {
    uint32_t size[3];
    launch_cluster(launch, size);
    return size[0] * size[1] * size[2];
}

bool launch_check_cluster(const Launch *launch, Error *error) {
    const PtxFunction *entry = launch->program->entry;
    const uint32_t *required = entry->required_cluster, *grid = launch->grid;
    uint32_t size[3], most = entry->maximum_cluster ? entry->maximum_cluster : LAUNCH_CLUSTER_BLOCKS;
    launch_cluster(launch, size);
    uint64_t blocks = 1;
    bool fits = true;
    for (int d = 0; d < 3; d++) {
        if (required[0] && size[d] != required[d])
            return error_set(error, "--cluster: %s requires clusters of %ux%ux%u blocks (.reqnctapercluster)",
                             entry->name, required[0], required[1], required[2]);
        blocks = blocks * size[d] > UINT32_MAX ? UINT32_MAX : blocks * size[d];
        fits = fits && grid[d] % size[d] == 0;
    }
    if (entry->blocks_are_clusters)
        return error_set(error, "%s counts its grid in clusters (.blocksareclusters), which is not emulated",
                         entry->name);
    if (entry->needs_cluster && !required[0] && !launch->cluster[0])
        return error_set(error,
                         "%s must be launched in clusters (.explicitcluster): give --cluster X[,Y[,Z]]",
                         entry->name);
    if (most > LAUNCH_CLUSTER_BLOCKS) most = LAUNCH_CLUSTER_BLOCKS;
    if (blocks > most)
        return error_set(error, "a cluster of %ux%ux%u blocks; %s may have %u: use a smaller --cluster",
                         size[0], size[1], size[2], entry->maximum_cluster ? "one of this kernel" : "it",
                         most);
    return fits || error_set(error,
                             "the grid of %ux%ux%u blocks is not a multiple of the cluster of %ux%ux%u "
                             "blocks, which a GPU rejects: use another --grid or --cluster",
                             grid[0], grid[1], grid[2], size[0], size[1], size[2]);
}

uint64_t launch_volume(const uint32_t size[3]) {
    return (uint64_t)size[0] * size[1] * size[2];
}
