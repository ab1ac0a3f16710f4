/* Lanes that wait where an order of the run says so (holds.h). */
#include "emulator/machine/holds.h"

#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/other_orders.h"

#include <stdlib.h>

typedef struct HeldLanes { /* the state of a hold */
    Hold *of;
    uint64_t seen, seen_until; /* executions so far of its two places */
    Block *block;              /* while it lasts; else NULL */
    uint32_t lanes;            /* held */
} HeldLanes;

struct Holds {
    HeldLanes *held;
    int count;
    Block *released; /* goes on before the block that runs; NULL: none */
};

Holds *holds_new(Hold *list, int count, int launch) {
    Holds *holds = NULL;
    for (int i = 0; i < count; i++) {
        if (list[i].launch != launch) continue;
        if (!holds) {
            holds = memory_new(sizeof *holds);
            holds->held = memory_new((size_t)count * sizeof *holds->held);
        }
        list[i].end = HOLD_UNREACHED;
        holds->held[holds->count++] = (HeldLanes){.of = &list[i]};
    }
    return holds;
}

void holds_free(Holds *holds) {
    if (!holds) return;
    free(holds->held);
    free(holds);
}

/* Lanes that catch up with the rest of their warp run first. */
static void release(HeldLanes *held, HoldEnd end, const Warp *running) {
    Block *block = held->block;
    Warp *warp = &block->warps[held->of->at.warp];
    uint32_t bit = UINT32_C(1) << warp->index;
    held->of->end = end;
    held->block = NULL;
    for (int i = 0; i < warp->fragment_count; i++) {
        Fragment *fragment = &warp->fragments[i];
        if (fragment->state != FRAGMENT_HELD || !(fragment->mask & held->lanes)) continue;
        fragment->state = FRAGMENT_READY;
        if (!(block->ready & bit)) warp_select(warp, i);
    }
    if (warp == running || (block->queued | block->ready) & bit) return;
    block->next[warp->index] = block->turn + 1;
    block->queued |= bit;
}

static bool is_at(const HoldPlace *place, const Block *block, const Warp *warp, const Op *op,
                  uint32_t lanes) {
    return place->pc == op->pc && place->warp == warp->index && place->block == block->linear &&
           lanes >> place->lane & 1;
}

/* True if the lanes are held here and now. */
static bool begins(HeldLanes *held, Block *block, Warp *warp, const Op *op, uint32_t lanes) {
    Hold *of = held->of;
    if (of->end != HOLD_UNREACHED || !is_at(&of->at, block, warp, op, lanes)) return false;
    if (++held->seen != of->at.time) return false;
    of->end = HOLD_MET;
    if (of->until.pc != PTX_NO_PC && held->seen_until >= of->until.time) return false; /* it was first */
    Fragment *fragment = warp_fragment(warp);
    held->lanes = fragment->mask & of->lanes;
    of->end = HOLD_LASTS;
    held->block = block;
    if (held->lanes == fragment->mask) {
        fragment->state = FRAGMENT_HELD;
        return true;
    }
    warp_split(warp, held->lanes);
    warp->fragments[warp->fragment_count - 1].state = FRAGMENT_HELD;
    return false;
}

bool holds_pass(Block *block, Warp *warp, const Op *op) {
    Holds *holds = block->grid->holds;
    if (warp->fragment_count > 1) warp_merge(warp);
    if (op->op_class != OP_MEMORY) return true;
    uint32_t lanes = warp_fragment(warp)->mask;
    if (op->guarded) lanes = guard_lanes(op, warp, lanes);
    for (int i = 0; i < holds->count; i++) {
        if (begins(&holds->held[i], block, warp, op, lanes)) return false;
        lanes &= warp_fragment(warp)->mask;
    }
    return true;
}

void holds_executed(Block *block, Warp *warp, const Op *op) {
    Holds *holds = block->grid->holds;
    uint32_t lanes = warp_fragment(warp)->mask;
    if (op->guarded) lanes = guard_lanes(op, warp, lanes);
    for (int i = 0; i < holds->count; i++) {
        HeldLanes *held = &holds->held[i];
        if (!is_at(&held->of->until, block, warp, op, lanes)) continue;
        if (++held->seen_until < held->of->until.time) continue;
        if (!held->block) continue;
        if (held->block != block) holds->released = held->block;
        release(held, HOLD_MET, warp);
    }
}

Block *holds_released(const Block *block) {
    return block->grid->holds ? block->grid->holds->released : NULL;
}

void holds_go_on(const Block *block) {
    block->grid->holds->released = NULL;
}

bool holds_any_in(const Block *block) {
    const Holds *holds = block->grid->holds;
    for (int i = 0; holds && i < holds->count; i++)
        if (holds->held[i].block == block) return true;
    return false;
}

static bool give_up(Holds *holds, const Block *block) {
    bool any = false;
    for (int i = 0; i < holds->count; i++) {
        HeldLanes *held = &holds->held[i];
        bool is_own = held->of->until.pc != PTX_NO_PC && block && held->of->until.block == block->linear;
        if (!held->block || (block && (held->block != block || !is_own))) continue;
        release(held, HOLD_IN_VAIN, NULL);
        any = true;
    }
    return any;
}

bool holds_give_up_in(Block *block) {
    return block->grid->holds && block->grid->cluster_blocks == 1 && give_up(block->grid->holds, block);
}

bool holds_give_up(Holds *holds) {
    return holds && give_up(holds, NULL);
}
