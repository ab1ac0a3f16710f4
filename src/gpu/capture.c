/* Runs instrumented launches (capture.h). */
#include "gpu/capture.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const double PATIENCE_SECONDS = 10;
static const uint64_t MOST_REGION_BYTES = UINT64_C(64) << 20, LEAST_REGION_BYTES = UINT64_C(64) << 10;

struct Capture {
    Cuda *cuda;
    const CaptureOptions *options;
    CaptureBuffer *buffers;
    int launch_count, buffer_count;
    InstrumentSites sites;
    GpuRun run;
    CudaAddress settings; /* the variable of the instrumented module */
    CudaAddress regions;
    uint64_t region_bytes, region_count;
    CudaEvent start, end;
    Trace *trace;
    CaptureTally *tally;
    InstrumentTensor tensors[GPU_PARAMETERS]; /* of the launch that runs */
    int tensor_count;
};

/* ---- opening ------------------------------------------------------------------------------------------- */

static bool load_instrumented(Capture *capture, const PtxProgram *const *programs, Error *error) {
    Text text = {0};
    bool good = instrument(programs, capture->launch_count, capture->options->probe,
                           capture->options->approximate, &text, &capture->sites, error) &&
                gpu_run_begin_for_blocks(&capture->run, capture->cuda, text_string(&text),
                                         capture->options->threads, error);
    text_done(&text);
    return good;
}

/* Variables that no launch names are not in the module. */
static bool is_in_module(const InstrumentSites *sites, const char *name) {
    for (int i = 0; i < sites->module->variable_count; i++)
        if (sites->has_variable[i] && !strcmp(sites->module->variables[i]->name, name)) return true;
    return false;
}

static bool place_buffers(Capture *capture, Error *error) {
    for (int i = 0; i < capture->buffer_count; i++) {
        CaptureBuffer *buffer = &capture->buffers[i];
        size_t bytes;
        if (buffer->is_variable && !buffer->host) {
            buffer->address = 0;
            if (is_in_module(&capture->sites, buffer->name) &&
                !CUDA_CALL(capture->cuda, error, cuModuleGetGlobal, &buffer->address, &bytes,
                           capture->run.module, buffer->name))
                return false;
            continue;
        }
        GpuBuffer wanted = {.host = buffer->host,
                            .bytes = buffer->bytes,
                            .variable = buffer->is_variable ? buffer->name : NULL,
                            .captured = buffer->captured};
        int index = gpu_run_add(&capture->run, &wanted, error);
        if (index < 0) return false;
        buffer->address = capture->run.buffers[index].address;
    }
    return gpu_run_upload(&capture->run, error);
}

/* ---- one launch ---------------------------------------------------------------------------------------- */

/* Gives each traced block an equal part of a quarter of the free memory, up to a limit. */
static bool make_regions(Capture *capture, const Launch *launches, Error *error) {
    size_t free_bytes = 0, total = 0;
    uint64_t blocks = 0, least = LEAST_REGION_BYTES;
    for (int i = 0; i < capture->launch_count; i++) {
        uint64_t count = launch_volume(launches[i].grid), last = capture->options->last;
        uint64_t minimum =
            instrument_region_minimum(&capture->sites, (uint32_t)launch_volume(launches[i].block));
        if (minimum > least) least = minimum;
        if (capture->options->first >= count) continue;
        uint64_t traced = (last < count ? last + 1 : count) - capture->options->first;
        if (traced > blocks) blocks = traced;
    }
    if (!CUDA_CALL(capture->cuda, error, cuMemGetInfo, &free_bytes, &total)) return false;
    uint64_t bytes = capture->options->region_bytes;
    if (!bytes) bytes = blocks ? free_bytes / 4 / blocks : least;
    if (bytes > MOST_REGION_BYTES) bytes = MOST_REGION_BYTES;
    if (bytes < least) bytes = least;
    capture->region_bytes = bytes / INSTRUMENT_REGION_ALIGNMENT * INSTRUMENT_REGION_ALIGNMENT;
    capture->region_count = blocks;
    return cuda_allocate(capture->cuda, capture->region_bytes * blocks, &capture->regions, error);
}

static InstrumentSettings settings_of(const Capture *capture, const Launch *launch) {
    return (InstrumentSettings){.buffer = capture->regions,
                                .region_bytes = capture->region_bytes,
                                .first = capture->options->first,
                                .last = capture->options->last,
                                .block_threads = (uint32_t)launch_volume(launch->block)};
}

static bool check_residency(const Capture *capture, const GpuLaunch *prepared, Error *error) {
    uint32_t most;
    const Launch *launch = &prepared->launch;
    if (!launch->cooperative) return true;
    if (!gpu_run_resident_blocks(&capture->run, prepared, &most, error)) return false;
    if (launch_volume(launch->grid) <= most) return true;
    capture->tally->most_blocks = most;
    return error_set(error,
                     "%s: a cooperative grid of %llu blocks; instrumented, the GPU holds %u at once: give "
                     "--grid %u",
                     launch->program->entry->name, (unsigned long long)launch_volume(launch->grid), most,
                     most);
}

static bool execute(Capture *capture, const GpuLaunch *prepared, Error *error) {
    Cuda *cuda = capture->cuda;
    uint8_t bytes[INSTRUMENT_SETTINGS_BYTES];
    InstrumentSettings settings = settings_of(capture, &prepared->launch);
    double seconds = capture->options->seconds > 0 ? capture->options->seconds : PATIENCE_SECONDS;
    float milliseconds = 0;
    instrument_settings(&capture->sites, &settings, bytes);
    if (!cuda_upload(cuda, capture->settings, bytes, sizeof bytes, error) ||
        !CUDA_CALL(cuda, error, cuMemsetD8Async, capture->regions, 0,
                   capture->region_bytes * capture->region_count, cuda->stream) ||
        !CUDA_CALL(cuda, error, cuEventRecord, capture->start, cuda->stream) ||
        !gpu_run_launch(&capture->run, prepared, error) ||
        !CUDA_CALL(cuda, error, cuEventRecord, capture->end, cuda->stream) ||
        !cuda_wait(cuda, seconds, prepared->launch.program->entry->name, error) ||
        !CUDA_CALL(cuda, error, cuEventElapsedTime, &milliseconds, capture->start, capture->end))
        return false;
    capture->tally->kernel_seconds += (double)milliseconds * 1e-3;
    return true;
}

static void list_memory(const Capture *capture, InstrumentMemory *memory) {
    InstrumentBuffer *list = memory_new((size_t)(capture->buffer_count + 1) * sizeof *list);
    for (int i = 0; i < capture->buffer_count; i++) {
        const CaptureBuffer *buffer = &capture->buffers[i];
        bool known = buffer->index >= 0 && buffer->index < capture->trace->buffer_count;
        list[i] = (InstrumentBuffer){buffer->address, buffer->bytes, buffer->index,
                                     buffer->is_variable ? buffer->name : NULL,
                                     known ? ptx_type_bytes(capture->trace->buffers[buffer->index].type) : 0};
    }
    *memory = (InstrumentMemory){list, capture->buffer_count, capture->tensors, capture->tensor_count,
                                 capture->options->other};
}

static bool decode(Capture *capture, int index, const Launch *launch, Error *error) {
    TraceLaunch *traced = trace_add_launch(capture->trace, launch);
    const CaptureOptions *options = capture->options;
    InstrumentSettings settings = settings_of(capture, launch);
    InstrumentMemory memory;
    uint8_t *region = memory_new(capture->region_bytes);
    uint64_t count = launch_volume(launch->grid);
    bool good = true;
    list_memory(capture, &memory);
    for (uint64_t block = settings.first; good && block <= settings.last && block < count; block++) {
        InstrumentTally tally = {0};
        CudaAddress at = capture->regions + (block - settings.first) * capture->region_bytes;
        good = CUDA_CALL(capture->cuda, error, cuMemcpyDtoH, region, at, capture->region_bytes);
        if (good && options->keep)
            options->keep(options->keep_context, index, &settings, &memory, (uint32_t)block, region);
        good = good && instrument_decode(&capture->sites, &settings, &memory, (uint32_t)block, region,
                                         &capture->trace->arena, traced, &tally, error);
        capture->tally->records += tally.records;
        capture->tally->dropped += tally.dropped;
        capture->tally->left_out += tally.left_out;
    }
    free((void *)(uintptr_t)memory.buffers);
    free(region);
    return good;
}

/* Its tensor maps become the driver's, whose digests the kernel records. */
static bool prepare(Capture *capture, GpuLaunch *prepared, Error *error) {
    const Launch *launch = &prepared->launch;
    const PtxFunction *entry = launch->program->entry;
    const uint8_t *bytes[GPU_PARAMETERS] = {NULL};
    size_t end = 0;
    int count = 0;
    for (int i = 0; i < entry->parameter_count && count < GPU_PARAMETERS; i++) {
        bytes[count] = launch->parameters + launch_parameter_offset(entry->parameters[i], &end);
        count += entry->parameters[i]->bytes == TENSOR_MAP_BYTES &&
                 tensor_map_decode(bytes[count], &capture->tensors[count].map);
    }
    if (!gpu_run_prepare(&capture->run, prepared, error)) return false;
    for (int i = 0; i < count; i++) capture->tensors[i].digest = instrument_tensor_digest(bytes[i]);
    capture->tensor_count = count;
    return true;
}

static bool run_launch(Capture *capture, int index, const Launch *launch, Error *error) {
    GpuLaunch prepared = {.launch = *launch};
    return prepare(capture, &prepared, error) && check_residency(capture, &prepared, error) &&
           execute(capture, &prepared, error) && decode(capture, index, launch, error);
}

/* ---- interface ----------------------------------------------------------------------------------------- */

Capture *capture_open(Cuda *cuda, const PtxProgram *const *programs, int count, CaptureBuffer *buffers,
                      int buffer_count, const CaptureOptions *options, Error *error) {
    Capture *capture = memory_new(sizeof *capture);
    size_t settings_bytes;
    *capture = (Capture){.cuda = cuda,
                         .options = options,
                         .buffers = buffers,
                         .launch_count = count,
                         .buffer_count = buffer_count};
    if (load_instrumented(capture, programs, error) && place_buffers(capture, error) &&
        CUDA_CALL(cuda, error, cuModuleGetGlobal, &capture->settings, &settings_bytes, capture->run.module,
                  INSTRUMENT_VARIABLE) &&
        CUDA_CALL(cuda, error, cuEventCreate, &capture->start, 0) &&
        CUDA_CALL(cuda, error, cuEventCreate, &capture->end, 0))
        return capture;
    capture_close(capture);
    return NULL;
}

bool capture_run(Capture *capture, const Launch *launches, Trace *trace, CaptureTally *tally, Error *error) {
    *tally = (CaptureTally){.unprobed = capture->sites.unprobed};
    capture->trace = trace;
    capture->tally = tally;
    bool good = make_regions(capture, launches, error);
    for (int i = 0; good && i < capture->launch_count; i++)
        good = run_launch(capture, i, &launches[i], error);
    return good && gpu_run_download(&capture->run, error);
}

void capture_close(Capture *capture) {
    if (!capture) return;
    Cuda *cuda = capture->cuda;
    if (!cuda->hung) {
        if (capture->regions) cuda->table.cuMemFree(capture->regions);
        if (capture->start) cuda->table.cuEventDestroy(capture->start);
        if (capture->end) cuda->table.cuEventDestroy(capture->end);
    }
    gpu_run_end(&capture->run);
    instrument_sites_done(&capture->sites);
    free(capture);
}
