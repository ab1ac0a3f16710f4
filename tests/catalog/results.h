/* Results: the kernels of the catalogue that are right, held against their references: each type, operation,
 * number of elements and block size. One program a group of types, so that they run side by side. Needs
 * cmocka's headers before it.
 *
 * Integers must be exact. Floats are run twice: on small whole numbers, whose sums are exact in any order,
 * and on random numbers, within the bound that the depth of the kernel's tree gives.
 *
 * What a row excludes by its stated rule, and what REDVIZ_TEST_LIMIT (the largest n: the sanitizer runs are
 * slow) leaves out, is counted and said at the end. REDVIZ_TEST_KERNEL is a pattern of kernels to try
 * ("shuffle*"). */
#ifndef TESTS_CATALOG_RESULTS_H
#define TESTS_CATALOG_RESULTS_H

#include "ptx/ptx.h"

/* The whole program: a test for each kernel that takes one of the types. Returns main()'s status. */
int results_main(const PtxType *types, int type_count);

#endif
