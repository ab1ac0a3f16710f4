/* The race detector: compares every access with earlier ones to the same cells (findings.h). */
#include "findings/races/race_detector.h"

#include "ptx/opcodes.h"

#include <stdlib.h>

#define SHADOW_BYTES (UINT64_C(1) << 30) /* limit of shadow memory */

/* ---- the observer ----------------------------------------------------------------------------------- */

static void at_mbarrier(BlockRaces *block, const BlockRaces *home, int warp, int lane, SyncWord *word,
                        const PcRule *rule) {
    if (rule->writes)
        happens_before_arrive_at(&block->order, warp, lane, word, &home->order, rule->scope, rule->releases);
    else
        happens_before_await(&block->order, warp, lane, word, rule->scope, rule->acquires);
}

/* The lanes whose stores remain; of plain stores to one word, the last. */
static uint32_t lasting_lanes(const TraceAccess *access, const PcRule *rule) {
    bool replaces = rule->writes && !rule->is_atomic && !rule->releases;
    bool is_one_word = access->is_line && !access->stride;
    return replaces && is_one_word ? UINT32_C(1) << (31 - __builtin_clz(access->mask)) : access->mask;
}

/* An access that is not of the same lanes and instruction as the last one, as the parts of a bulk copy
 * are. */
static void begin_row(HappensBefore *order, const TraceAccess *access) {
    WarpAccess now = {order->number, 0, access->mask, warp_access_origin(access->pc, access->warp)};
    if (order->row.origin == now.origin && order->row.mask == now.mask && order->row.block == now.block)
        return;
    happens_before_end_row(order);
    order->row = now;
}

static void synchronize(BlockRaces *block, const TraceAccess *access, const PcRule *rule) {
    bool shared = access->space == PTX_SPACE_SHARED;
    const BlockRaces *owner = access->owner ? access->owner : block;
    SyncTable *table = shared ? (SyncTable *)&owner->syncs : &block->detector->syncs;
    SyncWord *word = NULL;
    uint64_t place = 0; /* of the word */
    uint32_t lanes = lasting_lanes(access, rule);
    begin_row(&block->order, access);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool publishes = rule->writes && (rule->releases || block->order.threads || owner != block);
        uint64_t offset = trace_access_offset(access, lane);
        if (rest == lanes || offset != place || (publishes && !word))
            word = sync_table_find(table, access->buffer, offset, publishes);
        place = offset;
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

/* A volatile or relaxed store. */
static bool stores_strong(const PcRule *rule) {
    return rule->writes && rule->strength != ACCESS_WEAK && !rule->is_atomic && !rule->is_mbarrier;
}

/* The lanes are about to write words that others may wait for: the block's strong stores came before. */
static void follow(BlockRaces *block, const TraceAccess *access, const PcRule *rule) {
    for (uint32_t rest = lasting_lanes(access, rule); rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        SyncWord *word =
            sync_table_find(&block->detector->syncs, access->buffer, trace_access_offset(access, lane), true);
        happens_before_follow(&block->order, access->warp, lane, word, rule->is_atomic);
    }
    block->order.now++;
}

/* For a copy, the rule of this side. */
static const PcRule *rule_of_access(const RaceDetector *detector, const TraceAccess *access) {
    const PcRule *written = &detector->written[access->pc];
    bool shared = access->space == PTX_SPACE_SHARED;
    bool writes = written->width && access->stored && written->is_in_shared == shared;
    return writes ? written : &detector->rules[access->pc];
}

static void touch_lanes(Touch *touch, ShadowMemory *memory, uint32_t lanes, int shift) {
    const TraceAccess *access = touch->access;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        touch->lane = __builtin_ctz(rest);
        touch->offset = trace_access_offset(access, touch->lane);
        if (touch->owner != touch->block) race_detector_visit(touch);
        race_touch_cells(touch, memory, touch->offset >> shift, touch->rule->width >> shift);
    }
}

static void see_access(BlockRaces *block, const TraceAccess *access) {
    RaceDetector *detector = block->detector;
    bool shared = access->space == PTX_SPACE_SHARED;
    const PcRule *rule = rule_of_access(detector, access);
    if (!rule->width || (!shared && access->buffer >= detector->buffer_count)) return;
    int shift = shared ? detector->shared_shift : detector->global_shift;
    BlockRaces *owner = access->owner ? access->owner : block;
    ShadowMemory *memory = shared ? &owner->shared : &detector->buffers[access->buffer];
    cluster_order_access(&block->cluster, access->warp, access->mask);
    detector->serial++;
    if (block->stores_strong && !shared && rule->writes && rule->strength != ACCESS_WEAK)
        follow(block, access, rule);
    bool leaves = detector->orders_atomics && rule->is_atomic && !rule->is_mbarrier;
    block->stores_strong |= !shared && (leaves || stores_strong(rule));
    Touch touch = {.block = block,
                   .owner = owner,
                   .access = access,
                   .rule = rule,
                   .cell_bytes = 1 << shift,
                   .is_shared = shared};
    uint32_t early =
        owner->flying.count && !access->arrives ? async_copies_check(block, owner, access, rule) : 0;
    bool by_cells = detector->only_cells || (rule->is_read_only && detector->is_stored[access->buffer]);
    if (early || owner != block || by_cells || !race_touch_warp(&touch, memory, shift))
        touch_lanes(&touch, memory, access->mask & ~early, shift);
    if (!shared && rule->writes) {
        detector->is_stored[access->buffer] = true;
        detector->last_store_pc = access->pc;
        detector->last_store_launch = detector->launch;
    }
    if ((detector->has_fences || detector->has_strong_stores) && rule->strength != ACCESS_WEAK)
        synchronize(block, access, rule);
}

/* ---- blocks that do the same in shared memory ------------------------------------------------------- */

/* The block departs from the last one: searches what it did since its last barrier. */
static void depart(BlockRaces *block) {
    BlockPattern *pattern = &block->pattern;
    uint64_t room[WARP_LANES];
    if (pattern->state != PATTERN_FOLLOWS) return;
    block_pattern_depart(pattern);
    happens_before_go_back(&block->order);
    for (int i = pattern->interval; i < pattern->count; i++) {
        const PatternStep *step = &pattern->steps[i];
        if (step->origin >= PATTERN_BARRIER) {
            happens_before_warp_sync(&block->order, (int)(step->origin - PATTERN_BARRIER), step->mask);
            continue;
        }
        TraceAccess access = block_pattern_access(pattern, step, room);
        see_access(block, &access);
    }
}

/* The block does something that a pattern cannot hold. */
static void leave_pattern(BlockRaces *block) {
    depart(block);
    block->pattern.state = PATTERN_ENDS;
}

/* True: the last block did the same, and nothing was found. */
static inline bool is_as_before(BlockRaces *block, PatternStep step, const TraceAccess *access) {
    BlockPattern *pattern = &block->pattern;
    if (block_pattern_follow(pattern, &step, access)) return true;
    depart(block);
    if (pattern->state == PATTERN_DEPARTS) block_pattern_add(pattern, step, access);
    return false;
}

static void follow_barrier(BlockRaces *block) {
    BlockPattern *pattern = &block->pattern;
    if (pattern->state == PATTERN_ENDS) return;
    is_as_before(block, (PatternStep){.origin = PATTERN_BARRIER}, NULL);
    pattern->interval = pattern->at;
}

static void follow_warp_sync(BlockRaces *block, const TraceSync *sync) {
    PatternStep step = {.origin = PATTERN_BARRIER + (uint32_t)sync->warp, .mask = sync->mask};
    if (block->pattern.state == PATTERN_ENDS) return;
    if (sync->mask == block->order.started[sync->warp])
        is_as_before(block, step, NULL);
    else
        leave_pattern(block);
}

static void detector_access(void *context, const TraceAccess *access) {
    BlockRaces *block = context;
    if (access->space == PTX_SPACE_SHARED && block->pattern.state != PATTERN_ENDS &&
        is_as_before(block, block_pattern_step(access), access))
        return;
    see_access(block, access);
}

/* ---- synchronization -------------------------------------------------------------------------------- */

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

/* Part of a warp passes a barrier of the block, and the rest has exited. */
static void note_partial_barrier(BlockRaces *block, const TraceSync *sync) {
    for (int w = 0; w < sync->released_count; w++)
        if (sync->released[w].exited && sync->released[w].mask)
            race_detector_note_exited(block, FINDING_PARTIAL_BARRIER, w, &sync->released[w]);
}

/* As __syncthreads() and __syncthreads_count() are: without a number of threads. */
static bool is_plain_barrier(const PtxInstruction *in) {
    return in->operand_count == (ptx_instruction_has(in, PTX_MOD_RED) ? 3 : 1);
}

static bool is_same_line(const PtxSourceLine *a, const PtxSourceLine *b) {
    return a->line == b->line && (a->file == b->file || !strcmp(a->file, b->file));
}

/* Whole warps that meet at barriers of different source lines. PTX counts arrivals only, and a compiler may
 * have copied the barrier of one line, so that instructions are not compared. */
static void note_split_barrier(BlockRaces *block, const TraceSync *sync) {
    const PtxCode *code = block->detector->launched->program->code, *first = NULL;
    int warp = 0;
    for (int w = 0; w < sync->released_count; w++) {
        const PtxCode *at = &code[sync->released[w].pc];
        if (!sync->released[w].mask || !at->line.file || at->line.line <= 0 ||
            !is_plain_barrier(at->instruction))
            continue;
        if (first && !is_same_line(&first->line, &at->line)) {
            race_detector_note_split_barrier(block, sync->released, warp, w);
            return;
        }
        if (!first) first = at, warp = w;
    }
}

/* Between stores and bulk copies. */
static bool is_proxy_fence(const BlockRaces *block, int pc) {
    const PtxInstruction *in = block->detector->launched->program->code[pc].instruction;
    return ptx_instruction_has(in, PTX_MOD_PROXY);
}

static void detector_sync(void *context, const TraceSync *sync) {
    BlockRaces *block = context;
    switch (sync->kind) {
    case TRACE_SYNC_ARRIVE:
        leave_pattern(block);
        happens_before_arrive(&block->order, sync);
        break;
    case TRACE_SYNC_RELEASE:
        if (sync->is_blockwide) {
            note_partial_barrier(block, sync);
            note_split_barrier(block, sync);
            follow_barrier(block);
        } else {
            leave_pattern(block);
        }
        happens_before_release(&block->order, sync);
        break;
    case TRACE_SYNC_PASSED_BY:
        race_detector_note_exited(block, FINDING_PASSED_BY, sync->warp,
                                  &(TraceRelease){sync->pc, sync->mask, sync->exited});
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
        follow_warp_sync(block, sync);
        happens_before_warp_sync(&block->order, sync->warp, sync->mask);
        break;
    case TRACE_SYNC_PRODUCTS:
        happens_before_learn_products(&block->order, sync->warp);
        break;
    case TRACE_SYNC_FENCE:
        if (is_proxy_fence(block, sync->pc))
            happens_before_proxy_fence(&block->order, sync->warp, sync->mask);
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
    block->stores_strong = false;
    block->shared.bytes_left = &detector->bytes_left;
    block->has_visitors = false;
    block_pattern_begin(&block->pattern, detector->has_patterns);
    cluster_order_begin(&block->cluster);
    happens_before_begin(&block->order, detector->first_block + (uint32_t)linear, detector->first_block,
                         (int)(threads[0] * threads[1] * threads[2]));
    return block;
}

static void detector_end(void *context, bool is_stopped) {
    BlockRaces *block = context;
    if (block->has_visitors && !is_stopped) race_detector_check_visitors(block);
    if (!is_stopped) async_copies_leave_sources(block);
    happens_before_end(&block->order);
    cluster_order_end(&block->cluster);
    async_copies_forget(block);
    sync_table_done(&block->syncs);
    block->next_idle = block->detector->idle;
    block->detector->idle = block;
}

/* ---- launches --------------------------------------------------------------------------------------- */

void race_detector_finish(RaceDetector *detector) {
    for (int pc = 0; pc < detector->code_count; pc++) {
        if (detector->rereads[pc].loads <= detector->reread.loads) continue;
        detector->reread = detector->rereads[pc];
        detector->reread_launch = detector->launch;
    }
    if (detector->code_count)
        memset(detector->rereads, 0, (size_t)detector->code_count * sizeof *detector->rereads);
}

/* A cell of a space has the size of the smallest access to that space. */
static void note_width(const PcRule *rule, bool in_shared, bool in_global, int least[2]) {
    if (!rule->width) return;
    if (in_shared && rule->width < least[0]) least[0] = rule->width;
    if (in_global && rule->width < least[1]) least[1] = rule->width;
}

static bool is_clustered(const TraceLaunch *launch) {
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1;
}

/* A relaxed load of global memory that no loop repeats until it finds something: it is after a value. */
static bool is_relaxed_read(const PtxProgram *program, const PcRule *rule, int pc) {
    TraceKind kind = trace_kind_of(program->code[pc].instruction);
    return kind == TRACE_GLOBAL_LOAD && rule->strength == ACCESS_STRONG && !rule->acquires &&
           !race_detector_is_polled(program, pc);
}

static void read_program(RaceDetector *detector, const PtxProgram *program) {
    int least[2] = {8, 8}; /* bytes of the smallest access: shared, global */
    bool has_copies = false, has_bulk_reads = false;
    detector->has_fences = detector->has_strong_stores = false;
    detector->has_clusters = is_clustered(detector->launched);
    bool has_atomics = false;
    detector->orders_atomics = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        const PcRule *rule = &detector->rules[pc];
        detector->has_fences |= in->opcode == PTX_fence || in->opcode == PTX_membar || rule->acquires ||
                                rule->releases || rule->is_mbarrier;
        detector->has_strong_stores |=
            stores_strong(rule) && (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC);
        has_atomics |= trace_kind_of(in) == TRACE_GLOBAL_ATOMIC;
        detector->orders_atomics |= is_relaxed_read(program, rule, pc);
        has_bulk_reads |= rule->is_async_proxy && rule->reads;
        bool generic = trace_is_generic(in), shared = trace_kind_is_shared(trace_kind_of(in));
        note_width(rule, shared || generic, !shared, least);
        shared = trace_kind_is_shared(trace_written_kind_of(in));
        note_width(&detector->written[pc], shared, !shared, least);
        has_copies |= detector->written[pc].width != 0;
    }
    detector->orders_atomics &= has_atomics;
    detector->has_strong_stores |= detector->orders_atomics;
    detector->forgets =
        !detector->has_fences && !detector->has_strong_stores && !detector->has_clusters && !has_bulk_reads;
    detector->has_patterns = detector->forgets && !has_copies;
    detector->shared_shift = (uint8_t)__builtin_ctz((unsigned)least[0]);
    detector->global_shift = (uint8_t)__builtin_ctz((unsigned)least[1]);
}

/* Another producer's trace may have other offsets. */
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
    race_detector_forget_memory(detector);
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
    race_detector_make_buffers(detector);
    read_program(detector, program);
}

RaceDetector *race_detector_new(void) {
    RaceDetector *detector = memory_new(sizeof *detector);
    detector->most_bytes = SHADOW_BYTES;
    detector->first_block = 1;
    detector->is_complete = true;
    detector->last_store_pc = -1;
    return detector;
}

void race_detector_free(RaceDetector *detector) {
    if (!detector) return;
    race_detector_forget_memory(detector);
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
                           .end = detector_end,
                           .split = race_detector_split,
                           .join = race_detector_join};
}
