/* SASS: the machine code of one kernel, instruction by instruction, with what a GPU counted and sampled of each.
 *
 * It is what the driver made of the PTX that redviz shows, linked with line information, and disassembled by nvdisasm.
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
    int line;       /* from 1 */
    int inlined_at; /* index into places; -1: not inlined */
} SassPlace;

typedef struct SassInstruction {
    uint32_t offset; /* bytes from the kernel's first instruction */
    int place;       /* index into places; -1: not known */
    const char *label; /* ".L_x_1", where a branch leads here; NULL: none */
    const char *text;  /* "@!P1 LDS.64 R4, [R9]" */
    /* Of the whole grid, valid where the kernel is counted: */
    uint64_t executed; /* by warps */
    uint64_t threads;  /* by active threads */
    uint64_t acting;   /* by threads whose predicate was true */
    /* Valid where it is sampled: */
    uint32_t samples[SASS_STALLS];
} SassInstruction;

/* Counted or sampled in a launch of this size. */
typedef struct SassMeasured {
    uint64_t n;      /* elements; 0: not measured */
    uint32_t grid, block;
    uint32_t period; /* of samples: cycles between two of a multiprocessor; of counts: 0 */
    double overhead; /* the fraction by which the launch took longer; NaN: not known */
} SassMeasured;

typedef struct SassKernel {
    const char *entry;   /* its PTX name */
    const char *machine; /* "NVIDIA H200" */
    const char *driver;
    const char *measured; /* when: UTC, "2026-11-22T15:00:00Z"; NULL: not measured */
    const char *kernel, *dtype, *op; /* of the catalogue; NULL: a file */
    SassInstruction *instructions;
    int count, capacity;
    SassPlace *places;
    int place_count, place_capacity;
    SassMeasured counted, sampled;
    Arena arena; /* texts */
} SassKernel;

void sass_kernel_done(SassKernel *kernel);

#endif
