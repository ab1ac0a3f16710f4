/* Findings: the errors of a run over the whole grid, its slow places, and other notes.
 *
 * A *race* is two accesses to the same memory by different threads, at least one of them a write, with no
 * happens-before order between them. The PTX ISA defines what orders memory ("Memory Consistency Model";
 * "bar.warp.sync"; "barrier"): bar.warp.sync orders the lanes of its mask; a barrier of the block orders the
 * threads that take part; a release orders what follows the acquire that observes it. A release is a fence
 * followed by a strong store or atomic; an acquire is an atomic or strong load of that word followed by a
 * fence. Shuffles, votes, redux, volatile and execution in lockstep order nothing.
 *
 * Not reported: atomics and relaxed accesses among themselves (unless their scope is too narrow); a store of
 * the value that is already there; volatile accesses to global memory by different warps; volatile stores
 * after a fence, which is how flags are written.
 *
 * A thread may rely on such a word for what another thread stored before it. If there is no fence between
 * that store and the word, the order is missing (ORDER). If the writer has a fence and only the reader has
 * none, PTX orders nothing either, but no GPU is known to lose a value: a note (MISSING_ACQUIRE). It is an
 * error if the block read the location before the other thread wrote it, since its L1 cache may hold the old
 * value. MISSING_ACQUIRE also covers an mbarrier between threads of two blocks whose arrival or wait has
 * block scope ("mbarrier.arrive": .cta is the default). Every wait for the phase of a copy makes the copied
 * data visible.
 *
 * A shuffle from an inactive source lane returns an undefined value: an error where the value is used
 * (trace/observer.h, TraceUse). A barrier of the block that a warp passes after some of its lanes have exited
 * is a note.
 *
 * A RaceDetector sees every access of every block through a TraceObserver. It keeps the last write and up to
 * eight reads of each cell of memory, so its memory is bounded. It may miss races between more threads and
 * counts these places (FindingsUnseen). Each pair of racing instructions becomes one Finding, whose example
 * is the first two accesses that raced. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "base/json.h"
#include "base/memory.h"
#include "findings/races/finding.h"
#include "trace/observer.h"

typedef struct FindingPair { /* two instructions whose accesses conflict */
    int pc, other_pc;
} FindingPair;

typedef struct Finding {
    FindingKind kind;
    Severity severity;     /* that of its row in finding_kinds.def */
    const char *kind_text; /* "shared_race"; for a fault, the text of the trap: "out_of_bounds" */
    int launch;
    PtxSpace space;       /* SHARED, GLOBAL, LOCAL; PTX_SPACE_GENERIC: none */
    FindingAccess access; /* where it occurred; pc PTX_NO_PC: only the line is known, or nothing */
    FindingAccess other;  /* the earlier access that it conflicts with; pc PTX_NO_PC: none */
    uint64_t count;       /* executions in which it occurred, at least 1 */
    uint64_t blocks;      /* blocks in which it occurred */
    const char *what;     /* the memory by its elements: "sums[3]", "in[128]"; NULL: none */
    const char *sentence; /* a complete sentence that names all lines */
    const char *advice;   /* what to change; NULL: no advice */
    /* SLOW: wavefronts, sectors or lanes over the grid: the count, the minimum, and the count with the advice
     * applied to the traced accesses (0: not computed). */
    uint64_t cost, ideal, predicted;
    /* A race: its pairs of instructions; unrolled code has many on the same two lines. Empty in a saved
     * session, which keeps only the pair of `access` and `other`. */
    const FindingPair *pairs;
    int pair_count;
    int cause;      /* an error: index into Findings.causes; else -1 */
    bool is_behind; /* found by --keep-going after the fault that ended the run */
    bool is_taken;  /* found first under another schedule, `schedule` */
    uint64_t schedule;
} Finding;

/* Errors that one missing barrier or fence explains: their accesses share instructions or interleave. Any
 * other error is a cause of its own. */
typedef struct FindingCause {
    int lead, count;    /* index of its first error in the list; number of its errors */
    const char *insert; /* "insert __syncwarp() after line 31"; NULL: not searched, or no place helps */
    const char *proof;  /* result of running a copy of the PTX with `insert` applied; NULL: not tried */
    bool is_proved;     /* that copy no longer has these errors */
    uint64_t schedule;  /* --schedule of a run with a wrong result; 0: none known */
    const char *order;  /* a sentence on the error under that schedule; NULL: none */
} FindingCause;

enum { FINDINGS_LIMITS = 4 };

typedef struct Findings {
    Finding *items; /* errors by launch and line; then slow ones, then notes, by decreasing cost - ideal */
    int count;
    int error_count;      /* items[0 .. error_count - 1] */
    FindingCause *causes; /* in the order of their first errors */
    int cause_count;
    /* All blocks were searched to the end; false after a fault or too many findings (64). */
    bool is_complete;
    bool has_unseen; /* false: not counted, as in a saved session */
    FindingsUnseen unseen;
    const char *limits[FINDINGS_LIMITS]; /* what may be missing, and why: one sentence each */
    int limit_count;
    Arena arena;
} Findings;

const char *finding_kind_text(FindingKind kind);
const char *finding_kind_title(FindingKind kind);
Severity finding_kind_severity(FindingKind kind);
const char *finding_severity_text(Severity severity); /* "error", "slow", "note" */
const char *finding_space_text(PtxSpace space);       /* "shared", "global", "local"; NULL: any other */

struct Store;
typedef struct FindingResult { /* for a run with a reference */
    bool is_wrong;
    const char *result, *expected; /* NULL: a trap ended the run before it had a result */
} FindingResult;

/* A line of a source file, valid until the next call; NULL: not known. */
typedef const char *(*FindingSource)(void *context, const char *file, int line);
/* The errors found by the detector (NULL: none ran) and by traps, and the slow places in the trace's
 * counters. `result` may be NULL. */
Findings *findings_new(RaceDetector *detector, const Trace *trace, const FindingResult *result);
/* What else is known about the run, for findings_new_of(). */
typedef struct FindingKnown {
    FindingSource source; /* names shared memory that the PTX does not name */
    void *context;
    uint64_t leaks, leaked_bytes; /* allocations of the device heap that were not freed */
    int leak_pc;                  /* where the last launch makes the first of them; PTX_NO_PC: not known */
} FindingKnown;
Findings *findings_new_of(RaceDetector *detector, const Trace *trace, const FindingResult *result,
                          const FindingKnown *known);
void findings_free(Findings *findings);
/* Adds notes about stores that the source has and the PTX does not. */
void findings_note_deleted(Findings *list, const Trace *trace, FindingSource source, void *context);
/* Adds the races of the same run under another schedule that this one has not shown; their places refer to
 * `trace`, the trace of this run. */
void findings_take_races(Findings *list, const Findings *other, const Trace *trace, uint64_t schedule);
/* As above, for a run that continued past the fault that ended this one. */
void findings_take_behind(Findings *list, const Findings *other, const Trace *trace);
int findings_count(const Findings *findings, Severity severity);

/* Writes to and reads from a session file, unchanged; NULL: no search was made. */
void findings_write(const Findings *findings, struct Store *store);
Findings *findings_read(const Trace *trace, struct Store *store);

/* True if it prints a count after its sentence: "in 1,536 executions by a warp, in 16 blocks". At most two
 * faults of one instruction are kept: "2 such faults are kept, in 2 blocks". */
bool finding_has_count(const Finding *finding);
void finding_print_count(const Finding *finding, Text *out);
/* As --check prints them, with the lines of `source` (may be NULL). */
void findings_print(const Findings *findings, FindingSource source, void *context, Text *out);
/* What may be missing: the last lines of --check; nothing if the search met no limit. In JSON: the fields
 * "unseen" and "limits" of the open object. */
void findings_print_limits(const Findings *findings, Text *out);
void findings_put_limits(const Findings *findings, Json *json);
void findings_add_limit(Findings *findings, Text *sentence); /* frees it */
/* As a report prints them, one bullet each; of a kind about lines, the first four. */
void findings_print_brief(const Findings *findings, Text *out);
void findings_print_errors(const Findings *findings, Text *out); /* only the errors */
void findings_print_notes(const Findings *findings, Text *out);  /* only the notes */
/* The fields "hazards" (errors, then notes), "causes" (of errors), "efficiency" (slow) and "hazards_complete"
 * of the open object; null if `findings` is NULL. */
void findings_put_json(const Findings *findings, Json *json);
/* A SARIF 2.1.0 log: the errors by cause, then the other findings. Names files below `folder`, an absolute
 * path (NULL: none), relative to it, as code hosts expect. */
void findings_put_sarif(const Findings *findings, const char *folder, Text *out);

#endif
