/* Opens the CUDA driver with dlopen (driver.h). */
#include "gpu/driver.h"

#include "base/clock.h"
#include "base/library.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUDA_NOT_READY = 600, LOG_BYTES = 8192 };
/* Faults of kernels: CUDA_ERROR_ILLEGAL_ADDRESS to CUDA_ERROR_LAUNCH_FAILED. */
enum { FIRST_FAULT = 700, LAST_FAULT = 719 };
/* CUdevice_attribute */
enum {
    CLOCK_RATE = 13,
    MULTIPROCESSOR_COUNT = 16,
    MEMORY_CLOCK_RATE = 36,
    MEMORY_BUS_WIDTH = 37,
    L2_CACHE_SIZE = 38,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    COOPERATIVE_LAUNCH = 95,
    SHARED_PER_BLOCK_OPTIN = 97,
    CLUSTER_LAUNCH = 120
};
/* CUjit_option */
enum {
    JIT_THREADS_PER_BLOCK = 1,
    JIT_ERROR_LOG_BUFFER = 5,
    JIT_ERROR_LOG_BYTES = 6,
    JIT_GENERATE_LINE_INFO = 12
};

static const double CANCEL_SECONDS = 1, LOAD_SECONDS = 60;

static const char *library_name(void) {
    const char *name = getenv("REDVIZ_CUDA");
    return name && *name ? name : "libcuda.so.1";
}

static bool find_entry_points(Cuda *cuda, Error *error) {
    void **entry = (void **)(void *)&cuda->table;
    static const char *const symbols[] = {
#define CUDA(name, symbol, parameters) symbol,
#include "gpu/driver.def"
#undef CUDA
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        entry[i] = dlsym(cuda->library, symbols[i]);
        if (!entry[i])
            return error_set(error, "the CUDA driver here has no %s: CUDA 12 or later is needed", symbols[i]);
    }
    return true;
}

bool cuda_check(const Cuda *cuda, const char *call, CudaResult result, Error *error) {
    const char *words = NULL, *name = NULL;
    if (!result) return true;
    cuda->table.cuGetErrorString(result, &words);
    cuda->table.cuGetErrorName(result, &name);
    return error_set(error, "%s: %s (%s)", call, words ? words : "unknown error", name ? name : "no name");
}

static int attribute(const Cuda *cuda, int which) {
    int value = 0;
    if (cuda->table.cuDeviceGetAttribute(&value, which, cuda->device)) return 0;
    return value;
}

static void describe_device(Cuda *cuda) {
    cuda->major = attribute(cuda, COMPUTE_CAPABILITY_MAJOR);
    cuda->minor = attribute(cuda, COMPUTE_CAPABILITY_MINOR);
    cuda->multiprocessors = attribute(cuda, MULTIPROCESSOR_COUNT);
    cuda->l2_bytes = attribute(cuda, L2_CACHE_SIZE);
    cuda->clock_khz = attribute(cuda, CLOCK_RATE);
    cuda->memory_clock_khz = attribute(cuda, MEMORY_CLOCK_RATE);
    cuda->bus_bits = attribute(cuda, MEMORY_BUS_WIDTH);
    cuda->shared_bytes_per_block_optin = attribute(cuda, SHARED_PER_BLOCK_OPTIN);
    cuda->cooperative = attribute(cuda, COOPERATIVE_LAUNCH) != 0;
    cuda->clusters = attribute(cuda, CLUSTER_LAUNCH) != 0;
}

static bool start(Cuda *cuda, int ordinal, Error *error) {
    int count = 0;
    if (!CUDA_CALL(cuda, error, cuInit, 0) ||
        !CUDA_CALL(cuda, error, cuDriverGetVersion, &cuda->driver_version) ||
        !CUDA_CALL(cuda, error, cuDeviceGetCount, &count))
        return false;
    if (!count) return error_set(error, "the CUDA driver sees no GPU");
    if (ordinal >= count)
        return error_set(error, "the CUDA driver sees %d GPU%s, not %d", count, count == 1 ? "" : "s",
                         ordinal + 1);
    if (!CUDA_CALL(cuda, error, cuDeviceGet, &cuda->device, ordinal) ||
        !CUDA_CALL(cuda, error, cuDeviceGetName, cuda->name, (int)sizeof cuda->name, cuda->device))
        return false;
    describe_device(cuda);
    return CUDA_CALL(cuda, error, cuDevicePrimaryCtxRetain, &cuda->context, cuda->device) &&
           cuda_use(cuda, error) &&
           CUDA_CALL(cuda, error, cuStreamCreate, &cuda->stream, 1 /* CU_STREAM_NON_BLOCKING */);
}

void *cuda_library(void) {
    return library_open(library_name());
}

Cuda *cuda_open(Error *error) {
    return cuda_open_device(0, error);
}

Cuda *cuda_open_device(int ordinal, Error *error) {
    Cuda *cuda = memory_new(sizeof *cuda);
    cuda->load_seconds = LOAD_SECONDS;
    cuda->library = cuda_library();
    if (!cuda->library) {
        error_set(error, "there is no CUDA driver here (%s)", library_name());
    } else if (find_entry_points(cuda, error) && start(cuda, ordinal, error)) {
        return cuda;
    }
    cuda_close(cuda);
    return NULL;
}

void cuda_close(Cuda *cuda) {
    if (!cuda) return;
    if (!cuda->hung) {
        if (cuda->stream) cuda->table.cuStreamDestroy(cuda->stream);
        if (cuda->context) cuda->table.cuDevicePrimaryCtxRelease(cuda->device);
        /* A driver that has run stays: its threads, and what it does when one of ours ends, are its code. */
        if (cuda->library && !cuda->context) dlclose(cuda->library);
    }
    free(cuda);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void cuda_turn_begin(void) {
    pthread_mutex_lock(&turn);
}

void cuda_turn_end(void) {
    pthread_mutex_unlock(&turn);
}

bool cuda_use(Cuda *cuda, Error *error) {
    return CUDA_CALL(cuda, error, cuCtxSetCurrent, cuda->context);
}

bool cuda_upload(Cuda *cuda, CudaAddress to, const void *from, size_t bytes, Error *error) {
    return CUDA_CALL(cuda, error, cuMemcpyHtoDAsync, to, from, bytes, cuda->stream);
}

bool cuda_allocate(Cuda *cuda, size_t bytes, CudaAddress *address, Error *error) {
    size_t free_bytes = 0, total = 0;
    if (CUDA_CALL(cuda, NULL, cuMemAlloc, address, bytes ? bytes : 1)) return true;
    cuda->table.cuMemGetInfo(&free_bytes, &total);
    return error_set(error, "cuMemAlloc: %zu MB of GPU memory are needed, but only %zu of %zu MB are free",
                     bytes >> 20, free_bytes >> 20, total >> 20);
}

size_t cuda_measured_bytes(const Cuda *cuda, size_t most) {
    size_t free_bytes = 0, total = 0, bytes = 1;
    cuda->table.cuMemGetInfo(&free_bytes, &total);
    while (bytes * 2 <= most && bytes * 2 <= free_bytes / 8) bytes *= 2;
    return bytes;
}

/* ---- loading ------------------------------------------------------------------------------------------ */

/* A module on its way: the driver compiles it in a thread of its own, since it cannot be asked to stop. The
 * thread uses nothing else, as its caller may have given up. */
typedef struct Loading {
    CudaTable table;
    CudaContext context;
    char *ptx;
    int option; /* 0: none */
    uint32_t value;
    CudaModule module;
    char log[LOG_BYTES];
    CudaResult result;
    atomic_bool is_over; /* the thread has the result, or its caller gave up; the second frees it */
} Loading;

static void loading_free(Loading *loading) {
    free(loading->ptx);
    free(loading);
}

static void compile(Loading *loading) {
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BYTES, loading->option};
    void *values[] = {loading->log, (void *)(uintptr_t)sizeof loading->log,
                      (void *)(uintptr_t)loading->value};
    loading->result = loading->table.cuCtxSetCurrent(loading->context);
    if (!loading->result)
        loading->result = loading->table.cuModuleLoadDataEx(&loading->module, loading->ptx,
                                                            loading->option ? 3 : 2, options, values);
}

static void *compile_in_thread(void *context) {
    Loading *loading = context;
    compile(loading);
    if (atomic_exchange(&loading->is_over, true)) loading_free(loading);
    return NULL;
}

/* Waits a little longer each time, up to a millisecond; false when `*end`, or a second after `cancel`, has
 * passed. */
static bool wait_on(const Cuda *cuda, double *end, long *nanoseconds) {
    bool is_cancelled = cuda->cancel && *cuda->cancel;
    if (is_cancelled && *end > clock_seconds() + CANCEL_SECONDS) *end = clock_seconds() + CANCEL_SECONDS;
    if (clock_seconds() > *end) return false;
    nanosleep(&(struct timespec){.tv_nsec = *nanoseconds}, NULL);
    if (*nanoseconds < 1000000) *nanoseconds += *nanoseconds / 2;
    return true;
}

static const char still_busy[] = "the GPU's driver is still busy with what did not return";

/* False: it was given up. */
static bool compile_in_time(Cuda *cuda, Loading *loading) {
    pthread_t thread;
    double end = clock_seconds() + cuda->load_seconds;
    long pause = 20000;
    if (pthread_create(&thread, NULL, compile_in_thread, loading)) {
        compile(loading);
        return true;
    }
    while (!loading->is_over && wait_on(cuda, &end, &pause)) {
    }
    if (!atomic_exchange(&loading->is_over, true)) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    return true;
}

static bool load(Cuda *cuda, const char *ptx, int option, uint32_t value, CudaModule *module, Error *error) {
    if (cuda->hung) return error_set(error, "cuModuleLoadDataEx: %s", still_busy);
    Loading *loading = memory_new(sizeof *loading);
    loading->table = cuda->table;
    loading->context = cuda->context;
    loading->ptx = memory_copy_text(ptx);
    loading->option = option;
    loading->value = value;
    if (!compile_in_time(cuda, loading)) {
        cuda->hung = true;
        return error_set(error,
                         "cuModuleLoadDataEx: the driver's compiler has not returned after %.2g s; giving up",
                         cuda->load_seconds);
    }
    *module = loading->module;
    Error call = {0};
    bool good = cuda_check(cuda, "cuModuleLoadDataEx", loading->result, &call);
    loading->log[sizeof loading->log - 1] = 0;
    char *first = loading->log + strspn(loading->log, "\n");
    first[strcspn(first, "\n")] = 0;
    if (!good) error_set(error, "%s%s%s", call.message, *first ? ": " : "", first);
    loading_free(loading);
    return good;
}

bool cuda_load(Cuda *cuda, const char *ptx, CudaModule *module, Error *error) {
    return load(cuda, ptx, 0, 0, module, error);
}

bool cuda_load_for_blocks(Cuda *cuda, const char *ptx, uint32_t threads, CudaModule *module, Error *error) {
    return load(cuda, ptx, JIT_THREADS_PER_BLOCK, threads, module, error);
}

bool cuda_load_with_lines(Cuda *cuda, const char *ptx, CudaModule *module, Error *error) {
    return load(cuda, ptx, JIT_GENERATE_LINE_INFO, 1, module, error);
}

bool cuda_wait(Cuda *cuda, double seconds, const char *what, Error *error) {
    double begin = clock_seconds(), end = begin + seconds;
    long pause = 20000; /* nanoseconds */
    do {
        if (cuda->hung) return error_set(error, "%s: %s", what, still_busy);
        CudaResult result = cuda->table.cuStreamQuery(cuda->stream);
        cuda->faulted |= result >= FIRST_FAULT && result <= LAST_FAULT;
        if (result != CUDA_NOT_READY) return cuda_check(cuda, what, result, error);
    } while (wait_on(cuda, &end, &pause));
    cuda->hung = cuda->faulted = true;
    return error_set(error, "%s: the kernel has not returned after %.2g s on %s; giving up", what,
                     end - begin, cuda->name);
}
