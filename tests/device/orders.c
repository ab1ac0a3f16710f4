/* Compares what --invariant says of two runs with the bits that this GPU computes.
 * `make device` builds it.
 *
 *   build/tests/device/orders [INPUTS [NAME]]     200 inputs; kernels whose name contains NAME, by default
 *                                                 all
 *
 * For each pair of runs one line: the verdict, and for how many inputs an element that both runs store has
 * other bits. Ends with "N agree, N differ"; exit 1 if one differs: bits that change although the order is
 * the same, or never change although it is not. With REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so the
 * emulator replaces the GPU. */
#include "ask/ask.h"
#include "session/state.h"
#include "gpu/run.h"
#include "session/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pair {
    const char *kernel;      /* of the catalogue, or an entry of order_kernels.cu */
    const char *both;        /* settings of both runs, separated by spaces; or their --args */
    const char *one, *other; /* settings of each */
} Pair;

#define ROWS "in=float[65536]:random, out=float[64], columns=1024, rows=64"
#define NORM "in=float[8192]:random, out=float[8192], columns=1024"

static const Pair pairs[] = {
    {"row_sum", "dtype=float n=16384", "block=256", "block=1024"},
    {"row_sum", "dtype=double n=16384", "block=256", "block=512"},
    {"row_sum", "dtype=int n=16384", "block=256", "block=1024"},
    {"row_sum", "dtype=float", "n=4096", "n=16384"},
    {"row_sum", "dtype=float n=4096", "schedule=0", "schedule=3"},
    {"two_stage", "dtype=float n=65536", "block=128", "block=256"},
    {"two_stage", "dtype=float n=65536", "block=64", "block=256"},
    {"last_block", "dtype=float n=65536", "grid=64", "grid=128"},
    {"last_block", "dtype=float n=65536", "schedule=0", "schedule=5"},
    {"cooperative", "dtype=float n=65536", "grid=64", "grid=128"},
    {"fastest", "dtype=float n=65536", "schedule=0", "schedule=2"},
    {"fastest", "dtype=float n=65536", "block=256", "block=512"},
    {"shuffle", "dtype=float n=4096", "block=256", "block=256"},
    {"sequential", "dtype=float n=4096", "block=128", "block=256"},
    {"interleaved", "dtype=float n=4096", "schedule=0", "schedule=1"},
    {"vectorized", "dtype=float n=65536", "block=128", "block=256"},
    {"grid_stride", "dtype=float n=65536", "grid=16", "grid=32"},
    {"multi_add", "dtype=float n=65536", "items=4", "items=8"},
    {"atomic", "dtype=int n=65536", "block=64", "block=128"},
    {"shuffle_atomic", "dtype=float n=1048576", "block=256", "block=256"},
    {"bulk_reduce", "dtype=float n=1048576", "block=256", "block=256"},
    {"cluster", "dtype=float n=65536", "schedule=0", "schedule=1"},
    {"async_copy", "dtype=float n=65536", "grid=16", "grid=32"},
    {"column_sum", "dtype=float", "n=65536", "n=131072"},
    {"column_sum_permuted", "dtype=float n=65536", "block=128", "block=256"},
    {"softmax_row", "dtype=float n=16384", "block=128", "block=512"},
    {"logsumexp", "dtype=float n=16384", "block=128", "block=512"},
    {"moments", "dtype=float n=16384", "block=128", "block=256"},
    {"kahan", "dtype=float n=65536", "schedule=0", "schedule=1"},
    {"sequential", "dtype=float op=max n=4096", "schedule=0", "schedule=1"},
    {"rows_by_thread", ROWS, "grid=1 block=64", "grid=4 block=32"},
    {"rows_by_warp", ROWS, "grid=8 block=256", "grid=16 block=128"},
    {"rows_by_block", ROWS, "grid=64 block=128", "grid=64 block=1024"},
    {"rms_by_block", NORM, "grid=8 block=128", "grid=8 block=512"},
    {"rms_by_block", NORM, "grid=8 block=128", "grid=4 block=128"},
    {"rms_by_warp", NORM, "grid=8 block=32", "grid=1 block=256"},
    {"split_k", "in=float[65536]:random, out=float[16]:zero, k=4096", "grid=16 block=128",
     "grid=16,4 block=128"},
    {"by_float_atomics", "in=float[262144]:random, out=float[1]:zero, n=262144", "grid=64 block=256",
     "grid=64 block=256"},
    {"by_long_atomics", "in=int[262144]:random, out=ulong[1]:zero, n=262144", "grid=64 block=256",
     "grid=32 block=128"},
};

typedef struct OnGpu {
    Plan plan;
    PtxModule *module;
    PtxProgram *programs[PLAN_LAUNCHES];
    GpuRun gpu;
} OnGpu;

static const char *const verdicts[] = {
    [ORDER_IS_FIXED] = "fixed", [ORDER_DIFFERS] = "differs", [ORDER_IS_UNKNOWN] = "unknown"};

/* ---- a run on the GPU ---------------------------------------------------------------------------------- */

static bool load(OnGpu *run, Cuda *cuda, Error *error) {
    const PlanModule *source = &run->plan.modules[0];
    run->module = ptx_module_parse(source->ptx, strlen(source->ptx), source->name, error);
    if (!run->module) return false;
    for (int i = 0; i < run->plan.launch_count; i++) {
        PtxFunction *entry = ptx_module_find_entry(run->module, run->plan.launches[i].entry, error);
        run->programs[i] = entry ? ptx_program_link(run->module, entry, error) : NULL;
        if (!run->programs[i]) return false;
    }
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)run->programs, run->plan.launch_count, &ptx);
    bool good = gpu_run_begin(&run->gpu, cuda, text_string(&ptx), error);
    text_done(&ptx);
    for (int i = 0; good && i < run->plan.buffer_count; i++) {
        PlanBuffer *buffer = &run->plan.buffers[i];
        size_t bytes = buffer->count * (size_t)ptx_type_bytes(buffer->type);
        buffer->bytes = memory_new(bytes);
        good = gpu_run_add_buffer(&run->gpu, buffer->bytes, bytes, error) >= 0;
    }
    return good;
}

/* The plan's buffers with the input of `seed`, at the same addresses as before. */
static bool fill(Plan *plan, uint64_t seed, Error *error) {
    for (int i = 0; i < plan->buffer_count; i++) {
        PlanBuffer *buffer = &plan->buffers[i];
        void *kept = buffer->bytes;
        if (!plan_fill_buffer(plan, i, seed, error)) return false;
        memcpy(kept, buffer->bytes, buffer->count * (size_t)ptx_type_bytes(buffer->type));
        free(buffer->bytes);
        buffer->bytes = kept;
    }
    return true;
}

static bool execute(OnGpu *run, uint64_t seed, Error *error) {
    uint64_t addresses[64];
    bool good = fill(&run->plan, seed, error) && gpu_run_upload(&run->gpu, error);
    for (int i = 0; i < run->gpu.buffer_count; i++) addresses[i] = run->gpu.buffers[i].address;
    for (int i = 0; good && i < run->plan.launch_count; i++) {
        const PlanLaunch *planned = &run->plan.launches[i];
        GpuLaunch launch = {.function = NULL};
        good = plan_bind_launch(planned, run->programs[i], addresses, &launch.launch, error) &&
               gpu_run_prepare(&run->gpu, &launch, error) && gpu_run_launch(&run->gpu, &launch, error) &&
               cuda_wait(run->gpu.cuda, 60, planned->entry, error);
        launch_done(&launch.launch);
    }
    return good && gpu_run_download(&run->gpu, error);
}

static void on_gpu_done(OnGpu *run) {
    gpu_run_end(&run->gpu);
    for (int i = 0; i < PLAN_LAUNCHES; i++) ptx_program_free(run->programs[i]);
    ptx_module_free(run->module);
    plan_free(&run->plan);
}

/* ---- a pair -------------------------------------------------------------------------------------------- */

static bool set_all(RunSpec *options, const char *settings, Arena *arena, Error *error) {
    char *rest = arena_copy_string(arena, settings), *item;
    while ((item = strtok_r(rest, " ", &rest)))
        if (!run_spec_set_item(options, item, error)) return false;
    return true;
}

static bool is_of_file(const Pair *pair) {
    return strchr(pair->both, '[') != NULL;
}

static bool begin(const Pair *pair, const char *settings, AskVariant *variant, Arena *arena, Error *error) {
    RunSpec *options = &variant->options;
    *variant = (AskVariant){.label = settings};
    if (is_of_file(pair)) {
        options->file = "tests/device/order_kernels.cu";
        options->entry = pair->kernel;
        options->args = pair->both;
        return set_all(options, settings, arena, error);
    }
    options->kernel = pair->kernel;
    options->catalog.fill = FILL_RANDOM;
    options->catalog.has_fill = true;
    return set_all(options, pair->both, arena, error) && set_all(options, settings, arena, error);
}

static void copy_plan(const Session *session, Plan *copy) {
    plan_copy(&session->run->plan, copy);
    if (!copy->module_count) plan_add_module(copy, session->code.path, session->code.text);
}

static bool begin_on_gpu(const RunSpec *options, Cuda *cuda, OnGpu *run, Error *error) {
    Session *session = session_open(options, error);
    if (!session) return false;
    copy_plan(session, &run->plan);
    session_free(session);
    return load(run, cuda, error);
}

/* Whether an element that both runs have has other bits; *where says which, for the first. */
static bool has_other_bits(const Plan *one, const Plan *other, Text *where) {
    for (int i = 0; i < one->buffer_count && i < other->buffer_count; i++) {
        const PlanBuffer *a = &one->buffers[i], *b = &other->buffers[i];
        uint64_t count = a->count < b->count ? a->count : b->count;
        size_t bytes = (size_t)ptx_type_bytes(a->type);
        for (uint64_t k = 0; k < count; k++) {
            const char *x = (const char *)a->bytes + k * bytes, *y = (const char *)b->bytes + k * bytes;
            if (!memcmp(x, y, bytes)) continue;
            if (!where->length)
                text_print(where, "%s[%llu]: %.9g and %.9g", a->name, (unsigned long long)k,
                           plan_element(a->type, x, 0), plan_element(b->type, y, 0));
            return true;
        }
    }
    return false;
}

/* Inputs with other bits, or -1 with `error`. */
static int count_other_bits(const AskVariant *variants, int inputs, Cuda *cuda, Text *where, Error *error) {
    OnGpu runs[2] = {{.module = NULL}, {.module = NULL}};
    int found = 0;
    bool good = begin_on_gpu(&variants[0].options, cuda, &runs[0], error) &&
                begin_on_gpu(&variants[1].options, cuda, &runs[1], error);
    for (int seed = 1; good && seed <= inputs; seed++) {
        good = execute(&runs[0], (uint64_t)seed, error) && execute(&runs[1], (uint64_t)seed, error);
        found += good && has_other_bits(&runs[0].plan, &runs[1].plan, where);
    }
    for (int i = 0; i < 2; i++) on_gpu_done(&runs[i]);
    return good ? found : -1;
}

/* False if the verdict and the bits contradict each other. */
static bool compare(const Pair *pair, int inputs, Cuda *cuda) {
    AskVariant variants[2];
    Arena arena = {0};
    Error error = {0};
    Text said = {0}, where = {0};
    AskOrderAnswer answer = ORDER_HAS_NO_RUN;
    int found = -1;
    bool good = begin(pair, pair->one, &variants[0], &arena, &error) &&
                begin(pair, pair->other, &variants[1], &arena, &error) &&
                ask_invariant(variants, 2, false, &answer, &said, &error);
    if (good) found = count_other_bits(variants, inputs, cuda, &where, &error);
    bool agrees = found >= 0 && (answer == ORDER_IS_FIXED ? !found : answer != ORDER_DIFFERS || found);
    printf("%-20s %-28s %-28s %-8s %4d of %d  %s\n", pair->kernel, pair->one, pair->other,
           answer == ORDER_HAS_NO_RUN ? "no run" : verdicts[answer], found, inputs,
           agrees       ? "agree"
           : found >= 0 ? "DIFFER"
                        : error.message);
    if (found > 0 && !agrees) printf("    %s\n", text_string(&where));
    fflush(stdout);
    text_done(&where);
    text_done(&said);
    arena_done(&arena);
    return agrees;
}

int main(int argc, char **argv) {
    int inputs = argc > 1 ? atoi(argv[1]) : 200, agreeing = 0, differing = 0;
    Error error = {0};
    Cuda *cuda = cuda_open(&error);
    if (!cuda) {
        fprintf(stderr, "orders: %s\n", error.message);
        return 2;
    }
    printf("%s\n", cuda->name);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (argc > 2 && !strstr(pairs[i].kernel, argv[2])) continue;
        if (compare(&pairs[i], inputs, cuda))
            agreeing++;
        else
            differing++;
    }
    cuda_close(cuda);
    printf("%d agree, %d differ\n", agreeing, differing);
    return differing > 0;
}
