/* One element of D = A * B + C as a tensor core computes it. Its inputs are a row of A, a column of B and an
 * element of C.
 *
 * Integer sums do not round; they wrap, or saturate at the end (.satfinite). f64 is a chain of fused
 * multiply-adds in the order of k. For the other floats, PTX only says that products are formed "with at
 * least single precision" and that the order, rounding and precision of the sum are unspecified. This
 * emulator adds them as a Hopper tensor core does:
 *
 *   All k products and C are exact, then aligned as fixed-point numbers with kept_bits after the point: 25,
 *   for wgmma of e4m3 and e5m2 13. The point follows the leading bit of the largest exponent among those
 *   that are not 0 (for a product, the sum of its factors' exponents). Lower bits are cut off. The sum is
 *   exact; it is truncated to f32 (with 13 kept bits, to 13 bits after the point), or rounded to the nearest
 *   f16 if C is f16 too. A NaN is 0x7fffffff (0x7fff); a sum of 0 has no sign.
 *
 * mma.sync of e4m3 and e5m2 is two such products of f16 on sm_90: ptxas converts the factors, first those
 * with k % 4 of 0 and 1, and adds C last, rounded to the nearest.
 *
 * This is the model of "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv
 * 2511.10909), whose authors found it bit-identical to the hardware. In that model sm_80 and sm_89 keep 24
 * bits and add the halves of k = 16 (tf32: k = 8) one after the other. If D is f16 and C is f32, ptxas 13.0
 * rounds after the product; in the opposite case it widens before. It splits wmma's tf32 into two products of
 * k = 4. An H200 gave these bits for every form of matrix.def (tests/device/verify_matrix.sh), except for the
 * NaN of f64, and for wgmma (98,304 results of eight pairs of types, driver 580.159.04).
 *
 * On every generation, each of the k + 1 terms loses less than 2^-23 of the sum of all absolute values, and
 * there are at most two such sums. So the error is less than (k + 2) * 2^-23 * (|c| + sum of |a * b|), and
 * two units in the last place of D; with an f16 accumulator also 2^-10 of those absolute values. Two machines
 * may differ by that much, and both are right: --verify accepts a recorded result within this bound, as it
 * does for .approx. */
#ifndef EMULATOR_INSTRUCTIONS_MATRIX_DOT_H
#define EMULATOR_INSTRUCTIONS_MATRIX_DOT_H

#include "ptx/matrix.h"

enum { MATRIX_MOST_K = 64 };

/* The bits of d, zero-extended; a and b: the bits of k elements. */
uint64_t matrix_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c);
/* True if a tensor core may give `result` for these operands, for which matrix_dot() gives `own`. */
bool matrix_dot_is_within(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c,
                          uint64_t own, uint64_t result);

#endif
