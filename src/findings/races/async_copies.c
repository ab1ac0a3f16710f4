/* Rules for asynchronous copies in flight: their source may not be written and their destination may not be
 * accessed before a wait shows that they have arrived (race_detector.h). */
#include "findings/races/race_detector.h"

#include <stdlib.h>

typedef struct FlyingCopy {
    TraceCopy copy;
    uint32_t home; /* the number of the block that counts it, as in WarpAccess */
    WarpAccess issued;
    bool is_read;          /* its source may change */
    bool only_source;      /* kept with the issuing block; another block keeps its destination */
    bool only_destination; /* kept with the block of its destination; another block keeps its source */
    int next;              /* the next copy in its place of FlyingCopies.places; -1: none */
} FlyingCopy;

typedef struct FlyingHull { /* all bytes of a buffer that copies in flight write, or read, lie in it */
    int buffer;
    uint64_t low, high;
    uint32_t count; /* copies; 0: none of them flies any more */
} FlyingHull;

enum { WORD = 4, UNIT = 16 /* bytes of shared memory that are counted together */ };

/* ---- the bytes that copies in flight write or read --------------------------------------------------- */

static FlyingHull *hull_of(FlyingSide *side, int buffer, bool make) {
    for (int i = 0; i < side->hull_count; i++)
        if (side->hulls[i].buffer == buffer) return &side->hulls[i];
    if (!make) return NULL;
    FlyingHull hull = {.buffer = buffer};
    array_push(side->hulls, side->hull_count, side->hull_capacity, hull);
    return &side->hulls[side->hull_count - 1];
}

static void mark_hull(FlyingSide *side, int buffer, uint64_t offset, uint64_t bytes, bool flies) {
    FlyingHull *hull = hull_of(side, buffer, true);
    if (!hull->count || offset < hull->low) hull->low = offset;
    if (!hull->count || offset + bytes > hull->high) hull->high = offset + bytes;
    hull->count += flies ? 1 : ~UINT32_C(0);
}

static void mark_units(FlyingSide *side, uint64_t offset, uint64_t bytes, bool flies) {
    uint64_t first = offset / UNIT, last = (offset + bytes - 1) / UNIT;
    size_t had = side->unit_count;
    array_reserve(side->units, last + 1, side->unit_count);
    if (side->unit_count > had) memset(side->units + had, 0, (side->unit_count - had) * sizeof *side->units);
    for (uint64_t i = first; i <= last; i++) side->units[i] += flies ? 1 : ~UINT32_C(0);
}

static void mark_side(FlyingSide *side, PtxSpace space, int buffer, uint64_t offset, uint64_t bytes,
                      bool flies) {
    if (!bytes) return;
    if (space == PTX_SPACE_SHARED)
        mark_units(side, offset, bytes, flies);
    else
        mark_hull(side, buffer, offset, bytes, flies);
}

static void mark(BlockRaces *block, const FlyingCopy *flying, bool flies) {
    const TraceCopy *copy = &flying->copy;
    if (!flying->only_source && copy->to != PTX_SPACE_GENERIC)
        mark_side(&block->flying.written, copy->to, copy->to_buffer, copy->to_offset, copy->bytes, flies);
    if (!flying->only_destination && copy->from != PTX_SPACE_GENERIC)
        mark_side(&block->flying.read, copy->from, copy->from_buffer, copy->from_offset, copy->bytes, flies);
}

/* False: no copy in flight has any of these bytes on this side. */
static bool may_hit(FlyingSide *side, const TraceAccess *access, uint64_t low, uint64_t high) {
    if (access->space != PTX_SPACE_SHARED) {
        const FlyingHull *hull = hull_of(side, access->buffer, false);
        return hull && hull->count && low < hull->high && hull->low < high;
    }
    uint32_t any = 0;
    for (uint64_t i = low / UNIT; i < side->unit_count && i * UNIT < high; i++) any |= side->units[i];
    return any;
}

/* ---- the copies in flight ---------------------------------------------------------------------------- */

static int *place_of(FlyingCopies *copies, uint32_t home, uint64_t number) {
    return &copies->places[(number + home * UINT64_C(0x9e3779b1)) & (uint64_t)(copies->place_count - 1)];
}

static FlyingCopy *find(BlockRaces *block, uint32_t home, uint64_t number) {
    if (!block || !block->flying.count) return NULL;
    for (int i = *place_of(&block->flying, home, number); i >= 0; i = block->flying.items[i].next)
        if (block->flying.items[i].copy.number == number && block->flying.items[i].home == home)
            return &block->flying.items[i];
    return NULL;
}

static void link_copy(FlyingCopies *copies, int index) {
    FlyingCopy *flying = &copies->items[index];
    int *place = place_of(copies, flying->home, flying->copy.number);
    flying->next = *place;
    *place = index;
}

static void unlink_copy(FlyingCopies *copies, int index) {
    const FlyingCopy *flying = &copies->items[index];
    int *at = place_of(copies, flying->home, flying->copy.number);
    while (*at != index) at = &copies->items[*at].next;
    *at = flying->next;
}

static void grow_places(FlyingCopies *copies) {
    copies->place_count = copies->place_count ? 2 * copies->place_count : 64;
    copies->places = memory_resize(copies->places, (size_t)copies->place_count * sizeof *copies->places);
    for (int i = 0; i < copies->place_count; i++) copies->places[i] = -1;
    for (int i = 0; i < copies->count; i++) link_copy(copies, i);
}

static void keep(BlockRaces *block, const FlyingCopy *flying) {
    FlyingCopies *copies = &block->flying;
    if (copies->count == copies->place_count) grow_places(copies);
    array_push(copies->items, copies->count, copies->capacity, *flying);
    link_copy(copies, copies->count - 1);
    mark(block, flying, true);
}

/* The last one takes its place. */
static void drop(BlockRaces *block, const FlyingCopy *flying) {
    if (!flying) return;
    FlyingCopies *copies = &block->flying;
    int index = (int)(flying - copies->items), last = copies->count - 1;
    mark(block, flying, false);
    unlink_copy(copies, index);
    if (index != last) {
        unlink_copy(copies, last);
        copies->items[index] = copies->items[last];
        link_copy(copies, index);
    }
    copies->count--;
}

static void begin(BlockRaces *home, const TraceCopy *copy) {
    BlockRaces *issuer = copy->issuer ? copy->issuer : home;
    FlyingCopy flying = {.copy = *copy,
                         .home = home->order.number,
                         .issued = {issuer->order.number, issuer->order.now, UINT32_C(1) << copy->lane,
                                    warp_access_origin(copy->pc, copy->warp)}};
    flying.only_destination = issuer != home;
    keep(home, &flying);
    if (issuer == home || copy->from == PTX_SPACE_GENERIC) return;
    flying.only_destination = false;
    flying.only_source = true;
    keep(issuer, &flying);
}

void async_copies_see(BlockRaces *home, const TraceCopy *copy) {
    FlyingCopy *flying =
        copy->kind == TRACE_COPY_BEGINS ? NULL : find(home, home->order.number, copy->number);
    BlockRaces *issuer = copy->issuer;
    switch (copy->kind) {
    case TRACE_COPY_BEGINS:
        begin(home, copy);
        break;
    case TRACE_COPY_IS_READ:
        if (flying) flying->is_read = true;
        break;
    case TRACE_COPY_ARRIVES:
        if (!flying) break;
        if (copy->to == PTX_SPACE_GENERIC)
            happens_before_end_product(&home->order, copy->warp, flying->issued.stamp);
        drop(home, flying);
        if (issuer != home) drop(issuer, find(issuer, home->order.number, copy->number));
        break;
    case TRACE_COPY_IS_LEFT:
        if (flying && flying->is_read && copy->to == PTX_SPACE_GLOBAL)
            break; /* the end of the grid completes it */
        race_detector_report_lanes(home, copy->block,
                                   copy->is_committed ? FINDING_COPY_NOT_AWAITED : FINDING_COPY_NOT_COMMITTED,
                                   copy->pc, copy->warp, UINT32_C(1) << copy->lane);
        break;
    }
}

void async_copies_leave_sources(BlockRaces *block) {
    for (int i = 0; i < block->flying.count; i++) {
        const TraceCopy *copy = &block->flying.items[i].copy;
        if (!block->flying.items[i].only_source || copy->from != PTX_SPACE_SHARED) continue;
        FindingAccess read = {.pc = copy->pc,
                              .warp = copy->warp,
                              .lanes = UINT32_C(1) << copy->lane,
                              .lane = copy->lane,
                              .buffer = -1,
                              .offset = copy->from_offset,
                              .event = -1};
        race_detector_set_block(block->detector, block->linear, &read);
        block->detector->serial++;
        race_detector_report_lifetime(block, block, &read, false);
    }
}

static bool overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

/* The copy that the lane disturbs; `*is_source`: as in RacePair. */
static const FlyingCopy *find_hit(const BlockRaces *block, const TraceAccess *access, const PcRule *rule,
                                  uint64_t offset, bool *is_source) {
    for (int i = 0; i < block->flying.count; i++) {
        const FlyingCopy *flying = &block->flying.items[i];
        const TraceCopy *copy = &flying->copy;
        bool here = !flying->only_source && copy->to == access->space && copy->to_buffer == access->buffer;
        *is_source = false;
        if (here && overlaps(copy->to_offset, copy->bytes, offset, rule->width)) return flying;
        here = !flying->only_destination && rule->writes && !flying->is_read && copy->from == access->space &&
               copy->from_buffer == access->buffer;
        *is_source = true;
        if (here && overlaps(copy->from_offset, copy->bytes, offset, rule->width)) return flying;
    }
    return NULL;
}

/* Each reduction into the same destination is atomic. */
static bool is_allowed(const BlockRaces *block, const PcRule *rule, const FlyingCopy *flying) {
    const RaceDetector *detector = block->detector;
    int pc = flying->copy.pc;
    const PcRule *copy = detector->written[pc].width ? &detector->written[pc] : &detector->rules[pc];
    return rule->is_atomic && copy->is_atomic;
}

/* False: a lane that accesses these bytes disturbs no copy. */
static bool may_disturb(BlockRaces *owner, const TraceAccess *access, const PcRule *rule, uint64_t low,
                        uint64_t high) {
    return may_hit(&owner->flying.written, access, low, high) ||
           (rule->writes && may_hit(&owner->flying.read, access, low, high));
}

/* As above, for all lanes. */
static bool may_any_disturb(BlockRaces *owner, const TraceAccess *access, const PcRule *rule) {
    uint64_t first = trace_access_offset(access, __builtin_ctz(access->mask)),
             last = trace_access_offset(access, 31 - __builtin_clz(access->mask));
    if (!access->is_line) return true;
    return may_disturb(owner, access, rule, first < last ? first : last,
                       (first < last ? last : first) + rule->width);
}

uint32_t async_copies_check(BlockRaces *block, BlockRaces *owner, const TraceAccess *access,
                            const PcRule *rule) {
    uint32_t early = 0;
    Touch touch = {.block = block,
                   .owner = owner,
                   .access = access,
                   .rule = rule,
                   .cell_bytes = WORD,
                   .is_shared = access->space == PTX_SPACE_SHARED};
    if (!may_any_disturb(owner, access, rule)) return 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        touch.lane = __builtin_ctz(rest);
        touch.offset = trace_access_offset(access, touch.lane);
        uint64_t end = touch.offset + rule->width;
        if (!may_disturb(owner, access, rule, touch.offset, end)) continue;
        bool is_source;
        const FlyingCopy *flying = find_hit(owner, access, rule, touch.offset, &is_source);
        if (!flying || (!is_source && is_allowed(block, rule, flying))) continue;
        FindingKind kind =
            rule->writes && (is_source || !rule->reads) ? FINDING_ASYNC_WRITE : FINDING_ASYNC_READ;
        race_detector_report(&touch, kind, &flying->issued, flying->issued.mask, is_source);
        early |= UINT32_C(1) << touch.lane;
    }
    return early;
}

static void forget_side(FlyingSide *side) {
    side->hull_count = 0;
    if (side->units) memset(side->units, 0, side->unit_count * sizeof *side->units);
}

void async_copies_forget(BlockRaces *block) {
    FlyingCopies *copies = &block->flying;
    for (int i = 0; copies->count && i < copies->place_count; i++) copies->places[i] = -1;
    if (copies->count) forget_side(&copies->written);
    if (copies->count) forget_side(&copies->read);
    copies->count = copies->written.hull_count = copies->read.hull_count = 0;
}

void async_copies_done(BlockRaces *block) {
    FlyingCopies *copies = &block->flying;
    free(copies->items);
    free(copies->places);
    free(copies->written.units);
    free(copies->written.hulls);
    free(copies->read.units);
    free(copies->read.hulls);
}
