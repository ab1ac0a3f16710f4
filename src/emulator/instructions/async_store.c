/* st.async and red.async: stores and reductions into shared memory of the cluster. Each lane also completes
 * its bytes on an mbarrier of the same block ("Data Movement and Conversion Instructions: st.async",
 * "red.async"). The value arrives with the phase of the mbarrier (machine/machine_copies.h). */
#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/copy_async.h"

#include "emulator/machine/mbarrier.h"
#include "ptx/opcodes.h"

typedef struct AsyncStoreOp {
    MemoryOp memory;           /* values: the stored or added operands */
    MemoryOp mbarrier;         /* address of the mbarrier */
    PtxModifierKind operation; /* PTX_MODIFIER_NONE: a store */
} AsyncStoreOp;

static void fold_element(const void *rule, uint8_t *destination, const uint8_t *from, uint32_t bytes) {
    const AsyncStoreOp *op = rule;
    uint64_t value = atomic_apply(op->operation, op->memory.type, bytes_read(destination, (int)bytes),
                                  bytes_read(from, (int)bytes));
    memcpy(destination, &value, bytes);
}

/* Finds the lane's mbarrier in the window of the destination block; false after a trap. */
static bool find_mbarrier(const Access *access, int lane, uint64_t *mbarrier, SharedHome *home) {
    const AsyncStoreOp *op = access->op->extra;
    *mbarrier = shared_window_address(access->warp, &op->mbarrier, lane);
    return access_find_home(access->block, access->warp, access->op, op->mbarrier.space, lane, mbarrier,
                            home) &&
           mbarrier_lies_with(access->block, access->warp, access->op, lane, access->peer, home->peer);
}

static void begin_store(const Access *access, int lane, Block *home, uint32_t mbarrier) {
    const AsyncStoreOp *op = access->op->extra;
    const MemoryOp *memory = access->memory;
    AsyncCopy *copy = copies_add(home, access->warp, lane, access->op->pc, COPY_ON_MBARRIER, memory->width);
    for (int e = 0; e < memory->count; e++) {
        uint64_t value = register_read(access->warp, memory->values[e].place, memory->values[e].bytes, lane);
        memcpy(copies_room(copy) + e * memory->element_bytes, &value, memory->element_bytes);
    }
    copy->to = PTX_SPACE_SHARED;
    copy->to_address = access->address[lane];
    copy->from = PTX_SPACE_GENERIC;
    copy->mbarrier = mbarrier;
    copy->fold = op->operation != PTX_MODIFIER_NONE ? fold_element : NULL;
    copy->rule = op;
    copies_begun(home, copy);
}

static void begin_stores(Access *access) {
    const AsyncStoreOp *op = access->op->extra;
    const MemoryOp *memory = access->memory;
    uint64_t operand[WARP_LANES] = {0};
    bool folds = op->operation != PTX_MODIFIER_NONE;
    if (access->space != PTX_SPACE_SHARED) {
        raise_trap(
            access->block, TRAP_OUT_OF_BOUNDS, access->warp, access->op->pc, access->mask, access->address,
            "%s.async of this form writes shared memory of the cluster, but this address lies elsewhere",
            access->op->instruction->name);
        return;
    }
    SharedHome home = {NULL, -1};
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), last = memory->count - 1;
        uint64_t mbarrier;
        if (!find_mbarrier(access, lane, &mbarrier, &home)) return;
        operand[lane] =
            register_read(access->warp, memory->values[last].place, memory->values[last].bytes, lane);
        if (home.block) begin_store(access, lane, home.block, (uint32_t)mbarrier);
    }
    access_record(access, memory->values, folds ? 0 : memory->count, folds ? operand : NULL, true);
    if (home.block) mbarrier_wake(home.block, access->block);
}

static Outcome execute_async_store(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Outcome outcome = access_execute(block, warp, op, mask, begin_stores);
    return block->worker->stopped ? OUTCOME_STOP : outcome;
}

static bool is_possible(PtxModifierKind operation, PtxType type) {
    bool word = type == PTX_U32 || type == PTX_S32;
    switch (operation) {
    case PTX_MODIFIER_NONE:
        return ptx_type_bytes(type) == 4 || ptx_type_bytes(type) == 8;
    case PTX_MOD_ADD:
        return word || type == PTX_U64;
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return word;
    case PTX_MOD_INC:
    case PTX_MOD_DEC:
        return type == PTX_U32;
    case PTX_MOD_AND:
    case PTX_MOD_OR:
    case PTX_MOD_XOR:
        return type == PTX_B32;
    default:
        return false;
    }
}

static bool lower_values(Lowering *low, const PtxInstruction *in, Op *op, MemoryOp *memory) {
    const PtxOperand *value = &in->operands[1];
    int given = value->kind == PTX_OPERAND_VECTOR ? value->item_count : 1;
    if (given != memory->count) return lowering_reject(low, op, "%s.async: malformed vector", in->name);
    memory->is_store = true; /* sources, also for red */
    for (int e = 0; e < given; e++) {
        const PtxOperand *item = value->kind == PTX_OPERAND_VECTOR ? &value->items[e] : value;
        if (!access_lower_value(low, op, memory, item, e)) return false;
        if (memory->values[e].bytes != memory->element_bytes)
            return lowering_reject(low, op, "%s.async: an operand has the wrong size", in->name);
    }
    return true;
}

static bool lower_async(Lowering *low, const PtxInstruction *in, Op *op) {
    bool folds = in->opcode == PTX_red;
    if (!ptx_instruction_has(in, PTX_MOD_COMPLETE_TX_BYTES))
        return lowering_reject(low, op, "%s.async is emulated where it completes on an mbarrier", in->name);
    if (in->operand_count != 3 || in->type_count != 1)
        return lowering_reject(low, op, "%s.async: malformed", in->name);
    AsyncStoreOp *async = lowering_allocate(low, sizeof *async);
    MemoryOp *memory = &async->memory;
    async->operation = folds ? atomic_operation_of(in) : PTX_MODIFIER_NONE;
    memory->core.execute = execute_async_store;
    memory->space = async->mbarrier.space = in->space;
    memory->kind = trace_kind_of(in);
    memory->type = in->types[0];
    memory->element_bytes = (uint8_t)ptx_type_bytes(in->types[0]);
    memory->count = (uint8_t)(in->vector > 1 ? in->vector : 1);
    memory->width = (uint8_t)(memory->element_bytes * memory->count);
    memory->is_deferred = true;
    op->op_class = OP_MEMORY;
    op->extra = async;
    bool in_shared = in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER ||
                     in->space == PTX_SPACE_GENERIC;
    if (!in_shared || !is_possible(async->operation, in->types[0]) || memory->width > 16 ||
        (folds && memory->count > 1) || (!folds && atomic_operation_of(in) != PTX_MODIFIER_NONE))
        return lowering_reject(low, op, "%s.async has no such form", in->name);
    if (!lower_values(low, in, op, memory) || !access_lower_address(low, op, memory, &in->operands[0]) ||
        !access_lower_address(low, op, &async->mbarrier, &in->operands[2]))
        return false;
    if (folds) {
        memory->is_store = false;
        memory->is_atomic = memory->ordered = true;
        memory->rule = atomic_rule(low, async->operation, memory->type);
        memory->form = PTX_ATOMIC_UNKNOWN;
    }
    return lower_in_clusters(low, op, folds ? "red.async" : "st.async");
}

OPCODE_LOWER(st) {
    return ptx_instruction_has(in, PTX_MOD_ASYNC) ? lower_async(low, in, op)
                                                  : access_lower_store(low, in, op);
}

OPCODE_LOWER(red) {
    return ptx_instruction_has(in, PTX_MOD_ASYNC) ? lower_async(low, in, op) : atomic_lower_red(low, in, op);
}
