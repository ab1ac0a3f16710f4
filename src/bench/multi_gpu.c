/* Reduces an array across several GPUs (multi_gpu.h). */
#include "bench/multi_gpu.h"

#include "base/clock.h"
#include "base/text.h"
#include "gpu/nccl.h"
#include "gpu/run.h"

#include <math.h>
#include <stdlib.h>

static const double PATIENCE_SECONDS = 20;
enum { WARM_UPS = 3, LEAST_SAMPLES = 5, MOST_LINK_BYTES = 256 << 20 };

/* The destination of a GPU's result: its own memory, or the first GPU's. */
typedef enum ResultPlace { TO_OWN, TO_FIRST, RESULT_PLACES } ResultPlace;

typedef struct Kernel { /* `fastest`, for a number of elements, on one GPU */
    Plan plan;
    PtxModule *module;
    PtxProgram *program;
    GpuRun run; /* its buffers: input, result, joined result; on the first GPU also all results */
    GpuLaunch launches[RESULT_PLACES];
} Kernel;

typedef struct Gpu {
    Cuda *cuda;
    CudaEvent done;
    Kernel part;
} Gpu;

typedef enum GroupJoin { ALONE, APART, BY_NCCL, BY_PEERS, GROUP_JOINS } GroupJoin;

typedef struct Group {
    const Bench *bench;
    Gpu gpus[GPU_MOST];
    Cuda *cudas[GPU_MOST];
    int count, used; /* used: by the current join */
    Kernel join;     /* on the first GPU, over the results of all */
    Kernel whole;    /* on the first GPU, over all elements */
    bool has_whole;
    Nccl nccl;
    bool has_nccl, has_peers;
    Error no_nccl, no_peers;
    double link; /* GB/s, measured, from the second GPU to the first; NaN: unknown */
    CatalogRun run;
    uint64_t n;
} Group;

static size_t element_bytes(const Group *group) {
    return (size_t)ptx_type_bytes(group->run.dtype);
}

/* ---- one kernel ---------------------------------------------------------------------------------------- */

static bool bind(Kernel *kernel, ResultPlace target, CudaAddress in, CudaAddress out, Error *error) {
    uint64_t addresses[2] = {in, out};
    GpuLaunch *launch = &kernel->launches[target];
    return plan_bind_launch(&kernel->plan.launches[0], kernel->program, addresses, &launch->launch, error) &&
           gpu_run_prepare(&kernel->run, launch, error);
}

/* `in` 0: allocates its own input. */
static bool kernel_open(Kernel *kernel, const Group *group, Cuda *cuda, uint64_t n, CudaAddress in,
                        Error *error) {
    CatalogRun run;
    CatalogOptions options = group->bench->options->catalog;
    size_t bytes = element_bytes(group);
    options.n = n;
    options.dtype = group->run.dtype;
    options.multiprocessors = (uint32_t)cuda->multiprocessors;
    Text ptx = {0};
    bool good = cuda_use(cuda, error) && catalog_resolve(group->run.row, &options, &run, error) &&
                catalog_plan(&run, &kernel->plan, error);
    kernel->module = good ? catalog_module(run.row, error) : NULL;
    PtxFunction *entry =
        kernel->module ? ptx_module_find_entry(kernel->module, kernel->plan.launches[0].entry, error) : NULL;
    kernel->program = entry ? ptx_program_link(kernel->module, entry, error) : NULL;
    if (kernel->program) ptx_programs_print((const PtxProgram *const[]){kernel->program}, 1, &ptx);
    good =
        kernel->program && gpu_run_begin(&kernel->run, cuda, text_string(&ptx), error) &&
        gpu_run_add_buffer(&kernel->run, NULL, in ? 0 : n * bytes, error) >= 0 &&
        gpu_run_add_buffer(&kernel->run, NULL, bytes, error) >= 0 &&
        gpu_run_add_buffer(&kernel->run, NULL, bytes, error) >= 0 &&
        gpu_run_add_buffer(&kernel->run, NULL, GPU_MOST * bytes, error) >= 0 &&
        gpu_run_upload(&kernel->run, error) &&
        bind(kernel, TO_OWN, in ? in : kernel->run.buffers[0].address, kernel->run.buffers[1].address, error);
    text_done(&ptx);
    return good;
}

static void kernel_close(Kernel *kernel) {
    if (kernel->run.cuda) cuda_use(kernel->run.cuda, NULL);
    for (int i = 0; i < RESULT_PLACES; i++) launch_done(&kernel->launches[i].launch);
    gpu_run_end(&kernel->run);
    ptx_program_free(kernel->program);
    ptx_module_free(kernel->module);
    plan_free(&kernel->plan);
    *kernel = (Kernel){0};
}

static CudaAddress own_result(const Group *group, int gpu) {
    return group->gpus[gpu].part.run.buffers[1].address;
}

static CudaAddress joined_result(const Group *group, int gpu) {
    return group->gpus[gpu].part.run.buffers[2].address;
}

static CudaAddress results_of_all(const Group *group) {
    return group->gpus[0].part.run.buffers[3].address;
}

/* ---- a call -------------------------------------------------------------------------------------------- */

static bool launch_parts(const Group *group, ResultPlace target, Error *error) {
    for (int i = 0; i < group->count; i++) {
        const Kernel *part = &group->gpus[i].part;
        if (!cuda_use(group->cudas[i], error) || !gpu_run_launch(&part->run, &part->launches[target], error))
            return false;
    }
    return true;
}

/* The first GPU continues when the others have finished. */
static bool wait_for_others(const Group *group, Error *error) {
    for (int i = 1; i < group->used; i++)
        if (!cuda_use(group->cudas[i], error) ||
            !CUDA_CALL(group->cudas[i], error, cuEventRecord, group->gpus[i].done, group->cudas[i]->stream))
            return false;
    if (!cuda_use(group->cudas[0], error)) return false;
    for (int i = 1; i < group->used; i++)
        if (!CUDA_CALL(group->cudas[0], error, cuStreamWaitEvent, group->cudas[0]->stream,
                       group->gpus[i].done, 0))
            return false;
    return true;
}

static bool call(const Group *group, GroupJoin join, Error *error) {
    CudaAddress from[GPU_MOST], to[GPU_MOST];
    switch (join) {
    case ALONE:
        return gpu_run_launch(&group->whole.run, &group->whole.launches[TO_OWN], error);
    case APART:
        return launch_parts(group, TO_OWN, error) && wait_for_others(group, error);
    case BY_NCCL:
        for (int i = 0; i < group->count; i++)
            from[i] = own_result(group, i), to[i] = joined_result(group, i);
        NcclType type = group->run.dtype == PTX_S32   ? NCCL_INT
                        : group->run.dtype == PTX_F32 ? NCCL_FLOAT
                                                      : NCCL_DOUBLE;
        NcclOp op = !strcmp(group->run.op, "sum")   ? NCCL_SUM
                    : !strcmp(group->run.op, "min") ? NCCL_MIN
                                                    : NCCL_MAX;
        return launch_parts(group, TO_OWN, error) &&
               nccl_all_reduce(&group->nccl, group->cudas, from, to, type, op, error) &&
               wait_for_others(group, error);
    default:
        return launch_parts(group, TO_FIRST, error) && wait_for_others(group, error) &&
               gpu_run_launch(&group->join.run, &group->join.launches[TO_OWN], error);
    }
}

/* Times from an event that all GPUs wait for to one that waits for all. */
static bool take_sample(const Group *group, GroupJoin join, double *microseconds, Error *error) {
    const Timer *timer = &group->bench->timer;
    Cuda *first = group->cudas[0];
    float milliseconds = 0;
    if (!cuda_use(first, error) || !CUDA_CALL(first, error, cuEventRecord, timer->start, first->stream))
        return false;
    for (int i = 1; i < group->used; i++)
        if (!cuda_use(group->cudas[i], error) ||
            !CUDA_CALL(group->cudas[i], error, cuStreamWaitEvent, group->cudas[i]->stream, timer->start, 0))
            return false;
    if (!cuda_use(first, error) || !call(group, join, error) || !cuda_use(first, error) ||
        !CUDA_CALL(first, error, cuEventRecord, timer->end, first->stream) ||
        !cuda_wait(first, PATIENCE_SECONDS, "several GPUs", error) ||
        !CUDA_CALL(first, error, cuEventElapsedTime, &milliseconds, timer->start, timer->end))
        return false;
    *microseconds = (double)milliseconds * 1e3;
    return true;
}

static bool take_samples(Group *group, GroupJoin join, Spread *spread, Error *error) {
    Samples samples;
    double microseconds;
    group->used = join == ALONE ? 1 : group->count;
    for (int i = 0; i < WARM_UPS; i++)
        if (!take_sample(group, join, &microseconds, error)) return false;
    samples_begin(&samples, LEAST_SAMPLES, bench_seconds(group->bench->options));
    while (samples_wanted(&samples)) {
        if (!take_sample(group, join, &microseconds, error)) return false;
        samples_add(&samples, microseconds);
    }
    *spread = samples_spread(&samples);
    return true;
}

/* ---- verification -------------------------------------------------------------------------------------- */

static bool read_element(const Group *group, int gpu, CudaAddress address, double *value, Error *error) {
    uint64_t bits = 0;
    if (!cuda_use(group->cudas[gpu], error) ||
        !CUDA_CALL(group->cudas[gpu], error, cuMemcpyDtoH, &bits, address, element_bytes(group)))
        return false;
    *value = plan_element(group->run.dtype, &bits, 0);
    return true;
}

/* Compares the joined result with the partial results, folded here. */
static bool check_result(const Group *group, GroupJoin join, Error *error) {
    double expected = 0, joined, part;
    CudaAddress at = join == BY_NCCL ? joined_result(group, 0) : group->join.run.buffers[1].address;
    for (int i = 0; i < group->count; i++) {
        if (!read_element(group, i,
                          join == BY_NCCL ? own_result(group, i)
                                          : results_of_all(group) + (CudaAddress)i * element_bytes(group),
                          &part, error))
            return false;
        expected = !i                              ? part
                   : !strcmp(group->run.op, "sum") ? expected + part
                   : !strcmp(group->run.op, "min") ? fmin(expected, part)
                                                   : fmax(expected, part);
    }
    if (group->run.dtype == PTX_S32) expected = (double)(int32_t)(int64_t)expected;
    return read_element(group, 0, at, &joined, error) &&
           (fabs(joined - expected) <= 1e-6 * fabs(expected) ||
            error_set(error, "%d GPUs: the joined result is %g, the parts come to %g", group->count, joined,
                      expected));
}

/* ---- a cell -------------------------------------------------------------------------------------------- */

static const char *join_name(const Group *group, GroupJoin join, char *name, size_t bytes) {
    static const char *const words[GROUP_JOINS] = {"", " apart", " NCCL", " peers"};
    snprintf(name, bytes, "%d GPU%s%s", join == ALONE ? 1 : group->count,
             join == ALONE || group->count == 1 ? "" : "s", words[join]);
    return name;
}

static Timing describe(const Group *group, const char *name) {
    Timing timing = bench_timing(name, group->bench->machine.name, group->bench->measured, group->n,
                                 group->run.dtype, group->run.op);
    timing.to_scalar = true;
    timing.threads = group->run.block;
    return timing;
}

static void send_skipped(const Group *group, GroupJoin join, const char *why) {
    char name[32];
    Timing timing = describe(group, join_name(group, join, name, sizeof name));
    timing.note = why;
    bench_send_timing(group->bench->sink, &timing);
}

static void send_value(const Group *group, GroupJoin join, const char *what, const char *unit,
                       double number) {
    char name[32];
    BenchValue value = {.kernel = join_name(group, join, name, sizeof name),
                        .machine = group->bench->machine.name,
                        .measured = group->bench->measured,
                        .n = group->n,
                        .dtype = plan_type_name(group->run.dtype),
                        .op = group->run.op,
                        .name = what,
                        .unit = unit,
                        .value = number};
    bench_send_value(group->bench->sink, &value);
}

static bool measure(Group *group, GroupJoin join, Spread *spread, Error *error) {
    char name[32];
    Timing of = describe(group, join_name(group, join, name, sizeof name));
    if (!take_samples(group, join, spread, error)) return false;
    if (join >= BY_NCCL && !check_result(group, join, error)) return false;
    bench_set_times(&of, spread, group->n * element_bytes(group), &group->bench->machine);
    bench_send_timing(group->bench->sink, &of);
    return true;
}

/* The traffic of a join over the links: the result of every GPU but one; an all-reduce also returns it. */
static void send_comparison(const Group *group, GroupJoin join, const Spread *spread, const Spread *alone) {
    double crossing = (double)(group->count - 1) * (double)element_bytes(group) * (join == BY_NCCL ? 2 : 1);
    double speed = crossing / spread->median * 1e-3; /* GB/s */
    send_value(group, join, "speed-up", "x 1 GPU",
               alone->count ? alone->median / spread->median : (double)NAN);
    if (join == APART) return;
    send_value(group, join, "link", "GB/s measured", group->link);
    send_value(group, join, "of the link", "%", 100 * speed / group->link);
}

static bool open_cell(Group *group, Error *error) {
    for (int i = 0; i < group->count; i++) {
        uint64_t part = group->n / (uint64_t)group->count + ((uint64_t)i < group->n % (uint64_t)group->count);
        if (!kernel_open(&group->gpus[i].part, group, group->cudas[i], part, 0, error)) return false;
    }
    for (int i = 0; group->has_peers && i < group->count; i++) {
        Kernel *part = &group->gpus[i].part;
        CudaAddress place = results_of_all(group) + (CudaAddress)i * element_bytes(group);
        if (!cuda_use(group->cudas[i], error) ||
            !bind(part, TO_FIRST, part->run.buffers[0].address, place, error))
            return false;
    }
    Error refused = {0}; /* all elements may not fit on one GPU */
    group->has_whole = kernel_open(&group->whole, group, group->cudas[0], group->n, 0, &refused);
    return kernel_open(&group->join, group, group->cudas[0], (uint64_t)group->count, results_of_all(group),
                       error);
}

static void close_cell(Group *group) {
    kernel_close(&group->join);
    kernel_close(&group->whole);
    for (int i = 0; i < group->count; i++) kernel_close(&group->gpus[i].part);
    cuda_use(group->cudas[0], NULL);
}

static bool measure_cell(Group *group, Error *error) {
    Error refused = {0};
    Spread alone = {0}, spread;
    if (!open_cell(group, &refused)) {
        for (GroupJoin join = APART; join < GROUP_JOINS; join++) send_skipped(group, join, refused.message);
        close_cell(group);
        return true;
    }
    bool good = true;
    if (group->has_whole)
        good = measure(group, ALONE, &alone, error);
    else
        send_skipped(group, ALONE, "it does not fit into one GPU");
    for (GroupJoin join = APART; good && join < GROUP_JOINS; join++) {
        if (join == BY_NCCL && !group->has_nccl) {
            send_skipped(group, join, group->no_nccl.message);
        } else if (join == BY_PEERS && !group->has_peers) {
            send_skipped(group, join, group->no_peers.message);
        } else {
            good = measure(group, join, &spread, error);
            if (good) send_comparison(group, join, &spread, &alone);
        }
    }
    close_cell(group);
    return good;
}

/* ---- all GPUs ------------------------------------------------------------------------------------------ */

/* True if every GPU can write to the memory of the first. */
static bool enable_peers(Group *group, Error *error) {
    enum { ALREADY_ENABLED = 704 };
    for (int i = 1; i < group->count; i++) {
        Cuda *cuda = group->cudas[i];
        int can = 0;
        if (!CUDA_CALL(cuda, error, cuDeviceCanAccessPeer, &can, cuda->device, group->cudas[0]->device))
            return false;
        if (!can) return error_set(error, "GPU %d cannot write into the memory of GPU 0", i);
        if (!cuda_use(cuda, error)) return false;
        CudaResult result = cuda->table.cuCtxEnablePeerAccess(group->cudas[0]->context, 0);
        if (result != ALREADY_ENABLED && !cuda_check(cuda, "cuCtxEnablePeerAccess", result, error))
            return false;
    }
    return true;
}

/* Copies from the second GPU's memory to the first's. */
static double measure_link(const Group *group) {
    CudaAddress from = 0, to = 0;
    Cuda *second = group->count > 1 ? group->cudas[1] : NULL;
    size_t bytes = second ? cuda_measured_bytes(second, MOST_LINK_BYTES) : 0;
    double begin = 0, best = NAN;
    if (!second || !group->has_peers) return NAN;
    bool good = cuda_use(group->cudas[0], NULL) && cuda_allocate(group->cudas[0], bytes, &to, NULL) &&
                cuda_use(second, NULL) && cuda_allocate(second, bytes, &from, NULL);
    for (int i = 0; good && i < WARM_UPS + LEAST_SAMPLES; i++) {
        begin = clock_seconds();
        good = CUDA_CALL(second, NULL, cuMemcpyDtoDAsync, to, from, bytes, second->stream) &&
               cuda_wait(second, PATIENCE_SECONDS, "link", NULL);
        double speed = (double)bytes / (clock_seconds() - begin) * 1e-9;
        if (good && !(speed <= best)) best = speed;
    }
    if (from) second->table.cuMemFree(from);
    if (to && cuda_use(group->cudas[0], NULL)) group->cudas[0]->table.cuMemFree(to);
    return good ? best : (double)NAN;
}

static bool open_gpus(Group *group, int count, Error *error) {
    for (; group->count < count; group->count++) {
        int i = group->count;
        Cuda *cuda = i ? cuda_open_device(i, error) : group->bench->cuda;
        if (!cuda) return false;
        group->cudas[i] = group->gpus[i].cuda = cuda;
        if (!CUDA_CALL(cuda, error, cuEventCreate, &group->gpus[i].done, 2 /* CU_EVENT_DISABLE_TIMING */)) {
            group->count++;
            return false;
        }
    }
    group->has_peers = enable_peers(group, &group->no_peers);
    group->has_nccl = nccl_open(&group->nccl, group->cudas, group->count, &group->no_nccl);
    group->link = measure_link(group);
    return true;
}

static void close_gpus(Group *group) {
    nccl_close(&group->nccl);
    for (int i = 0; i < group->count; i++) {
        cuda_use(group->cudas[i], NULL);
        if (group->gpus[i].done && !group->cudas[i]->hung)
            group->cudas[i]->table.cuEventDestroy(group->gpus[i].done);
        if (i) cuda_close(group->cudas[i]);
    }
    cuda_use(group->bench->cuda, NULL);
}

static bool measure_types(Group *group, const CatalogRow *row, Error *error) {
    uint64_t sizes[BENCH_SIZES];
    PtxType types[BENCH_TYPES];
    int size_count = bench_list_sizes(group->bench->options, sizes),
        type_count = bench_list_reductions(group->bench->options, types, error);
    for (int t = 0; t < type_count; t++)
        for (int i = 0; i < size_count && types[t] != PTX_F16; i++) {
            CatalogOptions options = group->bench->options->catalog;
            char name[32];
            options.dtype = types[t];
            options.n = group->n = sizes[i];
            if (!catalog_resolve(row, &options, &group->run, error) ||
                !bench_may_go_on(group->bench->options, error))
                return false;
            if (group->n < (uint64_t)group->count) continue; /* fewer elements than GPUs */
            bench_send_cell(group->bench->sink, join_name(group, APART, name, sizeof name), group->n);
            if (!measure_cell(group, error)) return false;
        }
    return type_count >= 0;
}

bool bench_multi_gpu(const Bench *bench, Error *error) {
    const CatalogRow *row = catalog_find("fastest", error);
    const CatalogOptions *options = &bench->options->catalog;
    if (options->dtype == PTX_F16 || (options->op && !strcmp(options->op, "argmax")))
        return error_set(error,
                         "--gpus: sums, minima and maxima of int, float and double are joined across GPUs");
    Group *group = memory_new(sizeof *group);
    group->bench = bench;
    bool good = row && open_gpus(group, bench->options->gpus, error) && measure_types(group, row, error);
    close_gpus(group);
    free(group);
    return good;
}
