/* Metrics of one kernel (profile.h): some from the driver, some measured here, most from hardware
 * counters. */
#include "bench/profile.h"

#include "base/clock.h"
#include "base/memory.h"
#include "gpu/counters.h"

#include <math.h>
#include <stdlib.h>

enum { WARP = 32, THREADS_PER_MULTIPROCESSOR = 39 /* CUdevice_attribute */ };
enum { LEAST_SAMPLES = 3, COPY_LIMIT_BYTES = 1 << 30 };
static const double COPY_SECONDS = 0.02, PATIENCE_SECONDS = 20;

typedef struct ProfileMetric {
    const char *metric; /* Nsight Compute's name */
    const char *name, *unit;
    double scale;
    bool adds; /* summed over the launches of a kernel; otherwise averaged, weighted by duration */
} ProfileMetric;
#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"
/* The cycles of a warp's latency per instruction that it spent waiting for this reason. */
#define STALLED(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"
static const ProfileMetric metrics[] = {
    {"gpu__time_duration.sum", "duration", "us", 1e-3, true}, /* the first one */
    {"sm__cycles_active.avg", "SM active", "cycles", 1, true},
    {"dram__throughput" OF_PEAK, "DRAM", "% of peak", 1, false},
    {"gpu__compute_memory_throughput" OF_PEAK, "memory", "% of peak", 1, false},
    {"sm__throughput" OF_PEAK, "compute", "% of peak", 1, false},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy", "%", 1, false},
    /* The inputs of limit.h: */
    {"smsp__inst_executed.sum", "SASS instructions", "", 1, true},
    {"smsp__issue_active.avg.pct_of_peak_sustained_active", "issue slots", "%", 1, false},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", "shared pipe",
     "% of peak", 1, false},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1", "% of peak", 1, false},
    {"lts__throughput" OF_PEAK, "L2", "% of peak", 1, false},
    {"smsp__average_warp_latency_per_inst_issued.ratio", "warp latency", "cycles", 1, false},
    {STALLED("long_scoreboard"), "stall long_scoreboard", "cycles", 1, false},
    {STALLED("short_scoreboard"), "stall short_scoreboard", "cycles", 1, false},
    {STALLED("barrier"), "stall barrier", "cycles", 1, false},
    {STALLED("membar"), "stall membar", "cycles", 1, false},
    {STALLED("wait"), "stall wait", "cycles", 1, false},
    {STALLED("math_pipe_throttle"), "stall math_pipe_throttle", "cycles", 1, false},
    {STALLED("mio_throttle"), "stall mio_throttle", "cycles", 1, false},
    {STALLED("lg_throttle"), "stall lg_throttle", "cycles", 1, false},
    {STALLED("no_instruction"), "stall no_instruction", "cycles", 1, false},
    {STALLED("imc_miss"), "stall imc_miss", "cycles", 1, false},
    {STALLED("not_selected"), "stall not_selected", "cycles", 1, false},
    {STALLED("selected"), "stall selected", "cycles", 1, false},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static void send_value(const Bench *bench, const BenchValue *of, const char *name, const char *unit,
                       double value, const char *note) {
    BenchValue sent = *of;
    sent.name = name;
    sent.unit = unit;
    sent.value = value;
    sent.note = note;
    bench_send_value(bench->sink, &sent);
}

/* ---- hardware counters --------------------------------------------------------------------------------- */

typedef struct ProfileCounts {
    const Bench *bench;
    const BenchProfiled *profiled;
} ProfileCounts;

/* Makes caches cold, like Nsight Compute. */
static bool overwrite_l2(void *context, Error *error) {
    const Bench *bench = ((const ProfileCounts *)context)->bench;
    return CUDA_CALL(bench->cuda, error, cuMemsetD8Async, bench->timer.flush, 0, bench->timer.flush_bytes,
                     bench->cuda->stream);
}

static bool launch(void *context, int index, Error *error) {
    const BenchProfiled *profiled = ((const ProfileCounts *)context)->profiled;
    return gpu_run_launch(profiled->run, &profiled->launches[index], error);
}

static double combine(const double *values, int launches, int metric) {
    double sum = 0, weights = 0;
    if (launches == 1) return values[metric] * metrics[metric].scale;
    for (int i = 0; i < launches; i++) {
        double weight = metrics[metric].adds ? 1 : values[i * METRICS];
        sum += values[i * METRICS + metric] * weight;
        weights += weight;
    }
    return (metrics[metric].adds ? sum : sum / weights) * metrics[metric].scale;
}

/* If nothing can be counted, sends the values as unknown, with the reason. */
static void send_counted(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of) {
    const char *names[METRICS];
    Error why = {0};
    ProfileCounts counted = {bench, profiled};
    CountersWork work = {overwrite_l2, launch, &counted, profiled->count};
    double *values = memory_new((size_t)(profiled->count * METRICS) * sizeof *values);
    for (int i = 0; i < METRICS; i++) names[i] = metrics[i].metric;
    Counters *counters = counters_open(bench->cuda, names, METRICS, &why);
    bool known = counters && counters_measure(counters, &work, values, &why);
    for (int i = 0; i < METRICS; i++)
        send_value(bench, of, metrics[i].name, metrics[i].unit,
                   known ? combine(values, profiled->count, i) : (double)NAN, known ? NULL : why.message);
    counters_close(counters);
    free(values);
}

/* ---- values from the driver ---------------------------------------------------------------------------- */

/* Describes the launch with the most threads. */
static bool send_geometry(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of,
                          Error *error) {
    double occupancy = 0, threads = 0;
    int most = 0;
    bench->cuda->table.cuDeviceGetAttribute(&most, THREADS_PER_MULTIPROCESSOR, bench->cuda->device);
    for (int i = 0; i < profiled->count; i++) {
        const Launch *launch = &profiled->launches[i].launch;
        uint32_t blocks, per_block = (uint32_t)launch_volume(launch->block);
        double all = (double)launch_volume(launch->grid) * per_block;
        if (!gpu_run_resident_blocks(profiled->run, &profiled->launches[i], &blocks, error)) return false;
        uint32_t warps_of_block = (per_block + WARP - 1) / WARP;
        double warps = (double)blocks / bench->cuda->multiprocessors * warps_of_block;
        if (all > threads) {
            threads = all;
            occupancy = most ? warps * WARP / most * 100 : (double)NAN;
        }
    }
    send_value(bench, of, "theoretical", "%", occupancy, NULL);
    send_value(bench, of, "threads", "", threads, NULL);
    return true;
}

/* ---- copies and memory --------------------------------------------------------------------------------- */

typedef struct Copy {
    const Bench *bench;
    CudaAddress device;
    void *host;
    size_t bytes;
    bool to_device;
} Copy;

/* Microseconds between two events. */
static bool copy_once(const Copy *copy, double *microseconds, Error *error) {
    Cuda *cuda = copy->bench->cuda;
    const Timer *timer = &copy->bench->timer;
    float milliseconds = 0;
    bool good = CUDA_CALL(cuda, error, cuEventRecord, timer->start, cuda->stream) &&
                (copy->to_device ? CUDA_CALL(cuda, error, cuMemcpyHtoDAsync, copy->device, copy->host,
                                             copy->bytes, cuda->stream)
                                 : CUDA_CALL(cuda, error, cuMemcpyDtoHAsync, copy->host, copy->device,
                                             copy->bytes, cuda->stream)) &&
                CUDA_CALL(cuda, error, cuEventRecord, timer->end, cuda->stream) &&
                cuda_wait(cuda, PATIENCE_SECONDS, "copying", error) &&
                CUDA_CALL(cuda, error, cuEventElapsedTime, &milliseconds, timer->start, timer->end);
    *microseconds = (double)milliseconds * 1e3;
    return good;
}

static bool time_copy(const Copy *copy, double *median, Error *error) {
    Samples samples;
    double microseconds;
    if (!copy_once(copy, &microseconds, error)) return false; /* the first one touches every page */
    samples_begin(&samples, LEAST_SAMPLES, COPY_SECONDS);
    while (samples_wanted(&samples)) {
        if (!copy_once(copy, &microseconds, error)) return false;
        samples_add(&samples, microseconds);
    }
    *median = samples_spread(&samples).median;
    return true;
}

/* Copies from and to memory of malloc(), and page-locked ("pinned") memory. */
static bool send_copies(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of,
                        Error *error) {
    static const char *const names[] = {"to GPU", "from GPU", "pinned to", "pinned from"};
    Cuda *cuda = bench->cuda;
    size_t most = profiled->in_bytes > profiled->out_bytes ? profiled->in_bytes : profiled->out_bytes;
    double medians[4] = {NAN, NAN, NAN, NAN};
    bool fits = most <= COPY_LIMIT_BYTES, good = true;
    void *pageable = fits ? memory_new(most + 1) : NULL, *pinned = NULL;
    CudaAddress device = 0;
    if (fits)
        good = CUDA_CALL(cuda, error, cuMemHostAlloc, &pinned, most + 1, 0) &&
               cuda_allocate(cuda, most, &device, error);
    for (int i = 0; fits && good && i < 4; i++) {
        Copy copy = {bench, device, i < 2 ? pageable : pinned,
                     i % 2 ? profiled->out_bytes : profiled->in_bytes, i % 2 == 0};
        good = time_copy(&copy, &medians[i], error);
    }
    if (!cuda->hung) {
        if (device) cuda->table.cuMemFree(device);
        if (pinned) cuda->table.cuMemFreeHost(pinned);
        free(pageable);
    }
    for (int i = 0; good && i < 4; i++)
        send_value(bench, of, names[i], "us", medians[i],
                   fits ? NULL : "copies of more than 1 GiB are not timed");
    return good;
}

/* Allocates and frees the input, timed by the host's clock: the driver finishes both before it returns. */
static bool send_allocation(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of,
                            Error *error) {
    Samples taken, given;
    samples_begin(&taken, LEAST_SAMPLES, COPY_SECONDS);
    samples_begin(&given, LEAST_SAMPLES, COPY_SECONDS);
    while (samples_wanted(&taken)) {
        CudaAddress address;
        double begin = clock_seconds();
        if (!cuda_allocate(bench->cuda, profiled->in_bytes, &address, error)) return false;
        double middle = clock_seconds();
        if (!CUDA_CALL(bench->cuda, error, cuMemFree, address)) return false;
        samples_add(&taken, (middle - begin) * 1e6);
        samples_add(&given, (clock_seconds() - middle) * 1e6);
    }
    send_value(bench, of, "allocate", "us", samples_spread(&taken).median, NULL);
    send_value(bench, of, "free", "us", samples_spread(&given).median, NULL);
    return true;
}

bool bench_profile(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of, Error *error) {
    send_counted(bench, profiled, of);
    return send_geometry(bench, profiled, of, error) && send_copies(bench, profiled, of, error) &&
           send_allocation(bench, profiled, of, error);
}
