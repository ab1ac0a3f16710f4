/* The pace of playing is kept for the next time. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "pty.h"
#include "tests/cli/program.h"
#include <stdlib.h>
#include <unistd.h>

static const char *path_of_config(void) {
    static char path[512];
    snprintf(path, sizeof path, "%s/config/redviz/config", program_folder());
    return path;
}

/* Runs the interface, presses these keys, and quits. */
static void press(const char *keys, const char *shows) {
    char folder[512];
    const char *program = getenv("REDVIZ_BIN") ? getenv("REDVIZ_BIN") : "build/redviz";
    const char *arguments[] = {program, "--kernel", "strided", "--n", "1024", NULL};
    const char *environment[] = {"TERM=xterm", "LC_ALL=C.UTF-8", folder, NULL};
    int status;
    snprintf(folder, sizeof folder, "XDG_CONFIG_HOME=%s/config", program_folder());
    Pty *pty = pty_start(arguments, environment, 80, 24);
    pty_wait_for_row(pty, 23, "q quit");
    pty_type(pty, keys);
    if (*keys) pty_wait_for(pty, shows);
    pty_type(pty, "q");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    pty_free(pty);
}

static void assert_config(const char *expected) {
    char *text = NULL;
    size_t length;
    Error error = {0};
    if (!text_read_file(path_of_config(), 4096, &text, &length, &error)) fail_msg("%s", error.message);
    assert_string_equal(text, expected);
    free(text);
}

static void only_a_changed_pace_is_written(void **state) {
    (void)state;
    press("", "");
    assert_int_not_equal(access(path_of_config(), F_OK), 0);
    press("+", "speed 2x");
    assert_config("--pace=2\n");
    press("-", "speed 1x");
    assert_config("--pace=1\n");
}

static void other_settings_stay(void **state) {
    (void)state;
    program_write_file("config/redviz/config", "# mine\n --pace 1/2\n--theme=mono\n");
    press("-", "speed 1/4x");
    assert_config("# mine\n--theme=mono\n--pace=1/4\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_changed_pace_is_written),
        cmocka_unit_test(other_settings_stay),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
