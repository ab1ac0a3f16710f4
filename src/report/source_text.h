/* Source text of the lines in a report: from the caller's sources, or from the PTX. Private to src/report. */
#ifndef REPORT_SOURCE_TEXT_H
#define REPORT_SOURCE_TEXT_H

#include "report/report.h"

typedef struct SourceText { /* zero-initialised except for `input`; done with source_text_done() */
    const ReportInput *input;
    const PtxModule *module; /* module of the last PTX line searched for */
    int line;                /* that line */
    size_t at;               /* where it begins in the module's text */
    Text text;
} SourceText;

/* Without leading blanks and the newline; valid until the next call. NULL: not available. Lines of a PTX file
 * come from the module itself. Fastest in ascending order. */
const char *source_text_of(SourceText *source, const char *file, int line);
void source_text_done(SourceText *source);

#endif
