/* Special registers: the values of %tid, %laneid, %clock and the like (lower_specials.def), and the preludes
 * that read them for each instruction. */
#include "emulator/machine/special_values.h"

#include "emulator/machine/machine_block.h"

static inline uint64_t thread_index(const Warp *warp, int lane) {
    return (uint64_t)warp->index * WARP_LANES + (uint64_t)lane;
}

static inline uint64_t warp_clock(const Warp *warp) {
    const Grid *grid = warp->block->grid;
    return grid->seed % 1000000 + grid->launched_at + warp->block->started_at + warp->block->now;
}

/* Static and dynamic, without the reserved part. */
static inline uint32_t user_shared_bytes(const Grid *grid) {
    return grid->program->shared_bytes - grid->program->reserved_shared_bytes;
}

enum {
#define SPECIAL(id, name, lifetime, value) SPECIAL_##id,
#include "emulator/lower/lower_specials.def"
#undef SPECIAL
};

uint64_t special_value(int special, const Warp *warp, int lane) {
    const Block *block = warp->block;
    const Grid *grid = block->grid;
    switch (special) {
#define SPECIAL(id, name, lifetime, value)                                                                   \
    case SPECIAL_##id:                                                                                       \
        return (uint64_t)(value);
#include "emulator/lower/lower_specials.def"
#undef SPECIAL
    default:
        return 0;
    }
}

void prelude_run(const Prelude *prelude, Warp *warp) {
    for (; prelude; prelude = prelude->next) {
        uint8_t *to = operand_at(warp, prelude->to);
        if (prelude->kind == PRELUDE_NOT) {
            *(uint32_t *)(void *)to = ~*(const uint32_t *)operand_at(warp, prelude->from);
            continue;
        }
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint64_t value = special_value(prelude->special, warp, lane);
            memcpy(to + lane * prelude->bytes, &value, prelude->bytes);
        }
    }
}

void run_after_preludes(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {
    const Op *inner = op->extra;
    for (int w = 0; w < count; w++) prelude_run(op->prelude, warps[w]);
    inner->run(inner, warps, masks, count);
}
