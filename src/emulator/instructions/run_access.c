/* Executes an access, with checks and costs: from the address registers of a warp to host bytes
 * (access_execute.h).
 *
 * Nearly every access of a real kernel is an arithmetic progression over the lanes inside one buffer; such a
 * *line* is found first, and checking its two ends is enough. Everything else goes lane by lane. */
#include "emulator/lower/index_products.h"
#include "emulator/instructions/access_execute.h"

#include "base/language.h"
#include "emulator/machine/local_memory.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"
#include "ptx/opcodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- lowering --------------------------------------------------------------------------------------- */

bool access_lower_address(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_MEMORY)
        return lowering_reject(low, op, "%s: malformed address", low->instruction->name);
    memory->offset = operand->integer;
    memory->base_bytes = 8;
    if (operand->reg) {
        PtxOperand reg = {.kind = PTX_OPERAND_REGISTER, .reg = operand->reg, .component = operand->component};
        if (!lowering_register(low, &reg, &memory->base, &memory->base_bytes) || memory->base_bytes < 4)
            return lowering_reject(low, op, "%s: the address is not in a 32- or 64-bit register",
                                   low->instruction->name);
        return true;
    }
    if (operand->variable) {
        PtxOperand variable = *operand;
        variable.kind = PTX_OPERAND_VARIABLE;
        variable.integer = 0;
        bool generic = memory->space == PTX_SPACE_GENERIC && operand->variable->space == PTX_SPACE_SHARED;
        if (generic) memory->offset += (int64_t)SHARED_WINDOW;
        return lowering_value(low, op, &variable, PTX_U64, &memory->base, NULL);
    }
    memory->base = lowering_constant(low, 0, 8);
    return true;
}

static inline void read_addresses(Access *access) {
    const MemoryOp *memory = access->memory; /* cppcheck-suppress ctuuninitvar ; every caller has set it */
    const void *base = operand_at(access->warp, memory->base);
    if (memory->base_bytes == 4) {
        const uint32_t *from = base;
        uint32_t offset = (uint32_t)memory->offset;
        for (int l = 0; l < WARP_LANES; l++) access->address[l] = from[l] + offset;
    } else {
        const uint64_t *from = base;
        uint64_t offset = (uint64_t)memory->offset;
        for (int l = 0; l < WARP_LANES; l++) access->address[l] = from[l] + offset;
    }
}

/* The lowest and highest address of a line. */
static inline void line_ends(const Access *access, uint64_t *low, uint64_t *high) {
    uint64_t a = access->first + (uint64_t)__builtin_ctz(access->mask) * (uint64_t)access->stride;
    uint64_t b = access->first + (uint64_t)(31 - __builtin_clz(access->mask)) * (uint64_t)access->stride;
    *low = access->stride < 0 ? b : a;
    *high = access->stride < 0 ? a : b;
}

/* ---- faults ----------------------------------------------------------------------------------------- */

static Outcome misaligned(const Access *access, uint32_t lanes) {
    int lane = __builtin_ctz(lanes);
    raise_trap(access->block, TRAP_MISALIGNED, access->warp, access->op->pc, lanes, access->address,
               tr("%d-byte access at address 0x%llx, which is not a multiple of %d"), access->memory->width,
               (unsigned long long)access->address[lane], access->memory->width);
    return OUTCOME_STOP;
}

static void name_shared(const Grid *grid, uint64_t offset, Text *out) {
    const LoweredProgram *program = grid->program;
    const SharedPlace *nearest = NULL;
    int32_t before = (int32_t)offset; /* 32-bit addresses wrap */
    if (before < 0 && before > -(1 << 20)) {
        text_print(out, "%d bytes before the start of shared memory", -before);
        return;
    }
    for (int i = 0; i < program->shared_count; i++)
        if (program->shared[i].offset <= offset) nearest = &program->shared[i];
    if (!nearest) {
        text_print(out, tr("the block has %u bytes of shared memory"), program->shared_bytes);
        return;
    }
    uint64_t end = (uint64_t)nearest->offset + nearest->bytes;
    memory_describe_past(offset > end ? offset - end : 0, nearest->name, nearest->bytes, out);
}

/* A wrapped 32-bit index leads far below a buffer (an int past 2^31), or just short of 2^32 elements above
 * its start (an unsigned below 0). Returns the buffer, or NULL; `own`: as in memory_describe(). */
static const Region *find_wrapped(const Memory *memory, uint64_t address, int width, int own,
                                  int64_t *index) {
    enum { BELOW_ZERO = 1 << 24, NULL_PAGE = 4096 };
    if (address < NULL_PAGE) return NULL;
    const int64_t whole = INT64_C(1) << 32;
    for (int i = own < 0 ? 0 : own; i < (own < 0 ? memory->count : own + 1); i++) {
        int64_t distance = (int64_t)(address - memory->regions[i].base);
        if (distance % width) continue;
        *index = distance / width;
        bool is_signed = *index >= -whole / 2 && *index <= -whole / 4;
        bool is_unsigned = *index < whole && *index >= whole - BELOW_ZERO;
        if (is_signed || is_unsigned) return &memory->regions[i];
    }
    return NULL;
}

/* Describes what lies at the first of these lanes' addresses. *buffer: the region that the text names, or
 * -1. */
static TrapKind describe_outside(const Access *access, uint32_t lanes, Text *out, int *buffer) {
    const Grid *grid = access->block->grid;
    uint64_t address = access->address[__builtin_ctz(lanes)];
    int64_t index;
    *buffer = -1;
    int own = grid->program->buffers[access->op->pc];
    const Region *wrapped = access->space == PTX_SPACE_GLOBAL
                                ? find_wrapped(grid->memory, address, access->memory->width, own, &index)
                                : NULL;
    const Region *meant =
        access->space == PTX_SPACE_GLOBAL && own >= 0 && !wrapped ? &grid->memory->regions[own] : NULL;
    int bits = meant && address < meant->base
                   ? lower_index_narrow_bits(grid->program->program, access->op->pc, access->memory->width)
                   : 0;
    if (bits) {
        index = (int64_t)(address - meant->base) / access->memory->width;
        text_print(out,
                   tr("index %lld of `%s` (%llu bytes) is negative: the index has %d bits and has "
                      "wrapped around"),
                   (long long)index, meant->name, (unsigned long long)meant->bytes, bits);
        *buffer = own;
        return TRAP_NARROW_INDEX;
    }
    if (wrapped) {
        int64_t whole = INT64_C(1) << 32;
        text_print(out, tr("index %lld of `%s` (%llu bytes): a 32-bit index has wrapped around from %lld"),
                   (long long)index, wrapped->name, (unsigned long long)wrapped->bytes,
                   (long long)(index < 0 ? index + whole : index - whole));
        *buffer = (int)(wrapped - grid->memory->regions);
        return TRAP_INDEX_OVERFLOW;
    }
    switch (access->space) {
    case PTX_SPACE_SHARED:
        text_print(out, tr("%d-byte access at shared offset %llu"), access->memory->width,
                   (unsigned long long)address);
        if (access->peer >= 0) text_print(out, tr(" of block %d of the cluster"), access->peer);
        text_add(out, tr(": "));
        if (address < grid->program->shared_bytes)
            text_add(out, tr("it reaches past the end of shared memory"));
        else
            name_shared(grid, address, out);
        break;
    case PTX_SPACE_LOCAL:
        text_print(out, tr("%d-byte access at local offset %llu: the thread has %zu bytes there"),
                   access->memory->width, (unsigned long long)address, access->warp->local_bytes);
        break;
    case PTX_SPACE_PARAM:
        text_print(out, tr("%d-byte access at offset %llu, outside the parameters"), access->memory->width,
                   (unsigned long long)address);
        break;
    default:
        *buffer = memory_describe(grid->memory, address, access->memory->width, own, out);
        break;
    }
    return TRAP_OUT_OF_BOUNDS;
}

/* `kind`: a fault after which the run continues; TRAP_OUT_OF_BOUNDS: the kind comes from the description. */
static void raise_outside(const Access *access, uint32_t lanes, TrapKind kind) {
    Text text = {0};
    int buffer;
    TrapKind found = describe_outside(access, lanes, &text, &buffer);
    Trap *trap = raise_trap(access->block, kind == TRAP_OUT_OF_BOUNDS ? found : kind, access->warp,
                            access->op->pc, lanes, access->address,
                            lanes & (lanes - 1) ? tr("%s (thread %d of the block and others)")
                                                : tr("%s (thread %d of the block)"),
                            text_string(&text), access->warp->index * WARP_LANES + __builtin_ctz(lanes));
    if (trap) {
        trap->space = access->space;
        trap->buffer = buffer;
    }
    text_done(&text);
}

static Outcome out_of_bounds(const Access *access, uint32_t lanes) {
    raise_outside(access, lanes, TRAP_OUT_OF_BOUNDS);
    return OUTCOME_STOP;
}

static void give_zero(const Access *access, uint32_t lanes) {
    const MemoryOp *memory = access->memory;
    const MemoryValue *values = memory->is_atomic ? memory->results : memory->values;
    for (int e = 0; e < memory->count; e++)
        for (uint32_t rest = lanes; rest && values[e].present; rest &= rest - 1)
            register_write(access->warp, values[e].place, values[e].bytes, __builtin_ctz(rest), 0);
}

/* If the run continues after faults, lanes out of bounds read 0 and their writes are dropped; the other lanes
 * proceed. Only for ld, st, atom and red. False: the access is a fault. */
static bool drop_outside(Access *access, uint32_t lanes) {
    const MemoryOp *memory = access->memory;
    Worker *worker = access->block->worker;
    if (!access->block->grid->keeps_going || !memory->may_drop) return false;
    worker->irregular++;
    worker->dropped[access->op->pc] += (uint64_t)__builtin_popcount(lanes);
    uint8_t *reported = &worker->reported[access->op->pc];
    if (*reported < MAX_REPORTED) {
        ++*reported;
        raise_outside(access, lanes, memory->is_load ? TRAP_READ_OUTSIDE : TRAP_WRITE_OUTSIDE);
    }
    if (!memory->is_store) give_zero(access, lanes);
    access->mask &= ~lanes;
    if (access->mask) access_find_line(access);
    return true;
}

/* Lanes whose address is not a multiple of the width. */
static uint32_t misaligned_lanes(const Access *access) {
    uint64_t below = (uint64_t)access->memory->width - 1;
    if (access->line) {
        uint64_t low, high;
        line_ends(access, &low, &high);
        if (!((low | (access->mask & (access->mask - 1) ? (uint64_t)access->stride : 0)) & below)) return 0;
    }
    uint32_t lanes = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (access->address[lane] & below) lanes |= lane_bit[lane];
    }
    return lanes;
}

/* Lanes outside [0, size). */
static uint32_t outside_lanes(const Access *access, uint64_t size) {
    uint64_t width = access->memory->width;
    uint64_t limit = size >= width ? size - width : 0;
    if (access->line && size >= width) {
        uint64_t low, high;
        line_ends(access, &low, &high);
        if (low <= high && high <= limit) return 0;
    }
    uint32_t lanes = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (size < width || access->address[lane] > limit) lanes |= lane_bit[lane];
    }
    return lanes;
}

/* ---- written bytes of shared and local memory ------------------------------------------------------- */

static inline bool is_contiguous(const Access *access) {
    return access->host_line && access->mask == ALL_LANES && access->host_stride == access->memory->width;
}

/* True if every byte of a line is written, from the lowest to the highest. */
static inline bool all_between(const Access *access, const uint64_t *bits) {
    uint64_t low, high;
    line_ends(access, &low, &high);
    return bits_all(bits, low, high - low + access->memory->width);
}

/* The lanes that read a byte which nothing has written. */
static uint32_t unwritten_lanes(const Access *access, const uint64_t *bits) {
    uint64_t width = access->memory->width;
    if (access->host_line && all_between(access, bits)) return 0;
    uint32_t lanes = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = (uint64_t)(access_host(access, lane) - access->bytes);
        if (!bits_all(bits, at, width)) lanes |= lane_bit[lane];
    }
    return lanes;
}

static void mark_written(const Access *access, uint64_t *bits) {
    uint64_t width = access->memory->width;
    if (access->host_line && all_between(access, bits)) return;
    if (is_contiguous(access)) {
        bits_set(bits, access->host_first, width * WARP_LANES);
        return;
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        bits_set(bits, (uint64_t)(access_host(access, __builtin_ctz(rest)) - access->bytes), width);
}

/* Sets one bit per unwritten byte that a load is about to read, by lane. */
static void find_unwritten(const Access *access, const uint64_t *bits, uint32_t *unwritten) {
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t at = (uint64_t)(access_host(access, lane) - access->bytes);
        unwritten[lane] = 0;
        for (uint64_t byte = 0; byte < access->memory->width; byte++)
            if (!bits_all(bits, at + byte, 1)) unwritten[lane] |= UINT32_C(1) << byte;
    }
}

/* Lanes read unwritten shared memory. The value of an ld is followed to its use; any other read is
 * reported. */
static void read_unwritten(const Access *access, const uint64_t *bits, uint32_t lanes) {
    uint32_t unwritten[WARP_LANES];
    if (access->op->instruction->opcode == PTX_ld) {
        access->block->worker->irregular++;
        find_unwritten(access, bits, unwritten);
        undefined_load(access, unwritten);
    } else { /* an atomic has written it by now */
        for (int lane = 0; lane < WARP_LANES; lane++) unwritten[lane] = (1u << access->memory->width) - 1;
        undefined_use_shared(access, unwritten, lanes);
    }
}

/* ---- spaces ----------------------------------------------------------------------------------------- */

static inline void use_addresses_as_offsets(Access *access) {
    access->host_line = access->line;
    access->host_first = access->first;
    access->host_stride = access->stride;
    access->offset = access->address;
}

static inline void count_shared(const Access *access) {
    const MemoryOp *memory = access->memory;
    if (memory->kind == TRACE_MBARRIER) return;
    TraceCounter *counter = &access->block->worker->counters[access->op->pc];
    SharedCost cost =
        memory->is_atomic
            ? access_atomic_cost(memory->form, memory->width, access->mask, access->address, NULL)
            : access_shared_cost(memory->is_load, memory->width, access->mask, access->address);
    counter->wavefronts += (uint64_t)cost.wavefronts;
    counter->ideal_wavefronts += (uint64_t)cost.ideal;
    if (access->line && !memory->is_atomic) access_keep_pattern(access, false, cost.wavefronts, cost.ideal);
}

static inline void count_global(const Access *access) {
    if (access->memory->kind == TRACE_CONSTANT_LOAD) return;
    TraceCounter *counter = &access->block->worker->counters[access->op->pc];
    GlobalCost cost = access_global_cost(access->memory->width, access->mask, access->address);
    counter->sectors += (uint64_t)cost.sectors;
    counter->ideal_sectors += (uint64_t)cost.ideal;
    if (access->line) access_keep_pattern(access, true, cost.sectors, cost.ideal);
}

static inline void move_values(Access *access, AccessMove move) {
    move(access);
    if (access->block->grid->shadow) shadow_moved(access);
}

static Outcome in_block(Access *access, SharedMemory memory, AccessMove move) {
    uint32_t wrong = misaligned_lanes(access);
    if (wrong) return misaligned(access, wrong);
    wrong = outside_lanes(access, access->block->grid->program->shared_bytes);
    if (wrong && !drop_outside(access, wrong)) return out_of_bounds(access, wrong);
    if (!access->mask) return OUTCOME_NEXT;
    access->bytes = memory.bytes;
    use_addresses_as_offsets(access);
    bool reads = !access->memory->is_store && !access->memory->overwrites && !access->memory->is_deferred;
    uint32_t unwritten = reads ? unwritten_lanes(access, memory.written) : 0;
    if (!access->memory->is_load && !access->memory->is_deferred) mark_written(access, memory.written);
    if (access->peer < 0) count_shared(access);
    if (access->block->follows) undefined_access(access);
    if (unwritten) read_unwritten(access, memory.written, unwritten);
    if (access->block->observed) observe_access(access);
    move_values(access, move);
    return OUTCOME_NEXT;
}

/* True if an address names a block of the cluster, or lies outside shared memory. */
static inline bool names_block(const Access *access) {
    uint64_t low = 0, high = 0;
    if (access->line) {
        line_ends(access, &low, &high);
        return (low | high) >> CLUSTER_RANK_SHIFT;
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) high |= access->address[__builtin_ctz(rest)];
    return high >> CLUSTER_RANK_SHIFT;
}

static inline Outcome in_shared(Access *access, AccessMove move) {
    access->space = PTX_SPACE_SHARED;
    access->peer = -1;
    if (names_block(access)) return access_in_cluster(access, in_block, move);
    return in_block(access, (SharedMemory){access->block->shared, access->block->shared_written}, move);
}

static Outcome in_region(Access *access, const Region *region, AccessMove move) {
    if (region->read_only && !access->memory->is_load) {
        raise_trap(access->block, TRAP_READ_ONLY, access->warp, access->op->pc, access->mask, access->address,
                   tr("write to `%s`, which is constant memory"), region->name);
        return OUTCOME_STOP;
    }
    access->bytes = region->host;
    access->region = region;
    access->host_line = access->line;
    access->host_first = access->first - region->base; /* may wrap where lane 0 is inactive; sums do not */
    access->host_stride = access->stride;
    access->offset = access->scattered;
    if (!access->line)
        for (int l = 0; l < WARP_LANES; l++) access->scattered[l] = access->address[l] - region->base;
    if (access->block->worker->footprint) access_leave_footprint(access, access->block->worker->footprint);
    if (access->block->follows) undefined_access(access);
    if (access->block->observed) observe_access(access);
    move_values(access, move);
    return OUTCOME_NEXT;
}

/* The region of this instruction's last access if all lanes lie in it, otherwise NULL. */
static inline const Region *single_region(const Access *access) {
    const Memory *memory = access->block->grid->memory;
    uint32_t *last = &access->block->worker->last_region[access->op->pc];
    uint64_t low = UINT64_MAX, high = 0, width = access->memory->width;
    if (access->line) {
        line_ends(access, &low, &high);
        if (low > high) return NULL;
    } else {
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            uint64_t address = access->address[__builtin_ctz(rest)];
            if (address < low) low = address;
            if (address > high) high = address;
        }
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        if (*last < (uint32_t)memory->count) {
            const Region *region = &memory->regions[*last];
            if (low >= region->base && high - region->base < region->bytes &&
                width <= region->bytes - (high - region->base))
                return region;
        }
        int found = memory_find(memory, low);
        if (found < 0) return NULL;
        *last = (uint32_t)found;
    }
    return NULL;
}

static inline Outcome in_global(Access *access, AccessMove move) {
    access->space = PTX_SPACE_GLOBAL;
    const Memory *memory = access->block->grid->memory;
    uint32_t wrong = misaligned_lanes(access);
    if (wrong) return misaligned(access, wrong);
    const Region *region = single_region(access);
    uint32_t all = access->mask;
    if (!region) {
        for (uint32_t rest = all; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (!memory_at(memory, access->address[lane], access->memory->width)) wrong |= lane_bit[lane];
        }
        if (wrong && !drop_outside(access, wrong)) return out_of_bounds(access, wrong);
        if (!access->mask) return OUTCOME_NEXT;
        if (wrong) region = single_region(access);
        all = access->mask;
    }
    count_global(access);
    if (region) return in_region(access, region, move);
    access->line = false; /* several buffers: one after another, by their first lane */
    for (uint32_t left = all; left;) {
        region = &memory->regions[memory_find(memory, access->address[__builtin_ctz(left)])];
        access->mask = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (access->address[lane] - region->base < region->bytes) access->mask |= lane_bit[lane];
        }
        left &= ~access->mask;
        if (in_region(access, region, move) != OUTCOME_NEXT) return OUTCOME_STOP;
    }
    return OUTCOME_NEXT;
}

static Outcome in_local(Access *access, AccessMove move) {
    access->space = PTX_SPACE_LOCAL;
    uint32_t wrong = misaligned_lanes(access);
    if (wrong) return misaligned(access, wrong);
    wrong = outside_lanes(access, access->warp->local_bytes);
    if (wrong && !drop_outside(access, wrong)) return out_of_bounds(access, wrong);
    if (!access->mask) return OUTCOME_NEXT;
    if (access->memory->width > 16) { /* a 32-byte vector would cross a piece */
        raise_trap(access->block, TRAP_NOT_EMULATED, access->warp, access->op->pc, access->mask,
                   access->address, tr("32-byte accesses of local memory are not emulated"));
        return OUTCOME_STOP;
    }
    access->bytes = access->warp->local;
    access->host_line = false;
    access->offset = access->scattered;
    for (int l = 0; l < WARP_LANES; l++) access->scattered[l] = local_offset(access->address[l], l);
    uint32_t unwritten[WARP_LANES];
    bool is_load = !access->memory->is_store;
    if (!access->memory->is_load) mark_written(access, access->warp->local_written);
    if (access->block->follows) undefined_access(access);
    if (is_load && unwritten_lanes(access, access->warp->local_written)) {
        find_unwritten(access, access->warp->local_written, unwritten);
        undefined_load(access, unwritten);
    }
    move_values(access, move);
    return OUTCOME_NEXT;
}

static Outcome in_parameters(Access *access, AccessMove move) {
    access->space = PTX_SPACE_PARAM;
    uint32_t wrong = misaligned_lanes(access);
    if (wrong) return misaligned(access, wrong);
    const Launch *launch = access->block->grid->launch;
    const Frame *frame = warp_fragment(access->warp)->frame;
    uint64_t width = access->memory->width, frame_bytes = frame->layout->parameter_bytes;
    access->host_line = false;
    access->offset = access->scattered;
    uint32_t all = access->mask, of_entry = 0;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = access->address[lane];
        bool entry = address < FRAME_PARAMETERS;
        uint64_t offset = entry ? address : address - FRAME_PARAMETERS;
        uint64_t size = entry ? launch->parameter_bytes : frame_bytes;
        if (offset > size || width > size - offset) wrong |= lane_bit[lane];
        if (entry) of_entry |= lane_bit[lane];
        access->scattered[lane] = entry ? offset : (uint64_t)lane * frame_bytes + offset;
    }
    if (wrong) return out_of_bounds(access, wrong);
    if (of_entry && !access->memory->is_load) {
        raise_trap(access->block, TRAP_READ_ONLY, access->warp, access->op->pc, of_entry, access->address,
                   tr("write to the kernel's parameters"));
        return OUTCOME_STOP;
    }
    if (access->block->follows) undefined_access(access);
    access->mask = of_entry;
    access->bytes = (uint8_t *)(uintptr_t)launch->parameters;
    if (access->mask) move_values(access, move);
    access->mask = all & ~of_entry;
    access->bytes = frame->parameters;
    if (access->mask) move_values(access, move);
    if (access->block->hooks) {
        access->mask = all;
        access->block->hooks->after_parameters(access->block->hooks->context, access);
    }
    return OUTCOME_NEXT;
}

/* ---- generic addresses ------------------------------------------------------------------------------ */

typedef struct AddressWindow {
    PtxSpace space;
    uint64_t base;
} AddressWindow;

static const AddressWindow windows[] = {
    {PTX_SPACE_SHARED, SHARED_WINDOW}, {PTX_SPACE_LOCAL, LOCAL_WINDOW}, {PTX_SPACE_PARAM, PARAMETER_WINDOW}};

static uint32_t lanes_in_window(const Access *access, uint32_t among, uint64_t base) {
    uint32_t lanes = 0;
    for (uint32_t rest = among; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (access->address[lane] - base < WINDOW_BYTES) lanes |= lane_bit[lane];
    }
    return lanes;
}

/* Under hooks, the hooks make the memory accesses; parameters are ordinary. */
static Outcome in_hooks(Access *access, AccessMove move) {
    PtxSpace space = access->memory->space;
    uint32_t all = access->mask;
    access->mask = space == PTX_SPACE_PARAM     ? all
                   : space == PTX_SPACE_GENERIC ? lanes_in_window(access, all, PARAMETER_WINDOW)
                                                : 0;
    if (access->mask) {
        if (space == PTX_SPACE_GENERIC)
            for (int l = 0; l < WARP_LANES; l++) access->address[l] -= PARAMETER_WINDOW;
        all &= ~access->mask;
        access->line = false;
        Outcome outcome = in_parameters(access, move);
        if (outcome != OUTCOME_NEXT || !all) return outcome;
    }
    access->mask = all;
    const BlockHooks *hooks = access->block->hooks;
    return hooks->access(hooks->context, access) ? OUTCOME_NEXT : OUTCOME_STOP;
}

static Outcome in_generic(Access *access, AccessMove move) {
    TraceCounter *counter = &access->block->worker->counters[access->op->pc];
    uint64_t low = 0, high = 0;
    if (access->line) line_ends(access, &low, &high);
    if (access->line && low <= high && high < SHARED_WINDOW) { /* nearly always */
        counter->global_requests++;
        return in_global(access, move);
    }
    Access part = *access;
    uint32_t left = access->mask;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        part.mask = lanes_in_window(access, left, windows[w].base);
        if (!part.mask) continue;
        left &= ~part.mask;
        if (windows[w].space == PTX_SPACE_SHARED) counter->shared_requests++;
        for (int l = 0; l < WARP_LANES; l++) part.address[l] = access->address[l] - windows[w].base;
        access_find_line(&part);
        Outcome outcome = windows[w].space == PTX_SPACE_SHARED  ? in_shared(&part, move)
                          : windows[w].space == PTX_SPACE_LOCAL ? in_local(&part, move)
                                                                : in_parameters(&part, move);
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    if (!left) return OUTCOME_NEXT;
    access->mask = left;
    counter->global_requests++;
    access_find_line(access);
    return in_global(access, move);
}

Outcome access_go(Access *access, AccessMove move) {
    access->block->worker->counters[access->op->pc].requests++;
    access_find_line(access);
    if (access->block->hooks) return in_hooks(access, move);
    switch (access->memory->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return in_shared(access, move);
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return in_global(access, move);
    case PTX_SPACE_LOCAL:
        return in_local(access, move);
    case PTX_SPACE_PARAM:
        return in_parameters(access, move);
    default:
        return in_generic(access, move);
    }
}

Outcome access_execute(Block *block, Warp *warp, const Op *op, uint32_t mask, AccessMove move) {
    Access access;
    access.op = op;
    access.memory = op->extra;
    access.block = block;
    access.warp = warp;
    access.mask = mask;
    if (access.memory->together && !block->hooks) {
        Gang alone;
        alone.count = 1;
        alone.warps[0] = warp;
        alone.fragments[0] = warp_fragment(warp);
        alone.masks[0] = mask;
        if (access.memory->together(block, op, &alone, move)) return OUTCOME_NEXT;
    }
    read_addresses(&access);
    return access_go(&access, move);
}
