/* Beats: the steps of a block that move data or in which something happens. The interface plays by them. A
 * beat is an access, a shuffle, a vote or a redux, a branch that splits a warp, a barrier at which threads
 * wait, or a step in which other lanes of a warp are active than before: a path begins, another one has its
 * turn, or they have joined. Every other step (a uniform branch, the arrival that opens a barrier) belongs to
 * the beat before it. */
#ifndef TUI_SCENE_BEATS_H
#define TUI_SCENE_BEATS_H

#include "tui/scene/step_index.h"

typedef struct Beats {
    int *step;    /* [count] the step of each beat, ascending */
    int *of_step; /* [step_count] the beat that the step belongs to; 0 before the first beat */
    int count;
} Beats;

Beats *beats_new(const StepIndex *step_index);
void beats_free(Beats *beats);

bool beats_is_beat(const Beats *beats, int step);
/* The step `by` beats from `step`; backwards from between two beats, the first move goes to the beat that the
 * step belongs to. Clamped to the first and the last beat. */
int beats_move(const Beats *beats, int step, int by);

#endif
