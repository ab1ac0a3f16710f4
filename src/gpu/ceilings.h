/* Ceilings: the highest memory bandwidth of this GPU that kernels of ours reach. They only read, or copy, 1
 * GiB (less where little memory is free). */
#ifndef GPU_CEILINGS_H
#define GPU_CEILINGS_H

#include "gpu/timing.h"

typedef struct Ceilings { /* GB/s */
    double nominal;       /* by memory clock and width of the bus */
    double read;
    double copy; /* read and written */
} Ceilings;

/* `seconds` for each of the two measurements, at most. */
bool gpu_measure_ceilings(Timer *timer, double seconds, Ceilings *ceilings, Error *error);

#endif
