/* Tape door: the machine's use of tapes. Private to the emulator.
 *
 * Most blocks of a grid do what an earlier one did: the same instructions in the same order, with the same masks, at the
 * same relative addresses, with other data. While one block runs by the schedule, a *tape* of it is recorded. The next
 * blocks are played from the tape (emulator/tape): that they do the same is checked on the way, and what they cost has
 * been counted. A block that does something else leaves no trace of the attempt and runs by the schedule. Results, traps
 * and counters are those of a run without tapes.
 *
 * What an observer is to see of a block that is played it sees as if the block ran.
 *
 * A block is not recorded where it is traced, has hooks, or may talk to other blocks. Where the schedule would decide by loaded values, or a fault is found, Worker.irregular counts it and the tape is thrown away. */
#ifndef EMULATOR_MACHINE_TAPE_DOOR_H
#define EMULATOR_MACHINE_TAPE_DOOR_H

#include "emulator/machine/machine_block.h"
#include "trace/observer.h"

struct TapeDoor {
    /* `block` has just been started. */
    Tape *(*begin)(const Block *block);
    /* What a warp does, before it does it: lanes `among` look at the guard of `op`; lanes `mask` execute an instruction
     * of lane arithmetic, which may be an index product that has to fit (Op.is_index_product), or an ordered one. */
    void (*guard)(Tape *tape, const Warp *warp, const Op *op, uint32_t among);
    void (*product)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    void (*lanes)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    void (*ordered)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    /* What the observer is about to see of the block. */
    void (*sync)(Tape *tape, const TraceSync *sync);
    /* The block has ended. NULL: it cannot be played; the tape is freed. */
    Tape *(*end)(Tape *tape);
    /* What a block that is played has executed, and when it ends (Block.now). */
    uint64_t (*executed)(const Tape *tape);
    uint64_t (*now)(const Tape *tape);
    /* Plays block `linear`. False: it does something else; nothing has happened. */
    bool (*play)(Tape *tape, Worker *worker, uint64_t linear);
    /* Adds what the played blocks have cost to the worker's counters. */
    void (*free)(Tape *tape, Worker *worker);
};

/* What follows is called while block->tape records. The gang is about to execute a branch or lane arithmetic. */
void tape_note(const Block *block, const Op *op, const Gang *gang);
/* The warp is about to execute an ordered instruction; or those of the gang are, of which the first `done` then have, and
 * the others will, one after another. */
void tape_note_ordered(Block *block, const Warp *warp, const Op *op, uint32_t lanes);
void tape_note_together(Block *block, const Op *op, const Gang *gang);
void tape_done_together(Block *block, const Gang *gang, int done);

/* The worker's next block is `linear`: plays it. False: it runs by the schedule. */
bool tape_play(Worker *worker, uint64_t linear);
/* `block` has been started, and `left` blocks follow: may record a tape of it. */
void tape_begin(Block *block, uint64_t left);
/* It has ended, or was stopped. */
void tape_end(Block *block);
/* No more blocks. */
void tape_done(Worker *worker);

#endif
