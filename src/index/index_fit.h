/* Index fit: an index expression that gives the addresses of an access. */
#ifndef INDEX_INDEX_FIT_H
#define INDEX_INDEX_FIT_H

#include "index/index_access.h"

/* Writes the simplest form that gives every active lane of `of` its offset: tid * a + b; with lanes in groups
 * of 2 to 32; with an exclusive or (swizzles). False: none of them does. */
bool index_fit(const uint64_t offset[WARP_LANES], const IndexOf *of, char out[INDEX_TEXT_BYTES]);

#endif
