/* SASS: instructions counted one by one, by CUPTI, which patches the machine code of kernels as they are
 * launched. What the hardware's own counters only sample, or cannot distinguish (instructions with all lanes
 * off, wavefronts and lost arbitration), is exact here. */
#ifndef GPU_SASS_H
#define GPU_SASS_H

#include "gpu/cupti.h"
#include "gpu/driver.h"

enum { SASS_METRICS = 32 };

typedef struct SassMetrics {
    Cuda *cuda;
    const Cupti *cupti;
    CuptiSassConfig configs[SASS_METRICS];
    int place[SASS_METRICS]; /* of each in the caller's list */
    int count;
} SassMetrics;

/* Is it of this kind? By its name: "smsp__sass_inst_executed_op_shared_ld.sum". */
bool sass_is_metric(const char *name);

/* Adds a metric; one that the chip does not have is left out. */
void sass_add(SassMetrics *metrics, const char *chip, const char *name, int place);

/* Launches between sass_begin() and sass_end() are counted; when they are over, sass_read() writes what they
 * came to since the last one into values[place]. false: CUPTI does not do it, nothing is written. A device
 * can be configured once only (CUPTI 13.0 says "out of memory" the second time, undone or not), so the list
 * of the process' first sass_begin() is the one for good; what a later list has more is not counted. */
bool sass_begin(SassMetrics *metrics);
bool sass_read(SassMetrics *metrics, double *values);
void sass_end(SassMetrics *metrics);

#endif
