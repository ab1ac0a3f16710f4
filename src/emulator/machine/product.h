/* Product: mma, wmma.mma and movmatrix in executable form. The lanes of a warp hold the matrices together.
 * See emulator/instructions/mma.c for their execution. Private to the emulator. */
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
    bool is_move; /* movmatrix: d = a transposed, without b and c */
    PtxProduct shape;
    MatrixRegisters a, b, c, d;
} ProductOp;

/* wgmma.mma_async. D is read and written. */
typedef struct WarpgroupOp {
    CoreOp core;
    PtxWarpgroupProduct shape;
    MatrixRegisters a; /* unless in shared memory */
    MemoryValue *d;    /* [shape.product.d.registers] */
    Operand a_descriptor, b_descriptor, scale_d;
} WarpgroupOp;

#endif
