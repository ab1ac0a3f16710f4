#define _POSIX_C_SOURCE 200809L
#include "tests/cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/redviz-cli-XXXXXX";

const char *program_folder(void) {
    return folder;
}

int program_make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int program_remove_folder(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static char *read_back(const char *name) {
    char path[64], *data;
    size_t length;
    Error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!text_read_file(path, (size_t)1 << 30, &data, &length, &error))
        fail_msg("%s: %s", path, error.message);
    return data;
}

static Outcome run(const char *words) {
    const char *program = getenv("REDVIZ_BIN");
    Text command = {0};
    text_print(&command, "exec </dev/null >%s/out 2>%s/err; export LC_ALL=C.UTF-8\n", folder, folder);
    for (const char *c = words; *c; c++) {
        if (*c == '@')
            text_add(&command, program ? program : "build/redviz");
        else
            text_add_bytes(&command, c, 1);
    }
    int status = system(text_string(&command));
    text_done(&command);
    return (Outcome){WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_back("out"), read_back("err")};
}

Outcome program_shell(const char *format, ...) {
    char words[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return run(words);
}

void program_outcome_done(Outcome *outcome) {
    free(outcome->out);
    free(outcome->err);
}

char *program_output(int status, const char *format, ...) {
    char words[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    Outcome outcome = run(words);
    if (outcome.status != status || *outcome.err)
        fail_msg("%s: status %d, stderr: %s", words, outcome.status, outcome.err);
    free(outcome.err);
    return outcome.out;
}

const char *program_missing_compiler(const Outcome *outcome) {
    static const char *const words[][2] = {
        {"there is no CUDA compiler", "no CUDA compiler was found"},
        {"no compiler for its host code", "no compiler was found for host code"},
        {"nvcc was not found", "nvcc was not found"},
        {"nvrtc was not found", "NVRTC was not found"},
        {"clang was not found", "clang was not found"}};
    if (outcome->status != 2) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(outcome->err, words[i][0]) || strstr(outcome->out, words[i][0])) return words[i][1];
    return NULL;
}

int program_line_count(const char *text) {
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

void program_assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in: %.600s", part, text);
}

void program_write_file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void program_expect(const char *text, const char *const *words, int count) {
    program_write_file("file.cu", text);
    Outcome outcome = program_shell("@ %s/file.cu --report", program_folder());
    const char *missing = program_missing_compiler(&outcome);
    if (!missing && outcome.status) fail_msg("%s", outcome.err);
    for (int i = 0; !missing && i < count; i++) program_assert_contains(outcome.out, words[i]);
    program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
}
