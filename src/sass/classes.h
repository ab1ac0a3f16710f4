/* Classes: the kinds of work of PTX and SASS instructions, so that the two can be compared. */
#ifndef SASS_CLASSES_H
#define SASS_CLASSES_H

#include "ptx/ptx.h"

typedef enum SassClass {
    SASS_OTHER, /* arithmetic, moves, addresses, parameters */
    SASS_JUMP,  /* an unconditional branch */
    SASS_BRANCH,
    SASS_EXIT,
    SASS_SHARED_LOAD,
    SASS_SHARED_STORE,
    SASS_SHARED_ATOMIC,
    SASS_GLOBAL_LOAD, /* including generic loads */
    SASS_GLOBAL_STORE,
    SASS_GLOBAL_ATOMIC,
    SASS_LOCAL_LOAD,
    SASS_LOCAL_STORE,
    SASS_SHUFFLE,
    SASS_VOTE,
    SASS_REDUX,
    SASS_BARRIER,
    SASS_CLUSTER_ARRIVE,
    SASS_CLUSTER_WAIT,
    SASS_ASYNC_COPY,
    SASS_BULK_COPY, /* including bulk reductions */
    SASS_MBARRIER,
    SASS_CLASSES
} SassClass;

SassClass sass_class_of_ptx(const PtxInstruction *instruction);
SassClass sass_class_of_text(const char *text);
bool sass_is_access(SassClass class); /* any memory access, including atomics */

/* "LDG.E.128" in "@!P1 LDG.E.128 R4, [R2]": its start and length. */
const char *sass_mnemonic(const char *text, int *length);
bool sass_is_guarded(const char *text);
/* Bytes that a load or store moves for each thread: 16 for LDG.E.128. */
int sass_bytes(const char *text);

#endif
