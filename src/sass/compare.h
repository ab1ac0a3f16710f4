/* Compares PTX with its machine code: which machine instructions implement a PTX instruction, and why.
 *
 * It explains why there are more or fewer of them. Everything is derived from the two texts and the lines
 * that ptxas notes in the cubin, for any kernel. If the PTX lines of the machine instructions are known, each
 * belongs to one PTX instruction. If only the source lines are known, the instructions of one class on one
 * line are paired in order, and the rest have no owner. */
#ifndef SASS_COMPARE_H
#define SASS_COMPARE_H

#include "base/text.h"
#include "ptx/program.h"
#include "sass/classes.h"
#include "sass/sass.h"

typedef enum SassReason {
#define REASON(name, meaning) SASS_##name,
#include "sass/reasons.def"
#undef REASON
    SASS_REASONS
} SassReason;

typedef struct SassDifference {
    SassReason reason;
    SassClass class; /* of the PTX instruction */
    int pc;          /* the (first) PTX instruction; PTX_NO_PC: the whole kernel */
    int ptx_count;   /* number of PTX instructions concerned */
    int sass_count;  /* number of machine instructions in their place */
    int times;       /* MERGED, SPLIT: accesses in one, or from one; UNROLLED: copies in a row */
    int instruction; /* index of a machine instruction that shows it; -1: none */
} SassDifference;

typedef struct SassComparison {
    const PtxProgram *program; /* borrowed, like `kernel` */
    const SassKernel *kernel;
    int *owner; /* [kernel->count] pc of the PTX instruction that it implements; PTX_NO_PC: not known */
    bool has_ptx_lines;
    SassDifference *differences; /* in the order of their pc */
    int count, capacity;
} SassComparison;

void sass_compare(const PtxProgram *program, const SassKernel *kernel, SassComparison *comparison);
void sass_comparison_done(SassComparison *comparison);

/* "4 global loads became one of 16 bytes (LDG.E.128)": one sentence without its line and without a full
 * stop. */
void sass_difference_print(const SassComparison *comparison, const SassDifference *difference, Text *out);
/* The source line of its PTX instruction; file NULL: the whole kernel. */
PtxSourceLine sass_difference_line(const SassComparison *comparison, const SassDifference *difference);

/* Machine code assembled from a printed copy of the program has the copy's PTX lines: replaces them by those
 * of `program`, and uses these as the places of instructions without a source line. `copy`: the printed text,
 * parsed and linked. False: it is another program, and PTX lines are no longer known. */
bool sass_take_ptx_lines(SassKernel *kernel, const PtxProgram *copy, const PtxProgram *program);
/* As above, for the text that the driver received. Call it on the output of sass_disassemble(); PTX lines are
 * not used before. */
bool sass_take_printed_lines(SassKernel *kernel, const char *text, const PtxProgram *program);

#endif
