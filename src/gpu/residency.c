/* Runs with the residency probe (residency.h). */
#include "gpu/residency.h"

#include "base/memory.h"
#include "base/text.h"
#include "gpu/variables.h"
#include "instrument/residency_probe.h"

#include <math.h>
#include <stdlib.h>

static const double TIMING_SECONDS = 0.02, LONG_SECONDS = 0.05;
enum { RUNS = 5, FEW_BLOCKS = 1 << 20, LEAST_TIMES = 9, LEAST_LARGE_TIMES = 3 };

typedef struct Probed { /* the run with probes */
    const ResidencyWork *work;
    Timer *timer;
    Cuda *cuda;
    GpuRun run; /* without buffers of its own */
    GpuVariables variables;
    GpuLaunch *launches;
    CudaAddress records; /* of all launches, one after another */
    uint64_t *first;     /* [count + 1] the launch's first record */
    double first_run;    /* microseconds of the first run with probes; a long run has no other */
} Probed;

/* ---- preparing ----------------------------------------------------------------------------------------- */

static bool load(Probed *probed, Error *error) {
    const ResidencyWork *work = probed->work;
    Text text = {0};
    bool good = instrument_residency(work->programs, work->count, &text, error) &&
                gpu_run_begin(&probed->run, probed->cuda, text_string(&text), error) &&
                gpu_variables_keep(&probed->variables, &probed->run, work->programs[0]->module, error);
    text_done(&text);
    return good;
}

static bool prepare_launches(Probed *probed, Error *error) {
    const ResidencyWork *work = probed->work;
    for (int i = 0; i < work->count; i++)
        probed->first[i + 1] = probed->first[i] + launch_volume(work->launches[i].launch.grid);
    uint64_t blocks = probed->first[work->count];
    if (blocks > RESIDENCY_MOST_BLOCKS)
        return error_set(error, "%llu blocks; at most %d are recorded", (unsigned long long)blocks,
                         RESIDENCY_MOST_BLOCKS);
    if (!cuda_allocate(probed->cuda, blocks * sizeof(ResidencyRecord), &probed->records, error)) return false;
    for (int i = 0; i < work->count; i++) {
        GpuLaunch *launch = &probed->launches[i];
        *launch = work->launches[i];
        launch->has_extra = true;
        launch->extra = probed->records + probed->first[i] * sizeof(ResidencyRecord);
        if (!gpu_run_prepare(&probed->run, launch, error) ||
            !gpu_run_check_cooperative(&probed->run, launch, error))
            return false;
    }
    return true;
}

/* ---- one run ------------------------------------------------------------------------------------------- */

typedef struct Enqueued {
    const Probed *probed;
    bool with_probe;
} Enqueued;

static bool enqueue(void *context, Error *error) {
    const Enqueued *enqueued = context;
    const Probed *probed = enqueued->probed;
    const ResidencyWork *work = probed->work;
    for (int i = 0; i < work->count; i++)
        if (!gpu_run_launch(enqueued->with_probe ? &probed->run : work->plain,
                            enqueued->with_probe ? &probed->launches[i] : &work->launches[i], error))
            return false;
    return true;
}

/* Runs once; microseconds between an event before the first launch and one after the last. */
static bool run_once(const Probed *probed, bool with_probe, double *microseconds, Error *error) {
    Cuda *cuda = probed->cuda;
    const ResidencyWork *work = probed->work;
    uint64_t bytes = probed->first[work->count] * sizeof(ResidencyRecord);
    Enqueued enqueued = {probed, with_probe};
    if (work->restore &&
        (!work->restore(work->context, error) || !gpu_variables_restore(&probed->variables, cuda, error)))
        return false;
    return CUDA_CALL(cuda, error, cuMemsetD8Async, probed->records, 0, bytes, cuda->stream) &&
           time_once(probed->timer, work->keeps_cache, enqueue, &enqueued, "a kernel whose blocks are timed",
                     microseconds, error);
}

static bool is_long(const Probed *probed) {
    return probed->first_run > LONG_SECONDS * 1e6;
}

static bool measure_overhead(const Probed *probed, double *overhead, Error *error) {
    Samples samples[2];
    double microseconds;
    int least = probed->work->is_large ? LEAST_LARGE_TIMES : LEAST_TIMES;
    for (int i = 0; i < 2; i++) samples_begin(&samples[i], least, TIMING_SECONDS);
    if (!run_once(probed, false, &microseconds, error)) return false; /* the first one loads the module */
    if (is_long(probed)) {
        *overhead = probed->first_run / microseconds - 1;
        return true;
    }
    while (samples_wanted(&samples[0]) || samples_wanted(&samples[1]))
        for (int i = 0; i < 2; i++) {
            if (!run_once(probed, i == 1, &microseconds, error)) return false;
            samples_add(&samples[i], microseconds);
        }
    double plain = samples_spread(&samples[0]).median;
    *overhead = plain > 0 ? samples_spread(&samples[1]).median / plain - 1 : (double)NAN;
    return true;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static uint64_t length_of(const ResidencyRecord *records, uint64_t count) {
    uint64_t first = UINT64_MAX, last = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (records[i].start < first) first = records[i].start;
        if (records[i].end > last) last = records[i].end;
    }
    return last - first;
}

typedef struct RecordedRun {
    ResidencyRecord *records;
    uint64_t length;
} RecordedRun;

static int compare_lengths(const void *a, const void *b) {
    uint64_t x = ((const RecordedRun *)a)->length, y = ((const RecordedRun *)b)->length;
    return x < y ? -1 : x > y;
}

/* The records of the run with median length; the caller frees them. */
static ResidencyRecord *record(Probed *probed, Error *error) {
    uint64_t count = probed->first[probed->work->count];
    RecordedRun runs[RUNS] = {0};
    int wanted = count > FEW_BLOCKS || probed->work->is_large ? 1 : RUNS;
    double microseconds;
    bool good = run_once(probed, true, &probed->first_run, error); /* the first one loads the module */
    if (is_long(probed)) wanted = 1;
    for (int i = 0; good && i < wanted; i++) {
        runs[i].records = memory_new((size_t)count * sizeof(ResidencyRecord) + 1);
        good = (is_long(probed) || run_once(probed, true, &microseconds, error)) &&
               CUDA_CALL(probed->cuda, error, cuMemcpyDtoH, runs[i].records, probed->records,
                         count * sizeof(ResidencyRecord));
        runs[i].length = good ? length_of(runs[i].records, count) : 0;
    }
    if (good) qsort(runs, (size_t)wanted, sizeof *runs, compare_lengths);
    ResidencyRecord *kept = good ? runs[wanted / 2].records : NULL;
    for (int i = 0; i < RUNS; i++)
        if (runs[i].records != kept) free(runs[i].records);
    return kept;
}

static bool take_block(const Probed *probed, int launch, uint64_t number, const ResidencyRecord *from,
                       GridBlock *to, Error *error) {
    uint32_t multiprocessor = residency_multiprocessor(from);
    if (!from->clock || !from->end || from->end < from->start)
        return error_set(error, "launch %d: block %llu has no %s", launch + 1, (unsigned long long)number,
                         from->clock ? "end that was recorded" : "record");
    if (multiprocessor >= (uint32_t)probed->cuda->multiprocessors)
        return error_set(error, "launch %d: block %llu ran on multiprocessor %u of %d", launch + 1,
                         (unsigned long long)number, multiprocessor, probed->cuda->multiprocessors);
    *to = (GridBlock){from->start, from->end, multiprocessor, residency_cycles(from)};
    return true;
}

static bool take_capacity(const Probed *probed, int launch, GridLaunch *to, Error *error) {
    uint32_t multiprocessors = (uint32_t)probed->cuda->multiprocessors;
    if (!gpu_run_resident_blocks(&probed->run, &probed->launches[launch], &to->capacity, error) ||
        !gpu_run_resident_blocks(probed->work->plain, &probed->work->launches[launch], &to->plain_capacity,
                                 error))
        return false;
    to->capacity /= multiprocessors;
    to->plain_capacity /= multiprocessors;
    return true;
}

static bool take_launch(const Probed *probed, int index, const ResidencyRecord *records,
                        GridTimeline *timeline, Error *error) {
    const Launch *from = &probed->work->launches[index].launch;
    GridLaunch *to = &timeline->launches[index];
    PtxModule *module = from->program->module;
    to->entry = arena_copy_string(&timeline->arena, ptx_readable_name(module, from->program->entry->name));
    memcpy(to->grid, from->grid, sizeof to->grid);
    memcpy(to->block, from->block, sizeof to->block);
    to->cooperative = from->cooperative;
    to->block_count = launch_volume(from->grid);
    to->blocks = arena_new(&timeline->arena, (size_t)to->block_count * sizeof *to->blocks);
    for (uint64_t i = 0; i < to->block_count; i++)
        if (!take_block(probed, index, i, &records[probed->first[index] + i], &to->blocks[i], error))
            return false;
    return take_capacity(probed, index, to, error);
}

static GridTimeline *take_records(const Probed *probed, const ResidencyRecord *records, Error *error) {
    GridTimeline *timeline = grid_timeline_new(probed->work->count);
    bool good = true;
    timeline->of.machine = arena_copy_string(&timeline->arena, probed->cuda->name);
    timeline->multiprocessors = (uint32_t)probed->cuda->multiprocessors;
    for (int i = 0; good && i < timeline->launch_count; i++)
        good = take_launch(probed, i, records, timeline, error);
    if (good) {
        grid_timeline_finish(timeline);
        return timeline;
    }
    grid_timeline_free(timeline);
    return NULL;
}

/* ---- interface ----------------------------------------------------------------------------------------- */

static bool measure(Probed *probed, GridTimeline **timeline, Error *error) {
    double overhead = NAN;
    cuda_turn_begin();
    ResidencyRecord *records = record(probed, error);
    bool good = records && measure_overhead(probed, &overhead, error);
    cuda_turn_end();
    *timeline = good ? take_records(probed, records, error) : NULL;
    if (*timeline) (*timeline)->overhead = overhead;
    free(records);
    return *timeline != NULL;
}

bool gpu_measure_residency(const ResidencyWork *work, Timer *timer, GridTimeline **timeline, Error *error) {
    size_t count = (size_t)work->count + 1;
    Probed probed = {.work = work, .timer = timer, .cuda = timer->cuda};
    *timeline = NULL;
    probed.launches = memory_new(count * sizeof *probed.launches);
    probed.first = memory_new(count * sizeof *probed.first);
    bool good = load(&probed, error) && prepare_launches(&probed, error) && measure(&probed, timeline, error);
    if (probed.records && !probed.cuda->hung) probed.cuda->table.cuMemFree(probed.records);
    gpu_variables_done(&probed.variables);
    gpu_run_end(&probed.run);
    free(probed.launches);
    free(probed.first);
    return good;
}
