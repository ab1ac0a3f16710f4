/* Core: runs small kernels written as strings, and reads their results.
 *
 * A kernel is the body of an entry that has its result in `out`, an array of 32-bit words with one word per
 * thread. On entry:
 *
 *   %out  address of this thread's word        %base  address of word 0
 *   %t    thread in the block                  %i     thread in the grid       %w   warp in the block
 *
 * and for free use: %p0-%p15, %h0-%h15 (16 bits), %r0-%r63, %f0-%f15, %q0-%q31 (64 bits), %d0-%d15 (f64). A
 * `ret` is added. Where a test needs more, it gives the whole module, with an entry named `kernel` that takes
 * the address of `out`. */
#ifndef TESTS_CORE_H
#define TESTS_CORE_H

#include "emulator/emulator.h"
#include <stdint.h>

typedef struct CoreKernel {
    const char *body;
    /* Stands before the entry: variables and functions; or all of it where there is no body. */
    const char *module;
    uint32_t grid, block;     /* 0: 1 and 32 */
    uint32_t grid_y, block_y; /* 0: 1 */
    uint32_t cluster[3];      /* as Launch.cluster */
    uint32_t shared_bytes;    /* dynamic */
    bool cooperative;
    uint64_t words;          /* of out; 0: one per thread */
    const uint32_t *in;      /* initial contents of out; NULL: 0 */
    bool untraced;           /* else every block is traced */
    EmulatorOptions options; /* threads 0: 1; traced blocks are set from `untraced` */
} CoreKernel;

typedef struct CoreRun {
    bool done;
    Error error; /* error, unless done */
    Trace *trace;
    const TraceLaunch *launch;
    uint32_t *out;
    uint64_t words;
    Emulator *emulator;
    PtxModule *module;
    PtxProgram *program;
} CoreRun;

/* Fails the test if the module does not parse. */
CoreRun core_run(CoreKernel kernel);
void core_done(CoreRun *run);

/* Runs it and expects neither error nor trap. */
CoreRun core_run_well(CoreKernel kernel);
/* Runs it, expects a trap of that kind, and that its detail contains `part`; returns a copy of the trap
 * (detail NULL). */
Trap core_run_trap(CoreKernel kernel, TrapKind kind, const char *part);
/* Runs it successfully and expects these words, the first `count` of out. */
void core_expect(CoreKernel kernel, const uint32_t *expected, uint64_t count);
void core_check(const CoreRun *run, const uint32_t *expected, uint64_t count);

/* pc of the `index`th instruction (from 0) of the program whose text begins with `text`, such as "ld.shared";
 * fails the test if there is none. */
int core_pc(const CoreRun *run, const char *text, int index);
const TraceCounter *core_counter(const CoreRun *run, const char *text, int index);

/* The instruction as text, without its semicolon; its name, "st.global.u32", or "-" for PTX_NO_PC. */
void core_add_instruction(const CoreRun *run, int pc, Text *out);
void core_add_name(const CoreRun *run, int pc, Text *out);

/* Events of a traced block. */
int core_event_count(const CoreRun *run, uint32_t block);
void core_event(const CoreRun *run, uint32_t block, int event, TraceEvent *out);
/* The events of one pc in one block: how many, and their masks (at most `most`). */
int core_masks(const CoreRun *run, uint32_t block, int pc, uint32_t *masks, int most);

/* All visible results of a run: events, counters, traps, printed text, words of out. The caller frees it with
 * text_done(). */
void core_print(const CoreRun *run, Text *out);
/* The same for a run of this kernel, which must not fail; the caller frees it. *repeated: how many blocks
 * were replayed from tapes; may be NULL. */
char *core_text_of(CoreKernel kernel, uint64_t *repeated);

#endif
