/* A CUPTI without a GPU: it checks the order of calls, knows every metric whose name does not begin with
 * "nowhere__", and needs two passes for more than two of them. A metric's value is 100 times the number of
 * its kernel, plus the metric's index, plus 0.5 if not every pass was run; for those counted by patching,
 * twice the index, from 1. Instruction i of the kernel that the driver's stub launched last is counted 10 * i
 * + 1 and so on times, and sampled 1 + i times in each of two reasons. For tests of src/gpu/counters.c,
 * sass.c, pc_sampling.c.
 *
 * $STUB_FAIL="NAME=CODE" makes the entry point NAME fail; $STUB_KERNELS is the number of kernels seen (2),
 * $STUB_PCS that of its instructions (2). $STUB_NO_PCS: PC sampling finds none. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
static int patching, sampling, started;
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

/* ---- callbacks: the loaded module ($STUB_LOADED, of the driver's stub) is reported at the end ---------- */

static CuptiCallback callback;
static void *callback_user;

CuptiResult cuptiSubscribe(CuptiSubscriber *subscriber, CuptiCallback function, void *user);
CuptiResult cuptiSubscribe(CuptiSubscriber *subscriber, CuptiCallback function, void *user) {
    if (callback) return 39; /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
    CuptiResult result = outcome("cuptiSubscribe", 0, 0);
    if (result) return result;
    *subscriber = (CuptiSubscriber)&callback;
    callback = function;
    callback_user = user;
    unsetenv("STUB_LOADED");
    return 0;
}

CuptiResult cuptiEnableCallback(uint32_t enable, CuptiSubscriber subscriber, int domain, uint32_t id);
CuptiResult cuptiEnableCallback(uint32_t enable, CuptiSubscriber subscriber, int domain, uint32_t id) {
    if (enable != 1 || subscriber != (CuptiSubscriber)&callback || domain != 3 || id != 6)
        return INVALID_PARAMETER;
    return outcome("cuptiEnableCallback", 0, 0);
}

CuptiResult cuptiUnsubscribe(CuptiSubscriber subscriber);
CuptiResult cuptiUnsubscribe(CuptiSubscriber subscriber) {
    const char *loaded = getenv("STUB_LOADED");
    void *text = NULL;
    if (subscriber != (CuptiSubscriber)&callback) return INVALID_PARAMETER;
    if (loaded && sscanf(loaded, "%p", &text) == 1 && !getenv("STUB_NO_MODULE")) {
        CuptiModule module = {1, strlen(text) + 1, text};
        callback(callback_user, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED,
                 &(CuptiResource){NULL, NULL, &module});
    }
    callback = NULL;
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
    if (enabled || sampling || !p->context) return INVALID_OPERATION;
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
/* Instructions; metric i of the configuration counts each i + 1 times a launch. */
enum { INSTRUCTION_BYTES = 16, MOST_METRICS = 64 };
static CuptiSassConfig configs[MOST_METRICS];
static size_t config_count;

static size_t instructions(void) {
    return getenv("STUB_PCS") ? (size_t)atoi(getenv("STUB_PCS")) : 2;
}
static char *launched(void) {
    return getenv("STUB_LAUNCHED");
}

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
    if (!config_count || patching || enabled || sampling || !p->context) return INVALID_OPERATION;
    patching = 1;
    return 0;
}
DO(cuptiSassMetricsDisable, CuptiSassDisable) {
    patching = 0;
    p->dropped = 0;
    return 0;
}
DO(cuptiSassMetricsGetDataProperties, CuptiSassSizes) {
    p->records = instructions();
    p->instances = config_count;
    return patching ? 0 : INVALID_OPERATION;
}
DO(cuptiSassMetricsFlushData, CuptiSassFlush) {
    if (!patching || p->records != instructions() || p->instances != config_count) return INVALID_OPERATION;
    for (size_t i = 0; i < p->records; i++) {
        p->data[i].function_name = launched();
        p->data[i].pc = (uint32_t)i * INSTRUCTION_BYTES;
        for (size_t k = 0; k < p->instances; k++)
            p->data[i].values[k] = (CuptiSassValue){configs[k].id, k + 1};
    }
    return 0;
}

/* ---- PC sampling: two reasons, each of them twice, and one that never occurs --------------------------- */

static const char *const stalls[] = {"smsp__pcsamp_warps_issue_stalled_wait",
                                     "smsp__pcsamp_warps_issue_stalled_wait_not_issued",
                                     "smsp__pcsamp_warps_issue_stalled_not_selected",
                                     "smsp__pcsamp_warps_issue_stalled_not_selected_not_issued",
                                     "smsp__pcsamp_warps_issue_stalled_of_tomorrow"};
enum { STALLS = sizeof stalls / sizeof *stalls, FIRST_STALL = 7 /* their indices are not their places */ };
static uint32_t wanted[STALLS];
static size_t wanted_count, taken;
static CuptiSamples *configured;

DO(cuptiPCSamplingEnable, CuptiContextOnly) {
    if (sampling || patching || enabled || !p->context) return INVALID_OPERATION;
    sampling = 1;
    configured = NULL;
    return 0;
}
DO(cuptiPCSamplingDisable, CuptiContextOnly) {
    (void)p;
    if (!sampling || started) return INVALID_OPERATION;
    sampling = 0;
    return 0;
}
DO(cuptiPCSamplingGetNumStallReasons, CuptiStallCount) {
    *p->count = STALLS;
    return sampling ? 0 : INVALID_OPERATION;
}
DO(cuptiPCSamplingGetStallReasons, CuptiStallNames) {
    for (size_t i = 0; i < p->count; i++) {
        p->indices[i] = (uint32_t)i + FIRST_STALL;
        strcpy(p->names[i], stalls[i]);
    }
    return p->count == STALLS ? 0 : INVALID_PARAMETER;
}
DO(cuptiPCSamplingSetConfigurationAttribute, CuptiSamplingConfig) {
    if (!sampling || started || configured) return INVALID_OPERATION;
    for (size_t i = 0; i < p->count; i++) {
        CuptiSamplingSetting *setting = &p->settings[i];
        if (setting->attribute == CUPTI_SAMPLING_BUFFER) configured = setting->value.buffer;
        if (setting->attribute == CUPTI_SAMPLING_PERIOD && setting->value.number < 5) setting->status = 7;
        if (setting->attribute != CUPTI_SAMPLING_STALLS) continue;
        wanted_count = setting->value.stalls.count;
        memcpy(wanted, setting->value.stalls.indices, wanted_count * sizeof *wanted);
    }
    return configured ? 0 : INVALID_PARAMETER;
}
DO(cuptiPCSamplingStart, CuptiContextOnly) {
    (void)p;
    if (!configured || started) return INVALID_OPERATION;
    started = 1;
    unsetenv("STUB_LAUNCHED");
    return 0;
}
DO(cuptiPCSamplingStop, CuptiContextOnly) {
    (void)p;
    if (!started) return INVALID_OPERATION;
    started = 0;
    taken = getenv("STUB_NO_PCS") || !launched() ? 0 : instructions();
    configured->count = taken;
    return 0;
}
/* One instruction per call, as with a small buffer. */
DO(cuptiPCSamplingGetData, CuptiSamplingData) {
    CuptiSamples *to = p->samples;
    size_t at = instructions() - taken;
    if (!configured || started || to == configured) return INVALID_OPERATION;
    to->total = 1000;
    to->dropped = 3;
    to->count = taken ? 1 : 0;
    if (!taken) return 0;
    taken--;
    configured->count = to->remaining = taken;
    to->pcs[0].function_name = launched();
    to->pcs[0].pc = at * INSTRUCTION_BYTES;
    to->pcs[0].count = wanted_count;
    for (size_t k = 0; k < wanted_count; k++)
        to->pcs[0].stalls[k] = (CuptiStallSamples){wanted[k], (uint32_t)(k < 2 ? at + 1 : 0)};
    return 0;
}

DO(cuptiProfilerHostEvaluateToGpuValues, CuptiEvaluate) {
    for (size_t i = 0; i < p->count; i++)
        p->values[i] =
            100 * (double)p->range + (double)i + (profiler.passes_run == profiler.passes_wanted ? 0 : 0.5);
    return 0;
}
