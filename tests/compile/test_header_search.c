/* Headers in folders that no compiler searches. */
#define _XOPEN_SOURCE 700

#include "compile/header_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* build/headers: a project with src/deep/k.cu, include/layers/sum.cuh, tools/only.h, and a second sum.cuh
 * elsewhere. */
static int make_project(void **state) {
    (void)state;
    return system("rm -rf build/headers && mkdir -p build/headers/.git build/headers/src/deep/er "
                  "build/headers/include/cpp/layers"
                  " build/headers/tools build/headers/other && cd build/headers && touch src/deep/er/k.cu"
                  " include/cpp/layers/sum.cuh tools/only.h src/near.h other/near.h");
}

static int remove_project(void **state) {
    (void)state;
    return system("rm -rf build/headers");
}

static void expect(const char *name, bool in_project, const char *end) {
    char source[PATH_MAX], whole[PATH_MAX];
    assert_non_null(realpath("build/headers/src/deep/er/k.cu", source));
    bool found = in_project ? header_find_in_project(source, name, whole) : header_find(source, name, whole);
    if (found != (end != NULL)) fail_msg("%s: %s", name, found ? whole : "not found");
    if (!found) return;
    size_t length = strlen(whole), part = strlen(end);
    if (length < part || strcmp(whole + length - part, end) != 0) fail_msg("%s: %s", name, whole);
}

static void usual_folders_above_come_first(void **state) {
    (void)state;
    expect("near.h", false, "/src/near.h");
    expect("../near.h", false, "/src/near.h");
    expect("layers/sum.cuh", false, NULL);
    expect("only.h", false, NULL);
}

static void the_project_is_searched(void **state) {
    (void)state;
    expect("layers/sum.cuh", true, "/include/cpp/layers/sum.cuh");
    expect("./../../only.h", true, "/tools/only.h");
    expect("elsewhere/only.h", true, "/tools/only.h"); /* by its last component */
    expect("none.h", true, NULL);
    expect("", true, NULL);
}

static void without_a_project_nothing_is_searched(void **state) {
    (void)state;
    char whole[PATH_MAX];
    assert_false(header_find_in_project("/k.cu", "stdio.h", whole));
    assert_false(header_find_in_project("k.cu", "stdio.h", whole));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_folders_above_come_first),
        cmocka_unit_test(the_project_is_searched),
        cmocka_unit_test(without_a_project_nothing_is_searched),
    };
    return cmocka_run_group_tests_name("header_search", tests, make_project, remove_project);
}
