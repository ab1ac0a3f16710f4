/* Owners: the PTX instruction to which each machine instruction belongs. Private to compare.c and what it
 * uses. */
#ifndef SASS_OWNERS_H
#define SASS_OWNERS_H

#include "sass/compare.h"

/* Fills comparison->owner and has_ptx_lines. */
void sass_find_owners(SassComparison *comparison);
/* The same by PTX lines alone, of whichever text; owner has room. false: no line has an instruction. */
bool sass_own_by_ptx_line(SassComparison *comparison);
/* Machine instructions of a pc; of one class of them only, or of all (SASS_CLASSES). `*first`: the first one's index. */
int sass_count_owned(const SassComparison *comparison, int pc, SassClass class, int *first);
/* The basic block of each machine instruction [kernel->count]: a label or the instruction behind a branch begins one.
 * The caller frees it. */
int *sass_blocks(const SassKernel *kernel);
/* Is the machine instruction between a label and a branch back to it? */
bool sass_is_in_loop(const SassKernel *kernel, int index);

#endif
