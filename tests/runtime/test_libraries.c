/* Programs that use cub and thrust, which take long to compile. */
#define _POSIX_C_SOURCE 200809L
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("TMPDIR", program_folder(), 1);
    program_runs_add("cub", "@ --run %/library_cub.cu --report=json");
    program_runs_add("thrust", "@ --run %/library_thrust.cu --report=json");
    program_runs_do();
    return 0;
}

/* The number of launches is the library's affair. */
static void expect(const char *name, const char *output, const char *const words[2]) {
    char *json = program_runs_json(name, 0), *said = program_json_text(json, "program.output"),
         *lines = program_runs_lines(json);
    assert_string_equal(said, output);
    program_assert_contains(lines, "exited 0: ");
    for (int i = 0; i < 2; i++) program_assert_contains(lines, words[i]);
    assert_null(strstr(lines, "error "));
    assert_null(strstr(lines, "trap "));
    free(json);
    free(said);
    free(lines);
}

static void device_reduce(void **state) {
    (void)state;
    expect("cub", "PASSED: 524286\n", (const char *const[]){"::reduce::DeviceReduce", ": d_sum 1\n"});
}

static void reduce_transform_and_sort(void **state) {
    (void)state;
    expect("thrust", "PASSED: 1016723518\n",
           (const char *const[]){"::reduce::DeviceReduce", "::radix_sort::DeviceRadixSort"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_reduce),
        cmocka_unit_test(reduce_transform_and_sort),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
