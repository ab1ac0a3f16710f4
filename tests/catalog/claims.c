/* Recorded times, values and counters by name; the emulator's counts are those of lectures' claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "claims.h"

#include "base/memory.h"
#include "base/text.h"
#include "bench/recorded_file.h"
#include "lecture/values.h"
#include "trace/grid_file.h"
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- recorded values
 * ------------------------------------------------------------------------------------ */

static Text notes;
static Recording used;

void claims_begin(void) {
    text_clear(&notes);
    used = H200;
}

void claims_use(Recording recording) {
    static const char *const names[RECORDING_COUNT] = {"an H200", "an H100", "two H200"};
    text_print(&notes, "    on %s:\n", names[recording]);
    used = recording;
}

double claims_used(double value) {
    used = H200;
    return value;
}

const char *claims_values(void) {
    return text_string(&notes);
}

static double note(double value, const char *format, ...) __attribute__((format(printf, 2, 3)));
static double note(double value, const char *format, ...) {
    char name[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    text_print(&notes, "    %s = %.10g\n", name, value);
    return value;
}

bool claim_about(double value, double figure) {
    text_print(&notes, "    %.10g, about %.10g?\n", value, figure);
    return fabs(value - figure) <= 0.03 * fabs(figure);
}

bool claim_rounds(double value, double figure) {
    text_print(&notes, "    %.10g, rounded %.10g?\n", value, figure);
    return fabs(value - figure) <= 0.5;
}

bool claim_percent(double share, double figure) {
    text_print(&notes, "    %.10g, %.10g %%?\n", share, figure);
    return fabs(100 * share - figure) <= 0.6;
}

bool claim_near(double share, double figure) {
    text_print(&notes, "    %.10g, near %.10g %%?\n", share, figure);
    return fabs(100 * share - figure) <= 3;
}

bool claim_is_half(double share) {
    text_print(&notes, "    %.10g, half?\n", share);
    return share >= 0.47 && share <= 0.53;
}

/* ---- recorded on a GPU --------------------------------------------------------------------------------- */

typedef struct Probe { /* the overhead of the grid's probe */
    const char *kernel;
    uint64_t n;
    double overhead;
} Probe;

typedef struct Recorded {
    Measurements measured;
    double read;
    Probe *probes; /* of its grid/ */
    size_t probe_count, probe_capacity;
    char *counters; /* counters.txt, of the H200 */
    bool is_read;
    Arena arena;
} Recorded;

static Recorded recordings[RECORDING_COUNT];

static void keep_value(void *context, const BenchValue *value) {
    measured_add_value(&((Recorded *)context)->measured, value);
}

static void keep_timing(void *context, const Timing *timing) {
    measured_add_timing(&((Recorded *)context)->measured, timing);
}

static void keep_machine(void *context, const BenchMachine *machine) {
    Recorded *into = context;
    if (!(into->read > 0)) into->read = machine->read;
}

static const Recorded *records(void) {
    static const char *const files[RECORDING_COUNT] = {"assets/h200/timings.tsv", "assets/h100/timings.tsv",
                                                       "assets/h200/multi_gpu.tsv"};
    Recorded *of = &recordings[used];
    if (of->is_read) return of;
    Error error = {0};
    size_t length;
    BenchSink sink = {.context = of, .machine = keep_machine, .timing = keep_timing, .value = keep_value};
    if (!bench_read_file(files[used], &sink, &error)) fail_msg("%s", error.message);
    if (used == H200 && !text_read_file("assets/h200/counters.txt", 1 << 20, &of->counters, &length, &error))
        fail_msg("%s", error.message);
    of->is_read = true;
    return of;
}

static const Timing *find_time(const char *kernel, const char *type, uint64_t n, bool to_scalar, bool warm,
                               bool call) {
    const TimingWanted wanted = {
        .kernel = kernel, .dtype = type, .n = n, .alone = !to_scalar, .warm = warm, .call = call};
    return measured_find_timing(&records()->measured, &wanted);
}

double claim_time(const char *kernel, const char *type, int log_n, bool to_scalar, bool warm) {
    const Timing *timing = find_time(kernel, type, 1ULL << log_n, to_scalar, warm, false);
    if (!timing) fail_msg("no time of %s, %s, 2^%d", kernel, type, log_n);
    return note(timing->median, "TIME %s %s 2^%d %s %s", kernel, type, log_n, to_scalar ? "scalar" : "alone",
                warm ? "warm" : "cold");
}

double claim_most_ratio(const char *kernel, const char *other, const char *type) {
    double most = 0;
    const Measurements *times = &records()->measured;
    for (int i = 0; i < times->timing_count; i++) {
        uint64_t n = times->timings[i].n;
        const Timing *one = find_time(kernel, type, n, true, false, false),
                     *two = find_time(other, type, n, true, false, false);
        if (one && two && one->median / two->median > most) most = one->median / two->median;
    }
    return note(most, "MOST_RATIO %s / %s %s", kernel, other, type);
}

static const Timing *find_same(const Timing *timing, const char *kernel) {
    const Measurements *times = &records()->measured;
    for (int i = 0; i < times->timing_count; i++) {
        const Timing *other = &times->timings[i];
        if (!strcmp(other->kernel, kernel) && !strcmp(other->dtype, timing->dtype) && other->samples &&
            !strcmp(other->op, timing->op) && other->n == timing->n && other->graph == timing->graph &&
            other->cold == timing->cold && other->to_scalar == timing->to_scalar)
            return other;
    }
    return NULL;
}

double claim_most_ratio_of_all(const char *kernel, const char *other) {
    const Measurements *times = &records()->measured;
    double most = 0;
    for (int i = 0; i < times->timing_count; i++) {
        const Timing *one = &times->timings[i], *two = NULL;
        if (!strcmp(one->kernel, kernel) && one->to_scalar && one->samples) two = find_same(one, other);
        if (two && one->median / two->median > most) most = one->median / two->median;
    }
    if (most == 0) fail_msg("no times of both %s and %s", kernel, other);
    return note(most, "MOST_RATIO_OF_ALL %s / %s", kernel, other);
}

double claim_slower(const char *kernel, const char *other) {
    const Measurements *times = &records()->measured;
    int count = 0;
    for (int i = 0; i < times->timing_count; i++) {
        const Timing *one = &times->timings[i], *two = NULL;
        if (!strcmp(one->kernel, kernel) && one->to_scalar && one->samples) two = find_same(one, other);
        if (two && one->median >= two->median)
            note(++count, "slower: 2^%g %s %s %s, %g of %g us", log2((double)one->n), one->dtype,
                 one->graph ? "graph" : "call", one->cold ? "cold" : "warm", one->median, two->median);
    }
    return note(count, "SLOWER %s / %s", kernel, other);
}

double claim_gigabytes_per_second(const char *kernel, const char *type, int log_n) {
    const Timing *timing = find_time(kernel, type, 1ULL << log_n, true, false, false);
    if (!timing) fail_msg("no time of %s, %s, 2^%d", kernel, type, log_n);
    return note(timing->gigabytes_per_second, "GIGABYTES %s %s 2^%d", kernel, type, log_n);
}

double claim_read_bandwidth(void) {
    return note(records()->read, "READ_BANDWIDTH");
}

static const MeasuredValue *find_value(const char *kernel, int log_n, const char *name) {
    const Measurements *all = &records()->measured;
    for (int i = 0; i < all->value_count; i++)
        if (!strcmp(all->values[i].kernel, kernel) && !strcmp(all->values[i].name, name) &&
            (!log_n || all->values[i].n == 1ULL << log_n))
            return &all->values[i];
    fail_msg("no value '%s' of %s, 2^%d", name, kernel, log_n);
    return NULL;
}

double claim_value(const char *kernel, int log_n, const char *name) {
    return note(find_value(kernel, log_n, name)->value, "VALUE %s 2^%d %s", kernel, log_n, name);
}

double claim_clock_cost(const char *kernel, int log_n) {
    static const char BEFORE[] = "reading the clock adds ";
    const char *why = find_value(kernel, log_n, "interval 1")->note, *at = why ? strstr(why, BEFORE) : NULL;
    if (!at) fail_msg("%s, 2^%d: no note says what reading the clock adds", kernel, log_n);
    return note(strtod(at + sizeof BEFORE - 1, NULL), "CLOCK_COST %s 2^%d", kernel, log_n);
}

double claim_interval(const char *kernel, int log_n, int first, int last, bool most) {
    double found = NAN;
    for (int i = first; i <= last; i++) {
        char name[32];
        snprintf(name, sizeof name, "interval %d", i);
        double cycles = find_value(kernel, log_n, name)->value;
        if (isnan(found) || (most ? cycles > found : cycles < found)) found = cycles;
    }
    return note(found, "%s cycles of %s 2^%d, intervals %d to %d", most ? "most" : "least", kernel, log_n,
                first, last);
}

/* ---- the probe of the grid ----------------------------------------------------------------------------- */

static void keep_probe(void *context, GridTimeline *timeline) {
    Recorded *into = context;
    Probe probe = {arena_copy_string(&into->arena, timeline->of.kernel), timeline->of.n, timeline->overhead};
    if (!isnan(probe.overhead)) array_push(into->probes, into->probe_count, into->probe_capacity, probe);
    grid_timeline_free(timeline);
}

static const Recorded *with_probes(void) {
    Recorded *of = &recordings[records() - recordings];
    Error error = {0};
    glob_t paths;
    if (of->probe_count) return of;
    if (glob(used == H100 ? "assets/h100/grid/*.tsv" : "assets/h200/grid/*.tsv", 0, NULL, &paths) != 0)
        fail_msg("no grid was recorded");
    for (size_t i = 0; i < paths.gl_pathc; i++)
        if (!grid_file_read(paths.gl_pathv[i], keep_probe, of, &error)) fail_msg("%s", error.message);
    globfree(&paths);
    return of;
}

static int compare_numbers(const void *a, const void *b) {
    double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

double claim_probe_median(int log_n) {
    const Recorded *of = with_probes();
    double *all = memory_new(of->probe_count * sizeof *all), median = NAN;
    size_t count = 0;
    for (size_t i = 0; i < of->probe_count; i++)
        if (!log_n || of->probes[i].n == 1ULL << log_n) all[count++] = of->probes[i].overhead;
    qsort(all, count, sizeof *all, compare_numbers);
    if (count) median = (all[(count - 1) / 2] + all[count / 2]) / 2;
    free(all);
    return note(median, "PROBE_MEDIAN 2^%d of %zu", log_n, count);
}

double claim_probe_most(void) {
    const Recorded *of = with_probes();
    double most = -1;
    for (size_t i = 0; i < of->probe_count; i++)
        if (of->probes[i].overhead > most) most = of->probes[i].overhead;
    return note(most, "PROBE_MOST of %zu", of->probe_count);
}

double claim_probe(const char *kernel, int log_n) {
    const Recorded *of = with_probes();
    for (size_t i = 0; i < of->probe_count; i++)
        if (!strcmp(of->probes[i].kernel, kernel) && of->probes[i].n == 1ULL << log_n)
            return note(of->probes[i].overhead, "PROBE %s 2^%d", kernel, log_n);
    fail_msg("no grid of %s, 2^%d", kernel, log_n);
    return NAN;
}

/* The first number of a column in a line of counters.txt: "KERNEL TYPE LAUNCH | column 1 | column 2 ..."; a
 * column is one number, "predicted:measured" or "SASS, PTX". */
double claim_counter(const char *kernel, const char *type, int column) {
    char begin[96];
    snprintf(begin, sizeof begin, "\n%s %s 0 |", kernel, type);
    const char *at = strstr(records()->counters, begin);
    if (!at) fail_msg("counters.txt has no line of %s, %s", kernel, type);
    for (at++; column > 0; column--) at = strchr(at, '|') + 1;
    return note(strtod(at, NULL), "COUNTER %s %s", kernel, type);
}

/* ---- the emulator -------------------------------------------------------------------------------------- */

static ClaimRuns *runs;

/* Splits "strided n=4096 stride=2" into the run of a query and its settings. Returns their text, to be
 * freed. */
static char *read_spec(const char *spec, ClaimQuery *query) {
    char *words = memory_copy_text(spec), *rest = NULL;
    query->run = strtok_r(words, " ", &rest);
    for (const char *word; (word = strtok_r(NULL, " ", &rest));) {
        assert_true(query->setting_count < CLAIM_SETTINGS);
        query->settings[query->setting_count++] = word;
    }
    if (!runs) runs = claim_runs_new(&(ClaimRunsOptions){.threads = 1});
    return words;
}

static double ask(const char *spec, ClaimQuery query) {
    double value = NAN;
    Error error = {0};
    char *words = read_spec(spec, &query);
    if (!claim_runs_value(runs, &query, &value, &error))
        fail_msg("%s of %s: %s", query.name, spec, error.message);
    free(words);
    return value;
}

double claim_of_run(const char *spec, const char *name) {
    return note(ask(spec, (ClaimQuery){.scope = CLAIM_TOTAL, .name = name}), "%s of %s", name, spec);
}

double claim_of_line(const char *spec, const char *text, const char *name) {
    const ClaimQuery query = {.scope = CLAIM_LINE, .name = name, .text = text};
    return note(ask(spec, query), "%s of %s at '%s'", name, spec, text);
}

double claim_of_interval(const char *spec, int interval, const char *name) {
    const ClaimQuery query = {.scope = CLAIM_INTERVAL, .name = name, .number = interval + 1};
    return note(ask(spec, query), "%s of %s, interval %d", name, spec, interval);
}

double claim_events(const char *spec, TraceKind kind) {
    ClaimQuery query = {0};
    Error error = {0};
    char *words = read_spec(spec, &query);
    Session *session = claim_runs_session(runs, &query, &error);
    if (!session) fail_msg("%s: %s", spec, error.message);
    free(words);
    const TraceBlock *block = session_trace(session)->launches[0]->blocks[0];
    int count = 0;
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &event);
        count += event.kind == kind;
    }
    return note(count, "EVENTS %s, %s", spec, trace_kind_text(kind));
}

void claims_done(void) {
    claim_runs_free(runs);
    runs = NULL;
    for (int i = 0; i < RECORDING_COUNT; i++) {
        measured_done(&recordings[i].measured);
        arena_done(&recordings[i].arena);
        free(recordings[i].counters);
        free(recordings[i].probes);
        recordings[i] = (Recorded){0};
    }
    text_done(&notes);
}
