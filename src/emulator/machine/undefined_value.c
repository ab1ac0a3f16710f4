/* See undefined_value.h. */
#include "emulator/machine/undefined_value.h"

#include "emulator/lower/address_space.h"

/* ---- storage ---- */

static size_t value_count(const FunctionLayout *layout) {
    return layout->register_bytes / REGISTER_SLOT_ALIGNMENT + (layout->parameter_bytes + 3) / 4 + 2;
}

UndefinedValue *undefined_values_of(Frame *frame) {
    if (!frame->undefined)
        frame->undefined = memory_new(value_count(frame->layout) * sizeof *frame->undefined);
    return frame->undefined;
}

/* NULL: not in the frame, or a constant. */
UndefinedValue *undefined_find_place(const Frame *frame, Operand place) {
    return place.constant || !frame->undefined ? NULL
                                               : &frame->undefined[place.offset / REGISTER_SLOT_ALIGNMENT];
}

UndefinedValue *undefined_find_parameter(const Frame *frame, uint64_t offset) {
    return frame->undefined
               ? &frame->undefined[frame->layout->register_bytes / REGISTER_SLOT_ALIGNMENT + offset / 4]
               : NULL;
}

UndefinedValue *undefined_find_local(Warp *warp, uint64_t offset, bool make) {
    uint64_t index = offset / 4;
    if (index >= warp->undefined_count) {
        if (!make) return NULL;
        uint64_t count = warp->local_bytes / 4 + 1;
        warp->undefined = memory_resize(warp->undefined, count * sizeof *warp->undefined);
        memset(warp->undefined + warp->undefined_count, 0,
               (count - warp->undefined_count) * sizeof *warp->undefined);
        warp->undefined_count = count;
    }
    return &warp->undefined[index];
}

UnwrittenRead *undefined_find_read(const Warp *warp, int pc) {
    UnwrittenRead *read = warp->unwritten_reads;
    while (read && read->pc != pc) read = read->next;
    return read;
}

static UnwrittenRead *before_in_ring(UnwrittenRead *read) {
    UnwrittenRead *before = read;
    while (before->joined != read) before = before->joined;
    return before;
}

void undefined_join_reads(UnwrittenRead *a, UnwrittenRead *b) {
    for (UnwrittenRead *other = a->joined; other != a; other = other->joined)
        if (other == b) return;
    if (a == b) return;
    UnwrittenRead *after_a = a->joined;
    a->joined = b->joined;
    b->joined = after_a;
}

void undefined_move_read(Block *block, uint64_t byte, UnwrittenRead *read) {
    size_t words = (size_t)block->grid->program->shared_bytes / 4 + 1;
    if (!block->shared_moved) block->shared_moved = memory_new(words * sizeof *block->shared_moved);
    block->shared_moved[byte / 4] = read;
}

UnwrittenRead *undefined_first_read(UnwrittenRead *read) {
    while (read->from) read = read->from;
    return read;
}

UnwrittenRead *undefined_moved(const Access *access, const uint32_t *unwritten, uint32_t *lanes) {
    UnwrittenRead *const *moved = access->peer < 0 ? access->block->shared_moved : NULL, *from = NULL;
    for (uint32_t rest = moved ? *lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool is_own = false;
        for (uint32_t bytes = unwritten[lane]; bytes; bytes &= bytes - 1) {
            UnwrittenRead *read = moved[(access->address[lane] + (uint64_t)__builtin_ctz(bytes)) / 4];
            if (read) from = undefined_first_read(read);
            is_own |= !read;
        }
        if (!is_own) *lanes &= ~lane_bit[lane];
    }
    return from;
}

/* A read never comes from itself: chains of `from` end. */
void undefined_keep_read(const Access *access, const uint32_t *unwritten, uint32_t lanes) {
    UnwrittenRead *read = undefined_find_read(access->warp, access->op->pc),
                  *from = undefined_moved(access, unwritten, &lanes);
    if (!read) {
        read = memory_new(sizeof *read);
        read->next = access->warp->unwritten_reads;
        access->warp->unwritten_reads = read->joined = read;
    } else if (!lanes && from == read) {
        return;
    }
    before_in_ring(read)->joined = read->joined;
    read->joined = read;
    read->from = lanes ? NULL : from;
    read->pc = access->op->pc;
    read->warp = access->warp->index;
    read->lanes = lanes;
    read->peer = access->peer;
    read->is_reported = false;
    memcpy(read->address, access->address, sizeof read->address);
}

/* ---- bytes ---- */

/* These bytes of the lane's value become undefined. */
void undefined_add(UndefinedValue *value, int lane, uint32_t bytes, int origin) {
    if (!bytes) return;
    if (!(value->lanes & lane_bit[lane])) value->bytes[lane] = 0;
    if (!value->bytes[lane]) value->origin[lane] = origin;
    value->lanes |= lane_bit[lane];
    value->bytes[lane] |= (uint16_t)bytes;
}

/* Keeps only the undefined bytes of the mask from `shift` on, moved down to the low end. */
void undefined_keep(UndefinedValue *value, int shift, uint32_t mask) {
    for (uint32_t rest = value->lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        value->bytes[lane] = (uint16_t)(value->bytes[lane] >> shift & mask);
        if (!value->bytes[lane]) value->lanes &= ~lane_bit[lane];
    }
}

/* A result that depends on one of its bytes is undefined as a whole. */
void undefined_spread(UndefinedValue *value) {
    for (uint32_t rest = value->lanes; rest; rest &= rest - 1) value->bytes[__builtin_ctz(rest)] = ALL_BYTES;
}

/* Adds the undefined bytes of `from`, moved up by `shift`. */
void undefined_join(UndefinedValue *into, const UndefinedValue *from, int shift) {
    for (uint32_t rest = from ? from->lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        undefined_add(into, lane, (uint32_t)from->bytes[lane] << shift & ALL_BYTES, from->origin[lane]);
    }
}

/* Copies the state of `lanes` from `from`. */
void undefined_assign(UndefinedValue *to, const UndefinedValue *from, uint32_t lanes) {
    if (!to) return;
    to->lanes = (to->lanes & ~lanes) | (from->lanes & lanes);
    for (uint32_t rest = from->lanes & lanes; rest; rest &= rest - 1) {
        to->origin[__builtin_ctz(rest)] = from->origin[__builtin_ctz(rest)];
        to->bytes[__builtin_ctz(rest)] = from->bytes[__builtin_ctz(rest)];
    }
}
