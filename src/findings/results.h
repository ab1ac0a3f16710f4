/* Results of a check, of one run or of all launches of a program, for logs (SARIF, JUnit).
 *
 * One result for each cause of errors, and one for each other finding with a place. They outlive the runs.
 *
 * A fingerprint names a result in every run of the program: a hash of its kind, its kernel, the text of its
 * source line without blanks, and the occurrence among results that are equal in these. The number of the
 * line is no part of it, so a line that moves keeps its fingerprint (SARIF 2.1.0, 3.27.17
 * partialFingerprints). */
#ifndef FINDINGS_RESULTS_H
#define FINDINGS_RESULTS_H

#include "findings/findings.h"

#define RESULT_FINGERPRINT_NAME "redviz/v1" /* in SARIF; another one for another hash */

typedef struct FoundPlace {
    const char *what; /* "the access before"; NULL: that of the result */
    const char *file; /* NULL: not known */
    int line;
} FoundPlace;

typedef struct CheckResult {
    const char *kind, *title; /* "shared_race"; what it means */
    Severity severity;
    bool is_sure;        /* false: an error that invented arguments may have caused */
    const char *program; /* the command whose launch shows it first; NULL: a kernel ran without a program */
    const char *kernel;  /* readable; "": the program's host code */
    FoundPlace place;
    const char *message;
    FoundPlace *related;
    int related_count, related_capacity;
    const char *source;   /* the text of its line; "": not known */
    char fingerprint[17]; /* 16 hexadecimal digits */
    int addition;         /* the last call that found it */
    /* What is accepted (findings/accepted.h): */
    bool is_known;          /* the baseline has it */
    const char *suppressed; /* the reason; NULL: it is not */
} CheckResult;

typedef struct CheckCase {        /* a kernel of a program, or the program's host code; with its results */
    const char *program, *kernel; /* as in CheckResult */
    bool is_checked;              /* a launch of it was */
    const char *why;              /* a launch of it was not; NULL: all were */
    int *results;                 /* [count] in CheckResults.items */
    int count, capacity;
} CheckCase;

/* Zeroed at first; results_done() frees it. */
typedef struct CheckResults {
    CheckResult *items;
    int count, capacity;
    CheckCase *cases; /* each program and kernel once */
    int case_count, case_capacity;
    const char **limits; /* what may be missing: one sentence each */
    int limit_count, limit_capacity;
    int additions;     /* calls that added results */
    bool has_baseline; /* `is_known` means something */
    CheckTool tool;    /* only results that it shows are added */
    Arena arena;       /* texts */
} CheckResults;

/* Where findings come from. */
typedef struct ResultOrigin {
    const char *program; /* as in CheckResult */
    const Trace *trace;  /* of the findings */
    FindingSource source;
    bool (*is_sure)(void *context, const Finding *error); /* NULL: all are */
    void *context;                                        /* of both */
} ResultOrigin;

/* Adds the findings of a run. What an earlier call has added (the same kind, kernel and line) is not added
 * again. */
void results_add_findings(CheckResults *results, const Findings *findings, const ResultOrigin *origin);
/* Begins an addition of results that are no findings of a run, and adds one: kind, title, severity, program,
 * kernel, place, message and source are copied. False: an earlier addition has it. */
void results_begin(CheckResults *results);
bool results_add(CheckResults *results, const CheckResult *result);
/* Adds a kernel of a program, which may have no result. `why` it was not checked; NULL: it was. */
void results_add_case(CheckResults *results, const char *program, const char *kernel, const char *why);
void results_add_limit(CheckResults *results, const char *sentence);
void results_done(CheckResults *results);

/* A SARIF 2.1.0 log. Names files below `folder`, an absolute path (NULL: none), relative to it, as code hosts
 * expect. */
void results_put_sarif(const CheckResults *results, const char *folder, Text *out);

#endif
