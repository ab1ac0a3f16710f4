/* The program for a machine with a GPU that `make device` builds. The first two modes report wrong results,
 * and can be run under compute-sanitizer; exit status 1 if any result is wrong.
 *
 * - on_gpu clean: every kernel that is not a bug, unchanged, once in int, float and double
 * - on_gpu captured: the same, instrumented, block 0 traced
 * - on_gpu records FOLDER: the records that tests/instrument/test_records.c decodes */
#include "ask/ask.h"
#include "catalog/catalog.h"
#include "gpu/run.h"
#include "session/gpu.h"
#include "tests/instrument/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *what, const Error *error) {
    fprintf(stderr, "on_gpu: %s: %s\n", what, error->message);
    return 1;
}

/* ---- clean --------------------------------------------------------------------------------------------- */

typedef struct Clean {
    const CatalogRow *row;
    CatalogRun run;
    Plan before, plan; /* filled alike; the GPU's results go into `plan` */
    PtxModule *module;
    PtxProgram *programs[PLAN_LAUNCHES];
    GpuRun gpu;
} Clean;

static bool load(Clean *clean, Cuda *cuda, Error *error) {
    clean->module = catalog_module(clean->row, error);
    if (!clean->module) return false;
    for (int i = 0; i < clean->plan.launch_count; i++) {
        PtxFunction *entry = ptx_module_find_entry(clean->module, clean->plan.launches[i].entry, error);
        clean->programs[i] = entry ? ptx_program_link(clean->module, entry, error) : NULL;
        if (!clean->programs[i]) return false;
    }
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)clean->programs, clean->plan.launch_count, &ptx);
    bool good = gpu_run_begin(&clean->gpu, cuda, text_string(&ptx), error);
    text_done(&ptx);
    return good;
}

static bool launch(Clean *clean, int index, Error *error) {
    enum { MOST_BUFFERS = 16 };
    const PlanLaunch *planned = &clean->plan.launches[index];
    uint64_t addresses[MOST_BUFFERS];
    GpuLaunch launch = {.function = NULL};
    for (int i = 0; i < clean->gpu.buffer_count && i < MOST_BUFFERS; i++)
        addresses[i] = clean->gpu.buffers[i].address;
    bool good = plan_bind_launch(planned, clean->programs[index], addresses, &launch.launch, error) &&
                gpu_run_prepare(&clean->gpu, &launch, error) && gpu_run_launch(&clean->gpu, &launch, error) &&
                cuda_wait(clean->gpu.cuda, 60, planned->entry, error);
    launch_done(&launch.launch);
    return good;
}

static bool execute(Clean *clean, Cuda *cuda, Error *error) {
    for (int side = 0; side < 2; side++) {
        Plan *plan = side ? &clean->plan : &clean->before;
        if (!catalog_plan(&clean->run, plan, error) || !plan_fill(plan, 7, error)) return false;
    }
    if (!load(clean, cuda, error)) return false;
    for (int i = 0; i < clean->plan.buffer_count; i++) {
        const PlanBuffer *buffer = &clean->plan.buffers[i];
        size_t bytes = buffer->count * (size_t)ptx_type_bytes(buffer->type);
        if (gpu_run_add_buffer(&clean->gpu, buffer->bytes, bytes, error) < 0) return false;
    }
    if (!gpu_run_upload(&clean->gpu, error)) return false;
    for (int i = 0; i < clean->plan.launch_count; i++)
        if (!launch(clean, i, error)) return false;
    return gpu_run_download(&clean->gpu, error);
}

static int run_clean(Cuda *cuda, const CatalogRow *row, const CatalogOptions *options) {
    Clean clean = {.row = row};
    Error error = {0};
    ExpectResult result = {0};
    if (!catalog_resolve(row, options, &clean.run, NULL)) return 0; /* not a type of this kernel */
    bool good = execute(&clean, cuda, &error);
    if (good) row->check(&clean.run, &clean.before, &clean.plan, &result);
    int failed = good ? !result.correct : complain(row->id, &error);
    printf("%s %s n %llu: %s\n", row->id, plan_type_name(clean.run.dtype), (unsigned long long)clean.run.n,
           failed ? "WRONG" : "ok");
    gpu_run_end(&clean.gpu);
    for (int i = 0; i < PLAN_LAUNCHES; i++) ptx_program_free(clean.programs[i]);
    ptx_module_free(clean.module);
    plan_free(&clean.plan);
    plan_free(&clean.before);
    return failed;
}

static int run_all_clean(void) {
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    Error error = {0};
    Cuda *cuda = cuda_open(&error);
    int failed = 0;
    if (!cuda) return complain("clean", &error);
    for (int i = 0; i < catalog_count(); i++)
        for (size_t t = 0; t < sizeof types / sizeof *types && catalog_row(i)->group != CATALOG_BUG; t++)
            failed |= run_clean(cuda, catalog_row(i), &(CatalogOptions){.n = 5000, .dtype = types[t]});
    cuda_close(cuda);
    return failed;
}

/* ---- captured ------------------------------------------------------------------------------------------ */

static int run_captured(const CatalogRow *row, PtxType type) {
    Error error = {0};
    CatalogRun run;
    RunSpec options = {.kernel = row->id, .catalog = {.n = 5000, .dtype = type}, .backend = BACKEND_GPU};
    if (!catalog_resolve(row, &options.catalog, &run, NULL)) return 0;
    Session *session = session_open(&options, &error);
    int failed = session ? ask_failed(session) : complain(row->id, &error);
    printf("%s %s n 5000, captured: %s%s\n", row->id, plan_type_name(type), failed ? "WRONG" : "ok",
           session ? session_folds(session, 0) ? ", replayed" : ", not replayed" : "");
    session_free(session);
    return failed;
}

static int run_all_captured(void) {
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    int failed = 0;
    for (int i = 0; i < catalog_count(); i++)
        for (size_t t = 0; t < sizeof types / sizeof *types && catalog_row(i)->group != CATALOG_BUG; t++)
            failed |= run_captured(catalog_row(i), types[t]);
    return failed;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static void keep(void *context, int launch, const InstrumentSettings *settings,
                 const InstrumentMemory *memory, uint32_t block, const uint8_t *region) {
    kept_add(context, launch, settings, memory, block, region);
}

static int record(Kept *kept, const char *folder) {
    enum { REGION_BYTES = 1 << 20 };
    char path[4096];
    Error error = {0};
    RunSpec options = kept_options(kept);
    Session *session = session_open(&options, &error);
    Cuda *cuda = session ? session_gpu_take(&error) : NULL;
    if (!cuda) return complain(kept->kernel, &error);
    snprintf(kept->device, sizeof kept->device, "%s", cuda->name);
    GpuCopy copy;
    CaptureOptions settings = {
        .region_bytes = REGION_BYTES, .approximate = kept->approximate, .keep = keep, .keep_context = kept};
    snprintf(path, sizeof path, "%s/%s_%s.records", folder, kept->kernel, kept->dtype);
    bool good =
        session_gpu_copy_capture(&copy, session, cuda, &settings, &error) && kept_write(kept, path, &error);
    session_gpu_give_back(!good);
    session_gpu_copy_done(&copy);
    session_free(session);
    kept_done(kept);
    return good ? 0 : complain(path, &error);
}

static int record_all(const char *folder) {
    Kept runs[] = {
        {.kernel = "interleaved", .dtype = "int", .n = 1000, .block = 64},
        {.kernel = "shuffle", .dtype = "int", .n = 1000, .block = 64},
        {.kernel = "sequential", .dtype = "double", .n = 1000, .block = 64},
        {.kernel = "two_stage", .dtype = "float", .n = 1000, .block = 64},
        {.kernel = "atomic", .dtype = "float", .n = 1000, .block = 64},
        {.kernel = "last_block", .dtype = "int", .n = 5000, .block = 64},
        {.kernel = "cooperative", .dtype = "int", .n = 5000, .block = 64, .grid = 8},
        {.kernel = "softmax_row", .dtype = "float", .n = 1000, .block = 64, .approximate = true},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) failed |= record(&runs[i], folder);
    return failed;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "clean")) return run_all_clean();
    if (argc == 2 && !strcmp(argv[1], "captured")) return run_all_captured();
    if (argc == 3 && !strcmp(argv[1], "records")) return record_all(argv[2]);
    fprintf(stderr, "usage: on_gpu clean | captured | records FOLDER\n");
    return 2;
}
