/* Emulator: runs a PTX program on the CPU in lockstep warps and writes a trace. This header is the folder's
 * interface; src/README.md lists its rooms.
 *
 * The emulator covers what scalar kernels use and treats no kernel specially. It executes every block. A seed
 * determines the trace, byte for byte, for any number of host threads: blocks, or whole clusters, run in
 * parallel only if they cannot observe each other. They cannot without atomics, fences, and ordered or
 * volatile accesses of memory that blocks share, if no block touches a word that another one writes. The
 * emulator checks this while it runs; if the check fails, it restores memory and runs the grid again block by
 * block.
 *
 * A fault of the kernel is a trap in the trace, never an error. No kernel can crash or hang the emulator. */
#ifndef EMULATOR_EMULATOR_H
#define EMULATOR_EMULATOR_H

#include "emulator/machine/recording.h"
#include "emulator/machine/touched_page.h"
#include "emulator/replay/replay.h"
#include "ptx/launch.h"
#include "trace/hold.h"
#include "trace/observer.h"
#include "trace/trace.h"
#include <stdatomic.h>

typedef struct Emulator Emulator;

typedef struct EmulatorOptions {
    int threads;       /* host threads; 0: one per core */
    uint64_t seed;     /* for %clock, %globaltimer, and the schedule if it is not round robin */
    uint64_t schedule; /* 0: round robin; otherwise a different fair order of warps and fragments */
    Hold *holds;       /* [hold_count] lanes that wait in addition; each launch sets the ends of its own */
    int hold_count;
    uint32_t trace_first, trace_last; /* linear indices of the traced blocks, inclusive; first > last: none */
    int trace_most;      /* events of a traced block that are kept; the rest are counted as dropped; 0: all */
    bool has_trace_also; /* traces one more block: trace_also */
    uint32_t trace_also;
    /* ends the run after the last traced block if blocks cannot observe each other: the traced blocks are the
     * same as in the whole run, the counters and memory are not */
    bool first_look;
    /* an out-of-bounds ld, atom or red reads 0, an out-of-bounds st writes nothing; non-fatal traps say where
     * and how often */
    bool keeps_going;
    /* keeps what each float would be without rounding, for emulator_find_shadow(); several times the time */
    bool has_shadow;
    /* runs every block by the schedule; otherwise most blocks repeat what an earlier one did, which is
     * checked and gives the same results in less time (machine/tape_door.h) */
    bool without_tapes;
    uint64_t instruction_budget; /* warp instructions per launch before a trap; 0: 20 billion */
    uint64_t block_budget;       /* the same before any block ends; 0: only the limit of the launch */
    /* global, local and shared memory of the resident blocks; 0: half of this machine's memory */
    uint64_t memory_limit_bytes;
    uint32_t multiprocessors; /* of the emulated machine (%nsmid, cooperative residency); 0: 132 */
    /* sees every access, on one host thread if it cannot be split; outlives the emulator; NULL: no observer,
     * faster */
    const TraceObserver *observer;
    /* Sees each page that a launch has touched, by address, after its last block and after a fault. NULL:
     * none. */
    void (*touched)(void *context, const EmulatorPage *page);
    /* Where a module variable lies, and its host memory, zeroed; NULL: the emulator places it. */
    void *(*place_variable)(void *context, const PtxVariable *variable, uint64_t *address);
    void *context;             /* of these two */
    const atomic_bool *cancel; /* polled; true ends the run early: emulator_run() fails with "cancelled" */
    _Atomic uint64_t *blocks_done; /* progress, or NULL */
} EmulatorOptions;

Emulator *emulator_new(const EmulatorOptions *options);
void emulator_free(Emulator *emulator);

/* Adds global memory; `bytes` is borrowed host memory that kernels read and write in place and must outlive
 * the emulator. Buffers are 256-byte aligned, with unmapped space between them. Returns the index of the
 * buffer in this emulator's traces (module variables follow the arguments). `type` is for display only. */
int emulator_add_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count, PtxType type);
/* The same for a buffer at `address`, before and behind others, whose indices change. -1: the address is not
 * aligned, or a buffer lies there. Only between launches. */
int emulator_insert_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count,
                           PtxType type, uint64_t address);
/* Nothing lies at the buffer's address any more; indices behind it change. */
void emulator_remove_buffer(Emulator *emulator, int buffer);
int emulator_find_buffer(const Emulator *emulator,
                         uint64_t address); /* that contains the address; -1: none */
/* The next buffer is a variable of a module that will be launched, with `bytes` as its contents. */
int emulator_add_variable(Emulator *emulator, const PtxVariable *variable, void *bytes);
/* Creates the module's variables, if it has not been launched. */
bool emulator_load_module(Emulator *emulator, const PtxModule *module, Error *error);
bool emulator_find_variable(const Emulator *emulator, const PtxVariable *variable, uint64_t *address);
/* The next buffer lies at `address`. False: it is no multiple of 256, or a buffer lies there or behind it. */
bool emulator_place_next(Emulator *emulator, uint64_t address);
/* From the next launch on (EmulatorOptions.keeps_going). */
void emulator_keep_going(Emulator *emulator);
/* From the next launch on: whether its first block is traced. */
void emulator_trace_first_block(Emulator *emulator, bool is_traced);
/* The host writes to a buffer, between two launches. */
void emulator_write(Emulator *emulator, int buffer, uint64_t offset, const void *bytes, uint64_t count);
/* The buffer starts unwritten: an observer that searches for faults reports reads before the first write. */
void emulator_mark_unwritten(Emulator *emulator, int buffer);
/* The size of the device heap, a multiple of 16, before a launch first uses it; 8 MB if it is not set. */
void emulator_set_heap(Emulator *emulator, uint64_t bytes);
/* What the launches so far have allocated on the device heap and not freed. False: no leak. */
typedef struct EmulatorLeak {
    uint64_t allocations, bytes;
    int pc; /* the malloc call of the first such allocation, in its launch */
} EmulatorLeak;
bool emulator_find_leak(const Emulator *emulator, EmulatorLeak *leak);
uint64_t emulator_buffer_address(const Emulator *emulator, int buffer);
/* The host memory of a buffer, or of a variable of a module that has been launched. */
void *emulator_buffer_bytes(const Emulator *emulator, int buffer);

/* With has_shadow, after a launch: what an element of a buffer would be if this run had not rounded
 * (machine/shadow.h). */
typedef struct EmulatorShadow {
    long double value;
    bool is_cut;     /* it depends on rounded values that could not be followed */
    bool of_literal; /* or on a literal that f32 rounds */
} EmulatorShadow;
EmulatorShadow emulator_find_shadow(const Emulator *emulator, const void *element, PtxType type);
/* How far the results of an instruction of launch `launch` (from 0) are off their shadows at most. */
double emulator_deviation(const Emulator *emulator, int launch, int pc);
/* Values went where none can be followed: no shadow of this run is right. */
bool emulator_lost_shadow(const Emulator *emulator);

/* Places the shared variables of later launches as in `recorded`; NULL: one after another. */
void emulator_place_shared_as(Emulator *emulator, const TraceLaunch *recorded);

/* Prints the launch's lowered program and its register slots as text. */
bool emulator_print_ops(Emulator *emulator, const Launch *launch, Text *out, Error *error);

typedef struct EmulatorUnsupported { /* an instruction that is valid PTX but not emulated */
    int pc;
    const char *why;
} EmulatorUnsupported;

/* Lists the instructions of the launch's program that cannot be emulated and would trap. The list and its
 * texts are in `arena`. */
bool emulator_unsupported(Emulator *emulator, const Launch *launch, Arena *arena,
                          const EmulatorUnsupported **list, int *count, Error *error);

/* The bytes of the variables in shared memory that have a size, in each block. */
bool emulator_static_shared(Emulator *emulator, const Launch *launch, uint32_t *bytes, Error *error);

/* Runs one launch, bound to this emulator's addresses, to its end. Adds it to `trace`: a new TraceLaunch,
 * counters, traced blocks, traps, printed text. Module variables (.global, .const) are created on the first
 * launch of a module and keep their contents between launches. False with `error` only for what is not the
 * kernel's fault: a grid or block that no machine accepts, parameters of the wrong size, too little memory on
 * this machine, a cancelled run. */
bool emulator_run(Emulator *emulator, const Launch *launch, Trace *trace, Error *error);

/* Blocks of all launches so far that only repeated another block. */
uint64_t emulator_repeated_blocks(const Emulator *emulator);

/* Runs the launch, which leaves memory as emulator_run() does. Then runs each block of recording->recorded
 * alone and guided, from the memory before the launch; their events go into a new launch of `trace`. All
 * launches of this emulator must use this function. Adds to `taken`. */
bool emulator_run_guided(Emulator *emulator, const Launch *launch, const EmulatorRecording *recording,
                         Trace *trace, EmulatorTakenValues *taken, Error *error);

#endif
