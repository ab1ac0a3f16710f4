/* Hazards: what is wrong with a run, over the whole grid, and what is slow about it.
 *
 * A *race* is two accesses of one place by different threads, at least one of which writes, that nothing puts
 * in order. What orders memory is what the PTX ISA says does ("Memory Consistency Model"; "bar.warp.sync";
 * "barrier"): bar.warp.sync for the lanes of its mask, barriers of the block for the threads that take part,
 * and a release that an acquire sees: fence, then a strong store or atomic; an atomic or strong load of it,
 * then a fence. Shuffles, votes and redux order nothing; nor does volatile, nor walking in lockstep.
 *
 * Not accused: atomics and relaxed accesses among themselves (unless their scope is too narrow); a store of
 * the value that is there anyway; volatile accesses of different warps to global memory, and volatile stores
 * that a fence precedes, which are how flags are written.
 *
 * A watch sees every access of every block through a TraceObserver and keeps, for each place, who wrote last
 * and two who read since, so memory is bounded; of races between more threads it may find some only. What it
 * finds is one Hazard for each pair of instructions, with the first two accesses as the example. */
#ifndef METRICS_HAZARDS_H
#define METRICS_HAZARDS_H

#include "base/json.h"
#include "base/memory.h"
#include "trace/observer.h"

typedef enum HazardKind {
#define HAZARD(id, text, class, title) HAZARD_##id,
#include "metrics/hazards.def"
#undef HAZARD
    HAZARD_KIND_COUNT
} HazardKind;

typedef struct HazardAccess {
    int pc; /* PTX_NO_PC: there is no such side */
    const char *file;
    int line; /* metrics_line_of() */
    uint32_t block[3];
    uint64_t linear_block;
    int warp;
    uint32_t lanes; /* those that are part of it */
    int lane;       /* the one whose address and value these are; -1: none */
    int buffer;     /* global: in trace->buffers; shared and local: in the launch's symbols; -1: no address */
    uint64_t offset;
    bool has_value, is_store, is_atomic;
    uint64_t value;    /* loaded, stored; of an atomic: its operand is not kept */
    uint32_t interval; /* block-wide barriers that the warp had passed */
    int event;         /* of the traced block; -1: the block is not traced, or there is none */
} HazardAccess;

typedef struct Hazard {
    HazardKind kind;
    bool is_slow;          /* an efficiency finding: --check does not fail because of it */
    const char *kind_text; /* "shared_race"; of a fault the trap's: "out_of_bounds" */
    int launch;
    PtxSpace space;       /* SHARED, GLOBAL, LOCAL; PTX_SPACE_GENERIC where there is none */
    HazardAccess access;  /* where it showed */
    HazardAccess other;   /* what it clashes with: executed before; pc PTX_NO_PC: none */
    uint64_t count;       /* executions in which it showed (one at least) */
    uint64_t blocks;      /* blocks in which it showed */
    const char *what;     /* "sums[3]", "in[128]": the place, by its elements; NULL: none */
    const char *sentence; /* why, complete: names both lines */
    const char *advice;   /* what to change; NULL: nobody knows */
    /* SLOW: wavefronts, sectors or lanes as counted over the grid, the least possible, and what the advice
     * would make of it, evaluated by applying it to the traced accesses (0: not evaluated). */
    uint64_t cost, ideal, predicted;
} Hazard;

typedef struct Hazards {
    Hazard *items; /* wrong first, by launch and line; then slow, the most costly first */
    int count, wrong_count;
    bool
        is_complete; /* every block was watched to its end; a fault or too many findings (64) end it before */
    Arena arena;
} Hazards;

const char *hazard_kind_text(HazardKind kind);
const char *hazard_kind_title(HazardKind kind);
const char *hazard_space_text(PtxSpace space); /* "shared", "global", "local"; NULL: none of them */

struct Store;
typedef struct RaceDetector RaceDetector;
RaceDetector *race_detector_new(void);
void race_detector_free(RaceDetector *detector);
TraceObserver
race_detector_observer(RaceDetector *detector); /* for emulator_set_observer(), before the first launch */

typedef struct HazardResult { /* of a run with a reference */
    bool is_wrong;
    const char *result, *expected; /* NULL: a trap ended it before */
} HazardResult;

/* What the watch has seen, with the traps of the trace and what its counters say. `result` may be NULL. */
Hazards *hazards_new(RaceDetector *detector, const Trace *trace, const HazardResult *result);
void hazards_free(Hazards *hazards);

/* In a session file, from which they come back as they were; NULL where nobody watched. */
void hazards_write(const Hazards *hazards, struct Store *store);
Hazards *hazards_read(const Trace *trace, struct Store *store);

/* As --check prints them, with the source lines where `source` (may be NULL) knows them. */
typedef const char *(*HazardSource)(void *context, const char *file, int line);
void hazards_print(const Hazards *hazards, HazardSource source, void *context, Text *out);
/* The fields "hazards", "efficiency" and "hazards_complete" of the open object; null where `hazards` is NULL.
 */
void hazards_put_json(const Hazards *hazards, Json *json);

#endif
