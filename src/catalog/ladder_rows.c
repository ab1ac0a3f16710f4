/* The ladder: twenty-two ways to reduce an array, each a step from the previous one. */
#include "catalog/rows.h"

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

static bool plan_one_each(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 1, run->block * element_bytes(run));
    return true;
}

static bool plan_two_each(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 2, run->block * element_bytes(run));
    return true;
}

static bool plan_unrolled(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    const char *block = arena_print(&plan->arena, "%u", run->block);
    plan_partials(run, plan, rows_entry(plan, run, "unrolled", block), 2, run->block * element_bytes(run));
    return true;
}

static bool plan_shuffle(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, run->row->id, NULL), 2, 0);
    return true;
}

static bool plan_shuffle_atomic(const CatalogRun *run, Plan *plan, Error *error) {
    if (!plan_shuffle(run, plan, error)) return false;
    make_total(run, plan);
    return true;
}

/* Whole clusters: blocks beyond the last element add nothing. */
static bool plan_cluster(const CatalogRun *run, Plan *plan, Error *error) {
    if (!plan_shuffle_atomic(run, plan, error)) return false;
    PlanLaunch *launch = &plan->launches[0];
    launch->cluster[0] = run->cluster;
    launch->cluster[1] = launch->cluster[2] = 1;
    launch->grid[0] = rows_blocks(launch->grid[0], run->cluster) * run->cluster;
    return true;
}

static bool plan_atomic(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, "atomic", NULL), 1, 0);
    make_total(run, plan);
    return true;
}

static bool plan_multi_add(const CatalogRun *run, Plan *plan, Error *error) {
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

static bool plan_vectorized_shared(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, "vectorized_shared", NULL), vector_elements(run),
                  run->block * 16);
    return true;
}

static bool plan_vectorized(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, "vectorized", NULL), vector_elements(run),
                  run->block * element_bytes(run));
    return true;
}

static bool plan_vectorized_shuffle(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    plan_partials(run, plan, rows_entry(plan, run, "vectorized_shuffle", NULL), vector_elements(run), 0);
    return true;
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

static bool plan_grid_stride(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    uint32_t grid = resident_grid(run);
    plan_partials(run, plan, rows_entry(plan, run, "grid_stride", NULL), 1, 0);
    plan->buffers[1].count = plan->launches[0].grid[0] = grid;
    return true;
}

/* kernel(in, partial, out, n): the grid computes the final result by itself. */
static bool plan_one_launch(const CatalogRun *run, Plan *plan, bool cooperative) {
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
    return true;
}

/* All blocks must be resident, since they wait for each other. */
static bool plan_cooperative(const CatalogRun *run, Plan *plan, Error *error) {
    uint32_t resident = run->multiprocessors * (2048 / run->block);
    if (run->grid > resident)
        return error_set(error,
                         "--grid %u: the blocks of a cooperative launch must all be resident, and %u "
                         "multiprocessors hold %u of %u threads",
                         run->grid, run->multiprocessors, resident, run->block);
    return plan_one_launch(run, plan, true);
}

static bool plan_last_block(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    return plan_one_launch(run, plan, false);
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

static bool plan_fastest(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    FastestShape shape = fastest_shape(run);
    const char *sizes = arena_print(&plan->arena, "%u, %u", run->block, shape.loads);
    plan_partials(run, plan, rows_entry(plan, run, "fastest", sizes), 1, 0);
    plan->buffers[1].count = 1;
    plan->launches[0].grid[0] = shape.grid;
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

static bool plan_two_stage(const CatalogRun *run, Plan *plan, Error *error) {
    (void)error;
    uint32_t partials = rows_blocks(run->n, two_stage_elements(run->n));
    int in = rows_add_input(plan, run, run->n);
    int partial = rows_add_output(plan, "partial", run->dtype, partials);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    add_stage(run, plan, in, partial, run->n);
    add_stage(run, plan, partial, out, partials);
    return true;
}

/* ---- checks: the depth of each kernel's tree, in additions that may round --------------------------- */

enum { WARP_LEVELS = 5 };

/* `turns` elements one after another (or as a tree of that depth + 1), then the block's tree. */
static double block_depth(const CatalogRun *run, double turns) {
    return turns - 1 + reference_tree_depth(run->block);
}

static void check_one_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, 1), result);
}

static void check_two_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, 2), result);
}

/* Folds the elements of a vector in pairs, before or after the block's tree. */
static void check_vectors(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    double depth = reference_tree_depth(vector_elements(run)) + reference_tree_depth(run->block);
    rows_check_reduction(run, filled, done, 1, depth, result);
}

static void check_multi_add(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, block_depth(run, (double)rows_parameter(run, "items")),
                         result);
}

/* One after another, in any order. */
static void check_atomic(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, (double)run->n - 1, result);
}

static void check_shuffle_atomic(const CatalogRun *run, const Plan *filled, const Plan *done,
                                 ExpectResult *result) {
    double depth = block_depth(run, 2) + done->launches[0].grid[0] - 1;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

static void check_cluster(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    uint32_t clusters = done->launches[0].grid[0] / run->cluster;
    double depth = block_depth(run, 2) + reference_tree_depth(run->cluster) + clusters - 1;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

static double grid_stride_depth(const CatalogRun *run, const Plan *done) {
    return block_depth(run, rows_blocks(run->n, (uint64_t)done->launches[0].grid[0] * run->block));
}

static void check_grid_stride(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, grid_stride_depth(run, done), result);
}

/* One warp folds the partial results. */
static void check_one_launch(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    double last = rows_blocks(done->launches[0].grid[0], 32) - 1 + WARP_LEVELS;
    rows_check_reduction(run, filled, done, 2, grid_stride_depth(run, done) + last, result);
}

/* Vectors one after another, the block's tree, then the letters. */
static void check_fastest(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    uint32_t grid = done->launches[0].grid[0];
    double loaded =
        rows_blocks(run->n, (uint64_t)grid * run->block) + reference_tree_depth(vector_elements(run));
    double letters = rows_blocks(grid, run->block) + reference_tree_depth(run->block);
    rows_check_reduction(run, filled, done, 1, loaded + reference_tree_depth(run->block) + letters, result);
}

static void check_two_stage(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    double depth = 0;
    uint64_t n = run->n;
    for (int i = 0; i < 2; i++) {
        depth += reference_looped_depth(two_stage_elements(n), done->launches[i].block[0]);
        n = done->launches[i].grid[0];
    }
    rows_check_reduction(run, filled, done, 2, depth, result);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

#define LADDER                                                                                               \
    .group = CATALOG_LADDER, .operations = "sum min max", .default_n = 1 << 20, .default_block = 256
#define ALL_TYPES .types = "int float double"
#define POWER_OF_TWO(least)                                                                                  \
    .minimum_block = (least), .maximum_block = 1024, .block_rule = "a power of two",                         \
    .accepts_block = rows_accept_power_of_two
#define WHOLE_WARPS                                                                                          \
    .minimum_block = 32, .maximum_block = 1024, .block_rule = "a multiple of 32",                            \
    .accepts_block = rows_accept_whole_warps
#define BLOCKS_PER_SM(fallback_)                                                                             \
    .has_free_grid = true,                                                                                   \
    .parameters = {{"blocks_per_sm", 1, 32, fallback_, "blocks per multiprocessor, if they fit"}}

const CatalogRow ladder_rows[] = {
    {.id = "atomic",
     .story = "Every thread adds to one word: each warp brings 32 lanes to a single address.",
     LADDER,
     ALL_TYPES,
     .title = "one atomic per element",
     .lesson = "Correct and short. Its time depends on the type: an H200 takes seventy times as long for "
               "floats as for ints.",
     .watch = "Every lane of every warp goes for the same word, and there is no shared memory at all.",
     .source = "atomic.cu",
     .minimum_block = 1,
     .maximum_block = 1024,
     .block_rule = "any size",
     .plan = plan_atomic,
     .check = check_atomic},
    {.id = "interleaved",
     .story = "Neighbours first: the threads that still add lie further and further apart.",
     .aliases = "K0",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "neighbours first, tid % (2*s)",
     .lesson = "Divergence: ever fewer lanes of a warp work. Yet half of the time goes with the %: "
               "interleaved_bitmask takes half as long (2^28 ints, H200).",
     .watch =
         "At s = 1 half of every warp idles, at s = 16 one lane of 32 works; yet there is no bank conflict.",
     .source = "interleaved.cu",
     .plan = plan_one_each,
     .check = check_one_each},
    {.id = "interleaved_bitmask",
     .story = "Interleaved with & for %: the same lanes add, the same branches diverge.",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "neighbours first, tid & (2*s-1)",
     .lesson = "The lanes diverge exactly as before; without the remainder it takes half as long, in half as "
               "many machine instructions (2^28 ints, H200).",
     .watch = "The same active lanes as interleaved at every step; an & finds them.",
     .source = "interleaved_bitmask.cu",
     .plan = plan_one_each,
     .check = check_one_each},
    {.id = "strided",
     .story = "Neighbouring threads are 2*s words apart: 2-way, 4-way, then 8-way conflicts.",
     .aliases = "K1",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "contiguous threads, strided index",
     .lesson = "Bank conflicts: lanes 2*s words apart share banks. Whole warps work, yet it takes "
               "a quarter longer than interleaved_bitmask (2^28 ints, H200).",
     .watch = "An access takes 2 wavefronts, then 4, then 8; whole warps work or idle until one is left.",
     .source = "strided.cu",
     .plan = plan_one_each,
     .check = check_one_each},
    {.id = "sequential",
     .story = "The far half is added to the near half: threads and words stay side by side.",
     .aliases = "K2",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "far half onto near half",
     .lesson = "No conflict, and no divergence until one warp is left: 77 % of the time of strided, 95 % of "
               "that of interleaved_bitmask (2^28 ints, H200).",
     .watch = "Active lanes are always the first ones, and every access takes one wavefront.",
     .source = "sequential.cu",
     .plan = plan_one_each,
     .check = check_one_each},
    {.id = "first_add",
     .story = "Each thread adds two inputs while loading: half the blocks, then a tree.",
     .aliases = "K3",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "add while loading",
     .lesson = "Half of the threads of sequential never added anything; here all do, while they are loading, "
               "and it takes half as long (2^28 ints, H200).",
     .watch = "Half as many blocks for the same n, and one shared load a step, because the sum stays in a "
              "register.",
     .source = "first_add.cu",
     .plan = plan_two_each,
     .check = check_two_each},
    {.id = "unroll_last_warp",
     .story = "From s = 32 on warp 0 works alone: __syncwarp() instead of __syncthreads().",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(64),
     .title = "last warp without block barriers",
     .lesson = "A warp needs no block barrier, only __syncwarp(): six of nine barriers are gone, and a fifth "
               "of the time of first_add (2^28 ints, H200).",
     .watch =
         "From s = 32 on seven warps are done; the last one goes on with bar.warp.sync instead of bar.sync.",
     .source = "unroll_last_warp.cu",
     .plan = plan_two_each,
     .check = check_two_each},
    {.id = "unrolled",
     .story = "The block size is known to the compiler: no loop is left, only the levels.",
     .aliases = "K5",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(64),
     .title = "block size known at compile time",
     .lesson = "Neither the loop nor its counter is left: a quarter fewer machine instructions than "
               "unroll_last_warp, and 5 % less time (2^28 ints, H200).",
     .watch = "The PTX is a straight line: the branches that are left ask for i < n, tid < s and tid == 0.",
     .source = "unrolled.cu",
     .plan = plan_unrolled,
     .check = check_two_each},
    {.id = "shuffle_last_warp",
     .story = "Shared memory until one warp is left; it adds by shuffles: 16, 8, 4, 2, 1.",
     .aliases = "K4",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(32),
     .title = "shared memory to 64, then shuffles",
     .lesson = "Lanes read each other's registers: neither shared memory nor __syncwarp() for the last 64, "
               "yet no less time than unroll_last_warp (2^28 ints, H200).",
     .watch = "Five shuffles with offsets 16, 8, 4, 2, 1; only lane 0 ends with the whole sum.",
     .source = "shuffle_last_warp.cu",
     .plan = plan_two_each,
     .check = check_two_each},
    {.id = "shuffle",
     .story = "Each warp adds by five shuffles and stores one sum; warp 0 adds those sums.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     .title = "two levels of shuffles",
     .lesson = "1024 threads need one barrier and 32 words of shared memory, because 32 * 32 = 1024. It "
               "takes as long as unrolled (2^28 ints, H200).",
     .watch =
         "All lanes stay active through the first five shuffles; then one warp folds what the warps left.",
     .source = "shuffle.cu",
     .plan = plan_shuffle,
     .check = check_two_each},
    {.id = "shuffle_atomic",
     .story = "As shuffle, but one atomic per block adds to the result: no second launch.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     .title = "shuffles, then one atomic per block",
     .lesson = "One atomic a block, and one launch gives the result: ahead of shuffle at n = 2^20, behind it "
               "at 2^24 (int, H200).",
     .watch = "The one atomic at the end of each block, beside one per element in atomic.",
     .source = "shuffle_atomic.cu",
     .plan = plan_shuffle_atomic,
     .check = check_shuffle_atomic},
    {.id = "multi_add",
     .story = "Each thread adds `items` inputs in a register before the first shuffle.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     .title = "several elements per thread",
     .lesson = "Loads that do not depend on each other: 1.8 times as fast as shuffle. Fewer trees, as in "
               "grid_stride, gain only 4 % (2^28 ints, H200).",
     .watch = "A branch, a load and an add for each item, then the tree; the grid shrinks by the number of "
              "items.",
     .source = "multi_add.cu",
     .parameters = {{"items", 4, 16, 8, "elements per thread: 4, 8 or 16"}},
     .plan = plan_multi_add,
     .check = check_multi_add},
    {.id = "grid_stride",
     .story = "The grid fits the device: each thread adds, then moves on by a whole grid.",
     .aliases = "K6",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     BLOCKS_PER_SM(8),
     .title = "a grid that fits the device, one loop",
     .lesson = "One loop serves every n, and the number of trees no longer grows: 4 % less time than shuffle "
               "at n = 2^28, a tenth more at 2^20 (int, H200).",
     .watch = "Each turn of the loop is one coalesced request a warp, a whole grid apart from the last.",
     .source = "grid_stride.cu",
     .plan = plan_grid_stride,
     .check = check_grid_stride},
    {.id = "vectorized_shared",
     .story = "16-byte elements in shared memory: 4 wavefronts a full access, no conflict.",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "16-byte vectors staged in shared memory",
     .lesson = "A 16-byte shared access takes four wavefronts, a quarter of the warp each, and that is no "
               "conflict.",
     .watch = "Four wavefronts for each full access, and four is the ideal.",
     .source = "vectorized_shared.cu",
     .plan = plan_vectorized_shared,
     .check = check_vectors},
    {.id = "vectorized",
     .story = "16 bytes a lane, added in registers; shared memory then holds single values.",
     LADDER,
     ALL_TYPES,
     POWER_OF_TWO(1),
     .title = "16-byte loads, summed in registers first",
     .lesson = "The wide load stays, and shared memory holds a quarter of the bytes of vectorized_shared (of "
               "doubles, half): 26 % less time (2^28 ints, H200).",
     .watch = "Sixteen sectors in one global request, then shared accesses of one wavefront.",
     .source = "vectorized.cu",
     .plan = plan_vectorized,
     .check = check_vectors},
    {.id = "vectorized_shuffle",
     .story = "16 bytes a lane, added in registers; then two levels of shuffles.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     .title = "16-byte loads, registers, shuffles",
     .lesson = "One request of a warp moves 512 bytes. Yet multi_add, with four times as many requests, "
               "takes a tenth less time (2^28 ints, H200).",
     .watch = "One load; five shuffles in every warp, one barrier, and five more in warp 0.",
     .source = "vectorized_shuffle.cu",
     .plan = plan_vectorized_shuffle,
     .check = check_vectors},
    {.id = "redux",
     .story = "One redux adds the 32 lanes of a warp, where shuffle needs five shuffles.",
     LADDER,
     .types = "int",
     WHOLE_WARPS,
     .title = "one instruction per warp",
     .lesson = "Five shuffles and five additions become one instruction (integers, since Ampere): 9 % less "
               "time than "
               "shuffle (2^28 ints, H200).",
     .watch = "redux.sync gives every lane the result, not only lane 0.",
     .source = "redux.cu",
     .plan = plan_shuffle,
     .check = check_two_each},
    {.id = "cluster",
     .story = "Eight blocks leave their sums in shared memory; block 0 reads them there.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     .default_cluster = 8,
     .title = "clusters: shared memory of other blocks",
     .lesson = "Blocks of a cluster read each other's shared memory: one atomic for eight blocks. Yet it "
               "takes 1.8 times as long as shuffle_atomic (2^20 ints, H200).",
     .watch = "Between the two barriers of the cluster, eight lanes of block 0 read one word of each block.",
     .source = "cluster.cu",
     .plan = plan_cluster,
     .check = check_cluster},
    {.id = "cooperative",
     .story = "One launch: all blocks meet at a grid barrier, then block 0 adds their sums.",
     .aliases = "K7",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     BLOCKS_PER_SM(2),
     .title = "one launch, a barrier across the grid",
     .lesson = "All blocks wait for each other, which only works when every block is resident at once.",
     .watch = "One thread of each block spins at the grid barrier until the last block has arrived.",
     .source = "cooperative.cu",
     .plan = plan_cooperative,
     .check = check_one_launch},
    {.id = "last_block",
     .story = "Each block draws a ticket by an atomic; the last one adds all the sums.",
     LADDER,
     ALL_TYPES,
     WHOLE_WARPS,
     BLOCKS_PER_SM(2),
     .title = "one launch, the last block finishes",
     .lesson = "Fences show the last block all sums. Yet this one launch (264 blocks) takes half as "
               "long again as both of grid_stride (1056; 2^20 ints, H200).",
     .watch = "Every block draws a ticket; only the block that draws the last one goes on.",
     .source = "last_block.cu",
     .plan = plan_last_block,
     .check = check_one_launch},
    {.id = "two_stage",
     .story = "Two launches: each block leaves a partial sum, then one block adds those.",
     LADDER,
     ALL_TYPES,
     .minimum_block = 1,
     .maximum_block = 256,
     .block_rule = "a power of two",
     .accepts_block = rows_accept_power_of_two,
     .title = "two launches",
     .lesson = "The end of a launch is the one barrier across the grid that every device has.",
     .watch = "The second launch is one block that folds what the first one left.",
     .source = "two_stage.cu",
     .plan = plan_two_stage,
     .check = check_two_stage},
    {.id = "fastest",
     .story = "16-byte loads, added in registers; each block mails its sum to the last one.",
     .group = CATALOG_LADDER,
     .operations = "sum min max",
     .default_n = 1 << 20,
     .default_block = 512,
     .minimum_block = 256,
     .maximum_block = 512,
     .block_rule = "a power of two",
     .accepts_block = rows_accept_power_of_two,
     ALL_TYPES,
     .title = "one launch, 16-byte loads, sums by mail",
     .lesson = "A sum and the mark that it has arrived travel in one 8-byte word: no fence, no second trip.",
     .watch =
         "Loads of 16 bytes, one fold in each warp, one store a block; only the last block waits for the "
         "others.",
     .source = "fastest.cu",
     .plan = plan_fastest,
     .check = check_fastest},
};
const int ladder_row_count = sizeof ladder_rows / sizeof *ladder_rows;
