/* The undefined part of a value, by lane and byte, and its storage (undefined.h). Private to undefined.c. */
#ifndef EMULATOR_MACHINE_UNDEFINED_VALUE_H
#define EMULATOR_MACHINE_UNDEFINED_VALUE_H

#include "emulator/machine/undefined.h"

enum { ALL_BYTES = 0xffff };

/* A mask of `bytes` set bits. */
static inline uint32_t bytes_mask(int bytes) {
    return bytes >= 16 ? ALL_BYTES : (UINT32_C(1) << bytes) - 1;
}

/* [register slots, then words of parameters] of the frame; allocated on first use. */
UndefinedValue *undefined_values_of(Frame *frame);
/* The state of a register; NULL: not in the frame, or a constant. */
UndefinedValue *undefined_find_place(const Frame *frame, Operand place);
/* The state of 4 bytes of parameters; NULL: not in the frame. */
UndefinedValue *undefined_find_parameter(const Frame *frame, uint64_t offset);
/* The state of 4 bytes of local memory; NULL: none, unless `make` creates it. */
UndefinedValue *undefined_find_local(Warp *warp, uint64_t offset, bool make);

/* A load by one warp that reads unwritten bytes of shared memory. */
struct UnwrittenRead {
    UnwrittenRead *next; /* of the warp, by other instructions */
    int pc, warp;        /* of the block */
    uint32_t lanes;      /* that read such bytes */
    int peer;            /* as in Access */
    bool is_reported;
    UnwrittenRead *from;   /* it has read what a store has brought of that one; NULL: it is the first */
    UnwrittenRead *joined; /* a ring: one value was computed of all of them */
    uint64_t address[WARP_LANES];
};
/* The warp's last such load by the instruction at `pc`; NULL: none. */
UnwrittenRead *undefined_find_read(const Warp *warp, int pc);
/* Joins their rings. */
void undefined_join_reads(UnwrittenRead *a, UnwrittenRead *b);
/* The value of the read is stored in this byte of shared memory. */
void undefined_move_read(Block *block, uint64_t byte, UnwrittenRead *read);
/* The one whose value has come to it from store to store. */
UnwrittenRead *undefined_first_read(UnwrittenRead *read);
/* Of the lanes that read unwritten bytes (a bit each, by lane): the first read of what stores have brought to
 * one of them, NULL: none. Leaves those in *lanes that read a byte to which none did. */
UnwrittenRead *undefined_moved(const Access *access, const uint32_t *unwritten, uint32_t *lanes);
/* Keeps this load in place of the last one of its instruction, unless it reads what that one has left. */
void undefined_keep_read(const Access *access, const uint32_t *unwritten, uint32_t lanes);

/* These bytes of the lane's value become undefined. */
void undefined_add(UndefinedValue *value, int lane, uint32_t bytes, int origin);
/* Keeps only the undefined bytes of the mask from `shift` on, moved down to the low end. */
void undefined_keep(UndefinedValue *value, int shift, uint32_t mask);
/* A result that depends on one of its bytes is undefined as a whole. */
void undefined_spread(UndefinedValue *value);
/* Adds the undefined bytes of `from` (NULL: none), moved up by `shift`. */
void undefined_join(UndefinedValue *into, const UndefinedValue *from, int shift);
/* Copies the state of `lanes` from `from` to `to` (NULL: not kept). */
void undefined_assign(UndefinedValue *to, const UndefinedValue *from, uint32_t lanes);

#endif
