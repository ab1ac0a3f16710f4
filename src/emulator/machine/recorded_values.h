/* Recorded values: one block's values from another producer, for the threads of a guided run (recording.h).
 * Private to the emulator.
 *
 * Every thread follows its own events in order: its next recorded instruction must match its next event;
 * otherwise the thread is *lost* and takes no more values. */
#ifndef EMULATOR_MACHINE_RECORDED_VALUES_H
#define EMULATOR_MACHINE_RECORDED_VALUES_H

#include "emulator/machine/machine_access.h"
#include "emulator/machine/recording.h"

/* `others`: words of global memory (one bit each, as in a Footprint) that other blocks or launches may have
 * changed; copied. */
RecordedValues *recorded_values_new(const Grid *grid, const EmulatorRecording *from,
                                    const TraceBlock *recorded, const uint64_t *others, uint64_t words,
                                    EmulatorTakenValues *taken);
void recorded_values_free(RecordedValues *recorded_values);

/* The lanes are about to record an event at `pc`: each advances to its next event. */
void recorded_values_step(RecordedValues *recorded_values, const Warp *warp, int pc, uint32_t mask);
/* The lanes have loaded `values`, or an atomic has found them: replaces those that only scheduling
 * decides. */
void recorded_values_access(RecordedValues *recorded_values, const Access *access, const MemoryValue *values,
                            int count);
/* A shuffle gave `values` to lanes whose source lane is absent, in the 32-bit register at `place`, if any:
 * replaces them with the machine's recorded values. */
void recorded_values_shuffle(RecordedValues *recorded_values, Warp *warp, Operand place, bool present,
                             uint32_t lanes, uint64_t values[WARP_LANES]);
/* Finds value `element` of the lane's event; false: the lane is lost. */
bool recorded_values_find(RecordedValues *recorded_values, int lane, int element, uint64_t *value);
/* Counts a recorded value taken for a register of D. */
void recorded_values_count_product(RecordedValues *recorded_values, bool is_other);
/* `op` has been executed. */
void recorded_values_approximate(RecordedValues *recorded_values, Warp *warp, const Op *op, int bytes,
                                 uint32_t mask, const uint64_t argument[WARP_LANES]);

#endif
