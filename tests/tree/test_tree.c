/* The tree itself: layers include only what they may, shipped PTX is not stale, README names every file. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int shell(const char *command) {
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_layers_are_kept(void **state) {
    (void)state;
    assert_int_equal(shell("tests/check_layers.sh"), 0);
}

/* Each line, added to its file in a copy of the tree, is one violation. */
static void test_violations_are_found(void **state) {
    (void)state;
    static const struct {
        const char *file, *include;
    } planted[] = {{"src/base/text.h", "\"ptx/ptx.h\""},
                   {"src/ptx/ptx.h", "\"trace/trace.h\""},
                   {"src/emulator/op.h", "\"metrics/metrics.h\""},
                   {"src/metrics/metrics.h", "\"emulator/emulator.h\""},
                   {"src/catalog/plan.h", "\"trace/trace.h\""},
                   {"tui/app.h", "\"emulator/emulator.h\""},
                   {"tui/app.h", "\"../src/emulator/emulator.h\""},
                   {"src/main.c", "\"emulator/emulator.h\""},
                   {"src/session.h", "\"tui/app.h\""},
                   {"tui/canvas.h", "<ncurses.h>"},
                   {"src/trace/trace.h", "\"tests/tree/test_tree.c\""}};
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "copy=$(mktemp -d) && cp -R src tui \"$copy\" && tests/check_layers.sh \"$copy\" && "
                 "echo '#include %s' >>\"$copy/%s\" && { tests/check_layers.sh \"$copy\" 2>/dev/null && "
                 "status=7 || "
                 "status=8; rm -rf \"$copy\"; exit $status; }",
                 planted[i].include, planted[i].file);
        int status = shell(command);
        if (status != 8) fail_msg("%s in %s: status %d", planted[i].include, planted[i].file, status);
    }
}

static void test_shipped_ptx_is_fresh(void **state) {
    (void)state;
    assert_int_equal(shell("scripts/make_ptx.sh --check"), 0);
}

/* A header and its source share a line: `src/base/error.{h,c}`. */
static void test_readme_names_every_file(void **state) {
    (void)state;
    static const char *const patterns[] = {"src/*.*", "src/*/*.*", "tui/*.*", "kernels/*.*", "scripts/*.*"};
    char *readme;
    size_t length;
    Error error = {0};
    int missing = 0;
    if (!text_read_file("README.md", 1 << 20, &readme, &length, &error)) fail_msg("%s", error.message);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t files;
        assert_int_equal(glob(patterns[i], 0, NULL, &files), 0);
        for (size_t f = 0; f < files.gl_pathc; f++) {
            const char *path = files.gl_pathv[f];
            char stem[256];
            snprintf(stem, sizeof stem, "`%.*s.", (int)strcspn(path, "."), path);
            if (strstr(readme, stem)) continue;
            print_error("README.md does not name %s\n", path);
            missing++;
        }
        globfree(&files);
    }
    free(readme);
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_kept),
        cmocka_unit_test(test_violations_are_found),
        cmocka_unit_test(test_shipped_ptx_is_fresh),
        cmocka_unit_test(test_readme_names_every_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
