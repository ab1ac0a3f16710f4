/* Control flow of one function: basic blocks, and where divergent lanes reconverge.
 *
 * They reconverge at the branch's immediate post-dominator: the first block that every path from the branch
 * to the function's end passes. ret, exit, trap and calls that do not return lead to the end.
 *
 * Lanes that leave early must not keep the others apart:
 *
 *     if (y) { if (x) { *error = 1; return; } b; }  c;  __syncthreads();
 *
 * Only the end lies on every path, yet the lanes that stay reconverge at c, as on hardware, which does not
 * wait for exited lanes. So if post-dominators find nothing for a branch (the end, or a block that only
 * returns), blocks are taken in layers, and the post-dominators inside its layer count, ignoring the edges
 * out of it. The first layer has the blocks that can still reach a barrier of the block: a barrier does not
 * wait for lanes that cannot reach it. The next layer has the blocks that can reach the function's main exit,
 * then those of the rest that can reach the next exit, and so on; traps come last, since lanes do not
 * reconverge at an assertion. The main exit is a guess: the one that most branches lead to, from the latest
 * place in the text. */
#include "ptx/link.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

bool ptx_flow_ends(const PtxInstruction *instruction) {
    switch (instruction->opcode) {
    case PTX_ret:
    case PTX_exit:
    case PTX_trap:
        return true;
    case PTX_call:
        break;
    default:
        return false;
    }
    for (int i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == PTX_OPERAND_FUNCTION) {
            const PtxFunction *function = instruction->operands[i].function;
            return function->is_noreturn ||
                   (!function->has_body && ptx_external_find(function->name) == PTX_EXTERNAL_ASSERT);
        }
    return false;
}

static bool is_jump(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_bra || instruction->opcode == PTX_brx || ptx_flow_ends(instruction);
}

static bool is_guarded(const PtxInstruction *instruction) {
    return instruction->guard.kind != PTX_OPERAND_NONE;
}

/* ---- blocks and edges -------------------------------------------------------------------------------- */

typedef struct Edges {
    int *from, *to;
    size_t count, from_capacity, to_capacity;
} Edges;

typedef struct Flow {
    PtxCode *code;  /* code of the program */
    int begin, end; /* pcs of the function */
    int *first;     /* [block + 1] its first pc; the entry after the last block is `end` */
    int *block_of;  /* [pc - begin] */
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

static void graph_init(PtxGraph *graph, int nodes, Edges *edges) { /* takes ownership of the edges */
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
        for (int i = 0; opcode == PTX_brx && i < code[pc].target_count; i++)
            code[code[pc].targets[i]].block_begin = true;
    }
}

static void add_edges(const Flow *flow, Edges *edges, int pc) { /* pc: that of the block's last instruction */
    const PtxCode *code = &flow->code[pc];
    int block = flow->block_of[pc - flow->begin], end = flow->graph.count - 1;
    bool jump = is_jump(code->instruction);
    if (code->instruction->opcode == PTX_bra)
        add_edge(edges, block, flow->block_of[code->target - flow->begin]);
    else if (code->instruction->opcode == PTX_brx)
        for (int i = 0; i < code->target_count; i++)
            add_edge(edges, block, flow->block_of[code->targets[i] - flow->begin]);
    else if (jump)
        add_edge(edges, block, end);
    /* After the last block comes the end. */
    if (!jump || is_guarded(code->instruction)) add_edge(edges, block, block + 1);
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

/* ---- layers: the lanes that stay --------------------------------------------------------------------- */

typedef struct Exit {
    int block;
    int ways_in, last_way; /* edges into the block; the last block they come from */
    bool faults;           /* ends in a trap or an assertion */
} Exit;

enum { BARRIER_LAYER = 1, NOWHERE = -1 };

typedef struct Layers {
    int *layer;    /* [block] its number from 1 */
    bool *is_exit; /* [block] its exit made its layer */
    int count;
    int *stack;
} Layers;

static const PtxInstruction *last_of(const Flow *flow, int block) {
    return flow->code[flow->first[block + 1] - 1].instruction;
}

static bool only_returns(const Flow *flow, int block) {
    const PtxInstruction *last = last_of(flow, block);
    return flow->first[block + 1] == flow->first[block] + 1 && ptx_flow_ends(last) && !is_guarded(last);
}

static bool leaves(const Flow *flow, int node) {
    return node == flow->graph.count - 1 || only_returns(flow, node);
}

static bool has_exit(const Flow *flow, int block) {
    for (int i = flow->graph.out_begin[block]; i < flow->graph.out_begin[block + 1]; i++)
        if (leaves(flow, flow->graph.out[i])) return true;
    return false;
}

static bool faults(const Flow *flow, int block) {
    PtxOpcode opcode = last_of(flow, block)->opcode;
    return opcode == PTX_trap || (opcode == PTX_call && ptx_flow_ends(last_of(flow, block)));
}

/* True if lanes may wait here for the whole block. Called functions may contain a barrier; those of the
 * machine do not. */
static bool has_barrier(const Flow *flow, int block) {
    for (int pc = flow->first[block]; pc < flow->first[block + 1]; pc++) {
        const PtxInstruction *instruction = flow->code[pc].instruction;
        bool is_warp = ptx_instruction_has(instruction, PTX_MOD_WARP);
        if ((instruction->opcode == PTX_bar || instruction->opcode == PTX_barrier) && !is_warp) return true;
        bool outside = false;
        for (int i = 0; i < instruction->operand_count; i++)
            if (instruction->operands[i].kind == PTX_OPERAND_FUNCTION)
                outside = !instruction->operands[i].function->has_body;
        if (instruction->opcode == PTX_call && !outside) return true;
    }
    return false;
}

static void push(Layers *layers, int block, int *depth) {
    layers->layer[block] = layers->count;
    layers->stack[(*depth)++] = block;
}

/* Claims the blocks that reach the pushed blocks and are in no layer yet. */
static void claim(const Flow *flow, Layers *layers, int depth) {
    while (depth) {
        int block = layers->stack[--depth];
        if (only_returns(flow, block)) continue; /* counts as an exit of each block before it */
        for (int i = flow->graph.in_begin[block]; i < flow->graph.in_begin[block + 1]; i++)
            if (!layers->layer[flow->graph.in[i]]) push(layers, flow->graph.in[i], &depth);
    }
}

static int compare_exits(const void *a, const void *b) { /* the main exit first */
    const Exit *x = a, *y = b;
    if (x->faults != y->faults) return x->faults ? 1 : -1;
    if (x->ways_in != y->ways_in) return y->ways_in - x->ways_in;
    return x->last_way != y->last_way ? y->last_way - x->last_way : y->block - x->block;
}

static int find_exits(const Flow *flow, Exit *exits) {
    int count = 0;
    for (int block = 0; block < flow->graph.count - 1; block++) {
        if (!has_exit(flow, block)) continue;
        Exit *exit = &exits[count++];
        *exit = (Exit){.block = block, .last_way = -1, .faults = faults(flow, block)};
        for (int i = flow->graph.in_begin[block]; i < flow->graph.in_begin[block + 1]; i++) {
            exit->ways_in++;
            if (flow->graph.in[i] > exit->last_way) exit->last_way = flow->graph.in[i];
        }
    }
    qsort(exits, (size_t)count, sizeof *exits, compare_exits);
    return count;
}

static void layers_init(Layers *layers, const Flow *flow) {
    size_t nodes = (size_t)flow->graph.count;
    *layers = (Layers){memory_new(nodes * sizeof(int)), memory_new(nodes), BARRIER_LAYER,
                       memory_new(nodes * sizeof(int))};
    Exit *exits = memory_new(nodes * sizeof *exits);
    int depth = 0, exit_count = find_exits(flow, exits);
    for (int block = 0; block < flow->graph.count - 1; block++)
        if (has_barrier(flow, block)) push(layers, block, &depth);
    claim(flow, layers, depth);
    for (int i = 0; i < exit_count; i++) {
        if (layers->layer[exits[i].block]) continue;
        depth = 0;
        layers->count++;
        layers->is_exit[exits[i].block] = true;
        push(layers, exits[i].block, &depth);
        claim(flow, layers, depth);
    }
    free(exits); /* only endless loops without barriers remain: layer 0 */
}

static void layers_done(Layers *layers) {
    free(layers->layer);
    free(layers->is_exit);
    free(layers->stack);
}

static bool stays(const Flow *flow, const Layers *layers, int from, int to) {
    return !leaves(flow, to) && layers->layer[from] == layers->layer[to];
}

/* Post-dominators inside layers, if at least two ways out of the block stay in its layer. Otherwise the end;
 * or NOWHERE, if others may reach a barrier, because lanes that leave must then not wait to return
 * together. */
static void meet_in_layers(const Flow *flow, int *meet) {
    int end = flow->graph.count - 1;
    Layers layers;
    layers_init(&layers, flow);
    Edges edges = {0};
    int *ways = memory_new((size_t)flow->graph.count * sizeof *ways);
    for (int block = 0; block < end; block++) {
        for (int i = flow->graph.out_begin[block]; i < flow->graph.out_begin[block + 1]; i++) {
            if (!stays(flow, &layers, block, flow->graph.out[i])) continue;
            add_edge(&edges, block, flow->graph.out[i]);
            ways[block]++;
        }
        if (!ways[block] || layers.is_exit[block]) add_edge(&edges, block, end);
    }
    PtxGraph graph;
    graph_init(&graph, end + 1, &edges);
    ptx_graph_post_dominators(&graph, meet);
    for (int block = 0; block < end; block++) {
        bool meets = ways[block] >= 2 && !leaves(flow, meet[block]);
        if (!meets) meet[block] = layers.layer[block] == BARRIER_LAYER ? end : NOWHERE;
    }
    graph_done(&graph);
    layers_done(&layers);
    free(ways);
}

/* ---- the result -------------------------------------------------------------------------------------- */

static bool is_branch(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_brx || (instruction->opcode == PTX_bra && is_guarded(instruction));
}

static bool finds_nothing(const Flow *flow, const int *meet, int block) {
    return is_branch(last_of(flow, block)) && leaves(flow, meet[block]);
}

static void meet_early(const Flow *flow, int *meet) {
    int end = flow->graph.count - 1, open = 0;
    for (int block = 0; block < end; block++) open += finds_nothing(flow, meet, block);
    if (!open) return;
    int *staying = memory_new((size_t)flow->graph.count * sizeof *staying);
    meet_in_layers(flow, staying);
    for (int block = 0; block < end; block++)
        if (finds_nothing(flow, meet, block) && staying[block] != NOWHERE) meet[block] = staying[block];
    free(staying);
}

void ptx_flow_analyse(PtxProgram *program, const PtxProgramFunction *function) {
    Flow flow;
    flow_init(&flow, program, function);
    int end = flow.graph.count - 1;
    int *meet = memory_new((size_t)flow.graph.count * sizeof *meet);
    ptx_graph_post_dominators(&flow.graph, meet);
    meet_early(&flow, meet);
    for (int block = 0; block < end; block++) {
        PtxCode *code = &program->code[flow.first[block + 1] - 1];
        bool branches = code->instruction->opcode == PTX_bra || code->instruction->opcode == PTX_brx;
        if (branches && meet[block] != end) code->reconvergence = flow.first[meet[block]];
    }
    free(meet);
    flow_done(&flow);
}

/* ---- as text ------------------------------------------------------------------------------------------- */

static void print_node(const Flow *flow, int node, Text *out) {
    if (node == flow->graph.count - 1)
        text_add(out, " end");
    else
        text_print(out, " %d", node);
}

static void print_block(const Flow *flow, const int *meet, int block, Text *out) {
    const PtxCode *last = &flow->code[flow->first[block + 1] - 1];
    text_print(out, "  block %-3d pc %d-%d, next", block, flow->first[block], flow->first[block + 1] - 1);
    for (int i = flow->graph.out_begin[block]; i < flow->graph.out_begin[block + 1]; i++)
        print_node(flow, flow->graph.out[i], out);
    text_add(out, ", immediate post-dominator");
    print_node(flow, meet[block], out);
    if (is_branch(last->instruction)) {
        if (last->reconvergence == PTX_NO_PC)
            text_add(out, ", does not reconverge");
        else
            text_print(out, ", reconverges at %d", flow->block_of[last->reconvergence - flow->begin]);
    }
    text_add(out, "\n");
}

void ptx_program_print_flow(PtxProgram *program, Text *out) {
    for (int f = 0; f < program->function_count; f++) {
        Flow flow;
        flow_init(&flow, program, &program->functions[f]);
        int *meet = memory_new((size_t)flow.graph.count * sizeof *meet);
        ptx_graph_post_dominators(&flow.graph, meet);
        text_print(out, "%s\n", program->functions[f].function->name);
        for (int block = 0; block < flow.graph.count - 1; block++) {
            print_block(&flow, meet, block, out);
            for (int pc = flow.first[block]; pc < flow.first[block + 1]; pc++) {
                text_print(out, "%10d  ", pc);
                ptx_instruction_print(program->code[pc].instruction, out);
                text_add(out, "\n");
            }
        }
        free(meet);
        flow_done(&flow);
    }
}
