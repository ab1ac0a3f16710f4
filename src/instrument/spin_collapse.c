/* Loops that only look again at the same words collapse to their last round, by the emulator's rule: a round
 * is up to eight events that change nothing, one of them looks at what others may change, and all of them
 * access the same words as in the round before. */
#include "instrument/partial_events.h"

#include "base/memory.h"
#include <stdlib.h>

enum { HISTORY = 16, LONGEST_LOOP = HISTORY / 2 };

typedef struct SpinHistory {
    int partial[HISTORY];
    int count;
} SpinHistory;

struct SpinCollapse {
    SpinHistory *histories; /* [warp] */
};

SpinCollapse *spin_collapse_new(int warps) {
    SpinCollapse *spin_collapse = memory_new(sizeof *spin_collapse);
    spin_collapse->histories = memory_new(((size_t)warps + 1) * sizeof *spin_collapse->histories);
    return spin_collapse;
}

void spin_collapse_free(SpinCollapse *spin_collapse) {
    free(spin_collapse->histories);
    free(spin_collapse);
}

/* ---- what an instruction does to memory ------------------------------------------------------------- */

static bool watches(const PtxInstruction *in) {
    return in->opcode == PTX_atom || in->opcode == PTX_red || ptx_instruction_is_ordered(in);
}

static int64_t extended(uint64_t value, int bytes) {
    int unused = 64 - 8 * bytes;
    return (int64_t)(value << unused) >> unused;
}

/* Is the least, or greatest, of the two the old one? Floats are not asked: they are said to change. */
static bool keeps_extreme(const PtxInstruction *in, uint64_t old, uint64_t operand, int bytes) {
    PtxType type = in->types[0];
    if (ptx_type_is_float(type)) return old == operand;
    bool less = ptx_type_is_signed(type) ? extended(old, bytes) <= extended(operand, bytes) : old <= operand;
    return old == operand || less == ptx_instruction_has(in, PTX_MOD_MIN);
}

static bool atomic_keeps(const PtxInstruction *in, uint64_t old, uint64_t operand, int bytes) {
    if (ptx_instruction_has(in, PTX_MOD_CAS)) return old != operand;
    if (ptx_instruction_has(in, PTX_MOD_EXCH)) return old == operand;
    if (ptx_instruction_has(in, PTX_MOD_AND)) return (old & operand) == old;
    if (ptx_instruction_has(in, PTX_MOD_OR)) return (old | operand) == old;
    if (ptx_instruction_has(in, PTX_MOD_ADD) || ptx_instruction_has(in, PTX_MOD_XOR)) return operand == 0;
    if (ptx_instruction_has(in, PTX_MOD_MIN) || ptx_instruction_has(in, PTX_MOD_MAX))
        return keeps_extreme(in, old, operand, bytes);
    return false; /* inc, dec */
}

static bool changes_nothing(const PartialEvents *partial_events, const PartialEvent *partial,
                            const InstrumentSite *site) {
    if (site->kind == TRACE_BRANCH) return true;
    if (!trace_kind_is_access(site->kind)) return false;
    const PtxInstruction *in = site->instruction;
    if (in->opcode != PTX_atom)
        return in->opcode != PTX_st && in->opcode != PTX_stmatrix && in->opcode != PTX_red;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t old = partial_event_value(partial_events, partial, INSTRUMENT_VALUE, 0, lane);
        uint64_t operand = partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
        if (site->element_count > 1 || !atomic_keeps(in, old, operand, site->element_bytes)) return false;
    }
    return true;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

static const InstrumentSite *site_of(const PartialEvents *partial_events, int partial) {
    return partial_events->records->records[partial_events->partial_events[partial].record].site;
}

/* Atomics that find something else each time do not spin: they compete. */
static bool same_access(const PartialEvents *partial_events, int first, int second) {
    const PartialEvent *a = &partial_events->partial_events[first],
                       *b = &partial_events->partial_events[second];
    if (a->pc != b->pc || a->mask != b->mask || a->kind != b->kind) return false;
    if (!trace_kind_is_access(a->kind)) return true;
    const InstrumentSite *site = site_of(partial_events, first);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int field = 0; field < site->field_count; field++) {
            bool matters =
                site->fields[field].kind == INSTRUMENT_ADDRESS || site->instruction->opcode == PTX_atom;
            if (matters && records_value(partial_events->records, a->record, field, lane) !=
                               records_value(partial_events->records, b->record, field, lane))
                return false;
        }
    }
    return true;
}

static void push(SpinHistory *history, int partial) {
    if (history->count == HISTORY) {
        memmove(history->partial, history->partial + 1, (HISTORY - 1) * sizeof *history->partial);
        history->count--;
    }
    history->partial[history->count++] = partial;
}

static bool is_round(const PartialEvents *partial_events, const SpinHistory *history, int period) {
    bool does_watch = false;
    for (int i = 0; i < period; i++) {
        int late = history->partial[history->count - 1 - i];
        if (!same_access(partial_events, late, history->partial[history->count - 1 - i - period]))
            return false;
        does_watch |= watches(site_of(partial_events, late)->instruction);
    }
    return does_watch;
}

bool spin_collapse_note(SpinCollapse *spin_collapse, const PartialEvents *partial_events, int partial,
                        const int **earlier, const int **later, int *period) {
    const PartialEvent *newest = &partial_events->partial_events[partial];
    SpinHistory *history = &spin_collapse->histories[partial_events->records->records[newest->record].warp];
    if (!changes_nothing(partial_events, newest, site_of(partial_events, partial))) {
        history->count = 0;
        return false;
    }
    push(history, partial);
    for (*period = 1; *period <= LONGEST_LOOP && 2 * *period <= history->count; ++*period) {
        if (!is_round(partial_events, history, *period)) continue;
        *earlier = &history->partial[history->count - 2 * *period];
        *later = &history->partial[history->count - *period];
        return true;
    }
    return false;
}

void spin_collapse_forget(SpinCollapse *spin_collapse, int warp, int period) {
    SpinHistory *history = &spin_collapse->histories[warp];
    int *earlier = &history->partial[history->count - 2 * period];
    memmove(earlier, earlier + period, (size_t)period * sizeof *earlier);
    history->count -= period;
}
