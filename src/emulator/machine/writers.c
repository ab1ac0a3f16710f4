/* The words that each block of a guided run writes (writers.h). */
#include "emulator/machine/writers.h"

#include "trace/block.h"

Footprint *writers_footprint(const Writers *writers, uint64_t block) {
    int i = 0;
    while (i < writers->recorded->block_count && trace_block_linear(writers->recorded->blocks[i]) != block)
        i++;
    return writers->footprints[i];
}

uint64_t *writers_written_by_others(const Writers *writers, int index, const uint64_t *earlier,
                                    uint64_t earlier_words) {
    uint64_t words = writers->footprints[0]->words,
             *others = memory_new((size_t)(words / 64 + 2) * sizeof *others);
    for (uint64_t i = 0; i <= words / 64; i++) {
        if (i <= earlier_words / 64 && earlier) others[i] = earlier[i];
        for (int f = 0; f <= writers->recorded->block_count; f++)
            if (f != index) others[i] |= writers->footprints[f]->written[i];
    }
    return others;
}
