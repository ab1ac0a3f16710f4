/* shfl, vote, match, redux, activemask, elect, bar.warp.sync: instructions that exchange values between the
 * lanes of a warp.
 *
 * The .sync forms name their lanes in a mask and wait until all of them have arrived or exited (warp_meet.h).
 */
#include "emulator/instructions/warp_op.h"

#include "base/language.h"
#include "emulator/machine/observe.h"
#include "emulator/instructions/instruction_set.h"
#include "emulator/instructions/warp_meet.h"

#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"

#include <inttypes.h>

typedef enum VoteMode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteMode;

static uint32_t members_of(const WarpOp *op, const Warp *warp, int lane, uint32_t mask) {
    return op->has_members ? ((const uint32_t *)operand_at(warp, op->members))[lane] & mask : mask;
}

/* ---- waiting for lanes --------------------------------------------------------------------------------- */

static Outcome wait_for(Warp *warp, uint32_t mask, const WarpMeeting *meeting) {
    Fragment *fragment = warp_fragment(warp);
    fragment->state = FRAGMENT_AT_WARP_OP;
    fragment->active = mask;
    fragment->awaited = meeting->missing;
    fragment->named = meeting->names[__builtin_ctz(mask)];
    return OUTCOME_WAIT;
}

/* True if `mask` has all live lanes, or all lanes that its lanes name. */
static bool is_whole(const WarpOp *op, const Warp *warp, uint32_t mask) {
    if (mask == warp->live) return true;
    const uint32_t *members = operand_at(warp, op->members);
    uint32_t named = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) named |= members[__builtin_ctz(rest)];
    return !(named & warp->live & ~mask);
}

/* The lanes of `mask` that their own membermask does not name. */
static uint32_t outsiders(const WarpOp *op, const Warp *warp, uint32_t mask) {
    if (!op->has_members || op->names_all) return 0;
    const uint32_t *members = operand_at(warp, op->members);
    uint32_t insiders = 0;
    for (int l = 0; l < WARP_LANES; l++) insiders |= members[l] & lane_bit[l];
    return mask & ~insiders;
}

static void shuffle_sources(int mode, const uint32_t *b, const uint32_t *c, int32_t *source);

/* Follows undefined values from lane to lane (undefined.h), all of them at `op`. */
static void follow_warp_op(const WarpOp *op, Warp *warp, uint32_t lanes) {
    FollowedLanes from = {.value = undefined_find(warp_fragment(warp)->frame, op->a)};
    if (op->kind == TRACE_SHUFFLE) {
        shuffle_sources(op->mode, operand_at(warp, op->b), operand_at(warp, op->c), from.source);
        for (int l = 0; l < WARP_LANES; l++) {
            if (from.source[l] < 0) from.source[l] = l;
            if (!(lanes & lane_bit[from.source[l]])) from.source[l] = -1; /* compute_shuffle() handles it */
        }
    }
    for (uint32_t rest = op->has_a ? lanes : 0; rest; rest &= rest - 1)
        from.names[__builtin_ctz(rest)] = members_of(op, warp, __builtin_ctz(rest), lanes);
    warp_op_follow(op, warp, lanes, &from);
}

/* The shadows of what the lanes are about to receive. */
static void shadow_warp_op(const Op *op, Warp *warp, uint32_t lanes) {
    const WarpOp *warp_op = op->extra;
    Frame *frame = warp_fragment(warp)->frame;
    uint8_t source[WARP_LANES];
    if (!warp_op->has_d || !warp_op->d_bytes) return;
    if (warp_op->kind == TRACE_SHUFFLE) {
        warp_op_sources(op, warp, lanes, source);
        shadow_copy_register(frame, warp_op->a, warp_op->d, 4, lanes, source);
    } else {
        if (warp_op->has_a && warp_op->a_bytes >= 2 &&
            shadow_is_kept(frame, warp_op->a, warp_op->a_bytes, lanes))
            shadow_pages_lose(warp->block->grid->shadow);
        shadow_forget(frame, warp_op->d, warp_op->d_bytes, lanes);
    }
}

static void execute_here(Block *block, Warp *warp, const Op *op, uint32_t lanes) {
    const WarpOp *warp_op = op->extra;
    uint32_t outside = outsiders(warp_op, warp, lanes);
    if (outside) warp_op_report_outsiders(block, warp, op, outside);
    warp->called &= ~lanes;
    block->worker->counters[op->pc].requests++;
    TraceEvent *event = block->recorder ? warp_op_begin_event(block, warp, op, lanes) : NULL;
    if (warp->follows) follow_warp_op(warp_op, warp, lanes);
    if (block->grid->shadow) shadow_warp_op(op, warp, lanes);
    warp_op->compute(warp_op, warp, lanes, event);
    if (event) recorder_end(block->recorder, false, false);
}

/* Other lanes that these name are elsewhere in the warp. */
static Outcome execute_with_others(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    WarpMeeting meeting;
    meeting_find(block, warp, op, mask, &meeting);
    if (!(meeting.complete & mask)) return wait_for(warp, mask, &meeting);
    meeting_part(block, warp, &meeting, mask);
    if (meeting_has_places(warp, &meeting))
        meeting_exchange(block, warp, &meeting);
    else
        execute_here(block, warp, op, meeting.complete);
    meeting_pass_on(block, warp, &meeting);
    return OUTCOME_NEXT;
}

static Outcome execute_warp_op(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const WarpOp *warp_op = op->extra;
    if (warp_op->has_members && !is_whole(warp_op, warp, mask))
        return execute_with_others(block, warp, op, mask);
    execute_here(block, warp, op, mask);
    return OUTCOME_NEXT;
}

static int warp_ops_together(Block *block, const Op *op, const Gang *gang) {
    const WarpOp *warp_op = op->extra;
    int done = 0;
    for (; done < gang->count; done++) {
        Warp *warp = gang->warps[done];
        if (warp_op->has_members && !is_whole(warp_op, warp, gang->masks[done])) break;
        if (!warp_op->names_all && outsiders(warp_op, warp, gang->masks[done])) break;
        warp->called &= ~gang->masks[done];
        warp_op->compute(warp_op, warp, gang->masks[done], NULL);
    }
    block->worker->counters[op->pc].requests += (uint64_t)done;
    return done;
}

static int warp_syncs_together(Block *block, const Op *op, const Gang *gang) {
    const WarpOp *warp_op = op->extra;
    int done = 0;
    for (; done < gang->count; done++) {
        Warp *warp = gang->warps[done];
        Fragment *fragment = gang->fragments[done];
        bool meets = !fragment->passes, is_all = warp_op->names_all && gang->masks[done] == warp->live;
        if (meets && !(block->observed ? is_all : is_whole(warp_op, warp, gang->masks[done]))) break;
        if (!warp_op->names_all && outsiders(warp_op, warp, gang->masks[done])) break;
        if (meets && block->observed) observe_warp_sync(warp, op->pc, gang->masks[done]);
        fragment->passes = false;
        warp->called &= ~gang->masks[done];
    }
    block->worker->counters[op->pc].requests += (uint64_t)done;
    return done;
}

/* Observes the groups of lanes that name each other and have all arrived; there may be several. */
static void observe_groups(const Warp *warp, int pc, uint32_t met, const uint32_t *names) {
    while (met) {
        uint32_t group = (names[__builtin_ctz(met)] & met) | (met & -met);
        observe_warp_sync(warp, pc, group);
        met &= ~group;
    }
}

/* The current fragment, of lanes `mask`, reaches a bar.warp.sync: it continues, with those that wait for it,
 * once all lanes that they name have arrived. Returns the lanes that need not wait; 0: all wait. */
static uint32_t meet_at_warp_sync(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    WarpMeeting meeting;
    meeting_find(block, warp, op, mask, &meeting);
    if (is_whole(op->extra, warp, mask)) meeting.complete = mask;
    if (!(meeting.complete & mask)) {
        wait_for(warp, mask, &meeting);
        return 0;
    }
    meeting_part(block, warp, &meeting, mask);
    meeting_let_pass(block, warp, &meeting);
    if (block->observed) observe_groups(warp, op->pc, meeting.complete, meeting.names);
    return mask & meeting.complete;
}

static Outcome execute_warp_sync(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const WarpOp *warp_op = op->extra;
    Fragment *fragment = warp_fragment(warp);
    if (!fragment->passes && (block->observed || !is_whole(warp_op, warp, mask))) {
        mask = meet_at_warp_sync(block, warp, op, mask);
        if (!mask) return OUTCOME_WAIT;
    }
    uint32_t outside = outsiders(warp_op, warp, mask);
    if (outside) warp_op_report_outsiders(block, warp, op, outside);
    fragment->passes = false;
    warp->called &= ~mask;
    block->worker->counters[op->pc].requests++;
    if (block->recorder) {
        TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_WARP_SYNC);
        event->participants = members_of(warp_op, warp, __builtin_ctz(mask), ALL_LANES);
        recorder_end(block->recorder, false, false);
    }
    return OUTCOME_NEXT;
}

/* ---- shfl ------------------------------------------------------------------------------------------- */

/* The source lane of each lane (trace/producer_rules.h), as one branch-free loop per mode. */
static void shuffle_sources(int mode, const uint32_t *b, const uint32_t *c, int32_t *source) {
    switch ((ShuffleMode)mode) {
    case SHUFFLE_UP:
        for (int l = 0; l < WARP_LANES; l++) source[l] = trace_shuffle_source(SHUFFLE_UP, l, b[l], c[l]);
        break;
    case SHUFFLE_DOWN:
        for (int l = 0; l < WARP_LANES; l++) source[l] = trace_shuffle_source(SHUFFLE_DOWN, l, b[l], c[l]);
        break;
    case SHUFFLE_BFLY:
        for (int l = 0; l < WARP_LANES; l++) source[l] = trace_shuffle_source(SHUFFLE_BFLY, l, b[l], c[l]);
        break;
    case SHUFFLE_IDX:
        for (int l = 0; l < WARP_LANES; l++) source[l] = trace_shuffle_source(SHUFFLE_IDX, l, b[l], c[l]);
        break;
    }
}

static bool is_uniform(Operand operand, const uint32_t *values) {
    return operand.constant || !memcmp(values, values + 1, (WARP_LANES - 1) * sizeof *values);
}

/* A shuffle of a whole warp. Returns the lanes whose source lies in their segment. */
static uint32_t shuffle_all(const WarpOp *op, const uint32_t *own, const uint32_t *b, const uint32_t *c,
                            uint32_t *d) {
    /* the common case */
    if (op->mode == SHUFFLE_DOWN && is_uniform(op->b, b) && is_uniform(op->c, c) && (c[0] & 0x1f1f) == 0x1f) {
        size_t by = b[0] & 31;
        memcpy(d, own + by, (WARP_LANES - by) * sizeof *d);
        memcpy(d + WARP_LANES - by, own + WARP_LANES - by, by * sizeof *d);
        return ALL_LANES >> by;
    }
    int32_t sources[WARP_LANES];
    uint32_t in_segment = 0;
    shuffle_sources(op->mode, b, c, sources);
    for (int l = 0; l < WARP_LANES; l++) {
        in_segment |= (uint32_t)(sources[l] >= 0) << l;
        d[l] = own[sources[l] >= 0 ? sources[l] : l];
    }
    return in_segment;
}

static void write_in_segment(const WarpOp *op, Warp *warp, uint32_t mask, uint32_t in_segment) {
    if (!op->has_p) return;
    uint32_t *p = operand_at(warp, op->p);
    *p = (*p & ~mask) | (in_segment & mask);
}

static void compute_shuffle(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    const uint32_t *a = operand_at(warp, op->a), *b = operand_at(warp, op->b), *c = operand_at(warp, op->c);
    uint32_t *d = operand_at(warp, op->d), own[WARP_LANES], in_segment = 0, undefined = 0;
    int32_t sources[WARP_LANES];
    memcpy(own, a, sizeof own);
    if (mask == ALL_LANES && op->has_d && !event) {
        write_in_segment(op, warp, mask, shuffle_all(op, own, b, c, d));
        return;
    }
    shuffle_sources(op->mode, b, c, sources);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), source = sources[lane];
        if (source >= 0) in_segment |= lane_bit[lane];
        int from = source >= 0 ? source : lane;
        bool defined = mask & lane_bit[from];
        if (!defined) undefined |= lane_bit[lane];
        /* undefined in PTX; an H200 gives 0 to lanes whose source lane is elsewhere */
        uint32_t value = defined ? own[from] : 0;
        if (op->has_d) d[lane] = value;
        if (!event) continue;
        event->value[0][lane] = value;
        event->operand[lane] = own[lane];
        event->source[lane] = (int8_t)(defined ? from : -1);
    }
    if (undefined) warp_op_undefined(op, warp, undefined, event);
    write_in_segment(op, warp, mask, in_segment);
}

/* ---- vote, match, activemask, elect ----------------------------------------------------------------- */

static void write_result(const WarpOp *op, Warp *warp, int lane, uint64_t value, TraceEvent *event) {
    if (op->has_d) register_write(warp, op->d, op->d_bytes, lane, value);
    if (event) event->value[0][lane] = value;
}

static void compute_vote(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    uint32_t holds = *(const uint32_t *)operand_at(warp, op->a);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t group = members_of(op, warp, lane, mask), yes = holds & group;
        uint64_t value = op->mode == VOTE_ALL   ? yes == group
                         : op->mode == VOTE_ANY ? yes != 0
                         : op->mode == VOTE_UNI ? yes == group || yes == 0
                                                : yes;
        if (event) event->operand[lane] = holds >> lane & 1;
        write_result(op, warp, lane, value, event);
    }
}

static void compute_match(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    uint64_t a[WARP_LANES] = {0};
    uint32_t agree = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        a[lane] = register_read(warp, op->a, op->a_bytes, lane);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t group = members_of(op, warp, lane, mask), equal = 0;
        for (uint32_t others = group; others; others &= others - 1) {
            int other = __builtin_ctz(others);
            if (a[other] == a[lane]) equal |= lane_bit[other];
        }
        bool all = equal == group;
        if (all) agree |= lane_bit[lane];
        if (event) event->operand[lane] = a[lane];
        write_result(op, warp, lane, op->mode == VOTE_ALL ? (all ? group : 0) : equal, event);
    }
    if (!op->has_p) return;
    uint32_t *p = operand_at(warp, op->p);
    *p = (*p & ~mask) | (agree & mask);
}

static void compute_activemask(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        write_result(op, warp, __builtin_ctz(rest), mask, event);
}

static void compute_elect(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    uint32_t elected = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t group = members_of(op, warp, lane, mask);
        int leader = group ? __builtin_ctz(group) : lane;
        if (leader == lane) elected |= lane_bit[lane];
        write_result(op, warp, lane, (uint64_t)leader, event);
    }
    if (!op->has_p) return;
    uint32_t *p = operand_at(warp, op->p);
    *p = (*p & ~mask) | (elected & mask);
}

/* ---- redux ------------------------------------------------------------------------------------------ */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t fold_float(const WarpOp *op, uint32_t a, uint32_t b) {
    bool nan_a = (a & 0x7fffffff) > 0x7f800000, nan_b = (b & 0x7fffffff) > 0x7f800000;
    if (nan_a || nan_b) return op->keeps_nan || (nan_a && nan_b) ? 0x7fffffff : nan_a ? b : a;
    /* -0 < +0 */
    bool a_first = float_of(a) < float_of(b) || (float_of(a) == float_of(b) && a >> 31 >= b >> 31);
    return op->operation == PTX_MOD_MIN ? (a_first ? a : b) : (a_first ? b : a);
}

static uint32_t fold(const WarpOp *op, uint32_t a, uint32_t b) {
    switch (op->operation) {
    case PTX_MOD_ADD:
        return a + b;
    case PTX_MOD_AND:
        return a & b;
    case PTX_MOD_OR:
        return a | b;
    case PTX_MOD_XOR:
        return a ^ b;
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        break;
    default:
        return a;
    }
    if (op->type == PTX_F32) return fold_float(op, a, b);
    bool less = ptx_type_is_signed(op->type) ? (int32_t)a < (int32_t)b : a < b;
    return (op->operation == PTX_MOD_MIN) == less ? a : b;
}

static uint32_t fold_all(const WarpOp *op, const uint32_t *own, uint32_t group) {
    uint32_t result = 0;
    if (op->operation == PTX_MOD_ADD) { /* loops that the compiler vectorizes */
        for (int l = 0; l < WARP_LANES; l++) result += own[l] & (group & lane_bit[l] ? ~UINT32_C(0) : 0);
        return result;
    }
    result = own[__builtin_ctz(group)];
    for (uint32_t rest = group & (group - 1); rest; rest &= rest - 1)
        result = fold(op, result, own[__builtin_ctz(rest)]);
    return result;
}

/* d[l] = value for the lanes of the mask, without recording. */
static void write_same(const WarpOp *op, Warp *warp, uint32_t mask, uint32_t value) {
    uint32_t *d = operand_at(warp, op->d);
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t kept = mask & lane_bit[l] ? 0 : ~UINT32_C(0);
        d[l] = (d[l] & kept) | (value & ~kept);
    }
}

static void compute_redux(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event) {
    const uint32_t *a = operand_at(warp, op->a);
    uint32_t own[WARP_LANES], left = mask;
    for (int lane = 0; lane < WARP_LANES; lane++) own[lane] = op->absolute ? a[lane] & 0x7fffffff : a[lane];
    if (event)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            event->operand[__builtin_ctz(rest)] = a[__builtin_ctz(rest)];
    while (left) {
        uint32_t group = members_of(op, warp, __builtin_ctz(left), mask);
        uint32_t same = left, result = group ? fold_all(op, own, group) : 0;
        for (uint32_t rest = op->members.constant ? 0 : left; rest; rest &= rest - 1)
            if (members_of(op, warp, __builtin_ctz(rest), mask) != group)
                same &= ~lane_bit[__builtin_ctz(rest)];
        if (!event && op->has_d)
            write_same(op, warp, same, result);
        else
            for (uint32_t rest = same; rest; rest &= rest - 1)
                write_result(op, warp, __builtin_ctz(rest), result, event);
        left &= ~same;
    }
}

/* ---- tapes (warp_op.h) ------------------------------------------------------------------------------ */

OP_FUNCTION(run_warp_op) {
    const WarpOp *warp_op = op->extra;
    warp_op->compute(warp_op, warp, mask, NULL);
}

Op *warp_op_copy(Arena *arena, const Op *op, WarpRegisters *registers) {
    Op *copy = arena_copy(arena, op, sizeof *op);
    WarpOp *own = arena_copy(arena, op->extra, sizeof *own);
    *registers = (WarpRegisters){.is_shuffle = own->kind == TRACE_SHUFFLE};
    if (own->has_d) registers->d = &own->d;
    if (own->has_p) registers->p = &own->p;
    if (own->has_a) registers->a = &own->a;
    if (own->has_members) registers->fixed[registers->fixed_count++] = &own->members;
    if (registers->is_shuffle) {
        registers->fixed[registers->fixed_count++] = &own->b;
        registers->fixed[registers->fixed_count++] = &own->c;
    }
    copy->run = run_warp_op;
    copy->extra = own;
    return copy;
}

bool warp_op_is_whole(const Op *op, Warp *warp, uint32_t mask) {
    const WarpOp *warp_op = op->extra;
    return !warp_op->has_members || is_whole(warp_op, warp, mask);
}

void warp_op_sources(const Op *op, const Warp *warp, uint32_t mask, uint8_t from[WARP_LANES]) {
    const WarpOp *warp_op = op->extra;
    int32_t sources[WARP_LANES];
    shuffle_sources(warp_op->mode, operand_at(warp, warp_op->b), operand_at(warp, warp_op->c), sources);
    for (int l = 0; l < WARP_LANES; l++) {
        int source = sources[l] >= 0 ? sources[l] : l;
        from[l] = (uint8_t)(mask & lane_bit[source] ? source : WARP_LANES);
    }
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static WarpOp *new_warp_op(Lowering *low, const PtxInstruction *in, Op *op, WarpCompute compute) {
    WarpOp *warp_op = lowering_allocate(low, sizeof *warp_op);
    warp_op->core.execute = execute_warp_op;
    warp_op->core.execute_together = warp_ops_together;
    warp_op->core.form = CORE_EXCHANGE;
    warp_op->compute = compute;
    warp_op->pc = op->pc;
    warp_op->kind = trace_kind_of(in);
    warp_op->type = in->type_count ? in->types[0] : PTX_B32;
    warp_op->has_a = in->opcode != PTX_activemask && in->opcode != PTX_elect && in->opcode != PTX_bar;
    op->op_class = OP_WARP;
    op->extra = warp_op;
    return warp_op;
}

/* Lowers d or d|p: `bytes` is the width of d, 0: a predicate. Copies them into the Op, for the provenance of
 * a replay. */
static bool warp_destination(Lowering *low, Op *op, WarpOp *warp_op, const PtxOperand *operand, int bytes) {
    const PtxOperand *d = operand, *p = NULL;
    if (operand->kind == PTX_OPERAND_PAIR && operand->item_count == 2)
        d = &operand->items[0], p = &operand->items[1];
    uint8_t width;
    if (!lowering_destination(low, op, d, &warp_op->d, &warp_op->d_bytes, &warp_op->has_d)) return false;
    if (warp_op->has_d && warp_op->d_bytes != bytes)
        return lowering_reject(low, op, "%s: the destination has the wrong size", low->instruction->name);
    if (p && !lowering_destination(low, op, p, &warp_op->p, &width, &warp_op->has_p)) return false;
    if (p && warp_op->has_p && width)
        return lowering_reject(low, op, "%s: a predicate is needed", low->instruction->name);
    op->d = warp_op->d, op->has_d = warp_op->has_d, op->d_bytes = warp_op->d_bytes;
    op->p = warp_op->p, op->has_p = warp_op->has_p;
    return true;
}

static bool warp_source(Lowering *low, Op *op, int index, PtxType type, Operand *out) {
    uint8_t bytes;
    if (index >= low->instruction->operand_count)
        return lowering_reject(low, op, "%s has too few operands", low->instruction->name);
    if (!lowering_value(low, op, &low->instruction->operands[index], type, out, &bytes)) return false;
    int wanted = type == PTX_PRED ? 0 : ptx_type_bytes(type);
    if (bytes != wanted)
        return lowering_reject(low, op, "%s: an operand has the wrong size", low->instruction->name);
    return true;
}

static bool warp_members(Lowering *low, Op *op, WarpOp *warp_op, int index) {
    const PtxOperand *members =
        index < low->instruction->operand_count ? &low->instruction->operands[index] : NULL;
    warp_op->has_members = true;
    warp_op->names_all =
        members && members->kind == PTX_OPERAND_INTEGER && (uint32_t)members->integer == ALL_LANES;
    return warp_source(low, op, index, PTX_U32, &warp_op->members);
}

/* The index in `kinds` (up to PTX_MODIFIER_NONE) of the first modifier that the instruction has, or -1. */
static int mode_of(const PtxInstruction *in, const PtxModifierKind *kinds) {
    for (int i = 0; kinds[i] != PTX_MODIFIER_NONE; i++)
        if (ptx_instruction_has(in, kinds[i])) return i;
    return -1;
}

OPCODE_LOWER(shfl) {
    static const PtxModifierKind modes[] = {PTX_MOD_UP, PTX_MOD_DOWN, PTX_MOD_BFLY, PTX_MOD_IDX,
                                            PTX_MODIFIER_NONE};
    WarpOp *warp_op = new_warp_op(low, in, op, compute_shuffle);
    warp_op->mode = mode_of(in, modes);
    warp_op->a_bytes = 4;
    bool sync = ptx_instruction_has(in, PTX_MOD_SYNC);
    if (warp_op->mode < 0 || in->operand_count < 4 + sync) return lowering_reject(low, op, "shfl: malformed");
    if (!warp_destination(low, op, warp_op, &in->operands[0], 4) ||
        !warp_source(low, op, 1, PTX_B32, &warp_op->a) || !warp_source(low, op, 2, PTX_B32, &warp_op->b) ||
        !warp_source(low, op, 3, PTX_B32, &warp_op->c))
        return false;
    op->s[0] = warp_op->a;
    op->s_bytes[0] = 4;
    op->source_count = 1;
    return !sync || warp_members(low, op, warp_op, 4);
}

OPCODE_LOWER(vote) {
    static const PtxModifierKind modes[] = {PTX_MOD_ALL, PTX_MOD_ANY, PTX_MOD_UNI, PTX_MOD_BALLOT,
                                            PTX_MODIFIER_NONE};
    WarpOp *warp_op = new_warp_op(low, in, op, compute_vote);
    warp_op->mode = mode_of(in, modes);
    bool sync = ptx_instruction_has(in, PTX_MOD_SYNC);
    if (warp_op->mode < 0 || in->operand_count < 2 + sync) return lowering_reject(low, op, "vote: malformed");
    if (!warp_destination(low, op, warp_op, &in->operands[0], warp_op->mode == VOTE_BALLOT ? 4 : 0) ||
        !warp_source(low, op, 1, PTX_PRED, &warp_op->a))
        return false;
    return !sync || warp_members(low, op, warp_op, 2);
}

OPCODE_LOWER(match) {
    static const PtxModifierKind modes[] = {PTX_MOD_ALL, PTX_MOD_ANY, PTX_MODIFIER_NONE};
    WarpOp *warp_op = new_warp_op(low, in, op, compute_match);
    warp_op->mode = mode_of(in, modes);
    if (warp_op->mode < 0 || in->operand_count != 3) return lowering_reject(low, op, "match: malformed");
    warp_op->a_bytes = (uint8_t)ptx_type_bytes(warp_op->type);
    if (warp_op->a_bytes != 4 && warp_op->a_bytes != 8)
        return lowering_reject(low, op, "match takes .b32 or .b64");
    return warp_destination(low, op, warp_op, &in->operands[0], 4) &&
           warp_source(low, op, 1, warp_op->type, &warp_op->a) && warp_members(low, op, warp_op, 2);
}

OPCODE_LOWER(activemask) {
    WarpOp *warp_op = new_warp_op(low, in, op, compute_activemask);
    if (in->operand_count != 1) return lowering_reject(low, op, "activemask: malformed");
    return warp_destination(low, op, warp_op, &in->operands[0], 4);
}

OPCODE_LOWER(elect) {
    WarpOp *warp_op = new_warp_op(low, in, op, compute_elect);
    if (in->operand_count != 2) return lowering_reject(low, op, "elect: malformed");
    return warp_destination(low, op, warp_op, &in->operands[0], 4) && warp_members(low, op, warp_op, 1);
}

OPCODE_LOWER(redux) {
    static const PtxModifierKind operations[] = {PTX_MOD_ADD, PTX_MOD_AND, PTX_MOD_OR,       PTX_MOD_XOR,
                                                 PTX_MOD_MIN, PTX_MOD_MAX, PTX_MODIFIER_NONE};
    WarpOp *warp_op = new_warp_op(low, in, op, compute_redux);
    int operation = mode_of(in, operations);
    if (operation < 0 || in->operand_count != 3 || ptx_type_bytes(warp_op->type) != 4)
        return lowering_reject(low, op, "redux: malformed");
    warp_op->operation = operations[operation];
    warp_op->a_bytes = 4;
    warp_op->absolute = ptx_instruction_has(in, PTX_MOD_ABS);
    warp_op->keeps_nan = ptx_instruction_has(in, PTX_MOD_NAN);
    bool is_float = warp_op->type == PTX_F32;
    if (is_float && warp_op->operation != PTX_MOD_MIN && warp_op->operation != PTX_MOD_MAX)
        return lowering_reject(low, op, "redux.f32 takes min or max");
    if (!warp_destination(low, op, warp_op, &in->operands[0], 4) ||
        !warp_source(low, op, 1, warp_op->type, &warp_op->a))
        return false;
    op->s[0] = warp_op->a;
    op->s_bytes[0] = 4;
    op->source_count = 1;
    return warp_members(low, op, warp_op, 2);
}

bool lower_warp_sync(Lowering *low, const PtxInstruction *in, Op *op) {
    WarpOp *warp_op = new_warp_op(low, in, op, NULL);
    warp_op->core.execute = execute_warp_sync;
    warp_op->core.execute_together = warp_syncs_together;
    warp_op->core.form = CORE_NO_VALUE;
    if (in->operand_count != 1) return lowering_reject(low, op, "bar.warp.sync: malformed");
    return warp_members(low, op, warp_op, 0);
}
