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
 * none, PTX orders nothing either: a note (MISSING_ACQUIRE). It is an
 * error (STALE_READ) if the block had loaded the line (128 bytes) before, with no fence since, since its L1
 * cache may hold the old value: measured on an H100 (a lock without an acquire lost 131 of 132 increments,
 * message passing 131 of 131; with a fence after the atomic none). Likewise if a third block had loaded the
 * line before the store, and may have run on the same multiprocessor: an H200 lost values of a look-back so
 * in every run of 264 blocks. MISSING_ACQUIRE also covers an mbarrier between threads of two blocks whose
 * arrival or wait has block scope ("mbarrier.arrive": .cta is the default). Every wait for the phase of a
 * copy makes the copied data visible.
 *
 * ld.global.nc of what the kernel has written is an error whatever orders the two (READ_ONLY_LOAD; PTX
 * "ld.global.nc"). A bulk copy reads through the async proxy: generic stores that no fence.proxy.async
 * separates from it are an error (PROXY_ORDER; PTX "Async proxy"). A store whose value is computed, through
 * shuffles, from the load that it would race with cannot come first: a note (DATA_ORDER).
 *
 * A shuffle from an inactive source lane returns an undefined value: an error where the value is used
 * (trace/observer.h, TraceUse). A barrier of the block that a warp passes after some of its lanes have exited
 * is a note.
 *
 * SLOW places are ranked by the passes that they lose. A *pass* occupies one pipe once: a warp instruction
 * its issue slot, a wavefront shared memory, four sectors (128 bytes, what one coalesced load of words takes)
 * the path to global memory. So unlike costs compare without a machine's speeds, which only a measurement
 * has: the share is of all passes of the run, instructions + excess wavefronts + excess sectors / 4 + what
 * atomics lose. Lost are
 *   bank_conflict      wavefronts beyond the ideal, also of atomics
 *   uncoalesced        sectors beyond the ideal / 4
 *   divergence         warp instructions * idle lanes / 32 in what the line's branches split
 *   atomic_conflict    for each execution, the most lanes on one word of global memory, less one
 *   idle_warps         executions of a barrier by warps without work since the last one, while others work;
 *                      what else they execute is not counted, so it is a lower bound
 *   needless_barrier   executions of barriers between the work of at most one warp: __syncwarp() would do
 * What loses less than FINDINGS_LEAST_PERCENT of the passes is no entry; Findings.below names it. A finding's
 * number (finding_number()) is the same in every list: errors of one cause share one.
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
#include "trace/hold.h"
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
    /* SLOW, over the grid, in the unit of its kind (finding_unit()): the count, the minimum, and the count
     * with the advice applied to the traced accesses (0: not computed). */
    uint64_t cost, ideal, predicted;
    double share;   /* SLOW: of the run's passes that it loses, 0 to 1 */
    bool is_rare;   /* IDLE_LANES: it would be 0 % of the branches; stands behind other slow places */
    double samples; /* of the launch's samples on a GPU that are in its line, 0 to 1; NaN: not recorded */
    const char *remedies;  /* SLOW: what can be tried, "pad, swizzle"; NULL: nothing */
    const char *waits_for; /* what most of these samples wait for; NULL: not recorded */
    /* A race: its pairs of instructions; unrolled code has many on the same two lines. Empty in a saved
     * session, which keeps only the pair of `access` and `other`. */
    const FindingPair *pairs;
    int pair_count;
    bool is_overlap; /* of two arrays in dynamic shared memory: no barrier mends it */
    int cause;       /* an error: index into Findings.causes; else -1 */
    bool is_behind;  /* found by --keep-going after the fault that ended the run */
    bool is_taken;   /* found first under another schedule, `schedule` */
    uint64_t schedule;
} Finding;

enum { FINDING_HOLDS = 16 };
typedef struct FindingOrder { /* an order of the threads that gives another result */
    uint64_t schedule; /* --schedule, if it is not that of the run; the threads of `holds` wait in addition */
    Hold holds[FINDING_HOLDS];
    int hold_count;
    PtxSourceLine at[FINDING_HOLDS], until[FINDING_HOLDS]; /* the lines of their places */
    char where[64], result[64], instead_of[64];            /* "out[0]", "500", "512" */
    bool is_right; /* the result is that of the reference, and that of the run is not */
    const char
        *sentence; /* "Loses if warp 3 is held before line 26 until ...: out[0] is 500 instead of 512." */
} FindingOrder;

/* Errors that one missing barrier or fence, or one wrong wait for copies, explains: their accesses share
 * instructions or interleave. Any other error is a cause of its own. */
typedef struct FindingCause {
    int lead, count;    /* index of the error that tells it; number of its errors */
    const char *insert; /* "insert __syncwarp() after line 31"; NULL: not searched, or no place helps */
    const char *proof;  /* result of running a copy of the PTX with `insert` applied; NULL: not tried */
    bool is_proved;     /* that copy no longer has these errors */
    const char *file, *source; /* the text of that copy, of this file; NULL: it was the PTX */
    const FindingOrder *order; /* of the threads, in which its races change the result; NULL: none is known */
    const char
        *no_order; /* a sentence: why none of its orders changes a result; NULL: not known, or no race */
} FindingCause;

typedef struct FindingLate { /* an atomic that the reader of its word does not wait for */
    int launch;
    FindingAccess atomic, reader;
    const char *result, *expected; /* with the atomic after the reader */
} FindingLate;

enum { FINDINGS_LIMITS = 4, FINDINGS_LEAST_PERCENT = 2 };

typedef struct Findings {
    Finding *items; /* errors by launch and line; then slow ones by decreasing share; then notes */
    int count;
    int error_count;      /* items[0 .. error_count - 1] */
    FindingCause *causes; /* in the order of their first errors */
    int cause_count;
    /* All blocks were searched to the end; false after a fault or too many findings (64). */
    bool is_complete;
    const char
        *below;      /* slow places below FINDINGS_LEAST_PERCENT: "divergence in lines 23, 28"; NULL: none */
    bool has_unseen; /* false: not counted, as in a saved session */
    FindingsUnseen unseen;
    const char *limits[FINDINGS_LIMITS]; /* what may be missing, and why: one sentence each */
    int limit_count;
    Arena arena;
} Findings;

const char *finding_kind_text(FindingKind kind);
FindingKind finding_kind_find(const char *text); /* FINDING_KIND_COUNT: there is none */
const char *finding_kind_title(FindingKind kind);
Severity finding_kind_severity(FindingKind kind);
const char *finding_severity_text(Severity severity); /* "error", "slow", "note" */
const char *finding_space_text(PtxSpace space);       /* "shared", "global", "local"; NULL: any other */

/* An error of two accesses, which no order of the threads forbids. */
static inline bool finding_is_race(const Finding *finding) {
    return finding->severity == SEVERITY_ERROR && finding->kind <= FINDING_GLOBAL_RACE;
}

/* These two instructions are one of its pairs, in either order. */
bool finding_has_pair(const Finding *finding, int a, int b);

/* One warp access or branch shows it. What only rounds of a block show (idle warps, barriers) is no place
 * that a check reports: --check and SARIF leave it out. */
bool finding_has_place(const Finding *finding);
const char *finding_unit(FindingKind kind); /* of cost and ideal of SLOW: "wavefronts"; NULL: none */

CheckTool finding_tool(const Finding *finding);

/* From 1: errors by cause, then the others in their order. */
int finding_number(const Findings *findings, int index);
int findings_find_number(const Findings *findings, int number); /* its first index; -1: none */
/* The index of the first problem, number 1: the lead of the first cause, else the first slow place; -1: there
 * is none. Reports, the headline, the key f and the list of launches all name this one. */
int findings_first(const Findings *findings);

struct Store;
typedef struct FindingResult { /* for a run with a reference */
    bool is_wrong;
    const char *result, *expected; /* NULL: a trap ended the run before it had a result */
    const char *why;               /* "with the maximum at in[299]"; NULL: nothing to add */
} FindingResult;

/* A line of a source file, valid until the next call; NULL: not known. */
typedef const char *(*FindingSource)(void *context, const char *file, int line);
/* Names shared memory that the PTX does not name. */
typedef struct FindingNames {
    FindingSource source; /* NULL: not known */
    void *context;
} FindingNames;
/* "sdata": the shared array of the finding's access, as its line names it, else as the PTX does. */
void finding_name_array(const Trace *trace, const Finding *finding, FindingNames names, char *out,
                        size_t bytes);
/* What else is known about the run. */
typedef struct FindingKnown {
    FindingNames names;
    uint64_t leaks, leaked_bytes; /* allocations of the device heap that were not freed */
    int leak_pc;                  /* where the last launch makes the first of them; PTX_NO_PC: not known */
} FindingKnown;
/* The errors found by the detector (NULL: none ran) and by traps, and the slow places in the trace's
 * counters. `result` may be NULL. */
Findings *findings_new(RaceDetector *detector, const Trace *trace, const FindingResult *result,
                       const FindingKnown *known);
/* The same without a search: faults, the wrong result, what the counters show. `traced`: of the traced events
 * only. */
Findings *findings_new_counted(const Trace *trace, const FindingResult *result, FindingNames names,
                               bool traced);
void findings_free(Findings *findings);
/* The share of a launch's samples in a line, and what most of them wait for; NaN: not recorded. */
typedef double (*FindingSamples)(void *context, int launch, const char *file, int line,
                                 const char **waits_for);
void findings_put_samples(Findings *findings, FindingSamples samples, void *context);
/* Adds notes about stores that the source has and the PTX does not. */
void findings_note_deleted(Findings *list, const Trace *trace, FindingSource source, void *context);
/* Adds the error of an atomic that comes after its reader. */
void findings_add_late(Findings *list, const Trace *trace, const FindingLate *late);
/* Adds the races of the same run under another schedule that this one has not shown; their places refer to
 * `trace`, the trace of this run. */
void findings_take_races(Findings *list, const Findings *other, const Trace *trace, uint64_t schedule);
/* As above, for a run that continued past the fault that ended this one. */
void findings_take_behind(Findings *list, const Findings *other, const Trace *trace);
/* Keeps those that the tool shows; the other findings of a cause may go. */
void findings_keep_tool(Findings *findings, CheckTool tool);
int findings_count(const Findings *findings, Severity severity);
/* Makes the errors of cause `from` those of cause `into`, a smaller index; later causes move up. */
void findings_join_causes(Findings *findings, int into, int from);
/* Moves an error to cause `into`, or to a new, last cause if that is negative; its index. */
int findings_part_cause(Findings *findings, int error, int into);

/* Writes to and reads from a session file, unchanged; NULL: no search was made. */
void findings_write(const Findings *findings, struct Store *store);
Findings *findings_read(const Trace *trace, struct Store *store);

/* Replaces the slow places of the list by those that the trace shows: a session file has no shares. */
void findings_count_slow_again(Findings *findings, const Trace *trace, FindingNames names);

/* True if it prints a count after its sentence: "in 1,536 executions by a warp, in 16 blocks". At most two
 * faults of one instruction are kept: "2 such faults are kept, in 2 blocks". */
bool finding_has_count(const Finding *finding);
void finding_print_count(const Finding *finding, Text *out);
/* " 37 % of samples on a GPU are in this line (waits for shared memory)."; nothing if none are recorded. */
void finding_print_samples(const Finding *finding, Text *out);
/* " Try: pad, swizzle (key I)."; nothing without remedies. */
void finding_print_remedies(const Finding *finding, Text *out);
/* As --check prints them, with the lines of `source` (may be NULL). */
void findings_print(const Findings *findings, FindingSource source, void *context, Text *out);
/* What may be missing: the last lines of --check; nothing if the search met no limit. In JSON: the fields
 * "unseen" and "limits" of the open object. */
void findings_print_limits(const Findings *findings, Text *out);
void findings_put_limits(const Findings *findings, Json *json);
void findings_add_limit(Findings *findings, Text *sentence); /* frees it */
/* As a report prints them: errors by cause and slow places by number, then the notes; of a kind of notes the
 * first four. `is_guess`: the arguments of the run are invented, and so are its errors. */
void findings_print_brief(const Findings *findings, bool is_guess, Text *out);
/* The field "verdict" of the open object: errors by cause and slow places, by number. */
void findings_put_verdict(const Findings *findings, Json *json);
/* The fields "hazards" (an error of each cause, with its "further" ones by line; then notes), "causes" (of
 * errors), "efficiency" (slow) and "hazards_complete" of the open object; null if `findings` is NULL. */
void findings_put_json(const Findings *findings, Json *json);

#endif
