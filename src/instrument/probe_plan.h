/* The probe plan of an instruction: what it records, and where the parts are in the text. Private to
 * src/instrument. */
#ifndef INSTRUMENT_PROBE_PLAN_H
#define INSTRUMENT_PROBE_PLAN_H

#include "instrument/instrument.h"

/* Registers of a function that hold one constant: written once, by a mov. nvcc puts the operands of shuffles
 * into such registers. */
typedef struct Constants {
    uint8_t *writes; /* [register] 0, 1, 2: more than once, or not by a plain mov */
    uint32_t *value; /* [register] */
} Constants;

Constants constants_find(const PtxFunction *function);
void constants_done(Constants *constants);

static inline void probe_plan_add_field(InstrumentSite *site, InstrumentFieldKind kind, int element,
                                        bool wide) {
    site->fields[site->field_count++] = (InstrumentField){(uint8_t)kind, (uint8_t)element, wide};
    *(wide ? &site->wide_count : &site->narrow_count) += 1;
}

/* Fills in the properties of the instruction. False: it gets no probe. */
bool probe_plan_site(const PtxInstruction *instruction, const Constants *constants, InstrumentSite *site);

/* The same for an instruction whose result PTX does not define bit by bit (ptx/approximate.h); false for any
 * other. */
bool probe_plan_approximate_site(const PtxInstruction *instruction, InstrumentSite *site);

/* True if probe_plan_site() refuses the instruction although a trace would record it. */
bool probe_plan_is_missed(const PtxInstruction *instruction);

/* True if it writes its first operand, unless that is memory. */
bool probe_plan_writes_first(const PtxInstruction *instruction);
/* True if the instruction writes the register. */
bool probe_plan_writes(const PtxInstruction *instruction, const PtxRegister *reg);

/* The operand of a field, or NULL. The elements of 128-bit registers are halves. */
const PtxOperand *probe_plan_operand(const InstrumentSite *site, const InstrumentField *field,
                                     PtxOperand *component);
/* The operand that becomes a record's `extra`; NULL: `*constant` does. */
const PtxOperand *probe_plan_extra(const InstrumentSite *site, uint32_t *constant);

/* spin.c: marks the instructions of [begin, end) in loops that may wait for others. */
void probe_plan_spin_loops(const PtxProgram *program, int begin, int end, bool *may_spin);

#endif
