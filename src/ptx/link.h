/* Link: the passes that make a program, in the order in which program.c calls them. Private to src/ptx. */
#ifndef PTX_LINK_H
#define PTX_LINK_H

#include "ptx/program.h"

/* Nodes 0 .. count - 2 are basic blocks in the order of their pcs, count - 1 is the end. */
typedef struct PtxGraph {
    int count;
    int *out, *out_begin; /* successors of node n: out[out_begin[n]] .. out[out_begin[n + 1] - 1] */
    int *in, *in_begin;   /* predecessors likewise */
} PtxGraph;

/* dominators.c: meet[n] is the immediate post-dominator of node n, possibly the end. */
void ptx_graph_post_dominators(const PtxGraph *graph, int *meet);

/* flow.c: block_begin and reconvergence of the pcs of one function whose targets are known. */
void ptx_flow_analyse(PtxProgram *program, const PtxProgramFunction *function);
/* True if the lanes that execute this instruction leave the function: ret, exit, trap, a call that does not
 * return. */
bool ptx_flow_ends(const PtxInstruction *instruction);

/* atomic_forms.c: drops_result and atomic_form of the pcs of one function whose reconvergence is known. */
void ptx_atomic_forms_find(PtxProgram *program, const PtxProgramFunction *function);
/* True if it does nothing but write its result. */
bool ptx_only_computes(const PtxInstruction *instruction);
/* Operands before this one are written, at most one. The registers of an address are read. */
int ptx_first_source(const PtxInstruction *instruction);

/* line_table.c: source lines of all pcs. */
void ptx_lines_resolve(PtxProgram *program);

#endif
