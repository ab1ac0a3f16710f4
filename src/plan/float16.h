/* Float16: the 16-bit floats, IEEE half and bfloat16, in software. C compilers of some machines have
 * neither. */
#ifndef PLAN_FLOAT16_H
#define PLAN_FLOAT16_H

#include <stdint.h>

double float16_half_read(uint16_t bits);
double float16_bfloat_read(uint16_t bits);
/* Rounds once, to nearest even, from the double; too large becomes infinity; any NaN becomes 0x7fff, as in
 * PTX. */
uint16_t float16_half_write(double number);
uint16_t float16_bfloat_write(double number);

#endif
