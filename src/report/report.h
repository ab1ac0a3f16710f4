/* Report: a run as JSON, whose fields are stable, or as text for a slide. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/json.h"
#include "base/text.h"
#include "findings/findings.h"
#include "metrics/metrics.h"
#include "sass/compare.h"
#include "trace/grid_timeline.h"
#include "trace/measured.h"

typedef struct ReportInput {
    void (*put_more)(void *put_context, Json *json); /* adds fields to the JSON; NULL: none */
    void *put_context;
    const char *kernel;
    const char *title, *lesson;   /* a few words; a sentence; NULL: none */
    const char *backend, *device; /* "emulator", "gpu": the recorder of the events; device NULL: none */
    const char *counted_by;       /* the counter of the totals: "emulator", "gpu" */
    uint64_t dropped;             /* events that did not fit in the GPU's buffer */
    int unprobed;                 /* instructions that cannot be recorded on a GPU */
    uint64_t n;
    uint32_t block, grid; /* threads per block, blocks (totals) */
    const char *guess;    /* guessed parts of the launch, as options; NULL: none */
    bool is_guess;        /* values of its arguments are invented: so are its faults and results */
    const char *program;  /* the file, whose main() could be run instead; NULL: it has none */
    bool is_judged;       /* the program was, of which it is a launch */
    bool hides_n;         /* nothing of the run depends on n */
    /* what is wrong with a size that is no multiple of the block: a sentence; NULL: nothing */
    const char *other_size;
    const char *unopened; /* a source file in another folder that was not opened; NULL: none */
    /* "nvrtc, since nvcc failed: ..."; NULL: by the first compiler, or not compiled. */
    const char *compiled_by;
    const char *read; /* what was read from the file's host code; NULL: nothing */
    /* The expected function of the result, "sum(in)"; without has_result, what it looks like. NULL: the
     * catalogue's reference, or nothing known. */
    const char *looks_like;
    bool changes_nothing;     /* all memory is as before the run */
    const char *dtype, *op;   /* NULL: not known (a user's kernel) */
    bool has_result, correct; /* without a reference, has_result is false and the fields print as null */
    const char *result;       /* exact decimal text; NULL: a trap ended the run before it had a result */
    const char *expected;     /* exact decimal text */
    double absolute_error, relative_error;
    double bound;             /* absolute error that rounding may cause; 0: none */
    const char *rounding;     /* the lines whose results are rounded, by how much; NULL: not known */
    bool is_rounding;         /* the error is rounding alone, as a run without rounding shows */
    const char *verdict;      /* instead of "ok" for a right result: "total right"; NULL: "ok" */
    uint64_t compared, index; /* number of results compared; index of the reported one; 0: not known */
    bool narrowed;            /* --trace-blocks given: totals over the traced blocks only */
    bool interrupted; /* the run was ended: totals cover what ran until then, the result is not known */
    uint64_t blocks_done, blocks; /* over all launches, when it was ended */
    const Trace *trace;
    const Findings *hazards;       /* NULL: not searched */
    const Findings *verdict_list;  /* what is wrong and slow, as far as it is known; NULL: counted here */
    bool counts_only;              /* hazards are left to --check */
    const int *registers;          /* [launch]; -1: not known */
    const double *occupancy;       /* [launch]; negative: not known */
    const char *occupancy_of;      /* "H200"; may be NULL */
    const Measurements *measured;  /* hardware counters beside the trace's; NULL or empty: none */
    const GridTimeline *timeline;  /* where and when each block ran; NULL: not known */
    bool timeline_is_live;         /* measured in this run; else recorded */
    const char *recorded;          /* UTC time of a recorded run, "2026-11-21T15:00:00Z"; NULL: run now */
    const char *unmeasured;        /* why measurements are missing; NULL: not requested */
    const SassKernel *const *sass; /* [launch]; NULL: not known for this launch, or for any */
    const SassComparison *const *compared_sass; /* [launch], beside the PTX; NULL if `sass` is */
    const char *const *no_sass;                 /* [launch] why it is not known */
    const char *(*source_text)(void *context, const char *file, int line); /* NULL: not available */
    void *context;
} ReportInput;

/* The first line of what is printed of a guess; `options` NULL: nothing. */
void report_print_guess(const char *options, const char *program, Text *out);
void report_json(const ReportInput *input, Text *out);
void report_text(const ReportInput *input, Text *out);

#endif
