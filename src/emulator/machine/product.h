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

/* An event has some of the registers of D: 8, or what is left of them, a power of two. participants: the
 * first one. */
static inline int warpgroup_event_registers(const WarpgroupOp *op, int first) {
    int left = op->shape.product.d.registers - first;
    return left >= TRACE_MAX_ELEMENTS ? TRACE_MAX_ELEMENTS : left >= 4 ? 4 : left;
}

#endif
