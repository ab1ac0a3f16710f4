/* ldmatrix, stmatrix, wmma.load and wmma.store: matrices between memory and the registers of a warp.
 *
 *   ldmatrix   lane 8m + r has the address of row r of matrix m, 16 bytes;
 *              lane l holds the elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4, 4 bytes.
 *   wmma       all lanes have the address of the matrix and the distance of its rows (columns).
 *
 * So each 8 x 8 matrix is an access of 4 bytes per lane, at an address held by another lane; each piece of a
 * wmma fragment (ptx/matrix.h) is one access too. They are executed, counted and recorded as such accesses.
 * With .trans, and if wmma needs it, the lanes then exchange halves: an event records the values in memory.
 * ("Warp-level matrix load instruction: ldmatrix" in the PTX ISA.) */
#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/matrix_lower.h"

enum { MOST_PIECES = 16, ROWS = 8, LANES_OF_ROW = 4, ROW_BYTES = 16 };

typedef struct MatrixOp {
    CoreOp core;
    int count;                    /* accesses */
    bool is_transposed, is_store; /* transposed: as ptx_matrix_transpose() */
    MemoryOp pieces[MOST_PIECES];
    /* wmma: */
    PtxMatrixAccess access;
    MatrixRegisters registers;
    Operand stride;
    bool has_stride;
} MatrixOp;

/* ---- exchange of halves ------------------------------------------------------------------------------- */

static void transpose(const Block *block, Warp *warp, Operand place) {
    ptx_matrix_transpose(operand_at(warp, place));
    if (block->hooks) block->hooks->after_transpose(block->hooks->context, warp_fragment(warp)->frame, place);
}

static void copy_register(const Block *block, Warp *warp, Operand to, Operand from) {
    memcpy(operand_at(warp, to), operand_at(warp, from), WARP_LANES * sizeof(uint32_t));
    if (block->hooks) block->hooks->after_copy(block->hooks->context, warp_fragment(warp)->frame, to, from);
}

/* ---- execution ---------------------------------------------------------------------------------------- */

/* Reads the addresses of the rows, [lane]; false after a trap. */
static bool read_rows(Block *block, Warp *warp, const Op *op, uint64_t rows[WARP_LANES]) {
    const MatrixOp *matrix = op->extra;
    const MemoryOp *memory = &matrix->pieces[0];
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

/* Makes one of the accesses, at the addresses already set. */
static Outcome go(Access *access, const MatrixOp *matrix, AccessMove load) {
    Operand place = access->memory->values[0].place;
    if (matrix->is_store && matrix->is_transposed) transpose(access->block, access->warp, place);
    Outcome outcome = access_go(access, matrix->is_store ? access_store : load);
    if (matrix->is_transposed) transpose(access->block, access->warp, place);
    return outcome;
}

static Outcome execute_matrix(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const MatrixOp *matrix = op->extra;
    uint64_t rows[WARP_LANES] = {0};
    if (!matrix_has_all_lanes(block, warp, op, mask) || !read_rows(block, warp, op, rows))
        return OUTCOME_STOP;
    for (int m = 0; m < matrix->count; m++) {
        Access access = {.op = op, .memory = &matrix->pieces[m], .block = block, .warp = warp, .mask = mask};
        for (int lane = 0; lane < WARP_LANES; lane++)
            access.address[lane] =
                rows[m * ROWS + lane / LANES_OF_ROW] + (uint64_t)(lane % LANES_OF_ROW * access.memory->width);
        Outcome outcome = go(&access, matrix, access_load);
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    return OUTCOME_NEXT;
}

/* Assembles a register from single bytes, the highest first. */
static void load_byte(Access *access) {
    const MemoryValue *value = &access->memory->values[0];
    uint32_t *to = operand_at(access->warp, value->place);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        to[lane] = to[lane] << 8 | *access_host(access, lane);
    }
    access_record(access, access->memory->values, 1, NULL, false);
}

static Outcome execute_wmma(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const MatrixOp *matrix = op->extra;
    const PtxMatrixAccess *shape = &matrix->access;
    uint64_t base[WARP_LANES];
    uint32_t strides[WARP_LANES];
    if (!matrix_has_all_lanes(block, warp, op, mask)) return OUTCOME_STOP;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        base[lane] = access_lane_address(warp, &matrix->pieces[0], lane);
        strides[lane] = matrix->has_stride ? (uint32_t)register_read(warp, matrix->stride, 4, lane)
                                           : (uint32_t)shape->default_stride;
    }
    for (int piece = 0; piece < matrix->count; piece++) {
        Access access = {
            .op = op, .memory = &matrix->pieces[piece], .block = block, .warp = warp, .mask = mask};
        for (int lane = 0; lane < WARP_LANES; lane++)
            access.address[lane] = base[lane] + ptx_matrix_offset(shape, piece, lane, strides[lane]);
        Outcome outcome = go(&access, matrix, access.memory->is_byte_of_word ? load_byte : access_load);
        if (outcome != OUTCOME_NEXT) return outcome;
    }
    const PtxFragment *fragment = &shape->fragment;
    for (int r = fragment->distinct; r < fragment->registers && !matrix->is_store; r++)
        copy_register(block, warp, matrix->registers.items[r].place,
                      matrix->registers.items[r % fragment->distinct].place);
    return OUTCOME_NEXT;
}

/* ---- lowering ----------------------------------------------------------------------------------------- */

static MatrixOp *new_matrix(Lowering *low, Op *op, bool is_store, int count) {
    const PtxInstruction *in = op->instruction;
    MatrixOp *matrix = lowering_allocate(low, sizeof *matrix);
    op->op_class = OP_MEMORY;
    op->extra = matrix;
    matrix->count = count;
    matrix->is_store = is_store;
    for (int i = 0; i < count; i++)
        matrix->pieces[i] = (MemoryOp){.space = in->space,
                                       .kind = trace_kind_of(in),
                                       .type = PTX_B32,
                                       .is_store = is_store,
                                       .is_load = !is_store,
                                       .element_bytes = 4,
                                       .count = 1,
                                       .width = 4};
    return matrix;
}

static bool lower_matrices(Lowering *low, const PtxInstruction *in, Op *op, bool is_store) {
    if (in->operand_count < 2 || in->type_count < 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    if (!ptx_instruction_has(in, PTX_MOD_M8N8) || in->types[0] != PTX_B16)
        return lowering_reject(low, op, "%s is emulated for .m8n8 and .b16", in->name);
    const PtxOperand *place = &in->operands[is_store ? 0 : 1], *values = &in->operands[is_store ? 1 : 0];
    MatrixOp *matrix = new_matrix(low, op, is_store, ptx_matrix_count(in));
    matrix->core.execute = execute_matrix;
    matrix->is_transposed = ptx_matrix_is_transposed(in);
    int given = matrix_item_count(values);
    if (given != matrix->count)
        return lowering_reject(low, op, "%s: %d registers for %d matrices", in->name, given, matrix->count);
    for (int m = 0; m < matrix->count; m++)
        if (!access_lower_value(low, op, &matrix->pieces[m], matrix_item(values, m), 0) ||
            !access_lower_address(low, op, &matrix->pieces[m], place))
            return false;
    return true;
}

OPCODE_LOWER(ldmatrix) {
    return lower_matrices(low, in, op, false);
}
OPCODE_LOWER(stmatrix) {
    return lower_matrices(low, in, op, true);
}

static bool lower_piece(Lowering *low, Op *op, MatrixOp *matrix, int piece) {
    const PtxMatrixAccess *access = &matrix->access;
    MemoryOp *memory = &matrix->pieces[piece];
    int first = ptx_matrix_piece_register(access, piece);
    memory->count = (uint8_t)access->registers_of_piece;
    memory->element_bytes = (uint8_t)(access->bytes / access->registers_of_piece);
    memory->width = (uint8_t)access->bytes;
    memory->is_byte_of_word = access->pieces_of_register > 1;
    for (int e = 0; e < access->registers_of_piece; e++)
        memory->values[e] = matrix->registers.items[first + e];
    return access_lower_address(low, op, memory, &op->instruction->operands[access->address]);
}

bool matrix_lower_access(Lowering *low, const PtxInstruction *in, Op *op) {
    PtxMatrixAccess access;
    if (!ptx_matrix_access(in, &access))
        return lowering_reject(low, op, "not emulated: %s of this shape and type", in->name);
    MatrixOp *matrix = new_matrix(low, op, access.is_store, access.pieces);
    matrix->core.execute = execute_wmma;
    matrix->access = access;
    matrix->is_transposed = access.is_transposed;
    matrix->has_stride = access.stride >= 0;
    if (!matrix_lower_registers(low, op, access.values, &access.fragment, !access.is_store,
                                &matrix->registers))
        return false;
    uint8_t bytes = 4;
    if (matrix->has_stride &&
        !lowering_value(low, op, &in->operands[access.stride], PTX_U32, &matrix->stride, &bytes))
        return false;
    if (bytes != 4) return lowering_reject(low, op, "%s: the stride is not 32 bits wide", in->name);
    for (int piece = 0; piece < matrix->count; piece++)
        if (!lower_piece(low, op, matrix, piece)) return false;
    return true;
}
