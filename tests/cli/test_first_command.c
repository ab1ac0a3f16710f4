/* `redviz FILE.cu --report` and nothing else: what it makes of files as people write them. */
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

/* A kernel without a pointer shows how an instruction works: the next one reduces. */
static void a_demonstration_is_passed_over(void **state) {
    (void)state;
    EXPECT("#include <cstdio>\n"
           "__global__ void demo() {\n"
           "    int v = __shfl_down_sync(~0u, threadIdx.x, 1);\n"
           "    if (threadIdx.x == 0) printf(\"%d\\n\", v);\n"
           "}\n"
           "__global__ void total(const int *in, int *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) atomicAdd(out, in[i]);\n"
           "}\n"
           "void run(int *in, int *out) { demo<<<1, 32>>>(); total<<<8, 32>>>(in, out, 256); }\n",
           "--entry 'total'", "looks like sum(in)");
}

/* What clocks show is no result; one thread takes as many instructions as its elements need. */
static void a_time_beside_the_sum_is_left_out(void **state) {
    (void)state;
    EXPECT("#include <ctime>\n#define SIZE 3000000\n"
           "__global__ void cubes(const int *in, int *out, clock_t *time) {\n    clock_t begin = clock();\n"
           "    int s = 0;\n    for (int i = 0; i < SIZE; i++) s += in[i] * in[i] * in[i];\n"
           "    *out = s;\n    *time = clock() - begin;\n}\n"
           "int main() {\n    int *in, *out;\n    clock_t *time;\n    cudaMalloc(&in, SIZE * sizeof(int));\n"
           "    cudaMalloc(&out, sizeof(int));\n    cudaMalloc(&time, sizeof(clock_t));\n"
           "    cubes<<<1, 1>>>(in, out, time);\n}\n",
           "<<<1, 1>>>", "looks like sumcube(in)");
}

/* The largest of few elements: other draws give it, too. */
static void a_maximum_of_few_is_tried_again(void **state) {
    (void)state;
    EXPECT("__global__ void most(const float *a, float *out) {\n    __shared__ float s[8];\n"
           "    s[threadIdx.x] = a[threadIdx.x];\n    __syncthreads();\n"
           "    for (int d = 4; d; d /= 2) {\n"
           "        if (threadIdx.x < d && s[threadIdx.x] < s[threadIdx.x + d]) s[threadIdx.x] = "
           "s[threadIdx.x + d];\n        __syncthreads();\n    }\n    if (!threadIdx.x) *out = s[0];\n}\n"
           "int main() {\n    float *a, *out;\n    cudaMalloc(&a, 8 * sizeof(float));\n"
           "    cudaMalloc(&out, sizeof(float));\n    most<<<1, 8>>>(a, out);\n}\n",
           "--block 8", "looks like max(a)");
}

/* Of the channels of an image. */
static void a_norm_of_columns_is_found(void **state) {
    (void)state;
    EXPECT(
        "__global__ void norm(float *out, const float *u, int w, int h, int channels) {\n"
        "    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    if (x >= w || y >= h) return;\n    float s = 0;\n"
        "    for (int c = 0; c < channels; c++) s += u[x + w * y + w * h * c] * u[x + w * y + w * h * c];\n"
        "    out[x + w * y] = sqrtf(s);\n}\n"
        "void run(float *out, float *u) { norm<<<dim3(2, 2), dim3(16, 16)>>>(out, u, 32, 30, 8); }\n",
        "32, 30, 8", "looks like colnorm(u, 960)");
}

/* The columns of a sparse matrix. */
static void sums_by_an_index_are_found(void **state) {
    (void)state;
    EXPECT("__global__ void column_sum(const double *values, const int *column, double *sums, int count) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < count) atomicAdd(&sums[column[i]], values[i]);\n}\n"
           "int main() {\n    double *values, *sums;\n    int *column, count = 65536;\n"
           "    cudaMalloc(&values, count * 8);\n    cudaMalloc(&column, count * 4);\n"
           "    cudaMalloc(&sums, 500 * 8);\n"
           "    column_sum<<<256, 256>>>(values, column, sums, count);\n}\n",
           "sums=double[500]", "looks like sumby(values,\ncolumn, 500)");
}

/* The squares of x, y and z, which lie one after another. */
static void planes_of_points_are_one_sum(void **state) {
    (void)state;
    EXPECT(
        "__global__ void squares(int n, int stride, const double *f, double *out) {\n"
        "    __shared__ double s[256];\n    int t = threadIdx.x;\n    s[t] = 0;\n"
        "    for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x) {\n"
        "        double x = f[i], y = f[i + stride], z = f[i + 2 * stride];\n"
        "        s[t] += x * x + y * y + z * z;\n    }\n    __syncthreads();\n"
        "    for (int d = 128; d; d /= 2) {\n        if (t < d) s[t] += s[t + d];\n"
        "        __syncthreads();\n    }\n    if (!t) atomicAdd(out, s[0]);\n}\n"
        "void run(int n, int stride, double *f, double *out) { squares<<<16, 256>>>(n, stride, f, out); }\n",
        "--block 256 --grid 16", "looks like sumsq(f[0..3071])");
}

/* A lock is free at the beginning; what it guards is the largest element. */
static void a_lock_is_free(void **state) {
    (void)state;
    EXPECT("__global__ void most(const float *in, float *out, int *lock, int n) {\n"
           "    __shared__ float s[256];\n    int t = threadIdx.x, i = blockIdx.x * 256 + t;\n"
           "    s[t] = i < n ? in[i] : -1;\n    __syncthreads();\n"
           "    for (int d = 128; d; d /= 2) {\n        if (t < d) s[t] = fmaxf(s[t], s[t + d]);\n"
           "        __syncthreads();\n    }\n    if (t == 0) {\n"
           "        while (atomicCAS(lock, 0, 1) != 0);\n        *out = fmaxf(*out, s[0]);\n"
           "        __threadfence();\n        atomicExch(lock, 0);\n    }\n}\n"
           "void run(float *in, float *out, int *lock) { most<<<32, 256>>>(in, out, lock, 8192); }\n",
           "lock=int[1], ", "looks like max(in");
}

/* A macro puts the name of a kernel together: the first template of the file is taken. */
static void names_of_macros_are_no_kernels(void **state) {
    (void)state;
    EXPECT("template <const int THREADS = 256> __global__ void sum_f32_kernel(const float *in, float *out, "
           "int n) {\n"
           "    int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i < n) atomicAdd(out, in[i]);\n}\n"
           "#define LAUNCH(type) sum_##type##_kernel<256><<<n / 256, 256>>>(in, out, n)\n"
           "void run(float *in, float *out, int n) { LAUNCH(f32); }\n",
           "sum_f32_kernel<256><<<4096, 256>>>", "looks like sum(in)");
}

/* One of few partial results is the largest of all. */
static void extremes_of_few_blocks_are_partial(void **state) {
    (void)state;
    EXPECT("__global__ void most(const int *in, int *out, int n) {\n    __shared__ int s[32];\n"
           "    int t = threadIdx.x, i = blockIdx.x * 32 + t;\n    s[t] = i < n ? in[i] : -2147483647;\n"
           "    __syncthreads();\n    for (int d = 16; d; d /= 2) {\n        if (t < d) s[t] = max(s[t], s[t "
           "+ d]);\n"
           "        __syncthreads();\n    }\n    if (!t) out[blockIdx.x] = s[0];\n}\n"
           "int main() {\n    int *in, *out, n = 100;\n    cudaMalloc(&in, n * 4);\n    cudaMalloc(&out, 4 * "
           "4);\n"
           "    most<<<4, 32>>>(in, out, n);\n}\n",
           "--n 100", "looks like max(in) of 4 partial results");
}

/* None of its kernels works together: the one whose name says so is a step of a sum. */
static void a_step_of_a_sum_is_found_by_its_name(void **state) {
    (void)state;
    EXPECT("__global__ void fill(float *p, float x) { p[blockIdx.x * blockDim.x + threadIdx.x] = x; }\n"
           "__global__ void sum_step(float *p, int half) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < half) p[i] += p[half + i];\n"
           "}\n"
           "int main() {\n"
           "    float *p;\n    cudaMalloc(&p, 4096 * sizeof(float));\n"
           "    fill<<<16, 256>>>(p, 1);\n    sum_step<<<8, 256>>>(p, 2048);\n}\n",
           "--entry 'sum_step'", "looks like sum(p) of 2048 partial results");
}

/* The number that a command line may change is made smaller like any other. */
static void a_long_run_is_made_shorter(void **state) {
    (void)state;
    EXPECT("#include <cstdlib>\n"
           "__global__ void total(const float *in, float *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) atomicAdd(out, in[i]);\n"
           "}\n"
           "int main(int argc, char **argv) {\n"
           "    int n = 1 << 28;\n    if (argc > 1) n = atoi(argv[1]);\n    float *in, *out;\n"
           "    cudaMalloc(&in, n * sizeof(float));\n    cudaMalloc(&out, sizeof(float));\n"
           "    total<<<(n + 255) / 256, 256>>>(in, out, n);\n}\n",
           "<<<4096, 256>>>", "with a smaller n", "looks like sum(in)");
}

/* Floats that are indices are filled as such. */
static void floats_are_counted(void **state) {
    (void)state;
    EXPECT("__global__ void count(const float *x, int *bins, int n, int bin_count) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i >= n) return;\n"
           "    int k = (int)x[i];\n"
           "    if (k >= 0 && k < bin_count) atomicAdd(&bins[k], 1);\n"
           "}\n"
           "int main() {\n"
           "    const int n = 4096, bins = 64;\n    float *x;\n    int *h;\n"
           "    cudaMalloc(&x, n * sizeof(float));\n    cudaMalloc(&h, bins * sizeof(int));\n"
           "    count<<<n / 256, 256>>>(x, h, n, bins);\n}\n",
           "x=float[n]:random(0,63)", "looks like histogram(x");
}

/* Each of two objects has its own member; Buffer<T> b(COUNT) has as many elements. All of a scan is compared,
 * not only the sums of its blocks. */
static void members_of_two_objects_are_two_buffers(void **state) {
    (void)state;
    EXPECT("template <typename T> struct Buffer { T *data; int size; Buffer(int n); };\n"
           "__global__ void scan(int *p, int *sums, int n) {\n"
           "    __shared__ int s[256];\n"
           "    int i = blockIdx.x * 256 + threadIdx.x;\n"
           "    s[threadIdx.x] = i < n ? p[i] : 0;\n"
           "    __syncthreads();\n"
           "    for (int d = 1; d < 256; d *= 2) {\n"
           "        int x = threadIdx.x >= d ? s[threadIdx.x - d] : 0;\n"
           "        __syncthreads();\n        s[threadIdx.x] += x;\n        __syncthreads();\n    }\n"
           "    if (i < n) p[i] = s[threadIdx.x];\n"
           "    if (threadIdx.x == 255) sums[blockIdx.x] = s[255];\n"
           "}\n"
           "void run(Buffer<int> all) {\n"
           "    const int blocks = (all.size + 255) / 256;\n    Buffer<int> sums(blocks);\n"
           "    scan<<<blocks, 256>>>(all.data, sums.data, all.size);\n}\n",
           "sums=int[grid]", "looks like scan(p, 256)");
}

/* A structure that is passed as it is, and an empty one. */
static void structures_are_guessed(void **state) {
    (void)state;
    EXPECT("struct View { const float *data; int count; float *out; };\n"
           "struct Add { __device__ float operator()(float a, float b) const { return a + b; } };\n"
           "__global__ void reduce(View v, Add add) {\n"
           "    __shared__ float s[256];\n"
           "    int i = blockIdx.x * 256 + threadIdx.x;\n"
           "    s[threadIdx.x] = i < v.count ? v.data[i] : 0;\n"
           "    __syncthreads();\n"
           "    for (int d = 128; d; d /= 2) {\n"
           "        if (threadIdx.x < d) s[threadIdx.x] = add(s[threadIdx.x], s[threadIdx.x + d]);\n"
           "        __syncthreads();\n    }\n"
           "    if (threadIdx.x == 0) v.out[blockIdx.x] = s[0];\n}\n",
           "{in=float[n]:random(-8,8), n, out=float[grid]}", "looks like sum(in) of 4096 partial results");
}

/* The type of the elements, and the operation, follow from what the launch is given. */
static void template_arguments_are_deduced(void **state) {
    (void)state;
    EXPECT(
        "struct Max { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };\n"
        "template <typename T, typename Op> __global__ void fold(const T *in, T *out, int n, Op op) {\n"
        "    __shared__ T s[256];\n"
        "    int i = blockIdx.x * 256 + threadIdx.x;\n"
        "    s[threadIdx.x] = in[i < n ? i : 0];\n"
        "    __syncthreads();\n"
        "    for (int d = 128; d; d /= 2) {\n"
        "        if (threadIdx.x < d) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + d]);\n"
        "        __syncthreads();\n    }\n"
        "    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n"
        "void run(const int *in, int *out, int n) { fold<<<(n + 255) / 256, 256>>>(in, out, n, Max()); }\n",
        "fold<int,Max>", "in=int[n]", "looks like max(in) of 4096 partial results");
}

/* 10^8 elements are more than is looked at: fewer are tried though the kernel is compiled with that number.
 * Where that makes it read beyond its buffers, the file's own number is kept. */
static void a_number_that_is_compiled_in_is_made_smaller(void **state) {
    (void)state;
    EXPECT("const int N = 100000000;\n"
           "__global__ void total(const int *in, int *out) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < N) atomicAdd(out, in[i]);\n}\n"
           "int main() {\n"
           "    int *in, *out;\n"
           "    cudaMalloc(&in, N * sizeof(int));\n    cudaMalloc(&out, sizeof(int));\n"
           "    total<<<(N + 255) / 256, 256>>>(in, out);\n}\n",
           "<<<4096, 256>>>", "with a smaller n", "looks like sum(in)");
    EXPECT("const int N = 80000000;\n"
           "__global__ void last(const char *in, char *out) { out[threadIdx.x] = in[N - 1 - threadIdx.x]; }\n"
           "int main() {\n"
           "    char *in, *out;\n"
           "    cudaMalloc(&in, N);\n    cudaMalloc(&out, 32);\n"
           "    last<<<1, 32>>>(in, out);\n}\n",
           "n = 80,000,000");
}

/* The last number of each line; other lines have other words. */
static void what_is_printed_is_a_result(void **state) {
    (void)state;
    EXPECT("#include <cstdio>\n"
           "__global__ void total(const int *in, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;\n"
           "    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
           "    if (i == 0) printf(\"T4: %d elements\\n\", n);\n"
           "    if (threadIdx.x % 32 == 0) printf(\"warp %d of block %d: %d\\n\", threadIdx.x / 32, "
           "blockIdx.x, v);\n}\n"
           "int main() {\n"
           "    int *in;\n    cudaMalloc(&in, 256 * sizeof(int));\n    total<<<4, 64>>>(in, 256);\n}\n",
           "printed = sum(in) of 8 partial");
}

/* Each round of a loop of the host's code is a launch: the whole scan is compared. A loop that repeats the
 * same is none. */
static void loops_of_launches_are_followed(void **state) {
    (void)state;
    EXPECT("#include <utility>\n"
           "__global__ void step(const int *in, int *out, int n, int d) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) out[i] = i >= d ? in[i] + in[i - d] : in[i];\n}\n"
           "int main() {\n"
           "    const int n = 1024;\n    int *a, *b;\n"
           "    cudaMalloc(&a, n * sizeof(int));\n    cudaMalloc(&b, n * sizeof(int));\n"
           "    for (int d = 1; d < n; d <<= 1) {\n"
           "        step<<<(n + 255) / 256, 256>>>(a, b, n, d);\n        std::swap(a, b);\n    }\n}\n",
           "(out, in, n, 512)", "looks like scan(in)");
    EXPECT("__global__ void total(int *p, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? p[i] : 0;\n"
           "    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
           "    if (threadIdx.x == 0) p[blockIdx.x] = v;\n}\n"
           "int main() {\n"
           "    const int n = 1024;\n    int *p;\n    cudaMalloc(&p, n * sizeof(int));\n"
           "    for (int i = 0; i < 20; i++) total<<<1, 32>>>(p, 32);\n}\n",
           "--args 'p=int[n]:random, 32'");
}

/* What a kernel takes by an array of indices is an input of its own. */
static void products_with_a_sparse_matrix_are_found(void **state) {
    (void)state;
    EXPECT("__global__ void spmv(int rows, const int *begin, const int *column, const float *value, const "
           "float *x,\n"
           "                     float *y) {\n"
           "    int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (r >= rows) return;\n"
           "    float sum = 0;\n"
           "    for (int k = begin[r]; k < begin[r + 1]; k++) sum += value[k] * x[column[k]];\n"
           "    y[r] = sum;\n}\n",
           "dot(value, x[column])");
}

/* What a launch does not give, the kernel's definition does. */
static void a_parameter_has_its_default(void **state) {
    (void)state;
    EXPECT("__global__ void total(const int *in, int *out, int n, int width = 32) {\n"
           "    int v = 0;\n"
           "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += "
           "in[i];\n"
           "    for (int d = width / 2; d; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
           "    if (threadIdx.x % width == 0) atomicAdd(out, v);\n}\n"
           "int main() {\n    int *in, *out;\n    cudaMalloc(&in, 4096 * 4);\n    cudaMalloc(&out, 4);\n"
           "    total<<<4, 256>>>(in, out, 4096);\n}\n",
           "read in the file: --args 'in=int[n]:random, out=int[1], n, 32'", "looks like sum(in)");
}

/* The kernel that is launched only prints: another one reduces. */
static void a_kernel_that_stores_nothing_is_passed_over(void **state) {
    (void)state;
    EXPECT("#include <cstdio>\n"
           "__global__ void sum_warps(const int *in, int *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    int v = __reduce_add_sync(~0u, i < n ? in[i] : 0);\n"
           "    if (threadIdx.x % 32 == 0) atomicAdd(out, v);\n}\n"
           "__global__ void sum_tiles(const int *in, int *out, int n) {\n"
           "    __shared__ int s[32];\n    s[threadIdx.x] = in[threadIdx.x];\n    __syncthreads();\n"
           "    printf(\"%d\\n\", s[31 - threadIdx.x]);\n}\n"
           "void run(int *in, int *out, int n) { sum_tiles<<<1, 32>>>(in, out, n); }\n",
           "--entry 'sum_warps'", "looks like sum(in)");
}

/* Of the instances in a switch over block sizes that of the block which is launched; in a namespace. */
static void an_instance_fits_its_block(void **state) {
    (void)state;
    EXPECT("#include \"nowhere.h\"\n"
           "namespace sums {\ntemplate <unsigned B> __global__ void total(const int *in, int *out, int n) {\n"
           "    __shared__ int s[B];\n    int i = blockIdx.x * B + threadIdx.x;\n"
           "    s[threadIdx.x] = i < n ? in[i] : 0;\n    __syncthreads();\n"
           "    for (int d = B / 2; d; d /= 2) {\n        if (threadIdx.x < d) s[threadIdx.x] += "
           "s[threadIdx.x + d];\n"
           "        __syncthreads();\n    }\n    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n"
           "void run(int *in, int *out, int n, int threads) {\n    switch (threads) {\n"
           "    case 2048: total<2048><<<n / threads, threads>>>(in, out, n); break;\n"
           "    case 256: total<256><<<n / threads, threads>>>(in, out, n); break;\n    }\n}\n}\n",
           "total<256>", "looks like sum(in) of 4096 partial results");
}

/* Of the kernels of a file that launches none, one is named after a reduction; its floats are added as whole
 * numbers. */
static void a_name_decides_between_kernels(void **state) {
    (void)state;
    EXPECT("__global__ void turn(const float *in, float *out) {\n    __shared__ float s[256];\n"
           "    s[threadIdx.x] = in[threadIdx.x];\n    __syncthreads();\n"
           "    out[threadIdx.x] = s[255 - threadIdx.x];\n}\n"
           "__global__ void reduce(const float *in, float *out, int n) {\n    __shared__ int s[256];\n"
           "    int i = blockIdx.x * 256 + threadIdx.x;\n    s[threadIdx.x] = i < n ? in[i] : 0;\n"
           "    __syncthreads();\n"
           "    for (int d = 128; d; d /= 2) {\n        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x "
           "+ d];\n"
           "        __syncthreads();\n    }\n    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n",
           "--entry 'reduce'", "in=float[n]:random(-8,8)", "looks like sum(in) of 4096 partial results");
}

/* The launch is of 512 blocks, and its n a number; what the host knows of a vector's length says nothing of
 * it. */
static void a_number_comes_before_a_free_size(void **state) {
    (void)state;
    EXPECT("__global__ void total(const int *in, int *out, int n) {\n"
           "    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(out, "
           "in[i]);\n}\n"
           "int main() {\n    const int n = 262144;\n    auto array = make(n);\n    int *in, *out;\n"
           "    cudaMalloc(&in, array.size() * 4);\n    cudaMalloc(&out, array.rows());\n"
           "    total<<<n / 512, 256>>>(in, out, n);\n}\n",
           "in=int[n]", "--grid 512", "looks like sum(in)");
}

/* A launch that fails on every GPU is run with another block, and the report says why. */
static void a_block_that_no_gpu_starts_is_named(void **state) {
    (void)state;
    EXPECT(
        "__global__ void total(const int *in, int *out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) atomicAdd(out, in[i]);\n}\n"
        "int main() {\n    int n = 5000, *in, *out;\n    cudaMalloc(&in, n * 4);\n    cudaMalloc(&out, 4);\n"
        "    total<<<1, n>>>(in, out, n);\n}\n",
        "its blocks of 5000", "guessed: --block 256");
}

/* Three sizes that nothing tells: matrices of as many rows and columns as all elements allow. */
static void sizes_of_three_dimensions_are_guessed(void **state) {
    (void)state;
    EXPECT("__global__ void fold(const float *in, float *out, int columns, int matrices, int rows) {\n"
           "    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
           "    if (x >= columns || y >= matrices) return;\n    float s = 0;\n"
           "    for (int i = 0; i < rows; i++) s += in[(y * rows + i) * columns + x];\n"
           "    out[y * columns + x] = s;\n}\n",
           "out=float[n], 101, 101, 101'", "10,201 results", "looks like colsum(in, 101,");
}

/* The file launches its reductions through a pointer, and by name only what fills their input. */
static void a_launch_through_a_pointer_is_of_any_kernel(void **state) {
    (void)state;
    EXPECT(
        "__global__ void set_all(float *in, int n) {\n    int i = blockIdx.x * 256 + threadIdx.x;\n"
        "    if (i < n) in[i] = 1;\n}\n"
        "__global__ void total(float *in, float *out, int n) {\n    int i = blockIdx.x * 256 + threadIdx.x;\n"
        "    if (i < n) atomicAdd(out, in[i]);\n}\n"
        "void time_it(void (*kernel)(float *, float *, int), float *in, float *out, int n) {\n"
        "    set_all<<<n / 256, 256>>>(in, n);\n    kernel<<<n / 256, 256>>>(in, out, n);\n}\n",
        "--entry 'total'", "looks like sum(in)");
}

/* As many partial results as elements were allocated: that says nothing of the grid. */
static void a_large_output_is_no_grid(void **state) {
    (void)state;
    EXPECT(
        "#include <cstdlib>\n__global__ void total(const int *in, int *out) {\n    __shared__ int s[256];\n"
        "    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];\n    __syncthreads();\n"
        "    for (int d = blockDim.x / 2; d; d /= 2) {\n        if (threadIdx.x < d) s[threadIdx.x] += "
        "s[threadIdx.x + d];\n"
        "        __syncthreads();\n    }\n    if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n"
        "void run(int n) {\n    int threads = atoi(getenv(\"THREADS\")), *in, *out;\n"
        "    cudaMalloc(&in, n * 4);\n    cudaMalloc(&out, n * 4);\n"
        "    total<<<ceil(n / (float)threads), threads>>>(in, out);\n}\n",
        "--grid 4096", "looks like sum(in) of 4096 partial results");
}

#define PAIRS(COMBINE)                                                                                       \
    "__global__ void sums(const float *in, float2 *out, int n) {\n    __shared__ float2 s[256];\n"           \
    "    int t = threadIdx.x, i = blockIdx.x * 256 + t;\n    float x = i < n ? in[i] : 0;\n"                 \
    "    s[t] = make_float2(x, x * x);\n    __syncthreads();\n"                                              \
    "    for (int d = 128; d; d /= 2) {\n"                                                                   \
    "        if (t < d) s[t].x += s[t + d].x, " COMBINE ";\n        __syncthreads();\n    }\n"               \
    "    if (t == 0) out[blockIdx.x] = s[0];\n}\n"                                                           \
    "void run(float *in, float2 *out) {\n    sums<<<64, 256>>>(in, out, 16384);\n}\n"

/* Each member of a pair looks like something, or nothing is said of the whole. */
static void pairs_are_two_results(void **state) {
    (void)state;
    EXPECT(PAIRS("s[t].y += s[t + d].y"), "2 results", "sum(in) and",
           "sumsq(in) of 64 partial results, as pairs");
    EXPECT(PAIRS("s[t].y = s[t + d].y"), "result not checked");
}

#define BEST(INDEX)                                                                                          \
    "struct Best { float value; int index; };\n"                                                             \
    "__global__ void best(const float *in, Best *out, int n) {\n    __shared__ Best s[256];\n"               \
    "    int t = threadIdx.x, i = blockIdx.x * 256 + t;\n"                                                   \
    "    s[t].value = i < n ? in[i] : -1e30f;\n    s[t].index = " INDEX ";\n    __syncthreads();\n"          \
    "    for (int d = 128; d; d /= 2) {\n"                                                                   \
    "        if (t < d && s[t + d].value > s[t].value) s[t] = s[t + d];\n        __syncthreads();\n    }\n"  \
    "    if (t == 0) out[blockIdx.x] = s[0];\n}\n"                                                           \
    "void run(float *in, Best *out) {\n    best<<<64, 256>>>(in, out, 16384);\n}\n"

static void a_value_and_its_place_are_found(void **state) {
    (void)state;
    EXPECT(BEST("i"), "max(in)", "argmax(in) of 64 partial results", "as pairs");
    EXPECT(BEST("i + 1"), "result not checked");
}

/* Of two outputs, each is named; the maximum of each row is what its exponentials are relative to. */
static void two_outputs_are_two_results(void **state) {
    (void)state;
    EXPECT("__global__ void parts(const float *in, float *most, float *sums, int rows, int columns) {\n"
           "    __shared__ float s[128];\n    int t = threadIdx.x;\n"
           "    float x = in[blockIdx.x * columns + t];\n    s[t] = x;\n    __syncthreads();\n"
           "    for (int d = 64; d; d /= 2) {\n"
           "        if (t < d) s[t] = fmaxf(s[t], s[t + d]);\n        __syncthreads();\n    }\n"
           "    float m = s[0];\n    __syncthreads();\n    s[t] = expf(x - m);\n    __syncthreads();\n"
           "    for (int d = 64; d; d /= 2) {\n"
           "        if (t < d) s[t] += s[t + d];\n        __syncthreads();\n    }\n"
           "    if (t == 0) most[blockIdx.x] = m, sums[blockIdx.x] = s[0];\n}\n"
           "void run(float *in, float *most, float *sums) {\n"
           "    parts<<<64, 128>>>(in, most, sums, 64, 128);\n}\n",
           "most = rowmax(in, 128); sums", "rowsumexp(in, 128)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demonstration_is_passed_over),
        cmocka_unit_test(a_step_of_a_sum_is_found_by_its_name),
        cmocka_unit_test(planes_of_points_are_one_sum),
        cmocka_unit_test(a_lock_is_free),
        cmocka_unit_test(names_of_macros_are_no_kernels),
        cmocka_unit_test(extremes_of_few_blocks_are_partial),
        cmocka_unit_test(sums_by_an_index_are_found),
        cmocka_unit_test(a_norm_of_columns_is_found),
        cmocka_unit_test(a_time_beside_the_sum_is_left_out),
        cmocka_unit_test(a_maximum_of_few_is_tried_again),
        cmocka_unit_test(a_long_run_is_made_shorter),
        cmocka_unit_test(floats_are_counted),
        cmocka_unit_test(members_of_two_objects_are_two_buffers),
        cmocka_unit_test(structures_are_guessed),
        cmocka_unit_test(template_arguments_are_deduced),
        cmocka_unit_test(a_number_that_is_compiled_in_is_made_smaller),
        cmocka_unit_test(what_is_printed_is_a_result),
        cmocka_unit_test(loops_of_launches_are_followed),
        cmocka_unit_test(products_with_a_sparse_matrix_are_found),
        cmocka_unit_test(a_parameter_has_its_default),
        cmocka_unit_test(a_kernel_that_stores_nothing_is_passed_over),
        cmocka_unit_test(an_instance_fits_its_block),
        cmocka_unit_test(a_name_decides_between_kernels),
        cmocka_unit_test(a_number_comes_before_a_free_size),
        cmocka_unit_test(a_block_that_no_gpu_starts_is_named),
        cmocka_unit_test(sizes_of_three_dimensions_are_guessed),
        cmocka_unit_test(a_launch_through_a_pointer_is_of_any_kernel),
        cmocka_unit_test(a_large_output_is_no_grid),
        cmocka_unit_test(pairs_are_two_results),
        cmocka_unit_test(a_value_and_its_place_are_found),
        cmocka_unit_test(two_outputs_are_two_results),
    };
    return cmocka_run_group_tests_name("first command", tests, set_up, program_remove_folder);
}
