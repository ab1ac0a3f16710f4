/* Loops over whole inputs, compiled for several vector units: random fills and sums of the common types.
 * Every unit gives the same bytes. */
#ifndef PLAN_LOOPS_H
#define PLAN_LOOPS_H

#include "ptx/ptx.h"

typedef struct RandomNumbers { /* element i follows from a hash of (seed, i) */
    uint64_t seed, choices;
    double least; /* whole numbers: least to least + choices - 1; otherwise -scale to scale, or 0 to scale */
    double scale;
    bool is_whole, has_sign;
} RandomNumbers;

/* (seed, i) as 64 random bits; a hash of 64 bits. */
uint64_t loops_random_bits(uint64_t seed, uint64_t i);
uint64_t loops_mix(uint64_t x);
/* Fills elements begin to end - 1. False if there is no loop for this type and these numbers. */
bool loops_fill_random(PtxType type, void *bytes, const RandomNumbers *random, uint64_t begin, uint64_t end);

/* Sum and extremes of 32-bit integers; false for other types. */
bool loops_sum(PtxType type, const void *bytes, uint64_t count, uint64_t *sum); /* modulo 2^64 */
bool loops_extremes(PtxType type, const void *bytes, uint64_t count, int64_t *least,
                    int64_t *most); /* count 0: 0 */

#endif
