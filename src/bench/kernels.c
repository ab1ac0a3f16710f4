/* Timings of the catalogue's kernels (bench.h).
 *
 * A cell is a kernel, a type and a size: the time of the kernel alone, and the time to one scalar: where the
 * kernel leaves partial results, it is launched again on those, until one is left. */
#include "bench/profile.h"

#include "base/text.h"
#include "gpu/run.h"
#include "ptx/program.h"

#include <stdlib.h>
#include <string.h>

static const double PATIENCE_SECONDS = 20, LONGEST_SECONDS = 0.5;
enum { STAGES = 8, LAUNCHES = STAGES * PLAN_LAUNCHES, PTX_LIMIT_BYTES = 64 << 20 };

typedef enum Part { ALONE, TO_SCALAR, PARTS } Part;

typedef struct BenchCell {
    const CatalogRow *row;
    uint64_t n;
    PtxType dtype; /* PTX_NO_TYPE: not known */
    const char *op;
    uint32_t block;
    double microseconds; /* of a single call; 0: not measured */
} BenchCell;

/* ---- one cell ------------------------------------------------------------------------------------------ */

typedef struct Stage { /* the kernel, then the kernel on what it left */
    CatalogRun run;
    Plan plan;
    int first_buffer; /* in the run's buffers, of the current set */
} Stage;

typedef struct Work {
    const Bench *bench;
    GpuRun run;
    Stage stages[STAGES];
    int stage_count;
    PtxModule *module;
    PtxProgram *programs[LAUNCHES];
    int buffers_per_set, set_count;
    GpuLaunch launches[BENCH_SETS][LAUNCHES];
    int count[PARTS]; /* launches of a repetition */
    Part part;
} Work;

static int find_buffer(const Plan *plan, const char *name) {
    for (int i = 0; i < plan->buffer_count; i++)
        if (!strcmp(plan->buffers[i].name, name)) return i;
    return -1;
}

static uint64_t buffer_bytes(const PlanBuffer *buffer) {
    return buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
}

/* The kernel, and, of the ladder, what follows until one result is left. */
static bool plan_stages(Work *work, const CatalogRow *row, CatalogOptions options, Error *error) {
    for (;;) {
        Stage *stage = &work->stages[work->stage_count++];
        if (!catalog_resolve(row, &options, &stage->run, error) ||
            !row->plan(&stage->run, &stage->plan, error))
            return false;
        int out = find_buffer(&stage->plan, "out");
        uint64_t left = out < 0 ? 1 : stage->plan.buffers[out].count;
        if (left <= 1 || row->group != CATALOG_LADDER) return true;
        if (left >= options.n && work->stage_count > 1)
            return error_set(error, "it leaves as many results as it has elements");
        if (work->stage_count == STAGES)
            return error_set(error, "more than %d launches to one scalar", STAGES);
        options.n = left;
        options.grid = 0;
    }
}

static bool load(Work *work, const CatalogRow *row, Error *error) {
    char name[128], path[4096], *text;
    size_t length;
    snprintf(name, sizeof name, "%.*s.ptx", (int)strcspn(row->source, "."), row->source);
    if (!catalog_path("assets/ptx", name, path, sizeof path, error) ||
        !text_read_file(path, PTX_LIMIT_BYTES, &text, &length, error))
        return false;
    work->module = ptx_module_parse(text, length, path, error);
    free(text);
    if (!work->module) return false;
    int count = 0;
    for (int s = 0; s < work->stage_count; s++)
        for (int i = 0; i < work->stages[s].plan.launch_count; i++) {
            PtxFunction *entry =
                ptx_module_find_entry(work->module, work->stages[s].plan.launches[i].entry, error);
            PtxProgram *program = entry ? ptx_program_link(work->module, entry, error) : NULL;
            if (!program) return false;
            work->programs[count++] = program;
        }
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)work->programs, count, &ptx);
    bool good = gpu_run_begin(&work->run, work->bench->cuda, text_string(&ptx), error);
    text_done(&ptx);
    return good;
}

static size_t set_bytes(const Work *work) {
    size_t bytes = 0;
    for (int s = 0; s < work->stage_count; s++)
        for (int i = 0; i < work->stages[s].plan.buffer_count; i++)
            bytes += (size_t)buffer_bytes(&work->stages[s].plan.buffers[i]) + 256;
    return bytes;
}

/* The stage's buffers: a later stage reads what the one before it wrote, and has no input of its own. Adds
 * their addresses. */
static bool add_buffers(Work *work, int stage, uint64_t *addresses, Error *error) {
    const Plan *plan = &work->stages[stage].plan;
    int input = stage ? find_buffer(plan, "in") : -1;
    for (int i = 0; i < plan->buffer_count; i++) {
        int before = work->run.buffer_count;
        int index =
            gpu_run_add_buffer(&work->run, NULL, i == input ? 0 : buffer_bytes(&plan->buffers[i]), error);
        if (index < 0) return false;
        if (i == input) {
            const Plan *last = &work->stages[stage - 1].plan;
            index = before - i - last->buffer_count + find_buffer(last, "out");
        }
        addresses[i] = work->run.buffers[index].address;
    }
    return true;
}

static bool add_set(Work *work, int set, Error *error) {
    int index = 0;
    bool good = true;
    for (int s = 0; good && s < work->stage_count; s++) {
        const Plan *plan = &work->stages[s].plan;
        uint64_t *addresses = memory_new((size_t)(plan->buffer_count + 1) * sizeof *addresses);
        good = add_buffers(work, s, addresses, error);
        for (int i = 0; good && i < plan->launch_count; i++, index++) {
            GpuLaunch *launch = &work->launches[set][index];
            good = plan_bind_launch(&plan->launches[i], work->programs[index], addresses, &launch->launch,
                                    error) &&
                   gpu_run_prepare(&work->run, launch, error);
        }
        free(addresses);
        if (!s) work->count[ALONE] = index;
    }
    work->count[TO_SCALAR] = index;
    return good;
}

static bool repeat(void *context, int set, Error *error) {
    const Work *work = context;
    for (int i = 0; i < work->count[work->part]; i++)
        if (!gpu_run_launch(&work->run, &work->launches[set][i], error)) return false;
    return true;
}

static Timing describe(const Bench *bench, const BenchCell *cell) {
    Timing timing =
        bench_timing(cell->row->id, bench->machine.name, bench->measured, cell->n, cell->dtype, cell->op);
    timing.threads = cell->block;
    return timing;
}

/* Where the kernel alone leaves one result, the two parts are one; kernels that come to more than one number
 * are only timed alone. Cooperative launches cannot be in a graph. */
static bool measure(Work *work, BenchCell *cell, Error *error) {
    BenchTimes times = {0};
    Part parts = cell->row->group == CATALOG_LADDER ? PARTS : TO_SCALAR;
    Part wanted = work->count[ALONE] == work->count[TO_SCALAR] ? TO_SCALAR : PARTS;
    BenchWork timed = {.work = repeat,
                       .context = work,
                       .sets = work->set_count,
                       .bytes = cell->n * (uint64_t)ptx_type_bytes(cell->dtype),
                       .has_graph = !work->launches[0][0].launch.cooperative,
                       .seconds = bench_seconds(work->bench->options) / (int)wanted};
    for (Part part = ALONE; part < parts; part++) {
        char note[32];
        Timing of = describe(work->bench, cell);
        work->part = part;
        if (part < wanted && !bench_time(work->bench, &timed, &times, error)) return false;
        cell->microseconds = times.ways[BENCH_WAYS - 1].median;
        snprintf(note, sizeof note, "%d launches", work->count[part]);
        if (work->count[part] > 1) of.note = note;
        of.to_scalar = part == TO_SCALAR;
        bench_send_times(work->bench, &timed, &times, of);
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

static bool profile(const Work *work, const BenchCell *cell, Error *error) {
    const Bench *bench = work->bench;
    const Plan *plan = &work->stages[0].plan;
    int in = find_buffer(plan, "in"), out = find_buffer(plan, "out");
    BenchProfiled profiled = {.run = &work->run,
                              .launches = work->launches[0],
                              .count = work->count[ALONE],
                              .in_bytes = in < 0 ? 0 : buffer_bytes(&plan->buffers[in]),
                              .out_bytes = out < 0 ? 0 : buffer_bytes(&plan->buffers[out])};
    BenchValue of = describe_value(bench, cell);
    const PtxProgram *const *programs = (const PtxProgram *const *)work->programs;
    if (bench->options->grid) return bench_grid(bench, &profiled, programs, &of, error);
    bool intervals = bench->options->profile || bench->options->intervals;
    return (!bench->options->profile || bench_profile(bench, &profiled, &of, error)) &&
           (!intervals || bench_intervals(bench, &profiled, programs, &of, error));
}

/* ---- kernels that time themselves ---------------------------------------------------------------------- */

enum { MOST_LATENCIES = 32 };

/* So many elements that they overwrite L2 several times: what the kernel reads from memory must come from
 * there. */
static uint64_t latency_size(const Bench *bench) {
    return 2 * bench->timer.flush_bytes / sizeof(int32_t);
}

static double parameter(const CatalogRun *run, const char *name) {
    for (int i = 0; i < CATALOG_PARAMETERS && run->row->parameters[i].name; i++)
        if (!strcmp(run->row->parameters[i].name, name)) return (double)run->parameters[i];
    return 1;
}

/* Runs the kernel once more, and sends the cycles that it wrote. */
static bool send_latencies(Work *work, const BenchCell *cell, Error *error) {
    Cuda *cuda = work->bench->cuda;
    uint64_t cycles[MOST_LATENCIES] = {0};
    const char *name = cell->row->latencies;
    int buffer = find_buffer(&work->stages[0].plan, "cycles");
    work->part = ALONE;
    if (!name || buffer < 0) return true;
    if (!repeat(work, 0, error) || !cuda_wait(cuda, PATIENCE_SECONDS, cell->row->id, error) ||
        !CUDA_CALL(cuda, error, cuMemcpyDtoH, cycles, work->run.buffers[buffer].address,
                   (size_t)buffer_bytes(&work->stages[0].plan.buffers[buffer])))
        return false;
    for (int i = 0; i < MOST_LATENCIES && *name; i++) {
        char text[64];
        BenchValue value = describe_value(work->bench, cell);
        int length = (int)strcspn(name, ",");
        snprintf(text, sizeof text, "%.*s", length, name);
        name += length + (name[length] == ',');
        value.name = text;
        value.unit = "cycles";
        value.value = (double)cycles[i] / parameter(&work->stages[0].run, "steps");
        if (cell->n < latency_size(work->bench)) value.note = "so few elements do not empty the L2 cache";
        bench_send_value(work->bench->sink, &value);
    }
    return true;
}

static void work_free(Work *work) {
    for (int set = 0; set < work->set_count; set++)
        for (int i = 0; i < LAUNCHES; i++) launch_done(&work->launches[set][i].launch);
    gpu_run_end(&work->run);
    for (int i = 0; i < LAUNCHES && work->programs[i]; i++) ptx_program_free(work->programs[i]);
    for (int s = 0; s < work->stage_count; s++) plan_free(&work->stages[s].plan);
    ptx_module_free(work->module);
    free(work);
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

/* false: the GPU failed. What this kernel or machine refuses is a skipped cell. */
static bool measure_cell(const Bench *bench, BenchCell *cell, Error *error) {
    Work *work = memory_new(sizeof *work);
    Error refused = {0};
    CatalogOptions options = bench->options->catalog;
    options.n = cell->n;
    options.dtype = cell->dtype;
    options.multiprocessors = (uint32_t)bench->cuda->multiprocessors;
    work->bench = bench;
    bool ready = plan_stages(work, cell->row, options, &refused) && load(work, cell->row, &refused) &&
                 (work->set_count = bench_choose_sets(bench, set_bytes(work), &refused)) > 0;
    if (bench->options->grid && work->set_count > 1) work->set_count = 1;
    for (int set = 0; ready && set < work->set_count; set++) ready = add_set(work, set, &refused);
    ready = ready && gpu_run_upload(&work->run, &refused);
    const CatalogRun *run = &work->stages[0].run;
    cell->dtype = run->dtype;
    cell->op = run->op;
    cell->block = run->block;
    bool good = true;
    if (ready && bench->options->grid)
        good = profile(work, cell, error);
    else if (ready)
        good = measure(work, cell, error) && profile(work, cell, error) && send_latencies(work, cell, error);
    else
        send_skipped(bench, cell, refused.message);
    work_free(work);
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
    double expected = 0; /* microseconds of a call, by the size before */
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

static bool measure_row(const Bench *bench, const CatalogRow *row, Error *error) {
    int measured = 0;
    int types = bench->options->grid ? 1 : BENCH_TYPES;
    for (int i = 0; i < types && bench->options->catalog.dtype == PTX_NO_TYPE; i++) {
        if (!has_type(row, bench_types[i])) continue;
        if (!measure_sizes(bench, row, bench_types[i], error)) return false;
        measured++;
    }
    return measured || measure_sizes(bench, row, bench->options->catalog.dtype, error);
}

bool bench_kernels(const Bench *bench, Error *error) {
    const char *name = bench->options->kernel;
    bool all = name && !strcmp(name, "all");
    const CatalogRow *only = name && !all ? catalog_find(name, error) : NULL;
    if (name && !all && !only) return false;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        bool wanted = only ? row == only : all ? row->group != CATALOG_BUG : row->group == CATALOG_LADDER;
        if (wanted && !measure_row(bench, row, error)) return false;
    }
    return true;
}
