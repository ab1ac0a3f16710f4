/* Prints --ladder=json and --latency=json. */
#ifndef CLI_LADDER_JSON_H
#define CLI_LADDER_JSON_H

#include "ladder/ladder.h"
#include "ladder/latency.h"

/* Prints figures for the size with this index; unknown values are null. */
void cli_ladder_json(const Ladder *ladder, const LadderCounts *counts, int size, Text *out);
void latency_json(const Latencies *latencies, Text *out);

#endif
