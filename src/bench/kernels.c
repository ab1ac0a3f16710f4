/* Times the catalogue's kernels (bench.h).
 *
 * A cell is a kernel, a type and a size. It has the time of the kernel alone, and the time to one scalar: a
 * kernel that leaves partial results is launched again on them until one is left. */
#include "bench/profile.h"
#include "bench/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PATIENCE_SECONDS = 20, LONGEST_SECONDS = 0.5;

typedef struct BenchCell {
    const CatalogRow *row;
    uint64_t n;
    PtxType dtype; /* PTX_NO_TYPE: unknown */
    const char *op;
    uint32_t block;
    double microseconds; /* of a single call; 0: not measured */
} BenchCell;

/* ---- one cell ------------------------------------------------------------------------------------------ */

static Timing describe(const Bench *bench, const BenchCell *cell) {
    Timing timing =
        bench_timing(cell->row->id, bench->machine.name, bench->measured, cell->n, cell->dtype, cell->op);
    timing.threads = cell->block;
    return timing;
}

/* If the kernel alone leaves one result, the two parts are the same; kernels that end in several numbers are
 * only timed alone. Cooperative launches cannot be in a graph. */
static bool measure(const Bench *bench, Stages *work, BenchCell *cell, Error *error) {
    BenchTimes times = {0};
    StagesPart parts = cell->row->group == CATALOG_LADDER ? STAGES_PARTS : STAGES_TO_SCALAR;
    StagesPart wanted =
        work->count[STAGES_ALONE] == work->count[STAGES_TO_SCALAR] ? STAGES_TO_SCALAR : STAGES_PARTS;
    BenchWork timed = {.work = stages_launch,
                       .context = work,
                       .sets = work->set_count,
                       .bytes = cell->n * (uint64_t)ptx_type_bytes(cell->dtype),
                       .has_graph = !work->launches[0][0].launch.cooperative,
                       .seconds = bench_seconds(bench->options) / (int)wanted};
    for (StagesPart part = STAGES_ALONE; part < parts; part++) {
        char note[32];
        Timing of = describe(bench, cell);
        work->part = part;
        if (part < wanted && !bench_time(bench, &timed, &times, error)) return false;
        cell->microseconds = times.ways[BENCH_WAYS - 1].median;
        snprintf(note, sizeof note, "%d launches", work->count[part]);
        if (work->count[part] > 1) of.note = note;
        of.to_scalar = part == STAGES_TO_SCALAR;
        bench_send_times(bench, &timed, &times, of);
    }
    return true;
}

static BenchValue describe_value(const Bench *bench, const BenchCell *cell) {
    Timing like = describe(bench, cell);
    return (BenchValue){.kernel = like.kernel,
                        .machine = like.machine,
                        .measured = like.measured,
                        .n = like.n,
                        .dtype = like.dtype,
                        .op = like.op};
}

static bool profile(const Bench *bench, const Stages *work, const BenchCell *cell, Error *error) {
    const Plan *plan = &work->stages[0].plan;
    int in = stages_find_buffer(plan, "in"), out = stages_find_buffer(plan, "out");
    BenchProfiled profiled = {.run = &work->run,
                              .launches = work->launches[0],
                              .count = work->count[STAGES_ALONE],
                              .in_bytes = in < 0 ? 0 : stages_buffer_bytes(&plan->buffers[in]),
                              .out_bytes = out < 0 ? 0 : stages_buffer_bytes(&plan->buffers[out])};
    BenchValue of = describe_value(bench, cell);
    const PtxProgram *const *programs = (const PtxProgram *const *)work->programs;
    if (bench->options->grid) return bench_grid(bench, &profiled, programs, &of, error);
    bool intervals = bench->options->profile || bench->options->intervals;
    return (!bench->options->profile || bench_profile(bench, &profiled, &of, error)) &&
           (!intervals || bench_intervals(bench, &profiled, programs, &of, error));
}

/* ---- kernels that time themselves ---------------------------------------------------------------------- */

enum { MOST_LATENCIES = 64 };

/* Enough elements to overwrite L2 several times: the kernel's reads of memory must not hit L2. */
static uint64_t latency_size(const Bench *bench) {
    return 2 * bench->timer.flush_bytes / sizeof(int32_t);
}

static double parameter(const CatalogRun *run, const char *name) {
    for (int i = 0; i < CATALOG_PARAMETERS && run->row->parameters[i].name; i++)
        if (!strcmp(run->row->parameters[i].name, name)) return (double)run->parameters[i];
    return 1;
}

/* Runs the kernel once more, and sends the cycles that it wrote. */
static bool send_latencies(const Bench *bench, Stages *work, const BenchCell *cell, Error *error) {
    Cuda *cuda = bench->cuda;
    uint64_t cycles[MOST_LATENCIES] = {0};
    const char *name = cell->row->latencies;
    int buffer = stages_find_buffer(&work->stages[0].plan, "cycles");
    work->part = STAGES_ALONE;
    if (!name || buffer < 0) return true;
    if (!stages_launch(work, 0, error) || !cuda_wait(cuda, PATIENCE_SECONDS, cell->row->id, error) ||
        !CUDA_CALL(cuda, error, cuMemcpyDtoH, cycles, work->run.buffers[buffer].address,
                   (size_t)stages_buffer_bytes(&work->stages[0].plan.buffers[buffer])))
        return false;
    for (int i = 0; i < MOST_LATENCIES && *name; i++) {
        char text[64];
        BenchValue value = describe_value(bench, cell);
        int length = (int)strcspn(name, ";");
        snprintf(text, sizeof text, "%.*s", length, name);
        name += length + (name[length] == ';');
        value.name = text;
        value.unit = "cycles";
        value.value = cycles[i] ? (double)cycles[i] / parameter(&work->stages[0].run, "steps") : (double)NAN;
        if (!cycles[i]) value.note = "the block has too few warps";
        if (cell->n < latency_size(bench)) value.note = "too few elements to flush the L2 cache";
        bench_send_value(bench->sink, &value);
    }
    return true;
}

static void send_skipped(const Bench *bench, const BenchCell *cell, const char *why) {
    Timing timing = describe(bench, cell);
    timing.note = why;
    bench_send_timing(bench->sink, &timing);
}

static void send_too_long(const Bench *bench, const BenchCell *cell, double microseconds) {
    char why[64];
    snprintf(why, sizeof why, "one call would take about %.1f s", microseconds * 1e-6);
    send_skipped(bench, cell, why);
}

/* False: the GPU failed. A cell that this kernel or machine refuses is skipped. */
static bool measure_cell(const Bench *bench, BenchCell *cell, Error *error) {
    Stages *work = memory_new(sizeof *work);
    Error refused = {0};
    CatalogOptions options = bench->options->catalog;
    options.n = cell->n;
    options.dtype = cell->dtype;
    options.multiprocessors = (uint32_t)bench->cuda->multiprocessors;
    bool ready = stages_plan(work, cell->row, options, STAGES, &refused) &&
                 stages_load(work, bench->cuda, false, &refused) &&
                 (work->set_count = bench_choose_sets(bench, stages_bytes(work), &refused)) > 0;
    if (bench->options->grid && work->set_count > 1) work->set_count = 1;
    for (int set = 0; ready && set < work->set_count; set++) ready = stages_add_set(work, set, &refused);
    ready = ready && gpu_run_upload(&work->run, &refused);
    const CatalogRun *run = &work->stages[0].run;
    cell->dtype = run->dtype;
    cell->op = run->op;
    cell->block = run->block;
    bool good = true;
    if (ready && bench->options->grid)
        good = profile(bench, work, cell, error);
    else if (ready)
        good = measure(bench, work, cell, error) && profile(bench, work, cell, error) &&
               send_latencies(bench, work, cell, error);
    else
        send_skipped(bench, cell, refused.message);
    stages_free(work);
    return good;
}

/* ---- all cells ----------------------------------------------------------------------------------------- */

static bool measure_sizes(const Bench *bench, const CatalogRow *row, PtxType dtype, Error *error) {
    uint64_t sizes[BENCH_SIZES];
    int count = bench_list_sizes(bench->options, sizes);
    if (row->latencies && !bench->options->catalog.n) { /* latencies do not depend on the size */
        sizes[0] = latency_size(bench);
        count = 1;
    }
    double expected = 0; /* microseconds of a call at the previous size */
    BenchCell cell = {.row = row, .dtype = dtype};
    for (int i = 0; i < count; i++) {
        cell.n = sizes[i];
        cell.microseconds = 0;
        bench_send_cell(bench->sink, row->id, cell.n);
        if (!bench_may_go_on(bench->options, error)) return false;
        if (i) expected *= (double)sizes[i] / (double)sizes[i - 1];
        if (expected > LONGEST_SECONDS * 1e6)
            send_too_long(bench, &cell, expected);
        else if (!measure_cell(bench, &cell, error))
            return false;
        if (cell.microseconds > 0) expected = cell.microseconds;
    }
    return true;
}

static bool has_type(const CatalogRow *row, PtxType dtype) {
    CatalogOptions options = {.dtype = dtype};
    CatalogRun run;
    return catalog_resolve(row, &options, &run, NULL);
}

static bool visit_types(const Bench *bench, const CatalogRow *row, BenchVisit visit, Error *error) {
    int visited = 0;
    int types = bench->options->grid ? 1 : BENCH_TYPES;
    for (int i = 0; i < types && bench->options->catalog.dtype == PTX_NO_TYPE; i++) {
        if (!has_type(row, bench_types[i])) continue;
        if (!visit(bench, row, bench_types[i], error)) return false;
        visited++;
    }
    return visited || visit(bench, row, bench->options->catalog.dtype, error);
}

bool bench_visit(const Bench *bench, BenchVisit visit, Error *error) {
    const char *name = bench->options->kernel;
    bool all = name && !strcmp(name, "all");
    const CatalogRow *only = name && !all ? catalog_find(name, error) : NULL;
    if (name && !all && !only) return false;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        bool wanted = only ? row == only : all ? row->group != CATALOG_BUG : row->group == CATALOG_LADDER;
        if (wanted && !visit_types(bench, row, visit, error)) return false;
    }
    return true;
}

bool bench_kernels(const Bench *bench, Error *error) {
    return bench_visit(bench, measure_sizes, error);
}
