/* Timeline run: the run that a timeline is of, and where and when it was measured.
 *
 * Grid timelines and warp timelines have it, in memory and in their files. */
#ifndef TRACE_TIMELINE_RUN_H
#define TRACE_TIMELINE_RUN_H

#include "base/memory.h"
#include "base/tsv.h"

typedef struct TimelineRun {
    const char *kernel, *dtype, *op; /* dtype, op: "" if not known */
    uint64_t n;
    const char *machine, *driver; /* "NVIDIA H200"; "580.159.04, CUDA 13.0"; "" if not known */
    const char *measured;         /* UTC time of the measurement, "2026-11-21T15:00:00Z" */
} TimelineRun;

extern const TimelineRun timeline_run_unknown; /* all texts "" */

/* As the columns KERNEL N TYPE OP MACHINE DRIVER WHEN. */
void timeline_run_write(const TimelineRun *run, Text *out);
/* From columns 1 to 7, which are there; texts live in `arena`. */
bool timeline_run_read(const TsvReader *tsv, Arena *arena, TimelineRun *run, Error *error);

#endif
