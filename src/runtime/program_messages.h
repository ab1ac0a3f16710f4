/* Program messages: what a program's CUDA library and redviz say to each other. The library (library/) speaks
 * over a Unix stream socket.
 *
 * The program connects to the abstract socket named in $REDVIZ_PROGRAM at its first CUDA call. Each message
 * is a MessageHead and `bytes` more: one of the structures below, then what its comment names. All of them
 * are of one machine: native byte order, no padding that counts. Questions have one answer each, in order;
 * the other messages have none. redviz takes messages one after another, so a launch is executed when
 * everything said before it has been taken: the order of the socket is the order of the device, for all
 * streams.
 *
 * Device memory is one file without a name, the window, which the answer to HELLO brings. Both processes map
 * it at the same address, so that device pointers are valid in both. The program may not touch memory of
 * cudaMalloc there: that part is PROT_NONE until allocated as managed or pinned memory. Its library copies
 * through a second mapping, `alias` bytes behind the first. redviz decides where allocations lie; each begins
 * at a multiple of 64 KB, with at least 64 KB that belong to nobody behind it. */
#ifndef RUNTIME_MESSAGES_H
#define RUNTIME_MESSAGES_H

#include <stdint.h>

#define RUNTIME_SOCKET_VARIABLE "REDVIZ_PROGRAM" /* the name, without the leading 0 byte */

enum {
    MESSAGE_VERSION = 1,
    MESSAGE_MOST_BYTES = 1 << 30, /* of one message */
    MESSAGE_NAME_BYTES = 4096,    /* the longest name of a kernel or variable, terminated */
    MESSAGE_PARAMETER_BYTES = 32764
};

typedef enum MessageKind {
    MESSAGE_HELLO = 1, /* question: MessageHello -> MessageWelcome, with the window as SCM_RIGHTS */
    MESSAGE_ALLOCATE,  /* question: MessageAllocate -> MessagePlace */
    MESSAGE_FREE,      /* MessageAt: an allocation ends; nothing is pending that uses it */
    MESSAGE_MODULE,    /* MessageModule, then its bytes */
    /* question: MessageName, then the name -> MessageFunction, then parameter_count MessageParameter */
    MESSAGE_FUNCTION,
    MESSAGE_VARIABLE, /* question: MessageName, then the name -> MessagePlace */
    MESSAGE_LAUNCH,   /* MessageLaunch, then its parameter bytes */
    MESSAGE_SYNC, /* question: nothing -> MessageDone, then what kernels have printed since the last one */
    /* MessageWrite: the host has written device memory (copy, memset), with nothing pending */
    MESSAGE_WRITTEN,
    /* MessageFailed, then two strings: the CUDA function, what was wrong: the call returned an error */
    MESSAGE_FAILED,
    MESSAGE_CHECKED, /* nothing: the program asked for the last error, and there was one */
    /* MessageAt, then the name of a CUDA function that this library does not have; once for each name */
    MESSAGE_LACKS,
    MESSAGE_HOST_ACCESS, /* MessageAccess: the program touched device memory, or memory of both too early */
    MESSAGE_HEAP,        /* MessageAt: the device heap of later launches has `address` bytes */
    /* question: MessageLink, then the module so far, then the part -> MessageLinked, then the module with it,
     * or why it cannot be, in one line; terminated */
    MESSAGE_LINK,
    MESSAGE_ORDER, /* MessageOrder: what waits for what, beside the order of each stream */
    MESSAGE_ANSWER /* the answer to a question */
} MessageKind;

typedef struct MessageHead {
    uint32_t kind;
    uint32_t bytes; /* that follow */
} MessageHead;

typedef struct MessageHello {
    uint32_t version; /* MESSAGE_VERSION */
    int32_t process;
    /* the address at which the program has reserved `window_bytes` for the window, and as much for the
     * alias */
    uint64_t window;
    uint64_t window_bytes, alias;
} MessageHello;

/* The machine that is emulated, for device properties. */
typedef struct MessageWelcome {
    uint32_t version;
    uint32_t multiprocessors;
    uint32_t major, minor; /* compute capability, 9 and 0 */
    uint32_t clock_khz, memory_clock_khz, bus_bits;
    uint32_t l2_bytes;
    uint64_t memory_bytes;
    uint32_t shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
    uint32_t threads_per_multiprocessor, blocks_per_multiprocessor, registers_per_multiprocessor;
    char name[64]; /* "NVIDIA H200, emulated by redviz" */
} MessageWelcome;

typedef enum MessageMemory { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_PINNED } MessageMemory;

/* Memory of a graph: one place is reserved when its node is made, and is allocated at each launch. */
typedef enum MessagePlacing { PLACE_NEW, PLACE_RESERVE, PLACE_RESERVED } MessagePlacing;

/* `caller` is a return address in the program, 0: not known; redviz finds its line. */
typedef struct MessageAllocate {
    uint64_t bytes;
    uint64_t caller;
    uint32_t memory;  /* MessageMemory */
    uint32_t placing; /* MessagePlacing */
    uint64_t address; /* PLACE_RESERVED: the reserved place */
} MessageAllocate;

typedef struct MessagePlace {
    uint64_t address, bytes;
    int32_t error;   /* a cudaError_t; 0: good */
    uint32_t memory; /* of a variable: MEMORY_MANAGED if it is managed */
} MessagePlace;

typedef struct MessageAt {
    uint64_t address, caller;
} MessageAt;

typedef enum MessageFormat {
    FORMAT_FATBIN, /* from its magic number 0xBA55ED50 on, compressed or not */
    FORMAT_PTX,    /* text */
    FORMAT_ELF     /* a cubin: has machine code alone */
} MessageFormat;

/* Sent before the first question about it. Texts of relocatable modules (-rdc) that were registered together
 * have one number, and are joined. */
typedef struct MessageModule {
    uint32_t number; /* chosen by the program, from 1 on */
    uint32_t format; /* MessageFormat */
} MessageModule;

/* The driver's linker keeps its module in the program. Without a part, the module is complete and is
 * checked. */
typedef struct MessageLink {
    uint64_t module_bytes;
    uint32_t parts;  /* of the module so far */
    uint32_t format; /* MessageFormat, of the part */
} MessageLink;

typedef struct MessageLinked {
    int32_t error; /* cudaError_t */
    uint32_t unused;
} MessageLinked;

typedef struct MessageName {
    uint32_t module;
    uint32_t unused;
} MessageName;

typedef struct MessageFunction {
    uint32_t number; /* for launches */
    int32_t error;   /* cudaError_t: no such kernel, SASS alone, PTX that cannot be parsed */
    uint32_t parameter_count, parameter_bytes;
    uint32_t max_threads, required_threads[3]; /* of a block, as compiled; max_threads is at most 1024 */
    uint32_t static_shared_bytes, constant_bytes, local_bytes, registers;
    uint32_t required_cluster[3]; /* 0: none is required */
    uint32_t ptx_version;         /* 75 for compute_75 */
} MessageFunction;

typedef struct MessageParameter {
    uint32_t offset, bytes;
} MessageParameter;

enum { LAUNCH_COOPERATIVE = 1 };

typedef struct MessageLaunch {
    uint32_t function;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none given */
    uint32_t dynamic_shared_bytes;
    uint32_t flags;
    /* a cudaError_t: as a GPU, the library has refused this launch, and it is only listed; 0: run it */
    int32_t refused;
    uint32_t stream; /* 0: the default one; others by their order of creation */
    uint64_t caller;
    uint32_t parameter_bytes;
    uint32_t graph; /* 0: launched by itself; else the number of the graph's launch */
} MessageLaunch;

typedef struct MessageDone {
    int32_t error; /* the sticky cudaError_t of a kernel that failed: every later call returns it; 0: none */
    uint32_t printed_bytes;
} MessageDone;

typedef enum MessageWriteKind { WRITE_COPIED, WRITE_SET, WRITE_COPIED_ON_DEVICE } MessageWriteKind;

typedef struct MessageWrite {
    uint64_t address, bytes;
    uint64_t from; /* WRITE_COPIED_ON_DEVICE: device memory that was copied */
    uint64_t caller;
    uint32_t kind;
    uint32_t unused;
} MessageWrite;

typedef enum MessageOrderKind {
    ORDER_STREAM,     /* a stream that does not wait for the default one has been created */
    ORDER_HOST,       /* the host waits for the stream */
    ORDER_HOST_ALL,   /* for all of them */
    ORDER_RECORD,     /* the event is recorded in the stream */
    ORDER_WAIT,       /* the stream waits for the event */
    ORDER_HOST_EVENT, /* the host waits for the event */
    ORDER_HOST_READ   /* the host has copied device memory from this address */
} MessageOrderKind;

typedef struct MessageOrder {
    uint32_t kind, stream;
    uint64_t event; /* a number of the program's; HOST_READ: the address */
} MessageOrder;

typedef struct MessageFailed {
    uint64_t caller;
    uint64_t address, bytes; /* of the memory that it is about; 0: none */
    int32_t error;
    uint32_t unused;
} MessageFailed;

/* What may still run when the host touches memory that both may use: the program goes on. */
typedef enum MessageGuard {
    GUARD_NONE,
    GUARD_COPY,  /* a copy to it */
    GUARD_LAUNCH /* a launch that has it as an argument: managed memory */
} MessageGuard;

typedef struct MessageAccess {
    uint64_t address;
    uint16_t is_write;
    uint16_t guard; /* MessageGuard; GUARD_NONE: it is device memory, and the program ends */
    uint32_t caller_count;
    uint64_t callers[16]; /* innermost first */
} MessageAccess;

#endif
