/* Wheels: NVIDIA's packages are found in the folders of the Python that is used. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/wheels.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[] = "/tmp/redviz-wheels-XXXXXX";

/* In the folder `root`. */
static int shell(const char *command) {
    char whole[1024];
    snprintf(whole, sizeof whole, "cd %s && PATH=/usr/bin:/bin && %s", root, command);
    return system(whole);
}

static int set_up(void **state) {
    (void)state;
    return !mkdtemp(root) ||
           shell("for at in venv/lib/python3.12/site-packages packages; do mkdir -p $at/nvidia/cu13/bin && "
                 "echo >$at/nvidia/cu13/bin/tool || exit 1; done; mkdir venv/bin shims && "
                 "printf '#!/bin/sh\\necho '$PWD/packages >shims/python3 && cp shims/python3 venv/bin && "
                 "chmod +x */python3 */*/python3");
}

static int tear_down(void **state) {
    (void)state;
    return shell("rm -rf $PWD");
}

static void set(const char *variable, const char *below) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, below);
    setenv(variable, path, 1);
}

static void expect(const char *below) {
    char path[PATH_MAX], wanted[PATH_MAX];
    assert_true(wheels_find("cu13/bin/to*l", path, sizeof path));
    snprintf(wanted, sizeof wanted, "%s/%s/nvidia/cu13/bin/tool", root, below);
    assert_string_equal(path, wanted);
}

static void of_the_virtual_environment(void **state) {
    (void)state;
    set("VIRTUAL_ENV", "venv");
    set("PATH", "empty");
    set("HOME", "empty");
    expect("venv/lib/python3.12/site-packages");
}

static void of_python_in_path(void **state) {
    (void)state;
    unsetenv("VIRTUAL_ENV");
    set("PATH", "venv/bin");
    set("HOME", "empty");
    expect("venv/lib/python3.12/site-packages");
}

static void python_is_asked(void **state) {
    (void)state;
    unsetenv("VIRTUAL_ENV");
    set("PATH", "shims");
    set("HOME", "empty");
    expect("packages");
}

/* A copy of this program, installed as the program of the wheel is. */
static void beside_the_program(void **state) {
    char command[256];
    (void)state;
    snprintf(command, sizeof command,
             "mkdir -p own/redviz/bin own/nvidia/cu13/bin && cp /proc/%ld/exe own/redviz/bin/redviz && "
             "echo >own/nvidia/cu13/bin/tool && PATH=empty VIRTUAL_ENV=$PWD/venv own/redviz/bin/redviz find "
             ">said && "
             "echo $PWD/own/nvidia/cu13/bin/tool | cmp - said",
             (long)getpid());
    assert_int_equal(shell(command), 0);
}

static void nowhere(void **state) {
    char path[PATH_MAX];
    (void)state;
    unsetenv("VIRTUAL_ENV");
    set("PATH", "empty");
    set("HOME", "empty");
    assert_false(wheels_find("cu13/bin/to*l", path, sizeof path));
}

int main(int count, char **arguments) {
    if (count == 2 && !strcmp(arguments[1], "find")) {
        char path[PATH_MAX] = "";
        return wheels_find("cu13/bin/to*l", path, sizeof path) ? puts(path) < 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_virtual_environment),
        cmocka_unit_test(of_python_in_path),
        cmocka_unit_test(python_is_asked),
        cmocka_unit_test(beside_the_program),
        cmocka_unit_test(nowhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
