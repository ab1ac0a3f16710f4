/* Packed provenance: per event its mask and number of elements, then per element the weights and the
 * producers, each as one number if all lanes agree, otherwise one per lane. */
#include "emulator/replay/event_provenance.h"

#include "emulator/replay/provenance.h"

#include <stdlib.h>

typedef struct ProvenanceHead {
    uint32_t mask;
    uint8_t elements, shown;
    uint8_t scattered[MAX_PROVENANCE_ELEMENTS]; /* 1: weights, 2: producers are one per lane */
} ProvenanceHead;

struct EventProvenance {
    int event_count;
    uint64_t *place; /* [event] in `bytes` + 1; 0: not kept */
    uint8_t *bytes;
    size_t used, capacity;
    ReplayEventProvenance shown;
};

EventProvenance *event_provenance_new(int event_count) {
    EventProvenance *provenance = memory_new(sizeof *provenance);
    provenance->event_count = event_count;
    provenance->place = memory_new(((size_t)event_count + 1) * sizeof *provenance->place);
    return provenance;
}

void event_provenance_free(EventProvenance *provenance) {
    if (!provenance) return;
    free(provenance->place);
    free(provenance->bytes);
    free(provenance);
}

void event_provenance_clear(ElementProvenance *elements, int count) {
    memset(elements, 0, (size_t)count * sizeof *elements);
    for (int e = 0; e < count; e++)
        for (int lane = 0; lane < WARP_LANES; lane++) elements[e].producer[lane] = -1;
}

static void put(EventProvenance *provenance, const void *from, size_t bytes) {
    array_reserve(provenance->bytes, provenance->used + bytes, provenance->capacity);
    memcpy(provenance->bytes + provenance->used, from, bytes);
    provenance->used += bytes;
}

static bool differs(const uint32_t *values, uint32_t mask) {
    uint32_t first = values[__builtin_ctz(mask)];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (values[__builtin_ctz(rest)] != first) return true;
    return false;
}

static void put_lanes(EventProvenance *provenance, const uint32_t *values, uint32_t mask, bool scattered) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        put(provenance, &values[__builtin_ctz(rest)], sizeof *values);
        if (!scattered) return;
    }
}

static const uint8_t *get_lanes(const uint8_t *from, uint32_t *values, uint32_t mask, bool scattered) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        memcpy(&values[__builtin_ctz(rest)], from, sizeof *values);
        if (scattered) from += sizeof *values;
    }
    return scattered ? from : from + sizeof *values;
}

void event_provenance_add(EventProvenance *provenance, int event, uint32_t mask,
                          const ElementProvenance *elements, int count, int shown) {
    if (!mask) return;
    ProvenanceHead head = {.mask = mask, .elements = (uint8_t)count, .shown = (uint8_t)shown};
    uint32_t producers[MAX_PROVENANCE_ELEMENTS][WARP_LANES];
    for (int e = 0; e < count; e++) {
        memcpy(producers[e], elements[e].producer, sizeof producers[e]);
        head.scattered[e] = (uint8_t)(differs(elements[e].weight, mask) | differs(producers[e], mask) << 1);
    }
    provenance->place[event] = provenance->used + 1;
    put(provenance, &head, sizeof head);
    for (int e = 0; e < count; e++) {
        put_lanes(provenance, elements[e].weight, mask, head.scattered[e] & 1);
        put_lanes(provenance, producers[e], mask, head.scattered[e] & 2);
    }
}

bool event_provenance_read(const EventProvenance *provenance, int event, ElementProvenance *elements,
                           int count) {
    if (!provenance->place[event]) return false;
    const uint8_t *from = provenance->bytes + provenance->place[event] - 1;
    ProvenanceHead head;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    for (int e = 0; e < count && e < head.elements; e++) {
        uint32_t producers[WARP_LANES];
        memcpy(producers, elements[e].producer, sizeof producers);
        from = get_lanes(from, elements[e].weight, head.mask, head.scattered[e] & 1);
        from = get_lanes(from, producers, head.mask, head.scattered[e] & 2);
        memcpy(elements[e].producer, producers, sizeof producers);
    }
    return true;
}

const ReplayEventProvenance *provenance_of_event(EventProvenance *provenance, int event) {
    ElementProvenance elements[MAX_PROVENANCE_ELEMENTS];
    ProvenanceHead head = {0};
    event_provenance_clear(elements, MAX_PROVENANCE_ELEMENTS);
    event_provenance_clear(&provenance->shown, 1);
    if (event_provenance_read(provenance, event, elements, MAX_PROVENANCE_ELEMENTS))
        memcpy(&head, provenance->bytes + provenance->place[event] - 1, sizeof head);
    for (int e = 0; e < head.shown; e++) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            provenance->shown.weight[lane] =
                weight_sum(provenance->shown.weight[lane], elements[e].weight[lane]);
            if (elements[e].producer[lane] > provenance->shown.producer[lane])
                provenance->shown.producer[lane] = elements[e].producer[lane];
        }
    }
    return &provenance->shown;
}
