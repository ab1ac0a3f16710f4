/* Memory: what the program has allocated, and the variables of its modules.
 *
 * The table is sorted by address. Freed rows stay until their addresses are used again, so that a copy of
 * freed memory can be named. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

enum { PITCH_BYTES = 512 };

static struct {
    DeviceAllocation *rows;
    size_t count, capacity;
    uint64_t bytes;
} table;

/* The number of rows that begin at or below the address. */
static size_t rows_below(uint64_t address) {
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table.rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const DeviceAllocation *memory_find(uint64_t address) {
    size_t row = rows_below(address);
    return row > 0 ? &table.rows[row - 1] : NULL;
}

/* The allocation or variable that holds the address now; NULL: none. */
static const DeviceAllocation *memory_at(uint64_t address) {
    const DeviceAllocation *found = memory_find(address);
    return found != NULL && !found->freed && address - found->address < found->bytes ? found : NULL;
}

static void drop_freed(uint64_t address, uint64_t bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < table.count; i++) {
        const DeviceAllocation *row = &table.rows[i];
        if (row->freed && row->address < address + bytes && address < row->address + row->bytes) continue;
        table.rows[kept++] = *row;
    }
    table.count = kept;
}

void memory_add(const MessagePlace *place, const char *variable) {
    drop_freed(place->address, place->bytes);
    if (table.count == table.capacity) {
        size_t capacity = table.capacity * 2 + 64;
        DeviceAllocation *rows = realloc(table.rows, capacity * sizeof *rows);
        if (rows == NULL) abort();
        table.rows = rows;
        table.capacity = capacity;
    }
    size_t row = rows_below(place->address);
    memmove(&table.rows[row + 1], &table.rows[row], (table.count - row) * sizeof *table.rows);
    table.rows[row] = (DeviceAllocation){place->address, place->bytes, variable, (MessageMemory)place->memory,
                                         false,          NULL,         false};
    table.count++;
    if (variable == NULL) table.bytes += place->bytes;
    if (place->memory != MEMORY_DEVICE) window_open(place->address, place->bytes, true);
}

static int ask_for(const MessageAllocate *question, MessagePlace *place) {
    int error = device_finish();
    if (error == 0)
        error = ask(MESSAGE_ALLOCATE, question, sizeof *question, NULL, 0, place, sizeof *place, NULL, NULL);
    place->bytes = question->bytes;
    place->memory = question->memory;
    return error == 0 ? place->error : error;
}

int memory_allocate(void *pointer, size_t bytes, MessageMemory memory) {
    return memory_allocate_from(NULL, pointer, bytes, memory);
}

int memory_allocate_from(MemoryPool *pool, void *pointer, size_t bytes, MessageMemory memory) {
    if (pointer == NULL) return failed(cudaErrorInvalidValue, 0, 0, "has NULL for the pointer to be set");
    memset(pointer, 0, sizeof(void *));
    if (bytes == 0) return 0;
    MessageAllocate question = {.bytes = bytes, .caller = library_caller(), .memory = memory};
    MessagePlace place = {0};
    int error = ask_for(&question, &place);
    if (error != 0) return error;
    memory_add(&place, NULL);
    table.rows[rows_below(place.address) - 1].pool = pool;
    memcpy(pointer, &place.address, sizeof(void *));
    return 0;
}

int memory_reserve(GraphMemory *memory) {
    MessageAllocate question = {.bytes = memory->bytes, .placing = PLACE_RESERVE};
    MessagePlace place = {0};
    int error = memory->bytes > 0 ? ask_for(&question, &place) : cudaErrorInvalidValue;
    memory->address = place.address;
    return error;
}

int memory_fill_place(const GraphMemory *memory, uint64_t caller) {
    MessageAllocate question = {
        .bytes = memory->bytes, .caller = caller, .placing = PLACE_RESERVED, .address = memory->address};
    MessagePlace place = {0};
    if (memory_at(memory->address) != NULL)
        return failed(cudaErrorInvalidValue, memory->address, memory->bytes,
                      "launches a graph whose memory is still allocated by its last launch");
    int error = ask_for(&question, &place);
    if (error != 0) return error;
    memory_add(&place, NULL);
    table.rows[rows_below(place.address) - 1].is_of_graph = true;
    graph_memory_taken(place.bytes);
    return 0;
}

int memory_free_in(Stream *stream, uint64_t address) {
    StreamOperation operation = {.kind = OPERATION_FREE, .u.memory.address = address};
    return address != 0 ? operation_submit(stream, &operation) : 0;
}

int memory_allocate_pitched(void *pointer, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    return memory_allocate(pointer, *pitch * height, MEMORY_DEVICE);
}

int memory_allocate_box(Pitched *to, Extent extent) {
    to->width = extent.width;
    to->height = extent.height;
    return memory_allocate_pitched(&to->pointer, &to->pitch, extent.width, extent.height * extent.depth);
}

static const char *kind_name(const DeviceAllocation *allocation) {
    static const char *const NAMES[] = {"cudaMalloc memory", "managed memory", "pinned memory"};
    return NAMES[allocation->memory];
}

static void release(DeviceAllocation *row, uint64_t caller) {
    MessageAt message = {row->address, caller};
    if (row->memory != MEMORY_DEVICE) window_open(row->address, row->bytes, false);
    tell(MESSAGE_FREE, &message, sizeof message, NULL, 0);
    row->freed = true;
    table.bytes -= row->bytes;
    if (row->pool != NULL) pool_returned(row->pool, row->bytes);
    if (row->is_of_graph) graph_memory_returned(row->bytes);
}

int memory_free(uint64_t address, bool of_host, uint64_t caller) {
    if (address == 0) return 0;
    guards_lift();
    size_t count = rows_below(address);
    DeviceAllocation *row = count > 0 ? &table.rows[count - 1] : NULL;
    if (row == NULL || address >= row->address + row->bytes || row->variable != NULL)
        return failed(cudaErrorInvalidValue, address, 0, "frees 0x%" PRIx64 ", which was not allocated",
                      address);
    if (row->freed)
        return failed(cudaErrorInvalidValue, row->address, row->bytes, "frees 0x%" PRIx64 " a second time",
                      address);
    if (row->address != address)
        return failed(cudaErrorInvalidValue, row->address, row->bytes, "frees an address inside of %s",
                      kind_name(row));
    if (of_host != (row->memory == MEMORY_PINNED && row->pool == NULL))
        return failed(cudaErrorInvalidValue, row->address, row->bytes, "frees %s, which %s must free",
                      kind_name(row), of_host ? "cudaFree" : "cudaFreeHost");
    int error = device_finish();
    if (error == 0) release(row, caller);
    return error;
}

int memory_free_waiting(uint64_t address, bool of_host) {
    if (address != 0) order_tell(ORDER_HOST_ALL, NULL, 0);
    return memory_free(address, of_host, library_caller());
}

void memory_reset(void) {
    order_tell(ORDER_HOST_ALL, NULL, 0);
    if (device_finish() != 0) return;
    memory_unregister_all();
    for (size_t i = 0; i < table.count; i++)
        if (!table.rows[i].freed && table.rows[i].variable == NULL) release(&table.rows[i], library_caller());
}

/* 4096 -> "4,096" */
static const char *with_commas(char text[32], uint64_t value) {
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, value), length = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) text[length++] = ',';
        text[length++] = digits[i];
    }
    text[length] = '\0';
    return text;
}

int memory_check(uint64_t address, uint64_t bytes, const char *verb, const char *where) {
    const DeviceAllocation *row = memory_find(address);
    char size[32], held[32], begin[32];
    if (bytes == 0) return 0;
    with_commas(size, bytes);
    if (row == NULL || (row->freed && address >= row->address + row->bytes))
        return failed(cudaErrorInvalidValue, address, bytes,
                      "%s %s bytes %s 0x%" PRIx64 ", which was not allocated", verb, size, where, address);
    if (row->freed)
        return failed(cudaErrorInvalidValue, row->address, row->bytes,
                      "%s %s bytes %s %s that has been freed", verb, size, where, kind_name(row));
    uint64_t offset = address - row->address;
    if (offset <= row->bytes && bytes <= row->bytes - offset) return 0;
    with_commas(held, row->bytes);
    with_commas(begin, offset);
    return failed(cudaErrorInvalidValue, row->address, row->bytes, "%s %s bytes %s %s bytes of %s%s%s%s%s",
                  verb, size, where, held, row->variable != NULL ? "the variable " : kind_name(row),
                  row->variable != NULL ? row->variable : "", offset > 0 ? ", from byte " : "",
                  offset > 0 ? begin : "", offset > 0 ? " on" : "");
}

int memory_info(size_t *available, size_t *total) {
    uint64_t all = machine()->memory_bytes;
    uint64_t taken = table.bytes + pools_idle_bytes() + graph_memory_idle_bytes();
    if (total != NULL) *total = all;
    if (available != NULL) *available = taken < all ? all - taken : 0;
    return 0;
}

/* cudaPointerAttributes; CUDA 13 has reserved fields behind these. */
int memory_pointer_attributes(void *attributes, uint64_t address) {
    struct {
        int type, device;
        uint64_t on_device, on_host;
    } result = {0, -2, 0, address};
    uint64_t on_device = memory_registered(address);
    if (on_device == 0) on_device = address;
    const DeviceAllocation *row = memory_at(on_device);
    if (row == NULL && window_holds(address)) return cudaErrorInvalidValue;
    if (row != NULL) {
        result.type = row->memory == MEMORY_PINNED ? 1 : row->memory == MEMORY_DEVICE ? 2 : 3;
        result.device = 0;
        result.on_device = on_device;
        if (row->memory == MEMORY_DEVICE) result.on_host = 0;
    }
    memcpy(attributes, &result, sizeof result);
    return 0;
}

int memory_driver_attribute(void *value, int attribute, uint64_t address) {
    enum {
        CONTEXT = 1,
        TYPE,
        ON_DEVICE,
        ON_HOST,
        SYNCHRONIZES = 6,
        NUMBER,
        IS_MANAGED,
        DEVICE,
        BEGIN = 11,
        BYTES,
        MAPPED,
        POOL = 17
    };
    const DeviceAllocation *row = memory_at(address);
    uint64_t wide = 0;
    size_t bytes = sizeof(int);
    if (row == NULL) return cudaErrorInvalidValue;
    switch (attribute) {
    case CONTEXT: {
        void *context = NULL;
        context_get(&context);
        wide = (uintptr_t)context;
        bytes = 8;
        break;
    }
    case TYPE:
        wide = row->memory == MEMORY_PINNED ? 1 : 2;
        break;
    case ON_DEVICE:
        wide = address, bytes = 8;
        break;
    case ON_HOST:
        if (row->memory == MEMORY_DEVICE) return cudaErrorInvalidValue;
        wide = address, bytes = 8;
        break;
    case NUMBER:
        wide = (uint64_t)(row - table.rows) + 1, bytes = 8;
        break;
    case IS_MANAGED:
        wide = row->memory == MEMORY_MANAGED;
        break;
    case BEGIN:
        wide = row->address, bytes = 8;
        break;
    case BYTES:
        wide = row->bytes, bytes = 8;
        break;
    case MAPPED:
        wide = 1;
        break;
    case POOL:
        wide = (uintptr_t)row->pool, bytes = 8;
        break;
    case SYNCHRONIZES:
    case DEVICE:
        break;
    default:
        return cudaErrorNotSupported;
    }
    memcpy(value, &wide, bytes);
    return 0;
}

int memory_driver_attributes(unsigned count, const int *attributes, void **values, uint64_t address) {
    for (unsigned i = 0; i < count; i++)
        if (memory_driver_attribute(values[i], attributes[i], address) != 0)
            memset(values[i], 0, sizeof(int));
    return 0;
}

int memory_range(uint64_t *base, size_t *bytes, uint64_t address) {
    const DeviceAllocation *row = memory_at(address);
    if (row == NULL) return cudaErrorSymbolNotFound;
    if (base != NULL) *base = row->address;
    if (bytes != NULL) *bytes = row->bytes;
    return 0;
}

int memory_host_pointer(uint64_t *device, uint64_t host) {
    *device = memory_at(host) != NULL ? host : memory_registered(host);
    return *device != 0
               ? 0
               : failed(cudaErrorInvalidValue, host, 0,
                        "asks for the device's address of memory that is not pinned, or that another "
                        "process or a file shares");
}
