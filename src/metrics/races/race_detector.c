/* The race detector: compares every access with the earlier ones to the same cells (findings.h). */
#include "metrics/races/race_detector.h"

#include <stdlib.h>

#define SHADOW_BYTES (UINT64_C(1) << 30) /* most that shadow memory may take */

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

/* Two volatile accesses: flags that threads wait for are written so, after a fence; and words that hold
 * both flag and value are polled across blocks. */
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

/* Those of `lanes` whose access came before something that this thread, or one that it has synchronized with, has
 * observed: PTX allows two volatile accesses to one word, but the code relies on an order that only a fence makes. */
static uint32_t unfenced(const Touch *touch, const ShadowCell *cell, const WarpAccess *earlier,
                         uint32_t lanes) {
    const RaceDetector *detector = touch->block->detector;
    const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
    const HappensBefore *order = &touch->block->order;
    bool is_volatile = then->strength == ACCESS_VOLATILE || now->strength == ACCESS_VOLATILE;
    int warp = touch->access->warp;
    if (!is_volatile || touch->access->space != PTX_SPACE_GLOBAL) return 0;
    uint32_t found = happens_before_signed(order, warp, touch->lane, earlier, lanes, SIGN_FOLLOWED) &
                     ~happens_before_signed(order, warp, touch->lane, earlier, lanes, SIGN_RELEASED);
    if (!found || has_read(touch, cell, false)) return 0; /* what was read once is not older the next time */
    return race_detector_is_polled(detector->launched->program, touch->access->pc) ? 0 : found;
}

static bool is_allowed(const Touch *touch, const WarpAccess *earlier, uint32_t lanes) {
    const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
    if (then->strength == ACCESS_WEAK || now->strength == ACCESS_WEAK) return false;
    if (then->is_mbarrier && now->is_mbarrier) return true;
    if (then->strength == ACCESS_VOLATILE && now->strength == ACCESS_VOLATILE)
        return is_flag(touch, earlier, lanes);
    if (then->strength == ACCESS_VOLATILE || now->strength == ACCESS_VOLATILE) return true;
    bool wide = then->scope == SCOPE_DEVICE && now->scope == SCOPE_DEVICE;
    return wide || earlier->block == touch->block->order.number;
}

/* `lane`, which is active in this execution, accesses the cell, too. */
static bool covers(const Touch *touch, int lane) {
    uint64_t first = trace_access_offset(touch->access, lane);
    return touch->offset >= first && touch->offset < first + touch->rule->width;
}

/* Those of `lanes` that access the cell in this execution, too. */
static uint32_t covering(const Touch *touch, uint32_t lanes) {
    const TraceAccess *access = touch->access;
    uint32_t covering = lanes & access->mask;
    if (access->is_line && !access->stride) return covering;
    for (uint32_t rest = covering; rest; rest &= rest - 1)
        if (!covers(touch, __builtin_ctz(rest))) covering &= ~(rest & -rest);
    return covering;
}

/* This store and those of `lanes` conflict. Lanes that store to the cell in this very execution are a
 * store conflict, if their values differ from the first one's, and no race. Returns the other lanes. */
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

/* `lanes` of `earlier` and this access are not ordered, and at least one of the two writes. */
static __attribute__((noinline)) void report_race(const Touch *touch, const ShadowCell *cell,
                                                  const WarpAccess *earlier, uint32_t lanes,
                                                  bool then_writes) {
    const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
    if (is_allowed(touch, earlier, lanes)) {
        lanes = unfenced(touch, cell, earlier, lanes);
        if (lanes) race_detector_report(touch, FINDING_ORDER, earlier, lanes, false);
        return;
    }
    if (then_writes && now->writes && !then->is_atomic && !now->is_atomic) {
        lanes = without_same_instruction(touch, earlier, lanes);
        if (!lanes || stores_what_is_there(touch)) return;
    }
    bool same_block = earlier->block == touch->block->order.number;
    FindingKind kind = same_block && warp_access_warp(earlier) == touch->access->warp ? FINDING_WARP_RACE
                       : touch->access->space == PTX_SPACE_SHARED                     ? FINDING_SHARED_RACE
                                                                                      : FINDING_GLOBAL_RACE;
    uint32_t released = 0;
    for (int s = 0; s < SIGN_COUNT; s++)
        if (s == SIGN_RELEASED || s == SIGN_NARROW)
            released |= happens_before_signed(&touch->block->order, touch->access->warp, touch->lane, earlier,
                                              lanes, (OrderSign)s);
    bool in_global = touch->access->space == PTX_SPACE_GLOBAL;
    bool may_be_cached = in_global && !now->writes && has_read(touch, cell, true); /* in L1: an old value */
    if (lanes & ~released || may_be_cached)
        race_detector_report(touch, kind, earlier, lanes & ~released ? lanes & ~released : lanes, false);
    else
        race_detector_report(touch, FINDING_MISSING_ACQUIRE, earlier, lanes, false);
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

/* Where to keep a read: in place of one that is ordered before it; else of one by the same warp. */
static WarpAccess *record_for_read(const Touch *touch, ShadowCell *cell) {
    WarpAccess *own = NULL;
    for (int i = 0; i < CELL_READS; i++)
        if (joins(touch, &cell->reads[i])) return &cell->reads[i];
    for (int i = 0; i < CELL_READS; i++) {
        WarpAccess *record = &cell->reads[i];
        if (!unknown_lanes(touch, record)) return record;
        if (is_of_this_warp(touch, record)) own = record;
    }
    return own ? own : &cell->reads[CELL_READS - 1];
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

static void touch_shadow(const Touch *touch, ShadowCell *cell) {
    if (touch->access->arrives) { /* compared where it was issued, and on its way */
        WarpAccess *record = touch->rule->writes ? &cell->write : record_for_read(touch, cell);
        *record =
            (WarpAccess){touch->block->order.number, touch->block->order.now, UINT32_C(1) << touch->lane,
                         warp_access_origin(touch->access->pc, touch->access->warp)};
        return;
    }
    uint32_t lanes = unknown_lanes(touch, &cell->write);
    if (lanes) report_race(touch, cell, &cell->write, lanes, true);
    if (!touch->rule->writes) {
        if (cell->reads[0].mask && cell->reads[0].block != touch->block->order.number)
            note_reread(touch, &cell->reads[0]);
        put(touch, record_for_read(touch, cell));
        return;
    }
    Touch after_read = *touch;
    after_read.follows_read = true;
    for (int i = 0; i < CELL_READS; i++) {
        lanes = unknown_lanes(touch, &cell->reads[i]);
        if (lanes) report_race(&after_read, cell, &cell->reads[i], lanes, false);
        cell->reads[i].origin |= BEFORE_WRITE;
    }
    put(touch, &cell->write);
}

void race_touch_cell(const Touch *touch, ShadowMemory *memory, uint64_t cell) {
    RaceDetector *detector = touch->block->detector;
    const HappensBefore *order = &touch->block->order;
    ShadowChunk *chunk = shadow_memory_chunk(memory, cell / CHUNK_CELLS);
    if (chunk && touch->is_shared && detector->forgets) chunk_journal_forget(memory, chunk, order);
    ChunkMore *more = chunk ? shadow_memory_cells(memory, chunk) : NULL;
    if (!more) {
        detector->is_complete = false;
        return;
    }
    more->last = order->now;
    touch_shadow(touch, &more->cells[cell % CHUNK_CELLS]);
}

/* ---- the observer ----------------------------------------------------------------------------------- */

static void at_mbarrier(BlockRaces *block, const BlockRaces *home, int warp, int lane, SyncWord *word,
                        const PcRule *rule) {
    if (rule->writes)
        happens_before_arrive_at(&block->order, warp, lane, word, &home->order, rule->scope, rule->releases);
    else
        happens_before_await(&block->order, warp, lane, word, rule->scope, rule->acquires);
}

static void synchronize(BlockRaces *block, const TraceAccess *access, const PcRule *rule) {
    bool shared = access->space == PTX_SPACE_SHARED;
    const BlockRaces *owner = access->owner ? access->owner : block;
    SyncTable *table = shared ? (SyncTable *)&owner->syncs : &block->detector->syncs;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool publishes = rule->writes && (rule->releases || block->order.threads || owner != block);
        SyncWord *word = sync_table_find(table, access->buffer, trace_access_offset(access, lane), publishes);
        if (!word) continue;
        if (rule->is_mbarrier) {
            at_mbarrier(block, owner, access->warp, lane, word, rule);
            continue;
        }
        if (rule->writes)
            happens_before_publish(&block->order, access->warp, lane, word, rule->scope, rule->releases,
                                   rule->is_atomic);
        if (rule->reads) happens_before_observe(&block->order, access->warp, lane, word, rule->acquires);
    }
}

/* About to write words that others may wait for: what the block has stored as volatile came before. */
static void follow(BlockRaces *block, const TraceAccess *access, const PcRule *rule) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        SyncWord *word =
            sync_table_find(&block->detector->syncs, access->buffer, trace_access_offset(access, lane), true);
        happens_before_follow(&block->order, access->warp, lane, word, rule->is_atomic);
    }
    block->order.now++;
}

static void touch_lanes(Touch *touch, ShadowMemory *memory, uint32_t lanes, int shift) {
    const TraceAccess *access = touch->access;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        touch->lane = __builtin_ctz(rest);
        touch->offset = trace_access_offset(access, touch->lane);
        if (touch->owner != touch->block) race_detector_visit(touch);
        for (int i = 0; i < touch->rule->width >> shift; i++, touch->offset += (uint64_t)touch->cell_bytes)
            race_touch_cell(touch, memory, touch->offset >> shift);
    }
}

/* Of a copy, what it does on this side. */
static const PcRule *rule_of_access(const RaceDetector *detector, const TraceAccess *access) {
    const PcRule *written = &detector->written[access->pc];
    const PtxInstruction *in = detector->launched->program->code[access->pc].instruction;
    bool shared = access->space == PTX_SPACE_SHARED;
    bool writes =
        written->width && access->stored && trace_kind_is_shared(trace_written_kind_of(in)) == shared;
    return writes ? written : &detector->rules[access->pc];
}

static void detector_access(void *context, const TraceAccess *access) {
    BlockRaces *block = context;
    RaceDetector *detector = block->detector;
    bool shared = access->space == PTX_SPACE_SHARED;
    const PcRule *rule = rule_of_access(detector, access);
    if (!rule->width || (!shared && access->buffer >= detector->buffer_count)) return;
    int shift = shared ? detector->shared_shift : detector->global_shift;
    BlockRaces *owner = access->owner ? access->owner : block;
    ShadowMemory *memory = shared ? &owner->shared : &detector->buffers[access->buffer];
    cluster_order_access(&block->cluster, access->warp, access->mask);
    detector->serial++;
    if (block->stores_volatile && !shared && rule->writes && rule->strength != ACCESS_WEAK)
        follow(block, access, rule);
    block->stores_volatile |= !shared && rule->writes && rule->strength == ACCESS_VOLATILE;
    Touch touch = {.block = block,
                   .owner = owner,
                   .access = access,
                   .rule = rule,
                   .cell_bytes = 1 << shift,
                   .is_shared = shared};
    uint32_t early =
        owner->flying_count && !access->arrives ? async_copies_check(block, owner, access, rule) : 0;
    if (early || access->arrives || owner != block || !race_touch_warp(&touch, memory, shift))
        touch_lanes(&touch, memory, access->mask & ~early, shift);
    if (!shared && rule->writes) {
        detector->last_store_pc = access->pc;
        detector->last_store_launch = detector->launch;
    }
    if ((detector->has_fences || detector->has_volatile) && rule->strength != ACCESS_WEAK)
        synchronize(block, access, rule);
}

static void complete_phase(BlockRaces *block, int following) {
    RaceDetector *detector = block->detector;
    cluster_order_complete(&block->cluster, &block->order, &detector->phase);
    detector->completing[detector->completing_count++] = block;
    if (following) return;
    for (int i = 0; i < detector->completing_count; i++)
        cluster_order_pass(&detector->completing[i]->cluster, detector->phase);
    detector->completing_count = 0;
    vector_clock_replace(&detector->phase, NULL);
}

static void complete_mbarrier(BlockRaces *block, BlockRaces *home, const TraceSync *sync) {
    happens_before_phase(&block->order, sync->warp, __builtin_ctz(sync->mask),
                         sync_table_find(&home->syncs, -1, (uint64_t)sync->number, true), &home->order);
}

static void detector_sync(void *context, const TraceSync *sync) {
    BlockRaces *block = context;
    switch (sync->kind) {
    case TRACE_SYNC_ARRIVE:
        happens_before_arrive(&block->order, sync);
        break;
    case TRACE_SYNC_RELEASE:
        race_detector_note_barrier(block, sync);
        happens_before_release(&block->order, sync);
        break;
    case TRACE_SYNC_PASSED_BY:
        race_detector_note_passed_by(block, sync);
        break;
    case TRACE_SYNC_CLUSTER_ARRIVE:
        cluster_order_arrive(&block->cluster, &block->order, sync->warp, sync->mask,
                             block->detector->rules[sync->pc].is_relaxed_arrival);
        break;
    case TRACE_SYNC_CLUSTER_COMPLETE:
        complete_phase(block, sync->number);
        break;
    case TRACE_SYNC_CLUSTER_WAIT:
        cluster_order_wait(&block->cluster, &block->order, sync->warp, sync->mask);
        break;
    case TRACE_SYNC_WARP:
        happens_before_warp_sync(&block->order, sync->warp, sync->mask);
        break;
    case TRACE_SYNC_FENCE:
        happens_before_fence(&block->order, sync->warp, sync->mask, block->detector->rules[sync->pc].scope);
        break;
    case TRACE_SYNC_PHASE:
        complete_mbarrier(block, sync->owner ? sync->owner : block, sync);
        break;
    }
}

static void detector_copy(void *context, const TraceCopy *copy) {
    async_copies_see(context, copy);
}

static void *detector_block(void *context, uint64_t linear) {
    RaceDetector *detector = context;
    BlockRaces *block = detector->idle;
    if (block)
        detector->idle = block->next_idle;
    else
        block = memory_new(sizeof *block);
    const uint32_t *threads = detector->launched->block;
    block->detector = detector;
    block->linear = linear;
    block->stores_volatile = false;
    block->shared.bytes_left = &detector->bytes_left;
    block->has_visitors = false;
    cluster_order_begin(&block->cluster);
    happens_before_begin(&block->order, detector->first_block + (uint32_t)linear, detector->first_block,
                         (int)(threads[0] * threads[1] * threads[2]));
    return block;
}

static void detector_end(void *context) {
    BlockRaces *block = context;
    if (block->has_visitors) race_detector_check_visitors(block);
    async_copies_leave_sources(block);
    happens_before_end(&block->order);
    cluster_order_end(&block->cluster);
    async_copies_forget(block);
    sync_table_done(&block->syncs);
    block->next_idle = block->detector->idle;
    block->detector->idle = block;
}

/* ---- launches --------------------------------------------------------------------------------------- */

static void forget_memory(RaceDetector *detector) {
    for (int i = 0; i < detector->buffer_count; i++) shadow_memory_done(&detector->buffers[i]);
    free(detector->buffers);
    detector->buffers = NULL;
    while (detector->idle) {
        BlockRaces *block = detector->idle;
        detector->idle = block->next_idle;
        shadow_memory_done(&block->shared);
        free(block->cluster.stamps);
        async_copies_done(block);
        free(block);
    }
    sync_table_done(&detector->syncs);
    detector->bytes_left = SHADOW_BYTES;
}

void race_detector_finish(RaceDetector *detector) {
    for (int pc = 0; pc < detector->code_count; pc++) {
        if (detector->rereads[pc].loads <= detector->reread.loads) continue;
        detector->reread = detector->rereads[pc];
        detector->reread_launch = detector->launch;
    }
    if (detector->code_count)
        memset(detector->rereads, 0, (size_t)detector->code_count * sizeof *detector->rereads);
}

/* The cells of a space are as large as its smallest access. */
static void note_width(const PcRule *rule, bool in_shared, bool in_global, int least[2]) {
    if (!rule->width) return;
    if (in_shared && rule->width < least[0]) least[0] = rule->width;
    if (in_global && rule->width < least[1]) least[1] = rule->width;
}

static bool launch_is_unclustered(const TraceLaunch *launch) {
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2] <= 1;
}

static void read_program(RaceDetector *detector, const PtxProgram *program) {
    int least[2] = {8, 8}; /* bytes of an access: shared, global */
    detector->has_fences = detector->has_volatile = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        const PcRule *rule = &detector->rules[pc];
        detector->has_fences |= in->opcode == PTX_fence || in->opcode == PTX_membar || rule->acquires ||
                                rule->releases || rule->is_mbarrier;
        detector->has_volatile |= rule->strength == ACCESS_VOLATILE && rule->writes &&
                                  (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC);
        bool generic = trace_is_generic(in), shared = trace_kind_is_shared(trace_kind_of(in));
        note_width(rule, shared || generic, !shared, least);
        shared = trace_kind_is_shared(trace_written_kind_of(in));
        note_width(&detector->written[pc], shared, !shared, least);
    }
    detector->forgets =
        !detector->has_fences && !detector->has_volatile && launch_is_unclustered(detector->launched);
    detector->shared_shift = (uint8_t)__builtin_ctz((unsigned)least[0]);
    detector->global_shift = (uint8_t)__builtin_ctz((unsigned)least[1]);
}

/* The trace of another producer may have other offsets. */
static void keep_window(RaceDetector *detector, const TraceLaunch *launched) {
    SharedWindow window = {.count = launched->symbol_count};
    window.symbols = arena_copy(&detector->arena, launched->symbols,
                                (size_t)launched->symbol_count * sizeof *launched->symbols);
    for (int i = 0; i < window.count; i++)
        window.symbols[i].name = arena_copy_string(&detector->arena, window.symbols[i].name);
    array_push(detector->windows, detector->window_count, detector->window_capacity, window);
}

static void detector_launch(void *context, const Trace *trace, int launch) {
    RaceDetector *detector = context;
    race_detector_finish(detector);
    forget_memory(detector);
    free(detector->rules);
    free(detector->written);
    free(detector->rereads);
    detector->trace = trace;
    detector->launch = launch;
    detector->launched = trace->launches[launch];
    keep_window(detector, detector->launched);
    const PtxProgram *program = detector->launched->program;
    const uint32_t *grid = detector->launched->grid;
    detector->first_block += (uint32_t)detector->block_count;
    detector->block_count = (uint64_t)grid[0] * grid[1] * grid[2];
    detector->code_count = program->code_count;
    detector->rules = race_detector_rules(program);
    detector->written = race_detector_written_rules(program);
    detector->rereads = memory_new((size_t)program->code_count * sizeof *detector->rereads);
    detector->buffer_count = trace->buffer_count;
    detector->buffers = memory_new((size_t)trace->buffer_count * sizeof *detector->buffers);
    for (int i = 0; i < trace->buffer_count; i++) detector->buffers[i].bytes_left = &detector->bytes_left;
    read_program(detector, program);
}

RaceDetector *race_detector_new(void) {
    RaceDetector *detector = memory_new(sizeof *detector);
    detector->first_block = 1;
    detector->is_complete = true;
    detector->last_store_pc = -1;
    return detector;
}

void race_detector_free(RaceDetector *detector) {
    if (!detector) return;
    forget_memory(detector);
    free(detector->rules);
    free(detector->written);
    free(detector->rereads);
    free(detector->pairs);
    free(detector->windows);
    arena_done(&detector->arena);
    free(detector);
}

TraceObserver race_detector_observer(RaceDetector *detector) {
    return (TraceObserver){.context = detector,
                           .launch = detector_launch,
                           .block = detector_block,
                           .access = detector_access,
                           .sync = detector_sync,
                           .copy = detector_copy,
                           .undefined = race_detector_undefined,
                           .end = detector_end};
}
