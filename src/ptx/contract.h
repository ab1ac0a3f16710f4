/* Contract: fuses products and sums as ptxas does, before anything is linked.
 *
 * PTX lets a mul, add or sub without a rounding modifier be contracted ("Floating Point Instructions: mul,
 * add, sub"), and ptxas makes an fma of them wherever it can, which has one rounding less: the bits of a
 * result depend on it. So the IR of a function gets these fma before it is linked, and what is traced,
 * counted, instrumented and shown is what the machine executes.
 *
 * The rule of ptxas 13.0, -O1 to -O3, for sm_75 to sm_100a, and types f32 f64 f16 f16x2 bf16 bf16x2:
 *
 *  1. Uses by dead code do not count. A mov or neg of a product is looked through (neg not for bf16x2), and
 *     so is a product with 1.0 or -1.0; a neg becomes the sign of the fma's operand.
 *  2. A mul is *fusable* if it has neither a rounding modifier (.rn counts), .sat nor a guard, and every use
 *     of it is an operand of an add or sub of its type and .ftz, without a rounding modifier, in its basic
 *     block, with another value as the other operand. One use of another kind (a store, a factor, an addend
 *     of an fma, abs, selp, a use in another block) blocks them all. The add may be guarded, and have .sat.
 *  3. First the adds in the order of the text: an operand that is fusable and used once is fused. Then again:
 *     an operand that is fusable, with any number of uses; of two, the one with fewer uses in the text, else
 *     the first. The other operand of a fused add, if it is a product, then has a use of another kind. A
 *     product without uses left disappears.
 *  4. A basic block ends at a branch, at a label that another branch enters, and at what ptxas expands to
 *     branches or does not move code across: calls, guarded memory accesses and synchronization, fences and
 *     membar, divisions, rcp and sqrt with a rounding modifier, divisions of integers but u32, pmevent,
 *     brkpt, griddepcontrol.launch_dependents. It does not end at unguarded accesses, atomics, barriers or
 *     shuffles, nor at approximations.
 *
 * Evidence: for 1,430 random straight-line programs of f32 and f64 and six targets, the machine code that
 * ptxas 13.0 makes, executed symbolically, is what the rule says; 1,742 outputs of 290 such programs have
 * these bits on an H200, whether ptxas or the driver (580.159.04) compiled them. f16 and bf16 were compared
 * by counts of opcodes only. 140 separators were tried for clause 4.
 *
 * The fma stands at the add's place, with its source line, and counts as one instruction. The mul is gone: it
 * is neither executed nor counted, and pcs are those of the fused code. Where PTX assigns a factor's register
 * again before the add, a mov to another register, which the machine's register allocation does not need,
 * keeps the factor.
 *
 * Not done: products of equal operands are not merged (ptxas does so in some cases), arithmetic of constants
 * is not folded, branches are not replaced by predicates. A module for a debugger (.target ..., debug: nvcc
 * -G) or with keeps_products is left as it is. */
#ifndef PTX_CONTRACT_H
#define PTX_CONTRACT_H

#include "ptx/ptx.h"

/* Changes the statements of a parsed function; once, later calls do nothing. Products and sums that are left
 * are printed with .rn where others were fused, so that ptxas fuses no more. */
void ptx_contract(PtxModule *module, PtxFunction *function);

#endif
