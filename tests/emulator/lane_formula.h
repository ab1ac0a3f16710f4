/* Lane formulas: tables of integer instructions whose result is a formula in 128-bit integers. */
#ifndef TESTS_LANE_FORMULA_H
#define TESTS_LANE_FORMULA_H

#include "lane_table.h"
#include <stddef.h>

__extension__ typedef __int128 Int;

typedef struct LaneFormula {
    LaneInstruction instruction;
    enum { UNSIGNED, SIGNED } sign;         /* how sources are extended to an Int */
    Int (*formula)(const Int *x, int bits); /* the first destination's bits; `bits`: of the first source */
} LaneFormula;

/* Runs every row on edge cases and random values. */
void lane_formula_check(const LaneFormula *rows, size_t count);
#define CHECK_FORMULAS(rows) lane_formula_check(rows, sizeof(rows) / sizeof(rows)[0])

#define FORMULA(NAME, VALUE)                                                                                 \
    static Int NAME(const Int *x, int bits) {                                                                \
        (void)bits;                                                                                          \
        return (VALUE);                                                                                      \
    }

Int int_ones(int bits);
Int int_extend(Int value, int bits, bool is_signed);
Int int_clamp(Int value, Int low, Int high);
Int int_clamp_to(Int value, int bits, bool is_signed);   /* to the range of an integer type */
Int int_part(Int word, int i, int bits, bool is_signed); /* the i-th byte, half-word, ... */

#endif
