/* Running totals: the counters of a block from its start to any step, without counting every step. */
#ifndef TUI_SCENE_RUNNING_TOTALS_H
#define TUI_SCENE_RUNNING_TOTALS_H

#include "tui/scene/step_index.h"

/* Counters of steps 0 .. step. Counters that events do not contain (all instructions) stay 0, as in
 * metrics_of_steps(). */
void running_totals_at(StepIndex *step_index, int step, Totals *out);

#endif
