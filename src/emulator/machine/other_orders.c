/* Schedules other than round robin (other_orders.h). */
#include "emulator/machine/other_orders.h"

#include "base/number.h"
#include "emulator/machine/hooks.h"

static uint64_t dice(const Block *block, const Warp *warp, uint64_t salt) {
    uint64_t mix = (block->grid->schedule ^ salt) * 0x94d049bb133111ebu ^
                   block->linear * 0x9e3779b97f4a7c15u ^ warp->turn * 0xc2b2ae3d27d4eb4fu ^
                   (uint64_t)warp->index * 0x165667b19e3779f9u;
    mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9u;
    return mix ^ mix >> 32;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* Four kinds of order, besides those of warps: ascending; descending; any order, interleaved; ascending,
 * interleaved. */
static uint64_t character(uint64_t schedule) {
    return (schedule + schedule / 4) % 4;
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t mix = a * 0x94d049bb133111ebu ^ b * 0x9e3779b97f4a7c15u ^ c * 0xc2b2ae3d27d4eb4fu;
    mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9u;
    return mix ^ mix >> 32;
}

uint64_t order_of_clusters(uint64_t schedule, uint64_t index, uint64_t count) {
    if (!schedule || count < 2) return index;
    switch (character(schedule)) {
    case 1:
        return count - 1 - index;
    case 2: {
        uint64_t step = mixed(schedule, count, 1) % count, first = mixed(schedule, count, 2) % count;
        while (number_common_divisor(step, count) != 1) step = (step + 1) % count;
        return (index * step + first) % count; /* a grid has fewer than 2^32 blocks */
    }
    default:
        return index;
    }
}

bool order_interleaves(uint64_t schedule) {
    return schedule && character(schedule) >= 2;
}

uint64_t order_slice(uint64_t schedule, uint64_t round, uint64_t block) {
    uint64_t mix = mixed(schedule, round, block), longest = 3 + 3 * (schedule / 4 % 4);
    return order_interleaves(schedule) ? (UINT64_C(1) << mix % longest) + (mix >> 8 & 1) : 0;
}

/* ---- warps --------------------------------------------------------------------------------------------- */

uint64_t order_delay(const Block *block, const Warp *warp) {
    uint64_t mix = dice(block, warp, 0), schedule = block->grid->schedule;
    switch (schedule % 4) {
    case 0:
        return mix & 3;
    case 1:
        return ((uint64_t)warp->index ^ schedule / 4) & 3;
    case 2:
        return mix & 31 ? 0 : mix >> 56;
    default:
        return mix & 127 ? 0 : 4096;
    }
}

void order_part_lanes(const Block *block, Warp *warp, const Op *op) {
    if (op->op_class != OP_MEMORY) return;
    uint64_t mix = dice(block, warp, (uint64_t)op->pc + 1);
    uint32_t mask = warp_fragment(warp)->mask;
    if (!(mix & 0x700) && warp->fragment_count > 1) {
        warp_pick(warp);
    } else if (!(mix & 0xf) && mask & (mask - 1) && warp->fragment_count < WARP_LANES) {
        static const uint32_t behind[] = {0xffff0000, 0x0000ffff, 0xaaaaaaaa, 0x00000001,
                                          0xff00ff00, 0xfffffffe, 0x80000000, 0x0f0f0f0f};
        uint32_t lanes = mask & behind[mix >> 4 & 7];
        if (lanes && lanes != mask) warp_split(warp, lanes);
    }
}

bool order_is_out_of_turn(const Block *block, const Warp *warp, const Op *op) {
    uint32_t mask = warp->fragments[warp->current].mask;
    if (op->op_class != OP_MEMORY && op->op_class != OP_CONTROL)
        return false; /* these may wait for each other */
    if (op->guarded && op->op_class == OP_MEMORY) mask = guard_lanes(op, warp, mask);
    return mask && block->grid->program->recorded[op->pc] &&
           !block->hooks->expects(block->hooks->context, warp, op->pc, mask);
}

void order_split_as_recorded(const Block *block, Warp *warp, const Op *op) {
    bool splits = op->op_class == OP_WARP || op->op_class == OP_BARRIER || op->op_class == OP_CONTROL ||
                  (op->op_class == OP_MEMORY && !trace_is_generic(op->instruction));
    if (!splits || !block->grid->program->recorded[op->pc]) return;
    uint32_t lanes = warp_fragment(warp)->mask;
    if (op->guarded && op->op_class != OP_CONTROL) lanes = guard_lanes(op, warp, lanes);
    uint32_t mask = block->hooks->next_mask(block->hooks->context, warp, op->pc);
    if (lanes & mask && lanes & ~mask) warp_split(warp, lanes & ~mask);
}

bool order_awaits_as_recorded(const Block *block, Warp *warp, const Op *op) {
    if (warp->fragment_count == 1 || !block->grid->program->recorded[op->pc]) return false;
    uint32_t mask = block->hooks->next_mask(block->hooks->context, warp, op->pc);
    if (!(mask & ~warp_fragment(warp)->mask) || !(mask & warp_fragment(warp)->mask)) return false;
    warp_merge(warp);
    uint32_t elsewhere = 0; /* lanes that wait there and have arrived */
    for (int i = 0; i < warp->fragment_count; i++)
        if (i != warp->current && warp->fragments[i].state == FRAGMENT_READY)
            elsewhere |= warp->fragments[i].mask;
    return mask & elsewhere;
}
