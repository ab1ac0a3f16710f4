/* One access of one lane to one cell: its value and its report (race_detector.h). */
#include "findings/races/race_detector.h"

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

/* The rule of an earlier access of the same memory; for a copy, that of its write. */
const PcRule *race_rule_of(const Touch *touch, const WarpAccess *earlier) {
    const RaceDetector *detector = touch->block->detector;
    int pc = warp_access_pc(earlier);
    bool writes = !touch->follows_read && detector->written[pc].width &&
                  detector->written[pc].is_in_shared == touch->is_shared;
    return writes ? &detector->written[pc] : &detector->rules[pc];
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
    race_detector_set_block(block->detector, block->linear, &side);
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
    race_detector_set_block(block->detector, earlier->block - block->detector->first_block, &side);
    return side;
}

void race_detector_report(const Touch *touch, FindingKind kind, const WarpAccess *earlier, uint32_t lanes,
                          bool is_source) {
    BlockRaces *block = touch->block;
    RacePair *pair = race_pair_find(block->detector, kind, touch->access->pc, warp_access_pc(earlier));
    if (pair && pair->count == 1 && pair->last_serial == block->detector->serial) {
        pair->access.lanes |= UINT32_C(1) << touch->lane; /* another lane of the example */
        if (warp_access_warp(earlier) == pair->other.warp) pair->other.lanes |= lanes;
        block->detector->example_serial = block->detector->serial;
    }
    if (!pair) {
        pair = race_pair_add(block, kind, touch->access->space);
        if (!pair) return;
        block->detector->example_serial = block->detector->serial;
        const PcRule *then = race_rule_of(touch, earlier), *now = touch->rule;
        pair->is_source = is_source;
        pair->access = race_this_access(touch);
        pair->other = race_earlier_access(touch, earlier, lanes);
        pair->is_same_block = earlier->block == block->order.number;
        pair->is_same_warp = pair->is_same_block && warp_access_warp(earlier) == touch->access->warp;
        pair->is_volatile = then->strength == ACCESS_VOLATILE && now->strength == ACCESS_VOLATILE;
        pair->is_narrow = then->strength == ACCESS_STRONG && now->strength == ACCESS_STRONG;
        pair->is_atomic = then->is_atomic != now->is_atomic;
        pair->is_scope = kind == FINDING_MISSING_ACQUIRE && touch->is_shared &&
                         happens_before_signed(&block->order, touch->access->warp, touch->lane, earlier,
                                               lanes, SIGN_NARROW);
        pair->has_owner = touch->is_shared && (touch->owner != block || !pair->is_same_block);
        pair->owner = touch->owner->linear;
        if (kind == FINDING_STORE_CONFLICT) {
            uint8_t bytes[32];
            int lane = pair->other.lane;
            touch->access->stored(touch->access, lane, bytes);
            uint64_t at = pair->other.offset - trace_access_offset(touch->access, lane);
            pair->other.value = value_at(bytes + at, now->element_bytes);
        }
    }
    race_pair_count(pair, block);
}
