/* One element of D = A * B + C as a tensor core computes it: from a row of A, a column of B and an element of
 * C.
 *
 * Integers are added without rounding and wrap, or saturate at the end (.satfinite). f64 is a chain of fused multiply-adds
 * in the order of k. PTX says of the other floats only that products are formed "with at least single precision" and that
 * the order, rounding and precision of the sum are unspecified; here they are added as a Hopper tensor core does:
 *
 *   all k products and C, exact, as fixed point with 25 bits behind the point, the point behind the leading bit of the
 *   largest exponent among them (of a product, the sum of its factors' exponents); lower bits are cut off; their sum, which
 *   is exact, is cut to f32, or rounded to the nearest f16 if C is f16, too. A NaN is 0x7fffffff (0x7fff).
 *
 * That is the model of "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), which
 * its authors found equal to the bits of the hardware; sm_80 and sm_89 there keep 24 bits, and add the halves of k = 16 (of tf32, k = 8)
 * one after the other. For D of f16 with C of f32, and the
 * other way, ptxas 13.0 rounds and widens behind and before; of wmma's tf32 it makes two products of k = 4. An H200 gave these
 * bits for every form of matrix.def (tests/device/verify_matrix.sh); of f64 its NaN has others.
 *
 * Whatever the generation, each of the k + 1 terms loses less than 2^-23 of the sum of all absolute values, of which there
 * are two sums at most: the error is less than (k + 2) * 2^-23 * (|c| + sum of |a * b|), and two units in the last place of
 * D; with an f16 accumulator also 2^-10 of those absolute values. Two machines may differ by that, both right: --verify
 * takes a recorded result within it, as of .approx. */
#ifndef EMULATOR_INSTRUCTIONS_MATRIX_DOT_H
#define EMULATOR_INSTRUCTIONS_MATRIX_DOT_H

#include "ptx/matrix.h"

enum { MATRIX_MOST_K = 32 };

/* The bits of d, zero-extended; a and b: the bits of k elements. */
uint64_t matrix_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c);
/* May a tensor core give `result` for these operands, of which matrix_dot() gives `own`? */
bool matrix_dot_is_within(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c,
                          uint64_t own, uint64_t result);

#endif
