/* What one warp computes of a product: 16 rows of D, of wgmma.mma_async, mma and wmma. Private to the
 * emulator. */
#ifndef EMULATOR_INSTRUCTIONS_MATRIX_WARP_H
#define EMULATOR_INSTRUCTIONS_MATRIX_WARP_H

#include "ptx/matrix.h"

enum { MATRIX_WARP_ROWS = 16, MATRIX_WARP_LANES = 32 };
/* What is multiplied along k: 32 bytes, of sparse products 64. */
enum { MATRIX_DENSE_BYTES = 32, MATRIX_LINE_BYTES = 64 };

/* Rows of A and columns of B: the elements along k, one after another. */
typedef struct MatrixLines {
    uint8_t a[MATRIX_WARP_ROWS][MATRIX_LINE_BYTES];
    uint8_t b[PTX_WARPGROUP_COLUMNS][MATRIX_LINE_BYTES];
    bool is_sparse;
    /* is_sparse: a bit for each k whose element of A is stored. The others are 0 in `a`, and what B has there
     * is not multiplied, even if it is infinite. Of four neighbours at most two are stored (tf32: one of
     * two). */
    uint64_t stored[MATRIX_WARP_ROWS];
} MatrixLines;

/* Whether matrix_warp_multiply() takes it, if k fills MATRIX_DENSE_BYTES: the types, and D and C by lane. */
bool matrix_warp_takes(const PtxProduct *product);
/* `registers`: those of D, [d.registers][lane]: C, and then D. The same bits as matrix_dot() for every
 * element. */
void matrix_warp_multiply(const PtxProduct *product, const MatrixLines *lines,
                          uint32_t registers[][MATRIX_WARP_LANES]);

#endif
