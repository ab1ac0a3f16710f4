#include "findings/races/vector_clock.h"

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

static VectorClock *new_clock(int capacity) {
    VectorClock *clock = memory_new(sizeof *clock + (size_t)capacity * sizeof *clock->entries);
    clock->references = 1;
    clock->capacity = capacity;
    return clock;
}

VectorClock *vector_clock_keep(VectorClock *clock) {
    if (clock) clock->references++;
    return clock;
}

void vector_clock_drop(VectorClock *clock) {
    if (clock && !--clock->references) free(clock);
}

void vector_clock_replace(VectorClock **at, VectorClock *clock) {
    vector_clock_drop(*at);
    *at = clock;
}

static inline bool is_before(const VectorClockEntry *a, const VectorClockEntry *b) {
    return a->block != b->block ? a->block < b->block : a->thread < b->thread;
}

static inline bool is_same(const VectorClockEntry *a, const VectorClockEntry *b) {
    return a->block == b->block && a->thread == b->thread;
}

static uint32_t find_exact(const VectorClock *clock, uint32_t block, uint16_t thread) {
    VectorClockEntry key = {.block = block, .thread = thread};
    int low = 0, high = clock->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (is_before(&clock->entries[middle], &key))
            low = middle + 1;
        else
            high = middle;
    }
    return low < clock->count && is_same(&clock->entries[low], &key) ? clock->entries[low].stamp : 0;
}

uint32_t vector_clock_find(const VectorClock *clock, uint32_t block, uint16_t thread) {
    if (!clock) return 0;
    uint32_t own = find_exact(clock, block, thread),
             whole = find_exact(clock, block, VECTOR_CLOCK_WHOLE_BLOCK);
    return own > whole ? own : whole;
}

bool vector_clock_has(const VectorClock *clock, uint32_t block) {
    for (int i = 0; clock && i < clock->count; i++)
        if (clock->entries[i].block == block) return true;
    return false;
}

static bool covers(const VectorClock *clock, const VectorClockEntry *entries, int count) {
    int at = 0;
    for (int i = 0; i < count; i++) {
        while (at < clock->count && is_before(&clock->entries[at], &entries[i])) at++;
        if (at == clock->count || !is_same(&clock->entries[at], &entries[i]) ||
            clock->entries[at].stamp < entries[i].stamp)
            return false;
    }
    return true;
}

/* The usual case is a counter that one block after the other increments: new entries come last. */
static bool append(VectorClock *clock, const VectorClockEntry *entries, int count) {
    if (clock->references > 1 || clock->capacity - clock->count < count) return false;
    if (clock->count && !is_before(&clock->entries[clock->count - 1], &entries[0])) return false;
    memcpy(clock->entries + clock->count, entries, (size_t)count * sizeof *entries);
    clock->count += count;
    return true;
}

void vector_clock_add(VectorClock **at, const VectorClockEntry *entries, int count) {
    static const VectorClock empty = {0};
    const VectorClock *old = *at ? *at : &empty;
    if (!count || (*at && (append(*at, entries, count) || covers(*at, entries, count)))) return;
    VectorClock *sum = new_clock((old->count + count) * 2);
    int a = 0, b = 0;
    while (a < old->count || b < count) {
        VectorClockEntry *to = &sum->entries[sum->count++];
        if (b == count || (a < old->count && is_before(&old->entries[a], &entries[b]))) {
            *to = old->entries[a++];
        } else if (a == old->count || is_before(&entries[b], &old->entries[a])) {
            *to = entries[b++];
        } else {
            *to = old->entries[a++];
            if (entries[b].stamp > to->stamp) to->stamp = entries[b].stamp;
            b++;
        }
    }
    vector_clock_replace(at, sum);
}

void vector_clock_join(VectorClock **at, VectorClock *other) {
    if (!other || *at == other) return;
    if (*at)
        vector_clock_add(at, other->entries, other->count);
    else
        *at = vector_clock_keep(other);
}

void vector_clock_forget(VectorClock **at, uint32_t block, uint32_t stamp) {
    const VectorClock *old = *at;
    int left = 0;
    for (int i = 0; old && i < old->count; i++)
        left += old->entries[i].block != block || old->entries[i].stamp > stamp;
    if (!old || left == old->count) return;
    VectorClock *rest = left ? new_clock(left) : NULL;
    for (int i = 0; rest && i < old->count; i++)
        if (old->entries[i].block != block || old->entries[i].stamp > stamp)
            rest->entries[rest->count++] = old->entries[i];
    vector_clock_replace(at, rest);
}
