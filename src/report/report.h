/* Report: a run as JSON, whose fields are stable, or as text for a slide. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/text.h"
#include "findings/findings.h"
#include "metrics/metrics.h"
#include "sass/compare.h"
#include "trace/grid_timeline.h"
#include "trace/measured.h"

typedef struct ReportInput {
    const char *kernel;
    const char *title, *lesson;   /* a few words; a sentence; may be NULL */
    const char *backend, *device; /* "emulator", "gpu": what recorded the events; device NULL: none */
    const char *counted_by;       /* what counted the totals: "emulator", "gpu" */
    uint64_t dropped;             /* events that did not fit into the GPU's buffer */
    int unprobed;                 /* instructions that cannot be recorded on a GPU */
    uint64_t n;
    uint32_t block, grid;    /* threads per block, blocks (totals) */
    const char *guess;       /* what of the launch was guessed, as options; NULL: nothing */
    const char *unopened;    /* a source file that lies elsewhere and was not opened; NULL: none */
    const char *compiled_by; /* "nvrtc, since nvcc failed: ..."; NULL: by the first compiler, or by none */
    const char *read;        /* what was read in the file's host code; NULL: nothing */
    const char *looks_like;  /* what the result was compared with, "sum(in)"; NULL: a reference of its own */
    bool is_said;            /* it was said so; else it only looks like it */
    const char *alike; /* "every element counts alike, as in sum(f(x))", though it was not compared; NULL */
    const char *dtype, *op;   /* NULL: not known (a user's kernel) */
    bool has_result, correct; /* no reference: has_result false, fields print as null */
    const char *result;       /* exact decimal text; NULL: a trap ended the run before there was one */
    const char *expected;     /* exact decimal text */
    double absolute_error, relative_error;
    double bound;             /* absolute error that rounding may cause; 0: none */
    const char *verdict;      /* instead of "ok" where a right result is off: "as predicted"; may be NULL */
    uint64_t compared, index; /* results that were compared, and which of them is reported; 0: not known */
    bool narrowed;            /* --trace-blocks given: totals over the traced blocks only */
    bool interrupted; /* the run was ended: totals are of what ran until then, the result is not known */
    uint64_t blocks_done, blocks; /* of all launches, where it was */
    const Trace *trace;
    const Findings *hazards;      /* NULL: not looked for */
    bool counts_only;             /* hazards are left to --check, which searches for them */
    const int *registers;         /* [launch]; -1: not known */
    const double *occupancy;      /* [launch]; negative: not known */
    const char *occupancy_of;     /* "H200"; may be NULL */
    const Measurements *measured; /* hardware counters beside the trace's; NULL or empty: none */
    const GridTimeline *timeline; /* where and when each block ran; NULL: not known */
    bool timeline_is_live;        /* it was measured just now; else recorded */
    const char *recorded;         /* when, of what a file kept: UTC, "2026-11-21T15:00:00Z"; NULL: just now */
    const char *unmeasured;       /* why there are none although they were asked for; NULL: they were not */
    const SassKernel *const *sass;              /* [launch]; NULL: not known of this launch, or of none */
    const SassComparison *const *compared_sass; /* [launch], beside the PTX; NULL where `sass` is */
    const char *const *no_sass;                 /* [launch]: why it is not known */
    const char *(*source_text)(void *context, const char *file, int line); /* NULL: not available */
    void *context;
} ReportInput;

void report_json(const ReportInput *input, Text *out);
void report_text(const ReportInput *input, Text *out);

#endif
