/* Machine code beside its PTX. tests/data/sass/NAME.ptx is one entry of a kernel of the catalogue or of
 * tests/kernels, as ptx_programs_print() prints it, and NAME.txt is the output of nvdisasm -c -g -gi -gp
 * (13.5) for ptxas -arch=sm_90 -lineinfo (13.0). */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "metrics/counted.h"
#include "sass/compare.h"
#include "sass/nvdisasm.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sample {
    char *ptx, *listing;
    PtxModule *module;
    PtxProgram *program;
    SassKernel kernel;
    SassComparison comparison;
} Sample;

static char *read_text(const char *path) {
    char *text;
    size_t length;
    Error error = {.line = 0};
    if (!text_read_file(path, 16 << 20, &text, &length, &error)) fail_msg("%s", error.message);
    return text;
}

static void sample_from(Sample *sample, const char *ptx_path, const char *listing_path, const char *entry) {
    Error error = {.line = 0};
    *sample = (Sample){.ptx = read_text(ptx_path), .listing = read_text(listing_path)};
    sample->module = ptx_module_parse(sample->ptx, strlen(sample->ptx), ptx_path, &error);
    if (sample->module) sample->module->has_library_headers = true; /* as the catalogue does */
    PtxFunction *function = sample->module ? ptx_module_find_entry(sample->module, entry, &error) : NULL;
    sample->program = function ? ptx_program_link(sample->module, function, &error) : NULL;
    if (!sample->program || !sass_parse(sample->listing, function->name, &sample->kernel, &error))
        fail_msg("%s: %s", ptx_path, error.message);
    sample->kernel.has_ptx_lines = true;
    sample->kernel.kernel = entry;
}

static void sample_open(Sample *sample, const char *name) {
    char ptx[128], listing[128];
    snprintf(ptx, sizeof ptx, "tests/data/sass/%s.ptx", name);
    snprintf(listing, sizeof listing, "tests/data/sass/%s.txt", name);
    sample_from(sample, ptx, listing, NULL);
    sass_compare(sample->program, &sample->kernel, &sample->comparison);
}

static void sample_close(Sample *sample) {
    sass_comparison_done(&sample->comparison);
    sass_kernel_done(&sample->kernel);
    ptx_program_free(sample->program);
    ptx_module_free(sample->module);
    free(sample->listing);
    free(sample->ptx);
}

/* All of them, a line each: "interleaved.cu:22 the branch is gone: ...". */
static void print_all(const SassComparison *comparison, Text *out) {
    for (int i = 0; i < comparison->count; i++) {
        PtxSourceLine line = sass_difference_line(comparison, &comparison->differences[i]);
        const char *slash = line.file ? strrchr(line.file, '/') : NULL;
        if (line.file) text_print(out, "%s:%d ", slash ? slash + 1 : line.file, line.line);
        sass_difference_print(comparison, &comparison->differences[i], out);
        text_add(out, "\n");
    }
}

static void assert_differences(const char *name, const char *expected) {
    Sample sample;
    Text out = {0};
    sample_open(&sample, name);
    assert_true(sample.comparison.has_ptx_lines);
    print_all(&sample.comparison, &out);
    assert_string_equal(text_string(&out), expected);
    text_done(&out);
    sample_close(&sample);
}

static void branches_are_predicated_and_a_remainder_expands(void **state) {
    (void)state;
    assert_differences("interleaved",
                       "interleaved.cu:18 the branch is gone: 3 instructions are predicated (LDG.E)\n"
                       "interleaved.cu:22 rem.u32 became 17 SASS instructions\n"
                       "interleaved.cu:22 the branch is gone: 5 instructions are predicated (LDS)\n"
                       "interleaved.cu:27 the branch became a predicated EXIT\n");
    assert_differences("vectorized",
                       "vectorized.cu:19 2 branches are gone: 2 instructions are predicated (LDG.E)\n"
                       "vectorized.cu:24 the branch is gone: 4 instructions are predicated (LDS)\n"
                       "vectorized.cu:29 the branch became a predicated EXIT\n");
}

static void a_division_calls_a_subroutine(void **state) {
    (void)state;
    assert_differences("mean", "mean.cu:43 the branch is gone: 5 instructions are predicated (LDS)\n"
                               "mean.cu:48 the branch became a predicated EXIT\n"
                               "mean.cu:49 div.f32 became 111 SASS instructions\n"
                               "mean.cu:49 11 branches that PTX does not have (BRA)\n");
}

static void an_atomic_becomes_a_warp_reduction(void **state) {
    (void)state;
    assert_differences("atomic",
                       "atomic.cu:16 the branch became a predicated EXIT\n"
                       "atomic.cu:17 atom.global.u32: each warp combines its values first (8 instructions), "
                       "and one lane does it (REDG.E.ADD.STRONG.GPU)\n");
}

static void a_load_moves_behind_an_exit(void **state) {
    (void)state;
    assert_differences("triton_column_sum", "triton_column_sum.py:19 div.s32 became 23 SASS instructions\n"
                                            "triton_column_sum.py:24 ld.shared.b32 moved after an EXIT: "
                                            "threads that have exited do not execute it\n");
}

static void loops_are_unrolled_and_loads_merged(void **state) {
    (void)state;
    assert_differences("scan_shuffle",
                       "scans.cu:48 the branch is gone: 3 instructions are predicated (LDG.E)\n"
                       "scans.cu:53 the branch is gone: 5 instructions are predicated (STS)\n"
                       "scans.cu:55 4 ld.shared.u32 became one of 16 bytes (LDS.128)\n"
                       "scans.cu:55 the loop is unrolled x4: 1 ld.shared.u32 became 7 (LDS.128)\n"
                       "scans.cu:55 1 bra became 5, on several paths (BRA)\n"
                       "scans.cu:55 1 branch that PTX does not have (BRA)\n"
                       "scans.cu:56 the branch became a predicated EXIT\n");
    assert_differences("last_block",
                       "last_block.cu:26 the branch is gone: 5 instructions are predicated (STS)\n"
                       "last_block.cu:31 the branch is gone: 5 instructions are predicated (LDS)\n"
                       "last_block.cu:31 1 branch that PTX does not have (BRA.DIV)\n"
                       "last_block.cu:33 5 shfl.b32 became 10, on several paths (SHFL.DOWN)\n"
                       "last_block.cu:43 the branch became a predicated EXIT\n"
                       "last_block.cu:45 1 bra became 4, on several paths (BRA)\n"
                       "last_block.cu:46 the loop is unrolled x4: 1 ld.global.u32 became 8 (LDG.E)\n"
                       "last_block.cu:49 the branch became a predicated EXIT\n");
}

static void a_warp_that_may_have_diverged_has_a_second_path(void **state) {
    (void)state;
    assert_differences("unrolled",
                       "unrolled.cu:19 the branch is gone: 3 instructions are predicated (LDG.E)\n"
                       "unrolled.cu:20 the branch is gone: 4 instructions are predicated (LDG.E)\n"
                       "unrolled.cu:36 the branch is gone: 3 instructions are predicated (LDS)\n"
                       "unrolled.cu:41 the branch is gone: 3 instructions are predicated (LDS)\n"
                       "unrolled.cu:49 5 ld.shared.u32 became 10, on several paths (LDS)\n"
                       "unrolled.cu:49 1 branch that PTX does not have (BRA.DIV)\n"
                       "unrolled.cu:51 5 st.shared.u32 became 10, on several paths (STS)\n"
                       "unrolled.cu:51 1 branch that PTX does not have (BRA.DIV)\n"
                       "unrolled.cu:56 the branch became a predicated EXIT\n");
}

/* ---- by hand ------------------------------------------------------------------------------------------- */

typedef struct Line {
    int ptx_line;
    const char *label, *text;
} Line;

/* Line 5 of the PTX is its first instruction. */
static void assert_by_hand(const char *body, const Line *lines, const char *expected) {
    Text ptx = {0}, out = {0};
    Error error = {.line = 0};
    SassKernel kernel = {.count = 0};
    SassComparison comparison;
    text_print(&ptx,
               ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { .reg .b32 %%r<9>; .reg "
               ".b64 %%d<9>; .reg .f32 %%f<9>; .reg .pred %%p<3>; .shared .align 16 .b8 s[256];\n%s}\n",
               body);
    PtxModule *module = ptx_module_parse(text_string(&ptx), ptx.length, "k.ptx", &error);
    PtxProgram *program =
        module ? ptx_program_link(module, ptx_module_find_entry(module, "k", NULL), &error) : NULL;
    if (!program) fail_msg("%d: %s", error.line, error.message);
    for (int i = 0; lines[i].text; i++)
        sass_add_instruction(&kernel, (SassInstruction){.offset = 16 * (uint32_t)i,
                                                        .place = -1,
                                                        .ptx_line = lines[i].ptx_line,
                                                        .label = lines[i].label,
                                                        .text = lines[i].text});
    kernel.has_ptx_lines = true;
    sass_compare(program, &kernel, &comparison);
    print_all(&comparison, &out);
    assert_string_equal(text_string(&out), expected);
    sass_comparison_done(&comparison);
    sass_kernel_done(&kernel);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&ptx);
    text_done(&out);
}

static void reasons_by_hand(void **state) {
    (void)state;
    assert_by_hand(
        "ld.shared.f32 %f1, [s];\nld.shared.f32 %f2, [s+4];\nst.shared.f32 [s+8], %f2;\nret;\n",
        (const Line[]){{5, NULL, "LDS R1, [UR4]"}, {6, NULL, "LDS R2, [UR4+0x4]"}, {8, NULL, "EXIT"}, {0}},
        "k.ptx:7 st.shared.f32 is removed\n");
    assert_by_hand(
        "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [s];\nret;\n",
        (const Line[]){
            {5, NULL, "LDS.64 R2, [UR4]"}, {5, NULL, "LDS.64 R4, [UR4+0x8]"}, {6, NULL, "EXIT"}, {0}},
        "k.ptx:5 ld.shared.f32 became 2 of 8 bytes (LDS.64)\n");
    assert_by_hand(
        "mov.b32 %r1, 0;\nret;\n",
        (const Line[]){{5, NULL, "STL [R1], R2"}, {5, NULL, "LDL R2, [R1]"}, {6, NULL, "EXIT"}, {0}},
        "registers are spilled: 2 accesses of local memory that PTX does not have (STL)\n");
    assert_by_hand(
        "L: ld.shared.f32 %f1, [s];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\nret;\n",
        (const Line[]){{5, NULL, "LDS R1, [UR4]"},
                       {6, ".L_x_1", "IADD3 R1, R1, 0x1, RZ"},
                       {7, NULL, "ISETP.LT.AND P0, PT, R1, 0x9, PT"},
                       {8, NULL, "@P0 BRA .L_x_1"},
                       {9, NULL, "EXIT"},
                       {0}},
        "k.ptx:5 ld.shared.f32 moved out of its loop\n");
    assert_by_hand("setp.lt.s32 %p1, %r1, 9;\n@%p1 bra E;\nadd.s32 %r1, %r1, 1;\nE: ret;\n",
                   (const Line[]){{5, NULL, "ISETP.LT.AND P0, PT, R1, 0x9, PT"},
                                  {7, NULL, "SEL R1, R1, R2, P0"},
                                  {8, NULL, "EXIT"},
                                  {0}},
                   "k.ptx:6 the branch is gone: what it skips (1 instruction) is always computed\n");
    assert_by_hand("ld.shared.f32 %f1, [s];\nret;\n",
                   (const Line[]){{5, NULL, "LDS R1, [UR4]"}, {6, NULL, "EXIT"}, {0}}, "");
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void lines_of_a_printed_copy_become_those_of_the_file(void **state) {
    (void)state;
    Sample copy, file;
    sample_open(&copy, "interleaved");
    sample_from(&file, "assets/ptx/interleaved.ptx", "tests/data/sass/interleaved.txt",
                "_Z11interleavedIi3SumEvPKT_PS1_j");
    file.kernel.has_ptx_lines = false;
    assert_true(sass_take_printed_lines(&file.kernel, copy.ptx, file.program));
    assert_true(file.kernel.has_ptx_lines);
    sass_compare(file.program, &file.kernel, &file.comparison);
    assert_true(file.comparison.has_ptx_lines);
    assert_memory_equal(file.comparison.owner, copy.comparison.owner,
                        (size_t)file.kernel.count * sizeof *file.comparison.owner);
    Sample other;
    sample_open(&other, "mean");
    assert_false(sass_take_ptx_lines(&file.kernel, other.program, file.program));
    for (int i = 0; i < file.kernel.count; i++) assert_int_equal(file.kernel.instructions[i].ptx_line, 0);
    sample_close(&other);
    sample_close(&copy);
    sample_close(&file);
}

/* Without PTX lines, less is reported, but nothing wrong. */
static void without_ptx_lines_source_lines_serve(void **state) {
    (void)state;
    Sample sample;
    Text out = {0};
    sample_open(&sample, "interleaved");
    sass_comparison_done(&sample.comparison);
    sample.kernel.has_ptx_lines = false; /* as nvdisasm prints them: for a text without a name */
    sass_compare(sample.program, &sample.kernel, &sample.comparison);
    assert_false(sample.comparison.has_ptx_lines);
    print_all(&sample.comparison, &out);
    assert_string_equal(text_string(&out),
                        "interleaved.cu:18 the branch is gone: 1 instruction is predicated (LDG.E)\n"
                        "interleaved.cu:22 the branch is gone: 3 instructions are predicated (LDS)\n"
                        "interleaved.cu:27 the branch became a predicated EXIT\n");
    text_done(&out);
    sample_close(&sample);
}

/* The reason that --counters names. */
static void assert_reason(const char *name, const char *metric, double predicted, double value,
                          const char *expected) {
    Sample sample;
    Text out = {0};
    MeasuredCounter counter = {.metric = metric, .predicted = predicted, .value = value};
    sample_open(&sample, name);
    bool is_known = counted_reason(&counter, &sample.comparison, &out);
    assert_true(is_known == (*expected != 0));
    assert_string_equal(text_string(&out), expected);
    text_done(&out);
    sample_close(&sample);
}

static void a_counter_that_differs_has_a_reason(void **state) {
    (void)state;
    static const char loads[] = "smsp__sass_inst_executed_op_shared_ld.sum",
                      branches[] = "smsp__sass_inst_executed_op_branch.sum";
    assert_reason("triton_column_sum", loads, 100, 90,
                  "shared loads: triton_column_sum.py:24: ld.shared.b32 moved after an EXIT: threads that "
                  "have exited do not execute it.");
    assert_reason("scan_shuffle", loads, 100, 40,
                  "shared loads: scans.cu:55: 4 ld.shared.u32 became one of 16 bytes (LDS.128).");
    assert_reason("interleaved", branches, 622592, 294912,
                  "branches: interleaved.cu:22: the branch is gone: 5 instructions are predicated (LDS).");
    assert_reason("interleaved", "smsp__inst_executed.sum", 4091904, 8126464,
                  "instructions: interleaved.cu:22: rem.u32 became 17 SASS instructions.");
    assert_reason("last_block", "smsp__sass_inst_executed_op_global_ld.sum", 100, 90, ""); /* no such row */
    assert_reason("last_block", loads, 100, 90, ""); /* copies on other paths do not explain it */
    assert_reason("interleaved", branches, 294912, 294912, "");
    assert_reason("interleaved", loads, 100, 90, ""); /* no shared load was replaced */
    assert_reason("interleaved", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0, 9, "");
}

static void what_a_mnemonic_says(void **state) {
    (void)state;
    static const struct {
        const char *text;
        SassClass class;
        int bytes;
    } rows[] = {
        {"@!P0 LDG.E.128 R4, desc[UR6][R2.64]", SASS_GLOBAL_LOAD, 16},
        {"LDS.U8 R4, [R2.X64]", SASS_SHARED_LOAD, 1},
        {"STS.64 [R9], R4", SASS_SHARED_STORE, 8},
        {"LDG.E.U16 R4, [R2]", SASS_GLOBAL_LOAD, 2},
        {"BRA .L_x_1", SASS_JUMP, 4},
        {"@P0 BRA .L_x_1", SASS_BRANCH, 4},
        {"BRA.DIV UR4, .L_x_1", SASS_BRANCH, 4},
        {"BRA.U UP0, .L_x_1", SASS_BRANCH, 4},
        {"LDSM.16.M88.4 R4, [R2]", SASS_SHARED_LOAD, 4},
        {"LDC R1, c[0x0][0x28]", SASS_OTHER, 4},
        {"ATOMS.POPC.INC.32 RZ, [R2]", SASS_SHARED_ATOMIC, 4},
        {"LDGSTS.E.BYPASS.128.ZFILL [R14+0x1000], desc[UR8][R2.64], P0", SASS_ASYNC_COPY, 16},
        {"UBLKCP.S.G [UR10], [UR8], UR6", SASS_BULK_COPY, 4},
        {"UBLKRED.G.S.ADD.F32.RN [UR6], [UR8], UR4", SASS_BULK_COPY, 4},
        {"@P1 SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ], R2", SASS_MBARRIER, 4},
        {"UCGABAR_ARV", SASS_CLUSTER_ARRIVE, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sass_class_of_text(rows[i].text) != rows[i].class || sass_bytes(rows[i].text) != rows[i].bytes)
            fail_msg("%s: class %d, %d bytes", rows[i].text, (int)sass_class_of_text(rows[i].text),
                     sass_bytes(rows[i].text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_are_predicated_and_a_remainder_expands),
        cmocka_unit_test(a_division_calls_a_subroutine),
        cmocka_unit_test(an_atomic_becomes_a_warp_reduction),
        cmocka_unit_test(a_load_moves_behind_an_exit),
        cmocka_unit_test(loops_are_unrolled_and_loads_merged),
        cmocka_unit_test(a_warp_that_may_have_diverged_has_a_second_path),
        cmocka_unit_test(reasons_by_hand),
        cmocka_unit_test(lines_of_a_printed_copy_become_those_of_the_file),
        cmocka_unit_test(without_ptx_lines_source_lines_serve),
        cmocka_unit_test(a_counter_that_differs_has_a_reason),
        cmocka_unit_test(what_a_mnemonic_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
