/* Ladder plans: plan() and check() of the ladder's kernels; its rows are in ladder_rows.c. */
#ifndef CATALOG_LADDER_PLANS_H
#define CATALOG_LADDER_PLANS_H

#include "catalog/rows.h"

void catalog_plan_atomic(const CatalogRun *run, Plan *plan);
void catalog_plan_cluster(const CatalogRun *run, Plan *plan);
bool catalog_plan_cooperative(const CatalogRun *run, Plan *plan, Error *error);
void catalog_plan_fastest(const CatalogRun *run, Plan *plan);
void catalog_plan_grid_stride(const CatalogRun *run, Plan *plan);
void catalog_plan_last_block(const CatalogRun *run, Plan *plan);
bool catalog_plan_multi_add(const CatalogRun *run, Plan *plan, Error *error);
void catalog_plan_one_each(const CatalogRun *run, Plan *plan);
bool catalog_plan_reproducible(const CatalogRun *run, Plan *plan, Error *error);
void catalog_plan_shuffle(const CatalogRun *run, Plan *plan);
void catalog_plan_shuffle_atomic(const CatalogRun *run, Plan *plan);
void catalog_plan_two_each(const CatalogRun *run, Plan *plan);
void catalog_plan_two_stage(const CatalogRun *run, Plan *plan);
void catalog_plan_unrolled(const CatalogRun *run, Plan *plan);
void catalog_plan_vectorized(const CatalogRun *run, Plan *plan);
void catalog_plan_vectorized_shared(const CatalogRun *run, Plan *plan);
void catalog_plan_vectorized_shuffle(const CatalogRun *run, Plan *plan);

void catalog_check_atomic(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);
void catalog_check_cluster(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);
void catalog_check_fastest(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);
void catalog_check_grid_stride(const CatalogRun *run, const Plan *filled, const Plan *done,
                               ExpectResult *result);
void catalog_check_multi_add(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result);
void catalog_check_one_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result);
void catalog_check_one_launch(const CatalogRun *run, const Plan *filled, const Plan *done,
                              ExpectResult *result);
void catalog_check_reproducible(const CatalogRun *run, const Plan *filled, const Plan *done,
                                ExpectResult *result);
void catalog_check_shuffle_atomic(const CatalogRun *run, const Plan *filled, const Plan *done,
                                  ExpectResult *result);
void catalog_check_two_each(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result);
void catalog_check_two_stage(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result);
void catalog_check_vectors(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);

#endif
