#include "trace/folds.h"

#include <stdlib.h>

Folds *folds_new(void) {
    return memory_new(sizeof(Folds));
}

void folds_free(Folds *folds) {
    if (!folds) return;
    free(folds->nodes);
    free(folds->results);
    free(folds->rereads);
    free(folds);
}

static int add_node(Folds *folds, const FoldPlace *place, FoldNode node) {
    if (folds->node_count == FOLD_LIMIT) folds->is_cut = true;
    if (folds->is_cut) return FOLD_NONE;
    node.warp = (uint16_t)place->warp;
    node.lane = (uint8_t)place->lane;
    node.pc = place->pc;
    array_push(folds->nodes, folds->node_count, folds->node_capacity, node);
    return folds->node_count - 1;
}

int folds_add_input(Folds *folds, const FoldPlace *place, uint16_t buffer, uint64_t offset) {
    return add_node(folds, place,
                    (FoldNode){.a = FOLD_NONE,
                               .b = FOLD_NONE,
                               .kind = FOLD_INPUT,
                               .weight = 1,
                               .is_plain = true,
                               .event = place->event,
                               .buffer = buffer,
                               .bits = offset});
}

int folds_add_move(Folds *folds, const FoldPlace *place, int a) {
    if (a == FOLD_NONE) return FOLD_NONE;
    return add_node(folds, place,
                    (FoldNode){.a = a,
                               .b = FOLD_NONE,
                               .kind = FOLD_MOVE,
                               .weight = folds->nodes[a].weight,
                               .is_plain = folds->nodes[a].is_plain,
                               .event = place->event,
                               .type = (uint8_t)place->type,
                               .bits = place->bits});
}

int folds_add_join(Folds *folds, const FoldPlace *place, const FoldJoin *join) {
    if (join->a == FOLD_NONE || join->b == FOLD_NONE) return FOLD_NONE;
    const FoldNode *left = &folds->nodes[join->a], *right = &folds->nodes[join->b];
    uint32_t weight = left->weight + right->weight;
    return add_node(folds, place,
                    (FoldNode){.a = join->a,
                               .b = join->b,
                               .kind = FOLD_JOIN,
                               .op = (uint8_t)join->op,
                               .of = {join->of[0], join->of[1]},
                               .factor = join->factor,
                               .weight = weight < left->weight ? UINT32_MAX : weight,
                               .is_plain = join->is_plain && left->is_plain && right->is_plain,
                               .event = left->event > right->event ? left->event : right->event,
                               .type = (uint8_t)place->type,
                               .bits = place->bits});
}

int folds_add_pair(Folds *folds, const FoldPlace *place, int a, int b, FoldOp op) {
    if (a == FOLD_NONE || b == FOLD_NONE) return FOLD_NONE;
    return folds_add_join(folds, place,
                          &(FoldJoin){a, b, op, true, {folds->nodes[a].bits, folds->nodes[b].bits}, 0});
}

void folds_add_result(Folds *folds, const FoldPlace *place, uint64_t where, int node) {
    if (folds->result_count == FOLD_LIMIT) folds->is_cut = true;
    if (folds->is_cut) return;
    FoldResult result = {node, place->event, where, (uint16_t)place->warp, (uint8_t)place->lane};
    array_push(folds->results, folds->result_count, folds->result_capacity, result);
}

void folds_add_reread(Folds *folds, int event, uint64_t where) {
    if (folds->reread_count == FOLD_LIMIT) folds->is_cut = true;
    if (folds->is_cut) return;
    FoldReread reread = {where, event};
    array_push(folds->rereads, folds->reread_count, folds->reread_capacity, reread);
}

static const struct {
    PtxModifierKind modifier;
    FoldOp op;
    const char *name;
} reductions[] = {{PTX_MOD_ADD, FOLD_ADD, "add"}, {PTX_MOD_MIN, FOLD_MIN, "min"},
                  {PTX_MOD_MAX, FOLD_MAX, "max"}, {PTX_MOD_AND, FOLD_AND, "and"},
                  {PTX_MOD_OR, FOLD_OR, "or"},    {PTX_MOD_XOR, FOLD_XOR, "xor"}};

FoldOp fold_reduces_by(const PtxInstruction *in) {
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (ptx_instruction_has(in, reductions[i].modifier)) return reductions[i].op;
    return FOLD_OTHER;
}

const char *fold_op_name(FoldOp op) {
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (reductions[i].op == op) return reductions[i].name;
    return NULL;
}
