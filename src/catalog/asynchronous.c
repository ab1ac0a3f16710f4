/* Kernels with asynchronous copies: data moves without the registers of the threads. */
#include "catalog/rows.h"

enum { PIECE_BYTES = 16, WARP_LANES = 32, WARP_LEVELS = 5, BUFFERS = 2, STAGES = 4 };

static uint32_t element_bytes(const CatalogRun *run) {
    return (uint32_t)ptx_type_bytes(run->dtype);
}

/* As many blocks as the multiprocessors hold, but no more than there are pieces of `per_block` elements. */
static uint32_t grid_of(const CatalogRun *run, uint64_t per_block) {
    if (run->grid) return run->grid;
    uint32_t per_multiprocessor = (uint32_t)rows_parameter(run, "blocks_per_sm"), most = 2048 / run->block;
    uint32_t grid = run->multiprocessors * (per_multiprocessor < most ? per_multiprocessor : most);
    uint32_t needed = rows_blocks(run->n, per_block);
    return grid < needed ? grid : needed;
}

static void add_launch(const CatalogRun *run, Plan *plan, uint32_t grid, int to, uint32_t shared_bytes) {
    PlanLaunch *launch =
        rows_add_launch(plan, rows_entry(plan, run, run->row->id, NULL), grid, run->block, shared_bytes);
    plan_add_pointer(plan, launch, 0); /* the input */
    plan_add_pointer(plan, launch, to);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* Two buffers of 16 bytes per thread; one partial result per block. */
static void plan_copies(const CatalogRun *run, Plan *plan) {
    uint32_t grid = grid_of(run, (uint64_t)run->block * (PIECE_BYTES / element_bytes(run)));
    rows_add_input(plan, run, run->n);
    add_launch(run, plan, grid, rows_add_output(plan, "out", run->dtype, grid),
               BUFFERS * run->block * PIECE_BYTES);
}

/* Four stages of 16 bytes per consumer; the first warp is the producer. */
static uint64_t stage_elements(const CatalogRun *run) {
    return (uint64_t)(run->block - WARP_LANES) * (PIECE_BYTES / element_bytes(run));
}

static void plan_specialised(const CatalogRun *run, Plan *plan) {
    uint32_t grid = grid_of(run, stage_elements(run));
    rows_add_input(plan, run, run->n);
    add_launch(run, plan, grid, rows_add_output(plan, "out", run->dtype, grid),
               STAGES * (run->block - WARP_LANES) * PIECE_BYTES);
}

/* One sum per thread in shared memory. The blocks' arrays are added to one array of as many elements, which
 * one block sums. */
static void plan_bulk_reduce(const CatalogRun *run, Plan *plan) {
    rows_add_input(plan, run, run->n);
    int all = rows_add_output(plan, "all", run->dtype, run->block);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    add_launch(run, plan, grid_of(run, run->block), all, run->block * element_bytes(run));
    PlanLaunch *last =
        rows_add_launch(plan, rows_entry(plan, run, "bulk_reduce_end", NULL), 1, run->block, 0);
    plan_add_pointer(plan, last, all);
    plan_add_pointer(plan, last, out);
}

static double loaded_depth(const CatalogRun *run, const Plan *done, uint64_t per_thread) {
    uint64_t step = (uint64_t)done->launches[0].grid[0] * run->block * per_thread;
    return (double)(rows_blocks(run->n, step) * per_thread);
}

static void check_copies(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    double depth = loaded_depth(run, done, PIECE_BYTES / element_bytes(run)) + 2 * WARP_LEVELS;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

static void check_specialised(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    uint64_t step = (uint64_t)done->launches[0].grid[0] * stage_elements(run);
    uint64_t added = (uint64_t)rows_blocks(run->n, step) * (PIECE_BYTES / element_bytes(run));
    double depth = (double)added + 2 * WARP_LEVELS;
    rows_check_reduction(run, filled, done, 1, depth, result);
}

/* The blocks' sums are added one after another. */
static void check_bulk_reduce(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    double depth = loaded_depth(run, done, 1) + (double)done->launches[0].grid[0] + 2 * WARP_LEVELS;
    rows_check_reduction(run, filled, done, 2, depth, result);
}

#define COPIES                                                                                               \
    .group = CATALOG_LADDER, .types = "int float double", .default_n = 1 << 20,                              \
    BLOCKS(256, 32, 1024, WHOLE_WARPS), BLOCKS_PER_SM(8)

const CatalogRow asynchronous_rows[] = {
    {.id = "async_copy",
     .source = "async_copy.cu",
     .opens = "global_load copy_piece(pieces, in",
     .story = "The next 16 bytes of each thread are on their way while it folds these.",
     COPIES,
     .operations = "sum min max",
     .title = "double-buffered cp.async",
     .lesson = "cp.async brings bytes to shared memory without a register, to be read behind cp.async."
               "group. Takes 1 % longer than multi_add (2^30 ints, H200).",
     .watch =
         "Two events of one instruction: what a copy reads, and what it will write; the wait lets all groups "
         "but the last arrive.",
     .plan = plan_copies,
     .check = check_copies},
    {.id = "bulk_copy",
     .source = "bulk_copy.cu",
     .opens = "global_bulk_read ",
     .story = "One thread orders a tile, and all wait for a phase of its mbarrier.",
     COPIES,
     .operations = "sum min max",
     .title = "bulk copies and mbarriers",
     .lesson =
         "One thread copies a whole tile; a phase of the mbarrier ends when its bytes have come. Takes 1.16 "
         "times as long as async_copy (2^30 ints, H200).",
     .watch =
         "One lane of one warp copies; the parity of the phase that is waited for changes each time a buffer "
         "is used again.",
     .plan = plan_copies,
     .check = check_copies},
    {.id = "bulk_reduce",
     .source = "bulk_reduce.cu",
     .opens = "global_bulk_write add_range(",
     .story = "A block adds its array to global memory with one instruction of one thread.",
     COPIES,
     .operations = "sum",
     .title = "a bulk reduction to global memory",
     .lesson =
         "One thread adds an array of shared memory to one in global memory. Yet it takes 2.6 times as long "
         "as async_copy (2^20 ints, H200).",
     .watch = "No atomic a thread: one lane reads the array, and it arrives at the wait for its group.",
     .plan = plan_bulk_reduce,
     .check = check_bulk_reduce},
    {.id = "specialised_sum",
     .source = "specialised_sum.cu",
     .opens = "global_bulk_read ",
     .story = "One warp copies up to four stages ahead; the others wait for its bytes only.",
     .group = CATALOG_LADDER,
     .types = "int float double",
     .operations = "sum min max",
     .default_n = 1 << 20,
     BLOCKS(288, 64, 1024, WHOLE_WARPS),
     BLOCKS_PER_SM(7),
     .title = "a producer warp, a ring of mbarriers",
     .lesson = "Warps with roles meet at no barrier of the block in their loop. Takes 1.02 times as long as "
               "bulk_copy (2^30 ints, H200).",
     .watch = "Warp 0 waits for empty[], the others for full[]; the parity of both changes with each turn of "
              "the ring.",
     .plan = plan_specialised,
     .check = check_specialised},
};

const int asynchronous_row_count = sizeof asynchronous_rows / sizeof asynchronous_rows[0];
