/* Access CSV: wavefronts and sectors of the accesses in a table. */
#ifndef METRICS_ACCESS_CSV_H
#define METRICS_ACCESS_CSV_H

#include "base/text.h"

/* --access: reads a CSV of accesses and prints its rows with the computed count last. Errors name the line
 * and column of a bad row. */
bool access_csv_count(const char *csv, size_t length, const char *file, Text *out, Error *error);

#endif
