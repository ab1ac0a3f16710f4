/* Product: mma and wmma.mma made ready, and movmatrix: instructions in which a warp holds matrices together. Executing them is
 * emulator/instructions/mma.c. Private to the emulator. */
#ifndef EMULATOR_MACHINE_PRODUCT_H
#define EMULATOR_MACHINE_PRODUCT_H

#include "emulator/machine/machine_access.h"
#include "ptx/matrix.h"

enum { MOST_MATRIX_REGISTERS = 8 };

typedef struct MatrixRegisters {
    PtxFragment fragment;
    MemoryValue items[MOST_MATRIX_REGISTERS]; /* [fragment.registers] */
} MatrixRegisters;

typedef struct ProductOp {
    CoreOp core;
    bool is_move; /* movmatrix: d = a, transposed; there are no b and c */
    PtxProduct shape;
    MatrixRegisters a, b, c, d;
} ProductOp;

#endif
