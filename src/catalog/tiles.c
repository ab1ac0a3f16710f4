/* Sums of rows and of columns whose tiles come by tensor copies. */
#include "catalog/tiles.h"

#include "base/tensor_map.h"
#include "catalog/dimensions.h"
#include "catalog/rows.h"

enum {
    PIECE_BYTES = 16,
    BUFFERS = 2,
    WIDEST_SPAN = 128, /* bytes of a tile's row without a swizzle, or with the widest */
    COLUMN_TILE_ROWS = 32
};

const char *const tiles_spans[] = {"none", "32 bytes", "64 bytes", "128 bytes"};

static uint32_t element_bytes(const CatalogRun *run) {
    return (uint32_t)ptx_type_bytes(run->dtype);
}

/* The span of a swizzle; the bits of an address that it changes. */
static uint32_t span_of(int64_t swizzle) {
    return swizzle ? UINT32_C(16) << swizzle : WIDEST_SPAN;
}
static uint32_t mask_of(int64_t swizzle) {
    return swizzle ? span_of(swizzle) - PIECE_BYTES : 0;
}

static TensorType tensor_type(PtxType type) {
    return type == PTX_S32 ? TENSOR_S32 : type == PTX_F32 ? TENSOR_F32 : TENSOR_F64;
}

/* The whole rows of the input, copied in boxes of `span` bytes of `box_rows` rows. */
static bool add_tensor(const CatalogRun *run, Plan *plan, PlanLaunch *launch, uint32_t box_rows,
                       Error *error) {
    uint64_t columns = (uint64_t)rows_parameter(run, "columns"), bytes = element_bytes(run);
    int64_t swizzle = rows_parameter(run, "swizzle");
    if (columns * bytes % PIECE_BYTES)
        return error_set(error,
                         "--param columns=%llu: rows of a tensor map are a multiple of 16 bytes, which is %u "
                         "elements",
                         (unsigned long long)columns, PIECE_BYTES / (uint32_t)bytes);
    uint64_t rows = run->n / columns;
    TensorMap map = {.size = {columns, rows ? rows : 1},
                     .stride = {columns * bytes},
                     .box = {span_of(swizzle) / (uint32_t)bytes, box_rows},
                     .step = {1, 1},
                     .rank = 2,
                     .type = tensor_type(run->dtype),
                     .swizzle = (uint32_t)swizzle};
    plan_add_tensor(plan, launch, 0, &map);
    return true;
}

static PlanLaunch *add_launch(const CatalogRun *run, Plan *plan, uint64_t outputs, uint32_t grid,
                              uint32_t shared_bytes) {
    rows_add_input(plan, run, run->n);
    rows_add_output(plan, "out", run->dtype, outputs);
    return rows_add_launch(plan, rows_typed_entry(plan, run, run->row->id), grid, run->block, shared_bytes);
}

static void add_common(const CatalogRun *run, Plan *plan, PlanLaunch *launch) {
    plan_add_pointer(plan, launch, 0);
    plan_add_pointer(plan, launch, 1);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "columns"));
}

bool tiles_plan_row_sum(const CatalogRun *run, Plan *plan, Error *error) {
    uint64_t columns = (uint64_t)rows_parameter(run, "columns"), rows = rows_blocks(run->n, columns);
    int64_t swizzle = rows_parameter(run, "swizzle");
    PlanLaunch *launch =
        add_launch(run, plan, rows, rows_blocks(rows, run->block), BUFFERS * run->block * span_of(swizzle));
    if (!add_tensor(run, plan, launch, run->block, error)) return false;
    add_common(run, plan, launch);
    rows_add_u32(plan, launch, span_of(swizzle));
    rows_add_u32(plan, launch, mask_of(swizzle));
    return true;
}

void tiles_check_row_sum(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    dimensions_check_rows(run, filled, done, 1, 1, result);
}

bool tiles_plan_column_sum(const CatalogRun *run, Plan *plan, Error *error) {
    uint64_t columns = (uint64_t)rows_parameter(run, "columns"), sums = run->n < columns ? run->n : columns;
    int64_t swizzle = rows_parameter(run, "swizzle");
    PlanLaunch *launch = add_launch(run, plan, sums, rows_blocks(sums * element_bytes(run), WIDEST_SPAN),
                                    BUFFERS * COLUMN_TILE_ROWS * WIDEST_SPAN);
    if (swizzle % 3)
        return error_set(error, "--param swizzle=%d: the tile is 128 bytes wide; 0 or 3", (int)swizzle);
    if (!add_tensor(run, plan, launch, COLUMN_TILE_ROWS, error)) return false;
    add_common(run, plan, launch);
    rows_add_u32(plan, launch, mask_of(swizzle));
    return true;
}

void tiles_check_column_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    dimensions_check_columns(run, filled, done, COLUMN_TILE_ROWS, result);
}
