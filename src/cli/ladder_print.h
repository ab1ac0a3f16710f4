/* Prints --ladder and --latency, as text or as JSON: recorded times of all rungs by size, the limit of each,
 * and the ladders of articles for comparison; latencies in cycles. */
#ifndef CLI_LADDER_PRINT_H
#define CLI_LADDER_PRINT_H

#include "base/text.h"
#include "catalog/catalog.h"

typedef struct LadderPrint {
    const char *machine;           /* NULL: the default */
    const CatalogOptions *catalog; /* type, operation and size; by default int, sum and 2^20 */
    bool json;
} LadderPrint;

/* Emulates the rungs for the emulator's counts. False with `error`: the recording does not exist. */
bool cli_ladder_print(const LadderPrint *print, Text *out, Error *error);
bool cli_ladder_print_latency(const LadderPrint *print, Text *out, Error *error);

#endif
