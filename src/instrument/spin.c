/* Finds loops that may wait for others.
 *
 * A loop is the code between a label and a branch back to it. It may wait if it reads memory that others
 * change (ordered or volatile loads, atomics), and neither stores (an atomic whose result is dropped stores),
 * copies, multiplies matrices asynchronously
 * nor waits at a barrier: such a loop may run
 * a thousand times or a million times. */
#include "instrument/probe_plan.h"

#include "ptx/opcodes.h"
#include "trace/producer_rules.h"

#include <string.h>

static bool works(const PtxInstruction *in) {
    switch (in->opcode) {
    case PTX_st:
    case PTX_stmatrix:
    case PTX_wmma:
    case PTX_red:
        return (in->opcode == PTX_red || ptx_instruction_stores(in)) && in->space != PTX_SPACE_PARAM;
    case PTX_bar:
    case PTX_barrier:
        return !ptx_instruction_has(in, PTX_MOD_WARP);
    case PTX_wgmma:
        return ptx_instruction_has(in, PTX_MOD_MMA_ASYNC);
    case PTX_cp:
        return trace_written_kind_of(in) != TRACE_NOT_RECORDED;
    default:
        return false;
    }
}

static bool may_wait(const PtxProgram *program, int first, int last) {
    bool does_watch = false;
    for (int pc = first; pc <= last; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        if (works(in) || program->code[pc].drops_result) return false;
        does_watch |= trace_watches(in);
    }
    return does_watch;
}

void probe_plan_spin_loops(const PtxProgram *program, int begin, int end, bool *may_spin) {
    for (int pc = begin; pc < end; pc++) {
        const PtxCode *code = &program->code[pc];
        int first = code->target == PTX_NO_PC ? pc + 1 : code->target;
        for (int i = 0; code->instruction->opcode == PTX_brx && i < code->target_count; i++)
            if (code->targets[i] < first) first = code->targets[i];
        if (first > pc || !may_wait(program, first, pc)) continue;
        for (int at = first; at <= pc; at++) may_spin[at - begin] = true;
    }
}

void instrument_find_waiting(const PtxProgram *program, bool *waits) {
    memset(waits, 0, (size_t)program->code_count * sizeof *waits);
    for (int i = 0; i < program->function_count; i++) {
        const PtxProgramFunction *function = &program->functions[i];
        probe_plan_spin_loops(program, function->begin, function->end, waits + function->begin);
    }
}
