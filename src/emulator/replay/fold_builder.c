#include "emulator/replay/fold_builder.h"

#include "emulator/machine/machine_access.h"

static const struct {
    const char *name;
    FoldOp op;
    bool is_plain; /* folds its operands; for any other (sub, div, ...) a count of inputs is meaningless */
} operations[] = {{"add", FOLD_ADD, true},   {"addc", FOLD_OTHER, true}, {"sub", FOLD_SUB, false},
                  {"mul", FOLD_MUL, false},  {"fma", FOLD_FMA, true},    {"mad", FOLD_FMA, true},
                  {"min", FOLD_MIN, true},   {"max", FOLD_MAX, true},    {"and", FOLD_AND, true},
                  {"or", FOLD_OR, true},     {"xor", FOLD_XOR, true},    {"selp", FOLD_CHOICE, true},
                  {"setp", FOLD_TEST, false}};

static FoldOp operation_of(const PtxInstruction *in, bool *is_plain) {
    *is_plain = false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(in->name, operations[i].name)) {
            bool is_whole = !ptx_instruction_has(in, PTX_MOD_WIDE) && !ptx_instruction_has(in, PTX_MOD_HI);
            *is_plain = operations[i].is_plain;
            return is_whole ? operations[i].op : FOLD_OTHER;
        }
    return FOLD_OTHER;
}

static bool is_plain(const PtxInstruction *in) {
    bool plain;
    operation_of(in, &plain);
    return plain;
}

static bool is_made_of(const Folds *folds, int node, int part) {
    return folds->nodes[node].kind == FOLD_JOIN &&
           (folds->nodes[node].a == part || folds->nodes[node].b == part);
}

/* selp of a and b: a minimum compares both, so it folds both; but "sum + x, or sum if there is no x" takes
 * one. */
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

/* `add x, y, y` doubles a value, as `mul x, y, 2` does: no input is counted twice. */
static bool adds_to_itself(const PtxInstruction *in) {
    return in->operand_count == 3 && in->operands[1].reg && in->operands[1].reg == in->operands[2].reg;
}

static int join(Folds *folds, const Warp *warp, const Op *op, const FoldPlace *place, int index,
                const FoldOperands *read, int a, int b) {
    if (a == FOLD_NONE || b == FOLD_NONE) return a == FOLD_NONE ? b : a;
    bool is_selp = !strcmp(op->instruction->name, "selp");
    if (a == b && (is_selp || adds_to_itself(op->instruction))) return a;
    if (op->provenance == WEIGHT_PRODUCT && index == 1) return heavier(folds, a, b);
    int selected = is_selp ? select_node(folds, warp, op, place->lane, a, b) : FOLD_NONE;
    if (selected != FOLD_NONE) return selected;
    FoldJoin made = {.a = a, .b = b};
    made.op = operation_of(op->instruction, &made.is_plain);
    if (index >= FOLD_OPERANDS || (index == 2) != (made.op == FOLD_FMA)) made.op = FOLD_OTHER;
    if (made.op != FOLD_OTHER) {
        made.of[0] = read->bits[0][place->lane];
        made.of[1] = read->bits[index][place->lane];
        made.factor = index == 2 ? read->bits[1][place->lane] : 0;
    }
    return folds_add_join(folds, place, &made);
}

static int bytes_of(const Folds *folds, int node) {
    PtxType type = (PtxType)folds->nodes[node].type;
    return type == PTX_NO_TYPE ? 0 : ptx_type_bytes(type);
}

/* A value may arrive as bits of a wider word, such as beside a flag: where it is added, it is the content of
 * the register. */
static int narrow(Folds *folds, const Warp *warp, const Op *op, FoldPlace place, int operand, int node) {
    int bytes = place.type == PTX_NO_TYPE ? 0 : ptx_type_bytes(place.type);
    if (node == FOLD_NONE || folds->nodes[node].kind != FOLD_MOVE || operand >= op->source_count) return node;
    if (!bytes || bytes >= bytes_of(folds, node) || bytes_of(folds, node) < 8 || !is_plain(op->instruction) ||
        !strcmp(op->instruction->name, "selp"))
        return node;
    place.event = folds->nodes[node].event;
    place.bits = register_read(warp, op->s[operand], bytes, place.lane);
    return folds_add_move(folds, &place, node);
}

/* mov d, {low, high}: if the halves come from one value, one by one, the result is that value again. A double
 * whose halves arrived in two words consists of both. FOLD_NONE: neither. */
static int unite(Folds *folds, const Warp *warp, const Op *op, FoldPlace place, int low, int high) {
    if (low == FOLD_NONE || high == FOLD_NONE || low == high) return FOLD_NONE;
    const FoldNode *a = &folds->nodes[low], *b = &folds->nodes[high];
    const PtxOperand *to = &op->instruction->operands[0];
    int whole = a->kind == FOLD_MOVE && b->kind == FOLD_MOVE && a->a == b->a ? a->a : FOLD_NONE;
    place.event = a->event > b->event ? a->event : b->event;
    place.bits = register_read(warp, op->d, ptx_type_bytes(place.type), place.lane);
    if (whole == FOLD_NONE)
        return to->kind == PTX_OPERAND_REGISTER && to->reg && to->reg->type == PTX_F64
                   ? folds_add_pair(folds, &place, low, high, FOLD_OTHER)
                   : FOLD_NONE;
    return bytes_of(folds, whole) == ptx_type_bytes(place.type) ? folds_add_move(folds, &place, whole)
                                                                : FOLD_NONE;
}

/* selp of a value and a constant: a lane that selects the constant takes no input. */
static void drop_constants(const Warp *warp, const Op *op, uint32_t mask, int32_t joined[WARP_LANES]) {
    uint32_t chosen;
    memcpy(&chosen, operand_at(warp, op->s[2]), sizeof chosen);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (op->s[chosen >> lane & 1 ? 0 : 1].constant) joined[lane] = FOLD_NONE;
    }
}

static void unite_lanes(Folds *folds, const ProvenanceRules *rules, const Warp *warp, const Frame *frame,
                        const Op *op, FoldPlace place, uint32_t mask, int32_t joined[WARP_LANES]) {
    const Provenance *low = provenance_part(rules, frame, op, 0, 0),
                     *high = provenance_part(rules, frame, op, 0, 1);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        place.lane = __builtin_ctz(rest);
        int whole = unite(folds, warp, op, place, low->producer[place.lane], high->producer[place.lane]);
        if (whole != FOLD_NONE) joined[place.lane] = whole;
    }
}

static PtxType type_of(const Op *op) {
    return op->instruction->type_count ? op->instruction->types[0] : PTX_NO_TYPE;
}

void fold_builder_read(const Warp *warp, const Op *op, uint32_t mask, FoldOperands *read) {
    PtxType type = type_of(op);
    int bytes = type == PTX_NO_TYPE ? 0 : ptx_type_bytes(type);
    for (int i = 0; bytes && i < FOLD_OPERANDS && i < op->source_count; i++)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            read->bits[i][__builtin_ctz(rest)] = register_read(warp, op->s[i], bytes, __builtin_ctz(rest));
}

void fold_builder_lanes(Folds *folds, const ProvenanceRules *rules, const Warp *warp, const Frame *frame,
                        const Op *op, const FoldOperands *read, uint32_t mask, int32_t joined[WARP_LANES]) {
    Provenance operand;
    int count = provenance_operand_count(rules, op);
    FoldPlace place = {.warp = warp->index, .pc = op->pc, .type = type_of(op)};
    for (int lane = 0; lane < WARP_LANES; lane++) joined[lane] = FOLD_NONE;
    for (int i = 0; i < count; i++) {
        provenance_read_operand(rules, frame, op, i, &operand);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            place.lane = __builtin_ctz(rest);
            if (operand.producer[place.lane] == FOLD_NONE) continue;
            if (op->has_d && !op->d.constant && joined[place.lane] != FOLD_NONE)
                place.bits = register_read(warp, op->d, ptx_type_bytes(place.type), place.lane);
            int part = narrow(folds, warp, op, place, i, operand.producer[place.lane]);
            joined[place.lane] = join(folds, warp, op, &place, i, read, joined[place.lane], part);
        }
    }
    if (!strcmp(op->instruction->name, "selp")) drop_constants(warp, op, mask, joined);
    if (!strcmp(op->instruction->name, "mov") && count == 1 && provenance_part_count(rules, op, 0) == 2 &&
        place.type != PTX_NO_TYPE && op->has_d && !op->d.constant)
        unite_lanes(folds, rules, warp, frame, op, place, mask, joined);
}

int fold_builder_redux(Folds *folds, FoldPlace *place, const PtxInstruction *in,
                       const uint64_t operand[WARP_LANES], const Provenance *source, uint32_t mask) {
    int node = FOLD_NONE;
    uint64_t folded = place->bits;
    FoldOp op = fold_reduces_by(in);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        place->bits = operand[lane];
        int part = folds_add_move(folds, place, source->producer[lane]);
        place->bits = folded; /* only the last one is right, and only it is visible */
        node = node == FOLD_NONE   ? part
               : part == FOLD_NONE ? node
                                   : folds_add_pair(folds, place, node, part, op);
    }
    return node;
}
