/* Reads a claim's text word by word, and its values. Private to this folder. */
#ifndef LECTURE_CLAIM_READER_H
#define LECTURE_CLAIM_READER_H

#include "lecture/claim.h"
#include "findings/limit.h"

enum { CLAIM_NAME_BYTES = 64, CLAIM_STRING_BYTES = 256 };

typedef struct ClaimReader {
    const LectureExpression *of;
    const char *path, *at;
    const ClaimWorld *world;
    const char *machine; /* of "on recorded H200" */
    Text *values;        /* NULL: not recorded */
    int depth;
    Error *error;
} ClaimReader;

/* Each function below fails with an error at its place in the text, and then returns false. */
bool claim_fail_at(ClaimReader *reader, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

char claim_peek(ClaimReader *reader);                   /* the next nonblank character */
bool claim_take(ClaimReader *reader, const char *sign); /* false: something else is next */
/* of the name at the cursor, which does not move; 0: none */
size_t claim_name_length(ClaimReader *reader);
bool claim_take_word(ClaimReader *reader, const char *word);
bool claim_expect(ClaimReader *reader, const char *sign);

/* `what`: the expected item, for the error. */
bool claim_read_name(ClaimReader *reader, char out[CLAIM_NAME_BYTES], const char *what);
bool claim_read_string(ClaimReader *reader, char out[CLAIM_STRING_BYTES]); /* in double quotes */
bool claim_read_number(ClaimReader *reader, double *value);                /* 4096, 0x10, 1.7, 1e-6, 2^20 */
bool claim_read_whole(ClaimReader *reader, const char *what, double most, int64_t *value);

/* ---- claim_values.c: values of the world ---- */

typedef struct ClaimTexts { /* storage for the texts of a query */
    char run[CLAIM_NAME_BYTES], name[CLAIM_NAME_BYTES], dtype[CLAIM_NAME_BYTES], text[CLAIM_STRING_BYTES],
        reason[CLAIM_STRING_BYTES];
    char settings[CLAIM_SETTINGS][2 * CLAIM_NAME_BYTES];
} ClaimTexts;

/* Reads after RUN: "[...].NAME", and where. `begin`: the start of the value, for errors and notes. */
bool claim_read_member(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value);
/* Reads after "limit(": the limit of a kernel. */
bool claim_read_limit(ClaimReader *reader, const char *begin, ClaimTexts *texts, Limit *limit);
/* Reads after "NAME(", whose name is texts->run. */
bool claim_read_call(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value);

#endif
