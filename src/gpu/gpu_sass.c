/* Counts instructions by patching (gpu_sass.h). */
#include "gpu/gpu_sass.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool gpu_sass_is_metric(const char *name) {
    return strstr(name, "__sass_") != NULL;
}

void gpu_sass_add(SassMetrics *metrics, const char *chip, const char *name, int place) {
    char plain[128]; /* without the roll-up, which is always a sum */
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "."), name);
    CuptiSassProperties ask = {.chip = chip, .name = plain};
    if (metrics->count == SASS_METRICS ||
        !CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsGetProperties, &ask))
        return;
    metrics->configs[metrics->count] = (CuptiSassConfig){.id = ask.metric.id};
    metrics->place[metrics->count++] = place;
}

bool gpu_sass_open(SassMetrics *metrics, Cuda *cuda, CuptiChipName *chip, Error *error) {
    CuptiInitialize initialize = {0};
    *chip = (CuptiChipName){.device = (size_t)cuda->device};
    *metrics = (SassMetrics){.cuda = cuda, .cupti = cupti_open(error)};
    return metrics->cupti && CUPTI_CALL(metrics->cupti, error, cuptiProfilerInitialize, &initialize) &&
           CUPTI_CALL(metrics->cupti, error, cuptiDeviceGetChipName, chip);
}

bool gpu_sass_add_counted(SassMetrics *metrics, const char *chip, Error *error) {
    static const char *const names[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed_pred_on",
                                        "smsp__sass_thread_inst_executed"};
    for (int i = 0; i < SASS_COUNTED; i++) {
        int before = metrics->count;
        gpu_sass_add(metrics, chip, names[i], -1);
        if (metrics->count == before) return error_set(error, "CUPTI cannot count %s on %s", names[i], chip);
        metrics->counted[i] = metrics->configs[before].id;
    }
    return true;
}

/* The metrics for which this process configured the device. */
static CuptiSassConfig configured[SASS_METRICS];
static int configured_count;

static bool is_configured(uint64_t id) {
    for (int i = 0; i < configured_count; i++)
        if (configured[i].id == id) return true;
    return false;
}

static bool configure(SassMetrics *metrics, Error *error) {
    CuptiSassSetConfig config = {.count = (size_t)metrics->count,
                                 .configs = metrics->configs,
                                 .device = (uint32_t)metrics->cuda->device};
    if (configured_count) return true;
    if (!CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsSetConfig, &config)) return false;
    memcpy(configured, metrics->configs, sizeof configured);
    configured_count = metrics->count;
    return true;
}

bool gpu_sass_begin(SassMetrics *metrics, Error *error) {
    CuptiSassEnable enable = {.context = metrics->cuda->context, .lazy = 1};
    return configure(metrics, error) && CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsEnable, &enable);
}

void gpu_sass_end(SassMetrics *metrics) {
    CuptiSassDisable disable = {.context = metrics->cuda->context};
    if (!metrics->cuda->hung) CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsDisable, &disable);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct SassRecords {
    CuptiSassRecord *records; /* one per instruction */
    CuptiSassValue *values;
    size_t count, per_record;
} SassRecords;

static bool flush(const SassMetrics *metrics, SassRecords *read, Error *error) {
    CuptiSassSizes sizes = {.context = metrics->cuda->context};
    *read = (SassRecords){0};
    if (!CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsGetDataProperties, &sizes)) return false;
    read->count = sizes.records;
    read->per_record = sizes.instances;
    read->records = memory_new((sizes.records + 1) * sizeof *read->records);
    read->values = memory_new((sizes.records * sizes.instances + 1) * sizeof *read->values);
    for (size_t i = 0; i < sizes.records; i++) {
        read->records[i].size = sizeof *read->records;
        read->records[i].values = &read->values[i * sizes.instances];
    }
    CuptiSassFlush ask = {.context = metrics->cuda->context,
                          .records = sizes.records,
                          .instances = sizes.instances,
                          .data = read->records};
    return !sizes.records || CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsFlushData, &ask);
}

static void records_done(SassRecords *read) {
    free(read->values);
    free(read->records);
}

static void add_up(const SassMetrics *metrics, const SassRecords *read, double *values) {
    for (int i = 0; i < metrics->count; i++) {
        double sum = 0;
        if (metrics->place[i] < 0 || !is_configured(metrics->configs[i].id)) continue;
        for (size_t k = 0; k < read->count * read->per_record; k++)
            if (read->values[k].id == metrics->configs[i].id) sum += (double)read->values[k].value;
        values[metrics->place[i]] = sum;
    }
}

bool gpu_sass_read(SassMetrics *metrics, double *values) {
    SassRecords read;
    bool good = flush(metrics, &read, NULL);
    if (good) add_up(metrics, &read, values);
    records_done(&read);
    return good;
}

bool gpu_sass_read_instructions(SassMetrics *metrics, SassSink sink, void *context, Error *error) {
    SassRecords read;
    bool good = flush(metrics, &read, error);
    for (size_t i = 0; good && i < read.count; i++) {
        const CuptiSassRecord *record = &read.records[i];
        uint64_t counted[SASS_COUNTED] = {0};
        for (size_t k = 0; k < read.per_record; k++)
            for (int metric = 0; metric < SASS_COUNTED; metric++)
                if (record->values[k].id == metrics->counted[metric])
                    counted[metric] += record->values[k].value;
        if (record->function_name) sink(context, record->function_name, record->pc, counted);
    }
    records_done(&read);
    return good;
}
