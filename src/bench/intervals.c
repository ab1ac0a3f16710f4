/* Measures the cycles of barrier intervals (profile.h). */
#include "bench/profile.h"

#include "base/memory.h"
#include "base/text.h"
#include "instrument/clocks.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 9 };
static const double OVERHEAD_SECONDS = 0.005, PATIENCE_SECONDS = 20;

typedef struct Clocked {
    const Bench *bench;
    GpuRun run; /* the module with clocks, without buffers of its own */
    GpuLaunch launches[PLAN_LAUNCHES];
    const BenchProfiled *profiled;
    CudaAddress samples;
    double *cycles[PLAN_LAUNCHES]; /* [run * CLOCKS_SAMPLES + interval] */
    int count[PLAN_LAUNCHES];      /* intervals in the run that had the fewest */
} Clocked;

static bool prepare(Clocked *clocked, const PtxProgram *const *programs, Error *error) {
    Text text = {0};
    size_t bytes;
    int count = clocked->profiled->count;
    bool good = count <= PLAN_LAUNCHES && instrument_clocks(programs, count, &text, error) &&
                gpu_run_begin(&clocked->run, clocked->bench->cuda, text_string(&text), error) &&
                CUDA_CALL(clocked->bench->cuda, error, cuModuleGetGlobal, &clocked->samples, &bytes,
                          clocked->run.module, CLOCKS_VARIABLE);
    text_done(&text);
    for (int i = 0; good && i < count; i++) {
        clocked->launches[i] = clocked->profiled->launches[i]; /* prepared in the module with clocks */
        clocked->cycles[i] = memory_new((size_t)RUNS * CLOCKS_SAMPLES * sizeof(double));
        clocked->count[i] = CLOCKS_SAMPLES;
        good = gpu_run_prepare(&clocked->run, &clocked->launches[i], error);
    }
    return good;
}

static bool run_once(Clocked *clocked, int launch, int run, uint64_t *samples, Error *error) {
    Cuda *cuda = clocked->bench->cuda;
    if (!CUDA_CALL(cuda, error, cuMemsetD8Async, clocked->samples, 0, CLOCKS_BYTES, cuda->stream) ||
        !gpu_run_launch(&clocked->run, &clocked->launches[launch], error) ||
        !cuda_wait(cuda, PATIENCE_SECONDS, "a kernel with clocks", error) ||
        !CUDA_CALL(cuda, error, cuMemcpyDtoH, samples, clocked->samples, CLOCKS_BYTES))
        return false;
    int count = instrument_clock_intervals(samples, clocked->cycles[launch] + (size_t)run * CLOCKS_SAMPLES);
    if (count < clocked->count[launch]) clocked->count[launch] = count;
    return true;
}

static double median_of(const Clocked *clocked, int launch, int interval) {
    Samples samples;
    samples_begin(&samples, RUNS, 0);
    for (int run = 0; run < RUNS; run++)
        samples_add(&samples, clocked->cycles[launch][run * CLOCKS_SAMPLES + interval]);
    return samples_spread(&samples).median;
}

/* ---- cost of the clocks -------------------------------------------------------------------------------- */

typedef struct Repeated {
    const GpuRun *run;
    const GpuLaunch *launches;
    int count;
} Repeated;

static bool repeat(void *context, int set, Error *error) {
    const Repeated *repeated = context;
    (void)set;
    for (int i = 0; i < repeated->count; i++)
        if (!gpu_run_launch(repeated->run, &repeated->launches[i], error)) return false;
    return true;
}

static bool measure_overhead(const Clocked *clocked, double *overhead, Error *error) {
    const BenchProfiled *profiled = clocked->profiled;
    Repeated sides[2] = {{profiled->run, profiled->launches, profiled->count},
                         {&clocked->run, clocked->launches, profiled->count}};
    Timer timer = clocked->bench->timer;
    Spread microseconds[2];
    for (int i = 0; i < 2; i++) {
        TimingPlan plan = {repeat, &sides[i], 1, 1, OVERHEAD_SECONDS};
        if (!time_single(&timer, &plan, false, &microseconds[i], error)) return false;
    }
    *overhead = microseconds[1].median / microseconds[0].median - 1;
    return true;
}

/* ---- interface ----------------------------------------------------------------------------------------- */

static bool measure(Clocked *clocked, const BenchValue *of, Error *error) {
    const BenchSink *sink = clocked->bench->sink;
    uint64_t *samples = memory_new(CLOCKS_BYTES);
    double overhead = NAN;
    bool good = true;
    for (int run = 0; good && run < RUNS; run++)
        for (int i = 0; good && i < clocked->profiled->count; i++)
            good = run_once(clocked, i, run, samples, error);
    good = good && measure_overhead(clocked, &overhead, error);
    for (int i = 0; good && i < clocked->profiled->count; i++)
        for (int k = 0; k < clocked->count[i]; k++) {
            IntervalTime time = {.launch = i,
                                 .interval = (uint32_t)k,
                                 .machine = of->machine,
                                 .cycles = median_of(clocked, i, k),
                                 .overhead = overhead};
            if (sink->interval) sink->interval(sink->context, of, &time);
        }
    free(samples);
    return good;
}

bool bench_intervals(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                     const BenchValue *of, Error *error) {
    Clocked *clocked = memory_new(sizeof *clocked);
    Error refused = {0};
    bool good = true;
    clocked->bench = bench;
    clocked->profiled = profiled;
    if (prepare(clocked, programs, &refused)) good = measure(clocked, of, error);
    for (int i = 0; i < PLAN_LAUNCHES; i++) free(clocked->cycles[i]);
    gpu_run_end(&clocked->run);
    free(clocked);
    return good;
}
