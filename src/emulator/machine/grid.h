/* Grid runs: the blocks in order, on the host's threads. Private to the emulator. */
#ifndef EMULATOR_MACHINE_GRID_H
#define EMULATOR_MACHINE_GRID_H

#include "emulator/machine/machine_block.h"

enum { DEFAULT_MULTIPROCESSORS = 132 };

/* Sets geometry, program and memory; everything else is 0. */
void grid_init(Grid *grid, const Launch *launch, const LoweredProgram *program, Memory *memory);

/* Runs every block of the grid; puts counters, events, traps and printed text into `trace`. False with
 * `error` if the run was cancelled. `threads`: host threads, at least 1. */
bool grid_run(Grid *grid, int threads, uint64_t memory_limit, Trace *trace, Error *error);

/* Copies the writable regions: [region], NULL for the others. No region may be added until they are
 * restored. */
uint8_t **grid_save_memory(const Memory *memory);
void grid_restore_memory(Memory *memory, uint8_t *const *copies);
void grid_drop_memory(const Memory *memory, uint8_t **copies);

#endif
