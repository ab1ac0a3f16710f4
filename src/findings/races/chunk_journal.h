/* Chunk journal: the accesses of a chunk as a list, while the list says as much as its cells would. Private
 * to src/metrics.
 *
 * It does while no two accesses of a cell meet of which it matters here which lanes are ordered: reads of one cell by
 * threads that do not know of each other are listed one behind the other; what is known already makes place. Whatever
 * may be a race, or is not as simple, is left to the cells. */
#ifndef FINDINGS_RACES_CHUNK_JOURNAL_H
#define FINDINGS_RACES_CHUNK_JOURNAL_H

#include "findings/races/shadow_memory.h"

typedef enum JournalEntry {
    JOURNAL_ADDED,
    JOURNAL_CELLS, /* the cells have to be looked at one by one */
    JOURNAL_FULL   /* the limit of memory is reached */
} JournalEntry;

/* Adds an access by the block of `order`, at its present stamp. */
JournalEntry chunk_journal_add(ShadowMemory *memory, ShadowChunk *chunk, const HappensBefore *order,
                               const ChunkAccess *access);
/* Of shared memory that no other block accesses: drops what is stamped so or earlier, with which nothing can race. */
void chunk_journal_forget(ShadowMemory *memory, ShadowChunk *chunk, uint32_t stamp);

#endif
