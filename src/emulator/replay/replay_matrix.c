/* Products of matrices in a replay: the lanes get what was recorded, and weights and producers flow through the sums.
 *
 * An element of D is an element of C and k products of an element of A and one of B. Of a product the factor with more
 * inputs brings its weight, as in any product, unless the other holds no inputs and is 0: a matrix of ones takes all, one
 * with zeros chooses. A register of several elements has one weight, which is that of each of them, as where a mov takes it
 * apart; put together it is the largest. */
#include "emulator/replay/replay_state.h"

#include "emulator/instructions/matrix_dot.h"
#include "emulator/machine/product.h"

enum { MOST_SIDE = 32, MOST_DEPTH = 16 };

typedef struct Factor { /* a register of a multiplicand in one lane */
    uint64_t bits;
    uint32_t weight;
    int32_t producer;
} Factor;

typedef struct Factors {
    Factor at[MOST_SIDE][MOST_DEPTH]; /* [row of A, column of B][along k] */
} Factors;

static Factor factor_of(const Warp *warp, const Frame *frame, const MemoryValue *value, int lane) {
    const Provenance *provenance = provenance_of(frame, value->place);
    return (Factor){register_read(warp, value->place, value->bytes, lane),
                    provenance ? provenance->weight[lane] : 0, provenance ? provenance->producer[lane] : -1};
}

static void gather(const Warp *warp, const Frame *frame, const MatrixRegisters *from, Factors *factors) {
    const PtxFragment *fragment = &from->fragment;
    bool is_a = fragment->role == PTX_MATRIX_A;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < fragment->distinct; r++) {
            PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, 0);
            int side = is_a ? place.row : place.column, along = is_a ? place.column : place.row;
            factors->at[side][along / fragment->parts] = factor_of(warp, frame, &from->items[r], lane);
        }
}

/* The factor that brings inputs; NULL: none. `is_zero`: is the other one's element? */
static const Factor *chosen(const ProductOp *op, const Factor *a, const Factor *b, int part) {
    bool takes_b = b->weight > a->weight;
    const Factor *heavier = takes_b ? b : a, *other = takes_b ? a : b;
    const PtxFragment *of_other = takes_b ? &op->a.fragment : &op->b.fragment;
    bool is_constant = !other->weight && other->producer < 0;
    return is_constant && !ptx_fragment_element(of_other, other->bits, part) ? NULL : heavier;
}

typedef struct Sum {
    const Replay *replay;
    FoldPlace place; /* of the sum */
    uint32_t weight;
    int32_t producer;
} Sum;

/* `bits`: what is added, in the type of the sum. */
static void add(Sum *sum, uint32_t weight, int32_t producer, uint64_t bits) {
    sum->weight = weight_sum(sum->weight, weight);
    if (!sum->replay->folds) {
        if (producer > sum->producer) sum->producer = producer;
        return;
    }
    if (producer == FOLD_NONE) return;
    Folds *folds = sum->replay->folds;
    FoldPlace place = sum->place;
    place.bits = bits;
    int32_t moved = folds_add_move(folds, &place, producer);
    sum->producer =
        sum->producer == FOLD_NONE ? moved : folds_add_join(folds, &sum->place, sum->producer, moved, true);
}

/* One product, as a sum of one. */
static uint64_t product_of(const ProductOp *op, const Factor *a, const Factor *b, int part) {
    PtxProduct one = op->shape;
    one.k = 1;
    uint64_t of_a = ptx_fragment_element(&op->a.fragment, a->bits, part),
             of_b = ptx_fragment_element(&op->b.fragment, b->bits, part);
    return matrix_dot(&one, &of_a, &of_b, 0);
}

static void sum_element(Sum *sum, const ProductOp *op, const Factors *a, const Factors *b,
                        PtxMatrixPlace place, const Factor *c) {
    int parts = op->a.fragment.parts;
    sum->weight = c->weight;
    sum->producer = c->producer; /* the same lane's */
    for (int i = 0; i < op->shape.k; i++) {
        const Factor *of_a = &a->at[place.row][i / parts], *of_b = &b->at[place.column][i / parts];
        const Factor *factor = chosen(op, of_a, of_b, i % parts);
        if (!factor) continue;
        bool has_node = sum->replay->folds && factor->producer != FOLD_NONE;
        add(sum, factor->weight, factor->producer, has_node ? product_of(op, of_a, of_b, i % parts) : 0);
    }
}

static FoldPlace place_of(const Replay *replay, const ProductOp *op, int lane, int r) {
    FoldPlace place = replay_place(replay, lane, r);
    place.type = op->d.fragment.type;
    place.bits = ptx_fragment_element(&op->d.fragment, place.bits, 0);
    return place;
}

/* Where C has an element of D: registers and parts differ where one is f16 and the other f32. */
static Factor accumulator_of(const Warp *warp, const Frame *frame, const ProductOp *op, int lane,
                             int element) {
    return factor_of(warp, frame, &op->c.items[element / op->c.fragment.parts], lane);
}

static void product_provenance(const Replay *replay, const ProductOp *op, const Warp *warp,
                               const Frame *frame, ElementProvenance *out) {
    Factors a = {0}, b = {0};
    gather(warp, frame, &op->a, &a);
    gather(warp, frame, &op->b, &b);
    const PtxFragment *d = &op->d.fragment;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < d->registers; r++) {
            Sum whole = {.producer = -1};
            for (int part = 0; part < d->parts; part++) {
                Sum sum = {.replay = replay, .place = place_of(replay, op, lane, r)};
                Factor c = accumulator_of(warp, frame, op, lane, r * d->parts + part);
                sum_element(&sum, op, &a, &b, ptx_fragment_place(d, lane, r, part), &c);
                if (sum.weight > whole.weight) whole.weight = sum.weight;
                if (sum.producer > whole.producer) whole.producer = sum.producer;
            }
            out[r].weight[lane] = whole.weight;
            out[r].producer[lane] = whole.producer;
        }
}

/* The halves that a lane has after a transposition. */
static void transposed(const Provenance *from, int lane, uint32_t *weight, int32_t *producer) {
    int low = ptx_matrix_transposed_from(lane), high = low + 4;
    *weight = from->weight[low] > from->weight[high] ? from->weight[low] : from->weight[high];
    *producer = from->producer[low] > from->producer[high] ? from->producer[low] : from->producer[high];
}

void replay_after_transpose(const Frame *frame, Operand place) {
    Provenance *at = provenance_of(frame, place);
    if (!at) return;
    Provenance from = *at;
    for (int lane = 0; lane < WARP_LANES; lane++)
        transposed(&from, lane, &at->weight[lane], &at->producer[lane]);
}

void replay_after_copy(const Frame *frame, Operand to, Operand from) {
    if (provenance_of(frame, to) && provenance_of(frame, from))
        *provenance_of(frame, to) = *provenance_of(frame, from);
}

/* The registers of D still hold what they did before. */
static void move_provenance(const ProductOp *op, const Frame *frame, ElementProvenance *out) {
    const Provenance *from = provenance_of(frame, op->a.items[0].place);
    for (int lane = 0; from && lane < WARP_LANES; lane++)
        transposed(from, lane, &out[0].weight[lane], &out[0].producer[lane]);
}

static void take_result(const Replay *replay, const ProductOp *op, Warp *warp, const Frame *frame, int r,
                        int lane, const ElementProvenance *made) {
    const MemoryValue *value = &op->d.items[r];
    int32_t producer = made[r].producer[lane];
    if (!replay->folds)
        producer = replay->current;
    else if (op->is_move)
        producer = replay_brought(replay, lane, r, producer);
    register_write(warp, value->place, value->bytes, lane, replay->expected.value[r][lane]);
    replay_set_provenance(frame, value->place, lane, made[r].weight[lane], producer);
}

void replay_matrix(Replay *replay, const Op *op, Warp *warp) {
    const ProductOp *product = op->extra;
    const Frame *frame = warp->fragments[warp->current].frame;
    ElementProvenance made[MOST_MATRIX_REGISTERS];
    int count = product->d.fragment.registers;
    event_provenance_clear(made, count);
    if (product->is_move)
        move_provenance(product, frame, made);
    else
        product_provenance(replay, product, warp, frame, made);
    for (int r = 0; r < count; r++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            take_result(replay, product, warp, frame, r, lane, made);
    replay_keep_provenance(replay, made, count, 1);
}
