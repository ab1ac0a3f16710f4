/* Control flow of one function: basic blocks, and where lanes that a branch has separated meet again.
 *
 * They meet at the branch's immediate post-dominator: the first block that every path from the branch to the function's end
 * passes. ret, exit, trap and calls that do not return lead to the end.
 *
 * Lanes that leave early must not keep the others apart:
 *
 *     if (y) { if (x) return; b; }  c;  __syncthreads();
 *
 * Every path passes only the end, yet the lanes that stay meet at c, as on hardware, where lanes that have exited are waited
 * for by nobody. So where post-dominators find nothing for a branch (the end, or a block that only returns), blocks are taken
 * in layers: the first layer is what can reach the last exit of the function, the next one what can reach the last exit of the
 * rest, and so on (traps come last: an assertion is not where lanes meet). Post-dominators inside a layer ignore the edges out
 * of it. If that finds a meeting point for any branch, it is used for the whole function, so that regions nest; else not. */
#include "ptx/link.h"

#include <stdlib.h>

bool ptx_flow_ends(const PtxInstruction *instruction) {
    switch (instruction->opcode) {
    case PTX_ret:
    case PTX_exit:
    case PTX_trap: return true;
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

static bool is_jump(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_bra || instruction->opcode == PTX_brx || ptx_flow_ends(instruction);
}

static bool is_guarded(const PtxInstruction *instruction) { return instruction->guard.kind != PTX_OPERAND_NONE; }

/* ---- blocks and edges ------------------------------------------------------------------------------------------------- */

typedef struct Edges {
    int *from, *to;
    size_t count, from_capacity, to_capacity;
} Edges;

typedef struct Flow {
    PtxCode *code;   /* of the program */
    int begin, end;  /* pcs of the function */
    int *first;      /* [block + 1] its first pc; behind the last: end */
    int *block_of;   /* [pc - begin] */
    PtxGraph graph;
} Flow;

static void add_edge(Edges *edges, int from, int to) {
    array_reserve(edges->from, edges->count + 1, edges->from_capacity);
    array_reserve(edges->to, edges->count + 1, edges->to_capacity);
    edges->from[edges->count] = from;
    edges->to[edges->count++] = to;
}

static void sort_edges(int nodes, size_t count, const int *key, const int *value, int **list, int **begin) {
    *begin = memory_new(((size_t)nodes + 2) * sizeof **begin);
    *list = memory_new(count * sizeof **list);
    for (size_t i = 0; i < count; i++) (*begin)[key[i] + 2]++;
    for (int i = 2; i < nodes + 2; i++) (*begin)[i] += (*begin)[i - 1];
    for (size_t i = 0; i < count; i++) (*list)[(*begin)[key[i] + 1]++] = value[i];
}

static void graph_init(PtxGraph *graph, int nodes, Edges *edges) { /* takes the edges */
    graph->count = nodes;
    sort_edges(nodes, edges->count, edges->from, edges->to, &graph->out, &graph->out_begin);
    sort_edges(nodes, edges->count, edges->to, edges->from, &graph->in, &graph->in_begin);
    free(edges->from);
    free(edges->to);
}

static void graph_done(PtxGraph *graph) {
    free(graph->out);
    free(graph->out_begin);
    free(graph->in);
    free(graph->in_begin);
}

static void mark_blocks(const Flow *flow) {
    PtxCode *code = flow->code;
    code[flow->begin].block_begin = true;
    for (int pc = flow->begin; pc < flow->end; pc++) {
        PtxOpcode opcode = code[pc].instruction->opcode;
        if (is_jump(code[pc].instruction) && pc + 1 < flow->end) code[pc + 1].block_begin = true;
        if (opcode == PTX_bra) code[code[pc].target].block_begin = true;
        for (int i = 0; opcode == PTX_brx && i < code[pc].target_count; i++) code[code[pc].targets[i]].block_begin = true;
    }
}

static void add_edges(const Flow *flow, Edges *edges, int pc) { /* pc: the last one of a block */
    const PtxCode *code = &flow->code[pc];
    int block = flow->block_of[pc - flow->begin], end = flow->graph.count - 1;
    bool jump = is_jump(code->instruction);
    if (code->instruction->opcode == PTX_bra) add_edge(edges, block, flow->block_of[code->target - flow->begin]);
    else if (code->instruction->opcode == PTX_brx)
        for (int i = 0; i < code->target_count; i++) add_edge(edges, block, flow->block_of[code->targets[i] - flow->begin]);
    else if (jump) add_edge(edges, block, end);
    if (!jump || is_guarded(code->instruction)) add_edge(edges, block, block + 1); /* behind the last block: the end */
}

static void flow_init(Flow *flow, PtxProgram *program, const PtxProgramFunction *function) {
    *flow = (Flow){.code = program->code, .begin = function->begin, .end = function->end};
    size_t length = (size_t)(function->end - function->begin);
    flow->first = memory_new((length + 1) * sizeof *flow->first);
    flow->block_of = memory_new(length * sizeof *flow->block_of);
    mark_blocks(flow);
    int blocks = 0;
    for (int pc = flow->begin; pc < flow->end; pc++) {
        if (flow->code[pc].block_begin) flow->first[blocks++] = pc;
        flow->block_of[pc - flow->begin] = blocks - 1;
    }
    flow->first[blocks] = flow->end;
    flow->graph.count = blocks + 1;
    Edges edges = {0};
    for (int block = 0; block < blocks; block++) add_edges(flow, &edges, flow->first[block + 1] - 1);
    graph_init(&flow->graph, blocks + 1, &edges);
}

static void flow_done(Flow *flow) {
    free(flow->first);
    free(flow->block_of);
    graph_done(&flow->graph);
}

/* ---- layers: the lanes that stay ---------------------------------------------------------------------------------------- */

typedef struct Layers {
    int *layer;  /* [block] its number from 1 */
    int *root;   /* [layer] the block whose exit made it */
    int count;
    int *stack;
} Layers;

static const PtxInstruction *last_of(const Flow *flow, int block) { return flow->code[flow->first[block + 1] - 1].instruction; }

static bool only_returns(const Flow *flow, int block) {
    const PtxInstruction *last = last_of(flow, block);
    return flow->first[block + 1] == flow->first[block] + 1 && ptx_flow_ends(last) && !is_guarded(last);
}

static bool leaves(const Flow *flow, int node) { return node == flow->graph.count - 1 || only_returns(flow, node); }

static bool has_exit(const Flow *flow, int block) {
    for (int i = flow->graph.out_begin[block]; i < flow->graph.out_begin[block + 1]; i++)
        if (leaves(flow, flow->graph.out[i])) return true;
    return false;
}

static bool faults(const Flow *flow, int block) { /* ends in a trap or an assertion */
    PtxOpcode opcode = last_of(flow, block)->opcode;
    return opcode == PTX_trap || (opcode == PTX_call && ptx_flow_ends(last_of(flow, block)));
}

static void claim(const Flow *flow, Layers *layers, int root) { /* what reaches `root` and is in no layer yet */
    int depth = 0, layer = ++layers->count;
    layers->root[layer] = root;
    layers->layer[root] = layer;
    layers->stack[depth++] = root;
    while (depth) {
        int block = layers->stack[--depth];
        if (only_returns(flow, block)) continue; /* stands for an exit of each block before it */
        for (int i = flow->graph.in_begin[block]; i < flow->graph.in_begin[block + 1]; i++) {
            int from = flow->graph.in[i];
            if (layers->layer[from]) continue;
            layers->layer[from] = layer;
            layers->stack[depth++] = from;
        }
    }
}

static void layers_init(Layers *layers, const Flow *flow) {
    size_t nodes = (size_t)flow->graph.count;
    *layers = (Layers){memory_new(nodes * sizeof(int)), memory_new((nodes + 1) * sizeof(int)), 0, memory_new(nodes * sizeof(int))};
    for (int pass = 0; pass < 3; pass++) /* exits, traps, endless loops */
        for (int block = flow->graph.count - 2; block >= 0; block--) {
            if (layers->layer[block]) continue;
            if (pass < 2 && (!has_exit(flow, block) || (pass == 0 && faults(flow, block)))) continue;
            claim(flow, layers, block);
        }
}

static void layers_done(Layers *layers) {
    free(layers->layer);
    free(layers->root);
    free(layers->stack);
}

static bool stays(const Flow *flow, const Layers *layers, int from, int to) {
    return !leaves(flow, to) && layers->layer[from] == layers->layer[to];
}

/* Post-dominators inside layers; the end where fewer than two ways out of the block stay in its layer. */
static void meet_in_layers(const Flow *flow, int *meet) {
    int end = flow->graph.count - 1;
    Layers layers;
    layers_init(&layers, flow);
    Edges edges = {0};
    for (int block = 0; block < end; block++) {
        for (int i = flow->graph.out_begin[block]; i < flow->graph.out_begin[block + 1]; i++)
            if (stays(flow, &layers, block, flow->graph.out[i])) add_edge(&edges, block, flow->graph.out[i]);
        if (layers.root[layers.layer[block]] == block) add_edge(&edges, block, end);
    }
    PtxGraph graph;
    graph_init(&graph, end + 1, &edges);
    ptx_graph_post_dominators(&graph, meet);
    for (int block = 0; block < end; block++) {
        int ways = 0;
        for (int i = graph.out_begin[block]; i < graph.out_begin[block + 1]; i++) ways += graph.out[i] != end;
        if (ways < 2) meet[block] = end;
    }
    graph_done(&graph);
    layers_done(&layers);
}

/* ---- the result ----------------------------------------------------------------------------------------------------------- */

static bool is_branch(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_brx || (instruction->opcode == PTX_bra && is_guarded(instruction));
}

static bool has_early_exits(const Flow *flow, const int *meet) { /* a branch that has found no meeting point */
    for (int block = 0; block < flow->graph.count - 1; block++)
        if (is_branch(last_of(flow, block)) && leaves(flow, meet[block])) return true;
    return false;
}

static bool finds_more(const Flow *flow, const int *before, const int *now) {
    for (int block = 0; block < flow->graph.count - 1; block++)
        if (is_branch(last_of(flow, block)) && leaves(flow, before[block]) && !leaves(flow, now[block])) return true;
    return false;
}

void ptx_flow_analyse(PtxProgram *program, const PtxProgramFunction *function) {
    Flow flow;
    flow_init(&flow, program, function);
    int end = flow.graph.count - 1;
    int *meet = memory_new(2 * (size_t)flow.graph.count * sizeof *meet), *staying = meet + flow.graph.count;
    ptx_graph_post_dominators(&flow.graph, meet);
    if (has_early_exits(&flow, meet)) {
        meet_in_layers(&flow, staying);
        if (finds_more(&flow, meet, staying)) memcpy(meet, staying, (size_t)flow.graph.count * sizeof *meet);
    }
    for (int block = 0; block < end; block++) {
        PtxCode *code = &program->code[flow.first[block + 1] - 1];
        bool branches = code->instruction->opcode == PTX_bra || code->instruction->opcode == PTX_brx;
        if (branches && meet[block] != end) code->reconvergence = flow.first[meet[block]];
    }
    free(meet);
    flow_done(&flow);
}
