/* Writers: the words of global memory that a traced block writes, and those that others write. Guided runs
 * need both. Private to the emulator. */
#ifndef EMULATOR_MACHINE_WRITERS_H
#define EMULATOR_MACHINE_WRITERS_H

#include "emulator/machine/machine_block.h"

struct Writers {
    const TraceLaunch *recorded;
    Footprint **footprints; /* [block_count of `recorded` + 1]: the last one is that of all other blocks */
};

/* The footprint that collects the words `block` writes. */
Footprint *writers_footprint(const Writers *writers, uint64_t block);
/* The words written by blocks other than `index` (-1: by any block), or by earlier launches (`earlier`, may
 * be NULL): one bit each, malloc'd. */
uint64_t *writers_written_by_others(const Writers *writers, int index, const uint64_t *earlier,
                                    uint64_t earlier_words);

#endif
