/* Link: the passes that make a program, in the order in which program.c calls them. Private to src/ptx. */
#ifndef PTX_LINK_H
#define PTX_LINK_H

#include "ptx/program.h"

/* flow.c: block_begin and reconvergence of the pcs of one function, whose targets are known. */
void ptx_flow_analyse(PtxProgram *program, const PtxProgramFunction *function);
/* Does control leave the function, for the lanes that execute this instruction? ret, exit, trap, a call that does not return. */
bool ptx_flow_ends(const PtxInstruction *instruction);

/* lines.c: source lines of all pcs. */
void ptx_lines_resolve(PtxProgram *program);

#endif
