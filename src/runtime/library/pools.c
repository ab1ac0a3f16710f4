/* Memory pools: what they count, and from which of them an allocation comes.
 *
 * Allocations lie where redviz places them, as those of cudaMalloc do: a pool is a set of counters and the
 * kind of memory it gives. There is one default pool for each kind; it cannot be destroyed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum {
    CHUNK_BYTES = 32 << 20, /* by which a pool grows; CUDA leaves the number to the driver */
    KINDS = MEMORY_PINNED + 1,
    REUSES = 3,
    READ_AND_WRITE = 3 /* cudaMemAccessFlagsProtReadWrite */
};

/* cudaMemLocationType */
enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_HOST_NUMA };

/* cudaMemAllocationType */
enum { TYPE_PINNED = 1, TYPE_MANAGED };

struct MemoryPool {
    MessageMemory memory;
    uint64_t most_bytes; /* 0: no limit of its own */
    int reuses[REUSES]; /* whether freed memory may be reused; kept for the program, for nothing waits here */
    uint64_t threshold, reserved, reserved_high, used, used_high;
    int access[2]; /* cudaMemAccessFlags of the host and of the device */
    bool is_destroyed;
    MemoryPool *next; /* of the pools that the program has created and not destroyed */
};

static MemoryPool *created;

#define DEFAULT_POOL(kind, host, device)                                                                     \
    {                                                                                                        \
        .memory = (kind), .reuses = {1, 1, 1}, .access = { host, device }                                    \
    }
static MemoryPool defaults[KINDS] = {
    [MEMORY_DEVICE] = DEFAULT_POOL(MEMORY_DEVICE, 0, READ_AND_WRITE),
    [MEMORY_MANAGED] = DEFAULT_POOL(MEMORY_MANAGED, READ_AND_WRITE, READ_AND_WRITE),
    [MEMORY_PINNED] = DEFAULT_POOL(MEMORY_PINNED, READ_AND_WRITE, 0),
};
static MemoryPool *current[KINDS] = {&defaults[0], &defaults[1], &defaults[2]};

static bool is_default(const MemoryPool *pool) {
    return pool >= defaults && pool < defaults + KINDS;
}

static int pool_check(const MemoryPool *pool) {
    for (const MemoryPool *other = created; other != NULL; other = other->next)
        if (other == pool) return 0;
    return pool != NULL && is_default(pool)
               ? 0
               : failed(cudaErrorInvalidValue, 0, 0, "names a memory pool that does not exist");
}

static int location_check(const MemoryLocation *location) {
    if (location == NULL) return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the location");
    return location->type == LOCATION_DEVICE ? device_check(location->id) : 0;
}

/* The kind of memory that a location and a type mean (Driver API, cuMemGetMemPool). */
static int kind_of(MessageMemory *kind, const MemoryLocation *location, int type) {
    int error = location_check(location);
    if (error != 0) return error;
    bool is_device = location->type == LOCATION_DEVICE,
         is_host = location->type == LOCATION_HOST || location->type == LOCATION_HOST_NUMA;
    *kind = type == TYPE_MANAGED ? MEMORY_MANAGED : is_device ? MEMORY_DEVICE : MEMORY_PINNED;
    if (is_device || is_host ? type == TYPE_PINNED || type == TYPE_MANAGED
                             : location->type == LOCATION_NONE && type == TYPE_MANAGED)
        return 0;
    return failed(cudaErrorInvalidValue, 0, 0, "has no memory pools for location type %d, allocation type %d",
                  location->type, type);
}

int pool_create(MemoryPool **pool, const void *properties) {
    enum { HANDLE_POSIX_FILE = 1 };
    struct {
        int type, handles;
        MemoryLocation location;
        void *security;
        size_t most_bytes;
    } p;
    memcpy(&p, properties, sizeof p);
    MessageMemory kind = MEMORY_DEVICE;
    int error = kind_of(&kind, &p.location, p.type);
    if (error != 0) return error;
    if (p.handles != 0 && (p.handles != HANDLE_POSIX_FILE || p.location.type == LOCATION_HOST))
        return failed(cudaErrorInvalidValue, 0, 0, "asks for a pool with handles of type %d", p.handles);
    *pool = malloc(sizeof **pool);
    if (*pool == NULL) return cudaErrorMemoryAllocation;
    **pool = (MemoryPool)DEFAULT_POOL(kind, kind != MEMORY_DEVICE ? READ_AND_WRITE : 0,
                                      kind != MEMORY_PINNED ? READ_AND_WRITE : 0);
    (*pool)->most_bytes = p.most_bytes;
    (*pool)->next = created;
    created = *pool;
    return 0;
}

int pool_destroy(MemoryPool *pool) {
    int error = pool_check(pool);
    if (error != 0) return error;
    if (is_default(pool)) return failed(cudaErrorInvalidValue, 0, 0, "destroys a default memory pool");
    MemoryPool **link = &created;
    while (*link != pool) link = &(*link)->next;
    *link = pool->next;
    for (int i = 0; i < KINDS; i++)
        if (current[i] == pool) current[i] = &defaults[i];
    pool->is_destroyed = true;
    if (pool->used == 0) free(pool);
    return 0;
}

int pool_of_device(MemoryPool **pool, int device, bool wants_default) {
    return pool_of_location(pool, &(MemoryLocation){LOCATION_DEVICE, device}, TYPE_PINNED, wants_default);
}

int pool_set_for_device(int device, MemoryPool *pool) {
    return pool_set_for_location(&(MemoryLocation){LOCATION_DEVICE, device}, TYPE_PINNED, pool);
}

int pool_of_location(MemoryPool **pool, const MemoryLocation *location, int type, bool wants_default) {
    MessageMemory kind = MEMORY_DEVICE;
    int error = kind_of(&kind, location, type);
    if (error == 0) *pool = wants_default ? &defaults[kind] : current[kind];
    return error;
}

int pool_set_for_location(const MemoryLocation *location, int type, MemoryPool *pool) {
    MessageMemory kind = MEMORY_DEVICE;
    int error = kind_of(&kind, location, type);
    if (error == 0) error = pool_check(pool);
    if (error == 0 && pool->memory != kind)
        error = failed(cudaErrorInvalidValue, 0, 0, "sets a memory pool of another kind of memory");
    if (error == 0) current[kind] = pool;
    return error;
}

/* cudaMemPoolAttr */
enum { REUSE_FIRST = 1, REUSE_LAST = 3, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

static int no_attribute(int attribute) {
    return failed(cudaErrorInvalidValue, 0, 0, "memory pools have no attribute %d of this kind", attribute);
}

int pool_attribute(const MemoryPool *pool, int attribute, void *value) {
    int error = pool_check(pool);
    if (error != 0) return error;
    if (attribute < REUSE_FIRST || attribute > USED_HIGH) return no_attribute(attribute);
    if (attribute <= REUSE_LAST) {
        memcpy(value, &pool->reuses[attribute - REUSE_FIRST], sizeof(int));
        return 0;
    }
    const uint64_t values[] = {pool->threshold, pool->reserved, pool->reserved_high, pool->used,
                               pool->used_high};
    memcpy(value, &values[attribute - THRESHOLD], sizeof *values);
    return 0;
}

/* The highest values can only be set to 0, and are then those of what is allocated from now on. */
int pool_set_attribute(MemoryPool *pool, int attribute, const void *value) {
    uint64_t wide = 0;
    int error = pool_check(pool);
    if (error != 0) return error;
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        memcpy(&pool->reuses[attribute - REUSE_FIRST], value, sizeof(int));
        return 0;
    }
    memcpy(&wide, value, sizeof wide);
    if (attribute == THRESHOLD)
        pool->threshold = wide;
    else if ((attribute != RESERVED_HIGH && attribute != USED_HIGH) || wide != 0)
        return no_attribute(attribute);
    else if (attribute == RESERVED_HIGH)
        pool->reserved_high = 0;
    else
        pool->used_high = 0;
    return 0;
}

static uint64_t in_chunks(uint64_t bytes) {
    return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
}

/* Releases whole chunks, but neither what is used nor the last `kept` bytes. */
static void trim(MemoryPool *pool, uint64_t kept) {
    uint64_t least = in_chunks(pool->used > kept ? pool->used : kept);
    if (pool->reserved > least) pool->reserved = least;
}

int pool_trim(MemoryPool *pool, size_t kept) {
    int error = pool_check(pool);
    if (error == 0) trim(pool, kept);
    return error;
}

void pools_release(void) {
    for (int i = 0; i < KINDS; i++) trim(&defaults[i], defaults[i].threshold);
    for (MemoryPool *pool = created; pool != NULL; pool = pool->next) trim(pool, pool->threshold);
}

/* Only memory of the device counts. */
uint64_t pools_idle_bytes(void) {
    uint64_t bytes = defaults[MEMORY_DEVICE].reserved - defaults[MEMORY_DEVICE].used;
    for (const MemoryPool *pool = created; pool != NULL; pool = pool->next)
        if (pool->memory == MEMORY_DEVICE) bytes += pool->reserved - pool->used;
    return bytes;
}

/* Whose access to a pool a location means; -1: nobody's. */
static int accessor(const MemoryLocation *location) {
    if (location->type == LOCATION_HOST || location->type == LOCATION_HOST_NUMA) return 0;
    return location->type == LOCATION_DEVICE ? 1 : -1;
}

int pool_access(int *flags, const MemoryPool *pool, const MemoryLocation *location) {
    int error = pool_check(pool);
    if (error == 0) error = location_check(location);
    if (error != 0) return error;
    int who = accessor(location);
    if (who < 0) return failed(cudaErrorInvalidValue, 0, 0, "has no location of type %d", location->type);
    *flags = pool->access[who];
    return 0;
}

/* The place where the memory lies always has access (Driver API, cuMemPoolSetAccess). */
int pool_set_access(MemoryPool *pool, const void *descriptions, size_t count) {
    enum { NO_SUCH_ACCESS = 2 }; /* to write alone */
    int error = pool_check(pool);
    for (size_t i = 0; error == 0 && i < count; i++) {
        struct {
            MemoryLocation location;
            int flags;
        } wanted;
        memcpy(&wanted, (const char *)descriptions + i * sizeof wanted, sizeof wanted);
        error = location_check(&wanted.location);
        if (error != 0) return error;
        int who = accessor(&wanted.location), own = pool->memory == MEMORY_PINNED ? 0 : 1;
        if (who < 0 || wanted.flags < 0 || wanted.flags > READ_AND_WRITE || wanted.flags == NO_SUCH_ACCESS ||
            (who == own && wanted.flags != READ_AND_WRITE))
            return failed(cudaErrorInvalidValue, 0, 0, "sets access %d of location type %d to a memory pool",
                          wanted.flags, wanted.location.type);
        pool->access[who] = wanted.flags;
    }
    return error;
}

static int allocate_in_capture(void *pointer, size_t bytes, Stream *stream) {
    StreamOperation operation = {.kind = OPERATION_ALLOCATE, .u.memory.bytes = bytes};
    int error = memory_reserve(&operation.u.memory);
    memcpy(pointer, &operation.u.memory.address, sizeof(void *));
    return error != 0 ? error : operation_submit(stream, &operation);
}

int pool_allocate_from(MemoryPool *pool, void *pointer, size_t bytes, Stream *stream) {
    int error = pool_check(pool);
    if (error != 0) return error;
    if (stream_find(stream)->capture != NULL && pointer != NULL && bytes > 0)
        return allocate_in_capture(pointer, bytes, stream);
    if (pool->most_bytes != 0 && (bytes > pool->most_bytes || pool->used > pool->most_bytes - bytes))
        return failed(cudaErrorMemoryAllocation, 0, bytes, "allocates more than the memory pool may have");
    error = memory_allocate_from(pool, pointer, bytes, pool->memory);
    if (error != 0) return error;
    pool->used += bytes;
    if (pool->used > pool->reserved) pool->reserved = in_chunks(pool->used);
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
    return 0;
}

int pool_allocate(void *pointer, size_t bytes, Stream *stream) {
    return pool_allocate_from(current[MEMORY_DEVICE], pointer, bytes, stream);
}

void pool_returned(MemoryPool *pool, uint64_t bytes) {
    pool->used -= bytes;
    if (pool->is_destroyed && pool->used == 0) free(pool);
}
