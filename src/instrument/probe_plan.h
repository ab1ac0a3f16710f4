/* The probe plan of an instruction: what is recorded of it, and where its parts are in the text. Private to
 * src/instrument. */
#ifndef INSTRUMENT_PROBE_PLAN_H
#define INSTRUMENT_PROBE_PLAN_H

#include "instrument/instrument.h"

/* Registers of a function that hold one constant: written once, by a mov. nvcc puts the operands of shuffles
 * into such. */
typedef struct Constants {
    uint8_t *writes; /* [register] 0, 1, 2: more, or not by a plain mov */
    uint32_t *value; /* [register] */
} Constants;

Constants constants_find(const PtxFunction *function);
void constants_done(Constants *constants);

/* Fills what follows from the instruction. false: it gets no probe. */
bool plan_site(const PtxInstruction *instruction, const Constants *constants, InstrumentSite *site);

/* The same for one whose result PTX does not define to the bit (ptx/approximate.h); false: it is none. */
bool plan_approximate_site(const PtxInstruction *instruction, InstrumentSite *site);

/* What plan_site() refuses although a trace would record it. */
bool plan_is_missed(const PtxInstruction *instruction);

/* Does the instruction write the register? */
bool plan_writes(const PtxInstruction *instruction, const PtxRegister *reg);

/* The operand behind a field; NULL: there is none. Of 128-bit registers, elements are halves. */
const PtxOperand *plan_operand(const InstrumentSite *site, const InstrumentField *field,
                               PtxOperand *component);
/* The operand that becomes a record's `extra`; NULL: there is none, it is `*constant`. */
const PtxOperand *plan_extra(const InstrumentSite *site, uint32_t *constant);

/* spin.c: marks the instructions of [begin, end) that lie in a loop that may wait for others. */
void plan_spin_loops(const PtxProgram *program, int begin, int end, bool *may_spin);

#endif
