/* Tiles: plan() and check() of tma_row_sum and tma_column_sum. Their table is in numerics.c. */
#ifndef CATALOG_TILES_H
#define CATALOG_TILES_H

#include "catalog/catalog.h"

extern const char *const tiles_spans[]; /* what --param swizzle=0 to 3 are called */

bool tiles_plan_row_sum(const CatalogRun *run, Plan *plan, Error *error);
void tiles_check_row_sum(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);
bool tiles_plan_column_sum(const CatalogRun *run, Plan *plan, Error *error);
void tiles_check_column_sum(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result);

#endif
