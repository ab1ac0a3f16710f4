/* Accepted results: what a check may find without failing.
 *
 * A baseline is a SARIF log that redviz has written (--check=sarif): what it has is known. A suppression
 * names results that are right as they are, with the reason. A file of suppressions has one in each line, its
 * words separated by blanks; lines that begin with # and empty lines mean nothing:
 *
 *     KIND KERNEL FILE[:LINE] REASON...
 *     global_race  flag*  src/flag.cu:41  all threads store the same flag
 *
 * The first three may be patterns as in a shell (*, ?, [a-z]; ? also stands for a blank). KIND is the rule's
 * id in SARIF. KERNEL is its readable name; only * names the host's code. FILE may leave out leading
 * folders. */
#ifndef FINDINGS_ACCEPTED_H
#define FINDINGS_ACCEPTED_H

#include "findings/results.h"

typedef struct Suppression {
    int line; /* of the file */
    const char *kind, *kernel, *file, *reason;
    int at;       /* the line of a source; 0: any */
    bool is_used; /* a result is suppressed by it */
} Suppression;

typedef struct KnownResult { /* of a baseline */
    const char *kind, *kernel, *file, *fingerprint;
    int line;     /* 0: not known */
    bool fails;   /* at the level that makes a check fail */
    bool is_seen; /* it was found again */
} KnownResult;

/* Zeroed at first; accepted_done() frees it. */
typedef struct Accepted {
    bool fails_on_notes;      /* else only errors fail */
    const char *baseline;     /* the file, borrowed; NULL: there is none */
    const char *suppressions; /* likewise */
    KnownResult *known;
    int known_count, known_capacity;
    Suppression *items;
    int count, capacity;
    Arena arena;
} Accepted;

/* Set fails_on_notes before. False with `error`: the file cannot be read, is no such file, or a line of it is
 * wrong. */
bool accepted_read_baseline(Accepted *accepted, const char *path, Error *error);
bool accepted_read_suppressions(Accepted *accepted, const char *path, Error *error);
void accepted_done(Accepted *accepted);

/* Sets `is_known` and `suppressed` of each result. */
void accepted_mark(Accepted *accepted, CheckResults *results);
/* The result makes the check fail. Slow places never do. */
bool accepted_fails(const Accepted *accepted, const CheckResult *result);
/* "baseline FILE: 2 known, 1 new, 1 fixed" and what is new and fixed; how many are suppressed; unused
 * suppressions. After accepted_mark(). */
void accepted_print(const Accepted *accepted, const CheckResults *results, Text *out);
/* results_junit.c: a JUnit XML file whose test suite has this name. After accepted_mark(), if any file was
 * read. */
void accepted_put_junit(const Accepted *accepted, const CheckResults *results, const char *name, Text *out);

#endif
