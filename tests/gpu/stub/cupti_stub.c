/* A CUPTI that has no GPU: it keeps the order of calls, knows every metric whose name does not begin with
 * "nowhere__", and needs two passes for more than two of them. A metric's value is 100 times the number of
 * its kernel, plus the metric's place, plus 0.5 if not every pass was run; of those that are counted by
 * patching, twice the place, from 1. For tests of src/gpu/counters.c and sass.c.
 *
 * $STUB_FAIL="NAME=CODE" lets the entry point NAME fail; $STUB_KERNELS is the number of kernels that it saw
 * (2). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cupti.h"

enum { INVALID_PARAMETER = 1, INVALID_OPERATION = 7 };

struct CuptiHostTag {
    int metrics;
};
struct CuptiProfilerTag {
    int passes_run, passes_wanted, started;
};
static int enabled;
static struct CuptiProfilerTag profiler;

static CuptiResult outcome(const char *name, size_t given, size_t expected) {
    const char *fail = getenv("STUB_FAIL");
    size_t length = strlen(name);
    if (given != expected) return INVALID_PARAMETER;
    return fail && !strncmp(fail, name, length) && fail[length] == '=' ? atoi(fail + length + 1) : 0;
}
#define ENTRY(name, Parameters, last)                                                                        \
    CuptiResult name(Parameters *p);                                                                         \
    static CuptiResult do_##name(Parameters *p);                                                             \
    CuptiResult name(Parameters *p) {                                                                        \
        CuptiResult result = outcome(#name, p->size, offsetof(Parameters, last) + sizeof p->last);           \
        return result ? result : do_##name(p);                                                               \
    }
#define CUPTI ENTRY
#include "gpu/cupti.def"
#define DO(name, Parameters) static CuptiResult do_##name(Parameters *p)

CuptiResult cuptiGetResultString(CuptiResult result, const char **text);
CuptiResult cuptiGetResultString(CuptiResult result, const char **text) {
    *text = result == 35   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : result == 46 ? "CUPTI_ERROR_INVALID_CHIP_NAME"
            : result == 7  ? "CUPTI_ERROR_INVALID_OPERATION"
                           : "CUPTI_ERROR_UNKNOWN";
    return 0;
}

DO(cuptiProfilerInitialize, CuptiInitialize) {
    return p->reserved ? INVALID_PARAMETER : 0;
}
DO(cuptiDeviceGetChipName, CuptiChipName) {
    p->name = "GS100";
    return 0;
}
DO(cuptiProfilerGetCounterAvailability, CuptiAvailability) {
    if (p->image && p->bytes != 16) return INVALID_PARAMETER;
    p->bytes = 16;
    if (p->image) memset(p->image, 1, 16);
    return 0;
}

DO(cuptiProfilerHostInitialize, CuptiHostInitialize) {
    if (p->type != 0 || strcmp(p->chip, "GS100") != 0) return 46;
    p->host = calloc(1, sizeof *p->host);
    return 0;
}
DO(cuptiProfilerHostDeinitialize, CuptiHostOnly) {
    free(p->host);
    return 0;
}
DO(cuptiProfilerHostConfigAddMetrics, CuptiAddMetrics) {
    for (size_t i = 0; i < p->count; i++)
        if (!strncmp(p->names[i], "nowhere__", 9)) return INVALID_PARAMETER;
    p->host->metrics += (int)p->count;
    return 0;
}
DO(cuptiProfilerHostGetConfigImageSize, CuptiConfigSize) {
    p->bytes = 1;
    return 0;
}
DO(cuptiProfilerHostGetConfigImage, CuptiConfig) {
    *p->image = (uint8_t)(p->host->metrics > 2 ? 2 : 1);
    return p->bytes == 1 ? 0 : INVALID_PARAMETER;
}
DO(cuptiProfilerHostGetNumOfPasses, CuptiPasses) {
    p->passes = *p->image;
    return 0;
}

DO(cuptiRangeProfilerEnable, CuptiEnable) {
    if (enabled || !p->context) return INVALID_OPERATION;
    enabled = 1;
    memset(&profiler, 0, sizeof profiler);
    p->profiler = &profiler;
    return 0;
}
DO(cuptiRangeProfilerDisable, CuptiProfilerOnly) {
    (void)p;
    enabled = 0;
    return 0;
}
DO(cuptiRangeProfilerGetCounterDataSize, CuptiDataSize) {
    p->bytes = 1;
    return p->most_nodes >= p->most_ranges ? 0 : INVALID_PARAMETER;
}
DO(cuptiRangeProfilerCounterDataImageInitialize, CuptiDataInitialize) {
    *p->data = 0xff;
    return 0;
}
DO(cuptiRangeProfilerSetConfig, CuptiSetConfig) {
    if (*p->data != 0xff || p->range != CUPTI_AUTO_RANGE || p->replay != CUPTI_USER_REPLAY)
        return INVALID_OPERATION;
    p->profiler->passes_wanted = *p->config;
    return 0;
}
DO(cuptiRangeProfilerStart, CuptiProfilerOnly) {
    if (p->profiler->started || !p->profiler->passes_wanted) return INVALID_OPERATION;
    p->profiler->started = 1;
    return 0;
}
DO(cuptiRangeProfilerStop, CuptiStop) {
    if (!p->profiler->started) return INVALID_OPERATION;
    p->profiler->started = 0;
    p->all_submitted = ++p->profiler->passes_run == p->profiler->passes_wanted;
    return 0;
}
DO(cuptiRangeProfilerDecodeData, CuptiDecode) {
    p->dropped = 0;
    return p->profiler->started ? INVALID_OPERATION : 0;
}
DO(cuptiRangeProfilerGetCounterDataInfo, CuptiDataInfo) {
    const char *kernels = getenv("STUB_KERNELS");
    p->ranges = kernels ? (size_t)atoi(kernels) : 2;
    return 0;
}
/* Two instructions, each of which metric i of the configuration counts i + 1 times a launch. */
enum { RECORDS = 2, MOST_METRICS = 64 };
static CuptiSassConfig configs[MOST_METRICS];
static size_t config_count;
static int patching;

DO(cuptiSassMetricsGetProperties, CuptiSassProperties) {
    if (strcmp(p->chip, "GS100") != 0 || !strncmp(p->name, "nowhere__", 9) || strchr(p->name, '.'))
        return INVALID_PARAMETER;
    p->metric.id = 0;
    for (const char *c = p->name; *c; c++) p->metric.id = 31 * p->metric.id + (uint64_t)*c;
    return 0;
}
DO(cuptiSassMetricsSetConfig, CuptiSassSetConfig) {
    if (config_count || p->count > MOST_METRICS) return INVALID_OPERATION;
    config_count = p->count;
    memcpy(configs, p->configs, p->count * sizeof *configs);
    return 0;
}
DO(cuptiSassMetricsEnable, CuptiSassEnable) {
    if (!config_count || patching || enabled || !p->context) return INVALID_OPERATION;
    patching = 1;
    return 0;
}
DO(cuptiSassMetricsDisable, CuptiSassDisable) {
    patching = 0;
    p->dropped = 0;
    return 0;
}
DO(cuptiSassMetricsGetDataProperties, CuptiSassSizes) {
    p->records = RECORDS;
    p->instances = config_count;
    return patching ? 0 : INVALID_OPERATION;
}
DO(cuptiSassMetricsFlushData, CuptiSassFlush) {
    if (!patching || p->records != RECORDS || p->instances != config_count) return INVALID_OPERATION;
    for (size_t i = 0; i < p->records; i++)
        for (size_t k = 0; k < p->instances; k++)
            p->data[i].values[k] = (CuptiSassValue){configs[k].id, k + 1};
    return 0;
}

DO(cuptiProfilerHostEvaluateToGpuValues, CuptiEvaluate) {
    for (size_t i = 0; i < p->count; i++)
        p->values[i] =
            100 * (double)p->range + (double)i + (profiler.passes_run == profiler.passes_wanted ? 0 : 0.5);
    return 0;
}
