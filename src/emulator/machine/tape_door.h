/* Tape door: the machine's use of tapes. Private to the emulator.
 *
 * Most blocks of a grid repeat an earlier one: the same instructions in the same order, with the same masks,
 * at the same relative addresses, with other data. While one block runs by the schedule, it is recorded on a
 * *tape*. Later blocks are played from the tape (emulator/tape), which checks that they do the same; their
 * cost is already counted. If a block differs, the attempt is undone and the block runs by the schedule.
 * Results, traps and counters are the same as without tapes.
 *
 * An observer sees a played block as if it ran.
 *
 * A block is not recorded if it is traced, has hooks, or may communicate with other blocks. If the schedule
 * depends on loaded values, or a fault occurs, Worker.irregular counts it and the tape is discarded. */
#ifndef EMULATOR_MACHINE_TAPE_DOOR_H
#define EMULATOR_MACHINE_TAPE_DOOR_H

#include "emulator/machine/machine_block.h"
#include "trace/observer.h"

struct TapeDoor {
    /* `block` has just been started. */
    Tape *(*begin)(const Block *block);
    /* What a warp is about to do: lanes `among` evaluate the guard of `op`; lanes `mask` execute lane
     * arithmetic, which may be an index product that must fit (Op.is_index_product), or an ordered
     * instruction. */
    void (*guard)(Tape *tape, const Warp *warp, const Op *op, uint32_t among);
    void (*product)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    void (*lanes)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    void (*ordered)(Tape *tape, const Warp *warp, const Op *op, uint32_t mask);
    /* What the observer is about to see of the block. */
    void (*sync)(Tape *tape, const TraceSync *sync);
    /* The block has ended. NULL: it cannot be played, and the tape is freed. */
    Tape *(*end)(Tape *tape);
    /* The instructions that a played block executes, and its end time (Block.now). */
    uint64_t (*executed)(const Tape *tape);
    uint64_t (*now)(const Tape *tape);
    /* Plays block `linear`. False: it differs, and has no effect. */
    bool (*play)(Tape *tape, Worker *worker, uint64_t linear);
    /* Adds the cost of the played blocks to the worker's counters. */
    void (*free)(Tape *tape, Worker *worker);
};

/* The functions below are called while block->tape records. The gang is about to execute a branch or lane
 * arithmetic. */
void tape_note(const Block *block, const Op *op, const Gang *gang);
/* The warp is about to execute an ordered instruction; or the warps of the gang, of which the first `done`
 * then have executed it and the others follow one after another. */
void tape_note_ordered(Block *block, const Warp *warp, const Op *op, uint32_t lanes);
void tape_note_together(Block *block, const Op *op, const Gang *gang);
void tape_done_together(Block *block, const Gang *gang, int done);

/* Tries to play the worker's next block, `linear`. False: it runs by the schedule. */
bool tape_play(Worker *worker, uint64_t linear);
/* `block` has been started, with `left` blocks to follow: may start a tape. */
void tape_begin(Block *block, uint64_t left);
/* The block has ended or was stopped. */
void tape_end(Block *block);
/* No more blocks. */
void tape_done(Worker *worker);

#endif
