/* Graph memory: how many bytes graphs use and reserve.
 *
 * Launches run one after another, so all graphs share one stretch of memory, as those of one stream do on a
 * GPU: a launch maps the stretch up to its highest allocation. Graphs that run at once on a GPU need more. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum { PAGE_BYTES = 2 << 20 }; /* of physical memory; CUDA leaves the number to the driver */

typedef struct GraphMapping {
    const Graph *graph;
    uint64_t top; /* bytes of the stretch */
    struct GraphMapping *next;
} GraphMapping;

static struct {
    uint64_t allocated; /* and not freed */
    uint64_t top;       /* the most that was allocated in the launch that runs */
    GraphMapping *mappings;
    uint64_t used_high, reserved, reserved_high;
} memory;

static uint64_t used_bytes(void) {
    uint64_t bytes = memory.allocated > memory.top ? memory.allocated : memory.top;
    for (const GraphMapping *mapping = memory.mappings; mapping != NULL; mapping = mapping->next)
        if (mapping->top > bytes) bytes = mapping->top;
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

void graph_memory_taken(uint64_t bytes) {
    memory.allocated += bytes;
    if (memory.allocated > memory.top) memory.top = memory.allocated;
    uint64_t used = used_bytes();
    if (used > memory.used_high) memory.used_high = used;
    if (used > memory.reserved) memory.reserved = used;
    if (memory.reserved > memory.reserved_high) memory.reserved_high = memory.reserved;
}

void graph_memory_returned(uint64_t bytes) {
    memory.allocated -= bytes;
}

void graph_memory_begin(void) {
    memory.top = 0;
}

void graph_memory_end(const Graph *graph) {
    uint64_t top = memory.top;
    memory.top = 0;
    if (top == 0) return;
    graph_memory_forget(graph);
    GraphMapping *mapping = malloc(sizeof *mapping);
    if (mapping == NULL) abort();
    *mapping = (GraphMapping){graph, top, memory.mappings};
    memory.mappings = mapping;
}

void graph_memory_forget(const Graph *graph) {
    GraphMapping **link = &memory.mappings;
    while (*link != NULL && (*link)->graph != graph) link = &(*link)->next;
    GraphMapping *mapping = *link;
    if (mapping == NULL) return;
    *link = mapping->next;
    free(mapping);
}

uint64_t graph_memory_idle_bytes(void) {
    return memory.reserved - memory.allocated;
}

static int no_attribute(int attribute) {
    return failed(cudaErrorInvalidValue, 0, 0, "graph memory has no attribute %d of this kind", attribute);
}

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH }; /* cudaGraphMemAttributeType */

int graph_memory_attribute(int device, int attribute, void *value) {
    int error = device_check(device);
    if (error != 0) return error;
    const uint64_t values[] = {used_bytes(), memory.used_high, memory.reserved, memory.reserved_high};
    if (attribute < USED || attribute > RESERVED_HIGH) return no_attribute(attribute);
    memcpy(value, &values[attribute], sizeof *values);
    return 0;
}

/* The highest values can only be set to 0, and are then those of what is allocated from now on. */
int graph_memory_set_attribute(int device, int attribute, const void *value) {
    uint64_t wide = 0;
    int error = device_check(device);
    if (error != 0) return error;
    memcpy(&wide, value, sizeof wide);
    if ((attribute != USED_HIGH && attribute != RESERVED_HIGH) || wide != 0) return no_attribute(attribute);
    if (attribute == USED_HIGH)
        memory.used_high = 0;
    else
        memory.reserved_high = 0;
    return 0;
}

/* What is allocated stays mapped, and is so after it has been freed. */
int graph_memory_trim(int device) {
    int error = device_check(device);
    if (error != 0) return error;
    for (GraphMapping *mapping = memory.mappings; mapping != NULL; mapping = mapping->next)
        if (mapping->top > memory.allocated) mapping->top = memory.allocated;
    memory.reserved = used_bytes();
    return 0;
}
