/* Results: the correct kernels of the catalogue, compared with their references: each type, operation, number
 * of elements and block size. One program per group of types, so that they run side by side. Include cmocka's
 * headers first.
 *
 * Integers must be exact. Floats are run twice: on small whole numbers, whose sums are exact in any order,
 * and on random numbers, within the bound that the depth of the kernel's tree gives.
 *
 * Cases excluded by a row's stated rule, and those excluded by REDVIZ_TEST_LARGEST_N (the largest n: the
 * sanitizer runs are slow), are counted and reported at the end. REDVIZ_TEST_KERNEL is a pattern of kernels
 * to try ("shuffle*"). */
#ifndef TESTS_CATALOG_RESULTS_H
#define TESTS_CATALOG_RESULTS_H

#include "ptx/ptx.h"

/* The whole program: a test for each kernel that accepts one of the types. Returns main()'s status. */
int results_main(const PtxType *types, int type_count);

#endif
