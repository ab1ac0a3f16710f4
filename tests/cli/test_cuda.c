/* Runs of FILE.cu with the compilers of this machine and with a fake one. The fake one tests redviz's calls
 * of a compiler and its handling of the output on every machine. */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/skip.h"

static const char scale_cu[] =
    "#include <cstdio>\n#include <cstdint>\n#include <vector>\n#include \"part.h\"\n"
    "template <typename T, int F> __global__ void times(const T *in, T *out, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) out[i] = in[i] * T(F);\n"
    "}\n"
    "__global__ void scale(const uint32_t *in, uint32_t *out, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) out[i] = changed(in[i]);\n"
    "}\n"
    "__global__ void warps(const int *in, int *out, int n) {\n"
    "    int v = in[threadIdx.x];\n"
    "    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);\n"
    "    if (threadIdx.x % 32 == 0) atomicAdd(out, v);\n"
    "}\n"
    "int main() {\n    std::vector<int> v(3);\n    printf(\"%d\", v[0]);\n    scale<<<1, 4>>>(nullptr, "
    "nullptr, 0);\n}\n";

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("XDG_CACHE_HOME", program_folder(), 1);
    program_write_file("scale.cu", scale_cu);
    program_write_file("part.h", "__device__ inline unsigned changed(unsigned x) { return 3 * x; }\n"
                                 "inline int only_the_host(int x) { return x; }\n");
    return 0;
}

/* Without a compiler of this name, the test is skipped. */
static void need(const char *compiler) {
    Outcome outcome = program_shell("@ %s/scale.cu --entry scale --compiler %s --n 4 --dump out",
                                    program_folder(), compiler);
    const char *missing = program_missing_compiler(&outcome);
    program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
}

static void compiles_with(const char *compiler) {
    need(compiler);
    const char *folder = program_folder();
    char *out = program_output(0, "@ %s/scale.cu --entry scale --compiler %s --fill iota --n 4 --dump out",
                               folder, compiler);
    assert_string_equal(out, "0\n3\n6\n9\n");
    free(out);
    out =
        program_output(0, "@ %s/scale.cu --entry 'times<float,5>' --compiler %s --fill iota --n 3 --dump out",
                       folder, compiler);
    assert_string_equal(out, "0\n5\n10\n");
    free(out);
    out = program_output(
        0, "@ %s/scale.cu --entry warps --compiler %s --fill ones --n 64 --block 64 --dump out:1", folder,
        compiler);
    assert_string_equal(out, "64\n");
    free(out);
    /* Lines are those of the original file. */
    out = program_output(0, "@ %s/scale.cu --entry warps --compiler %s --n 64 --block 64 --report=json",
                         folder, compiler);
    program_assert_contains(out, "\"line\":15,\"text\":\"for (int k = 16;");
    free(out);
}

/* The compiler's name of an instance spells its arguments differently. */
static void instances_have_other_names(const char *compiler) {
    need(compiler);
    program_write_file("alias.cu", "enum Mode { ADD, TAKE };\nusing Real = float;\n"
                                   "template <typename T, Mode M, int N> __global__ void apply(T *p) {\n"
                                   "    p[threadIdx.x] += M == ADD ? N : -N;\n}\n");
    char *out = program_output(0,
                               "@ %s/alias.cu --compiler %s --entry 'apply<Real,TAKE,2*8>' --n 2 --block 2 "
                               "--fill ones --dump in",
                               program_folder(), compiler);
    assert_string_equal(out, "-15\n-15\n");
    free(out);
}

/* As textbooks write it: the compiler's words, and the line. */
static void expect_line(const char *compiler, const char *line, int number) {
    char place[64], text[512];
    snprintf(
        text, sizeof text,
        "__global__ void reduce(const int *in, int *out) {\n%s\n    sums[threadIdx.x] = in[threadIdx.x];\n"
        "    __syncthreads();\n    if (threadIdx.x == 0) out[0] = sums[0];\n}\n",
        line);
    program_write_file("textbook.cu", text);
    Outcome outcome = program_shell("@ %s/textbook.cu --compiler %s --check", program_folder(), compiler);
    assert_int_equal(outcome.status, 2);
    snprintf(place, sizeof place, "textbook.cu:%d:", number);
    program_assert_contains(outcome.err, place);
    program_assert_contains(outcome.err, number == 2 ? line : "    sums[threadIdx.x] = in[threadIdx.x];");
    program_outcome_done(&outcome);
}

static void errors_with(const char *compiler) {
    need(compiler);
    expect_line(compiler, "    __shared__ int sums;", 3);
    expect_line(compiler, "    __shared__ int sums[blockDim.x];", 2);
    program_write_file("bad.cu", "__global__ void k(int *p) {\n    p[0] = 1;\n    p[1] = unknown;\n}\n");
    Outcome outcome = program_shell("@ %s/bad.cu --compiler %s --report", program_folder(), compiler);
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "bad.cu:3:12: ");
    program_assert_contains(outcome.err, "\n      p[1] = unknown;\n             ^\n");
    program_outcome_done(&outcome);
}

static void with_nvcc(void **state) {
    (void)state;
    compiles_with("nvcc");
    instances_have_other_names("nvcc");
    program_write_file("old.cu",
                       "#include \"old.h\"\n__global__ void k(int *p) {\n    p[threadIdx.x] = THREE;\n}\n"
                       "template <int I> __global__ void t(int *p) { *p = I; }\n"
                       "int main() {\n    cudaWhatIsNoMore();\n}\n");
    program_write_file("old.h", "#define THREE 3\n");
    char *out = program_output(0,
                               "@ %s/old.cu --compiler nvcc --entry k --n 2 --block 2 --dump p; "
                               "@ %s/old.cu --compiler nvcc --entry 't<5>' --n 1 --dump p; "
                               "@ %s/old.cu --compiler nvcc --entry k --n 2 --block 2 --report=json",
                               program_folder(), program_folder(), program_folder());
    program_assert_contains(out, "3\n3\n5\n{");
    program_assert_contains(out, "\"line\":3,\"text\":\"p[threadIdx.x] = THREE;\"");
    free(out);
    errors_with("nvcc");
}
static void with_nvrtc(void **state) {
    (void)state;
    instances_have_other_names("nvrtc");
    compiles_with("nvrtc");
    errors_with("nvrtc");
}
static void with_clang(void **state) {
    (void)state;
    instances_have_other_names("clang");
    compiles_with("clang");
    errors_with("clang");
}

/* ---- a fake compiler ---- */

static const char fake_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %a; .reg .b32 %r;\n"
                               " ld.param.u64 %a, [p]; mov.u32 %r, 7; st.global.u32 [%a], %r; ret;\n}\n";

/* Records that it was called and how, then runs the script. */
static void make_compiler(const char *script) {
    char text[2048];
    const char *folder = program_folder();
    snprintf(text, sizeof text,
             "#!/bin/sh\necho \"$*\" >>%s/calls\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; "
             "done\n%s\n",
             folder, script);
    Outcome made = program_shell("mkdir -p %s/home/bin; rm -f %s/calls", folder, folder);
    program_outcome_done(&made);
    program_write_file("home/bin/nvcc", text);
    program_write_file("fake.ptx", fake_ptx);
    made = program_shell("chmod +x %s/home/bin/nvcc", folder);
    program_outcome_done(&made);
}

static Outcome compile_fake(const char *options) {
    return program_shell("CUDA_HOME=%s/home FAKE=%s/fake.ptx @ %s/k.cu --compiler nvcc %s", program_folder(),
                         program_folder(), program_folder(), options);
}

static int call_count(void) {
    char *calls = program_output(0, "cat %s/calls 2>/dev/null | wc -l", program_folder());
    int count = atoi(calls);
    free(calls);
    return count;
}

static void compiles_once(void **state) {
    (void)state;
    program_write_file("k.cu", "#include \"k.h\"\n__global__ void k(int *p) { *p = 7; }\n");
    program_write_file("k.h", "\n");
    make_compiler("cp \"$FAKE\" \"$out\"");
    for (int i = 0; i < 2; i++) {
        Outcome outcome = compile_fake("--n 1 --dump p");
        assert_string_equal(outcome.err, "");
        assert_string_equal(outcome.out, "7\n");
        program_outcome_done(&outcome);
    }
    assert_int_equal(call_count(), 1);
    Outcome anew = compile_fake("--no-cache --n 1 --dump in");
    assert_string_equal(anew.out, "7\n");
    program_outcome_done(&anew);
    assert_int_equal(call_count(), 2);
    anew = program_shell("for i in %s/redviz/ptx/*; do echo >$i; done", program_folder()); /* damaged */
    program_outcome_done(&anew);
    anew = compile_fake("--n 1 --dump p");
    assert_string_equal(anew.out, "7\n");
    assert_string_equal(anew.err, "");
    program_outcome_done(&anew);
    assert_int_equal(call_count(), 3);
    make_compiler("cp \"$FAKE\" \"$out\"");
    anew = compile_fake("--n 1 --dump p");
    program_outcome_done(&anew);
    assert_int_equal(call_count(), 1);
    program_write_file("k.h", "// changed\n"); /* a change of an included file or of flags compiles again */
    Outcome outcome = compile_fake("--n 1 --dump p");
    program_outcome_done(&outcome);
    assert_int_equal(call_count(), 2);
    outcome = compile_fake("--compile-flags '-DA=1  -arch=compute_90' --n 1 --dump p");
    program_outcome_done(&outcome);
    assert_int_equal(call_count(), 3);
    char *calls = program_output(0, "tail -n 1 %s/calls", program_folder());
    program_assert_contains(calls, "-DA=1 -arch=compute_90");
    assert_null(strstr(calls, "compute_80"));
    free(calls);
}

/* If nvcc only refuses the host code, it is called again without it. */
static void the_hosts_part_may_be_wrong(void **state) {
    (void)state;
    char script[512];
    program_write_file("k.cu", "__global__ void k(int *p) { *p = 7; }\nvoid host() {\n    gone();\n}\n");
    snprintf(script, sizeof script,
             "tail -n 1 %s/calls | grep -q /device.cu && exec cp \"$FAKE\" \"$out\"\n"
             "echo \"%s/k.cu(3): error: gone is undefined\"; exit 1",
             program_folder(), program_folder());
    make_compiler(script);
    Outcome outcome = compile_fake("--n 1 --dump p");
    assert_string_equal(outcome.out, "7\n");
    assert_string_equal(outcome.err, "");
    program_outcome_done(&outcome);
    assert_int_equal(call_count(), 2);
    snprintf(script, sizeof script, "echo \"%s/k.cu(1): error: bad\"; exit 1", program_folder());
    program_write_file("k.cu", "__global__ void k(int *p) { *p = 8; }\nvoid host() {\n    gone();\n}\n");
    make_compiler(script);
    outcome = compile_fake("--n 1 --dump p");
    program_assert_contains(outcome.err, "k.cu:1:");
    program_outcome_done(&outcome);
    assert_int_equal(call_count(), 1);
}

/* A missing header is searched for, and its folder is passed with -I, as a Makefile would do. */
static void headers_are_found_together(void **state) {
    (void)state;
    char script[1024];
    free(program_output(0, "mkdir -p %s/include && echo '#define SEVEN 7' > %s/include/one.h",
                        program_folder(), program_folder()));
    program_write_file("k.cu", "#include <one.h>\n__global__ void k(int *p) { *p = SEVEN; }\n");
    snprintf(script, sizeof script,
             "tail -n 1 %s/calls | grep -q -e '-I [^ ]*/include' && exec cp \"$FAKE\" \"$out\"\n"
             "echo \"%s/k.cu:1:10: fatal error: one.h: No such file or directory\"; exit 1",
             program_folder(), program_folder());
    make_compiler(script);
    Outcome outcome = compile_fake("--n 1 --dump p");
    assert_string_equal(outcome.err, "");
    assert_string_equal(outcome.out, "7\n");
    program_outcome_done(&outcome);
    assert_int_equal(call_count(), 2);
}

static void expect_refusal(const char *script, const char *words) {
    static int count;
    char text[128];
    snprintf(text, sizeof text, "__global__ void k(int *p) { *p = %d; }\n", ++count);
    program_write_file("k.cu", text);
    make_compiler(script);
    Outcome outcome = compile_fake("--report");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    program_assert_contains(outcome.err, words);
    program_outcome_done(&outcome);
}

/* A missing header that is not needed is not the cause of the failure. */
static void what_is_wrong_behind_a_missing_header_is_said(void **state) {
    (void)state;
    expect_refusal(
        "n=$(wc -l < \"$(dirname \"$0\")/calls\")\n"
        "[ $n -eq 1 ] && echo \"k.cu:1:10: fatal error: gone.h: No such file or directory\" && exit 1\n"
        "echo 'k.cu(1): error: identifier \"seven\" is undefined'; exit 1",
        "seven");
}

/* If a compiler fails without a place in the file, the next one is tried, unless it was requested. */
static void another_compiler_is_asked(void **state) {
    (void)state;
    const char *folder = program_folder();
    program_write_file("k.cu", "__global__ void k(int *p) { *p = 9; }\n");
    make_compiler("exit 3");
    Outcome outcome = program_shell("CUDA_HOME=%s/home @ %s/k.cu --n 1 --no-cache --report", folder, folder);
    bool has_another = outcome.status == 0;
    if (has_another) {
        program_assert_contains(outcome.out, "compiled by: ");
        program_assert_contains(outcome.out, "since nvcc failed: nvcc: failed without a message");
    } else {
        program_assert_contains(outcome.err, "nvcc: failed without a message");
    }
    program_outcome_done(&outcome);
    outcome = compile_fake("--no-cache --report");
    assert_int_equal(outcome.status, 2);
    program_outcome_done(&outcome);
}

/* Buffers have the names of the kernel's parameters in the source; those of a guess are accepted as well. */
static void buffers_are_named_as_in_the_source(void **state) {
    (void)state;
    program_write_file("k.cu", "__global__ void k(int *__restrict__ answer) { *answer = 7; }\n");
    make_compiler("cp \"$FAKE\" \"$out\"");
    Outcome outcome = compile_fake("--no-cache --n 1 --report");
    program_assert_contains(outcome.out, "--args 'answer=int[n]:random'");
    program_outcome_done(&outcome);
    outcome = compile_fake("--no-cache --n 1 --dump answer");
    assert_string_equal(outcome.out, "7\n");
    program_outcome_done(&outcome);
    outcome = compile_fake("--no-cache --n 1 --dump in");
    assert_string_equal(outcome.out, "7\n");
    program_outcome_done(&outcome);
    outcome = compile_fake("--no-cache --n 1 --dump in2");
    assert_int_equal(outcome.status, 2);
    program_outcome_done(&outcome);
}

static void compilers_may_fail(void **state) {
    (void)state;
    expect_refusal("echo \"$FAKE\" >&2; exit 1", "nvcc: /");
    expect_refusal("exit 3", "nvcc: failed without a message");
    expect_refusal("kill -9 $$", "nvcc: failed without a message");
    expect_refusal("exit 0", "out.ptx");
    expect_refusal("printf 'k.cu(1): error: \\033[31mred\\033[0m\\n'; exit 1", "k.cu:1: ?[31mred?[0m (nvcc)");
    expect_refusal("yes | head -c 9000000; exit 1", "nvcc: y");
    expect_refusal("echo 'no ptx' >$out", "no kernel in this file");
    expect_refusal("echo '.entry' >$out", "k.cu (as PTX):1:");
}

static void nothing_is_left_behind(void **state) {
    (void)state;
    program_write_file("k.cu", "__global__ void k(int *p) { *p = 100; }\n");
    make_compiler("mkdir -p $(dirname $out)/deep/er; cp \"$FAKE\" \"$out\"");
    char *left =
        program_output(0,
                       "mkdir -p %s/temporary; TMPDIR=%s/temporary CUDA_HOME=%s/home FAKE=%s/fake.ptx "
                       "@ %s/k.cu --compiler nvcc --n 1 --dump p; ls %s/temporary",
                       program_folder(), program_folder(), program_folder(), program_folder(),
                       program_folder(), program_folder());
    assert_string_equal(left, "7\n");
    free(left);
}

static void says_what_is_missing(void **state) {
    (void)state;
    program_write_file("k.cu", "template <typename T> __global__ void k(T *p) { *p = 1; }\n");
    make_compiler("echo .version 7.0 >$out");
    Outcome outcome = compile_fake("--report");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "--entry 'k<float>'");
    program_outcome_done(&outcome);
    outcome = program_shell("@ %s/k.cu --compiler gcc --report", program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "--compiler: 'gcc' is not one of nvcc, nvrtc, clang");
    program_outcome_done(&outcome);
    outcome = program_shell("@ %s/nowhere.cu --report", program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "nowhere.cu: ");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_nvcc),
        cmocka_unit_test(the_hosts_part_may_be_wrong),
        cmocka_unit_test(headers_are_found_together),
        cmocka_unit_test(what_is_wrong_behind_a_missing_header_is_said),
        cmocka_unit_test(with_nvrtc),
        cmocka_unit_test(with_clang),
        cmocka_unit_test(compiles_once),
        cmocka_unit_test(another_compiler_is_asked),
        cmocka_unit_test(buffers_are_named_as_in_the_source),
        cmocka_unit_test(compilers_may_fail),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
