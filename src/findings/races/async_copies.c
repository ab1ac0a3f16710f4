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
} FlyingCopy;

enum { WORD = 4 };

static void mark(BlockRaces *block, const TraceCopy *copy, bool flies) {
    if (copy->to != PTX_SPACE_SHARED) return;
    uint64_t first = copy->to_offset / WORD, last = (copy->to_offset + copy->bytes - 1) / WORD;
    size_t words = last / 64 + 1, had = block->flying_capacity_words;
    if (words > had) {
        array_reserve(block->flying_words, words, block->flying_capacity_words);
        memset(block->flying_words + had, 0,
               (block->flying_capacity_words - had) * sizeof *block->flying_words);
    }
    for (uint64_t i = first; i <= last; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        block->flying_words[i / 64] =
            flies ? block->flying_words[i / 64] | bit : block->flying_words[i / 64] & ~bit;
    }
}

static FlyingCopy *find(BlockRaces *block, uint32_t home, uint64_t number) {
    for (int i = 0; block && i < block->flying_count; i++)
        if (block->flying[i].copy.number == number && block->flying[i].home == home) return &block->flying[i];
    return NULL;
}

static void keep(BlockRaces *block, const FlyingCopy *flying) {
    array_push(block->flying, block->flying_count, block->flying_capacity, *flying);
}

static void drop(BlockRaces *block, FlyingCopy *flying) {
    if (flying) *flying = block->flying[--block->flying_count];
}

static void begin(BlockRaces *home, const TraceCopy *copy) {
    BlockRaces *issuer = copy->issuer ? copy->issuer : home;
    FlyingCopy flying = {.copy = *copy,
                         .home = home->order.number,
                         .issued = {issuer->order.number, issuer->order.now, UINT32_C(1) << copy->lane,
                                    warp_access_origin(copy->pc, copy->warp)}};
    flying.only_destination = issuer != home;
    keep(home, &flying);
    mark(home, copy, true);
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
        mark(home, copy, false);
        drop(home, flying);
        if (issuer != home) drop(issuer, find(issuer, home->order.number, copy->number));
        break;
    case TRACE_COPY_IS_LEFT:
        race_detector_report_lanes(home, copy->block,
                                   copy->is_committed ? FINDING_COPY_NOT_AWAITED : FINDING_COPY_NOT_COMMITTED,
                                   copy->pc, copy->warp, UINT32_C(1) << copy->lane);
        break;
    }
}

void async_copies_leave_sources(BlockRaces *block) {
    for (int i = 0; i < block->flying_count; i++) {
        const TraceCopy *copy = &block->flying[i].copy;
        if (!block->flying[i].only_source || copy->from != PTX_SPACE_SHARED) continue;
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

static bool may_hit(const BlockRaces *block, const TraceAccess *access, uint64_t offset, int width) {
    if (access->space != PTX_SPACE_SHARED) return true;
    for (uint64_t i = offset / WORD; i <= (offset + (uint64_t)width - 1) / WORD; i++)
        if (i / 64 < block->flying_capacity_words && block->flying_words[i / 64] >> i % 64 & 1) return true;
    return false;
}

/* The copy that the lane disturbs; `*is_source`: as in RacePair. */
static const FlyingCopy *find_hit(const BlockRaces *block, const TraceAccess *access, const PcRule *rule,
                                  uint64_t offset, bool *is_source) {
    for (int i = 0; i < block->flying_count; i++) {
        const FlyingCopy *flying = &block->flying[i];
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

uint32_t async_copies_check(BlockRaces *block, BlockRaces *owner, const TraceAccess *access,
                            const PcRule *rule) {
    uint32_t early = 0;
    Touch touch = {.block = block,
                   .owner = owner,
                   .access = access,
                   .rule = rule,
                   .cell_bytes = WORD,
                   .is_shared = access->space == PTX_SPACE_SHARED};
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        touch.lane = __builtin_ctz(rest);
        touch.offset = trace_access_offset(access, touch.lane);
        if (!rule->writes && !may_hit(owner, access, touch.offset, rule->width)) continue;
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

void async_copies_forget(BlockRaces *block) {
    block->flying_count = 0;
    if (block->flying_words)
        memset(block->flying_words, 0, block->flying_capacity_words * sizeof *block->flying_words);
}

void async_copies_done(BlockRaces *block) {
    free(block->flying);
    free(block->flying_words);
}
