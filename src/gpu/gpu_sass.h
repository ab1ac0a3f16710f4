/* Counts of each executed machine instruction, by CUPTI. It patches kernels at their launch. What the
 * hardware's own counters only sample, or cannot distinguish (instructions with all lanes off, wavefronts and
 * lost arbitration), is exact here. */
#ifndef GPU_GPU_SASS_H
#define GPU_GPU_SASS_H

#include "gpu/cupti.h"
#include "gpu/driver.h"

enum { SASS_METRICS = 32 };

/* What every configuration counts besides its list, so that sass_read_instructions() can be called whoever
 * came first. */
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
    int place[SASS_METRICS]; /* of each in the caller's list; -1: in none */
    int count;
    uint64_t counted[SASS_COUNTED]; /* ids */
} SassMetrics;

/* Is it of this kind? By its name: "smsp__sass_inst_executed_op_shared_ld.sum". */
bool sass_is_metric(const char *name);

/* Adds a metric; one that the chip does not have is left out. place -1: it is not for this caller, but for one
 * that comes later. */
void sass_add(SassMetrics *metrics, const char *chip, const char *name, int place);
/* An empty list for the device. `metrics` needs no closing. */
bool sass_open(SassMetrics *metrics, Cuda *cuda, CuptiChipName *chip, Error *error);
/* Adds the metrics of SassCounted. false with `error`: the chip has not all of them. */
bool sass_add_counted(SassMetrics *metrics, const char *chip, Error *error);

/* Launches between sass_begin() and sass_end() are counted; when they are over, sass_read() writes what they
 * came to since the last one into values[place]. false: CUPTI does not do it, nothing is written. A device
 * can be configured once only (CUPTI 13.0 says "out of memory" the second time, undone or not), so the list
 * of the process' first sass_begin() is the one for good; what a later list has more is not counted. */
bool sass_begin(SassMetrics *metrics, Error *error);
bool sass_read(SassMetrics *metrics, double *values);
void sass_end(SassMetrics *metrics);

/* The same, instruction by instruction: of the function with this name, at `pc` bytes from its first
 * instruction. */
typedef void (*SassSink)(void *context, const char *function, uint32_t pc,
                         const uint64_t counted[SASS_COUNTED]);
bool sass_read_instructions(SassMetrics *metrics, SassSink sink, void *context, Error *error);

#endif
