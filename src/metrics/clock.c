/* Sparse vector clocks (clock.h). */
#include "metrics/clock.h"

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

static Clock *new_clock(int capacity) {
    Clock *clock = memory_new(sizeof *clock + (size_t)capacity * sizeof *clock->entries);
    clock->references = 1;
    clock->capacity = capacity;
    return clock;
}

Clock *clock_keep(Clock *clock) {
    if (clock) clock->references++;
    return clock;
}

void clock_drop(Clock *clock) {
    if (clock && !--clock->references) free(clock);
}

void clock_replace(Clock **at, Clock *clock) {
    clock_drop(*at);
    *at = clock;
}

static inline bool is_before(const ClockEntry *a, const ClockEntry *b) {
    return a->block != b->block ? a->block < b->block : a->thread < b->thread;
}

static inline bool is_same(const ClockEntry *a, const ClockEntry *b) {
    return a->block == b->block && a->thread == b->thread;
}

static uint32_t find_exact(const Clock *clock, uint32_t block, uint16_t thread) {
    ClockEntry key = {.block = block, .thread = thread};
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

uint32_t clock_find(const Clock *clock, uint32_t block, uint16_t thread) {
    if (!clock) return 0;
    uint32_t own = find_exact(clock, block, thread), whole = find_exact(clock, block, CLOCK_WHOLE_BLOCK);
    return own > whole ? own : whole;
}

static bool covers(const Clock *clock, const ClockEntry *entries, int count) {
    int at = 0;
    for (int i = 0; i < count; i++) {
        while (at < clock->count && is_before(&clock->entries[at], &entries[i])) at++;
        if (at == clock->count || !is_same(&clock->entries[at], &entries[i]) ||
            clock->entries[at].stamp < entries[i].stamp)
            return false;
    }
    return true;
}

/* The usual case of a counter that block after block goes up to: what is new comes last. */
static bool append(Clock *clock, const ClockEntry *entries, int count) {
    if (clock->references > 1 || clock->capacity - clock->count < count) return false;
    if (clock->count && !is_before(&clock->entries[clock->count - 1], &entries[0])) return false;
    memcpy(clock->entries + clock->count, entries, (size_t)count * sizeof *entries);
    clock->count += count;
    return true;
}

void clock_add(Clock **at, const ClockEntry *entries, int count) {
    static const Clock empty = {0};
    const Clock *old = *at ? *at : &empty;
    if (!count || (*at && (append(*at, entries, count) || covers(*at, entries, count)))) return;
    Clock *sum = new_clock((old->count + count) * 2);
    int a = 0, b = 0;
    while (a < old->count || b < count) {
        ClockEntry *to = &sum->entries[sum->count++];
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
    clock_replace(at, sum);
}

void clock_join(Clock **at, Clock *other) {
    if (!other || *at == other) return;
    if (*at)
        clock_add(at, other->entries, other->count);
    else
        *at = clock_keep(other);
}

void clock_forget(Clock **at, uint32_t block, uint32_t stamp) {
    const Clock *old = *at;
    int left = 0;
    for (int i = 0; old && i < old->count; i++)
        left += old->entries[i].block != block || old->entries[i].stamp > stamp;
    if (!old || left == old->count) return;
    Clock *rest = left ? new_clock(left) : NULL;
    for (int i = 0; rest && i < old->count; i++)
        if (old->entries[i].block != block || old->entries[i].stamp > stamp)
            rest->entries[rest->count++] = old->entries[i];
    clock_replace(at, rest);
}
