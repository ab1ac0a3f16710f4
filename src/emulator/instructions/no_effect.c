/* Instructions that are counted and change nothing: hints, fences (memory here is always in order), profiler
 * events. */
#include "emulator/machine/observe.h"

OP_FUNCTION(run_no_effect) {
    (void)op, (void)warp, (void)mask;
}

static bool lower_no_effect(Op *op) {
    op->op_class = OP_NO_EFFECT;
    op->run = run_no_effect;
    return true;
}

OP_FUNCTION(run_fence) {
    if (warp->block->observed) observe_fence(warp, op->pc, mask);
}

/* A fence shows that blocks communicate; a fence of cluster scope, that the blocks of a cluster do. */
static bool lower_fence_of(Lowering *low, const PtxInstruction *in, Op *op) {
    if (!ptx_instruction_has(in, PTX_MOD_CTA) && !ptx_instruction_has(in, PTX_MOD_CLUSTER))
        low->lowered->lets_blocks_communicate = true;
    lower_no_effect(op);
    op->run = run_fence;
    return true;
}

#define NO_EFFECT(name)                                                                                      \
    OPCODE_LOWER(name) {                                                                                     \
        (void)low, (void)in;                                                                                 \
        return lower_no_effect(op);                                                                          \
    }
NO_EFFECT(prefetch)
NO_EFFECT(prefetchu)
NO_EFFECT(applypriority)
NO_EFFECT(discard)
NO_EFFECT(brkpt)
NO_EFFECT(nanosleep)
NO_EFFECT(pmevent)
NO_EFFECT(griddepcontrol)
NO_EFFECT(setmaxnreg)

OPCODE_LOWER(membar) {
    return lower_fence_of(low, in, op);
}
OPCODE_LOWER(fence) {
    return lower_fence_of(low, in, op);
}

/* A cache policy is an opaque 64-bit value. */
OP_FUNCTION(run_policy) {
    uint64_t *d = operand_at(warp, op->d);
    for (int l = 0; l < WARP_LANES; l++)
        if (mask & lane_bit[l]) d[l] = 0;
}

OPCODE_LOWER(createpolicy) {
    op->run = run_policy;
    op->provenance = WEIGHT_NONE;
    if (in->operand_count < 1) return lowering_reject(low, op, "createpolicy: malformed");
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (op->has_d && op->d_bytes != 8)
        return lowering_reject(low, op, "createpolicy takes a 64-bit destination");
    return true;
}
