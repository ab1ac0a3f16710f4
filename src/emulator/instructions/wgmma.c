/* wgmma: four warps multiply matrices ("Asynchronous Warpgroup Level Matrix Instructions"). Each warp
 * computes its 16 rows of D as it executes the instruction, from shared memory as it is then; ptx/matrix.h
 * says which lane holds which element, and where a descriptor places the elements in shared memory.
 *
 * All lanes take part in the reads and in the wait for them, so both order the lanes of the warp, but not its
 * warpgroup. (The PTX ISA says no more than .sync.) But a wgmma-group is one of the whole warpgroup
 * ("wgmma.commit_group"): when a warp has waited for it, the reads of all four have ended, and one arrival at
 * an mbarrier may speak for them, as in CUTLASS's pipelines.
 *
 * D changes at once. For an observer it is undefined, and the tiles in shared memory are being read, until a
 * wgmma.wait_group of the warp has waited for the group (machine/machine_copies.h, machine/undefined.h). How
 * many bank conflicts these reads have was not measured, so they are not counted. */
#include "emulator/instructions/copy_async.h"
#include "emulator/instructions/matrix_lower.h"
#include "emulator/instructions/matrix_warp.h"

#include "base/language.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"

enum { CHUNK = 16, MOST_CHUNKS = 256 * 1024 / CHUNK, MOST_REGISTERS = 128 };

typedef struct Chunks { /* 16 bytes of shared memory each: a bit for those that are read */
    uint64_t bits[MOST_CHUNKS / 64];
} Chunks;

typedef struct Reading { /* of the matrices of one warp */
    Block *block;
    Warp *warp;
    const Op *op;
    Chunks *seen; /* NULL: nobody observes */
} Reading;

/* ---- shared memory ------------------------------------------------------------------------------------ */

/* The value that all lanes have in the register; false after a trap. */
static bool read_uniform(const Reading *from, Operand place, int bytes, const char *what, uint64_t *value) {
    uint32_t others = 0;
    *value = register_read(from->warp, place, bytes, 0);
    for (int lane = 1; lane < WARP_LANES; lane++)
        if (register_read(from->warp, place, bytes, lane) != *value) others |= lane_bit[lane];
    if (others)
        raise_trap(from->block, TRAP_NOT_EMULATED, from->warp, from->op->pc, others, NULL,
                   tr("wgmma with another %s than in lane 0: its result is undefined in PTX"), tr(what));
    return !others;
}

static void check_written(const Reading *from, uint32_t at) {
    uint8_t *reported = &from->block->worker->reported[from->op->pc];
    if (from->block->shared_is_written || bits_all(from->block->shared_written, at, CHUNK)) return;
    if (*reported >= MAX_REPORTED) return;
    ++*reported;
    raise_trap(
        from->block, TRAP_UNINITIALIZED, from->warp, from->op->pc, ALL_LANES, NULL,
        tr("wgmma reads 16 bytes of shared memory at offset %u, some of which were never written (warp "
           "%d of the block)"),
        at, from->warp->index);
}

/* Reads 16 bytes at this address of the window; NULL after a trap. */
static const uint8_t *read_chunk(const Reading *from, uint32_t at, char matrix) {
    uint32_t size = from->block->grid->program->shared_bytes;
    if (at + CHUNK > size) {
        Trap *trap = raise_trap(from->block, TRAP_OUT_OF_BOUNDS, from->warp, from->op->pc, ALL_LANES, NULL,
                                tr("the descriptor of %c reaches shared offset %u: the block has %u bytes of "
                                   "shared memory"),
                                matrix, at, size);
        if (trap) trap->space = PTX_SPACE_SHARED;
        return NULL;
    }
    check_written(from, at);
    if (from->seen) from->seen->bits[at / CHUNK / 64] |= UINT64_C(1) << at / CHUNK % 64;
    return from->block->shared + at;
}

/* Reads `count` lines from `first` on, rows of A or columns of B; false after a trap. */
static bool read_lines(const Reading *from, char matrix, uint64_t bits, bool is_along_k,
                       const PtxFragment *fragment, int first, int count,
                       uint8_t lines[][MATRIX_LINE_BYTES]) {
    PtxMatrixDescriptor descriptor = ptx_matrix_descriptor(bits);
    int bytes = ptx_type_bytes(fragment->type), of_chunk = CHUNK / bytes;
    int of_line = fragment->role == PTX_MATRIX_A ? fragment->columns : fragment->rows;
    if (is_along_k) {
        for (int line = 0; line < count; line++)
            for (int k = 0; k < of_line; k += of_chunk) {
                const uint8_t *chunk =
                    read_chunk(from, ptx_matrix_chunk(&descriptor, true, first + line, k, bytes), matrix);
                if (!chunk) return false;
                memcpy(lines[line] + k * bytes, chunk, CHUNK);
            }
        return true;
    }
    for (int k = 0; k < of_line; k++)
        for (int line = 0; line < count; line += of_chunk) {
            const uint8_t *chunk =
                read_chunk(from, ptx_matrix_chunk(&descriptor, false, k, first + line, bytes), matrix);
            for (int i = 0; chunk && i < of_chunk; i++)
                memcpy(lines[line + i] + k * bytes, chunk + i * bytes, (size_t)bytes);
            if (!chunk) return false;
        }
    return true;
}

static void read_registers(const Warp *warp, const MatrixRegisters *from,
                           uint8_t lines[][MATRIX_LINE_BYTES]) {
    const PtxFragment *fragment = &from->fragment;
    for (int r = 0; r < fragment->registers; r++) {
        const uint32_t *values = operand_at(warp, from->items[r].place);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, 0);
            memcpy(lines[place.row] + place.column * 4 / fragment->parts, &values[lane], sizeof *values);
        }
    }
}

/* Changes the sign of every element. */
static void negate(const PtxFragment *a, uint8_t lines[][MATRIX_LINE_BYTES]) {
    int bytes = ptx_type_bytes(a->type);
    for (int row = 0; row < MATRIX_WARP_ROWS; row++)
        for (int k = 0; k < a->columns; k++) lines[row][k * bytes + bytes - 1] ^= 0x80;
}

/* Moves the stored elements of A to their columns; false after a trap. */
static bool spread(const Reading *from, MatrixLines *lines) {
    const WarpgroupOp *product = from->op->extra;
    const PtxFragment *a = &product->shape.product.a;
    size_t bytes = (size_t)ptx_type_bytes(a->type);
    const uint32_t *metadata = operand_at(from->warp, product->metadata);
    PtxStoredColumns columns;
    int lane = ptx_stored_columns(&product->shape, metadata, &columns);
    lines->is_sparse = true;
    if (lane >= 0) {
        raise_trap(
            from->block, TRAP_NOT_EMULATED, from->warp, from->op->pc, lane_bit[lane], NULL,
            tr("wgmma: PTX does not allow the metadata 0x%08x of lane %d: each 4 bits are two ascending "
               "columns of four (of tf32: 0x4 or 0xe)"),
            metadata[lane], lane);
        return false;
    }
    for (int row = 0; row < MATRIX_WARP_ROWS; row++) {
        uint8_t stored[MATRIX_LINE_BYTES];
        memcpy(stored, lines->a[row], sizeof stored);
        memset(lines->a[row], 0, sizeof lines->a[row]);
        lines->stored[row] = 0;
        for (int i = 0; i < a->columns; i++) {
            uint8_t k = columns.of[row][i];
            memcpy(lines->a[row] + k * bytes, stored + (size_t)i * bytes, bytes);
            lines->stored[row] |= UINT64_C(1) << k;
        }
    }
    return true;
}

/* False after a trap. */
static bool read_matrices(const Reading *from, MatrixLines *lines) {
    const WarpgroupOp *product = from->op->extra;
    const PtxWarpgroupProduct *shape = &product->shape;
    uint64_t a, b;
    if (shape->a_in_registers) {
        read_registers(from->warp, &product->a, lines->a);
    } else {
        int first = from->warp->index % WARPGROUP_WARPS * MATRIX_WARP_ROWS;
        if (!read_uniform(from, product->a_descriptor, 8, "descriptor", &a) ||
            !read_lines(from, 'A', a, !shape->a_along_m, &shape->product.a, first, MATRIX_WARP_ROWS,
                        lines->a))
            return false;
    }
    if (shape->is_negative) negate(&shape->product.a, lines->a);
    lines->is_sparse = false;
    if (shape->is_sparse && !spread(from, lines)) return false;
    return read_uniform(from, product->b_descriptor, 8, "descriptor", &b) &&
           read_lines(from, 'B', b, !shape->b_along_n, &shape->product.b, 0, shape->product.n, lines->b);
}

/* ---- execution ---------------------------------------------------------------------------------------- */

/* Reports what was read, in as few ranges as possible. */
static void observe_chunks(const Reading *from) {
    uint32_t chunks = from->block->grid->program->shared_bytes / CHUNK;
    for (uint32_t i = 0; i < chunks; i++) {
        if (!(from->seen->bits[i / 64] >> i % 64 & 1)) continue;
        uint32_t first = i;
        while (i < chunks && from->seen->bits[i / 64] >> i % 64 & 1) i++;
        ObservedRange range = {from->block,      from->op->pc,  from->warp->index,  0,
                               PTX_SPACE_SHARED, first * CHUNK, (i - first) * CHUNK};
        observe_range(from->block, &range, NULL);
        copies_add_matrix(from->block, from->warp, from->op->pc, first * CHUNK, (i - first) * CHUNK);
    }
}

static void record(Block *block, const Warp *warp, const Op *op, uint32_t values[][WARP_LANES]) {
    const WarpgroupOp *product = op->extra;
    const PtxFragment *d = &product->shape.product.d;
    for (int first = 0, count; first < d->registers; first += count) {
        count = trace_warpgroup_registers(d->registers, first);
        TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, ALL_LANES, TRACE_MATRIX);
        event->has_result = true;
        event->element_count = count;
        event->element_bytes = d->register_bytes;
        event->participants = (uint32_t)first;
        for (int r = 0; r < count && values; r++)
            for (int lane = 0; lane < WARP_LANES; lane++) event->value[r][lane] = values[first + r][lane];
        recorder_end(block->recorder, false, false);
    }
}

static bool has_group(Block *block, const Warp *warp, const Op *op) {
    int first = warp->index / WARPGROUP_WARPS * WARPGROUP_WARPS;
    if (first + WARPGROUP_WARPS <= block->warp_count) return true;
    raise_trap(
        block, TRAP_NOT_EMULATED, warp, op->pc, ALL_LANES, NULL,
        tr("wgmma needs the four warps %d to %d, and the block has only %d: its result is undefined in PTX"),
        first, first + WARPGROUP_WARPS - 1, block->warp_count);
    return false;
}

/* The registers of D, or zeros if scale-d is false. False after a trap. */
static bool read_accumulators(const Reading *from, uint32_t values[][WARP_LANES]) {
    const WarpgroupOp *product = from->op->extra;
    int count = product->shape.product.d.registers;
    uint64_t adds;
    if (!read_uniform(from, product->scale_d, 0, "scale-d", &adds)) return false;
    for (int r = 0; r < count; r++)
        if (adds)
            memcpy(values[r], operand_at(from->warp, product->d[r].place), sizeof values[r]);
        else
            memset(values[r], 0, sizeof values[r]);
    return true;
}

/* A replay writes D itself. */
static Outcome execute_product(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const WarpgroupOp *product = op->extra;
    const PtxFragment *d = &product->shape.product.d;
    MatrixLines lines;
    Chunks chunks;
    uint32_t values[MOST_REGISTERS][WARP_LANES];
    Reading from = {block, warp, op, block->observed ? &chunks : NULL};
    if (!matrix_has_all_lanes(block, warp, op, mask) || !has_group(block, warp, op)) return OUTCOME_STOP;
    block->worker->counters[op->pc].requests++;
    if (block->hooks) {
        record(block, warp, op, NULL);
        return OUTCOME_NEXT;
    }
    if (from.seen) memset(&chunks, 0, sizeof chunks);
    if (!read_matrices(&from, &lines) || !read_accumulators(&from, values)) return OUTCOME_STOP;
    if (from.seen) {
        observe_warp_sync(warp, op->pc, ALL_LANES);
        observe_chunks(&from);
    }
    matrix_warp_multiply(&product->shape.product, &lines, values);
    if (block->recorder) record(block, warp, op, values);
    if (block->grid->shadow) shadow_pages_lose(block->grid->shadow);
    for (int r = 0; r < d->registers; r++) {
        memcpy(operand_at(warp, product->d[r].place), values[r], sizeof values[r]);
        if (block->observed) undefined_begin(warp, op->pc, product->d[r].place, ALL_LANES);
    }
    return OUTCOME_NEXT;
}

/* ---- lowering ----------------------------------------------------------------------------------------- */

/* Memory here is always in order. */
OP_FUNCTION(run_fence) {
    (void)op, (void)warp, (void)mask;
}

static bool lower_descriptor(Lowering *low, Op *op, int index, Operand *descriptor) {
    uint8_t bytes;
    const PtxOperand *operand = &op->instruction->operands[index];
    return lowering_value(low, op, operand, PTX_B64, descriptor, &bytes) &&
           (bytes == 8 || lowering_reject(low, op, "wgmma: a matrix descriptor has 64 bits"));
}

/* A register of 32 bits; a number is none to ptxas. */
static bool lower_metadata(Lowering *low, Op *op, int index, Operand *metadata) {
    uint8_t bytes;
    const PtxOperand *operand = &op->instruction->operands[index];
    return lowering_value(low, op, operand, PTX_B32, metadata, &bytes) &&
           ((bytes == 4 && operand->kind == PTX_OPERAND_REGISTER) ||
            lowering_reject(low, op, "wgmma: metadata are a register of 32 bits"));
}

static bool lower_product(Lowering *low, const PtxInstruction *in, Op *op) {
    WarpgroupOp *product = lowering_allocate(low, sizeof *product);
    PtxWarpgroupProduct *shape = &product->shape;
    if (!ptx_warpgroup_product(in, shape))
        return lowering_reject(low, op, "not emulated: %s of this shape, types and operands", in->name);
    const PtxFragment *d = &shape->product.d;
    product->core.execute = execute_product;
    product->d = lowering_allocate(low, (size_t)d->registers * sizeof *product->d);
    op->op_class = OP_WARP;
    op->extra = product;
    return matrix_lower_items(low, op, 0, d, false, product->d) &&
           matrix_lower_items(low, op, 0, d, true, product->d) &&
           (shape->a_in_registers ? matrix_lower_registers(low, op, 1, &shape->product.a, false, &product->a)
                                  : lower_descriptor(low, op, 1, &product->a_descriptor)) &&
           lower_descriptor(low, op, 2, &product->b_descriptor) &&
           (!shape->is_sparse || lower_metadata(low, op, shape->metadata, &product->metadata)) &&
           lowering_source(low, op, shape->scale_d, PTX_PRED, &product->scale_d);
}

OPCODE_LOWER(wgmma) {
    if (ptx_instruction_has(in, PTX_MOD_MMA_ASYNC)) return lower_product(low, in, op);
    if (ptx_instruction_has(in, PTX_MOD_COMMIT_GROUP) || ptx_instruction_has(in, PTX_MOD_WAIT_GROUP))
        return lower_copy_group(low, in, op, COPY_IN_MATRIX_GROUP);
    op->op_class = OP_NO_EFFECT;
    op->run = run_fence;
    return true;
}
