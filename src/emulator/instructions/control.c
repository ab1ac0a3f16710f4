/* Control flow that waits for its turn: exit, trap, brx, and instructions that are not emulated (bra:
 * machine/schedule.c). */
#include "emulator/machine/machine_access.h"
#include "emulator/instructions/copy_async.h"
#include "emulator/instructions/instruction_set.h"

#include "emulator/machine/recorder.h"

typedef struct TrapOp {
    CoreOp core;
    TrapKind kind;
    const char *text;
} TrapOp;

static Outcome execute_trap(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const TrapOp *trap = op->extra;
    raise_trap(block, trap->kind, warp, op->pc, mask, NULL, "%s", trap->text);
    return OUTCOME_STOP;
}

void trap_lower(Lowering *low, Op *op) {
    TrapOp *trap = lowering_allocate(low, sizeof *trap);
    trap->core.execute = execute_trap;
    trap->kind = TRAP_NOT_EMULATED;
    trap->text = op->extra;
    op->extra = trap;
    op->prelude = NULL;
}

const char *trap_text(const Op *op) {
    return ((const TrapOp *)op->extra)->text;
}

static bool lower_fault(Lowering *low, Op *op, const char *text) {
    TrapOp *trap = lowering_allocate(low, sizeof *trap);
    trap->core.execute = execute_trap;
    trap->kind = TRAP_TRAP_INSTRUCTION;
    trap->text = text;
    op->op_class = OP_CONTROL;
    op->extra = trap;
    return true;
}

OPCODE_LOWER(trap) {
    (void)in;
    return lower_fault(low, op, "the kernel executed a trap instruction");
}

bool lower_in_clusters(Lowering *low, Op *op, const char *name) {
    if (launch_has_clusters(low->launch)) return true;
    Text text = {0};
    text_print(&text,
               "%s needs a launch in clusters: --cluster 1, or .reqnctapercluster; an H200 refuses it as an "
               "illegal instruction",
               name);
    const char *kept = arena_copy_string(&low->lowered->arena, text_string(&text));
    text_done(&text);
    return lower_fault(low, op, kept);
}

static Outcome execute_exit(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    count_segment(block->worker, warp_fragment(warp), op->pc + 1);
    warp_exit(warp, mask);
    barrier_after_exit(block, warp, mask);
    return OUTCOME_MOVED;
}

OPCODE_LOWER(exit) {
    (void)in;
    CoreOp *core = lowering_allocate(low, sizeof *core);
    core->execute = execute_exit;
    core->form = CORE_NO_VALUE;
    op->op_class = OP_CONTROL;
    op->extra = core;
    return true;
}

/* The scheduler does the rest (machine/schedule.c): the program stores the target. */
OPCODE_LOWER(bra) {
    const PtxCode *code = &low->lowered->program->code[op->pc];
    if (code->target == PTX_NO_PC) return lowering_reject(low, op, "%s: no target", in->name);
    op->op_class = OP_CONTROL;
    return true;
}

/* ---- brx -------------------------------------------------------------------------------------------- */

typedef struct IndexedBranch {
    CoreOp core;
    Operand index;
} IndexedBranch;

static Outcome execute_indexed(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const IndexedBranch *branch = op->extra;
    const PtxCode *code = &block->grid->program->program->code[op->pc];
    const uint32_t *index = operand_at(warp, branch->index);
    uint32_t masks[WARP_LANES + 1], wrong = 0, all = warp_fragment(warp)->mask;
    int targets[WARP_LANES + 1] = {0}, ways = 0; /* at least one: the mask is never empty */
    if (all & ~mask) masks[ways] = all & ~mask, targets[ways++] = op->pc + 1; /* guard false */
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (index[lane] >= (uint32_t)code->target_count) {
            wrong |= lane_bit[lane];
            continue;
        }
        int way = 0, target = code->targets[index[lane]];
        while (way < ways && targets[way] != target) way++;
        if (way == ways) masks[way] = 0, targets[ways++] = target;
        masks[way] |= lane_bit[lane];
    }
    if (wrong) {
        raise_trap(block, TRAP_BAD_CALL, warp, op->pc, wrong, NULL,
                   "brx.idx with index %u, but its list has %d targets", index[__builtin_ctz(wrong)],
                   code->target_count);
        return OUTCOME_STOP;
    }
    TraceCounter *counter = &block->worker->counters[op->pc];
    counter->requests++;
    counter->divergent += ways > 1;
    if (block->recorder) {
        TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, all, TRACE_BRANCH);
        event->element_bytes = 4;
        event->element_count = 1;
        event->has_result = true;
        event->taken = mask;
        for (int way = 0; way < ways; way++)
            for (uint32_t rest = masks[way]; rest; rest &= rest - 1)
                event->value[0][__builtin_ctz(rest)] = (uint64_t)targets[way];
        recorder_end(block->recorder, true, false);
    }
    Fragment *fragment = warp_fragment(warp);
    count_segment(block->worker, fragment, op->pc + 1);
    if (ways > 1) {
        warp_scatter(warp, ways, masks, targets, code->reconvergence);
        return OUTCOME_MOVED;
    }
    fragment->pc = fragment->segment = targets[0];
    if (targets[0] <= op->pc && (fragment->mask != warp->live || block->grid->blocks_communicate))
        warp_consider_rotation(warp);
    return OUTCOME_MOVED;
}

OPCODE_LOWER(brx) {
    if (in->operand_count < 2) return lowering_reject(low, op, "brx: malformed");
    IndexedBranch *branch = lowering_allocate(low, sizeof *branch);
    branch->core.execute = execute_indexed;
    op->op_class = OP_CONTROL;
    op->extra = branch;
    uint8_t bytes;
    if (!lowering_value(low, op, &in->operands[0], PTX_U32, &branch->index, &bytes)) return false;
    return bytes == 4 || lowering_reject(low, op, "brx.idx takes a 32-bit index");
}
