#include "pane.h"

const Pane *const panes[] = {
    &pane_source,  &pane_lanes,       &pane_banks,   &pane_shuffle,  &pane_vote, &pane_global, &pane_branch,
    &pane_barrier, &pane_explanation, &pane_timings, &pane_timeline, &pane_help, &pane_menu,   NULL,
};
