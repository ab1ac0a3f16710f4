/* The parameters that the C++ name of a kernel declares. Private to the catalogue. */
#ifndef GUESS_GUESS_DECLARED_H
#define GUESS_GUESS_DECLARED_H

#include "guess/uses.h"

typedef struct Declared { /* "const float*" */
    bool is_known, is_pointer, is_constant;
    int vector;     /* float4: 4; else 1 */
    PtxType type;   /* pointed to, or the value's; NO_TYPE: a structure, an enumeration */
    uint64_t value; /* of a number that belongs to an array of Numba's */
    bool has_value;
} Declared;

/* [USES_PARAMETERS], zeros where the name says nothing; what stands for arrays of Numba's is of n elements. */
void declared_list(const PtxFunction *entry, uint64_t n, Declared *declared);

#endif
