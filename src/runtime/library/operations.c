/* Operations: copies, fills and calls of host functions, done at once or captured.
 *
 * A copy touches device memory through the alias of the window, after all launches that came before it; then
 * redviz hears which bytes were written. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY_DIRECTION };

static void say_written(uint64_t address, uint64_t bytes, uint64_t from, MessageWriteKind kind,
                        uint64_t caller) {
    MessageWrite message = {address, bytes, from, caller, kind, 0};
    tell(MESSAGE_WRITTEN, &message, sizeof message, NULL, 0);
}

/* Each row of a box, from its first byte on. */
static uint64_t box_bytes(size_t pitch, size_t slice, size_t width, size_t height, size_t depth) {
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

/* The checks of the driver, seen on an H100: host to device may come from device memory, and so on. */
static int copy_check(const MemoryCopy *copy) {
    bool to_device = window_holds(copy->to), from_device = window_holds(copy->from);
    uint64_t to_bytes = box_bytes(copy->to_pitch, copy->to_slice, copy->width, copy->height, copy->depth);
    uint64_t from_bytes =
        box_bytes(copy->from_pitch, copy->from_slice, copy->width, copy->height, copy->depth);
    if (copy->kind < HOST_TO_HOST || copy->kind > ANY_DIRECTION)
        return failed(cudaErrorInvalidMemcpyDirection, 0, 0, "has no direction of a copy: %d", copy->kind);
    if (copy->height * copy->depth > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width))
        return failed(cudaErrorInvalidPitchValue, 0, 0, "copies rows that are wider than a pitch");
    if (copy->to == 0 || copy->from == 0)
        return failed(cudaErrorInvalidValue, 0, 0, "copies %s NULL", copy->to == 0 ? "to" : "from");
    if ((copy->kind == HOST_TO_DEVICE || copy->kind == DEVICE_TO_DEVICE) && !to_device)
        return failed(cudaErrorInvalidValue, copy->to, to_bytes,
                      "copies to the device, and its destination is host memory");
    if ((copy->kind == DEVICE_TO_HOST || copy->kind == DEVICE_TO_DEVICE) && !from_device)
        return failed(cudaErrorInvalidValue, copy->from, from_bytes,
                      "copies from the device, and its source is host memory");
    int error = to_device ? memory_check(copy->to, to_bytes, "copies", "into") : 0;
    return error == 0 && from_device ? memory_check(copy->from, from_bytes, "copies", "from") : error;
}

static int copy_run(const MemoryCopy *copy, uint64_t caller) {
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) return 0;
    int error = copy_check(copy);
    if (error == 0) error = device_finish();
    if (error != 0) return error;
    bool is_flat = copy->to_pitch == copy->width && copy->from_pitch == copy->width;
    size_t width = is_flat ? copy->width * copy->height : copy->width, height = is_flat ? 1 : copy->height;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < height; y++) {
            uint64_t to = copy->to + z * copy->to_slice + y * copy->to_pitch;
            uint64_t from = copy->from + z * copy->from_slice + y * copy->from_pitch;
            memmove(reachable(to), reachable(from), width);
            if (!window_holds(to)) continue;
            bool on_device = window_holds(from);
            say_written(to, width, on_device ? from : 0, on_device ? WRITE_COPIED_ON_DEVICE : WRITE_COPIED,
                        caller);
        }
    }
    return 0;
}

static int fill_run(const Fill *fill, uint64_t caller) {
    size_t row = fill->width * fill->element;
    if (row == 0 || fill->height == 0 || fill->depth == 0) return 0;
    if (!window_holds(fill->to)) return failed(cudaErrorInvalidValue, fill->to, row, "sets host memory");
    int error = memory_check(fill->to, box_bytes(fill->pitch, fill->slice, row, fill->height, fill->depth),
                             "sets", "of");
    if (error == 0) error = device_finish();
    if (error != 0) return error;
    size_t height = fill->pitch == row ? 1 : fill->height,
           width = fill->pitch == row ? row * fill->height : row;
    for (size_t z = 0; z < fill->depth; z++) {
        for (size_t y = 0; y < height; y++) {
            uint64_t to = fill->to + z * fill->slice + y * fill->pitch;
            char *bytes = window_alias(to);
            if (fill->element == 1)
                memset(bytes, (int)fill->value, width);
            else
                for (size_t i = 0; i < width; i += fill->element)
                    memcpy(bytes + i, &fill->value, fill->element);
            say_written(to, width, 0, WRITE_SET, caller);
        }
    }
    return 0;
}

/* Host functions run in a thread of their own, one at a time; the next CUDA call waits for it. */
static _Thread_local bool is_inside;
static atomic_bool is_running;
static pthread_t runner;
static pthread_mutex_t join_lock = PTHREAD_MUTEX_INITIALIZER;

static void *host_thread(void *data) {
    HostCall call = *(HostCall *)data;
    free(data);
    is_inside = true;
    call.function(call.data);
    return NULL;
}

void host_calls_wait(void) {
    if (!atomic_load(&is_running)) return;
    pthread_mutex_lock(&join_lock);
    if (atomic_exchange(&is_running, false)) pthread_join(runner, NULL);
    pthread_mutex_unlock(&join_lock);
}

bool host_calls_is_inside(void) {
    return is_inside;
}

static int host_run(const HostCall *call) {
    HostCall *copy = malloc(sizeof *copy);
    int error = device_finish();
    if (copy == NULL || error != 0) {
        free(copy);
        return error != 0 ? error : cudaErrorMemoryAllocation;
    }
    *copy = *call;
    host_calls_wait();
    guards_lift();
    if (pthread_create(&runner, NULL, host_thread, copy) != 0) {
        free(copy);
        return cudaErrorOperatingSystem;
    }
    atomic_store(&is_running, true);
    return 0;
}

int operation_run(const StreamOperation *operation, unsigned stream, unsigned graph) {
    host_calls_wait();
    switch (operation->kind) {
    case OPERATION_LAUNCH:
        return launch_run(&operation->u.launch, stream, graph, operation->caller);
    case OPERATION_COPY:
        return copy_run(&operation->u.copy, operation->caller);
    case OPERATION_FILL:
        return fill_run(&operation->u.fill, operation->caller);
    case OPERATION_HOST:
        return host_run(&operation->u.host);
    case OPERATION_GRAPH:
        return graph_run(operation->u.graph, stream, graph);
    case OPERATION_RECORD:
        event_stamp(operation->u.event);
        return 0;
    case OPERATION_ALLOCATE:
        return memory_fill_place(&operation->u.memory, operation->caller);
    case OPERATION_FREE:
        return memory_free(operation->u.memory.address, false, operation->caller);
    case OPERATION_NOTHING:
    case OPERATION_WAIT:
        break;
    }
    return 0;
}

/* A copy in the default stream, or of pageable memory, returns when it is done. */
static void tell_wait(const Stream *stream, const StreamOperation *operation) {
    const MemoryCopy *copy = &operation->u.copy;
    bool is_copy = operation->kind == OPERATION_COPY, is_fill = operation->kind == OPERATION_FILL,
         has_host = is_copy && (!window_holds(copy->to) || !window_holds(copy->from));
    if (has_host || operation->kind == OPERATION_HOST || ((is_copy || is_fill) && stream->number == 0))
        order_tell(ORDER_HOST, stream, 0);
    if (is_copy && !window_holds(copy->to) && window_holds(copy->from))
        order_tell(ORDER_HOST_READ, stream, copy->from);
}

int operation_submit(Stream *stream, StreamOperation *operation) {
    stream = stream_find(stream);
    operation->caller = library_caller();
    if (stream->capture != NULL) return capture_add(stream, operation);
    int error = operation_run(operation, stream->number, 0);
    tell_wait(stream, operation);
    const MemoryCopy *copy = &operation->u.copy;
    bool is_flat = operation->kind == OPERATION_COPY && copy->height == 1 && copy->depth == 1;
    if (error == 0 && is_flat && stream->number != 0 && window_holds(copy->to) && window_holds(copy->from))
        guard_copy(copy->to, copy->width);
    if (operation->kind == OPERATION_LAUNCH) launch_free(&operation->u.launch);
    return error;
}

int copy_rows(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width, size_t height,
              int kind, Stream *stream) {
    StreamOperation operation = {.kind = OPERATION_COPY,
                                 .u.copy = {to, from, to_pitch, from_pitch, 0, 0, width, height, 1, kind}};
    return operation_submit(stream, &operation);
}

int copy_flat(uint64_t to, uint64_t from, size_t bytes, int kind, Stream *stream) {
    return copy_rows(to, bytes, from, bytes, bytes, 1, kind, stream);
}

int copy_symbol(const void *symbol, uint64_t host, size_t bytes, size_t offset, int kind, bool from,
                Stream *stream) {
    uint64_t address = 0;
    int error = symbol_get(&address, NULL, symbol);
    if (error != 0) return error;
    return from ? copy_flat(host, address + offset, bytes, kind, stream)
                : copy_flat(address + offset, host, bytes, kind, stream);
}

/* One side of a copy of a box: rows and slices are counted from `address`. */
typedef struct BoxSide {
    uint64_t address;
    size_t pitch, slice;
} BoxSide;

static BoxSide box_side(const Array *array, const size_t position[3], const Pitched *memory) {
    if (array != NULL) {
        ArrayPlace place = array_place(array);
        return (BoxSide){place.address + position[2] * place.slice + position[1] * place.pitch +
                             position[0] * place.texel_bytes,
                         place.pitch, place.slice};
    }
    size_t slice = memory->pitch * memory->height;
    return (BoxSide){memory->pointer + position[2] * slice + position[1] * memory->pitch + position[0],
                     memory->pitch, slice};
}

/* cudaMemcpy3DParms: with an array, the extent and the place in the array are in texels. */
int copy_read_box(MemoryCopy *copy, const void *parameters) {
    struct {
        const Array *from_array;
        size_t from_position[3];
        Pitched from;
        const Array *to_array;
        size_t to_position[3];
        Pitched to;
        size_t extent[3];
        int kind;
    } p;
    memcpy(&p, parameters, sizeof p);
    BoxSide from = box_side(p.from_array, p.from_position, &p.from),
            to = box_side(p.to_array, p.to_position, &p.to);
    const Array *array = p.to_array != NULL ? p.to_array : p.from_array;
    size_t unit = array != NULL ? array_place(array).texel_bytes : 1;
    *copy = (MemoryCopy){to.address, from.address,       to.pitch,    from.pitch,  to.slice,
                         from.slice, p.extent[0] * unit, p.extent[1], p.extent[2], p.kind};
    return 0;
}

/* One side of the driver's structures for copies of boxes; rows and slices are counted from here. */
typedef struct DriverSide {
    int memory; /* 1 host, 2 device, 3 array, 4 unified */
    uint64_t host, device;
    const Array *array;
} DriverSide;

enum { DRIVER_HOST = 1, DRIVER_ARRAY = 3 };

/* The place of x bytes, y rows and z slices. */
static BoxSide driver_side(const DriverSide *side, size_t x, size_t y, size_t z, size_t pitch,
                           size_t height) {
    BoxSide result = {side->memory == DRIVER_HOST ? side->host : side->device, pitch, pitch * height};
    if (side->memory == DRIVER_ARRAY && side->array != NULL) {
        ArrayPlace place = array_place(side->array);
        result = (BoxSide){place.address, place.pitch, place.slice};
    }
    result.address += z * result.slice + y * result.pitch + x;
    return result;
}

/* CUDA_MEMCPY3D */
static int read_driver_box(MemoryCopy *copy, const void *parameters) {
    struct Side {
        size_t x, y, z, mipmap;
        DriverSide memory;
        uint64_t unused;
        size_t pitch, height;
    };
    struct {
        struct Side from, to;
        size_t width, height, depth;
    } p;
    memcpy(&p, parameters, sizeof p);
    BoxSide from = driver_side(&p.from.memory, p.from.x, p.from.y, p.from.z, p.from.pitch, p.from.height),
            to = driver_side(&p.to.memory, p.to.x, p.to.y, p.to.z, p.to.pitch, p.to.height);
    *copy = (MemoryCopy){to.address, from.address, to.pitch, from.pitch, to.slice,
                         from.slice, p.width,      p.height, p.depth,    ANY_DIRECTION};
    return 0;
}

int copy_box(const void *parameters, bool of_driver, Stream *stream) {
    StreamOperation operation = {.kind = OPERATION_COPY};
    int error = (of_driver ? read_driver_box : copy_read_box)(&operation.u.copy, parameters);
    return error != 0 ? error : operation_submit(stream, &operation);
}

/* CUDA_MEMCPY2D */
int copy_rows_of_driver(const void *parameters, Stream *stream) {
    struct {
        size_t x, y;
        DriverSide memory;
        size_t pitch;
    } side[2];
    size_t size[2];
    memcpy(side, parameters, sizeof side);
    memcpy(size, (const char *)parameters + sizeof side, sizeof size);
    BoxSide box[2];
    for (int i = 0; i < 2; i++)
        box[i] = driver_side(&side[i].memory, side[i].x, side[i].y, 0,
                             side[i].pitch != 0 ? side[i].pitch : size[0], 0);
    return copy_rows(box[1].address, box[1].pitch, box[0].address, box[0].pitch, size[0], size[1],
                     ANY_DIRECTION, stream);
}

int fill_rows(uint64_t to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
              Stream *stream) {
    StreamOperation operation = {.kind = OPERATION_FILL,
                                 .u.fill = {to, pitch, pitch * height, width, height, 1, value, element}};
    return operation_submit(stream, &operation);
}

int fill_box(const Pitched *to, unsigned value, const Extent *extent, Stream *stream) {
    StreamOperation operation = {.kind = OPERATION_FILL,
                                 .u.fill = {to->pointer, to->pitch, to->pitch * to->height, extent->width,
                                            extent->height, extent->depth, value, 1}};
    return operation_submit(stream, &operation);
}

int host_call(Stream *stream, void (*function)(void *), void *data) {
    StreamOperation operation = {.kind = OPERATION_HOST, .u.host = {function, data}};
    return operation_submit(stream, &operation);
}

typedef struct Callback {
    Stream *stream;
    void (*function)(Stream *, int, void *);
    void *data;
} Callback;

static void call_back(void *data) {
    Callback callback = *(Callback *)data;
    free(data);
    callback.function(callback.stream, 0, callback.data);
}

int host_callback(Stream *stream, void (*function)(Stream *, int, void *), void *data) {
    if (stream_find(stream)->capture != NULL) return cudaErrorStreamCaptureUnsupported;
    Callback *callback = malloc(sizeof *callback);
    if (callback == NULL) return cudaErrorMemoryAllocation;
    *callback = (Callback){stream, function, data};
    StreamOperation operation = {.kind = OPERATION_HOST, .u.host = {call_back, callback}};
    int error = operation_submit(stream, &operation);
    if (error != 0) free(callback);
    return error; /* NOLINT(clang-analyzer-unix.Malloc): call_back() frees it */
}
