/* tests/cases/NAME.cu: a CUDA source and what its report must say, in lines of its head; each file is a test.
 *
 *   // ARGS: options of the command beside --report, which --check replaces
 *   // EXPECT: text that the report must have; white space of any kind is one space
 *   // NEVER: text that it must not have
 *   // EXIT: the status, 0 unless given
 *   // NEEDS: a command without which the test is skipped: nvcc, where redviz has no header for clang in
 *             place of NVIDIA's; at the end of the file */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/memory.h"
#include "base/text.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void join_words(const char *text, size_t length, Text *out) {
    for (const char *end = text + length; text < end; text++)
        if (!strchr(" \n\t", *text))
            text_add_bytes(out, text, 1);
        else if (out->length && out->data[out->length - 1] != ' ')
            text_add(out, " ");
}

/* The text of the next line "// KEY: text" from *at on, in `out`; false if there is none. */
static bool next_value(const char **at, const char *key, Text *out) {
    char head[32];
    snprintf(head, sizeof head, "// %s: ", key);
    text_clear(out);
    const char *line = strstr(*at, head);
    if (!line) return false;
    line += strlen(head);
    *at = line + strcspn(line, "\n");
    join_words(line, (size_t)(*at - line), out);
    return true;
}

static void the_report_says_it(void **state) {
    const char *path = *state;
    char *source;
    size_t length;
    Error error = {0};
    Text value = {0}, said = {0};
    if (!text_read_file(path, 1 << 20, &source, &length, &error)) fail_msg("%s", error.message);
    const char *at = source;
    char needed[64] = "";
    if (next_value(&at, "NEEDS", &value)) snprintf(needed, sizeof needed, "%s", value.data);
    bool has_all = !*needed || has_command(needed);
    if (!has_all) free(source);
    if (!has_all) text_done(&value);
    if (!has_all) skip_because("%s was not found", needed);
    at = source;
    next_value(&at, "ARGS", &value);
    const char *arguments = value.data ? value.data : "";
    Outcome outcome = program_shell("@ %s %s %s%s", path, *needed ? "" : "$REDVIZ_TEST_COMPILER", arguments,
                                    strstr(arguments, "--check") ? "" : " --report");
    const char *missing = program_missing_compiler(&outcome);
    join_words(outcome.out, strlen(outcome.out), &said);
    at = source;
    int status = next_value(&at, "EXIT", &value) ? atoi(value.data) : 0;
    if (!missing && outcome.status != status) fail_msg("status %d: %s", outcome.status, outcome.err);
    int count = 0;
    for (at = source; next_value(&at, "EXPECT", &value); count++)
        if (!missing && !strstr(text_string(&said), value.data))
            fail_msg("'%s' is not in: %s", value.data, outcome.out);
    for (at = source; next_value(&at, "NEVER", &value); count++)
        if (!missing && strstr(text_string(&said), value.data))
            fail_msg("'%s' is in: %s", value.data, outcome.out);
    assert_true(count > 0);
    program_outcome_done(&outcome);
    text_done(&value);
    text_done(&said);
    free(source);
    if (missing) skip_because("%s", missing);
}

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    return setenv("XDG_CACHE_HOME", program_folder(), 1);
}

int main(void) {
    glob_t files;
    if (glob("tests/cases/*.cu", 0, NULL, &files) != 0) return 1;
    struct CMUnitTest *tests = memory_new(files.gl_pathc * sizeof *tests);
    for (size_t i = 0; i < files.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){.name = strrchr(files.gl_pathv[i], '/') + 1,
                                       .test_func = the_report_says_it,
                                       .initial_state = files.gl_pathv[i]};
    int failed = _cmocka_run_group_tests("cases", tests, files.gl_pathc, set_up, program_remove_folder);
    free(tests);
    globfree(&files);
    return failed;
}
