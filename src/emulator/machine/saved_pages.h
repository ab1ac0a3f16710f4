/* Saved pages: the contents of global memory before a run on several host threads. They are put back if the
 * run's result cannot be kept. A page is saved before it is written first, so that inputs, which are only
 * read, take no room twice. Private to the emulator. */
#ifndef EMULATOR_MACHINE_SAVED_PAGES_H
#define EMULATOR_MACHINE_SAVED_PAGES_H

#include "emulator/machine/machine_memory.h"

/* No region may be added before it is freed. */
SavedPages *saved_pages_new(const Memory *memory);
void saved_pages_free(SavedPages *saved);
/* These bytes of a region are about to be written. Any thread may say so. */
void saved_pages_keep(SavedPages *saved, const Region *region, uint64_t offset, uint64_t bytes);
void saved_pages_restore(const SavedPages *saved); /* no thread writes any more */

#endif
