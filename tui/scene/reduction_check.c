/* What a level may claim: the operation that gives every sum again, and the distance of the operands. */
#include "tui/scene/reduction_state.h"

#include "base/language.h"
#include "plan/plan.h"
#include <math.h>
#include <string.h>

FoldOp reduction_family(FoldOp op) {
    return op == FOLD_SUB || op == FOLD_FMA ? FOLD_ADD : op;
}

uint64_t reduction_operand(const FoldNode *join, int operand) {
    PtxType type = (PtxType)join->type;
    uint64_t bits = 0;
    if (join->op != FOLD_FMA || operand) return join->of[operand];
    if (!is_float(type)) return join->of[0] * join->factor;
    plan_element_set(type, &bits, 0,
                     plan_element(type, &join->of[0], 0) * plan_element(type, &join->factor, 0));
    return bits;
}

/* ---- the operation ------------------------------------------------------------------------------------- */

static uint64_t mask_of(PtxType type) {
    int bytes = ptx_type_bytes(type);
    return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

uint64_t reduction_addend(const ReductionTerm *term) {
    uint64_t bits = term->bits;
    if (term->is_taken && !is_float(term->type)) return -bits & mask_of(term->type);
    if (term->is_taken) bits ^= UINT64_C(1) << (8 * ptx_type_bytes(term->type) - 1);
    return bits;
}

static double value_of(const ReductionTerm *term) {
    double value = plan_element(term->type, &term->bits, 0);
    return term->is_taken ? -value : value;
}

/* Rounding of an addition, relative to the sum of the operands' sizes. */
static double unit_of(PtxType type) {
    int bytes = ptx_type_bytes(type);
    return bytes == 8 ? 0x1p-50 : bytes == 4 ? 0x1p-21 : type == PTX_BF16 ? 0x1p-6 : 0x1p-9;
}

static bool is_float_sum(const ReductionLevel *level, const ReductionBox *box, double after) {
    double sum = box->op == FOLD_MUL, size = 0;
    for (int t = 0; t < box->term_count; t++) {
        double value = value_of(&level->terms[box->first_term + t]);
        sum = box->op == FOLD_MUL ? sum * value : sum + value;
        size += fabs(value);
    }
    if (box->op == FOLD_MUL) size = fabs(sum);
    if (!isfinite(sum) || !isfinite(after)) { /* too large for its type, it is infinite there */
        uint64_t bits = 0;
        plan_element_set(level->type, &bits, 0, sum);
        sum = plan_element(level->type, &bits, 0);
        return isnan(sum) ? isnan(after) : sum == after;
    }
    return fabs(sum - after) <= size * unit_of(level->type) * box->term_count;
}

uint64_t reduction_fold_bits(FoldOp op, uint64_t a, uint64_t b) {
    switch (op) {
    case FOLD_MUL:
        return a * b;
    case FOLD_AND:
        return a & b;
    case FOLD_OR:
        return a | b;
    case FOLD_XOR:
        return a ^ b;
    default:
        return a + b;
    }
}

static bool is_whole_sum(const ReductionLevel *level, const ReductionBox *box) {
    uint64_t folded = 0;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        if (!t) folded = term->is_taken ? -term->bits : term->bits;
        if (t) folded = reduction_fold_bits(box->op, folded, term->is_taken ? -term->bits : term->bits);
    }
    return !((folded ^ box->after) & mask_of(level->type));
}

/* The largest, or the smallest, of the box's terms is its value. */
static bool keeps(const ReductionLevel *level, const ReductionBox *box, bool largest) {
    double kept = 0;
    bool has_nan = false;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        double value = plan_element(term->type, &term->bits, 0);
        has_nan |= isnan(value);
        bool takes = !t || isnan(kept) || (largest ? value > kept : value < kept);
        if (takes) kept = value;
    }
    double after = plan_element(level->type, &box->after, 0);
    return after == kept || (isnan(after) && has_nan);
}

/* The operands that a selection chose between were compared before it. */
static bool is_compared(const Reduction *reduction, int node) {
    enum { NEAR = 8 * WARP_LANES };
    const FoldNode *at = node_at(reduction, node);
    if (at->kind != FOLD_JOIN || at->op != FOLD_CHOICE) return true;
    for (int i = node - 1; i >= 0 && i > node - NEAR; i--) {
        const FoldNode *test = node_at(reduction, i);
        if (test->kind == FOLD_JOIN && test->op == FOLD_TEST && test->lane == at->lane &&
            test->warp == at->warp &&
            ((test->a == at->a && test->b == at->b) || (test->a == at->b && test->b == at->a)))
            return true;
    }
    return false;
}

/* What the operation of the box's instructions gives for its terms is its value. */
static bool adds_up(const ReductionLevel *level, const ReductionBox *box) {
    for (int t = 0; t < box->term_count; t++) {
        PtxType type = level->terms[box->first_term + t].type;
        if (type == PTX_NO_TYPE || ptx_type_bytes(type) != ptx_type_bytes(level->type) ||
            is_float(type) != is_float(level->type))
            return false;
    }
    if (level->type == PTX_F16X2 || level->type == PTX_BF16X2) return false;
    switch (box->op) {
    case FOLD_ADD:
    case FOLD_MUL:
        return is_float(level->type) ? is_float_sum(level, box, plan_element(level->type, &box->after, 0))
                                     : is_whole_sum(level, box);
    case FOLD_AND:
    case FOLD_OR:
    case FOLD_XOR:
        return is_whole_sum(level, box);
    case FOLD_MIN:
    case FOLD_MAX:
        return keeps(level, box, box->op == FOLD_MAX);
    default:
        return false;
    }
}

/* Every selection of the level keeps the largest, or the smallest, of its terms. */
static FoldOp selection_of(const Reduction *reduction, const ReductionLevel *level) {
    bool largest = true, smallest = true;
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        if (!box->adds || box->op != FOLD_CHOICE || box->root == FOLD_NONE || box->is_idle) continue;
        if (!is_compared(reduction, box->root)) return FOLD_OTHER;
        largest &= keeps(level, box, true);
        smallest &= keeps(level, box, false);
    }
    return largest && smallest ? FOLD_CHOICE : largest ? FOLD_MAX : smallest ? FOLD_MIN : FOLD_OTHER;
}

static const char *const names[] = {
    [FOLD_ADD] = "+",   [FOLD_MUL] = "*", [FOLD_MIN] = "min", [FOLD_MAX] = "max",
    [FOLD_AND] = "and", [FOLD_OR] = "or", [FOLD_XOR] = "xor"};

const char *reduction_verb(const ReductionLevel *level, bool one) {
    if (!strcmp(level->operation, "+")) return one ? tr("adds") : tr("add");
    if (!strcmp(level->operation, "min") || !strcmp(level->operation, "max"))
        return one ? tr("compares") : tr("compare");
    if (!strcmp(level->operation, "*")) return one ? tr("multiplies") : tr("multiply");
    return one ? tr("combines") : tr("combine");
}

const char *reduction_operation(const Reduction *reduction, ReductionLevel *level) {
    FoldOp found = FOLD_OTHER, selection = selection_of(reduction, level);
    bool any = false, agree = true;
    if (level->kind == TREE_TAKE) return "+";
    for (int i = 0; i < level->box_count; i++) {
        ReductionBox *box = &level->boxes[i];
        if (!box->adds || box->root == FOLD_NONE || box->is_idle) continue;
        if (box->op == FOLD_CHOICE) box->op = selection;
        bool good = box->op == FOLD_CHOICE || adds_up(level, box);
        if (level->through == TRACE_MATRIX) good = true; /* a product of matrices is no box's sum */
        if (!good) box->op = FOLD_OTHER;
        agree &= !any || box->op == found;
        found = box->op;
        any = true;
    }
    if (!any) return level->kind == TREE_FOLD ? NULL : "+";
    if (found == FOLD_CHOICE && agree) return NULL;
    return agree && found != FOLD_OTHER ? names[found] : "from";
}

/* ---- the distance -------------------------------------------------------------------------------------- */

typedef struct Apart { /* of all operands so far; 0: none */
    int by, across;    /* across: by exclusive or */
    bool by_differs, across_differs;
} Apart;

/* Threads between the one that made the operand and the one that adds it; 0: it is its own, or an input. */
static int threads_apart(const Reduction *reduction, const ReductionTerm *term) {
    const FoldNode *at = node_at(reduction, term->node);
    if (at->kind != FOLD_MOVE || node_at(reduction, at->a)->kind == FOLD_INPUT) return 0;
    return thread_of(reduction, at->a) - term->thread;
}

static void see(Apart *apart, int from, int distance) {
    int across = from ^ (from + distance);
    apart->by_differs |= apart->by && distance != apart->by;
    apart->across_differs |= apart->across && across != apart->across;
    apart->by = distance;
    apart->across = across;
}

void reduction_find_distance(const Reduction *reduction, ReductionLevel *level) {
    Apart apart = {0};
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        bool any = false;
        if (!box->adds || box->is_idle) continue;
        for (int t = 0; t < box->term_count; t++) {
            const ReductionTerm *term = &level->terms[box->first_term + t];
            bool is_word = level->place == PLACE_WORD && term->place == PLACE_WORD;
            if (term->node == FOLD_NONE) return;
            bool is_here = reduction->tree->level_of_node[term->node] == level->level;
            if (term->is_own && term->is_second && !is_here) return; /* it may have come from anywhere */
            if (term->is_own || (is_word && term->index == box->index)) continue;
            if (is_word && term->symbol != level->symbol) return;
            int distance = is_word ? (int)(term->index - box->index) : threads_apart(reduction, term);
            if (!distance) return;
            see(&apart, is_word ? (int)box->index : term->thread, distance);
            any = true;
        }
        if (!any) return;
    }
    level->crosswise = apart.by_differs && !apart.across_differs;
    if (level->place == PLACE_WORD && apart.by < 0) apart.by = -apart.by;
    level->distance = level->crosswise ? apart.across : apart.by_differs ? 0 : apart.by;
}
