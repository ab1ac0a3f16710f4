/* The rounding errors of floating-point sums. */
#include "tui/scene/reduction_state.h"

#include "base/exact_sum.h"
#include "plan/plan.h"
#include <math.h>

/* ---- rounding ------------------------------------------------------------------------------------------ */

static double value_of(const Reduction *reduction, int node, PtxType of_sum) {
    return plan_element(reduction_type(reduction, node, of_sum), &node_at(reduction, node)->bits, 0);
}

bool reduction_rounding(const Reduction *reduction, int node, double *rounding) {
    const FoldNode *at = node_at(reduction, node);
    PtxType type = (PtxType)at->type;
    if (at->kind != FOLD_JOIN || !at->is_plain || at->is_choice || !is_float(type)) return false;
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
