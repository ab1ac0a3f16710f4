/* Occupancy: the share of a multiprocessor's warps that a kernel can keep resident.
 *
 * It depends on registers, shared memory and block size, and is known without a GPU. Limits are those of the
 * CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications per Compute Capability";
 * registers come from ptxas through assets/ptx/resources.csv (scripts/make_ptx.sh). */
#ifndef CATALOG_OCCUPANCY_H
#define CATALOG_OCCUPANCY_H

#include <stdint.h>

/* An architecture is its compute capability times ten: 75 80 86 89 90 100 120. */
enum { OCCUPANCY_H200 = 90 };

/* Blocks of `threads` threads that are resident on one multiprocessor at once; 0: none fits, or the
 * architecture is not known. `shared_bytes`: static and dynamic of one block. */
int occupancy_blocks(int architecture, uint32_t registers, uint32_t shared_bytes, uint32_t threads);

/* Resident warps divided by the maximum; negative: architecture not known. */
double occupancy_theoretical(int architecture, uint32_t registers, uint32_t shared_bytes, uint32_t threads);

/* Registers per thread of an entry that ships with redviz, by its exact name; -1: not known. */
int occupancy_registers(const char *entry, int architecture);

#endif
