/* Registers: the registers that an instruction names, and their values in the lanes of a warp. */
#ifndef TUI_VIEW_REGISTERS_H
#define TUI_VIEW_REGISTERS_H

#include "tui/view/step_context.h"

enum { MOST_REGISTERS = 16 };

typedef struct Registers {
    const PtxRegister *items[MOST_REGISTERS]; /* the destination first, the guard last, each once */
    int count;
} Registers;

typedef struct RegisterValues {
    uint64_t bits[WARP_LANES];    /* predicates: 0 or 1 */
    uint32_t weight[WARP_LANES];  /* inputs folded into it */
    int32_t producer[WARP_LANES]; /* the event that produced it; -1: none */
} RegisterValues;

void registers_of(const PtxInstruction *instruction, Registers *out);

/* The values of `reg` just after the context's event, in the warp of that event. False if unknown: the block
 * is too long to replay between two frames, or the producer cannot replay. */
bool register_values(const StepContext *context, const PtxRegister *reg, RegisterValues *out);

/* How the kernel uses the register: as a float if it is declared or used as one; as a whole number if an
 * instruction says so or takes it for an address; else as declared. */
PtxType register_type(const StepContext *context, const PtxRegister *reg);
/* A value of this type in the view's format. */
void register_print(const StepContext *context, PtxType type, uint64_t bits, char *out, size_t bytes);

/* The register that the view has chosen for the lanes' values; NULL: the values of the event itself. */
const PtxRegister *register_chosen(const StepContext *context);

#endif
