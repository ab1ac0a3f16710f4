/* Kernels compiled by Triton, with their launches and their table (kernels/triton_*.py).
 *
 * A program is a block; its number of threads is fixed at compile time (.reqntid). The arguments of the
 * source are followed by two pointers to scratch memory, which are null if a kernel needs none. */
#include "catalog/dimensions.h"
#include "catalog/rows.h"
#include <math.h>

enum { /* as in the sources */
       TILE = 1024,
       ROW_TILE = 128,
       COLUMN_TILE = 32,
       MOST_PROGRAMS = 1024,
       MOST_COLUMNS = 1 << 20 /* element indices have 32 bits and reach a tile beyond the end */
};

/* ---- plans ---- */

/* entry(in, out, n, [number]) of the run's type; `shared_bytes` as Triton reports them when it compiles. */
static PlanLaunch *add_programs(const CatalogRun *run, Plan *plan, uint32_t programs, uint32_t shared_bytes,
                                int in, int out, uint64_t n) {
    const char *entry = arena_print(&plan->arena, "%s_%s", run->row->id, plan_type_name(run->dtype));
    PlanLaunch *launch = rows_add_launch(plan, entry, programs, run->block, shared_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)n);
    return launch;
}

static void add_scratch(Plan *plan, PlanLaunch *launch) {
    static const uint64_t null;
    for (int i = 0; i < 2; i++) plan_add_scalar(plan, launch, &null, sizeof null);
}

/* One element per warp: what tl.sum() and tl.max() over one dimension pass through shared memory. */
static uint32_t warps_bytes(const CatalogRun *run, PtxType type) {
    return run->block / 32 * (uint32_t)ptx_type_bytes(type);
}

static uint32_t sum_programs(const CatalogRun *run) {
    uint32_t tiles = rows_blocks(run->n, TILE);
    return tiles < MOST_PROGRAMS ? tiles : MOST_PROGRAMS;
}

static void plan_sum(const CatalogRun *run, Plan *plan) {
    uint32_t programs = sum_programs(run), shared_bytes = warps_bytes(run, run->dtype);
    int in = rows_add_input(plan, run, run->n);
    int partial = rows_add_output(plan, "partial", run->dtype, programs);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    add_scratch(plan, add_programs(run, plan, programs, shared_bytes, in, partial, run->n));
    add_scratch(plan, add_programs(run, plan, 1, shared_bytes, partial, out, programs));
}

static void plan_max(const CatalogRun *run, Plan *plan) {
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    plan->buffers[out].fill = FILL_VALUE; /* the initial value for atomics */
    rows_identity(run->dtype, run->op, plan->buffers[out].value);
    add_scratch(plan, add_programs(run, plan, rows_blocks(run->n, TILE), warps_bytes(run, run->dtype), in,
                                   out, run->n));
}

/* `sums` sums of the input, each over `number` elements or of `number` columns. */
static void plan_sums(const CatalogRun *run, Plan *plan, uint64_t sums, uint32_t programs,
                      uint32_t shared_bytes, uint32_t number) {
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, sums);
    PlanLaunch *launch = add_programs(run, plan, programs, shared_bytes, in, out, run->n);
    rows_add_u32(plan, launch, number);
    add_scratch(plan, launch);
}

static void plan_row_sum(const CatalogRun *run, Plan *plan) {
    uint32_t columns = (uint32_t)rows_parameter(run, "columns"), rows = rows_blocks(run->n, columns);
    plan_sums(run, plan, rows, rows, 0, columns);
}

static void plan_column_sum(const CatalogRun *run, Plan *plan) {
    uint32_t columns = (uint32_t)rows_parameter(run, "columns");
    uint32_t sums = run->n < columns ? (uint32_t)run->n : columns;
    plan_sums(run, plan, sums, rows_blocks(sums, COLUMN_TILE),
              run->block * (uint32_t)ptx_type_bytes(run->dtype), columns);
}

static uint64_t items_of(const CatalogRun *run) {
    return (uint64_t)rows_parameter(run, "items");
}

static void plan_half_sum(const CatalogRun *run, Plan *plan) {
    uint32_t programs = rows_blocks(run->n, items_of(run));
    plan_sums(run, plan, programs, programs, warps_bytes(run, PTX_F32), (uint32_t)items_of(run));
}

/* ---- checks: `TILE` running sums, then a tree over them, in any lanes ---- */

static void check_sum(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    uint32_t programs = sum_programs(run);
    uint64_t each = (uint64_t)rows_blocks(rows_blocks(run->n, TILE), programs) * TILE;
    double depth = reference_looped_depth(each, TILE) + reference_looped_depth(programs, TILE);
    rows_check_reduction(run, filled, done, 2, depth, result);
}

static void check_max(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, 0, result);
}

static void check_row_sum(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    dimensions_check_rows(run, filled, done, ROW_TILE, 1, result);
}

static void check_column_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    dimensions_check_columns(run, filled, done, COLUMN_TILE, result);
}

/* fp32 additions, then one rounding to fp16; a sum that fp16 cannot hold is expected to be infinite. */
static void check_half_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                           ExpectResult *result) {
    for (uint64_t t = 0; t < done->buffers[1].count; t++) {
        long double magnitude;
        uint64_t begin = t * items_of(run), left = run->n - begin;
        uint64_t length = left < items_of(run) ? left : items_of(run);
        long double expected = rows_fold(run, filled, begin, length, 1, &magnitude);
        double bound = reference_bound(PTX_F32, reference_looped_depth(length, TILE), magnitude);
        reference_compare_narrowed(result, &done->buffers[1], t, expected, bound);
    }
}

/* ---- the table ---- */

const CatalogRow triton_rows[] = {
    {.id = "triton_sum",
     IN(TRITON, "triton_sum.py"),
     .story = "tl.sum() taken apart: registers, shuffles, shared memory, shuffles again.",
     .title = "Triton: a sum, one program launched twice",
     .lesson =
         "tl.sum() is what the ladder ends with: registers, shuffles, a word of each warp in shared memory, "
         "shuffles.",
     .watch = "One line of Python, tl.store(out + program, tl.sum(total)), takes most of the steps: "
              "shuffle, store, barrier, load, shuffle. In int it is redux instead.",
     SUMS("float int double"),
     BLOCKS(128, 128, 128, .block_rule = "128 threads"),
     .default_n = 1 << 20,
     .plan = plan_sum,
     .check = check_sum},
    {.id = "triton_max",
     IN(TRITON, "triton_max.py"),
     .story = "Each program finds the maximum of its tile; an atomic folds it into out[0].",
     .title = "Triton: a maximum, an atomic a program",
     .lesson = "One launch is enough where programs fold their results by atomics.",
     .watch =
         "In float there are two atomics, of which one is executed: a signed maximum for positive numbers, "
         "an unsigned minimum for negative ones.",
     .types = "float int",
     .operations = "max",
     BLOCKS(128, 128, 128, .block_rule = "128 threads"),
     .default_n = 1 << 20,
     .plan = plan_max,
     .check = check_max},
    {.id = "triton_row_sum",
     IN(TRITON, "triton_row_sum.py"),
     .story = "One warp sums a row: registers, then five shuffles, and never a barrier.",
     .title = "Triton: sums over the inner dimension",
     .lesson = "With num_warps=1 the sum of a row stays within a warp: neither shared memory nor a barrier.",
     .watch =
         "Four loads of 32 neighbours a tile, then five shuffles, each to the lane at half the distance.",
     SUMS("float int double"),
     BLOCKS(32, 32, 32, .block_rule = "32 threads"),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, MOST_COLUMNS, 1024, "elements in a row"}},
     .plan = plan_row_sum,
     .check = check_row_sum},
    {.id = "triton_column_sum",
     IN(TRITON, "triton_column_sum.py"),
     .story = "Lanes lie across columns; the rows of a column meet in shared memory.",
     .title = "Triton: sums over the outer dimension",
     .lesson =
         "Lanes lie along the inner dimension and load whole sectors; a column is spread over registers and "
         "warps, which meet in shared memory.",
     .watch =
         "Each lane adds its rows in eight registers; then the block transposes through shared memory, with "
         "the words swizzled (xor) so that neither stores nor loads have bank conflicts.",
     SUMS("float int double"),
     BLOCKS(128, 128, 128, .block_rule = "128 threads"),
     .default_n = 1 << 20,
     .parameters = {{"columns", 1, MOST_COLUMNS, 1024, "elements in a row"}},
     .plan = plan_column_sum,
     .check = check_column_sum},
    {.id = "triton_half_sum",
     IN(TRITON, "triton_half_sum.py"),
     .story = "fp16 tiles are widened to fp32 and then added; each sum is rounded once.",
     .title = "Triton: fp16 sums in fp32",
     .lesson =
         "Store small, add large: the widening is one .to(tl.float32) in the source, and a cvt for each "
         "element in PTX.",
     .watch = "Loads of two bytes a lane touch two sectors a request; the result is rounded to fp16 once.",
     SUMS("half"),
     BLOCKS(128, 128, 128, .block_rule = "128 threads"),
     .default_n = 1 << 20,
     .parameters = {{"items", 1, 1 << 20, 4096, "elements that a program adds"}},
     .plan = plan_half_sum,
     .check = check_half_sum},
};

const int triton_row_count = sizeof triton_rows / sizeof triton_rows[0];
