/* The speed of the emulator on this machine: prints figures, asserts nothing (`make bench`).
 *
 *   emulator   warp instructions per second of CPU time on one core, for every kernel of the ladder, with
 *              block 0 traced
 *   process    elapsed time of `redviz --report`, from start to exit
 *   memory     bytes per traced event */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "catalog/catalog.h"
#include "emulator/emulator.h"
#include "metrics/totals.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 5, ELEMENTS = 1 << 22, PTX_LIMIT_BYTES = 64 << 20 };

extern char **environ;

/* CLOCK_MONOTONIC: elapsed time; CLOCK_PROCESS_CPUTIME_ID: CPU time of this process, independent of other
 * load. */
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

_Noreturn static void leave(const Error *error) {
    error_print(error, stderr);
    exit(1);
}

/* ---- one kernel, without the parts of a session that are not the emulator ------------------------------ */

typedef struct Measurement {
    double seconds;
    uint64_t warp_instructions;
    uint64_t events, event_bytes;
} Measurement;

static void measure_launch(Emulator *emulator, PtxModule *module, const PlanLaunch *launch, Trace *trace,
                           Measurement *sum) {
    Error error = {0};
    PtxFunction *entry = ptx_module_find_entry(module, launch->entry, &error);
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    uint64_t addresses[16] = {0};
    Launch bound;
    bool used[16] = {false};
    for (int i = 0; i < launch->argument_count; i++) plan_mark_buffers(launch, i, used);
    for (int i = 0; i < 16; i++)
        if (used[i]) addresses[i] = emulator_buffer_address(emulator, i);
    if (!program || !plan_bind_launch(launch, program, addresses, &bound, &error)) leave(&error);
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (!emulator_run(emulator, &bound, trace, &error)) leave(&error);
    sum->seconds += seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    const TraceLaunch *traced = trace->launches[trace->launch_count - 1];
    Totals totals;
    metrics_of_launch(traced, &totals);
    sum->warp_instructions += totals.warp_instructions;
    for (int i = 0; i < traced->block_count; i++) {
        sum->events += (uint64_t)trace_block_event_count(traced->blocks[i]);
        sum->event_bytes += trace_block_bytes(traced->blocks[i]);
    }
    launch_done(&bound); /* the program stays: the trace borrows it, and this process is short */
}

static Measurement measure_kernel(const CatalogRow *row, uint64_t n, uint32_t last_traced) {
    Error error = {0};
    CatalogOptions options = {.n = n};
    CatalogRun run;
    Plan plan = {0};
    if (!catalog_resolve(row, &options, &run, &error) || !catalog_plan(&run, &plan, &error) ||
        !plan_fill(&plan, 1, &error))
        leave(&error);
    PtxModule *module = catalog_module(row, &error);
    if (!module) leave(&error);
    Emulator *emulator = emulator_new(&(EmulatorOptions){.threads = 1, .trace_last = last_traced});
    Trace *trace = trace_new("emulator");
    for (int i = 0; i < plan.buffer_count; i++) {
        PlanBuffer *buffer = &plan.buffers[i];
        emulator_add_buffer(emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
    }
    Measurement sum = {0};
    for (int i = 0; i < plan.launch_count; i++)
        measure_launch(emulator, module, &plan.launches[i], trace, &sum);
    trace_free(trace);
    emulator_free(emulator);
    plan_free(&plan);
    return sum;
}

static void print_ladder(void) {
    printf("\nemulator, one core, int, n = 2^22, default block size, block 0 traced, CPU time, best of %d:\n",
           REPEATS);
    double total_seconds = 0, total_instructions = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != CATALOG_LADDER) continue;
        Measurement best = measure_kernel(row, ELEMENTS, 0);
        for (int r = 1; r < REPEATS; r++) {
            Measurement again = measure_kernel(row, ELEMENTS, 0);
            if (again.seconds < best.seconds) best = again;
        }
        printf("  %-22s %10.2f M warp instructions %8.3f s %8.1f M/s\n", row->id,
               (double)best.warp_instructions / 1e6, best.seconds,
               (double)best.warp_instructions / best.seconds / 1e6);
        fflush(stdout);
        total_seconds += best.seconds;
        total_instructions += (double)best.warp_instructions;
    }
    printf("  %-22s %10.2f M warp instructions %8.3f s %8.1f M/s\n", "all", total_instructions / 1e6,
           total_seconds, total_instructions / total_seconds / 1e6);
}

static void print_memory(void) {
    Error error = {0};
    const CatalogRow *row = catalog_find("grid_stride", &error);
    if (!row) leave(&error);
    Measurement all = measure_kernel(row, ELEMENTS, UINT32_MAX);
    printf("\nmemory: grid_stride, int, n = 2^22, every block traced: %llu events, %.1f bytes an event, %.0f "
           "MB a "
           "million\n",
           (unsigned long long)all.events, (double)all.event_bytes / (double)all.events,
           (double)all.event_bytes / (double)all.events);
}

/* ---- whole processes ----------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run_once(char *program, char **arguments) {
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = seconds(CLOCK_MONOTONIC);
    if (posix_spawn(&child, program, &quiet, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench_speed: %s did not run\n", program);
        exit(1);
    }
    double took = seconds(CLOCK_MONOTONIC) - start;
    posix_spawn_file_actions_destroy(&quiet);
    return took;
}

static void print_process(char *program, char *n, char *threads, int repeats) {
    char *arguments[] = {program, "--kernel",  "interleaved", "--report", "--n",
                         n,       "--threads", threads,       NULL};
    double *times = memory_new((size_t)repeats * sizeof *times);
    for (int i = 0; i < repeats; i++) times[i] = run_once(program, arguments);
    qsort(times, (size_t)repeats, sizeof *times, by_value);
    printf("  --kernel interleaved --report --n %-8s --threads %s: median %7.1f ms, best %7.1f ms, of %d\n",
           n, threads, times[repeats / 2] * 1e3, times[0] * 1e3, repeats);
    free(times);
}

/* The processor's name: /proc/cpuinfo (Linux) or sysctl (macOS). */
static void print_machine(void) {
    static const char command[] = "{ sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 | grep . || "
                                  "sysctl -n machdep.cpu.brand_string; } 2>/dev/null";
    char name[256] = "";
    FILE *pipe = popen(command, "r");
    bool known = pipe && fgets(name, sizeof name, pipe);
    if (pipe) pclose(pipe);
    name[strcspn(name, "\n")] = 0;
    printf("machine: %s, %ld cores\n", known ? name : "unknown processor", sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void) {
    static char fallback[] = "build/redviz", small[] = "4096", large[] = "2^20", one[] = "1", two[] = "2";
    char *program = getenv("REDVIZ_BIN");
    if (!program) program = fallback;
    print_machine();
    printf("\nprocess, from start to exit:\n");
    print_process(program, small, one, 51);
    print_process(program, large, one, 11);
    print_process(program, large, two, 11);
    print_memory();
    print_ladder();
    return 0;
}
