/* Compares an access of one cell with the earlier ones, and keeps it (race_detector.h). */
#include "findings/races/race_detector.h"

/* ---- one access of one lane to one cell ------------------------------------------------------------- */

static void stored_cell(const Touch *touch, int lane, uint8_t *cell) {
    uint8_t bytes[32];
    touch->access->stored(touch->access, lane, bytes);
    memcpy(cell, bytes + (touch->offset - trace_access_offset(touch->access, lane)),
           (size_t)touch->cell_bytes);
}

/* The store does not change the cell. */
static bool stores_what_is_there(const Touch *touch) {
    uint8_t cell[16];
    stored_cell(touch, touch->lane, cell);
    return !memcmp(cell, touch->access->memory + touch->offset, (size_t)touch->cell_bytes);
}

static bool has_released(const HappensBefore *order, int warp, int lane) {
    return order->threads && order->threads[warp * WARP_LANES + lane].released[SCOPE_BLOCK];
}

/* Two volatile accesses. Code writes flags that threads wait for this way, after a fence, and polls words
 * that hold both flag and value across blocks. */
static bool is_flag(const Touch *touch, const WarpAccess *earlier, uint32_t lanes) {
    const HappensBefore *order = &touch->block->order;
    bool same_block = earlier->block == order->number;
    bool same_warp = same_block && warp_access_warp(earlier) == touch->access->warp;
    if (!same_warp && touch->access->space == PTX_SPACE_GLOBAL) return true;
    if (touch->rule->writes) return has_released(order, touch->access->warp, touch->lane);
    return same_block && has_released(order, warp_access_warp(earlier), __builtin_ctz(lanes));
}

/* The block has read the cell, before its last write or after it. */
static bool has_read(const Touch *touch, const ShadowCell *cell, bool before_write) {
    for (int i = 0; i < CELL_READS; i++)
        if (cell->reads[i].mask && cell->reads[i].block == touch->block->order.number &&
            !(cell->reads[i].origin & BEFORE_WRITE) == !before_write)
            return true;
    return false;
}

/* The first of the cells of this chunk that lie in the line of the touched one; their number. */
static int cells_of_line(const Touch *touch, int *count) {
    enum { LINE_BYTES = 128 };
    int of_line = LINE_BYTES / touch->cell_bytes,
        at = (int)(touch->offset / (uint64_t)touch->cell_bytes % CHUNK_CELLS);
    *count = of_line < CHUNK_CELLS ? of_line : CHUNK_CELLS;
    return at / *count * *count;
}

/* The block has loaded the line (128 bytes) by way of L1 before it saw what announced the write, and no fence
 * has emptied L1 since. On an H100 a lock without an acquire, whose critical section reads a word of such a
 * line, lost 131 of 132 increments; with a fence behind the atomic none. Looks at the cells of this chunk. */
static bool has_cached_line(const Touch *touch, const ShadowCell *cells) {
    const HappensBefore *order = &touch->block->order;
    int count, first = cells_of_line(touch, &count);
    for (int i = first; i < first + count; i++)
        for (int r = 0; r < CELL_READS; r++) {
            const WarpAccess *read = &cells[i].reads[r];
            if (read->mask && read->block == order->number && read->stamp > order->fenced &&
                read->stamp <= order->observed &&
                touch->block->detector->rules[warp_access_pc(read)].is_cached)
                return true;
        }
    return false;
}

/* A third block had loaded the line by way of L1 before the cell was written. It may have run on the
 * multiprocessor of this one, where only a fence after the announcement, or an acquire, drops the line. On an
 * H200 (132 multiprocessors) a block read the old value in 100 of 100 runs with 160 blocks or more, and in
 * none with 132 or fewer (tests/device/caches.cu). What the block of the writer loaded lies in the L1 that
 * its store went through. */
static bool have_others_cached_line(const Touch *touch, const ShadowCell *cells, const ShadowCell *cell) {
    uint32_t own = touch->block->order.number, launch = touch->block->detector->first_block;
    int count, first = cells_of_line(touch, &count);
    for (int i = first; i < first + count; i++)
        for (int c = 0; c < CELL_CACHED; c++) {
            const CachedLoad *load = &cells[i].cached[c];
            if (load->block && load->block >= launch && load->block != own &&
                load->block != cell->write.block && load->tick < cell->written)
                return true;
        }
    return false;
}

/* L1 may hold an old value, unless the store went through the same L1. */
static FindingKind kind_without_acquire(const Touch *touch, const ShadowCell *cell, const WarpAccess *earlier,
                                        bool *is_of_others) {
    const ShadowCell *cells = cell - touch->offset / (uint64_t)touch->cell_bytes % CHUNK_CELLS;
    bool is_own = false;
    *is_of_others = false;
    if (touch->rule->is_cached && earlier->block != touch->block->order.number) {
        is_own = has_read(touch, cell, true) || has_cached_line(touch, cells);
        *is_of_others = !is_own && have_others_cached_line(touch, cells, cell);
    }
    return is_own || *is_of_others ? FINDING_STALE_READ : FINDING_MISSING_ACQUIRE;
}

/* The lanes whose access precedes a write that this thread, or one that it has synchronized with, has
 * observed. PTX allows two volatile accesses to one word, and a relaxed load of what was stored relaxed, but
 * the code relies on an order that only a fence gives. */
static uint32_t unfenced(const Touch *touch, const ShadowCell *cell, const WarpAccess *earlier,
                         uint32_t lanes) {
    const RaceDetector *detector = touch->block->detector;
    const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
    const HappensBefore *order = &touch->block->order;
    bool is_volatile = then->strength == ACCESS_VOLATILE || now->strength == ACCESS_VOLATILE;
    bool is_atomic = then->is_atomic && (!detector->orders_atomics || now->acquires);
    bool is_loaded = then->writes && !is_atomic && !now->writes;
    int warp = touch->access->warp;
    if ((!is_volatile && !is_loaded) || touch->access->space != PTX_SPACE_GLOBAL) return 0;
    uint32_t found = happens_before_signed(order, warp, touch->lane, earlier, lanes, SIGN_FOLLOWED) &
                     ~happens_before_signed(order, warp, touch->lane, earlier, lanes, SIGN_RELEASED);
    if (!found || has_read(touch, cell, false)) return 0; /* a repeated read never returns an older value */
    return race_detector_is_polled(detector->launched->program, touch->access->pc) ? 0 : found;
}

/* An mbarrier ends after a lane of the warp has counted the warp out. A vote or a match that gathers the
 * lanes to count orders no memory, but an operation on an mbarrier is one of the lane's own that is over when
 * the lane votes (libcu++'s pipeline ends so). */
static bool is_counted_out(const Touch *touch, const PcRule *then, const WarpAccess *earlier) {
    const HappensBefore *order = &touch->block->order;
    return touch->rule->is_end && then->is_mbarrier &&
           happens_before_unknown_by_clocks(order, touch->access->warp, touch->lane, earlier, UINT32_MAX) !=
               UINT32_MAX;
}

static bool is_allowed(const Touch *touch, const WarpAccess *earlier, uint32_t lanes) {
    const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
    if (is_counted_out(touch, then, earlier)) return true;
    if ((then->is_guess && now->is_atomic) || (now->is_guess && then->is_atomic)) return true;
    if (then->strength == ACCESS_WEAK || now->strength == ACCESS_WEAK) return false;
    if (then->is_mbarrier && now->is_mbarrier) return true;
    if (then->strength == ACCESS_VOLATILE && now->strength == ACCESS_VOLATILE)
        return is_flag(touch, earlier, lanes);
    if (then->strength == ACCESS_VOLATILE || now->strength == ACCESS_VOLATILE) return true;
    bool wide = then->scope == SCOPE_DEVICE && now->scope == SCOPE_DEVICE;
    return wide || earlier->block == touch->block->order.number;
}

/* `lane`, which is active in this execution, also accesses the cell. */
static bool covers(const Touch *touch, int lane) {
    uint64_t first = trace_access_offset(touch->access, lane);
    return touch->offset >= first && touch->offset < first + touch->rule->width;
}

/* The lanes of `lanes` that also access the cell in this execution. */
static uint32_t covering(const Touch *touch, uint32_t lanes) {
    const TraceAccess *access = touch->access;
    uint32_t covering = lanes & access->mask;
    if (access->is_line && !access->stride) return covering;
    for (uint32_t rest = covering; rest; rest &= rest - 1)
        if (!covers(touch, __builtin_ctz(rest))) covering &= ~(rest & -rest);
    return covering;
}

/* This store and `lanes` conflict. Lanes that store to the cell in the same execution are a store conflict,
 * not a race, if their values differ from the first lane's. Returns the other lanes. */
static uint32_t without_same_instruction(const Touch *touch, const WarpAccess *earlier, uint32_t lanes) {
    const HappensBefore *order = &touch->block->order;
    bool same = earlier->block == order->number && earlier->stamp == order->now &&
                earlier->origin == warp_access_origin(touch->access->pc, touch->access->warp);
    uint32_t same_instruction = same ? covering(touch, lanes) : 0;
    uint8_t own[16], other[16];
    if (!same_instruction) return lanes;
    stored_cell(touch, touch->lane, own);
    stored_cell(touch, __builtin_ctz(same_instruction), other);
    if (memcmp(own, other, (size_t)touch->cell_bytes) != 0)
        race_detector_report(touch, FINDING_STORE_CONFLICT, earlier, same_instruction & -same_instruction,
                             false);
    return lanes & ~same_instruction;
}

/* The result for one lane of this access holds for all its lanes, and for all similar accesses: by the same
 * instruction, and from the same warp, the same block, or other blocks. */
static bool is_same_for_all_lanes(const Touch *touch, bool then_writes) {
    return !(then_writes && touch->rule->writes) && !happens_before_has_signs(&touch->block->order);
}

static KnownRace as_known(const Touch *touch, const WarpAccess *earlier) {
    bool same_block = earlier->block == touch->block->order.number;
    return (KnownRace){touch->block->detector->serial, warp_access_pc(earlier),
                       same_block && warp_access_warp(earlier) == touch->access->warp, same_block};
}

static inline bool is_known(const Touch *touch, const WarpAccess *earlier) {
    KnownRace race = as_known(touch, earlier);
    const KnownRace *known = &touch->block->detector->known[race.pc % KNOWN_RACES];
    return known->serial == race.serial && known->pc == race.pc && known->is_same_warp == race.is_same_warp &&
           known->is_same_block == race.is_same_block;
}

static void keep_known(const Touch *touch, const WarpAccess *earlier) {
    KnownRace race = as_known(touch, earlier);
    touch->block->detector->known[race.pc % KNOWN_RACES] = race;
}

/* Skips what is already reported, if neither pair nor count can change. */
static void keep_reported(const Touch *touch, FindingKind kind, const WarpAccess *earlier) {
    RaceDetector *detector = touch->block->detector;
    const RacePair *pair = race_pair_find(detector, kind, touch->access->pc, warp_access_pc(earlier));
    if (!pair || pair->count > 1) keep_known(touch, earlier);
}

/* What is stored was computed from what each of these lanes loaded, so that the store cannot come first. */
static bool comes_from(const Touch *touch, const WarpAccess *read, uint32_t lanes) {
    RaceDetector *detector = touch->block->detector;
    int pc = touch->access->pc, then = warp_access_pc(read);
    if (race_pair_find(detector, FINDING_WARP_RACE, pc, then)) return false; /* as for other lanes */
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (!race_detector_value_comes_from(detector->launched->program, pc, touch->lane, then,
                                            __builtin_ctz(rest)))
            return false;
    return true;
}

/* `lanes` of `earlier` and this access are not ordered, and at least one of them is a write. */
static __attribute__((noinline)) void report_race(const Touch *touch, const ShadowCell *cell,
                                                  const WarpAccess *earlier, uint32_t lanes,
                                                  bool then_writes) {
    const PcRule *now = touch->rule;
    bool is_plain = is_same_for_all_lanes(touch, then_writes);
    if (is_plain && is_known(touch, earlier)) return;
    const PcRule *then = race_rule_of(touch, earlier);
    if (is_allowed(touch, earlier, lanes)) {
        lanes = unfenced(touch, cell, earlier, lanes);
        if (!lanes && is_plain) keep_known(touch, earlier);
        if (lanes) race_detector_report(touch, FINDING_ORDER, earlier, lanes, false);
        return;
    }
    if (touch->is_shared) block_pattern_drop(&touch->block->pattern);
    if (then_writes && now->writes && !then->is_atomic && !now->is_atomic) {
        lanes = without_same_instruction(touch, earlier, lanes);
        if (!lanes || stores_what_is_there(touch)) return;
    }
    bool same_block = earlier->block == touch->block->order.number;
    FindingKind kind = same_block && warp_access_warp(earlier) == touch->access->warp ? FINDING_WARP_RACE
                       : touch->access->space == PTX_SPACE_SHARED                     ? FINDING_SHARED_RACE
                                                                                      : FINDING_GLOBAL_RACE;
    uint32_t released = 0;
    for (int s = 0; happens_before_has_signs(&touch->block->order) && s < SIGN_COUNT; s++)
        if (s == SIGN_RELEASED || s == SIGN_NARROW)
            released |= happens_before_signed(&touch->block->order, touch->access->warp, touch->lane, earlier,
                                              lanes, (OrderSign)s);
    if (!(lanes & ~released)) {
        bool is_of_others;
        FindingKind without = kind_without_acquire(touch, cell, earlier, &is_of_others);
        race_detector_report(touch, without, earlier, lanes, false);
        RacePair *pair = is_of_others ? race_pair_find(touch->block->detector, without, touch->access->pc,
                                                       warp_access_pc(earlier))
                                      : NULL;
        if (pair && pair->count == 1) pair->is_of_others = true;
        return;
    }
    if (kind == FINDING_WARP_RACE && touch->follows_read && comes_from(touch, earlier, lanes))
        kind = FINDING_DATA_ORDER;
    race_detector_report(touch, kind, earlier, lanes & ~released ? lanes & ~released : lanes, false);
    if (is_plain) keep_reported(touch, kind, earlier);
}

static __attribute__((noinline)) void report_race_with_read(const Touch *touch, const ShadowCell *cell,
                                                            const WarpAccess *read, uint32_t lanes) {
    Touch after = *touch;
    after.follows_read = true;
    report_race(&after, cell, read, lanes, false);
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static inline bool is_settled(const HappensBefore *order, const WarpAccess *earlier) {
    return !earlier->mask || (earlier->block == order->number && earlier->stamp <= order->barrier);
}

static inline uint32_t unknown_lanes(const Touch *touch, const WarpAccess *earlier) {
    const HappensBefore *order = &touch->block->order;
    if (touch->is_shared && earlier->block != order->number &&
        !race_detector_are_peers(touch->block->detector, order->number, earlier->block))
        return 0;
    return is_settled(order, earlier)
               ? 0
               : happens_before_unknown(order, touch->access->warp, touch->lane, earlier);
}

static inline bool joins(const Touch *touch, const WarpAccess *earlier) {
    const HappensBefore *order = &touch->block->order;
    return earlier->block == order->number && earlier->stamp == order->now &&
           earlier->origin == warp_access_origin(touch->access->pc, touch->access->warp);
}

static inline void put(const Touch *touch, WarpAccess *record) {
    const HappensBefore *order = &touch->block->order;
    uint32_t bit = UINT32_C(1) << touch->lane;
    if (joins(touch, record))
        record->mask |= bit;
    else
        *record = (WarpAccess){order->number, order->now, bit,
                               warp_access_origin(touch->access->pc, touch->access->warp)};
}

static inline bool is_of_this_warp(const Touch *touch, const WarpAccess *earlier) {
    return earlier->block == touch->block->order.number && warp_access_warp(earlier) == touch->access->warp;
}

/* Where to keep a read: in place of one ordered before it, or else of one by the same warp. */
static WarpAccess *record_for_read(const Touch *touch, ShadowCell *cell) {
    WarpAccess *own = NULL;
    for (int i = 0; i < CELL_READS; i++)
        if (joins(touch, &cell->reads[i])) return &cell->reads[i];
    for (int i = 0; i < CELL_READS; i++) {
        WarpAccess *record = &cell->reads[i];
        if (!unknown_lanes(touch, record)) return record;
        if (is_of_this_warp(touch, record)) own = record;
    }
    WarpAccess *last = own ? own : &cell->reads[CELL_READS - 1];
    if (!own || own->mask != covering(touch, own->mask)) shadow_cell_lose(cell, last);
    return last;
}

/* The cell is written, and some reads are no longer kept for comparison. */
static __attribute__((noinline)) void note_lost_reads(const Touch *touch, ShadowCell *cell) {
    RaceDetector *detector = touch->block->detector;
    const HappensBefore *order = &touch->block->order;
    LostReads *lost = &cell->lost;
    const WarpAccess *last = &lost->last;
    uint32_t counted_for = touch->is_shared ? touch->owner->order.number : 1;
    bool own = last->block == order->number, of_block = touch->is_shared && !touch->owner->has_visitors;
    bool is_over = touch->is_shared && !own && !race_detector_are_peers(detector, order->number, last->block);
    bool is_ordered = own && last->stamp <= order->barrier && (of_block || !lost->of_more_blocks);
    bool may_meet = !lost->of_more_instructions && is_allowed(touch, last, last->mask);
    if (is_over || is_ordered || may_meet || lost->counted_for == counted_for) return;
    lost->counted_for = counted_for;
    detector->unseen.places++;
    race_detector_name_unseen(
        detector, &(UnseenPlace){detector->launch, touch->access->space, race_this_access(touch)});
    if (touch->is_shared) block_pattern_drop(&touch->block->pattern);
}

static void note_reread(const Touch *touch, const WarpAccess *earlier) {
    const BlockRaces *block = touch->block;
    RaceDetector *detector = block->detector;
    if (earlier->block < detector->first_block || touch->access->space != PTX_SPACE_GLOBAL) return;
    Reread *reread = &detector->rereads[touch->access->pc];
    if (!reread->loads++) {
        reread->access = race_this_access(touch);
        reread->other = race_earlier_access(touch, earlier, earlier->mask);
    }
}

static bool is_of_this_launch(const Touch *touch, const WarpAccess *earlier) {
    return earlier->mask && earlier->block >= touch->block->detector->first_block;
}

/* A bulk copy reads what threads of its block stored. */
static void check_proxy(const Touch *touch, const WarpAccess *write) {
    const HappensBefore *order = &touch->block->order;
    if (!write->mask || write->block != order->number || race_rule_of(touch, write)->is_async_proxy) return;
    int writer = __builtin_ctz(write->mask);
    if (!happens_before_is_published(order, touch->access->warp, touch->lane, write, writer))
        race_detector_report(touch, FINDING_PROXY_ORDER, write, UINT32_C(1) << writer, false);
}

static void touch_shadow(const Touch *touch, ShadowCell *cell) {
    if (touch->access->arrives) { /* compared when it was issued, and in flight */
        WarpAccess *record = touch->rule->writes ? &cell->write : record_for_read(touch, cell);
        *record =
            (WarpAccess){touch->block->order.number, touch->block->order.now, UINT32_C(1) << touch->lane,
                         warp_access_origin(touch->access->pc, touch->access->warp)};
        return;
    }
    bool has_signs = happens_before_has_signs(&touch->block->order);
    uint32_t lanes = unknown_lanes(touch, &cell->write);
    if (touch->rule->is_read_only && is_of_this_launch(touch, &cell->write)) {
        race_detector_report(touch, FINDING_READ_ONLY_LOAD, &cell->write, cell->write.mask, false);
        lanes = 0;
    }
    if (touch->rule->is_async_proxy && touch->rule->reads && !lanes) check_proxy(touch, &cell->write);
    if (lanes) report_race(touch, cell, &cell->write, lanes, true);
    if (!touch->rule->writes) {
        if (cell->reads[0].mask && cell->reads[0].block != touch->block->order.number)
            note_reread(touch, &cell->reads[0]);
        put(touch, record_for_read(touch, cell));
        return;
    }
    if (cell->lost.last.block) note_lost_reads(touch, cell);
    for (int i = 0; i < CELL_READS; i++) {
        lanes = unknown_lanes(touch, &cell->reads[i]);
        if (lanes && (has_signs || !is_known(touch, &cell->reads[i])))
            report_race_with_read(touch, cell, &cell->reads[i], lanes);
        cell->reads[i].origin |= BEFORE_WRITE;
    }
    put(touch, &cell->write);
}

/* The lanes store the same value as this one, or their conflict has been counted. */
static bool store_alike(const Touch *touch, uint32_t lanes) {
    RaceDetector *detector = touch->block->detector;
    const RacePair *conflict =
        race_pair_find(detector, FINDING_STORE_CONFLICT, touch->access->pc, touch->access->pc);
    uint8_t own[32], other[32];
    if (touch->rule->is_atomic || (conflict && conflict->last_serial == detector->serial)) return true;
    touch->access->stored(touch->access, touch->lane, own);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        touch->access->stored(touch->access, __builtin_ctz(rest), other);
        if (memcmp(own, other, touch->rule->width) != 0) return false;
    }
    return true;
}

bool race_touch_alike(const Touch *touch, ShadowCell *cells, uint32_t which, uint32_t lanes) {
    const RaceDetector *detector = touch->block->detector;
    const HappensBefore *order = &touch->block->order;
    bool writes = touch->rule->writes;
    if (happens_before_has_clocks(order) || happens_before_has_signs(order)) return false;
    if (detector->example_serial == detector->serial || !(writes || touch->is_shared)) return false;
    if (writes && !store_alike(touch, lanes)) return false;
    for (uint32_t rest = which; rest; rest &= rest - 1) {
        ShadowCell *cell = &cells[__builtin_ctz(rest)];
        (writes ? &cell->write : record_for_read(touch, cell))->mask |= lanes;
    }
    return true;
}

void race_touch_cells(Touch *touch, ShadowMemory *memory, uint64_t cell, uint64_t count) {
    const HappensBefore *order = &touch->block->order;
    for (uint64_t end = cell + count; cell < end;) {
        uint64_t next = (cell / CHUNK_CELLS + 1) * CHUNK_CELLS;
        ShadowChunk *chunk = shadow_memory_chunk(memory, cell / CHUNK_CELLS);
        race_touch_forget(touch, memory, chunk);
        ChunkMore *more = chunk ? shadow_memory_cells(memory, chunk) : NULL;
        if (!more) race_detector_lack_memory(touch->block);
        if (more) more->last = order->now;
        for (; cell < end && cell < next; cell++, touch->offset += (uint64_t)touch->cell_bytes) {
            if (!more) continue;
            ShadowCell *at = &more->cells[cell % CHUNK_CELLS];
            touch_shadow(touch, at);
            if (touch->rule->writes) at->written = ++more->tick;
            if (touch->rule->is_cached)
                shadow_cell_keep_cached(more, at, order->number, touch->block->detector->first_block);
        }
    }
}
