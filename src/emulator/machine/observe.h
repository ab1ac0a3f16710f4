/* Observe: reports the actions of a block to the launch's observer (trace/observer.h). Private to the
 * emulator. */
#ifndef EMULATOR_MACHINE_OBSERVE_H
#define EMULATOR_MACHINE_OBSERVE_H

#include "emulator/machine/machine_copies.h"

void observe_block(Block *block); /* the block begins */
void observe_end(Block *block);
/* Only if block->observed: */
void observe_access(const Access *access); /* checked, before it is made */
/* An access that a tape repeats: the warp has only registers. */
void observe_repeated_access(const Access *access, int warp);
void observe_repeated_sync(const Block *block, const TraceSync *sync);
/* At a barrier that not all threads join. */
void observe_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes, int barrier);
void observe_release(const Block *block, int barrier); /* before its fragments continue */
/* All live threads reach `pc`, a barrier of the whole block, at once: no thread waits. */
void observe_release_of_all(const Block *block, int pc, int barrier);
void observe_cluster_arrival(const Block *block, const Warp *warp, int pc, uint32_t lanes);
void observe_cluster_complete(const Block *block, int following); /* blocks of the cluster */
void observe_cluster_wait(const Block *block, const Warp *warp, int pc, uint32_t lanes);
/* Exiting lanes have passed the instruction at which this fragment waits for them. */
void observe_passed_by(const Warp *warp, const Fragment *waiting, uint32_t lanes);
void observe_warp_sync(const Warp *warp, int pc, uint32_t lanes);
void observe_products(const Warp *warp, int pc); /* the warp has waited for wgmma-groups */
void observe_fence(const Warp *warp, int pc, uint32_t lanes);
void observe_copy(const Block *block, const AsyncCopy *copy, TraceCopyKind kind, bool is_committed);
/* The bytes of a copy are about to be written; the lane of the block `knows` is the first to know. */
void observe_arrived_bytes(const Block *home, const AsyncCopy *copy, const Block *knows, int warp, int lane);
/* The copies of an mbarrier of `home` have arrived and complete its phase; the lane, of any block of the
 * cluster, is the first to know. */
void observe_phase(const Block *home, const Warp *warp, int lane, uint64_t place);
typedef struct ObservedRange { /* a range of bytes that a lane reads, or is about to write */
    const Block *owner;        /* of shared memory */
    int pc, warp, lane;
    PtxSpace space;
    uint64_t address, count;
} ObservedRange;
/* `bytes` NULL: a read. */
void observe_range(const Block *block, const ObservedRange *range, const uint8_t *bytes);
void observe_undefined(const Warp *warp, int origin, int pc, uint32_t lanes, TraceUse use);

#endif
