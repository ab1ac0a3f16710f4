/* Device: the emulated GPU of one program: its memory, modules and launches. Private to src/runtime.
 *
 * Memory is the window that the program maps too (messages.h). Each allocation and each module variable is a
 * buffer of one emulator, which lives as long as the program. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "runtime/captured.h"
#include "runtime/program_messages.h"

#include "emulator/emulator.h"
#include <stdatomic.h>

typedef struct DeviceModule {
    uint32_t number;   /* the program's */
    Text ptx;          /* joined texts, where several came */
    PtxModule *module; /* NULL: not parsed yet, or refused */
    bool is_tried;
    Error why;     /* it is refused */
    int32_t error; /* the cudaError_t of that */
    int text_count;
    int captured; /* its index in the capture; -1: none yet */
} DeviceModule;

typedef struct DeviceFunction {
    int module; /* index in modules */
    PtxProgram *program;
    uint32_t static_shared_bytes, parameter_bytes;
    bool is_fixed;           /* the same memory gives the same result: no clock, no printf, no heap */
    const char *unsupported; /* an instruction that is not emulated; NULL: all are */
    int launches;            /* that were executed */
} DeviceFunction;

typedef struct Device {
    Captured *capture;
    bool poisons; /* program.h */
    int index;    /* of several processes, from 0 */
    Emulator *emulator;
    uint8_t *host; /* the window here */
    uint64_t window, window_bytes;
    uint64_t next; /* the first address that has never been allocated */
    DeviceModule **modules;
    int module_count, module_capacity;
    DeviceFunction *functions;
    int function_count, function_capacity;
    int *live; /* allocations of the capture that exist, ascending by address */
    int live_count, live_capacity;
    uint64_t live_bytes, heap_bytes;
    struct FreePlace {
        uint64_t address, bytes;
    } * free_places;
    int free_count, free_capacity;
    int32_t error; /* sticky: of a kernel that failed */
    Text printed;  /* by kernels, not yet fetched */
    int running;   /* the launch that is executed: its index in the capture; -1: none */
    atomic_bool cancel;
    struct LaunchOrder *order; /* launch_order.h */
} Device;

/* `file`: the window, of `bytes`, which the program maps at `address`. */
Device *device_new(Captured *capture, int file, uint64_t address, uint64_t bytes, Error *error);
void device_free(Device *device);

void device_allocate(Device *device, const MessageAllocate *asked, MessagePlace *place);
void device_release(Device *device, const MessageAt *at);
void device_add_module(Device *device, const MessageModule *head, const void *bytes, size_t count);
/* `parameters`: [parameter_count], the caller's. */
void device_find_function(Device *device, uint32_t module, const char *name, MessageFunction *function,
                          MessageParameter **parameters);
void device_find_variable(Device *device, uint32_t module, const char *name, MessagePlace *place);
/* The device heap of later launches, unless one has used it. */
void device_set_heap(Device *device, const MessageAt *bytes);
void device_note_write(Device *device, const MessageWrite *write);
/* emulated_launch.c: called by the emulator. */
void device_touched(void *context, const EmulatorPage *page);
void device_launch(Device *device, const MessageLaunch *asked, const uint8_t *parameters);

/* An address for that many bytes, with unmapped space behind them; 0: none is left. */
uint64_t device_find_place(Device *device, uint64_t bytes);
/* Its index in the capture. */
int device_add_memory(Device *device, const CapturedMemory *memory);
void device_mark_written(CapturedMemory *memory, uint64_t first_byte, uint64_t bytes);
/* The live allocation that contains the address, -1: none. */
int device_find_memory(const Device *device, uint64_t address);

#endif
