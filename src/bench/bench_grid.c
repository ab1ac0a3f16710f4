/* --bench=grid: records the multiprocessor and the times of each block of a kernel (bench.h). */
#include "bench/profile.h"

#include "base/memory.h"
#include "gpu/residency.h"

bool bench_grid(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                const BenchValue *of, Error *error) {
    ResidencyWork work = {.plain = profiled->run,
                          .launches = profiled->launches,
                          .programs = programs,
                          .count = profiled->count};
    Timer timer = bench->timer;
    Error refused = {0};
    GridTimeline *timeline;
    bool good = gpu_measure_residency(&work, &timer, &timeline, &refused);
    if (!good && (bench->cuda->hung || bench->cuda->faulted))
        return error_set(error, "%s: %s", of->kernel, refused.message);
    if (timeline) {
        Arena *arena = &timeline->arena;
        timeline->of.kernel = arena_copy_string(arena, of->kernel);
        timeline->of.n = of->n;
        timeline->of.dtype = arena_copy_string(arena, of->dtype);
        timeline->of.op = arena_copy_string(arena, of->op);
        timeline->of.driver = arena_copy_string(arena, bench->machine.driver);
        timeline->of.measured = arena_copy_string(arena, of->measured);
    }
    if (bench->sink->grid) bench->sink->grid(bench->sink->context, of, timeline, refused.message);
    grid_timeline_free(timeline);
    return true;
}
