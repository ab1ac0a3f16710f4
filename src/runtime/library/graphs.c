/* Graphs: operations with dependencies, captured from streams or built node by node. A launch executes the
 * nodes one after another, each after those on which it depends. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

typedef struct Node {
    Graph *graph;
    StreamOperation operation;
    NodeList depends;
    struct Node *origin; /* of an executable graph: the node of the graph from which it was made */
    unsigned visit;      /* the number of the last launch that has executed it */
} Node;

struct Graph {
    NodeList nodes; /* owned, in the order of their creation */
    bool frees;     /* executable: a launch first frees what the last one has not */
    HeldObject *held;
};

enum { CAPTURE_NONE, CAPTURE_ACTIVE };

static void operation_free(StreamOperation *operation) {
    if (operation->kind == OPERATION_LAUNCH) launch_free(&operation->u.launch);
    if (operation->kind == OPERATION_GRAPH) graph_free(operation->u.graph);
}

static int operation_copy(StreamOperation *to, const StreamOperation *from) {
    *to = *from;
    if (from->kind == OPERATION_GRAPH) return graph_copy(&to->u.graph, from->u.graph);
    if (from->kind != OPERATION_LAUNCH) return 0;
    size_t bytes = function_parameter_bytes(from->u.launch.function);
    to->u.launch.bytes = malloc(bytes + 1);
    if (to->u.launch.bytes == NULL) return cudaErrorMemoryAllocation;
    memcpy(to->u.launch.bytes, from->u.launch.bytes, bytes);
    return 0;
}

int graph_create(Graph **graph) {
    *graph = calloc(1, sizeof **graph);
    return *graph != NULL ? 0 : cudaErrorMemoryAllocation;
}

int graph_free(Graph *graph) {
    if (graph == NULL) return cudaErrorInvalidValue;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        operation_free(&graph->nodes.nodes[i]->operation);
        free(graph->nodes.nodes[i]->depends.nodes);
        free(graph->nodes.nodes[i]);
    }
    held_objects_free(&graph->held);
    graph_memory_forget(graph);
    free(graph->nodes.nodes);
    free(graph);
    return 0;
}

int graph_retain(Graph *graph, UserObject *object, unsigned references, unsigned flags) {
    enum { MOVE = 1 };
    if (graph == NULL || flags > MOVE) return cudaErrorInvalidValue;
    return held_objects_add(&graph->held, object, references, flags == MOVE);
}

int graph_release(Graph *graph, UserObject *object, unsigned references) {
    return graph != NULL ? held_objects_remove(&graph->held, object, references) : cudaErrorInvalidValue;
}

/* Takes the operation over. */
int graph_add(Node **node, Graph *graph, Node **depends, size_t count, StreamOperation *operation) {
    Node *added = graph != NULL ? calloc(1, sizeof *added) : NULL;
    if (added == NULL) return graph == NULL ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    added->graph = graph;
    added->operation = *operation;
    if (added->operation.caller == 0) added->operation.caller = library_caller();
    for (size_t i = 0; i < count; i++) list_add(&added->depends, depends[i]);
    list_add(&graph->nodes, added);
    if (node != NULL) *node = added;
    return 0;
}

int graph_copy(Graph **copy, const Graph *graph) {
    int error = graph != NULL ? graph_create(copy) : cudaErrorInvalidValue;
    if (error == 0) error = held_objects_copy(&(*copy)->held, graph->held);
    for (size_t i = 0; error == 0 && i < graph->nodes.count; i++) {
        Node *added = NULL, *from = graph->nodes.nodes[i];
        StreamOperation operation;
        error = operation_copy(&operation, &from->operation);
        if (error == 0) error = graph_add(&added, *copy, NULL, 0, &operation);
        if (error == 0) added->origin = from;
    }
    for (size_t i = 0; error == 0 && i < graph->nodes.count; i++)
        for (size_t j = 0; j < graph->nodes.nodes[i]->depends.count; j++)
            for (size_t k = 0; k < graph->nodes.count; k++)
                if (graph->nodes.nodes[k] == graph->nodes.nodes[i]->depends.nodes[j])
                    list_add(&(*copy)->nodes.nodes[i]->depends, (*copy)->nodes.nodes[k]);
    if (error != 0 && graph != NULL) {
        graph_free(*copy);
        *copy = NULL;
    }
    return error;
}

int graph_instantiate(Graph **executable, const Graph *graph, unsigned long long flags) {
    enum { AUTO_FREE_ON_LAUNCH = 1 };
    int error = graph_copy(executable, graph);
    if (error == 0) (*executable)->frees = (flags & AUTO_FREE_ON_LAUNCH) != 0;
    return error;
}

/* Frees what the last launch has allocated and nobody has freed. */
static int free_memory_of(const Graph *graph) {
    int error = 0;
    for (size_t i = 0; error == 0 && i < graph->nodes.count; i++) {
        const StreamOperation *operation = &graph->nodes.nodes[i]->operation;
        if (operation->kind != OPERATION_ALLOCATE) continue;
        uint64_t address = operation->u.memory.address;
        const DeviceAllocation *memory = memory_find(address);
        if (memory != NULL && memory->address == address && !memory->freed)
            error = memory_free(address, false, library_caller());
    }
    return error;
}

/* Nodes mostly come after those on which they depend, so this is not deep. */
static int node_run(Node *node, unsigned visit, unsigned stream, unsigned number) {
    int error = 0;
    if (node->visit == visit) return 0;
    node->visit = visit;
    for (size_t i = 0; error == 0 && i < node->depends.count; i++)
        error = node_run(node->depends.nodes[i], visit, stream, number);
    return error != 0 ? error : operation_run(&node->operation, stream, number);
}

int graph_run(Graph *graph, unsigned stream, unsigned number) {
    static unsigned visit;
    unsigned this_visit = ++visit;
    int error = 0;
    for (size_t i = 0; error == 0 && i < graph->nodes.count; i++)
        error = node_run(graph->nodes.nodes[i], this_visit, stream, number);
    return error;
}

int graph_launch(Graph *graph, Stream *stream) {
    static unsigned count;
    if (graph == NULL) return cudaErrorInvalidValue;
    int error = graph->frees ? free_memory_of(graph) : 0;
    if (error != 0) return error;
    graph_memory_begin();
    error = graph_run(graph, stream_find(stream)->number, ++count);
    graph_memory_end(graph);
    return error;
}

/* cudaGraphExecUpdate: `result` is a cudaGraphExecUpdateResult. */
int graph_update(Graph *executable, const Graph *graph, int *result) {
    enum { UPDATED, TOPOLOGY_CHANGED = 2, TYPE_CHANGED };
    *result = executable->nodes.count == graph->nodes.count ? UPDATED : TOPOLOGY_CHANGED;
    for (size_t i = 0; *result == UPDATED && i < graph->nodes.count; i++)
        if (executable->nodes.nodes[i]->operation.kind != graph->nodes.nodes[i]->operation.kind)
            *result = TYPE_CHANGED;
    if (*result != UPDATED) return cudaErrorGraphExecUpdateFailure;
    int error = 0;
    for (size_t i = 0; error == 0 && i < graph->nodes.count; i++) {
        operation_free(&executable->nodes.nodes[i]->operation);
        error = operation_copy(&executable->nodes.nodes[i]->operation, &graph->nodes.nodes[i]->operation);
    }
    return error;
}

/* cudaMemAllocNodeParams: 104 bytes that do not matter here, the size, and the address, which is set. */
static int read_allocation(GraphMemory *memory, const void *parameters) {
    enum { SIZE = 104, ADDRESS = 112 };
    memcpy(&memory->bytes, (const char *)parameters + SIZE, sizeof memory->bytes);
    int error = memory_reserve(memory);
    memcpy((char *)(uintptr_t)parameters + ADDRESS, &memory->address, sizeof memory->address);
    return error;
}

/* The operation that the structure of cudaGraphAdd...Node describes. */
static int read_operation(StreamOperation *operation, OperationKind kind, const void *parameters) {
    *operation = (StreamOperation){.kind = kind};
    if (kind == OPERATION_LAUNCH) return launch_prepare(&operation->u.launch, parameters);
    if (kind == OPERATION_COPY) return copy_read_box(&operation->u.copy, parameters);
    if (kind == OPERATION_HOST) memcpy(&operation->u.host, parameters, sizeof operation->u.host);
    if (kind == OPERATION_RECORD || kind == OPERATION_WAIT)
        memcpy(&operation->u.event, parameters, sizeof operation->u.event);
    if (kind == OPERATION_ALLOCATE) return read_allocation(&operation->u.memory, parameters);
    if (kind == OPERATION_FREE) memcpy(&operation->u.memory.address, parameters, sizeof(uint64_t));
    if (kind == OPERATION_GRAPH) {
        const Graph *graph;
        memcpy(&graph, parameters, sizeof graph);
        return graph_copy(&operation->u.graph, graph);
    }
    if (kind == OPERATION_FILL) {
        struct {
            uint64_t to;
            size_t pitch;
            unsigned value, element;
            size_t width, height;
        } p;
        memcpy(&p, parameters, sizeof p);
        operation->u.fill = (Fill){
            p.to, p.height > 1 ? p.pitch : p.width * p.element, 0, p.width, p.height, 1, p.value, p.element};
    }
    return 0;
}

int graph_add_node(Node **node, Graph *graph, Node **depends, size_t count, OperationKind kind,
                   const void *parameters) {
    StreamOperation operation;
    int error = read_operation(&operation, kind, parameters);
    return error != 0 ? error : graph_add(node, graph, depends, count, &operation);
}

int graph_add_any(Node **node, Graph *graph, Node **depends, size_t count, const void *parameters) {
    enum { PARAMETERS = 16 }; /* cudaGraphNodeParams: the kind, then a union */
    int kind;
    memcpy(&kind, parameters, sizeof kind);
    size_t begin = kind == OPERATION_COPY ? PARAMETERS + 16 : PARAMETERS;
    bool is_known = kind <= OPERATION_RECORD || kind == OPERATION_ALLOCATE || kind == OPERATION_FREE;
    if (!is_known) return lacks("cudaGraphAddNode");
    return graph_add_node(node, graph, depends, count, (OperationKind)kind, (const char *)parameters + begin);
}

int graph_add_copy(Node **node, Graph *graph, Node **depends, size_t count, uint64_t to, uint64_t from,
                   size_t bytes, int kind) {
    StreamOperation operation = {.kind = OPERATION_COPY,
                                 .u.copy = {to, from, bytes, bytes, 0, 0, bytes, 1, 1, kind}};
    return graph_add(node, graph, depends, count, &operation);
}

int graph_add_symbol_copy(Node **node, Graph *graph, Node **depends, size_t count, const void *symbol,
                          uint64_t host, size_t bytes, size_t offset, int kind, bool from) {
    uint64_t address = 0;
    int error = symbol_get(&address, NULL, symbol);
    if (error != 0) return error;
    return from ? graph_add_copy(node, graph, depends, count, host, address + offset, bytes, kind)
                : graph_add_copy(node, graph, depends, count, address + offset, host, bytes, kind);
}

/* The node of an executable graph, or the node itself. */
static Node *node_in(Graph *executable, Node *node) {
    for (size_t i = 0; executable != NULL && i < executable->nodes.count; i++)
        if (executable->nodes.nodes[i]->origin == node) return executable->nodes.nodes[i];
    return executable == NULL ? node : NULL;
}

int node_find(Node **found, Node *node, Graph *clone) {
    *found = node_in(clone, node);
    return *found != NULL ? 0 : cudaErrorInvalidValue;
}

static int node_replace(Node *node, StreamOperation *operation) {
    if (node == NULL || node->operation.kind != operation->kind) {
        operation_free(operation);
        return cudaErrorInvalidValue;
    }
    operation->caller = node->operation.caller;
    operation_free(&node->operation);
    node->operation = *operation;
    return 0;
}

int node_set(Graph *executable, Node *node, OperationKind kind, const void *parameters) {
    StreamOperation operation;
    int error = read_operation(&operation, kind, parameters);
    return error != 0 ? error : node_replace(node_in(executable, node), &operation);
}

int node_set_copy(Graph *executable, Node *node, uint64_t to, uint64_t from, size_t bytes, int kind) {
    StreamOperation operation = {.kind = OPERATION_COPY,
                                 .u.copy = {to, from, bytes, bytes, 0, 0, bytes, 1, 1, kind}};
    return node_replace(node_in(executable, node), &operation);
}

int node_type(const Node *node, int *type) {
    if (node == NULL) return cudaErrorInvalidValue;
    *type = (int)node->operation.kind;
    return 0;
}

int graph_depend(Node **from, Node **to, size_t count) {
    for (size_t i = 0; i < count; i++) list_add(&to[i]->depends, from[i]);
    return 0;
}

/* Gives a list to the program: its length alone if `nodes` is NULL, else as many as `*count` has room for. */
static void give(Node **nodes, const size_t *count, size_t *given, Node *node) {
    if (nodes != NULL && *given < *count) nodes[*given] = node;
    ++*given;
}

static int give_end(Node **nodes, size_t *count, size_t given) {
    for (size_t i = given; nodes != NULL && i < *count; i++) nodes[i] = NULL;
    if (nodes == NULL || given < *count) *count = given;
    return 0;
}

int graph_nodes(const Graph *graph, Node **nodes, size_t *count, bool roots) {
    size_t given = 0;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (!roots || graph->nodes.nodes[i]->depends.count == 0)
            give(nodes, count, &given, graph->nodes.nodes[i]);
    return give_end(nodes, count, given);
}

int graph_edges(const Graph *graph, Node **from, Node **to, size_t *count) {
    size_t given = 0, again = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        Node *node = graph->nodes.nodes[i];
        for (size_t j = 0; j < node->depends.count; j++) {
            give(from, count, &given, node->depends.nodes[j]);
            give(to, count, &again, node);
        }
    }
    return give_end(from, count, given);
}

int node_neighbours(const Node *node, Node **nodes, size_t *count, bool after) {
    size_t given = 0;
    for (size_t i = 0; !after && i < node->depends.count; i++)
        give(nodes, count, &given, node->depends.nodes[i]);
    for (size_t i = 0; after && i < node->graph->nodes.count; i++) {
        Node *other = node->graph->nodes.nodes[i];
        for (size_t j = 0; j < other->depends.count; j++)
            if (other->depends.nodes[j] == node) give(nodes, count, &given, other);
    }
    return give_end(nodes, count, given);
}

int capture_begin(Stream *stream, Graph *into, Node **depends, size_t count) {
    stream = stream_find(stream);
    if (stream->number == 0)
        return failed(cudaErrorStreamCaptureUnsupported, 0, 0, "captures the default stream");
    if (stream->capture != NULL) return cudaErrorIllegalState;
    int error = into == NULL ? graph_create(&into) : 0;
    if (error != 0) return error;
    stream_join(stream, into, 0);
    stream->is_origin = true;
    for (size_t i = 0; i < count; i++) list_add(&stream->pending, depends[i]);
    return 0;
}

int capture_end(Stream *stream, Graph **graph) {
    stream = stream_find(stream);
    if (graph != NULL) *graph = NULL;
    if (stream->capture == NULL) return cudaErrorIllegalState;
    if (!stream->is_origin) return cudaErrorStreamCaptureUnmatched;
    if (graph != NULL) *graph = stream->capture;
    stream->is_origin = false;
    streams_leave(stream->capture);
    return 0;
}

int capture_add(Stream *stream, StreamOperation *operation) {
    Node *node = NULL;
    int error = graph_add(&node, stream->capture, stream->pending.nodes, stream->pending.count, operation);
    stream->pending.count = 0;
    if (error == 0) list_add(&stream->pending, node);
    return error;
}

int capture_info(Stream *stream, int *status, unsigned long long *id, Graph **graph, Node ***nodes,
                 size_t *count) {
    stream = stream_find(stream);
    *status = stream->capture != NULL ? CAPTURE_ACTIVE : CAPTURE_NONE;
    if (id != NULL) *id = stream->capture_number;
    if (graph != NULL) *graph = stream->capture;
    if (nodes != NULL) *nodes = stream->pending.nodes;
    if (count != NULL) *count = stream->pending.count;
    return 0;
}

/* cudaStreamUpdateCaptureDependencies: adds to the nodes on which the next one depends, or replaces them. */
int capture_set(Stream *stream, Node **nodes, size_t count, bool replaces) {
    stream = stream_find(stream);
    if (stream->capture == NULL) return cudaErrorIllegalState;
    if (replaces) stream->pending.count = 0;
    for (size_t i = 0; i < count; i++) list_add(&stream->pending, nodes[i]);
    return 0;
}
