/* The table of handlers: one lower_NAME per row of opcodes.def. A row without its lower_NAME does not
 * link. */
#include "emulator/instructions/instruction_set.h"

#include "emulator/machine/special_values.h"
#include "ptx/opcodes.h"

#define OPCODE(name, ...) bool lower_##name(Lowering *low, const PtxInstruction *in, Op *op);
#include "ptx/opcodes.def"
#undef OPCODE

static bool (*const lower[PTX_OPCODE_COUNT])(Lowering *low, const PtxInstruction *in, Op *op) = {
#define OPCODE(name, ...) [PTX_##name] = lower_##name,
#include "ptx/opcodes.def"
#undef OPCODE
};

const InstructionSet instruction_set = {
    .lower = lower,
    .lower_call_interface = call_lower_interface,
    .lower_recorded_result = approximate_lower,
    .lower_trap = trap_lower,
    .run_after_preludes = run_after_preludes,
};
