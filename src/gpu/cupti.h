/* CUPTI: NVIDIA's profiling library, opened at run time like the driver. The build needs no toolkit, and
 * without the library only the counters are missing.
 *
 * It has a *host* part, which knows the metrics of every chip and needs no GPU; a *target* part, the range
 * profiler, which reads the hardware counters; *SASS metrics*, counted in patched machine instructions; and
 * *PC sampling* (all of them: CUDA 12.6 and later). The structs are those of cupti.def, member by member,
 * under names of our own; each member keeps its offset, so `size` tells the library which members are
 * present. */
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
enum { CUPTI_USER_REPLAY = 3 }; /* CUpti_ProfilerReplayMode: redviz launches again for each pass */

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
    const uint8_t *availability; /* NULL: all counters of the chip */
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

typedef struct CuptiSassRecord { /* for one instruction */
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

/* ---- PC sampling --------------------------------------------------------------------------------------- */

typedef struct CuptiContextOnly {
    CUPTI_HEAD;
    void *context;
} CuptiContextOnly;

typedef struct CuptiStallCount {
    CUPTI_HEAD;
    void *context;
    size_t *count; /* out */
} CuptiStallCount;

enum { CUPTI_STALL_NAME = 128 }; /* bytes of a name */

typedef struct CuptiStallNames {
    CUPTI_HEAD;
    void *context;
    size_t count;
    uint32_t *indices; /* out: [count] */
    char **names;      /* out: [count] of CUPTI_STALL_NAME bytes each */
} CuptiStallNames;

typedef enum CuptiSamplingAttribute { /* CUpti_PCSamplingConfigurationAttributeType */
                                      CUPTI_SAMPLING_PERIOD = 1,
                                      CUPTI_SAMPLING_STALLS = 2,
                                      CUPTI_SAMPLING_SCRATCH_BYTES = 3,
                                      CUPTI_SAMPLING_HARDWARE_BYTES = 4,
                                      CUPTI_SAMPLING_MODE = 5,
                                      CUPTI_SAMPLING_START_STOP = 6,
                                      CUPTI_SAMPLING_FORMAT = 7,
                                      CUPTI_SAMPLING_BUFFER = 8
} CuptiSamplingAttribute;
enum { CUPTI_KERNEL_SERIALIZED = 2 }; /* CUpti_PCSamplingCollectionMode */
enum { CUPTI_SAMPLES_PARSED = 1 };    /* CUpti_PCSamplingOutputDataFormat */

typedef struct CuptiSamplingSetting {
    int attribute;
    CuptiResult status; /* out */
    union {
        uint64_t most[3];
        uint32_t number; /* for the period, its exponent: 2^number cycles */
        size_t bytes;
        void *buffer;
        struct {
            size_t count;
            uint32_t *indices;
        } stalls;
    } value;
} CuptiSamplingSetting;

typedef struct CuptiSamplingConfig {
    CUPTI_HEAD;
    void *context;
    size_t count;
    CuptiSamplingSetting *settings;
} CuptiSamplingConfig;

typedef struct CuptiStallSamples {
    uint32_t stall, samples;
} CuptiStallSamples;

typedef struct CuptiSampledPc {
    size_t size;
    uint64_t cubin, pc;
    uint32_t function, padding;
    char *function_name;
    size_t count;
    CuptiStallSamples *stalls; /* [requested stalls], of which `count` are filled in */
    uint32_t correlation;
} CuptiSampledPc;

typedef struct CuptiSamples {
    size_t size;
    size_t most;             /* room for this many pcs */
    uint64_t total, dropped; /* out: all samples; samples without room */
    size_t count, remaining; /* out: pcs returned; pcs left for another call */
    uint64_t range;
    CuptiSampledPc *pcs; /* [most] */
    uint64_t elsewhere;  /* out: samples in other kernels than the user's */
    uint8_t is_full;     /* out: the hardware's buffer */
} CuptiSamples;

typedef struct CuptiSamplingData {
    CUPTI_HEAD;
    void *context;
    CuptiSamples *samples;
} CuptiSamplingData;

/* Their offsets in cupti_pcsampling.h of CUDA 13.0, which packs some of the structs; CUPTI has 64 bits. */
#if UINTPTR_MAX == UINT64_MAX
#define CUPTI_PLACE(Type, member, place)                                                                     \
    _Static_assert(offsetof(Type, member) == (place), #Type "." #member " is elsewhere in CUPTI")
_Static_assert(sizeof(CuptiSamplingSetting) == 32 && sizeof(CuptiStallSamples) == 8 &&
                   sizeof(CuptiSampledPc) == 64 && sizeof(CuptiSamples) == 80,
               "a struct of PC sampling has another size in CUPTI");
CUPTI_PLACE(CuptiSamplingSetting, value.stalls.indices, 16);
CUPTI_PLACE(CuptiStallNames, names, 40);
CUPTI_PLACE(CuptiSamplingConfig, settings, 32);
CUPTI_PLACE(CuptiSampledPc, pc, 16);
CUPTI_PLACE(CuptiSampledPc, function_name, 32);
CUPTI_PLACE(CuptiSampledPc, stalls, 48);
CUPTI_PLACE(CuptiSampledPc, correlation, 56);
CUPTI_PLACE(CuptiSamples, total, 16);
CUPTI_PLACE(CuptiSamples, remaining, 40);
CUPTI_PLACE(CuptiSamples, pcs, 56);
CUPTI_PLACE(CuptiSamples, is_full, 72);
#endif

/* Callbacks ("CUPTI Callback API", cupti_callbacks.h): CUPTI calls when the driver has loaded a module. */
enum { CUPTI_DOMAIN_RESOURCE = 3, CUPTI_MODULE_LOADED = 6 };
typedef struct CuptiSubscriberTag *CuptiSubscriber;
typedef struct CuptiModule {
    uint32_t id;
    size_t bytes;
    const char *cubin;
} CuptiModule;
typedef struct CuptiResource {
    void *context, *stream;
    const void *what; /* CuptiModule */
} CuptiResource;
typedef void (*CuptiCallback)(void *user, int domain, uint32_t id, const void *data);

typedef struct Cupti {
    void *library;
    CuptiResult (*cuptiGetResultString)(CuptiResult result, const char **text);
    CuptiResult (*cuptiSubscribe)(CuptiSubscriber *subscriber, CuptiCallback callback, void *user);
    CuptiResult (*cuptiEnableCallback)(uint32_t enable, CuptiSubscriber subscriber, int domain, uint32_t id);
    CuptiResult (*cuptiUnsubscribe)(CuptiSubscriber subscriber);
#define CUPTI(name, Parameters, last) CuptiResult (*name)(Parameters * parameters);
#include "gpu/cupti.def"
#undef CUPTI
} Cupti;

/* Looks for libcupti where the linker does, then where CUDA installs it (/usr/local/cuda*); $REDVIZ_CUPTI
 * overrides both. There is one per process, never unloaded, because the driver calls into it. NULL with
 * `error`: not found, or too old. */
const Cupti *cupti_open(Error *error);

/* True if `result` is a success. Otherwise sets error: "cuptiX: CUPTI_ERROR_UNKNOWN", and a remedy if
 * known. */
bool cupti_check(const Cupti *cupti, const char *call, CuptiResult result, Error *error);

/* The size at the start of an entry point's parameters: CUPTI_SIZE_OF(cuptiRangeProfilerStart). */
#define CUPTI(name, Parameters, last)                                                                        \
    enum { name##_size = offsetof(Parameters, last) + sizeof((Parameters *)0)->last };
#include "gpu/cupti.def"
#undef CUPTI
#define CUPTI_CALL(cupti, error, name, parameters)                                                           \
    ((parameters)->size = name##_size, cupti_check(cupti, #name, (cupti)->name(parameters), error))

#endif
