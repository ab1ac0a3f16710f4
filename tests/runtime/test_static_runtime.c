/* Programs and libraries with a CUDA runtime built in, as nvcc makes them by default. */
#define _POSIX_C_SOURCE 200809L
#include "program_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/skip.h"

#include <stdlib.h>
#include <string.h>

#define LIBRARY  "nvcc -shared -Xcompiler -fPIC %/answer.cu -o $TMPDIR/lib"
#define ANSWERS  "${CC:-cc} %/answers.c -ldl -o $TMPDIR/"
#define BUILT_IN "${CC:-cc} -w -O2 -falign-functions=16 -fno-toplevel-reorder %/built_in.c -o $TMPDIR/"

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("TMPDIR", program_folder(), 1);
#define PROGRAM(name, options, status, output, lines)                                                        \
    program_runs_add(#name, "NVCC_APPEND_FLAGS='-cudart static' @ --run %/" #name                            \
                            ".cu --compiler nvcc " options " --report=json");
#define NVCC_PROGRAM PROGRAM
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM
    program_runs_add("stripped", "nvcc %/ping_pong.cu -o $TMPDIR/stripped && strip $TMPDIR/stripped && "
                                 "@ --report -- $TMPDIR/stripped");
    program_runs_add("linked", LIBRARY "linked.so && " ANSWERS "linked -Wl,--no-as-needed -L$TMPDIR -llinked "
                                       "-Wl,-rpath,$TMPDIR && @ --report=json -- $TMPDIR/linked");
    program_runs_add("loaded", LIBRARY "loaded.so && " ANSWERS "loads && "
                                       "@ --report=json -- $TMPDIR/loads $TMPDIR/libloaded.so");
    program_runs_add("loaded_parts",
                     LIBRARY "parts.so -rdc=true && " ANSWERS "loads_parts && "
                             "@ --report=json -- sh -c 'cd $TMPDIR && ./loads_parts ./libparts.so'");
    program_runs_add("built_in", BUILT_IN "built_in && @ --report -- $TMPDIR/built_in");
    program_runs_add("built_in_12", BUILT_IN "built_in_12 -DCUDA_12 && @ --report -- $TMPDIR/built_in_12");
    program_runs_do();
    return 0;
}

/* As with the shared runtime in test_programs. */
#define PROGRAM(name, options, status, output, lines)                                                        \
    static void name(void **state) {                                                                         \
        (void)state;                                                                                         \
        skip_without_nvcc(#name);                                                                            \
        program_runs_expect(#name, status, output, lines);                                                   \
    }
#define NVCC_PROGRAM PROGRAM
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM

static void a_stripped_program_is_refused(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    Outcome outcome = program_runs_outcome("stripped");
    assert_int_equal(outcome.status, 3);
    program_assert_contains(outcome.err,
                            "the program's launches cannot be seen: it has NVIDIA's runtime built "
                            "in, without symbols: do not strip it, or link it with "
                            "NVCC_APPEND_FLAGS=\"-cudart shared ");
    program_outcome_done(&outcome);
}

static void libraries_of_the_program(void **state) {
    (void)state;
    skip_without_nvcc("the library");
    program_runs_expect("linked", 0, "linked: 42\n", "exited 0: 1 launch, 1 distinct\n1 add 1x1: memory 1\n");
    program_runs_expect("loaded", 0, "loaded: 42\nloaded: 42\n",
                        "exited 0: 2 launches, 2 distinct\n1 add 1x1: memory 1\n2 add 1x1: memory 1\n");
    program_runs_expect("loaded_parts", 0, "loaded: 42\nloaded: 42\n",
                        "exited 0: 2 launches, 2 distinct\n1 add 1x1: memory 1\n2 add 1x1: memory 1\n");
}

/* What it says, in any order of standard error and output. */
static void expect_built_in(const char *name, const char *version) {
    Outcome outcome = program_runs_outcome(name);
    const char *const words[] = {
        "redviz: the program: its function cudaFreeHost cannot be replaced\n",
        "cudaMalloc: 0, memory\ncudaAddNothing: 801\ncudaFreeHost: 36\n",
        version,
        "cudaOfMine: 42\n",
        "cudaAddNothing is not emulated",
    };
    Text all = {0};
    text_print(&all, "%s%s", outcome.out, outcome.err);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        program_assert_contains(text_string(&all), words[i]);
    text_done(&all);
    program_outcome_done(&outcome);
}

static void each_function_by_its_name_and_version(void **state) {
    (void)state;
    expect_built_in("built_in", "cudaRuntimeGetVersion: 0, 13000\n");
    expect_built_in("built_in_12", "cudaRuntimeGetVersion: 0, 12090\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define PROGRAM(name, options, status, output, lines) cmocka_unit_test(name),
#define NVCC_PROGRAM                                  PROGRAM
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM
        cmocka_unit_test(a_stripped_program_is_refused),
        cmocka_unit_test(libraries_of_the_program),
        cmocka_unit_test(each_function_by_its_name_and_version),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
