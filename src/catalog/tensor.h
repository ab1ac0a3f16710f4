/* Tensor: plan() and check() of the kernel that adds with tensor cores; its row is in numerics.c. */
#ifndef CATALOG_TENSOR_H
#define CATALOG_TENSOR_H

#include "catalog/rows.h"

void tensor_plan(const CatalogRun *run, Plan *plan);
void tensor_check(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);

#endif
