/* Products of a warpgroup in a replay: the lanes get the recorded values, some registers of D an event.
 *
 * Weights flow as in replay_matrix.c, but the values in shared memory are not kept: a product has the weight
 * of the factor with more inputs, even if the other one is 0. The sums are not followed to their terms. */
#include "emulator/replay/replay_state.h"

#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/matrix_warp.h"
#include "emulator/machine/product.h"

#include <stdlib.h>

enum { CHUNK = 16, WARPS_OF_GROUP = 4 };

typedef struct LineWeights {
    PtxStoredColumns columns; /* of a */
    uint32_t a[MATRIX_WARP_ROWS][MATRIX_LINE_BYTES],
        b[PTX_WARPGROUP_COLUMNS][MATRIX_LINE_BYTES]; /* [line][k]; of a: [row][stored element] */
} LineWeights;

static uint32_t weight_at(const Replay *replay, uint32_t address, int bytes) {
    uint16_t symbol;
    uint64_t offset;
    uint32_t weight = 0;
    int32_t producer;
    if (address >= replay->program->shared_bytes) return 0;
    access_place_shared(&replay->grid, address, &symbol, &offset);
    provenance_memory_read(replay->stored, replay_key(TRACE_SHARED_LOAD, symbol, offset), bytes, &weight,
                           &producer);
    return weight;
}

/* Of elements in shared memory: lines from `first` on, rows of A or columns of B. */
static void read_lines(const Replay *replay, uint64_t bits, bool is_along_k, PtxType type, int of_line,
                       int first, int count, uint32_t weights[][MATRIX_LINE_BYTES]) {
    PtxMatrixDescriptor descriptor = ptx_matrix_descriptor(bits);
    int bytes = ptx_type_bytes(type), of_chunk = CHUNK / bytes;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < of_line; k++) {
            int line = first + i, along = is_along_k ? k : line;
            uint32_t chunk = ptx_matrix_chunk(&descriptor, is_along_k, is_along_k ? line : k,
                                              along / of_chunk * of_chunk, bytes);
            weights[i][k] = weight_at(replay, chunk + (uint32_t)(along % of_chunk * bytes), bytes);
        }
}

static void read_registers(const Frame *frame, const MatrixRegisters *from,
                           uint32_t weights[][MATRIX_LINE_BYTES]) {
    for (int r = 0; r < from->fragment.registers; r++) {
        const Provenance *provenance = provenance_of(frame, from->items[r].place);
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int part = 0; part < from->fragment.parts; part++) {
                PtxMatrixPlace place = ptx_fragment_place(&from->fragment, lane, r, part);
                weights[place.row][place.column] = provenance ? provenance->weight[lane] : 0;
            }
    }
}

/* False: PTX does not allow the metadata. */
static bool read_weights(const Replay *replay, const WarpgroupOp *op, const Warp *warp, const Frame *frame,
                         LineWeights *weights) {
    const PtxWarpgroupProduct *shape = &op->shape;
    const PtxProduct *product = &shape->product;
    int first = warp->index % WARPS_OF_GROUP * MATRIX_WARP_ROWS;
    if (ptx_stored_columns(shape, shape->is_sparse ? operand_at(warp, op->metadata) : NULL,
                           &weights->columns) >= 0)
        return false;
    if (shape->a_in_registers)
        read_registers(frame, &op->a, weights->a);
    else
        read_lines(replay, register_read(warp, op->a_descriptor, 8, 0), !shape->a_along_m, product->a.type,
                   product->a.columns, first, MATRIX_WARP_ROWS, weights->a);
    read_lines(replay, register_read(warp, op->b_descriptor, 8, 0), !shape->b_along_n, product->b.type,
               product->k, 0, product->n, weights->b);
    return true;
}

static uint32_t weight_of(const PtxProduct *product, const LineWeights *weights, PtxMatrixPlace place,
                          uint32_t before) {
    for (int i = 0; i < product->a.columns; i++) {
        uint32_t a = weights->a[place.row][i],
                 b = weights->b[place.column][weights->columns.of[place.row][i]];
        before = weight_sum(before, a > b ? a : b);
    }
    return before;
}

/* Of the registers of D from `first` on. */
static void find_weights(const Replay *replay, const WarpgroupOp *op, const Warp *warp, const Frame *frame,
                         int first, ElementProvenance *made) {
    const PtxProduct *product = &op->shape.product;
    LineWeights *weights = memory_new(sizeof *weights);
    bool adds = register_read(warp, op->scale_d, 0, 0);
    bool is_known = read_weights(replay, op, warp, frame, weights);
    for (int e = 0; is_known && e < replay->expected.element_count; e++) {
        const Provenance *before = adds ? provenance_of(frame, op->d[first + e].place) : NULL;
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int part = 0; part < product->d.parts; part++) {
                PtxMatrixPlace place = ptx_fragment_place(&product->d, lane, first + e, part);
                uint32_t weight = weight_of(product, weights, place, before ? before->weight[lane] : 0);
                if (weight > made[e].weight[lane]) made[e].weight[lane] = weight;
            }
    }
    free(weights);
}

bool replay_wgmma(Replay *replay, const Op *op, Warp *warp) {
    const WarpgroupOp *product = op->extra;
    const Frame *frame = warp->fragments[warp->current].frame;
    const TraceEvent *event = &replay->expected;
    int first = (int)event->participants, count = event->element_count;
    ElementProvenance made[TRACE_MAX_ELEMENTS];
    event_provenance_clear(made, count);
    if (event->participants >= (uint32_t)product->shape.product.d.registers ||
        first + count > product->shape.product.d.registers)
        return false;
    if (replay->stored)
        find_weights(replay, product, warp, frame, first, made);
    else
        event_provenance_read(replay->provenance, replay->current, made, count);
    for (int e = 0; e < count; e++)
        for (int lane = 0; lane < WARP_LANES; lane++) {
            const MemoryValue *value = &product->d[first + e];
            register_write(warp, value->place, value->bytes, lane, event->value[e][lane]);
            replay_set_provenance(frame, value->place, lane, made[e].weight[lane],
                                  replay->folds ? FOLD_NONE : replay->current);
        }
    replay_keep_provenance(replay, made, count, 1);
    return true;
}
