/* Wait probe: a light rewriting that records when warps wait, and for what. It traces the warps of one
 * multiprocessor.
 *
 * Each entry gets a second copy of its body, with probes, which only blocks on the chosen multiprocessor
 * enter; all others run the original text behind one branch. A warp of the copy takes a slot; each of its
 * lanes has room for records of its own there, so that paths of a split warp need no atomics. A record is
 * made by the lowest lane that is active at a wait.
 *
 * Three rules keep the numbers right; tests/device/waits.c shows on a GPU what each wrong way measures.
 * - A clock right behind a barrier is read before the warp blocks. A bar.warp.sync stands between, where all
 *   lanes of a warp meet; elsewhere the clock depends on a vote.
 * - Arithmetic passes a clock. The clock behind a load depends on the value.
 * - A clock between two loads keeps the second from being issued: load_order.h.
 *
 * Of a source line the clock is recorded where its instructions begin: behind those of another line, or
 * behind a label. Loads then stay where they are. Arithmetic passes these clocks, too: they tell the order of
 * lines, not their lengths. Rounds of a loop that waits for other threads record the wait alone.
 *
 * %clock is each multiprocessor's own, in cycles. The probes lengthen what they measure: wait_floors. */
#ifndef INSTRUMENT_WAIT_PROBE_H
#define INSTRUMENT_WAIT_PROBE_H

#include "base/text.h"
#include "ptx/program.h"
#include "trace/warp_timeline.h"

enum {
    /* Bits 1 << WarpActivity: all but shared memory and lines. */
    WAIT_DEFAULT_KINDS = (1 << WARP_WAITS_SHARED) - 1 - (1 << WARP_WORKS),
    WAIT_SITES = 1 << 12,
    WAIT_LONGEST = (1 << 20) - 1, /* cycles; a longer wait has this length */
    WAIT_LANES = 32,
    WAIT_HEADER_BYTES = 256,
    WAIT_COUNTER_BYTES = 256 /* at the start of the buffer: how many warps wanted a slot, 4 bytes */
};

/* Cycles that a probe measures where there is nothing to wait for (H100, the shortest of thousands of
 * waits). */
extern const uint8_t wait_floors[WARP_STATES];

typedef struct WaitSites {
    WarpSite *sites; /* [count] numbered as in records; `launch`: the first of the programs with this entry */
    int count, capacity;
} WaitSites;

/* A buffer: the counter, the header of each slot, the records of each slot. The first two are zero before a
 * launch. */
typedef struct WaitHeader {
    uint64_t block; /* linear */
    uint32_t warp,
        warp_slot; /* of the block; of the multiprocessor (%warpid), whose scheduler is that modulo 4 */
    /* %clock64: before the kernel's own code and behind it, before the probe took the slot. end 0: no lane
     * reached an exit */
    uint64_t start, end, entered;
    uint32_t counts[WAIT_LANES]; /* records of each lane, also those beyond its room */
} WaitHeader;

typedef struct WaitRecord {
    uint32_t end;      /* low half of %clock64 */
    uint32_t duration; /* cycles; above bit 20 the site */
} WaitRecord;

typedef struct WaitProbeOptions {
    unsigned kinds; /* bits 1 << WarpActivity */
    uint32_t room;  /* records of each lane */
    uint32_t slots;
    bool full_warps; /* all warps of all blocks have 32 threads */
    /* For the tests of the rules above: leaves one out. */
    bool plain_barrier_clock, plain_load_clock, keep_order;
} WaitProbeOptions;

/* Prints the programs of one module. Each entry gets one more parameter at the end: wait_parameter(). Appends
 * to `sites`; the caller frees sites->sites. Waits in called functions are not recorded. False with `error`:
 * a header that cannot be read, an exit in a called function, too many sites, or shared memory declared in an
 * inner scope. */
bool instrument_waits(const PtxProgram *const *programs, int count, const WaitProbeOptions *options,
                      Text *out, WaitSites *sites, Error *error);
/* The entry's parameter: the buffer and the multiprocessor; -1: none is traced. */
uint64_t wait_parameter(uint64_t buffer, int multiprocessor);
uint64_t wait_buffer_bytes(const WaitProbeOptions *options);
uint64_t wait_front_bytes(const WaitProbeOptions *options); /* counter and headers */
uint64_t wait_slot_bytes(const WaitProbeOptions *options);  /* records of a slot */

#endif
