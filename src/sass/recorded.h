/* Recorded machine code with a GPU's counts and samples, as text.
 *
 * One record a line, in columns separated by tabs: assets/h200/sass/KERNEL.tsv, and likewise for other
 * machines.
 *
 *   stalls    NAME...                                   the reasons, which samples number 0, 1, ...
 *   sass      KERNEL TYPE OP LAUNCH ENTRY MACHINE DRIVER MEASURED
 *   counted   N GRID BLOCK OVERHEAD                     of the kernel above
 *   sampled   N GRID BLOCK PERIOD OVERHEAD
 *   place     FILE LINE INLINED_AT                      number 0, 1, ... of the kernel above
 *   i         OFFSET PLACE PTX_LINE LABEL EXECUTED THREADS ACTING SAMPLES TEXT
 *
 * OFFSET is hexadecimal; INLINED_AT and PLACE are numbers of places above; SAMPLES are "reason:count" pairs
 * separated by commas. THREADS is "" if it is 32 EXECUTED, ACTING is "" if it equals THREADS. Unknown values
 * are "-". Lines that begin with # are skipped. Reasons are kept by their tool's name, so that the order of
 * stalls.def may change. */
#ifndef SASS_RECORDED_H
#define SASS_RECORDED_H

#include "base/text.h"
#include "sass/sass.h"

/* The first lines of a file, before its kernels. */
void sass_record_begin(Text *out);
void sass_record_kernel(Text *out, const SassKernel *kernel);

/* Receives and owns each kernel of a file; false ends the reading without an error. */
typedef bool (*SassVisit)(void *context, SassKernel *kernel);
/* `name` stands for the text in errors. False with `error`: a line is wrong. */
bool sass_read_text(const char *text, const char *name, SassVisit visit, void *context, Error *error);
bool sass_read_file(const char *path, SassVisit visit, void *context, Error *error);

/* Selects a recording; NULL and 0: any. */
typedef struct SassKey {
    const char *machine; /* "h200", "h100": the folder in assets; NULL: h200 */
    const char *kernel, *dtype, *op;
    const char *entry;
    int launch;
} SassKey;

/* Finds the recording of a launch of a catalogue kernel. `kernel` must be empty, and stays empty on false;
 * `error` then says what is missing. */
bool sass_recorded_find(const SassKey *key, SassKernel *kernel, Error *error);

#endif
