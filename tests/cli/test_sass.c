/* The machine code in --sass and --report, from a fictitious recording. The recording
 * (tests/data/sass/synthetic.tsv) is in a share folder of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share folder with the kernels of the tree, and recordings of two of them on an H100. */
static int make_share(void **state) {
    if (program_make_folder(state)) return -1;
    const char *folder = program_folder();
    char *said =
        program_output(0,
                       "mkdir -p %s/share/assets/h100/sass && ln -s $PWD/kernels %s/share/kernels && "
                       "ln -s $PWD/assets/ptx $PWD/assets/include $PWD/assets/h200 %s/share/assets && "
                       "for kernel in interleaved mean; do awk -F '\\t' -v kernel=$kernel '"
                       "$1 == \"stalls\" { print } $1 == \"sass\" { wanted = $2 == kernel } wanted' "
                       "tests/data/sass/synthetic.tsv > %s/share/assets/h100/sass/$kernel.tsv; done",
                       folder, folder, folder, folder);
    free(said);
    return 0;
}

#define NO_TOOLS   "REDVIZ_PTXAS=/nowhere "
#define STUB_TOOLS "REDVIZ_PTXAS=tests/gpu/stub/ptxas_stub.sh REDVIZ_NVDISASM=tests/gpu/stub/nvdisasm.sh "
#define WITH_SHARE "REDVIZ_SHARE=%s/share @ --machine h100 "

static void instructions_stand_under_their_line(void **state) {
    (void)state;
    char *out = program_output(0, WITH_SHARE "--kernel interleaved --sass", program_folder());
    program_assert_contains(out, "interleaved: _Z11interleavedIi3SumEvPKT_PS1_j\nmachine code of synthetic");
    program_assert_contains(
        out,
        "kernels/interleaved.cu:22  if (tid % (2 * s) == 0)\n"
        "    19         608  30.1  10 %   29.2 %  waits at a barrier\n"
        "  * rem.u32 became 17 SASS instructions\n"
        "  * the branch is gone: 5 instructions are predicated (LDS)\n"
        ".L_x_1:\n"
        "  0160          32  32.0             14  issues an instruction        SHF.L.U32 R10, R4, 0x1, RZ\n");
    program_assert_contains(out, "@!P1 IADD3 R2, R2, R3, RZ   (kernels/operations.cuh:8)\n");
    program_assert_contains(out, "in total\n    59       1,888  30.4  17 %    1,687  waits at a barrier\n");
    free(out);
    out = program_output(0, NO_TOOLS WITH_SHARE "--backend emulator --kernel mean --dtype float --sass",
                         program_folder());
    program_assert_contains(
        out, "mean, launch 1: the machine code of this instance of mean (float sum, launch 0) is "
             "not recorded on h100; REDVIZ_PTXAS=/nowhere is not an executable program\n");
    free(out);
}

static double number_at(const char *json, const char *path) {
    const char *at = json_at(json, path);
    if (!at) fail_msg("no %s", path);
    return at ? strtod(at, NULL) : 0;
}

/* The barrier of a cluster, mbarriers and copies have their own machine instructions. */
static void of_hopper(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel cluster --sass");
    program_assert_contains(out, "1 barrier.cluster.arrive became 2, on several paths (UCGABAR_ARV)");
    program_assert_contains(out, "1 barrier.cluster.wait became 2, on several paths (UCGABAR_WAIT)");
    assert_null(strstr(out, "removed"));
    free(out);
    out = program_output(0, "@ --kernel bulk_copy --sass");
    assert_null(strstr(out, "mbarrier.try_wait.parity moved"));
    assert_null(strstr(out, "removed"));
    assert_null(strstr(out, "SASS instructions"));
    free(out);
}

static void as_json(void **state) {
    (void)state;
    char *json = program_output(0, WITH_SHARE "--kernel interleaved --sass=json", program_folder());
    assert_true(json_valid(json));
    assert_int_equal(json_array_count(json_at(json, "launches.0.instructions")), 59);
    assert_true(number_at(json, "launches.0.counted.n") == 1024);
    assert_int_equal(strncmp(json_at(json, "launches.0.assembler"), "null", 4), 0);
    assert_int_equal(strncmp(json_at(json, "launches.0.registers"), "null", 4), 0);
    assert_true(number_at(json, "launches.0.sampled.period") == 32);
    assert_int_equal(json_array_count(json_at(json, "launches.0.differences")), 4);
    assert_int_equal(strncmp(json_at(json, "launches.0.differences.1.reason"), "\"EXPANDED\"", 10), 0);
    double executed = 0;
    for (int i = 0, count = json_array_count(json_at(json, "launches.0.lines")); i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "launches.0.lines.%d.executed", i);
        executed += number_at(json, path);
    }
    assert_true(executed == 1888);
    free(json);
    json = program_output(0, NO_TOOLS WITH_SHARE "--backend emulator --kernel strided --sass=json",
                          program_folder());
    assert_true(json_valid(json));
    program_assert_contains(json,
                            "\"missing\":\"no machine code of strided is recorded on h100; REDVIZ_PTXAS=");
    free(json);
}

static void the_report_has_the_sums_of_the_lines(void **state) {
    (void)state;
    char *out = program_output(0, WITH_SHARE "--kernel interleaved --report", program_folder());
    program_assert_contains(
        out, "Machine code, synthetic, 2000-01-01: 1,888 instructions executed at n = 1,024\n"
             "  interleaved.cu:22           29 % of samples  32 % of SASS  waits at a barrier\n");
    free(out);
    char *json = program_output(0, WITH_SHARE "--kernel interleaved --report=json", program_folder());
    assert_true(json_valid(json));
    program_assert_contains(json, "\"machine\":\"synthetic\"");
    assert_int_equal(json_array_count(json_at(json, "measured.counters")), 0);
    assert_int_equal(json_array_count(json_at(json, "measured.lines")), 12);
    assert_true(number_at(json, "measured.lines.6.line") == 22);
    assert_true(number_at(json, "measured.lines.6.executed") == 608);
    assert_true(number_at(json, "measured.lines.6.samples.barrier") == 83);
    free(json);
}

static void what_is_missing_is_said(void **state) {
    (void)state;
    char *out = program_output(0, NO_TOOLS "@ tests/cli/scale.ptx --backend emulator --sass");
    assert_string_equal(
        out, "scale: its machine code is not recorded; REDVIZ_PTXAS=/nowhere is not an executable program\n");
    free(out);
    out = program_output(0, STUB_TOOLS "STUB_PTXAS_FAILS='ptxas x, line 1; error   : too new' @ "
                                       "tests/cli/scale.ptx --backend emulator --sass");
    assert_string_equal(
        out, "scale: its machine code is not recorded; ptxas refuses line 2 of the PTX: too new\n");
    free(out);
    Outcome refused = program_shell("@ --kernel interleaved --sass --machine abacus");
    assert_int_equal(refused.status, 2);
    assert_string_equal(refused.err, "redviz: --machine: 'abacus' is not one of h200, h100\n");
    program_outcome_done(&refused);
}

/* Without a GPU: what only a GPU knows is never a zero. */
static void a_file_is_assembled(void **state) {
    (void)state;
    char *out = program_output(0, STUB_TOOLS "@ tests/cli/scale.ptx --backend emulator --sass");
    assert_string_equal(
        out, "scale: scale\n"
             "machine code by ptxas 1.2.3 for sm_90; executed counts are not measured: that\n"
             "needs a GPU\n"
             "21 registers, 2,048 bytes of static shared memory, 16 bytes of stack, spills: 8 bytes stored, "
             "12 bytes loaded\n\n"
             "    at instruction\n\n"
             "stub.cu:7  \n"
             "     1 instruction\n"
             "  0000 LDC R1, c[0x0][0x28]\n\n"
             "stub.cu:8  \n"
             "     1 instruction\n"
             "  0010 @P0 EXIT\n\n"
             "in total\n"
             "     2 instructions\n");
    free(out);
    out = program_output(0, STUB_TOOLS "@ tests/cli/scale.ptx --backend emulator --sass=json");
    assert_true(json_valid(out));
    assert_int_equal(json_array_count(json_at(out, "launches.0.instructions")), 2);
    program_assert_contains(
        out, "\"machine\":null,\"driver\":null,\"measured\":null,\"assembler\":\"ptxas 1.2.3\","
             "\"architecture\":\"sm_90\",\"registers\":21,\"static_shared_bytes\":2048,"
             "\"stack_bytes\":16,\"spill_store_bytes\":8,\"spill_load_bytes\":12,"
             "\"instruction_count\":2,\"counted\":null,\"sampled\":null,");
    program_assert_contains(out, "\"executed\":null,\"threads\":null,\"acting\":null,\"samples\":null}");
    free(out);
}

/* An instance of a kernel that is not recorded, and a saved run. */
static void other_runs_are_assembled(void **state) {
    (void)state;
    char *out = program_output(
        0, STUB_TOOLS WITH_SHARE "--backend emulator --kernel mean --dtype float --sass", program_folder());
    program_assert_contains(out, "mean, launch 1: _Z");
    program_assert_contains(out, "\nmean, launch 2: _Z");
    program_assert_contains(out, "machine code by ptxas 1.2.3 for sm_90; ");
    free(out);
    out = program_output(0, "@ tests/cli/scale.ptx --n 256 --block 256 --report --save %s/run.redviz",
                         program_folder());
    free(out);
    out = program_output(0, STUB_TOOLS "@ %s/run.redviz --sass", program_folder());
    program_assert_contains(out, "machine code by ptxas 1.2.3 for sm_90; ");
    free(out);
    out = program_output(0, STUB_TOOLS "@ %s/run.redviz --report",
                         program_folder()); /* runs no other program */
    assert_null(strstr(out, "ptxas"));
    free(out);
}

/* Once it is shown, not before. */
static void the_pane_shows_it(void **state) {
    (void)state;
    char *out = program_output(
        0,
        STUB_TOOLS "STUB_PTXAS_FAILS='refused' @ tests/cli/scale.ptx --backend emulator --frame --keys ss");
    assert_null(strstr(out, "refused"));
    free(out);
    out = program_output(0, STUB_TOOLS "@ tests/cli/scale.ptx --backend emulator --frame=200x60 --keys sss");
    program_assert_contains(out, "by ptxas 1.2.3 for sm_90");
    program_assert_contains(out, "21 registers, 2,048 bytes shared, spills: 20 bytes; counts need a GPU");
    free(out);
    out = program_output(0, NO_TOOLS "@ tests/cli/scale.ptx --backend emulator --frame=200x60 --keys sss");
    program_assert_contains(out, "Not known: its machine code is not recorded;");
    free(out);
}

static bool are_missing(void) {
    char *out = program_output(0, "@ tests/cli/scale.ptx --backend emulator --sass");
    bool is_missing = strstr(out, "was not found: ") != NULL;
    if (is_missing) print_message("# summary: %s", out);
    free(out);
    return is_missing;
}

/* The programs themselves, where they are: the code of each line of the PTX. */
static void by_the_programs_themselves(void **state) {
    (void)state;
    if (are_missing()) skip_because("ptxas or nvdisasm was not found");
    char *out = program_output(0, "@ tests/cli/scale.ptx --backend emulator --sass");
    program_assert_contains(out, "machine code by ptxas ");
    program_assert_contains(out, "tests/cli/scale.ptx:18  @%p bra DONE;\n"
                                 "     1 instruction\n"
                                 "  * the branch became a predicated EXIT\n");
    program_assert_contains(out, "STG.E");
    free(out);
    out = program_output(0,
                         "sed 's/^\\.version .*/.version 9.9/' tests/cli/scale.ptx >%s/new.ptx; @ %s/new.ptx "
                         "--backend emulator --sass",
                         program_folder(), program_folder());
    program_assert_contains(out, "; ptxas refuses line 2 of the PTX: Unsupported .version 9.9");
    free(out);
}

static void a_damaged_recording_is_refused(void **state) {
    (void)state;
    const char *folder = program_folder();
    char *out =
        program_output(0,
                       "sed 's/^i\tb0\t/i\t0\t/' %s/share/assets/h100/sass/interleaved.tsv > "
                       "%s/share/assets/h100/sass/sequential.tsv; " WITH_SHARE "--kernel sequential --sass",
                       folder, folder, folder);
    program_assert_contains(out, "sequential: not an offset above the one before: 0");
    free(out);
}

/* Each view of a recording, in blocks of the size that was recorded, and of another. */
static void what_is_of_other_blocks_is_not_shown(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *recorded, *other;
    } rows[] = {{"--sass", "sampled at n", "neither"},
                {"--frame=120x40 --keys '#'", "grid on the machine   132", "not measured with block 512"},
                {"--frame=120x40 --keys '##'", "warps on SM", "not measured with block 512"},
                {"--timeline", "cycles", "no timeline of warps: "},
                {"--frame=120x40 --compare strided", "us", "time: not measured with block 512"},
                {"--frame=120x40 --compare interleaved,block=256", "us", "time: not measured with block 512"},
                {"--frame=200x60", "us", ">interleaved          not measured with block 512"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *own = program_output(0, "@ --kernel interleaved %s", rows[i].arguments);
        char *other = program_output(0, "@ --kernel interleaved --block 512 %s", rows[i].arguments);
        program_assert_contains(own, rows[i].recorded);
        program_assert_contains(other, rows[i].other);
        if (strstr(own, "not measured with block")) fail_msg("%s", own);
        free(own), free(other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_stand_under_their_line),
        cmocka_unit_test(of_hopper),
        cmocka_unit_test(as_json),
        cmocka_unit_test(the_report_has_the_sums_of_the_lines),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_file_is_assembled),
        cmocka_unit_test(other_runs_are_assembled),
        cmocka_unit_test(the_pane_shows_it),
        cmocka_unit_test(by_the_programs_themselves),
        cmocka_unit_test(a_damaged_recording_is_refused),
        cmocka_unit_test(what_is_of_other_blocks_is_not_shown),
    };
    return cmocka_run_group_tests(tests, make_share, program_remove_folder);
}
