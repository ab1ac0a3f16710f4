/* What one warp computes of a product: 16 rows of D, of wgmma.mma_async, mma and wmma. Private to the
 * emulator. */
#ifndef EMULATOR_INSTRUCTIONS_MATRIX_WARP_H
#define EMULATOR_INSTRUCTIONS_MATRIX_WARP_H

#include "ptx/matrix.h"

enum { MATRIX_WARP_ROWS = 16, MATRIX_LINE_BYTES = 32, MATRIX_WARP_LANES = 32 };

/* Rows of A and columns of B: the elements along k, one after another. */
typedef struct MatrixLines {
    uint8_t a[MATRIX_WARP_ROWS][MATRIX_LINE_BYTES];
    uint8_t b[PTX_WARPGROUP_COLUMNS][MATRIX_LINE_BYTES];
} MatrixLines;

/* Whether matrix_warp_multiply() takes it, if k fills a line: the types, and D and C by lane. */
bool matrix_warp_takes(const PtxProduct *product);
/* `registers`: those of D, [d.registers][lane]: C, and then D. The same bits as matrix_dot() for every
 * element. */
void matrix_warp_multiply(const PtxProduct *product, const MatrixLines *lines,
                          uint32_t registers[][MATRIX_WARP_LANES]);

#endif
