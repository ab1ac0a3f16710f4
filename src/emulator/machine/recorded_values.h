/* Recorded values: one block's values from another producer, for the threads of a guided run (recording.h).
 * Private to the emulator.
 *
 * Every thread goes through its own events, one after another: the next instruction that records must be the one of
 * its next event; otherwise the thread is *lost* and takes nothing more. */
#ifndef EMULATOR_MACHINE_RECORDED_VALUES_H
#define EMULATOR_MACHINE_RECORDED_VALUES_H

#include "emulator/machine/machine_access.h"
#include "emulator/machine/recording.h"

/* `others`: words of global memory (a bit each, as in a Footprint) that other blocks or launches may have changed; it
 * is copied. */
RecordedValues *recorded_values_new(const Grid *grid, const EmulatorRecording *from,
                                    const TraceBlock *recorded, const uint64_t *others, uint64_t words,
                                    EmulatorTakenValues *taken);
void recorded_values_free(RecordedValues *recorded_values);

/* The lanes are about to record an event of `pc`: each goes on to its next one. */
void recorded_values_step(RecordedValues *recorded_values, const Warp *warp, int pc, uint32_t mask);
/* They have loaded, or an atomic has found, `values`: what only scheduling decides is taken instead. */
void recorded_values_access(RecordedValues *recorded_values, const Access *access, const MemoryValue *values,
                            int count);
/* A shuffle has given `values` to lanes whose source lane is not there, in the 32-bit register at `place` where there is
 * one: what the machine gave them is taken instead. */
void recorded_values_shuffle(RecordedValues *recorded_values, Warp *warp, Operand place, bool present,
                             uint32_t lanes, uint64_t values[WARP_LANES]);
/* Value `element` of the lane's event; false: it is lost. */
bool recorded_values_find(RecordedValues *recorded_values, int lane, int element, uint64_t *value);
/* It has been taken as a register of D. */
void recorded_values_count_product(RecordedValues *recorded_values, bool is_other);
/* `op` has been executed. */
void recorded_values_approximate(RecordedValues *recorded_values, Warp *warp, const Op *op, int bytes,
                                 uint32_t mask, const uint64_t argument[WARP_LANES]);

#endif
