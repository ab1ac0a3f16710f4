/* Marks: the written bytes of global memory, and the allocated parts of the device heap. A buffer may begin
 * unwritten. Looked at only where an observer searches for faults. Private to the emulator. */
#ifndef EMULATOR_MACHINE_MARKS_H
#define EMULATOR_MACHINE_MARKS_H

#include "emulator/machine/machine_access.h"

/* The lanes are about to access a region that has marks: what they read must have been written, and on the heap lie in
 * an allocation. A fault after which the run goes on. */
void marks_see(const Access *access);
/* The same of shared memory: an address that is made of an array's should lie in it. */
void marks_see_shared(const Access *access);
/* The same of a buffer, where the address is made of a parameter that points into another one: true, and a fault. */
bool marks_see_buffer(const Access *access);
/* A copy writes there. */
void marks_write(const Region *region, uint64_t offset, uint64_t bytes);

#endif
