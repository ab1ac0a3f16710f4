/* Source text: the text of the lines that reports speak about. Private to src/metrics. */
#ifndef METRICS_SOURCE_TEXT_H
#define METRICS_SOURCE_TEXT_H

#include "metrics/report.h"

typedef struct SourceText { /* zero-initialised but for `input`; done with source_text_done() */
    const ReportInput *input;
    const PtxModule
        *module; /* where the search for the last PTX line ended: its line `line` begins at `at` */
    int line;
    size_t at;
    Text text;
} SourceText;

/* Without leading blanks and the newline; valid until the next call. NULL: not available. Lines of a PTX file
 * come from the module itself. Fastest when asked in ascending order. */
const char *source_text_of(SourceText *source, const char *file, int line);
void source_text_done(SourceText *source);

#endif
