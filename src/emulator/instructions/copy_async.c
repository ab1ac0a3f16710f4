/* cp.async, its groups and its waits ("Data Movement and Conversion Instructions: Non-bulk copy").
 *
 * A copy is executed, counted and recorded as a load of global memory into temporary registers, then a store
 * to shared memory whose bytes arrive later (machine/machine_copies.h). Lanes that read less than they write
 * (src-size, ignore-src) read word by word, then the last bytes one by one; the rest is 0. */
#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/copy_async.h"

#include "emulator/machine/machine_copies.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/undefined.h"

enum { MOST_WORDS = 4, WORD = 4 };
enum { HALVES, WORDS, DOUBLES, ELEMENT_SIZES };

typedef struct CopyOp {
    CoreOp core;
    int bytes;
    MemoryOp load[ELEMENT_SIZES], store[ELEMENT_SIZES]; /* in elements of 2, 4 and 8 bytes */
    MemoryOp words[MOST_WORDS];                         /* one word each, for lanes that read less */
    MemoryOp byte;                                      /* the bytes after their last word */
    bool has_size, has_ignore;
    Operand size, ignore; /* 4 bytes; a predicate */
} CopyOp;

/* ---- reading ---------------------------------------------------------------------------------------- */

static Outcome load(Block *block, Warp *warp, const Op *op, const MemoryOp *memory, uint32_t mask,
                    const uint64_t *further) {
    Access access = {.op = op, .memory = memory, .block = block, .warp = warp, .mask = mask};
    for (int lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = access_lane_address(warp, memory, lane);
        if (further) access.address[lane] += further[lane];
    }
    block->worker->counters[op->pc].global_requests++;
    return access_go(&access, access_load);
}

/* Finds how many bytes each lane reads, and the lanes that read all of them. False after a trap. */
static bool read_sizes(Block *block, Warp *warp, const Op *op, uint32_t mask, uint32_t sizes[WARP_LANES],
                       uint32_t *whole) {
    const CopyOp *copy = op->extra;
    uint32_t wrong = 0;
    *whole = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        sizes[lane] =
            copy->has_size ? (uint32_t)register_read(warp, copy->size, 4, lane) : (uint32_t)copy->bytes;
        if (copy->has_ignore && register_read(warp, copy->ignore, 0, lane)) sizes[lane] = 0;
        if (sizes[lane] == (uint32_t)copy->bytes) *whole |= lane_bit[lane];
        if (sizes[lane] > (uint32_t)copy->bytes) wrong |= lane_bit[lane];
    }
    if (wrong)
        raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, op->pc, wrong, NULL,
                   "cp.async of %d bytes reads %u: src-size may not be larger than cp-size", copy->bytes,
                   sizes[__builtin_ctz(wrong)]);
    return !wrong;
}

/* Loads the bytes after the last whole word of each lane and places them in the word. */
static Outcome load_rest(Block *block, Warp *warp, const Op *op, uint32_t mask, const uint32_t *sizes) {
    const CopyOp *copy = op->extra;
    for (uint32_t b = 0; b < WORD - 1; b++) {
        uint64_t further[WARP_LANES] = {0};
        uint32_t lanes = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (sizes[lane] % WORD <= b) continue;
            lanes |= lane_bit[lane];
            further[lane] = sizes[lane] / WORD * WORD + b;
        }
        if (!lanes) continue;
        Outcome outcome = load(block, warp, op, &copy->byte, lanes, further);
        if (outcome != OUTCOME_NEXT) return outcome;
        for (; lanes; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            Operand word = copy->load[WORDS].values[sizes[lane] / WORD].place;
            uint64_t value = register_read(warp, copy->byte.values[0].place, 2, lane) & 0xff;
            register_write(warp, word, WORD, lane, register_read(warp, word, WORD, lane) | value << 8 * b);
        }
    }
    return OUTCOME_NEXT;
}

static Outcome load_less(Block *block, Warp *warp, const Op *op, uint32_t mask, const uint32_t *sizes) {
    const CopyOp *copy = op->extra;
    for (int w = 0; w < copy->bytes / WORD; w++) {
        uint32_t lanes = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            register_write(warp, copy->load[WORDS].values[w].place, WORD, lane, 0);
            if (sizes[lane] >= (uint32_t)(w + 1) * WORD) lanes |= lane_bit[lane];
        }
        Outcome outcome = lanes ? load(block, warp, op, &copy->words[w], lanes, NULL) : OUTCOME_NEXT;
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    return load_rest(block, warp, op, mask, sizes);
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static void begin_copies(Access *access) {
    const CopyOp *copy_op = access->op->extra;
    const MemoryOp *memory = access->memory;
    Block *block = access->block;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        AsyncCopy *copy =
            copies_add(block, access->warp, lane, access->op->pc, COPY_IN_GROUP, (uint32_t)copy_op->bytes);
        uint8_t *bytes = copies_room(copy);
        for (int e = 0; e < memory->count; e++) {
            uint64_t value =
                register_read(access->warp, memory->values[e].place, memory->values[e].bytes, lane);
            memcpy(bytes + e * memory->element_bytes, &value, memory->element_bytes);
        }
        bool ignores = copy_op->has_ignore && register_read(access->warp, copy_op->ignore, 0, lane);
        bool reads = !ignores && (!copy_op->has_size || register_read(access->warp, copy_op->size, 4, lane));
        copy->to = PTX_SPACE_SHARED;
        copy->to_address = access->address[lane];
        copy->from = reads ? PTX_SPACE_GLOBAL : PTX_SPACE_GENERIC;
        if (reads) copy->from_address = access_lane_address(access->warp, &copy_op->load[WORDS], lane);
        copies_begun(block, copy);
    }
    access_record(access, memory->values, memory->count, NULL, true);
}

/* The buffer elements that the lanes read: a copy of 16 bytes brings two doubles or eight halves. */
static int elements_of(const Block *block, const Warp *warp, const CopyOp *copy, uint32_t mask) {
    const Memory *memory = block->grid->memory;
    int region = memory_find(memory, access_lane_address(warp, &copy->load[WORDS], __builtin_ctz(mask)));
    int bytes = region < 0 ? WORD : ptx_type_bytes(memory->regions[region].type);
    return bytes == 2 ? HALVES : bytes == 8 && copy->bytes >= 8 ? DOUBLES : WORDS;
}

static Outcome execute_copy(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const CopyOp *copy = op->extra;
    uint32_t sizes[WARP_LANES] = {0}, whole = mask;
    Outcome outcome = OUTCOME_NEXT;
    if ((copy->has_size || copy->has_ignore) && !read_sizes(block, warp, op, mask, sizes, &whole))
        return OUTCOME_STOP;
    int elements = whole == mask ? elements_of(block, warp, copy, mask) : WORDS;
    if (whole) outcome = load(block, warp, op, &copy->load[elements], whole, NULL);
    if (outcome == OUTCOME_NEXT && mask & ~whole) outcome = load_less(block, warp, op, mask & ~whole, sizes);
    if (outcome != OUTCOME_NEXT) return outcome;
    Access access = {.op = op, .memory = &copy->store[elements], .block = block, .warp = warp, .mask = mask};
    for (int lane = 0; lane < WARP_LANES; lane++)
        access.address[lane] = access_lane_address(warp, access.memory, lane);
    block->worker->counters[op->pc].shared_requests++;
    return access_go(&access, begin_copies);
}

/* ---- groups ----------------------------------------------------------------------------------------- */

typedef struct GroupOp {
    CoreOp core;
    CopyCompletion groups;
    bool commits, waits, only_read;
    uint32_t pending;
} GroupOp;

/* A wgmma-group is one of the warpgroup, so it is complete when all four warps have multiplied. A warp that
 * nobody can follow goes on alone. */
static bool waits_for_warpgroup(const Block *block, Warp *warp, const GroupOp *group, uint32_t mask) {
    Fragment *fragment = warp_fragment(warp);
    bool is_behind = group->groups == COPY_IN_MATRIX_GROUP && group->waits && !fragment->gives_up &&
                     copies_warpgroup_is_behind(block, warp, group->pending);
    fragment->gives_up = false;
    if (!is_behind) return false;
    fragment->state = FRAGMENT_AT_MBARRIER;
    fragment->active = mask;
    fragment->awaited = AWAITS_WARPGROUP;
    return true;
}

static Outcome execute_group(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const GroupOp *group = op->extra;
    if (!block->hooks && waits_for_warpgroup(block, warp, group, mask)) return OUTCOME_WAIT;
    block->worker->counters[op->pc].requests++;
    if (block->recorder) {
        TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_ASYNC_GROUP);
        event->participants = group->pending;
        recorder_end(block->recorder, false, false);
    }
    if (block->hooks) return OUTCOME_NEXT;
    if (group->commits) copies_commit(block, warp, mask, group->groups);
    if (group->commits && group->groups == COPY_IN_MATRIX_GROUP) mbarrier_wake(block, block);
    if (group->waits) copies_wait(block, warp, mask, group->groups, group->pending, group->only_read);
    if (group->groups != COPY_IN_MATRIX_GROUP || !group->waits) return OUTCOME_NEXT;
    if (block->observed) {
        observe_warp_sync(warp, op->pc, mask);
        observe_products(warp, op->pc);
    }
    if (warp->follows) undefined_end_products(warp);
    return OUTCOME_NEXT;
}

bool lower_copy_group(Lowering *low, const PtxInstruction *in, Op *op, CopyCompletion groups) {
    GroupOp *group = lowering_allocate(low, sizeof *group);
    bool waits_for_all = ptx_instruction_has(in, PTX_MOD_WAIT_ALL);
    bool counts = ptx_instruction_has(in, PTX_MOD_WAIT_GROUP);
    group->core.execute = execute_group;
    group->groups = groups;
    group->waits = counts || waits_for_all;
    group->commits = !counts; /* all: in a group or not */
    group->only_read = ptx_instruction_has(in, PTX_MOD_READ);
    op->op_class = OP_MEMORY;
    op->extra = group;
    if (in->operand_count != (counts ? 1 : 0)) return lowering_reject(low, op, "%s: malformed", in->name);
    if (!counts) return true;
    if (in->operands[0].kind != PTX_OPERAND_INTEGER || in->operands[0].integer < 0)
        return lowering_reject(low, op, "%s.wait_group takes a constant number of groups",
                               groups == COPY_IN_MATRIX_GROUP ? "wgmma" : "cp.async");
    group->pending = in->operands[0].integer > UINT32_MAX ? UINT32_MAX : (uint32_t)in->operands[0].integer;
    return true;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

/* An access of `count` elements through temporary registers. */
static MemoryOp elements_op(const MemoryOp *like, int bytes, int count, const MemoryValue *values) {
    MemoryOp memory = *like;
    memory.type = bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
    memory.element_bytes = (uint8_t)bytes;
    memory.count = (uint8_t)count;
    memory.width = (uint8_t)(bytes * count);
    for (int e = 0; e < count; e++) memory.values[e] = values[e];
    return memory;
}

static void add_parts(Lowering *low, CopyOp *copy, const MemoryOp *load, const MemoryOp *store) {
    MemoryValue values[TRACE_MAX_ELEMENTS];
    for (int size = HALVES; size <= DOUBLES && 2 << size <= copy->bytes; size++) {
        int bytes = 2 << size, count = copy->bytes / bytes;
        for (int e = 0; e < count; e++)
            values[e] = (MemoryValue){
                .place = lowering_temporary(low, bytes), .bytes = (uint8_t)bytes, .present = true};
        copy->load[size] = elements_op(load, bytes, count, values);
        copy->store[size] = elements_op(store, bytes, count, values);
    }
    for (int w = 0; w < copy->bytes / WORD; w++) {
        copy->words[w] = elements_op(load, WORD, 1, &copy->load[WORDS].values[w]);
        copy->words[w].offset += (int64_t)w * WORD;
    }
    MemoryValue byte = {.place = lowering_temporary(low, 2), .bytes = 2, .present = true};
    copy->byte = elements_op(load, 1, 1, &byte);
}

/* "{, src-size | ignore-src}{, cache-policy}". */
static bool add_options(Lowering *low, const PtxInstruction *in, Op *op, CopyOp *copy) {
    int count = in->operand_count - (ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT) ? 1 : 0);
    if (count == 3) return true;
    const PtxOperand *option = count == 4 ? &in->operands[3] : NULL;
    if (!option) return lowering_reject(low, op, "cp.async: malformed");
    bool is_predicate = option->kind == PTX_OPERAND_REGISTER && !ptx_type_bytes(option->reg->type);
    uint8_t bytes;
    if (is_predicate) {
        copy->has_ignore = true;
        return lowering_value(low, op, option, PTX_PRED, &copy->ignore, NULL);
    }
    copy->has_size = true;
    if (!lowering_value(low, op, option, PTX_U32, &copy->size, &bytes)) return false;
    return bytes == 4 || lowering_reject(low, op, "cp.async: src-size is a 32-bit number");
}

static bool lower_copy(Lowering *low, const PtxInstruction *in, Op *op) {
    if (in->operand_count < 3 || in->operands[2].kind != PTX_OPERAND_INTEGER)
        return lowering_reject(low, op, "cp.async: malformed");
    int64_t bytes = in->operands[2].integer;
    bool only_16 = ptx_instruction_has(in, PTX_MOD_CG);
    bool in_spaces = in->space == PTX_SPACE_SHARED && ptx_instruction_has(in, PTX_MOD_GLOBAL);
    if (bytes != 16 && (only_16 || (bytes != 4 && bytes != 8)))
        return lowering_reject(low, op, "cp.async%s copies %s bytes, not %lld", only_16 ? ".cg" : ".ca",
                               only_16 ? "16" : "4, 8 or 16", (long long)bytes);
    if (!in_spaces || (!only_16 && !ptx_instruction_has(in, PTX_MOD_CA)))
        return lowering_reject(low, op, "cp.async copies with .ca or .cg from global to shared memory");
    CopyOp *copy = lowering_allocate(low, sizeof *copy);
    copy->core.execute = execute_copy;
    copy->bytes = (int)bytes;
    MemoryOp load = {.space = PTX_SPACE_GLOBAL, .kind = TRACE_GLOBAL_LOAD, .is_load = true};
    MemoryOp store = {
        .space = PTX_SPACE_SHARED, .kind = TRACE_SHARED_STORE, .is_store = true, .is_deferred = true};
    op->op_class = OP_MEMORY;
    op->extra = copy;
    if (!access_lower_address(low, op, &store, &in->operands[0]) ||
        !access_lower_address(low, op, &load, &in->operands[1]) || !add_options(low, in, op, copy))
        return false;
    add_parts(low, copy, &load, &store);
    return true;
}

OPCODE_LOWER(cp) {
    PtxAsync form = ptx_asynchronous(in);
    switch (form) {
    case PTX_ASYNC_COPY:
        return lower_copy(low, in, op);
    case PTX_ASYNC_COMMIT:
    case PTX_ASYNC_WAIT:
    case PTX_ASYNC_WAIT_ALL:
        return lower_copy_group(low, in, op, COPY_IN_GROUP);
    case PTX_ASYNC_BULK_COMMIT:
    case PTX_ASYNC_BULK_WAIT:
        return lower_copy_group(low, in, op, COPY_IN_BULK_GROUP);
    case PTX_ASYNC_ARRIVE:
        return mbarrier_lower_copies(low, in, op);
    case PTX_ASYNC_BULK_PREFETCH:
        return lower_prefetch(low, in, op);
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return ptx_instruction_has(in, PTX_MOD_TENSOR) ? tensor_copy_lower(low, in, op)
                                                       : bulk_lower(low, in, op);
    default:
        return lowering_reject(low, op, "cp: malformed");
    }
}
