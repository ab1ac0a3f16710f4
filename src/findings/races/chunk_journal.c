#include "findings/races/chunk_journal.h"

enum { MOST_LISTED = 32 };

typedef enum Meeting {                  /* how a listed access relates to a new one of the same cells */
                       MEETING_KNOWN,   /* every lane knows of the listed access, or made it */
                       MEETING_UNKNOWN, /* no lane knows of it */
                       MEETING_MIXED    /* depends on the lane, or needs a lookup */
} Meeting;

static inline bool joins(const ChunkAccess *earlier, const ChunkAccess *now) {
    return earlier->block == now->block && earlier->stamp == now->stamp && earlier->origin == now->origin;
}

static Meeting meet_in_warp(const ChunkAccess *earlier, const ChunkAccess *now) {
    if (earlier->step && earlier->step == now->step && earlier->shift == now->shift) return MEETING_KNOWN;
    if (joins(earlier, now)) return MEETING_MIXED;
    bool other_lanes = earlier->step == 1 && now->step == 1;
    bool all_lanes = !earlier->step && !now->step && earlier->lanes == now->lanes;
    return other_lanes || all_lanes ? MEETING_UNKNOWN : MEETING_MIXED;
}

static Meeting meet(const HappensBefore *order, const ChunkAccess *earlier, const ChunkAccess *now) {
    if (earlier->block != now->block) return MEETING_MIXED;
    if (earlier->stamp <= order->barrier) return MEETING_KNOWN;
    int warp = (int)(now->origin & 31);
    Meeting meeting = MEETING_UNKNOWN;
    if ((earlier->origin & 31) == (now->origin & 31)) {
        if (earlier->stamp <= order->warp[warp]) return MEETING_KNOWN;
        meeting = meet_in_warp(earlier, now);
    }
    return meeting == MEETING_UNKNOWN && happens_before_has_clocks(order) ? MEETING_MIXED : meeting;
}

static inline void remove_at(ShadowChunk *chunk, int index) {
    if (!chunk->more) {
        chunk->only.cells = 0;
        return;
    }
    ChunkMore *more = chunk->more;
    more->count--;
    memmove(&more->list[index], &more->list[index + 1], (size_t)(more->count - index) * sizeof *more->list);
}

/* The new access replaces those that it makes obsolete: an earlier write, or reads that all lanes know of. */
static void replace(ShadowChunk *chunk, const ChunkAccess *now) {
    int count;
    ChunkAccess *list = shadow_chunk_list(chunk, &count);
    for (int i = count - 1; i >= 0; i--) {
        if (list[i].writes != now->writes || !(list[i].cells & now->cells)) continue;
        list[i].cells &= ~now->cells;
        if (!list[i].cells) remove_at(chunk, i);
    }
}

/* More lanes that read the same cells in the same instruction. */
static bool join_uniform(ChunkAccess *list, int count, const ChunkAccess *now) {
    ChunkAccess *same = NULL;
    if (now->step || now->writes) return false;
    for (int i = 0; i < count; i++) {
        if (!(list[i].cells & now->cells)) continue;
        if (same || list[i].step || list[i].writes || list[i].cells != now->cells || !joins(&list[i], now))
            return false;
        same = &list[i];
    }
    if (same) same->lanes |= now->lanes;
    return same;
}

static JournalEntry append(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *now) {
    int count;
    shadow_chunk_list(chunk, &count);
    if (count >= MOST_LISTED) return JOURNAL_CELLS;
    return shadow_memory_add(memory, chunk, now) ? JOURNAL_ADDED : JOURNAL_FULL;
}

/* Another lane's copy of the same instruction arrives in cells beside those of this one. */
static bool join_arrivals(ChunkAccess *list, int count, const ChunkAccess *now) {
    for (int i = count - 1; i >= 0; i--) {
        if (!list[i].arrives || !joins(&list[i], now) || !now->step || list[i].step != now->step ||
            list[i].shift != now->shift)
            continue;
        list[i].cells |= now->cells;
        return true;
    }
    return false;
}

/* It takes the place of earlier writes. */
static JournalEntry add_arrival(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *now) {
    int count;
    if (!now->writes) return JOURNAL_CELLS;
    replace(chunk, now);
    ChunkAccess *list = shadow_chunk_list(chunk, &count);
    if (join_arrivals(list, count, now)) return JOURNAL_ADDED;
    return append(memory, chunk, now);
}

JournalEntry chunk_journal_replace(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *now) {
    int count;
    ChunkAccess *list = shadow_chunk_list(chunk, &count);
    if (chunk->more && chunk->more->cells) return JOURNAL_CELLS;
    for (int i = 0; i < count; i++) {
        if (!(list[i].cells & now->cells) || !joins(&list[i], now)) continue;
        if (list[i].step || now->step || list[i].cells != now->cells) return JOURNAL_CELLS;
        list[i].lanes |= now->lanes; /* more lanes of the same instruction */
        return JOURNAL_ADDED;
    }
    replace(chunk, now);
    return append(memory, chunk, now);
}

JournalEntry chunk_journal_add(ShadowMemory *memory, ShadowChunk *chunk, const HappensBefore *order,
                               const ChunkAccess *now) {
    int count;
    ChunkAccess *list = shadow_chunk_list(chunk, &count);
    uint32_t known = 0, unknown = 0; /* cells that listed reads also read */
    bool replaces = false, is_uniform_write = now->writes && !now->step;
    if ((chunk->more && chunk->more->cells) || is_uniform_write) return JOURNAL_CELLS;
    if (now->arrives) return add_arrival(memory, chunk, now);
    for (int i = 0; i < count; i++) {
        uint32_t cells = list[i].cells & now->cells;
        if (!cells) continue;
        Meeting meeting = meet(order, &list[i], now);
        if (meeting == MEETING_MIXED) return join_uniform(list, count, now) ? JOURNAL_ADDED : JOURNAL_CELLS;
        bool are_reads = !list[i].writes && !now->writes;
        if (!are_reads && meeting == MEETING_UNKNOWN) return JOURNAL_CELLS;
        if (are_reads && (meeting == MEETING_KNOWN ? known | unknown : known) & cells) return JOURNAL_CELLS;
        *(meeting == MEETING_KNOWN ? &known : &unknown) |= are_reads ? cells : 0;
        replaces |= list[i].writes == now->writes && meeting == MEETING_KNOWN;
    }
    if (count >= MOST_LISTED) return JOURNAL_CELLS;
    if (replaces && !unknown) replace(chunk, now);
    if (replaces && unknown) return JOURNAL_CELLS;
    return append(memory, chunk, now);
}

void chunk_journal_forget(ShadowMemory *memory, ShadowChunk *chunk, uint32_t stamp) {
    ChunkMore *more = chunk->more;
    if (!more) {
        if (chunk->only.stamp <= stamp) chunk->only.cells = 0;
        return;
    }
    if (more->cells) {
        if (more->last <= stamp) shadow_memory_forget_cells(memory, chunk);
        return;
    }
    int kept = 0;
    for (int i = 0; i < more->count; i++)
        if (more->list[i].stamp > stamp) more->list[kept++] = more->list[i];
    more->count = kept;
}
