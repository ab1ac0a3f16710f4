/* Reductions along one dimension: of rows, of columns, and of a three-dimensional array.
 *
 * An array has as many rows (of `columns` elements, each `depth` deep) as n elements need; the last row may
 * be shorter. Sums without elements are not computed. */
#include "catalog/dimensions.h"

#include "catalog/rows.h"
#include <math.h>
#include <string.h>

/* ---- rows ---- */

static uint64_t columns_of(const CatalogRun *run) {
    return (uint64_t)rows_parameter(run, "columns");
}
static uint64_t rows_of(const CatalogRun *run) {
    return (run->n + columns_of(run) - 1) / columns_of(run);
}

static uint64_t row_length(const CatalogRun *run, uint64_t row) {
    uint64_t left = run->n - row * columns_of(run);
    return left < columns_of(run) ? left : columns_of(run);
}

/* One block per row; `arrays` shared arrays of the block's size, `outputs` elements of output. */
static void plan_rows(const CatalogRun *run, Plan *plan, const char *entry, uint32_t arrays,
                      uint64_t outputs) {
    uint32_t type_bytes = (uint32_t)ptx_type_bytes(run->dtype);
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, outputs);
    PlanLaunch *launch =
        rows_add_launch(plan, entry, (uint32_t)rows_of(run), run->block, arrays * run->block * type_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, (uint32_t)columns_of(run));
}

bool dimensions_plan_row_sum(const CatalogRun *run, Plan *plan, Error *error) {
    int64_t tiles = rows_parameter(run, "tiles");
    bool fits = columns_of(run) <= run->block;
    if (tiles == TILES_ONE && !fits)
        return error_set(
            error, "--param tiles=1: one tile holds rows of up to %u columns, the block; they have %llu",
            run->block, (unsigned long long)columns_of(run));
    bool is_one = tiles == TILES_ONE || (tiles == TILES_AUTO && fits);
    const char *entry = rows_entry(plan, run, is_one ? "row_sum_one_tile" : "row_sum_several_tiles", NULL);
    plan_rows(run, plan, entry, 1, rows_of(run));
    return true;
}

void dimensions_check_rows(const CatalogRun *run, const Plan *filled, const Plan *done, uint32_t sums,
                           uint32_t width, ExpectResult *result) {
    bool is_sum = !strcmp(run->op, "sum");
    for (uint64_t row = 0; row < rows_of(run); row++) {
        long double magnitude;
        uint64_t length = row_length(run, row);
        long double expected = rows_fold(run, filled, row * columns_of(run), length, 1, &magnitude);
        double depth = reference_looped_depth(length, sums) + reference_tree_depth(width);
        reference_compare(result, &done->buffers[1], row, expected,
                          is_sum ? reference_bound(run->dtype, depth, magnitude) : 0);
    }
}

void dimensions_check_row_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    dimensions_check_rows(run, filled, done, run->block, 1, result);
}

/* A row of up to 4 KiB is a warp's: eight vectors a lane. */
static uint32_t team_of(const CatalogRun *run) {
    int64_t team = rows_parameter(run, "team");
    bool is_short = columns_of(run) * (uint64_t)ptx_type_bytes(run->dtype) <= 4096;
    return team == TEAM_WARP || (team == TEAM_AUTO && is_short) ? 32 : run->block;
}

bool dimensions_plan_row_sum_vectors(const CatalogRun *run, Plan *plan, Error *error) {
    bool is_warp = team_of(run) == 32;
    (void)error;
    plan_rows(run, plan, rows_entry(plan, run, is_warp ? "row_sum_warps" : "row_sum_blocks", NULL), 0,
              rows_of(run));
    if (is_warp) plan->launches[0].grid[0] = rows_blocks(rows_of(run), run->block / 32);
    return true;
}

void dimensions_check_row_sum_vectors(const CatalogRun *run, const Plan *filled, const Plan *done,
                                      ExpectResult *result) {
    uint32_t width = 16 / (uint32_t)ptx_type_bytes(run->dtype), team = team_of(run);
    dimensions_check_rows(run, filled, done, team, width, result);
}

void dimensions_plan_moments(const CatalogRun *run, Plan *plan) {
    plan_rows(run, plan, rows_typed_entry(plan, run, "moments"), 2, 2 * rows_of(run));
}

void dimensions_check_moments(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result) {
    for (uint64_t row = 0; row < rows_of(run); row++) {
        Reference sum = {0}, squares = {0};
        uint64_t length = row_length(run, row);
        for (uint64_t k = 0; k < length; k++) {
            long double x = rows_input(filled, row * columns_of(run) + k);
            reference_add(&sum, x);
            reference_add(&squares, x * x);
        }
        double depth = reference_looped_depth(length, run->block);
        reference_compare(result, &done->buffers[1], 2 * row, reference_sum(&sum),
                          reference_bound(run->dtype, depth, sum.magnitude));
        /* + 1: the product. */
        reference_compare(result, &done->buffers[1], 2 * row + 1, reference_sum(&squares),
                          reference_bound(run->dtype, depth + 1, squares.magnitude));
    }
}

/* ---- exponentials ---- */

typedef struct Exponentials { /* for a row: sum of exp(x - largest) */
    long double largest, total;
    double relative_bound; /* of the kernel's total */
} Exponentials;

enum {
    /* In units of roundoff: exp, log and a division are within 2 units in the last place each. */
    FUNCTION_ERROR = 8
};

/* The argument x - largest is rounded once, so exp() of it has an error of |x - largest| units, weighted by
 * its share. */
static Exponentials row_exponentials(const CatalogRun *run, const Plan *filled, uint64_t row) {
    uint64_t begin = row * columns_of(run), length = row_length(run, row);
    Exponentials result = {.largest = rows_input(filled, begin)};
    for (uint64_t k = 1; k < length; k++)
        result.largest = fmaxl(result.largest, rows_input(filled, begin + k));
    Reference total = {0}, distances = {0};
    for (uint64_t k = 0; k < length; k++) {
        long double distance = rows_input(filled, begin + k) - result.largest, term = expl(distance);
        reference_add(&total, term);
        reference_add(&distances, -distance * term);
    }
    result.total = reference_sum(&total);
    double units = reference_looped_depth(length, run->block) + FUNCTION_ERROR +
                   (double)(reference_sum(&distances) / result.total);
    result.relative_bound = units * reference_roundoff(run->dtype);
    return result;
}

/* Float exp() flushes smaller results to 0. */
static double smallest_normal(PtxType type) {
    return type == PTX_F32 ? 0x1p-126 : 0x1p-1022;
}

void dimensions_plan_softmax_row(const CatalogRun *run, Plan *plan) {
    plan_rows(run, plan, rows_typed_entry(plan, run, "softmax_row"), 1, run->n);
}

void dimensions_check_softmax_row(const CatalogRun *run, const Plan *filled, const Plan *done,
                                  ExpectResult *result) {
    for (uint64_t row = 0; row < rows_of(run); row++) {
        Exponentials row_of = row_exponentials(run, filled, row);
        for (uint64_t k = 0; k < row_length(run, row); k++) {
            uint64_t i = row * columns_of(run) + k;
            long double distance = row_of.largest - rows_input(filled, i),
                        expected = expl(-distance) / row_of.total;
            double own = (FUNCTION_ERROR + (double)distance) * reference_roundoff(run->dtype);
            reference_compare(result, &done->buffers[1], i, expected,
                              (double)expected * (row_of.relative_bound + own) + smallest_normal(run->dtype));
        }
    }
}

void dimensions_plan_logsumexp(const CatalogRun *run, Plan *plan) {
    plan_rows(run, plan, rows_typed_entry(plan, run, "logsumexp"), 1, rows_of(run));
}

void dimensions_check_logsumexp(const CatalogRun *run, const Plan *filled, const Plan *done,
                                ExpectResult *result) {
    for (uint64_t row = 0; row < rows_of(run); row++) {
        Exponentials row_of = row_exponentials(run, filled, row);
        long double logarithm = logl(row_of.total), expected = row_of.largest + logarithm;
        double rounding =
            (double)(fabsl(expected) + FUNCTION_ERROR * fabsl(logarithm)) * reference_roundoff(run->dtype);
        reference_compare(result, &done->buffers[1], row, expected, row_of.relative_bound + rounding);
    }
}

/* ---- columns ---- */

typedef struct Slices { /* the array as [outer][length][inner]; sums run over length */
    uint64_t length, inner;
    uint64_t count; /* number of sums with elements; they come before those without */
} Slices;

static Slices column_slices(const CatalogRun *run) {
    uint64_t depth = (uint64_t)rows_parameter(run, "depth"), plane = columns_of(run) * depth;
    Slices slices = {columns_of(run), depth, 0}; /* axis 1 */
    if (rows_parameter(run, "axis") == 0) slices = (Slices){(run->n + plane - 1) / plane, plane, 0};
    if (rows_parameter(run, "axis") == 2) slices = (Slices){depth, 1, 0};
    uint64_t whole = slices.length * slices.inner, rest = run->n % whole;
    slices.count = run->n / whole * slices.inner + (rest < slices.inner ? rest : slices.inner);
    return slices;
}

bool dimensions_plan_column_sum(const CatalogRun *run, Plan *plan, Error *error) {
    if (rows_parameter(run, "axis") == 2 && rows_parameter(run, "depth") == 1)
        return error_set(error,
                         "--param axis=2: the array has two dimensions, 0 and 1; give depth=K for a third");
    Slices slices = column_slices(run);
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, slices.count);
    PlanLaunch *launch = rows_add_launch(plan, rows_entry(plan, run, "column_sum", NULL),
                                         rows_blocks(slices.count, run->block), run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, (uint32_t)slices.count);
    rows_add_u32(plan, launch, (uint32_t)slices.length);
    rows_add_u32(plan, launch, (uint32_t)slices.inner);
    return true;
}

static void check_slices(const CatalogRun *run, const Plan *filled, const PlanBuffer *out, Slices slices,
                         uint32_t threads, ExpectResult *result) {
    bool is_sum = !strcmp(run->op, "sum");
    for (uint64_t t = 0; t < slices.count; t++) {
        uint64_t begin = t / slices.inner * slices.length * slices.inner + t % slices.inner;
        uint64_t reachable = (run->n - begin + slices.inner - 1) / slices.inner;
        uint64_t length = reachable < slices.length ? reachable : slices.length;
        long double magnitude, expected = rows_fold(run, filled, begin, length, slices.inner, &magnitude);
        reference_compare(
            result, out, t, expected,
            is_sum ? reference_bound(run->dtype, reference_looped_depth(length, threads), magnitude) : 0);
    }
}

void dimensions_check_column_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                                 ExpectResult *result) {
    check_slices(run, filled, &done->buffers[1], column_slices(run), 1, result);
}

enum { /* a block of 32 x 8 threads moves a tile of 32 x 32; a grid has up to 65535 of them in y */
       TRANSPOSE_TILE = 32,
       TRANSPOSE_ROWS = 8,
       MOST_GRID_ROWS = 65535
};

bool dimensions_plan_column_sum_permuted(const CatalogRun *run, Plan *plan, Error *error) {
    uint32_t rows = (uint32_t)rows_of(run), columns = (uint32_t)columns_of(run);
    if (rows > TRANSPOSE_TILE * MOST_GRID_ROWS)
        return error_set(error, "--param columns=%u: more than %d rows are too many tiles; use more columns",
                         columns, TRANSPOSE_TILE * MOST_GRID_ROWS);
    uint32_t sums = run->n < columns ? (uint32_t)run->n : columns;
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, sums);
    int transposed = rows_add_output(plan, "transposed", run->dtype, (uint64_t)rows * columns);
    PlanLaunch *launch = rows_add_launch(plan, rows_entry(plan, run, "column_transpose", NULL),
                                         rows_blocks(columns, TRANSPOSE_TILE), TRANSPOSE_TILE, 0);
    launch->grid[1] = rows_blocks(rows, TRANSPOSE_TILE);
    launch->block[1] = TRANSPOSE_ROWS;
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, transposed);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, rows);
    rows_add_u32(plan, launch, columns);
    launch = rows_add_launch(plan, rows_entry(plan, run, "column_sum_of_rows", NULL), sums, run->block,
                             run->block * (uint32_t)ptx_type_bytes(run->dtype));
    plan_add_pointer(plan, launch, transposed);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, rows);
    return true;
}

void dimensions_check_columns(const CatalogRun *run, const Plan *filled, const Plan *done, uint32_t sums,
                              ExpectResult *result) {
    uint64_t count = run->n < columns_of(run) ? run->n : columns_of(run);
    check_slices(run, filled, &done->buffers[1], (Slices){rows_of(run), columns_of(run), count}, sums,
                 result);
}

void dimensions_check_column_sum_permuted(const CatalogRun *run, const Plan *filled, const Plan *done,
                                          ExpectResult *result) {
    dimensions_check_columns(run, filled, done, run->block, result);
}
