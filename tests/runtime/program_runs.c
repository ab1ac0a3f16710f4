#define _POSIX_C_SOURCE 200809L
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/cli/json_reader.h"

#include <stdlib.h>

enum { MOST_RUNS = 64 };

static const char *names[MOST_RUNS];
static int name_count;

bool program_runs_build_ends(void) {
    setenv("TMPDIR", program_folder(), 1);
    Outcome outcome = program_shell(
        "${CC:-cc} -g -O1 -o %s/ends tests/runtime/programs/ends.c -L$(dirname @)/cuda -lcuda -pthread",
        program_folder());
    bool is_built = !outcome.status;
    program_outcome_done(&outcome);
    return is_built;
}

void program_runs_add(const char *name, const char *command) {
    const char *program = getenv("REDVIZ_BIN");
    char file[80];
    Text script = {0};
    if (name_count == MOST_RUNS) abort();
    names[name_count++] = name;
    text_print(&script, "exec </dev/null >%s/%s.out 2>%s/%s.err; export LC_ALL=C.UTF-8\n", program_folder(),
               name, program_folder(), name);
    for (const char *c = command; *c; c++) {
        if (*c == '@')
            text_add(&script, program ? program : "build/redviz");
        else if (*c == '%')
            text_add(&script, "tests/runtime/programs");
        else
            text_add_bytes(&script, c, 1);
    }
    text_print(&script, "\necho $? >%s/%s.status\n", program_folder(), name);
    snprintf(file, sizeof file, "%s.sh", name);
    program_write_file(file, text_string(&script));
    text_done(&script);
}

void program_runs_do(void) {
    Text list = {0};
    for (int i = 0; i < name_count; i++) text_print(&list, "%s/%s.sh\n", program_folder(), names[i]);
    program_write_file("runs", text_string(&list));
    text_done(&list);
    Outcome outcome =
        program_shell("xargs -P \"$(getconf _NPROCESSORS_ONLN)\" -n 1 sh <%s/runs", program_folder());
    if (*outcome.err) print_message("%s\n", outcome.err);
    program_outcome_done(&outcome);
}

static char *read_part(const char *name, const char *part) {
    char path[256], *data;
    size_t length;
    Error error = {0};
    snprintf(path, sizeof path, "%s/%s.%s", program_folder(), name, part);
    if (!text_read_file(path, (size_t)1 << 30, &data, &length, &error))
        fail_msg("%s: %s", path, error.message);
    return data;
}

Outcome program_runs_outcome(const char *name) {
    char *status = read_part(name, "status");
    Outcome outcome = {atoi(status), read_part(name, "out"), read_part(name, "err")};
    free(status);
    const char *missing = program_missing_compiler(&outcome);
    if (missing) program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
    return outcome;
}

char *program_runs_json(const char *name, int status) {
    Outcome outcome = program_runs_outcome(name);
    if (outcome.status != status || *outcome.err)
        fail_msg("%s: status %d, stderr: %s, stdout: %.2000s", name, outcome.status, outcome.err,
                 outcome.out);
    if (!json_valid(outcome.out)) fail_msg("%s: %s", name, outcome.out);
    free(outcome.err);
    return outcome.out;
}

char *program_json_text(const char *json, const char *path) {
    const char *at = json_at(json, path);
    Text text = {0};
    if (!at) fail_msg("there is no '%s' in %.300s", path, json);
    if (*at != '"') return memory_copy_text("-");
    for (at++; *at != '"'; at++) {
        if (*at == '\\') at++;
        char c = *at;
        if (at[-1] == '\\' && c == 'n') c = '\n';
        if (at[-1] == '\\' && c == 'u') { /* "\u000a" */
            c = (char)strtoul((char[]){at[3], at[4], 0}, NULL, 16);
            at += 4;
        }
        text_add_bytes(&text, &c, 1);
    }
    char *copy = memory_copy_text(text_string(&text));
    text_done(&text);
    return copy;
}

static long number_at(const char *json, const char *path) {
    const char *at = json_at(json, path);
    if (!at) fail_msg("there is no '%s' in %.300s", path, json);
    return *at == 'n' ? -1 : strtol(at, NULL, 10);
}

static void add_text(const char *json, const char *path, Text *out) {
    char *text = program_json_text(json, path);
    text_add(out, text);
    free(text);
}

/* "16x2x8": without trailing ones. */
static void add_size(const char *size, Text *out) {
    long x = number_at(size, "0"), y = number_at(size, "1"), z = number_at(size, "2");
    text_print(out, "%ld", x);
    if (y > 1 || z > 1) text_print(out, ",%ld", y);
    if (z > 1) text_print(out, ",%ld", z);
}

static void add_launch(const char *launch, Text *out) {
    const char *changed = json_at(launch, "changed");
    text_print(out, "%ld ", number_at(launch, "number"));
    add_text(launch, "kernel", out);
    text_add(out, " ");
    add_size(json_at(launch, "grid"), out);
    text_add(out, "x");
    add_size(json_at(launch, "block"), out);
    if (number_at(launch, "cluster.0") > 1) text_print(out, " cluster %ld", number_at(launch, "cluster.0"));
    if (*json_at(launch, "cooperative") == 't') text_add(out, " cooperative");
    if (number_at(launch, "line") >= 0) text_print(out, " line %ld", number_at(launch, "line"));
    text_add(out, ":");
    for (int i = 0, count = json_array_count(changed); i < count; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.memory", i);
        text_add(out, i ? ", " : " ");
        add_text(changed, path, out);
        snprintf(path, sizeof path, "%d.words", i);
        text_print(out, " %ld", number_at(changed, path));
    }
    if (!json_array_count(changed)) text_add(out, " nothing");
    if (number_at(launch, "error")) text_print(out, " [%ld]", number_at(launch, "error"));
    text_add(out, "\n");
}

static void add_launches(const char *launches, Text *out) {
    int count = json_array_count(launches), distinct = 0;
    Text rows = {0};
    for (int i = 0; i < count; i++) {
        char path[16];
        snprintf(path, sizeof path, "%d", i);
        const char *launch = json_at(launches, path);
        long repeats = number_at(launch, "repeats");
        distinct += repeats < 0;
        if (repeats < 0) {
            add_launch(launch, &rows);
            continue;
        }
        int first = i;
        for (; i + 1 < count; i++) {
            snprintf(path, sizeof path, "%d", i + 1);
            if (number_at(json_at(launches, path), "repeats") != repeats) break;
        }
        text_print(&rows, "%d", first + 1);
        if (i > first) text_print(&rows, "-%d", i + 1);
        text_print(&rows, " as %ld\n", repeats);
    }
    text_print(out, "%d launch%s, %d distinct\n", count, count == 1 ? "" : "es", distinct);
    text_add(out, text_string(&rows));
    text_done(&rows);
}

static void add_host_findings(const char *found, Text *out) {
    for (int i = 0, count = json_array_count(found); i < count; i++) {
        char path[16];
        snprintf(path, sizeof path, "%d", i);
        const char *finding = json_at(found, path);
        char *file = program_json_text(finding, "file"), *slash = strrchr(file, '/');
        add_text(finding, "severity", out);
        text_print(out, " %s:%ld: ", slash ? slash + 1 : file, number_at(finding, "line"));
        add_text(finding, "detail", out);
        text_add(out, "\n");
        free(file);
    }
}

/* The bound of a launch that the time limit stopped depends on the machine: "more than N". */
static void add_detail(const char *traps, const char *path, Text *out) {
    static const char bound[] = "more than ";
    Text detail = {0};
    add_text(traps, path, &detail);
    const char *text = text_string(&detail);
    bool has_bound = !strncmp(text, bound, sizeof bound - 1);
    if (has_bound) {
        text += sizeof bound - 1;
        text_print(out, "%sN", bound);
        text += strspn(text, "0123456789");
    }
    text_add(out, text);
    text_done(&detail);
}

char *program_runs_lines(const char *json) {
    Text out = {0};
    const char *traps = json_at(json, "traps");
    add_text(json, "program.end", &out);
    text_print(&out, " %ld: ", number_at(json, "program.status"));
    add_launches(json_at(json, "program.launches"), &out);
    add_host_findings(json_at(json, "program.host_findings"), &out);
    for (int i = 0, count = traps ? json_array_count(traps) : 0; i < count; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.line", i);
        text_print(&out, "trap line %ld: ", number_at(traps, path));
        snprintf(path, sizeof path, "%d.detail", i);
        add_detail(traps, path, &out);
        text_add(&out, "\n");
    }
    char *copy = memory_copy_text(text_string(&out));
    text_done(&out);
    return copy;
}

void program_runs_expect(const char *name, int status, const char *output, const char *lines) {
    char *json = program_runs_json(name, status), *said = program_json_text(json, "program.output"),
         *actual = program_runs_lines(json);
    assert_string_equal(said, output);
    assert_string_equal(actual, lines);
    free(json);
    free(said);
    free(actual);
}
