/* Lanes that execute a .sync instruction together from several places (warp_meet.h).
 *
 * Their operands are gathered as if they were registers of one instruction, which computes the results; each
 * lane then takes its own. */
#include "emulator/instructions/warp_meet.h"

#include "base/language.h"
#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/shadow.h"

/* ---- who meets ---------------------------------------------------------------------------------------- */

static const Op *op_of(const Block *block, const Fragment *fragment) {
    return &block->grid->program->ops[fragment->pc];
}

static bool have_same_qualifiers(const WarpOp *a, const WarpOp *b) {
    return a->compute == b->compute && a->kind == b->kind && a->mode == b->mode && a->type == b->type &&
           a->operation == b->operation && a->absolute == b->absolute && a->keeps_nan == b->keeps_nan;
}

static bool are_at_same_place(const Fragment *a, const Fragment *b) {
    return a->pc == b->pc && a->frame == b->frame;
}

/* Registers that follow are those of the fragment. */
static void enter(Warp *warp, int index) {
    warp->current = index;
    warp->base.at[IN_REGISTERS] = warp->fragments[index].frame->registers;
}

static void read_names(const Block *block, Warp *warp, int index, uint32_t lanes, uint32_t *names) {
    const WarpOp *op = op_of(block, &warp->fragments[index])->extra;
    int kept = warp->current;
    enter(warp, index);
    const uint32_t *members = operand_at(warp, op->members);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        names[__builtin_ctz(rest)] = members[__builtin_ctz(rest)];
    enter(warp, kept);
}

void meeting_find(const Block *block, Warp *warp, const Op *op, uint32_t mask, WarpMeeting *meeting) {
    uint32_t here = mask;
    *meeting = (WarpMeeting){0};
    read_names(block, warp, warp->current, mask, meeting->names);
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        if (other->state != FRAGMENT_AT_WARP_OP ||
            !have_same_qualifiers(op_of(block, other)->extra, op->extra))
            continue;
        here |= other->active;
        read_names(block, warp, i, other->active, meeting->names);
    }
    while (here & mask) { /* the lanes with one mask */
        uint32_t names = meeting->names[__builtin_ctz(here & mask)], group = 0;
        for (uint32_t rest = here; rest; rest &= rest - 1)
            if (meeting->names[__builtin_ctz(rest)] == names) group |= rest & -rest;
        uint32_t missing = names & warp->live & ~group;
        meeting->missing |= missing;
        if (!missing) meeting->complete |= group;
        here &= ~group;
    }
}

static bool takes_part(const Warp *warp, int index, const WarpMeeting *meeting) {
    const Fragment *fragment = &warp->fragments[index];
    return index == warp->current ||
           (fragment->state == FRAGMENT_AT_WARP_OP && fragment->active & meeting->complete);
}

bool meeting_has_places(const Warp *warp, const WarpMeeting *meeting) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (takes_part(warp, i, meeting) &&
            !are_at_same_place(&warp->fragments[i], &warp->fragments[warp->current]))
            return true;
    return false;
}

/* ---- fragments ---------------------------------------------------------------------------------------- */

/* `lanes` of the fragment wait at its instruction, in a fragment of their own. */
static void part(Block *block, Warp *warp, Fragment *fragment, uint32_t lanes, uint32_t missing,
                 const WarpMeeting *meeting) {
    count_segment(block->worker, fragment, fragment->pc);
    Fragment *waiting = &warp->fragments[warp->fragment_count++];
    *waiting = *fragment;
    waiting->mask = waiting->active = lanes;
    waiting->state = FRAGMENT_AT_WARP_OP;
    waiting->awaited = missing;
    waiting->named = meeting->names[__builtin_ctz(lanes)];
    fragment->mask &= ~lanes;
    fragment->active &= ~lanes;
}

void meeting_part(Block *block, Warp *warp, const WarpMeeting *meeting, uint32_t mask) {
    uint32_t lanes = mask & ~meeting->complete;
    if (lanes) part(block, warp, warp_fragment(warp), lanes, meeting->missing, meeting);
}

/* Makes the waiting fragment ready; the lanes that must still wait stay behind. */
static void wake(Block *block, Warp *warp, Fragment *fragment, const WarpMeeting *meeting) {
    uint32_t lanes = fragment->active & ~meeting->complete;
    if (lanes) part(block, warp, fragment, lanes, fragment->awaited, meeting);
    fragment->state = FRAGMENT_READY;
}

void meeting_let_pass(Block *block, Warp *warp, const WarpMeeting *meeting) {
    for (int i = 0; i < warp->fragment_count; i++) {
        if (i == warp->current || !takes_part(warp, i, meeting)) continue;
        wake(block, warp, &warp->fragments[i], meeting);
        warp->fragments[i].passes = true;
    }
}

/* True if an earlier fragment of the meeting, or the current one, is at the same place. */
static bool is_at_known_place(const Warp *warp, int index, uint32_t met) {
    for (int i = 0; i < warp->fragment_count; i++)
        if ((i == warp->current || (i < index && met >> i & 1)) &&
            are_at_same_place(&warp->fragments[i], &warp->fragments[index]))
            return true;
    return false;
}

void meeting_pass_on(Block *block, Warp *warp, const WarpMeeting *meeting) {
    uint32_t met = 0; /* one bit per fragment */
    for (int i = 0; i < warp->fragment_count; i++)
        if (i != warp->current && takes_part(warp, i, meeting)) met |= UINT32_C(1) << i;
    for (uint32_t rest = met; rest; rest &= rest - 1) {
        Fragment *fragment = &warp->fragments[__builtin_ctz(rest)];
        TraceCounter *counter = &block->worker->counters[fragment->pc];
        if (is_at_known_place(warp, __builtin_ctz(rest), met))
            counter->executions--; /* one execution for all of them */
    }
    for (uint32_t rest = met; rest; rest &= rest - 1) {
        Fragment *fragment = &warp->fragments[__builtin_ctz(rest)];
        wake(block, warp, fragment, meeting);
        block->worker->counters[fragment->pc].lanes -=
            (uint64_t)__builtin_popcount(fragment->mask & ~fragment->active);
        fragment->pc++;
    }
}

/* ---- lanes at one place -------------------------------------------------------------------------------- */

void warp_op_report_outsiders(Block *block, const Warp *warp, const Op *op, uint32_t lanes) {
    uint8_t *reported = &block->worker->reported[op->pc];
    block->worker->irregular++;
    if (block->hooks || *reported >= MAX_REPORTED) return;
    ++*reported;
    int lane = __builtin_ctz(lanes);
    const WarpOp *warp_op = op->extra;
    const uint32_t *members = operand_at(warp, warp_op->members);
    raise_trap(block, TRAP_LANE_OUTSIDE_MASK, warp, op->pc, lanes, NULL,
               tr("%s is executed by lanes that its mask does not name (in lane %d it is 0x%08x"
                  "): the behavior is undefined"),
               trace_kind_of(op->instruction) == TRACE_WARP_SYNC ? "__syncwarp()" : op->instruction->name,
               lane, members[lane]);
}

TraceEvent *warp_op_begin_event(Block *block, const Warp *warp, const Op *op, uint32_t lanes) {
    const WarpOp *warp_op = op->extra;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, lanes, warp_op->kind);
    event->participants = lanes;
    if (warp_op->has_members)
        event->participants = ((const uint32_t *)operand_at(warp, warp_op->members))[__builtin_ctz(lanes)];
    event->has_result = true;
    event->element_count = 1;
    event->element_bytes = warp_op->has_d && warp_op->d_bytes ? warp_op->d_bytes : 4;
    return event;
}

void warp_op_undefined(const WarpOp *op, Warp *warp, uint32_t lanes, TraceEvent *event) {
    if (op->is_copy) return;
    if (event && warp->block->recorded_values)
        recorded_values_shuffle(warp->block->recorded_values, warp, op->d, op->has_d, lanes, event->value[0]);
    if (op->has_d && warp->block->observed) undefined_begin(warp, op->pc, op->d, lanes);
}

void warp_op_follow(const WarpOp *op, Warp *warp, uint32_t lanes, const FollowedLanes *from) {
    uint32_t none[WARP_LANES] = {0};
    Operand to[2];
    int count = 0;
    if (op->kind == TRACE_SHUFFLE)
        undefined_shuffle(warp, from->value, op->d, op->has_d, lanes, from->source);
    if (op->has_d && op->kind != TRACE_SHUFFLE) to[count++] = op->d;
    if (op->has_p) to[count++] = op->p;
    undefined_gather(warp, from->value, to, count, lanes, op->kind == TRACE_SHUFFLE ? none : from->names);
}

/* ---- exchanging values -------------------------------------------------------------------------------- */

enum { IN_A, IN_B, IN_C, IN_MEMBERS, IN_P, COPIED_SLOTS };

typedef struct Exchange {
    _Alignas(64) uint8_t registers[COPIED_SLOTS][WARP_LANES * sizeof(uint64_t)];
    WarpOp op;        /* their qualifiers, with the registers above as operands */
    TraceEvent event; /* its results */
    UndefinedValue undefined;
    ShadowParts numbers[WARP_LANES]; /* of A, in a run with a shadow */
    MetLanes met;
} Exchange;

static Operand slot(int index) {
    return (Operand){(uint32_t)index * WARP_LANES * sizeof(uint64_t), false};
}

/* Copies an operand of the current fragment. */
static void copy_operand(Exchange *exchange, Warp *warp, Operand from, int bytes, int to, uint32_t lanes) {
    uint8_t *registers = warp->base.at[IN_REGISTERS];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t value = register_read(warp, from, bytes, lane);
        warp->base.at[IN_REGISTERS] = &exchange->registers[0][0];
        register_write(warp, slot(to), bytes, lane, value);
        warp->base.at[IN_REGISTERS] = registers;
        if (to == IN_A) exchange->met.operand[lane] = value;
    }
}

static void copy_undefined(UndefinedValue *to, const UndefinedValue *from, uint32_t lanes) {
    for (uint32_t rest = from ? from->lanes & lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        to->lanes |= lane_bit[lane];
        to->origin[lane] = from->origin[lane];
        to->bytes[lane] = from->bytes[lane];
    }
}

/* The lanes of a fragment that take part. */
static uint32_t lanes_of(const Fragment *fragment, const WarpMeeting *meeting) {
    return fragment->mask & meeting->complete;
}

static void gather(Exchange *exchange, const Block *block, Warp *warp, const WarpMeeting *meeting) {
    const Fragment *fragment = warp_fragment(warp);
    const WarpOp *op = op_of(block, fragment)->extra;
    uint32_t lanes = lanes_of(fragment, meeting);
    if (op->has_a) {
        copy_operand(exchange, warp, op->a, op->a_bytes, IN_A, lanes);
        copy_undefined(&exchange->undefined, undefined_find(fragment->frame, op->a), lanes);
    }
    for (uint32_t rest = block->grid->shadow && op->kind == TRACE_SHUFFLE ? lanes : 0; rest;
         rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        exchange->numbers[lane] =
            shadow_of_register(fragment->frame, op->a, 4, lane, exchange->met.operand[lane]);
    }
    if (op->kind == TRACE_SHUFFLE) {
        copy_operand(exchange, warp, op->b, 4, IN_B, lanes);
        copy_operand(exchange, warp, op->c, 4, IN_C, lanes);
    }
    copy_operand(exchange, warp, op->members, 4, IN_MEMBERS, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        exchange->met.frame[__builtin_ctz(rest)] = fragment->frame;
        exchange->met.place[__builtin_ctz(rest)] = op->a;
    }
}

/* The lanes with one mask after another. */
static void compute(Exchange *exchange, Warp *warp, const WarpMeeting *meeting) {
    warp->base.at[IN_REGISTERS] = &exchange->registers[0][0];
    for (uint32_t left = meeting->complete; left;) {
        uint32_t names = meeting->names[__builtin_ctz(left)], group = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (meeting->names[__builtin_ctz(rest)] == names) group |= rest & -rest;
        for (uint32_t rest = group; rest; rest &= rest - 1)
            exchange->met.names[__builtin_ctz(rest)] = names & group;
        exchange->op.compute(&exchange->op, warp, group, &exchange->event);
        left &= ~group;
    }
}

static void write_results(const Exchange *exchange, const WarpOp *op, Warp *warp, uint32_t lanes) {
    uint32_t holds;
    memcpy(&holds, exchange->registers[IN_P], sizeof holds);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (op->has_d) register_write(warp, op->d, op->d_bytes, lane, exchange->event.value[0][lane]);
        if (op->has_p) register_write(warp, op->p, 0, lane, holds >> lane & 1);
    }
}

static TraceEvent *begin_event(const Exchange *exchange, Block *block, const Warp *warp, const Op *op,
                               uint32_t lanes) {
    TraceEvent *event = warp_op_begin_event(block, warp, op, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->value[0][lane] = exchange->event.value[0][lane];
        event->operand[lane] = exchange->event.operand[lane];
        event->source[lane] = exchange->event.source[lane];
    }
    return event;
}

static void set_numbers(const Exchange *exchange, const WarpOp *op, Warp *warp, uint32_t lanes) {
    static const ShadowParts none = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), source = exchange->event.source[lane];
        shadow_set_register(warp_fragment(warp)->frame, op->d, 4, lane,
                            source < 0 ? &none : &exchange->numbers[source]);
    }
}

/* `lanes`, at the instruction of the current fragment, receive their results. */
static void finish_place(const Exchange *exchange, Block *block, Warp *warp, uint32_t lanes) {
    const Op *op = op_of(block, warp_fragment(warp));
    const WarpOp *warp_op = op->extra;
    FollowedLanes from = {.value = &exchange->undefined};
    uint32_t outside = 0, undefined = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!(exchange->met.names[lane] & lane_bit[lane])) outside |= lane_bit[lane];
        from.names[lane] = exchange->met.names[lane];
        from.source[lane] = exchange->event.source[lane];
        if (warp_op->kind == TRACE_SHUFFLE && from.source[lane] < 0) undefined |= lane_bit[lane];
    }
    if (outside) warp_op_report_outsiders(block, warp, op, outside);
    block->worker->counters[op->pc].requests++;
    TraceEvent *event = block->recorder ? begin_event(exchange, block, warp, op, lanes) : NULL;
    if (warp->follows) warp_op_follow(warp_op, warp, lanes, &from);
    if (block->grid->shadow && warp_op->kind == TRACE_SHUFFLE && warp_op->has_d)
        set_numbers(exchange, warp_op, warp, lanes);
    write_results(exchange, warp_op, warp, lanes);
    if (undefined) warp_op_undefined(warp_op, warp, undefined, event);
    if (event) recorder_end(block->recorder, false, false);
}

void meeting_exchange(Block *block, Warp *warp, const WarpMeeting *meeting) {
    const BlockHooks *hooks = block->hooks;
    int first = warp->current, count = warp->fragment_count;
    Exchange exchange = {.op = *(const WarpOp *)op_of(block, warp_fragment(warp))->extra};
    WarpOp *op = &exchange.op;
    op->a = slot(IN_A), op->b = slot(IN_B), op->c = slot(IN_C);
    op->members = slot(IN_MEMBERS), op->p = slot(IN_P);
    op->has_d = false;
    op->has_p = op->is_copy = true;
    uint32_t met = 0; /* one bit per fragment */
    for (int i = 0; i < count; i++)
        if (takes_part(warp, i, meeting)) met |= UINT32_C(1) << i;
    for (uint32_t rest = met; rest; rest &= rest - 1) {
        enter(warp, __builtin_ctz(rest));
        gather(&exchange, block, warp, meeting);
    }
    compute(&exchange, warp, meeting);
    exchange.met.lanes = meeting->complete;
    warp->called &= ~meeting->complete;
    if (hooks) hooks->meet(hooks->context, &exchange.met);
    for (int at = first; met; at = __builtin_ctz(met)) { /* a place, the current one first */
        uint32_t lanes = 0;
        for (uint32_t rest = met; rest; rest &= rest - 1) {
            const Fragment *other = &warp->fragments[__builtin_ctz(rest)];
            if (!are_at_same_place(other, &warp->fragments[at])) continue;
            lanes |= lanes_of(other, meeting);
            met &= ~(rest & -rest);
        }
        enter(warp, at);
        finish_place(&exchange, block, warp, lanes);
        block->executed += at != first;
        if (!met) break;
    }
    if (hooks) hooks->meet(hooks->context, NULL);
    enter(warp, first);
}
