/* The cost of a session file on this machine: prints figures, asserts nothing (`make bench`).
 *
 * The run is grid_stride in int with a grid of one block, so that a million events are traced: the time to
 * save it (until it is on the disk) and to open it again, as one waits, and the size of the file. */
#define _POSIX_C_SOURCE 200809L

#include "ask/ask.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 5 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

_Noreturn static void give_up(const Error *error) {
    error_print(error, stderr);
    exit(1);
}

static Session *open_session(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) give_up(&error);
    return session;
}

static void print_times(const char *what, const double times[REPEATS]) {
    double least = times[0], most = times[0];
    for (int i = 1; i < REPEATS; i++) {
        if (times[i] < least) least = times[i];
        if (times[i] > most) most = times[i];
    }
    printf("  %-6s %6.0f to %.0f ms, of %d\n", what, least * 1e3, most * 1e3, REPEATS);
}

static void measure(RunSpec options, const char *what, const char *path) {
    double saving[REPEATS], loader[REPEATS];
    struct stat status;
    Error error = {0};
    Session *session = open_session(&options);
    for (int i = 0; i < REPEATS; i++) {
        double start = seconds();
        if (!ask_save(session, path, &error)) give_up(&error);
        saving[i] = seconds() - start;
    }
    session_free(session);
    for (int i = 0; i < REPEATS; i++) {
        double start = seconds();
        session = open_session(&(RunSpec){.saved = path});
        loader[i] = seconds() - start;
        if (i < REPEATS - 1) session_free(session);
    }
    int events = trace_block_event_count(session_block(session, 0)->block);
    if (stat(path, &status)) status.st_size = 0;
    printf("\nsession file of %s: %d events, %.1f MB, %.1f bytes an event\n", what, events,
           (double)status.st_size / 1e6, (double)status.st_size / events);
    print_times("saved", saving);
    print_times("opened", loader);
    session_free(session);
}

int main(void) {
    char folder[] = "/tmp/redviz-bench-XXXXXX", path[64];
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/run.redviz", folder);
    RunSpec options = {.kernel = "grid_stride", .catalog = {.n = 1 << 24, .grid = 1}};
    measure(options, "grid_stride, int, n = 2^24, one block", path);
    options.catalog.dtype = PTX_F64;
    measure(options, "the same in double", path);
    remove(path);
    return rmdir(folder) != 0;
}
