/* Lane tables: one PTX instruction applied to many rows of inputs, as a real kernel.
 *
 * A row's instruction is text over the registers a b c x (sources), r (source predicate), d e f g
 * (destinations) and p q (destination predicates); `registers` lists those it uses with their widths in bits,
 * 1 for predicates:
 * {"mad.wide.s32 d, a, b, c;", "d64 a32 b32 c64"}. Text of several instructions has a $ where a guard may
 * stand. One thread runs the instruction on one row. The kernel is plain PTX, so that the same tables can be
 * run on a GPU. */
#ifndef TESTS_LANE_TABLE_H
#define TESTS_LANE_TABLE_H

#include "base/text.h"
#include <stdint.h>

enum { LANE_VALUES = 4 }; /* at most, of sources and of destinations */

typedef struct LaneInstruction {
    const char *text;
    const char *registers;
} LaneInstruction;

typedef struct LaneRow {
    uint64_t in[LANE_VALUES];  /* in the order of `registers` */
    uint64_t out[LANE_VALUES]; /* zero-extended */
} LaneRow;

/* Appends a module with entry `lanes(.u64 rows, .u32 count)`: thread i replaces out of row i. If `guarded`,
 * only even threads execute the instruction; the others keep the contents of `out`. */
void lane_table_kernel(LaneInstruction instruction, bool guarded, Text *out);

/* Runs it in the emulator; fails the test if that is not possible. */
void lane_table_run(LaneInstruction instruction, LaneRow *rows, int count, bool guarded);

/* Fails the test unless the instruction traps when it is executed, with these words in the trap's detail. */
void lane_table_refuses(LaneInstruction instruction, const char *words);

/* Runs the rows at every level of vectorisation, for all and for half of the lanes, and compares with
 * `expected` rows. */
void lane_table_check(LaneInstruction instruction, const LaneRow *expected, int count);

/* Widths of sources and destinations, in order; returns the number of sources. */
int lane_table_widths(LaneInstruction instruction, int *source_bits, int *destination_bits,
                      int *destination_count);

/* A value with this many bits: edge cases and random bits, the same in every run. */
uint64_t lane_random(uint64_t *state);
uint64_t lane_integer(uint64_t *state,
                      int bits); /* powers of two and their neighbours, small numbers, any bits */
uint64_t lane_float(uint64_t *state,
                    int bits); /* of 16 (binary16), 32 or 64: zeros, subnormals, NaNs, near values */
uint64_t lane_bfloat(uint64_t *state);

#endif
