/* Kernels with bugs that people really write.
 *
 * Each is a sum of n elements, compared with the true sum, so the report shows which bug this run found:
 *
 *   a wrong sum    bug_missing_sync, bug_all_lanes_add, bug_double_count
 *   a trap         bug_unguarded_load (if n is not a multiple of the block), bug_half_shared (block > 128)
 *   poison         bug_uninitialized_shared (if n is not a multiple of the block); the sum is wrong, too
 *   nothing yet    bug_overlapping_halves, bug_volatile_tail: races, right under the default schedule */
#include "catalog/rows.h"

/* One launch with a thread for each element; `out` has one sum, or one for each block; `shared_elements` have
 * the run's type. */
static void plan_bug(const CatalogRun *run, Plan *plan, bool one_total, uint32_t shared_elements) {
    int in = rows_add_input(plan, run, run->n);
    uint32_t blocks = rows_blocks(run->n, run->block);
    int out = rows_add_output(plan, "out", run->dtype, one_total ? 1 : blocks);
    const char *entry = rows_typed_entry(plan, run, run->row->id);
    uint32_t shared_bytes = shared_elements * (uint32_t)ptx_type_bytes(run->dtype);
    PlanLaunch *launch = rows_add_launch(plan, entry, blocks, run->block, shared_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

static void plan_shared_tree(const CatalogRun *run, Plan *plan) {
    plan_bug(run, plan, false, run->block);
}

static void plan_static_shared(const CatalogRun *run, Plan *plan) {
    plan_bug(run, plan, false, 0);
}

static void plan_atomic_total(const CatalogRun *run, Plan *plan) {
    plan_bug(run, plan, true, 0);
}

/* Allows the roundings of a right kernel of this shape: a tree over the block's threads. */
static void check_sum(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, reference_tree_depth(run->block), result);
}

static void check_atomic_total(const CatalogRun *run, const Plan *filled, const Plan *done,
                               ExpectResult *result) {
    double warps = rows_blocks(run->n, 32); /* each adds once */
    rows_check_reduction(run, filled, done, 1, reference_tree_depth(32) + warps - 1, result);
}

const CatalogRow bugs_rows[] = {
    {.id = "bug_missing_sync",
     IN(BUG, "bug_missing_sync.cu"),
     .story = "Wrong sum: lane 0 loads 7 of 64 words before any store, and adds only those.",
     .title = "wrong on purpose: last warp without __syncwarp",
     .lesson = "The compiler cannot know that other lanes write the array, so it loads everything before "
               "it stores.",
     .watch =
         "The last warp loads seven numbers and stores once: lane 0 never sees what the other lanes added.",
     SUMS("int float double"),
     BLOCKS(256, 64, 1024, A_POWER_OF_TWO),
     .default_n = 1024,
     .plan = plan_shared_tree,
     .check = check_sum},
    {.id = "bug_overlapping_halves",
     IN(BUG, "bug_overlapping_halves.cu"),
     .story = "Sum right, yet a race: words are read and written between the same barriers.",
     .title = "wrong on purpose: the halves overlap",
     .lesson = "A thread adds into an element that another thread reads in the same interval: races within "
               "a warp and between warps, which the default schedule hides.",
     .watch = "From s = 64 on more threads add than tid < s would let; the sum is right under the default "
              "schedule, and wrong under --schedule 1.",
     SUMS("int float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1024,
     .plan = plan_shared_tree,
     .check = check_sum},
    {.id = "bug_unguarded_load",
     IN(BUG, "bug_unguarded_load.cu"),
     .story = "The last block traps: its threads load past the end of the input.",
     .title = "wrong on purpose: no i < n before the load",
     .lesson = "The grid is rounded up to whole blocks, so the last block must not load what is not there.",
     .watch = "The last block loads past the end of `in`: out of bounds.",
     SUMS("int float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1000,
     .plan = plan_shared_tree,
     .check = check_sum},
    {.id = "bug_half_shared",
     IN(BUG, "bug_half_shared.cu"),
     .story = "The first store traps: threads 128 to 255 write past the shared array.",
     .title = "wrong on purpose: shared array of half the size",
     .lesson = "Every thread stores its element before half of them add, so the array needs room for the "
               "whole block.",
     .watch = "Threads 128 to 255 store past the end of `sums`: out of bounds.",
     SUMS("int float double"),
     BLOCKS(256, 1, 256, A_POWER_OF_TWO),
     .default_n = 1024,
     .plan = plan_static_shared,
     .check = check_sum},
    {.id = "bug_uninitialized_shared",
     IN(BUG, "bug_uninitialized_shared.cu"),
     .story = "Wrong sum: the last block adds shared words that no thread wrote.",
     .title = "wrong on purpose: the tail is never zeroed",
     .lesson = "Shared memory starts with what the last block left there: threads without an element must "
               "store the identity.",
     .watch = "In the last block the first step of the tree reads words that no thread has written.",
     SUMS("int float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1000,
     .plan = plan_shared_tree,
     .check = check_sum},
    {.id = "bug_all_lanes_add",
     IN(BUG, "bug_all_lanes_add.cu"),
     .story = "Wrong sum: all 32 lanes of a warp add to the total; only lane 0 holds the sum.",
     .title = "wrong on purpose: every lane adds its leftovers",
     .lesson = "After shuffles down only lane 0 holds the sum; the other lanes hold partial sums of no use.",
     .watch = "The atomic has 32 active lanes where it should have one.",
     SUMS("int float double"),
     BLOCKS(256, 32, 1024, WHOLE_WARPS),
     .default_n = 1024,
     .plan = plan_atomic_total,
     .check = check_atomic_total},
    {.id = "bug_volatile_tail",
     IN(BUG, "bug_volatile_tail.cu"),
     .story = "Sum right, yet a race in the last warp: --schedule 1 makes the sum wrong.",
     .title = "wrong on purpose: volatile, but no __syncwarp",
     .lesson = "volatile keeps the order of each lane's accesses; only __syncwarp keeps the lanes together.",
     .watch =
         "The sum is right under the default schedule, where the lanes of a warp walk together, and wrong "
         "under --schedule 1: since Volta nothing promises lockstep.",
     SUMS("int float double"),
     BLOCKS(256, 64, 1024, A_POWER_OF_TWO),
     .default_n = 1024,
     .plan = plan_shared_tree,
     .check = check_sum},
    {.id = "bug_double_count",
     IN(BUG, "bug_double_count.cu"),
     .story = "Wrong sum: all inputs after the first block's are loaded by two blocks.",
     .title = "wrong on purpose: the grid is not halved",
     .lesson = "Index and grid belong together: block b + 1 loads again what block b has added already.",
     .watch = "Every element after the first block is loaded twice.",
     SUMS("int float double"),
     BLOCKS(256, 1, 1024, A_POWER_OF_TWO),
     .default_n = 1024,
     .plan = plan_shared_tree,
     .check = check_sum},
};

const int bugs_row_count = sizeof bugs_rows / sizeof bugs_rows[0];
