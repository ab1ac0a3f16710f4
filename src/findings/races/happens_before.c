#include "findings/races/happens_before.h"

#include "base/memory.h"
#include "ptx/matrix.h"
#include <stdlib.h>

ThreadClocks *happens_before_threads(HappensBefore *order) {
    if (order->threads) return order->threads;
    if (order->room_count < order->thread_count) {
        free(order->room);
        order->room = memory_new((size_t)order->thread_count * sizeof *order->room);
        order->room_count = order->thread_count;
    }
    return order->threads = order->room;
}

static void drop_released(Released *released) {
    if (!released || --released->references) return;
    vector_clock_drop(released->block);
    vector_clock_drop(released->known);
    vector_clock_drop(released->clock);
    free(released);
}

/* Leaves their room for the next block. */
static void drop_threads(HappensBefore *order) {
    for (int t = 0; order->threads && t < order->thread_count; t++) {
        ThreadClocks *thread = &order->threads[t];
        vector_clock_clear(&thread->known);
        for (int s = 0; s < SCOPE_COUNT; s++) vector_clock_clear(&thread->acquired[s]);
        for (int s = 0; s < SCOPE_COUNT; s++) drop_released(thread->released[s]);
        for (int s = 0; s < SCOPE_COUNT; s++) thread->released[s] = NULL;
        for (int s = 0; s < SIGN_COUNT; s++) vector_clock_clear(&thread->signs[s]);
    }
    order->threads = NULL;
}

void happens_before_begin(HappensBefore *order, uint32_t number, uint32_t first, int thread_count) {
    order->number = number;
    order->first = first;
    order->begun = order->barrier = order->now++;
    order->fenced = order->observed = order->published = order->begun;
    order->thread_count = (thread_count + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    memset(order->interval, 0, sizeof order->interval);
    memset(order->multiplied, 0, sizeof order->multiplied);
    for (int w = 0; w < BLOCK_WARPS; w++) {
        int left = thread_count - w * WARP_LANES;
        order->warp[w] = order->barrier;
        order->started[w] = left >= WARP_LANES ? ~UINT32_C(0) : left > 0 ? (UINT32_C(1) << left) - 1 : 0;
    }
}

static void drop_signs(VectorClock *signs[SIGN_COUNT]) {
    for (int s = 0; s < SIGN_COUNT; s++) vector_clock_clear(&signs[s]);
}

static void join_signs(VectorClock *to[SIGN_COUNT], VectorClock *const from[SIGN_COUNT]) {
    for (int s = 0; s < SIGN_COUNT; s++)
        if (from[s]) vector_clock_join(&to[s], from[s]);
}

static void forget_gathered(HappensBefore *order, int barrier) {
    if (!(order->gathering >> barrier & 1)) return;
    order->gathering &= ~(UINT32_C(1) << barrier);
    vector_clock_replace(&order->gathered[barrier], NULL);
    drop_signs(order->gathered_signs[barrier]);
}

void happens_before_end_row(HappensBefore *order) {
    for (int s = 0; s < SCOPE_COUNT; s++) clock_join_done(&order->joins[s]);
    order->row.block = 0;
}

static void drop_proxy_fences(HappensBefore *order) {
    for (int t = 0; order->proxy && t < order->thread_count; t++) vector_clock_clear(&order->proxy[t].known);
    free(order->proxy);
    order->proxy = NULL;
}

void happens_before_end(HappensBefore *order) {
    happens_before_end_row(order);
    drop_threads(order);
    drop_proxy_fences(order);
    vector_clock_replace(&order->known, NULL);
    drop_signs(order->signs);
    for (int b = 0; order->gathering && b < BLOCK_BARRIERS; b++) forget_gathered(order, b);
}

void happens_before_done(HappensBefore *order) {
    free(order->room);
}

/* ---- the question ----------------------------------------------------------------------------------- */

static bool knows(const HappensBefore *order, int thread, uint32_t block, int other, uint32_t stamp) {
    if (vector_clock_find(order->known, block, (uint32_t)other) >= stamp) return true;
    return order->threads && vector_clock_find(order->threads[thread].known, block, (uint32_t)other) >= stamp;
}

uint32_t happens_before_unknown_by_clocks(const HappensBefore *order, int warp, int lane,
                                          const WarpAccess *earlier, uint32_t lanes) {
    uint32_t unknown = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int other = warp_access_warp(earlier) * WARP_LANES + __builtin_ctz(rest);
        if (!knows(order, warp * WARP_LANES + lane, earlier->block, other, earlier->stamp))
            unknown |= rest & -rest;
    }
    return unknown;
}

uint32_t happens_before_signed(const HappensBefore *order, int warp, int lane, const WarpAccess *earlier,
                               uint32_t lanes, OrderSign sign) {
    uint32_t found = 0;
    const VectorClock *own = order->threads ? order->threads[warp * WARP_LANES + lane].signs[sign] : NULL;
    for (uint32_t rest = own || order->signs[sign] ? lanes : 0; rest; rest &= rest - 1) {
        uint32_t other = (uint32_t)(warp_access_warp(earlier) * WARP_LANES + __builtin_ctz(rest));
        if (vector_clock_find(own, earlier->block, other) >= earlier->stamp ||
            vector_clock_find(order->signs[sign], earlier->block, other) >= earlier->stamp)
            found |= rest & -rest;
    }
    return found;
}

bool happens_before_thread_knows(const HappensBefore *order, int thread, uint32_t block) {
    return vector_clock_has(order->known, block) ||
           (order->threads && vector_clock_has(order->threads[thread].known, block));
}

bool happens_before_block_knows(const HappensBefore *order, const WarpAccess *access) {
    int lane = __builtin_ctz(access->mask), other = warp_access_warp(access) * WARP_LANES + lane;
    const VectorClock *last = NULL;
    if (vector_clock_find(order->known, access->block, (uint32_t)other) >= access->stamp) return true;
    for (int t = 0; order->threads && t < order->thread_count; t++) {
        const VectorClock *known = order->threads[t].known;
        if (known != last && vector_clock_find(known, access->block, (uint32_t)other) >= access->stamp)
            return true;
        last = known;
    }
    return false;
}

bool happens_before_block_saw(const HappensBefore *order, const WarpAccess *access, OrderSign sign) {
    uint32_t other = (uint32_t)(warp_access_warp(access) * WARP_LANES + __builtin_ctz(access->mask));
    if (vector_clock_find(order->signs[sign], access->block, other) >= access->stamp) return true;
    for (int t = 0; order->threads && t < order->thread_count; t++)
        if (vector_clock_find(order->threads[t].signs[sign], access->block, other) >= access->stamp)
            return true;
    return false;
}

/* ---- what a thread knows, as a vector clock --------------------------------------------------------- */

/* Adds to *to that `lanes` of `warp` are at the stamp `now`, the rest of the warp at `warp_stamp`. */
static void add_stamps(uint32_t block, int warp, uint32_t lanes, uint32_t now, uint32_t warp_stamp,
                       uint32_t barrier, VectorClock **to) {
    VectorClockEntry entries[WARP_LANES + 1];
    int count = 0;
    uint32_t known = warp_stamp > barrier ? ~UINT32_C(0) : now > barrier ? lanes : 0;
    for (uint32_t rest = known; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        entries[count++] = (VectorClockEntry){block, (uint32_t)(warp * WARP_LANES + lane),
                                              lanes >> lane & 1 ? now : warp_stamp};
    }
    entries[count++] = (VectorClockEntry){block, VECTOR_CLOCK_WHOLE_BLOCK, barrier};
    vector_clock_add(to, entries, count);
}

/* Adds to *to what `lanes` of `warp` know and have done so far. */
static void add_knowledge(const HappensBefore *order, int warp, uint32_t lanes, VectorClock **to) {
    add_stamps(order->number, warp, lanes, order->now, order->warp[warp], order->barrier, to);
    vector_clock_join(to, order->known);
    const VectorClock *last = NULL; /* lanes that synchronized share a clock */
    for (uint32_t rest = order->threads ? lanes : 0; rest; rest &= rest - 1) {
        VectorClock *known = order->threads[warp * WARP_LANES + __builtin_ctz(rest)].known;
        if (known != last) vector_clock_join(to, known);
        last = known;
    }
}

/* What the lane has released, as a clock; borrowed until another lane's is asked for. */
static VectorClock *released_clock(const HappensBefore *order, int thread, SyncScope scope) {
    Released *released = order->threads ? order->threads[thread].released[scope] : NULL;
    int warp = thread / WARP_LANES, lane = thread % WARP_LANES;
    if (!released) return NULL;
    if (!released->clock || released->lane != lane) {
        vector_clock_replace(&released->clock, NULL);
        add_stamps(order->number, warp, UINT32_C(1) << lane, released->now, released->warp, released->barrier,
                   &released->clock);
        vector_clock_join(&released->clock, released->block);
        vector_clock_join(&released->clock, released->known);
        released->lane = lane;
    }
    return released->clock;
}

void happens_before_add_released(const HappensBefore *order, int thread, SyncScope scope, VectorClock **to) {
    vector_clock_join(to, released_clock(order, thread, scope));
}

/* ---- barriers --------------------------------------------------------------------------------------- */

void happens_before_end_product(HappensBefore *order, int warp, uint32_t stamp) {
    if (order->multiplied[warp] < stamp) order->multiplied[warp] = stamp;
}

void happens_before_learn_products(HappensBefore *order, int warp) {
    ThreadClocks *threads = &happens_before_threads(order)[warp * WARP_LANES];
    int first = warp - warp % WARPGROUP_WARPS;
    for (int w = first; w < first + WARPGROUP_WARPS; w++) {
        VectorClockEntry entry = {order->number, (uint32_t)(w * WARP_LANES), order->multiplied[w]};
        if (w == warp || vector_clock_find(threads->known, entry.block, entry.thread) >= entry.stamp)
            continue;
        for (int l = 0; l < WARP_LANES; l++) vector_clock_add(&threads[l].known, &entry, 1);
    }
}

void happens_before_arrive(HappensBefore *order, const TraceSync *sync) {
    order->gathering |= UINT32_C(1) << sync->number;
    add_knowledge(order, sync->warp, sync->mask, &order->gathered[sync->number]);
    for (uint32_t rest = order->threads ? sync->mask : 0; rest; rest &= rest - 1)
        join_signs(order->gathered_signs[sync->number],
                   order->threads[sync->warp * WARP_LANES + __builtin_ctz(rest)].signs);
    order->now++;
}

static void join_block(HappensBefore *order) {
    order->barrier = order->now++;
    for (int w = 0; w < BLOCK_WARPS; w++) order->warp[w] = order->barrier;
    for (int t = 0; order->proxy && t < order->thread_count; t++)
        if (order->proxy[t].barrier > order->published) order->published = order->proxy[t].barrier;
    if (!order->threads) return;
    VectorClock *last = NULL; /* threads that synchronized share a clock */
    for (int t = 0; t < order->thread_count; t++) {
        ThreadClocks *thread = &order->threads[t];
        if (thread->known && thread->known != last) {
            vector_clock_join(&order->known, thread->known);
            vector_clock_replace(&last, vector_clock_keep(thread->known));
        }
        vector_clock_clear(&thread->known);
        join_signs(order->signs, thread->signs);
        drop_signs(thread->signs);
    }
    vector_clock_drop(last);
    vector_clock_forget(&order->known, order->number, order->barrier);
}

typedef struct LaneJoins { /* the last join of each of their clocks */
    ClockJoin known, signs[SIGN_COUNT];
} LaneJoins;

static void release_lanes(HappensBefore *order, int warp, uint32_t lanes, int barrier, LaneJoins *joins) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        ThreadClocks *thread = &happens_before_threads(order)[warp * WARP_LANES + __builtin_ctz(rest)];
        clock_join_again(&joins->known, &thread->known, order->gathered[barrier]);
        for (int s = 0; s < SIGN_COUNT; s++)
            clock_join_again(&joins->signs[s], &thread->signs[s], order->gathered_signs[barrier][s]);
    }
}

void happens_before_release(HappensBefore *order, const TraceSync *sync) {
    LaneJoins joins = {0};
    for (int w = 0; w < sync->released_count; w++) {
        uint32_t lanes = sync->released[w].mask;
        if (sync->is_blockwide)
            order->interval[w] += lanes != 0;
        else
            release_lanes(order, w, lanes, sync->number, &joins);
    }
    clock_join_done(&joins.known);
    for (int s = 0; s < SIGN_COUNT; s++) clock_join_done(&joins.signs[s]);
    if (sync->is_blockwide) join_block(order);
    forget_gathered(order, sync->number);
}

void happens_before_warp_sync(HappensBefore *order, int warp, uint32_t lanes) {
    bool whole = lanes == order->started[warp];
    if (!whole || order->threads) {
        VectorClock *known = NULL, *signs[SIGN_COUNT] = {0};
        add_knowledge(order, warp, lanes, &known);
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            join_signs(signs, happens_before_threads(order)[warp * WARP_LANES + __builtin_ctz(rest)].signs);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            ThreadClocks *thread = &order->threads[warp * WARP_LANES + __builtin_ctz(rest)];
            vector_clock_replace(&thread->known, vector_clock_keep(known));
            for (int s = 0; s < SIGN_COUNT; s++)
                vector_clock_replace(&thread->signs[s], vector_clock_keep(signs[s]));
        }
        vector_clock_drop(known);
        drop_signs(signs);
    }
    if (whole) order->warp[warp] = order->now;
    order->now++;
}

void happens_before_go_back(HappensBefore *order) {
    order->now = order->barrier + 1;
    for (int w = 0; w < BLOCK_WARPS; w++) order->warp[w] = order->barrier;
}

/* ---- proxy fences ----------------------------------------------------------------------------------- */

void happens_before_proxy_fence(HappensBefore *order, int warp, uint32_t lanes) {
    if (!order->proxy) order->proxy = memory_new((size_t)order->thread_count * sizeof *order->proxy);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = warp * WARP_LANES + __builtin_ctz(rest);
        ProxyFence *fence = &order->proxy[thread];
        fence->stamp = order->now;
        fence->barrier = order->barrier;
        fence->warp = order->warp[warp];
        vector_clock_replace(&fence->known,
                             order->threads ? vector_clock_keep(order->threads[thread].known) : NULL);
    }
    order->now++;
}

/* The store of `writer`, a thread of the block, came before the fence, which a thread of `warp` executed. */
static bool is_before_fence(const HappensBefore *order, int warp, const ProxyFence *fence,
                            const WarpAccess *store, int writer) {
    if (store->stamp <= fence->barrier) return true;
    if (warp_access_warp(store) == warp && store->stamp <= fence->warp) return true;
    return vector_clock_find(fence->known, order->number, (uint32_t)writer) >= store->stamp;
}

bool happens_before_is_published(const HappensBefore *order, int warp, int lane, const WarpAccess *store,
                                 int writer) {
    if (store->stamp <= order->published) return true;
    if (!order->proxy) return false;
    int thread = warp_access_warp(store) * WARP_LANES + writer;
    return order->proxy[thread].stamp >= store->stamp ||
           is_before_fence(order, warp, &order->proxy[warp * WARP_LANES + lane], store, thread);
}

/* ---- fences, releases and acquires ------------------------------------------------------------------ */

static Released *release(const HappensBefore *order, int warp, VectorClock *known) {
    Released *released = memory_new(sizeof *released);
    *released = (Released){.now = order->now,
                           .warp = order->warp[warp],
                           .barrier = order->barrier,
                           .block = vector_clock_keep(order->known),
                           .known = vector_clock_keep(known)};
    return released;
}

void happens_before_fence(HappensBefore *order, int warp, uint32_t lanes, SyncScope scope) {
    Released *last = NULL; /* shared by lanes that know the same */
    ClockJoin joins[SCOPE_COUNT] = {{0}};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        ThreadClocks *thread = &happens_before_threads(order)[warp * WARP_LANES + lane];
        for (int s = 0; s <= (int)scope; s++) {
            if (thread->acquired[s]) clock_join_again(&joins[s], &thread->known, thread->acquired[s]);
            vector_clock_clear(&thread->acquired[s]);
        }
        if (!last || last->known != thread->known) last = release(order, warp, thread->known);
        for (int s = 0; s <= (int)scope; s++) {
            drop_released(thread->released[s]);
            thread->released[s] = last;
            last->references++;
        }
    }
    for (int s = 0; s < SCOPE_COUNT; s++) clock_join_done(&joins[s]);
    if (scope >= SCOPE_DEVICE) order->fenced = order->now;
    order->now++;
}

/* ---- words ------------------------------------------------------------------------------------------ */

static void forget_kept(SyncWord *word) {
    for (int i = 0; i < word->kept_count; i++) vector_clock_drop(word->kept[i].released);
    word->kept_count = 0;
}

/* An atomic by another block: keeps the block-scope releases of the previous block, and restores earlier ones
 * of this block ("observation order"). */
static void change_block(SyncWord *word, uint32_t block) {
    VectorClock **now = &word->released[SCOPE_BLOCK];
    if (*now) {
        if (!word->kept) word->kept = memory_new(KEPT_RELEASES * sizeof *word->kept);
        if (word->kept_count == KEPT_RELEASES) {
            vector_clock_drop(word->kept[0].released);
            memmove(word->kept, word->kept + 1, (size_t)--word->kept_count * sizeof *word->kept);
        }
        word->kept[word->kept_count++] = (BlockRelease){word->block, vector_clock_keep(*now)};
    }
    vector_clock_replace(now, NULL);
    for (int i = 0; i < word->kept_count; i++) {
        if (word->kept[i].block != block) continue;
        *now = word->kept[i].released;
        word->kept[i] = word->kept[--word->kept_count];
        break;
    }
}

static VectorClock *released_to_block(const SyncWord *word, uint32_t block) {
    if (word->block == block) return word->released[SCOPE_BLOCK];
    for (int i = 0; i < word->kept_count; i++)
        if (word->kept[i].block == block) return word->kept[i].released;
    return NULL;
}

void happens_before_observe(HappensBefore *order, int warp, int lane, const SyncWord *word, bool acquires) {
    VectorClock *of_block = released_to_block(word, order->number);
    if (!of_block && !word->released[SCOPE_DEVICE] && !word->followed) return;
    ThreadClocks *thread = &happens_before_threads(order)[warp * WARP_LANES + lane];
    VectorClock *wide = word->released[SCOPE_DEVICE];
    vector_clock_join(acquires ? &thread->known : &thread->acquired[SCOPE_DEVICE], wide);
    vector_clock_join(acquires ? &thread->known : &thread->acquired[SCOPE_BLOCK], of_block);
    if (acquires) order->fenced = order->now;
    if (!acquires) {
        if (wide) order->observed = order->now++;
        vector_clock_join(&thread->signs[SIGN_RELEASED], wide);
        vector_clock_join(&thread->signs[SIGN_RELEASED], of_block);
    }
    vector_clock_join(&thread->signs[SIGN_FOLLOWED], word->followed);
}

void happens_before_publish(HappensBefore *order, int warp, int lane, SyncWord *word, SyncScope scope,
                            bool releases, bool adds) {
    if (adds && word->block != order->number) change_block(word, order->number);
    for (int s = 0; !adds && s < SCOPE_COUNT; s++) vector_clock_replace(&word->released[s], NULL);
    if (!adds) forget_kept(word);
    word->block = order->number;
    VectorClock *all = NULL;
    if (releases) add_knowledge(order, warp, UINT32_C(1) << lane, &all);
    for (int s = 0; s <= (int)scope; s++) {
        vector_clock_join(&word->released[s], all);
        clock_join_again(&order->joins[s], &word->released[s],
                         released_clock(order, warp * WARP_LANES + lane, (SyncScope)s));
    }
    vector_clock_drop(all);
    if (releases) order->now++;
}

void happens_before_follow(const HappensBefore *order, int warp, int lane, SyncWord *word, bool adds) {
    enum { MOST = 1024 }; /* entries; each observer of the word copies them */
    if (!adds) vector_clock_replace(&word->followed, NULL);
    if (word->followed && word->followed->count >= MOST) return;
    add_knowledge(order, warp, UINT32_C(1) << lane, &word->followed);
}

/* ---- mbarriers -------------------------------------------------------------------------------------- */

void happens_before_arrive_at(HappensBefore *order, int warp, int lane, SyncWord *word,
                              const HappensBefore *home, SyncScope scope, bool releases) {
    int thread = warp * WARP_LANES + lane;
    bool is_own = order == home;
    word->block = home->number;
    if (is_own) happens_before_add_released(order, thread, SCOPE_BLOCK, &word->released[SCOPE_BLOCK]);
    if (scope == SCOPE_DEVICE)
        happens_before_add_released(order, thread, SCOPE_DEVICE, &word->released[SCOPE_DEVICE]);
    if (is_own && !releases) return;
    VectorClock *all = NULL;
    add_knowledge(order, warp, UINT32_C(1) << lane, &all);
    if (releases && is_own) vector_clock_join(&word->released[SCOPE_BLOCK], all);
    if (releases && scope == SCOPE_DEVICE) vector_clock_join(&word->released[SCOPE_DEVICE], all);
    if (releases && !is_own && scope == SCOPE_BLOCK) vector_clock_join(&word->narrow, all);
    if (!is_own) vector_clock_join(&word->followed, all);
    vector_clock_drop(all);
    order->now++;
}

void happens_before_phase(HappensBefore *order, int warp, int lane, SyncWord *word,
                          const HappensBefore *home) {
    VectorClock *all = NULL;
    word->block = home->number;
    add_knowledge(order, warp, UINT32_C(1) << lane, &all);
    vector_clock_join(&word->released[SCOPE_BLOCK], all);
    vector_clock_drop(all);
    order->now++;
}

void happens_before_await(HappensBefore *order, int warp, int lane, const SyncWord *word, SyncScope scope,
                          bool acquires) {
    ThreadClocks *thread = &happens_before_threads(order)[warp * WARP_LANES + lane];
    VectorClock **near = acquires ? &thread->known : &thread->acquired[SCOPE_BLOCK],
                **far = acquires ? &thread->known : &thread->acquired[SCOPE_DEVICE];
    vector_clock_join(near, word->released[SCOPE_BLOCK]);
    vector_clock_join(scope == SCOPE_DEVICE ? far : &thread->signs[SIGN_NARROW],
                      word->released[SCOPE_DEVICE]);
    vector_clock_join(&thread->signs[SIGN_NARROW], word->narrow);
    vector_clock_join(&thread->signs[SIGN_FOLLOWED], word->followed);
}

void sync_word_done(SyncWord *word) {
    forget_kept(word);
    free(word->kept);
    word->kept = NULL;
    vector_clock_replace(&word->followed, NULL);
    vector_clock_replace(&word->narrow, NULL);
    for (int s = 0; s < SCOPE_COUNT; s++) vector_clock_replace(&word->released[s], NULL);
}
