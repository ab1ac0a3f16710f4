/* Writers: the words of global memory that a traced block writes, and those that others write. A guided run
 * needs both. Private to the emulator. */
#ifndef EMULATOR_MACHINE_WRITERS_H
#define EMULATOR_MACHINE_WRITERS_H

#include "emulator/machine/machine_block.h"

struct Writers {
    const TraceLaunch *recorded;
    Footprint **footprints; /* [block_count of `recorded` + 1]: the last is that of all other blocks */
};

/* Where the words that `block` writes are kept. */
Footprint *writers_footprint(const Writers *writers, uint64_t block);
/* Words that other blocks than block `index` (-1: none) have written, or earlier launches (`earlier`, may be NULL): a
 * bit each, malloc'd. */
uint64_t *writers_written_by_others(const Writers *writers, int index, const uint64_t *earlier,
                                    uint64_t earlier_words);

#endif
