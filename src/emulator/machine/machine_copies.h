/* Asynchronous copies in flight, into a block or from it to global memory. Private to the emulator.
 *
 * A copy reads its bytes from the source when it is issued, and holds them until a wait of its thread says
 * that it has arrived; only then does the destination change. So a kernel that reads too early finds the old
 * contents, as it may on a GPU. Copies belong to *groups* of their thread (cp.async.commit_group,
 * cp.async.bulk.commit_group) or belong to an mbarrier, whose phase they complete ("Asynchronous copy
 * completion mechanisms" in the PTX ISA). A copy that belongs to an mbarrier is kept by its *home*: the block
 * that holds the mbarrier and the destination, even if another block of the cluster issued the copy. */
#ifndef EMULATOR_MACHINE_MACHINE_COPIES_H
#define EMULATOR_MACHINE_MACHINE_COPIES_H

#include "emulator/machine/machine_access.h"
#include "trace/tile.h"

typedef enum CopyCompletion {
    COPY_IN_GROUP,
    COPY_IN_BULK_GROUP,
    COPY_IN_MATRIX_GROUP, /* what wgmma.mma_async reads */
    COPY_ON_MBARRIER
} CopyCompletion;
enum { COPY_GROUPS = 3 /* of a thread: cp.async, cp.async.bulk, wgmma */, COPY_INLINE = 16 };

typedef struct AsyncCopy AsyncCopy;
struct AsyncCopy {
    uint64_t number; /* in its home */
    int pc;
    uint64_t block; /* the issuing block (linear index), its rank in the cluster, its warp and lane */
    uint32_t rank;
    uint8_t warp, lane;
    uint8_t completion; /* CopyCompletion */
    bool is_read;       /* cp.async.bulk.wait_group.read has completed: the source may change */
    uint32_t group;     /* how many groups its thread had committed before */
    uint32_t mbarrier;  /* offset in the block's window */
    /* SHARED or GLOBAL; from GENERIC: registers, or nothing was read; to GENERIC: nothing is written */
    PtxSpace to, from;
    uint64_t to_address, from_address;
    uint32_t bytes;
    uint32_t transaction; /* bytes that it completes on the mbarrier */
    /* arrivals that it completes: 1 for all copies before a cp.async.mbarrier.arrive; then it has no bytes */
    uint32_t arrivals;
    /* Reductions: combines the destination with these bytes of the copy; NULL: a plain copy. */
    void (*fold)(const void *rule, uint8_t *destination, const uint8_t *from, uint32_t bytes);
    const void *rule;
    uint8_t kept[COPY_INLINE];
    uint8_t *more; /* if they exceed the inline space */
    /* A tensor copy, whose bytes are those of the tile, row by row; its global address is that of the first
     * byte inside of the tensor. NULL: one range. */
    TraceTile *tile;
};

static inline const uint8_t *copy_bytes(const AsyncCopy *copy) {
    return copy->more ? copy->more : copy->kept;
}

/* The parts of a copy that are one range on both sides, each as a copy of its own: a copy without a tile is
 * its only part. Bytes that come from outside of a tensor have `from` GENERIC, and those that would go there
 * are in no part. A part borrows its bytes from the copy. */
typedef struct CopyParts {
    const AsyncCopy *copy;
    AsyncCopy part;
    TileWalk walk;
    bool is_done;
} CopyParts;

CopyParts copy_parts(const AsyncCopy *copy);
bool copy_next_part(CopyParts *parts); /* false: no more; else parts->part is the next one */

/* Starts a copy of a lane of `warp`, with room for its bytes; the caller fills in the rest, then calls
 * copies_begun(). Valid until the next call. */
AsyncCopy *copies_add(Block *home, const Warp *warp, int lane, int pc, CopyCompletion completion,
                      uint32_t bytes);
uint8_t *copies_room(AsyncCopy *copy);
void copies_begun(const Block *home, const AsyncCopy *copy);

/* A matrix product of the warp reads this range of shared memory. Needed only if somebody observes. */
void copies_add_matrix(Block *block, const Warp *warp, int pc, uint32_t address, uint32_t bytes);
/* True if a matrix product of the warp at `pc` is in flight. */
bool copies_has_matrix(const Block *block, const Warp *warp, int pc);

/* Writes the bytes of a copy without a tile to its destination, now. */
void copies_write(Block *home, const AsyncCopy *copy);

/* Commits the lanes' copies since the last group as a group. */
void copies_commit(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups);
/* Completes all groups of the lanes except the last `pending`; `only_read`: only their sources may change. A
 * wgmma-group is one of the warpgroup ("wgmma.commit_group"), so its reads in all four warps have ended. */
void copies_wait(Block *block, const Warp *warp, uint32_t lanes, CopyCompletion groups, uint32_t pending,
                 bool only_read);
/* True if a warp of the warpgroup has yet to commit a wgmma-group that is not among the last `pending` of
 * `warp`. */
bool copies_warpgroup_is_behind(const Block *block, const Warp *warp, uint32_t pending);
/* cp.async.mbarrier.arrive: the lane's copies, in a group or not, now belong to the mbarrier and arrive there
 * when they complete. */
void copies_follow(Block *block, const Warp *warp, int lane, int pc, uint32_t mbarrier);
/* The bytes, and `*arrivals`, that the copies of the mbarrier will complete. */
int64_t copies_expected(const Block *block, uint32_t mbarrier, int64_t *arrivals);
/* True if the first copies of the mbarrier, in the order in which they began, add up to exactly these bytes
 * and arrivals. *until: the number of the first copy after them. (Later copies may belong to the next
 * phase.) */
bool copies_complete(const Block *home, uint32_t mbarrier, int64_t bytes, int64_t arrivals, uint64_t *until);
/* Completes the mbarrier's copies with smaller numbers; the lane, of any block of the cluster, is the first
 * to know. */
void copies_arrive(Block *home, const Warp *warp, int lane, uint32_t mbarrier, uint64_t until);

/* The block ends: copies that no thread has waited for arrive. */
void copies_end(Block *block);
void copies_forget(Block *block);
void copies_free(Block *block);

#endif
