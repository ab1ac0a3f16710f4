/* A first guess that gives nothing that is known: other guesses are tried, and what was typed or read is not
 * touched. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("XDG_CACHE_HOME", program_folder(), 1);
    return 0;
}

/* Sums elements `first` to `last`; taken for sizes, both leave nothing to add. */
#define PART_OF_ARRAY                                                                                        \
    "__global__ void part(const int *in, int *out, int n, int first, int last) {\n"                          \
    "    __shared__ int s[256];\n    int i = blockIdx.x * 256 + threadIdx.x;\n"                              \
    "    s[threadIdx.x] = i < n && i >= first && i <= last ? in[i] : 0;\n    __syncthreads();\n"             \
    "    for (int d = 128; d; d /= 2) {\n"                                                                   \
    "        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];\n        __syncthreads();\n    }\n"  \
    "    if (threadIdx.x == 0) atomicAdd(out, s[0]);\n}\n"                                                   \
    "void run(const int *in, int *out, int n, int first, int last) {\n"                                      \
    "    part<<<(n + 255) / 256, 256>>>(in, out, n, first, last);\n}\n"

static void bounds_are_the_whole_array(void **state) {
    (void)state;
    EXPECT(PART_OF_ARRAY, ", n, 0, 1048575'", "looks like sum(in)");
}

/* What was typed stays, and is not known. */
static void typed_arguments_stay(void **state) {
    (void)state;
    program_write_file("typed.cu", PART_OF_ARRAY);
    Outcome outcome = program_shell("@ %s/typed.cu --report --args 'in=int[n]:random, out=int[1], n, n, n'",
                                    program_folder());
    bool is_missing = outcome.status == 2 && strstr(outcome.err, "there is no") != NULL;
    if (!is_missing) program_assert_contains(outcome.out, "result not checked");
    program_outcome_done(&outcome);
    if (is_missing) skip();
}

/* Squares of the distance to a number that nothing tells: to 0. */
static void a_float_may_be_zero(void **state) {
    (void)state;
    EXPECT("__global__ void spread(const float *in, float *out, int n, float mean) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) atomicAdd(out, (in[i] - mean) * (in[i] - mean));\n}\n",
           ", n, 0.0'", "looks like sumsq(in)");
}

/* Every block sums all elements: there is one. */
static void one_block_is_tried(void **state) {
    (void)state;
    EXPECT("__global__ void total(const int *in, int *out, int n) {\n"
           "    __shared__ int s;\n    int sum = 0;\n    if (threadIdx.x == 0) s = 0;\n    __syncthreads();\n"
           "    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];\n"
           "    atomicAdd(&s, sum);\n    __syncthreads();\n"
           "    if (threadIdx.x == 0) atomicAdd(&out[0], s * (1 + (int)blockIdx.x));\n}\n",
           "--grid 1", "looks like sum(in)");
}

/* The kernel that hands most around is no reduction; another one is called so. */
static void another_kernel_of_the_file_is_tried(void **state) {
    (void)state;
    EXPECT("__global__ void claim(const int *wish, int *owner, int *lock, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n && atomicCAS(&lock[i], 0, 1) == 0) owner[i] = wish[i] ^ (i * 7);\n}\n"
           "__global__ void row_sum(const int *in, int *out, int rows, int columns) {\n"
           "    int r = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n    if (r >= rows) return;\n"
           "    for (int c = 0; c < columns; c++) s += in[r * columns + c];\n    out[r] = s;\n}\n"
           "void run(int *a, int *b, int *c, int n, int m) {\n"
           "    claim<<<n / 256, 256>>>(a, b, c, n);\n    row_sum<<<n / 256, 256>>>(a, b, n, m);\n}\n",
           "--entry 'row_sum'", "looks like sum(in) of 1024 partial results");
}

/* The last of several launches writes into the smaller of two buffers. */
static void the_larger_of_two_outputs_is_taken(void **state) {
    (void)state;
    EXPECT("__global__ void total(const float *in, float *out, int n) {\n    __shared__ float s[256];\n"
           "    int i = blockIdx.x * 256 + threadIdx.x;\n    s[threadIdx.x] = i < n ? in[i] : 0;\n"
           "    __syncthreads();\n    for (int d = 128; d; d /= 2) {\n"
           "        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];\n        __syncthreads();\n"
           "    }\n    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n"
           "void run(int n) {\n    float *in, *partial, *result, *to;\n    int blocks = (n + 255) / 256;\n"
           "    cudaMalloc(&in, n * sizeof(float));\n    cudaMalloc(&result, sizeof(float));\n"
           "    cudaMalloc(&partial, blocks * sizeof(float));\n    if (blocks == 1) {\n"
           "        to = result;\n    } else {\n        to = partial;\n    }\n"
           "    total<<<blocks, 256>>>(in, to, n);\n}\n",
           "out=float[grid]", "looks like sum(in) of 4096 partial results");
}

/* The block of a command line decides the grid and the shared memory, too. */
static void the_block_of_a_command_line_is_chosen(void **state) {
    (void)state;
    EXPECT(
        "#include <cstdlib>\n#define PER_THREAD 16\n#define WIDE long long int\n"
        "__global__ void total(const int *in, int n, WIDE *out) {\n    extern __shared__ WIDE s[];\n"
        "    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;\n    WIDE sum = 0;\n"
        "    for (int i = 0; i < PER_THREAD; i++)\n        if (first + i < n) sum += in[first + i];\n"
        "    s[threadIdx.x] = sum;\n    for (int d = blockDim.x / 2; d; d /= 2) {\n        __syncthreads();\n"
        "        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];\n    }\n"
        "    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n"
        "int main(int argc, char **argv) {\n"
        "    int n = atoi(argv[1]), threads = atoi(argv[2]), *in;\n    WIDE *out;\n"
        "    int blocks = (n + threads * PER_THREAD - 1) / (threads * PER_THREAD);\n"
        "    cudaMalloc(&in, n * sizeof(int));\n    cudaMalloc(&out, blocks * sizeof(WIDE));\n"
        "    total<<<blocks, threads, threads * sizeof(WIDE)>>>(in, n, out);\n}\n",
        "--grid 256 --shared 2048", "--block 256", "looks like sum(in) of 256 partial results");
}

/* A sum over a warp: with more threads, every warp has a sum of its own. */
static void a_block_of_one_warp_is_tried(void **state) {
    (void)state;
    EXPECT("__global__ void total(const float *in, float *out) {\n    float x = in[threadIdx.x];\n"
           "    for (int d = 16; d; d /= 2) x += __shfl_xor_sync(~0u, x, d);\n"
           "    if (threadIdx.x == 0) *out = x;\n}\n"
           "void run(const float *in, float *out, int n) { total<<<1, n>>>(in, out); }\n",
           "--block 32", "looks like sum(in[0..31])");
}

/* Of ten elements, chance gives much; that three other draws give the same maximum and its place is no
 * chance. */
static void several_results_of_few_elements_are_confirmed(void **state) {
    (void)state;
    EXPECT("__global__ void most(const int *in, int *out, int *at, int n) {\n"
           "    int i = threadIdx.x, x = i < n ? in[i] : -2147483647 - 1, k = i;\n"
           "    for (int d = 16; d; d /= 2) {\n        int y = __shfl_down_sync(~0u, x, d);\n"
           "        int j = __shfl_down_sync(~0u, k, d);\n        if (y > x) x = y, k = j;\n    }\n"
           "    if (i == 0) *out = x, *at = k;\n}\n"
           "int main() {\n    int *in, *out, *at;\n    cudaMalloc(&in, 40);\n    cudaMalloc(&out, 4);\n"
           "    cudaMalloc(&at, 4);\n    most<<<1, 32>>>(in, out, at, 10);\n}\n",
           "looks like out = max(in); at =\nargmax(in)");
}

/* A block for each of `size` rows: they are no `n` rows of `n` elements. */
static void a_size_of_rows_and_columns_is_a_side(void **state) {
    (void)state;
    EXPECT("__global__ void rows(const float *in, float *out, int cols) {\n    __shared__ float s[256];\n"
           "    int t = threadIdx.x;\n    const float *row = in + (size_t)blockIdx.x * cols;\n"
           "    float x = 0;\n    for (int i = t; i < cols; i += 256) x += row[i];\n    s[t] = x;\n"
           "    __syncthreads();\n    for (int d = 128; d; d /= 2) {\n"
           "        if (t < d) s[t] += s[t + d];\n        __syncthreads();\n    }\n"
           "    if (t == 0) out[blockIdx.x] = s[0];\n}\n"
           "void run(const float *in, float *out, int size) {\n"
           "    rows<<<size, 256>>>(in, out, size);\n}\n",
           "--block 256 --grid 1024", "ok, looks like");
}

/* The only block adds as many elements as it has threads; with more, it reads behind its shared array. */
static void as_many_elements_as_threads_are_tried(void **state) {
    (void)state;
    EXPECT("__global__ void total(const int *in, int *out, int len) {\n    extern __shared__ int s[];\n"
           "    int t = threadIdx.x;\n    s[t] = in[t];\n    __syncthreads();\n"
           "    for (int d = 1; d < len; d *= 2) {\n        if (t % (2 * d) == 0) s[t] += s[t + d];\n"
           "        __syncthreads();\n    }\n    if (t == 0) *out = s[0];\n}\n",
           "n = 256, 1 block of 256 threads", "looks like sum(in)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_the_whole_array),
        cmocka_unit_test(typed_arguments_stay),
        cmocka_unit_test(a_float_may_be_zero),
        cmocka_unit_test(one_block_is_tried),
        cmocka_unit_test(another_kernel_of_the_file_is_tried),
        cmocka_unit_test(the_larger_of_two_outputs_is_taken),
        cmocka_unit_test(the_block_of_a_command_line_is_chosen),
        cmocka_unit_test(a_block_of_one_warp_is_tried),
        cmocka_unit_test(several_results_of_few_elements_are_confirmed),
        cmocka_unit_test(a_size_of_rows_and_columns_is_a_side),
        cmocka_unit_test(as_many_elements_as_threads_are_tried),
    };
    return cmocka_run_group_tests_name("trials", tests, set_up, program_remove_folder);
}
