/* Packing of facts: per event its mask and number of elements, then per element the weights and the
 * producers, each as one number where all lanes have the same, else one a lane. */
#include "emulator/facts.h"

#include "emulator/shadow.h"

#include <stdlib.h>

typedef struct Head {
    uint32_t mask;
    uint8_t elements, shown;
    uint8_t scattered[FACTS_ELEMENTS]; /* 1: weights, 2: producers are one a lane */
} Head;

struct Facts {
    int event_count;
    uint64_t *place; /* [event] in `bytes` + 1; 0: nothing kept */
    uint8_t *bytes;
    size_t used, capacity;
    ReplayEventFacts shown;
};

Facts *facts_new(int event_count) {
    Facts *facts = memory_new(sizeof *facts);
    facts->event_count = event_count;
    facts->place = memory_new(((size_t)event_count + 1) * sizeof *facts->place);
    return facts;
}

void facts_free(Facts *facts) {
    if (!facts) return;
    free(facts->place);
    free(facts->bytes);
    free(facts);
}

void facts_clear(ElementFacts *elements, int count) {
    memset(elements, 0, (size_t)count * sizeof *elements);
    for (int e = 0; e < count; e++)
        for (int lane = 0; lane < WARP_LANES; lane++) elements[e].producer[lane] = -1;
}

static void put(Facts *facts, const void *from, size_t bytes) {
    array_reserve(facts->bytes, facts->used + bytes, facts->capacity);
    memcpy(facts->bytes + facts->used, from, bytes);
    facts->used += bytes;
}

static bool differs(const uint32_t *values, uint32_t mask) {
    uint32_t first = values[__builtin_ctz(mask)];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (values[__builtin_ctz(rest)] != first) return true;
    return false;
}

static void put_lanes(Facts *facts, const uint32_t *values, uint32_t mask, bool scattered) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        put(facts, &values[__builtin_ctz(rest)], sizeof *values);
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

void facts_add(Facts *facts, int event, uint32_t mask, const ElementFacts *elements, int count, int shown) {
    if (!mask) return;
    Head head = {.mask = mask, .elements = (uint8_t)count, .shown = (uint8_t)shown};
    uint32_t producers[FACTS_ELEMENTS][WARP_LANES];
    for (int e = 0; e < count; e++) {
        memcpy(producers[e], elements[e].producer, sizeof producers[e]);
        head.scattered[e] = (uint8_t)(differs(elements[e].weight, mask) | differs(producers[e], mask) << 1);
    }
    facts->place[event] = facts->used + 1;
    put(facts, &head, sizeof head);
    for (int e = 0; e < count; e++) {
        put_lanes(facts, elements[e].weight, mask, head.scattered[e] & 1);
        put_lanes(facts, producers[e], mask, head.scattered[e] & 2);
    }
}

bool facts_read(const Facts *facts, int event, ElementFacts *elements, int count) {
    if (!facts->place[event]) return false;
    const uint8_t *from = facts->bytes + facts->place[event] - 1;
    Head head;
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

const ReplayEventFacts *facts_of_event(Facts *facts, int event) {
    ElementFacts elements[FACTS_ELEMENTS];
    Head head = {0};
    facts_clear(elements, FACTS_ELEMENTS);
    facts_clear(&facts->shown, 1);
    if (facts_read(facts, event, elements, FACTS_ELEMENTS))
        memcpy(&head, facts->bytes + facts->place[event] - 1, sizeof head);
    for (int e = 0; e < head.shown; e++) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            facts->shown.weight[lane] = weight_sum(facts->shown.weight[lane], elements[e].weight[lane]);
            if (elements[e].producer[lane] > facts->shown.producer[lane])
                facts->shown.producer[lane] = elements[e].producer[lane];
        }
    }
    return &facts->shown;
}
