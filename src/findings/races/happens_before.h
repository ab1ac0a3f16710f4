/* Happens before: which accesses of other threads precede the present one. Private to src/findings;
 * findings.h names the rules.
 *
 * Every access of a block has a *stamp*, a number that grows whenever the block's accesses are ordered. A
 * thread *knows* an access that happened before its present one. Usually a barrier orders accesses: the whole
 * block then knows everything stamped so far. A bar.warp.sync of a whole warp does the same for the warp. All
 * other orders (partial masks, named barriers, fences with atomics) are kept as vector clocks of single
 * threads. */
#ifndef FINDINGS_RACES_HAPPENS_BEFORE_H
#define FINDINGS_RACES_HAPPENS_BEFORE_H

#include "findings/races/vector_clock.h"

#include "trace/observer.h"

enum { BLOCK_WARPS = 32, BLOCK_BARRIERS = 17 };

typedef struct WarpAccess { /* lanes of a warp that executed one instruction, at one stamp */
    uint32_t block;         /* its number in the detector, from 1 */
    uint32_t stamp;
    uint32_t mask;   /* 0: no access */
    uint32_t origin; /* warp_access_origin() */
} WarpAccess;

#define BEFORE_WRITE UINT32_C(0x80000000) /* set in the origin of a read: the place has been written since */

static inline uint32_t warp_access_origin(int pc, int warp) {
    return (uint32_t)pc << 5 | (uint32_t)warp;
}
static inline int warp_access_pc(const WarpAccess *access) {
    return (int)((access->origin & ~BEFORE_WRITE) >> 5);
}
static inline int warp_access_warp(const WarpAccess *access) {
    return (int)(access->origin & 31);
}

typedef enum SyncScope { SCOPE_BLOCK, SCOPE_DEVICE, SCOPE_COUNT } SyncScope;

/* Evidence of an access that is not ordered before what the thread does now. */
typedef enum OrderSign {
    /* its thread fenced, then wrote a word that was observed; the observer has not fenced since */
    SIGN_RELEASED,
    SIGN_FOLLOWED, /* its thread wrote that word later, without a fence between: nothing orders the two */
    /* its thread released it to an mbarrier, but the scope of the arrival or the wait is the block */
    SIGN_NARROW,
    SIGN_COUNT
} OrderSign;

/* What lanes of a warp released at a fence. A clock is made of it when one of them publishes. */
typedef struct Released {
    int references;
    uint32_t now, warp, barrier; /* stamps: of the fence; what the whole warp, and the block, knew then */
    VectorClock *block, *known;  /* what their block, and each of them, knew beyond that */
    int lane;                    /* of `clock` */
    VectorClock *clock;          /* NULL: none has been made */
} Released;

typedef struct ThreadClocks {
    VectorClock *known; /* known beyond what its block and its warp know */
    /* [scope] What a strong store of this thread publishes: everything before its last fence of that
     * scope. */
    Released *released[SCOPE_COUNT];
    /* [scope] Observed by strong loads; known after the next fence of that scope or a wider one. BLOCK: what
     * threads of its own block have released. */
    VectorClock *acquired[SCOPE_COUNT];
    /* Observed by the thread, or by one that it has synchronized with since. */
    VectorClock *signs[SIGN_COUNT];
} ThreadClocks;

typedef struct ProxyFence {  /* the last fence.proxy.async of a thread; and what was known to: */
    uint32_t stamp, barrier; /* when it was; the whole block then */
    uint32_t warp;           /* its warp then */
    VectorClock *known;      /* the thread then, beyond that: from a named barrier, an mbarrier */
} ProxyFence;

typedef struct HappensBefore {     /* for one block */
    uint32_t number;               /* of the block, from 1 */
    uint32_t first;                /* number of the first block of this launch: earlier launches have ended */
    uint32_t now;                  /* the present stamp; continues from block to block */
    uint32_t begun;                /* stamps up to this one belong to earlier blocks, whose state is reused */
    uint32_t barrier;              /* the whole block knows everything stamped up to this */
    uint32_t warp[BLOCK_WARPS];    /* the whole warp knows what its own lanes stamped up to this */
    uint32_t started[BLOCK_WARPS]; /* lanes that the warp started with */
    uint32_t interval[BLOCK_WARPS];   /* block-wide barriers passed */
    uint32_t multiplied[BLOCK_WARPS]; /* the last read by wgmma that has ended; 0: none */
    VectorClock *known;               /* what all threads know of other blocks */
    VectorClock *signs[SIGN_COUNT];   /* observed by a thread before the last barrier of the block */
    ThreadClocks *threads;            /* [warp * 32 + lane]; NULL: no thread has a clock */
    int thread_count;
    ThreadClocks *room; /* of `threads`, zeroed while they are NULL; kept for later blocks */
    int room_count;
    uint32_t fenced; /* the last fence of device scope by one of its threads: what L1 held before is gone */
    uint32_t
        observed; /* the last release by another block that one of its threads has seen, without an acquire */
    ProxyFence *proxy;  /* [thread]; NULL: there was none */
    uint32_t published; /* stamps up to this one are visible to bulk copies */
    /* The last access that synchronized, and the last joins of the words that it wrote. */
    WarpAccess row;
    ClockJoin joins[SCOPE_COUNT];
    uint32_t gathering;                    /* named barriers at which threads have arrived */
    VectorClock *gathered[BLOCK_BARRIERS]; /* what the threads that have arrived at a named barrier know */
    VectorClock *gathered_signs[BLOCK_BARRIERS][SIGN_COUNT];
} HappensBefore;

/* Starts a block; reuses the memory of an earlier block. */
void happens_before_begin(HappensBefore *order, uint32_t number, uint32_t first, int thread_count);
void happens_before_end(HappensBefore *order);  /* frees the clocks */
void happens_before_done(HappensBefore *order); /* no more blocks */

static inline bool happens_before_has_clocks(const HappensBefore *order) {
    return order->known || order->threads;
}

uint32_t happens_before_unknown_by_clocks(const HappensBefore *order, int warp, int lane,
                                          const WarpAccess *earlier, uint32_t lanes);

/* The lanes of `earlier` whose access did not happen before what `lane` does now. */
static inline uint32_t happens_before_unknown(const HappensBefore *order, int warp, int lane,
                                              const WarpAccess *earlier) {
    uint32_t lanes = earlier->mask;
    if (earlier->block == order->number) {
        if (earlier->stamp <= order->barrier) return 0;
        if (warp_access_warp(earlier) == warp) {
            if (earlier->stamp <= order->warp[warp]) return 0;
            lanes &= ~(UINT32_C(1) << lane);
        }
    } else if (earlier->block < order->first) {
        return 0;
    }
    return lanes && happens_before_has_clocks(order)
               ? happens_before_unknown_by_clocks(order, warp, lane, earlier, lanes)
               : lanes;
}

/* fence.proxy.async: later bulk copies see generic stores that come before it ("Async proxy",
 * "membar/fence"). */
void happens_before_proxy_fence(HappensBefore *order, int warp, uint32_t lanes);
/* A bulk copy that `lane` issues now sees the store of `writer`, a lane of the block, as far as proxy fences
 * go. */
bool happens_before_is_published(const HappensBefore *order, int warp, int lane, const WarpAccess *store,
                                 int writer);

/* The lanes of `lanes` of `earlier` for whose access `lane` has seen this sign. */
uint32_t happens_before_signed(const HappensBefore *order, int warp, int lane, const WarpAccess *earlier,
                               uint32_t lanes, OrderSign sign);

/* True if any thread has seen any sign. */
static inline bool happens_before_has_signs(const HappensBefore *order) {
    bool any = order->threads;
    for (int s = 0; s < SIGN_COUNT; s++) any |= order->signs[s] != NULL;
    return any;
}

/* True if the thread knows anything that threads of another block did; if it knows the access; if it has seen
 * this sign of the access. */
bool happens_before_thread_knows(const HappensBefore *order, int thread, uint32_t block);
bool happens_before_block_knows(const HappensBefore *order, const WarpAccess *access);
bool happens_before_block_saw(const HappensBefore *order, const WarpAccess *access, OrderSign sign);

ThreadClocks *happens_before_threads(HappensBefore *order); /* [warp * 32 + lane] */
/* Adds what the thread has released to *to. */
void happens_before_add_released(const HappensBefore *order, int thread, SyncScope scope, VectorClock **to);
/* What wgmma has read for the warp, as its lane 0, up to `stamp` has ended. */
void happens_before_end_product(HappensBefore *order, int warp, uint32_t stamp);
/* The warp knows all such reads of its warpgroup. */
void happens_before_learn_products(HappensBefore *order, int warp);
void happens_before_arrive(HappensBefore *order, const TraceSync *sync);
void happens_before_release(HappensBefore *order, const TraceSync *sync);
void happens_before_warp_sync(HappensBefore *order, int warp, uint32_t lanes);
/* Goes back to the last barrier of the block; only whole warps may have synchronized since. */
void happens_before_go_back(HappensBefore *order);
void happens_before_fence(HappensBefore *order, int warp, uint32_t lanes, SyncScope scope);

enum { KEPT_RELEASES = 8 };
typedef struct BlockRelease { /* a release at block scope by threads of a block */
    uint32_t block;
    VectorClock *released;
} BlockRelease;

typedef struct SyncWord { /* a word of memory through which threads synchronize */
    VectorClock *released[SCOPE_COUNT];
    uint32_t block; /* the block of released[SCOPE_BLOCK] */
    /* The latest releases of earlier blocks that atomics of other blocks have added to. */
    BlockRelease *kept;
    int kept_count;
    VectorClock *followed; /* what its writers did before they wrote it, with or without a fence */
    /* An mbarrier: what threads of other blocks released to it at the scope of their block. */
    VectorClock *narrow;
} SyncWord;

/* A strong load observes what was released to `word`; `acquires`: it knows it without a fence. */
void happens_before_observe(HappensBefore *order, int warp, int lane, const SyncWord *word, bool acquires);
/* A strong store or atomic publishes what its thread has released; `releases`: it needs no fence before it;
 * `adds`: it is atomic, so what was published to the word before remains. */
void happens_before_publish(HappensBefore *order, int warp, int lane, SyncWord *word, SyncScope scope,
                            bool releases, bool adds);
/* Words that are written later are not like those before. */
void happens_before_end_row(HappensBefore *order);
/* `lane` is about to write the word, after all that it has done so far; `adds`: as above. */
void happens_before_follow(const HappensBefore *order, int warp, int lane, SyncWord *word, bool adds);
/* `lane` arrives at an mbarrier of the block `home`; only threads of that block wait for it. */
void happens_before_arrive_at(HappensBefore *order, int warp, int lane, SyncWord *word,
                              const HappensBefore *home, SyncScope scope, bool releases);
/* Copies complete the phase of the mbarrier; `lane` is the first to know. */
void happens_before_phase(HappensBefore *order, int warp, int lane, SyncWord *word,
                          const HappensBefore *home);
/* `lane` has waited for the phase of the mbarrier. */
void happens_before_await(HappensBefore *order, int warp, int lane, const SyncWord *word, SyncScope scope,
                          bool acquires);
void sync_word_done(SyncWord *word);

#endif
