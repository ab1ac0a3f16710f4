/* cvta, isspacep, mapa, getctarank, and the stack: alloca, stacksave, stackrestore. */
#include "emulator/machine/machine_access.h"
#include "emulator/machine/local_memory.h"
#include "emulator/lanes/lanes.h"

static uint64_t window_of(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return SHARED_WINDOW;
    case PTX_SPACE_LOCAL:
        return LOCAL_WINDOW;
    case PTX_SPACE_PARAM:
        return PARAMETER_WINDOW;
    default:
        return 0; /* global and constant addresses are generic */
    }
}

/* d = a + *op->extra. */
HANDLER(add_base_64) {
    uint64_t *d = operand_at(warp, op->d), base = *(const uint64_t *)op->extra;
    const uint64_t *a = operand_at(warp, op->s[0]);
    EACH_LANE(uint64_t, a[l] + base);
}

HANDLER(add_base_32) {
    uint32_t *d = operand_at(warp, op->d), base = (uint32_t) * (const uint64_t *)op->extra;
    const uint32_t *a = operand_at(warp, op->s[0]);
    EACH_LANE(uint32_t, a[l] + base);
}

static bool lower_rebase(Lowering *low, Op *op, PtxType type, uint64_t base) {
    uint64_t *kept = lowering_allocate(low, sizeof *kept);
    *kept = base;
    op->extra = kept;
    op->provenance = WEIGHT_SUM;
    op->run = (ptx_type_bytes(type) == 8 ? add_base_64 : add_base_32).at[lanes_level()];
    op->source_count = 1;
    const PtxInstruction *in = low->instruction;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (!lowering_source(low, op, 1, type, &op->s[0])) return false;
    int bytes = ptx_type_bytes(type);
    if ((op->has_d && op->d_bytes != bytes) || op->s_bytes[0] != bytes)
        return lowering_reject(low, op, "%s: operands and type differ in size", in->name);
    return true;
}

OPCODE_LOWER(cvta) {
    if (in->operand_count != 2 || in->type_count != 1) return lowering_reject(low, op, "cvta: malformed");
    uint64_t window = window_of(in->space);
    /* cvta.shared d, smem: here a variable's address is relative to its space. */
    return lower_rebase(low, op, in->types[0], ptx_instruction_has(in, PTX_MOD_TO) ? 0 - window : window);
}

/* ---- addresses of the cluster ------------------------------------------------------------------------ */

/* True if the address lies in shared memory; removes the window base. `number[0]`: the address is generic. */
static bool shared_part(const Op *op, uint64_t address, uint64_t *part) {
    *part = op->number[0] ? address - SHARED_WINDOW : address;
    return *part < WINDOW_BYTES;
}

/* An address outside shared memory has no counterpart in another block: 0, which faults on use. */
OP_FUNCTION(run_mapa) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t part, address = 0, rank = register_read(warp, op->s[1], op->s_bytes[1], lane) & UINT32_MAX;
        if (rank + 1 > CLUSTER_NO_RANK) rank = CLUSTER_NO_RANK - 1;
        if (shared_part(op, register_read(warp, op->s[0], op->s_bytes[0], lane), &part))
            address = (part & CLUSTER_OFFSET) | (rank + 1) << CLUSTER_RANK_SHIFT;
        if (address && op->number[0]) address += SHARED_WINDOW;
        if (op->has_d) register_write(warp, op->d, op->d_bytes, lane, address);
    }
}

OP_FUNCTION(run_getctarank) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t part, rank = 0;
        if (shared_part(op, register_read(warp, op->s[0], op->s_bytes[0], lane), &part))
            rank = part >> CLUSTER_RANK_SHIFT;
        if (op->has_d) register_write(warp, op->d, 4, lane, rank ? rank - 1 : warp->block->rank);
    }
}

static bool lower_of_cluster(Lowering *low, const PtxInstruction *in, Op *op, OpFunction run, int sources) {
    if (in->operand_count != 1 + sources || in->type_count != 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    op->run = run;
    op->number[0] = in->space == PTX_SPACE_GENERIC;
    op->source_count = sources;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d) ||
        !lowering_source(low, op, 1, in->types[0], &op->s[0]) ||
        (sources > 1 && !lowering_source(low, op, 2, PTX_U32, &op->s[1])))
        return false;
    int bytes = ptx_type_bytes(in->types[0]);
    return op->s_bytes[0] == bytes ||
           lowering_reject(low, op, "%s: operands and type differ in size", in->name);
}

OPCODE_LOWER(mapa) {
    op->provenance = WEIGHT_SUM;
    if (!lower_of_cluster(low, in, op, run_mapa, 2)) return false;
    return !op->has_d || op->d_bytes == op->s_bytes[0] ||
           lowering_reject(low, op, "mapa: operands and type differ in size");
}

OPCODE_LOWER(getctarank) {
    op->provenance = WEIGHT_NONE;
    if (!lower_of_cluster(low, in, op, run_getctarank, 1)) return false;
    return !op->has_d || op->d_bytes == 4 ||
           lowering_reject(low, op, "getctarank takes a 32-bit destination");
}

/* Shared memory of this block: .shared means .shared::cta, which lies in the window of .shared::cluster. */
static bool is_own_shared(const Warp *warp, uint64_t part) {
    uint64_t rank = part >> CLUSTER_RANK_SHIFT;
    return part < WINDOW_BYTES && (!rank || rank - 1 == warp->block->rank);
}

/* p = (base <= a < base + size). */
OP_FUNCTION(run_isspacep) {
    uint32_t *p = operand_at(warp, op->d), inside = 0;
    uint64_t base = window_of((PtxSpace)op->number[0]);
    bool global = base == 0;
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t address = register_read(warp, op->s[0], op->s_bytes[0], l);
        bool in = global ? address < SHARED_WINDOW : address - base < WINDOW_BYTES;
        if (global && in) {
            const Memory *memory = warp->block->grid->memory;
            int region = memory_find(memory, address);
            bool constant = region >= 0 && memory->regions[region].read_only;
            in = op->number[0] == PTX_SPACE_CONST ? constant : !constant;
        }
        /* ".param window is contained within the .global window" */
        if (op->number[0] == PTX_SPACE_GLOBAL && address - PARAMETER_WINDOW < WINDOW_BYTES) in = true;
        if (op->number[0] == PTX_SPACE_SHARED) in = is_own_shared(warp, address - base);
        if (in) inside |= lane_bit[l];
    }
    *p = (*p & ~mask) | (inside & mask);
}

OPCODE_LOWER(isspacep) {
    if (in->operand_count != 2) return lowering_reject(low, op, "isspacep: malformed");
    op->run = run_isspacep;
    op->provenance = WEIGHT_NONE;
    op->number[0] = in->space;
    op->source_count = 1;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (op->has_d && op->d_bytes) return lowering_reject(low, op, "isspacep takes a predicate");
    const PtxOperand *address = &in->operands[1];
    bool wide =
        address->kind != PTX_OPERAND_REGISTER || (address->reg && ptx_type_bytes(address->reg->type) == 8);
    return lowering_source(low, op, 1, wide ? PTX_U64 : PTX_U32, &op->s[0]);
}

/* ---- stack ------------------------------------------------------------------------------------------ */

static uint64_t highest(const Warp *warp, Operand place, int bytes, uint32_t mask) {
    uint64_t most = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t value = register_read(warp, place, bytes, __builtin_ctz(rest));
        if (value > most) most = value;
    }
    return most;
}

typedef struct StackOp {
    CoreOp core;
    Operand d, size;
    uint8_t bytes;
    uint32_t alignment;
} StackOp;

static Outcome execute_alloca(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const StackOp *stack = op->extra;
    Frame *frame = warp_fragment(warp)->frame;
    uint64_t base = ((uint64_t)frame->local_top + stack->alignment - 1) / stack->alignment * stack->alignment;
    uint64_t size = highest(warp, stack->size, stack->bytes, mask);
    if (size > UINT32_MAX / 2 || !local_reserve(block, warp, base + size)) {
        raise_trap(block, TRAP_STACK_OVERFLOW, warp, op->pc, mask, NULL, "alloca of %llu bytes",
                   (unsigned long long)size);
        return OUTCOME_STOP;
    }
    frame->local_top = (uint32_t)((base + size + 15) / 16 * 16);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        register_write(warp, stack->d, stack->bytes, __builtin_ctz(rest), base);
    return OUTCOME_NEXT;
}

static Outcome execute_stacksave(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    (void)block;
    const StackOp *stack = op->extra;
    uint64_t top = warp_fragment(warp)->frame->local_top;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        register_write(warp, stack->d, stack->bytes, __builtin_ctz(rest), top);
    return OUTCOME_NEXT;
}

static Outcome execute_stackrestore(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    (void)block;
    const StackOp *stack = op->extra;
    Frame *frame = warp_fragment(warp)->frame;
    uint64_t top = highest(warp, stack->size, stack->bytes, mask);
    if (mask == frame->members && top >= frame->local_base && top <= frame->local_top)
        frame->local_top = (uint32_t)top;
    return OUTCOME_NEXT;
}

static bool lower_stack(Lowering *low, const PtxInstruction *in, Op *op, CoreExecute execute, bool has_d,
                        bool has_size) {
    if (in->operand_count < has_d + has_size || in->type_count != 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    StackOp *stack = lowering_allocate(low, sizeof *stack);
    stack->core.execute = execute;
    stack->bytes = (uint8_t)ptx_type_bytes(in->types[0]);
    stack->alignment = 16;
    op->op_class = OP_CONTROL;
    op->extra = stack;
    bool present;
    uint8_t bytes = stack->bytes;
    if (has_d && !lowering_destination(low, op, &in->operands[0], &stack->d, &bytes, &present)) return false;
    if (has_size && !lowering_source(low, op, has_d, in->types[0], &stack->size)) return false;
    if (bytes != stack->bytes || (bytes != 4 && bytes != 8))
        return lowering_reject(low, op, "%s: wrong size of operands", in->name);
    if (has_d && has_size && in->operand_count > 2 && in->operands[2].integer > 16)
        stack->alignment = (uint32_t)in->operands[2].integer;
    return true;
}

OPCODE_LOWER(alloca) {
    return lower_stack(low, in, op, execute_alloca, true, true);
}
OPCODE_LOWER(stacksave) {
    return lower_stack(low, in, op, execute_stacksave, true, false);
}
OPCODE_LOWER(stackrestore) {
    return lower_stack(low, in, op, execute_stackrestore, false, true);
}
