/* Products of a warpgroup, the part of one warp (matrix_warp.h). */
#include "emulator/instructions/matrix_warp.h"

#include "emulator/instructions/matrix_dot.h"

#include <string.h>

/* The bits of the elements of a line. */
static void unpack(const uint8_t line[MATRIX_LINE_BYTES], int count, uint64_t *elements) {
    size_t bytes = MATRIX_LINE_BYTES / (size_t)count;
    for (int i = 0; i < count; i++) {
        elements[i] = 0;
        memcpy(&elements[i], line + (size_t)i * bytes, bytes);
    }
}

static void multiply_element(const PtxProduct *product, const MatrixLines *lines, int r, int lane,
                             uint32_t registers[][MATRIX_WARP_LANES]) {
    const PtxFragment *d = &product->d;
    uint64_t a[MATRIX_MOST_K], b[MATRIX_MOST_K];
    uint32_t bits = registers[r][lane], result = 0;
    for (int part = 0; part < d->parts; part++) {
        PtxMatrixPlace place = ptx_fragment_place(d, lane, r, part);
        unpack(lines->a[place.row], product->k, a);
        unpack(lines->b[place.column], product->k, b);
        uint64_t own = matrix_dot(product, a, b, ptx_fragment_element(d, bits, part));
        result |= (uint32_t)own << 16 * part;
    }
    registers[r][lane] = result;
}

void matrix_warp_multiply(const PtxProduct *product, const MatrixLines *lines,
                          uint32_t registers[][MATRIX_WARP_LANES]) {
    for (int r = 0; r < product->d.registers; r++)
        for (int lane = 0; lane < MATRIX_WARP_LANES; lane++)
            multiply_element(product, lines, r, lane, registers);
}
