/* The bookkeeping of mbarriers from a block's events (mbarrier_state.h). */
#include "tui/scene/mbarrier_state.h"

#include "ptx/opcodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COPIED = 64 };

typedef struct CopiedRange { /* of shared memory, written by bulk copies */
    int symbol;
    uint64_t begin, end;
} CopiedRange;

typedef struct Arrivals { /* at one mbarrier */
    /* The phase of each warp's latest arrival: a wait by state means that one. */
    uint64_t phase[MOST_MBARRIER_WARPS];
    int64_t count[MOST_MBARRIER_WARPS]; /* in that phase */
    bool differ;                        /* between warps or phases */
} Arrivals;

typedef struct MbarrierWalk {
    const TraceLaunch *launch;
    const TraceBlock *block;
    MbarrierState *state;
    Arrivals of[MOST_MBARRIERS]; /* as in `state` */
    CopiedRange copied[MOST_COPIED];
    int copied_count;
} MbarrierWalk;

static const PtxInstruction *instruction_of(const MbarrierWalk *walk, const TraceEvent *event) {
    return walk->launch->program->code[event->pc].instruction;
}

static bool is_wait(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_TRY_WAIT) || ptx_instruction_has(in, PTX_MOD_TEST_WAIT);
}

/* NO_MBARRIER: there is none initialized at this place. */
static int find_mbarrier(const MbarrierState *state, int symbol, uint64_t offset) {
    for (int i = 0; i < state->count; i++)
        if (state->mbarriers[i].symbol == symbol && state->mbarriers[i].offset == offset) return i;
    return NO_MBARRIER;
}

/* ---- phases -------------------------------------------------------------------------------------------- */

/* A phase has taken its arrivals: each warp's number of them is known. */
static void note_arrivals(TracedMbarrier *mbarrier, Arrivals *arrivals) {
    for (uint32_t rest = mbarrier->arrived; rest; rest &= rest - 1) {
        int64_t count = arrivals->count[__builtin_ctz(rest)];
        arrivals->differ |= mbarrier->arrivals_per_warp && mbarrier->arrivals_per_warp != count;
        mbarrier->arrivals_per_warp = count;
    }
    if (arrivals->differ) mbarrier->arrivals_per_warp = 0;
    mbarrier->ever |= mbarrier->arrived;
}

static void complete(MbarrierWalk *walk, int at) {
    TracedMbarrier *mbarrier = &walk->state->mbarriers[at];
    note_arrivals(mbarrier, &walk->of[at]);
    memset(walk->of[at].count, 0, sizeof walk->of[at].count);
    mbarrier->phase++;
    mbarrier->pending = mbarrier->count;
    /* copies ordered ahead of their expectation belong to the next phase */
    mbarrier->ordered = mbarrier->ordered > mbarrier->expected ? mbarrier->ordered - mbarrier->expected : 0;
    mbarrier->expected = 0;
    mbarrier->awaits_copies = false;
    mbarrier->arrived = 0;
}

static void remove_mbarrier(MbarrierWalk *walk, int at) {
    MbarrierState *state = walk->state;
    if (at == NO_MBARRIER) return;
    size_t behind = (size_t)(--state->count - at);
    memmove(&state->mbarriers[at], &state->mbarriers[at + 1], behind * sizeof *state->mbarriers);
    memmove(&walk->of[at], &walk->of[at + 1], behind * sizeof *walk->of);
}

/* Keeps the mbarriers in order of symbol and offset. */
static void init(MbarrierWalk *walk, int symbol, uint64_t offset, int64_t count) {
    MbarrierState *state = walk->state;
    int at = 0;
    remove_mbarrier(walk, find_mbarrier(state, symbol, offset));
    if (state->count == MOST_MBARRIERS) return;
    while (at < state->count &&
           (state->mbarriers[at].symbol < symbol ||
            (state->mbarriers[at].symbol == symbol && state->mbarriers[at].offset < offset)))
        at++;
    size_t behind = (size_t)(state->count++ - at);
    memmove(&state->mbarriers[at + 1], &state->mbarriers[at], behind * sizeof *state->mbarriers);
    memmove(&walk->of[at + 1], &walk->of[at], behind * sizeof *walk->of);
    state->mbarriers[at] =
        (TracedMbarrier){.symbol = symbol, .offset = offset, .count = count, .pending = count};
    walk->of[at] = (Arrivals){{0}, {0}, 0};
}

static void arrive(MbarrierWalk *walk, int at, int warp, int64_t arrivals, int64_t bytes, bool drops) {
    TracedMbarrier *mbarrier = &walk->state->mbarriers[at];
    if (mbarrier->pending <= 0) complete(walk, at); /* only a complete phase can be arrived after */
    mbarrier->pending -= arrivals;
    mbarrier->expected += bytes;
    if (drops) mbarrier->count -= arrivals;
    mbarrier->arrived |= UINT32_C(1) << warp;
    walk->of[at].phase[warp] = mbarrier->phase;
    walk->of[at].count[warp] += arrivals;
}

/* The phase that the lane waits for. */
static uint64_t awaited(const MbarrierWalk *walk, const TraceEvent *event, int lane, int at) {
    const TracedMbarrier *mbarrier = &walk->state->mbarriers[at];
    if (!ptx_instruction_has(instruction_of(walk, event), PTX_MOD_PARITY))
        return walk->of[at].phase[event->warp];
    return (mbarrier->phase & 1) == (event->operand[lane] & 1) ? mbarrier->phase : mbarrier->phase - 1;
}

static void apply_lane(MbarrierWalk *walk, const TraceEvent *event, int lane, int at) {
    const PtxInstruction *in = instruction_of(walk, event);
    TracedMbarrier *mbarrier = &walk->state->mbarriers[at];
    int64_t operand = (int64_t)event->operand[lane];
    bool drops = ptx_instruction_has(in, PTX_MOD_ARRIVE_DROP);
    bool expects = ptx_instruction_has(in, PTX_MOD_EXPECT_TX);
    if (is_wait(in)) {
        if (event->value[0][lane] && awaited(walk, event, lane, at) == mbarrier->phase) complete(walk, at);
        return;
    }
    if (in->opcode == PTX_cp) { /* without .noinc the phase takes one arrival more for it */
        mbarrier->pending -= ptx_instruction_has(in, PTX_MOD_NOINC);
        mbarrier->awaits_copies = true;
        mbarrier->arrived |= UINT32_C(1) << event->warp;
        walk->of[at].count[event->warp]++;
    } else if (drops || ptx_instruction_has(in, PTX_MOD_ARRIVE)) {
        arrive(walk, at, event->warp, expects || !operand ? 1 : operand, expects ? operand : 0, drops);
    } else if (expects) {
        mbarrier->expected += operand;
    } else if (ptx_instruction_has(in, PTX_MOD_COMPLETE_TX)) {
        mbarrier->expected -= operand;
    }
    if (mbarrier->pending <= 0 && !mbarrier->expected && !mbarrier->awaits_copies) complete(walk, at);
}

static void mark(MbarrierWalk *walk, const TraceEvent *event) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        int at = find_mbarrier(walk->state, event->buffer[lane], event->offset[lane]);
        if (at != NO_MBARRIER) walk->state->mbarriers[at].is_here = true;
    }
}

static void apply_mbarrier(MbarrierWalk *walk, const TraceEvent *event) {
    const PtxInstruction *in = instruction_of(walk, event);
    if (trace_event_peer(event) >= 0) return;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        int symbol = event->buffer[lane];
        if (ptx_instruction_has(in, PTX_MOD_INIT))
            init(walk, symbol, event->offset[lane], (int64_t)event->operand[lane]);
        int at = find_mbarrier(walk->state, symbol, event->offset[lane]);
        if (at == NO_MBARRIER || ptx_instruction_has(in, PTX_MOD_INIT)) continue;
        if (ptx_instruction_has(in, PTX_MOD_INVAL))
            remove_mbarrier(walk, at);
        else
            apply_lane(walk, event, lane, at);
    }
    mark(walk, event);
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static const PtxOperand *mbarrier_operand(const PtxInstruction *in) {
    if (in->opcode == PTX_mbarrier) {
        int at = in->operand_count && in->operands[0].kind != PTX_OPERAND_MEMORY;
        return at < in->operand_count ? &in->operands[at] : NULL;
    }
    int at = ptx_instruction_has(in, PTX_MOD_TENSOR) ? 2 : 3;
    return at < in->operand_count && in->operands[at].kind == PTX_OPERAND_MEMORY ? &in->operands[at] : NULL;
}

static bool names_register(const PtxOperand *operand, const PtxRegister *reg) {
    bool found = operand->kind == PTX_OPERAND_REGISTER && operand->reg == reg;
    for (int i = 0; i < operand->item_count; i++) found |= names_register(&operand->items[i], reg);
    return found;
}

static bool enters(const PtxCode *code, int after, int until) {
    bool found = code->target > after && code->target <= until;
    for (int i = 0; i < code->target_count; i++)
        found |= code->targets[i] > after && code->targets[i] <= until;
    return found;
}

/* The register has the same value at both instructions: control comes to `last` only through `first`, and
 * nothing between them writes it. */
static bool keeps_register(const PtxProgram *program, int first, int last, const PtxRegister *reg) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        bool is_inside = pc >= first && pc < last;
        if (!is_inside && enters(&program->code[pc], first, last)) return false;
        if (is_inside && pc > first && in->operand_count && names_register(&in->operands[0], reg))
            return false;
    }
    return first < last;
}

/* The place of a copy's mbarrier is not in the trace. It is that of an earlier operation of the same lane on
 * an mbarrier whose address is in the same register. NO_MBARRIER: there is none. */
static int mbarrier_of_copy(const MbarrierWalk *walk, int number, const TraceEvent *copy, int lane) {
    const PtxOperand *place = mbarrier_operand(instruction_of(walk, copy));
    TraceEvent earlier;
    for (int i = number - 1; place && i >= 0; i--) {
        trace_block_read_header(walk->block, i, &earlier);
        if (earlier.warp != copy->warp || !(earlier.mask >> lane & 1)) continue;
        if (earlier.kind == TRACE_BARRIER) break;
        if (earlier.kind != TRACE_MBARRIER) continue;
        const PtxOperand *other = mbarrier_operand(instruction_of(walk, &earlier));
        bool is_same = other && other->reg == place->reg && other->variable == place->variable &&
                       other->integer == place->integer && (place->reg || place->variable);
        if (!is_same) continue;
        if (place->reg && !keeps_register(walk->launch->program, earlier.pc, copy->pc, place->reg)) continue;
        trace_block_read(walk->block, i, &earlier);
        if (trace_event_peer(&earlier) >= 0) break;
        return find_mbarrier(walk->state, earlier.buffer[lane], earlier.offset[lane]);
    }
    return NO_MBARRIER;
}

static void add_copied(MbarrierWalk *walk, int symbol, uint64_t begin, uint64_t bytes) {
    CopiedRange range = {symbol, begin, begin + bytes};
    for (int i = 0; i < walk->copied_count; i++)
        if (walk->copied[i].symbol == symbol && walk->copied[i].begin <= begin &&
            walk->copied[i].end >= range.end)
            return;
    if (walk->copied_count < MOST_COPIED) walk->copied[walk->copied_count++] = range;
}

static void apply_copy(MbarrierWalk *walk, int number, const TraceEvent *event) {
    if (!ptx_instruction_has(instruction_of(walk, event), PTX_MOD_COMPLETE_TX_BYTES)) return;
    walk->state->warps[event->warp].orders_copies = true;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (trace_event_peer(event) >= 0) continue;
        add_copied(walk, event->buffer[lane], event->offset[lane], event->operand[lane]);
        int at = mbarrier_of_copy(walk, number, event, lane);
        if (at == NO_MBARRIER) {
            walk->state->has_unknown_copies = true;
            continue;
        }
        walk->state->mbarriers[at].ordered += (int64_t)event->operand[lane];
        walk->state->mbarriers[at].is_copied_to = walk->state->mbarriers[at].is_here = true;
    }
}

static bool reads_copied(const MbarrierWalk *walk, const TraceEvent *event) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int i = 0; i < walk->copied_count; i++)
            if (walk->copied[i].symbol == event->buffer[lane] &&
                walk->copied[i].begin <= event->offset[lane] && event->offset[lane] < walk->copied[i].end)
                return true;
    }
    return false;
}

/* ---- the whole trace ----------------------------------------------------------------------------------- */

static void apply(MbarrierWalk *walk, int number, TraceEvent *event) {
    MbarrierWarp *warp = &walk->state->warps[event->warp];
    bool is_load = event->kind == TRACE_SHARED_LOAD && warp->waits_for_copies && !warp->loads_copied;
    if (event->kind != TRACE_MBARRIER && event->kind != TRACE_SHARED_BULK_WRITE && !is_load) return;
    trace_block_read(walk->block, number, event);
    for (int i = 0; i < walk->state->count; i++) walk->state->mbarriers[i].is_here = false;
    if (is_load) warp->loads_copied = reads_copied(walk, event);
    if (event->kind == TRACE_SHARED_BULK_WRITE) apply_copy(walk, number, event);
    if (event->kind != TRACE_MBARRIER || !event->mask) return;
    int lane = __builtin_ctz(event->mask);
    int at = find_mbarrier(walk->state, event->buffer[lane], event->offset[lane]);
    bool waits = is_wait(instruction_of(walk, event)) && at != NO_MBARRIER;
    warp->waits_for_copies |= waits && walk->state->mbarriers[at].is_copied_to;
    apply_mbarrier(walk, event);
}

/* If the event is a wait for a phase that is not complete, its warp waits. `walk`: at the shown event. */
static void note_wait(const MbarrierWalk *walk, const TraceEvent *event) {
    MbarrierWarp *warp = &walk->state->warps[event->warp];
    if (event->kind != TRACE_MBARRIER || !event->mask || !is_wait(instruction_of(walk, event))) return;
    int lane = __builtin_ctz(event->mask);
    int at = find_mbarrier(walk->state, event->buffer[lane], event->offset[lane]);
    if (at == NO_MBARRIER) return;
    uint64_t phase = awaited(walk, event, lane, at);
    if (phase != walk->state->mbarriers[at].phase) return;
    warp->activity = WARP_WAITS;
    warp->mbarrier = at;
    warp->phase = phase;
}

/* `number`: the first event of a warp after the shown one. */
static void note_next(const MbarrierWalk *walk, int number) {
    TraceEvent event;
    trace_block_read(walk->block, number, &event);
    walk->state->warps[event.warp].activity = WARP_RUNS;
    note_wait(walk, &event);
}

/* A warp whose latest event is a wait that found its phase incomplete waits, in a deadlock for ever. */
static void note_last_waits(const MbarrierWalk *walk) {
    TraceEvent event;
    for (int w = 0; w < walk->state->warp_count; w++) {
        const MbarrierWarp *warp = &walk->state->warps[w];
        if (warp->event == NO_MBARRIER) continue;
        trace_block_read(walk->block, warp->event, &event);
        if (event.mask && !event.value[0][__builtin_ctz(event.mask)]) note_wait(walk, &event);
    }
}

/* What the whole trace tells of each mbarrier and warp. */
static void add_roles(const MbarrierState *whole, MbarrierState *out) {
    for (int i = 0; i < out->count; i++) {
        int at = find_mbarrier(whole, out->mbarriers[i].symbol, out->mbarriers[i].offset);
        if (at == NO_MBARRIER) continue;
        out->mbarriers[i].is_copied_to = whole->mbarriers[at].is_copied_to;
        out->mbarriers[i].ever = whole->mbarriers[at].ever;
        out->mbarriers[i].arrivals_per_warp = whole->mbarriers[at].arrivals_per_warp;
    }
    for (int w = 0; w < out->warp_count; w++) {
        out->warps[w].orders_copies = whole->warps[w].orders_copies;
        out->warps[w].waits_for_copies = whole->warps[w].waits_for_copies;
        out->warps[w].loads_copied = whole->warps[w].loads_copied;
    }
    out->has_unknown_copies |= whole->has_unknown_copies;
}

/* The state just after `event`; *walk is at it. */
static void walk_to(MbarrierWalk *walk, int event) {
    MbarrierState *state = walk->state;
    TraceEvent header;
    const uint32_t *block = walk->launch->block;
    uint32_t threads = block[0] * block[1] * block[2];
    *state = (MbarrierState){.warp_count = (int)((threads + WARP_LANES - 1) / WARP_LANES)};
    state->has_unknown_copies = trace_cluster_blocks(walk->launch) > 1; /* other blocks may order some */
    for (int w = 0; w < state->warp_count; w++)
        state->warps[w] = (MbarrierWarp){.activity = WARP_HAS_ENDED, .event = NO_MBARRIER};
    for (int i = 0; i <= event; i++) {
        trace_block_read_header(walk->block, i, &header);
        state->warps[header.warp].event = i;
        apply(walk, i, &header);
    }
}

/* What each warp does next. */
static void look_ahead(const MbarrierWalk *walk, int event) {
    TraceEvent header;
    uint32_t all = (uint32_t)((UINT64_C(1) << walk->state->warp_count) - 1), seen = 0;
    for (int i = event + 1; i < trace_block_event_count(walk->block) && seen != all; i++) {
        trace_block_read_header(walk->block, i, &header);
        if (!(seen >> header.warp & 1)) note_next(walk, i);
        seen |= UINT32_C(1) << header.warp;
    }
    note_last_waits(walk);
}

/* ---- kept states --------------------------------------------------------------------------------------- */

struct MbarrierHistory {
    const TraceLaunch *launch;
    const TraceBlock *block;
    MbarrierState whole; /* after the last event */
    int event;           /* of `state`; -1: none yet */
    MbarrierState state;
};

static void find_state(MbarrierHistory *history, int event, MbarrierState *out, const MbarrierState *whole) {
    MbarrierWalk *walk = memory_new(sizeof *walk);
    *walk = (MbarrierWalk){.launch = history->launch, .block = history->block, .state = out};
    walk_to(walk, event);
    if (whole) {
        look_ahead(walk, event);
        add_roles(whole, out);
    }
    free(walk);
}

MbarrierHistory *mbarrier_history_new(const TraceLaunch *launch, const TraceBlock *block) {
    MbarrierHistory *history = memory_new(sizeof *history);
    *history = (MbarrierHistory){.launch = launch, .block = block, .event = -1};
    find_state(history, trace_block_event_count(block) - 1, &history->whole, NULL);
    return history;
}

void mbarrier_history_free(MbarrierHistory *history) {
    free(history);
}

const MbarrierState *mbarrier_history_at(MbarrierHistory *history, int event) {
    if (history->event != event) find_state(history, event, &history->state, &history->whole);
    history->event = event;
    return &history->state;
}

/* ---- what is said of an mbarrier ----------------------------------------------------------------------- */

bool mbarrier_is_between_phases(const TracedMbarrier *mbarrier) {
    return mbarrier->phase && mbarrier->pending == mbarrier->count && !mbarrier->expected &&
           !mbarrier->ordered && !mbarrier->awaits_copies;
}

uint32_t mbarrier_missing_warps(const TracedMbarrier *mbarrier) {
    uint32_t missing = mbarrier->ever & ~mbarrier->arrived;
    bool fits = __builtin_popcount(missing) * mbarrier->arrivals_per_warp == mbarrier->pending;
    return fits && mbarrier->pending > 0 ? missing : 0;
}

void mbarrier_print_name(const TraceLaunch *launch, const MbarrierState *state, int index, char *out,
                         size_t bytes) {
    const TracedMbarrier *mbarrier = &state->mbarriers[index];
    const TraceSymbol *symbol = &launch->symbols[mbarrier->symbol];
    uint64_t words = 0;
    for (int i = 0; i < state->count; i++) words += state->mbarriers[i].symbol == mbarrier->symbol;
    if (words * 8 != symbol->bytes)
        snprintf(out, bytes, "%s+%" PRIu64, symbol->name, mbarrier->offset);
    else if (words == 1)
        snprintf(out, bytes, "%s", symbol->name);
    else
        snprintf(out, bytes, "%s[%" PRIu64 "]", symbol->name, mbarrier->offset / 8);
}
