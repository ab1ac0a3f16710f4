/* How a multiprocessor allocates blocks: the rules of NVIDIA's occupancy calculator. */
#define _POSIX_C_SOURCE 200809L
#include "catalog/occupancy.h"

#include "base/text.h"
#include "catalog/catalog.h"

#include <limits.h>
#include <stdlib.h>

typedef struct Architecture {
    int capability;
    uint32_t warps, blocks;      /* most that are resident on one multiprocessor */
    uint32_t shared_bytes;       /* of one multiprocessor */
    uint32_t block_shared_bytes; /* most of one block */
    uint32_t reserved_bytes;     /* system use of every block's shared memory */
    uint32_t shared_unit;        /* allocation unit of shared memory */
} Architecture;

enum { KB = 1024 };

static const Architecture ARCHITECTURES[] = {
    {75, 32, 16, 64 * KB, 64 * KB, 0, 256},        {80, 64, 32, 164 * KB, 163 * KB, 1 * KB, 128},
    {86, 48, 16, 100 * KB, 99 * KB, 1 * KB, 128},  {89, 48, 24, 100 * KB, 99 * KB, 1 * KB, 128},
    {90, 64, 32, 228 * KB, 227 * KB, 1 * KB, 128}, {100, 64, 32, 228 * KB, 227 * KB, 1 * KB, 128},
    {120, 48, 24, 100 * KB, 99 * KB, 1 * KB, 128},
};

enum {
    REGISTERS = 65536,
    REGISTER_UNIT = 256,
    PARTITIONS = 4,
    MAXIMUM_REGISTERS = 255,
    MAXIMUM_THREADS = 1024
};

static const Architecture *find(int capability) {
    for (size_t i = 0; i < sizeof ARCHITECTURES / sizeof *ARCHITECTURES; i++)
        if (ARCHITECTURES[i].capability == capability) return &ARCHITECTURES[i];
    return NULL;
}

static uint32_t round_up(uint32_t value, uint32_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* Registers are allocated to warps, in units; each of the four partitions has a quarter of them. */
static uint32_t blocks_by_registers(uint32_t registers, uint32_t warps) {
    if (registers == 0) return UINT32_MAX;
    if (registers > MAXIMUM_REGISTERS) return 0;
    uint32_t per_warp = round_up(registers * 32, REGISTER_UNIT);
    if (per_warp * round_up(warps, PARTITIONS) > REGISTERS) return 0;
    return REGISTERS / PARTITIONS / per_warp * PARTITIONS / warps;
}

static uint32_t blocks_by_shared(const Architecture *architecture, uint32_t shared_bytes) {
    if (shared_bytes > architecture->block_shared_bytes) return 0;
    uint32_t per_block = round_up(shared_bytes + architecture->reserved_bytes, architecture->shared_unit);
    return per_block ? architecture->shared_bytes / per_block : UINT32_MAX;
}

int occupancy_blocks(int capability, uint32_t registers, uint32_t shared_bytes, uint32_t threads) {
    const Architecture *architecture = find(capability);
    if (!architecture || threads == 0 || threads > MAXIMUM_THREADS) return 0;
    uint32_t warps = (threads + 31) / 32;
    uint32_t limits[] = {architecture->blocks, architecture->warps / warps,
                         blocks_by_registers(registers, warps), blocks_by_shared(architecture, shared_bytes)};
    uint32_t least = limits[0];
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] < least) least = limits[i];
    return (int)least;
}

double occupancy_theoretical(int capability, uint32_t registers, uint32_t shared_bytes, uint32_t threads) {
    const Architecture *architecture = find(capability);
    if (!architecture) return -1;
    uint32_t warps = (threads + 31) / 32;
    return (double)occupancy_blocks(capability, registers, shared_bytes, threads) * warps /
           architecture->warps;
}

/* Reads a line of resources.csv: asset,entry,architecture,registers,... */
static bool read_line(const char *line, const char *entry, int capability, int *registers) {
    char wanted[16];
    snprintf(wanted, sizeof wanted, "sm_%d,", capability);
    const char *at = strchr(line, ',');
    size_t length = strlen(entry);
    if (!at || strncmp(at + 1, entry, length) != 0 || at[1 + length] != ',') return false;
    at += length + 2;
    if (strncmp(at, wanted, strlen(wanted)) != 0) return false;
    *registers = atoi(at + strlen(wanted));
    return true;
}

int occupancy_registers(const char *entry, int capability) {
    char path[PATH_MAX], *data;
    size_t length;
    int registers = -1;
    if (!catalog_path("assets/ptx", "resources.csv", path, sizeof path, NULL)) return -1;
    if (!text_read_file(path, 64 << 20, &data, &length, NULL)) return -1;
    for (char *line = data, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (read_line(line, entry, capability, &registers)) break;
    }
    free(data);
    return registers;
}
