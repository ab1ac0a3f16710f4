/* Instruction set: the handlers of all opcodes, for lowering. Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_INSTRUCTION_SET_H
#define EMULATOR_INSTRUCTIONS_INSTRUCTION_SET_H

#include "emulator/lower/lowered.h"

extern const InstructionSet instruction_set;

/* ---- its members, each in the file of its instruction ---- */

void call_lower_interface(Lowering *low);
void approximate_lower(Lowering *low, Op *op);
void trap_lower(Lowering *low, Op *op);
const char *trap_text(const Op *op); /* for an Op of class OP_TRAP: why it is not emulated */
bool lower_warp_sync(Lowering *low, const PtxInstruction *in, Op *op); /* bar.warp.sync */

#endif
