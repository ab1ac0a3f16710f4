/* Chunk journal: lists the accesses of a chunk while a list says as much as cells would. Private to
 * src/findings.
 *
 * It does so while the order of single lanes does not matter for any two accesses of a cell. Reads of one
 * cell by threads that do not know of each other are listed one after the other; known accesses are replaced.
 * The cells handle everything that may be a race or is less simple. */
#ifndef FINDINGS_RACES_CHUNK_JOURNAL_H
#define FINDINGS_RACES_CHUNK_JOURNAL_H

#include "findings/races/shadow_memory.h"

typedef enum JournalEntry {
    JOURNAL_ADDED,
    JOURNAL_CELLS, /* the cells must be checked one by one */
    JOURNAL_FULL   /* the limit of memory is reached */
} JournalEntry;

/* Adds an access by the block of `order`, at its present stamp. */
JournalEntry chunk_journal_add(ShadowMemory *memory, ShadowChunk *chunk, const HappensBefore *order,
                               const ChunkAccess *access);
/* As above, for a write that may meet all listed accesses of its cells, which are writes. */
JournalEntry chunk_journal_replace(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *now);
/* For shared memory that no other block accesses: drops accesses up to this stamp, which can no longer
 * race. */
void chunk_journal_forget(ShadowMemory *memory, ShadowChunk *chunk, uint32_t stamp);

#endif
