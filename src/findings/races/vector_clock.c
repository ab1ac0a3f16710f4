#include "findings/races/vector_clock.h"

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

enum { NEAR = 4 }; /* entries to look at one by one, before a search among all */

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

/* The first entry from `low` on that is not before `key`. */
static int place_from(const VectorClock *clock, int low, const VectorClockEntry *key) {
    int high = clock->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (is_before(&clock->entries[middle], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* After the last entry below `high` that is not behind `key`. */
static int place_before(const VectorClock *clock, int high, const VectorClockEntry *key) {
    int low = 0;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (is_before(key, &clock->entries[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int place_of(const VectorClock *clock, const VectorClockEntry *key) {
    return place_from(clock, 0, key);
}

uint32_t vector_clock_find(const VectorClock *clock, uint32_t block, uint32_t thread) {
    if (!clock || !clock->count || clock->entries[clock->count - 1].block < block) return 0;
    VectorClockEntry own = {.block = block, .thread = thread},
                     whole = {.block = block, .thread = VECTOR_CLOCK_WHOLE_BLOCK};
    uint32_t stamp = 0;
    int at = place_of(clock, &own);
    if (at < clock->count && is_same(&clock->entries[at], &own)) stamp = clock->entries[at++].stamp;
    if (at < clock->count && clock->entries[at].block == block && !is_same(&clock->entries[at], &whole))
        at = place_of(clock, &whole);
    if (at < clock->count && is_same(&clock->entries[at], &whole) && clock->entries[at].stamp > stamp)
        stamp = clock->entries[at].stamp;
    return stamp;
}

bool vector_clock_has(const VectorClock *clock, uint32_t block) {
    VectorClockEntry first = {.block = block};
    int at = clock ? place_of(clock, &first) : 0;
    return clock && at < clock->count && clock->entries[at].block == block;
}

/* The entries that the clock lacks, from its entry `at` on; *grows: it lacks one, or has an earlier stamp. */
static int missing(const VectorClock *clock, int at, const VectorClockEntry *entries, int count,
                   bool *grows) {
    int lacks = 0;
    *grows = false;
    for (int i = 0; i < count; i++) {
        int near = at + NEAR;
        while (at < clock->count && at < near && is_before(&clock->entries[at], &entries[i])) at++;
        if (at == near) at = place_from(clock, at, &entries[i]);
        bool has = at < clock->count && is_same(&clock->entries[at], &entries[i]);
        lacks += !has;
        *grows |= !has || clock->entries[at].stamp < entries[i].stamp;
    }
    return lacks;
}

static bool knows_more(const VectorClock *clock, const VectorClock *other) {
    bool more;
    missing(other, 0, clock->entries, clock->count, &more);
    return more;
}

/* Merges from the end, where the clock has room for the entries that it lacks. */
static void merge(VectorClock *clock, const VectorClockEntry *entries, int count, int lacks) {
    int end = clock->count; /* entries from here on have been moved by `lacks` */
    clock->count += lacks;
    for (int b = count - 1; b >= 0; b--) {
        int at = end;
        while (at && end - at < NEAR && is_before(&entries[b], &clock->entries[at - 1])) at--;
        if (at && is_before(&entries[b], &clock->entries[at - 1]))
            at = place_before(clock, at - 1, &entries[b]);
        bool has = at && is_same(&clock->entries[at - 1], &entries[b]);
        if (lacks)
            memmove(&clock->entries[at + lacks], &clock->entries[at], (size_t)(end - at) * sizeof *entries);
        end = at;
        if (has && entries[b].stamp > clock->entries[at - 1].stamp)
            clock->entries[at - 1].stamp = entries[b].stamp;
        if (!has) clock->entries[at + --lacks] = entries[b];
    }
}

/* The usual case is a counter that one block after the other increments: new entries come last. */
void vector_clock_add(VectorClock **at, const VectorClockEntry *entries, int count) {
    static const VectorClock empty = {0};
    const VectorClock *old = *at ? *at : &empty;
    bool grows;
    int lacks = count ? missing(old, place_of(old, &entries[0]), entries, count, &grows) : 0;
    if (!count || !grows) return;
    if (old->references != 1 || old->capacity - old->count < lacks) {
        int all = old->count + lacks;
        VectorClock *copy = new_clock(all + all / 4);
        copy->count = old->count;
        memcpy(copy->entries, old->entries, (size_t)old->count * sizeof *old->entries);
        vector_clock_replace(at, copy);
    }
    merge(*at, entries, count, lacks);
}

/* Both clocks know the same; words that are written together have such clocks. */
static bool are_equal(const VectorClock *a, const VectorClock *b) {
    return a->count == b->count && !memcmp(a->entries, b->entries, (size_t)a->count * sizeof *a->entries);
}

void vector_clock_join_other(VectorClock **at, VectorClock *other) {
    bool grows = true; /* beyond the other */
    if (*at && other->count >= (*at)->count) grows = !are_equal(*at, other) && knows_more(*at, other);
    if (*at && grows)
        vector_clock_add(at, other->entries, other->count);
    else
        vector_clock_replace(at, vector_clock_keep(other));
}

void clock_join_again(ClockJoin *last, VectorClock **at, VectorClock *other) {
    if (!other || *at == other || (last->after && *at == last->after && other == last->other)) return;
    if (last->after && *at == last->before && other == last->other) {
        vector_clock_replace(at, vector_clock_keep(last->after));
        return;
    }
    vector_clock_replace(&last->before, vector_clock_keep(*at));
    vector_clock_replace(&last->other, vector_clock_keep(other));
    vector_clock_join(at, other);
    vector_clock_replace(&last->after, vector_clock_keep(*at));
}

void clock_join_done(ClockJoin *last) {
    vector_clock_drop(last->before);
    vector_clock_drop(last->other);
    vector_clock_drop(last->after);
    *last = (ClockJoin){0};
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
