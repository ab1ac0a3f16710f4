/* Stages: the launches of a catalogue kernel down to one number. A kernel of the ladder is launched again on
 * its results until one number is left. Private to src/bench. */
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#include "bench/gpu_bench.h"
#include "gpu/run.h"
#include "ptx/program.h"

enum { STAGES = 8, STAGES_LAUNCHES = STAGES * PLAN_LAUNCHES };

typedef enum StagesPart { STAGES_ALONE, STAGES_TO_SCALAR, STAGES_PARTS } StagesPart;

typedef struct Stage { /* the kernel, then the kernel on its results */
    CatalogRun run;
    Plan plan;
} Stage;

typedef struct Stages { /* zero-initialize before use */
    const CatalogRow *row;
    GpuRun run;
    Stage stages[STAGES];
    int stage_count;
    PtxModule *module;
    PtxProgram *programs[STAGES_LAUNCHES];
    int set_count; /* copies of the buffers */
    GpuLaunch launches[BENCH_SETS][STAGES_LAUNCHES];
    int count[STAGES_PARTS]; /* launches per repetition */
    StagesPart part;         /* the part that stages_launch() launches */
} Stages;

/* Plans up to the maximum number of stages. */
bool stages_plan(Stages *work, const CatalogRow *row, CatalogOptions options, int most, Error *error);
/* keeps_code: keeps the machine code (gpu_run_begin_keeping()). */
bool stages_load(Stages *work, Cuda *cuda, bool keeps_code, Error *error);
size_t stages_bytes(const Stages *work); /* of the buffers of a set */
bool stages_add_set(Stages *work, int set, Error *error);
/* `work` is a Stages. */
bool stages_launch(void *work, int set, Error *error);
/* Frees it and its contents. */
void stages_free(Stages *work);

/* The index of a buffer in its plan, or -1. */
int stages_find_buffer(const Plan *plan, const char *name);
uint64_t stages_buffer_bytes(const PlanBuffer *buffer);

#endif
