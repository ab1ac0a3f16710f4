/* Program: an entry and every function it can call, linked into one array of instructions.
 *
 * The index of an instruction in this array is its *pc*. Both producers of traces identify instructions by
 * it, so it depends on the PTX text alone: the entry's instructions in order, then those of each called
 * function in the module's order. Pcs, branch targets and reconvergence points are computed here, once. */
#ifndef PTX_PROGRAM_H
#define PTX_PROGRAM_H

#include "ptx/ptx.h"

enum { PTX_NO_PC = -1 };

typedef struct PtxSourceLine { /* where a student finds this instruction in the kernel's source */
    const char *file;          /* path as in .file; NULL: no line information */
    int line;                  /* 0: none */
} PtxSourceLine;

typedef struct PtxCode {
    /* Includes the ret that the linker adds if control could run off a function's end. */
    const PtxInstruction *instruction;
    int function; /* index into program->functions */
    int target;   /* pc of the branch target; PTX_NO_PC: not a direct branch */
    int *targets; /* brx.idx, call with a list: pcs (for a call, the starts of the functions); else NULL */
    int target_count;
    /* For bra and brx: where lanes reconverge, the immediate post-dominator of the lanes that do not leave
     * early (flow.c); PTX_NO_PC: nowhere, they do not wait for each other. */
    int reconvergence;
    bool block_begin; /* first instruction of a basic block */
    /* The outermost inlining frame in the entry's own source file; instructions with line 0 take the line of
     * the nearest earlier instruction that has one. */
    PtxSourceLine line;
} PtxCode;

typedef struct PtxProgramFunction {
    PtxFunction *function;
    int begin, end; /* its pcs: begin <= pc < end */
} PtxProgramFunction;

typedef struct PtxProgram {
    PtxModule *module; /* borrowed */
    PtxFunction *entry;
    PtxCode *code; /* [code_count] */
    int code_count;
    PtxProgramFunction *functions; /* [0] is the entry */
    int function_count;
    int *place; /* [module function]: see ptx_program_function */
    Arena arena;
} PtxProgram;

/* Functions without a body that the machine provides ("Formatted Output", "Dynamic Global Memory Allocation"
 * and "Assertion" in the CUDA programming guide). */
typedef enum PtxExternal {
    PTX_EXTERNAL_NONE,
    PTX_EXTERNAL_PRINTF,
    PTX_EXTERNAL_MALLOC,
    PTX_EXTERNAL_FREE,
    PTX_EXTERNAL_ASSERT
} PtxExternal;

PtxExternal ptx_external_find(const char *name); /* PTX_EXTERNAL_NONE: not one of them */

/* Links `entry`, the functions that it calls, and those whose address is taken in linked code or in the
 * initial values of the variables that this code names. If it calls through a pointer, every function of the
 * module whose address is taken anywhere is linked too, since an earlier launch may have stored the pointer.
 * Fails if a body does not parse, and on functions without a body that are not PtxExternal. */
PtxProgram *ptx_program_link(PtxModule *module, PtxFunction *entry, Error *error);
void ptx_program_free(PtxProgram *program);

/* Fills `error` with the place of an instruction in the PTX text, its line and a caret; returns false. */
bool ptx_program_point(const PtxProgram *program, int pc, Error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True if one of the programs has the function. */
bool ptx_programs_have(const PtxProgram *const *programs, int count, const PtxFunction *function);

/* Prints a module with these programs, all of one module, and no other functions. */
void ptx_programs_print(const PtxProgram *const *programs, int count, Text *out);

/* Prints the basic blocks of each function: their pcs, successors and immediate post-dominators. */
void ptx_program_print_flow(PtxProgram *program, Text *out);

/* Index into program->functions of `function` (following its .alias); -1: not linked, as for externals. */
int ptx_program_function(const PtxProgram *program, const PtxFunction *function);

#endif
