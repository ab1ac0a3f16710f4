/* Rows: the tables of the catalogue, and shared code of their plan() and check() functions.
 *
 * Each of ladder_rows.c, asynchronous.c, numerics.c, triton.c, labs.c and bugs.c exports one table. A row's
 * plan() adds buffers and launches; its check() compares every output element with a reference computed on
 * the host from the filled input. */
#ifndef CATALOG_ROWS_H
#define CATALOG_ROWS_H

#include "catalog/catalog.h"

extern const CatalogRow ladder_rows[], asynchronous_rows[], numerics_rows[], triton_rows[], labs_rows[],
    bugs_rows[];
extern const int ladder_row_count, asynchronous_row_count, numerics_row_count, triton_row_count,
    labs_row_count, bugs_row_count;

/* Block sizes that a row accepts, within its minimum and maximum. */
bool rows_accept_power_of_two(uint32_t block);
bool rows_accept_whole_warps(uint32_t block);

/* Fields that most rows have: the group and the source; the sizes of blocks, by one of three rules; the
 * types of a sum. */
#define IN(group_, source_) .group = CATALOG_##group_, .source = source_
#define BLOCKS(usual, least, most, ...)                                                                      \
    .default_block = usual, .minimum_block = least, .maximum_block = most, __VA_ARGS__
#define ANY_SIZE       .block_rule = "any size"
#define A_POWER_OF_TWO .block_rule = "a power of two", .accepts_block = rows_accept_power_of_two
#define WHOLE_WARPS    .block_rule = "a multiple of 32", .accepts_block = rows_accept_whole_warps
#define SUMS(types_)   .types = types_, .operations = "sum"
#define BLOCKS_PER_SM(usual)                                                                                 \
    .has_free_grid = true,                                                                                   \
    .parameters = {{"blocks_per_sm", 1, 32, usual, "blocks per multiprocessor, if they fit"}}

/* Value of a --param of the run's row; `name` must be one of the row's. */
int64_t rows_parameter(const CatalogRun *run, const char *name);

/* Readable entry name for ptx_module_find_entry(), in the plan's arena: rows_entry(plan, run, "unrolled",
 * "256") is "unrolled<int,Sum,256>"; `more` NULL: no further template arguments. */
const char *rows_entry(Plan *plan, const CatalogRun *run, const char *function, const char *more);
/* As above, for a template with only the type: "moments<float>". */
const char *rows_typed_entry(Plan *plan, const CatalogRun *run, const char *function);

/* The run's input: `count` elements of its dtype, filled as --fill says (random by default). */
int rows_add_input(Plan *plan, const CatalogRun *run, uint64_t count);
/* A zeroed buffer that the kernel writes. */
int rows_add_output(Plan *plan, const char *name, PtxType type, uint64_t count);

/* A launch of `grid` blocks of `block` threads, one-dimensional, without arguments yet. */
PlanLaunch *rows_add_launch(Plan *plan, const char *entry, uint32_t grid, uint32_t block,
                            uint32_t shared_bytes);
void rows_add_u32(Plan *plan, PlanLaunch *launch, uint32_t value);
void rows_add_f32(Plan *plan, PlanLaunch *launch, float value);

/* Blocks of `per_block` elements that cover n; at least one. */
uint32_t rows_blocks(uint64_t n, uint64_t per_block);

/* Identity of the operation in `type`, as in memory: the initial value of a total. */
void rows_identity(PtxType type, const char *op, void *bytes);

/* Element i of the plan's first buffer, the input, widened. */
double rows_input(const Plan *filled, uint64_t i);

/* Folds `count` elements of the input (at least one) from `begin`, `step` apart, with the run's operation;
 * *magnitude is the sum of their absolute values. */
long double rows_fold(const CatalogRun *run, const Plan *filled, uint64_t begin, uint64_t count,
                      uint64_t step, long double *magnitude);

/* Checks a reduction of the buffer "in" to one value with the run's op. It folds the `count` elements of the
 * buffer `output` (partial results of the blocks, or one total) on the host, exactly for integers, in long
 * double for floats, and compares with the fold of the input. `depth`: the most additions from an element of
 * the input to an element of `output`. */
void rows_check_reduction(const CatalogRun *run, const Plan *filled, const Plan *done, int output,
                          double depth, ExpectResult *result);

#endif
