#include "lecture/times.h"

#include "bench/bench.h"
#include "ladder/ladder.h"
#include <string.h>

void claim_times_done(ClaimTimes *times) {
    for (int i = 0; i < times->machine_count; i++) measured_done(&times->machines[i].measured);
    measured_done(&times->live);
    *times = (ClaimTimes){0};
}

static void keep_value(void *context, const BenchValue *value) {
    measured_put_value(context, value);
}

static void keep_timing(void *context, const Timing *timing) {
    measured_put_timing(context, timing);
}

static Measurements *recorded_on(ClaimTimes *times, const char *machine, Error *error) {
    for (int i = 0; i < times->machine_count; i++)
        if (!strcmp(times->machines[i].name, machine)) return &times->machines[i].measured;
    char names[BENCH_MACHINES][BENCH_MACHINE_BYTES];
    int count = bench_machines(names), known = 0;
    while (known < count && strcmp(names[known], machine) != 0) known++;
    if (known == count || times->machine_count == CLAIM_MACHINES) {
        error_set(error, "nothing was recorded on '%s'", machine);
        return NULL;
    }
    Measurements *measured = &times->machines[times->machine_count].measured;
    if (!bench_recorded(machine, measured, error)) return NULL;
    snprintf(times->machines[times->machine_count++].name, sizeof times->machines->name, "%s", machine);
    return measured;
}

static const Timing *find_time(const Measurements *measured, const ClaimQuery *query) {
    const TimingWanted wanted = {.kernel = query->run,
                                 .dtype = query->dtype,
                                 .n = query->n,
                                 .alone = query->alone,
                                 .warm = query->warm,
                                 .call = query->call};
    return measured_find_timing(measured, &wanted);
}

/* Its figures are for the kernel alone, in a graph with a cold cache. */
static Limit find_limit(const Measurements *measured, const ClaimQuery *query) {
    ClaimQuery alone = *query;
    LimitFigures figures;
    alone.alone = true;
    ladder_find_limit(measured, &(LadderOf){.dtype = query->dtype, .op = "sum"}, query->run, query->n,
                      find_time(measured, &alone), find_time(measured, query), &figures);
    return limit_of(&figures);
}

/* Measures one kernel, size and type. */
static bool measure(ClaimTimes *times, const ClaimQuery *query, Error *error) {
    const char *kernel = query->scope == CLAIM_CYCLES ? "lab_latency" : query->run;
    BenchOptions options = {.kernel = kernel, .catalog.n = query->n, .profile = query->scope == CLAIM_LIMIT};
    BenchSink sink = {.context = &times->live, .timing = keep_timing, .value = keep_value};
    if (!catalog_find(kernel, NULL))
        return error_set(error, "%s is timed by --bench alone; write 'on recorded H200'", kernel);
    if (query->dtype && !plan_type_parse(query->dtype, &options.catalog.dtype))
        return error_set(error, "there is no type '%s'", query->dtype);
    return bench_run(&options, &sink, error);
}

static bool has(const Measurements *measured, const ClaimQuery *query) {
    if (query->scope == CLAIM_TIME) return find_time(measured, query) != NULL;
    if (query->scope == CLAIM_LIMIT) return find_limit(measured, query) != LIMIT_UNKNOWN;
    for (int i = 0; i < measured->value_count; i++)
        if (!strcmp(measured->values[i].name, query->text)) return true;
    return false;
}

static bool cycles_value(const Measurements *measured, const ClaimQuery *query, const char *where,
                         double *value, Error *error) {
    for (int i = 0; i < measured->value_count; i++) {
        const MeasuredValue *found = &measured->values[i];
        if (strcmp(found->kernel, "lab_latency") != 0 || strcmp(found->name, query->text) != 0) continue;
        *value = found->value;
        return true;
    }
    return error_set(error, "no latency is called \"%s\" on %s; redviz --latency lists them", query->text,
                     where);
}

static bool limit_value(const Measurements *measured, const ClaimQuery *query, const char *where,
                        double *value, Error *error) {
    Limit limit = find_limit(measured, query);
    *value = limit;
    return limit != LIMIT_UNKNOWN ||
           error_set(error, "the limit of %s, %s, n = %llu is unknown: not profiled on %s", query->run,
                     query->dtype, (unsigned long long)query->n, where);
}

static bool time_value(const Measurements *measured, const ClaimQuery *query, const char *where,
                       double *value, Error *error) {
    const Timing *timing = find_time(measured, query);
    if (!timing)
        return error_set(error, "no %stime of %s, %s, n = %llu%s%s was measured on %s",
                         query->warm ? "warm " : "", query->run, query->dtype, (unsigned long long)query->n,
                         query->alone ? ", alone" : "", query->call ? ", as a call" : "", where);
    bool is_launches = !strcmp(query->name, "launches");
    if (is_launches && !catalog_find(query->run, NULL))
        return error_set(error, "launches of %s were not counted", query->run);
    *value = is_launches                         ? timing_launches(timing)
             : !strcmp(query->name, "time")      ? timing->median
             : !strcmp(query->name, "gigabytes") ? timing->gigabytes_per_second
                                                 : timing->share_of_read;
    return true;
}

bool claim_times_value(ClaimTimes *times, const ClaimQuery *query, const char *machine, bool live,
                       double *value, Error *error) {
    const Measurements *measured = &times->live;
    machine = query->machine ? query->machine : machine ? machine : bench_default_machine();
    bool now = live && !query->machine;
    if (now && !has(measured, query) && !measure(times, query, error)) return false;
    if (!now && !(measured = recorded_on(times, machine, error))) return false;
    const char *where = now ? "this machine" : machine;
    if (query->scope == CLAIM_CYCLES) return cycles_value(measured, query, where, value, error);
    if (query->scope == CLAIM_LIMIT) return limit_value(measured, query, where, value, error);
    return time_value(measured, query, where, value, error);
}
