#include "emulator/replay/fold_builder.h"

#include "emulator/machine/access.h"

/* Instructions that fold what they are given. Of any other (sub, div, ...) counting inputs says nothing. */
static bool is_plain(const PtxInstruction *in) {
    static const char *const names[] = {"add", "addc", "min",  "max", "and",
                                        "or",  "xor",  "selp", "fma", "mad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(in->name, names[i])) return true;
    return false;
}

static bool is_made_of(const Folds *folds, int node, int part) {
    return folds->nodes[node].kind == FOLD_JOIN &&
           (folds->nodes[node].a == part || folds->nodes[node].b == part);
}

/* selp of a and b: a minimum looks at both, so both are folded; but "sum + x, or sum where there is no x"
 * takes one. */
static int select_node(const Folds *folds, const Warp *warp, const Op *op, int lane, int a, int b) {
    if (!is_made_of(folds, a, b) && !is_made_of(folds, b, a)) return FOLD_NONE;
    uint32_t chosen;
    memcpy(&chosen, operand_at(warp, op->s[2]), sizeof chosen);
    return chosen >> lane & 1 ? a : b;
}

static int heavier(const Folds *folds, int a, int b) {
    if (a == FOLD_NONE || b == FOLD_NONE) return a == FOLD_NONE ? b : a;
    return folds->nodes[b].weight > folds->nodes[a].weight ? b : a;
}

static int join(Folds *folds, const Warp *warp, const Op *op, const FoldPlace *place, int index, int a,
                int b) {
    if (a == FOLD_NONE || b == FOLD_NONE) return a == FOLD_NONE ? b : a;
    bool is_selp = !strcmp(op->instruction->name, "selp");
    if (a == b && is_selp) return a;
    if (op->provenance == WEIGHT_PRODUCT && index == 1) return heavier(folds, a, b);
    int selected = is_selp ? select_node(folds, warp, op, place->lane, a, b) : FOLD_NONE;
    return selected != FOLD_NONE ? selected : folds_add_join(folds, place, a, b, is_plain(op->instruction));
}

void fold_builder_lanes(Folds *folds, const ProvenanceRules *rules, const Warp *warp, const Frame *frame,
                        const Op *op, uint32_t mask, int32_t joined[WARP_LANES]) {
    Provenance operand;
    int count = provenance_operand_count(rules, op);
    FoldPlace place = {.warp = warp->index};
    if (op->instruction->type_count) place.type = op->instruction->types[0];
    for (int lane = 0; lane < WARP_LANES; lane++) joined[lane] = FOLD_NONE;
    for (int i = 0; i < count; i++) {
        provenance_read_operand(rules, frame, op, i, &operand);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            place.lane = __builtin_ctz(rest);
            if (operand.producer[place.lane] == FOLD_NONE) continue;
            if (op->has_d && !op->d.constant && joined[place.lane] != FOLD_NONE)
                place.bits = register_read(warp, op->d, ptx_type_bytes(place.type), place.lane);
            joined[place.lane] =
                join(folds, warp, op, &place, i, joined[place.lane], operand.producer[place.lane]);
        }
    }
}

int fold_builder_redux(Folds *folds, FoldPlace *place, const TraceEvent *event, const Provenance *source,
                       uint32_t mask) {
    int node = FOLD_NONE;
    uint64_t folded = place->bits;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        place->bits = event->operand[lane];
        int part = folds_add_move(folds, place, source->producer[lane]);
        place->bits = folded; /* only the last one is right, and only it is seen */
        node = node == FOLD_NONE   ? part
               : part == FOLD_NONE ? node
                                   : folds_add_join(folds, place, node, part, true);
    }
    return node;
}
