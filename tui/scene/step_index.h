/* Step index: the counts of each step and the events of each warp, made once per block. The timeline, the
 * gutter and the jumps use the counts; the events are in program order, for the state of a warp between its
 * events. */
#ifndef TUI_SCENE_STEP_INDEX_H
#define TUI_SCENE_STEP_INDEX_H

#include "metrics/metrics.h"
#include "trace/steps.h"

typedef struct StepIndexEntry {
    uint32_t lanes;             /* active lanes, over its events */
    uint32_t wavefronts, ideal; /* total of its shared accesses; 0: none */
    uint16_t accesses;          /* number of those loads and stores */
    uint8_t kind;               /* TraceKind of the first event */
    bool conflicts;             /* a warp's access has excess wavefronts */
    bool diverges;              /* a warp's branch goes several ways */
    bool changes_lanes;         /* a warp executes it with other lanes than its event before */
} StepIndexEntry;

typedef struct StepIndexSums { /* of one pc over a range of steps */
    uint64_t events, lanes, accesses, wavefronts, ideal;
} StepIndexSums;

typedef struct StepIndex {
    const Steps *steps; /* borrowed */
    const Trap *trap;   /* the fault that ended this block's run; NULL: none */
    int thread_count, warp_count;
    StepIndexEntry *step;   /* [step_count] */
    uint64_t *lanes_before; /* [step_count + 1] active lanes of all steps before */
    /* [step_count + 1] the next step with a conflict, this one included; step_count: none */
    int *conflict_from;
    int *divergence_from;  /* [step_count + 1] likewise */
    int *events;           /* all events, grouped by warp, in program order */
    int *warp_begin;       /* [warp_count + 1] into `events` */
    uint32_t *lanes_later; /* [same as events] lanes with an event here or later */
    /* [same] lanes of this warp's next block-wide barrier, this event included; 0: none */
    uint32_t *barrier_lanes;
    Totals *pc_totals, *interval_totals; /* [code_count], [interval_step_count]; NULL until first use */
    bool *has_events;                    /* [code_count] */
    bool *has_conflicts;                 /* [code_count] shared accesses with excess wavefronts */
    StepIndexSums *sums;                 /* [code_count], over the steps below; see step_index_sums() */
    int sums_first, sums_count;
    Totals *running_totals; /* see step_index.c; NULL until first use */
    double *progress;       /* [step_count], see scene_progress(); NULL until first use */
} StepIndex;

typedef struct WarpState { /* one warp at one step, as masks of lanes */
    uint32_t exists;       /* lanes that have a thread */
    uint32_t active;       /* in this step */
    uint32_t waiting;      /* at a block-wide barrier that has not opened */
    uint32_t exited;
    uint32_t trapped; /* lanes that caused the fault */
    uint32_t stopped; /* no more events, in a block that a fault ended: they may have exited */
    int event;        /* of this step (the first fragment), or -1 */
    int next_pc;      /* pc of its next event after this step; -1: none */
} WarpState;

/* Reads every event of the block once. `trap`: see above. */
StepIndex *step_index_new(const Steps *steps, const Trap *trap);
void step_index_free(StepIndex *step_index);

/* Existing lanes that are neither active, waiting, exited, trapped nor stopped are idle: in another branch,
 * or between two events. */
WarpState step_index_warp_state(const StepIndex *step_index, int step, int warp);

/* The warp's event in the step, the fragment that contains `lane` if there are several; -1: none. */
int step_index_warp_event(const StepIndex *step_index, int step, int warp, int lane);

/* The event `by` places later (or earlier) than `event` in its warp's program order; -1: none. */
int step_index_neighbour(const StepIndex *step_index, int event, int warp, int by);

/* Per pc over steps first .. first + count - 1; the last range is cached. */
const StepIndexSums *step_index_sums(StepIndex *step_index, int first, int count);

/* Totals of the traced block at this instruction, over the whole run; and in this interval. The first call
 * reads all events. */
const Totals *step_index_pc_totals(StepIndex *step_index, int pc);
const Totals *step_index_interval_totals(StepIndex *step_index, int interval_step);

/* Counters of steps 0 .. step. Counters that events do not contain (all instructions) stay 0, as in
 * metrics_of_steps(). */
void running_totals_at(StepIndex *step_index, int step, Totals *out);

#endif
