/* Linear: integer registers as polynomials of the special registers and the parameters. Examples are the
 * address `out + 4 * %ctaid.x` and the index `%ctaid.x * %ntid.x + %tid.x`.
 *
 * Registers that several instructions write (loop variables), loaded values and what is not sums and products are
 * unknown. Sizes in bits are not looked at: nothing here decides what a kernel does, only how it is probably launched. */
#ifndef GUESS_LINEAR_H
#define GUESS_LINEAR_H

#include "ptx/ptx.h"

enum {
    LINEAR_TERMS = 8,
    LINEAR_FACTORS = 4,
    /* Symbols: specials by axis, then parameters. */
    LINEAR_TID = 1,
    LINEAR_NTID = 4,
    LINEAR_CTAID = 7,
    LINEAR_NCTAID = 10,
    LINEAR_PARAMETER = 16
};

typedef struct LinearTerm {
    int64_t coefficient;
    uint8_t factors[LINEAR_FACTORS]; /* symbols, descending; 0: no more */
} LinearTerm;

typedef struct Linear {
    bool is_known;
    int count; /* 0: the value is 0 */
    LinearTerm terms[LINEAR_TERMS];
} Linear;

typedef struct LinearValues {
    const PtxFunction *entry;
    Linear *of; /* [register] */
} LinearValues;

LinearValues linear_values(const PtxFunction *entry); /* of a parsed entry; linear_done() */
/* The same, with loop variables as they are in the first round: those that are otherwise only added to. */
LinearValues linear_first_values(const PtxFunction *entry);
void linear_done(LinearValues *values);

Linear linear_operand(const LinearValues *values, const PtxOperand *operand);
Linear linear_add(const Linear *a, const Linear *b, int64_t factor); /* a + factor * b */
bool linear_has(const Linear *linear, int symbol);
/* The coefficient of the term that is this symbol times `by` (0: times nothing). */
int64_t linear_coefficient(const Linear *linear, int symbol, int by);

#endif
