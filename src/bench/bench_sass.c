/* Records the machine code of all kernels, with samples and counts (bench.h). It samples all kernels first,
 * then counts all: PC sampling and CUPTI's patching exclude each other, so they cannot alternate. */
#include "bench/stages.h"
#include "gpu/sass_measure.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTED_SIZE = 1 << 20, SAMPLED_SIZE = 1 << 24 };

typedef struct SassCell { /* a kernel and type */
    const CatalogRow *row;
    PtxType asked;
    CatalogRun run;
    uint64_t counted, sampled; /* elements */
    SassKernel kernels[PLAN_LAUNCHES];
    int count;
    bool has_no_listing;
    MachineCode code; /* of the first run */
} SassCell;

typedef struct SassRecorder {
    const BenchOptions *options;
    const BenchSassSink *sink;
    Cuda *cuda;
    char driver[96];
    SassCell **cells;
    int cell_count, cell_capacity;
    int kernels; /* sent so far */
    /* open while all kernels are sampled: after a second start, CUPTI shows nothing */
    PcSampling *sampling;
} SassRecorder;

static const char *type_of(const SassCell *cell) {
    return plan_type_name(cell->run.dtype);
}

static void say(const SassRecorder *recorder, const SassCell *cell, const char *what, const char *why) {
    char line[640];
    if (!*why) return;
    snprintf(line, sizeof line, "%s%s", what, why);
    recorder->sink->missing(recorder->sink->context, cell->row->id, type_of(cell), line);
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

/* All runs of a kernel must have the same machine code, because counts and samples are combined. */
static bool check_code(SassCell *cell, MachineCode *code, Error *error) {
    if (!cell->code.cubin) {
        cell->code = *code;
        *code = (MachineCode){0};
        return true;
    }
    return (cell->code.bytes == code->bytes && !memcmp(cell->code.cubin, code->cubin, code->bytes)) ||
           error_set(error, "the driver compiled different machine code the second time");
}

static void say_notes(const SassRecorder *recorder, const SassCell *cell, const SassNotes *notes) {
    char words[96];
    say(recorder, cell, "no machine code: ", notes->code.message);
    say(recorder, cell, "not counted: ", notes->counts.message);
    say(recorder, cell, "not sampled: ", notes->samples.message);
    snprintf(words, sizeof words, "%llu samples found no room", (unsigned long long)notes->dropped);
    if (notes->dropped) say(recorder, cell, "", words);
    snprintf(words, sizeof words, "%llu counts and samples are of functions that are not listed",
             (unsigned long long)notes->unplaced);
    if (notes->unplaced) say(recorder, cell, "", words);
}

static bool measure(const SassRecorder *recorder, SassCell *cell, Stages *stages, uint64_t n, SassPart part,
                    Error *error) {
    SassNotes notes = {0};
    SassRun run = {stages, recorder->cuda};
    SassWork work = {.cuda = run.cuda,
                     .n = n,
                     .driver = recorder->driver,
                     .load = load,
                     .restore = restore,
                     .context = &run,
                     .run = &stages->run,
                     .launches = stages->launches[0],
                     .count = stages->stages[0].plan.launch_count,
                     .sampling = recorder->sampling};
    bool good = gpu_sass_measure(&work, (int)part, cell->kernels, &notes, error);
    cell->count = work.count;
    cell->has_no_listing = *notes.code.message;
    say_notes(recorder, cell, &notes);
    return good && check_code(cell, &stages->run.code, error);
}

/* False with `error`: nothing more can be recorded. A failure of this kernel is only reported. */
static bool run(SassRecorder *recorder, SassCell *cell, SassPart part, Error *error) {
    Stages *stages = memory_new(sizeof *stages);
    CatalogOptions options = recorder->options->catalog;
    Error why = {0};
    options.n = part == SASS_SAMPLES ? cell->sampled : cell->counted;
    options.dtype = cell->asked;
    options.multiprocessors = (uint32_t)recorder->cuda->multiprocessors;
    recorder->sink->cell(recorder->sink->context, cell->row->id, type_of(cell));
    if (!stages_plan(stages, cell->row, options, 1, &why) ||
        !measure(recorder, cell, stages, options.n, part, &why))
        say(recorder, cell, part == SASS_SAMPLES ? "not sampled: " : "not counted: ", why.message);
    stages_free(stages);
    if (recorder->cuda->hung)
        return error_set(error, "%s does not return; later kernels are not recorded", cell->row->id);
    if (!recorder->cuda->faulted) return true;
    pc_sampling_close(recorder->sampling);
    recorder->sampling = NULL;
    cuda_close(recorder->cuda); /* after a fault, a context is no longer usable */
    recorder->cuda = cuda_open(error);
    return recorder->cuda != NULL;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static void add_sizes(SassRecorder *recorder, const CatalogRow *row, PtxType dtype, const CatalogRun *run,
                      uint64_t counted, uint64_t sampled) {
    SassCell *cell = memory_new(sizeof *cell);
    *cell = (SassCell){.row = row, .asked = dtype, .run = *run, .counted = counted, .sampled = sampled};
    array_push(recorder->cells, recorder->cell_count, recorder->cell_capacity, cell);
}

/* True if the kernel launches the same entries for both sizes. */
static bool has_same_entries(const CatalogRow *row, const CatalogOptions *options, Error *error) {
    CatalogRun run;
    Plan plans[2] = {{.launch_count = 0}};
    const uint64_t sizes[2] = {COUNTED_SIZE, SAMPLED_SIZE};
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        CatalogOptions sized = *options;
        sized.n = sizes[i];
        good = catalog_resolve(row, &sized, &run, error) && catalog_plan(&run, &plans[i], error);
    }
    bool same = good && plans[0].launch_count == plans[1].launch_count;
    for (int i = 0; same && i < plans[0].launch_count; i++)
        same = !strcmp(plans[0].launches[i].entry, plans[1].launches[i].entry);
    plan_free(&plans[0]);
    plan_free(&plans[1]);
    return same;
}

/* If an entry depends on the size, each is counted and sampled at its own size. */
static bool add_cell(const Bench *bench, const CatalogRow *row, PtxType dtype, Error *error) {
    SassRecorder *recorder = bench->sink->context;
    CatalogOptions options = bench->options->catalog;
    CatalogRun run;
    Error refused = {0};
    options.dtype = dtype;
    options.multiprocessors = (uint32_t)recorder->cuda->multiprocessors;
    if (!catalog_resolve(row, &options, &run, error)) return false;
    if (options.n) {
        add_sizes(recorder, row, dtype, &run, options.n, options.n);
    } else if (has_same_entries(row, &options, &refused)) {
        add_sizes(recorder, row, dtype, &run, COUNTED_SIZE, SAMPLED_SIZE);
    } else {
        add_sizes(recorder, row, dtype, &run, COUNTED_SIZE, COUNTED_SIZE);
        add_sizes(recorder, row, dtype, &run, SAMPLED_SIZE, SAMPLED_SIZE);
    }
    return true;
}

static void send(SassRecorder *recorder, SassCell *cell) {
    for (int i = 0; i < cell->count; i++) {
        SassKernel *kernel = &cell->kernels[i];
        kernel->kernel = cell->row->id;
        kernel->dtype = type_of(cell);
        kernel->op = cell->run.op;
        if (!kernel->count) continue;
        recorder->sink->kernel(recorder->sink->context, kernel);
        recorder->kernels++;
    }
}

static bool record_all(SassRecorder *recorder, Error *error) {
    bool good = true;
    Error refused = {0}; /* each kernel reports its own error */
    recorder->sampling = pc_sampling_open(recorder->cuda, &refused);
    for (int i = 0; good && i < recorder->cell_count; i++)
        good = bench_may_go_on(recorder->options, error) &&
               run(recorder, recorder->cells[i], SASS_SAMPLES, error);
    pc_sampling_close(recorder->sampling);
    recorder->sampling = NULL;
    for (int i = 0; i < recorder->cell_count; i++) {
        SassCell *cell = recorder->cells[i];
        good = good && bench_may_go_on(recorder->options, error) &&
               (cell->has_no_listing || run(recorder, cell, SASS_COUNTS, error));
        send(recorder, cell);
    }
    return good;
}

static void recorder_done(SassRecorder *recorder) {
    for (int i = 0; i < recorder->cell_count; i++) {
        SassCell *cell = recorder->cells[i];
        for (int k = 0; k < PLAN_LAUNCHES; k++) sass_kernel_done(&cell->kernels[k]);
        machine_code_done(&cell->code);
        free(cell);
    }
    free(recorder->cells);
    cuda_close(recorder->cuda);
}

bool bench_sass(const BenchOptions *options, const BenchSassSink *sink, Error *error) {
    SassRecorder recorder = {.options = options, .sink = sink, .cuda = cuda_open(error)};
    BenchSink unused = {.context = &recorder};
    Bench bench = {.options = options, .sink = &unused};
    Nvml nvml;
    if (!recorder.cuda) return false;
    nvml_open(&nvml, recorder.cuda);
    nvml_describe_driver(&nvml, recorder.cuda, recorder.driver, sizeof recorder.driver);
    nvml_close(&nvml);
    bool good = bench_visit(&bench, add_cell, error) && record_all(&recorder, error);
    recorder_done(&recorder);
    return good && (recorder.kernels || error_set(error, "no machine code was recorded"));
}
