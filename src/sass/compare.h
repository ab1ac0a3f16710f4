/* The comparison of PTX with the machine code that it became: which machine instructions implement a PTX
 * instruction, and why there are more or fewer of them. Everything is derived from the two texts and the
 * lines that ptxas notes in the cubin; nothing here knows a kernel.
 *
 * Where the PTX line of the machine instructions is known, each belongs to one PTX instruction. Where only the source
 * line is, the instructions of one class on one line are paired in order, and what is left over belongs to nobody. */
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

extern const char *const sass_reasons[SASS_REASONS]; /* their meanings */

typedef struct SassDifference {
    SassReason reason;
    SassClass class; /* of the PTX instruction */
    int pc;          /* the (first) PTX instruction; PTX_NO_PC: of the whole kernel */
    int ptx_count;   /* PTX instructions that this is about */
    int sass_count;  /* machine instructions that there are instead */
    int times;       /* MERGED, SPLIT: accesses in one, or of one; UNROLLED: copies in a row */
    int instruction; /* index of a machine instruction that shows it; -1: there is none */
} SassDifference;

typedef struct SassComparison {
    const PtxProgram *program; /* both borrowed */
    const SassKernel *kernel;
    int *owner; /* [kernel->count] the pc that an instruction implements; PTX_NO_PC: not known */
    bool has_ptx_lines;
    SassDifference *differences; /* in the order of their pc */
    int count, capacity;
} SassComparison;

void sass_compare(const PtxProgram *program, const SassKernel *kernel, SassComparison *comparison);
void sass_comparison_done(SassComparison *comparison);

/* "4 global loads became one of 16 bytes (LDG.E.128)": one sentence without its line and without a full stop. */
void sass_difference_print(const SassComparison *comparison, const SassDifference *difference, Text *out);
/* Where it is: the source line of its PTX instruction; file NULL: of the whole kernel. */
PtxSourceLine sass_difference_line(const SassComparison *comparison, const SassDifference *difference);

/* Machine code that was assembled from a printed copy of the program has the copy's PTX lines: makes them those of
 * `program`, and those the places of instructions without a source line. `copy`: the printed text, parsed and linked.
 * false: it is not the same program, and PTX lines are no longer known. */
bool sass_take_ptx_lines(SassKernel *kernel, const PtxProgram *copy, const PtxProgram *program);
/* The same of the text that the driver was given. To be called of what sass_disassemble() gave; until then PTX lines are
 * not used. */
bool sass_take_printed_lines(SassKernel *kernel, const char *text, const PtxProgram *program);

#endif
