/* CUPTI: NVIDIA's profiling library, opened at run time like the driver. No toolkit is needed to build this,
 * and where the library is not installed nothing but the counters is missing.
 *
 * It has a *host* half, which knows the metrics of every chip and needs no GPU; a *target* half, the range
 * profiler, which reads the hardware's counters; and *SASS metrics*, which it counts by patching the
 * machine's instructions (all of them: CUDA 12.6 and later). The structs are those that cupti.def names,
 * member by member, in our own words; a member keeps its place, so that `size` tells the library which of
 * them are there. */
#ifndef GPU_CUPTI_H
#define GPU_CUPTI_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CuptiResult; /* CUptiResult: 0 is success */
typedef struct CuptiHostTag *CuptiHost;
typedef struct CuptiProfilerTag *CuptiProfiler;

enum { CUPTI_INSUFFICIENT_PRIVILEGES = 35 };
enum { CUPTI_AUTO_RANGE = 1 };  /* CUpti_ProfilerRange: each kernel is a range */
enum { CUPTI_USER_REPLAY = 3 }; /* CUpti_ProfilerReplayMode: we launch again for each pass */

#define CUPTI_HEAD                                                                                           \
    size_t size;                                                                                             \
    void *reserved

typedef struct CuptiInitialize {
    CUPTI_HEAD;
} CuptiInitialize;

typedef struct CuptiAvailability {
    CUPTI_HEAD;
    void *context;
    size_t bytes; /* in and out */
    uint8_t *image;
} CuptiAvailability;

typedef struct CuptiChipName {
    CUPTI_HEAD;
    size_t device;
    const char *name; /* out: "GH100" */
} CuptiChipName;

typedef struct CuptiHostInitialize {
    CUPTI_HEAD;
    int type; /* CUpti_ProfilerType: 0 is the range profiler */
    const char *chip;
    const uint8_t *availability; /* NULL: all that the chip has */
    CuptiHost host;              /* out */
} CuptiHostInitialize;

typedef struct CuptiHostOnly {
    CUPTI_HEAD;
    CuptiHost host;
} CuptiHostOnly;

typedef struct CuptiAddMetrics {
    CUPTI_HEAD;
    CuptiHost host;
    const char *const *names;
    size_t count;
} CuptiAddMetrics;

typedef struct CuptiConfigSize {
    CUPTI_HEAD;
    CuptiHost host;
    size_t bytes; /* out */
} CuptiConfigSize;

typedef struct CuptiConfig {
    CUPTI_HEAD;
    CuptiHost host;
    size_t bytes;
    uint8_t *image;
} CuptiConfig;

typedef struct CuptiPasses {
    CUPTI_HEAD;
    size_t bytes;
    const uint8_t *image;
    size_t passes; /* out */
} CuptiPasses;

typedef struct CuptiEvaluate {
    CUPTI_HEAD;
    CuptiHost host;
    const uint8_t *data;
    size_t bytes, range;
    const char *const *names;
    size_t count;
    double *values;
} CuptiEvaluate;

typedef struct CuptiEnable {
    CUPTI_HEAD;
    void *context;
    CuptiProfiler profiler; /* out */
} CuptiEnable;

typedef struct CuptiProfilerOnly {
    CUPTI_HEAD;
    CuptiProfiler profiler;
} CuptiProfilerOnly;

typedef struct CuptiDataSize {
    CUPTI_HEAD;
    CuptiProfiler profiler;
    const char *const *names;
    size_t count, most_ranges;
    uint32_t most_nodes;
    size_t bytes; /* out */
} CuptiDataSize;

typedef struct CuptiDataInitialize {
    CUPTI_HEAD;
    CuptiProfiler profiler;
    size_t bytes;
    uint8_t *data;
} CuptiDataInitialize;

typedef struct CuptiSetConfig {
    CUPTI_HEAD;
    CuptiProfiler profiler;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    int range, replay;
    size_t ranges_per_pass;
    uint16_t nesting_levels, nesting_least;
    size_t pass;
    uint16_t nesting_target;
} CuptiSetConfig;

typedef struct CuptiStop {
    CUPTI_HEAD;
    CuptiProfiler profiler;
    size_t pass, nesting_target; /* out */
    uint8_t all_submitted;       /* out: that was the last pass */
} CuptiStop;

typedef struct CuptiDecode {
    CUPTI_HEAD;
    CuptiProfiler profiler;
    size_t dropped; /* out: ranges */
} CuptiDecode;

typedef struct CuptiDataInfo {
    CUPTI_HEAD;
    const uint8_t *data;
    size_t bytes;
    size_t ranges; /* out */
} CuptiDataInfo;

typedef struct CuptiSassMetric {
    uint64_t id;
    const char *name, *description;
} CuptiSassMetric;

typedef struct CuptiSassProperties {
    CUPTI_HEAD;
    const char *chip, *name;
    CuptiSassMetric metric; /* out */
} CuptiSassProperties;

typedef struct CuptiSassConfig {
    uint64_t id;
    uint8_t granularity; /* CUpti_SassMetrics_OutputGranularity: 0 is the whole GPU */
} CuptiSassConfig;

typedef struct CuptiSassSetConfig {
    CUPTI_HEAD;
    size_t count;
    CuptiSassConfig *configs;
    uint32_t device;
} CuptiSassSetConfig;

typedef struct CuptiSassEnable {
    CUPTI_HEAD;
    void *context;
    uint8_t lazy; /* patch a function when it is first launched */
} CuptiSassEnable;

typedef struct CuptiSassDisable {
    CUPTI_HEAD;
    void *context;
    size_t dropped; /* out */
} CuptiSassDisable;

typedef struct CuptiSassSizes {
    CUPTI_HEAD;
    void *context;
    size_t records, instances; /* out: instructions, and values of each */
} CuptiSassSizes;

typedef struct CuptiSassValue {
    uint64_t id, value;
} CuptiSassValue;

typedef struct CuptiSassRecord { /* of an instruction */
    CUPTI_HEAD;
    uint32_t cubin, function;
    const char *function_name;
    uint32_t pc;
    CuptiSassValue *values; /* [instances] */
} CuptiSassRecord;

typedef struct CuptiSassFlush {
    CUPTI_HEAD;
    void *context;
    size_t records, instances;
    CuptiSassRecord *data;
} CuptiSassFlush;

typedef struct Cupti {
    void *library;
    CuptiResult (*cuptiGetResultString)(CuptiResult result, const char **text);
#define CUPTI(name, Parameters, last) CuptiResult (*name)(Parameters * parameters);
#include "gpu/cupti.def"
#undef CUPTI
} Cupti;

/* Looks for libcupti where the linker does, then where CUDA installs it (/usr/local/cuda*); $REDVIZ_CUPTI
 * names the one to take. One for the whole program, which is never unloaded: the driver calls into it. NULL
 * with `error`: there is none, or it is too old. */
const Cupti *cupti_open(Error *error);

/* Is `result` a success? Else error: "cuptiX: CUPTI_ERROR_UNKNOWN", and what to do where we know it. */
bool cupti_check(const Cupti *cupti, const char *call, CuptiResult result, Error *error);

/* The size that the parameters of an entry point begin with: CUPTI_SIZE_OF(cuptiRangeProfilerStart). */
#define CUPTI(name, Parameters, last)                                                                        \
    enum { name##_size = offsetof(Parameters, last) + sizeof((Parameters *)0)->last };
#include "gpu/cupti.def"
#undef CUPTI
#define CUPTI_CALL(cupti, error, name, parameters)                                                           \
    ((parameters)->size = name##_size, cupti_check(cupti, #name, (cupti)->name(parameters), error))

#endif
