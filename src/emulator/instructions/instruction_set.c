/* The table of handlers: one lower_NAME per row of opcodes.def. A row without its lower_NAME does not
 * link. */
#include "emulator/instructions/instruction_set.h"

#include "emulator/machine/special_values.h"

const InstructionSet instruction_set = {
    .lower =
        {
#define OPCODE(name, ...) [PTX_##name] = lower_##name,
#include "ptx/opcodes.def"
#undef OPCODE
        },
    .lower_call_interface = call_lower_interface,
    .lower_recorded_result = approximate_lower,
    .lower_trap = trap_lower,
    .run_after_preludes = run_after_preludes,
};
