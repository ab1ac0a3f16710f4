/* Touched page: 4 KB of a buffer that a launch read or wrote (emulator.h). */
#ifndef EMULATOR_MACHINE_TOUCHED_PAGE_H
#define EMULATOR_MACHINE_TOUCHED_PAGE_H

#include <stdint.h>

enum { EMULATOR_PAGE_BYTES = 4096 };

typedef struct EmulatorPage {
    uint64_t address;
    uint32_t bytes;          /* less than 4096 at the end of a buffer */
    const uint8_t *now;      /* after the launch */
    const uint8_t *before;   /* the launch; NULL: it was only read */
    const uint64_t *written; /* [16] one bit per 4-byte word that was written; NULL: none */
    const uint64_t *read;    /* the same of words that were read */
} EmulatorPage;

#endif
