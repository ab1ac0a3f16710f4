/* Lanes of a warp that execute a .sync instruction together, from several places. Private to the instructions
 * that exchange values between lanes.
 *
 * A lane waits "until all non-exited threads corresponding to membermask have executed" the instruction "with
 * the same qualifiers and same membermask value" (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync,
 * bar.warp.sync). It need not be the same instruction: on an H100, lanes at two places that name each other
 * exchange their values (tests/kernels/places.ptx). Compilers make such code of loops that lanes leave one by
 * one. */
#ifndef EMULATOR_INSTRUCTIONS_WARP_MEET_H
#define EMULATOR_INSTRUCTIONS_WARP_MEET_H

#include "emulator/machine/undefined.h"

typedef struct WarpOp WarpOp;
/* Executes for the lanes of `mask`; event is NULL if the block is not traced. */
typedef void (*WarpCompute)(const WarpOp *op, Warp *warp, uint32_t mask, TraceEvent *event);

struct WarpOp { /* the extra of its Op */
    CoreOp core;
    WarpCompute compute; /* NULL: bar.warp.sync */
    TraceKind kind;
    int mode;
    PtxType type;
    PtxModifierKind operation;
    bool absolute, keeps_nan;
    bool has_members, names_all; /* all: the mask is the constant -1 */
    bool is_copy;                /* its operands are copies of those of several instructions */
    Operand d, p, a, b, c, members;
    bool has_a, has_d, has_p;
    uint8_t d_bytes, a_bytes; /* 0: a predicate */
    int pc;
};

typedef struct WarpMeeting {
    uint32_t complete;          /* lanes that execute now: all that they name are here with the same mask */
    uint32_t missing;           /* the lanes that the others of the current fragment wait for */
    uint32_t names[WARP_LANES]; /* the mask of each lane that is here */
} WarpMeeting;

/* Finds the lanes that can execute with those of `mask`, lanes of the current fragment at `op`. */
void meeting_find(const Block *block, Warp *warp, const Op *op, uint32_t mask, WarpMeeting *meeting);
/* Makes those lanes of the current fragment that must still wait, of `mask`, a fragment of their own. */
void meeting_part(Block *block, Warp *warp, const WarpMeeting *meeting, uint32_t mask);
/* True if they are at several instructions, or in several calls of a function. */
bool meeting_has_places(const Warp *warp, const WarpMeeting *meeting);
/* They exchange their values; there is an event for each place. */
void meeting_exchange(Block *block, Warp *warp, const WarpMeeting *meeting);
/* Moves the fragments that executed along with the current one to their next pcs. */
void meeting_pass_on(Block *block, Warp *warp, const WarpMeeting *meeting);
/* bar.warp.sync: makes these fragments ready; each will pass its own. */
void meeting_let_pass(Block *block, Warp *warp, const WarpMeeting *meeting);

/* ---- lanes of the current fragment ---- */

/* "The behavior of shfl.sync is undefined if the executing thread is not in the membermask"; the others say
 * the same. */
void warp_op_report_outsiders(Block *block, const Warp *warp, const Op *op, uint32_t lanes);
TraceEvent *warp_op_begin_event(Block *block, const Warp *warp, const Op *op, uint32_t lanes);
/* These lanes receive an undefined value, as their source lane does not take part. */
void warp_op_undefined(const WarpOp *op, Warp *warp, uint32_t lanes, TraceEvent *event);
typedef struct FollowedLanes {   /* where undefined values (undefined.h) come from */
    const UndefinedValue *value; /* of the operand in all lanes; NULL: nothing is undefined */
    int32_t source[WARP_LANES];  /* shuffle: the lane that is read; -1: none */
    uint32_t names[WARP_LANES];  /* others: the lanes on which the result depends */
} FollowedLanes;
void warp_op_follow(const WarpOp *op, Warp *warp, uint32_t lanes, const FollowedLanes *from);

#endif
