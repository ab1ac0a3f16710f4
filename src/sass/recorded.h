/* Recorded machine code, with counts and samples of a GPU, as text, a line each. Columns are separated by
 * tabs: assets/h200/sass/KERNEL.tsv, and the same for other machines.
 *
 *   stalls    NAME...                                   the reasons, by which samples name them: 0, 1, ...
 *   sass      KERNEL TYPE OP LAUNCH ENTRY MACHINE DRIVER MEASURED
 *   counted   N GRID BLOCK OVERHEAD                     of the kernel above
 *   sampled   N GRID BLOCK PERIOD OVERHEAD
 *   place     FILE LINE INLINED_AT                      number 0, 1, ... of the kernel above
 *   i         OFFSET PLACE PTX_LINE LABEL EXECUTED THREADS ACTING SAMPLES TEXT
 *
 * OFFSET is hexadecimal; INLINED_AT and PLACE are numbers of places above; SAMPLES are "reason:count" pairs with
 * commas between. THREADS and ACTING are "" where they are 32 EXECUTED and THREADS. What is not known is "-". Lines
 * that begin with # are skipped. Reasons are kept by their tool's name, so that the order of stalls.def may change. */
#ifndef SASS_RECORDED_H
#define SASS_RECORDED_H

#include "base/text.h"
#include "sass/sass.h"

/* The first lines of a file, before its kernels. */
void sass_record_begin(Text *out);
void sass_record_kernel(Text *out, const SassKernel *kernel);

/* Is given each kernel that a file holds, and owns it from then on; false ends the reading, without an error. */
typedef bool (*SassVisit)(void *context, SassKernel *kernel);
/* `name` is the text's in errors. false with `error`: a line of it is wrong. */
bool sass_read_text(const char *text, const char *name, SassVisit visit, void *context, Error *error);
bool sass_read_file(const char *path, SassVisit visit, void *context, Error *error);

/* Which recording; NULL and 0: any. */
typedef struct SassKey {
    const char *machine; /* "h200", "h100": the folder in assets; NULL: h200 */
    const char *kernel, *dtype, *op;
    const char *entry;
    int launch;
} SassKey;

/* Finds the recording of a launch of a catalogue kernel. `kernel` is empty before, and afterwards where this is
 * false; `error` then says what is missing. */
bool sass_recorded_find(const SassKey *key, SassKernel *kernel, Error *error);

#endif
