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

/* Where a lane's register lies in the rows of A, or the columns of B: bytes from the first one's begin. */
typedef struct LinePlaces {
    uint16_t at[MOST_MATRIX_REGISTERS][WARP_LANES];
} LinePlaces;

typedef struct ProductOp {
    CoreOp core;
    bool is_move; /* movmatrix: d = a transposed, without b and c */
    PtxProduct shape;
    MatrixRegisters a, b, c, d;
    const LinePlaces *a_lines, *b_lines; /* NULL: not for matrix_warp_multiply() */
    PtxProduct lines_shape;              /* shape, with zeroes up to a whole line along k */
} ProductOp;

/* wgmma.mma_async. D is read and written. */
typedef struct WarpgroupOp {
    CoreOp core;
    PtxWarpgroupProduct shape;
    MatrixRegisters a; /* unless in shared memory */
    MemoryValue *d;    /* [shape.product.d.registers] */
    Operand a_descriptor, b_descriptor, scale_d;
    Operand metadata; /* of sparse A */
} WarpgroupOp;

#endif
