/* Arithmetic: how the instructions of a run round, which bounds the error of its result.
 *
 * It is read in the kernel, not taken from the types of its inputs: sums of 16-bit numbers are mostly made in
 * f32. */
#ifndef EXPECT_ARITHMETIC_H
#define EXPECT_ARITHMETIC_H

#include "ptx/program.h"

typedef struct Arithmetic {
    /* The narrowest type in which values are added, or kept between additions; NO_TYPE: in none, or not
     * known. */
    PtxType sums;
    PtxType terms; /* the narrowest 16-bit type of a product, a quotient or a function; NO_TYPE: none */
    /* The narrowest type to which values were narrowed that went to global memory: results, or partial ones
     * if there are more of them, `stores`. */
    PtxType stored;
    uint64_t stores;  /* lanes that stored such values */
    uint64_t depth;   /* most additions that a warp makes, over all launches; 0: not known */
    uint64_t atomics; /* lanes that added to memory: each may come after all others */
} Arithmetic;

/* Adds the instructions of a launch. `lanes`: [code_count] that executed each; NULL: not known, all are taken
 * as executed. */
void arithmetic_add(Arithmetic *arithmetic, const PtxProgram *program, const uint64_t *lanes);

/* The additions of floats that one execution of an instruction chains. */
uint64_t arithmetic_additions(const PtxInstruction *instruction);

#endif
