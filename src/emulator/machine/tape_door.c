/* Decides which blocks are recorded, and which are played. */
#include "emulator/machine/tape_door.h"

#include "emulator/machine/other_orders.h"

enum {
    WORTH_IT = 8,    /* remaining blocks */
    MOST_TAPES = 6,  /* recorded per share of a grid */
    MOST_MISSES = 2, /* consecutive blocks that differ */
};

static bool is_traced(const Grid *grid, uint64_t linear) {
    return (linear >= grid->trace_first && linear <= grid->trace_last) ||
           (grid->has_trace_also && linear == grid->trace_also);
}

static bool allows_tapes(const Grid *grid) {
    return grid->tapes && !grid->schedule && !grid->holds && !grid->writers && !grid->blocks_communicate &&
           !grid->memory->has_marks;
}

bool tape_play(Worker *worker, uint64_t linear) {
    const Grid *grid = worker->grid;
    if (!worker->tape || is_traced(grid, linear)) return false;
    uint64_t executed = grid->tapes->executed(worker->tape);
    if (grid->block_budget && executed >= grid->block_budget) return false;
    if (grid->tapes->play(worker->tape, worker, linear)) {
        worker->tape_misses = 0;
        return true;
    }
    if (++worker->tape_misses >= MOST_MISSES) tape_done(worker);
    return false;
}

void tape_begin(Block *block, uint64_t left) {
    Worker *worker = block->worker;
    if (worker->tape || worker->tapes_begun >= MOST_TAPES || left < WORTH_IT || block->recorder ||
        !allows_tapes(block->grid))
        return;
    worker->tapes_begun++;
    block->noted = 0;
    block->tape = block->grid->tapes->begin(block);
}

void tape_end(Block *block) {
    if (!block->tape) return;
    block->worker->tape = block->grid->tapes->end(block->tape);
    block->worker->tape_misses = 0;
    if (!block->worker->tape)
        block->worker->tapes_begun = MOST_TAPES; /* similar blocks cannot be played either */
    block->tape = NULL;
}

void tape_note(const Block *block, const Op *op, const Gang *gang) {
    const TapeDoor *tapes = block->grid->tapes;
    for (int w = 0; op->is_index_product && w < gang->count; w++)
        tapes->product(block->tape, gang->warps[w], op, gang->masks[w]);
    for (int w = 0; w < gang->count; w++) {
        uint32_t lanes = gang->masks[w];
        if (op->guarded) tapes->guard(block->tape, gang->warps[w], op, lanes);
        if (op->guarded) lanes = guard_lanes(op, gang->warps[w], lanes);
        if (lanes && op->op_class == OP_LANES) tapes->lanes(block->tape, gang->warps[w], op, lanes);
    }
}

void tape_note_ordered(Block *block, const Warp *warp, const Op *op, uint32_t lanes) {
    uint32_t bit = UINT32_C(1) << warp->index;
    if (!(block->noted & bit)) block->grid->tapes->ordered(block->tape, warp, op, lanes);
    block->noted &= ~bit;
}

void tape_note_together(Block *block, const Op *op, const Gang *gang) {
    for (int w = 0; w < gang->count; w++) {
        block->grid->tapes->ordered(block->tape, gang->warps[w], op, gang->masks[w]);
        block->noted |= UINT32_C(1) << gang->warps[w]->index;
    }
}

void tape_done_together(Block *block, const Gang *gang, int done) {
    for (int w = 0; w < done; w++) block->noted &= ~(UINT32_C(1) << gang->warps[w]->index);
}

void tape_done(Worker *worker) {
    if (worker->tape) worker->grid->tapes->free(worker->tape, worker);
    worker->tape = NULL;
}
