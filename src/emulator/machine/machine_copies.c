/* Asynchronous copies in flight (machine_copies.h). */
#include "emulator/machine/machine_copies.h"

#include "emulator/machine/observe.h"
#include "emulator/machine/saved_pages.h"
#include "emulator/machine/shadow.h"

#include <stdlib.h>

typedef struct WarpCopies { /* in the order in which they began */
    AsyncCopy *items;
    int count, capacity;
} WarpCopies;

struct AsyncCopies {
    WarpCopies warps[MAX_WARPS];
    uint32_t committed[COPY_GROUPS][MAX_WARPS][WARP_LANES]; /* groups */
    uint64_t count;                                         /* copies that have begun */
};

static AsyncCopies *copies_of(Block *block) {
    if (!block->copies) block->copies = memory_new(sizeof *block->copies);
    return block->copies;
}

AsyncCopy *copies_add(Block *home, const Warp *warp, int lane, int pc, CopyCompletion completion,
                      uint32_t bytes) {
    AsyncCopies *copies = copies_of(home);
    WarpCopies *of = &copies->warps[warp->index];
    AsyncCopy copy = {.number = copies->count,
                      .pc = pc,
                      .block = warp->block->linear,
                      .rank = warp->block->rank,
                      .warp = (uint8_t)warp->index,
                      .lane = (uint8_t)lane,
                      .completion = (uint8_t)completion,
                      .bytes = bytes,
                      .transaction = bytes};
    if (completion != COPY_ON_MBARRIER) copy.group = copies->committed[completion][warp->index][lane];
    copies->count += bytes + 1;                                      /* a number for each part */
    if (bytes > COPY_INLINE) copy.more = memory_resize(NULL, bytes); /* the caller sets all of them */
    array_push(of->items, of->count, of->capacity, copy);
    return &of->items[of->count - 1];
}

uint8_t *copies_room(AsyncCopy *copy) {
    return copy->more ? copy->more : copy->kept;
}

CopyParts copy_parts(const AsyncCopy *copy) {
    CopyParts parts = {.copy = copy, .part = *copy};
    if (!copy->tile) return parts;
    bool is_load = copy->to == PTX_SPACE_SHARED;
    parts.walk = trace_tile_walk(copy->tile, is_load ? copy->to_address : copy->from_address);
    parts.part.tile = NULL;
    parts.part.number--;
    return parts;
}

bool copy_next_part(CopyParts *parts) {
    const AsyncCopy *copy = parts->copy;
    AsyncCopy *part = &parts->part;
    bool is_load = copy->to == PTX_SPACE_SHARED, was_done = parts->is_done;
    parts->is_done = !copy->tile;
    if (!copy->tile) return !was_done;
    TilePiece piece;
    do {
        if (!trace_tile_next(&parts->walk, &piece)) return false;
    } while (!is_load && !piece.is_inside);
    part->number++;
    part->to_address = is_load ? piece.shared : copy->to_address + piece.global;
    part->from_address = is_load ? copy->from_address + piece.global : piece.shared;
    part->from = piece.is_inside ? copy->from : PTX_SPACE_GENERIC;
    part->bytes = piece.bytes;
    part->more = (uint8_t *)(uintptr_t)copy_bytes(copy) + piece.at;
    return true;
}

/* Reports every part of the copy. */
static void observe_parts(const Block *home, const AsyncCopy *copy, TraceCopyKind kind) {
    for (CopyParts parts = copy_parts(copy); copy_next_part(&parts);)
        observe_copy(home, &parts.part, kind, true);
}

void copies_begun(const Block *home, const AsyncCopy *copy) {
    if (home->observed) observe_parts(home, copy, TRACE_COPY_BEGINS);
}

void copies_add_matrix(Block *block, const Warp *warp, int pc, uint32_t address, uint32_t bytes) {
    AsyncCopy *copy = copies_add(block, warp, 0, pc, COPY_IN_MATRIX_GROUP, 0);
    copy->bytes = bytes;
    copy->from = PTX_SPACE_SHARED;
    copy->from_address = address;
    copy->to = PTX_SPACE_GENERIC;
    copies_begun(block, copy);
}

bool copies_has_matrix(const Block *block, const Warp *warp, int pc) {
    const WarpCopies *of = block->copies ? &block->copies->warps[warp->index] : NULL;
    for (int i = 0; of && i < of->count; i++)
        if (of->items[i].completion == COPY_IN_MATRIX_GROUP && of->items[i].pc == pc) return true;
    return false;
}

void copies_commit(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        copies_of(block)->committed[groups][warp->index][__builtin_ctz(rest)]++;
}

/* ---- arriving --------------------------------------------------------------------------------------- */

static void note_written(Block *block, const Region *region, uint64_t offset, uint64_t bytes) {
    Footprint *footprint = block->worker->footprint;
    uint64_t first = offset / 4, last = (offset + bytes - 1) / 4;
    if (footprint && footprint->saved) saved_pages_keep(footprint->saved, region, offset, bytes);
    if (footprint) footprint_write(footprint, region->first_word + first, last - first + 1);
    block->worker->changes++;
}

static uint8_t *destination(Block *block, const AsyncCopy *copy) {
    if (copy->to == PTX_SPACE_SHARED) {
        bits_set(block->shared_written, copy->to_address, copy->bytes);
        return block->shared + copy->to_address;
    }
    const Memory *memory = block->grid->memory;
    const Region *region = &memory->regions[memory_find(memory, copy->to_address)];
    note_written(block, region, copy->to_address - region->base, copy->bytes);
    return region->host + (copy->to_address - region->base);
}

/* The numbers come from where the bytes did, unless that has changed. A sum in memory is not followed. */
static void copy_shadow(const Block *home, const AsyncCopy *copy, uint8_t *to) {
    const Memory *memory = home->grid->memory;
    const uint8_t *from = NULL;
    if (copy->fold) {
        shadow_pages_lose(home->grid->shadow);
    } else if (copy->from == PTX_SPACE_GLOBAL) {
        const Region *region = &memory->regions[memory_find(memory, copy->from_address)];
        from = region->host + (copy->from_address - region->base);
    } else if (copy->from == PTX_SPACE_SHARED && copy->block == home->linear) {
        from = home->shared + copy->from_address;
    }
    bool fills = copy->from == PTX_SPACE_GENERIC; /* with zeros, or with registers */
    for (uint32_t i = 0; i < copy->bytes && fills; i++) fills = !copy_bytes(copy)[i];
    if (from)
        shadow_pages_move(home->grid->shadow, to, from, copy->bytes);
    else if (!fills)
        shadow_pages_lose(home->grid->shadow);
}

void copies_write(Block *home, const AsyncCopy *copy) {
    uint8_t *to = destination(home, copy);
    if (home->grid->shadow) copy_shadow(home, copy, to);
    if (copy->fold)
        copy->fold(copy->rule, to, copy_bytes(copy), copy->bytes);
    else
        memcpy(to, copy_bytes(copy), copy->bytes);
}

static void arrive_part(Block *home, const AsyncCopy *part, const Block *knows, int warp, int lane) {
    if (home->observed) observe_copy(home, part, TRACE_COPY_ARRIVES, true);
    if (part->to == PTX_SPACE_GENERIC) return;
    if (home->observed) observe_arrived_bytes(home, part, knows, warp, lane);
    copies_write(home, part);
}

static void free_bytes(const AsyncCopy *copy) {
    free(copy->more);
    free(copy->tile);
}

/* Writes a loaded tile whose rows fill their spans, if nobody observes its parts. False: it did not. */
static bool arrive_at_once(Block *home, const AsyncCopy *copy) {
    const TraceTile *tile = copy->tile;
    const uint8_t *from = copy_bytes(copy);
    bool is_dense = !tile->swizzle || tile->count[0] * tile->element_bytes == 16u << tile->swizzle;
    if (home->observed || home->grid->shadow || copy->to != PTX_SPACE_SHARED || !is_dense) return false;
    bits_set(home->shared_written, copy->to_address, copy->bytes);
    if (!tile->swizzle) memcpy(home->shared + copy->to_address, from, copy->bytes);
    for (uint32_t at = 0; tile->swizzle && at < copy->bytes; at += TILE_CHUNK)
        memcpy(home->shared + trace_tile_swizzled(tile->swizzle, copy->to_address + at), from + at,
               TILE_CHUNK);
    return true;
}

/* `warp` and `lane` of the block `knows` are the first to know about it. */
static void arrive(Block *home, const AsyncCopy *copy, const Block *knows, int warp, int lane) {
    if (!copy->bytes) return; /* it only stands for an arrival */
    if (!copy->tile) arrive_part(home, copy, knows, warp, lane);
    bool in_parts = copy->tile && !arrive_at_once(home, copy);
    for (CopyParts parts = copy_parts(copy); in_parts && copy_next_part(&parts);)
        arrive_part(home, &parts.part, knows, warp, lane);
    free_bytes(copy);
}

/* The lanes are those of `warp`, which waits. */
static bool is_in_groups(const AsyncCopies *copies, const AsyncCopy *copy, const Warp *warp, uint32_t lanes,
                         CopyCompletion groups, uint32_t pending) {
    if (copy->completion != groups || !(lanes >> copy->lane & 1)) return false;
    uint32_t committed = copies->committed[groups][warp->index][copy->lane];
    return committed > pending && copy->group < committed - pending;
}

/* The copies of one warp for which `warp` waits: itself, or one of its warpgroup. */
static void wait_for_those_of(Block *block, int issuer, const Warp *warp, uint32_t lanes,
                              CopyCompletion groups, uint32_t pending, bool only_read) {
    AsyncCopies *copies = copies_of(block);
    WarpCopies *of = &copies->warps[issuer];
    int kept = 0;
    for (int i = 0; i < of->count; i++) {
        AsyncCopy *copy = &of->items[i];
        bool ends = is_in_groups(copies, copy, warp, lanes, groups, pending);
        if (ends && only_read && !copy->is_read) {
            copy->is_read = true;
            if (block->observed) observe_parts(block, copy, TRACE_COPY_IS_READ);
        }
        if (ends && !only_read)
            arrive(block, copy, block, copy->warp, copy->lane);
        else
            of->items[kept++] = *copy;
    }
    of->count = kept;
}

void copies_wait(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups, uint32_t pending,
                 bool only_read) {
    int first = warp->index, count = 1;
    if (groups == COPY_IN_MATRIX_GROUP) first -= first % WARPGROUP_WARPS, count = WARPGROUP_WARPS;
    for (int w = first; w < first + count && w < block->warp_count; w++)
        wait_for_those_of(block, w, warp, lanes, groups, pending, only_read);
}

bool copies_warpgroup_is_behind(const Block *block, const Warp *warp, uint32_t pending) {
    const AsyncCopies *copies = block->copies;
    int first = warp->index - warp->index % WARPGROUP_WARPS;
    uint32_t own = copies ? copies->committed[COPY_IN_MATRIX_GROUP][warp->index][0] : 0;
    for (int w = first; own && w < first + WARPGROUP_WARPS && w < block->warp_count; w++)
        if (block->warps[w].live && own > copies->committed[COPY_IN_MATRIX_GROUP][w][0] + (uint64_t)pending)
            return true;
    return false;
}

/* ---- mbarriers -------------------------------------------------------------------------------------- */

void copies_follow(Block *block, const Warp *warp, int lane, int pc, uint32_t mbarrier) {
    WarpCopies *of = &copies_of(block)->warps[warp->index];
    for (int i = 0; i < of->count; i++) {
        AsyncCopy *copy = &of->items[i];
        if (copy->completion != COPY_IN_GROUP || copy->lane != lane) continue;
        copy->completion = COPY_ON_MBARRIER;
        copy->mbarrier = mbarrier;
        copy->transaction = 0; /* the mbarrier counts the arrival */
    }
    AsyncCopy *arrival = copies_add(block, warp, lane, pc, COPY_ON_MBARRIER, 0);
    arrival->arrivals = 1;
    arrival->mbarrier = mbarrier;
}

int64_t copies_expected(const Block *block, uint32_t mbarrier, int64_t *arrivals) {
    int64_t bytes = 0;
    *arrivals = 0;
    for (int w = 0; block->copies && w < block->warp_count; w++) {
        const WarpCopies *of = &block->copies->warps[w];
        for (int i = 0; i < of->count; i++) {
            const AsyncCopy *copy = &of->items[i];
            if (copy->completion != COPY_ON_MBARRIER || copy->mbarrier != mbarrier) continue;
            bytes += copy->transaction;
            *arrivals += copy->arrivals;
        }
    }
    return bytes;
}

static int by_number(const void *a, const void *b) {
    const AsyncCopy *const *x = a, *const *y = b;
    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Lists the copies in the order in which they began; the caller frees the list. */
static const AsyncCopy **list_copies(const Block *home, uint32_t mbarrier, int *count) {
    const AsyncCopy **list = NULL;
    int capacity = 0;
    *count = 0;
    for (int w = 0; w < home->warp_count; w++) {
        const WarpCopies *of = &home->copies->warps[w];
        for (int i = 0; i < of->count; i++)
            if (of->items[i].completion == COPY_ON_MBARRIER && of->items[i].mbarrier == mbarrier)
                array_push(list, *count, capacity, &of->items[i]);
    }
    if (*count) qsort(list, (size_t)*count, sizeof *list, by_number);
    return list;
}

bool copies_complete(const Block *home, uint32_t mbarrier, int64_t bytes, int64_t arrivals, uint64_t *until) {
    int64_t all_arrivals, all_bytes = copies_expected(home, mbarrier, &all_arrivals);
    *until = UINT64_MAX;
    if (!all_bytes && !all_arrivals) return false;
    if (all_bytes == bytes && all_arrivals == arrivals) return true;
    if (all_bytes < bytes || all_arrivals < arrivals || bytes < 0 || !(bytes | arrivals)) return false;
    int count;
    const AsyncCopy **list = list_copies(home, mbarrier, &count);
    for (int i = 0; i < count && (bytes || arrivals); i++) {
        bytes -= list[i]->transaction;
        arrivals -= list[i]->arrivals;
        *until = list[i]->number + 1;
    }
    free(list);
    return !bytes && !arrivals;
}

void copies_arrive(Block *home, const Warp *warp, int lane, uint32_t mbarrier, uint64_t until) {
    for (int w = 0; home->copies && w < home->warp_count; w++) {
        WarpCopies *of = &home->copies->warps[w];
        int kept = 0;
        for (int i = 0; i < of->count; i++) {
            AsyncCopy *copy = &of->items[i];
            if (copy->completion == COPY_ON_MBARRIER && copy->mbarrier == mbarrier && copy->number < until)
                arrive(home, copy, warp->block, warp->index, lane);
            else
                of->items[kept++] = *copy;
        }
        of->count = kept;
    }
}

/* ---- the end ---------------------------------------------------------------------------------------- */

/* Of a copy in parts, the first one is reported for all. */
static void leave(Block *block, const AsyncCopy *copy) {
    bool in_group = copy->completion != COPY_ON_MBARRIER;
    bool committed =
        !in_group || copy->group < block->copies->committed[copy->completion][copy->warp][copy->lane];
    CopyParts parts = copy_parts(copy);
    if (block->observed && copy->bytes && copy_next_part(&parts))
        observe_copy(block, &parts.part, TRACE_COPY_IS_LEFT, committed);
    arrive(block, copy, block, copy->warp, copy->lane);
}

void copies_end(Block *block) {
    for (int w = 0; block->copies && !block->worker->stopped && w < block->warp_count; w++) {
        WarpCopies *of = &block->copies->warps[w];
        for (int i = 0; i < of->count; i++) leave(block, &of->items[i]);
        of->count = 0;
    }
    copies_forget(block);
}

void copies_forget(Block *block) {
    AsyncCopies *copies = block->copies;
    for (int w = 0; copies && w < MAX_WARPS; w++) {
        for (int i = 0; i < copies->warps[w].count; i++) free_bytes(&copies->warps[w].items[i]);
        copies->warps[w].count = 0;
    }
    if (copies) memset(copies->committed, 0, sizeof copies->committed);
}

void copies_free(Block *block) {
    copies_forget(block);
    for (int w = 0; block->copies && w < MAX_WARPS; w++) free(block->copies->warps[w].items);
    free(block->copies);
    block->copies = NULL;
}
