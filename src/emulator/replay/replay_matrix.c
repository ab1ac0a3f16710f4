/* Products of matrices in a replay: the lanes get the recorded values, and weights and producers flow through
 * the sums.
 *
 * An element of D is an element of C plus k products of an element of A and one of B. A product takes the
 * weight of the factor with more inputs, unless the other factor holds no inputs and is 0: a matrix of ones
 * takes everything, one with zeros selects. A register of several elements has one weight that applies to
 * each of them, as when a mov splits it; a combined register has the largest one. */
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

/* ---- halves ------------------------------------------------------------------------------------------- */

static int32_t *half_at(Replay *replay, int32_t node, int half) {
    int index = 2 * node + half;
    if (index >= replay->halves_count) {
        int count = 2 * index + 64;
        replay->halves = memory_resize(replay->halves, (size_t)count * sizeof *replay->halves);
        memset(replay->halves + replay->halves_count, 0,
               (size_t)(count - replay->halves_count) * sizeof *replay->halves);
        replay->halves_count = count;
    }
    return &replay->halves[index];
}

static FoldPlace place_of_half(const FoldNode *pair, PtxType type, int half) {
    return (FoldPlace){.event = pair->event,
                       .warp = pair->warp,
                       .lane = pair->lane,
                       .type = type == PTX_F16X2 ? PTX_F16 : PTX_BF16,
                       .bits = pair->bits >> 16 * half & 0xffff,
                       .pc = pair->pc};
}

/* The input in one half of a word; any other node stands for both halves. */
static int32_t half_of_input(Replay *replay, int32_t node, PtxType type, int half) {
    const FoldNode word = replay->folds->nodes[node];
    if (word.kind != FOLD_INPUT) return node;
    if (!*half_at(replay, node, half)) {
        FoldPlace place = place_of_half(&word, type, half);
        int32_t made = folds_add_input(replay->folds, &place, word.buffer, word.bits + 2 * (uint64_t)half);
        *half_at(replay, node, half) = made + 1;
    }
    return *half_at(replay, node, half) - 1;
}

/* Half of a register's value, if two 16-bit inputs were loaded as a word or combined by a transposition. Any
 * other node stands for both halves. */
static int32_t half_of(Replay *replay, int32_t node, int half) {
    if (node == FOLD_NONE) return node;
    const FoldNode pair = replay->folds->nodes[node];
    if (pair.type != PTX_F16X2 && pair.type != PTX_BF16X2) return node;
    if (pair.kind == FOLD_JOIN) return half ? pair.b : pair.a;
    if (!*half_at(replay, node, half)) {
        FoldPlace place = place_of_half(&pair, (PtxType)pair.type, half);
        int32_t of = half_of_input(replay, pair.a, (PtxType)pair.type, half);
        int32_t made = folds_add_move(replay->folds, &place, of);
        *half_at(replay, node, half) = made + 1;
    }
    return *half_at(replay, node, half) - 1;
}

/* ---- products ----------------------------------------------------------------------------------------- */

/* The factor that contributes inputs; NULL: none. */
static const Factor *chosen(const ProductOp *op, const Factor *a, const Factor *b, int part) {
    bool takes_b = b->weight > a->weight;
    const Factor *heavier = takes_b ? b : a, *other = takes_b ? a : b;
    const PtxFragment *of_other = takes_b ? &op->a.fragment : &op->b.fragment;
    bool is_constant = !other->weight && other->producer < 0;
    return is_constant && !ptx_fragment_element(of_other, other->bits, part) ? NULL : heavier;
}

typedef struct Sum {
    Replay *replay;
    FoldPlace place; /* of the sum */
    uint32_t weight;
    int32_t producer;
} Sum;

/* `bits`: the addend; `sum_bits`: the new sum; both in the type of the sum. */
static void add(Sum *sum, const Factor *factor, int part, uint64_t bits, uint64_t sum_bits) {
    sum->weight = weight_sum(sum->weight, factor->weight);
    if (!sum->replay->folds) {
        if (factor->producer > sum->producer) sum->producer = factor->producer;
        return;
    }
    if (factor->producer == FOLD_NONE) return;
    Folds *folds = sum->replay->folds;
    FoldPlace place = sum->place;
    place.bits = bits;
    int32_t moved = folds_add_move(folds, &place, half_of(sum->replay, factor->producer, part));
    place.bits = sum_bits;
    sum->producer =
        sum->producer == FOLD_NONE ? moved : folds_add_pair(folds, &place, sum->producer, moved, FOLD_ADD);
}

/* c + a * b of one k. */
static uint64_t step_of(const ProductOp *op, const Factor *a, const Factor *b, int part, PtxType c_type,
                        uint64_t c) {
    PtxProduct one = op->shape;
    one.k = 1;
    one.c.type = c_type;
    uint64_t of_a = ptx_fragment_element(&op->a.fragment, a->bits, part),
             of_b = ptx_fragment_element(&op->b.fragment, b->bits, part);
    return matrix_dot(&one, &of_a, &of_b, c);
}

/* Intermediate sums add one product after another; the last sum is the recorded one. */
static void sum_element(Sum *sum, const ProductOp *op, const Factors *a, const Factors *b,
                        PtxMatrixPlace place, const Factor *c, uint64_t c_bits) {
    int parts = op->a.fragment.parts;
    Folds *folds = sum->replay->folds;
    int first_new = folds ? folds->node_count : 0;
    PtxType c_type = op->shape.c.type, d_type = op->shape.d.type;
    sum->weight = c->weight;
    sum->producer = c->producer; /* the same lane's */
    for (int i = 0; i < op->shape.k; i++) {
        const Factor *of_a = &a->at[place.row][i / parts], *of_b = &b->at[place.column][i / parts];
        const Factor *factor = chosen(op, of_a, of_b, i % parts);
        if (folds) {
            c_bits = step_of(op, of_a, of_b, i % parts, c_type, c_bits);
            c_type = d_type;
        }
        if (factor)
            add(sum, factor, i % parts, folds ? step_of(op, of_a, of_b, i % parts, d_type, 0) : 0, c_bits);
    }
    if (folds && sum->producer >= first_new) folds->nodes[sum->producer].bits = sum->place.bits;
}

static FoldPlace place_of(const Replay *replay, const ProductOp *op, int lane, int r, int part) {
    FoldPlace place = replay_place(replay, lane, r);
    place.type = op->d.fragment.type;
    place.bits = ptx_fragment_element(&op->d.fragment, place.bits, part);
    return place;
}

/* The position in C of an element of D: registers and parts differ if one is f16 and the other f32. */
static Factor accumulator_of(const Warp *warp, const Frame *frame, const ProductOp *op, int lane,
                             int element) {
    return factor_of(warp, frame, &op->c.items[element / op->c.fragment.parts], lane);
}

static void product_provenance(Replay *replay, const ProductOp *op, const Warp *warp, const Frame *frame,
                               ElementProvenance *out) {
    Factors a = {0}, b = {0};
    gather(warp, frame, &op->a, &a);
    gather(warp, frame, &op->b, &b);
    const PtxFragment *d = &op->d.fragment;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < d->registers; r++) {
            Sum whole = {.producer = -1};
            for (int part = 0; part < d->parts; part++) {
                Sum sum = {.replay = replay, .place = place_of(replay, op, lane, r, part)};
                int element = r * d->parts + part;
                Factor c = accumulator_of(warp, frame, op, lane, element);
                uint64_t c_bits =
                    ptx_fragment_element(&op->c.fragment, c.bits, element % op->c.fragment.parts);
                sum_element(&sum, op, &a, &b, ptx_fragment_place(d, lane, r, part), &c, c_bits);
                if (sum.weight > whole.weight) whole.weight = sum.weight;
                if (sum.producer > whole.producer) whole.producer = sum.producer;
            }
            out[r].weight[lane] = whole.weight;
            out[r].producer[lane] = whole.producer;
        }
}

/* ---- transposition ------------------------------------------------------------------------------------ */

/* The halves that a lane has after a transposition. */
static void transposed(Replay *replay, const Provenance *from, int lane, uint32_t *weight,
                       int32_t *producer) {
    int low = ptx_matrix_transposed_from(lane), high = low + 4, half = lane / 4 % 2;
    *weight = from->weight[low] > from->weight[high] ? from->weight[low] : from->weight[high];
    *producer = from->producer[low] > from->producer[high] ? from->producer[low] : from->producer[high];
    if (!replay->folds || from->producer[low] < 0 || from->producer[high] < 0) return;
    int32_t of_low = half_of(replay, from->producer[low], half),
            of_high = half_of(replay, from->producer[high], half);
    /* cannot be distinguished */
    if (of_low == from->producer[low] || of_high == from->producer[high]) return;
    FoldPlace place = replay_place(replay, lane, 0);
    place.type = replay->folds->nodes[of_low].type == PTX_BF16 ? PTX_BF16X2 : PTX_F16X2;
    *producer = folds_add_pair(replay->folds, &place, of_low, of_high, FOLD_OTHER);
}

void replay_after_transpose(void *context, const Frame *frame, Operand place) {
    Provenance *at = provenance_of(frame, place);
    if (!at) return;
    Provenance from = *at;
    for (int lane = 0; lane < WARP_LANES; lane++)
        transposed(context, &from, lane, &at->weight[lane], &at->producer[lane]);
}

void replay_after_copy(void *context, const Frame *frame, Operand to, Operand from) {
    (void)context;
    if (provenance_of(frame, to) && provenance_of(frame, from))
        *provenance_of(frame, to) = *provenance_of(frame, from);
}

/* The registers of D still hold their old values. */
static void move_provenance(Replay *replay, const ProductOp *op, const Frame *frame, ElementProvenance *out) {
    const Provenance *from = provenance_of(frame, op->a.items[0].place);
    for (int lane = 0; from && lane < WARP_LANES; lane++)
        transposed(replay, from, lane, &out[0].weight[lane], &out[0].producer[lane]);
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
        move_provenance(replay, product, frame, made);
    else
        product_provenance(replay, product, warp, frame, made);
    for (int r = 0; r < count; r++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            take_result(replay, product, warp, frame, r, lane, made);
    replay_keep_provenance(replay, made, count, 1);
}
