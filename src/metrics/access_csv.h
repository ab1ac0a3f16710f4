/* Access CSV: wavefronts and sectors of accesses that a table lists. */
#ifndef METRICS_ACCESS_CSV_H
#define METRICS_ACCESS_CSV_H

#include "base/text.h"

/* --access: reads a CSV of accesses, prints the same rows with the computed count last. Bad rows: line and
 * column. */
bool access_csv_count(const char *csv, size_t length, const char *file, Text *out, Error *error);

#endif
