/* Control flow of one function: basic blocks and where diverged lanes meet again.
 *
 * Lanes that a branch separates meet at its immediate post-dominator: the first block that every path from the branch to
 * the function's end passes. Post-dominators are the dominators of the reversed graph, rooted at a virtual end node to which
 * ret, exit, trap and calls that do not return lead. They are found with the algorithm of Lengauer and Tarjan (A Fast
 * Algorithm for Finding Dominators in a Flowgraph, 1979), the simple version: O(m log n) on any input.
 *
 * Blocks that cannot reach the end (endless loops) get an edge to it from the last of them, so that branches inside the loop
 * still reconverge. */
#include "ptx/link.h"

#include <stdlib.h>

bool ptx_flow_ends(const PtxInstruction *instruction) {
    switch (instruction->opcode) {
    case PTX_ret: case PTX_exit: case PTX_trap: return true;
    case PTX_call: break;
    default: return false;
    }
    for (int i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == PTX_OPERAND_FUNCTION) {
            const PtxFunction *function = instruction->operands[i].function;
            return function->is_noreturn || (!function->has_body && ptx_external_find(function->name) == PTX_EXTERNAL___assertfail);
        }
    return false;
}

typedef struct Graph { /* nodes 0 .. count - 2 are blocks, count - 1 is the end */
    int count;
    int *first;       /* [block] its first pc */
    int *block_of;    /* [pc - begin] */
    int *from, *to;   /* edges */
    size_t edge_count, from_capacity, to_capacity;
    int *out, *out_begin; /* successors of node n: out[out_begin[n]] .. out[out_begin[n + 1] - 1] */
    int *in, *in_begin;   /* predecessors likewise */
} Graph;

static bool is_jump(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_bra || instruction->opcode == PTX_brx || ptx_flow_ends(instruction);
}

static void mark_blocks(PtxProgram *program, const PtxProgramFunction *function) {
    PtxCode *code = program->code;
    code[function->begin].block_begin = true;
    for (int pc = function->begin; pc < function->end; pc++) {
        PtxOpcode opcode = code[pc].instruction->opcode;
        if (is_jump(code[pc].instruction) && pc + 1 < function->end) code[pc + 1].block_begin = true;
        if (opcode == PTX_bra) code[code[pc].target].block_begin = true;
        for (int i = 0; opcode == PTX_brx && i < code[pc].target_count; i++) code[code[pc].targets[i]].block_begin = true;
    }
}

static void edge(Graph *graph, int from, int to) {
    array_reserve(graph->from, graph->edge_count + 1, graph->from_capacity);
    array_reserve(graph->to, graph->edge_count + 1, graph->to_capacity);
    graph->from[graph->edge_count] = from;
    graph->to[graph->edge_count++] = to;
}

static void add_edges(Graph *graph, const PtxProgram *program, const PtxProgramFunction *function, int pc) { /* last pc of a block */
    const PtxCode *code = &program->code[pc];
    int block = graph->block_of[pc - function->begin], end = graph->count - 1;
    bool guarded = code->instruction->guard.kind != PTX_OPERAND_NONE, jump = is_jump(code->instruction);
    if (code->instruction->opcode == PTX_bra) edge(graph, block, graph->block_of[code->target - function->begin]);
    else if (code->instruction->opcode == PTX_brx)
        for (int i = 0; i < code->target_count; i++) edge(graph, block, graph->block_of[code->targets[i] - function->begin]);
    else if (jump) edge(graph, block, end);
    if (!jump || guarded) edge(graph, block, pc + 1 < function->end ? block + 1 : end);
}

static void sort_edges(int nodes, size_t edges, const int *key, const int *value, int **list, int **begin) {
    *begin = memory_new(((size_t)nodes + 2) * sizeof **begin);
    *list = memory_new(edges * sizeof **list);
    for (size_t i = 0; i < edges; i++) (*begin)[key[i] + 2]++;
    for (int i = 2; i < nodes + 2; i++) (*begin)[i] += (*begin)[i - 1];
    for (size_t i = 0; i < edges; i++) (*list)[(*begin)[key[i] + 1]++] = value[i];
}

static void build(Graph *graph, const PtxProgram *program, const PtxProgramFunction *function) {
    int length = function->end - function->begin;
    graph->first = memory_new((size_t)length * sizeof(int));
    graph->block_of = memory_new((size_t)length * sizeof(int));
    int blocks = 0;
    for (int i = 0; i < length; i++) {
        if (program->code[function->begin + i].block_begin) graph->first[blocks++] = function->begin + i;
        graph->block_of[i] = blocks - 1;
    }
    graph->count = blocks + 1;
    for (int pc = function->begin; pc < function->end; pc++)
        if (pc + 1 == function->end || program->code[pc + 1].block_begin) add_edges(graph, program, function, pc);
    sort_edges(graph->count, graph->edge_count, graph->from, graph->to, &graph->out, &graph->out_begin);
    sort_edges(graph->count, graph->edge_count, graph->to, graph->from, &graph->in, &graph->in_begin);
}

static void graph_done(Graph *graph) {
    free(graph->first);
    free(graph->block_of);
    free(graph->from);
    free(graph->to);
    free(graph->out);
    free(graph->out_begin);
    free(graph->in);
    free(graph->in_begin);
}

/* Nodes are known by their number in depth-first order from here on; 0 is the end node. */
typedef struct Tree {
    int count;
    int *node, *number;    /* [number] and [node]; number -1: not visited */
    int *parent, *semi, *ancestor, *best, *dominator;
    int *bucket, *next;    /* lists of nodes whose semidominator is the index */
    bool *leads_to_end;    /* [number] endless loop: has the added edge */
    int *stack, *cursor;
} Tree;

static void visit(Tree *tree, const Graph *graph, int root, int parent) {
    int depth = 0;
    tree->number[root] = tree->count;
    tree->node[tree->count] = root;
    tree->parent[tree->count++] = parent;
    tree->stack[0] = root;
    tree->cursor[root] = graph->in_begin[root];
    while (depth >= 0) {
        int node = tree->stack[depth];
        if (tree->cursor[node] == graph->in_begin[node + 1]) {
            depth--;
            continue;
        }
        int next = graph->in[tree->cursor[node]++];
        if (tree->number[next] >= 0) continue;
        tree->number[next] = tree->count;
        tree->node[tree->count] = next;
        tree->parent[tree->count++] = tree->number[node];
        tree->stack[++depth] = next;
        tree->cursor[next] = graph->in_begin[next];
    }
}

static void number_nodes(Tree *tree, const Graph *graph) {
    for (int i = 0; i < graph->count; i++) tree->number[i] = -1;
    visit(tree, graph, graph->count - 1, 0);
    for (int node = graph->count - 2; node >= 0; node--) {
        if (tree->number[node] >= 0) continue;
        tree->leads_to_end[tree->count] = true;
        visit(tree, graph, node, 0);
    }
}

/* The node with the smallest semidominator on the path above `v`; shortens the path. */
static int evaluate(Tree *tree, int v) {
    if (tree->ancestor[v] < 0) return v;
    int depth = 0;
    for (int u = v; tree->ancestor[tree->ancestor[u]] >= 0; u = tree->ancestor[u]) tree->stack[depth++] = u;
    while (depth--) {
        int u = tree->stack[depth], above = tree->ancestor[u];
        if (tree->semi[tree->best[above]] < tree->semi[tree->best[u]]) tree->best[u] = tree->best[above];
        tree->ancestor[u] = tree->ancestor[above];
    }
    return tree->best[v];
}

static void semidominate(Tree *tree, int w, int v) {
    int u = evaluate(tree, v);
    if (tree->semi[u] < tree->semi[w]) tree->semi[w] = tree->semi[u];
}

static void dominate(Tree *tree, const Graph *graph) {
    for (int w = tree->count - 1; w > 0; w--) {
        int node = tree->node[w];
        for (int i = graph->out_begin[node]; i < graph->out_begin[node + 1]; i++) semidominate(tree, w, tree->number[graph->out[i]]);
        if (tree->leads_to_end[w]) semidominate(tree, w, 0);
        tree->next[w] = tree->bucket[tree->semi[w]];
        tree->bucket[tree->semi[w]] = w;
        int parent = tree->parent[w];
        tree->ancestor[w] = parent;
        for (int v = tree->bucket[parent]; v >= 0; v = tree->next[v]) {
            int u = evaluate(tree, v);
            tree->dominator[v] = tree->semi[u] < tree->semi[v] ? u : parent;
        }
        tree->bucket[parent] = -1;
    }
    for (int w = 1; w < tree->count; w++)
        if (tree->dominator[w] != tree->semi[w]) tree->dominator[w] = tree->dominator[tree->dominator[w]];
}

static void tree_build(Tree *tree, const Graph *graph) {
    size_t count = (size_t)graph->count;
    int **arrays[] = {&tree->node, &tree->number, &tree->parent, &tree->semi, &tree->ancestor, &tree->best, &tree->dominator,
                      &tree->bucket, &tree->next, &tree->stack, &tree->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = memory_new(count * sizeof(int));
    tree->leads_to_end = memory_new(count);
    for (int i = 0; i < graph->count; i++) {
        tree->semi[i] = tree->best[i] = i;
        tree->ancestor[i] = tree->bucket[i] = -1;
    }
    number_nodes(tree, graph);
    dominate(tree, graph);
}

static void tree_done(Tree *tree) {
    int *arrays[] = {tree->node, tree->number, tree->parent, tree->semi, tree->ancestor, tree->best, tree->dominator,
                     tree->bucket, tree->next, tree->stack, tree->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(tree->leads_to_end);
}

void ptx_flow_analyse(PtxProgram *program, const PtxProgramFunction *function) {
    Graph graph = {0};
    Tree tree = {0};
    mark_blocks(program, function);
    build(&graph, program, function);
    tree_build(&tree, &graph);
    for (int pc = function->begin; pc < function->end; pc++) {
        PtxCode *code = &program->code[pc];
        if (code->instruction->opcode != PTX_bra && code->instruction->opcode != PTX_brx) continue;
        int meet = tree.node[tree.dominator[tree.number[graph.block_of[pc - function->begin]]]];
        code->reconvergence = meet == graph.count - 1 ? PTX_NO_PC : graph.first[meet];
    }
    tree_done(&tree);
    graph_done(&graph);
}
