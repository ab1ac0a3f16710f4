/* The cost of a run on this machine: prints figures, asserts nothing (`make bench`).
 *
 *   instructions   host instructions per warp instruction, plain and with one search for hazards: the
 *                  difference between two sizes, which excludes the start. Counted by valgrind, if installed,
 *                  so that other load has no effect; for the ladder and one that copies ranges, or
 *                  for REDVIZ_BENCH_KERNELS="a b"
 *   two threads    speed-up over one thread, with the search: by the host instructions on the longest path,
 *                  and by elapsed time
 *   memory         the peak resident size, relative to the size of the input */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BESIDE_LADDER "bulk_reduce"

enum { REPEATS = 3, MOST_KERNELS = 32 };

static const char *program(void) {
    const char *path = getenv("REDVIZ_BIN");
    return path ? path : "build/redviz";
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The number after `key` in the output of a command; -1: none. */
static double number_printed(const char *command, const char *key) {
    char line[1 << 16];
    double number = -1;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, key);
        if (at && number < 0) number = strtod(at + strlen(key), NULL);
    }
    if (pipe) pclose(pipe);
    return number;
}

/* ---- instructions of the host ---- */

/* Until other orders are searched: how many of them are depends on the time. */
static double host_instructions(const char *kernel, const char *n, const char *what) {
    char command[1024];
    snprintf(command, sizeof command,
             "d=$(mktemp -d) && valgrind --tool=callgrind --dump-before=ask_other_orders "
             "--callgrind-out-file=$d/t %s --kernel %s --n %s --threads 1 %s >/dev/null 2>&1; "
             "cat $d/t.1 $d/t 2>/dev/null; rm -r $d",
             program(), kernel, n, what);
    return number_printed(command, "totals:");
}

static double warp_instructions(const char *kernel, const char *n) {
    char command[1024];
    snprintf(command, sizeof command, "%s --kernel %s --n %s --report=json", program(), kernel, n);
    return number_printed(command, "\"warp_instructions\":");
}

static void print_instructions(const char *kernel) {
    static const char *const ways[] = {"--dump out:1", "--check"};
    double warps = warp_instructions(kernel, "2^18") - warp_instructions(kernel, "2^16");
    printf("  %-22s", kernel);
    for (int i = 0; i < 2; i++) {
        double more = host_instructions(kernel, "2^18", ways[i]) - host_instructions(kernel, "2^16", ways[i]);
        printf("%10.1f", more / warps);
        fflush(stdout);
    }
    printf("\n");
}

/* The instructions of the busiest thread: the first one, which starts and ends the run and takes a share of
 * the parallel work. */
static double longest_way(const char *kernel, const char *threads) {
    char command[1024], line[256];
    double most = 0;
    snprintf(
        command, sizeof command,
        "d=$(mktemp -d) && valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file=$d/t %s "
        "--kernel %s --n 2^24 --threads %s --check >/dev/null 2>&1; sed -n 's/^summary: //p' $d/t-*; "
        "rm -r $d",
        program(), kernel, threads);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        double count = strtod(line, NULL);
        if (count > most) most = count;
    }
    if (pipe) pclose(pipe);
    return most;
}

static void print_ways(void) {
    printf("\ntwo threads against one, searched, int, n = 2^24, by the longest way of instructions:\n");
    printf("  interleaved %.2f times, grid_stride %.2f times\n",
           longest_way("interleaved", "1") / longest_way("interleaved", "2"),
           longest_way("grid_stride", "1") / longest_way("grid_stride", "2"));
}

/* Of the ladder, as --list shows it. */
static void read_ladder(char *names, size_t room) {
    char command[512];
    snprintf(command, sizeof command,
             "%s --list | awk '/^The ladder/ {on = 1; next} /^[^ ]/ {on = 0} on && /^  [a-z]/ {print $1}' | "
             "tr '\\n' ' '",
             program());
    FILE *pipe = popen(command, "r");
    names[0] = 0;
    if (pipe && !fgets(names, (int)room, pipe)) names[0] = 0;
    if (pipe) pclose(pipe);
}

static void print_all_instructions(void) {
    if (system("valgrind --version >/dev/null 2>&1") != 0) {
        printf("\nhost instructions: not counted, there is no valgrind here\n");
        return;
    }
    const char *given = getenv("REDVIZ_BENCH_KERNELS");
    char names[1024];
    read_ladder(names, sizeof names);
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, " %s", BESIDE_LADDER);
    if (given) snprintf(names, sizeof names, "%s", given);
    printf("\nhost instructions for each warp instruction, int, from n = 2^16 to 2^18, one thread:\n");
    printf("  %-22s%10s%10s\n", "", "plain", "searched");
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) print_instructions(name);
    if (!given) print_ways();
}

/* ---- whole processes ---- */

typedef struct Process {
    double seconds, megabytes;
} Process;

static Process run(const char *kernel, const char *n, const char *threads, const char *const what[2]) {
    extern char **environ;
    posix_spawn_file_actions_t quiet;
    struct rusage usage;
    pid_t child;
    int status = 1;
    const char *arguments[] = {program(),   "--kernel", kernel,  "--n",   n,
                               "--threads", threads,    what[0], what[1], NULL};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = seconds();
    if (posix_spawn(&child, program(), &quiet, NULL, (char *const *)(uintptr_t)arguments, environ) != 0 ||
        wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        fprintf(stderr, "bench_cost: %s did not run\n", program());
        exit(1);
    }
    posix_spawn_file_actions_destroy(&quiet);
    return (Process){seconds() - start, (double)usage.ru_maxrss / 1024};
}

static const char *const PLAIN[2] = {"--dump", "out:1"}, *const SEARCHED[2] = {"--check", NULL};

static double best_seconds(const char *kernel, const char *threads) {
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double took = run(kernel, "2^24", threads, SEARCHED).seconds;
        if (took < best) best = took;
    }
    return best;
}

static void print_threads(const char *kernel) {
    double one = best_seconds(kernel, "1"), two = best_seconds(kernel, "2");
    printf("  %-22s %8.3f s %8.3f s %6.2f times\n", kernel, one, two, one / two);
}

static void print_memory(const char *n, double input) {
    double plain = run("interleaved", n, "1", PLAIN).megabytes,
           searched = run("interleaved", n, "1", SEARCHED).megabytes,
           two = run("interleaved", n, "2", SEARCHED).megabytes;
    printf("  n = %-6s input %6.0f MB: plain %6.0f MB (%.1f times), searched %6.0f MB (%.1f), in two threads "
           "%6.0f MB (%.1f)\n",
           n, input, plain, plain / input, searched, searched / input, two, two / input);
}

int main(void) {
    print_all_instructions();
    printf("\none and two threads, searched, int, n = 2^24, best of %d:\n", REPEATS);
    print_threads("interleaved");
    print_threads("grid_stride");
    printf("\nresident at most, interleaved, int:\n");
    print_memory("2^22", 16);
    print_memory("2^24", 64);
    return 0;
}
