/* The run of a grid: its blocks in order, on the host's threads. Private to the emulator. */
#ifndef EMULATOR_MACHINE_GRID_H
#define EMULATOR_MACHINE_GRID_H

#include "emulator/machine/machine_block.h"

enum { DEFAULT_MULTIPROCESSORS = 132 };

/* Geometry, program and memory; everything else is 0. */
void grid_init(Grid *grid, const Launch *launch, const LoweredProgram *program, Memory *memory);

/* Runs every block of the grid and puts counters, events, traps and printed text into `trace`. False with
 * `error` where the run was cancelled. `threads`: host threads, at least 1. */
bool grid_run(Grid *grid, int threads, uint64_t memory_limit, Trace *trace, Error *error);

/* What the regions hold that may be written: [region], NULL for others. No region may be added meanwhile. */
uint8_t **grid_save_memory(const Memory *memory);
void grid_restore_memory(Memory *memory, uint8_t *const *copies);
void grid_drop_memory(const Memory *memory, uint8_t **copies);

#endif
