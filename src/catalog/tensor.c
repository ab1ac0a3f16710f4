/* tensor_core: one partial result per block; floats for 16-bit numbers, doubles for doubles.
 * gemm_row_max: the largest product of each row with any of the first rows, the keys. */
#include "catalog/tensor.h"

#include "base/tensor_map.h"
#include <math.h>
#include <stdlib.h>

enum { WARP = 32, ITEMS = 8 /* 16-bit elements of a matrix in each lane */, WARP_LEVELS = 5 };

static uint64_t per_block(const CatalogRun *run) {
    return (uint64_t)run->block * (run->dtype == PTX_F64 ? 1 : ITEMS);
}

static PtxType sum_type(const CatalogRun *run) {
    return run->dtype == PTX_F64 ? PTX_F64 : PTX_F32;
}

void tensor_plan(const CatalogRun *run, Plan *plan) {
    uint32_t per_multiprocessor = (uint32_t)rows_parameter(run, "blocks_per_sm"), most = 2048 / run->block;
    uint32_t fit = run->multiprocessors * (per_multiprocessor < most ? per_multiprocessor : most);
    uint32_t needed = rows_blocks(run->n, per_block(run));
    uint32_t grid = run->grid ? run->grid : fit < needed ? fit : needed;
    int in = rows_add_input(plan, run, run->n), out = rows_add_output(plan, "out", sum_type(run), grid);
    PlanLaunch *launch =
        rows_add_launch(plan, rows_typed_entry(plan, run, "tensor_core"), grid, run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* For floats, the error of an mma is less than (k + 2) * 2^-23 of all that it adds
 * (emulator/instructions/matrix_dot.h): 2 * (k + 2) roundings of f32, with k = 16. For doubles it has k fused
 * multiply-adds, k = 4. */
static double roundings_of_product(const CatalogRun *run) {
    return run->dtype == PTX_F64 ? 4 : 2 * (16 + 2);
}

void tensor_check(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    const PlanBuffer *out = &done->buffers[1];
    Reference expected = {0}, got = {0};
    for (uint64_t i = 0; i < run->n; i++) reference_add(&expected, rows_input(filled, i));
    for (uint64_t b = 0; b < out->count; b++) reference_add(&got, plan_element(out->type, out->bytes, b));
    uint64_t products = rows_blocks(run->n, done->launches[0].grid[0] * per_block(run));
    double depth = (double)products * roundings_of_product(run) + 1 + 2 * WARP_LEVELS;
    reference_judge(result, out->type, 0, reference_sum(&got), reference_sum(&expected),
                    reference_bound(out->type, depth, expected.magnitude));
}

/* ---- gemm_row_max -------------------------------------------------------------------------------------- */

enum {
    ROW = 64,       /* elements */
    TILE_ROWS = 64, /* of a block, and keys that it multiplies at a time */
    TILE_BYTES = 64 * 128
};

static uint32_t keys_of(const CatalogRun *run) {
    uint32_t rows = rows_blocks(run->n, ROW), keys = (uint32_t)rows_parameter(run, "keys");
    return keys < rows ? keys : rows;
}

/* Whole rows: n is rounded up. */
void tensor_plan_row_max(const CatalogRun *run, Plan *plan) {
    uint32_t rows = rows_blocks(run->n, ROW);
    rows_add_input(plan, run, (uint64_t)rows * ROW);
    int out = rows_add_output(plan, "out", PTX_F32, rows);
    PlanLaunch *launch =
        rows_add_launch(plan, run->row->id, rows_blocks(rows, TILE_ROWS), run->block, 2 * TILE_BYTES);
    TensorMap map = {.size = {ROW, rows},
                     .stride = {ROW * 2},
                     .box = {ROW, TILE_ROWS},
                     .step = {1, 1},
                     .rank = 2,
                     .type = TENSOR_F16,
                     .swizzle = 3};
    plan_add_tensor(plan, launch, 0, &map);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, rows);
    rows_add_u32(plan, launch, keys_of(run));
}

static void read_row(const Plan *filled, uint64_t row, double *values) {
    for (uint64_t k = 0; k < ROW; k++) values[k] = rows_input(filled, row * ROW + k);
}

/* Four products of 16 elements each add to a sum of floats; see roundings_of_product(). */
void tensor_check_row_max(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    uint32_t keys = keys_of(run);
    double row[ROW], *key = memory_new((size_t)keys * ROW * sizeof *key);
    for (uint32_t i = 0; i < keys; i++) read_row(filled, i, key + (size_t)i * ROW);
    for (uint64_t i = 0; i < done->buffers[1].count; i++) {
        double largest = -HUGE_VAL, most = 0;
        read_row(filled, i, row);
        for (uint32_t j = 0; j < keys; j++) {
            double product = 0, magnitude = 0;
            for (int k = 0; k < ROW; k++) {
                double term = row[k] * key[(size_t)j * ROW + (size_t)k];
                product += term;
                magnitude += fabs(term);
            }
            largest = fmax(largest, product);
            most = fmax(most, magnitude);
        }
        reference_compare(result, &done->buffers[1], i, largest,
                          reference_bound(PTX_F32, 4 * roundings_of_product(run), most));
    }
    free(key);
}
