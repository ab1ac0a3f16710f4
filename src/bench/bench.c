/* Timings on the GPU (bench.h): the device, and the code that all measurements share. */
#include "bench/bench.h"

#include "base/text.h"
#include "gpu/ceilings.h"
#include "bench/multi_gpu.h"

#include <math.h>

enum { REPETITIONS = 32 }; /* per graph; fewer if one takes long */
static const double MEMORY_SHARE = 0.5;

typedef struct Way { /* to measure */
    bool graph, cold;
} Way;
static const Way ways[BENCH_WAYS] = {{true, true}, {true, false}, {false, true}, {false, false}};

int bench_choose_sets(const Bench *bench, size_t bytes, Error *error) {
    size_t wanted = 2 * bench->timer.flush_bytes / bytes + 1, free_bytes = 0, total = 0;
    if (!CUDA_CALL(bench->cuda, error, cuMemGetInfo, &free_bytes, &total)) return 0;
    size_t most = (size_t)(MEMORY_SHARE * (double)free_bytes) / bytes;
    if (wanted > most) wanted = most;
    if (!most) error_set(error, "%zu MB do not fit into half of the GPU's free memory", bytes >> 20);
    return (int)(wanted < BENCH_SETS ? wanted : BENCH_SETS);
}

static int repetitions(uint64_t bytes) {
    return bytes >= UINT64_C(1) << 28 ? 2 : bytes >= UINT64_C(1) << 24 ? 8 : REPETITIONS;
}

/* Measures single calls first: for work that takes longer than a cell may, a graph would give the same
 * time. */
bool bench_time(const Bench *bench, const BenchWork *work, BenchTimes *times, Error *error) {
    Timer timer = bench->timer;
    TimingPlan plan = {work->work, work->context, work->sets, repetitions(work->bytes),
                       work->seconds / BENCH_WAYS};
    bool in_graph = work->has_graph;
    *times = (BenchTimes){.reading = {NAN, NAN, NAN}};
    for (int i = BENCH_WAYS - 1; i >= 0; i--) {
        Spread *spread = &times->ways[i];
        if (ways[i].graph && !in_graph) continue;
        if (!bench_may_go_on(bench->options, error) ||
            !(ways[i].graph ? time_graph : time_single)(&timer, &plan, ways[i].cold, spread, error))
            return false;
        if (spread->median > bench_seconds(bench->options) * 1e6) in_graph = false;
    }
    times->reading = nvml_read(&bench->nvml);
    return true;
}

void bench_send_times(const Bench *bench, const BenchWork *work, const BenchTimes *times, Timing of) {
    for (int i = 0; i < BENCH_WAYS; i++) {
        if (!times->ways[i].count) continue;
        of.graph = ways[i].graph;
        of.cold = ways[i].cold;
        of.clock = times->reading.clock;
        of.temperature = times->reading.temperature;
        bench_set_times(&of, &times->ways[i], work->bytes, &bench->machine);
        bench_send_timing(bench->sink, &of);
    }
}

static bool describe_machine(Bench *bench, Error *error) {
    const Cuda *cuda = bench->cuda;
    BenchMachine *machine = &bench->machine;
    Ceilings ceilings;
    if (!gpu_measure_ceilings(&bench->timer, bench_cell_seconds, &ceilings, error)) return false;
    snprintf(machine->name, sizeof machine->name, "%s", cuda->name);
    nvml_describe_driver(&bench->nvml, cuda, machine->driver, sizeof machine->driver);
    machine->memory_clock = nvml_read(&bench->nvml).memory_clock; /* after memory was used */
    machine->multiprocessors = cuda->multiprocessors;
    machine->l2_bytes = cuda->l2_bytes;
    machine->peak = ceilings.nominal;
    machine->read = ceilings.read;
    machine->copy = ceilings.copy;
    if (bench->sink->machine) bench->sink->machine(bench->sink->context, machine);
    return true;
}

bool bench_has_gpu(Error *why) {
    Cuda *cuda = cuda_open(why);
    cuda_close(cuda);
    return cuda != NULL;
}

bool bench_run(const BenchOptions *options, const BenchSink *sink, Error *error) {
    Bench bench = {.options = options, .sink = sink, .cuda = cuda_open(error)};
    if (!bench.cuda) return false;
    text_now(bench.measured, sizeof bench.measured);
    nvml_open(&bench.nvml, bench.cuda);
    bool good =
        timer_new(&bench.timer, bench.cuda, error) && describe_machine(&bench, error) &&
        (options->gpus ? bench_multi_gpu(&bench, error)
                       : bench_kernels(&bench, error) && (options->grid || bench_peers(&bench, error)));
    timer_free(&bench.timer);
    nvml_close(&bench.nvml);
    cuda_close(bench.cuda);
    return good;
}
