/* Asynchronous copies on their way into a block, or by it into global memory. Private to the emulator.
 *
 * A copy takes its bytes from the source where it is issued, and keeps them until something that its thread waits for
 * says that it has arrived; only then does the destination change. So a kernel that reads too early finds what was
 * there before, as it may on a GPU. Copies are in *groups* of their thread (cp.async.commit_group,
 * cp.async.bulk.commit_group) or belong to an mbarrier, whose phase they complete ("Asynchronous copy completion
 * mechanisms" in the PTX ISA). A copy that belongs to an mbarrier is one of the block in which that and its destination
 * lie, its *home*, whichever block of the cluster has issued it. */
#ifndef EMULATOR_MACHINE_MACHINE_COPIES_H
#define EMULATOR_MACHINE_MACHINE_COPIES_H

#include "emulator/machine/machine_access.h"

typedef enum CopyCompletion { COPY_IN_GROUP, COPY_IN_BULK_GROUP, COPY_ON_MBARRIER } CopyCompletion;
enum { COPY_GROUPS = 2 /* of a thread: cp.async, cp.async.bulk */, COPY_INLINE = 16 };

typedef struct AsyncCopy AsyncCopy;
struct AsyncCopy {
    uint64_t number; /* in its home */
    int pc;
    uint64_t block; /* that issued it: its linear index, its rank in the cluster, its warp and lane */
    uint32_t rank;
    uint8_t warp, lane;
    uint8_t completion; /* CopyCompletion */
    bool is_read;       /* the source may change: cp.async.bulk.wait_group.read has said so */
    uint32_t group;     /* how many groups its thread had committed before */
    uint32_t mbarrier;  /* where it lies in the block's window */
    PtxSpace to, from;  /* SHARED or GLOBAL; from GENERIC: registers, or nothing was read */
    uint64_t to_address, from_address;
    uint32_t bytes;
    uint32_t transaction; /* bytes that it completes on the mbarrier */
    uint32_t
        arrivals; /* ... and arrivals: 1 for all copies that a cp.async.mbarrier.arrive follows; it has no bytes */
    /* Reductions: what the destination becomes of itself and the copy's bytes; NULL: the bytes. */
    void (*fold)(const AsyncCopy *copy, uint8_t *destination);
    const void *rule;
    uint8_t kept[COPY_INLINE];
    uint8_t *more; /* where they are more */
};

static inline const uint8_t *copy_bytes(const AsyncCopy *copy) {
    return copy->more ? copy->more : copy->kept;
}

/* A copy that a lane of `warp` begins, with room for its bytes; the caller fills in the rest, then calls copies_begun().
 * Valid until the next one. */
AsyncCopy *copies_add(Block *home, const Warp *warp, int lane, int pc, CopyCompletion completion,
                      uint32_t bytes);
uint8_t *copies_room(AsyncCopy *copy);
void copies_begun(const Block *home, const AsyncCopy *copy);

/* The lanes' copies since the last group are a group. */
void copies_commit(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups);
/* All groups of the lanes but the last `pending` arrive; `only_read`: their sources may change. */
void copies_wait(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups, uint32_t pending,
                 bool only_read);
/* cp.async.mbarrier.arrive: the copies of the lane that are in groups, or in none, belong to the mbarrier now, and
 * arrive at it when they have arrived themselves. */
void copies_follow(Block *block, const Warp *warp, int lane, int pc, uint32_t mbarrier);
/* What the copies of the mbarrier will complete; `*arrivals` as well. Returns bytes. */
int64_t copies_expected(const Block *block, uint32_t mbarrier, int64_t *arrivals);
/* Are the first copies of the mbarrier, in the order in which they began, just so many bytes and arrivals? *until: the
 * number of the first one that is not among them. (Others may be those of its next phase.) */
bool copies_complete(const Block *home, uint32_t mbarrier, int64_t bytes, int64_t arrivals, uint64_t *until);
/* The copies of the mbarrier with smaller numbers arrive; the lane, of any block of the cluster, is the first to know. */
void copies_arrive(Block *home, const Warp *warp, int lane, uint32_t mbarrier, uint64_t until);

/* The block ends: what nobody has waited for arrives. */
void copies_end(Block *block);
void copies_forget(Block *block);
void copies_free(Block *block);

#endif
