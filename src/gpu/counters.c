/* Counters from CUPTI's range profiler (counters.h). */
#include "gpu/counters.h"

#include "base/memory.h"
#include "gpu/cupti.h"
#include "gpu/gpu_sass.h"

#include <math.h>
#include <stdlib.h>

static const double PATIENCE_SECONDS = 20;

struct Counters {
    Cuda *cuda;
    const Cupti *cupti;
    CuptiHost host;
    const char **names; /* [name_count]: the metrics that the chip has */
    int *place;         /* [name_count] in the requested list */
    int name_count, metric_count;
    uint8_t *config;
    size_t config_bytes, passes;
    SassMetrics sass;
    /* During a measurement: */
    CuptiProfiler profiler;
    uint8_t *data;
    size_t data_bytes;
};

typedef struct Chip {
    const char *name;            /* "GH100" */
    const uint8_t *availability; /* the counters that the device permits; NULL: all of the chip */
} Chip;

/* ---- what to count: the host part ---------------------------------------------------------------------- */

static bool open_host(const Cupti *cupti, const Chip *chip, CuptiHost *host, Error *error) {
    CuptiHostInitialize initialize = {.chip = chip->name, .availability = chip->availability};
    bool good = CUPTI_CALL(cupti, error, cuptiProfilerHostInitialize, &initialize);
    *host = initialize.host;
    return good;
}

static void close_host(const Cupti *cupti, CuptiHost host) {
    CuptiHostOnly closed = {.host = host};
    CUPTI_CALL(cupti, NULL, cuptiProfilerHostDeinitialize, &closed);
}

/* Uses a separate host object: one that has met an unknown name refuses every later name. */
static bool is_known(const Cupti *cupti, const Chip *chip, const char *name) {
    CuptiHost host;
    if (!open_host(cupti, chip, &host, NULL)) return false;
    CuptiAddMetrics add = {.host = host, .names = &name, .count = 1};
    bool known = CUPTI_CALL(cupti, NULL, cuptiProfilerHostConfigAddMetrics, &add);
    close_host(cupti, host);
    return known;
}

static bool add_metrics(Counters *counters, const Chip *chip, const char *const *metrics, int count,
                        Error *error) {
    counters->metric_count = count;
    counters->names = memory_new((size_t)(count + 1) * sizeof *counters->names);
    counters->place = memory_new((size_t)(count + 1) * sizeof *counters->place);
    for (int i = 0; i < count; i++) {
        if (counters->cuda && gpu_sass_is_metric(metrics[i])) {
            gpu_sass_add(&counters->sass, chip->name, metrics[i], i);
        } else if (is_known(counters->cupti, chip, metrics[i])) {
            counters->names[counters->name_count] = metrics[i];
            counters->place[counters->name_count++] = i;
        }
    }
    if (counters->sass.count) gpu_sass_add_counted(&counters->sass, chip->name, NULL);
    return counters->name_count + counters->sass.count > 0 ||
           error_set(error, "%s has none of the %d metrics", chip->name, count);
}

static bool make_config(Counters *counters, Error *error) {
    const Cupti *cupti = counters->cupti;
    CuptiAddMetrics add = {
        .host = counters->host, .names = counters->names, .count = (size_t)counters->name_count};
    CuptiConfigSize size = {.host = counters->host};
    if (!CUPTI_CALL(cupti, error, cuptiProfilerHostConfigAddMetrics, &add) ||
        !CUPTI_CALL(cupti, error, cuptiProfilerHostGetConfigImageSize, &size))
        return false;
    counters->config_bytes = size.bytes;
    counters->config = memory_new(size.bytes);
    CuptiConfig config = {.host = counters->host, .bytes = size.bytes, .image = counters->config};
    CuptiPasses passes = {.bytes = size.bytes, .image = counters->config};
    if (!CUPTI_CALL(cupti, error, cuptiProfilerHostGetConfigImage, &config) ||
        !CUPTI_CALL(cupti, error, cuptiProfilerHostGetNumOfPasses, &passes))
        return false;
    counters->passes = passes.passes;
    return true;
}

/* `cuda` NULL: no device. */
static Counters *prepare(const Cupti *cupti, Cuda *cuda, const Chip *chip, const char *const *metrics,
                         int count, Error *error) {
    CuptiHost host;
    if (!open_host(cupti, chip, &host, error)) return NULL;
    Counters *counters = memory_new(sizeof *counters);
    *counters =
        (Counters){.cuda = cuda, .cupti = cupti, .host = host, .sass = {.cuda = cuda, .cupti = cupti}};
    if (add_metrics(counters, chip, metrics, count, error) &&
        (!counters->name_count || make_config(counters, error)))
        return counters;
    counters_close(counters);
    return NULL;
}

void counters_close(Counters *counters) {
    if (!counters) return;
    close_host(counters->cupti, counters->host);
    free(counters->names);
    free(counters->place);
    free(counters->config);
    free(counters);
}

bool counters_known(const char *chip, const char *const *metrics, int count, bool *known, int *passes,
                    Error *error) {
    const Cupti *cupti = cupti_open(error);
    Counters *counters = cupti ? prepare(cupti, NULL, &(Chip){chip, NULL}, metrics, count, error) : NULL;
    if (!counters) return false;
    for (int i = 0; i < count; i++) known[i] = false;
    for (int i = 0; i < counters->name_count; i++) known[counters->place[i]] = true;
    *passes = (int)counters->passes;
    counters_close(counters);
    return true;
}

/* Finds which counters the device has and permits; *image is malloc'd. */
static bool ask_availability(const Cupti *cupti, const Cuda *cuda, uint8_t **image, Error *error) {
    CuptiAvailability ask = {.context = cuda->context};
    if (!CUPTI_CALL(cupti, error, cuptiProfilerGetCounterAvailability, &ask)) return false;
    ask.image = *image = memory_new(ask.bytes);
    return CUPTI_CALL(cupti, error, cuptiProfilerGetCounterAvailability, &ask);
}

Counters *counters_open(Cuda *cuda, const char *const *metrics, int count, Error *error) {
    const Cupti *cupti = cupti_open(error);
    CuptiInitialize initialize = {0};
    CuptiChipName chip = {.device = (size_t)cuda->device};
    uint8_t *availability = NULL;
    Counters *counters = NULL;
    if (cupti && CUPTI_CALL(cupti, error, cuptiProfilerInitialize, &initialize) &&
        CUPTI_CALL(cupti, error, cuptiDeviceGetChipName, &chip) &&
        ask_availability(cupti, cuda, &availability, error))
        counters = prepare(cupti, cuda, &(Chip){chip.name, availability}, metrics, count, error);
    free(availability);
    return counters;
}

/* ---- counting: the range profiler ---------------------------------------------------------------------- */

static bool begin(Counters *counters, int launches, Error *error) {
    const Cupti *cupti = counters->cupti;
    CuptiEnable enable = {.context = counters->cuda->context};
    if (!CUPTI_CALL(cupti, error, cuptiRangeProfilerEnable, &enable)) return false;
    counters->profiler = enable.profiler;
    CuptiDataSize size = {.profiler = enable.profiler,
                          .names = counters->names,
                          .count = (size_t)counters->name_count,
                          .most_ranges = (size_t)launches,
                          .most_nodes = (uint32_t)launches};
    if (!CUPTI_CALL(cupti, error, cuptiRangeProfilerGetCounterDataSize, &size)) return false;
    counters->data_bytes = size.bytes;
    counters->data = memory_new(size.bytes);
    CuptiDataInitialize clear = {
        .profiler = enable.profiler, .bytes = counters->data_bytes, .data = counters->data};
    CuptiSetConfig config = {.profiler = enable.profiler,
                             .config_bytes = counters->config_bytes,
                             .config = counters->config,
                             .data_bytes = counters->data_bytes,
                             .data = counters->data,
                             .range = CUPTI_AUTO_RANGE,
                             .replay = CUPTI_USER_REPLAY,
                             .ranges_per_pass = (size_t)launches,
                             .nesting_levels = 1,
                             .nesting_least = 1,
                             .nesting_target = 1};
    return CUPTI_CALL(cupti, error, cuptiRangeProfilerCounterDataImageInitialize, &clear) &&
           CUPTI_CALL(cupti, error, cuptiRangeProfilerSetConfig, &config);
}

static void end(Counters *counters) {
    CuptiProfilerOnly profiler = {.profiler = counters->profiler};
    if (counters->profiler && !counters->cuda->hung)
        CUPTI_CALL(counters->cupti, NULL, cuptiRangeProfilerDisable, &profiler);
    free(counters->data);
    counters->profiler = NULL;
    counters->data = NULL;
}

static bool restore(const Counters *counters, const CountersWork *work, Error *error) {
    return (!work->restore || work->restore(work->context, error)) &&
           cuda_wait(counters->cuda, PATIENCE_SECONDS, "counters", error);
}

static bool run_pass(Counters *counters, const CountersWork *work, bool *last, Error *error) {
    const Cupti *cupti = counters->cupti;
    CuptiProfilerOnly start = {.profiler = counters->profiler};
    CuptiStop stop = {.profiler = counters->profiler};
    if (!restore(counters, work, error) || !CUPTI_CALL(cupti, error, cuptiRangeProfilerStart, &start))
        return false;
    bool good = true;
    for (int i = 0; good && i < work->launches; i++) good = work->launch(work->context, i, error);
    good = good && cuda_wait(counters->cuda, PATIENCE_SECONDS, "counters", error);
    if (counters->cuda->hung) return false;
    bool stopped = CUPTI_CALL(cupti, good ? error : NULL, cuptiRangeProfilerStop, &stop);
    *last = stop.all_submitted;
    return good && stopped;
}

static bool evaluate(const Counters *counters, int launch, double *values, Error *error) {
    double *found = memory_new((size_t)counters->name_count * sizeof *found);
    CuptiEvaluate ask = {.host = counters->host,
                         .data = counters->data,
                         .bytes = counters->data_bytes,
                         .range = (size_t)launch,
                         .names = counters->names,
                         .count = (size_t)counters->name_count,
                         .values = found};
    bool good = CUPTI_CALL(counters->cupti, error, cuptiProfilerHostEvaluateToGpuValues, &ask);
    for (int i = 0; good && i < counters->name_count; i++) values[counters->place[i]] = found[i];
    free(found);
    return good;
}

static bool read_values(Counters *counters, int launches, double *values, Error *error) {
    CuptiDecode decode = {.profiler = counters->profiler};
    CuptiDataInfo info = {.data = counters->data, .bytes = counters->data_bytes};
    if (!CUPTI_CALL(counters->cupti, error, cuptiRangeProfilerDecodeData, &decode) ||
        !CUPTI_CALL(counters->cupti, error, cuptiRangeProfilerGetCounterDataInfo, &info))
        return false;
    if (info.ranges != (size_t)launches || decode.dropped)
        return error_set(error, "counters: the profiler saw %zu kernels instead of %d",
                         info.ranges + decode.dropped, launches);
    for (int i = 0; i < launches; i++)
        if (!evaluate(counters, i, &values[i * counters->metric_count], error)) return false;
    return true;
}

static bool read_hardware(Counters *counters, const CountersWork *work, double *values, Error *error) {
    bool last = false, good = begin(counters, work->launches, error);
    for (size_t pass = 0; good && !last; pass++) {
        if (pass > 2 * counters->passes)
            good = error_set(error, "counters: more passes than the %zu planned", counters->passes);
        else
            good = run_pass(counters, work, &last, error);
    }
    good = good && read_values(counters, work->launches, values, error);
    end(counters);
    return good;
}

/* Metrics that CUPTI cannot patch stay unknown. */
static bool read_sass(Counters *counters, const CountersWork *work, double *values, Error *error) {
    if (!restore(counters, work, error)) return false;
    if (!gpu_sass_begin(&counters->sass, NULL)) return true;
    bool good = true;
    for (int i = 0; good && i < work->launches; i++) {
        good = work->launch(work->context, i, error) &&
               cuda_wait(counters->cuda, PATIENCE_SECONDS, "counters", error);
        if (good) gpu_sass_read(&counters->sass, &values[i * counters->metric_count]);
    }
    gpu_sass_end(&counters->sass);
    return good;
}

bool counters_measure(Counters *counters, const CountersWork *work, double *values, Error *error) {
    for (int i = 0; i < work->launches * counters->metric_count; i++) values[i] = (double)NAN;
    cuda_turn_begin();
    bool good = (!counters->name_count || read_hardware(counters, work, values, error)) &&
                (!counters->sass.count || read_sass(counters, work, values, error));
    cuda_turn_end();
    return good;
}
