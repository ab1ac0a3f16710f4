/* Dimensions: plan() and check() of the rows that reduce along one dimension. Their table is in numerics.c
 * (and triton.c, which checks the same). */
#ifndef CATALOG_DIMENSIONS_H
#define CATALOG_DIMENSIONS_H

#include "catalog/rows.h"

enum { TILES_AUTO, TILES_ONE, TILES_SEVERAL }; /* row_sum's parameter `tiles` */
enum { TEAM_AUTO, TEAM_WARP, TEAM_BLOCK };     /* row_sum_vectors' parameter `team` */

/* Compares buffer 1 with the sums of the rows (columns) of a matrix of n elements and --param columns. Each
 * may consist of `sums` running sums, of vectors of `width` elements, folded as a tree. */
void dimensions_check_rows(const CatalogRun *run, const Plan *filled, const Plan *done, uint32_t sums,
                           uint32_t width, ExpectResult *result);
void dimensions_check_columns(const CatalogRun *run, const Plan *filled, const Plan *done, uint32_t sums,
                              ExpectResult *result);

bool dimensions_plan_row_sum(const CatalogRun *run, Plan *plan, Error *error);
void dimensions_check_row_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result);
bool dimensions_plan_row_sum_vectors(const CatalogRun *run, Plan *plan, Error *error);
void dimensions_check_row_sum_vectors(const CatalogRun *run, const Plan *filled, const Plan *done,
                                      ExpectResult *result);
void dimensions_plan_moments(const CatalogRun *run, Plan *plan);
void dimensions_check_moments(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result);
void dimensions_plan_softmax_row(const CatalogRun *run, Plan *plan);
void dimensions_check_softmax_row(const CatalogRun *run, const Plan *filled, const Plan *done,
                                  ExpectResult *result);
void dimensions_plan_logsumexp(const CatalogRun *run, Plan *plan);
void dimensions_check_logsumexp(const CatalogRun *run, const Plan *filled, const Plan *done,
                                ExpectResult *result);
bool dimensions_plan_column_sum(const CatalogRun *run, Plan *plan, Error *error);
void dimensions_check_column_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                                 ExpectResult *result);
bool dimensions_plan_column_sum_permuted(const CatalogRun *run, Plan *plan, Error *error);
void dimensions_check_column_sum_permuted(const CatalogRun *run, const Plan *filled, const Plan *done,
                                          ExpectResult *result);

#endif
