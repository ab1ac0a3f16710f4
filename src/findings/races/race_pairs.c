/* The list of races found, and errors that need no comparison of accesses. */
#include "findings/races/race_detector.h"

void race_detector_set_block(const RaceDetector *detector, uint64_t linear, FindingAccess *access) {
    const uint32_t *grid = detector->launched->grid;
    access->linear_block = linear;
    access->block[0] = (uint32_t)(linear % grid[0]);
    access->block[1] = (uint32_t)(linear / grid[0] % grid[1]);
    access->block[2] = (uint32_t)(linear / grid[0] / grid[1]);
}

static bool is_pair(const RacePair *pair, FindingKind kind, int launch, int pc, int other) {
    return pair->kind == kind && pair->launch == launch && pair->access.pc == pc && pair->other.pc == other;
}

/* A race in a loop is found again and again, so a hash remembers its place in the list. */
RacePair *race_pair_find(RaceDetector *detector, FindingKind kind, int pc, int other) {
    uint8_t *place =
        &detector->places[((unsigned)pc * 7 + (unsigned)other * 3 + (unsigned)kind) % PAIR_PLACES];
    if (*place < detector->pair_count && is_pair(&detector->pairs[*place], kind, detector->launch, pc, other))
        return &detector->pairs[*place];
    for (int i = 0; i < detector->pair_count; i++) {
        if (!is_pair(&detector->pairs[i], kind, detector->launch, pc, other)) continue;
        *place = (uint8_t)i;
        return &detector->pairs[i];
    }
    return NULL;
}

void race_pair_count(RacePair *pair, const BlockRaces *block) {
    if (pair->last_serial != block->detector->serial) pair->count++;
    if (!pair->blocks || pair->last_block != block->linear) pair->blocks++;
    pair->last_serial = block->detector->serial;
    pair->last_block = block->linear;
}

RacePair *race_pair_add(BlockRaces *block, FindingKind kind, PtxSpace space) {
    RaceDetector *detector = block->detector;
    if (detector->pair_count >= MOST_PAIRS) {
        detector->is_complete = false;
        return NULL;
    }
    RacePair pair = {.kind = kind, .launch = detector->launch, .space = space};
    array_push(detector->pairs, detector->pair_count, detector->pair_capacity, pair);
    return &detector->pairs[detector->pair_count - 1];
}

/* Lanes of a warp at an instruction, without an address. */
static FindingAccess place_of(const BlockRaces *block, int pc, int warp, uint32_t lanes) {
    FindingAccess place = {.pc = pc,
                           .warp = warp,
                           .lanes = lanes,
                           .lane = __builtin_ctz(lanes),
                           .buffer = -1,
                           .interval = block->order.interval[warp],
                           .event = -1};
    race_detector_set_block(block->detector, block->linear, &place);
    return place;
}

void race_detector_report_lanes(BlockRaces *block, uint64_t linear, FindingKind kind, int pc, int warp,
                                uint32_t lanes) {
    block->detector->serial++;
    RacePair *pair = race_pair_find(block->detector, kind, pc, PTX_NO_PC);
    if (!pair) {
        pair = race_pair_add(block, kind, PTX_SPACE_GENERIC);
        if (!pair) return;
        pair->access = place_of(block, pc, warp, lanes);
        race_detector_set_block(block->detector, linear, &pair->access);
        pair->other = (FindingAccess){.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1};
    }
    race_pair_count(pair, block);
}

void race_detector_note_exited(BlockRaces *block, FindingKind kind, int warp, const TraceRelease *others) {
    block->detector->serial++;
    RacePair *pair = race_pair_find(block->detector, kind, others->pc, PTX_NO_PC);
    if (!pair) {
        pair = race_pair_add(block, kind, PTX_SPACE_GENERIC);
        if (!pair) return;
        pair->access = place_of(block, others->pc, warp, others->mask);
        pair->other =
            (FindingAccess){.pc = PTX_NO_PC, .lanes = others->exited, .lane = -1, .buffer = -1, .event = -1};
    }
    race_pair_count(pair, block);
}

void race_detector_note_split_barrier(BlockRaces *block, const TraceRelease *released, int warp, int other) {
    block->detector->serial++;
    RacePair *pair =
        race_pair_find(block->detector, FINDING_SPLIT_BARRIER, released[warp].pc, released[other].pc);
    if (!pair) {
        pair = race_pair_add(block, FINDING_SPLIT_BARRIER, PTX_SPACE_GENERIC);
        if (!pair) return;
        pair->access = place_of(block, released[warp].pc, warp, released[warp].mask);
        pair->other = place_of(block, released[other].pc, other, released[other].mask);
    }
    race_pair_count(pair, block);
}

void race_detector_undefined(void *context, const TraceUndefined *undefined) {
    BlockRaces *block = context;
    FindingKind kind = undefined->is_matrix    ? FINDING_EARLY_RESULT
                       : undefined->is_product ? FINDING_WRAPPED_INDEX
                                               : FINDING_UNDEFINED_SHUFFLE;
    block->detector->serial++;
    RacePair *pair = race_pair_find(block->detector, kind, undefined->pc, undefined->origin);
    if (!pair) {
        pair = race_pair_add(block, kind, PTX_SPACE_GENERIC);
        if (!pair) return;
        pair->access = place_of(block, undefined->pc, undefined->warp, undefined->lanes);
        pair->access.is_store = undefined->use == TRACE_USE_STORE;
        pair->other = place_of(block, undefined->origin, undefined->warp, undefined->lanes);
        pair->use = undefined->use;
    }
    race_pair_count(pair, block);
}
