/* Kernels whose sums depend on rounding; their table also holds the rows of dimensions.c. */
#include "catalog/dimensions.h"
#include "plan/float16.h"
#include "catalog/rows.h"
#include "catalog/tensor.h"
#include "catalog/tiles.h"
#include <math.h>

/* ---- mean ---- */

static void plan_mean(const CatalogRun *run, Plan *plan) {
    uint32_t blocks = rows_blocks(run->n, run->block);
    uint32_t shared_bytes = run->block * (uint32_t)ptx_type_bytes(run->dtype);
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    int partials = rows_add_output(plan, "partials", run->dtype, blocks);
    PlanLaunch *launch =
        rows_add_launch(plan, rows_typed_entry(plan, run, "mean_partials"), blocks, run->block, shared_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, partials);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    launch =
        rows_add_launch(plan, rows_typed_entry(plan, run, "mean_of_partials"), 1, run->block, shared_bytes);
    plan_add_pointer(plan, launch, partials);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, blocks);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

static void check_mean(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    Reference sum = {0};
    for (uint64_t i = 0; i < run->n; i++) reference_add(&sum, rows_input(filled, i));
    double depth = reference_tree_depth(run->block) +
                   reference_looped_depth(rows_blocks(run->n, run->block), run->block);
    long double count = (long double)run->n; /* two more roundings: n as a float, and the division */
    reference_compare(result, &done->buffers[1], 0, reference_sum(&sum) / count,
                      reference_bound(run->dtype, depth + 2, sum.magnitude / count));
}

/* ---- half and bfloat ---- */

static uint64_t items_of(const CatalogRun *run) {
    return (uint64_t)rows_parameter(run, "items");
}
static uint64_t threads_of(const CatalogRun *run) {
    return (run->n + items_of(run) - 1) / items_of(run);
}

/* Thread t adds elements t, t + threads, t + 2 * threads, ... one after another. */
static void plan_running_sums(const CatalogRun *run, Plan *plan) {
    uint32_t threads = (uint32_t)threads_of(run);
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, threads);
    PlanLaunch *launch = rows_add_launch(plan, run->row->id, rows_blocks(threads, run->block), run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, threads);
}

/* Elements t, t + threads, ...: their true sum; and their fp16 sum in this order. */
static Reference running_sum(const CatalogRun *run, const Plan *filled, uint64_t t, double *in_half,
                             uint64_t *count) {
    Reference sum = {0};
    *in_half = 0;
    *count = 0;
    for (uint64_t i = t, step = threads_of(run); i < run->n; i += step, ++*count) {
        double x = rows_input(filled, i);
        reference_add(&sum, x);
        /* A double holds the sum of two halves exactly. */
        *in_half = float16_half_read(float16_half_write(*in_half + x));
    }
    return sum;
}

/* Reports the error of each sum. A correct sum equals, bit for bit, the result of correctly rounded fp16
 * additions in this order. It also lies within (count - 1) * u * sum|x| of the true sum, the bound for a
 * running sum of any length (Jeannerod and Rump, Improved Error Bounds for Inner Products, 2013), which an
 * overflow does not. */
static void check_half_naive(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    const PlanBuffer *out = &done->buffers[1];
    for (uint64_t t = 0; t < threads_of(run); t++) {
        double predicted;
        uint64_t count;
        Reference sum = running_sum(run, filled, t, &predicted, &count);
        result->verdict = "exactly what fp16 additions give";
        if (plan_element(out->type, out->bytes, t) != predicted)
            reference_judge(result, out->type, t, plan_element(out->type, out->bytes, t), predicted, 0);
        else
            reference_compare(result, out, t, reference_sum(&sum),
                              (double)(count - 1) * reference_roundoff(PTX_F16) * (double)sum.magnitude);
    }
    if (result->absolute_error == 0) result->verdict = NULL; /* "ok" */
}

/* fp32 additions, then one rounding to the narrow type. */
static void check_promote(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    for (uint64_t t = 0; t < threads_of(run); t++) {
        double unused;
        uint64_t count;
        Reference sum = running_sum(run, filled, t, &unused, &count);
        double bound = reference_bound(PTX_F32, (double)(count - 1), sum.magnitude);
        reference_compare_narrowed(result, &done->buffers[1], t, reference_sum(&sum), bound);
    }
}

static bool plan_scaled_half(const CatalogRun *run, Plan *plan, Error *error) {
    int64_t scale = rows_parameter(run, "scale");
    if (scale & (scale - 1))
        return error_set(error, "--param scale=%lld: only powers of two scale without rounding",
                         (long long)scale);
    uint32_t blocks = rows_blocks(run->n, run->block);
    int in = rows_add_input(plan, run, run->n);
    plan->buffers[in].scale = 60000; /* few of these random numbers overflow fp16 */
    int out = rows_add_output(plan, "out", PTX_F32, blocks);
    PlanLaunch *launch = rows_add_launch(plan, "scaled_half", blocks, run->block, run->block * 2);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_f32(plan, launch, (float)scale);
    return true;
}

/* Scaling by a power of two is exact except for subnormals, which are rounded to multiples of 2^-24. */
static void check_scaled_half(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    const PlanBuffer *out = &done->buffers[1];
    Reference expected = {0}, got = {0};
    for (uint64_t i = 0; i < run->n; i++) reference_add(&expected, rows_input(filled, i));
    for (uint64_t b = 0; b < out->count; b++) reference_add(&got, plan_element(out->type, out->bytes, b));
    double bound = reference_bound(PTX_F16, reference_tree_depth(run->block), expected.magnitude) +
                   (double)run->n * 0x1p-25 * (double)rows_parameter(run, "scale");
    reference_judge(result, PTX_F32, 0, reference_sum(&got), reference_sum(&expected), bound);
}

/* ---- kahan ---- */

static void plan_kahan(const CatalogRun *run, Plan *plan) {
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    PlanLaunch *launch = rows_add_launch(plan, rows_typed_entry(plan, run, "kahan"), 1, run->block,
                                         2 * run->block * (uint32_t)ptx_type_bytes(run->dtype));
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* 2u + O(n u^2) times sum|x| for the running sums (Higham, 4.3), u for the last rounding; the tree adds only
 * second-order terms. n is the count of one thread. */
static void check_kahan(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    Reference sum = {0};
    for (uint64_t i = 0; i < run->n; i++) reference_add(&sum, rows_input(filled, i));
    double u = reference_roundoff(run->dtype), depth = reference_looped_depth(run->n, run->block);
    reference_compare(result, &done->buffers[1], 0, reference_sum(&sum),
                      (3 * u + 4 * depth * u * u) * (double)sum.magnitude);
}

/* ---- the table ---- */

const CatalogRow numerics_rows[] = {
    {.id = "row_sum",
     IN(NUMERICS, "row_sum.cu"),
     .story = "One block a row: its threads add tile by tile, then meet in one tree.",
     .title = "sum of each row, a block a row",
     .lesson = "A row is contiguous, so a block that sums it loads whole sectors; longer rows take more "
               "tiles, not more blocks.",
     .watch = "With columns=256 every thread loads once (one tile); with more, the load is in a loop.",
     .types = "int float double",
     .operations = "sum min max",
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 30, 1024, "elements in a row"},
                    {"tiles", 0, 2, TILES_AUTO, "per row: 1 one, 2 several, 0 one if it fits"}},
     .plan_if = dimensions_plan_row_sum,
     .check = dimensions_check_row_sum},
    {.id = "row_sum_vectors",
     IN(NUMERICS, "row_sum_vectors.cu"),
     .story = "A warp a row: 16-byte loads, then five shuffles, and no barrier at all.",
     .title = "sum of each row, a warp a short row",
     .lesson = "A short row is work for a warp: no barrier, no idle level, 16 bytes a lane and load.",
     .watch = "With columns=4096 a block shares each row: shuffles, one barrier, then one warp for the rest.",
     .types = "int float double",
     .operations = "sum min max",
     BLOCKS(256, 32, 1024, WHOLE_WARPS),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 30, 256, "elements in a row"},
                    {"team", 0, 2, TEAM_AUTO, "per row: 1 a warp, 2 the block, 0 by its length"}},
     .plan_if = dimensions_plan_row_sum_vectors,
     .check = dimensions_check_row_sum_vectors},
    {.id = "column_sum",
     IN(NUMERICS, "column_sum.cu"),
     .story = "One thread a sum, no barrier: axis=0 loads 4 sectors a request, axis=1 32.",
     .title = "sum along any dimension, a thread a sum",
     .lesson =
         "The same loop is coalesced over an outer dimension and touches a sector a lane over the inner one.",
     .watch = "Sectors per load: 4 with axis=0, 32 with axis=1.",
     .types = "int float double",
     .operations = "sum min max",
     BLOCKS(256, 1, 1024, ANY_SIZE),
     .default_n = 1 << 20,
     .parameters = {{"axis", 0, 2, 0, "dimension to sum over, of [rows][columns][depth]"},
                    {"columns", 1, 1 << 20, 1024, "size of the second dimension"},
                    {"depth", 1, 1024, 1, "size of the third dimension; 1: there is none"}},
     .plan_if = dimensions_plan_column_sum,
     .check = dimensions_check_column_sum},
    {.id = "column_sum_permuted",
     IN(NUMERICS, "column_sum_permuted.cu"),
     .story = "Launch 1 transposes through shared memory; launch 2 adds rows, not columns.",
     .title = "column sums: transpose, then sum rows",
     .lesson = "Transposing first moves three times the data, yet takes a thirtieth of the time of "
               "column_sum, which has 4 blocks (2^20 ints, H200).",
     .watch = "Two launches: the tile is loaded by rows and stored by columns, and a 33rd element in each "
              "row keeps the banks apart.",
     .types = "int float double",
     .operations = "sum min max",
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 20, 1024, "elements in a row"}},
     .plan_if = dimensions_plan_column_sum_permuted,
     .check = dimensions_check_column_sum_permuted},
    {.id = "mean",
     IN(NUMERICS, "mean.cu"),
     .story = "A sum in two launches; at the very end one lane divides, once.",
     .title = "a sum, divided once",
     .lesson = "A mean is a sum with one division at its very end.",
     .watch = "The second launch: one block, and a single lane that divides.",
     SUMS("float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 20,
     .plan = plan_mean,
     .check = check_mean},
    {.id = "tma_row_sum",
     IN(NUMERICS, "tma_row_sum.cu"),
     .opens = "shared_load ",
     .story = "A lane reads a row of a copied tile: the swizzle keeps the banks apart.",
     .title = "sum of each row, tiles swizzled by the copy",
     .lesson = "Threads that each read a row of a tile would conflict in the same banks; the copy swaps "
               "pieces of 16 bytes, and the loads find them with the same XOR.",
     .watch = "With swizzle=0 the same loads take eight times the wavefronts.",
     SUMS("int float double"),
     BLOCKS(128, 32, 256, WHOLE_WARPS),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 30, 256, "elements in a row"},
                    {"swizzle", 0, 3, 3, "0 none; 1, 2, 3: spans of 32, 64, 128 bytes"}},
     .value_names = {NULL, tiles_spans},
     .plan_if = tiles_plan_row_sum,
     .check = tiles_check_row_sum},
    {.id = "tma_column_sum",
     IN(NUMERICS, "tma_column_sum.cu"),
     .opens = "shared_load ",
     .story = "Each warp reads 16 bytes of 32 rows: from the same 4 banks without a swizzle.",
     .title = "sum of each column, read down swizzled tiles",
     .lesson =
         "The transposed read of a tile takes 32 wavefronts for 32 pieces without a swizzle, and 4 with "
         "the hardware's.",
     .watch = "With swizzle=0 all lanes of a warp read from 4 banks.",
     SUMS("int float double"),
     BLOCKS(256, 256, 256, .block_rule = "256 threads"),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 30, 1024, "elements in a row"},
                    {"swizzle", 0, 3, 3, "0 none, 3: 128 bytes"}},
     .value_names = {NULL, tiles_spans},
     .plan_if = tiles_plan_column_sum,
     .check = tiles_check_column_sum},
    {.id = "moments",
     IN(NUMERICS, "moments.cu"),
     .story = "Two trees climb together, sum and sum of squares, fed by the same loads.",
     .title = "sum and sum of squares in one pass",
     .lesson = "A reduction may carry more than one value: each element is loaded once for both.",
     .watch = "Two shared arrays and one barrier a step: the two trees climb together.",
     SUMS("float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, 1 << 30, 1024, "elements in a row"}},
     .plan = dimensions_plan_moments,
     .check = dimensions_check_moments},
    {.id = "softmax_row",
     IN(NUMERICS, "softmax_row.cu"),
     .story = "Two trees, maximum then sum: all threads read sdata[0] before the second.",
     .title = "softmax of each row",
     .lesson = "Two reductions in a row: here no thread adds before all of them know the maximum.",
     .watch = "sdata[0] is read by all lanes at once (one wavefront), and a barrier stands before the array "
              "is used again.",
     SUMS("float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 18,
     .parameters = {{"columns", 1, 1 << 30, 1024, "elements in a row"}},
     .plan = dimensions_plan_softmax_row,
     .check = dimensions_check_softmax_row},
    {.id = "logsumexp",
     IN(NUMERICS, "logsumexp.cu"),
     .story = "The row's maximum is found first, so that no term of the exp() sum exceeds 1.",
     .title = "log of the sum of exponentials, stable",
     .lesson =
         "Take the maximum out before exp() and add it back after log(): the same number, without overflow.",
     .watch = "The largest element contributes exp(0) = 1, so the sum is never 0 and rarely large.",
     SUMS("float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 18,
     .parameters = {{"columns", 1, 1 << 30, 1024, "elements in a row"}},
     .plan = dimensions_plan_logsumexp,
     .check = dimensions_check_logsumexp},
    {.id = "half_naive",
     IN(NUMERICS, "half_naive.cu"),
     .story = "Each thread adds 4096 numbers in fp16; a sum of ones stops at 2048.",
     .title = "fp16 sums in fp16: they stop growing",
     .lesson = "fp16 has 11 significant bits: a running sum of ones sticks at 2048, because 2049 rounds back "
               "to it.",
     .watch =
         "The result is 2048 where 4096 is expected: exactly what theory predicts. half_promote gives 4096.",
     SUMS("half"),
     BLOCKS(256, 1, 1024, ANY_SIZE),
     .default_n = 1 << 20,
     .fill = FILL_ONES,
     .parameters = {{"items", 1, 1 << 20, 4096, "elements that a thread adds"}},
     .plan = plan_running_sums,
     .check = check_half_naive},
    {.id = "half_promote",
     IN(NUMERICS, "half_promote.cu"),
     .story = "The ones of half_naive, added in fp32: the sum reaches 4096.",
     .title = "fp16 sums in fp32",
     .lesson = "Store small, add large: fp16 in memory, fp32 in the register, one rounding at the end.",
     .watch =
         "The same loads as half_naive, a conversion for each element and one for the sum, and the right "
         "sum.",
     SUMS("half"),
     BLOCKS(256, 1, 1024, ANY_SIZE),
     .default_n = 1 << 20,
     .fill = FILL_ONES,
     .parameters = {{"items", 1, 1 << 20, 4096, "elements that a thread adds"}},
     .plan = plan_running_sums,
     .check = check_promote},
    {.id = "bfloat_promote",
     IN(NUMERICS, "bfloat_promote.cu"),
     .story = "bfloat16 ones, widened and added in fp32: rounded once, the sum is 4096.",
     .title = "bfloat16 sums in fp32",
     .lesson = "A bfloat16 is the upper half of a float: 16 zero bits promote it, exactly. A sum in 8 bits "
               "would stop at 256.",
     .watch =
         "The conversion packs 16 zero bits below the number (mov.b32); the sum is rounded to bfloat16 once.",
     SUMS("bfloat"),
     BLOCKS(256, 1, 1024, ANY_SIZE),
     .default_n = 1 << 20,
     .fill = FILL_ONES,
     .parameters = {{"items", 1, 1 << 20, 4096, "elements that a thread adds"}},
     .plan = plan_running_sums,
     .check = check_promote},
    {.id = "tensor_core",
     IN(NUMERICS, "tensor_core.cu"),
     .story = "Inputs times a matrix of ones: a tensor core adds 16 numbers to each sum.",
     .title = "sums by a tensor core",
     .lesson = "A product with ones adds the rows of a matrix: one mma of a warp, and 256 numbers of 16 bits "
               "are in "
               "16 sums. An H200 adds 2^28 halves in 127 us.",
     .watch =
         "One event of 32 lanes: mma. Which lane holds which element; the eight columns of D are equal, and "
         "three shuffles add its rows.",
     SUMS("half bfloat double"),
     BLOCKS(256, 32, 1024, WHOLE_WARPS),
     .default_n = 1 << 20,
     BLOCKS_PER_SM(8),
     .plan = tensor_plan,
     .check = tensor_check},
    {.id = "gemm_row_max",
     IN(NUMERICS, "gemm_row_max.cu"),
     .opens = "matrix ",
     .story = "Four warps multiply two tiles in shared memory; each thread keeps the largest.",
     .title = "the largest product of each row, by wgmma",
     .lesson =
         "The reduction inside attention: a warpgroup multiplies swizzled tiles where tensor copies left "
         "them, and the scores never leave its registers.",
     .watch = "Four threads share two rows, 16 columns each: two shuffles for each row are left to reduce.",
     .types = "half",
     .operations = "max",
     BLOCKS(128, 128, 128, .block_rule = "128 threads"),
     .default_n = 1 << 14,
     .parameters = {{"keys", 1, 256, 256, "rows that each row is multiplied with"}},
     .plan = tensor_plan_row_max,
     .check = tensor_check_row_max},
    {.id = "scaled_half",
     IN(NUMERICS, "scaled_half.cu"),
     .story = "Inputs are divided by `scale` first: by 1024, no fp16 sum passes 65504.",
     .title = "fp16 sums that would overflow, scaled",
     .lesson =
         "Dividing by a power of two first keeps the sum below 65504; only numbers that become subnormal "
         "(here below 0.0625) lose digits.",
     .watch = "Elements are up to 60000 large: with scale=1 two of them are too much for fp16, sums become "
              "infinite, of either sign, and the result nan.",
     SUMS("half"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 20,
     .fill = FILL_RANDOM,
     .parameters = {{"scale", 1, 1 << 14, 1024, "a power of two that elements are divided by"}},
     .plan_if = plan_scaled_half,
     .check = check_scaled_half},
    {.id = "kahan",
     IN(NUMERICS, "kahan.cu"),
     .story = "Each addition keeps what rounding lost and corrects the next input by it.",
     .title = "compensated summation",
     .lesson = "Each addition remembers what it lost, so the error hardly depends on how many there are.",
     .watch = "Four additions for each element, in an order that must not be simplified.",
     SUMS("float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1 << 12,
     .fill = FILL_RANDOM,
     .plan = plan_kahan,
     .check = check_kahan},
};

const int numerics_row_count = sizeof numerics_rows / sizeof numerics_rows[0];
