/* PC sampling with CUPTI (pc_sampling.h). */
#include "gpu/pc_sampling.h"

#include "base/text.h"
#include "gpu/cupti.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_PERIOD = 5,
    MOST_PERIOD = 31, /* exponents */
    MOST_STALLS = 256,
    MOST_PCS = 8192, /* per call */
    SAMPLES_PER_MULTIPROCESSOR = 1 << 11,
    SCRATCH_BYTES = 16 << 20,
    HARDWARE_BYTES = 512 << 20,
    MOST_CALLS = 4096
};

typedef struct PcBuffer {
    CuptiSamples samples;
    CuptiStallSamples *stalls; /* [MOST_PCS * wanted_count] */
} PcBuffer;

struct PcSampling {
    Cuda *cuda;
    const Cupti *cupti;
    uint32_t period;              /* as configured; 0: not yet */
    uint32_t wanted[MOST_STALLS]; /* CUPTI's indices of the requested stalls */
    size_t wanted_count;
    SassStall meaning[MOST_STALLS]; /* by CUPTI's index */
    PcBuffer filled;                /* by CUPTI, when sampling stops */
    PcBuffer asked;                 /* receives the samples on request */
};

/* ---- the stalls ---------------------------------------------------------------------------------------- */

/* "smsp__pcsamp_warps_issue_stalled_not_selected": the reason follows "stalled_". */
static SassStall meaning_of(const char *name) {
    const char *stalled = strstr(name, "stalled_");
    const char *reason = stalled ? stalled + strlen("stalled_") : name;
    for (int i = 0; i < SASS_STALLS; i++)
        if (!strcmp(reason, sass_stalls[i].tool_name)) return (SassStall)i;
    return SASS_STALL_other;
}

static bool choose_stalls(PcSampling *sampling, const uint32_t *indices, char *const *names, size_t count,
                          Error *error) {
    for (size_t i = 0; i < count; i++) {
        if (text_ends_with(names[i], "_not_issued") || indices[i] >= MOST_STALLS) continue;
        sampling->meaning[indices[i]] = meaning_of(names[i]);
        sampling->wanted[sampling->wanted_count++] = indices[i];
    }
    return sampling->wanted_count ||
           error_set(error, "PC sampling: CUPTI knows no stall reasons of this GPU");
}

static bool list_stalls(PcSampling *sampling, Error *error) {
    static char names[MOST_STALLS][CUPTI_STALL_NAME];
    char *pointers[MOST_STALLS];
    uint32_t indices[MOST_STALLS] = {0};
    size_t count = 0;
    CuptiStallCount ask = {.context = sampling->cuda->context, .count = &count};
    if (!CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingGetNumStallReasons, &ask)) return false;
    if (count > MOST_STALLS) return error_set(error, "PC sampling: CUPTI has %zu stall reasons", count);
    for (size_t i = 0; i < count; i++) {
        names[i][0] = 0;
        pointers[i] = names[i];
    }
    CuptiStallNames list = {
        .context = sampling->cuda->context, .count = count, .indices = indices, .names = pointers};
    return CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingGetStallReasons, &list) &&
           choose_stalls(sampling, indices, pointers, count, error);
}

/* ---- start and end ------------------------------------------------------------------------------------- */

static void buffer_begin(PcBuffer *buffer, size_t stalls) {
    CuptiSamples *samples = &buffer->samples;
    *samples = (CuptiSamples){.size = sizeof *samples, .most = MOST_PCS};
    samples->pcs = memory_new(MOST_PCS * sizeof *samples->pcs);
    buffer->stalls = memory_new(MOST_PCS * stalls * sizeof *buffer->stalls);
    for (size_t i = 0; i < MOST_PCS; i++) {
        samples->pcs[i].size = sizeof *samples->pcs;
        samples->pcs[i].stalls = &buffer->stalls[i * stalls];
    }
}

static void buffer_done(PcBuffer *buffer) {
    free(buffer->samples.pcs);
    free(buffer->stalls);
}

PcSampling *pc_sampling_open(Cuda *cuda, Error *error) {
    const Cupti *cupti = cupti_open(error);
    CuptiContextOnly enable = {.context = cuda->context};
    if (!cupti || !CUPTI_CALL(cupti, error, cuptiPCSamplingEnable, &enable)) return NULL;
    PcSampling *sampling = memory_new(sizeof *sampling);
    *sampling = (PcSampling){.cuda = cuda, .cupti = cupti};
    if (list_stalls(sampling, error)) {
        buffer_begin(&sampling->filled, sampling->wanted_count);
        buffer_begin(&sampling->asked, sampling->wanted_count);
        return sampling;
    }
    pc_sampling_close(sampling);
    return NULL;
}

void pc_sampling_close(PcSampling *sampling) {
    if (!sampling) return;
    CuptiContextOnly disable = {.context = sampling->cuda->context};
    if (sampling->cuda->hung) return; /* CUPTI's threads may still write to the buffer */
    CUPTI_CALL(sampling->cupti, NULL, cuptiPCSamplingDisable, &disable);
    buffer_done(&sampling->filled);
    buffer_done(&sampling->asked);
    free(sampling);
}

uint32_t pc_sampling_period(const Cuda *cuda, double microseconds) {
    double cycles = microseconds * cuda->clock_khz * 1e-3;
    int exponent = LEAST_PERIOD;
    while (exponent < MOST_PERIOD && cycles / (double)(UINT64_C(1) << exponent) > SAMPLES_PER_MULTIPROCESSOR)
        exponent++;
    return (uint32_t)1 << exponent;
}

/* ---- sampling ------------------------------------------------------------------------------------------ */

static bool configure(PcSampling *sampling, uint32_t period, Error *error) {
    uint32_t exponent = (uint32_t)__builtin_ctz(period);
    CuptiSamplingSetting settings[] = {
        {CUPTI_SAMPLING_STALLS, 0, {.stalls = {sampling->wanted_count, sampling->wanted}}},
        {CUPTI_SAMPLING_PERIOD, 0, {.number = exponent}},
        {CUPTI_SAMPLING_SCRATCH_BYTES, 0, {.bytes = SCRATCH_BYTES}},
        {CUPTI_SAMPLING_HARDWARE_BYTES, 0, {.bytes = HARDWARE_BYTES}},
        {CUPTI_SAMPLING_MODE, 0, {.number = CUPTI_KERNEL_SERIALIZED}},
        {CUPTI_SAMPLING_START_STOP, 0, {.number = 1}},
        {CUPTI_SAMPLING_FORMAT, 0, {.number = CUPTI_SAMPLES_PARSED}},
        {CUPTI_SAMPLING_BUFFER, 0, {.buffer = &sampling->filled.samples}},
    };
    CuptiSamplingConfig config = {.context = sampling->cuda->context,
                                  .count = sizeof settings / sizeof *settings,
                                  .settings = settings};
    if (!CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingSetConfigurationAttribute, &config)) return false;
    for (size_t i = 0; i < config.count; i++)
        if (settings[i].status)
            return error_set(error, "PC sampling: CUPTI refuses its attribute %d", settings[i].attribute);
    sampling->period = period;
    return true;
}

/* Another period: CUPTI may reject a second configuration, so sampling starts over. */
static bool configure_again(PcSampling *sampling, uint32_t period, Error *error) {
    CuptiContextOnly ask = {.context = sampling->cuda->context};
    if (configure(sampling, period, NULL)) return true;
    return CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingDisable, &ask) &&
           CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingEnable, &ask) &&
           configure(sampling, period, error);
}

bool pc_sampling_start(PcSampling *sampling, uint32_t period, Error *error) {
    CuptiContextOnly start = {.context = sampling->cuda->context};
    if (!sampling->period ? !configure(sampling, period, error)
                          : period != sampling->period && !configure_again(sampling, period, error))
        return false;
    return CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingStart, &start);
}

/* CUPTI owns the names: records share them, so freeing them could free one twice. */
static void hand_over(const PcSampling *sampling, const CuptiSamples *samples, PcSink sink, void *context,
                      PcSamples *to) {
    for (size_t i = 0; i < samples->count && i < MOST_PCS; i++) {
        const CuptiSampledPc *at = &samples->pcs[i];
        for (size_t k = 0; k < at->count && k < sampling->wanted_count; k++) {
            const CuptiStallSamples *stall = &at->stalls[k];
            if (!stall->samples || stall->stall >= MOST_STALLS || !at->function_name) continue;
            sink(context, at->function_name, at->pc, sampling->meaning[stall->stall], stall->samples);
            to->kept += stall->samples;
        }
    }
    if (samples->total > to->total) to->total = samples->total; /* both cover the whole range */
    if (samples->dropped > to->dropped) to->dropped = samples->dropped;
    if (samples->elsewhere > to->elsewhere) to->elsewhere = samples->elsewhere;
}

/* When sampling stops, CUPTI fills the buffer of its configuration; a request moves the samples out, part by
 * part. A CUPTI that does not move them leaves them there. */
static bool collect(PcSampling *sampling, PcSink sink, void *context, PcSamples *samples, Error *error) {
    CuptiSamples *filled = &sampling->filled.samples, *asked = &sampling->asked.samples;
    CuptiSamplingData ask = {.context = sampling->cuda->context, .samples = asked};
    for (int call = 0; call < MOST_CALLS; call++) {
        size_t before = filled->count;
        asked->count = asked->remaining = 0;
        if (!CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingGetData, &ask)) return false;
        hand_over(sampling, asked, sink, context, samples);
        if (!asked->count || (!asked->remaining && filled->count == before)) break;
    }
    if (!samples->kept) hand_over(sampling, filled, sink, context, samples);
    filled->count = filled->remaining = 0;
    bool full = samples->dropped || asked->is_full || filled->is_full;
    return samples->kept ||
           error_set(error, "PC sampling: no samples%s", full ? ": its buffer was full" : "");
}

bool pc_sampling_stop(PcSampling *sampling, PcSink sink, void *context, PcSamples *samples, Error *error) {
    CuptiContextOnly stop = {.context = sampling->cuda->context};
    *samples = (PcSamples){0};
    return CUPTI_CALL(sampling->cupti, error, cuptiPCSamplingStop, &stop) &&
           collect(sampling, sink, context, samples, error);
}
