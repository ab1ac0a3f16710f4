/* How the rungs of the ladder are launched, and how exact their results must be. */
#include "catalog/ladder_plans.h"

#include "base/exact_sum.h"

/* ---- plans ------------------------------------------------------------------------------------------ */

static uint32_t element_bytes(const CatalogRun *run) {
    return (uint32_t)ptx_type_bytes(run->dtype);
}

/* kernel(in, out, n): each thread takes `per_thread` elements, and each block leaves a partial result in
 * `out`. */
static void plan_partials(const CatalogRun *run, Plan *plan, const char *entry, uint32_t per_thread,
                          uint32_t shared_bytes) {
    uint32_t grid = rows_blocks(run->n, (uint64_t)run->block * per_thread);
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, grid);
    PlanLaunch *launch = rows_add_launch(plan, entry, grid, run->block, shared_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* Atomics fold into one total, which starts as the operation's identity. */
static void make_total(const CatalogRun *run, Plan *plan) {
    PlanBuffer *out = &plan->buffers[1];
    out->count = 1;
    out->fill = FILL_VALUE;
    rows_identity(run->dtype, run->op, out->value);
}

void catalog_plan_one_each(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 1, run->block * element_bytes(run));
}

void catalog_plan_two_each(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 2, run->block * element_bytes(run));
}

void catalog_plan_unrolled(const CatalogRun *run, Plan *plan) {
    const char *block = arena_print(&plan->arena, "%u", run->block);
    plan_partials(run, plan, rows_entry(plan, run, "unrolled", block), 2, run->block * element_bytes(run));
}

void catalog_plan_shuffle(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 2, 0);
}

void catalog_plan_shuffle_atomic(const CatalogRun *run, Plan *plan) {
    catalog_plan_shuffle(run, plan);
    make_total(run, plan);
}

/* Whole clusters: blocks beyond the last element add nothing. */
void catalog_plan_cluster(const CatalogRun *run, Plan *plan) {
    catalog_plan_shuffle_atomic(run, plan);
    PlanLaunch *launch = &plan->launches[0];
    launch->cluster[0] = run->cluster;
    launch->cluster[1] = launch->cluster[2] = 1;
    launch->grid[0] = rows_blocks(launch->grid[0], run->cluster) * run->cluster;
}

void catalog_plan_atomic(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, "atomic", NULL), 1, 0);
    make_total(run, plan);
}

bool catalog_plan_multi_add(const CatalogRun *run, Plan *plan, Error *error) {
    int64_t items = rows_parameter(run, "items");
    if (items != 4 && items != 8 && items != 16)
        return error_set(error, "--param items=%lld: multi_add is compiled for 4, 8 and 16",
                         (long long)items);
    const char *more = arena_print(&plan->arena, "%d", (int)items);
    plan_partials(run, plan, rows_entry(plan, run, "multi_add", more), (uint32_t)items, 0);
    return true;
}

static uint32_t vector_elements(const CatalogRun *run) {
    return 16 / element_bytes(run);
}

void catalog_plan_vectorized_shared(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, "vectorized_shared", NULL), vector_elements(run),
                  run->block * 16);
}

void catalog_plan_vectorized(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, "vectorized", NULL), vector_elements(run),
                  run->block * element_bytes(run));
}

void catalog_plan_vectorized_shuffle(const CatalogRun *run, Plan *plan) {
    plan_partials(run, plan, rows_entry(plan, run, "vectorized_shuffle", NULL), vector_elements(run), 0);
}

/* As many blocks as the multiprocessors hold at once (2048 threads each), up to blocks_per_sm on each, but no
 * more than there is work for. */
static uint32_t resident_grid(const CatalogRun *run) {
    if (run->grid) return run->grid;
    uint32_t per_multiprocessor = (uint32_t)rows_parameter(run, "blocks_per_sm"), most = 2048 / run->block;
    uint32_t grid = run->multiprocessors * (per_multiprocessor < most ? per_multiprocessor : most);
    uint32_t needed = rows_blocks(run->n, run->block);
    return grid < needed ? grid : needed;
}

void catalog_plan_grid_stride(const CatalogRun *run, Plan *plan) {
    uint32_t grid = resident_grid(run);
    plan_partials(run, plan, rows_entry(plan, run, "grid_stride", NULL), 1, 0);
    plan->buffers[1].count = plan->launches[0].grid[0] = grid;
}

/* kernel(in, partial, out, n): the grid computes the final result by itself. */
static void plan_one_launch(const CatalogRun *run, Plan *plan, bool cooperative) {
    uint32_t grid = resident_grid(run);
    int in = rows_add_input(plan, run, run->n);
    int partial = rows_add_output(plan, "partial", run->dtype, grid);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    PlanLaunch *launch =
        rows_add_launch(plan, rows_entry(plan, run, run->row->id, NULL), grid, run->block, 0);
    launch->cooperative = cooperative;
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, partial);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* All blocks must be resident, since they wait for each other. */
bool catalog_plan_cooperative(const CatalogRun *run, Plan *plan, Error *error) {
    uint32_t resident = run->multiprocessors * (2048 / run->block);
    if (run->grid > resident)
        return error_set(error,
                         "--grid %u: the blocks of a cooperative launch must all be resident, and %u "
                         "multiprocessors hold %u of %u threads",
                         run->grid, run->multiprocessors, resident, run->block);
    plan_one_launch(run, plan, true);
    return true;
}

void catalog_plan_last_block(const CatalogRun *run, Plan *plan) {
    plan_one_launch(run, plan, false);
}

/* Chosen by measurements on an H200: one block while its threads need at most four loads each. Beyond that,
 * enough blocks for two loads per thread, with at most two blocks on a multiprocessor, or four above 8 MiB of
 * input. Four loads are in flight if each thread has that many. */
typedef struct FastestShape {
    uint32_t grid, loads;
} FastestShape;

enum { FASTEST_LETTERS = 2048 }; /* of kernels/fastest.cu */

static FastestShape fastest_shape(const CatalogRun *run) {
    uint64_t bytes = run->n * element_bytes(run), vectors = bytes / 16;
    uint32_t most = run->multiprocessors * (bytes > 8 << 20 ? 4 : 2);
    if (most > FASTEST_LETTERS) most = FASTEST_LETTERS;
    uint32_t grid = vectors <= 4 * run->block ? 1 : rows_blocks(vectors, 2 * (uint64_t)run->block);
    if (grid > most) grid = most;
    return (FastestShape){.grid = grid, .loads = vectors >= (uint64_t)grid * run->block * 4 ? 4 : 2};
}

static bool is_argmax(const CatalogRun *run) {
    return !strcmp(run->op, "argmax");
}

void catalog_plan_fastest(const CatalogRun *run, Plan *plan) {
    FastestShape shape = fastest_shape(run);
    const char *sizes = arena_print(&plan->arena, "%u, %u", run->block, shape.loads);
    plan_partials(run, plan, rows_entry(plan, run, "fastest", sizes), 1, 0);
    plan->buffers[1].count = 1;
    if (is_argmax(run)) plan->buffers[1].type = PTX_U32;
    plan->launches[0].grid[0] = shape.grid;
}

enum { REPRODUCIBLE_LOADS = 4, REPRODUCIBLE_LETTERS = 2048 }; /* of kernels/reproducible.cu */

/* As many blocks as are resident at once, but none that has no vector to load. */
bool catalog_plan_reproducible(const CatalogRun *run, Plan *plan, Error *error) {
    if (run->grid > REPRODUCIBLE_LETTERS)
        return error_set(error, "--grid %u: reproducible has room for the sums of %d blocks", run->grid,
                         REPRODUCIBLE_LETTERS);
    uint32_t most = resident_grid(run) < REPRODUCIBLE_LETTERS ? resident_grid(run) : REPRODUCIBLE_LETTERS;
    uint32_t needed = rows_blocks(run->n / vector_elements(run), (uint64_t)run->block * REPRODUCIBLE_LOADS);
    plan_partials(run, plan, rows_typed_entry(plan, run, "reproducible"), 1, 0);
    plan->buffers[1].count = 1;
    plan->launches[0].grid[0] = run->grid ? run->grid : most < needed ? most : needed;
    return true;
}

static uint32_t next_power_of_two(uint32_t value) {
    uint32_t power = 1;
    while (power < value) power *= 2;
    return power;
}

/* Elements per block: one block up to 1024 elements, above that at most 512 blocks. */
static uint32_t two_stage_elements(uint64_t n) {
    uint32_t elements;
    if (n <= 1024) {
        elements = next_power_of_two((uint32_t)n);
    } else {
        uint32_t blocks = rows_blocks(n, 256);
        elements = next_power_of_two(rows_blocks(n, blocks < 512 ? blocks : 512));
    }
    return elements > 64 ? elements : 64;
}

static void add_stage(const CatalogRun *run, Plan *plan, int in, int out, uint64_t n) {
    uint32_t elements = two_stage_elements(n), threads = run->block < elements ? run->block : elements;
    PlanLaunch *launch = rows_add_launch(plan, rows_entry(plan, run, "two_stage", NULL),
                                         rows_blocks(n, elements), threads, threads * element_bytes(run));
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)n);
    rows_add_u32(plan, launch, elements);
}

void catalog_plan_two_stage(const CatalogRun *run, Plan *plan) {
    uint32_t partials = rows_blocks(run->n, two_stage_elements(run->n));
    int in = rows_add_input(plan, run, run->n);
    int partial = rows_add_output(plan, "partial", run->dtype, partials);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    add_stage(run, plan, in, partial, run->n);
    add_stage(run, plan, partial, out, partials);
}

/* ---- checks: the depth of each kernel's tree, in additions that may round --------------------------- */

enum { WARP_LEVELS = 5 };

/* `turns` elements one after another (or as a tree of that depth + 1), then the block's tree. */
static double block_depth(const CatalogRun *run, double turns) {
    return turns - 1 + reference_tree_depth(run->block);
}

void catalog_check_one_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, 1), result);
}

void catalog_check_two_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, 2), result);
}

/* Folds the elements of a vector in pairs, before or after the block's tree. */
void catalog_check_vectors(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    double depth = reference_tree_depth(vector_elements(run)) + reference_tree_depth(run->block);
    rows_check_reduction(run, filled, done, 1, depth, result);
}

void catalog_check_multi_add(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, (double)rows_parameter(run, "items")),
                         result);
}

/* One after another, in any order. */
void catalog_check_atomic(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, (double)run->n - 1, result);
}

void catalog_check_shuffle_atomic(const CatalogRun *run, const Plan *filled, const Plan *done,
                                  ExpectResult *result) {
    double depth = block_depth(run, 2) + done->launches[0].grid[0] - 1;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

void catalog_check_cluster(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    uint32_t clusters = done->launches[0].grid[0] / run->cluster;
    double depth = block_depth(run, 2) + reference_tree_depth(run->cluster) + clusters - 1;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

static double grid_stride_depth(const CatalogRun *run, const Plan *done) {
    return block_depth(run, rows_blocks(run->n, (uint64_t)done->launches[0].grid[0] * run->block));
}

void catalog_check_grid_stride(const CatalogRun *run, const Plan *filled, const Plan *done,
                               ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, grid_stride_depth(run, done), result);
}

/* One warp folds the partial results. */
void catalog_check_one_launch(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    double last = rows_blocks(done->launches[0].grid[0], 32) - 1 + WARP_LEVELS;
    rows_check_reduction(run, filled, done, 2, grid_stride_depth(run, done) + last, result);
}

/* Of equal elements the first. */
static void check_argmax(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    uint64_t largest = 0;
    for (uint64_t i = 1; i < run->n; i++)
        if (rows_input(filled, i) > rows_input(filled, largest)) largest = i;
    reference_compare(result, &done->buffers[1], 0, (long double)largest, 0);
}

/* Halves are added as floats; the sum is rounded once more. */
static void check_half_sum(const CatalogRun *run, const Plan *filled, const Plan *done, double depth,
                           ExpectResult *result) {
    Reference sum = {0};
    for (uint64_t i = 0; i < run->n; i++) reference_add(&sum, rows_input(filled, i));
    reference_compare_narrowed(result, &done->buffers[1], 0, reference_sum(&sum),
                               reference_bound(PTX_F32, depth, sum.magnitude));
}

/* Vectors one after another, the block's tree, then the letters. */
void catalog_check_fastest(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    if (is_argmax(run)) {
        check_argmax(run, filled, done, result);
        return;
    }
    uint32_t grid = done->launches[0].grid[0];
    double loaded =
        rows_blocks(run->n, (uint64_t)grid * run->block) + reference_tree_depth(vector_elements(run));
    double letters = rows_blocks(grid, run->block) + reference_tree_depth(run->block);
    double depth = loaded + reference_tree_depth(run->block) + letters;
    if (run->dtype == PTX_F16 && !strcmp(run->op, "sum"))
        check_half_sum(run, filled, done, depth, result);
    else
        rows_check_reduction(run, filled, done, 1, depth, result);
}

/* Equal to the bit: the exact sum, rounded once. */
void catalog_check_reproducible(const CatalogRun *run, const Plan *filled, const Plan *done,
                                ExpectResult *result) {
    ExactSum sum = {0};
    for (uint64_t i = 0; i < run->n; i++) exact_sum_add(&sum, rows_input(filled, i), 1);
    double expected = run->dtype == PTX_F32 ? (double)exact_sum_float(&sum) : exact_sum_value(&sum);
    reference_compare(result, &done->buffers[1], 0, expected, 0);
}

void catalog_check_two_stage(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    double depth = 0;
    uint64_t n = run->n;
    for (int i = 0; i < 2; i++) {
        depth += reference_looped_depth(two_stage_elements(n), done->launches[i].block[0]);
        n = done->launches[i].grid[0];
    }
    rows_check_reduction(run, filled, done, 2, depth, result);
}
