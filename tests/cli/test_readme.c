/* The commands of README.md work as they stand there, on the files of examples/. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/skip.h"
#include <stdlib.h>
#include <string.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    return setenv("XDG_CACHE_HOME", program_folder(), 1);
}

/* A command that would open the interface prints a frame instead. A program prints its report. */
static const char *shown_by(const char *command) {
    static const char *const prints[] = {"--check", "--report", "--dump"};
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++)
        if (strstr(command, prints[i])) return "";
    return strstr(command, "--run ") || strstr(command, "--call ") ? "--report" : "--frame=80x24";
}

/* Names that stand for a file of the reader's. */
static bool is_of_the_reader(const char *command) {
    return strstr(command, "./program") || strstr(command, "x.py") || strstr(command, "mine.cu") ||
           strstr(command, "run.redviz");
}

static int run_command(const char *text, size_t length) {
    char command[256];
    snprintf(command, sizeof command, "%.*s", (int)length, text);
    if (strncmp(command, "redviz ", 7) != 0 || is_of_the_reader(command)) return 0;
    const char *arguments = strstr(command, " -- ");
    int own = arguments ? (int)(arguments - command) : (int)strlen(command);
    Outcome outcome =
        program_shell("@%.*s %s%s", own - 6, command + 6, shown_by(command), arguments ? arguments : "");
    const char *missing = program_missing_compiler(&outcome);
    int status = strstr(command, "racy.cu --check") ? 1 : 0;
    if (!missing && (outcome.status != status || !*outcome.out))
        fail_msg("%s: status %d: %s%s", command, outcome.status, outcome.out, outcome.err);
    program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
    return 1;
}

/* In blocks, a line each; in the table, between backquotes. */
static void its_commands_work(void **state) {
    (void)state;
    char *text;
    size_t length;
    Error error = {0};
    int count = 0;
    if (!text_read_file("README.md", 1 << 20, &text, &length, &error)) fail_msg("%s", error.message);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strncmp(line, "    redviz ", 11)) count += run_command(line + 4, strcspn(line + 4, "#"));
        if (*line != '|') continue;
        for (const char *at = line; (at = strchr(at, '`'));) {
            size_t words = strcspn(++at, "`");
            count += run_command(at, words);
            at += words + 1;
        }
    }
    free(text);
    assert_in_range(count, 8, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(its_commands_work)};
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
