/* Pairs of instructions that race: what a detector has found so far, each with the first two accesses as its example
 * (race_detector.h). */
#include "metrics/races/race_detector.h"

static uint64_t value_at(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    memcpy(&value, bytes, (size_t)count);
    return value;
}

/* Where the element that holds the cell begins. */
static uint64_t element_offset(const Touch *touch, const PcRule *rule) {
    return touch->offset / rule->element_bytes * rule->element_bytes;
}

static uint64_t value_before(const Touch *touch, const PcRule *rule) {
    return value_at(touch->access->memory + element_offset(touch, rule), rule->element_bytes);
}

static uint64_t value_after(const Touch *touch) {
    uint8_t bytes[32];
    if (touch->rule->is_atomic || !touch->rule->writes) return value_before(touch, touch->rule);
    touch->access->stored(touch->access, touch->lane, bytes);
    uint64_t at = element_offset(touch, touch->rule) - trace_access_offset(touch->access, touch->lane);
    return value_at(bytes + at, touch->rule->element_bytes);
}

/* What an earlier access of the same memory was: of a copy, its write. */
const PcRule *race_rule_of(const Touch *touch, const WarpAccess *earlier) {
    const RaceDetector *detector = touch->block->detector;
    int pc = warp_access_pc(earlier);
    const PtxInstruction *in = detector->launched->program->code[pc].instruction;
    bool writes =
        detector->written[pc].width && trace_kind_is_shared(trace_written_kind_of(in)) == touch->is_shared;
    return writes ? &detector->written[pc] : &detector->rules[pc];
}

static void set_block(const RaceDetector *detector, uint64_t linear, FindingAccess *access) {
    const uint32_t *grid = detector->launched->grid;
    access->linear_block = linear;
    access->block[0] = (uint32_t)(linear % grid[0]);
    access->block[1] = (uint32_t)(linear / grid[0] % grid[1]);
    access->block[2] = (uint32_t)(linear / grid[0] / grid[1]);
}

FindingAccess race_this_access(const Touch *touch) {
    BlockRaces *block = touch->block;
    FindingAccess side = {.pc = touch->access->pc,
                          .warp = touch->access->warp,
                          .lanes = UINT32_C(1) << touch->lane,
                          .lane = touch->lane,
                          .buffer = touch->access->buffer,
                          .offset = element_offset(touch, touch->rule),
                          .has_value = true,
                          .value = value_after(touch),
                          .is_store = touch->rule->writes,
                          .is_atomic = touch->rule->is_atomic,
                          .interval = block->order.interval[touch->access->warp],
                          .event = -1};
    set_block(block->detector, block->linear, &side);
    return side;
}

FindingAccess race_earlier_access(const Touch *touch, const WarpAccess *earlier, uint32_t lanes) {
    BlockRaces *block = touch->block;
    const PcRule *rule = race_rule_of(touch, earlier);
    FindingAccess side = {.pc = warp_access_pc(earlier),
                          .warp = warp_access_warp(earlier),
                          .lanes = lanes,
                          .lane = __builtin_ctz(lanes),
                          .buffer = touch->access->buffer,
                          .offset = element_offset(touch, rule),
                          .has_value = true,
                          .value = value_before(touch, rule),
                          .is_store = rule->writes,
                          .is_atomic = rule->is_atomic,
                          .event = -1};
    if (earlier->block == block->order.number)
        side.interval = block->order.interval[warp_access_warp(earlier)];
    set_block(block->detector, earlier->block - block->detector->first_block, &side);
    return side;
}

static RacePair *find_pair(RaceDetector *detector, FindingKind kind, int pc, int other) {
    for (int i = 0; i < detector->pair_count; i++) {
        RacePair *pair = &detector->pairs[i];
        if (pair->kind == kind && pair->launch == detector->launch && pair->access.pc == pc &&
            pair->other.pc == other)
            return pair;
    }
    return NULL;
}

static void count_pair(RacePair *pair, const BlockRaces *block) {
    if (pair->last_serial != block->detector->serial) pair->count++;
    if (!pair->blocks || pair->last_block != block->linear) pair->blocks++;
    pair->last_serial = block->detector->serial;
    pair->last_block = block->linear;
}

/* A new one, to be filled in; NULL: the limit is reached. */
static RacePair *add_pair(BlockRaces *block, FindingKind kind, PtxSpace space) {
    RaceDetector *detector = block->detector;
    if (detector->pair_count >= MOST_PAIRS) {
        detector->is_complete = false;
        return NULL;
    }
    RacePair pair = {.kind = kind, .launch = detector->launch, .space = space};
    array_push(detector->pairs, detector->pair_count, detector->pair_capacity, pair);
    return &detector->pairs[detector->pair_count - 1];
}

void race_detector_report(const Touch *touch, FindingKind kind, const WarpAccess *earlier, uint32_t lanes,
                          bool is_source) {
    BlockRaces *block = touch->block;
    RacePair *pair = find_pair(block->detector, kind, touch->access->pc, warp_access_pc(earlier));
    if (pair && pair->count == 1 && pair->last_serial == block->detector->serial) {
        pair->access.lanes |= UINT32_C(1) << touch->lane; /* another lane of the example */
        if (warp_access_warp(earlier) == pair->other.warp) pair->other.lanes |= lanes;
    }
    if (!pair) {
        pair = add_pair(block, kind, touch->access->space);
        if (!pair) return;
        const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
        pair->is_source = is_source;
        pair->access = race_this_access(touch);
        pair->other = race_earlier_access(touch, earlier, lanes);
        pair->is_same_block = earlier->block == block->order.number;
        pair->is_same_warp = pair->is_same_block && warp_access_warp(earlier) == touch->access->warp;
        pair->is_volatile = then->strength == ACCESS_VOLATILE && now->strength == ACCESS_VOLATILE;
        pair->is_narrow = then->strength == ACCESS_STRONG && now->strength == ACCESS_STRONG;
        pair->is_atomic = then->is_atomic != now->is_atomic;
        if (kind == FINDING_STORE_CONFLICT) {
            uint8_t bytes[32];
            int lane = pair->other.lane;
            touch->access->stored(touch->access, lane, bytes);
            uint64_t at = pair->other.offset - trace_access_offset(touch->access, lane);
            pair->other.value = value_at(bytes + at, now->element_bytes);
        }
    }
    count_pair(pair, block);
}

void race_detector_report_lanes(BlockRaces *block, FindingKind kind, int pc, int warp, uint32_t lanes) {
    block->detector->serial++;
    RacePair *pair = find_pair(block->detector, kind, pc, PTX_NO_PC);
    if (!pair) {
        pair = add_pair(block, kind, PTX_SPACE_GENERIC);
        if (!pair) return;
        pair->access = (FindingAccess){.pc = pc,
                                       .warp = warp,
                                       .lanes = lanes,
                                       .lane = __builtin_ctz(lanes),
                                       .buffer = -1,
                                       .interval = block->order.interval[warp],
                                       .event = -1};
        pair->other = (FindingAccess){.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1};
        set_block(block->detector, block->linear, &pair->access);
    }
    count_pair(pair, block);
}
