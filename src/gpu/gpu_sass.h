/* Counts of each executed machine instruction, by CUPTI. It patches kernels at launch. Quantities that
 * hardware counters only sample, or cannot distinguish (instructions with all lanes off, wavefronts and lost
 * arbitration), are exact here. */
#ifndef GPU_GPU_SASS_H
#define GPU_GPU_SASS_H

#include "gpu/cupti.h"
#include "gpu/driver.h"

enum { SASS_METRICS = 32 };

/* Counted by every configuration in addition to its list, so that gpu_sass_read_instructions() works with any
 * of them. */
typedef enum SassCounted {
    SASS_EXECUTED, /* by warps */
    SASS_ACTING,   /* by threads whose predicate was true */
    SASS_THREADS,  /* by active threads */
    SASS_COUNTED
} SassCounted;

typedef struct SassMetrics {
    Cuda *cuda;
    const Cupti *cupti;
    CuptiSassConfig configs[SASS_METRICS];
    int place[SASS_METRICS]; /* index of each in the caller's list; -1: not in it */
    int count;
    uint64_t counted[SASS_COUNTED]; /* ids */
} SassMetrics;

/* True for metrics of this kind, by their name: "smsp__sass_inst_executed_op_shared_ld.sum". */
bool gpu_sass_is_metric(const char *name);

/* Adds a metric if the chip has it. place -1: for a later caller. */
void gpu_sass_add(SassMetrics *metrics, const char *chip, const char *name, int place);
/* Starts an empty list for the device. `metrics` needs no cleanup. */
bool gpu_sass_open(SassMetrics *metrics, Cuda *cuda, CuptiChipName *chip, Error *error);
/* Adds the metrics of SassCounted. False with `error`: the chip lacks some of them. */
bool gpu_sass_add_counted(SassMetrics *metrics, const char *chip, Error *error);

/* Counts launches between gpu_sass_begin() and gpu_sass_end(); when they have finished, gpu_sass_read()
 * writes the counts since the last gpu_sass_read() into values[place]. False: CUPTI does not support it, and
 * nothing is written. A device can be configured only once (CUPTI 13.0 reports "out of memory" the second
 * time, even after an undo), so the list of the first gpu_sass_begin() of the process is final; additional
 * metrics of later lists are not counted. */
bool gpu_sass_begin(SassMetrics *metrics, Error *error);
bool gpu_sass_read(SassMetrics *metrics, double *values);
void gpu_sass_end(SassMetrics *metrics);

/* The same, per instruction: in the function with this name, at `pc` bytes from its first instruction. */
typedef void (*SassSink)(void *context, const char *function, uint32_t pc,
                         const uint64_t counted[SASS_COUNTED]);
bool gpu_sass_read_instructions(SassMetrics *metrics, SassSink sink, void *context, Error *error);

#endif
