/* Saved pages: the contents of global memory before a run on several host threads. They are restored if the
 * result of the run is not valid. A page is saved before its first write, so inputs, which are only read, are
 * never copied. Private to the emulator. */
#ifndef EMULATOR_MACHINE_SAVED_PAGES_H
#define EMULATOR_MACHINE_SAVED_PAGES_H

#include "emulator/machine/machine_memory.h"

/* No region may be added until it is freed. */
SavedPages *saved_pages_new(const Memory *memory);
void saved_pages_free(SavedPages *saved);
/* These bytes of a region are about to be written. Safe from any thread. */
void saved_pages_keep(SavedPages *saved, const Region *region, uint64_t offset, uint64_t bytes);
/* Page `page` of a region as it was; NULL: it has not been written. */
const uint8_t *saved_page(const SavedPages *saved, int region, uint64_t page);
void saved_pages_restore(const SavedPages *saved); /* no thread may write any more */

#endif
