/* Buffers and launches on the GPU (run.h). */
#include "gpu/run.h"

#include "base/memory.h"
#include "base/tensor_map.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { STATIC_SHARED_LIMIT = 48 << 10, PATTERN_BYTES = 4 << 20 };
enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14 }; /* CUfunction_attribute */
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER_DIMENSION = 4 };                /* CUlaunchAttributeID */

bool gpu_run_begin(GpuRun *run, Cuda *cuda, const char *ptx, Error *error) {
    *run = (GpuRun){.cuda = cuda};
    return cuda_load(cuda, ptx, &run->module, error);
}

bool gpu_run_begin_for_blocks(GpuRun *run, Cuda *cuda, const char *ptx, uint32_t threads, Error *error) {
    *run = (GpuRun){.cuda = cuda};
    return cuda_load_for_blocks(cuda, ptx, threads, &run->module, error);
}

bool gpu_run_begin_keeping(GpuRun *run, Cuda *cuda, const char *ptx, Error *error) {
    *run = (GpuRun){.cuda = cuda, .stays_loaded = true};
    return machine_code_load(cuda, ptx, &run->module, &run->code, error);
}

void gpu_run_end(GpuRun *run) {
    if (!run->cuda) return;
    for (int i = 0; i < run->buffer_count; i++)
        if (!run->cuda->hung && !run->buffers[i].variable)
            run->cuda->table.cuMemFree(run->buffers[i].address);
    /* PC sampling would mistake the next module at the same address for this one, so a module that it saw
     * stays loaded. */
    if (run->module && !run->stays_loaded && !run->cuda->hung) run->cuda->table.cuModuleUnload(run->module);
    free(run->buffers);
    machine_code_done(&run->code);
    *run = (GpuRun){0};
}

int gpu_run_add_buffer(GpuRun *run, void *host, size_t bytes, Error *error) {
    return gpu_run_add(run, &(GpuBuffer){.host = host, .bytes = bytes}, error);
}

/* A variable that no launch names is not in the loaded module: its address is 0, and nothing is copied. */
int gpu_run_add(GpuRun *run, const GpuBuffer *wanted, Error *error) {
    GpuBuffer buffer = *wanted;
    size_t bytes;
    if (buffer.variable) {
        if (run->cuda->table.cuModuleGetGlobal(&buffer.address, &bytes, run->module, buffer.variable))
            buffer.address = 0;
    } else if (!cuda_allocate(run->cuda, buffer.bytes, &buffer.address, error)) {
        return -1;
    }
    array_push(run->buffers, run->buffer_count, run->buffer_capacity, buffer);
    return run->buffer_count - 1;
}

/* Small whole numbers in every type: bytes 0 and 1 in the lowest place of each word. */
static bool fill_pattern(const GpuRun *run, const GpuBuffer *buffer, Error *error) {
    size_t first = buffer->bytes < PATTERN_BYTES ? buffer->bytes : PATTERN_BYTES;
    uint8_t *pattern = memory_new(first + 1);
    for (size_t i = 0; i < first; i += 4) pattern[i] = (uint8_t)(i >> 2 & 1);
    bool good = cuda_upload(run->cuda, buffer->address, pattern, first, error);
    free(pattern);
    for (size_t at = first; good && at < buffer->bytes;) { /* doubles */
        size_t bytes = buffer->bytes - at < at ? buffer->bytes - at : at;
        good = CUDA_CALL(run->cuda, error, cuMemcpyDtoDAsync, buffer->address + at, buffer->address, bytes,
                         run->cuda->stream);
        at += bytes;
    }
    return good && cuda_wait(run->cuda, 30, "cuMemcpyDtoD", error);
}

/* The buffer that lay at this address when memory was captured; NULL: none did. */
static const GpuBuffer *find_captured(const GpuRun *run, uint64_t address) {
    for (int i = 0; i < run->buffer_count; i++) {
        const GpuBuffer *buffer = &run->buffers[i];
        if (buffer->captured && buffer->address && address - buffer->captured <= buffer->bytes) return buffer;
    }
    return NULL;
}

/* Copies contents in which pointers lead to where the buffers lie now. */
static bool upload_captured(const GpuRun *run, const GpuBuffer *buffer, Error *error) {
    uint8_t *bytes = memory_new(buffer->bytes);
    memcpy(bytes, buffer->host, buffer->bytes);
    for (size_t at = 0; at + 8 <= buffer->bytes; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        const GpuBuffer *to = word >> 32 ? find_captured(run, word) : NULL;
        if (!to) continue;
        word = to->address + (word - to->captured);
        memcpy(bytes + at, &word, 8);
    }
    bool good = cuda_upload(run->cuda, buffer->address, bytes, buffer->bytes, error);
    free(bytes);
    return good;
}

bool gpu_run_upload(GpuRun *run, Error *error) {
    for (int i = 0; i < run->buffer_count; i++) {
        const GpuBuffer *buffer = &run->buffers[i];
        if (!buffer->bytes || !buffer->address) continue;
        bool good = !buffer->host ? fill_pattern(run, buffer, error)
                    : buffer->captured
                        ? upload_captured(run, buffer, error)
                        : cuda_upload(run->cuda, buffer->address, buffer->host, buffer->bytes, error);
        if (!good) return false;
    }
    return true;
}

bool gpu_run_download(GpuRun *run, Error *error) {
    for (int i = 0; i < run->buffer_count; i++) {
        const GpuBuffer *buffer = &run->buffers[i];
        if (buffer->host && buffer->bytes && buffer->address &&
            !CUDA_CALL(run->cuda, error, cuMemcpyDtoH, buffer->host, buffer->address, buffer->bytes))
            return false;
    }
    return true;
}

/* A parameter that is a tensor map of ours becomes one of the driver's. */
static bool encode_tensor(const GpuRun *run, uint8_t *parameter, Error *error) {
    TensorMap map;
    if (!tensor_map_decode(parameter, &map)) return true;
    void *address = (void *)(uintptr_t)map.address; // NOLINT(performance-no-int-to-ptr)
    if (map.mode == TENSOR_IM2COL)
        return CUDA_CALL(run->cuda, error, cuTensorMapEncodeIm2col, parameter, (int)map.type, map.rank,
                         address, map.size, map.stride, map.lower, map.upper, map.box[0], map.pixels,
                         map.step, (int)map.interleave, (int)map.swizzle, 0, (int)map.fill);
    return CUDA_CALL(run->cuda, error, cuTensorMapEncodeTiled, parameter, (int)map.type, map.rank, address,
                     map.size, map.stride, map.box, map.step, (int)map.interleave, (int)map.swizzle, 0,
                     (int)map.fill);
}

static bool encode_tensors(const GpuRun *run, const Launch *launch, Error *error) {
    const PtxFunction *entry = launch->program->entry;
    size_t end = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PtxVariable *parameter = entry->parameters[i];
        uint8_t *bytes = launch->parameters + launch_parameter_offset(parameter, &end);
        if (parameter->bytes == TENSOR_MAP_BYTES && !encode_tensor(run, bytes, error)) return false;
    }
    return true;
}

/* A handle is one of the emulated machine (base/texture_object.h), and names nothing here. */
static bool check_textures(const PtxProgram *program, Error *error) {
    for (int pc = 0; pc < program->code_count; pc++)
        if (trace_kind_of(program->code[pc].instruction) == TRACE_TEXTURE)
            return error_set(error, "%s uses textures or surfaces, which redviz has on the emulator alone",
                             program->entry->name);
    return true;
}

bool gpu_run_prepare(const GpuRun *run, GpuLaunch *prepared, Error *error) {
    const Launch *launch = &prepared->launch;
    const PtxFunction *entry = launch->program->entry;
    if (!check_textures(launch->program, error)) return false;
    if (!launch_check_cluster(launch, error) || !encode_tensors(run, launch, error)) return false;
    if (entry->parameter_count + prepared->has_extra > GPU_PARAMETERS)
        return error_set(error, "%s has more than %d parameters", entry->name, GPU_PARAMETERS);
    if (!CUDA_CALL(run->cuda, error, cuModuleGetFunction, &prepared->function, run->module, entry->name))
        return false;
    if (launch->cooperative && !run->cuda->cooperative)
        return error_set(error, "%s cannot launch cooperative grids", run->cuda->name);
    if (launch_has_clusters(launch) && !run->cuda->clusters)
        return error_set(error, "%s cannot launch clusters: compute capability 9.0 is needed",
                         run->cuda->name);
    if (launch_cluster_blocks(launch) > LAUNCH_PORTABLE_CLUSTER_BLOCKS &&
        !CUDA_CALL(run->cuda, error, cuFuncSetAttribute, prepared->function,
                   NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
        return false;
    return launch->dynamic_shared_bytes <= STATIC_SHARED_LIMIT ||
           CUDA_CALL(run->cuda, error, cuFuncSetAttribute, prepared->function, MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     (int)launch->dynamic_shared_bytes);
}

bool gpu_run_resident_blocks(const GpuRun *run, const GpuLaunch *prepared, uint32_t *blocks, Error *error) {
    int per_multiprocessor = 0;
    if (!CUDA_CALL(run->cuda, error, cuOccupancyMaxActiveBlocksPerMultiprocessor, &per_multiprocessor,
                   prepared->function, (int)launch_volume(prepared->launch.block),
                   prepared->launch.dynamic_shared_bytes))
        return false;
    *blocks = (uint32_t)(per_multiprocessor * run->cuda->multiprocessors);
    return true;
}

bool gpu_run_check_cooperative(const GpuRun *run, const GpuLaunch *prepared, Error *error) {
    uint32_t most;
    if (!prepared->launch.cooperative) return true;
    if (!gpu_run_resident_blocks(run, prepared, &most, error)) return false;
    return launch_volume(prepared->launch.grid) <= most ||
           error_set(error, "with the probe, the GPU holds only %u blocks of this cooperative grid at once",
                     most);
}

/* A cluster size that the entry does not require is an attribute of the launch. */
static bool launch_clusters(const GpuRun *run, const GpuLaunch *prepared, void **parameters, Error *error) {
    const Launch *launch = &prepared->launch;
    CudaLaunchAttribute attributes[2] = {{.id = ATTRIBUTE_CLUSTER_DIMENSION}, {.id = ATTRIBUTE_COOPERATIVE}};
    CudaLaunchConfig config = {.shared_bytes = launch->dynamic_shared_bytes,
                               .stream = run->cuda->stream,
                               .attributes = attributes,
                               .attribute_count = launch->cooperative ? 2 : 1};
    launch_cluster(launch, attributes[0].value.cluster);
    attributes[1].value.cluster[0] = 1; /* an int: true */
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    return CUDA_CALL(run->cuda, error, cuLaunchKernelEx, &config, prepared->function, parameters, NULL);
}

bool gpu_run_launch(const GpuRun *run, const GpuLaunch *prepared, Error *error) {
    const Launch *launch = &prepared->launch;
    const PtxFunction *entry = launch->program->entry;
    void *parameters[GPU_PARAMETERS] = {0};
    const uint32_t *g = launch->grid, *b = launch->block;
    size_t end = 0;
    for (int i = 0; i < entry->parameter_count; i++)
        parameters[i] = launch->parameters + launch_parameter_offset(entry->parameters[i], &end);
    uint64_t extra = prepared->extra; /* the driver copies it */
    if (prepared->has_extra) parameters[entry->parameter_count] = &extra;
    if (launch->cluster[0] && !entry->required_cluster[0])
        return launch_clusters(run, prepared, parameters, error);
    if (launch->cooperative)
        return CUDA_CALL(run->cuda, error, cuLaunchCooperativeKernel, prepared->function, g[0], g[1], g[2],
                         b[0], b[1], b[2], launch->dynamic_shared_bytes, run->cuda->stream, parameters);
    return CUDA_CALL(run->cuda, error, cuLaunchKernel, prepared->function, g[0], g[1], g[2], b[0], b[1], b[2],
                     launch->dynamic_shared_bytes, run->cuda->stream, parameters, NULL);
}
