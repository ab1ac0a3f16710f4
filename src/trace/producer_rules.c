/* Rules that both producers follow (producer_rules.h). */
#include "trace/producer_rules.h"

#include "ptx/opcodes.h"

#include <string.h>

ShuffleMode trace_shuffle_mode(const PtxInstruction *instruction) {
    return ptx_instruction_has(instruction, PTX_MOD_UP)     ? SHUFFLE_UP
           : ptx_instruction_has(instruction, PTX_MOD_DOWN) ? SHUFFLE_DOWN
           : ptx_instruction_has(instruction, PTX_MOD_BFLY) ? SHUFFLE_BFLY
                                                            : SHUFFLE_IDX;
}

bool trace_watches(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_atom ||
           (instruction->opcode == PTX_ld && ptx_instruction_is_ordered(instruction)) ||
           (instruction->opcode == PTX_mbarrier && (ptx_instruction_has(instruction, PTX_MOD_TEST_WAIT) ||
                                                    ptx_instruction_has(instruction, PTX_MOD_TRY_WAIT)));
}

static bool is_wide_atomic(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_atom &&
           (instruction->vector > 1 ||
            (instruction->type_count && ptx_type_bytes(instruction->types[0]) == 16));
}

bool trace_may_repeat(TraceKind kind, const PtxInstruction *instruction, bool changed) {
    if (kind == TRACE_BRANCH || kind == TRACE_APPROXIMATE) return true;
    if (is_wide_atomic(instruction) || instruction->opcode == PTX_cp) return false;
    if (kind == TRACE_MBARRIER) return trace_watches(instruction);
    return trace_kind_is_access(kind) && !changed && !ptx_instruction_stores(instruction) &&
           instruction->opcode != PTX_red;
}

static bool is_repeated_round(const SpinHistory *history, int period, const SpinEvents *events) {
    bool watches = false;
    for (int i = history->count - period; i < history->count; i++) {
        if (!events->is_same(events->context, history->event[i], history->event[i - period])) return false;
        watches |= events->watches(events->context, history->event[i]);
    }
    return watches;
}

int spin_history_add(SpinHistory *history, uint64_t event, const SpinEvents *events) {
    if (history->count == SPIN_HISTORY) {
        memmove(history->event, history->event + 1, (SPIN_HISTORY - 1) * sizeof *history->event);
        history->count--;
    }
    history->event[history->count++] = event;
    for (int period = 1; period <= SPIN_LONGEST_ROUND && 2 * period <= history->count; period++)
        if (is_repeated_round(history, period, events)) return period;
    return 0;
}

void spin_history_drop_earlier(SpinHistory *history, int period) {
    uint64_t *earlier = &history->event[history->count - 2 * period];
    memmove(earlier, earlier + period, (size_t)period * sizeof *earlier);
    history->count -= period;
}
