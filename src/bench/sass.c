/* Recording machine code, kernel by kernel (bench.h). */
#include "bench/stages.h"
#include "gpu/sass_measure.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTED_SIZE = 1 << 20, SAMPLED_SIZE = 1 << 24 };

typedef struct SassRecorder {
    const BenchSassSink *sink;
    Cuda *cuda;
    int kernels; /* that were sent */
} SassRecorder;

typedef struct SassCell {
    Bench bench;
    SassRecorder *recorder;
    const CatalogRow *row;
    const char *dtype;
    SassKernel kernels[PLAN_LAUNCHES];
    int count;
    MachineCode code; /* of the first run */
} SassCell;

static SassRecorder *recorder_of(const Bench *bench) {
    return bench->sink->context;
}

static void say(const SassCell *cell, const char *what, const char *why) {
    char line[640];
    if (!*why) return;
    snprintf(line, sizeof line, "%s%s", what, why);
    cell->recorder->sink->missing(cell->recorder->sink->context, cell->row->id, cell->dtype, line);
}

/* ---- a run --------------------------------------------------------------------------------------------- */

typedef struct SassRun {
    Stages *stages;
    Cuda *cuda;
} SassRun;

static bool load(void *context, Error *error) {
    SassRun *run = context;
    run->stages->set_count = 1;
    return stages_load(run->stages, run->cuda, true, error) && stages_add_set(run->stages, 0, error);
}

static bool restore(void *context, Error *error) {
    return gpu_run_upload(&((SassRun *)context)->stages->run, error);
}

/* All runs of a kernel are of one machine code: counts and samples stand side by side. */
static bool check_code(SassCell *cell, MachineCode *code, Error *error) {
    if (!cell->code.cubin) {
        cell->code = *code;
        *code = (MachineCode){0};
        return true;
    }
    return (cell->code.bytes == code->bytes && !memcmp(cell->code.cubin, code->cubin, code->bytes)) ||
           error_set(error, "the driver linked other machine code the second time");
}

static void say_notes(const SassCell *cell, const SassNotes *notes) {
    char words[96];
    say(cell, "no machine code: ", notes->code.message);
    say(cell, "not counted: ", notes->counts.message);
    say(cell, "not sampled: ", notes->samples.message);
    snprintf(words, sizeof words, "%llu samples found no room", (unsigned long long)notes->dropped);
    if (notes->dropped) say(cell, "", words);
    snprintf(words, sizeof words, "%llu counts and samples are of functions that are not listed",
             (unsigned long long)notes->unplaced);
    if (notes->unplaced) say(cell, "", words);
}

static bool measure(SassCell *cell, Stages *stages, uint64_t n, int parts, Error *error) {
    SassNotes notes = {0};
    SassRun run = {stages, cell->recorder->cuda};
    SassWork work = {.cuda = run.cuda,
                     .n = n,
                     .driver = cell->bench.machine.driver,
                     .load = load,
                     .restore = restore,
                     .context = &run,
                     .run = &stages->run,
                     .launches = stages->launches[0],
                     .count = stages->stages[0].plan.launch_count};
    bool good = sass_measure(&work, parts, cell->kernels, &notes, error);
    cell->count = work.count;
    say_notes(cell, &notes);
    return good && check_code(cell, &stages->run.code, error);
}

static bool run(SassCell *cell, PtxType dtype, uint64_t n, int parts, Error *error) {
    Stages *stages = memory_new(sizeof *stages);
    CatalogOptions options = cell->bench.options->catalog;
    options.n = n;
    options.dtype = dtype;
    options.multiprocessors = (uint32_t)cell->recorder->cuda->multiprocessors;
    bool good = stages_plan(stages, cell->row, options, 1, error) && measure(cell, stages, n, parts, error);
    stages_free(stages);
    return good;
}

/* ---- a kernel and type --------------------------------------------------------------------------------- */

static void send(SassCell *cell, const char *op) {
    SassRecorder *recorder = cell->recorder;
    for (int i = 0; i < cell->count; i++) {
        SassKernel *kernel = &cell->kernels[i];
        kernel->kernel = cell->row->id;
        kernel->dtype = cell->dtype;
        kernel->op = op;
        if (!kernel->count) continue;
        recorder->sink->kernel(recorder->sink->context, kernel);
        recorder->kernels++;
    }
}

static void cell_done(SassCell *cell) {
    for (int i = 0; i < PLAN_LAUNCHES; i++) sass_kernel_done(&cell->kernels[i]);
    machine_code_done(&cell->code);
}

/* A fault leaves a context that is of no use any more. */
static bool recover(SassRecorder *recorder, Error *error) {
    if (recorder->cuda->hung) return error_set(error, "a kernel does not return; what follows it is not recorded");
    if (!recorder->cuda->faulted) return true;
    cuda_close(recorder->cuda);
    recorder->cuda = cuda_open(error);
    return recorder->cuda != NULL;
}

static bool record(const Bench *bench, const CatalogRow *row, PtxType dtype, Error *error) {
    SassRecorder *recorder = recorder_of(bench);
    CatalogOptions options = bench->options->catalog;
    uint64_t n = options.n;
    CatalogRun resolved;
    SassCell cell = {.bench = *bench, .recorder = recorder, .row = row, .dtype = ""};
    Error why = {0};
    options.dtype = dtype;
    if (!bench_may_go_on(bench->options, error)) return false;
    bool good = catalog_resolve(row, &options, &resolved, &why);
    if (good) {
        cell.dtype = plan_type_name(resolved.dtype);
        recorder->sink->cell(recorder->sink->context, row->id, cell.dtype);
        good = n ? run(&cell, dtype, n, SASS_ALL, &why)
                 : run(&cell, dtype, SAMPLED_SIZE, SASS_SAMPLES, &why) &&
                       (!cell.kernels[0].count || run(&cell, dtype, COUNTED_SIZE, SASS_COUNTS, &why));
    }
    if (!good) say(&cell, "", why.message);
    if (good) send(&cell, resolved.op);
    cell_done(&cell);
    return recover(recorder, error);
}

bool bench_sass(const BenchOptions *options, const BenchSassSink *sink, Error *error) {
    SassRecorder recorder = {.sink = sink, .cuda = cuda_open(error)};
    BenchSink none = {.context = &recorder};
    Bench bench = {.options = options, .sink = &none, .cuda = recorder.cuda};
    if (!recorder.cuda) return false;
    nvml_open(&bench.nvml, bench.cuda);
    nvml_describe_driver(&bench.nvml, bench.cuda, bench.machine.driver, sizeof bench.machine.driver);
    nvml_close(&bench.nvml);
    bool good = bench_visit(&bench, record, error);
    cuda_close(recorder.cuda);
    return good && (recorder.kernels || error_set(error, "no machine code was recorded"));
}
