/* The memory of a device: allocations, and which of their words have been written. */
#define _GNU_SOURCE
#include "runtime/emulated_device.h"
#include "runtime/launch_order.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PLACE_BYTES = 1 << 16, /* allocations begin at a multiple of this */
    POISON = 0xA5,
    NO_MEMORY = 2 /* a cudaError_t */
};

static uint64_t most_bytes(const Device *device) {
    uint64_t half = memory_of_machine() / 2;
    return half < device->window_bytes ? half : device->window_bytes;
}

/* An address for that many bytes, with unmapped space behind them; 0: none is left. */
uint64_t device_find_place(Device *device, uint64_t bytes) {
    uint64_t room = (bytes + PLACE_BYTES - 1) / PLACE_BYTES * PLACE_BYTES + PLACE_BYTES;
    for (int i = device->free_count - 1; i >= 0; i--) {
        if (device->free_places[i].bytes != room) continue;
        uint64_t address = device->free_places[i].address;
        device->free_places[i] = device->free_places[--device->free_count];
        return address;
    }
    if (room > device->window + device->window_bytes - device->next) return 0;
    uint64_t address = device->next;
    device->next += room;
    return address;
}

static int first_behind(const Device *device, uint64_t address) {
    int low = 0, high = device->live_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (device->capture->memories[device->live[middle]].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int device_find_memory(const Device *device, uint64_t address) {
    int at = first_behind(device, address) - 1;
    if (at < 0) return -1;
    const CapturedMemory *memory = &device->capture->memories[device->live[at]];
    return address - memory->address < memory->bytes ? device->live[at] : -1;
}

int device_add_memory(Device *device, const CapturedMemory *memory) {
    Captured *capture = device->capture;
    array_push(capture->memories, capture->memory_count, capture->memory_capacity, *memory);
    int index = capture->memory_count - 1, at = first_behind(device, memory->address);
    CapturedMemory *added = &capture->memories[index];
    size_t words = (size_t)(memory->bytes + 3) / 4, pages = (size_t)(memory->bytes / CONTENTS_PAGE_BYTES + 1);
    added->written = memory_new((words / 64 + 1) * sizeof *added->written);
    added->hashes = memory_new(pages * sizeof *added->hashes);
    added->is_hashed = memory_new(pages);
    array_push(device->live, device->live_count, device->live_capacity, index);
    memmove(&device->live[at + 1], &device->live[at],
            (size_t)(device->live_count - 1 - at) * sizeof *device->live);
    device->live[at] = index;
    device->live_bytes += memory->bytes;
    return index;
}

void device_mark_written(CapturedMemory *memory, uint64_t first_byte, uint64_t bytes) {
    if (!bytes) return;
    for (uint64_t word = first_byte / 4, last = (first_byte + bytes - 1) / 4; word <= last; word++) {
        bool is_whole = word % 64 == 0 && word + 63 <= last;
        memory->written[word / 64] |= is_whole ? ~UINT64_C(0) : UINT64_C(1) << word % 64;
        if (is_whole) word += 63;
    }
}

/* A place that was reserved, with nothing in it now. */
static uint64_t reserved_place(const Device *device, const MessageAllocate *asked, uint64_t bytes) {
    uint64_t at = asked->address;
    bool is_within = at >= device->window && at < device->next && bytes <= device->next - at;
    int behind = first_behind(device, at);
    const CapturedMemory *memories = device->capture->memories;
    bool is_free = device_find_memory(device, at) < 0 &&
                   (behind == device->live_count || memories[device->live[behind]].address >= at + bytes);
    return is_within && is_free && at % PLACE_BYTES == 0 ? at : 0;
}

void device_allocate(Device *device, const MessageAllocate *asked, MessagePlace *place) {
    *place = (MessagePlace){.bytes = asked->bytes, .memory = asked->memory};
    uint64_t limit = most_bytes(device);
    bool fits = asked->bytes <= limit && device->live_bytes <= limit - asked->bytes;
    uint64_t bytes = asked->bytes ? asked->bytes : 1;
    bool is_reserved = asked->placing == PLACE_RESERVED;
    if (fits)
        place->address =
            is_reserved ? reserved_place(device, asked, bytes) : device_find_place(device, bytes);
    if (!place->address) {
        place->error = NO_MEMORY;
        return;
    }
    if (asked->placing == PLACE_RESERVE) return;
    CapturedMemory memory = {.address = place->address,
                             .bytes = bytes,
                             .is_reserved = is_reserved,
                             .kind = (int)asked->memory,
                             .module = -1,
                             .caller = asked->caller,
                             .device = device->index};
    int index = device_add_memory(device, &memory);
    if (asked->memory != MEMORY_DEVICE) device_mark_written(&device->capture->memories[index], 0, bytes);
    if (device->poisons) memset(device->host + (place->address - device->window), POISON, (size_t)bytes);
    emulator_insert_buffer(device->emulator, "memory", device->host + (place->address - device->window),
                           bytes, PTX_B8, place->address);
}

void device_release(Device *device, const MessageAt *at) {
    int index = device_find_memory(device, at->address);
    if (index < 0) return;
    CapturedMemory *memory = &device->capture->memories[index];
    if (memory->address != at->address || memory->variable) return;
    int place = first_behind(device, at->address) - 1;
    device->live_count--;
    memmove(&device->live[place], &device->live[place + 1],
            (size_t)(device->live_count - place) * sizeof *device->live);
    device->live_bytes -= memory->bytes;
    emulator_remove_buffer(device->emulator, emulator_find_buffer(device->emulator, at->address));
    uint64_t room = (memory->bytes + PLACE_BYTES - 1) / PLACE_BYTES * PLACE_BYTES + PLACE_BYTES;
    struct FreePlace freed = {memory->address, room};
    if (!memory->is_reserved)
        array_push(device->free_places, device->free_count, device->free_capacity, freed);
    memory->is_freed = true;
    memory->freed_by = at->caller;
    free(memory->written), free(memory->hashes), free(memory->is_hashed);
    memory->written = NULL, memory->hashes = NULL, memory->is_hashed = NULL;
    madvise(device->host + (memory->address - device->window), memory->bytes, MADV_REMOVE);
}

void device_set_heap(Device *device, const MessageAt *bytes) {
    enum { MOST = 1 << 30, ALIGNMENT = 16 };
    uint64_t wanted = bytes->address < MOST ? (bytes->address + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : MOST;
    device->heap_bytes = wanted ? wanted : ALIGNMENT;
    emulator_set_heap(device->emulator, device->heap_bytes);
}

void device_note_write(Device *device, const MessageWrite *write) {
    int index = device_find_memory(device, write->address);
    if (index < 0 || !write->bytes) return;
    CapturedMemory *memory = &device->capture->memories[index];
    uint64_t first = write->address - memory->address, left = memory->bytes - first,
             bytes = write->bytes < left ? write->bytes : left;
    memset(memory->is_hashed + first / CONTENTS_PAGE_BYTES, 0,
           (size_t)((first + bytes - 1) / CONTENTS_PAGE_BYTES - first / CONTENTS_PAGE_BYTES + 1));
    launch_order_host_wrote(device->order, device->capture, index, first / 4, (first + bytes + 3) / 4);
    int from = write->kind == WRITE_COPIED_ON_DEVICE ? device_find_memory(device, write->from) : -1;
    if (from < 0) {
        device_mark_written(memory, first, bytes);
        return;
    }
    /* What was never written stays so. */
    const CapturedMemory *source = &device->capture->memories[from];
    uint64_t offset = write->from - source->address;
    for (uint64_t i = 0; i < bytes && offset + i < source->bytes; i += 4) {
        uint64_t word = (offset + i) / 4;
        if (source->written[word / 64] >> word % 64 & 1)
            device_mark_written(memory, first + i, bytes - i < 4 ? bytes - i : 4);
    }
}
