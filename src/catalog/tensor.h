/* Tensor: plan() and check() of the kernels that use tensor cores; their rows are in numerics.c. */
#ifndef CATALOG_TENSOR_H
#define CATALOG_TENSOR_H

#include "catalog/rows.h"

void tensor_plan(const CatalogRun *run, Plan *plan);
void tensor_check(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);

void tensor_plan_row_max(const CatalogRun *run, Plan *plan);
void tensor_check_row_max(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);

#endif
