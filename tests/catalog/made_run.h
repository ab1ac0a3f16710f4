/* A handmade run of 4 blocks of 32 threads: its buffers before and after, to test how outputs are
 * described. */
#ifndef TESTS_CATALOG_MADE_RUN_H
#define TESTS_CATALOG_MADE_RUN_H

#include "expect/expect.h"

enum { MADE_BLOCKS = 4 };

typedef struct MadeRun {
    Plan filled, done;
    ExpectRun expect;
} MadeRun;

/* Creates the buffer `in`: n random whole numbers from -range to range. */
void made_open(MadeRun *run, PtxType type, uint64_t n, double range);
/* Adds another buffer; how it is filled. */
void made_add(MadeRun *run, const char *name, PtxType type, uint64_t count, FillKind fill);
/* Fills the buffers; the run has changed nothing yet. */
void made_fill(MadeRun *run);
void made_close(MadeRun *run);

double made_in(const MadeRun *run, int buffer, uint64_t i);        /* before the run */
void made_put(MadeRun *run, int buffer, uint64_t i, double value); /* after it */

#endif
