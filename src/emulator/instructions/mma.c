/* mma, wmma.mma, movmatrix: executed by all lanes of a warp together. ptx/matrix.h says which lane holds
 * which element, matrix_dot.h does the arithmetic. The registers of D are the values of one event. */
#include "emulator/instructions/instruction_set.h"
#include "emulator/instructions/matrix_dot.h"
#include "emulator/instructions/matrix_lower.h"
#include "emulator/instructions/matrix_warp.h"

#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"

enum { MOST_ROWS = 32, MOST_ELEMENTS = MOST_ROWS * MOST_ROWS };

typedef struct Matrix { /* elements, row by row; B column by column */
    uint64_t elements[MOST_ELEMENTS];
} Matrix;

static int index_of(const PtxFragment *fragment, PtxMatrixPlace place) {
    return fragment->role == PTX_MATRIX_B ? place.column * fragment->rows + place.row
                                          : place.row * fragment->columns + place.column;
}

static void gather(const Warp *warp, const MatrixRegisters *from, Matrix *matrix) {
    const PtxFragment *fragment = &from->fragment;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < fragment->distinct; r++) {
            uint64_t bits = register_read(warp, from->items[r].place, from->items[r].bytes, lane);
            for (int part = 0; part < fragment->parts; part++)
                matrix->elements[index_of(fragment, ptx_fragment_place(fragment, lane, r, part))] =
                    ptx_fragment_element(fragment, bits, part);
        }
}

typedef struct Operands {
    Matrix a, b, c;
} Operands;

/* A lane's register of D. `recorded` (NULL: none): another producer's bits for it, taken if they are
 * possible. */
static uint64_t compute_register(const ProductOp *op, const Operands *from, int lane, int r,
                                 const uint64_t *recorded, bool *is_possible) {
    const PtxProduct *shape = &op->shape;
    const PtxFragment *d = &shape->d;
    uint64_t bits = 0;
    for (int part = 0; part < d->parts; part++) {
        PtxMatrixPlace place = ptx_fragment_place(d, lane, r, part);
        const uint64_t *a = &from->a.elements[place.row * shape->k],
                       *b = &from->b.elements[place.column * shape->k];
        uint64_t c = from->c.elements[place.row * shape->n + place.column], own = matrix_dot(shape, a, b, c);
        if (recorded)
            *is_possible &=
                matrix_dot_is_within(shape, a, b, c, own, ptx_fragment_element(d, *recorded, part));
        bits |= own << (d->parts > 1 ? part * 8 * d->register_bytes / d->parts : 0);
    }
    return bits;
}

static void fill_lines(const Warp *warp, const MatrixRegisters *from, const LinePlaces *places,
                       uint8_t *lines) {
    for (int r = 0; r < from->fragment.distinct; r++)
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint32_t bits = (uint32_t)register_read(warp, from->items[r].place, from->items[r].bytes, lane);
            memcpy(lines + places->at[r][lane], &bits, sizeof bits);
        }
}

/* All elements together. */
static void multiply_lines(const Warp *warp, const ProductOp *op, uint64_t result[][WARP_LANES]) {
    MatrixLines lines;
    uint32_t registers[MOST_MATRIX_REGISTERS][WARP_LANES];
    lines.is_sparse = false;
    memset(lines.a, 0, sizeof lines.a);
    memset(lines.b, 0, (size_t)op->shape.n * sizeof *lines.b);
    fill_lines(warp, &op->a, op->a_lines, lines.a[0]);
    fill_lines(warp, &op->b, op->b_lines, lines.b[0]);
    for (int r = 0; r < op->c.fragment.registers; r++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            registers[r][lane] =
                (uint32_t)register_read(warp, op->c.items[r].place, op->c.items[r].bytes, lane);
    matrix_warp_multiply(&op->lines_shape, &lines, registers);
    for (int r = 0; r < op->d.fragment.registers; r++)
        for (int lane = 0; lane < WARP_LANES; lane++) result[r][lane] = registers[r][lane];
}

static void multiply(Block *block, Warp *warp, const ProductOp *op, uint64_t result[][WARP_LANES]) {
    Operands from;
    if (op->a_lines && !block->recorded_values) {
        multiply_lines(warp, op, result);
        return;
    }
    gather(warp, &op->a, &from.a);
    gather(warp, &op->b, &from.b);
    gather(warp, &op->c, &from.c);
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < op->d.fragment.registers; r++) {
            uint64_t recorded = 0;
            bool is_possible =
                block->recorded_values && recorded_values_find(block->recorded_values, lane, r, &recorded);
            uint64_t own = compute_register(op, &from, lane, r, is_possible ? &recorded : NULL, &is_possible);
            result[r][lane] = own;
            if (!is_possible || op->shape.d.type == PTX_S32) continue;
            result[r][lane] = recorded;
            recorded_values_count_product(block->recorded_values, recorded != own);
        }
}

static void transpose(const Warp *warp, const ProductOp *op, uint64_t result[][WARP_LANES]) {
    uint32_t values[WARP_LANES];
    memcpy(values, operand_at(warp, op->a.items[0].place), sizeof values);
    ptx_matrix_transpose(values);
    for (int lane = 0; lane < WARP_LANES; lane++) result[0][lane] = values[lane];
}

/* Each lane's result may depend on the operands of all lanes. */
static void follow(Warp *warp, const ProductOp *op) {
    const MatrixRegisters *sources[] = {&op->a, &op->b, &op->c};
    Operand to[MOST_MATRIX_REGISTERS], from[3 * MOST_MATRIX_REGISTERS];
    int count = 0, to_count = op->d.fragment.registers;
    for (int i = 0; i < to_count; i++) to[i] = op->d.items[i].place;
    for (int s = 0; s < (op->is_move ? 1 : 3); s++)
        for (int i = 0; i < sources[s]->fragment.registers; i++)
            if (!sources[s]->items[i].place.constant) from[count++] = sources[s]->items[i].place;
    undefined_gather_all(warp, from, count, to, to_count);
}

static void write(Warp *warp, const MatrixRegisters *to, uint64_t result[][WARP_LANES]) {
    for (int r = 0; r < to->fragment.registers; r++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            register_write(warp, to->items[r].place, to->items[r].bytes, lane, result[r][lane]);
}

/* A replay writes D itself, once it has seen A, B and C. */
static Outcome execute_product(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const ProductOp *product = op->extra;
    uint64_t result[MOST_MATRIX_REGISTERS][WARP_LANES];
    if (!matrix_has_all_lanes(block, warp, op, mask)) return OUTCOME_STOP;
    block->worker->counters[op->pc].requests++;
    TraceEvent *event =
        block->recorder ? recorder_begin(block->recorder, warp, op->pc, mask, TRACE_MATRIX) : NULL;
    if (warp->follows) follow(warp, product);
    if (product->is_move)
        transpose(warp, product, result);
    else
        multiply(block, warp, product, result);
    if (event) {
        event->has_result = true;
        event->element_count = product->d.fragment.registers;
        event->element_bytes = product->d.fragment.register_bytes;
        memcpy(event->value, result, (size_t)event->element_count * sizeof *result);
        recorder_end(block->recorder, false, false);
    }
    if (block->grid->shadow) shadow_product(warp, product, result);
    if (!block->hooks) write(warp, &product->d, result);
    return OUTCOME_NEXT;
}

/* ---- lowering ----------------------------------------------------------------------------------------- */

static ProductOp *new_product(Lowering *low, Op *op) {
    ProductOp *product = lowering_allocate(low, sizeof *product);
    product->core.execute = execute_product;
    op->op_class = OP_WARP;
    op->extra = product;
    return product;
}

/* NULL: a register's elements are no neighbours along k. */
static const LinePlaces *lower_lines(Lowering *low, const PtxFragment *fragment) {
    LinePlaces *places = lowering_allocate(low, sizeof *places);
    bool is_b = fragment->role == PTX_MATRIX_B;
    for (int r = 0; r < fragment->distinct; r++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int part = 0; part < fragment->parts; part++) {
                PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, part);
                int line = is_b ? place.column : place.row, k = is_b ? place.row : place.column,
                    begin = line * MATRIX_LINE_BYTES + k * fragment->register_bytes / fragment->parts,
                    within = part * fragment->register_bytes / fragment->parts;
                if (part == 0) places->at[r][lane] = (uint16_t)begin;
                if (places->at[r][lane] + within != begin) return NULL;
            }
    return places;
}

static void lower_product_of_lines(Lowering *low, ProductOp *product) {
    const PtxProduct *shape = &product->shape;
    if (!matrix_warp_takes(shape) || shape->k * ptx_type_bytes(shape->a.type) > MATRIX_DENSE_BYTES) return;
    product->lines_shape = *shape;
    product->lines_shape.k = MATRIX_DENSE_BYTES / ptx_type_bytes(shape->a.type);
    product->b_lines = lower_lines(low, &shape->b);
    if (product->b_lines) product->a_lines = lower_lines(low, &shape->a);
}

OPCODE_LOWER(mma) {
    PtxProduct shape;
    if (!ptx_product(in, &shape) || ptx_instruction_has(in, PTX_MOD_RZ) ||
        ptx_instruction_has(in, PTX_MOD_RM) || ptx_instruction_has(in, PTX_MOD_RP))
        return lowering_reject(low, op, "not emulated: %s of this shape and types", in->name);
    ProductOp *product = new_product(low, op);
    product->shape = shape;
    lower_product_of_lines(low, product);
    return matrix_lower_registers(low, op, 0, &shape.d, true, &product->d) &&
           matrix_lower_registers(low, op, 1, &shape.a, false, &product->a) &&
           matrix_lower_registers(low, op, 2, &shape.b, false, &product->b) &&
           matrix_lower_registers(low, op, 3, &shape.c, false, &product->c);
}

OPCODE_LOWER(movmatrix) {
    if (in->operand_count != 2) return lowering_reject(low, op, "%s: malformed", in->name);
    PtxFragment block = ptx_matrix_block();
    ProductOp *product = new_product(low, op);
    product->is_move = true;
    return matrix_lower_registers(low, op, 0, &block, true, &product->d) &&
           matrix_lower_registers(low, op, 1, &block, false, &product->a);
}

OPCODE_LOWER(wmma) {
    return ptx_instruction_has(in, PTX_MOD_MMA) ? lower_mma(low, in, op) : matrix_lower_access(low, in, op);
}
