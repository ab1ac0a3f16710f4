/* Sentences and numbers for reports and findings. */
#ifndef BASE_SENTENCE_H
#define BASE_SENTENCE_H

#include "base/text.h"
#include <stdint.h>

/* Prints a sentence of any length after `bullet`, in lines of at most 80 columns that align with its first
 * word. */
void sentence_print(Text *out, const char *bullet, const char *sentence);

/* Formats "1,048,576" into the caller's buffer; returns it. */
typedef struct CountText {
    char text[32];
} CountText;
const char *count_text(uint64_t count, CountText *buffer);

/* Names the lanes of a mask: "lane 31", "lanes 0-7, 16", "lanes 0, 2, ... 30"; a mask that none of them
 * fits is "lanes 0x5203f0ff". */
typedef struct LanesText {
    char text[64];
} LanesText;
const char *lanes_text(uint32_t mask, LanesText *buffer);

const char *plural(uint64_t count); /* "s"; "" for 1 */

#endif
