/* Program: an entry and every function it can call, linked into one array of instructions.
 *
 * The index of an instruction in this array is its *pc*. Both producers of traces use it as the instruction's
 * identity, so it depends on the PTX text alone: the entry's instructions in order, then those of each called
 * function in the module's order. Pcs, branch targets and reconvergence points are decided here, once. */
#ifndef PTX_PROGRAM_H
#define PTX_PROGRAM_H

#include "ptx/ptx.h"

enum { PTX_NO_PC = -1 };

typedef struct PtxSourceLine { /* where a student finds this instruction in the kernel's source */
    const char *file;          /* path as in .file; NULL: no line information */
    int line;                  /* 0: none */
} PtxSourceLine;

typedef struct PtxCode {
    const PtxInstruction *instruction;
    int function;       /* index into program->functions */
    int target;         /* pc of the branch target; PTX_NO_PC: not a direct branch */
    int *targets;       /* brx.idx / call with a list: branch pcs, else NULL */
    int target_count;
    int reconvergence;  /* for branches: pc of the immediate post-dominator; PTX_NO_PC: only at the function's end */
    bool block_begin;   /* first instruction of a basic block */
    PtxSourceLine line; /* the outermost inlining frame that lies in the entry's own source file; instructions with
                           line 0 take the line of the nearest instruction before them that has one */
} PtxCode;

typedef struct PtxProgramFunction {
    PtxFunction *function;
    int begin, end;     /* its pcs: begin <= pc < end */
} PtxProgramFunction;

typedef struct PtxProgram {
    PtxModule *module;         /* borrowed */
    PtxFunction *entry;
    PtxCode *code;             /* [code_count] */
    int code_count;
    PtxProgramFunction *functions; /* [0] is the entry */
    int function_count;
    Arena arena;
} PtxProgram;

/* Links `entry`. Fails on undefined functions (vprintf, malloc, free, __assertfail and other intrinsics that the
 * emulator provides are left external: see PTX_EXTERNAL in program.c), undefined labels and missing bodies. */
PtxProgram *ptx_program_link(PtxModule *module, PtxFunction *entry, Error *error);
void ptx_program_free(PtxProgram *program);

#endif
