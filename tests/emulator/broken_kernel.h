/* Broken kernel: an entry of assets/ptx as lines, with random changes: instructions are inserted, removed and
 * altered. */
#ifndef TESTS_EMULATOR_BROKEN_KERNEL_H
#define TESTS_EMULATOR_BROKEN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Dice {
    uint64_t state;
} Dice;

/* 0 to sides - 1 */
uint32_t dice_roll(Dice *dice, uint32_t sides);

#define DICE_PICK(dice, array) ((array)[dice_roll(dice, sizeof(array) / sizeof *(array))])

enum { BROKEN_KERNEL_LINES = 4000, BROKEN_KERNEL_LINE_BYTES = 256 };

typedef struct BrokenKernel {
    char *before; /* the part of the module before its first entry */
    char *lines[BROKEN_KERNEL_LINES];
    int count, body; /* lines[body]: the first one inside the entry's braces */
    char name[BROKEN_KERNEL_LINE_BYTES];
} BrokenKernel;

/* Entry `index` of the text; false: it has fewer entries. */
bool broken_kernel_read(BrokenKernel *kernel, const char *text, int index);
/* Inserts names that changed lines may use: registers, labels, functions. */
void broken_kernel_prepare(BrokenKernel *kernel);
void broken_kernel_copy(BrokenKernel *to, const BrokenKernel *from);
void broken_kernel_alter(BrokenKernel *kernel, Dice *dice); /* one change */
char *broken_kernel_text(const BrokenKernel *kernel);       /* as PTX; the caller frees it */
void broken_kernel_done(BrokenKernel *kernel);

#endif
