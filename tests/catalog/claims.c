/* Recorded times, values and counters by name; runs of the emulator, each kept for the claims that follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "claims.h"

#include "base/memory.h"
#include "base/text.h"
#include "bench/recorded_file.h"
#include "metrics/fold.h"
#include "runs.h"
#include "trace/grid_file.h"
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- notes --------------------------------------------------------------------------------------------- */

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

typedef struct Probe { /* what the probe of the grid adds */
    const char *kernel;
    uint64_t n;
    double overhead;
} Probe;

typedef struct Recorded {
    Measurements times;
    BenchValue *values;
    size_t value_count, value_capacity;
    double read;
    Probe *probes; /* of its grid/ */
    size_t probe_count, probe_capacity;
    char *counters; /* counters.txt, of the H200 */
    bool is_read;
    Arena arena;
} Recorded;

static Recorded recordings[RECORDING_COUNT];

static void keep_value(void *context, const BenchValue *value) {
    Recorded *into = context;
    BenchValue copy = *value;
    copy.kernel = arena_copy_string(&into->arena, value->kernel);
    copy.name = arena_copy_string(&into->arena, value->name);
    copy.note = arena_copy_string(&into->arena, value->note);
    array_push(into->values, into->value_count, into->value_capacity, copy);
}

static void keep_timing(void *context, const Timing *timing) {
    measured_add_timing(&((Recorded *)context)->times, timing);
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

/* 256 threads before another number of them, then a graph before a single call. */
static bool is_preferred(const Timing *timing, const Timing *found) {
    bool usual = timing->threads == 256, found_usual = found->threads == 256;
    return usual != found_usual ? usual : timing->graph || !found->graph;
}

static const Timing *find_time(const char *kernel, const char *type, uint64_t n, bool to_scalar, bool warm) {
    const Measurements *times = &records()->times;
    const Timing *found = NULL;
    for (int i = 0; i < times->timing_count; i++) {
        const Timing *timing = &times->timings[i];
        if (strcmp(timing->kernel, kernel) != 0 || strcmp(timing->dtype, type) != 0 || timing->n != n ||
            strcmp(timing->op, "sum") != 0 || timing->to_scalar != to_scalar || timing->cold == warm ||
            !timing->samples)
            continue;
        if (!found || is_preferred(timing, found)) found = timing;
    }
    return found;
}

double claim_time(const char *kernel, const char *type, int log_n, bool to_scalar, bool warm) {
    const Timing *timing = find_time(kernel, type, 1ULL << log_n, to_scalar, warm);
    if (!timing) fail_msg("no time of %s, %s, 2^%d", kernel, type, log_n);
    return note(timing->median, "TIME %s %s 2^%d %s %s", kernel, type, log_n, to_scalar ? "scalar" : "alone",
                warm ? "warm" : "cold");
}

double claim_most_ratio(const char *kernel, const char *other, const char *type) {
    double most = 0;
    const Measurements *times = &records()->times;
    for (int i = 0; i < times->timing_count; i++) {
        uint64_t n = times->timings[i].n;
        const Timing *one = find_time(kernel, type, n, true, false),
                     *two = find_time(other, type, n, true, false);
        if (one && two && one->median / two->median > most) most = one->median / two->median;
    }
    return note(most, "MOST_RATIO %s / %s %s", kernel, other, type);
}

static const Timing *find_same(const Timing *timing, const char *kernel) {
    const Measurements *times = &records()->times;
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
    const Measurements *times = &records()->times;
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
    const Measurements *times = &records()->times;
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

double claim_call(const char *kernel, const char *type, int log_n, bool warm) {
    const Measurements *times = &records()->times;
    for (int i = 0; i < times->timing_count; i++) {
        const Timing *timing = &times->timings[i];
        if (!strcmp(timing->kernel, kernel) && !strcmp(timing->dtype, type) && !strcmp(timing->op, "sum") &&
            timing->n == 1ULL << log_n && timing->to_scalar && !timing->graph && timing->cold != warm &&
            timing->samples)
            return note(timing->median, "CALL %s %s 2^%d %s", kernel, type, log_n, warm ? "warm" : "cold");
    }
    fail_msg("no single call of %s, %s, 2^%d", kernel, type, log_n);
    return NAN;
}

double claim_gigabytes_per_second(const char *kernel, const char *type, int log_n) {
    const Timing *timing = find_time(kernel, type, 1ULL << log_n, true, false);
    if (!timing) fail_msg("no time of %s, %s, 2^%d", kernel, type, log_n);
    return note(timing->gigabytes_per_second, "GIGABYTES %s %s 2^%d", kernel, type, log_n);
}

double claim_read_bandwidth(void) {
    return note(records()->read, "READ_BANDWIDTH");
}

static const BenchValue *find_value(const char *kernel, int log_n, const char *name) {
    const Recorded *all = records();
    for (size_t i = 0; i < all->value_count; i++)
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

/* ---- the probe of the grid ------------------------------------------------------------------------------- */

static void keep_probe(void *context, GridTimeline *timeline) {
    Recorded *into = context;
    Probe probe = {arena_copy_string(&into->arena, timeline->kernel), timeline->n, timeline->overhead};
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

/* A line of counters.txt: "KERNEL TYPE LAUNCH | column 1 | column 2 ..."; a column is one number, "predicted:measured"
 * or "SASS, PTX". The first number of the column. */
double claim_counter(const char *kernel, const char *type, int column) {
    char begin[96];
    snprintf(begin, sizeof begin, "\n%s %s 0 |", kernel, type);
    const char *at = strstr(records()->counters, begin);
    if (!at) fail_msg("counters.txt has no line of %s, %s", kernel, type);
    for (at++; column > 0; column--) at = strchr(at, '|') + 1;
    return note(strtod(at, NULL), "COUNTER %s %s", kernel, type);
}

/* ---- the emulator -------------------------------------------------------------------------------------- */

typedef struct KnownRun {
    char *spec;
    Session *session;
    Totals totals;
} KnownRun;

static struct {
    KnownRun *items;
    size_t count, capacity;
} known;

static Session *open_spec(const char *spec) {
    char *words = memory_copy_text(spec), *rest = NULL, *kernel = strtok_r(words, " ", &rest);
    CatalogOptions options = {0};
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (!strncmp(word, "n=", 2))
            options.n = strtoull(word + 2, NULL, 10);
        else if (!strncmp(word, "block=", 6))
            options.block = (uint32_t)strtoul(word + 6, NULL, 10);
        else if (!strncmp(word, "type=", 5))
            assert_true(plan_type_parse(word + 5, &options.dtype));
        else
            options.parameters[options.parameter_count++] = word;
    }
    Session *session = run_kernel(kernel, &options);
    free(words);
    return session;
}

static const KnownRun *run_of(const char *spec) {
    for (size_t i = 0; i < known.count; i++)
        if (!strcmp(known.items[i].spec, spec)) return &known.items[i];
    KnownRun run = {.spec = memory_copy_text(spec), .session = open_spec(spec)};
    run.totals = run_totals(run.session);
    array_push(known.items, known.count, known.capacity, run);
    return &known.items[known.count - 1];
}

double claim_metric(const char *spec, Metric metric) {
    return note((double)totals_value(&run_of(spec)->totals, metric), "METRIC_OF %s, %s", spec,
                metric_infos[metric].name);
}

double claim_line_metric(const char *spec, const char *text, Metric metric) {
    const Session *session = run_of(spec)->session;
    int number = run_line_of(session, text), count;
    LineMetrics *lines = metrics_by_line(session_trace(session), false, &count);
    uint64_t value = 0;
    for (int i = 0; i < count; i++) {
        const char *name = lines[i].file ? strrchr(lines[i].file, '/') : NULL;
        name = name ? name + 1 : lines[i].file;
        if (name && !strcmp(name, session_row(session)->source) && lines[i].line == number)
            value += totals_value(&lines[i].totals, metric);
    }
    free(lines);
    return note((double)value, "LINE_METRIC %s '%s' %s", spec, text, metric_infos[metric].name);
}

static const TraceLaunch *launch_of(const char *spec) {
    return session_trace(run_of(spec)->session)->launches[0];
}

double claim_blocks(const char *spec) {
    const uint32_t *grid = launch_of(spec)->grid;
    return note((double)grid[0] * grid[1] * grid[2], "BLOCKS %s", spec);
}

double claim_launches(const char *spec) {
    return note(session_trace(run_of(spec)->session)->launch_count, "LAUNCHES %s", spec);
}

double claim_shared_bytes(const char *spec) {
    return note(launch_of(spec)->dynamic_shared_bytes, "SHARED_BYTES %s", spec);
}

double claim_result(const char *spec) {
    return note(session_result(run_of(spec)->session)->result, "RESULT %s", spec);
}

double claim_excess(const char *spec) {
    const Totals *t = &run_of(spec)->totals;
    return note((double)(t->shared_load_wavefronts + t->shared_store_wavefronts -
                         t->shared_load_wavefronts_ideal - t->shared_store_wavefronts_ideal),
                "EXCESS %s", spec);
}

double claim_wavefronts(const char *spec) {
    const Totals *t = &run_of(spec)->totals;
    return note((double)t->shared_load_wavefronts / (double)t->shared_loads, "WAVEFRONTS %s", spec);
}

double claim_sectors(const char *spec) {
    const Totals *t = &run_of(spec)->totals;
    return note((double)t->global_load_sectors / (double)t->global_load_requests, "SECTORS %s", spec);
}

double claim_lanes(const char *spec) {
    return note(totals_average_active_lanes(&run_of(spec)->totals), "LANES %s", spec);
}

/* Over the shared accesses of the first traced block in the interval. */
typedef struct IntervalAccesses {
    double ways, wavefronts;
    int storing_lanes;
    uint64_t storing_warps; /* a bit each */
} IntervalAccesses;

static IntervalAccesses accesses_of(const char *spec, int interval) {
    const TraceLaunch *launch = launch_of(spec);
    const TraceBlock *block = launch->blocks[0];
    IntervalAccesses found = {0};
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read(block, i, &event);
        if ((int)event.interval != interval ||
            (event.kind != TRACE_SHARED_LOAD && event.kind != TRACE_SHARED_STORE))
            continue;
        TraceCounter counter = fold_counter_of_event(launch, &event);
        double ways = (double)counter.wavefronts / (double)counter.ideal_wavefronts;
        if (ways > found.ways) found.ways = ways;
        if ((double)counter.wavefronts > found.wavefronts) found.wavefronts = (double)counter.wavefronts;
        if (event.kind != TRACE_SHARED_STORE) continue;
        int lanes = __builtin_popcount(event.mask);
        if (lanes > found.storing_lanes) found.storing_lanes = lanes;
        found.storing_warps |= 1ULL << event.warp;
    }
    return found;
}

double claim_ways(const char *spec, int interval) {
    return note(accesses_of(spec, interval).ways, "WAYS %s, interval %d", spec, interval);
}

double claim_most_wavefronts(const char *spec, int interval) {
    return note(accesses_of(spec, interval).wavefronts, "MOST_WAVEFRONTS %s, interval %d", spec, interval);
}

double claim_events(const char *spec, TraceKind kind) {
    const TraceBlock *block = launch_of(spec)->blocks[0];
    int count = 0;
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &event);
        count += event.kind == kind;
    }
    return note(count, "EVENTS %s, %s", spec, trace_kind_text(kind));
}

double claim_storing_lanes(const char *spec, int interval) {
    return note(accesses_of(spec, interval).storing_lanes, "STORING_LANES %s, interval %d", spec, interval);
}

double claim_storing_warps(const char *spec, int interval) {
    return note(__builtin_popcountll(accesses_of(spec, interval).storing_warps),
                "STORING_WARPS %s, interval %d", spec, interval);
}

void claims_done(void) {
    for (size_t i = 0; i < known.count; i++) {
        free(known.items[i].spec);
        session_free(known.items[i].session);
    }
    free(known.items);
    memset(&known, 0, sizeof known);
    for (int i = 0; i < RECORDING_COUNT; i++) {
        measured_done(&recordings[i].times);
        arena_done(&recordings[i].arena);
        free(recordings[i].values);
        free(recordings[i].counters);
        free(recordings[i].probes);
        recordings[i] = (Recorded){0};
    }
    text_done(&notes);
}
