/* --invariant: the order of additions in two runs, compared by their trees. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <stdio.h>
#include <string.h>

/* `arguments`, in which {} is the folder of written files, exit with `status` and print each of these
 * texts. */
#define expect(status, arguments, ...)                                                                       \
    expect_texts(status, arguments, (const char *const[]){__VA_ARGS__, NULL})

static void expect_texts(int status, const char *arguments, const char *const *texts) {
    const char *file = strstr(arguments, "{}");
    int before = file ? (int)(file - arguments) : (int)strlen(arguments);
    Outcome outcome =
        program_shell("@ %.*s%s%s", before, arguments, file ? program_folder() : "", file ? file + 2 : "");
    const char *missing = program_missing_compiler(&outcome);
    if (missing) program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
    if (outcome.status != status)
        fail_msg("%s: status %d: %s%s", arguments, outcome.status, outcome.out, outcome.err);
    for (; *texts; texts++)
        if (!strstr(outcome.out, *texts) && !strstr(outcome.err, *texts))
            fail_msg("%s: '%s' is not in: %s%s", arguments, *texts, outcome.out, outcome.err);
    program_outcome_done(&outcome);
}

/* ---- kernels of the catalogue -------------------------------------------------------------------------- */

static void the_block_size_changes_the_order_and_the_batch_does_not(void **state) {
    (void)state;
    expect(1, "row_sum --dtype float --n 4096 --invariant block=256,1024",
           "out: 4 of 4 elements added in another order", "of them have other bits", "in[0]", "+ in[256]",
           "+ in[512]", "with other bits");
    expect(0, "row_sum --dtype float --invariant n=4096,16384",
           "out: 4 of 4 elements added in the same order", "out: 12 elements are stored only with n=16384");
    expect(0, "row_sum --dtype float --n 4096 --invariant schedule=0,3",
           "4 of 4 elements added in the same order");
}

static void integers_and_extremes_have_one_result(void **state) {
    (void)state;
    expect(0, "row_sum --dtype int --n 4096 --invariant block=256,1024",
           "4 of 4 elements made of the same elements in another order, which cannot change the result");
    expect(0, "atomic --dtype int --n 4096 --invariant block=64,128", "cannot change the result");
    expect(0, "sequential --dtype float --op max --n 256 --invariant schedule=0,1", "in the same order");
}

static void float_atomics_have_no_order_even_in_one_shape(void **state) {
    (void)state;
    expect(1, "atomic --dtype float --n 4096 --invariant block=64,64", "no order is fixed");
    expect(1, "bulk_reduce --dtype float --n 65536 --invariant schedule=0,0", "no order is fixed");
}

/* Of 256 elements a block: 128 threads add two that are 128 apart, as a level of 256 threads does. */
static void equal_trees_are_the_same_whatever_made_them(void **state) {
    (void)state;
    expect(0, "two_stage --dtype float --n 65536 --invariant block=128,256", "added in the same order");
    expect(1, "two_stage --dtype float --n 65536 --invariant block=64,256",
           "1 of 1 element added in another order");
}

static void what_another_block_stored_is_followed(void **state) {
    (void)state;
    expect(0, "last_block --dtype float --n 65536 --invariant schedule=0,1,2", "beside schedule=2");
    expect(1, "last_block --dtype float --n 65536 --invariant grid=64,128",
           "out: 1 of 1 element added in another order");
    expect(1, "cooperative --dtype float --n 65536 --invariant grid=64,128", "+ in[16384]", "+ in[32768]");
}

static void parts_of_other_elements_are_told_apart(void **state) {
    (void)state;
    expect(1, "strided --dtype float --n 4096 --invariant block=128,256", "not made of the same elements",
           "128 of in[0..127]", "256 of in[0..255]");
}

static void json_has_both_additions(void **state) {
    (void)state;
    expect(1, "row_sum --dtype float --n 4096 --json --invariant block=256,1024", "\"order\":\"differs\"",
           "\"differs\":4", "\"elements\":\"in[256]\"", "\"elements\":\"in[512]\"", "\"bits\":\"0x");
    expect(0, "row_sum --dtype float --n 4096 --json --invariant n=4096,8192", "\"order\":\"same\"",
           "\"first\":null");
}

static void bad_items_are_refused(void **state) {
    (void)state;
    expect(2, "row_sum --invariant block", "is not OPTION=VALUE");
    expect(2, "row_sum --invariant foo=1,2", "row_sum has no such parameter");
    expect(2, "row_sum --invariant block=64,128,n=1,2,3", "lists of 2 and 3 values");
    expect(2, "row_sum --invariant 'args=in=float[4], 4'", "FILE.cu");
    expect(3, "row_sum --dtype float --n 2^26 --invariant block=256,1024", "too many to follow");
}

/* ---- files --------------------------------------------------------------------------------------------- */

static const char rms_kernel[] =
    "#include <cuda_runtime.h>\n"
    "__global__ void rms(const float *x, float *y, int columns) {\n"
    "    __shared__ float part[32];\n"
    "    const float *row = x + blockIdx.x * columns;\n"
    "    float sum = 0;\n"
    "    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i] * row[i];\n"
    "    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
    "    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;\n"
    "    __syncthreads();\n"
    "    sum = 0;\n"
    "    for (int w = 0; w < blockDim.x / 32; w++) sum += part[w];\n"
    "    float scale = rsqrtf(sum / columns + 1e-5f);\n"
    "    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[blockIdx.x * columns + i] = row[i] * "
    "scale;\n"
    "}\n";

static void write_norm(const char *name, const char *block) {
    char text[4096];
    snprintf(text, sizeof text,
             "%sint main() {\n"
             "    const int columns = 512;\n"
             "    static float h[32 * columns];\n"
             "    float *x, *y;\n"
             "    for (int i = 0; i < 32 * columns; i++) h[i] = (i * 37 %% 101) * 0.013f - 0.6f;\n"
             "    cudaMalloc(&x, sizeof h);\n"
             "    cudaMalloc(&y, sizeof h);\n"
             "    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);\n"
             "    for (int batch = 4; batch <= 32; batch *= 8) rms<<<batch, %s>>>(x, y, columns);\n"
             "    cudaDeviceSynchronize();\n"
             "    cudaFree(x);\n"
             "    cudaFree(y);\n"
             "}\n",
             rms_kernel, block);
    program_write_file(name, text);
}

static void a_norm_whose_block_follows_the_batch(void **state) {
    (void)state;
    write_norm("by_batch.cu", "batch < 16 ? 512 : 128");
    expect(1, "--run {}/by_batch.cu --at 1 --invariant at=1,2",
           "y: 2048 of 2048 elements added in another order", "x[0]");
    write_norm("fixed.cu", "128");
    expect(0, "--run {}/fixed.cu --at 1 --invariant at=1,2",
           "y: 2048 of 2048 elements added in the same order");
}

static void a_row_is_the_same_at_another_place(void **state) {
    (void)state;
    program_write_file("one_row.cu",
                       "__global__ void row_sum(const float *in, float *out, int row, int columns) {\n"
                       "    float sum = 0;\n"
                       "    for (int i = 0; i < columns; i++) sum += in[row * columns + i];\n"
                       "    out[0] = sum;\n"
                       "}\n");
    expect(0,
           "{}/one_row.cu --args 'in=float[512]:random, out=float[1], 0, 64' --n 512 --grid 1 --block 1 "
           "--invariant 'args=in=float[512]:random, out=float[1], 3, 64'",
           "added in the same order");
    expect(1,
           "{}/one_row.cu --args 'in=float[512]:random, out=float[1], 0, 64' --n 512 --grid 1 --block 1 "
           "--invariant 'args=in=float[512]:random, out=float[1], 0, 63'",
           "64 of in[0..63]", "63 of in[0..62]");
}

static void split_k_follows_its_splits(void **state) {
    (void)state;
    program_write_file(
        "split_k.cu",
        "__global__ void part(const float *a, const float *b, float *tmp, int k, int splits) {\n"
        "    int each = k / splits;\n"
        "    float sum = 0;\n"
        "    for (int i = blockIdx.x * each; i < (blockIdx.x + 1) * each; i++)\n"
        "        sum += a[i] * b[i * 64 + threadIdx.x];\n"
        "    tmp[blockIdx.x * 64 + threadIdx.x] = sum;\n"
        "}\n"
        "__global__ void join(const float *tmp, float *c, int splits) {\n"
        "    int column = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    float sum = 0;\n"
        "    for (int s = 0; s < splits; s++) sum += tmp[s * 64 + column];\n"
        "    c[column] = sum;\n"
        "}\n");
    const char *first =
        "{}/split_k.cu --launch 'part<<<4, 64>>>(a, b, tmp, 256, 4); join<<<1, 64>>>(tmp, c, 4)'";
    char command[512];
    snprintf(command, sizeof command,
             "%s --invariant 'launch=part<<<8, 64>>>(a, b, tmp, 256, 8); join<<<1, 64>>>(tmp, c, 8)'", first);
    expect(1, command, "c: 64 of 64 elements added in another order", "32 of a[0..31]", "32 of a[32..63]");
    snprintf(command, sizeof command,
             "%s --invariant 'launch=part<<<4, 64>>>(a, b, tmp, 256, 4); join<<<2, 32>>>(tmp, c, 4)'", first);
    expect(0, command, "c: 64 of 64 elements added in the same order");
}

/* Additions in shared memory by all threads, by one thread, and through compare-and-swap. */
static void who_adds_decides_whether_atomics_have_an_order(void **state) {
    (void)state;
    program_write_file("adds.cu",
                       "__global__ void many(const float *in, float *out) {\n"
                       "    __shared__ float sum;\n"
                       "    if (threadIdx.x == 0) sum = 0;\n"
                       "    __syncthreads();\n"
                       "    atomicAdd(&sum, in[threadIdx.x]);\n"
                       "    __syncthreads();\n"
                       "    if (threadIdx.x == 0) out[0] = sum;\n"
                       "}\n"
                       "__global__ void one(const float *in, float *out) {\n"
                       "    if (threadIdx.x == 0)\n"
                       "        for (int i = 0; i < 64; i++) atomicAdd(out, in[i]);\n"
                       "}\n"
                       "__global__ void swaps(const float *in, float *out) {\n"
                       "    unsigned *word = (unsigned *)out, old = *word, seen;\n"
                       "    for (;; old = seen) {\n"
                       "        seen = atomicCAS(word, old, __float_as_uint(__uint_as_float(old) + "
                       "in[threadIdx.x]));\n"
                       "        if (seen == old) break;\n"
                       "    }\n"
                       "}\n");
    const char *const entries[] = {"many", "one", "swaps"};
    for (int i = 0; i < 3; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "{}/adds.cu --entry %s --args 'in=float[64]:random, out=float[1]:zero' --n 64 --grid 1 "
                 "--block 64 "
                 "--invariant schedule=0,0",
                 entries[i]);
        expect(i == 1 ? 0 : 1, command, i == 1 ? "added in the same order" : "no order is fixed");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_size_changes_the_order_and_the_batch_does_not),
        cmocka_unit_test(integers_and_extremes_have_one_result),
        cmocka_unit_test(float_atomics_have_no_order_even_in_one_shape),
        cmocka_unit_test(equal_trees_are_the_same_whatever_made_them),
        cmocka_unit_test(what_another_block_stored_is_followed),
        cmocka_unit_test(parts_of_other_elements_are_told_apart),
        cmocka_unit_test(json_has_both_additions),
        cmocka_unit_test(bad_items_are_refused),
        cmocka_unit_test(a_norm_whose_block_follows_the_batch),
        cmocka_unit_test(a_row_is_the_same_at_another_place),
        cmocka_unit_test(split_k_follows_its_splits),
        cmocka_unit_test(who_adds_decides_whether_atomics_have_an_order),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
