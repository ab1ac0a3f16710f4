/* Blocks: their memory, start, end and copies. schedule.c runs them. */
#include "emulator/machine/machine_block.h"

#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/machine_copies.h"
#include "emulator/machine/local_memory.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"

#include <stdlib.h>

static size_t aligned(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Spreads the same register of different warps over different cache sets. */
static size_t register_stride(const Grid *grid) {
    return aligned(grid->program->functions[0].register_bytes) + 192;
}

size_t block_bytes(const Grid *grid) {
    const FunctionLayout *entry = &grid->program->functions[0];
    size_t per_warp = sizeof(Warp) + sizeof(Frame) + register_stride(grid) +
                      (size_t)entry->local_bytes * WARP_LANES * 9 / 8 +
                      (size_t)entry->parameter_bytes * WARP_LANES;
    return sizeof(Block) + (size_t)grid->program->shared_bytes * 9 / 8 +
           per_warp * (size_t)grid->warps_per_block;
}

static size_t shared_words(const Grid *grid) {
    return (size_t)grid->program->shared_bytes / 64 + 1;
}

Block *block_new(Grid *grid) {
    Block *block = memory_new(sizeof *block);
    size_t warps = (size_t)grid->warps_per_block;
    block->grid = grid;
    block->warp_count = grid->warps_per_block;
    block->warps = memory_new(warps * sizeof *block->warps);
    block->frames = memory_new(warps * sizeof *block->frames);
    block->registers = memory_new_aligned(warps * register_stride(grid));
    block->shared = memory_new((size_t)grid->program->shared_bytes + 64);
    block->shared_written = memory_new(shared_words(grid) * sizeof *block->shared_written);
    const FunctionLayout *entry = &grid->program->functions[0];
    for (size_t w = 0; w < warps; w++) {
        Frame *frame = &block->frames[w];
        frame->layout = entry;
        frame->registers = block->registers + w * register_stride(grid);
        frame->parameters =
            entry->parameter_bytes ? memory_new((size_t)entry->parameter_bytes * WARP_LANES) : NULL;
        frame->join = NO_JOIN;
    }
    return block;
}

static void forget_undefined(Warp *warp, Frame *entry_frame) {
    undefined_forget_frame(entry_frame);
    undefined_forget_memory(warp);
    warp->follows = false;
}

SharedMemory block_elsewhere(Block *block) {
    size_t bytes = block->grid->program->shared_bytes;
    if (!block->elsewhere) {
        block->elsewhere = memory_new(bytes + 64 + shared_words(block->grid) * sizeof(uint64_t));
        memset(block->elsewhere, 0xff, bytes + 64 + shared_words(block->grid) * sizeof(uint64_t));
    }
    return (SharedMemory){block->elsewhere, (uint64_t *)(void *)(block->elsewhere + (bytes + 63) / 64 * 64)};
}

void block_free(Block *block) {
    if (!block) return;
    for (int w = 0; w < block->warp_count; w++) {
        forget_undefined(&block->warps[w], &block->frames[w]);
        shadow_forget_frame(&block->frames[w]);
        warp_done(&block->warps[w]);
        free(block->frames[w].parameters);
    }
    if (block->recorder) recorder_free(block->recorder);
    copies_free(block);
    free(block->warps);
    free(block->frames);
    free(block->registers);
    free(block->elsewhere);
    free(block->shared);
    free(block->shared_written);
    free(block->shared_moved);
    free(block);
}

/* Registers start as 0. The values of special registers and addresses are either the same in every block or
 * filled in later. */
static void fill_registers(const Block *block, const Warp *warp, const Frame *frame) {
    const FunctionLayout *layout = frame->layout;
    if (!block->has_run || !layout->shares_slots) {
        memset(frame->registers, 0, layout->register_bytes);
        frame_fill_slots(warp, frame);
        return;
    }
    for (int i = 0; i < layout->cleared_count; i++)
        memset(frame->registers + layout->cleared[i].offset, 0, layout->cleared[i].bytes);
    frame_fill_block_slots(warp, frame);
}

static void start_warp(Block *block, int index) {
    const Grid *grid = block->grid;
    Warp *warp = &block->warps[index];
    Frame *frame = &block->frames[index];
    uint32_t first = (uint32_t)index * WARP_LANES, left = grid->threads_per_block - first;
    warp_abandon(warp);
    shadow_begin_frame(frame);
    if (warp->follows) forget_undefined(warp, frame);
    frame->local_base = 0;
    frame->local_top = frame->layout->local_bytes;
    warp_start(warp, block, index, left >= WARP_LANES ? ALL_LANES : (UINT32_C(1) << left) - 1, frame);
    if (warp->local_bytes) {
        memset(warp->local, 0xa5, warp->local_bytes * WARP_LANES);
        memset(warp->local_written, 0, warp->local_bytes * WARP_LANES / 8);
    }
    local_reserve(block, warp, frame->local_top);
    fill_registers(block, warp, frame);
    block->next[index] = 0;
    block->queued |= UINT32_C(1) << index;
}

static void start_reserved(Block *block, uint32_t bytes) {
    memset(block->shared, 0, bytes);
    bits_set(block->shared_written, 0, bytes);
}

void block_place(Block *block, uint64_t linear) {
    const Grid *grid = block->grid;
    block->linear = linear;
    block->id[0] = (uint32_t)(linear % grid->grid[0]);
    block->id[1] = (uint32_t)(linear / grid->grid[0] % grid->grid[1]);
    block->id[2] = (uint32_t)(linear / grid->grid[0] / grid->grid[1]);
}

void block_start(Block *block, Worker *worker, uint64_t linear) {
    const Grid *grid = block->grid;
    block->worker = worker;
    block_place(block, linear);
    block->rank = cluster_rank(grid, block->id);
    block->turn = block->executed = 0;
    block->started_at = block_started_at(linear);
    block->frame_bytes = 0;
    block->follows = false;
    memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_in_use = 0;
    block->given_up = 0;
    memset(block->shared, 0xa5, grid->program->shared_bytes);
    memset(block->shared_written, 0, shared_words(grid) * sizeof *block->shared_written);
    block->shared_is_written = false;
    free(block->shared_moved);
    block->shared_moved = NULL;
    if (grid->program->reserved_shared_bytes) start_reserved(block, grid->program->reserved_shared_bytes);
    copies_forget(block);
    block->live_warps = block->warp_count;
    block->queued = block->ready = 0;
    for (int w = 0; w < block->warp_count; w++) start_warp(block, w);
    block->has_run = true;
    bool in_range = linear >= grid->trace_first && linear <= grid->trace_last;
    if (in_range || (grid->has_trace_also && linear == grid->trace_also))
        block->recorder = recorder_new(grid, linear);
    observe_block(block);
    for (int w = 0; block->observed && w < block->warp_count; w++)
        undefined_begin_frame(&block->warps[w], &block->frames[w]);
}

void block_copy(Block *to, const Block *from) {
    memcpy(to->id, from->id, sizeof to->id);
    to->linear = from->linear;
    to->turn = from->turn;
    to->started_at = from->started_at;
    to->live_warps = from->live_warps;
    memcpy(to->barriers, from->barriers, sizeof to->barriers);
    to->barriers_in_use = from->barriers_in_use;
    memcpy(to->next, from->next, sizeof to->next);
    to->queued = from->queued;
    for (int w = 0; w < to->warp_count; w++) warp_copy(&to->warps[w], &from->warps[w]);
    to->frame_bytes = from->frame_bytes;
}
