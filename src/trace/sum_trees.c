/* Sum trees (sum_trees.h): the table of nodes, what an instruction does with its operands, and where two
 * trees part. */
#include "ptx/opcodes.h"
#include "trace/sum_table.h"

#include <stdlib.h>

struct SumTrees {
    SumNode *nodes;
    int node_count, node_capacity;
    int32_t *slots; /* open hash table of node + 1; 0: free */
    size_t slot_count;
    char **names; /* of buffers */
    int name_count, name_capacity;
    bool is_cut;
};

uint64_t sum_mix(uint64_t a, uint64_t b) {
    uint64_t x =
        (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 32;
}

static uint64_t hash_text(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

SumTrees *sum_trees_new(void) {
    SumTrees *trees = memory_new(sizeof *trees);
    trees->slot_count = 1 << 12;
    trees->slots = memory_new(trees->slot_count * sizeof *trees->slots);
    return trees;
}

void sum_trees_free(SumTrees *trees) {
    if (!trees) return;
    for (int i = 0; i < trees->name_count; i++) free(trees->names[i]);
    free(trees->names);
    free(trees->nodes);
    free(trees->slots);
    free(trees);
}

const SumNode *sum_node(const SumTrees *trees, int node) {
    return &trees->nodes[node];
}

const char *sum_buffer_name(const SumTrees *trees, int buffer) {
    return trees->names[buffer];
}

bool sum_trees_are_cut(const SumTrees *trees) {
    return trees->is_cut;
}

int sum_buffer(SumTrees *trees, const char *name) {
    for (int i = 0; i < trees->name_count; i++)
        if (!strcmp(trees->names[i], name)) return i;
    array_push(trees->names, trees->name_count, trees->name_capacity, memory_copy_text(name));
    return trees->name_count - 1;
}

/* ---- equal trees are one node -------------------------------------------------------------------------- */

static bool is_same(const SumNode *x, const SumNode *y) {
    if (x->operation != y->operation || x->a != y->a || x->b != y->b) return false;
    return x->a != SUM_NONE || (x->buffer == y->buffer && x->first == y->first);
}

static size_t hash_node(const SumNode *node) {
    uint64_t operands = (uint64_t)(uint32_t)node->a << 32 | (uint32_t)node->b;
    uint64_t name = node->a == SUM_NONE ? sum_mix(node->buffer, node->first) : operands;
    return (size_t)sum_mix(node->operation, name);
}

static int32_t *find_slot(const SumTrees *trees, const SumNode *node) {
    for (size_t at = hash_node(node);; at++) {
        int32_t *slot = &trees->slots[at & (trees->slot_count - 1)];
        if (!*slot || is_same(&trees->nodes[*slot - 1], node)) return slot;
    }
}

static void grow(SumTrees *trees) {
    free(trees->slots);
    trees->slot_count *= 2;
    trees->slots = memory_new(trees->slot_count * sizeof *trees->slots);
    for (int i = 0; i < trees->node_count; i++) *find_slot(trees, &trees->nodes[i]) = i + 1;
}

static int keep(SumTrees *trees, const SumNode *node) {
    int32_t *slot = find_slot(trees, node);
    if (*slot) return *slot - 1;
    if (trees->node_count == SUM_TREE_LIMIT) {
        trees->is_cut = true;
        return SUM_NONE;
    }
    array_push(trees->nodes, trees->node_count, trees->node_capacity, *node);
    *slot = trees->node_count;
    if ((size_t)trees->node_count * 2 > trees->slot_count) grow(trees);
    return trees->node_count - 1;
}

/* ---- operations ---------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

SumOperation sum_operation_of(const PtxInstruction *in) {
    static const char *const choices[] = {"min", "max", "selp", "and", "or", "xor"};
    static const char *const symmetric[] = {"add", "mul"};
    bool is_atomic = in->opcode == PTX_atom || in->opcode == PTX_red;
    bool reduces =
        is_atomic || !strcmp(in->name, "redux") || !strcmp(in->name, "cp") || !strcmp(in->name, "multimem");
    const char *name = reduces ? fold_op_name(fold_reduces_by(in)) : in->name;
    PtxType type = in->type_count ? in->types[0] : PTX_NO_TYPE;
    bool is_float = ptx_type_is_float(type);
    if (!name) name = in->name;
    if (!is_float && (!strcmp(name, "addc") || !strcmp(name, "mad"))) name = "add";
    bool is_choice = is_among(name, choices, sizeof choices / sizeof *choices);
    SumOperation operation = {.is_atomic = is_atomic || ptx_instruction_has(in, PTX_MOD_REDUCE)};
    operation.is_extreme = is_choice && strcmp(name, "selp") != 0 && strcmp(name, "xor") != 0;
    operation.rounds = is_float && !is_choice;
    operation.is_exact = is_choice || (!is_float && !strcmp(name, "add"));
    operation.is_symmetric =
        operation.is_exact || is_among(name, symmetric, sizeof symmetric / sizeof *symmetric);
    uint64_t bytes = type == PTX_NO_TYPE ? 0 : (uint64_t)ptx_type_bytes(type);
    operation.id = (uint32_t)sum_mix(hash_text(name), (is_choice ? 0 : bytes) << 1 | is_float) | 1;
    return operation;
}

static uint32_t without_order(uint32_t id) {
    return (uint32_t)sum_mix(id, 11) | 1;
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

int sum_add_element(SumTrees *trees, int buffer, uint64_t offset, const FoldNode *loaded) {
    SumNode node = {.a = SUM_NONE, .b = SUM_NONE, .weight = 1, .first = offset, .last = offset};
    node.buffer = (uint16_t)buffer;
    node.shape = hash_text(trees->names[buffer]);
    node.value = node.set = sum_mix(node.shape, offset + 1);
    if (loaded) {
        node.bits = loaded->bits;
        node.type = loaded->type;
    }
    return keep(trees, &node);
}

int sum_add_unknown(SumTrees *trees, int buffer, uint64_t offset, const FoldNode *loaded) {
    int element = sum_add_element(trees, buffer, offset, loaded);
    if (element == SUM_NONE) return element;
    SumNode node = trees->nodes[element];
    node.operation = (uint32_t)sum_mix(loaded->bits, 3) | 1;
    node.value = node.shape = sum_mix(node.value, loaded->bits);
    node.is_unknown = true;
    return keep(trees, &node);
}

/* The elements of one operand of an exact operation, as a set: of a sum of sums, all of them. */
static uint64_t exact_set(const SumNode *part, uint32_t operation) {
    return part->a != SUM_NONE && part->operation == operation && !part->rounds ? part->set
                                                                                : sum_mix(part->value, 7);
}

enum { SPREAD_BASE = 0x2545f491 };
#define SPREAD_PRIME ((UINT64_C(1) << 61) - 1)

static uint64_t multiply(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    return (uint64_t)((Wide)a * b % SPREAD_PRIME);
}

static uint64_t power(uint64_t exponent) {
    uint64_t result = 1, base = SPREAD_BASE;
    for (exponent %= SPREAD_PRIME - 1; exponent; exponent >>= 1, base = multiply(base, base))
        if (exponent & 1) result = multiply(result, base);
    return result;
}

/* A part of an exact sum that begins at `first`, for a sum of such numbers that does not depend on their
 * order: a polynomial in the distances. */
static uint64_t spread_of(const SumNode *part, uint32_t operation, uint64_t first) {
    bool is_same = part->a != SUM_NONE && part->operation == operation && !part->rounds;
    uint64_t spread = is_same ? part->spread : part->shape % SPREAD_PRIME;
    uint64_t distance = part->first >= first ? part->first - first
                                             : SPREAD_PRIME - 1 - (first - part->first) % (SPREAD_PRIME - 1);
    return multiply(spread, power(distance));
}

/* Named by the distance from the first element of the sum; elements of another array keep their distance from
 * it, too. */
static uint64_t shape_in(const SumNode *part, const SumNode *sum) {
    return sum_mix(part->shape, part->first - sum->first);
}

static void span(SumNode *sum, const SumNode *a, const SumNode *b) {
    const SumNode *named = b->buffer < a->buffer ? b : a;
    sum->buffer = named->buffer;
    sum->first = named->first;
    sum->last = named->last;
    if (a->buffer != b->buffer) return;
    if (b->first < sum->first) sum->first = b->first;
    if (a->first < sum->first) sum->first = a->first;
    if (b->last > sum->last) sum->last = b->last;
    if (a->last > sum->last) sum->last = a->last;
}

int sum_add(SumTrees *trees, SumOperation operation, int left, int right, const SumPoint *point,
            bool has_no_order) {
    if (left == SUM_NONE || right == SUM_NONE) return left == SUM_NONE ? right : left;
    if (has_no_order) operation.id = without_order(operation.id);
    const SumNode *a = &trees->nodes[left], *b = &trees->nodes[right];
    if (operation.is_symmetric && b->value < a->value) {
        int swapped = left;
        left = right;
        right = swapped;
        a = &trees->nodes[left];
        b = &trees->nodes[right];
    }
    SumNode sum = {.a = left, .b = right, .operation = operation.id, .rounds = operation.rounds};
    sum.is_extreme = operation.is_extreme;
    sum.weight = a->weight + b->weight < a->weight ? UINT32_MAX : a->weight + b->weight;
    sum.has_no_order = a->has_no_order || b->has_no_order || has_no_order;
    sum.is_unknown = a->is_unknown || b->is_unknown;
    span(&sum, a, b);
    if (operation.is_exact) {
        sum.set = exact_set(a, operation.id) + exact_set(b, operation.id);
        sum.value = sum_mix(operation.id, sum.set);
        sum.spread =
            (spread_of(a, operation.id, sum.first) + spread_of(b, operation.id, sum.first)) % SPREAD_PRIME;
        sum.shape = sum_mix(operation.id, sum.spread);
    } else {
        sum.set = a->set + b->set;
        sum.value = sum_mix(sum_mix(operation.id, a->value), b->value);
        uint64_t x = shape_in(a, &sum), y = shape_in(b, &sum);
        bool swaps = operation.is_symmetric && y < x;
        sum.shape = sum_mix(sum_mix(operation.id, swaps ? y : x), swaps ? x : y);
    }
    sum.pc = point->pc;
    sum.launch = (uint16_t)point->launch;
    sum.bits = point->bits;
    sum.type = point->type;
    return keep(trees, &sum);
}

int sum_without_order(SumTrees *trees, int node) {
    if (node == SUM_NONE || !trees->nodes[node].rounds) return node;
    SumNode marked = trees->nodes[node];
    marked.operation = without_order(marked.operation);
    marked.value = sum_mix(marked.operation, marked.value);
    marked.has_no_order = true;
    return keep(trees, &marked);
}

/* ---- two trees ----------------------------------------------------------------------------------------- */

typedef struct Parts { /* the nodes of a tree */
    int *nodes;
    int count, capacity;
    uint8_t *has; /* [node] */
} Parts;

static Parts parts_of(const SumTrees *trees, int root) {
    Parts parts = {.has = memory_new((size_t)trees->node_count + 1)};
    if (root == SUM_NONE) return parts;
    array_push(parts.nodes, parts.count, parts.capacity, root);
    parts.has[root] = 1;
    for (int i = 0; i < parts.count; i++) {
        const SumNode *node = &trees->nodes[parts.nodes[i]];
        int operands[2] = {node->a, node->b};
        for (int k = 0; k < 2; k++) {
            if (operands[k] == SUM_NONE || parts.has[operands[k]]) continue;
            parts.has[operands[k]] = 1;
            array_push(parts.nodes, parts.count, parts.capacity, operands[k]);
        }
    }
    return parts;
}

static void parts_done(Parts *parts) {
    free(parts->nodes);
    free(parts->has);
}

static int compare_values(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Their values, ascending; the caller's. */
static uint64_t *values_of(const SumTrees *trees, const Parts *parts) {
    uint64_t *values = memory_new(((size_t)parts->count + 1) * sizeof *values);
    for (int i = 0; i < parts->count; i++) values[i] = trees->nodes[parts->nodes[i]].value;
    qsort(values, (size_t)parts->count, sizeof *values, compare_values);
    return values;
}

static bool comes_before(const SumNode *x, const SumNode *y) {
    if (x->weight != y->weight) return x->weight < y->weight;
    return x->first < y->first;
}

int sum_first_apart(const SumTrees *trees, int root, int other) {
    Parts own = parts_of(trees, root), others = parts_of(trees, other);
    uint64_t *values = values_of(trees, &others);
    int found = SUM_NONE;
    for (int i = 0; i < own.count; i++) {
        const SumNode *node = &trees->nodes[own.nodes[i]];
        if (node->a == SUM_NONE || !node->rounds ||
            bsearch(&node->value, values, (size_t)others.count, sizeof *values, compare_values))
            continue;
        if (found == SUM_NONE || comes_before(node, &trees->nodes[found])) found = own.nodes[i];
    }
    free(values);
    parts_done(&own);
    parts_done(&others);
    return found;
}

int sum_counterpart(const SumTrees *trees, int root, int node) {
    const SumNode *sum = &trees->nodes[node];
    Parts parts = parts_of(trees, root);
    const SumNode *a = &trees->nodes[sum->a], *b = &trees->nodes[sum->b]; /* the larger one first */
    bool a_first = a->weight != b->weight ? a->weight > b->weight : a->first < b->first;
    int wanted[2] = {a_first ? sum->a : sum->b, a_first ? sum->b : sum->a}, found = SUM_NONE;
    for (int k = 0; k < 2 && found == SUM_NONE; k++) {
        uint64_t value = trees->nodes[wanted[k]].value;
        for (int i = 0; i < parts.count; i++) {
            const SumNode *at = &trees->nodes[parts.nodes[i]];
            if (at->a == SUM_NONE ||
                (trees->nodes[at->a].value != value && trees->nodes[at->b].value != value))
                continue;
            if (found == SUM_NONE || comes_before(at, &trees->nodes[found])) found = parts.nodes[i];
        }
    }
    parts_done(&parts);
    return found;
}
