/* Npy: arrays in NumPy's file format (numpy.lib.format, versions 1 to 3). */
#ifndef PLAN_NPY_H
#define PLAN_NPY_H

#include "base/error.h"
#include "base/text.h"
#include "ptx/ptx.h"

typedef struct NpyFile { /* the head */
    PtxType type;
    uint64_t count;      /* elements, over all dimensions */
    uint64_t data_bytes; /* of the head: where the elements begin */
} NpyFile;

/* Reads the head. Refuses other byte orders, types without a name here, and Fortran's order of more than one
 * dimension. */
bool npy_read_head(const char *path, NpyFile *file, Error *error);
/* Writes `count` elements as a one-dimensional array. */
bool npy_write(const char *path, PtxType type, const void *bytes, uint64_t count, Error *error);

#endif
