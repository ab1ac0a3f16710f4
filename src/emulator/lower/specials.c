/* Special registers: what %tid, %laneid, %clock and their kin hold (specials.def). */
#include "emulator/machine/block.h"

static inline uint64_t thread_index(const Warp *warp, int lane) {
    return (uint64_t)warp->index * WARP_LANES + (uint64_t)lane;
}

static inline uint64_t warp_clock(const Warp *warp) {
    const Grid *grid = warp->block->grid;
    return grid->seed % 1000000 + warp->block->started_at + warp->block->now;
}

/* Static and dynamic, without what is reserved. */
static inline uint32_t user_shared_bytes(const Grid *grid) {
    return grid->program->shared_bytes - grid->program->reserved_shared_bytes;
}

enum {
#define SPECIAL(id, name, lifetime, value) SPECIAL_##id,
#include "emulator/lower/specials.def"
#undef SPECIAL
};

static const struct {
    const char *name;
    SpecialLifetime lifetime;
} specials[] = {
#define SPECIAL(id, name, lifetime, value) {name, SPECIAL_OF_##lifetime},
#include "emulator/lower/specials.def"
#undef SPECIAL
};

int special_find(const char *name) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(specials[i].name, name)) return (int)i;
    return strncmp(name, "%envreg", 7) == 0 ? special_find("%envreg0") : -1;
}

SpecialLifetime special_lifetime(int special) {
    return specials[special].lifetime;
}

uint64_t special_value(int special, const Warp *warp, int lane) {
    const Block *block = warp->block;
    const Grid *grid = block->grid;
    switch (special) {
#define SPECIAL(id, name, lifetime, value)                                                                   \
    case SPECIAL_##id:                                                                                       \
        return (uint64_t)(value);
#include "emulator/lower/specials.def"
#undef SPECIAL
    default:
        return 0;
    }
}
