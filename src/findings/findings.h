/* Findings: the errors of a run over the whole grid, its slow places, and other notes.
 *
 * A *race* is two accesses to the same memory by different threads, at least one of them a write, with no
 * happens-before order between them. What orders memory is what the PTX ISA says does ("Memory Consistency
 * Model"; "bar.warp.sync"; "barrier"): bar.warp.sync for the lanes of its mask, barriers of the block for the
 * threads that take part, and a release that an acquire observes: fence, then a strong store or atomic; an
 * atomic or strong load of it, then a fence. Shuffles, votes and redux order nothing; neither does volatile,
 * nor execution in lockstep.
 *
 * Not reported: atomics and relaxed accesses among themselves (unless their scope is too narrow); a store of
 * the value that is already there; volatile accesses to global memory by different warps, and volatile stores
 * after a fence, which is how flags are written. But where a thread has learned from such a word what another one has
 * stored before, and there is no fence between that store and the word, the order is missing (ORDER). Where there is one,
 * and the reader alone has none, PTX orders nothing either, but no GPU is known to lose anything: a note
 * (MISSING_ACQUIRE), unless the block has read the place before another one wrote it, and may find it in its L1 cache. The same holds where an
 * mbarrier lies between threads of two blocks, and the scope of the arrival or of the wait is a block ("mbarrier.arrive":
 * .cta is the default). What copies bring, every wait for their phase shows.
 *
 * What a shuffle gives to a lane whose source lane takes no part is undefined: an error where it is used (trace/observer.h,
 * TraceUse). A barrier of the block that a warp passes after some of its lanes have exited is a note.
 *
 * A RaceDetector sees every access of every block through a TraceObserver. It keeps the last write and up
 * to eight reads of each cell of memory, so its memory is bounded; of races between more threads it may miss some, and
 * counts the places (FindingsUnseen). Each pair of racing instructions becomes one Finding, with the first two accesses as its
 * example. */
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
    Severity severity;     /* of the kind, as all of its row in findings.def */
    const char *kind_text; /* "shared_race"; of a fault the trap's: "out_of_bounds" */
    int launch;
    PtxSpace space;       /* SHARED, GLOBAL, LOCAL; PTX_SPACE_GENERIC where there is none */
    FindingAccess access; /* the place: where it showed; pc PTX_NO_PC: only the line is known, or nothing */
    FindingAccess other;  /* the access that it conflicts with, executed before; pc PTX_NO_PC: none */
    uint64_t count;       /* executions in which it showed (one at least) */
    uint64_t blocks;      /* blocks in which it showed */
    const char *what;     /* "sums[3]", "in[128]": the memory, by its elements; NULL: none */
    const char *sentence; /* complete; names all lines */
    const char *advice;   /* what to change; NULL: there is none */
    /* SLOW: wavefronts, sectors or lanes as counted over the grid, the fewest possible, and what the advice
     * would make of them, computed by applying it to the traced accesses (0: not computed). */
    uint64_t cost, ideal, predicted;
    /* A race: its instructions, of which unrolled code has many in the same two lines. 0 in a saved session, where only
     * those of `access` and `other` are known. */
    const FindingPair *pairs;
    int pair_count;
    int cause;      /* an error: in Findings.causes; -1: another one */
    bool is_behind; /* a fault that ended the run: --keep-going has shown it */
    bool is_taken;  /* another schedule has shown it first, this one: */
    uint64_t schedule;
} Finding;

/* Errors that one missing barrier, or fence, explains: their accesses share instructions, or lie among each other. Any
 * other error is a cause of its own. */
typedef struct FindingCause {
    int lead, count;    /* the first of them in the list; how many they are */
    const char *insert; /* "insert __syncwarp() after line 31"; NULL: not looked for, or nothing would help */
    const char *proof;  /* what became of a copy of the PTX in which it is inserted; NULL: not tried */
    bool is_proved;     /* there they are gone */
    uint64_t schedule;  /* --schedule of a run in which the result is wrong; 0: none is known */
    const char *order;  /* what is wrong in it, a sentence; NULL */
} FindingCause;

enum { FINDINGS_LIMITS = 4 };

typedef struct Findings {
    Finding *items; /* errors by launch and line; slow, then notes: the largest cost - ideal first */
    int count;
    int error_count;      /* items[0 .. error_count - 1] */
    FindingCause *causes; /* by their first error */
    int cause_count;
    bool
        is_complete; /* all blocks were searched to their end; a fault or too many findings (64) prevent it */
    bool has_unseen; /* false: it was not counted, as in a saved session */
    FindingsUnseen unseen;
    const char *limits[FINDINGS_LIMITS]; /* what may be missing, and why: a sentence each */
    int limit_count;
    Arena arena;
} Findings;

const char *finding_kind_text(FindingKind kind);
const char *finding_kind_title(FindingKind kind);
Severity finding_kind_severity(FindingKind kind);
const char *finding_severity_text(Severity severity); /* "error", "slow", "note" */
const char *finding_space_text(PtxSpace space);       /* "shared", "global", "local"; NULL: none of them */

struct Store;
typedef struct FindingResult { /* of a run with a reference */
    bool is_wrong;
    const char *result, *expected; /* NULL: a trap ended the run before there was a result */
} FindingResult;

/* A line of a source file, valid until the next call; NULL: it is not known. */
typedef const char *(*FindingSource)(void *context, const char *file, int line);
/* The errors that the detector (NULL: there was none) and the trace's traps show, and what the trace's
 * counters say is slow. `result` may be NULL. */
Findings *findings_new(RaceDetector *detector, const Trace *trace, const FindingResult *result);
/* The same with what else is known of the run. */
typedef struct FindingKnown {
    FindingSource source; /* shared memory that the PTX does not name has the name that these lines give it */
    void *context;
    uint64_t leaks, leaked_bytes; /* allocations of the device heap that were not freed */
    int leak_pc;                  /* of the first of them, in the last launch; PTX_NO_PC: not known */
} FindingKnown;
Findings *findings_new_of(RaceDetector *detector, const Trace *trace, const FindingResult *result,
                          const FindingKnown *known);
void findings_free(Findings *findings);
/* Adds the races of the same run under another schedule that this one has not shown, with places in `trace`, its own. */
/* Adds notes about stores that the source has and the PTX has not. */
void findings_note_deleted(Findings *list, const Trace *trace, FindingSource source, void *context);
void findings_take_races(Findings *list, const Findings *other, const Trace *trace, uint64_t schedule);
/* The same of a run that went on behind the fault that ended this one. */
void findings_take_behind(Findings *list, const Findings *other, const Trace *trace);
int findings_count(const Findings *findings, Severity severity);

/* In a session file, from which they are read back unchanged; NULL where no search was made. */
void findings_write(const Findings *findings, struct Store *store);
Findings *findings_read(const Trace *trace, struct Store *store);

/* It has a count beside that of its sentence: "in 1,536 executions by a warp, in 16 blocks"; of a fault "2 such faults are kept,
 * in 2 blocks", as of one instruction two are, however many there were. */
bool finding_has_count(const Finding *finding);
void finding_print_count(const Finding *finding, Text *out);
/* As --check prints them, with the source lines that `source` (may be NULL) knows. */
void findings_print(const Findings *findings, FindingSource source, void *context, Text *out);
/* What may be missing: the last lines of --check; none where the search has met no limit. In JSON, the fields "unseen" and
 * "limits" of the open object. */
void findings_print_limits(const Findings *findings, Text *out);
void findings_put_limits(const Findings *findings, Json *json);
void findings_add_limit(Findings *findings, Text *sentence); /* frees it */
/* As a report prints them: a bullet each, for kinds about lines the four that lead the list. */
void findings_print_brief(const Findings *findings, Text *out);
void findings_print_errors(const Findings *findings, Text *out); /* the errors alone */
void findings_print_notes(const Findings *findings, Text *out);  /* the notes alone */
/* The fields "hazards" (errors, then notes), "causes" (of errors), "efficiency" (slow) and "hazards_complete" of the open object; null where
 * `findings` is NULL. */
void findings_put_json(const Findings *findings, Json *json);
/* A SARIF 2.1.0 log: the errors by their causes, then the other findings. Files below `folder`, an absolute path (NULL: none),
 * are named relative to it, as code hosts want it. */
void findings_put_sarif(const Findings *findings, const char *folder, Text *out);

#endif
