/* How long other blocks of a cluster may access a block's shared memory (race_detector.h). */
#include "findings/races/race_detector.h"

bool race_detector_are_peers(const RaceDetector *detector, uint32_t block, uint32_t other) {
    const TraceLaunch *launch = detector->launched;
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    uint64_t a = block - detector->first_block, b = other - detector->first_block;
    if (b >= detector->block_count) return false;
    return a % grid[0] / size[0] == b % grid[0] / size[0] &&
           a / grid[0] % grid[1] / size[1] == b / grid[0] % grid[1] / size[1] &&
           a / grid[0] / grid[1] / size[2] == b / grid[0] / grid[1] / size[2];
}

/* A block of the cluster is known to exist between two cluster barriers, or if something else orders the
 * access after an action of that block and before its exit. */
void race_detector_report_lifetime(BlockRaces *block, const BlockRaces *owner, const FindingAccess *access,
                                   bool is_before_start) {
    RaceDetector *detector = block->detector;
    RacePair *pair = race_pair_find(detector, FINDING_BLOCK_LIFETIME, access->pc, PTX_NO_PC);
    if (!pair) {
        pair = race_pair_add(block, FINDING_BLOCK_LIFETIME, PTX_SPACE_SHARED);
        if (!pair) return;
        pair->access = *access;
        pair->other = (FindingAccess){.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1};
        pair->has_owner = true;
        pair->owner = owner->linear;
        pair->is_before_start = is_before_start;
    }
    race_pair_count(pair, block);
}

void race_detector_visit(const Touch *touch) {
    const BlockRaces *block = touch->block;
    int thread = touch->access->warp * WARP_LANES + touch->lane;
    touch->owner->has_visitors = true;
    if (touch->access->arrives) return; /* that block has issued it, or waits for it */
    if (happens_before_thread_knows(&block->order, thread, touch->owner->order.number)) return;
    FindingAccess access = race_this_access(touch);
    race_detector_report_lifetime(touch->block, touch->owner, &access, true);
}

static void check_visitor(BlockRaces *block, uint64_t cell, const WarpAccess *access, bool writes) {
    RaceDetector *detector = block->detector;
    if (!access->mask || access->block == block->order.number ||
        !race_detector_are_peers(detector, block->order.number, access->block) ||
        happens_before_block_knows(&block->order, access))
        return;
    const PcRule *rule = &detector->rules[warp_access_pc(access)],
                 *written = &detector->written[warp_access_pc(access)];
    if (writes && written->width) rule = written;
    /* A thread that waited for the phase that included the access knows at least that it was made. */
    OrderSign sign = rule->is_mbarrier ? SIGN_FOLLOWED : SIGN_NARROW;
    if (happens_before_block_saw(&block->order, access, sign)) return;
    FindingAccess side = {.pc = warp_access_pc(access),
                          .warp = warp_access_warp(access),
                          .lanes = access->mask,
                          .lane = __builtin_ctz(access->mask),
                          .buffer = -1,
                          .offset = cell << detector->shared_shift,
                          .is_store = rule->writes,
                          .is_atomic = rule->is_atomic,
                          .event = -1};
    race_detector_set_block(detector, access->block - detector->first_block, &side);
    detector->serial++;
    race_detector_report_lifetime(block, block, &side, false);
}

/* A listed access of the chunk may be that of a visitor; true as well if its cells are kept one by one. */
static bool may_have_visitors(const BlockRaces *block, ShadowChunk *chunk) {
    int count;
    const ChunkAccess *list = shadow_chunk_list(chunk, &count);
    bool may_have = chunk->more && chunk->more->cells;
    for (int i = 0; !may_have && i < count; i++)
        may_have = list[i].block != block->order.number &&
                   race_detector_are_peers(block->detector, block->order.number, list[i].block);
    return may_have;
}

static void check_chunk(BlockRaces *block, uint64_t number, ShadowChunk *chunk) {
    const ChunkMore *more =
        may_have_visitors(block, chunk) ? shadow_memory_cells(&block->shared, chunk) : NULL;
    for (uint64_t i = 0; more && i < CHUNK_CELLS; i++) {
        const ShadowCell *cell = &more->cells[i];
        check_visitor(block, number * CHUNK_CELLS + i, &cell->write, true);
        for (int r = 0; r < CELL_READS; r++)
            check_visitor(block, number * CHUNK_CELLS + i, &cell->reads[r], false);
    }
}

void race_detector_check_visitors(BlockRaces *block) {
    for (uint64_t p = 0; p < block->shared.page_count; p++)
        for (uint64_t c = 0; block->shared.pages[p] && c < SHADOW_PAGE_CHUNKS; c++)
            check_chunk(block, p * SHADOW_PAGE_CHUNKS + c, &block->shared.pages[p][c]);
}
