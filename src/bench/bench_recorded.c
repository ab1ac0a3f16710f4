/* The recordings shipped with redviz, a folder of assets per machine (bench.h). */
#define _POSIX_C_SOURCE 200809L

#include "bench/recorded_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char preferred[] = "h200", file_name[] = "timings.tsv";

static bool recorded_path(const char *machine, char *path, size_t bytes, Error *error) {
    char folder[64];
    snprintf(folder, sizeof folder, "assets/%.40s", machine);
    return catalog_path(folder, file_name, path, bytes, error);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

int bench_machines(char names[BENCH_MACHINES][BENCH_MACHINE_BYTES]) {
    char path[4096];
    int count = 0;
    if (!catalog_path("assets", "ptx", path, sizeof path, NULL)) return 0;
    *strrchr(path, '/') = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[4096];
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= BENCH_MACHINE_BYTES) continue;
        if (count == BENCH_MACHINES || !recorded_path(entry->d_name, file, sizeof file, NULL)) continue;
        snprintf(names[count++], BENCH_MACHINE_BYTES, "%s", entry->d_name);
    }
    if (folder) closedir(folder);
    qsort(names, (size_t)count, sizeof *names, compare_names);
    return count;
}

const char *bench_default_machine(void) {
    static _Thread_local char first[BENCH_MACHINE_BYTES];
    char names[BENCH_MACHINES][BENCH_MACHINE_BYTES], path[4096];
    if (recorded_path(preferred, path, sizeof path, NULL) || !bench_machines(names)) return preferred;
    snprintf(first, sizeof first, "%s", names[0]);
    return first;
}

bool bench_next_machine(char name[BENCH_MACHINE_BYTES]) {
    char names[BENCH_MACHINES][BENCH_MACHINE_BYTES];
    int count = bench_machines(names), at = 0;
    const char *now = *name ? name : bench_default_machine();
    while (at < count && strcmp(names[at], now) != 0) at++;
    if (count < 2) return false;
    snprintf(name, BENCH_MACHINE_BYTES, "%s", names[(at + 1) % count]);
    return true;
}

/* Reports an unknown machine, and lists the known ones. */
static bool refuse(const char *machine, Error *error) {
    char names[BENCH_MACHINES][BENCH_MACHINE_BYTES];
    Text all = {0};
    int count = bench_machines(names);
    for (int i = 0; i < count; i++) text_print(&all, "%s%s", i ? ", " : "", names[i]);
    error_set(error, "--machine: no recordings of '%s'; available: %s", machine,
              count ? text_string(&all) : "no recording");
    text_done(&all);
    return false;
}

bool bench_read_recorded(const char *machine, const BenchSink *sink, Error *error) {
    char path[4096];
    if (!machine) machine = bench_default_machine();
    if (strchr(machine, '/') || !recorded_path(machine, path, sizeof path, NULL))
        return refuse(machine, error);
    return bench_read_file(path, sink, error);
}

static void keep_timing(void *context, const Timing *timing) {
    measured_add_timing(context, timing);
}

static void keep_value(void *context, const BenchValue *value) {
    measured_add_value(context, value);
}

bool bench_recorded(const char *machine, Measurements *measured, Error *error) {
    BenchSink sink = {.context = measured, .timing = keep_timing, .value = keep_value};
    return bench_read_recorded(machine, &sink, error);
}
