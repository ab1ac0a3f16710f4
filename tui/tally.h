/* Tally: the counters of a traced block from its start up to any step, without counting all of it each time.
 */
#ifndef TUI_TALLY_H
#define TUI_TALLY_H

#include "outline.h"

/* Counters of steps 0 .. step. What events do not tell (all instructions) stays 0, as in metrics_of_steps().
 */
void tally_so_far(Outline *outline, int step, Totals *out);

#endif
