#include "ladder/latency.h"

#include "catalog/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Known {
    const char *group, *name, *label;
} Known;
#define GROUP(title)         {title, NULL, NULL},
#define LATENCY(name, label) {NULL, name, label},
static const Known known[] = {
#include "ladder/latencies.def"
};
#undef GROUP
#undef LATENCY
enum { KNOWN = sizeof known / sizeof *known };

static bool times_itself(const char *kernel) {
    for (int i = 0; i < catalog_count(); i++)
        if (catalog_row(i)->latencies && !strcmp(catalog_row(i)->id, kernel)) return true;
    return false;
}

static bool is_named(const char *name) {
    for (int i = 0; i < KNOWN; i++)
        if (known[i].name && !strcmp(known[i].name, name)) return true;
    return false;
}

/* Values by wavefronts are for latency_of_wavefronts(). */
static bool is_by_wavefronts(const char *name) {
    return strstr(name, "wavefronts ") != NULL;
}

static const MeasuredValue *next_value(const Measurements *from, int *at) {
    for (; *at < from->value_count; ++*at) {
        const MeasuredValue *value = &from->values[*at];
        if (times_itself(value->kernel) && !strcmp(value->unit, "cycles") &&
            strncmp(value->name, "interval", 8) != 0 && !is_by_wavefronts(value->name))
            return &from->values[(*at)++];
    }
    return NULL;
}

/* The clock during that kernel. */
static double find_clock(const Measurements *from) {
    for (int i = 0; i < from->timing_count; i++)
        if (times_itself(from->timings[i].kernel) && from->timings[i].clock > 0)
            return from->timings[i].clock;
    return NAN;
}

static void add(Latencies *out, const char *group, const char *label, double cycles) {
    if (out->count == LATENCY_ROWS) return;
    out->rows[out->count++] = (LatencyRow){group, label, cycles, cycles / out->clock * 1e3};
    out->known += !isnan(cycles);
    if (cycles > out->most) out->most = cycles;
}

void latency_gather(Latencies *out, const Measurements *from) {
    const char *group = NULL;
    *out = (Latencies){.clock = find_clock(from)};
    for (int i = 0; i < KNOWN; i++) {
        const MeasuredValue *value, *found = NULL;
        if (known[i].group) group = known[i].group;
        if (!known[i].name) continue;
        for (int at = 0; (value = next_value(from, &at));)
            if (!strcmp(value->name, known[i].name)) found = value;
        add(out, group, known[i].label, found ? found->value : (double)NAN);
        group = NULL;
        if (!found) continue;
        out->machine = found->machine;
        out->measured = found->measured;
    }
    const MeasuredValue *value;
    group = "others";
    for (int at = 0; (value = next_value(from, &at));) {
        if (is_named(value->name)) continue;
        add(out, group, value->name, value->value);
        group = NULL;
    }
}

static const MeasuredValue *find_cycles(const Measurements *from, const char *name) {
    const MeasuredValue *found = NULL;
    for (int i = 0; i < from->value_count; i++) {
        const MeasuredValue *value = &from->values[i];
        if (!strcmp(value->name, name) && !strcmp(value->unit, "cycles") && times_itself(value->kernel))
            found = value;
    }
    return found;
}

/* A recording without them has powers of two, the conflicts of latencies.def. */
static const MeasuredValue *find_alone(const Measurements *from, int wavefronts) {
    char name[32];
    snprintf(name, sizeof name, "wavefronts %d", wavefronts);
    const MeasuredValue *found = find_cycles(from, name);
    if (found) return found;
    snprintf(name, sizeof name, "%d-way conflict", wavefronts);
    return find_cycles(from, wavefronts == 1 ? "shared memory" : name);
}

WavefrontCycles latency_of_wavefronts(const Measurements *from, int wavefronts) {
    char name[40];
    WavefrontCycles cycles = {.alone = NAN, .in_flight = NAN};
    if (!from) return cycles;
    snprintf(name, sizeof name, "in flight, wavefronts %d", wavefronts);
    const MeasuredValue *alone = find_alone(from, wavefronts), *in_flight = find_cycles(from, name);
    if (in_flight) cycles.in_flight = in_flight->value;
    if (!alone) return cycles;
    cycles.alone = alone->value;
    cycles.machine = alone->machine;
    cycles.measured = alone->measured;
    return cycles;
}
