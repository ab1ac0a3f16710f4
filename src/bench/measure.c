/* Measures one cell: its working sets, its four ways (in a graph or single, L2 cold or warm), its times. */
#include "bench/gpu_bench.h"

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
