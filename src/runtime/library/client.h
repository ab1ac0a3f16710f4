/* Client: the CUDA library that a program loads instead of NVIDIA's runtime and driver.
 *
 * It has no emulator: it keeps what the program's side must know (allocations, kernels, streams, graphs),
 * checks calls as a GPU's driver does, and says the rest to redviz by the messages of ../program_messages.h.
 * The functions below take and return what CUDA's own do; runtime.def and driver_calls.def list, a row each,
 * which CUDA name calls which of them, and unsupported.def the names that only report that they are missing.
 *
 * Order: every call holds one lock. Copies are done by the caller itself, after the launches that came before
 * them, so nothing runs beside anything else, whatever its stream.
 *
 * Words: an operation is what a stream executes: a launch, a copy, a fill, a host function, a child graph. */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/tensor_map.h"
#include "base/texture_object.h"
#include "runtime/program_messages.h"

typedef enum CudaError {
#define ERROR(number, name, driver_name, words) name = number,
#include "runtime/library/errors.def"
#undef ERROR
} CudaError;

/* errors.c: every function that can fail returns one of the numbers above, 0 if it does not. */

typedef enum Enter {
    ENTER_PLAIN, /* needs no redviz */
    ENTER_QUERY, /* connects */
    ENTER_CALL   /* and fails for good when a kernel has failed */
} Enter;

/* Enters a CUDA function: waits for host functions and takes the lock. Returns the error that the call must
 * return at once, 0 if there is none. Each call is paired with library_leave(). */
int library_enter(const char *function, void *caller, Enter way);
/* Ends a CUDA function: reports `error` to redviz if failed() has said why, and keeps it as the thread's
 * last. */
int library_leave(int error);
void library_unlock(
    void); /* in a copy of the process by fork(): the thread that held the lock is not in it */
uint64_t library_caller(void); /* the return address of the CUDA function that the program has called */
void library_set_launch(
    uint64_t caller); /* the address of the <<<>>> whose launch is this thread's next call */
/* Says in words why the call fails with `error`; redviz lists them. Returns `error`. */
int failed(int error, uint64_t address, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int lacks(
    const char *function); /* reports that this library does not have the function; cudaErrorNotSupported */
int error_last(bool forget);
const char *error_name(int error, bool of_driver); /* NULL: no such error */
const char *error_words(int error);
int error_of_driver(int error, const char **text, bool name);

/* connection.c: the socket and the window. */
/* From the first CUDA call on, each line that the program prints is written: a pipe would keep it until the
 * program ends by itself. */
void lines_flush(void);
bool connection_open(void); /* true if redviz answers; connects at the first call */
int connection_error(void); /* 0: it answers; in a copy of the process by fork() as on a GPU */
const MessageWelcome *machine(void);
void tell(MessageKind kind, const void *message, size_t bytes, const void *rest, size_t rest_bytes);
/* Sends a question and takes its answer; what follows the answer comes back in *more (to be freed), if
 * wanted. Returns an error if redviz has gone. */
int ask(MessageKind kind, const void *message, size_t bytes, const void *rest, size_t rest_bytes,
        void *answer, size_t answer_bytes, void **more, size_t *more_bytes);
bool window_holds(uint64_t address);
void *window_alias(uint64_t address); /* where this library may read and write device memory */
void *reachable(uint64_t address);    /* the same for any address: host memory stays as it is */
void window_open(uint64_t address, uint64_t bytes,
                 bool accessible); /* to the program's own loads and stores */
/* Waits for all launches, writes what they have printed; returns the error of a kernel, which stays. */
int device_finish(void);
int device_error(void);       /* that error, without waiting */
void device_is_pending(void); /* a launch has been sent */
struct Stream;
struct Graph;
void order_tell(MessageOrderKind kind, const struct Stream *stream, uint64_t event); /* streams.c */
int device_wait(void); /* the host waits for all streams */
/* faults.c: the host is seen when it touches what a copy brings, or managed memory to which arguments of a
 * launch point. */
void guard_copy(uint64_t address, uint64_t bytes);
void guard_arguments(const uint8_t *arguments, size_t bytes);
void guards_lift(void);  /* until it has waited */
void faults_watch(void); /* faults.c: reports accesses to device memory by the program itself */

typedef struct Pitched { /* cudaPitchedPtr */
    uint64_t pointer;
    size_t pitch, width, height;
} Pitched;

typedef struct Extent { /* cudaExtent */
    size_t width, height, depth;
} Extent;

/* memory.c */
typedef struct MemoryPool MemoryPool;

typedef struct DeviceAllocation {
    uint64_t address, bytes;
    const char *variable; /* NULL: not a variable of a module */
    MessageMemory memory;
    bool freed;
    MemoryPool *pool; /* NULL: not of a pool */
    bool is_of_graph;
} DeviceAllocation;

int memory_allocate(void *pointer, size_t bytes, MessageMemory memory);
int memory_allocate_pitched(void *pointer, size_t *pitch, size_t width, size_t height);
int memory_allocate_box(Pitched *to, Extent extent);
int memory_free(uint64_t address, bool of_host, uint64_t caller);
int memory_free_waiting(uint64_t address, bool of_host); /* the host waits for all launches first */
int memory_allocate_from(MemoryPool *pool, void *pointer, size_t bytes, MessageMemory memory);
int memory_free_in(struct Stream *stream, uint64_t address); /* cudaFreeAsync */
/* Memory of a graph has its address from the beginning, and is allocated by each launch. */
typedef struct GraphMemory {
    uint64_t address, bytes;
} GraphMemory;
int memory_reserve(GraphMemory *memory); /* sets its address */
int memory_fill_place(const GraphMemory *memory, uint64_t caller);
void memory_add(const MessagePlace *place, const char *variable);
const DeviceAllocation *memory_find(uint64_t address); /* that begins at or below the address, freed or not */
/* Fails, as "copies 4,096 bytes into 1,024 bytes of cudaMalloc memory", unless all bytes belong to one. */
int memory_check(uint64_t address, uint64_t bytes, const char *verb, const char *where);
int memory_info(size_t *available, size_t *total);
int memory_pointer_attributes(void *attributes, uint64_t address);
int memory_driver_attribute(void *value, int attribute, uint64_t address);
int memory_driver_attributes(unsigned count, const int *attributes, void **values, uint64_t address);
int memory_range(uint64_t *base, size_t *bytes, uint64_t address);
int memory_host_pointer(uint64_t *device, uint64_t host);
void memory_reset(void); /* frees what the program has allocated */

/* pools.c: memory pools. A pool counts the bytes that are allocated from it (used), and those that the driver
 * holds for it (reserved): these grow by whole chunks, and shrink when the host waits for the device, down to
 * the release threshold, or when the program asks (Runtime API, Stream Ordered Memory Allocator). Each call
 * refuses a handle that is no pool. */
typedef struct MemoryLocation { /* cudaMemLocation */
    int type, id;
} MemoryLocation;

int pool_create(MemoryPool **pool, const void *properties); /* cudaMemPoolProps */
int pool_destroy(MemoryPool *pool);                         /* its memory lives until the program frees it */
int pool_of_device(MemoryPool **pool, int device, bool is_default);
int pool_set_for_device(int device, MemoryPool *pool);
/* The pool for a location and a cudaMemAllocationType: the default one, or the one that was set last. */
int pool_of_location(MemoryPool **pool, const MemoryLocation *location, int type, bool is_default);
int pool_set_for_location(const MemoryLocation *location, int type, MemoryPool *pool);
int pool_attribute(const MemoryPool *pool, int attribute, void *value); /* cudaMemPoolAttr */
int pool_set_attribute(MemoryPool *pool, int attribute, const void *value);
int pool_trim(MemoryPool *pool, size_t kept);
int pool_access(int *flags, const MemoryPool *pool, const MemoryLocation *location);
int pool_set_access(MemoryPool *pool, const void *descriptions, size_t count); /* cudaMemAccessDesc */
/* cudaMallocAsync, from the device's pool, and cudaMallocFromPoolAsync: at once, or as a node of the graph
 * that the stream captures. */
int pool_allocate(void *pointer, size_t bytes, struct Stream *stream);
int pool_allocate_from(MemoryPool *pool, void *pointer, size_t bytes, struct Stream *stream);
void pool_returned(MemoryPool *pool, uint64_t bytes); /* memory of the pool has been freed */
void pools_release(void);        /* the host has waited: drops what is above the release thresholds */
uint64_t pools_idle_bytes(void); /* reserved, and not used */

/* graph_memory.c: what cudaDeviceGetGraphMemAttribute counts. Memory that a launch of a graph has allocated
 * is mapped by the executable graph until that is destroyed, or until the program trims: freeing it is not
 * enough. Used is what some graph maps or the program has not freed; reserved what the driver holds for
 * graphs, which only trimming gives back (CUDA Programming Guide, Graph Memory Nodes). */
void graph_memory_taken(uint64_t bytes);
void graph_memory_returned(uint64_t bytes);
/* Around a launch: what it has taken is mapped by the graph from then on. */
void graph_memory_begin(void);
void graph_memory_end(const struct Graph *graph);
void graph_memory_forget(const struct Graph *graph);                /* it maps nothing any more */
uint64_t graph_memory_idle_bytes(void);                             /* reserved, and not allocated */
int graph_memory_attribute(int device, int attribute, void *value); /* cudaGraphMemAttributeType */
int graph_memory_set_attribute(int device, int attribute, const void *value);
int graph_memory_trim(int device);

/* registered.c */
int memory_register(uint64_t host, size_t bytes);
int memory_unregister(uint64_t host);
uint64_t memory_registered(uint64_t host); /* the address for kernels; 0: none */
void memory_unregister_all(void);

/* operations.c: what a stream executes. A MemoryCopy and a Fill are boxes of rows of bytes. */
typedef struct Size3 {
    unsigned x, y, z;
} Size3;

typedef struct MemoryCopy {
    uint64_t to, from;
    size_t to_pitch, from_pitch, to_slice, from_slice;
    size_t width, height, depth;
    int kind; /* cudaMemcpyKind */
} MemoryCopy;

typedef struct Fill {
    uint64_t to;
    size_t pitch, slice, width, height, depth; /* width in elements */
    unsigned value, element;
} Fill;

typedef struct KernelFunction KernelFunction;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Graph Graph;

typedef struct KernelLaunch {
    KernelFunction *function;
    Size3 grid, block, cluster;
    size_t shared;
    bool cooperative;
    bool by_driver; /* refused with the driver's errors, as by CUDA 13 also those of <<<>>> */
    void *bytes;    /* its parameters, function_parameter_bytes() */
} KernelLaunch;

typedef struct HostCall {
    void (*function)(void *);
    void *data;
} HostCall;

typedef enum OperationKind { /* the numbers of cudaGraphNodeType */
                             OPERATION_LAUNCH,
                             OPERATION_COPY,
                             OPERATION_FILL,
                             OPERATION_HOST,
                             OPERATION_GRAPH,
                             OPERATION_NOTHING,
                             OPERATION_WAIT,
                             OPERATION_RECORD,
                             OPERATION_ALLOCATE = 10,
                             OPERATION_FREE
} OperationKind;

typedef struct StreamOperation {
    OperationKind kind;
    union {
        KernelLaunch launch;
        MemoryCopy copy;
        Fill fill;
        HostCall host;
        Graph *graph; /* owned */
        Event *event;
        GraphMemory memory; /* of OPERATION_FREE the address alone */
    } u;
    uint64_t caller;
} StreamOperation;

int operation_submit(Stream *stream,
                     StreamOperation *operation); /* executes it, or adds it to the stream's capture */
int operation_run(const StreamOperation *operation, unsigned stream, unsigned graph);
enum { ANY_COPY = 4 }; /* cudaMemcpyDefault */
int copy_flat(uint64_t to, uint64_t from, size_t bytes, int kind, Stream *stream);
int copy_rows(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width, size_t height,
              int kind, Stream *stream);
int copy_symbol(const void *symbol, uint64_t host, size_t bytes, size_t offset, int kind, bool from,
                Stream *stream);
int copy_box(const void *parameters, bool of_driver,
             Stream *stream);                                    /* cudaMemcpy3DParms, or CUDA_MEMCPY3D */
int copy_rows_of_driver(const void *parameters, Stream *stream); /* CUDA_MEMCPY2D */
int copy_read_box(MemoryCopy *copy, const void *parameters);
int fill_rows(uint64_t to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
              Stream *stream);
int fill_box(const Pitched *to, unsigned value, const Extent *extent, Stream *stream);
int host_call(Stream *stream, void (*function)(void *), void *data);
int host_callback(Stream *stream, void (*function)(Stream *, int, void *), void *data);
void host_calls_wait(void);
bool host_calls_is_inside(void); /* this thread executes one */

/* user_objects.c: a value with a function that frees it, called once no reference is left. It runs as a host
 * function does. HeldObject is a graph's list of the references that it has; copies of the graph have as
 * many. */
typedef struct UserObject UserObject;
typedef struct HeldObject HeldObject;
int user_object_create(UserObject **object, void *data, void (*destroy)(void *), unsigned references,
                       unsigned flags);
int user_object_retain(UserObject *object, unsigned references);
int user_object_release(UserObject *object, unsigned references);
int held_objects_add(HeldObject **held, UserObject *object, unsigned references,
                     bool moves); /* moves: the program's references become the graph's */
int held_objects_remove(HeldObject **held, UserObject *object, unsigned references);
int held_objects_copy(HeldObject **to, const HeldObject *from);
void held_objects_free(HeldObject **held);

/* arrays.c: CUDA arrays, textures and surfaces. Pitches, and the first coordinate of a place, are in
 * bytes. */
typedef struct Array Array; /* cudaArray_t, CUarray */

typedef struct ChannelFormat { /* cudaChannelFormatDesc */
    int bits[4], kind;
} ChannelFormat;

typedef struct DriverArray { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    unsigned format, channels, flags;
} DriverArray;

typedef struct ArrayPlace { /* where its texels are */
    uint64_t address;
    size_t pitch, slice, texel_bytes;
} ArrayPlace;

enum {
    RESOURCE_BYTES = 136, /* of cudaResourceDesc */
    TEXTURE_BYTES = 72    /* of cudaTextureDesc; CUDA_TEXTURE_DESC has more, which nobody needs */
};

int array_create(Array **array, const ChannelFormat *format, Extent extent, unsigned flags);
/* CUDA_ARRAY3D_DESCRIPTOR, or without a depth CUDA_ARRAY_DESCRIPTOR */
int array_create_by_driver(Array **array, const void *descriptor, bool has_depth);
int array_free(Array *array);
int array_info(ChannelFormat *format, Extent *extent, unsigned *flags,
               const Array *array); /* NULL: not asked */
ArrayPlace array_place(const Array *array);
int copy_to_array(Array *to, size_t x, size_t y, uint64_t from, size_t pitch, size_t width, size_t height,
                  int kind, Stream *stream);
int copy_from_array(uint64_t to, size_t pitch, const Array *from, size_t x, size_t y, size_t width,
                    size_t height, int kind, Stream *stream);
int copy_between_arrays(Array *to, size_t x, size_t y, const Array *from, size_t from_x, size_t from_y,
                        size_t width, size_t height, int kind);
int copy_flat_to_array(Array *to, size_t x, size_t y, uint64_t from, size_t bytes, int kind, Stream *stream);
int copy_flat_from_array(uint64_t to, const Array *from, size_t x, size_t y, size_t bytes, int kind,
                         Stream *stream);
/* cudaResourceDesc and cudaTextureDesc, or the driver's; cudaResourceViewDesc must be NULL. */
int texture_create(uint64_t *handle, const void *resource, const void *texture, const void *view,
                   bool of_driver);
int surface_create(uint64_t *handle, const void *resource);
int texture_destroy(uint64_t handle); /* surfaces too */
int texture_resource(void *resource, uint64_t handle);
int texture_description(void *texture, uint64_t handle);

/* modules.c: modules, their kernels and variables. */
typedef struct Module Module;

/* Of a fat binary, its wrapper, an ELF file or a PTX text; NULL for NULL. */
Module *module_new(const void *image);
Module *module_of_file(const char *name);
void module_register_function(Module *module, const void *stub, const char *name);
void module_register_variable(Module *module, const void *host, const char *name, bool managed);
char module_init(Module *module);
int module_send(Module *module);
int module_get_function(void *function, Module *module, const char *name);
int module_get_variable(uint64_t *address, size_t *bytes, Module *module, const char *name);
int symbol_get(uint64_t *address, size_t *bytes, const void *symbol);
/* The kernel of a stub of the host code, or of a handle; asks redviz about it at the first call. */
int function_get(KernelFunction **function, const void *stub);
const MessageFunction *function_facts(const KernelFunction *function);
const char *function_name(const KernelFunction *function);
Module *function_module(const KernelFunction *function);
int function_parameter(const void *function, size_t index, size_t *offset, size_t *bytes);
size_t function_parameter_bytes(const KernelFunction *function);
int function_pack(const KernelFunction *function, void **parameters, void **extra, void *bytes);
bool function_has_big_clusters(const KernelFunction *function); /* allowed by cudaFuncSetAttribute */
unsigned
function_dynamic_limit(const KernelFunction *function); /* the most dynamic shared memory of a launch */
int function_attributes(void *attributes, const void *stub, bool long_form);
int function_attribute(int *value, int attribute, const void *stub);
int function_set_attribute(const void *stub, int attribute, int value);
/* relocatable.c: calls `each` for the fat binaries of -rdc in the file that holds `wrapper`; true if there
 * are any. */
bool relocatable_each(const void *wrapper, void (*each)(const void *fatbin, size_t bytes, void *data),
                      void *data);

/* Does so for those of an object file, or of the object files of an archive. */
bool fatbins_each(const void *file, size_t bytes, void (*each)(const void *fatbin, size_t bytes, void *data),
                  void *data);

/* launches.c */
int launch_plain(const void *stub, Size3 grid, Size3 block, void **parameters, size_t shared, Stream *stream,
                 bool cooperative, bool by_driver);
int launch_extended(const void *configuration, const void *stub, void **parameters, bool by_driver);
int launch_by_driver(const void *function, Size3 grid, Size3 block, unsigned shared, Stream *stream,
                     void **parameters, void **extra, bool cooperative);
int launch_extended_by_driver(const void *configuration, const void *function, void **parameters,
                              void **extra);
int launch_prepare(KernelLaunch *launch, const void *node_parameters);
int launch_run(const KernelLaunch *launch, unsigned stream, unsigned graph, uint64_t caller);
void launch_free(KernelLaunch *launch);
int configuration_push(Size3 grid, Size3 block, size_t shared, Stream *stream, uint64_t caller);
int configuration_pop(Size3 *grid, Size3 *block, size_t *shared, Stream **stream);
int occupancy_blocks(int *blocks, const void *stub, int threads, size_t shared);
int occupancy_shared(size_t *bytes, const void *stub, int blocks, int threads);
int occupancy_best(int *grid, int *block, const void *stub, size_t (*shared_of)(int), size_t shared,
                   int limit);
int occupancy_clusters(int *clusters, const void *stub, const void *configuration);
int occupancy_cluster_size(int *size);

/* streams.c: streams and events. NULL, 1 and 2 are the default streams. */
typedef struct NodeList {
    struct Node **nodes;
    size_t count, capacity;
} NodeList;

struct Stream {
    unsigned number; /* 0: default */
    unsigned flags;
    int priority;
    Graph *capture;                    /* NULL: not capturing */
    unsigned long long capture_number; /* no two captures have the same */
    bool is_origin;                    /* the capture began here */
    NodeList pending;                  /* the nodes on which the next captured one depends */
    Stream *next;
};

struct Event {
    double seconds;
    bool recorded, timed;
    unsigned long long capture_number; /* 0: not recorded in a capture */
    NodeList nodes;                    /* of the capture, that come before it */
};

Stream *stream_find(Stream *stream);
int stream_create(Stream **stream, unsigned flags, int priority);
int stream_destroy(Stream *stream);
void stream_join(Stream *stream, Graph *capture, unsigned long long number); /* number 0: a new capture */
void streams_leave(const Graph *capture);                                    /* it ends for all its streams */
int stream_finish(Stream *stream);                                           /* not while it captures */
int stream_wait(Stream *stream, Event *event);
int event_create(Event **event, unsigned flags);
int event_destroy(Event *event);
int event_record(Event *event, Stream *stream);
void event_stamp(Event *event);
int event_finish(const Event *event);
int event_elapsed(float *milliseconds, const Event *from, const Event *to);
void list_add(NodeList *list, struct Node *node);
void list_copy(NodeList *to, const NodeList *from);

/* graphs.c. An executable graph is a copy of a graph. `parameters` are the structures of
 * cudaGraphAdd...Node. */
int capture_begin(Stream *stream, Graph *into, struct Node **depends, size_t count);
int capture_end(Stream *stream, Graph **graph);
int capture_add(Stream *stream, StreamOperation *operation);
int capture_info(Stream *stream, int *status, unsigned long long *id, Graph **graph, struct Node ***nodes,
                 size_t *count);
int capture_set(Stream *stream, struct Node **nodes, size_t count, bool replaces);
int graph_create(Graph **graph);
int graph_free(Graph *graph);
int graph_retain(Graph *graph, UserObject *object, unsigned references, unsigned flags);
int graph_release(Graph *graph, UserObject *object, unsigned references);
int graph_copy(Graph **copy, const Graph *graph);
int graph_instantiate(Graph **executable, const Graph *graph, unsigned long long flags);
int graph_run(Graph *graph, unsigned stream, unsigned number);
int graph_launch(Graph *graph, Stream *stream);
int graph_update(Graph *executable, const Graph *graph, int *result);
int graph_add(struct Node **node, Graph *graph, struct Node **depends, size_t count,
              StreamOperation *operation);
int graph_add_node(struct Node **node, Graph *graph, struct Node **depends, size_t count, OperationKind kind,
                   const void *parameters);
int graph_add_any(struct Node **node, Graph *graph, struct Node **depends, size_t count,
                  const void *parameters);
int graph_add_copy(struct Node **node, Graph *graph, struct Node **depends, size_t count, uint64_t to,
                   uint64_t from, size_t bytes, int kind);
int graph_add_symbol_copy(struct Node **node, Graph *graph, struct Node **depends, size_t count,
                          const void *symbol, uint64_t host, size_t bytes, size_t offset, int kind,
                          bool from);
int graph_depend(struct Node **from, struct Node **to, size_t count);
int graph_nodes(const Graph *graph, struct Node **nodes, size_t *count, bool roots);
int graph_edges(const Graph *graph, struct Node **from, struct Node **to, size_t *count);
int node_find(struct Node **found, struct Node *node, Graph *clone);
int node_type(const struct Node *node, int *type);
int node_neighbours(const struct Node *node, struct Node **nodes, size_t *count, bool after);
int node_set(Graph *executable, struct Node *node, OperationKind kind, const void *parameters);
int node_set_copy(Graph *executable, struct Node *node, uint64_t to, uint64_t from, size_t bytes, int kind);

/* device.c */
int device_attribute(int *value, int attribute);
int device_properties(void *properties, int major);
int device_limit(size_t *value, int limit);
int device_set_limit(int limit, size_t value);
int device_check(int device);
int text_out(char *text, int bytes, const char *value);

int device_uuid(void *uuid);

/* driver.c: what only the driver has. */
typedef struct PtxLinking PtxLinking;

int context_get(void **context);
int context_current(void **context);
int context_set(const void *context);
int context_push(void **context);
int context_pop(void **context);
int entry_point(const char *name, int version, void **function, int *status);
/* Functions without documents, which NVIDIA's libraries ask the driver for by a UUID: there are none here. */
int export_table(const void **table, const void *id);

/* linking_calls.c: the driver's linker. `type`: CUjitInputType; options and values: CUjit_option. */
int link_create(PtxLinking **linker, unsigned count, const int *options, void **values);
void jit_logs_empty(unsigned count, const int *options, void **values);
int link_add(PtxLinking *linker, int type, const void *data, size_t bytes, const char *name);
int link_add_file(PtxLinking *linker, int type, const char *name);
int link_complete(PtxLinking *linker, void **image, size_t *bytes);
int link_destroy(PtxLinking *linker);
/* The same as nvJitLink has it: nvJitLinkInputType to CUjitInputType, an error to nvJitLinkResult; the text
 * or its bytes, with the end. */
int jit_linker_create(PtxLinking **linker, unsigned count, const char **options);
int jit_linker_input(int type);
int jit_linker_result(int error);
int jit_linker_get(const PtxLinking *linker, size_t *bytes, void *to);
int jit_linker_get_errors(const PtxLinking *linker, size_t *bytes, void *to);

/* tensor_maps.c: encodes the map, which has all fields but the arrays (`box` NULL: it has the box, too);
 * gives a map another address. */
int tensor_map_make(uint8_t *bytes, const TensorMap *map, const uint64_t *size, const uint64_t *stride,
                    const uint32_t *box, const uint32_t *step);
int tensor_map_make_im2col(uint8_t *bytes, const TensorMap *map, const uint64_t *size, const uint64_t *stride,
                           const int *lower, const int *upper, const uint32_t *step);
int tensor_map_move(uint8_t *bytes, uint64_t address);

#endif
