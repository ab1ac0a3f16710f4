/* Marks: the written bytes of global memory, and the allocated parts of the device heap. A buffer may start
 * unwritten. Checked only if an observer searches for faults. Private to the emulator. */
#ifndef EMULATOR_MACHINE_MARKS_H
#define EMULATOR_MACHINE_MARKS_H

#include "emulator/machine/machine_access.h"

/* Checks an access of a region with marks: bytes read must be written, and bytes on the heap must be
 * allocated. The run continues after such a fault. */
void marks_see(const Access *access);
/* The same for shared memory: an address computed from an array must lie in it. */
void marks_see_shared(const Access *access);
/* The same for a buffer: true, and a fault, if the address was computed from a parameter that points into
 * another buffer. */
bool marks_see_buffer(const Access *access);
/* A copy writes these bytes. */
void marks_write(const Region *region, uint64_t offset, uint64_t bytes);

#endif
