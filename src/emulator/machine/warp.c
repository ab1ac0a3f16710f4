/* Warps: fragments that diverge and reconverge (warp.h). */
#include "emulator/machine/observe.h"
#include "emulator/machine/machine_block.h"
#include "emulator/machine/special_values.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

enum {
    SHARE = 512,         /* instructions of a fragment before a ready sibling runs */
    SPIN_ITERATIONS = 4, /* identical iterations without a change: the fragment spins */
    /* iterations whose watched values have not changed, although they do something else */
    VAIN_ITERATIONS = 64,
    /* instructions, with accesses in the loop, before waiting siblings are released anyway */
    PATIENCE = 1 << 20
};

void warp_select(Warp *warp, int index) {
    warp->current = index;
    if (index == NO_FRAGMENT) return;
    Fragment *fragment = &warp->fragments[index];
    warp->base.at[IN_REGISTERS] = fragment->frame->registers;
    fragment->since = warp->turn;
}

bool warp_pick(Warp *warp) {
    int count = warp->fragment_count, start = warp->current;
    if (count == 1) {
        bool ready = warp->fragments[0].state == FRAGMENT_READY;
        warp_select(warp, ready ? 0 : NO_FRAGMENT);
        return ready;
    }
    for (int i = 1; i <= count; i++) {
        int index = start + i < count ? start + i : start + i - count;
        if (warp->fragments[index].state != FRAGMENT_READY) continue;
        warp_select(warp, index);
        return true;
    }
    warp->current = NO_FRAGMENT;
    return false;
}

static void set_join(Warp *warp, Fragment *fragment, int join) {
    fragment->join = join;
    fragment->join_pc = join == NO_JOIN ? PTX_NO_PC : warp->joins[join].pc;
}

static int add_fragment(Warp *warp, int pc, uint32_t mask, Frame *frame, int join) {
    Fragment *fragment = &warp->fragments[warp->fragment_count];
    *fragment = (Fragment){.pc = pc, .mask = mask, .frame = frame, .segment = pc};
    set_join(warp, fragment, join);
    return warp->fragment_count++;
}

/* Keeps the order of the others. `current` keeps its fragment, or becomes NO_FRAGMENT if that one is
 * removed. */
static void remove_fragment(Warp *warp, int index) {
    for (int i = index + 1; i < warp->fragment_count; i++) warp->fragments[i - 1] = warp->fragments[i];
    warp->fragment_count--;
    if (warp->current == index)
        warp->current = NO_FRAGMENT;
    else if (warp->current > index)
        warp->current--;
}

static int add_join(Warp *warp, int pc, Frame *frame, uint32_t members, int parent) {
    int index = 0;
    while (index < warp->join_count && warp->joins[index].used) index++;
    if (index == warp->join_count) {
        array_reserve(warp->joins, warp->join_count + 1, warp->join_capacity);
        warp->join_count++;
    }
    warp->joins[index] = (Join){pc, frame, members, 0, parent, true};
    return index;
}

uint64_t frame_bytes(const FunctionLayout *layout) {
    return layout->register_bytes + (uint64_t)layout->parameter_bytes * WARP_LANES;
}

Frame *frame_new(const FunctionLayout *layout) {
    size_t head = (sizeof(Frame) + 63) / 64 * 64;
    Frame *frame = memory_new_aligned(head + frame_bytes(layout));
    frame->layout = layout;
    frame->registers = (uint8_t *)frame + head;
    frame->parameters = frame->registers + layout->register_bytes;
    return frame;
}

static void free_frame(Warp *warp, Frame *frame) {
    Frame **link = &warp->frames;
    while (*link != frame) link = &(*link)->next;
    *link = frame->next;
    warp->block->frame_bytes -= frame_bytes(frame->layout);
    free(frame->provenance);
    undefined_forget_frame(frame);
    shadow_forget_frame(frame);
    free(frame);
}

static int settle(Warp *warp, int pc, uint32_t mask, Frame *frame, int join);

/* All lanes that can still arrive have arrived: they continue together. Returns the fragment, or NO_FRAGMENT
 * if they now wait at the next outer join. */
static int complete_join(Warp *warp, int index) {
    Join join = warp->joins[index];
    warp->joins[index].used = false;
    if (!join.members) return NO_FRAGMENT;
    return settle(warp, join.pc, join.members, join.frame, join.parent);
}

static int complete_frame(Warp *warp, Frame *frame) {
    uint32_t lanes = frame->members;
    Frame *parent = frame->parent;
    int join = frame->join, pc = frame->call->pc + 1;
    free_frame(warp, frame);
    return lanes ? settle(warp, pc, lanes, parent, join) : NO_FRAGMENT;
}

/* Lanes reach `pc` inside `join`: they wait there if it is the join's pc; otherwise they become a
 * fragment. */
static int settle(Warp *warp, int pc, uint32_t mask, Frame *frame, int join) {
    while (join != NO_JOIN && warp->joins[join].pc == pc) {
        Join *at = &warp->joins[join];
        at->arrived |= mask;
        if (at->arrived != at->members) return NO_FRAGMENT;
        mask = at->members;
        at->used = false;
        join = at->parent;
    }
    return add_fragment(warp, pc, mask, frame, join);
}

void warp_start(Warp *warp, Block *block, int index, uint32_t lanes, Frame *entry_frame) {
    warp->block = block;
    warp->index = index;
    warp->started = warp->live = lanes;
    warp->turn = 0;
    warp->interval = 0;
    warp->called = 0;
    warp->fragment_count = warp->join_count = 0;
    warp->frames = warp->entry_frame = entry_frame;
    entry_frame->members = lanes;
    entry_frame->arrived = 0;
    entry_frame->next = NULL;
    memset(warp->arrived, 0, sizeof warp->arrived);
    warp->passed = 0;
    warp->failed_waits = 0;
    warp->base.at[IN_CONSTANTS] = block->grid->program->constants;
    warp_select(warp, add_fragment(warp, 0, lanes, entry_frame, NO_JOIN));
}

void warp_abandon(Warp *warp) {
    while (warp->frames && warp->frames != warp->entry_frame) free_frame(warp, warp->frames);
}

static void fill_slot(const Warp *warp, const Frame *frame, const FrameSlot *slot) {
    uint8_t *to = frame->registers + slot->offset;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t value = slot->special < 0 ? frame->local_base + slot->local_offset
                                           : special_value(slot->special, warp, lane);
        memcpy(to + lane * slot->bytes, &value, slot->bytes);
    }
}

void frame_fill_slots(const Warp *warp, const Frame *frame) {
    for (int i = 0; i < frame->layout->slot_count; i++) fill_slot(warp, frame, &frame->layout->slots[i]);
}

void frame_fill_block_slots(const Warp *warp, const Frame *frame) {
    for (int i = 0; i < frame->layout->slot_count; i++) {
        const FrameSlot *slot = &frame->layout->slots[i];
        if (slot->special < 0 || special_lifetime(slot->special) != SPECIAL_OF_BLOCK) continue;
        uint64_t value = special_value(slot->special, warp, 0);
        void *to = frame->registers + slot->offset;
        if (slot->bytes == 4)
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint32_t *)to)[lane] = (uint32_t)value;
        else if (slot->bytes == 8)
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint64_t *)to)[lane] = value;
        else
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint16_t *)to)[lane] = (uint16_t)value;
    }
}

void warp_done(Warp *warp) {
    warp_abandon(warp);
    free(warp->joins);
    free(warp->local);
    free(warp->local_written);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

/* The frame of `to` that corresponds to `frame` of `from`: both lists have the same order. */
static Frame *counterpart(const Warp *to, const Warp *from, const Frame *frame) {
    Frame *other = to->frames;
    for (const Frame *at = from->frames; at && other; at = at->next, other = other->next)
        if (at == frame) return other;
    return NULL;
}

static void copy_frame(const BlockHooks *hooks, Frame *to, const Frame *from) {
    Frame own = *to;
    *to = *from;
    to->registers = own.registers;
    to->parameters = own.parameters;
    to->provenance = own.provenance;
    memcpy(to->registers, from->registers, from->layout->register_bytes);
    if (from->layout->parameter_bytes)
        memcpy(to->parameters, from->parameters, (size_t)from->layout->parameter_bytes * WARP_LANES);
    hooks->copy_frame(to, from);
}

static void copy_frames(Warp *to, const Warp *from) {
    const BlockHooks *hooks = to->block->hooks;
    warp_abandon(to);
    Frame **link = &to->frames;
    for (const Frame *frame = from->frames; frame; frame = frame->next) {
        Frame *copy = to->entry_frame;
        if (frame != from->entry_frame) {
            copy = frame_new(frame->layout);
            hooks->begin_frame(copy);
        }
        copy_frame(hooks, copy, frame);
        *link = copy;
        link = &copy->next;
    }
    *link = NULL;
    for (Frame *frame = to->frames; frame; frame = frame->next)
        if (frame->parent) frame->parent = counterpart(to, from, frame->parent);
}

void warp_copy(Warp *to, const Warp *from) {
    Warp own = *to;
    copy_frames(&own, from);
    *to = *from;
    to->block = own.block;
    to->frames = own.frames;
    to->entry_frame = own.entry_frame;
    to->local = own.local;
    to->local_written = own.local_written;
    to->local_bytes = own.local_bytes;
    to->joins = own.joins;
    to->join_capacity = own.join_capacity;
    array_reserve(to->joins, from->join_count + 1, to->join_capacity);
    for (int i = 0; i < from->join_count; i++) {
        to->joins[i] = from->joins[i];
        if (from->joins[i].used) to->joins[i].frame = counterpart(to, from, from->joins[i].frame);
    }
    for (int i = 0; i < to->fragment_count; i++)
        to->fragments[i].frame = counterpart(to, from, from->fragments[i].frame);
    if (to->current != NO_FRAGMENT) to->base.at[IN_REGISTERS] = warp_fragment(to)->frame->registers;
}

/* ---- branches --------------------------------------------------------------------------------------- */

/* Starts an if without else, the common branch: `stay` continues at the next instruction, the rest waits at
 * the reconvergence point. The fragment keeps its position among the others, on which nothing depends if it
 * is the last. */
static void step_aside(Warp *warp, uint32_t stay, int reconvergence) {
    Fragment *fragment = warp_fragment(warp);
    int join = fragment->join, pc = fragment->pc + 1;
    uint32_t members = fragment->mask;
    if (join == NO_JOIN || warp->joins[join].pc != reconvergence) {
        join = add_join(warp, reconvergence, fragment->frame, members, join);
        fragment->join = join;
        fragment->join_pc = reconvergence;
    }
    warp->joins[join].arrived |= members & ~stay;
    fragment->mask = stay;
    fragment->pc = fragment->segment = pc;
    fragment->touched = fragment->changed = fragment->rests = false;
    fragment->quiet = 0;
    fragment->hash = fragment->last_hash = 0;
    fragment->watch = fragment->last_watch = 0;
    fragment->spins = fragment->vain = 0;
    fragment->waits = false;
    fragment->since = warp->turn;
}

/* Scatters the current fragment's lanes to `ways` targets; way 0 runs first. Replaces the fragment. */
void warp_scatter(Warp *warp, int ways, const uint32_t *masks, const int *targets, int reconvergence) {
    Fragment from = *warp_fragment(warp);
    remove_fragment(warp, warp->current);
    int join = from.join;
    bool known = join != NO_JOIN && warp->joins[join].pc == reconvergence;
    if (reconvergence != PTX_NO_PC && !known)
        join = add_join(warp, reconvergence, from.frame, from.mask, from.join);
    int first = NO_FRAGMENT;
    for (int way = 0; way < ways; way++) {
        if (!masks[way]) continue;
        int fragment = settle(warp, targets[way], masks[way], from.frame, join);
        if (first == NO_FRAGMENT) first = fragment;
    }
    warp_select(warp, first);
    if (first == NO_FRAGMENT) warp_pick(warp);
}

void warp_diverge(Warp *warp, uint32_t taken, int target, int reconvergence) {
    const Fragment *from = warp_fragment(warp);
    uint32_t masks[2] = {from->mask & ~taken, taken};
    int targets[2] = {from->pc + 1, target};
    uint64_t schedule = warp->block->grid->schedule;
    if (schedule && (schedule * 0x9e3779b97f4a7c15u ^ (uint64_t)from->pc * 0xc2b2ae3d27d4eb4fu) >> 63) {
        uint32_t mask = masks[0];
        masks[0] = masks[1], masks[1] = mask;
        targets[0] = target, targets[1] = from->pc + 1;
    } else if (target == reconvergence && targets[0] != reconvergence &&
               warp->current == warp->fragment_count - 1) {
        step_aside(warp, masks[0], reconvergence);
        return;
    }
    warp_scatter(warp, 2, masks, targets, reconvergence);
}

void warp_arrive(Warp *warp) {
    Fragment at = *warp_fragment(warp);
    remove_fragment(warp, warp->current);
    int fragment = settle(warp, at.pc, at.mask, at.frame, at.join);
    warp_select(warp, fragment);
    if (fragment == NO_FRAGMENT) warp_pick(warp);
}

/* Removes `lanes` from every join and frame; this may complete joins that waited only for them. */
static void forget_lanes(Warp *warp, uint32_t lanes) {
    for (int i = 0; i < warp->join_count; i++)
        if (warp->joins[i].used) warp->joins[i].members &= ~lanes, warp->joins[i].arrived &= ~lanes;
    for (Frame *frame = warp->frames; frame; frame = frame->next)
        frame->members &= ~lanes, frame->arrived &= ~lanes;
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < warp->join_count; i++) {
            Join *join = &warp->joins[i];
            if (!join->used || join->arrived != join->members) continue;
            complete_join(warp, i);
            again = true;
        }
        for (Frame *frame = warp->frames; frame; frame = frame->next) {
            if (frame == warp->entry_frame || frame->arrived != frame->members) continue;
            complete_frame(warp, frame);
            again = true;
            break;
        }
    }
}

/* Shrinks the current fragment to the lanes outside `lanes`, at the next pc; removes it if no lane
 * remains. */
static void leave(Warp *warp, uint32_t lanes) {
    Fragment *fragment = warp_fragment(warp);
    fragment->mask &= ~lanes;
    fragment->segment = ++fragment->pc;
    if (!fragment->mask) remove_fragment(warp, warp->current);
}

/* Lanes that were released because an instruction of the warp names them, and that did something else before
 * they exit, have passed that instruction by. It continues without them, as on an H200 (half_passes_by in
 * tests/kernels/early_return.cu); lanes that only exit are not waited for at all (shfl.sync: "all non-exited
 * threads corresponding to membermask"). */
static void note_passed_by(const Warp *warp, uint32_t lanes) {
    if (!(warp->called & lanes) || warp->block->hooks) return;
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *fragment = &warp->fragments[i];
        uint32_t gone = fragment->awaited & warp->called & lanes;
        if (fragment->state == FRAGMENT_AT_WARP_OP && gone) observe_passed_by(warp, fragment, gone);
    }
}

void warp_exit(Warp *warp, uint32_t lanes) {
    if (lanes == warp->live && lanes == warp_fragment(warp)->mask) { /* all at once */
        warp->live = 0;
        warp->fragment_count = 0;
        warp->current = NO_FRAGMENT;
        warp->block->live_warps--;
        return;
    }
    note_passed_by(warp, lanes);
    leave(warp, lanes);
    warp->live &= ~lanes;
    if (!warp->live) warp->block->live_warps--;
    for (int i = 0; i < warp->fragment_count; i++) { /* they may have waited for the exited lanes */
        Fragment *fragment = &warp->fragments[i];
        if (fragment->state == FRAGMENT_AT_WARP_OP || fragment->state == FRAGMENT_AT_ALIGNED)
            fragment->state = FRAGMENT_READY;
    }
    forget_lanes(warp, lanes);
    if (warp->current == NO_FRAGMENT) warp_pick(warp);
}

void warp_enter(Warp *warp, uint32_t lanes, Frame *frame) {
    Fragment *caller = warp_fragment(warp);
    frame->parent = caller->frame;
    frame->members = lanes;
    frame->arrived = 0;
    frame->next = warp->frames;
    warp->frames = frame;
    frame->join = caller->join;
    int rest_pc = caller->pc + 1;
    uint32_t rest = caller->mask & ~lanes;
    Frame *rest_frame = caller->frame;
    int join = caller->join;
    /* a guarded call: they reconverge after it */
    if (rest && (join == NO_JOIN || warp->joins[join].pc != rest_pc))
        frame->join = join = add_join(warp, rest_pc, rest_frame, caller->mask, join);
    remove_fragment(warp, warp->current);
    int entered = add_fragment(warp, frame->layout->begin, lanes, frame, NO_JOIN);
    if (rest) settle(warp, rest_pc, rest, rest_frame, join);
    warp_select(warp, entered);
}

void warp_return(Warp *warp, uint32_t lanes) {
    Frame *frame = warp_fragment(warp)->frame;
    if (frame == warp->entry_frame) {
        warp_exit(warp, lanes);
        return;
    }
    leave(warp, lanes);
    /* Lanes that return inside a join never reach it. */
    for (int i = 0; i < warp->join_count; i++)
        if (warp->joins[i].used && warp->joins[i].frame == frame)
            warp->joins[i].members &= ~lanes, warp->joins[i].arrived &= ~lanes;
    frame->arrived |= lanes;
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < warp->join_count; i++) {
            Join *join = &warp->joins[i];
            if (!join->used || join->frame != frame || join->arrived != join->members) continue;
            complete_join(warp, i);
            again = true;
        }
    }
    int merged = NO_FRAGMENT;
    if (frame->arrived == frame->members) merged = complete_frame(warp, frame);
    if (warp->current == NO_FRAGMENT && merged != NO_FRAGMENT) warp_select(warp, merged);
    if (warp->current == NO_FRAGMENT) warp_pick(warp);
}

void warp_merge(Warp *warp) {
    Worker *worker = warp->block->worker;
    for (int i = 0; i < warp->fragment_count; i++) {
        for (int j = i + 1; j < warp->fragment_count;) {
            Fragment *into = &warp->fragments[i], *other = &warp->fragments[j];
            bool same = into->state == FRAGMENT_READY && other->state == FRAGMENT_READY &&
                        into->pc == other->pc && into->frame == other->frame && into->join == other->join;
            if (!same) {
                j++;
                continue;
            }
            count_segment(worker, into, into->pc);
            count_segment(worker, other, other->pc);
            into->mask |= other->mask;
            if (warp->current == j) warp->current = i;
            remove_fragment(warp, j);
        }
    }
}

void warp_split(Warp *warp, uint32_t lanes) {
    Fragment *from = warp_fragment(warp), *other = &warp->fragments[warp->fragment_count++];
    *other = *from;
    other->mask = lanes;
    from->mask &= ~lanes;
}

bool warp_is_deeper(const Warp *warp, const Fragment *a, const Fragment *b) {
    if (a->frame == b->frame && a->join == b->join) return false;
    int join = a->join;
    for (const Frame *frame = a->frame; frame; join = frame->join, frame = frame->parent) {
        for (; join != NO_JOIN; join = warp->joins[join].parent)
            if (frame == b->frame && join == b->join) return true;
        if (frame == b->frame) return b->join == NO_JOIN;
    }
    return false;
}

/* True if lanes that continue at `pc` of `frame` exit without any effect that other lanes can observe. */
static bool only_exits(const Warp *warp, const Frame *frame, int pc) {
    const LoweredProgram *program = warp->block->grid->program;
    for (int steps = 0; steps < program->op_count; steps++) {
        const PtxCode *code = &program->program->code[pc];
        if (pc == frame->layout->end ||
            (program->ops[pc].instruction->opcode == PTX_ret && !program->ops[pc].guarded)) {
            if (!frame->parent) return true;
            pc = frame->call->pc + 1;
            frame = frame->parent;
        } else if (program->step[pc] == STEP_JUMP) {
            pc = code->target;
        } else if (program->step[pc] == STEP_LANES || program->step[pc] == STEP_NO_EFFECT) {
            pc++;
        } else {
            return code->instruction->opcode == PTX_exit && !program->ops[pc].guarded;
        }
    }
    return false;
}

static void release_join(Warp *warp, int index, bool calls) {
    Join *join = &warp->joins[index];
    uint32_t lanes = join->arrived;
    if (calls && !only_exits(warp, join->frame, join->pc)) warp->called |= lanes;
    join->members &= ~lanes;
    join->arrived = 0;
    int pc = join->pc, parent = join->parent;
    settle(warp, pc, lanes, join->frame, parent);
}

static void release_frame(Warp *warp, Frame *frame, bool calls) {
    uint32_t lanes = frame->arrived;
    if (calls && !only_exits(warp, frame->parent, frame->call->pc + 1)) warp->called |= lanes;
    frame->members &= ~lanes;
    frame->arrived = 0;
    settle(warp, frame->call->pc + 1, lanes, frame->parent, frame->join);
}

/* Releases the lanes that wait at the innermost join (or return) around `fragment` that has any: they
 * continue without the others. */
static bool release(Warp *warp, const Fragment *fragment) {
    int join = fragment->join;
    for (Frame *frame = fragment->frame; frame; join = frame->join, frame = frame->parent) {
        for (; join != NO_JOIN; join = warp->joins[join].parent) {
            if (!warp->joins[join].arrived) continue;
            release_join(warp, join, fragment->state == FRAGMENT_AT_WARP_OP);
            return true;
        }
        if (frame->parent && frame->arrived) {
            release_frame(warp, frame, fragment->state == FRAGMENT_AT_WARP_OP);
            return true;
        }
    }
    return false;
}

bool warp_release_exiting(Warp *warp) {
    for (int i = 0; i < warp->join_count; i++) {
        const Join *join = &warp->joins[i];
        if (!join->used || !join->arrived || !only_exits(warp, join->frame, join->pc)) continue;
        release_join(warp, i, false);
        return true;
    }
    for (Frame *frame = warp->frames; frame; frame = frame->next) {
        if (!frame->parent || !frame->arrived || !only_exits(warp, frame->parent, frame->call->pc + 1))
            continue;
        release_frame(warp, frame, false);
        return true;
    }
    return false;
}

bool warp_release_any(Warp *warp) {
    for (int i = 0; i < warp->fragment_count; i++) {
        Fragment fragment = warp->fragments[i]; /* releasing may move the fragments */
        if (release(warp, &fragment)) return true;
    }
    return false;
}

static bool has_other_ready(const Warp *warp) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (i != warp->current && warp->fragments[i].state == FRAGMENT_READY) return true;
    return false;
}

bool warp_rests(const Warp *warp) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (warp->fragments[i].state == FRAGMENT_READY && !warp->fragments[i].rests) return false;
    return true;
}

/* Called at the end of a loop iteration: true if the loop spins. An iteration without an access only passes
 * time and is ignored. */
static bool judge_iteration(Fragment *fragment) {
    bool same = fragment->quiet > QUIET_ITERATIONS && fragment->hash == fragment->last_hash;
    if (fragment->changed)
        fragment->quiet = 0, same = false;
    else if (!fragment->touched)
        same = fragment->spins || fragment->rests;
    else if (fragment->quiet <= QUIET_ITERATIONS)
        fragment->quiet++;
    if (!same)
        fragment->spins = 0;
    else if (fragment->touched)
        fragment->spins++;
    if (fragment->touched) fragment->last_hash = fragment->hash;
    fragment->hash = 0;
    fragment->touched = fragment->changed = false;
    bool spins = fragment->spins >= SPIN_ITERATIONS;
    fragment->rests = spins || (same && fragment->rests);
    fragment->vain = fragment->watch && fragment->watch == fragment->last_watch ? fragment->vain + 1 : 0;
    fragment->last_watch = fragment->watch;
    fragment->watch = 0;
    fragment->waits = spins || fragment->vain >= VAIN_ITERATIONS;
    return fragment->waits;
}

static bool all_wait(const Warp *warp) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (warp->fragments[i].state == FRAGMENT_READY && !warp->fragments[i].waits) return false;
    return true;
}

void warp_consider_rotation(Warp *warp) {
    Fragment *fragment = warp_fragment(warp);
    if (fragment->quiet >= QUIET_ITERATIONS || fragment->watch) warp->block->worker->irregular++;
    bool touched = fragment->touched, waits = judge_iteration(fragment), others = has_other_ready(warp);
    uint64_t used = warp->turn - fragment->since;
    if (!waits && used < SHARE) return;
    if (others ? all_wait(warp) : waits || (touched && used >= PATIENCE)) {
        Fragment copy = *fragment;
        if (!release(warp, &copy) && !others) return;
    } else if (!others) {
        return;
    }
    fragment = warp_fragment(warp);
    fragment->spins = 0;
    warp_pick(warp);
}
