/* ldmatrix, stmatrix: matrices of 8 x 8 elements of 16 bits, between shared memory and the registers of a
 * warp.
 *
 *   lane 8m + r has the address of row r of matrix m, 16 bytes;
 *   lane l holds the elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4, 4 bytes.
 *
 * So each matrix is an access of 4 bytes a lane, at an address that another lane has. As such it is executed,
 * counted and recorded: an access a matrix, whose wavefronts are those of its eight rows. ("Warp-level matrix
 * load instruction: ldmatrix" in the PTX ISA. Its other forms, transposed and of fewer bits, feed tensor
 * cores, which are not emulated either.) */
#include "emulator/instructions/access_execute.h"

enum { MOST_MATRICES = 4, ROWS = 8, LANES_OF_ROW = 4, ROW_BYTES = 16 };

typedef struct MatrixOp {
    CoreOp core;
    int count;
    MemoryOp matrices[MOST_MATRICES]; /* one element of 4 bytes a lane */
} MatrixOp;

/* The addresses of rows, [lane]; false after a trap. */
static bool read_rows(Block *block, Warp *warp, const Op *op, uint64_t rows[WARP_LANES]) {
    const MatrixOp *matrix = op->extra;
    const MemoryOp *memory = &matrix->matrices[0];
    uint32_t wrong = 0;
    for (int lane = 0; lane < matrix->count * ROWS; lane++) {
        rows[lane] = access_lane_address(warp, memory, lane);
        if (rows[lane] % ROW_BYTES) wrong |= lane_bit[lane];
    }
    if (wrong)
        raise_trap(block, TRAP_MISALIGNED, warp, op->pc, wrong, rows,
                   "a matrix row of 16 bytes is not aligned to 16 bytes");
    return !wrong;
}

static Outcome execute_matrix(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const MatrixOp *matrix = op->extra;
    uint64_t rows[WARP_LANES] = {0};
    if (mask != ALL_LANES) {
        raise_trap(block, TRAP_NOT_EMULATED, warp, op->pc, mask, NULL,
                   "%s without all 32 lanes of the warp: its result is undefined in PTX",
                   op->instruction->name);
        return OUTCOME_STOP;
    }
    if (!read_rows(block, warp, op, rows)) return OUTCOME_STOP;
    for (int m = 0; m < matrix->count; m++) {
        Access access = {
            .op = op, .memory = &matrix->matrices[m], .block = block, .warp = warp, .mask = mask};
        for (int lane = 0; lane < WARP_LANES; lane++)
            access.address[lane] =
                rows[m * ROWS + lane / LANES_OF_ROW] + (uint64_t)(lane % LANES_OF_ROW * access.memory->width);
        Outcome outcome = access_go(&access, access.memory->is_store ? access_store : access_load);
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    return OUTCOME_NEXT;
}

static bool lower_matrices(Lowering *low, const PtxInstruction *in, Op *op, bool is_store) {
    if (in->operand_count < 2 || in->type_count < 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    if (!ptx_instruction_has(in, PTX_MOD_M8N8) || in->types[0] != PTX_B16 ||
        ptx_instruction_has(in, PTX_MOD_TRANS))
        return lowering_reject(low, op, "%s is emulated for .m8n8 and .b16, without .trans", in->name);
    const PtxOperand *place = &in->operands[is_store ? 0 : 1], *values = &in->operands[is_store ? 1 : 0];
    MatrixOp *matrix = lowering_allocate(low, sizeof *matrix);
    matrix->core.execute = execute_matrix;
    matrix->count = ptx_matrix_count(in);
    int given = values->kind == PTX_OPERAND_VECTOR ? values->item_count : 1;
    if (given != matrix->count)
        return lowering_reject(low, op, "%s: %d registers for %d matrices", in->name, given, matrix->count);
    op->op_class = OP_MEMORY;
    op->extra = matrix;
    for (int m = 0; m < matrix->count; m++) {
        MemoryOp *memory = &matrix->matrices[m];
        *memory = (MemoryOp){.space = in->space,
                             .kind = trace_kind_of(in),
                             .type = PTX_B32,
                             .is_store = is_store,
                             .is_load = !is_store,
                             .element_bytes = 4,
                             .count = 1,
                             .width = 4};
        const PtxOperand *value = values->kind == PTX_OPERAND_VECTOR ? &values->items[m] : values;
        if (!access_lower_value(low, op, memory, value, 0) || !access_lower_address(low, op, memory, place))
            return false;
    }
    return true;
}

bool lower_ldmatrix(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_matrices(low, in, op, false);
}
bool lower_stmatrix(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_matrices(low, in, op, true);
}
