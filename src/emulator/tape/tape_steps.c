/* Steps of a tape other than lane arithmetic: checks, shuffles, accesses (tape.h). Op.extra is the entry. */
#include "emulator/tape/tape.h"

#include "emulator/instructions/access_execute.h"
#include "emulator/lanes/affine.h"
#include "emulator/lower/index_products.h"
#include "emulator/machine/observe.h"

/* Defines the OpFunction table `NAME` for a function with the same arguments, compiled for several vector
 * units. */
#if LANES_HAVE_LEVELS
#define STEP_LEVEL(NAME, LEVEL, TARGET)                                                                      \
    TARGET static void NAME##_##LEVEL(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {  \
        NAME##_step(op, warps, masks, count);                                                                \
    }
#define STEP(NAME)                                                                                           \
    LANES_INLINE void NAME##_step(const Op *op, Warp *const *warps, const uint32_t *masks, int count);       \
    STEP_LEVEL(NAME, plain, )                                                                                \
    STEP_LEVEL(NAME, avx2, LANES_AVX2)                                                                       \
    STEP_LEVEL(NAME, avx512, LANES_AVX512)                                                                   \
    static const LaneHandler NAME = {{NAME##_plain, NAME##_avx2, NAME##_avx512}};                            \
    LANES_INLINE void NAME##_step(const Op *op, Warp *const *warps, const uint32_t *masks, int count)
#else
#define STEP(NAME)                                                                                           \
    static void NAME##_step(const Op *op, Warp *const *warps, const uint32_t *masks, int count);             \
    static const LaneHandler NAME = {{NAME##_step, NAME##_step, NAME##_step}};                               \
    static void NAME##_step(const Op *op, Warp *const *warps, const uint32_t *masks, int count)
#endif

static void run_guard(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {
    const TapeEntry *entry = op->extra;
    uint32_t wrong = 0;
    for (int w = 0; w < count; w++)
        wrong |= (*(const uint32_t *)operand_at(warps[w], op->s[0]) & masks[w]) ^ entry->details[w].expected;
    if (wrong) entry->tape->differs = true;
}

static void run_product(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {
    const TapeEntry *entry = op->extra;
    uint32_t wraps = 0;
    for (int w = 0; w < count; w++) wraps |= lower_index_product_wraps(op, warps[w], masks[w]);
    if (wraps) entry->tape->differs = true;
}

/* number[0]: bytes of the register */
STEP(merge) {
    for (int w = 0; w < count; w++) {
        const void *from = operand_at(warps[w], op->s[0]);
        void *to = operand_at(warps[w], op->d);
        if (op->number[0] == PREDICATE_BYTES)
            *(uint32_t *)to = (*(uint32_t *)to & ~masks[w]) | (*(const uint32_t *)from & masks[w]);
        else if (op->number[0] == 8 * WARP_LANES)
            affine_blend_64(to, from, masks[w]);
        else if (op->number[0] == 4 * WARP_LANES)
            affine_blend_32(to, from, masks[w]);
        else
            affine_blend_16(to, from, masks[w]);
    }
}

STEP(shuffle) {
    const TapeEntry *entry = op->extra;
    for (int w = 0; w < count; w++) {
        const TapeDetail *detail = &entry->details[w];
        const uint32_t *a = operand_at(warps[w], op->s[0]);
        uint32_t *d = operand_at(warps[w], op->d);
        if (detail->is_whole) {
            uint32_t line[WARP_LANES]; /* d may be a */
            memcpy(line, a + detail->stride, sizeof line);
            memcpy(d, line, sizeof line);
            continue;
        }
        uint32_t own[WARP_LANES + 1], got[WARP_LANES];
        memcpy(own, a, WARP_LANES * sizeof *own);
        own[WARP_LANES] = 0;
        for (int l = 0; l < WARP_LANES; l++) got[l] = own[detail->from[l]];
        if (masks[w] == ALL_LANES)
            memcpy(d, got, sizeof got);
        else
            affine_blend_32(d, got, masks[w]);
    }
}

/* ---- accesses --------------------------------------------------------------------------------------- */

/* Moves adjacent elements to or from a register of 4 or 8 bytes per lane. */
LANES_INLINE void move_line(const MemoryOp *memory, uint8_t *host, void *value, uint32_t mask) {
    void *to = memory->is_store ? host : value, *from = memory->is_store ? value : host;
    if (mask == ALL_LANES) {
        if (memory->element_bytes == 8)
            memcpy(to, from, 8 * WARP_LANES); /* sizes known at compile time */
        else
            memcpy(to, from, 4 * WARP_LANES);
    } else if (memory->element_bytes == 8) {
        affine_blend_64(to, from, mask);
    } else {
        affine_blend_32(to, from, mask);
    }
}

/* The fields of `access` that a move needs are set. */
static void observe(const TapeEntry *entry, Access *access, int w, PtxSpace space) {
    access->op = entry->source;
    access->block = entry->tape->stand;
    access->space = space;
    access->peer = -1;
    observe_repeated_access(access, entry->warps[w]);
}

STEP(shared) {
    const TapeEntry *entry = op->extra;
    const MemoryOp *memory = entry->memory;
    const bool is_observed = entry->tape->is_observed;
    uint8_t *bytes = entry->tape->stand->shared;
    for (int w = 0; w < count; w++) {
        const TapeDetail *detail = &entry->details[w];
        if (detail->is_movable && !is_observed) {
            move_line(memory, bytes + detail->first, operand_at(warps[w], memory->values[0].place),
                      detail->is_whole ? ALL_LANES : masks[w]);
            continue;
        }
        Access access;
        access.memory = memory;
        access.warp = warps[w];
        access.mask = masks[w];
        access.bytes = bytes;
        access.host_line = detail->is_line;
        access.host_first = detail->first;
        access.host_stride = detail->stride;
        access.offset = detail->offset;
        if (is_observed) observe(entry, &access, w, PTX_SPACE_SHARED);
        memory->move(&access);
    }
}

static uint8_t sectors_at(const MemoryOp *memory, const TapeDetail *detail, uint32_t mask, uint64_t first) {
    uint8_t *known = &detail->sectors[first & (SECTOR_BYTES - 1)];
    if (!*known) {
        uint64_t address[WARP_LANES];
        for (int l = 0; l < WARP_LANES; l++) address[l] = first + (uint64_t)((int64_t)l * detail->stride);
        *known = (uint8_t)access_global_cost(memory->width, mask, address).sectors;
    }
    return *known;
}

/* Counts again for an access that starts at another offset in a sector than that of the recorded block. */
static __attribute__((noinline)) void count_sectors(const TapeEntry *entry, int w, uint32_t mask,
                                                    uint64_t first) {
    Tape *tape = entry->tape;
    const TapeDetail *detail = &entry->details[w];
    int more = sectors_at(entry->memory, detail, mask, first) -
               sectors_at(entry->memory, detail, mask, detail->first);
    CostChange change = {entry->source->pc, more};
    if (more) array_push(tape->changes, tape->change_count, tape->change_capacity, change);
}

/* Finds where the warp's lanes lie in their region; false if they are outside it, or not like those of the
 * recorded block. */
LANES_INLINE bool find_line(const MemoryOp *memory, const Region *region, const TapeDetail *detail,
                            const Warp *warp, uint32_t mask, uint64_t *first) {
    const void *base = operand_at(warp, memory->base);
    const bool narrow = memory->base_bytes == 4;
    int lowest = __builtin_ctz(mask), span = 31 - __builtin_clz(mask) - lowest;
    int64_t stride;
    if (!(narrow ? affine_find_32(base, mask, &stride) : affine_find_64(base, mask, &stride))) return false;
    uint64_t address = narrow ? ((const uint32_t *)base)[lowest] + (uint32_t)memory->offset
                              : ((const uint64_t *)base)[lowest] + (uint64_t)memory->offset;
    uint64_t at = address - region->base, end = at + (uint64_t)span * (uint64_t)stride;
    uint64_t low = stride < 0 ? end : at, high = stride < 0 ? at : end;
    *first = at - (uint64_t)lowest * (uint64_t)stride;
    return stride == detail->stride && low <= high && !((at | (uint64_t)stride) & (memory->width - 1u)) &&
           region->bytes >= memory->width && high <= region->bytes - memory->width;
}

static void keep_line(const TapeEntry *entry, uint8_t *bytes, uint64_t first, int64_t stride, uint32_t mask) {
    uint32_t width = entry->memory->width;
    if (mask == ALL_LANES && stride == (int64_t)width) {
        tape_keep_bytes(entry->tape, bytes + first, width * WARP_LANES);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        tape_keep_bytes(entry->tape, bytes + first + (uint64_t)((int64_t)__builtin_ctz(rest) * stride),
                        width);
}

/* True if all lanes from the first to the last are in the region; a store does not write between them. */
LANES_INLINE bool is_side_by_side(const MemoryOp *memory, const Region *region, uint64_t first,
                                  int64_t stride, uint32_t mask) {
    if (!memory->is_plain || stride != (int64_t)memory->width) return false;
    uint64_t needs = (uint64_t)memory->width * WARP_LANES;
    return mask == ALL_LANES || (memory->is_load && first < region->bytes && region->bytes - first >= needs);
}

STEP(address) {
    const TapeEntry *entry = op->extra;
    const Region *region = &entry->tape->grid->memory->regions[entry->region];
    for (int w = 0; w < count; w++) {
        TapeDetail *detail = &entry->details[w];
        if (find_line(entry->memory, region, detail, warps[w], masks[w], &detail->at)) continue;
        entry->tape->differs = true;
        return;
    }
}

STEP(global) {
    const TapeEntry *entry = op->extra;
    const MemoryOp *memory = entry->memory;
    const Region *region = &entry->tape->grid->memory->regions[entry->region];
    Tape *tape = entry->tape;
    Footprint *footprint = tape->stand->worker->footprint;
    for (int w = 0; w < count; w++) {
        int64_t stride = entry->details[w].stride;
        uint64_t first = entry->details[w].at, phase = (region->base + first) ^ entry->details[w].first;
        if (phase & (SECTOR_BYTES - 1) && memory->kind != TRACE_CONSTANT_LOAD)
            count_sectors(entry, w, masks[w], region->base + first);
        Access access;
        access.memory = memory;
        access.warp = warps[w];
        access.mask = masks[w];
        access.region = region;
        access.bytes = region->host;
        access.host_line = true;
        access.host_first = first;
        access.host_stride = stride;
        if (footprint) access_leave_footprint(&access, footprint);
        if (memory->is_store && !entry->is_last) keep_line(entry, region->host, first, stride, masks[w]);
        if (tape->is_observed) observe(entry, &access, w, PTX_SPACE_GLOBAL);
        if (is_side_by_side(memory, region, first, stride, masks[w]))
            move_line(memory, region->host + first, operand_at(warps[w], memory->values[0].place), masks[w]);
        else
            memory->move(&access);
    }
}

static void run_sync(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {
    const TapeEntry *entry = op->extra;
    (void)warps, (void)masks, (void)count;
    observe_repeated_sync(entry->tape->stand, entry->sync);
}

void tape_set_run(TapeEntry *entry) {
    Op *op = entry->op;
    int level = lanes_level();
    if (entry->kind == TAPE_LANES || entry->kind == TAPE_EXCHANGE) return;
    op->extra = entry;
    op->run = entry->kind == TAPE_GUARD     ? run_guard
              : entry->kind == TAPE_PRODUCT ? run_product
              : entry->kind == TAPE_MERGE   ? merge.at[level]
              : entry->kind == TAPE_SHUFFLE ? shuffle.at[level]
              : entry->kind == TAPE_SHARED  ? shared.at[level]
              : entry->kind == TAPE_ADDRESS ? address.at[level]
              : entry->kind == TAPE_SYNC    ? run_sync
                                            : global.at[level];
}
