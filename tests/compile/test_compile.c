/* Paths that a compiler may not see: nvcc hands them to a shell. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/compile.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of this name in a folder of its own is refused, and nothing in the name is executed. */
static void refuse(const char *name) {
    char folder[] = "/tmp/redviz-test-XXXXXX", path[256], trace[256];
    Error error = {0};
    Compiled out = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(trace, sizeof trace, "%s/executed", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("__global__ void nothing() {}\n", file);
    fclose(file);
    assert_int_equal(chdir(folder), 0);
    assert_false(compile(&(CompileOptions){.path = path}, &out, &error));
    if (!strstr(error.message, "cannot be compiled")) fail_msg("%s: %s", name, error.message);
    if (access(trace, F_OK) == 0) fail_msg("%s was executed", name);
    compiled_done(&out);
    unlink(path);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_path_is_not_executed(void **state) {
    (void)state;
    refuse("a$(touch executed).cu");
    refuse("a`touch executed`.cu");
    refuse("a\"; touch executed; \".cu");
    refuse("a\\.cu");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_path_is_not_executed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
