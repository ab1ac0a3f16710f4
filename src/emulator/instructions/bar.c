/* bar and barrier: finds the barrier and makes the lanes arrive (machine/barrier.c). */
#include "emulator/instructions/instruction_set.h"
#include "emulator/machine/barrier.h"

/* barrier.cluster.arrive{.release|.relaxed}, barrier.cluster.wait{.acquire} */
static bool lower_cluster_barrier(Lowering *low, const PtxInstruction *in, Op *op, BarrierOp *barrier_op) {
    bool arrives = ptx_instruction_has(in, PTX_MOD_ARRIVE), waits = ptx_instruction_has(in, PTX_MOD_WAIT);
    if (arrives == waits || in->operand_count) return lowering_reject(low, op, "barrier.cluster: malformed");
    barrier_op->is_cluster = true;
    barrier_op->action = arrives ? BARRIER_ARRIVE : BARRIER_SYNC;
    barrier_op->number = lowering_constant(low, CLUSTER_BARRIER, 4);
    return true;
}

/* True for __syncthreads(): everything is known at lowering time. */
static bool is_plain(const BarrierOp *op, const PtxOperand *number) {
    return op->aligned && op->blockwide && !op->has_count && op->action == BARRIER_SYNC &&
           number->kind == PTX_OPERAND_INTEGER && number->integer >= 0 && number->integer < CLUSTER_BARRIER;
}

static bool number_of(Lowering *low, Op *op, const PtxOperand *operand, Operand *out) {
    uint8_t bytes;
    if (!lowering_value(low, op, operand, PTX_U32, out, &bytes)) return false;
    return bytes == 4 ||
           lowering_reject(low, op, "%s: barriers and counts are 32-bit numbers", low->instruction->name);
}

static bool lower_block_barrier(Lowering *low, const PtxInstruction *in, Op *op, bool aligned) {
    if (ptx_instruction_has(in, PTX_MOD_WARP)) return lower_warp_sync(low, in, op);
    BarrierOp *barrier_op = lowering_allocate(low, sizeof *barrier_op);
    barrier_op->core.execute = barrier_execute;
    barrier_op->core.execute_together = barrier_sync_together;
    barrier_op->aligned = aligned || ptx_instruction_has(in, PTX_MOD_ALIGNED);
    op->op_class = OP_BARRIER;
    op->extra = barrier_op;
    if (ptx_instruction_has(in, PTX_MOD_CLUSTER)) return lower_cluster_barrier(low, in, op, barrier_op);
    bool red = ptx_instruction_has(in, PTX_MOD_RED);
    barrier_op->action = red                                       ? BARRIER_RED
                         : ptx_instruction_has(in, PTX_MOD_ARRIVE) ? BARRIER_ARRIVE
                                                                   : BARRIER_SYNC;
    int first = red ? 1 : 0, last = in->operand_count - (red ? 1 : 0);
    if (last <= first || last - first > 2) return lowering_reject(low, op, "%s: malformed", in->name);
    barrier_op->has_count = last - first == 2;
    barrier_op->blockwide = trace_kind_of(in) == TRACE_BARRIER;
    barrier_op->is_plain = is_plain(barrier_op, &in->operands[first]);
    if (barrier_op->is_plain) barrier_op->core.form = CORE_NO_VALUE;
    if (!number_of(low, op, &in->operands[first], &barrier_op->number)) return false;
    if (barrier_op->has_count && !number_of(low, op, &in->operands[first + 1], &barrier_op->count))
        return false;
    if (barrier_op->action == BARRIER_ARRIVE && !barrier_op->has_count)
        return lowering_reject(low, op, "%s.arrive needs a thread count", in->name);
    if (!red) return true;
    bool popc = ptx_instruction_has(in, PTX_MOD_POPC), present;
    barrier_op->reduction = popc                                   ? PTX_MOD_POPC
                            : ptx_instruction_has(in, PTX_MOD_AND) ? PTX_MOD_AND
                                                                   : PTX_MOD_OR;
    if (!lowering_destination(low, op, &in->operands[0], &barrier_op->d, &barrier_op->d_bytes, &present))
        return false;
    if (barrier_op->d_bytes != (popc ? 4 : 0) && present)
        return lowering_reject(low, op, "%s.red: wrong destination", in->name);
    if (!present) barrier_op->d_bytes = popc ? 4 : 0;
    return lowering_value(low, op, &in->operands[last], PTX_PRED, &barrier_op->predicate, NULL);
}

OPCODE_LOWER(bar) {
    return lower_block_barrier(low, in, op, true);
}
OPCODE_LOWER(barrier) {
    return lower_block_barrier(low, in, op, false);
}
