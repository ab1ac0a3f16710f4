/* Collapses the spin loops of instrumented runs to their last iteration (trace/producer_rules.h). Whether an
 * atomic changed its word is computed here from the old value and the operand; the emulator compares the
 * word. */
#include "instrument/partial_events.h"

#include "base/memory.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"
#include <stdlib.h>

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

/* ---- effects on memory ------------------------------------------------------------------------------- */

static int64_t extended(uint64_t value, int bytes) {
    int unused = 64 - 8 * bytes;
    return (int64_t)(value << unused) >> unused;
}

/* True if the minimum or maximum of the two is the old value. Floats count as changed unless both are
 * equal. */
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

static bool has_changed(const PartialEvents *partial_events, const PartialEvent *partial,
                        const InstrumentSite *site) {
    if (site->instruction->opcode != PTX_atom) return false;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t old = partial_event_value(partial_events, partial, INSTRUMENT_VALUE, 0, lane);
        uint64_t operand = partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
        if (!atomic_keeps(site->instruction, old, operand, site->element_bytes)) return true;
    }
    return false;
}

/* ---- iterations ---------------------------------------------------------------------------------------- */

static const InstrumentSite *site_of(const PartialEvents *partial_events, uint64_t partial) {
    return partial_events->records->records[partial_events->partial_events[partial].record].site;
}

static bool is_same_access(const void *context, uint64_t late, uint64_t early) {
    const PartialEvents *partial_events = context;
    const PartialEvent *a = &partial_events->partial_events[late],
                       *b = &partial_events->partial_events[early];
    if (a->pc != b->pc || a->mask != b->mask || a->kind != b->kind) return false;
    if (!trace_kind_is_access(a->kind)) return true;
    const InstrumentSite *site = site_of(partial_events, late);
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

static bool watches(const void *context, uint64_t partial) {
    return trace_watches(site_of(context, partial)->instruction);
}

int spin_collapse_note(SpinCollapse *spin_collapse, const PartialEvents *partial_events, int partial,
                       const uint64_t **earlier, const uint64_t **later) {
    const PartialEvent *newest = &partial_events->partial_events[partial];
    const InstrumentSite *site = site_of(partial_events, (uint64_t)partial);
    SpinHistory *history = &spin_collapse->histories[partial_events->records->records[newest->record].warp];
    if (!trace_may_repeat(newest->kind, site->instruction, has_changed(partial_events, newest, site))) {
        history->count = 0;
        return 0;
    }
    const SpinEvents events = {is_same_access, watches, partial_events};
    int period = spin_history_add(history, (uint64_t)partial, &events);
    *earlier = &history->event[history->count - 2 * period];
    *later = &history->event[history->count - period];
    return period;
}

void spin_collapse_forget(SpinCollapse *spin_collapse, int warp, int period) {
    spin_history_drop_earlier(&spin_collapse->histories[warp], period);
}
