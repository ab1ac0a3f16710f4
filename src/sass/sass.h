/* SASS: the machine code of one kernel, with a GPU's counts and samples by instruction.
 *
 * The driver compiles it from the PTX that redviz shows, with line information, or ptxas does (assemble.h);
 * nvdisasm disassembles it.
 * Counts are exact: CUPTI patches every instruction (CUPTI API, "SASS Metrics"). Samples are a statistic:
 * each multiprocessor records at regular intervals the instruction at which one of its warps is, and why it
 * waits ("PC Sampling"). */
#ifndef SASS_SASS_H
#define SASS_SASS_H

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a sampled warp did not move on: the profiler's reasons, in the order of stalls.def. */
typedef enum SassStall {
#define STALL(name, tool_name, words, meaning) SASS_STALL_##name,
#include "sass/stalls.def"
#undef STALL
    SASS_STALLS
} SassStall;

typedef struct SassStallRow {
    const char *tool_name; /* in CUPTI and Nsight Compute: "long_scoreboard" */
    const char *words;     /* "waits for global memory" */
    const char *meaning;   /* one sentence */
} SassStallRow;

extern const SassStallRow sass_stalls[SASS_STALLS];

/* A place in the source; for inlined code also where it was inlined. */
typedef struct SassPlace {
    const char *file;
    int line;       /* from 1; 0: `file` is the name of a compiler-generated subroutine */
    int inlined_at; /* index into places; -1: not inlined */
} SassPlace;

typedef struct SassInstruction {
    uint32_t offset;   /* bytes from the kernel's first instruction */
    int place;         /* index into places; -1: not known */
    int ptx_line;      /* from 1; 0: not known; see SassKernel.has_ptx_lines */
    const char *label; /* ".L_x_1", if a branch or call leads here; NULL: none */
    const char *text;  /* "@!P1 LDS.64 R4, [R9]", "@P0 BRA .L_x_1" */
    /* For the whole grid, valid if the kernel is counted: */
    uint64_t executed; /* by warps */
    uint64_t threads;  /* by active threads */
    uint64_t acting;   /* by threads whose predicate was true */
    /* Valid if the kernel is sampled: */
    uint32_t samples[SASS_STALLS];
} SassInstruction;

/* Counted or sampled in a launch of this size. */
typedef struct SassMeasured {
    uint64_t n; /* elements; 0: not measured */
    uint32_t grid, block;
    uint32_t period; /* samples: cycles between two of one multiprocessor; counts: 0 */
    double overhead; /* the fraction by which it lengthens the launch; NaN: not known */
} SassMeasured;

typedef struct SassResources {
    int registers;                                             /* of a thread */
    uint64_t shared_bytes;                                     /* static, of a block */
    uint64_t stack_bytes, spill_store_bytes, spill_load_bytes; /* of a thread */
} SassResources;

typedef struct SassKernel {
    const char *entry;   /* its PTX name */
    int launch;          /* index of the launch in the run */
    const char *machine; /* "NVIDIA H200"; NULL: not known, or assembled */
    const char *driver;
    /* "ptxas 13.0.88" and "sm_90"; NULL: made by a driver. Code of ptxas is neither counted nor sampled. */
    const char *assembler, *architecture;
    bool has_resources;
    SassResources resources;
    /* UTC time of the measurement, "2026-11-22T15:00:00Z"; NULL: not measured. */
    const char *measured;
    const char *kernel, *dtype, *op; /* for a catalogue kernel; NULL: a file */
    /* ptx_line refers to the PTX shown; else to the assembled text (compare.h). */
    bool has_ptx_lines;
    SassInstruction *instructions;
    int count, capacity;
    SassPlace *places;
    int place_count, place_capacity;
    SassMeasured counted, sampled;
    Arena arena; /* for texts */
} SassKernel;

/* Frees the kernel's data and leaves it empty. */
void sass_kernel_done(SassKernel *kernel);
/* Leaves the code, which then is neither counted nor sampled. */
void sass_forget_measured(SassKernel *kernel);
/* The index of a place, adding it if new. Copies `file`. */
int sass_place(SassKernel *kernel, const char *file, int line, int inlined_at);
/* Adds an instruction; borrows its texts, which live in the kernel's arena or longer. */
SassInstruction *sass_add_instruction(SassKernel *kernel, SassInstruction instruction);
/* The innermost place of an inlined-at chain in a file of the user's, as ptx/line_table.c chooses it; if
 * there is none, the outermost. -1 for -1. */
int sass_own_place(const SassKernel *kernel, int place);
/* The index of the instruction at this offset; -1: none (padding). */
int sass_at(const SassKernel *kernel, uint32_t offset);
/* Makes `to` (empty) a deep copy. */
void sass_kernel_copy(SassKernel *to, const SassKernel *from);

/* Sums over the whole kernel, or over some instructions. */
typedef struct SassSums {
    uint64_t executed, threads, acting;
    uint64_t samples[SASS_STALLS], all_samples;
} SassSums;

void sass_add_up(SassSums *sums, const SassInstruction *instruction);
SassSums sass_sums(const SassKernel *kernel);
/* The stall with the most samples. A warp that issues is not stalled: SASS_STALL_selected only if there is no
 * other, SASS_STALLS if there are no samples. */
SassStall sass_top_stall(const uint64_t samples[SASS_STALLS]);
SassStall sass_stall_find(const char *tool_name); /* SASS_STALLS: unknown to this version */

/* Machine code by source line: the author's line, even for code inlined from elsewhere. */

typedef struct SassLine {
    const char *file; /* the kernel's file; NULL: instructions without a place */
    int line;         /* 0: a compiler-generated subroutine that several lines call */
    int instruction_count;
    SassSums sums;
} SassLine;

/* By file and line, with those without a place last; the caller frees them. */
SassLine *sass_by_line(const SassKernel *kernel, int *count);
/* True if the instruction belongs to the line. */
bool sass_is_on_line(const SassKernel *kernel, const SassInstruction *instruction, const SassLine *line);

#endif
