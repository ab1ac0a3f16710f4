/* Printing of --ladder and --latency: recorded times of all rungs by size, what limits each, and the ladders
 * of articles beside them; latencies in cycles. As text, or as JSON. */
#ifndef CLI_LADDER_PRINT_H
#define CLI_LADDER_PRINT_H

#include "base/text.h"
#include "catalog/catalog.h"

typedef struct LadderPrint {
    const char *machine;           /* NULL: the default one */
    const CatalogOptions *catalog; /* type, operation and size: else int, sum and 2^20 */
    bool json;
} LadderPrint;

/* Emulates the rungs to count what the emulator counts. false with `error`: there is no such recording. */
bool ladder_print(const LadderPrint *print, Text *out, Error *error);
bool ladder_print_latency(const LadderPrint *print, Text *out, Error *error);

#endif
