/* Ceilings: the highest memory bandwidth that redviz's own kernels reach on this GPU. They only read, or
 * copy, 1 GiB (less if little memory is free). */
#ifndef GPU_CEILINGS_H
#define GPU_CEILINGS_H

#include "gpu/timing.h"

typedef struct Ceilings { /* GB/s */
    double nominal;       /* from memory clock and bus width */
    double read;
    double copy; /* read and written */
} Ceilings;

/* `seconds`: the limit for each of the two measurements. */
bool gpu_measure_ceilings(Timer *timer, double seconds, Ceilings *ceilings, Error *error);

#endif
