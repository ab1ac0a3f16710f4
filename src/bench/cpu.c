/* Times the same reductions on this machine's CPU (bench.h): one thread, element by element, as a beginner
 * writes it, and all threads with SIMD. */
#define _POSIX_C_SOURCE 200809L
#include "bench/cell.h"

#include "base/clock.h"
#include "base/text.h"
#include "bench/cpu_reduce.h"
#include "bench/cpu_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    LEAST_SAMPLES = 3,
    PARTIAL_BYTES = 64 /* one cache line per thread */,
    INPUT_BYTES = 1 << 30 /* at most */
};
static const double MEMORY_SHARE = 0.25;

typedef struct Cpu {
    const BenchOptions *options;
    const BenchSink *sink;
    CpuTeam *team;
    BenchMachine machine; /* no ceilings: caches and memory are not measured */
    char measured[32];
    const char *op;
    PtxType type;
    void *input, *period; /* period: RARE_PERIOD elements, which the input repeats */
    uint64_t capacity;    /* elements of the input; 0: out of memory */
} Cpu;

/* ---- the input: small whole numbers with small sums, so that every order of additions is exact --------- */

enum { PERIOD = 8, RARE_PERIOD = 1 << 16, RARE_PLACE = 4242, RARE = 16, LEAST = -4 };
static const int pattern[PERIOD] = {LEAST, -3, -2, -1, 1, 2, 3, 4}; /* adds up to 0 */

static int element(uint64_t i) {
    return i % RARE_PERIOD == RARE_PLACE ? RARE : pattern[i % PERIOD];
}

static double expected(const char *op, uint64_t n) {
    uint64_t rare = (n + RARE_PERIOD - 1 - RARE_PLACE) / RARE_PERIOD;
    double sum = (double)rare * (RARE - pattern[RARE_PLACE % PERIOD]);
    int least = n ? element(0) : 0, greatest = least;
    for (uint64_t i = 0; i < n % PERIOD; i++) sum += pattern[i];
    for (uint64_t i = 0; i < n && i <= RARE_PLACE; i++) {
        if (element(i) < least) least = element(i);
        if (element(i) > greatest) greatest = element(i);
    }
    return !strcmp(op, "sum") ? sum : !strcmp(op, "min") ? least : greatest;
}

/* The part of `count` elements that a member folds. */
static void part_of(const Cpu *cpu, uint64_t count, int member, uint64_t *begin, uint64_t *end) {
    uint64_t members = (uint64_t)cpu_team_size(cpu->team);
    *begin = count / members * (uint64_t)member;
    *end = (uint64_t)member + 1 == members ? count : *begin + count / members;
}

static void fill_part(void *context, int member) {
    const Cpu *cpu = context;
    uint64_t begin, end, bytes = (uint64_t)ptx_type_bytes(cpu->type);
    part_of(cpu, cpu->capacity / RARE_PERIOD, member, &begin, &end);
    for (uint64_t i = begin; i < end; i++)
        memcpy((uint8_t *)cpu->input + i * RARE_PERIOD * bytes, cpu->period, RARE_PERIOD * bytes);
}

/* Fills whole periods for `wanted` elements, or as many as fit. */
static void make_input(Cpu *cpu, uint64_t wanted) {
    double memory = (double)memory_of_machine() * MEMORY_SHARE;
    uint64_t bytes = (uint64_t)ptx_type_bytes(cpu->type),
             most = (uint64_t)(memory < INPUT_BYTES ? memory : INPUT_BYTES) / bytes / RARE_PERIOD;
    uint64_t periods = (wanted + RARE_PERIOD - 1) / RARE_PERIOD;
    cpu->capacity = (periods < most ? periods : most) * RARE_PERIOD;
    cpu->input = malloc(cpu->capacity * bytes + 1); /* less memory: a smaller input */
    if (!cpu->input) cpu->capacity = 0;
    cpu->period = memory_new(RARE_PERIOD * bytes);
    for (uint64_t i = 0; i < RARE_PERIOD; i++) plan_element_set(cpu->type, cpu->period, i, element(i));
    cpu_team_do(cpu->team, fill_part, cpu);
    free(cpu->period);
}

/* ---- one fold ------------------------------------------------------------------------------------------ */

typedef struct CpuFold {
    const Cpu *cpu;
    uint64_t n;
    CpuReduce fold;
    uint8_t *partial; /* [member * PARTIAL_BYTES] */
} CpuFold;

static void fold_part(void *context, int member) {
    const CpuFold *work = context;
    uint64_t begin, end, bytes = (uint64_t)ptx_type_bytes(work->cpu->type);
    part_of(work->cpu, work->n, member, &begin, &end);
    work->fold((const uint8_t *)work->cpu->input + begin * bytes, (size_t)(end - begin),
               work->partial + (size_t)member * PARTIAL_BYTES);
}

/* Computes the result; returns the time in microseconds. */
static double fold_once(CpuFold *work, bool all, double *result) {
    const Cpu *cpu = work->cpu;
    size_t bytes = (size_t)ptx_type_bytes(cpu->type);
    uint8_t total[8];
    double begin = clock_seconds();
    if (all) {
        cpu_team_do(cpu->team, fold_part, work);
        for (int i = 1; i < cpu_team_size(cpu->team); i++)
            memcpy(work->partial + (size_t)i * bytes, work->partial + (size_t)i * PARTIAL_BYTES, bytes);
        work->fold(work->partial, (size_t)cpu_team_size(cpu->team), total);
    } else {
        work->fold(cpu->input, (size_t)work->n, total);
    }
    double end = clock_seconds();
    *result = plan_element(cpu->type, total, 0);
    return (end - begin) * 1e6;
}

/* False: the result is wrong. A fold that takes longer than a cell may is measured once. */
static bool measure(CpuFold *work, bool all, Timing *timing, Error *error) {
    const Cpu *cpu = work->cpu;
    Samples samples;
    double seconds = bench_seconds(cpu->options), wanted = expected(cpu->op, work->n), result,
           first = fold_once(work, all, &result);
    if (result != wanted)
        return error_set(error, "this machine's CPU: the %s of %llu elements is %g instead of %g", cpu->op,
                         (unsigned long long)work->n, result, wanted);
    samples_begin(&samples, LEAST_SAMPLES, seconds);
    if (first > seconds * 1e6)
        samples_add(&samples, first);
    else
        while (samples_wanted(&samples)) samples_add(&samples, fold_once(work, all, &result));
    Spread spread = samples_spread(&samples);
    bench_set_times(timing, &spread, work->n * (uint64_t)ptx_type_bytes(cpu->type), &cpu->machine);
    return true;
}

static bool measure_cell(Cpu *cpu, uint64_t n, bool all, Error *error) {
    const char *name = all ? "cpu, all threads" : "cpu";
    char note[96];
    int threads = all ? cpu_team_size(cpu->team) : 1;
    Timing timing = bench_timing(name, cpu->machine.name, cpu->measured, n, cpu->type, cpu->op);
    timing.threads = (uint32_t)threads;
    timing.to_scalar = true;
    timing.note = note;
    snprintf(note, sizeof note, "%d thread%s, %s", threads, threads > 1 ? "s" : "",
             all ? cpu_simd_name() : "element after element");
    bench_send_cell(cpu->sink, name, n);
    if (!bench_may_go_on(cpu->options, error)) return false;
    if (n > cpu->capacity) {
        snprintf(note, sizeof note, "the CPU gets 1 GiB of input at most, or a quarter of the memory");
    } else {
        CpuFold work = {cpu, n, cpu_reduce(cpu->type, cpu->op, all),
                        memory_new((size_t)threads * PARTIAL_BYTES)};
        bool good = measure(&work, all, &timing, error);
        free(work.partial);
        if (!good) return false;
    }
    bench_send_timing(cpu->sink, &timing);
    return true;
}

/* ---- all cells ----------------------------------------------------------------------------------------- */

static bool measure_type(Cpu *cpu, Error *error) {
    uint64_t sizes[BENCH_SIZES];
    int count = bench_list_sizes(cpu->options, sizes);
    bool good = true;
    if (!cpu_reduce(cpu->type, cpu->op, false)) return true; /* an operation of another kernel */
    make_input(cpu, sizes[count - 1]);
    for (int all = 0; good && all < 2; all++)
        for (int i = 0; good && i < count; i++) good = measure_cell(cpu, sizes[i], all, error);
    free(cpu->input);
    return good;
}

static void name_machine(char *name, size_t bytes) {
    struct utsname system;
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, bytes, "%s", uname(&system) < 0 ? "this machine" : system.machine);
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(name, bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

bool bench_cpu(const BenchOptions *options, const BenchSink *sink, Error *error) {
    PtxType types[BENCH_TYPES];
    int count = bench_list_reductions(options, types, error);
    if (count <= 0) return count == 0;
    Cpu cpu = {.options = options,
               .sink = sink,
               .team = cpu_team_new(0),
               .op = options->catalog.op ? options->catalog.op : "sum"};
    name_machine(cpu.machine.name, sizeof cpu.machine.name);
    text_now(cpu.measured, sizeof cpu.measured);
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        cpu.type = types[i];
        good = measure_type(&cpu, error);
    }
    cpu_team_free(cpu.team);
    return good;
}
