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

/* What the device was configured to count, by this process. */
static CuptiSassConfig configured[SASS_METRICS];
static int configured_count;

static bool is_configured(uint64_t id) {
    for (int i = 0; i < configured_count; i++)
        if (configured[i].id == id) return true;
    return false;
}

static bool configure(SassMetrics *metrics) {
    CuptiSassSetConfig config = {.count = (size_t)metrics->count,
                                 .configs = metrics->configs,
                                 .device = (uint32_t)metrics->cuda->device};
    if (configured_count) return true;
    if (!CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsSetConfig, &config)) return false;
    memcpy(configured, metrics->configs, sizeof configured);
    configured_count = metrics->count;
    return true;
}

bool sass_begin(SassMetrics *metrics) {
    CuptiSassEnable enable = {.context = metrics->cuda->context, .lazy = 1};
    return configure(metrics) && CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsEnable, &enable);
}

void sass_end(SassMetrics *metrics) {
    CuptiSassDisable disable = {.context = metrics->cuda->context};
    if (!metrics->cuda->hung) CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsDisable, &disable);
}

static void add_up(const SassMetrics *metrics, const CuptiSassValue *found, size_t count, double *values) {
    for (int i = 0; i < metrics->count; i++) {
        double sum = 0;
        if (!is_configured(metrics->configs[i].id)) continue;
        for (size_t k = 0; k < count; k++)
            if (found[k].id == metrics->configs[i].id) sum += (double)found[k].value;
        values[metrics->place[i]] = sum;
    }
}

bool sass_read(SassMetrics *metrics, double *values) {
    CuptiSassSizes sizes = {.context = metrics->cuda->context};
    if (!CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsGetDataProperties, &sizes)) return false;
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
    bool good = !sizes.records || CUPTI_CALL(metrics->cupti, NULL, cuptiSassMetricsFlushData, &flush);
    if (good) add_up(metrics, found, sizes.records * sizes.instances, values);
    free(found);
    free(records);
    return good;
}
