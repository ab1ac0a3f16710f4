/* Instructions that the emulator counts and that change nothing: hints, fences (memory here is always in
 * order), events for profilers. */
#include "emulator/machine/observe.h"

OP_FUNCTION(run_nothing) {
    (void)op, (void)warp, (void)mask;
}

static bool lower_nothing(Op *op) {
    op->op_class = OP_NO_EFFECT;
    op->run = run_nothing;
    return true;
}

OP_FUNCTION(run_fence) {
    if (warp->block->observed) observe_fence(warp, op->pc, mask);
}

/* A fence says that blocks talk to each other. */
static bool lower_fence_of(Lowering *low, const PtxInstruction *in, Op *op) {
    if (!ptx_instruction_has(in, PTX_MOD_CTA)) low->lowered->lets_blocks_meet = true;
    lower_nothing(op);
    op->run = run_fence;
    return true;
}

#define NOTHING(name)                                                                                        \
    bool lower_##name(Lowering *low, const PtxInstruction *in, Op *op) {                                     \
        (void)low, (void)in;                                                                                 \
        return lower_nothing(op);                                                                            \
    }
NOTHING(prefetch)
NOTHING(prefetchu)
NOTHING(applypriority)
NOTHING(discard)
NOTHING(brkpt)
NOTHING(nanosleep)
NOTHING(pmevent)
NOTHING(griddepcontrol)
NOTHING(setmaxnreg)

bool lower_membar(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_fence_of(low, in, op);
}
bool lower_fence(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_fence_of(low, in, op);
}

/* A cache policy is an opaque 64-bit value. */
OP_FUNCTION(run_policy) {
    uint64_t *d = operand_at(warp, op->d);
    for (int l = 0; l < WARP_LANES; l++)
        if (mask & lane_bit[l]) d[l] = 0;
}

bool lower_createpolicy(Lowering *low, const PtxInstruction *in, Op *op) {
    op->run = run_policy;
    op->provenance = WEIGHT_NONE;
    if (in->operand_count < 1) return lowering_reject(low, op, "createpolicy: malformed");
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (op->has_d && op->d_bytes != 8)
        return lowering_reject(low, op, "createpolicy takes a 64-bit destination");
    return true;
}
