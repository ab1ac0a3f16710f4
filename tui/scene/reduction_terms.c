/* The operands of a box: the origin of each value, and the step at which it was read. */
#include "tui/scene/reduction_state.h"

#include "plan/plan.h"
#include "base/exact_sum.h"
#include <string.h>
#include <math.h>

int reduction_level_first(const Reduction *reduction, int level) {
    return level < reduction->tree->level_count ? reduction->first[level]
                                                : reduction->tree->steps->step_count;
}

const ReductionBox *reduction_find(const ReductionLevel *level, int64_t index) {
    /* Boxes are numbered from 0. */
    return index >= 0 && index < level->box_count ? &level->boxes[index] : NULL;
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* Loads may be declared as bits or as unsigned: then the type of the sum, or of the run, decides. */
PtxType reduction_type(const Reduction *reduction, int node, PtxType of_sum) {
    PtxType own = (PtxType)node_at(reduction, node)->type;
    int bytes = own == PTX_NO_TYPE ? 0 : ptx_type_bytes(own);
    if (is_float(own) || of_sum == PTX_NO_TYPE) return own;
    if (bytes == ptx_type_bytes(of_sum)) return of_sum;
    if (!is_float(of_sum)) return own;
    return is_float(reduction->data) && bytes == ptx_type_bytes(reduction->data) ? reduction->data : own;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* What the lane of an atomic's node brought to memory. */
uint64_t reduction_brought(const Reduction *reduction, int node) {
    const FoldNode *at = node_at(reduction, node);
    TraceEvent event;
    trace_block_read(reduction->tree->steps->block, at->event, &event);
    return event.element_count > 1 ? node_at(reduction, at->a)->bits : event.operand[at->lane];
}

bool reduction_is_first_atomic(const Reduction *reduction, int node) {
    const FoldNode *at = node_at(reduction, node);
    if (at->kind != FOLD_MOVE || at->a == FOLD_NONE) return false;
    TraceKind kind = (TraceKind)reduction->step_index->step[step_of_event(reduction, at->event)].kind;
    return (kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC) &&
           node_at(reduction, at->a)->kind != FOLD_INPUT &&
           thread_of(reduction, at->a) == thread_of(reduction, node);
}

static const PtxInstruction *instruction_of(const Reduction *reduction, int node) {
    const Steps *steps = reduction->tree->steps;
    int step = step_of_event(reduction, node_at(reduction, node)->event);
    return steps->launch->program->code[steps->steps[step].pc].instruction;
}

FoldOp reduction_atomic_op(const Reduction *reduction, int node) {
    return fold_reduces_by(instruction_of(reduction, node));
}

/* The trace does not record what an atomic leaves in memory; it follows from the old value and the
 * operand. */
static uint64_t atomic_sum(const PtxInstruction *in, uint64_t old, uint64_t operand, PtxType type) {
    FoldOp op = fold_reduces_by(in);
    if (ptx_instruction_has(in, PTX_MOD_INC)) return old >= operand ? 0 : old + 1;
    if (ptx_instruction_has(in, PTX_MOD_DEC)) return !old || old > operand ? operand : old - 1;
    double x = plan_element(type, &old, 0), y = plan_element(type, &operand, 0);
    uint64_t bits = 0;
    if (op == FOLD_MIN || op == FOLD_MAX) return (x < y) == (op == FOLD_MIN) ? old : operand;
    if (!is_float(type)) return reduction_fold_bits(op, old, operand);
    plan_element_set(type, &bits, 0, x + y);
    return bits;
}

uint64_t reduction_bits(const Reduction *reduction, int node, PtxType type) {
    const FoldNode *at = node_at(reduction, node);
    if (type == PTX_NO_TYPE) return at->bits;
    if (reduction_is_first_atomic(reduction, node)) /* it finds no value made by the block */
        return atomic_sum(instruction_of(reduction, node), at->bits, reduction_brought(reduction, node),
                          type);
    bool is_atomic = at->kind == FOLD_JOIN && at->type == PTX_NO_TYPE;
    return is_atomic ? atomic_sum(instruction_of(reduction, node), at->of[0], at->of[1], type) : at->bits;
}

/* ---- terms --------------------------------------------------------------------------------------------- */

/* The element of its access that a moved value was: values of one lane follow each other in element order. */
static int element_of(const Reduction *reduction, int node) {
    const FoldNode *at = node_at(reduction, node);
    int element = 0;
    for (int i = node - 1; i >= 0; i--) {
        const FoldNode *other = node_at(reduction, i);
        if (other->event != at->event || other->lane != at->lane || other->warp != at->warp) break;
        element += other->kind == FOLD_MOVE;
    }
    return element;
}

void reduction_put_address(ReductionTerm *term, const TraceEvent *event, int lane, int element) {
    term->symbol = event->buffer[lane];
    term->index = (int64_t)(event->offset[lane] / (uint64_t)event->element_bytes) + element;
}

/* The place of a value before an event brought it to its lane. */
void reduction_put_place(const Reduction *reduction, int node, ReductionTerm *term) {
    const FoldNode *at = node_at(reduction, node),
                   *from = at->a == FOLD_NONE ? NULL : node_at(reduction, at->a);
    TraceEvent event;
    if (from && from->kind == FOLD_INPUT) {
        int bytes = ptx_type_bytes((PtxType)at->type);
        term->place = PLACE_INPUT;
        term->symbol = from->buffer;
        term->index = (int64_t)(from->bits / (uint64_t)(bytes ? bytes : 1));
        return;
    }
    trace_block_read(reduction->tree->steps->block, at->event, &event);
    switch (event.kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_SHARED_ATOMIC:
        term->place = PLACE_WORD;
        reduction_put_address(term, &event, at->lane, element_of(reduction, node));
        break;
    case TRACE_GLOBAL_LOAD:
    case TRACE_GLOBAL_ATOMIC:
        term->place = PLACE_GLOBAL;
        reduction_put_address(term, &event, at->lane, element_of(reduction, node));
        break;
    case TRACE_SHUFFLE:
    case TRACE_REDUX:
    case TRACE_MATRIX:
    case TRACE_VOTE:
        term->place = PLACE_THREAD;
        term->index = from ? thread_of(reduction, at->a) : term->thread;
        break;
    default:
        term->place = PLACE_UNKNOWN;
    }
}

ReductionTerm *reduction_add_term(ReductionLevel *level) {
    if (level->term_count == level->term_capacity) {
        level->term_capacity = level->term_capacity ? level->term_capacity * 2 : 64;
        level->terms = memory_resize(level->terms, (size_t)level->term_capacity * sizeof *level->terms);
    }
    ReductionTerm *term = &level->terms[level->term_count++];
    *term = (ReductionTerm){.place = PLACE_UNKNOWN, .writer = -1};
    return term;
}

/* ---- the rounding errors of floating-point sums -------------------------------------------------------- */

/* ---- rounding ------------------------------------------------------------------------------------------ */

static double value_of(const Reduction *reduction, int node, PtxType of_sum) {
    return plan_element(reduction_type(reduction, node, of_sum), &node_at(reduction, node)->bits, 0);
}

bool reduction_rounding(const Reduction *reduction, int node, double *rounding) {
    const FoldNode *at = node_at(reduction, node);
    PtxType type = (PtxType)at->type;
    if (at->kind != FOLD_JOIN || !at->is_plain || fold_is_choice(at) || !is_float(type)) return false;
    if (!is_float(reduction_type(reduction, at->a, type)) ||
        !is_float(reduction_type(reduction, at->b, type)))
        return false;
    double a = value_of(reduction, at->a, type), b = value_of(reduction, at->b, type);
    ExactSum here = {0};
    exact_sum_add(&here, value_of(reduction, node, type), 1);
    exact_sum_add(&here, a, -1);
    exact_sum_add(&here, b, -1);
    *rounding = exact_sum_value(&here);
    return fabs(*rounding) <= fmax(fabs(a), fabs(b)) / 128; /* otherwise it is, for example, a minimum */
}

bool reduction_is_stuck(const Reduction *reduction, int node) {
    const FoldNode *at = node_at(reduction, node);
    double rounding;
    if (!reduction_rounding(reduction, node, &rounding) || rounding == 0) return false;
    PtxType type = (PtxType)at->type;
    return rounding == -value_of(reduction, at->a, type) || rounding == -value_of(reduction, at->b, type);
}

/* Whether the value changed on its way, for example by scaling. */
static bool is_changed(const Reduction *reduction, int node, PtxType of_sum) {
    int from = node_at(reduction, node)->a;
    if (node_at(reduction, from)->type == PTX_NO_TYPE) return false;
    return value_of(reduction, node, of_sum) != value_of(reduction, from, of_sum);
}

/* The inputs of `node`, each as often as it occurs in it. */
static bool add_inputs(Reduction *reduction, int node, ExactSum *sum) {
    const TreePath *path = tree_path(reduction->tree, node);
    PtxType type = (PtxType)node_at(reduction, node)->type;
    for (int i = 0; i <= node; i++) {
        const FoldNode *at = node_at(reduction, i);
        double rounding;
        if (path->ways[i] && at->kind == FOLD_JOIN && !reduction_rounding(reduction, i, &rounding))
            return false;
        if (!path->ways[i] || at->kind != FOLD_MOVE) continue;
        if (node_at(reduction, at->a)->kind != FOLD_INPUT) {
            if (is_changed(reduction, i, type)) return false;
            continue;
        }
        if (!is_float(reduction_type(reduction, i, type))) return false;
        exact_sum_add(sum, value_of(reduction, i, type), path->ways[i]);
    }
    return true;
}

bool reduction_error(Reduction *reduction, int node, double *error) {
    double rounding;
    ExactSum all = {0};
    if (!reduction_rounding(reduction, node, &rounding)) return false;
    int root = reduction->tree->path.root;
    bool known = add_inputs(reduction, node, &all);
    tree_path(reduction->tree, root);
    if (!known) return false;
    exact_sum_add(&all, value_of(reduction, node, (PtxType)node_at(reduction, node)->type), -1);
    *error = 0.0 - exact_sum_value(&all);
    return true;
}
