/* Checks of launches and occupancy. A launch gets the error that a GPU gives (seen on an H100). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum { MOST_THREADS = 1024, MOST_CLUSTER = 8, RESERVED_SHARED = 1024, WARP = 32, REGISTER_UNIT = 256 };

static uint64_t volume(Size3 size) {
    return (uint64_t)size.x * size.y * size.z;
}

/* Blocks that one multiprocessor holds at once. */
static unsigned resident_blocks(const KernelFunction *function, uint64_t threads, size_t shared) {
    const MessageFunction *facts = function_facts(function);
    const MessageWelcome *gpu = machine();
    if (threads == 0 || threads > facts->max_threads || shared > function_dynamic_limit(function)) return 0;
    unsigned warps = (unsigned)(threads + WARP - 1) / WARP;
    unsigned blocks = gpu->threads_per_multiprocessor / WARP / warps;
    unsigned used = (facts->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT * warps;
    size_t shared_of_block = (facts->static_shared_bytes + shared + 127) / 128 * 128 + RESERVED_SHARED;
    if (blocks > gpu->blocks_per_multiprocessor) blocks = gpu->blocks_per_multiprocessor;
    if (used > 0 && blocks > gpu->registers_per_multiprocessor / used)
        blocks = gpu->registers_per_multiprocessor / used;
    if (blocks > gpu->shared_per_multiprocessor / shared_of_block)
        blocks = (unsigned)(gpu->shared_per_multiprocessor / shared_of_block);
    return blocks;
}

static bool divides(Size3 cluster, Size3 grid) {
    return grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

/* The error with which a GPU refuses the launch; 0: none. */
static int launch_check(const KernelLaunch *launch) {
    const MessageFunction *facts = function_facts(launch->function);
    int configuration = launch->by_driver ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
    Size3 grid = launch->grid, block = launch->block, cluster = launch->cluster;
    uint64_t threads = volume(block);
    if (volume(grid) == 0) return failed(configuration, 0, 0, "launches a grid of no blocks");
    if (threads == 0) return failed(configuration, 0, 0, "launches blocks of no threads");
    if (grid.x > INT32_MAX || grid.y > UINT16_MAX || grid.z > UINT16_MAX)
        return failed(configuration, 0, 0,
                      "launches a grid of (%u, %u, %u); at most (%d, %d, %d) is possible", grid.x, grid.y,
                      grid.z, INT32_MAX, UINT16_MAX, UINT16_MAX);
    if (threads > MOST_THREADS || block.x > MOST_THREADS || block.y > MOST_THREADS || block.z > 64)
        return failed(
            configuration, 0, 0,
            "launches blocks of (%u, %u, %u) threads; at most 1,024 in all and 64 in z are possible", block.x,
            block.y, block.z);
    if (threads > facts->max_threads)
        return failed(configuration, 0, 0,
                      "launches %u threads in a block of a kernel compiled for at most %u", (unsigned)threads,
                      facts->max_threads);
    if (launch->shared > function_dynamic_limit(launch->function))
        return failed(
            cudaErrorInvalidValue, 0, 0,
            "launches blocks with %zu bytes of dynamic shared memory; %u are allowed%s", launch->shared,
            function_dynamic_limit(launch->function),
            launch->shared + facts->static_shared_bytes > machine()->shared_per_block_optin
                ? ""
                : ", more after cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize");
    if (cluster.x == 0 && facts->required_cluster[0] != 0)
        cluster = (Size3){facts->required_cluster[0], facts->required_cluster[1], facts->required_cluster[2]};
    if (volume(cluster) > (function_has_big_clusters(launch->function) ? MOST_CLUSTER * 2 : MOST_CLUSTER) ||
        (volume(cluster) != 0 && !divides(cluster, grid)))
        return failed(cudaErrorInvalidClusterSize, 0, 0,
                      "launches clusters of (%u, %u, %u) blocks in a grid of (%u, %u, %u)", cluster.x,
                      cluster.y, cluster.z, grid.x, grid.y, grid.z);
    uint64_t resident =
        (uint64_t)resident_blocks(launch->function, threads, launch->shared) * machine()->multiprocessors;
    if (launch->cooperative && volume(grid) > resident)
        return failed(cudaErrorCooperativeLaunchTooLarge, 0, 0,
                      "launches %llu blocks cooperatively; %llu are resident at once",
                      (unsigned long long)volume(grid), (unsigned long long)resident);
    return 0;
}

static void launch_tell(const KernelLaunch *launch, unsigned stream, unsigned graph, uint64_t caller,
                        int refused) {
    size_t bytes = refused == 0 ? function_parameter_bytes(launch->function) : 0;
    MessageLaunch message = {.function = function_facts(launch->function)->number,
                             .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
                             .block = {launch->block.x, launch->block.y, launch->block.z},
                             .cluster = {launch->cluster.x, launch->cluster.y, launch->cluster.z},
                             .dynamic_shared_bytes = (uint32_t)launch->shared,
                             .flags = launch->cooperative ? LAUNCH_COOPERATIVE : 0,
                             .refused = refused,
                             .stream = stream,
                             .caller = caller,
                             .parameter_bytes = (uint32_t)bytes,
                             .graph = graph};
    tell(MESSAGE_LAUNCH, &message, sizeof message, launch->bytes, bytes);
}

int launch_run(const KernelLaunch *launch, unsigned stream, unsigned graph, uint64_t caller) {
    launch_tell(launch, stream, graph, caller, 0);
    device_is_pending();
    guard_arguments(launch->bytes, function_parameter_bytes(launch->function));
    return 0;
}

void launch_free(KernelLaunch *launch) {
    free(launch->bytes);
    launch->bytes = NULL;
}

/* Checks the launch and packs its parameters. */
static int launch_fill(KernelLaunch *launch, void **parameters, void **extra) {
    launch->bytes = calloc(1, function_parameter_bytes(launch->function) + 1);
    if (launch->bytes == NULL) return cudaErrorMemoryAllocation;
    int error = launch_check(launch);
    if (error == 0) error = function_pack(launch->function, parameters, extra, launch->bytes);
    return error;
}

static int submit(KernelLaunch launch, const void *stub, void **parameters, void **extra, Stream *stream) {
    int error = function_get(&launch.function, stub);
    if (error != 0) return error;
    error = launch_fill(&launch, parameters, extra);
    if (error != 0) {
        launch_tell(&launch, stream_find(stream)->number, 0, library_caller(), error);
        launch_free(&launch);
        return error;
    }
    StreamOperation operation = {.kind = OPERATION_LAUNCH, .u.launch = launch};
    return operation_submit(stream, &operation);
}

int launch_plain(const void *stub, Size3 grid, Size3 block, void **parameters, size_t shared, Stream *stream,
                 bool cooperative, bool by_driver) {
    KernelLaunch launch = {
        .grid = grid, .block = block, .shared = shared, .cooperative = cooperative, .by_driver = by_driver};
    return submit(launch, stub, parameters, NULL, stream);
}

int launch_by_driver(const void *function, Size3 grid, Size3 block, unsigned shared, Stream *stream,
                     void **parameters, void **extra, bool cooperative) {
    KernelLaunch launch = {
        .grid = grid, .block = block, .shared = shared, .cooperative = cooperative, .by_driver = true};
    return submit(launch, function, parameters, extra, stream);
}

/* cudaLaunchConfig_t and CUlaunchConfig, in which `shared` has 4 bytes; their attributes have 72 bytes. */
typedef struct Configuration {
    Size3 grid, block;
    size_t shared;
    Stream *stream;
    const struct {
        int id, pad;
        unsigned value[16];
    } * attributes;
    unsigned count;
} Configuration;

static KernelLaunch read_configuration(const Configuration *from) {
    enum { COOPERATIVE = 2, CLUSTER = 4 };
    KernelLaunch launch = {.grid = from->grid, .block = from->block, .shared = from->shared};
    for (unsigned i = 0; i < from->count; i++) {
        const unsigned *value = from->attributes[i].value;
        if (from->attributes[i].id == COOPERATIVE) launch.cooperative = value[0] != 0;
        if (from->attributes[i].id == CLUSTER) launch.cluster = (Size3){value[0], value[1], value[2]};
    }
    return launch;
}

int launch_extended(const void *configuration, const void *stub, void **parameters, bool by_driver) {
    const Configuration *from = configuration;
    KernelLaunch launch = read_configuration(from);
    launch.by_driver = by_driver;
    return submit(launch, stub, parameters, NULL, from->stream);
}

int launch_extended_by_driver(const void *configuration, const void *function, void **parameters,
                              void **extra) {
    const Configuration *from = configuration;
    KernelLaunch launch = read_configuration(from);
    launch.shared = (uint32_t)launch.shared;
    launch.by_driver = true;
    return submit(launch, function, parameters, extra, from->stream);
}

/* cudaKernelNodeParams, and the driver's. */
int launch_prepare(KernelLaunch *launch, const void *node_parameters) {
    struct {
        const void *function;
        Size3 grid, block;
        unsigned shared;
        void **parameters, **extra;
    } from;
    memcpy(&from, node_parameters, sizeof from);
    *launch =
        (KernelLaunch){.grid = from.grid, .block = from.block, .shared = from.shared, .by_driver = true};
    int error = function_get(&launch->function, from.function);
    if (error == 0) error = launch_fill(launch, from.parameters, from.extra);
    if (error != 0) launch_free(launch);
    return error;
}

/* <<<>>> pushes the configuration, then calls the stub of the kernel, which pops it. They may nest. */
static _Thread_local struct {
    Size3 grid, block;
    size_t shared;
    Stream *stream;
    uint64_t caller;
} pushed[8];
static _Thread_local unsigned pushed_count;

int configuration_push(Size3 grid, Size3 block, size_t shared, Stream *stream, uint64_t caller) {
    if (pushed_count == sizeof pushed / sizeof *pushed) pushed_count = 0;
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count].stream = stream;
    pushed[pushed_count++].caller = caller;
    return 0;
}

int configuration_pop(Size3 *grid, Size3 *block, size_t *shared, Stream **stream) {
    if (pushed_count == 0) return cudaErrorMissingConfiguration;
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *stream = pushed[pushed_count].stream;
    library_set_launch(pushed[pushed_count].caller);
    return 0;
}

int occupancy_blocks(int *blocks, const void *stub, int threads, size_t shared) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error == 0) *blocks = (int)resident_blocks(function, threads > 0 ? (uint64_t)threads : 0, shared);
    return error;
}

/* The most dynamic shared memory with which so many blocks still are resident. */
int occupancy_shared(size_t *bytes, const void *stub, int blocks, int threads) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error != 0) return error;
    if (blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    size_t used = function_facts(function)->static_shared_bytes + RESERVED_SHARED;
    size_t each = machine()->shared_per_multiprocessor / (unsigned)blocks;
    *bytes = each > used ? (each - used) / 128 * 128 : 0;
    if (*bytes > function_dynamic_limit(function)) *bytes = function_dynamic_limit(function);
    return 0;
}

/* The block of most resident threads, the largest of those. */
int occupancy_best(int *grid, int *block, const void *stub, size_t (*shared_of)(int), size_t shared,
                   int limit) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error != 0) return error;
    int most = (int)function_facts(function)->max_threads, best = 0;
    for (int threads = limit > 0 && limit < most ? limit : most; threads > 0;
         threads -= threads % WARP == 0 ? WARP : threads % WARP) {
        int blocks = (int)resident_blocks(function, (uint64_t)threads,
                                          shared_of != NULL ? shared_of(threads) : shared);
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *grid = blocks * (int)machine()->multiprocessors;
        *block = threads;
    }
    return best > 0 ? 0 : cudaErrorInvalidValue;
}

int occupancy_clusters(int *clusters, const void *stub, const void *configuration) {
    KernelLaunch launch = read_configuration(configuration);
    int error = function_get(&launch.function, stub);
    if (error != 0) return error;
    uint64_t size = volume(launch.cluster) > 0 ? volume(launch.cluster) : 1;
    unsigned blocks = resident_blocks(launch.function, volume(launch.block), (uint32_t)launch.shared);
    *clusters = (int)(blocks * machine()->multiprocessors / size);
    return 0;
}

int occupancy_cluster_size(int *size) {
    *size = MOST_CLUSTER;
    return 0;
}
