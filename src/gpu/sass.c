/* Instructions counted by patching (sass.h). */
#include "gpu/sass.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool sass_is_metric(const char *name) {
    return strstr(name, "__sass_") != NULL;
}

void sass_add(SassMetrics *metrics, const char *chip, const char *name, int place) {
    char plain[128]; /* without the roll-up, which is a sum in any case */
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "."), name);
    CuptiSassProperties ask = {.chip = chip, .name = plain};
    if (metrics->count == SASS_METRICS ||
        !CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsGetProperties, &ask))
        return;
    metrics->configs[metrics->count] = (CuptiSassConfig){.id = ask.metric.id};
    metrics->place[metrics->count++] = place;
}

bool sass_begin(SassMetrics *metrics, Error *error) {
    CuptiSassSetConfig config = {.count = (size_t)metrics->count,
                                 .configs = metrics->configs,
                                 .device = (uint32_t)metrics->cuda->device};
    CuptiSassEnable enable = {.context = metrics->cuda->context, .lazy = 1};
    return CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsSetConfig, &config) &&
           CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsEnable, &enable);
}

void sass_end(SassMetrics *metrics) {
    CuptiSassDisable disable = {.context = metrics->cuda->context};
    CuptiSassUnsetConfig config = {.device = (uint32_t)metrics->cuda->device};
    if (metrics->cuda->stuck) return;
    CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsDisable, &disable);
    CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsUnsetConfig, &config);
}

static void add_value(const SassMetrics *metrics, const CuptiSassValue *value, double *values) {
    for (int i = 0; i < metrics->count; i++)
        if (metrics->configs[i].id == value->id) values[metrics->place[i]] += (double)value->value;
}

bool sass_read(SassMetrics *metrics, double *values, Error *error) {
    CuptiSassSizes sizes = {.context = metrics->cuda->context};
    if (!CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsGetDataProperties, &sizes)) return false;
    CuptiSassRecord *records = memory_new((sizes.records + 1) * sizeof *records);
    CuptiSassValue *found = memory_new((sizes.records * sizes.instances + 1) * sizeof *found);
    for (size_t i = 0; i < sizes.records; i++) {
        records[i].size = sizeof *records;
        records[i].values = &found[i * sizes.instances];
    }
    CuptiSassFlush flush = {.context = metrics->cuda->context,
                            .records = sizes.records,
                            .instances = sizes.instances,
                            .data = records};
    bool good = !sizes.records || CUPTI_CALL(metrics->cupti, error, cuptiSassMetricsFlushData, &flush);
    for (int i = 0; i < metrics->count; i++) values[metrics->place[i]] = 0;
    for (size_t i = 0; good && i < sizes.records * sizes.instances; i++)
        add_value(metrics, &found[i], values);
    free(found);
    free(records);
    return good;
}
