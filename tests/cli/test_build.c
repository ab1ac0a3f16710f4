/* Programs of --run that are compiled without a CUDA toolkit. Skipped where clang is missing. */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/skip.h"

static const char sum_cu[] = /* what students write */
    "#include <cuda_runtime.h>\n#include <algorithm>\n#include <cstdio>\n#include <iostream>\n#include "
    "<numeric>\n"
    "#include <vector>\n"
    "__constant__ float scale;\n__device__ int blocks_done;\n"
    "template <typename T, int BLOCK> __global__ void reduce(const T *in, T *out, int n) {\n"
    "    extern __shared__ float partial[];\n"
    "    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;\n"
    "    partial[t] = i < n ? scale * in[i] : 0;\n"
    "    __syncthreads();\n"
    "    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {\n"
    "        if (t < stride) partial[t] += partial[t + stride];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (t == 0) out[blockIdx.x] = partial[0], atomicAdd(&blocks_done, 1);\n"
    "    if (t == 0 && blockIdx.x == 0) printf(\"first of %d\\n\", (int)gridDim.x);\n"
    "    assert(blockDim.x == BLOCK);\n"
    "}\n"
    "template <typename F> __global__ void each(float *x, int n, F f) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < min(n, 1 << 20)) x[i] = sqrtf(f(x[i]));\n"
    "}\n"
    "struct Square { __host__ __device__ float operator()(float x) const { return x * x; } };\n"
    "#define CHECK(call) do { cudaError_t error = call; if (error != cudaSuccess) {\\\n"
    "    std::cerr << #call << \": \" << cudaGetErrorString(error) << std::endl; std::exit(1); } } while "
    "(0)\n"
    "int main(int argc, char **argv) {\n"
    "    const int n = argc > 1 ? std::atoi(argv[1]) : 1000, blocks = (n + 127) / 128;\n"
    "    std::vector<float> host(n), sums(blocks);\n"
    "    std::iota(host.begin(), host.end(), 1.0f);\n"
    "    float *in, *out, two = 2, ms;\n    int done;\n    cudaDeviceProp properties;\n"
    "    cudaEvent_t begin, end;\n    cudaStream_t stream;\n"
    "    CHECK(cudaGetDeviceProperties(&properties, 0));\n"
    "    CHECK(cudaEventCreate(&begin));\n    CHECK(cudaEventCreate(&end));\n    "
    "CHECK(cudaStreamCreate(&stream));\n"
    "    CHECK(cudaMalloc(&in, n * sizeof *in));\n"
    "    CHECK(cudaMalloc((void **)&out, blocks * sizeof *out));\n"
    "    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two));\n"
    "    CHECK(cudaMemcpy(in, host.data(), n * sizeof *in, cudaMemcpyHostToDevice));\n"
    "    CHECK(cudaEventRecord(begin));\n"
    "    each<<<blocks, 128, 0, stream>>>(in, n, Square());\n"
    "    reduce<float, 128><<<dim3(blocks), dim3(128), 128 * sizeof(float)>>>(in, out, n);\n"
    "    CHECK(cudaGetLastError());\n"
    "    CHECK(cudaEventRecord(end));\n    CHECK(cudaEventSynchronize(end));\n    "
    "CHECK(cudaEventElapsedTime(&ms, begin, end));\n"
    "    CHECK(cudaMemcpy(sums.data(), out, blocks * sizeof *out, cudaMemcpyDeviceToHost));\n"
    "    CHECK(cudaMemcpyFromSymbol(&done, blocks_done, sizeof done));\n"
    "    bool good = std::accumulate(sums.begin(), sums.end(), 0.0f) == (float)n * (n + 1) && done == "
    "max(blocks, 1);\n"
    "    good = good && properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 &&\n"
    "           properties.maxThreadsPerMultiProcessor == 2048 && properties.sharedMemPerBlockOptin > 48 << "
    "10;\n"
    "    printf(\"%s\\n\", good && ms >= 0 ? \"PASSED\" : \"FAILED\");\n"
    "    cudaFree(in), cudaFree(out);\n"
    "    return good ? 0 : 1;\n"
    "}\n";

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    program_write_file("sum.cu", sum_cu);
    return 0;
}

static void need_clang(void) {
    if (system("clang --version >/dev/null 2>&1")) skip_because("clang was not found");
}

static void with_clang(void **state) {
    (void)state;
    need_clang();
    char *out = program_output(0, "@ --report --run %s/sum.cu --compiler clang -- 500", program_folder());
    program_assert_contains(out, "first of 4\nPASSED\n");
    program_assert_contains(out, "program exited 0: 2 launches");
    program_assert_contains(out, "each<Square>");
    program_assert_contains(out, "launch 2 of 2, sum.cu:48");
    program_assert_contains(out, "\n   15  if (t < stride) partial[t]");
    free(out);
}

/* With the words behind "--". It is remembered before the interface finds no terminal. */
static void the_home_screen_offers_it_again(void **state) {
    (void)state;
    need_clang();
    char *out = program_output(0,
                               "XDG_STATE_HOME=%s @ --json --run %s/sum.cu --compiler clang -- 500 "
                               ">/dev/null 2>&1; cat %s/redviz/recent",
                               program_folder(), program_folder(), program_folder());
    program_assert_contains(out, "sum.cu -- 500\n");
    free(out);
}

/* As nvcc names it. */
static void the_architecture_is_that_of_the_flags(void **state) {
    (void)state;
    need_clang();
    program_write_file("arch.cu",
                       "#include <cstdio>\n\n#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__ "
                       "0\n#endif\n__global__ void k(int *out) { *out = __CUDA_ARCH__; }\n"
                       "int main() {\n    int *p, x;\n    cudaMalloc(&p, 4);\n    k<<<1, 1>>>(p);\n"
                       "    cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost);\n"
                       "    printf(\"%d %s\\n\", x, TEXT);\n}\n");
    char *out = program_output(0,
                               "@ --report --run %s/arch.cu --compiler clang --compile-flags "
                               "'-arch=sm_75 -DTEXT=__FILE__'",
                               program_folder());
    program_assert_contains(out, "750 ");
    free(out);
}

static void errors_have_their_line(void **state) {
    (void)state;
    need_clang();
    program_write_file("wrong.cu",
                       "__global__ void k(float *x) { *x = 1; }\nint main() {\n    k<<<1, 1>>>(none);\n}\n");
    Outcome outcome = program_shell("@ --report --run %s/wrong.cu --compiler clang", program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "wrong.cu:3:17: use of undeclared identifier 'none' (clang)");
    program_outcome_done(&outcome);
}

static void says_what_to_install(void **state) {
    (void)state;
    Outcome outcome = program_shell("PATH=%s @ --report --run %s/sum.cu --compiler clang", program_folder(),
                                    program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err,
                            "no compiler for its host code: install clang, or nvcc by `pip install ");
    assert_int_equal(program_line_count(outcome.err), 1);
    program_outcome_done(&outcome);
    outcome = program_shell("@ --report --run %s/sum.cu --compiler nvrtc", program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "--compiler nvrtc has no part for host code");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_clang),
        cmocka_unit_test(the_home_screen_offers_it_again),
        cmocka_unit_test(the_architecture_is_that_of_the_flags),
        cmocka_unit_test(errors_have_their_line),
        cmocka_unit_test(says_what_to_install),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
