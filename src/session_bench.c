/* Timings of the catalogue's kernels (session_bench.h).
 *
 * A cell is a kernel, a type and a size: the time of the kernel alone, and the time to one scalar: where the
 * kernel leaves partial results, it is launched again on those, until one is left. */
#include "session_bench.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "gpu/run.h"
#include "gpu/timing.h"
#include "ptx/program.h"

#include <stdlib.h>
#include <string.h>

enum {
    STAGES = 8,
    SETS = 32,
    LAUNCHES = STAGES * PLAN_LAUNCHES,
    REPETITIONS = 32,
    PTX_LIMIT_BYTES = 64 << 20
};
static const double CELL_SECONDS = 0.050, MEMORY_SHARE = 0.5;
static const uint64_t sizes[] = {1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 28, 1 << 30};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef enum Part { ALONE, TO_SCALAR, PARTS } Part;
static const char *const part_names[PARTS] = {"kernel", "to_scalar"};

typedef struct Cell {
    const CatalogRow *row;
    uint64_t n;
    PtxType dtype;
    uint32_t block, grid;
    int launches[PARTS];
    uint64_t bytes;                           /* of the input */
    Timing single[PARTS][2], graph[PARTS][2]; /* [cold, warm] */
    char skipped[512];                        /* why; empty: measured */
} Cell;

typedef struct Bench {
    const BenchOptions *options;
    Cuda *cuda;
    Timer timer;
    FILE *out, *progress;
    double nominal;                    /* GB/s: memory clock and width of the bus */
    double read_ceiling, copy_ceiling; /* GB/s, measured */
} Bench;

/* ---- one cell --------------------------------------------------------------------------------------------
 */

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
    GpuLaunch launches[SETS][LAUNCHES];
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

/* The stages of the run; 0: error is set. */
static bool plan_stages(Work *work, const CatalogRow *row, CatalogOptions options, Error *error) {
    for (;;) {
        Stage *stage = &work->stages[work->stage_count++];
        if (!catalog_resolve(row, &options, &stage->run, error) ||
            !row->plan(&stage->run, &stage->plan, error))
            return false;
        int out = find_buffer(&stage->plan, "out");
        uint64_t left = out < 0 ? 1 : stage->plan.buffers[out].count;
        if (left <= 1) return true;
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

/* Copies enough to overwrite L2 twice. */
static bool choose_sets(Work *work, Error *error) {
    Cuda *cuda = work->bench->cuda;
    size_t one = set_bytes(work), wanted = 2 * work->bench->timer.flush_bytes / one + 1, free_bytes = 0,
           total = 0;
    if (!CUDA_CALL(cuda, error, cuMemGetInfo, &free_bytes, &total)) return false;
    size_t most = (size_t)(MEMORY_SHARE * (double)free_bytes) / one;
    if (!most) return error_set(error, "%zu MB do not fit into half of the GPU's free memory", one >> 20);
    if (wanted > most) wanted = most;
    work->set_count = (int)(wanted < SETS ? wanted : SETS);
    return true;
}

typedef struct Addresses { /* of the buffers of a stage */
    const Work *work;
    int stage, first;
} Addresses;

/* A later stage reads what the one before it wrote. */
static uint64_t address_of(void *context, int buffer) {
    const Addresses *addresses = context;
    const Work *work = addresses->work;
    const Stage *stage = &work->stages[addresses->stage];
    int at = addresses->first + buffer;
    if (addresses->stage && buffer == find_buffer(&stage->plan, "in")) {
        const Plan *before = &stage[-1].plan;
        at = addresses->first - before->buffer_count + find_buffer(before, "out");
    }
    return work->run.buffers[at].address;
}

static bool add_launch(Work *work, int set, int index, const PlanLaunch *planned, Addresses *addresses,
                       Error *error) {
    GpuLaunch *launch = &work->launches[set][index];
    size_t bytes;
    *launch = (GpuLaunch){.entry = work->programs[index]->entry,
                          .grid = {planned->grid[0], planned->grid[1], planned->grid[2]},
                          .block = {planned->block[0], planned->block[1], planned->block[2]},
                          .shared_bytes = planned->shared_bytes,
                          .cooperative = planned->cooperative};
    return plan_pack_arguments(planned, launch->entry, address_of, addresses, &launch->parameters, &bytes,
                               error) &&
           gpu_run_prepare(&work->run, launch, error);
}

static bool add_set(Work *work, int set, Error *error) {
    int index = 0;
    for (int s = 0; s < work->stage_count; s++) {
        const Plan *plan = &work->stages[s].plan;
        Addresses addresses = {work, s, work->run.buffer_count};
        for (int i = 0; i < plan->buffer_count; i++) /* the input of a later stage is not used */
            if (gpu_run_add_buffer(&work->run, NULL,
                                   s && i == find_buffer(plan, "in") ? 0 : buffer_bytes(&plan->buffers[i]),
                                   error) < 0)
                return false;
        for (int i = 0; i < plan->launch_count; i++)
            if (!add_launch(work, set, index++, &plan->launches[i], &addresses, error)) return false;
        if (!s) work->count[ALONE] = index;
    }
    work->count[TO_SCALAR] = index;
    return true;
}

static bool repeat(void *context, int set, Error *error) {
    const Work *work = context;
    for (int i = 0; i < work->count[work->part]; i++)
        if (!gpu_run_launch(&work->run, &work->launches[set][i], error)) return false;
    return true;
}

static bool measure(Work *work, Cell *cell, Error *error) {
    Timer timer = work->bench->timer;
    bool one_launch = work->count[ALONE] == work->count[TO_SCALAR];
    double seconds = CELL_SECONDS / (one_launch ? 4 : 8);
    for (Part part = ALONE; part < PARTS; part++) {
        cell->launches[part] = work->count[part];
        work->part = part;
        TimingPlan plan = {repeat, work, work->set_count, REPETITIONS, seconds};
        if (cell->bytes >= UINT64_C(1) << 28)
            plan.repetitions = 2;
        else if (cell->bytes >= UINT64_C(1) << 24)
            plan.repetitions = 8;
        for (int warm = 0; warm < 2; warm++) {
            if (part == TO_SCALAR && one_launch) {
                cell->single[part][warm] = cell->single[ALONE][warm];
                cell->graph[part][warm] = cell->graph[ALONE][warm];
                continue;
            }
            if (!time_single(&timer, &plan, !warm, &cell->single[part][warm], error)) return false;
            if (!work->launches[0][0].cooperative &&
                !time_graph(&timer, &plan, !warm, &cell->graph[part][warm], error))
                return false;
        }
    }
    return true;
}

static void work_free(Work *work) {
    for (int set = 0; set < work->set_count; set++)
        for (int i = 0; i < work->count[TO_SCALAR]; i++) free(work->launches[set][i].parameters);
    gpu_run_end(&work->run);
    for (int i = 0; i < LAUNCHES && work->programs[i]; i++) ptx_program_free(work->programs[i]);
    for (int s = 0; s < work->stage_count; s++) plan_free(&work->stages[s].plan);
    ptx_module_free(work->module);
    free(work);
}

/* false: the GPU failed. What this kernel or machine refuses is a skipped cell. */
static bool measure_cell(const Bench *bench, Cell *cell, Error *error) {
    Work *work = memory_new(sizeof *work);
    Error refused = {0};
    CatalogOptions options = bench->options->catalog;
    options.n = cell->n;
    options.dtype = cell->dtype;
    options.multiprocessors = (uint32_t)bench->cuda->multiprocessors;
    work->bench = bench;
    bool ready = plan_stages(work, cell->row, options, &refused) && load(work, cell->row, &refused) &&
                 choose_sets(work, &refused);
    for (int set = 0; ready && set < work->set_count; set++) ready = add_set(work, set, &refused);
    ready = ready && gpu_run_upload(&work->run, &refused);
    if (!ready) snprintf(cell->skipped, sizeof cell->skipped, "%s", refused.message);
    bool good = true;
    if (ready) {
        cell->dtype = work->stages[0].run.dtype;
        cell->bytes = cell->n * (uint64_t)ptx_type_bytes(cell->dtype);
        cell->block = work->stages[0].plan.launches[0].block[0];
        cell->grid = work->stages[0].plan.launches[0].grid[0];
        good = measure(work, cell, error);
    }
    work_free(work);
    return good;
}

/* ---- what the machine can do -----------------------------------------------------------------------------
 */

typedef struct Launched {
    const GpuRun *run;
    const GpuLaunch *launch;
} Launched;

static bool launch_once(void *context, int set, Error *error) {
    const Launched *launched = context;
    (void)set;
    return gpu_run_launch(launched->run, launched->launch, error);
}

/* Threads move 16 bytes at a time, each its share of CEILING_BYTES. read_all stores nothing (but in a case
 * that the compiler cannot exclude); copy_all stores what it reads. */
#define CEILING_KERNEL(NAME, STORE, LAST)                                                                    \
    ".visible .entry " NAME "(.param .u64 in, .param .u64 out)\n{\n"                                         \
    "\t.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %a<8>;\n"                                                  \
    "\tld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u64 %a5, %a1;\n"                                 \
    "\tmov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;\n"   \
    "\tmov.u32 %r2, %nctaid.x; mul.lo.u32 %r1, %r1, %r2;\n"                                                  \
    "\tmul.wide.u32 %a2, %r0, 16; mul.wide.u32 %a3, %r1, 16;\n"                                              \
    "\tadd.u64 %a4, %a0, 1073741824; add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2; mov.u32 %r3, 0;\n"        \
    "AGAIN:\n"                                                                                               \
    "\tld.global.nc.v4.u32 {%r4, %r5, %r6, %r7}, [%a0];\n" STORE                                             \
    "\tadd.u64 %a0, %a0, %a3; add.u64 %a1, %a1, %a3; setp.lt.u64 %p, %a0, %a4; @%p bra AGAIN;\n" LAST        \
    "\tret;\n}\n"
enum { CEILING_BYTES = 1 << 30 };
static const char ceiling_kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n" CEILING_KERNEL(
    "read_all",
    "\txor.b32 %r4, %r4, %r5; xor.b32 %r6, %r6, %r7; xor.b32 %r4, %r4, %r6; xor.b32 %r3, %r3, %r4;\n",
    "\tsetp.eq.u32 %p, %r3, 305419896; @%p st.global.u32 [%a5], %r3;\n")
    CEILING_KERNEL("copy_all", "\tst.global.v4.u32 [%a1], {%r4, %r5, %r6, %r7};\n", "");

/* GB/s of CEILING_BYTES read by the kernel. */
static bool measure_kernel(const Bench *bench, GpuRun *run, const PtxModule *module, const char *name,
                           double *speed, Error *error) {
    enum { BLOCKS_PER_MULTIPROCESSOR = 8, THREADS = 256 };
    uint64_t parameters[2] = {run->buffers[0].address, run->buffers[1].address};
    GpuLaunch launch = {.entry = ptx_module_find_entry(module, name, error),
                        .grid = {(uint32_t)bench->cuda->multiprocessors * BLOCKS_PER_MULTIPROCESSOR, 1, 1},
                        .block = {THREADS, 1, 1},
                        .parameters = (uint8_t *)parameters};
    Launched launched = {run, &launch};
    Timer timer = bench->timer;
    Timing timing;
    if (!launch.entry || !gpu_run_prepare(run, &launch, error) ||
        !time_graph(&timer, &(TimingPlan){launch_once, &launched, 1, 4, CELL_SECONDS}, false, &timing, error))
        return false;
    *speed = (double)CEILING_BYTES / timing.median * 1e-3;
    return true;
}

static bool measure_ceilings(Bench *bench, Error *error) {
    PtxModule *module = ptx_module_parse(ceiling_kernels, strlen(ceiling_kernels), "ceilings", error);
    GpuRun run = {0};
    double copied = 0;
    bool good = module && gpu_run_begin(&run, bench->cuda, ceiling_kernels, error) &&
                gpu_run_add_buffer(&run, NULL, CEILING_BYTES, error) >= 0 &&
                gpu_run_add_buffer(&run, NULL, CEILING_BYTES, error) >= 0 && gpu_run_upload(&run, error) &&
                measure_kernel(bench, &run, module, "read_all", &bench->read_ceiling, error) &&
                measure_kernel(bench, &run, module, "copy_all", &copied, error);
    bench->copy_ceiling = 2 * copied;
    gpu_run_end(&run);
    ptx_module_free(module);
    return good;
}

/* ---- output ----------------------------------------------------------------------------------------------
 */

static double gigabytes(const Cell *cell, const Timing *timing) {
    return timing->samples ? (double)cell->bytes / timing->median * 1e-3 : 0;
}

static void print_head(const Bench *bench) {
    const Cuda *cuda = bench->cuda;
    fprintf(bench->out,
            "%s, driver CUDA %d.%d; copy %.0f GB/s (read and written), read %.0f GB/s, nominal %.0f GB/s\n"
            "microseconds: median; alone = the kernel, scalar = until one result is left; call = one launch "
            "between two\n"
            "events, graph = one of many in a CUDA graph; cold = L2 holds nothing of it\n\n"
            "%-20s %-7s %11s %5s %8s %8s %8s %8s %8s %8s %9s\n",
            cuda->name, cuda->driver_version / 1000, cuda->driver_version % 1000 / 10, bench->copy_ceiling,
            bench->read_ceiling, bench->nominal, "kernel", "type", "n", "block", "alone", "alone", "alone",
            "scalar", "scalar", "scalar", "GB/s");
    fprintf(bench->out, "%-20s %-7s %11s %5s %8s %8s %8s %8s %8s %8s %9s\n", "", "", "", "", "graph", "graph",
            "call", "graph", "graph", "call", "graph");
    fprintf(bench->out, "%-20s %-7s %11s %5s %8s %8s %8s %8s %8s %8s %9s\n", "", "", "", "", "cold", "warm",
            "cold", "cold", "warm", "cold", "cold");
}

static const char *type_name(const Cell *cell) {
    return cell->dtype == PTX_NO_TYPE ? "-" : plan_type_name(cell->dtype);
}

static void print_time(FILE *out, const Timing *timing) {
    if (timing->samples)
        fprintf(out, " %8.2f", timing->median);
    else
        fprintf(out, " %8s", "-");
}

static void print_row(const Bench *bench, const Cell *cell) {
    FILE *out = bench->out;
    fprintf(out, "%-20s %-7s %11llu %5u", cell->row->id, type_name(cell), (unsigned long long)cell->n,
            cell->block);
    if (*cell->skipped) {
        fprintf(out, " skipped: %s\n", cell->skipped);
        return;
    }
    for (Part part = ALONE; part < PARTS; part++) {
        print_time(out, &cell->graph[part][0]);
        print_time(out, &cell->graph[part][1]);
        print_time(out, &cell->single[part][0]);
    }
    const Timing *timing =
        cell->graph[TO_SCALAR][0].samples ? &cell->graph[TO_SCALAR][0] : &cell->single[TO_SCALAR][0];
    fprintf(out, " %9.1f\n", gigabytes(cell, timing));
}

static void add_timing(Json *json, const char *name, const Timing *timing) {
    if (!timing->samples) {
        json_null(json, name);
        return;
    }
    json_open_object(json, name);
    json_number(json, "median", timing->median);
    json_number(json, "p5", timing->low);
    json_number(json, "p95", timing->high);
    json_integer(json, "samples", timing->samples);
    json_close_object(json);
}

static void add_cell(const Bench *bench, Json *json, const Cell *cell) {
    json_open_object(json, NULL);
    json_string(json, "kernel", cell->row->id);
    json_string(json, "dtype", type_name(cell));
    json_unsigned(json, "n", cell->n);
    json_string(json, "skipped", *cell->skipped ? cell->skipped : NULL);
    if (!*cell->skipped) {
        json_unsigned(json, "block", cell->block);
        json_unsigned(json, "grid", cell->grid);
        for (Part part = ALONE; part < PARTS; part++) {
            json_open_object(json, part_names[part]);
            json_integer(json, "launches", cell->launches[part]);
            add_timing(json, "graph_cold", &cell->graph[part][0]);
            add_timing(json, "graph_warm", &cell->graph[part][1]);
            add_timing(json, "call_cold", &cell->single[part][0]);
            add_timing(json, "call_warm", &cell->single[part][1]);
            const Timing *timing =
                cell->graph[part][0].samples ? &cell->graph[part][0] : &cell->single[part][0];
            double speed = gigabytes(cell, timing);
            json_number(json, "gigabytes_per_second", speed);
            json_number(json, "share_of_nominal", speed / bench->nominal);
            json_number(json, "share_of_read", speed / bench->read_ceiling);
            json_close_object(json);
        }
    }
    json_close_object(json);
}

static void add_device(const Bench *bench, Json *json) {
    const Cuda *cuda = bench->cuda;
    json_open_object(json, "device");
    json_string(json, "name", cuda->name);
    json_integer(json, "cuda_driver", cuda->driver_version);
    json_integer(json, "multiprocessors", cuda->multiprocessors);
    json_integer(json, "l2_bytes", cuda->l2_bytes);
    json_number(json, "nominal_gigabytes_per_second", bench->nominal);
    json_number(json, "copy_gigabytes_per_second", bench->copy_ceiling);
    json_number(json, "read_gigabytes_per_second", bench->read_ceiling);
    json_close_object(json);
}

/* ---- all cells -------------------------------------------------------------------------------------------
 */

static bool is_wanted(const CatalogRow *row, const CatalogRow *only) {
    return only ? row == only : row->group == CATALOG_LADDER;
}

static bool measure_row(Bench *bench, const CatalogRow *row, Json *json, Error *error) {
    const CatalogOptions *wanted = &bench->options->catalog;
    for (int i = 0; i < SIZES; i++) {
        Cell cell = {.row = row, .n = wanted->n ? wanted->n : sizes[i], .dtype = wanted->dtype};
        if (bench->progress) {
            fprintf(bench->progress, "\r%-20s n = %-12llu", row->id, (unsigned long long)cell.n);
            fflush(bench->progress);
        }
        bool good = measure_cell(bench, &cell, error);
        if (bench->progress) fprintf(bench->progress, "\r%40s\r", "");
        if (!good) return false;
        if (json)
            add_cell(bench, json, &cell);
        else
            print_row(bench, &cell);
        fflush(bench->out);
        if (wanted->n) break;
    }
    return true;
}

static bool measure_all(Bench *bench, Json *json, Error *error) {
    const CatalogRow *only = bench->options->kernel ? catalog_find(bench->options->kernel, error) : NULL;
    if (bench->options->kernel && !only) return false;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (is_wanted(row, only) && !measure_row(bench, row, json, error)) return false;
    }
    return true;
}

bool bench_run(const BenchOptions *options, FILE *out, FILE *progress, Error *error) {
    Bench bench = {.options = options, .out = out, .progress = progress, .cuda = cuda_open(error)};
    if (!bench.cuda) return false;
    const Cuda *cuda = bench.cuda;
    bench.nominal = 2.0 * cuda->memory_clock_khz * 1e3 * cuda->bus_bits / 8 * 1e-9;
    Text text = {0};
    Json json = {.out = &text};
    bool good = timer_new(&bench.timer, bench.cuda, error) && measure_ceilings(&bench, error);
    if (good && options->json) {
        json_open_object(&json, NULL);
        add_device(&bench, &json);
        json_open_array(&json, "cells");
        good = measure_all(&bench, &json, error);
        json_close_array(&json);
        json_close_object(&json);
        if (good) fprintf(out, "%s\n", text_string(&text));
    } else if (good) {
        print_head(&bench);
        good = measure_all(&bench, NULL, error);
    }
    text_done(&text);
    timer_free(&bench.timer);
    cuda_close(bench.cuda);
    return good;
}
