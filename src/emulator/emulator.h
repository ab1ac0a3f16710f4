/* Emulator: runs a PTX program on the CPU in lockstep warps and writes a trace. This header is the door of the folder;
 * its rooms are listed in src/README.md.
 *
 * The emulator covers what scalar kernels use and knows no particular kernel. It executes every block. One seed gives
 * one trace, byte for byte, whatever the number of host threads: blocks, or whole clusters, run in parallel only where
 * the launch cannot let one see another (no atomics, fences, ordered or volatile accesses of memory that blocks share, and no word
 * that one block writes and another touches: this is checked while running, and where it fails, memory is restored and
 * the grid runs again block after block).
 *
 * Faults of the kernel are traps in the trace, never errors; nothing that a kernel does crashes or hangs the emulator. */
#ifndef EMULATOR_EMULATOR_H
#define EMULATOR_EMULATOR_H

#include "emulator/machine/recording.h"
#include "emulator/replay/replay.h"
#include "ptx/launch.h"
#include "trace/observer.h"
#include "trace/trace.h"

typedef struct Emulator Emulator;

typedef struct EmulatorOptions {
    int threads;       /* host threads; 0: one per core */
    uint64_t seed;     /* of %clock, %globaltimer, and of the schedule where it is not round robin */
    uint64_t schedule; /* 0: round robin; else: a different fair order of warps and fragments */
    uint32_t trace_first, trace_last; /* linear indices of the traced blocks, inclusive; first > last: none */
    bool has_trace_also;              /* one more block is traced: trace_also */
    uint32_t trace_also;
    bool first_look;  /* ends the run after the last traced block, where blocks cannot see each other:
                                         traced blocks are as in the whole run, counters and memory are not */
    bool keeps_going; /* ld, st, atom and red out of bounds read 0 and write nothing; traps that are not fatal
                                         say where, and how often */
    bool
        without_tapes; /* every block runs by the schedule; else most only repeat what one of them did, which is
                                         checked and gives the same, in less time (machine/tape_door.h) */
    uint64_t instruction_budget; /* warp instructions per launch before a trap; 0: 20 billion */
    uint64_t block_budget;       /* the same before any block ends; 0: only the launch's limit */
    uint64_t
        memory_limit_bytes; /* global, local and shared memory of resident blocks; 0: half of this machine */
    uint32_t multiprocessors; /* of the emulated machine (%nsmid, cooperative residency); 0: 132 */
    const TraceObserver *
        observer; /* sees every access; one that cannot be split, from one host thread. Outlives the emulator.
                                         NULL: none, which is faster */
    const volatile bool *cancel; /* polled; true ends the run early: emulator_run() fails with "cancelled" */
    volatile uint64_t *blocks_done; /* progress, or NULL */
} EmulatorOptions;

Emulator *emulator_new(const EmulatorOptions *options);
void emulator_free(Emulator *emulator);

/* Adds global memory; `bytes` is borrowed host memory that kernels read and write in place and must outlive
 * the emulator. Buffers are placed 256-byte aligned with unmapped space between them. Returns the index of
 * the buffer in the traces that this emulator writes (module variables follow the arguments). `type` is for
 * display only. */
int emulator_add_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count, PtxType type);
/* The next buffer lies at `address`. False: it is no multiple of 256, or a buffer lies there or behind it. */
bool emulator_place_next(Emulator *emulator, uint64_t address);
/* The host writes to a buffer, between two launches. */
void emulator_write(Emulator *emulator, int buffer, uint64_t offset, const void *bytes, uint64_t count);
/* Nobody has written the buffer yet: where an observer searches for faults, reading it before is one. */
void emulator_mark_unwritten(Emulator *emulator, int buffer);
/* What the launches so far have taken from the device heap and not freed. False: nothing. */
typedef struct EmulatorLeak {
    uint64_t allocations, bytes;
    int pc; /* of the call of malloc that made the first of them, in its launch */
} EmulatorLeak;
bool emulator_find_leak(const Emulator *emulator, EmulatorLeak *leak);
uint64_t emulator_buffer_address(const Emulator *emulator, int buffer);
/* The host memory behind a buffer, or a module variable of a module that has been launched. */
void *emulator_buffer_bytes(const Emulator *emulator, int buffer);

/* Shared variables of launches from now on lie where they lie in `recorded`; NULL: one after another. */
void emulator_place_shared_as(Emulator *emulator, const TraceLaunch *recorded);

/* The launch's program as it is lowered, with the slots of its registers, as text. */
bool emulator_print_ops(Emulator *emulator, const Launch *launch, Text *out, Error *error);

typedef struct EmulatorUnsupported { /* an instruction that is valid PTX and not emulated */
    int pc;
    const char *why;
} EmulatorUnsupported;

/* Lists what of the launch's program cannot be emulated; executed, it would trap. The list and its texts are in `arena`. */
bool emulator_unsupported(Emulator *emulator, const Launch *launch, Arena *arena,
                          const EmulatorUnsupported **list, int *count, Error *error);

/* Runs one launch, bound to this emulator's addresses, to its end and adds it to `trace` (a new
 * TraceLaunch, counters, traced blocks, traps, printed text). Module variables (.global, .const) are
 * created on the first launch of a module and keep their contents between launches. false with `error`
 * only for what is no fault of the kernel: a grid or block that no machine accepts, parameters of the
 * wrong size, too little memory on this machine, cancelled. */
bool emulator_run(Emulator *emulator, const Launch *launch, Trace *trace, Error *error);

/* How many blocks of all launches so far only repeated what another one did. */
uint64_t emulator_repeated_blocks(const Emulator *emulator);

/* Runs the launch, so that memory is as after emulator_run(); then each block of recording->recorded, alone
 * and guided, from the memory before the launch: their events go into a new launch of `trace`. All launches
 * of this emulator must be run like this. `taken` is added to. */
bool emulator_run_guided(Emulator *emulator, const Launch *launch, const EmulatorRecording *recording,
                         Trace *trace, EmulatorTakenValues *taken, Error *error);

#endif
