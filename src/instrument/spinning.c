/* Loops that only look again at the same words collapse to their last round, by the emulator's rule: a round
 * is up to eight events that change nothing, one of them looks at what others may change, and all of them
 * access the same words as in the round before. */
#include "instrument/pieces.h"

#include "base/memory.h"
#include <stdlib.h>

enum { HISTORY = 16, LONGEST_LOOP = HISTORY / 2 };

typedef struct History {
    int piece[HISTORY];
    int count;
} History;

struct Spinning {
    History *histories; /* [warp] */
};

Spinning *spinning_new(int warps) {
    Spinning *spinning = memory_new(sizeof *spinning);
    spinning->histories = memory_new(((size_t)warps + 1) * sizeof *spinning->histories);
    return spinning;
}

void spinning_free(Spinning *spinning) {
    free(spinning->histories);
    free(spinning);
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

static bool changes_nothing(const Pieces *pieces, const Piece *piece, const InstrumentSite *site) {
    if (site->kind == TRACE_BRANCH) return true;
    if (!trace_kind_is_access(site->kind)) return false;
    const PtxInstruction *in = site->instruction;
    if (in->opcode != PTX_atom)
        return in->opcode != PTX_st && in->opcode != PTX_stmatrix && in->opcode != PTX_red;
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t old = piece_value(pieces, piece, INSTRUMENT_VALUE, 0, lane);
        uint64_t operand = piece_value(pieces, piece, INSTRUMENT_OPERAND, 0, lane);
        if (site->element_count > 1 || !atomic_keeps(in, old, operand, site->element_bytes)) return false;
    }
    return true;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

static const InstrumentSite *site_of(const Pieces *pieces, int piece) {
    return pieces->records->records[pieces->pieces[piece].record].site;
}

/* Atomics that find something else each time do not spin: they compete. */
static bool same_access(const Pieces *pieces, int first, int second) {
    const Piece *a = &pieces->pieces[first], *b = &pieces->pieces[second];
    if (a->pc != b->pc || a->mask != b->mask || a->kind != b->kind) return false;
    if (!trace_kind_is_access(a->kind)) return true;
    const InstrumentSite *site = site_of(pieces, first);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int field = 0; field < site->field_count; field++) {
            bool matters =
                site->fields[field].kind == INSTRUMENT_ADDRESS || site->instruction->opcode == PTX_atom;
            if (matters && records_value(pieces->records, a->record, field, lane) !=
                               records_value(pieces->records, b->record, field, lane))
                return false;
        }
    }
    return true;
}

static void push(History *history, int piece) {
    if (history->count == HISTORY) {
        memmove(history->piece, history->piece + 1, (HISTORY - 1) * sizeof *history->piece);
        history->count--;
    }
    history->piece[history->count++] = piece;
}

static bool is_round(const Pieces *pieces, const History *history, int period) {
    bool does_watch = false;
    for (int i = 0; i < period; i++) {
        int late = history->piece[history->count - 1 - i];
        if (!same_access(pieces, late, history->piece[history->count - 1 - i - period])) return false;
        does_watch |= watches(site_of(pieces, late)->instruction);
    }
    return does_watch;
}

bool spinning_note(Spinning *spinning, const Pieces *pieces, int piece, const int **earlier,
                   const int **later, int *period) {
    const Piece *newest = &pieces->pieces[piece];
    History *history = &spinning->histories[pieces->records->records[newest->record].warp];
    if (!changes_nothing(pieces, newest, site_of(pieces, piece))) {
        history->count = 0;
        return false;
    }
    push(history, piece);
    for (*period = 1; *period <= LONGEST_LOOP && 2 * *period <= history->count; ++*period) {
        if (!is_round(pieces, history, *period)) continue;
        *earlier = &history->piece[history->count - 2 * *period];
        *later = &history->piece[history->count - *period];
        return true;
    }
    return false;
}

void spinning_forget(Spinning *spinning, int warp, int period) {
    History *history = &spinning->histories[warp];
    int *earlier = &history->piece[history->count - 2 * period];
    memmove(earlier, earlier + period, (size_t)period * sizeof *earlier);
    history->count -= period;
}
