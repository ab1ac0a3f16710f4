/* Immediate post-dominators of basic blocks.
 *
 * Node m post-dominates node n when every path from n to the end passes m. Post-dominators are the dominators
 * of the reversed graph, rooted at the end. They are found with the algorithm of Lengauer and Tarjan (A Fast
 * Algorithm for Finding Dominators in a Flowgraph, 1979), the simple version: O(m log n) on any input. A node
 * that cannot reach the end (an endless loop) gets an edge to it from where the loop restarts, so that
 * branches inside the loop also have a post-dominator. */
#include "ptx/link.h"

#include <stdlib.h>

/* From here on nodes are numbered in depth-first order; 0 is the end node. */
typedef struct DominatorTree {
    int count;
    int *node, *number; /* [number] and [node]; number -1: not visited */
    int *parent, *semi, *ancestor, *best, *dominator;
    int *bucket, *next; /* lists of nodes whose semidominator is the index */
    bool *leads_to_end; /* [number] endless loop: has the added edge */
    int *stack, *cursor;
} DominatorTree;

static void visit(DominatorTree *tree, const PtxGraph *graph, int root, int parent) {
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

static void forget_numbers(DominatorTree *tree, const PtxGraph *graph) {
    tree->count = 0;
    for (int i = 0; i < graph->count; i++) tree->number[i] = -1;
}

/* Fills `roots` with the first nodes of endless loops, preceded by nodes that lead to one. Each search
 * against the edges begins at the first node that earlier searches did not find, so the last search begins in
 * a loop that leads nowhere else. */
static int endless_loops(DominatorTree *tree, const PtxGraph *graph, int *roots) {
    int count = 0;
    forget_numbers(tree, graph);
    visit(tree, graph, graph->count - 1, 0);
    for (int node = 0; node < graph->count - 1; node++) {
        if (tree->number[node] >= 0) continue;
        roots[count++] = node;
        visit(tree, graph, node, 0);
    }
    return count;
}

static void lead_to_end(DominatorTree *tree, const PtxGraph *graph, int node) {
    if (tree->number[node] >= 0) {
        tree->leads_to_end[tree->number[node]] = true;
        return;
    }
    tree->leads_to_end[tree->count] = true;
    visit(tree, graph, node, 0);
}

static void end_loop(DominatorTree *tree, const PtxGraph *graph, int first) {
    int others = tree->count; /* nodes with smaller numbers reach the end another way */
    for (int i = graph->in_begin[first]; i < graph->in_begin[first + 1]; i++) {
        int from = graph->in[i];
        if (from >= first && (tree->number[from] < 0 || tree->number[from] >= others))
            lead_to_end(tree, graph, from);
    }
    if (tree->number[first] < 0) lead_to_end(tree, graph, first);
}

static void number_nodes(DominatorTree *tree, const PtxGraph *graph) {
    int *roots = memory_new((size_t)graph->count * sizeof *roots);
    int count = endless_loops(tree, graph, roots);
    forget_numbers(tree, graph);
    visit(tree, graph, graph->count - 1, 0);
    while (count--)
        if (tree->number[roots[count]] < 0) end_loop(tree, graph, roots[count]);
    free(roots);
}

/* The node with the smallest semidominator on the path above `v`; shortens the path. */
static int evaluate(DominatorTree *tree, int v) {
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

static void semidominate(DominatorTree *tree, int w, int v) {
    int u = evaluate(tree, v);
    if (tree->semi[u] < tree->semi[w]) tree->semi[w] = tree->semi[u];
}

static void dominate(DominatorTree *tree, const PtxGraph *graph) {
    for (int w = tree->count - 1; w > 0; w--) {
        int node = tree->node[w];
        for (int i = graph->out_begin[node]; i < graph->out_begin[node + 1]; i++)
            semidominate(tree, w, tree->number[graph->out[i]]);
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

static void tree_build(DominatorTree *tree, const PtxGraph *graph) {
    size_t count = (size_t)graph->count;
    int **arrays[] = {&tree->node,     &tree->number, &tree->parent,    &tree->semi,
                      &tree->ancestor, &tree->best,   &tree->dominator, &tree->bucket,
                      &tree->next,     &tree->stack,  &tree->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = memory_new(count * sizeof(int));
    tree->leads_to_end = memory_new(count);
    for (int i = 0; i < graph->count; i++) {
        tree->semi[i] = tree->best[i] = i;
        tree->ancestor[i] = tree->bucket[i] = -1;
    }
    number_nodes(tree, graph);
    dominate(tree, graph);
}

static void tree_done(DominatorTree *tree) {
    int *arrays[] = {tree->node,      tree->number, tree->parent, tree->semi,  tree->ancestor, tree->best,
                     tree->dominator, tree->bucket, tree->next,   tree->stack, tree->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(tree->leads_to_end);
}

void ptx_graph_post_dominators(const PtxGraph *graph, int *meet) {
    DominatorTree tree = {0};
    tree_build(&tree, graph);
    for (int number = 1; number < tree.count; number++)
        meet[tree.node[number]] = tree.node[tree.dominator[number]];
    meet[graph->count - 1] = graph->count - 1;
    tree_done(&tree);
}
