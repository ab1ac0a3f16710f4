/* Owners: the PTX instruction that each machine instruction implements. Private to compare.c and the files it
 * uses. */
#ifndef SASS_OWNERS_H
#define SASS_OWNERS_H

#include "sass/compare.h"

/* Fills comparison->owner and has_ptx_lines. */
void sass_find_owners(SassComparison *comparison);
/* By PTX lines alone, from either text; `owner` must be allocated. False: no line has an instruction. */
bool sass_own_by_ptx_line(SassComparison *comparison);
/* Counts the machine instructions of a pc, of one class or of all (SASS_CLASSES). `*first`: index of the
 * first. */
int sass_count_owned(const SassComparison *comparison, int pc, SassClass class, int *first);
/* The basic block of each machine instruction [kernel->count]: a label, or the instruction after a branch,
 * begins one. The caller frees it. */
int *sass_blocks(const SassKernel *kernel);
/* True if the machine instruction is between a label and a branch back to it. */
bool sass_is_in_loop(const SassKernel *kernel, int index);

#endif
