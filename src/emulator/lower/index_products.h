/* Index products: 32-bit products in addresses, and whether they fit. Private to the emulator.
 *
 * In PTX a product wraps silently ("mul", "mad": .lo keeps the low bits). A wrapped index selects the wrong
 * element; if that element lies inside the buffer, nothing else shows the error. */
#ifndef EMULATOR_LOWER_INDEX_PRODUCTS_H
#define EMULATOR_LOWER_INDEX_PRODUCTS_H

#include "emulator/lower/lowered.h"

/* True if the result grows and shrinks with the operands. A hash, a remainder and a mask do not: their
 * operands may wrap. */
bool lower_index_is_carried_by(PtxOpcode opcode);
/* mul.lo, mad.lo, shl of 32 bits */
bool lower_index_is_product(const PtxInstruction *in);
/* Sets Op.is_index_product for products whose result may become part of an address, and lowered->products. */
void lowered_find_products(LoweredProgram *lowered);
/* 8 or 16 if the address of this access of `width` bytes is computed from an index that is kept in a signed
 * type of so few bits, and that was not loaded from memory; 0: it is not. */
int lower_index_narrow_bits(const PtxProgram *program, int pc, int width);
/* The lanes whose product, plus the addend of mad, fits in 32 bits neither signed nor unsigned. */
uint32_t lower_index_product_wraps(const Op *op, const Warp *warp, uint32_t mask);

#endif
