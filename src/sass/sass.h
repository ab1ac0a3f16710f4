/* SASS: the machine code of one kernel, with a GPU's counts and samples by instruction.
 *
 * It is what the driver made of the PTX that redviz shows, with line information, disassembled by nvdisasm.
 * Counts are exact: CUPTI patches every instruction (CUPTI API, "SASS Metrics"). Samples are a statistic: each
 * multiprocessor writes down at regular intervals at which instruction one of its warps stands, and why it waits
 * ("PC Sampling"). */
#ifndef SASS_SASS_H
#define SASS_SASS_H

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a sampled warp stood where it was: the profiler's reasons, in the order of stalls.def. */
typedef enum SassStall {
#define STALL(name, tool_name, words, meaning) SASS_STALL_##name,
#include "sass/stalls.def"
#undef STALL
    SASS_STALLS
} SassStall;

typedef struct SassStallRow {
    const char *tool_name; /* of CUPTI and Nsight Compute: "long_scoreboard" */
    const char *words;     /* "waits for global memory" */
    const char *meaning;   /* one sentence */
} SassStallRow;

extern const SassStallRow sass_stalls[SASS_STALLS];

/* A place in the source; of inlined code also where it was inlined. */
typedef struct SassPlace {
    const char *file;
    int line;       /* from 1; 0: `file` is the name of a subroutine of the compiler's own */
    int inlined_at; /* index into places; -1: not inlined */
} SassPlace;

typedef struct SassInstruction {
    uint32_t offset;   /* bytes from the kernel's first instruction */
    int place;         /* index into places; -1: not known */
    int ptx_line;      /* from 1; 0: not known; see SassKernel.has_ptx_lines */
    const char *label; /* ".L_x_1", where a branch or call leads here; NULL: none */
    const char *text;  /* "@!P1 LDS.64 R4, [R9]", "@P0 BRA .L_x_1" */
    /* Of the whole grid, valid where the kernel is counted: */
    uint64_t executed; /* by warps */
    uint64_t threads;  /* by active threads */
    uint64_t acting;   /* by threads whose predicate was true */
    /* Valid where it is sampled: */
    uint32_t samples[SASS_STALLS];
} SassInstruction;

/* Counted or sampled in a launch of this size. */
typedef struct SassMeasured {
    uint64_t n; /* elements; 0: not measured */
    uint32_t grid, block;
    uint32_t period; /* of samples: cycles between two of a multiprocessor; of counts: 0 */
    double overhead; /* the fraction by which the launch took longer; NaN: not known */
} SassMeasured;

typedef struct SassKernel {
    const char *entry;   /* its PTX name */
    int launch;          /* which launch of the run, from 0 */
    const char *machine; /* "NVIDIA H200" */
    const char *driver;
    const char *measured;            /* when: UTC, "2026-11-22T15:00:00Z"; NULL: not measured */
    const char *kernel, *dtype, *op; /* of the catalogue; NULL: a file */
    bool
        has_ptx_lines; /* ptx_line is of the PTX that is shown; else of the text that was assembled (compare.h) */
    SassInstruction *instructions;
    int count, capacity;
    SassPlace *places;
    int place_count, place_capacity;
    SassMeasured counted, sampled;
    Arena arena; /* texts */
} SassKernel;

/* Frees what the kernel holds, and leaves it empty. */
void sass_kernel_done(SassKernel *kernel);
/* The index of a place, which is added where it is new. `file` is copied. */
int sass_place(SassKernel *kernel, const char *file, int line, int inlined_at);
/* Adds an instruction; texts are borrowed: of the kernel's arena, or longer-lived. */
SassInstruction *sass_add_instruction(SassKernel *kernel, SassInstruction instruction);
/* The place in the file that a kernel's author wrote: the outermost of an inlined-at chain. -1 of -1. */
int sass_outermost(const SassKernel *kernel, int place);
/* The index of the instruction at this offset; -1: there is none (padding). */
int sass_at(const SassKernel *kernel, uint32_t offset);
/* Makes `to` (empty) a copy that owns all that it holds. */
void sass_kernel_copy(SassKernel *to, const SassKernel *from);

/* Over the whole kernel, or of some instructions of it. */
typedef struct SassSums {
    uint64_t executed, threads, acting;
    uint64_t samples[SASS_STALLS], all_samples;
} SassSums;

void sass_add_up(SassSums *sums, const SassInstruction *instruction);
void sass_sums_add(SassSums *sums, const SassSums *more);
SassSums sass_sums(const SassKernel *kernel);
/* The stall with the most samples. A warp that issues is not stalled: SASS_STALL_selected where there is nothing else,
 * SASS_STALLS where there is no sample. */
SassStall sass_top_stall(const uint64_t samples[SASS_STALLS]);
SassStall sass_stall_find(const char *tool_name); /* SASS_STALLS: this version does not know it */

#endif
