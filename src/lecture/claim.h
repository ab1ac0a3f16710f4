/* Claim: an expression over what a run counts and what was measured, as lectures write it. The grammar is in
 * assets/lectures/README.md; the words are claim_words.def and metrics.def. Whoever evaluates brings the values. */
#ifndef LECTURE_CLAIM_H
#define LECTURE_CLAIM_H

#include "base/text.h"
#include "lecture/lecture.h"
#include <stdint.h>

typedef enum ClaimScope {
    CLAIM_TOTAL = 1,
    CLAIM_LINE = 2,
    CLAIM_INTERVAL = 4,
    CLAIM_LEVEL = 8,
    CLAIM_STEP = 16,
    CLAIM_TIME = 32,   /* time, gigabytes, read_share, launches of a run and a size */
    CLAIM_CYCLES = 64, /* cycles("row of the latencies") */
    CLAIM_LIMIT = 128  /* limit(RUN, N): a Limit of metrics/limit.h; never UNKNOWN */
} ClaimScope;

enum {                            /* what else a word is */
       CLAIM_OF_MACHINE = 1 << 8, /* recorded of the machine code */
       CLAIM_OF_REASON = 1 << 9,  /* NAME "barrier": a stall reason follows it */
       CLAIM_OF_LANE = 1 << 10    /* NAME(step, LANE) */
};

typedef struct ClaimWord { /* a row of claim_words.def */
    const char *name;
    unsigned scopes; /* ClaimScope, and the bits above */
    const char *meaning;
} ClaimWord;

extern const ClaimWord claim_words[];
extern const int claim_word_count;

const ClaimWord *claim_word_find(const char *name); /* NULL: there is none */

enum { CLAIM_SETTINGS = 8 };

typedef struct ClaimQuery { /* one value that is wanted; texts are valid during the question */
    ClaimScope scope;
    const char *name;                     /* "shared_loads", "lanes", "time" */
    const char *run;                      /* "strided", "here", "cub"; NULL: of a STEP or CYCLES */
    const char *settings[CLAIM_SETTINGS]; /* "n=4096", "stride=2" */
    int setting_count;
    const char *text;       /* LINE: what the line holds; CYCLES: the row */
    const char *reason;     /* of a word with CLAIM_OF_REASON: "barrier", one of sass/stalls.def; else NULL */
    int64_t number;         /* INTERVAL, LEVEL: which; STEP: the lane, -1: none given */
    uint64_t n;             /* TIME, LIMIT */
    const char *dtype;      /* TIME, LIMIT: "int" if none was given */
    bool alone, warm, call; /* TIME */
    const char *
        machine; /* TIME, CYCLES, LIMIT, machine code: "h200", where the claim says "on recorded H200"; else NULL */
} ClaimQuery;

typedef struct ClaimWorld {
    void *context;
    /* false with `error` where there is no such value. */
    bool (*value)(void *context, const ClaimQuery *query, double *value, Error *error);
} ClaimWorld;

typedef struct ClaimResult {
    bool holds;
    Text sides;  /* "1.52 > 1.7", "389120 == 389120 and 0 == 0" */
    Text values; /* what was asked for: "interleaved.excess = 0", a line each */
} ClaimResult;

/* `path` and the expression's place name it in errors. `world` NULL: only the form is checked. */
bool claim_evaluate(const LectureExpression *claim, const char *path, const ClaimWorld *world,
                    ClaimResult *result, Error *error);
void claim_result_done(ClaimResult *result);
/* The left side of an answer: a number. */
bool claim_number(const LectureExpression *expression, const char *path, const ClaimWorld *world,
                  double *value, Error *error);

#endif
