/* Narrow: the 16-bit floats (IEEE half and bfloat16) in software, for machines whose C compiler has neither.
 */
#ifndef CATALOG_NARROW_H
#define CATALOG_NARROW_H

#include <stdint.h>

double narrow_half_read(uint16_t bits);
double narrow_bfloat_read(uint16_t bits);
/* Rounds once, to nearest even, from the double; too large becomes infinity; any NaN becomes 0x7fff, as in
 * PTX. */
uint16_t narrow_half_write(double number);
uint16_t narrow_bfloat_write(double number);

#endif
