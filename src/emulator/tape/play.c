/* Playback: a block runs the steps of a tape (tape.h). If the block differs, its writes are undone. */
#include "emulator/tape/tape.h"

#include "emulator/machine/observe.h"
#include "emulator/machine/special_values.h"

#include <stdlib.h>

void tape_keep_bytes(Tape *tape, uint8_t *at, uint32_t bytes) {
    array_reserve(tape->saved, tape->saved_bytes + bytes, tape->saved_capacity);
    UndoneBytes undone = {at, bytes, tape->saved_bytes};
    memcpy(tape->saved + tape->saved_bytes, at, bytes);
    tape->saved_bytes += bytes;
    array_push(tape->undo, tape->undo_count, tape->undo_capacity, undone);
}

static void undo(Tape *tape) {
    for (int i = tape->undo_count - 1; i >= 0; i--)
        memcpy(tape->undo[i].at, tape->saved + tape->undo[i].saved, tape->undo[i].bytes);
}

static void fill_special(const Tape *tape, const TapeSpecial *special, const Warp *warp) {
    uint64_t value = special_value(special->special, warp, 0);
    for (int w = 0; w < tape->grid->warps_per_block; w++) {
        void *to = tape->bases[w].at[IN_REGISTERS] + special->offset;
        if (special->bytes == 4 * WARP_LANES)
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint32_t *)to)[lane] = (uint32_t)value;
        else if (special->bytes == 8 * WARP_LANES)
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint64_t *)to)[lane] = value;
        else
            for (int lane = 0; lane < WARP_LANES; lane++) ((uint16_t *)to)[lane] = (uint16_t)value;
    }
}

static void make_stand(Tape *tape) {
    size_t bytes = (size_t)tape->grid->program->shared_bytes + 64;
    tape->stand = memory_new(sizeof *tape->stand);
    tape->stand->grid = (Grid *)(uintptr_t)tape->grid;
    tape->stand->shared = memory_new(bytes);
    tape->stand->warps = memory_new(sizeof *tape->stand->warps);
    tape->stand->warps[0].block = tape->stand;
}

/* Runs steps up to `last`. False: the block differs. */
static bool run_steps(const Tape *tape, int first, int last) {
    for (int i = first; i < last; i++) {
        const TapeStep *step = &tape->steps[i];
        step->run(step->op, step->warps, step->masks, step->count);
        if (tape->differs) return false;
    }
    return true;
}

bool tape_play_block(Tape *tape, Worker *worker, uint64_t linear) {
    uint32_t reserved = tape->grid->program->reserved_shared_bytes;
    if (!tape->stand) make_stand(tape);
    tape->stand->worker = worker;
    tape->differs = false;
    tape->undo_count = tape->change_count = 0;
    tape->saved_bytes = 0;
    block_place(tape->stand, linear);
    memset(tape->stand->shared, 0, reserved);
    for (int i = 0; i < tape->special_count; i++) fill_special(tape, &tape->specials[i], tape->stand->warps);
    if (!run_steps(tape, 0, tape->late)) {
        undo(tape);
        return false;
    }
    if (tape->is_observed) {
        memset(tape->stand->shared + reserved, 0xa5, tape->grid->program->shared_bytes - reserved);
        observe_block(tape->stand);
        run_steps(tape, tape->late, tape->step_count);
        observe_end(tape->stand);
    }
    for (int i = 0; i < tape->change_count; i++)
        worker->counters[tape->changes[i].pc].sectors += (uint64_t)(int64_t)tape->changes[i].sectors;
    tape->plays++;
    return true;
}

void tape_free(Tape *tape) {
    if (tape->stand) {
        free(tape->stand->shared);
        free(tape->stand->warps);
    }
    free(tape->stand);
    free(tape->undo);
    free(tape->saved);
    free(tape->changes);
    free(tape->registers);
    free(tape->steps);
    free(tape->runs);
    free(tape->counters);
    free(tape->entries);
    free(tape->values);
    arena_done(&tape->arena);
    free(tape);
}
