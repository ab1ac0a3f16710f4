/* Report of warps: timelines of warps (trace/warp_timeline.h) as text, as JSON, and as a trace for
 * ui.perfetto.dev. */
#ifndef REPORT_REPORT_WARPS_H
#define REPORT_REPORT_WARPS_H

#include "base/text.h"
#include "trace/warp_timeline.h"

typedef struct ReportWarps {
    WarpTimeline *const *timelines;
    int count;
    bool is_live;           /* measured now; else recorded */
    const char *why;        /* there is none; NULL: there is */
    const char *instead_of; /* what was asked for and is not recorded; NULL: the timelines are of it */
    const char *(*source_text)(void *context, const WarpSite *site); /* of its line; NULL: not known */
    void *context;
} ReportWarps;

void report_warps_text(const ReportWarps *report, Text *out);
void report_warps_json(const ReportWarps *report, Text *out);
/* The JSON of the Trace Event Format ("complete" events, "X"), whose microseconds are cycles here: a process
 * for each timeline, a thread for each warp. */
void report_warps_perfetto(const ReportWarps *report, Text *out);

#endif
