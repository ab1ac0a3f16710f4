/* .approx instructions whose results are recorded, for comparison with those of a GPU. */
#include "emulator/machine/machine_access.h"
#include "emulator/instructions/instruction_set.h"
#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"

typedef struct ApproximateOp {
    CoreOp core;
    const Op *inner; /* the plain operation */
    int bytes;
} ApproximateOp;

static Outcome execute_approximate(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const ApproximateOp *approximate = op->extra;
    const Op *inner = approximate->inner;
    int bytes = approximate->bytes;
    uint64_t argument[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        argument[lane] = register_read(warp, inner->s[0], bytes, lane);
    inner->run(inner, &warp, &mask, 1);
    if (!block->recorder) return OUTCOME_NEXT;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_APPROXIMATE);
    if (block->recorded_values)
        recorded_values_approximate(block->recorded_values, warp, inner, bytes, mask, argument);
    event->element_bytes = bytes;
    event->element_count = 1;
    event->has_result = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->value[0][lane] = register_read(warp, inner->d, bytes, lane);
    }
    recorder_end(block->recorder, true, false);
    return OUTCOME_NEXT;
}

void approximate_lower(Lowering *low, Op *op) {
    ApproximateOp *approximate = lowering_allocate(low, sizeof *approximate);
    Op *inner = arena_copy(&low->lowered->arena, op, sizeof *op);
    approximate->core.execute = execute_approximate;
    approximate->inner = inner;
    approximate->bytes = ptx_type_bytes(op->instruction->types[0]);
    op->op_class = OP_WARP;
    op->prelude = NULL; /* the inner one runs it */
    op->extra = approximate;
}
