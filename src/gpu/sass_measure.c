/* Disassembles, samples and counts the launches of a run (sass_measure.h). */
#include "gpu/sass_measure.h"

#include "base/samples.h"
#include "base/text.h"
#include "gpu/gpu_sass.h"
#include "sass/compare.h"
#include "sass/nvdisasm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMED_RUNS = 7 };
static const double PATIENCE_SECONDS = 20;

typedef struct SassMeasuring {
    const SassWork *work;
    SassKernel *kernels;
    SassNotes *notes;
    CudaEvent start, end;
    SassKernel *sampled;  /* the target of the sink */
    double *microseconds; /* [count], while it samples */
} SassMeasuring;

/* ---- launches ------------------------------------------------------------------------------------------ */

static bool restore(const SassMeasuring *measuring, Error *error) {
    const SassWork *work = measuring->work;
    return (!work->restore || work->restore(work->context, error)) &&
           cuda_wait(work->cuda, PATIENCE_SECONDS, "restoring buffers", error);
}

static bool launch(const SassMeasuring *measuring, int index, double *microseconds, Error *error) {
    const SassWork *work = measuring->work;
    Cuda *cuda = work->cuda;
    float milliseconds = 0;
    bool good = CUDA_CALL(cuda, error, cuEventRecord, measuring->start, cuda->stream) &&
                gpu_run_launch(work->run, &work->launches[index], error) &&
                CUDA_CALL(cuda, error, cuEventRecord, measuring->end, cuda->stream) &&
                cuda_wait(cuda, PATIENCE_SECONDS, measuring->kernels[index].entry, error) &&
                CUDA_CALL(cuda, error, cuEventElapsedTime, &milliseconds, measuring->start, measuring->end);
    *microseconds = (double)milliseconds * 1e3;
    return good;
}

static SassMeasured describe(const SassMeasuring *measuring, int index) {
    const Launch *launch = &measuring->work->launches[index].launch;
    return (SassMeasured){.n = measuring->work->n,
                          .grid = (uint32_t)launch_volume(launch->grid),
                          .block = (uint32_t)launch_volume(launch->block),
                          .overhead = NAN};
}

/* ---- the code ------------------------------------------------------------------------------------------ */

static void name_kernel(const SassMeasuring *measuring, SassKernel *kernel, int index) {
    char now[32];
    kernel->launch = index;
    kernel->machine = arena_copy_string(&kernel->arena, measuring->work->cuda->name);
    kernel->driver =
        arena_copy_string(&kernel->arena, measuring->work->driver ? measuring->work->driver : "");
    kernel->measured = arena_copy_string(&kernel->arena, text_now(now, sizeof now));
}

/* Launches of one entry share its code. */
static bool disassemble(const SassMeasuring *measuring, int index, Error *error) {
    const SassWork *work = measuring->work;
    const char *entry = work->launches[index].launch.program->entry->name;
    SassKernel *kernel = &measuring->kernels[index];
    if (kernel->count) return true;
    for (int i = 0; i < index; i++)
        if (!strcmp(measuring->kernels[i].entry, entry)) {
            sass_kernel_copy(kernel, &measuring->kernels[i]);
            name_kernel(measuring, kernel, index);
            return true;
        }
    const MachineCode *code = &work->run->code;
    if (!sass_disassemble(code->cubin, code->bytes, entry, kernel, error)) return false;
    sass_take_printed_lines(kernel, code->ptx, work->launches[index].launch.program);
    name_kernel(measuring, kernel, index);
    return true;
}

static bool disassemble_all(const SassMeasuring *measuring) {
    for (int i = 0; i < measuring->work->count; i++)
        if (!disassemble(measuring, i, &measuring->notes->code)) return false;
    return true;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

static void add_samples(void *context, const char *function, uint64_t pc, SassStall stall, uint32_t samples) {
    SassMeasuring *measuring = context;
    SassKernel *kernel = measuring->sampled;
    int at = strcmp(function, kernel->entry) != 0 ? -1 : sass_at(kernel, (uint32_t)pc);
    if (at < 0)
        measuring->notes->unplaced += samples;
    else
        kernel->instructions[at].samples[stall] += samples;
}

/* False with `error`: the launch failed. A refusal of PC sampling becomes a note. */
static bool sample(SassMeasuring *measuring, PcSampling *sampling, int index, double plain, Error *error) {
    Cuda *cuda = measuring->work->cuda;
    SassKernel *kernel = measuring->sampled = &measuring->kernels[index];
    SassNotes *notes = measuring->notes;
    PcSamples samples = {0};
    uint32_t period = pc_sampling_period(cuda, plain);
    bool started = !*notes->samples.message && pc_sampling_start(sampling, period, &notes->samples);
    bool good = launch(measuring, index, &measuring->microseconds[index], error);
    if (!started || cuda->hung) return good;
    if (pc_sampling_stop(sampling, add_samples, measuring, &samples, &notes->samples) && good) {
        kernel->sampled = describe(measuring, index);
        kernel->sampled.period = period;
    }
    notes->dropped += samples.dropped;
    return good;
}

static bool sample_all(SassMeasuring *measuring, PcSampling *sampling, Error *error) {
    int count = measuring->work->count;
    double *plain = memory_new((size_t)(count + 1) * sizeof *plain);
    bool good = restore(measuring, error);
    for (int i = 0; good && i < count; i++)
        good = launch(measuring, i, &plain[i], error); /* the code is loaded */
    good = good && restore(measuring, error);
    for (int i = 0; good && i < count; i++) good = sample(measuring, sampling, i, plain[i], error);
    free(plain);
    return good;
}

/* Finds the time of the launches without sampling. */
static bool find_overhead(SassMeasuring *measuring, Error *error) {
    int count = measuring->work->count;
    Samples *samples = memory_new((size_t)(count + 1) * sizeof *samples);
    bool good = true;
    for (int i = 0; i < count; i++) samples_begin(&samples[i], TIMED_RUNS, 0);
    for (int run = 0; good && run < TIMED_RUNS; run++) {
        double microseconds;
        good = restore(measuring, error);
        for (int i = 0; good && i < count; i++) {
            good = launch(measuring, i, &microseconds, error);
            samples_add(&samples[i], microseconds);
        }
    }
    for (int i = 0; good && i < count; i++)
        if (measuring->kernels[i].sampled.n)
            measuring->kernels[i].sampled.overhead =
                measuring->microseconds[i] / samples_spread(&samples[i]).median - 1;
    free(samples);
    return good;
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static void add_counts(void *context, const char *function, uint32_t pc,
                       const uint64_t counted[SASS_COUNTED]) {
    SassMeasuring *measuring = context;
    SassKernel *kernel = measuring->sampled;
    int at = strcmp(function, kernel->entry) != 0 ? -1 : sass_at(kernel, pc);
    if (at < 0) {
        measuring->notes->unplaced += counted[SASS_EXECUTED];
        return;
    }
    SassInstruction *instruction = &kernel->instructions[at];
    instruction->executed += counted[SASS_EXECUTED];
    instruction->threads += counted[SASS_THREADS];
    instruction->acting += counted[SASS_ACTING];
}

static bool count(SassMeasuring *measuring, SassMetrics *metrics, int index, Error *error) {
    SassKernel *kernel = measuring->sampled = &measuring->kernels[index];
    Error *note = &measuring->notes->counts;
    double microseconds;
    if (!launch(measuring, index, &microseconds, error)) return false;
    if (*note->message || !gpu_sass_read_instructions(metrics, add_counts, measuring, note)) return true;
    if (sass_sums(kernel).executed)
        kernel->counted = describe(measuring, index);
    else
        error_set(note, "CUPTI counted no instruction of %s", kernel->entry);
    return true;
}

static bool count_all(SassMeasuring *measuring, Error *error) {
    const SassWork *work = measuring->work;
    Error *note = &measuring->notes->counts;
    SassMetrics metrics;
    CuptiChipName chip;
    if (!gpu_sass_open(&metrics, work->cuda, &chip, note) || !gpu_sass_add_counted(&metrics, chip.name, note))
        return true;
    for (int i = 0; i < work->also_count; i++)
        if (gpu_sass_is_metric(work->also[i])) gpu_sass_add(&metrics, chip.name, work->also[i], -1);
    if (!restore(measuring, error)) return false;
    if (!gpu_sass_begin(&metrics, note)) return true;
    bool good = true;
    for (int i = 0; good && i < work->count; i++) good = count(measuring, &metrics, i, error);
    gpu_sass_end(&metrics);
    return good;
}

/* ---- interface ---------------------------------------------------------------------------------------- */

static bool measure(SassMeasuring *measuring, PcSampling *sampling, int parts, Error *error) {
    const SassWork *work = measuring->work;
    Cuda *cuda = work->cuda;
    bool good = work->load(work->context, error), listed = good && disassemble_all(measuring);
    good = good && CUDA_CALL(cuda, error, cuEventCreate, &measuring->start, 0) &&
           CUDA_CALL(cuda, error, cuEventCreate, &measuring->end, 0);
    measuring->microseconds = memory_new((size_t)(work->count + 1) * sizeof(double));
    if (good && listed && sampling) good = sample_all(measuring, sampling, error);
    if (!work->sampling) pc_sampling_close(sampling);
    if (good && listed && sampling) good = find_overhead(measuring, error);
    if (good && listed && (parts & SASS_COUNTS)) good = count_all(measuring, error);
    if (!cuda->hung && measuring->start) cuda->table.cuEventDestroy(measuring->start);
    if (!cuda->hung && measuring->end) cuda->table.cuEventDestroy(measuring->end);
    free(measuring->microseconds);
    return good;
}

bool gpu_sass_measure(const SassWork *work, int parts, SassKernel *kernels, SassNotes *notes, Error *error) {
    SassMeasuring measuring = {.work = work, .kernels = kernels, .notes = notes};
    PcSampling *sampling = parts & SASS_SAMPLES ? work->sampling : NULL;
    *notes = (SassNotes){0};
    cuda_turn_begin();
    if ((parts & SASS_SAMPLES) && !sampling) sampling = pc_sampling_open(work->cuda, &notes->samples);
    bool good = measure(&measuring, sampling, parts, error);
    cuda_turn_end();
    return good;
}
