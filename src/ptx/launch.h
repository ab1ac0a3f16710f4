/* Launch: an entry and everything it is launched with, on any backend.
 *
 * A plan's launch (plan/plan.h) names its buffers; plan_bind_launch() makes a Launch of it once a backend has
 * assigned addresses. The emulator, capture, counters, --verify and --bench all run such a Launch. */
#ifndef PTX_LAUNCH_H
#define PTX_LAUNCH_H

#include "base/error.h"
#include "ptx/program.h"

typedef struct Launch {
    const PtxProgram *program; /* borrowed */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a cluster, as the launch sets them; 0: see launch_cluster() */
    uint32_t dynamic_shared_bytes;
    bool cooperative;    /* all blocks are resident at once; grid-wide barriers work */
    uint8_t *parameters; /* of the entry, in the layout of PTX: launch_parameter_offset() */
    size_t parameter_bytes;
} Launch;

void launch_done(Launch *launch); /* frees the parameters if the launch owns them */

/* The offset of a parameter that follows `*end` bytes of others; updates `*end`. */
size_t launch_parameter_offset(const PtxVariable *parameter, size_t *end);

/* Blocks of each cluster: as the launch sets them, else as the entry requires (.reqnctapercluster), else 1:
 * every block is its own cluster. */
void launch_cluster(const Launch *launch, uint32_t size[3]);
bool launch_has_clusters(const Launch *launch);       /* set or required, even with one block */
uint32_t launch_cluster_blocks(const Launch *launch); /* total number */
enum { LAUNCH_CLUSTER_BLOCKS = 16, LAUNCH_PORTABLE_CLUSTER_BLOCKS = 8 };
/* Rejects what a GPU rejects: a cluster size that differs from the one the entry requires, a missing size
 * that it needs, more blocks than a cluster may have, a grid that is not a multiple of the cluster. */
bool launch_check_cluster(const Launch *launch, Error *error);

uint64_t launch_volume(const uint32_t size[3]); /* blocks of a grid, threads of a block */

#endif
