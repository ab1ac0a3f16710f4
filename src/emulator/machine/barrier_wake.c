/* Releases the fragments that wait at a complete barrier (barrier.h). */
#include "emulator/machine/barrier.h"

#include "emulator/machine/machine_access.h"
#include "emulator/machine/observe.h"

static const BarrierOp *barrier_op_at(const Block *block, int pc) {
    return block->grid->program->ops[pc].extra;
}

static void write_reduction(const Barrier *barrier, Warp *warp, const Fragment *fragment,
                            const BarrierOp *op) {
    uint64_t value = op->reduction == PTX_MOD_POPC  ? barrier->holds
                     : op->reduction == PTX_MOD_AND ? barrier->holds == barrier->votes
                                                    : barrier->holds != 0;
    uint8_t *kept = warp->base.at[IN_REGISTERS];
    warp->base.at[IN_REGISTERS] = fragment->frame->registers;
    for (uint32_t rest = fragment->active; rest; rest &= rest - 1)
        register_write(warp, op->d, op->d_bytes, __builtin_ctz(rest), value);
    warp->base.at[IN_REGISTERS] = kept;
}

bool barrier_wake(const Block *block, Warp *warp, int number) {
    bool passed = false, woken = false, aligned = false;
    for (int i = 0; i < warp->fragment_count; i++) {
        Fragment *fragment = &warp->fragments[i];
        if (fragment->state != FRAGMENT_IN_BARRIER || fragment->barrier != number) continue;
        const BarrierOp *op = barrier_op_at(block, fragment->pc);
        if (op->action == BARRIER_RED) write_reduction(&block->barriers[number], warp, fragment, op);
        passed |= op->blockwide;
        aligned |= op->aligned;
        if (op->is_cluster) warp->passed &= ~fragment->active;
        if (op->is_cluster && block->observed)
            observe_cluster_wait(block, warp, fragment->pc, fragment->active);
        fragment->state = FRAGMENT_READY;
        fragment->pc++;
        woken = true;
    }
    if (passed) warp->interval++;
    if (aligned && warp->fragment_count > 1) warp_merge(warp);
    if (woken && warp->current == NO_FRAGMENT) warp_pick(warp);
    return woken;
}
