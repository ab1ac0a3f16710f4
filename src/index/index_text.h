/* Index text: the numbers in an index expression, and expressions to begin with. */
#ifndef INDEX_INDEX_TEXT_H
#define INDEX_INDEX_TEXT_H

#include "index/index_access.h"

enum { INDEX_NUMBERS = 12 };

typedef struct IndexNumber {
    int begin, length; /* in the text */
    int64_t value;
} IndexNumber;

/* The first INDEX_NUMBERS numbers of the text, from left to right. Returns how many. */
int index_numbers(const char *text, IndexNumber out[INDEX_NUMBERS]);
/* Writes another number in the place of `number`; false: the text would be too long. */
bool index_put_number(char text[INDEX_TEXT_BYTES], const IndexNumber *number, int64_t value);

typedef struct IndexPreset {
    const char *name, *text;
    int number; /* the number worth turning, from 0; -1: the bytes of an element */
    int bytes;
} IndexPreset;

enum { INDEX_PRESETS = 8 };
extern const IndexPreset index_presets[INDEX_PRESETS];

#endif
