/* tensor_core: one partial result per block; floats for 16-bit numbers, doubles for doubles. */
#include "catalog/tensor.h"

#include "catalog/rows.h"

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
