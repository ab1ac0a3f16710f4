/* Steps: the warps of a block at the same instruction, the unit of play.
 *
 * A step is the warps of a block at the same (interval, pc, occurrence). Steps never violate a warp's program
 * order: where aligning would, the step splits. Steps are ordered by their first event (turn, warp).
 * Consecutive steps of one interval form an interval step, and inside it, consecutive steps of one source
 * line form a line step.
 *
 * Along the events of a warp the step numbers never decrease; they stay the same only between fragments
 * without a common lane (a diverged warp at the same place). */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include "trace/trace.h"

typedef struct Step {
    int pc;
    uint32_t interval, occurrence;
    int first; /* index into Steps.events */
    int count; /* events in this step: at most one per fragment, ordered by warp, then lowest lane */
    int line_step, interval_step; /* indices of the groups it belongs to */
} Step;

typedef struct Steps {
    const TraceLaunch *launch; /* borrowed */
    const TraceBlock *block;   /* borrowed */
    Step *steps;
    int step_count;
    int *events;        /* event numbers, grouped by step */
    int *step_of_event; /* [event] */
    int *line_begin;    /* [line_step_count + 1] first step of each group */
    int line_step_count;
    int *interval_begin; /* [interval_step_count + 1] */
    int interval_step_count;
} Steps;

Steps *steps_build(const TraceLaunch *launch, const TraceBlock *block);
void steps_free(Steps *steps);

#endif
