/* Index products: 32-bit products in addresses, and whether they fit. Private to the emulator.
 *
 * In PTX a product wraps around silently ("mul", "mad": .lo keeps the low bits). One that an index is made of has then lost the
 * element that was meant; where the index leads inside the buffer, nothing else shows it. */
#ifndef EMULATOR_LOWER_INDEX_PRODUCTS_H
#define EMULATOR_LOWER_INDEX_PRODUCTS_H

#include "emulator/lower/lowered.h"

/* Does the result grow and shrink with the operands? A hash, a remainder and a mask do not: what goes into them may wrap. */
bool index_is_carried_by(PtxOpcode opcode);
/* mul.lo, mad.lo, shl of 32 bits */
bool index_is_product(const PtxInstruction *in);
/* Sets Op.is_index_product of those whose result may become part of an address, and lowered->products. */
void lowered_find_products(LoweredProgram *lowered);
/* The lanes whose product, with what mad adds, fits in 32 bits neither as a signed number nor as an unsigned one. */
uint32_t index_product_wraps(const Op *op, const Warp *warp, uint32_t mask);

#endif
