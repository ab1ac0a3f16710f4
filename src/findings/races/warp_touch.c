/* Cuts a warp's access into chunks (race_detector.h). The addresses have a constant stride over the lanes,
 * and the pieces go into the journals of the chunks. Chunks and cells ascend as lanes do, so cells that need
 * a closer check are seen in the same order as lane by lane. */
#include "findings/races/race_detector.h"

typedef struct LaneLine { /* lane l accesses cells first + l * step up to `width` of them */
    Touch *touch;
    ShadowMemory *memory;
    int shift; /* log2 of the bytes of a cell */
    int64_t first, step;
    int width;
} LaneLine;

static inline uint32_t bits_between(int64_t low, int64_t high) { /* 0 <= low < high <= 32 */
    return (uint32_t)(((UINT64_C(1) << (high - low)) - 1) << low);
}

/* Cell by cell. */
static void touch_cells(const LaneLine *line, int64_t chunk, const ChunkAccess *piece, int lane) {
    Touch *touch = line->touch;
    for (uint32_t rest = piece->cells; rest;) {
        int i = __builtin_ctz(rest), count = piece->step ? 1 : __builtin_ctz(~(rest >> i));
        uint64_t cell = (uint64_t)chunk * CHUNK_CELLS + (uint64_t)i;
        touch->lane = piece->step ? (i + piece->shift) / piece->step : lane;
        while (piece->step && rest >> i >> count & 1 &&
               (i + count + piece->shift) / piece->step == touch->lane)
            count++;
        touch->offset = cell << line->shift;
        race_touch_cells(touch, line->memory, cell, (uint64_t)count);
        rest &= ~bits_between(i, i + count);
    }
}

static void touch_piece(const LaneLine *line, int64_t number, ShadowChunk *chunk, const ChunkAccess *piece) {
    if (piece->step) {
        touch_cells(line, number, piece, 0);
        return;
    }
    int compared = 0;
    for (uint32_t rest = piece->lanes; rest; rest &= rest - 1) {
        ChunkMore *more = compared > 1 ? chunk->more : NULL;
        if (more && more->cells && race_touch_alike(line->touch, more->cells, piece->cells, rest)) return;
        touch_cells(line, number, piece, __builtin_ctz(rest));
        compared++;
    }
}

/* The lanes that accessed any of these cells. */
static uint32_t lanes_of(const ChunkAccess *access, uint32_t cells) {
    uint32_t lanes = 0;
    for (uint32_t rest = cells; rest; rest &= rest - 1)
        lanes |= chunk_access_lanes(access, __builtin_ctz(rest));
    return lanes;
}

/* A bulk copy reads cells in which a thread of its block has stored something, without a proxy fence
 * since. */
static bool lacks_fence(const Touch *touch, ShadowChunk *chunk, const ChunkAccess *piece) {
    const HappensBefore *order = &touch->block->order;
    int count;
    const ChunkAccess *list = shadow_chunk_list(chunk, &count);
    for (int i = 0; i < count; i++) {
        uint32_t cells = list[i].cells & piece->cells;
        WarpAccess store = {list[i].block, list[i].stamp, 0, list[i].origin};
        if (!cells || !list[i].writes || store.block != order->number) continue;
        for (uint32_t rest = lanes_of(&list[i], cells); rest; rest &= rest - 1)
            if (!happens_before_is_published(order, touch->access->warp, touch->lane, &store,
                                             __builtin_ctz(rest)))
                return true;
    }
    return false;
}

/* An atomic that meets only atomics, in whatever order: with scopes that reach each other, they are no
 * race. */
static bool meets_atomics(const Touch *touch, ShadowChunk *chunk, const ChunkAccess *piece) {
    const PcRule *now = touch->rule;
    int count;
    const ChunkAccess *list = shadow_chunk_list(chunk, &count);
    bool meets = false;
    if (!now->is_atomic || now->is_mbarrier || !now->writes || touch->access->arrives) return false;
    for (int i = 0; i < count; i++) {
        if (!(list[i].cells & piece->cells)) continue;
        WarpAccess earlier = {list[i].block, list[i].stamp, 0, list[i].origin};
        const PcRule *then = race_rule_of(touch, &earlier);
        bool wide = then->scope == SCOPE_DEVICE && now->scope == SCOPE_DEVICE;
        if (!list[i].writes || !then->is_atomic || then->is_mbarrier ||
            !(wide || earlier.block == touch->block->order.number))
            return false;
        meets = true;
    }
    return meets || piece->step == 0;
}

/* The rules of race_touch_cells() for what the list of the chunk cannot tell. */
static inline bool needs_cells(const Touch *touch, ShadowChunk *chunk, const ChunkAccess *piece) {
    bool copies = touch->rule->is_async_proxy && touch->rule->reads && !touch->access->arrives;
    return copies && chunk && lacks_fence(touch, chunk, piece);
}

static inline void keep_piece(const LaneLine *line, int64_t number, ChunkAccess *piece) {
    const Touch *touch = line->touch;
    const HappensBefore *order = &touch->block->order;
    ShadowChunk *chunk = shadow_memory_chunk(line->memory, (uint64_t)number);
    piece->block = order->number;
    piece->stamp = order->now;
    piece->origin = warp_access_origin(touch->access->pc, touch->access->warp);
    piece->writes = touch->rule->writes;
    piece->arrives = touch->access->arrives;
    piece->is_cached = touch->rule->is_cached;
    race_touch_forget(touch, line->memory, chunk);
    if (needs_cells(touch, chunk, piece)) {
        touch_piece(line, number, chunk, piece);
        return;
    }
    JournalEntry entry = !chunk ? JOURNAL_FULL
                         : meets_atomics(touch, chunk, piece)
                             ? chunk_journal_replace(line->memory, chunk, piece)
                             : chunk_journal_add(line->memory, chunk, order, piece);
    switch (entry) {
    case JOURNAL_ADDED:
        break;
    case JOURNAL_CELLS:
        touch_piece(line, number, chunk, piece);
        break;
    case JOURNAL_FULL:
        race_detector_lack_memory(touch->block);
        break;
    }
}

/* All 32 lanes, side by side. */
static void touch_row(const LaneLine *line) {
    int64_t first = line->first, end = first + (int64_t)WARP_LANES * line->width;
    for (int64_t chunk = first >> 5; chunk << 5 < end; chunk++) {
        int64_t low = first - (chunk << 5), high = end - (chunk << 5);
        ChunkAccess piece = {.cells = bits_between(low > 0 ? low : 0, high < 32 ? high : 32),
                             .shift = (int16_t)-low,
                             .step = (uint8_t)line->width};
        keep_piece(line, chunk, &piece);
    }
}

/* Some lanes, side by side, one cell each. */
static void touch_row_part(const LaneLine *line, uint32_t lanes) {
    int64_t chunk = line->first >> 5;
    int low = (int)(line->first & 31);
    ChunkAccess here = {.cells = lanes << low, .shift = (int16_t)-low, .step = 1},
                next = {.cells = low ? lanes >> (32 - low) : 0, .shift = (int16_t)(32 - low), .step = 1};
    if (here.cells) keep_piece(line, chunk, &here);
    if (next.cells) keep_piece(line, chunk + 1, &next);
}

/* All lanes access the same cells. */
static void touch_point(const LaneLine *line, uint32_t lanes) {
    int64_t low = line->first & 31;
    ChunkAccess piece = {.cells = bits_between(low, low + line->width), .lanes = lanes};
    keep_piece(line, line->first >> 5, &piece);
}

/* The lanes lie apart; those of each chunk are handled together. */
static void touch_spread(const LaneLine *line, uint32_t lanes) {
    for (uint32_t rest = lanes; rest;) {
        int lane = __builtin_ctz(rest), last = lane;
        int64_t chunk = (line->first + lane * line->step) >> 5, base = line->first - (chunk << 5);
        ChunkAccess piece = {0};
        for (; rest; rest &= rest - 1) {
            int64_t low = base + __builtin_ctz(rest) * line->step;
            if (low >= CHUNK_CELLS) break;
            last = __builtin_ctz(rest);
            piece.cells |= bits_between(low, low + line->width);
        }
        int64_t step = last == lane ? line->width : line->step;
        piece.step = (uint8_t)step;
        piece.shift = (int16_t)(lane * step - (base + lane * line->step));
        keep_piece(line, chunk, &piece);
    }
}

bool race_touch_warp(Touch *touch, ShadowMemory *memory, int shift) {
    const TraceAccess *access = touch->access;
    uint32_t lanes = access->mask;
    int width = touch->rule->width >> shift;
    bool alone = !(lanes & (lanes - 1));
    if (!access->is_line || width > 16 || (access->stride < 0 && !alone)) return false;
    if (!alone && access->stride & (touch->cell_bytes - 1)) return false; /* lanes 8 apart, cells 10 apart */
    LaneLine line = {.touch = touch,
                     .memory = memory,
                     .shift = shift,
                     .first = (int64_t)access->first >> shift,
                     .step = alone ? width : access->stride >> shift,
                     .width = width};
    int lane = __builtin_ctz(lanes);
    touch->lane = lane;
    if (alone) line.first = (int64_t)(trace_access_offset(access, lane) >> shift) - (int64_t)lane * width;
    if (line.step == width && lanes == ~UINT32_C(0))
        touch_row(&line);
    else if (line.step == 1)
        touch_row_part(&line, lanes);
    else if (line.step == 0)
        touch_point(&line, lanes);
    else if (line.step < width)
        return false;
    else
        touch_spread(&line, lanes);
    return true;
}
