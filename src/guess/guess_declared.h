/* The parameters of a kernel as its C++ name, or its source, declares them. Private to src/guess. */
#ifndef GUESS_GUESS_DECLARED_H
#define GUESS_GUESS_DECLARED_H

#include "ptx/ptx.h"

enum { GUESS_PARAMETERS = 64 };

typedef struct Declared { /* "const float*" */
    bool is_known, is_pointer, is_constant;
    int vector;     /* float4: 4; else 1 */
    PtxType type;   /* pointed to, or the value's; NO_TYPE: a structure, an enumeration */
    uint64_t value; /* of a number that belongs to an array of Numba's */
    bool has_value;
} Declared;

/* [GUESS_PARAMETERS], by the mangled name, zeros where it says nothing; arrays of Numba's (of one dimension)
 * are of n elements. */
void declared_list(const PtxFunction *entry, uint64_t n, Declared *declared);
/* Of "const float *__restrict__", as the source has it before a parameter's name. */
Declared declared_of_source(const char *text);

#endif
