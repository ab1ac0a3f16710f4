/* The text of --sass, and the machine code in --report. */
#ifndef REPORT_REPORT_SASS_H
#define REPORT_REPORT_SASS_H

#include "base/json.h"
#include "report/report.h"

typedef struct ReportSass {
    const char *kernel; /* as in the report */
    int launch_count;
    const SassKernel *const *sass;         /* [launch]; NULL: not known */
    const SassComparison *const *compared; /* [launch], beside the PTX; NULL if `sass` is */
    const char *const *why;                /* [launch] why it is not known */
    const char *(*source_text)(void *context, const char *file, int line);
    void *context;
} ReportSass;

void report_sass_text(const ReportSass *input, Text *out);
void report_sass_json(const ReportSass *input, Text *out);

/* For --report: the machine code of the launches, summed by line. */
const SassKernel *report_first_sass(const ReportInput *input); /* NULL: no launch has any */
void report_put_sass(Json *json, const ReportInput *input);    /* fields of "measured" */
void report_print_sass(const ReportInput *input, Text *out);   /* a block: the lines with the most samples */

#endif
