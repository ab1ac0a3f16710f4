/* Sentences and numbers of reports. Private to src/metrics. */
#ifndef BASE_SENTENCE_H
#define BASE_SENTENCE_H

#include "base/text.h"
#include <stdint.h>

/* A sentence of any length after `bullet`, broken into lines of at most 80 columns that stand under its first
 * word. */
void sentence_print(Text *out, const char *bullet, const char *sentence);

/* "1,048,576" into a buffer of the caller; returns it. */
typedef struct CountText {
    char text[32];
} CountText;
const char *count_text(uint64_t count, CountText *buffer);

const char *plural(uint64_t count); /* "s", or "" of one */

#endif
