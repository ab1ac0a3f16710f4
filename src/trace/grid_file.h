/* Grid timelines as text in tab-separated columns: what --bench=grid prints.
 *
 * assets/h200/grid has a file for each kernel. Lines that begin with # are skipped.
 *
 *   grid    KERNEL N TYPE OP MACHINE DRIVER WHEN MULTIPROCESSORS GRANULARITY OVERHEAD LAUNCHES
 *   launch  ENTRY GX GY GZ BX BY BZ cooperative|- CAPACITY PLAIN_CAPACITY BLOCKS START END USED RESIDENT TAIL
 *           IDLE MEAN_BLOCK LONGEST_BLOCK
 *   blocks  UNIT          then, 64 blocks a line, in the order of their index:
 *   b       MULTIPROCESSOR,START,LENGTH ...
 *   bins    LENGTH COUNT  then a line for each multiprocessor on which the launch had a block:
 *   m       MULTIPROCESSOR LEVELS
 *
 * Launches follow their grid, and blocks or bins follow their launch. Times are nanoseconds since the first
 * block of the run started; those of blocks are in units of UNIT nanoseconds, and START is relative to the
 * start of the previous block. A level is the mean number of resident blocks in a bin, in halves, as one of
 * 64 characters: 0-9, A-Z, a-z, -, _ (31.5 and more). "-" means not known. */
#ifndef TRACE_GRID_FILE_H
#define TRACE_GRID_FILE_H

#include "base/text.h"
#include "trace/grid_timeline.h"

typedef void GridFileTake(void *context, GridTimeline *timeline); /* owns it */

void grid_file_write(const GridTimeline *timeline, Text *out);

/* Passes each timeline of the file to `take`, which owns it. Trusts nothing: recomputes the figures of
 * launches that keep their blocks. False with `error`: the file, the line and what is wrong there. */
bool grid_file_read(const char *path, GridFileTake *take, void *context, Error *error);

/* As above, for text; `path` is its name in errors. */
bool grid_file_read_text(const char *text, const char *path, GridFileTake *take, void *context, Error *error);

#endif
