/* Program: an entry and every function it can call, linked into one array of instructions.
 *
 * The index of an instruction in this array is its *pc*. Both producers of traces identify instructions by
 * it, so it depends on the PTX text alone: the entry's instructions in order, then those of each called
 * function in the module's order. Pcs, branch targets and reconvergence points are computed here, once. */
#ifndef PTX_PROGRAM_H
#define PTX_PROGRAM_H

#include "ptx/ptx.h"

enum { PTX_NO_PC = -1 };

typedef struct PtxSourceLine { /* where the user finds this instruction in the source */
    const char *file;          /* path as in .file; NULL: no line information */
    int line;                  /* 0: none */
} PtxSourceLine;

enum { PTX_PLACES = 4 };
/* Of an instruction in an inlined function of the user's, or of a library's that is inlined for several
 * calls: the candidates for its line, and for the line that calls that function, the latest before it
 * first. */
typedef struct PtxPlaces {
    PtxSourceLine lines[PTX_PLACES], callers[PTX_PLACES];
    int line_count, caller_count;
} PtxPlaces;

/* What the machine makes of an atomic on shared memory (ptxas 13.0 for sm_90; atomic_forms.c). trace/access.h
 * has what each form costs. */
typedef enum PtxAtomicForm {
    PTX_ATOMIC_LANES,         /* ATOMS.ADD, .MAX, ...: the lanes of a bank one after another */
    PTX_ATOMIC_COUNTED,       /* ATOMS.POPC.INC: adds 1, without a result; lanes on one word together */
    PTX_ATOMIC_COMBINED,      /* one address for the warp: one lane adds what REDUX or POPC combined */
    PTX_ATOMIC_SCANNED,       /* as COMBINED if all 32 lanes are active, else as LANES */
    PTX_ATOMIC_COMPARED,      /* ATOMS.CAS */
    PTX_ATOMIC_COMPARED_HALF, /* cas.b16: ATOMS.CAS of the word, again where only its other half changed */
    PTX_ATOMIC_SPUN,          /* a loop of LDS and ATOMS.CAST.SPIN */
    PTX_ATOMIC_TRIED,         /* as SPUN, after an ATOM that the generic address makes fail */
    PTX_ATOMIC_SWAPPED,       /* a loop of ATOMS.CAS: f16 and bf16 */
    PTX_ATOMIC_UNKNOWN        /* red.async */
} PtxAtomicForm;

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
    bool block_begin;          /* first instruction of a basic block */
    bool drops_result;         /* atom: no instruction with an effect needs its result */
    PtxAtomicForm atomic_form; /* atom, red; if their address turns out to be in shared memory */
    /* The innermost frame in a file of the user's (line_table.c); instructions with line 0 take the line of
     * the nearest earlier instruction that has one. */
    PtxSourceLine line;
    PtxSourceLine product;   /* of an fma that was fused: the line of its mul */
    const PtxPlaces *places; /* NULL: `line` is the only candidate, and its function is not inlined */
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
