/* Claim: an expression in a lecture over counts of a run and measured values. The grammar is in
 * assets/lectures/README.md; the words are in claim_words.def and metrics.def. The evaluator supplies the
 * values. */
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
    CLAIM_LIMIT = 128  /* limit(RUN, N): a Limit of findings/limit.h; never UNKNOWN */
} ClaimScope;

enum {                            /* additional properties of a word */
       CLAIM_OF_MACHINE = 1 << 8, /* recorded with the machine code */
       CLAIM_OF_REASON = 1 << 9,  /* NAME "barrier": a stall reason follows */
       CLAIM_OF_LANE = 1 << 10,   /* NAME(step, LANE) */
       CLAIM_OF_WARPS = 1 << 11   /* of a warp timeline: "with 8 blocks" may follow; a reason is a wait */
};

typedef struct ClaimWord { /* a row of claim_words.def */
    const char *name;
    unsigned scopes; /* ClaimScope, and the bits above */
    const char *meaning;
} ClaimWord;

extern const ClaimWord claim_words[];
extern const int claim_word_count;

const ClaimWord *claim_word_find(const char *name); /* NULL: unknown */

enum { CLAIM_SETTINGS = 8 };

typedef struct ClaimQuery { /* a request for one value; texts are valid during the call */
    ClaimScope scope;
    const char *name;                     /* "shared_loads", "lanes", "time" */
    const char *run;                      /* "strided", "here", "cub"; NULL for STEP and CYCLES */
    const char *settings[CLAIM_SETTINGS]; /* "n=4096", "stride=2" */
    int setting_count;
    const char *text; /* LINE: text in the line; CYCLES: the row */
    /* for a word with CLAIM_OF_REASON: "barrier", one of sass/stalls.def, or a warp_state_name() if it is
     * also CLAIM_OF_WARPS; otherwise NULL */
    const char *reason;
    uint32_t resident; /* CLAIM_OF_WARPS: blocks at once on a multiprocessor; 0: as many as it can hold */
    int64_t number;    /* INTERVAL, LEVEL: its number; STEP: the lane, -1 if none */
    uint64_t n;        /* TIME, LIMIT */
    const char *dtype; /* TIME, LIMIT: "int" by default */
    bool alone, warm, call; /* TIME */
    /* TIME, CYCLES, LIMIT, machine code, warp timelines: "h200" after "on recorded H200"; otherwise NULL */
    const char *machine;
} ClaimQuery;

typedef struct ClaimWorld {
    void *context;
    /* False with `error` if the value does not exist. */
    bool (*value)(void *context, const ClaimQuery *query, double *value, Error *error);
    /* True if the text is on the screen of the stop. NULL: there is no screen. */
    bool (*shows)(void *context, const char *text);
} ClaimWorld;

typedef struct ClaimResult {
    bool holds;
    Text sides;  /* "1.52 > 1.7", "389120 == 389120 and 0 == 0" */
    Text values; /* the values used: "interleaved.excess = 0", one per line */
} ClaimResult;

/* `path` and the expression's place appear in errors. `world` NULL: checks only the form. */
bool claim_evaluate(const LectureExpression *claim, const char *path, const ClaimWorld *world,
                    ClaimResult *result, Error *error);
void claim_result_done(ClaimResult *result);
/* The text that a claim of the screen, "shows: TEXT", names; NULL: it is another claim. */
const char *claim_shown_text(const LectureExpression *claim);
/* Evaluates the left side of an answer: a number. */
bool claim_number(const LectureExpression *expression, const char *path, const ClaimWorld *world,
                  double *value, Error *error);

#endif
